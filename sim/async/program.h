// A program for a cluster of CTAs, put together role by role.
//
// A role is a range of warps (of one CTA or of all) and the statements they execute; a warp executes
// the roles it belongs to one after the other, in the order they were made. Loops are C++ loops that
// append statements; only where the number of rounds is not known beforehand there is a branch.
// Every statement remembers the line it was made in. Running a program: cluster.h; all its
// executions: explore.h. Example:
//
//   Program p({.threads = 64});
//   const Address flag = p.mbarrier("flag");
//   const std::uint32_t data = p.shared("data", 128);
//   Role all = p.warps("all", 0, 2);
//   all.elect().mbarrier_init(flag, 32);
//   all.barrier_sync();
//   p.warps("writer", 0, 1).move({0, 1}, 7).store_shared({data, 4}, 0).mbarrier_arrive(flag);
//   p.warps("reader", 1, 1).mbarrier_try_wait(flag, 0).load_shared({data, 4}, 0);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "sim/async/feed.h"
#include "sim/async/global_memory.h"
#include "sim/async/instruction.h"
#include "sim/isa/base/cluster.h"
#include "sim/isa/fault/fault.h"

namespace tcq::machine {

inline constexpr int warp_threads = 32;
inline constexpr int every_cta = -1;
inline constexpr int max_cluster = 16;
inline constexpr int max_threads = 1024;
inline constexpr int max_registers = 256;
inline constexpr std::size_t max_statements = std::size_t{1} << 22;
inline constexpr std::size_t max_global_bytes = std::size_t{1} << 30;

struct Launch {
  int cluster = 1;    // CTAs
  int threads = 128;  // of each CTA
  int registers = 0;  // per thread at launch; 0: not bounded (no .maxntid), setmaxnreg is ignored
  tma::Capability capability = tma::Capability::V9;  // of the device, for tensor maps
};

struct Segment {
  std::string name;
  int first_warp = 0;
  int warps = 1;
  int cta = every_cta;
  std::vector<Statement> statements;
};

struct Allocation {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// The bytes that try_cancel brings: the first CTA of a cluster that will not begin, then 1; or zeros. What they are on a chip is
// not known: only query_cancel looks into them.
using LaunchAnswer = std::array<std::uint32_t, launch_answer_bytes / sizeof(std::uint32_t)>;
constexpr bool is_canceled(const LaunchAnswer& answer) { return answer[3] == 1; }

class Role;

class Program {
 public:
  explicit Program(Launch launch) : launch_(launch) {}

  // Shared memory, the same in every CTA. Without an address: behind what was allocated before.
  std::uint32_t shared(const std::string& name, std::uint64_t bytes, std::uint32_t alignment = 128);
  std::uint32_t shared_at(const std::string& name, std::uint64_t address, std::uint64_t bytes);
  Address mbarrier(const std::string& name);
  std::vector<Address> mbarriers(const std::string& name, int count);  // name[0], name[1], ...

  // Global memory; returns its offset, a multiple of 256.
  std::uint64_t global(std::vector<std::uint8_t> bytes);
  // Returns the number that TensorLoad and its like take. The map's address is an offset. Without a
  // name: "map 0", "map 1", ...
  int tensor(const tma::TensorMap& map, const std::string& name = "");

  // What requests of try_cancel are answered, in this order, until it is used up: then they fail.
  void set_pending(std::vector<LaunchAnswer> pending) { pending_ = std::move(pending); }
  const std::vector<LaunchAnswer>& pending() const { return pending_; }

  Role warps(const std::string& name, int first, int count, int cta = every_cta);

  const Launch& launch() const { return launch_; }
  int warps_per_cta() const { return launch_.threads / warp_threads; }
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Allocation>& allocations() const { return allocations_; }
  const std::vector<tma::TensorMap>& maps() const { return maps_; }  // as they are at launch
  const std::string& map_name(int map) const;  // of those beyond, too: the kernel's own
  // Not while an execution has it: global_memory.h.
  const std::vector<std::uint8_t>& initial_global() const { return memory_.launch()->bytes; }
  const std::shared_ptr<LaunchMemory>& memory() const { return memory_.launch(); }
  void share_memory(std::shared_ptr<LaunchMemory> memory) {
    memory_ = ProgramMemory(std::move(memory));
  }
  std::uint32_t shared_base() const;  // 0 where one lies in what the system keeps
  std::uint64_t shared_end() const;   // behind the last allocation

  // Statements are numbered through all segments.
  std::size_t statement_count() const;
  const Statement& statement(std::size_t number) const;
  const Segment& segment_of(std::size_t number) const;

  std::vector<Segment>& segments() { return segments_; }

  // What makes the statements, of a compiled kernel; null: they stand in the segments.
  const Feeder* feeder() const { return feeder_.get(); }
  void set_feeder(std::shared_ptr<const Feeder> feeder) { feeder_ = std::move(feeder); }

 private:
  Launch launch_;
  std::shared_ptr<const Feeder> feeder_;
  std::vector<Segment> segments_;
  std::vector<Allocation> allocations_;
  std::vector<LaunchAnswer> pending_;
  std::vector<tma::TensorMap> maps_;
  std::vector<std::string> map_names_;
  ProgramMemory memory_;
};

// The first thing that keeps a program from being run at all. Faults: ProgramTooLarge,
// ProgramMalformed, AllocationsOverlap, RegisterOutOfRange.
struct ProgramFault {
  Fault fault = Fault::None;
  std::int64_t statement = -1;  // -1: none in particular
  std::string what;             // the offending name or number
};
ProgramFault check(const Program& program);

// Appends statements to one segment of a program, which must outlive it. elect(), lanes() and
// in_warps() give a role whose statements only those threads execute.
class Role {
 public:
  using At = std::source_location;

  Role(Program& program, std::size_t segment) : program_(&program), segment_(segment) {}

  Role elect() const { return with({1u, 1u}); }  // one thread of the first warp
  Role elect_per_warp() const { return with({1u, guard_.warps}); }
  Role lanes(std::uint32_t mask) const { return with({mask, guard_.warps}); }
  Role in_warps(std::uint32_t mask) const { return with({guard_.lanes, mask}); }

  Role& add(const Instruction& what, At at = At::current());
  // One of Instruction's. Defined in program.cc, as Statement in instruction.cc.
  template <class I>
  Role& add(const I& what, At at = At::current());
  int next() const;  // the index that the next statement will have: a branch's target

  // clang-format off
  Role& move(RegisterRange to, std::uint32_t immediate, At at = At::current()) { return add(Move{to, -1, immediate}, at); }
  Role& copy(RegisterRange to, int from, At at = At::current()) { return add(Move{to, from, 0}, at); }
  Role& load_shared(Address from, int reg, int bytes = 4, At at = At::current()) { return add(LoadShared{from, reg, bytes}, at); }
  Role& store_shared(Address to, int reg, int bytes = 4, At at = At::current()) { return add(StoreShared{to, reg, bytes}, at); }
  Role& load_global(std::uint64_t offset, std::int64_t stride, RegisterRange regs, At at = At::current()) { return add(LoadGlobal{offset, stride, regs}, at); }
  Role& store_global(std::uint64_t offset, std::int64_t stride, RegisterRange regs, At at = At::current()) { return add(StoreGlobal{offset, stride, regs}, at); }
  Role& ldmatrix(Address rows, int reg, int count, bool transposed = false, At at = At::current()) { return add(LoadMatrices{rows, reg, count, transposed}, at); }
  Role& stmatrix(Address rows, int reg, int count, bool transposed = false, At at = At::current()) { return add(StoreMatrices{rows, reg, count, transposed}, at); }

  Role& mbarrier_init(Address b, std::uint32_t count, At at = At::current()) { return add(MbarrierInit{b, count}, at); }
  Role& mbarrier_inval(Address b, At at = At::current()) { return add(MbarrierInval{b}, at); }
  Role& mbarrier_arrive(Address b, Scope scope = Scope::Cta, At at = At::current()) { return add(MbarrierArrive{b, 1, scope, false, false}, at); }
  Role& mbarrier_arrive_expect_tx(Address b, std::uint32_t bytes, Scope scope = Scope::Cta, At at = At::current()) { return add(MbarrierArriveExpectTx{b, bytes, scope, false}, at); }
  Role& mbarrier_expect_tx(Address b, std::uint32_t bytes, At at = At::current()) { return add(MbarrierExpectTx{b, bytes}, at); }
  Role& mbarrier_try_wait(Address b, int parity, Scope scope = Scope::Cta, At at = At::current()) { return add(MbarrierTryWait{b, parity & 1, scope, false}, at); }
  Role& mbarrier_test_wait(Address b, int parity, int predicate, At at = At::current()) { return add(MbarrierTestWait{b, parity & 1, predicate, Scope::Cta, false}, at); }
  Role& fence_proxy_async(At at = At::current()) { return add(FenceProxyAsync{}, at); }
  Role& fence_mbarrier_init(At at = At::current()) { return add(FenceMbarrierInit{}, at); }

  Role& tensormap_replace(int map, const tma::TensorMap& value, At at = At::current()) { return add(TensormapReplace{map, value}, at); }
  Role& fence_tensormap_release(Scope scope = Scope::Cluster, At at = At::current()) { return add(FenceProxyTensormap{TensormapFence::Release, 0, scope}, at); }
  Role& fence_tensormap_acquire(int map, Scope scope = Scope::Cluster, At at = At::current()) { return add(FenceProxyTensormap{TensormapFence::Acquire, map, scope}, at); }

  Role& wgmma_fence(At at = At::current()) { return add(WgmmaFence{}, at); }
  Role& wgmma(const wgmma::Instruction& op, RegisterRange d, RegisterRange a = {}, At at = At::current()) { return add(WgmmaMma{op, d, a, {}}, at); }
  Role& wgmma_commit(At at = At::current()) { return add(WgmmaCommit{}, at); }
  Role& wgmma_wait(int pending, At at = At::current()) { return add(WgmmaWait{pending}, at); }

  Role& tensor_load(int map, tma::Coordinates start, Address to, Address barrier, std::uint16_t multicast = 0, At at = At::current()) { return add(TensorLoad{map, start, to, barrier, multicast}, at); }
  Role& tensor_store(int map, tma::Coordinates start, Address from, At at = At::current()) { return add(TensorStore{map, start, from}, at); }
  Role& tensor_reduce(int map, tma::Coordinates start, Address from, tma::Reduction op, At at = At::current()) { return add(TensorReduce{map, start, from, op}, at); }
  Role& bulk_load(std::uint64_t from, Address to, std::uint32_t bytes, Address barrier, std::uint16_t multicast = 0, At at = At::current()) { return add(BulkLoad{from, to, bytes, barrier, multicast}, at); }
  Role& bulk_store(Address from, std::uint64_t to, std::uint32_t bytes, At at = At::current()) { return add(BulkStore{from, to, bytes}, at); }
  Role& bulk_reduce(Address from, std::uint64_t to, std::uint32_t bytes, tma::Reduction op, tma::DataType type, At at = At::current()) { return add(BulkReduce{from, to, bytes, op, type}, at); }
  Role& bulk_send(Address from, Address to, std::uint32_t bytes, Address barrier, At at = At::current()) { return add(BulkSend{from, to, bytes, barrier}, at); }
  Role& try_cancel(Address to, Address barrier, std::uint16_t multicast = 0, At at = At::current()) { return add(TryCancel{to, barrier, multicast}, at); }
  Role& bulk_commit(At at = At::current()) { return add(BulkCommit{}, at); }
  Role& bulk_wait(int pending, At at = At::current()) { return add(BulkWait{pending, false}, at); }
  Role& bulk_wait_read(int pending, At at = At::current()) { return add(BulkWait{pending, true}, at); }

  Role& tcgen05_alloc(Address to, int columns, int cta_group = 1, At at = At::current()) { return add(Tcgen05Alloc{to, columns, cta_group}, at); }
  Role& tcgen05_dealloc(TmemOperand from, int columns, int cta_group = 1, At at = At::current()) { return add(Tcgen05Dealloc{from, columns, cta_group}, at); }
  Role& tcgen05_relinquish(int cta_group = 1, At at = At::current()) { return add(Tcgen05Relinquish{cta_group}, at); }
  Role& tcgen05_ld(tcgen05::Fragment fragment, TmemOperand from, int reg, At at = At::current()) { return add(Tcgen05Ld{fragment, from, reg}, at); }
  Role& tcgen05_st(tcgen05::Fragment fragment, TmemOperand to, int reg, At at = At::current()) { return add(Tcgen05St{fragment, to, reg}, at); }
  Role& tcgen05_wait_ld(At at = At::current()) { return add(Tcgen05WaitLd{}, at); }
  Role& tcgen05_wait_st(At at = At::current()) { return add(Tcgen05WaitSt{}, at); }
  Role& tcgen05_cp(tcgen05::CpShape shape, TmemOperand to, SmemOperand from, int cta_group = 1, At at = At::current()) { return add(Tcgen05Cp{shape, to, from, cta_group}, at); }
  Role& tcgen05_shift(TmemOperand what, int cta_group = 1, At at = At::current()) { return add(Tcgen05Shift{what, cta_group}, at); }
  Role& tcgen05_mma(const Tcgen05Mma& mma, At at = At::current()) { return add(mma, at); }
  Role& tcgen05_commit(Address barrier, int cta_group = 1, std::uint16_t multicast = 0, At at = At::current()) { return add(Tcgen05Commit{barrier, cta_group, multicast}, at); }
  Role& tcgen05_fence_before(At at = At::current()) { return add(Tcgen05FenceBefore{}, at); }
  Role& tcgen05_fence_after(At at = At::current()) { return add(Tcgen05FenceAfter{}, at); }

  Role& barrier_sync(int id = 0, int threads = 0, At at = At::current()) { return add(BarrierSync{id, threads}, at); }
  Role& barrier_arrive(int id, int threads, At at = At::current()) { return add(BarrierArrive{id, threads}, at); }
  Role& warp_sync(At at = At::current()) { return add(WarpSync{}, at); }
  Role& cluster_arrive(At at = At::current()) { return add(ClusterArrive{}, at); }
  Role& cluster_wait(At at = At::current()) { return add(ClusterWait{}, at); }
  Role& setmaxnreg_inc(int count, At at = At::current()) { return add(SetMaxRegisters{true, count}, at); }
  Role& setmaxnreg_dec(int count, At at = At::current()) { return add(SetMaxRegisters{false, count}, at); }
  Role& branch(int target, int predicate = -1, bool when = true, At at = At::current()) { return add(Branch{target, predicate, when}, at); }
  // clang-format on

 private:
  Role with(Guard guard) const {
    Role role = *this;
    role.guard_ = guard;
    return role;
  }

  Program* program_;
  std::size_t segment_;
  Guard guard_;
};

}  // namespace tcq::machine
