#include "oracle/diagnosis/instruction_text.h"

#include <fmt/format.h>

#include <string_view>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/copy.h"

namespace tcq::oracle {

using namespace machine;

std::string address_text(const Program& program, std::uint32_t address) {
  for (const Allocation& a : program.allocations()) {
    if (address < a.address || address >= a.address + a.bytes) continue;
    const std::uint64_t offset = address - a.address;
    return offset == 0 ? a.name : fmt::format("{}+{:#x}", a.name, offset);
  }
  return fmt::format("{:#x}", address);
}

std::string bytes_text(const Program& program, ByteRange bytes) {
  for (const Allocation& a : program.allocations())
    if (bytes.begin >= a.address && bytes.begin < a.address + a.bytes)
      return fmt::format("{} [{:#x},{:#x})", a.name, bytes.begin, bytes.end);
  return fmt::format("[{:#x},{:#x})", bytes.begin, bytes.end);
}

namespace {

std::string registers_text(RegisterRange r) {
  if (r.count == 1) return fmt::format("r{}", r.first);
  return fmt::format("{{r{}..r{}}}", r.first, r.first + r.count - 1);
}

// One overload per instruction: its PTX.
class Text {
 public:
  explicit Text(const Program& program) : program_(program) {}

  std::string operator()(const Move& i) const {
    return i.from < 0 ? fmt::format("mov.b32 {}, {:#x}", registers_text(i.to), i.immediate)
                      : fmt::format("mov.b32 {}, {}", registers_text(i.to),
                                    registers_text({i.from, i.to.count}));
  }
  std::string operator()(const LoadShared& i) const {
    return fmt::format("ld.shared{}.b32 {}, [{}]", remote(i.from),
                       registers_text({i.reg, i.bytes / 4}), at(i.from));
  }
  std::string operator()(const StoreShared& i) const {
    return fmt::format("st.shared{}.b32 [{}], {}", remote(i.to), at(i.to),
                       registers_text({i.reg, i.bytes / 4}));
  }
  std::string operator()(const LoadGlobal& i) const {
    return fmt::format("ld.global.b32 {}, [{:#x}]", registers_text(i.regs), i.offset);
  }
  std::string operator()(const StoreGlobal& i) const {
    return fmt::format("st.global.b32 [{:#x}], {}", i.offset, registers_text(i.regs));
  }
  std::string operator()(const LoadMatrices& i) const {
    return fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [{}]", i.count,
                       i.transposed ? ".trans" : "", registers_text({i.reg, i.count}), at(i.rows));
  }
  std::string operator()(const StoreMatrices& i) const {
    return fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [{}], {}", i.count,
                       i.transposed ? ".trans" : "", at(i.rows), registers_text({i.reg, i.count}));
  }
  std::string operator()(const MbarrierInit& i) const {
    return fmt::format("mbarrier.init [{}], {}", at(i.barrier), i.count);
  }
  std::string operator()(const MbarrierInval& i) const {
    return fmt::format("mbarrier.inval [{}]", at(i.barrier));
  }
  std::string operator()(const MbarrierArrive& i) const {
    return fmt::format("mbarrier.arrive{}{}{} [{}]", i.drop ? "_drop" : "",
                       i.relaxed ? ".relaxed" : ".release", scope(i.scope), at(i.barrier));
  }
  std::string operator()(const MbarrierArriveExpectTx& i) const {
    return fmt::format("mbarrier.arrive.expect_tx{}{} [{}], {}",
                       i.relaxed ? ".relaxed" : ".release", scope(i.scope), at(i.barrier), i.bytes);
  }
  std::string operator()(const MbarrierExpectTx& i) const {
    return fmt::format("mbarrier.expect_tx [{}], {}", at(i.barrier), i.bytes);
  }
  std::string operator()(const MbarrierCompleteTx& i) const {
    return fmt::format("mbarrier.complete_tx [{}], {}", at(i.barrier), i.bytes);
  }
  std::string operator()(const MbarrierTryWait& i) const {
    return fmt::format("mbarrier.try_wait.parity{}{} [{}], {}", i.relaxed ? ".relaxed" : ".acquire",
                       scope(i.scope), at(i.barrier), i.parity);
  }
  std::string operator()(const MbarrierTestWait& i) const {
    return fmt::format("mbarrier.test_wait.parity{}{} p{}, [{}], {}",
                       i.relaxed ? ".relaxed" : ".acquire", scope(i.scope), i.predicate,
                       at(i.barrier), i.parity);
  }
  std::string operator()(const FenceProxyAsync&) const { return "fence.proxy.async"; }
  std::string operator()(const FenceMbarrierInit&) const {
    return "fence.mbarrier_init.release.cluster";
  }
  std::string operator()(const TensormapReplace& i) const {
    return fmt::format("tensormap.replace [{}]", program_.map_name(i.map));
  }
  std::string operator()(const FenceProxyTensormap& i) const {
    return i.direction == TensormapFence::Release
               ? fmt::format("fence.proxy.tensormap::generic.release{}", scope(i.scope))
               : fmt::format("fence.proxy.tensormap::generic.acquire{} [{}], 128", scope(i.scope),
                             program_.map_name(i.map));
  }
  std::string operator()(const WgmmaFence&) const { return "wgmma.fence"; }
  std::string operator()(const WgmmaMma& i) const { return short_mnemonic(i.op.form); }
  std::string operator()(const WgmmaCommit&) const { return "wgmma.commit_group"; }
  std::string operator()(const WgmmaWait& i) const {
    return fmt::format("wgmma.wait_group {}", i.pending);
  }
  std::string operator()(const TensorLoad& i) const {
    return fmt::format("cp.async.bulk.tensor{} [{}], {}, [{}]",
                       i.multicast != 0 ? ".multicast::cluster" : "", at(i.to),
                       program_.map_name(i.map), at(i.barrier));
  }
  std::string operator()(const TensorStore& i) const {
    return fmt::format("cp.async.bulk.tensor {}, [{}]", program_.map_name(i.map), at(i.from));
  }
  std::string operator()(const TensorReduce& i) const {
    return fmt::format("cp.reduce.async.bulk.tensor.{} {}, [{}]", tma::name(i.op),
                       program_.map_name(i.map), at(i.from));
  }
  std::string operator()(const BulkLoad& i) const {
    return fmt::format("cp.async.bulk{} [{}], global, {}, [{}]",
                       i.multicast != 0 ? ".multicast::cluster" : "", at(i.to), i.bytes,
                       at(i.barrier));
  }
  std::string operator()(const BulkStore& i) const {
    return fmt::format("cp.async.bulk global, [{}], {}", at(i.from), i.bytes);
  }
  std::string operator()(const BulkReduce& i) const {
    return fmt::format("cp.reduce.async.bulk.{} global, [{}], {}", tma::name(i.op), at(i.from),
                       i.bytes);
  }
  std::string operator()(const BulkSend& i) const {
    return fmt::format("cp.async.bulk.shared::cluster.shared::cta [{}], [{}], {}, [{}]", at(i.to),
                       at(i.from), i.bytes, at(i.barrier));
  }
  std::string operator()(const BulkCommit&) const { return "cp.async.bulk.commit_group"; }
  std::string operator()(const BulkWait& i) const {
    return fmt::format("cp.async.bulk.wait_group{} {}", i.read ? ".read" : "", i.pending);
  }
  std::string operator()(const BarrierSync& i) const {
    return i.threads == 0 ? fmt::format("bar.sync {}", i.id)
                          : fmt::format("bar.sync {}, {}", i.id, i.threads);
  }
  std::string operator()(const BarrierArrive& i) const {
    return fmt::format("bar.arrive {}, {}", i.id, i.threads);
  }
  std::string operator()(const WarpSync&) const { return "bar.warp.sync"; }
  std::string operator()(const ClusterArrive& i) const {
    return i.relaxed ? "barrier.cluster.arrive.relaxed" : "barrier.cluster.arrive.release";
  }
  std::string operator()(const ClusterWait&) const { return "barrier.cluster.wait.acquire"; }
  std::string operator()(const SetMaxRegisters& i) const {
    return fmt::format("setmaxnreg.{} {}", i.increase ? "inc" : "dec", i.count);
  }
  std::string operator()(const Branch& i) const {
    return i.predicate < 0 ? fmt::format("bra {}", i.target)
                           : fmt::format("@{}p{} bra {}", i.when ? "" : "!", i.predicate, i.target);
  }
  std::string operator()(const Tcgen05Alloc& i) const {
    return fmt::format("{} [{}], {}", short_opcode(tcgen05::AllocForm{i.cta_group, false}),
                       at(i.to), i.columns);
  }
  std::string operator()(const Tcgen05Dealloc& i) const {
    return fmt::format("{} {}, {}", short_opcode(tcgen05::DeallocForm{i.cta_group}), cell(i.from),
                       i.columns);
  }
  std::string operator()(const Tcgen05Relinquish& i) const {
    return short_opcode(tcgen05::RelinquishForm{i.cta_group});
  }
  std::string operator()(const Tcgen05Ld& i) const {
    const tcgen05::Fragment& f = i.fragment;
    return fmt::format("{} {}, [{}]", short_opcode(tcgen05::LdForm{f.shape, f.num, f.packed}),
                       registers_text({i.reg, registers(f)}), cell(i.from));
  }
  std::string operator()(const Tcgen05St& i) const {
    const tcgen05::Fragment& f = i.fragment;
    return fmt::format("{} [{}], {}", short_opcode(tcgen05::StForm{f.shape, f.num, f.packed}),
                       cell(i.to), registers_text({i.reg, registers(f)}));
  }
  std::string operator()(const Tcgen05WaitLd&) const {
    return short_opcode(tcgen05::WaitForm{false});
  }
  std::string operator()(const Tcgen05WaitSt&) const {
    return short_opcode(tcgen05::WaitForm{true});
  }
  std::string operator()(const Tcgen05Cp& i) const {
    return fmt::format("{} [{}], [{}]", short_opcode(cp_form(i.shape, i.cta_group)), cell(i.to),
                       address_text(program_, i.from.start_bytes));
  }
  std::string operator()(const Tcgen05Shift& i) const {
    return fmt::format("{} [{}]", short_opcode(tcgen05::ShiftForm{i.cta_group}), cell(i.at));
  }
  std::string operator()(const Tcgen05Mma& i) const {
    return fmt::format("{}.m{}n{} [{}]", short_opcode(tcgen05::MmaForm{i.opcode}), i.idesc.m,
                       i.idesc.n, cell(i.d));
  }
  std::string operator()(const Tcgen05Commit& i) const {
    const tcgen05::CommitForm form{i.cta_group, i.multicast != 0, false};
    return fmt::format("{} [{}]", short_opcode(form), at(i.barrier));
  }
  std::string operator()(const Tcgen05FenceBefore&) const {
    return short_opcode(tcgen05::FenceForm{false});
  }
  std::string operator()(const Tcgen05FenceAfter&) const {
    return short_opcode(tcgen05::FenceForm{true});
  }

 private:
  static std::string cell(const TmemOperand& o) {
    const std::string offset = fmt::format("lane {}, column {}", o.tmem_lane, o.tmem_column);
    return o.reg < 0 ? offset : fmt::format("r{} + {}", o.reg, offset);
  }
  std::string at(const Address& address) const {
    const std::string text = address_text(program_, address.of(0));
    return address.cta == own_cta ? text : fmt::format("{} of CTA {}", text, address.cta);
  }
  static const char* remote(const Address& a) { return a.cta == own_cta ? "" : "::cluster"; }
  static const char* scope(Scope s) { return s == Scope::Cluster ? ".cluster" : ".cta"; }

  const Program& program_;
};

}  // namespace

std::string instruction_text(const Program& program, const machine::Instruction& what) {
  return std::visit(Text(program), what);
}

std::string line_text(const Statement& statement) {
  std::string_view file = statement.where.file;
  if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return fmt::format("{}:{}", file, statement.where.line);
}

std::string who_text(const Program& program, const Place& place) {
  const int warps = program.warps_per_cta();
  const int warp = place.warp % warps;
  const std::string cta =
      program.launch().cluster > 1 ? fmt::format("CTA {} ", place.warp / warps) : "";
  return place.lane < 0 ? fmt::format("{}warp {}", cta, warp)
                        : fmt::format("{}thread {}", cta, warp * warp_threads + place.lane);
}

std::string place_text(const Program& program, const Place& place) {
  const auto number = static_cast<std::size_t>(place.statement);
  const Statement& statement = program.statement(number);
  return fmt::format("{} at {} ({}, {})", instruction_text(program, statement.what),
                     line_text(statement), program.segment_of(number).name,
                     who_text(program, place));
}

}  // namespace tcq::oracle
