#include "sim/async/program.h"

#include <algorithm>

#include "sim/isa/base/matrix_fragment.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/tcgen05/shape.h"

namespace tcq::machine {
namespace {

constexpr std::uint64_t mbarrier_bytes = 8;
constexpr std::uint64_t global_alignment = 256;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

// --- building --------------------------------------------------------------------------------------

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

std::uint64_t Program::global(const std::vector<std::uint8_t>& bytes) {
  const std::uint64_t offset = round_up(global_.size(), global_alignment);
  global_.resize(offset);
  global_.insert(global_.end(), bytes.begin(), bytes.end());
  return offset;
}

int Program::tensor(const tma::TensorMap& map, const std::string& name) {
  map_names_.push_back(name.empty() ? "map " + std::to_string(maps_.size()) : name);
  maps_.push_back(map);
  return static_cast<int>(maps_.size()) - 1;
}

Role Program::warps(const std::string& name, int first, int count, int cta) {
  segments_.push_back({name, first, count, cta, {}});
  return Role(*this, segments_.size() - 1);
}

Role& Role::add(const Instruction& what, At at) {
  program_->segments()[segment_].statements.push_back({what, guard_, {at.file_name(), at.line()}});
  return *this;
}

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
    if (a.address < shared_base_sm90) return malformed(a.name + " begins in reserved memory");
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

bool access_bytes_exist(int bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

// Everything about one statement that does not depend on the state it meets.
class StatementCheck {
 public:
  StatementCheck(const Program& program, const Segment& segment)
      : program_(program), segment_(segment) {}

  Fault operator()(const Move& i) const {
    return registers(i.to, RegisterRange{std::max(i.from, 0), i.from < 0 ? 0 : i.to.count});
  }
  Fault operator()(const LoadShared& i) const { return access(i.reg, i.bytes, i.from); }
  Fault operator()(const StoreShared& i) const { return access(i.reg, i.bytes, i.to); }
  Fault operator()(const LoadGlobal& i) const { return registers(i.regs); }
  Fault operator()(const StoreGlobal& i) const { return registers(i.regs); }
  Fault operator()(const LoadMatrices& i) const { return matrices(i.reg, i.count, i.rows); }
  Fault operator()(const StoreMatrices& i) const { return matrices(i.reg, i.count, i.rows); }
  Fault operator()(const WgmmaMma& i) const {
    if (const Fault fault = check(i.op.form); fault != Fault::None) return fault;
    if (i.d.count != wgmma::accumulator_registers(i.op.form.d, i.op.form.n))
      return Fault::RegisterCountD;
    const bool a_in_registers = i.op.form.a_place == wgmma::Place::Registers;
    if (i.a.count != (a_in_registers ? wgmma::a_registers : 0)) return Fault::RegisterCountA;
    if (i.metadata.count != (i.op.form.sparse ? 1 : 0)) return Fault::ProgramMalformed;
    return registers(i.d, i.a, i.metadata);
  }
  Fault operator()(const WgmmaWait& i) const {
    return i.pending < 0 ? Fault::ImmediateWaitGroup : Fault::None;
  }
  Fault operator()(const BulkWait& i) const {
    return i.pending < 0 ? Fault::ImmediateWaitGroup : Fault::None;
  }
  Fault operator()(const TensorLoad& i) const { return map(i.map); }
  Fault operator()(const TensorStore& i) const { return map(i.map); }
  Fault operator()(const TensorReduce& i) const { return map(i.map); }
  Fault operator()(const TensormapReplace& i) const { return map(i.map); }
  Fault operator()(const FenceProxyTensormap& i) const {
    return i.direction == TensormapFence::Release ? Fault::None : map(i.map);
  }
  Fault operator()(const BarrierSync& i) const { return barrier(i.id, i.threads, true); }
  Fault operator()(const BarrierArrive& i) const { return barrier(i.id, i.threads, false); }
  Fault operator()(const MbarrierTestWait& i) const { return predicate(i.predicate); }
  Fault operator()(const Branch& i) const {
    const auto end = static_cast<int>(segment_.statements.size());
    if (i.target < 0 || i.target > end) return Fault::ProgramMalformed;
    return i.predicate < 0 ? Fault::None : predicate(i.predicate);
  }
  Fault operator()(const SetMaxRegisters& i) const {
    return i.count % 8 != 0 || i.count < 24 || i.count > 256 ? Fault::SetmaxnregCount : Fault::None;
  }
  Fault operator()(const Tcgen05Alloc& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Dealloc& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Relinquish& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Cp& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Shift& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Commit& i) const { return group(i.cta_group); }
  Fault operator()(const Tcgen05Ld& i) const { return transfer(i.fragment, i.from, i.reg); }
  Fault operator()(const Tcgen05St& i) const { return transfer(i.fragment, i.to, i.reg); }
  Fault operator()(const Tcgen05Mma& i) const {
    const tcgen05::MmaOpcode& op = i.opcode;
    if (const Fault fault = group(op.cta_group); fault != Fault::None) return fault;
    if (op.ws || op.sparse || op.ashift || i.idesc.k96) return Fault::UnmodelledMma;
    if (const Fault fault = check(op, i.idesc); fault != Fault::None) return fault;
    const bool a_lies_so =
        op.a_place == tcgen05::Place::Tmem || i.a.layout.major == i.idesc.major_a;
    return a_lies_so && i.b.layout.major == i.idesc.major_b ? Fault::None : Fault::ProgramMalformed;
  }
  template <class Other>
  Fault operator()(const Other&) const {
    return Fault::None;
  }

 private:
  template <class... Ranges>
  Fault registers(Ranges... ranges) const {
    return (in_file(ranges) && ...) ? Fault::None : Fault::RegisterOutOfRange;
  }
  Fault address(const Address& a) const {
    const auto threads = static_cast<std::size_t>(segment_.warps * warp_threads);
    return a.table && a.table->size() < threads ? Fault::ProgramMalformed : Fault::None;
  }
  Fault access(int reg, int bytes, const Address& a) const {
    if (!access_bytes_exist(bytes)) return Fault::ProgramMalformed;
    if (!in_file({reg, bytes / 4})) return Fault::RegisterOutOfRange;
    return address(a);
  }
  Fault matrices(int reg, int count, const Address& a) const {
    if (!matrix::count_exists(count)) return Fault::MatrixCount;
    if (!in_file({reg, count})) return Fault::RegisterOutOfRange;
    return address(a);
  }
  static Fault group(int cta_group) {
    return cta_group == 1 || cta_group == 2 ? Fault::None : Fault::ProgramMalformed;
  }
  Fault transfer(const tcgen05::Fragment& f, const TmemOperand& operand, int reg) const {
    const bool exists = f.num >= 1 && f.num <= 128 && tcgen05::registers(f) <= 128;
    if (!exists || f.half_split < 0) return Fault::ProgramMalformed;
    return registers(RegisterRange{reg, tcgen05::registers(f)},
                     RegisterRange{std::max(operand.reg, 0), 1});
  }
  Fault map(int number) const {
    const auto count = static_cast<int>(program_.maps().size());
    return number < 0 || number >= count ? Fault::ProgramMalformed : Fault::None;
  }
  Fault barrier(int id, int threads, bool may_be_all) const {
    if (id < 0 || id > 15) return Fault::BarrierId;
    if (threads == 0 && may_be_all) return Fault::None;
    const bool whole = threads > 0 && threads % warp_threads == 0;
    return whole && threads <= program_.launch().threads ? Fault::None : Fault::BarrierThreads;
  }
  Fault predicate(int number) const {
    return number < 0 || number > 7 ? Fault::RegisterOutOfRange : Fault::None;
  }

  const Program& program_;
  const Segment& segment_;
};

ProgramFault check_segments(const Program& program) {
  std::int64_t number = 0;
  for (const Segment& s : program.segments()) {
    if (s.warps < 1 || s.warps > program.warps_per_cta() || s.first_warp < 0 ||
        s.first_warp > program.warps_per_cta() - s.warps)
      return malformed("role " + s.name + " has warps that the CTA has not");
    if (s.cta < every_cta || s.cta >= program.launch().cluster)
      return malformed("role " + s.name + " belongs to a CTA that the cluster has not");
    const StatementCheck check_statement(program, s);
    for (const Statement& statement : s.statements) {
      const Fault fault = std::visit(check_statement, statement.what);
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
