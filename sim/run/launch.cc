#include "sim/run/launch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/isa/base/shared_limits.h"
#include "sim/run/feed.h"
#include "sim/run/tensor_maps.h"

namespace tcq::run {
namespace {

constexpr std::uint32_t registers_of_an_sm = 65536;

Dim3 first_cta_of(const Launch& launch, std::uint64_t cluster) {
  const Dim3 c{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
               launch.grid.z / launch.cluster.z};
  return {static_cast<std::uint32_t>(cluster % c.x) * launch.cluster.x,
          static_cast<std::uint32_t>(cluster / c.x % c.y) * launch.cluster.y,
          static_cast<std::uint32_t>(cluster / c.x / c.y) * launch.cluster.z};
}

std::vector<machine::LaunchAnswer> answers_of(const Launch& launch) {
  std::vector<machine::LaunchAnswer> answers;
  for (const std::uint64_t cluster : launch.pending) {
    const Dim3 first = first_cta_of(launch, cluster);
    answers.push_back({first.x, first.y, first.z, 1});
  }
  return answers;
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
    if (instruction.location != ptx::none && kernel.places[instruction.location].line != 0)
      statement.where = kernel.places[instruction.location];
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

// The numbers of a directive, those that are not said 1; none: the kernel has no such directive.
std::optional<Dim3> directive_of(const Kernel& kernel, std::string_view name) {
  const ptx::Unit& unit = kernel.program->unit;
  const ptx::Range list = kernel.declaration->directives;
  for (ptx::Index i = list.first; i < list.end(); ++i) {
    const ptx::Directive& d = unit.directives[i];
    if (unit.names.text(d.name) != name) continue;
    const auto number = [&](std::uint32_t at) {
      return at < d.numbers.count ? static_cast<std::uint32_t>(unit.sizes[d.numbers.first + at])
                                  : 1u;
    };
    return Dim3{number(0), number(1), number(2)};
  }
  return std::nullopt;
}

// As ptxas bounds them: by .maxnreg, else so that the threads of all CTAs that are to fit have some. Of 255 that a thread
// can name 256 are allocated. A kernel with setmaxnreg.inc has no more than the largest count of those.
// Source: PTX ISA 9.2, 11.4.1 ".maxnreg", 11.4.5 ".minnctapersm"; 9.7.19.5: setmaxnreg begins with what .maxnreg says
// and, of setmaxnreg.inc, ptxas 13.0 for sm_90a ("Used N registers"): 16 kernels of 128 to 640 threads, counts of 24 to 240;
// tests/silicon/ptxas_test.cc asks it of some.
int registers_at_launch(const Kernel& kernel, const Launch& launch) {
  if (launch.registers != 0) return static_cast<int>(launch.registers);
  if (!kernel.has_setmaxnreg) return 0;
  std::uint32_t each = registers_of_an_sm / static_cast<std::uint32_t>(launch.block.count());
  if (const auto ctas = directive_of(kernel, "minnctapersm")) each /= std::max(1u, ctas->x);
  if (const auto most = directive_of(kernel, "maxnreg")) each = std::min(each, most->x);
  if (kernel.most_registers != 0) each = std::min(each, kernel.most_registers);
  return static_cast<int>(std::min<std::uint32_t>(each / 8 * 8, 256));
}

std::string words_of_dim(const Dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}

bool names_reserved_shared(const Kernel& kernel) {
  using enum ptx::Special;
  return std::ranges::any_of(kernel.constants, [](const Constant& c) {
    return c.is_special && c.special >= ReservedSmemBegin && c.special <= ReservedSmem1;
  });
}

bool is_same(const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

std::string demanded(const char* what, const Dim3& found, const char* name, const Dim3& wanted) {
  return std::string(what) + " is " + words_of_dim(found) + ": the kernel has ." + name + " " +
         words_of_dim(wanted);
}

bool names_cluster(const ptx::Form& form) {
  using enum ptx::Opcode;
  return form.opcode == BarrierClusterArrive || form.opcode == BarrierClusterWait ||
         form.opcode == Mapa || form.get<ptx::Multicast>() != ptx::Multicast::None ||
         form.get<ptx::CtaGroup>() == ptx::CtaGroup::Two;
}

// As a kernel finds it in %is_explicit_cluster.
// Measured: tests/vectors/launch.tcqv
bool is_explicit(const Kernel& kernel, const Launch& launch) {
  return launch.has_cluster || launch.cluster.count() > 1 || required_cluster(kernel).has_value();
}

}  // namespace

std::optional<Dim3> required_cluster(const Kernel& kernel) {
  return directive_of(kernel, "reqnctapercluster");
}

std::string refusal_of(const Kernel& kernel, const Launch& launch) {
  if (const auto wanted = directive_of(kernel, "reqntid");
      wanted && !is_same(launch.block, *wanted))
    return demanded("the block", launch.block, "reqntid", *wanted);
  if (const auto most = directive_of(kernel, "maxntid");
      most && launch.block.count() > most->count())
    return demanded("the block", launch.block, "maxntid", *most);
  if (const auto wanted = required_cluster(kernel); wanted && !is_same(launch.cluster, *wanted))
    return demanded("the cluster", launch.cluster, "reqnctapercluster", *wanted);
  if (const auto most = directive_of(kernel, "maxclusterrank");
      most && launch.cluster.count() > most->x)
    return demanded("the cluster", launch.cluster, "maxclusterrank", {most->x, 1, 1});
  if (!launch.has_cluster && directive_of(kernel, "explicitcluster"))
    return "the launch names no cluster: the kernel has .explicitcluster";
  return {};
}

bool are_somebodys(const Launch& launch, std::uint64_t offset, std::uint64_t bytes) {
  const auto gap = std::ranges::upper_bound(launch.gaps, offset, {}, &machine::ByteRange::end);
  return gap == launch.gaps.end() || offset + bytes <= gap->begin;
}

tma::Capability capability_of(const Kernel& kernel) {
  return ptx::is_for_sm90(kernel.program->unit) ? tma::Capability::V9 : tma::Capability::V10;
}

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
  auto memory = std::make_shared<machine::LaunchMemory>();
  memory->bytes = std::move(global);
  return make_program(std::move(kernel), std::move(launch), cluster, std::move(memory));
}

machine::Program make_program(std::shared_ptr<const Kernel> kernel, Launch launch,
                              std::uint64_t cluster,
                              std::shared_ptr<machine::LaunchMemory> memory) {
  write_maps(launch, memory->bytes);
  launch.has_cluster = is_explicit(*kernel, launch);
  const auto threads = static_cast<int>((launch.block.count() + 31) / 32 * 32);
  machine::Program program({.cluster = static_cast<int>(launch.whole_grid ? launch.grid.count()
                                                                          : launch.cluster.count()),
                            .threads = threads,
                            .registers = registers_at_launch(*kernel, launch),
                            .capability = capability_of(*kernel)});
  const std::uint32_t bytes = kernel->shared_end - kernel->shared_begin + launch.dynamic_shared;
  if (names_reserved_shared(*kernel)) program.shared_at("reserved", 0, lent_shared_bytes);
  if (bytes > 0) program.shared_at("shared", kernel->shared_begin, bytes);
  program.share_memory(std::move(memory));
  for (std::size_t i = 0; i < launch.maps.size(); ++i)
    program.tensor(launch.maps[i], i < launch.map_names.size() ? launch.map_names[i] : "");
  program.warps("kernel", 0, threads / 32);
  program.segments().front().statements = statements_of(*kernel);
  program.set_pending(answers_of(launch));
  const Dim3 first_cta = first_cta_of(launch, cluster);
  program.set_feeder(
      std::make_shared<KernelFeeder>(std::move(kernel), std::move(launch), first_cta));
  return program;
}

}  // namespace tcq::run
