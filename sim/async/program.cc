#include "sim/async/program.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/isa/base/shared_limits.h"

namespace tcq::machine {
namespace {

constexpr std::uint64_t mbarrier_bytes = 8;
constexpr std::uint64_t global_alignment = 256;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

// --- building --------------------------------------------------------------------------------------

std::uint32_t Program::shared_base() const {
  const bool is_below = std::ranges::any_of(
      allocations_, [](const Allocation& a) { return a.address < shared_base_sm90; });
  return is_below ? 0 : shared_base_sm90;
}

std::uint64_t Program::shared_end() const {
  std::uint64_t end = shared_base_sm90;
  for (const Allocation& a : allocations_) end = std::max(end, a.address + a.bytes);
  return end;
}

std::uint32_t Program::shared_at(const std::string& name, std::uint64_t address,
                                 std::uint64_t bytes) {
  allocations_.push_back({name, address, bytes});
  return static_cast<std::uint32_t>(address);
}

std::uint32_t Program::shared(const std::string& name, std::uint64_t bytes,
                              std::uint32_t alignment) {
  return shared_at(name, round_up(shared_end(), std::max(alignment, 1u)), bytes);
}

Address Program::mbarrier(const std::string& name) {
  return shared(name, mbarrier_bytes, mbarrier_bytes);
}

std::vector<Address> Program::mbarriers(const std::string& name, int count) {
  std::vector<Address> result;
  for (int i = 0; i < count; ++i) result.push_back(mbarrier(name + "[" + std::to_string(i) + "]"));
  return result;
}

std::uint64_t Program::global(std::vector<std::uint8_t> bytes) {
  std::vector<std::uint8_t>& all = memory_.launch()->bytes;
  const std::uint64_t offset = round_up(all.size(), global_alignment);
  if (offset == 0) {
    all = std::move(bytes);
  } else {
    all.resize(offset);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return offset;
}

int Program::tensor(const tma::TensorMap& map, const std::string& name) {
  map_names_.push_back(name.empty() ? "map " + std::to_string(maps_.size()) : name);
  maps_.push_back(map);
  return static_cast<int>(maps_.size()) - 1;
}

const std::string& Program::map_name(int map) const {
  static const std::string made = "a tensor map that the kernel made";
  const auto number = static_cast<std::size_t>(map);
  return number < map_names_.size() ? map_names_[number] : made;
}

Role Program::warps(const std::string& name, int first, int count, int cta) {
  segments_.push_back({name, first, count, cta, {}});
  return Role(*this, segments_.size() - 1);
}

Role& Role::add(const Instruction& what, At at) {
  program_->segments()[segment_].statements.push_back({what, guard_, {at.file_name(), at.line()}});
  return *this;
}

template <class I>
Role& Role::add(const I& what, At at) {
  return add(Instruction(what), at);
}

namespace {

// Those of every instruction, which other sources link with.
template <class... I>
constexpr auto adders(const OneOf<I...>*) {
  return std::tuple(static_cast<Role& (Role::*)(const I&, Role::At)>(&Role::add<I>)...);
}
[[gnu::used]] const auto every_adder = adders(static_cast<const Instruction*>(nullptr));

}  // namespace

int Role::next() const {
  return static_cast<int>(program_->segments()[segment_].statements.size());
}

std::size_t Program::statement_count() const {
  std::size_t count = 0;
  for (const Segment& s : segments_) count += s.statements.size();
  return count;
}

const Segment& Program::segment_of(std::size_t number) const {
  for (const Segment& s : segments_) {
    if (number < s.statements.size()) return s;
    number -= s.statements.size();
  }
  return segments_.back();
}

const Statement& Program::statement(std::size_t number) const {
  for (const Segment& s : segments_) {
    if (number < s.statements.size()) return s.statements[number];
    number -= s.statements.size();
  }
  return segments_.back().statements.back();
}

// --- checking --------------------------------------------------------------------------------------

namespace {

ProgramFault malformed(std::string what) { return {Fault::ProgramMalformed, -1, std::move(what)}; }
ProgramFault too_large(std::string what) { return {Fault::ProgramTooLarge, -1, std::move(what)}; }

ProgramFault check_launch(const Launch& launch) {
  if (launch.cluster < 1 || launch.cluster > max_cluster)
    return too_large("cluster of " + std::to_string(launch.cluster) + " CTAs");
  if (launch.threads < warp_threads || launch.threads > max_threads)
    return too_large(std::to_string(launch.threads) + " threads per CTA");
  if (launch.threads % warp_threads != 0)
    return malformed(std::to_string(launch.threads) + " threads are no whole warps");
  if (launch.registers < 0 || launch.registers > max_registers)
    return too_large(std::to_string(launch.registers) + " registers per thread");
  return {};
}

ProgramFault check_allocations(const Program& program) {
  std::vector<Allocation> sorted = program.allocations();
  std::sort(sorted.begin(), sorted.end(),
            [](const Allocation& x, const Allocation& y) { return x.address < y.address; });
  constexpr std::uint64_t end = shared_base_sm90 + max_cta_shared_bytes;
  for (const Allocation& a : sorted) {
    if (a.address < shared_base_sm90 && a.address + a.bytes > lent_shared_bytes)
      return malformed(a.name + " begins in reserved memory");
    if (a.bytes > max_cta_shared_bytes || a.address > end - a.bytes)
      return too_large(a.name + " ends behind the shared memory of a CTA");
  }
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1].address + sorted[i - 1].bytes > sorted[i].address)
      return {Fault::AllocationsOverlap, -1, sorted[i - 1].name + " and " + sorted[i].name};
  return {};
}

bool in_file(RegisterRange range) {
  return range.first >= 0 && range.count >= 0 && range.count <= max_registers &&
         range.first <= max_registers - range.count;
}

// Whatever of a statement does not depend on the state it meets.
Fault check_statement(const Statement& statement, const Bounds& bounds) {
  return std::visit(
      [&](const auto& i) -> Fault {
        if (const Fault fault = i.check(bounds); fault != Fault::None) return fault;
        const RegisterUse used = i.registers();
        return std::all_of(used.begin(), used.end(), in_file) ? Fault::None
                                                              : Fault::RegisterOutOfRange;
      },
      statement.what);
}

ProgramFault check_segments(const Program& program) {
  std::int64_t number = 0;
  for (const Segment& s : program.segments()) {
    if (s.warps < 1 || s.warps > program.warps_per_cta() || s.first_warp < 0 ||
        s.first_warp > program.warps_per_cta() - s.warps)
      return malformed("role " + s.name + " has warps that the CTA has not");
    if (s.cta < every_cta || s.cta >= program.launch().cluster)
      return malformed("role " + s.name + " belongs to a CTA that the cluster has not");
    const Bounds bounds = {static_cast<int>(program.maps().size()), program.launch().threads,
                           s.warps * warp_threads, static_cast<int>(s.statements.size())};
    for (const Statement& statement : s.statements) {
      const Fault fault = check_statement(statement, bounds);
      if (fault != Fault::None) return {fault, number, s.name};
      ++number;
    }
  }
  return {};
}

}  // namespace

ProgramFault check(const Program& program) {
  if (const ProgramFault f = check_launch(program.launch()); f.fault != Fault::None) return f;
  if (program.statement_count() > max_statements)
    return too_large(std::to_string(program.statement_count()) + " statements");
  if (program.initial_global().size() > max_global_bytes)
    return too_large(std::to_string(program.initial_global().size()) + " bytes of global memory");
  if (const ProgramFault f = check_allocations(program); f.fault != Fault::None) return f;
  return check_segments(program);
}

}  // namespace tcq::machine
