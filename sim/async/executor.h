// One warp executing one statement: a function per instruction, grouped in execute_*.cc.
//
// Internal to cluster.h. An Executor lives for one statement; what blocks a warp was asked before
// (Cluster::can_run), so that execution never waits. A Fault goes to fail() and ends the run.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/async/cluster.h"
#include "sim/machine/tma.h"

namespace tcq::machine {

class Executor {
 public:
  Executor(Cluster& cluster, Warp& warp, const Statement& statement, std::uint32_t number);

  void run();

  // execute_memory.cc
  void execute(const Move& i);
  void execute(const LoadShared& i);
  void execute(const StoreShared& i);
  void execute(const LoadMatrices& i);
  void execute(const StoreMatrices& i);
  void execute(const FenceProxyAsync& i);
  // execute_global.cc
  void execute(const LoadGlobal& i);
  void execute(const StoreGlobal& i);
  // execute_tensormap.cc
  void execute(const TensormapReplace& i);
  void execute(const FenceProxyTensormap& i);
  // execute_mbarrier.cc
  void execute(const MbarrierInit& i);
  void execute(const MbarrierInval& i);
  void execute(const MbarrierArrive& i);
  void execute(const MbarrierArriveExpectTx& i);
  void execute(const MbarrierExpectTx& i);
  void execute(const MbarrierCompleteTx& i);
  void execute(const MbarrierTryWait& i);
  void execute(const MbarrierTestWait& i);
  void execute(const FenceMbarrierInit& i);
  // execute_wgmma.cc
  void execute(const WgmmaFence& i);
  void execute(const WgmmaMma& i);
  void execute(const WgmmaCommit& i);
  void execute(const WgmmaWait& i);
  // execute_copy.cc
  void execute(const TensorLoad& i);
  void execute(const TensorStore& i);
  void execute(const TensorReduce& i);
  void execute(const BulkLoad& i);
  void execute(const BulkStore& i);
  void execute(const BulkReduce& i);
  void execute(const BulkSend& i);
  void execute(const BulkCommit& i);
  void execute(const BulkWait& i);
  // execute_barrier.cc
  void execute(const BarrierSync& i);
  void execute(const BarrierArrive& i);
  void execute(const WarpSync& i);
  void execute(const ClusterArrive& i);
  void execute(const ClusterWait& i);
  void execute(const SetMaxRegisters& i);
  void execute(const Branch& i);

  // execute_tcgen05.cc
  void execute(const Tcgen05Alloc& i);
  void execute(const Tcgen05Dealloc& i);
  void execute(const Tcgen05Relinquish& i);
  void execute(const Tcgen05WaitLd& i);
  void execute(const Tcgen05WaitSt& i);
  void execute(const Tcgen05Commit& i);
  void execute(const Tcgen05FenceBefore& i);
  void execute(const Tcgen05FenceAfter& i);
  // execute_tmem.cc
  void execute(const Tcgen05Ld& i);
  void execute(const Tcgen05St& i);
  void execute(const Tcgen05Cp& i);
  void execute(const Tcgen05Shift& i);
  void execute(const Tcgen05Mma& i);

  // Asked before a statement is executed.
  static bool mbarrier_passes(const Cluster& cluster, const Warp& warp, const MbarrierTryWait& i);
  static bool groups_are_issued(const Cluster& cluster, const Warp& warp, const WgmmaWait& i);

  static bool can_allocate(const Cluster& cluster, const Warp& warp, const Tcgen05Alloc& i);
  static bool can_deallocate(const Cluster& cluster, const Warp& warp, const Tcgen05Dealloc& i);

  // The data of an operation in flight moves now.
  static void complete_load(Cluster& cluster, AgentId copy);
  static void read_source(Cluster& cluster, AgentId copy);
  static void write_destination(Cluster& cluster, AgentId copy);
  static void execute_mmas(Cluster& cluster, Warpgroup& warpgroup, std::uint64_t end);

  static const WeakSync* find_weak(const Cluster& cluster, const Clock& lost, int warp,
                                   Stream stream, Tick tick);

  static void complete_commit(Cluster& cluster, AgentId commit);
  static void move_tmem(Cluster& cluster, std::uint32_t operation);  // and what comes before it

  static Warpgroup& warpgroup_of(Cluster& cluster, const Warp& warp);
  static const Warpgroup& warpgroup_of(const Cluster& cluster, const Warp& warp);
  static int find_slot(const Cluster& cluster, int cta, std::uint32_t address);
  static std::uint64_t mbarrier_object(int cta, std::uint32_t address) {
    return static_cast<std::uint64_t>(cta) << 32 | address;
  }
  static std::uint64_t barrier_object(int cta, int id) {
    return std::uint64_t{1} << 60 | static_cast<std::uint64_t>(cta) << 32 |
           static_cast<std::uint64_t>(id);
  }
  static std::uint64_t pool_object(int cta) {
    return std::uint64_t{2} << 60 | static_cast<std::uint64_t>(cta);
  }
  static constexpr std::uint64_t cluster_object = std::uint64_t{3} << 60;
  static std::uint64_t tmem_object(int cta) {
    return std::uint64_t{4} << 60 | static_cast<std::uint64_t>(cta);
  }

 private:
  // --- who executes ---
  int thread_of(int lane) const { return role_thread_ + lane; }
  Place place(int lane = -1) const {
    return {static_cast<std::int64_t>(number_), warp_.number, lane};
  }
  int first_lane() const { return std::countr_zero(lanes_); }
  bool all_lanes_take_part();   // else: WarpDivergent
  bool aligned_in_warpgroup();  // the next aligned instruction of the warpgroup; else a Fault
  template <class Visit>
  void for_each_lane(Visit visit) const {
    for (std::uint32_t rest = lanes_; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
  }

  // --- findings ---
  void fail(Fault fault, int lane = -1, std::int64_t number = 0);
  // False if the access was a Fault. A read of unwritten bytes is remembered.
  bool settle(const Conflict& conflict, AccessId access, int cta);
  void fail_unwritten_read(const Conflict& conflict, const UnwrittenRead& read, AccessId write);
  Fault fault_of(const Conflict& conflict, const Access& next, int cta, Place& hint) const;
  bool is_known_too_weakly(Stream stream, Tick tick, Fault& fault, Place& hint) const;
  Fault fault_of_unordered(const Access& earlier, const Access& next, Place& hint) const;
  Fault fault_of_global(const Conflict& conflict, Place& hint) const;
  bool check_order(const wgmma::OrderFault& fault, RegisterRange range);
  bool stopped() const { return c_.finding_.has_value(); }

  // --- operands ---
  void check_origin(const WgmmaMma& i, Operand which);
  bool other_major_fits(wgmma::Instruction op, Operand which) const;
  std::optional<TensorElement> origin_of(std::uint32_t address, int element_bytes) const;

  // --- registers ---
  std::array<std::uint32_t, warp_threads>& reg(int number);
  bool reads(RegisterRange range);
  bool writes(RegisterRange range);
  // Values of loads: brought, used by lanes that read the registers, or lost.
  void note_loaded(AccessId load, RegisterRange range);
  void note_used(RegisterRange range);
  void note_lost(RegisterRange range);

  // --- memory ---
  Knowledge knowledge() const { return {warp_.clock, warp_.at_fence, lanes_}; }
  Access generic_access(AccessKind kind) const;
  int cta_of(const Address& address) const {
    return address.cta == own_cta ? warp_.cta : address.cta;
  }
  // The CTA exists and still runs. Else a Fault.
  bool cta_runs(int cta, int lane);
  // And the remote use is remembered: the CTA's end has to be ordered behind it. A copy needs no
  // memory of its issue: it is remembered while in flight and when it has landed.
  bool reach_cta(int cta, int lane);
  bool has_started(int cta, int lane);  // and the warp knows. Else a Fault
  void learn_starts();                  // from what its waits showed
  bool is_contiguous(const Address& address, int bytes) const;
  bool addresses_exist(const SharedMemory& shared, const Address& address, int bytes);
  bool shared_access(AccessKind kind, const Address& address, int bytes, AccessId& id);
  bool matrix_access(AccessKind kind, const Address& rows, int count);
  bool touch_rows(AccessId access, int cta, const std::array<std::uint32_t, 32>& rows, int count);
  template <class Visit>
  void for_each_word(const Address& address, int bytes, Visit visit);
  template <class MatrixOp>
  void matrices(const Address& rows, int reg, int count, bool transposed, AccessKind kind);

  // --- global memory ---
  bool may_be_written(const tma::GlobalRun& run) const;
  bool record_global(AccessId access, ByteRange range);
  bool global_access(AccessKind kind, std::uint64_t offset, std::int64_t stride, RegisterRange regs,
                     AccessId& id);
  template <class Visit>
  void for_each_global_word(std::uint64_t offset, std::int64_t stride, RegisterRange regs,
                            Visit visit);
  struct GlobalWrite {
    std::vector<tma::GlobalRun> runs;
    bool reduces = false;
    tma::Reduction op = tma::Reduction::Add;
    tma::DataType type = tma::DataType::UInt32;
  };
  void note_global_reads(std::size_t first_copy, const std::vector<tma::GlobalRun>& runs);
  bool note_global_writes(Copy& copy, const GlobalWrite& write, Stream done);

  // --- mbarriers ---
  MbarrierSlot* usable_slot(const Address& barrier, int lane);
  bool is_initialized_for(const MbarrierSlot& slot, Place& hint, Fault& fault) const;
  // One that a copy or a commit completes. Warns where nothing brought its init to the async proxy.
  MbarrierSlot* slot_to_complete(const Address& barrier, int lane);
  enum class Order : std::uint8_t { None, Relaxed, Release };  // what an operation may publish
  static Order order_of(bool relaxed) { return relaxed ? Order::Relaxed : Order::Release; }
  template <class Operation>
  void count_on(const Address& barrier, Scope scope, Order order, Touch touch, Operation operation);
  static void note_touch(Cluster& cluster, const Touch& touch, const mbarrier::Mbarrier& after);
  void release(MbarrierSlot& slot, Scope scope, bool relaxed);
  void acquire(MbarrierSlot& slot, Scope scope, bool relaxed);
  void observe(const MbarrierSlot& slot);
  void note_weak(Fault fault, bool waits, std::uint64_t object, const Clock& lost);
  static void note_completion(MbarrierSlot& slot);

  // --- copies ---
  bool one_lane_issues();
  AccessId add_copy_access(AccessKind kind, Stream stream);
  bool record_copy(AccessId access, int cta, ByteRange box);
  Copy* add_load(int cta, const Address& barrier, ByteRange box, std::uint32_t bytes);
  template <class Check>
  void issue_load(const Address& to, const Address& barrier, std::uint16_t multicast, ByteRange box,
                  std::uint32_t bytes, Check check);
  void issue_store(ByteRange source, const GlobalWrite& write, int map);
  template <class Store>
  void execute_store(const Store& store, ByteRange source, GlobalWrite write, int map = -1);
  void wait_for_groups(BulkThread& thread, const BulkWait& i);
  BulkThread& bulk_thread(int lane);

  // --- Tensor Memory: who, where ---
  bool one_lane_issues_tcgen05();
  std::vector<int> ctas_of(int cta_group);  // empty: a Fault
  std::vector<int> ctas_that_meet(int cta_group);
  bool resolve(const TmemOperand& operand, tcgen05::TmemAddress& address);
  bool knows_epoch(int warp, Tick epoch) const;
  bool knows_alloc(const TmemAllocated& allocated) const;
  bool columns_usable(int cta, const TmemRegion& region);
  Tcgen05Thread& tcgen05_thread(int cta_group);
  void fail_at_cells(Fault fault, int cta, const TmemCells& cells, const Place& earlier = {},
                     const Place& hint = {}, std::int64_t number = 0);

  // --- Tensor Memory: order ---
  TmemKnowledge tmem_knowledge() const {
    return {warp_.clock, warp_.tmem.fenced, warp_.tmem.observed};
  }
  TmemAccess tmem_access(TmemAction action, bool writes) const;
  TmemAccess thread_access(TmemAction action, bool writes, const Tcgen05Thread& thread) const;
  TmemAccess transfer_access(TmemAction action, TmemTransfers& transfers);
  bool touch_tmem(int cta, const TmemRegion& region, const TmemAccess& access,
                  std::vector<std::uint32_t>& before);
  bool is_refused(int cta, const TmemConflict& conflict, const TmemAccess& next);
  void fail_unordered(int cta, const TmemConflict& conflict, const TmemAccess& next);
  struct OperandExtent {
    int rows;
    int row_bytes;
    int element_bytes;
  };
  bool touch_operand(const SmemOperand& operand, int cta, OperandExtent extent,
                     const Tcgen05Thread& thread);
  void note_exit(int cta, const Tcgen05Thread& thread);
  void start_operation(Tcgen05Operation operation);
  void note_unwritten(int cta, const TmemCells& cells);
  void check_written(int cta, const TmemRegion& region);
  Fault fault_of_unwritten(int cta, tcgen05::Cell cell) const;
  bool transfer(TmemAction action, const tcgen05::Fragment& f, const TmemOperand& operand,
                TmemTransfers& transfers, Tcgen05Operation& operation);
  bool resolve_mma(const Tcgen05Mma& i, Tcgen05Operation& operation);
  bool touch_mma_tmem(const Tcgen05Mma& i, int cta, Tcgen05Operation& operation,
                      const Tcgen05Thread& thread);
  void use_registers(RegisterRange range, bool reads);
  void note_ld_used(RegisterRange range);
  void wait_for_peer(PairedStep& pair, int columns);
  void note_target(const CommitTarget& target);
  void grant(const Tcgen05Alloc& i, int first_column);
  void move_transfers(TmemAction action);
  void wait_for(TmemAction action, const TmemTransfers& transfers);
  // --- tensor maps ---
  PatchableMap& map_at(int number) { return c_.maps_[static_cast<std::size_t>(number)]; }
  MapActor map_actor() const;
  bool settle(const MapVerdict& verdict, int map);
  // Does the map exist, and may the thread use it as it is? Else a Fault.
  bool may_use_map(int map);
  void note_map(Copy& copy, int map);
  static void end_map_use(Cluster& cluster, const Copy& copy, Tick tick);

  // --- barriers ---
  void next_epoch();
  void arrive_at(NamedBarrier& barrier, int threads, std::uint64_t object);

  Cluster& c_;
  Warp& warp_;
  const Statement& statement_;
  std::uint32_t number_;
  std::uint32_t lanes_ = 0;
  int role_thread_ = 0;  // of lane 0
};

}  // namespace tcq::machine
