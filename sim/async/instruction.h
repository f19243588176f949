// The instructions of the asynchronous machine as plain structs, close to their PTX statements.
//
// A statement is an instruction, the threads that execute it and where it stands in the source. What
// the instructions do: execute_*.cc; how statements are put together: program.h. Registers are
// numbers in [0, 256) of one thread, 32 bits each; addresses are absolute addresses in the shared
// window, or offsets into the program's global memory.
//
// Source: PTX ISA 9.2: 9.7.9.8 "ld", 9.7.13 "Parallel Synchronization", 9.7.9.25-27 bulk copies,
// 9.7.14.5.15 "ldmatrix", 9.7.15 "wgmma", 9.7.19.5 "setmaxnreg", 9.7.9.28 "tensormap.replace",
// 9.7.16 "tcgen05".
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "sim/async/wgmma_order.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/copy/tma_tile.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/machine/wgmma.h"

namespace tcq::machine {

using wgmma::RegisterRange;

enum class Scope : std::uint8_t { Cta, Cluster };

inline constexpr int own_cta = -1;

// One address per thread of a role: base + thread * stride_bytes, or base + table[thread].
struct Address {
  std::uint32_t base = 0;
  std::int32_t stride_bytes = 0;
  int cta = own_cta;  // rank in the cluster (shared::cluster)
  std::shared_ptr<const std::vector<std::uint32_t>> table;

  Address() = default;
  Address(std::uint32_t address) : base(address) {}  // the same for every thread
  Address(std::uint32_t address, std::int32_t stride) : base(address), stride_bytes(stride) {}

  Address in(int rank) const {
    Address remote = *this;
    remote.cta = rank;
    return remote;
  }
  bool is_uniform() const { return stride_bytes == 0 && !table; }
  std::uint32_t of(int thread) const {
    if (table) return base + (*table)[static_cast<std::size_t>(thread)];
    return base + static_cast<std::uint32_t>(stride_bytes * thread);
  }
};

// --- registers and memory through the generic proxy ----------------------------------------------

// mov: an immediate, or `from`, register by register.
struct Move {
  RegisterRange to;
  int from = -1;  // -1: the immediate
  std::uint32_t immediate = 0;
};
// ld.shared / st.shared, bytes per thread: 4, 8 or 16.
struct LoadShared {
  Address from;
  int reg = 0;
  int bytes = 4;
};
struct StoreShared {
  Address to;
  int reg = 0;
  int bytes = 4;
};
// ld.global / st.global: thread t at offset + t * stride_bytes.
struct LoadGlobal {
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 4;
  RegisterRange regs{0, 1};
};
struct StoreGlobal {
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 4;
  RegisterRange regs{0, 1};
};
// ldmatrix / stmatrix .m8n8.b16; thread 8j + i of each warp supplies the address of row i of matrix
// j.
struct LoadMatrices {
  Address rows;
  int reg = 0;
  int count = 1;
  bool transposed = false;
};
struct StoreMatrices {
  Address rows;
  int reg = 0;
  int count = 1;
  bool transposed = false;
};

// --- mbarriers -------------------------------------------------------------------------------------

struct MbarrierInit {
  Address barrier;
  std::uint32_t count = 1;
};
struct MbarrierInval {
  Address barrier;
};
// Releases at `scope`, unless relaxed.
struct MbarrierArrive {
  Address barrier;
  std::uint32_t count = 1;
  Scope scope = Scope::Cta;
  bool relaxed = false;
  bool drop = false;
};
struct MbarrierArriveExpectTx {
  Address barrier;
  std::uint32_t bytes = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
};
struct MbarrierExpectTx {
  Address barrier;
  std::uint32_t bytes = 0;
};
struct MbarrierCompleteTx {
  Address barrier;
  std::uint32_t bytes = 0;
};
// try_wait.parity in a loop until it is true: the warp waits.
struct MbarrierTryWait {
  Address barrier;
  int parity = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
};
// Once; the result goes to a predicate of the warp.
struct MbarrierTestWait {
  Address barrier;
  int parity = 0;
  int predicate = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
};

// --- fences ----------------------------------------------------------------------------------------

struct FenceProxyAsync {};
struct FenceMbarrierInit {};

// --- tensor maps -----------------------------------------------------------------------------------

// tensormap.replace of every field, or stores to the 128 bytes: a write through the generic proxy.
struct TensormapReplace {
  int map = 0;
  tma::TensorMap value;
};
// fence.proxy.tensormap::generic: .release covers all maps, .acquire one.
enum class TensormapFence : std::uint8_t { Release, Acquire };
struct FenceProxyTensormap {
  TensormapFence direction = TensormapFence::Release;
  int map = 0;  // Acquire
  Scope scope = Scope::Cluster;
};

// --- wgmma -----------------------------------------------------------------------------------------

struct WgmmaFence {};
struct WgmmaMma {
  wgmma::Instruction op;
  RegisterRange d;
  RegisterRange a;         // empty: A in shared memory
  RegisterRange metadata;  // empty: dense
};
struct WgmmaCommit {};
struct WgmmaWait {
  int pending = 0;
};

// --- bulk copies -----------------------------------------------------------------------------------

// cp.async.bulk.tensor, global -> shared; with a mask to all CTAs in it, at the same addresses.
struct TensorLoad {
  int map = 0;
  tma::Coordinates start;
  Address to;
  Address barrier;
  std::uint16_t multicast = 0;
};
struct TensorStore {
  int map = 0;
  tma::Coordinates start;
  Address from;
};
struct TensorReduce {
  int map = 0;
  tma::Coordinates start;
  Address from;
  tma::Reduction op = tma::Reduction::Add;
};
// cp.async.bulk, global -> shared.
struct BulkLoad {
  std::uint64_t from = 0;
  Address to;
  std::uint32_t bytes = 0;
  Address barrier;
  std::uint16_t multicast = 0;
};
struct BulkStore {
  Address from;
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;
};
// cp.reduce.async.bulk, shared -> global.
struct BulkReduce {
  Address from;
  std::uint64_t to = 0;
  std::uint32_t bytes = 0;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;
};
// cp.async.bulk, shared::cta -> shared::cluster; the mbarrier is in the destination's CTA.
struct BulkSend {
  Address from;
  Address to;
  std::uint32_t bytes = 0;
  Address barrier;
};
struct BulkCommit {};
struct BulkWait {
  int pending = 0;
  bool read = false;
};

// --- barriers, registers, control ------------------------------------------------------------------

// Threads 0: all of the CTA.
struct BarrierSync {
  int id = 0;
  int threads = 0;
};
struct BarrierArrive {
  int id = 0;
  int threads = 0;
};
struct WarpSync {};
struct ClusterArrive {
  bool relaxed = false;
};
struct ClusterWait {};
struct SetMaxRegisters {
  bool increase = true;
  int count = 0;
};
// Within the role; taken if there is no predicate or the predicate equals `when`.
struct Branch {
  int target = 0;  // index of a statement of the same role
  int predicate = -1;
  bool when = true;
};

// --- tcgen05 ---------------------------------------------------------------------------------------

// A Tensor Memory address: what a register holds, moved; without a register counted from (0, 0).
struct TmemOperand {
  int reg = -1;
  int tmem_lane = 0;
  int tmem_column = 0;
};
// What a shared memory descriptor says, in bytes.
using SmemOperand = tcgen05::CpOperand;

// One warp; with cta_group 2 one warp in each CTA of the pair.
struct Tcgen05Alloc {
  Address to;  // of the word in shared memory that gets the address
  int columns = tcgen05::tmem_allocation_unit;
  int cta_group = 1;
};
struct Tcgen05Dealloc {
  TmemOperand from;
  int columns = tcgen05::tmem_allocation_unit;
  int cta_group = 1;
};
struct Tcgen05Relinquish {
  int cta_group = 1;
};
// One warp; registers from `reg` on.
struct Tcgen05Ld {
  tcgen05::Fragment fragment;
  TmemOperand from;
  int reg = 0;
};
struct Tcgen05St {
  tcgen05::Fragment fragment;
  TmemOperand to;
  int reg = 0;
};
struct Tcgen05WaitLd {};
struct Tcgen05WaitSt {};
// One thread, as all below.
struct Tcgen05Cp {
  tcgen05::CpShape shape = tcgen05::CpShape::S128x256b;
  TmemOperand to;
  SmemOperand from;
  int cta_group = 1;
};
struct Tcgen05Shift {
  TmemOperand at;
  int cta_group = 1;
};
struct Tcgen05Mma {
  tcgen05::MmaOpcode opcode;
  tcgen05::InstructionDescriptor idesc;
  TmemOperand d;
  SmemOperand a;       // unless opcode.a_place is Tmem
  TmemOperand a_tmem;  // then
  SmemOperand b;
  bool accumulate = false;
  TmemOperand scale_a;  // block-scaled kinds
  TmemOperand scale_b;
};
// Arrives once, in the barrier's CTA or in all CTAs of the mask.
struct Tcgen05Commit {
  Address barrier;
  int cta_group = 1;
  std::uint16_t multicast = 0;
};
struct Tcgen05FenceBefore {};
struct Tcgen05FenceAfter {};

using Instruction =
    std::variant<Move, LoadShared, StoreShared, LoadGlobal, StoreGlobal, LoadMatrices,
                 StoreMatrices, MbarrierInit, MbarrierInval, MbarrierArrive, MbarrierArriveExpectTx,
                 MbarrierExpectTx, MbarrierCompleteTx, MbarrierTryWait, MbarrierTestWait,
                 FenceProxyAsync, FenceMbarrierInit, TensormapReplace, FenceProxyTensormap,
                 WgmmaFence, WgmmaMma, WgmmaCommit, WgmmaWait, TensorLoad, TensorStore,
                 TensorReduce, BulkLoad, BulkStore, BulkReduce, BulkSend, BulkCommit, BulkWait,
                 BarrierSync, BarrierArrive, WarpSync, ClusterArrive, ClusterWait, SetMaxRegisters,
                 Branch, Tcgen05Alloc, Tcgen05Dealloc, Tcgen05Relinquish, Tcgen05Ld, Tcgen05St,
                 Tcgen05WaitLd, Tcgen05WaitSt, Tcgen05Cp, Tcgen05Shift, Tcgen05Mma, Tcgen05Commit,
                 Tcgen05FenceBefore, Tcgen05FenceAfter>;

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

// Which threads of a role execute a statement.
struct Guard {
  std::uint32_t lanes = all_lanes;  // of each warp
  std::uint32_t warps = ~0u;        // of the role, bit 0 is its first warp
};

struct Where {
  const char* file = "";
  std::uint32_t line = 0;
};

struct Statement {
  Instruction what;
  Guard guard;
  Where where;
};

}  // namespace tcq::machine
