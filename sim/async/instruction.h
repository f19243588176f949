// All instructions of the asynchronous machine, and a statement of a program.
//
// A statement is an instruction, the threads that execute it and where it stands in the source. One
// instruction is one struct in instructions/, with everything that there is to know of it
// (instructions/clause.h); how statements are put together: program.h. Addresses are absolute
// addresses in the shared window, or offsets into the program's global memory.
#pragma once

#include <bit>
#include <cstdint>
#include <variant>

#include "sim/async/instructions/barrier.h"
#include "sim/async/instructions/copy.h"
#include "sim/async/instructions/cp_async.h"
#include "sim/async/instructions/global.h"
#include "sim/async/instructions/lanes.h"
#include "sim/async/instructions/mbarrier.h"
#include "sim/async/instructions/registers.h"
#include "sim/async/instructions/shared.h"
#include "sim/async/instructions/tcgen05.h"
#include "sim/async/instructions/tensormap.h"
#include "sim/async/instructions/tmem.h"
#include "sim/async/instructions/wgmma.h"
#include "sim/async/where.h"

namespace tcq::machine {

// Their numbers are part of fingerprints (schedule.h): a new one goes to the end.
template <MachineInstruction... I>
using OneOf = std::variant<I...>;
using Instruction =
    OneOf<Move, LoadShared, StoreShared, LoadGlobal, StoreGlobal, LoadMatrices, StoreMatrices,
          MbarrierInit, MbarrierInval, MbarrierArrive, MbarrierArriveExpectTx, MbarrierExpectTx,
          MbarrierCompleteTx, MbarrierTryWait, MbarrierTestWait, FenceProxyAsync, FenceMbarrierInit,
          TensormapReplace, FenceProxyTensormap, WgmmaFence, WgmmaMma, WgmmaCommit, WgmmaWait,
          TensorLoad, TensorStore, TensorReduce, BulkLoad, BulkStore, BulkReduce, BulkSend,
          BulkCommit, BulkWait, BarrierSync, BarrierArrive, WarpSync, ClusterArrive, ClusterWait,
          SetMaxRegisters, Branch, Tcgen05Alloc, Tcgen05Dealloc, Tcgen05Relinquish, Tcgen05Ld,
          Tcgen05St, Tcgen05WaitLd, Tcgen05WaitSt, Tcgen05Cp, Tcgen05Shift, Tcgen05Mma,
          Tcgen05Commit, Tcgen05FenceBefore, Tcgen05FenceAfter, LaneAccess, LaneAtomic,
          LaneMatrices, FenceMemory, KernelText, CpAsync, CpAsyncCommit, CpAsyncWait, CpAsyncTrack,
          StoreAsync, ReduceAsync, BulkSendReduce, StoreZeros, TryCancel>;

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

// visit(lane) for each of them, ascending; of a whole warp, as mostly, in a loop that needs not look for them.
template <class Visit>
void visit_lanes(std::uint32_t lanes, Visit visit) {
  if (lanes == all_lanes) {
    for (int lane = 0; lane < 32; ++lane) visit(lane);
    return;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
}

// Which threads of a role execute a statement.
struct Guard {
  std::uint32_t lanes = all_lanes;  // of each warp
  std::uint32_t warps = ~0u;        // of the role, bit 0 is its first warp
};

// Made, copied and destroyed in instruction.cc alone: what a variant of so many types takes is a third of the time of compiling a
// source that holds a program.
struct Statement {
  Statement(Instruction what, Guard guard, Where where);
  Statement(const Statement&);
  Statement(Statement&&) noexcept;
  Statement& operator=(const Statement&);
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  Instruction what;
  Guard guard;
  Where where;
};

}  // namespace tcq::machine
