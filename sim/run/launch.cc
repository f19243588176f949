#include "sim/run/launch.h"

#include <algorithm>
#include <utility>

#include "sim/isa/base/shared_limits.h"
#include "sim/run/feed.h"
#include "sim/run/tensor_maps.h"

namespace tcq::run {
namespace {

constexpr std::uint32_t registers_of_an_sm = 65536;

// As ptxas bounds a kernel whose only limit is that its threads fit. Of 255 that a thread can name 256 are allocated.
int registers_at_launch(const Kernel& kernel, const Launch& launch) {
  if (launch.registers != 0) return static_cast<int>(launch.registers);
  if (!kernel.has_setmaxnreg) return 0;
  const auto threads = static_cast<std::uint32_t>(launch.block.count());
  return static_cast<int>(std::min<std::uint32_t>(registers_of_an_sm / threads / 8 * 8, 256));
}

Dim3 first_cta_of(const Launch& launch, std::uint64_t cluster) {
  const Dim3 c{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
               launch.grid.z / launch.cluster.z};
  return {static_cast<std::uint32_t>(cluster % c.x) * launch.cluster.x,
          static_cast<std::uint32_t>(cluster / c.x % c.y) * launch.cluster.y,
          static_cast<std::uint32_t>(cluster / c.x / c.y) * launch.cluster.z};
}

// The text and the place of each instruction.
std::vector<machine::Statement> statements_of(const Kernel& kernel) {
  std::vector<machine::Statement> statements;
  const ptx::Program& program = *kernel.program;
  for (ptx::Index i = 0; i < kernel.code->instructions.count; ++i) {
    const ptx::Instruction& instruction = kernel.instruction(i);
    machine::Statement statement{machine::KernelText{}, {}, {}};
    std::get<machine::KernelText>(statement.what).words = &kernel.texts[i];
    statement.where = {kernel.files[0].c_str(), program.unit.lines.at(instruction.at).line};
    if (instruction.location != ptx::none) {
      const ptx::SourceLocation& at = program.locations[instruction.location];
      if (at.file < kernel.files.size()) statement.where = {kernel.files[at.file].c_str(), at.line};
    }
    statements.push_back(std::move(statement));
  }
  return statements;
}

// A kernel may copy a map's bytes, to patch them.
void write_maps(Launch& launch, std::vector<std::uint8_t>& global) {
  for (const MapPlace& place : launch.map_places) {
    const bool is_global = in_window(place.address, global_window);
    std::vector<std::uint8_t>& memory = is_global ? global : launch.parameters;
    const std::uint64_t at = place.address - (is_global ? global_window : param_window);
    const tma::MapObject object = kernel_object(launch.maps[static_cast<std::size_t>(place.map)]);
    if (at <= memory.size() && memory.size() - at >= tma::map_object_bytes)
      std::copy_n(object.bytes, tma::map_object_bytes,
                  memory.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

namespace {

bool names_cluster(const ptx::Form& form) {
  using enum ptx::Opcode;
  return form.opcode == BarrierClusterArrive || form.opcode == BarrierClusterWait ||
         form.opcode == Mapa || form.get<ptx::Multicast>() != ptx::Multicast::None ||
         form.get<ptx::CtaGroup>() == ptx::CtaGroup::Two;
}

}  // namespace

bool may_run_whole(const Kernel& kernel, const Launch& launch) {
  return kernel.grid_barrier != ptx::none && launch.cluster.count() == 1 &&
         launch.grid.count() <= machine::max_cluster;
}

bool may_run_together(const Kernel& kernel, const Launch& launch) {
  const std::uint64_t ctas = launch.grid.count();
  if (launch.whole_grid || kernel.grid_barrier != ptx::none) return false;
  if (launch.cluster.count() != 1 || ctas < 2 || ctas > machine::max_cluster) return false;
  for (ptx::Index i = 0; i < kernel.code->instructions.count; ++i)
    if (names_cluster(kernel.program->form_of(kernel.instruction(i)))) return false;
  return true;
}

std::uint64_t clusters(const Launch& launch) {
  return launch.whole_grid ? 1 : launch.grid.count() / launch.cluster.count();
}

machine::Program make_program(std::shared_ptr<const Kernel> kernel, Launch launch,
                              std::uint64_t cluster, std::vector<std::uint8_t> global) {
  write_maps(launch, global);
  const auto threads = static_cast<int>((launch.block.count() + 31) / 32 * 32);
  machine::Program program({.cluster = static_cast<int>(launch.whole_grid ? launch.grid.count()
                                                                          : launch.cluster.count()),
                            .threads = threads,
                            .registers = registers_at_launch(*kernel, launch)});
  const std::uint32_t bytes = kernel->shared_end - kernel->shared_begin + launch.dynamic_shared;
  if (bytes > 0) program.shared_at("shared", kernel->shared_begin, bytes);
  program.global(global);
  for (std::size_t i = 0; i < launch.maps.size(); ++i)
    program.tensor(launch.maps[i], i < launch.map_names.size() ? launch.map_names[i] : "");
  program.warps("kernel", 0, threads / 32);
  program.segments().front().statements = statements_of(*kernel);
  const Dim3 first_cta = first_cta_of(launch, cluster);
  program.set_feeder(
      std::make_shared<KernelFeeder>(std::move(kernel), std::move(launch), first_cta));
  return program;
}

}  // namespace tcq::run
