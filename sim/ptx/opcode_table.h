// Every opcode that is decoded: its words, its operands, which of them it reads and writes.
//
// One row per opcode. Modifiers: slots of modifier.h by name, flags with their dot, "!" behind what must be
// there; "t1" or "t1-2" says how many types; "shape" is a word like m16n8k16. Operands, in order:
//   >  written   <  read   +  both   @  an address in brackets   :  a label   {  a vector   ~  anything
// and behind that the type: 0 to 4 of the opcode's types, X the first one or twice its width with .wide,
// p predicate, h w l q 16 32 64 128 bits, nothing where none is said. "|p" is the second half of a pair,
// which may be left out, "?" may be left out. Example: setp is "compare! bool .ftz t1" and
// ">p|p <0 <0 <p?".
//
// Source: PTX ISA 9.2, 9.7, "Syntax" of each instruction
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tcq::ptx {

// clang-format off
enum class Opcode : std::uint16_t {
  Unknown,
  // integers, floats
  Abs, Add, Addc, Bfe, Bfi, Bfind, Bmsk, Brev, Clz, Cnot, Copysign, Cos, Cvt, CvtPack, Div, Dp2a,
  Dp4a, Ex2, Fma, Fns, Lg2, Lop3, Mad, Mad24, Madc, Max, Min, Mul, Mul24, Neg, Popc, Prmt, Rcp,
  Rem, Rsqrt, Sad, Selp, Set, Setp, Shf, Shl, Shr, Sin, Slct, Sqrt, Sub, Subc, Szext, Tanh, Testp,
  And, Or, Xor, Not,
  // video.h
  Vabsdiff4, Vabsdiff2, Vabsdiff, Vadd, Vsub, Vmin, Vmax, Vshl, Vshr, Vmad, Vset, Vadd2, Vadd4,
  Vsub2, Vsub4, Vavrg2, Vavrg4, Vmin2, Vmin4, Vmax2, Vmax4, Vset2, Vset4,
  // data movement
  Mov, Ld, Ldu, St, Cvta, Isspacep, Mapa, Getctarank, Prefetch, Prefetchu, Createpolicy, Discard,
  Applypriority, Alloca, Stacksave, Stackrestore,
  // control
  Bra, BrxIdx, Call, Ret, Exit, Trap, Brkpt, Nanosleep, Pmevent, Setmaxnreg, Griddepcontrol,
  // lanes of a warp
  ShflSync, Shfl, VoteSync, Vote, MatchSync, ReduxSync, Activemask, ElectSync, BarWarpSync,
  // barriers, fences, atomics
  BarSync, BarArrive, BarRed, BarrierClusterArrive, BarrierClusterWait, Fence, FenceProxy,
  FenceMbarrierInit, Membar, MembarProxy, Atom, Red, RedAsync, MbarrierInit, MbarrierInval,
  MbarrierArrive, MbarrierArriveDrop, MbarrierExpectTx, MbarrierCompleteTx, MbarrierTestWait,
  MbarrierTryWait, MbarrierPendingCount,
  // asynchronous copies
  CpAsync, CpAsyncCommitGroup, CpAsyncWaitGroup, CpAsyncWaitAll, CpAsyncMbarrierArrive,
  CpAsyncBulk, CpAsyncBulkPrefetch, CpAsyncBulkTensor, CpAsyncBulkPrefetchTensor,
  CpAsyncBulkCommitGroup, CpAsyncBulkWaitGroup, CpReduceAsyncBulk, CpReduceAsyncBulkTensor,
  StAsync, StBulk, TensormapReplace, TensormapCpFenceproxy, MultimemLdReduce, MultimemSt,
  MultimemRed, ClusterlaunchcontrolTryCancel, ClusterlaunchcontrolQueryCancel,
  // matrices
  Mma, Ldmatrix, Stmatrix, Movmatrix, WmmaLoad, WmmaStore, WmmaMma, WgmmaMmaAsync, WgmmaFence,
  WgmmaCommitGroup, WgmmaWaitGroup, Tcgen05Mma, Tcgen05Ld, Tcgen05LdRed, Tcgen05St, Tcgen05Cp,
  Tcgen05Shift, Tcgen05Alloc, Tcgen05Dealloc, Tcgen05Relinquish, Tcgen05Commit, Tcgen05Wait,
  Tcgen05Fence,
};
// clang-format on

struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  std::string_view modifiers;
  std::string_view operands;
};

// In the order of Opcode.
std::span<const OpcodeRow> opcode_table();

inline const OpcodeRow& row_of(Opcode opcode) {
  return opcode_table()[static_cast<std::size_t>(opcode)];
}

}  // namespace tcq::ptx
