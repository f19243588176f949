// The words behind the dots of an opcode, sorted into slots: of each slot an instruction has one word at
// most.
//
// Every slot is an enumeration here, whose words stand in slot_table in the same order; the first
// enumerator is that no word is there. Words that stand alone are Flags. Which slots an opcode has, and
// which word belongs to which slot where two have it, says opcode_table.h. Example: of
// "setp.lt.and.ftz.f32" lt is a Compare, and a BoolOp, ftz a Flag and f32 a type.
//
// Source: PTX ISA 9.2, 9.7, "Syntax" of each instruction
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tcq::ptx {

enum class Rounding : std::uint8_t { None, Rn, Rz, Rm, Rp, Rni, Rzi, Rmi, Rpi, Rna, Rs };
enum class Saturate : std::uint8_t { None, Sat, Satfinite };
enum class Precision : std::uint8_t { None, Approx, Full };
enum class Part : std::uint8_t { None, Lo, Hi, Wide };
// clang-format off
enum class Compare : std::uint8_t {
  None, Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan,
};
enum class BoolOp : std::uint8_t { None, And, Or, Xor };
enum class Operation : std::uint8_t {
  None, Add, Sub, Min, Max, And, Or, Xor, Inc, Dec, Cas, Exch, Popc,
};
enum class Semantics : std::uint8_t { None, Weak, Relaxed, Acquire, Release, AcqRel, Sc, Volatile };
enum class Scope : std::uint8_t { None, Cta, Cluster, Gpu, Sys, Gl };  // Gl: of membar, is Gpu
enum class CacheOp : std::uint8_t { None, Ca, Cg, Cs, Lu, Cv, Wb, Wt };
enum class L1Evict : std::uint8_t { None, Normal, Unchanged, First, Last, NoAllocate };
enum class L2Evict : std::uint8_t { None, Normal, First, Last, Unchanged };
enum class L2Second : std::uint8_t { None, Normal, First, Last, Unchanged };  // of createpolicy
enum class L2Prefetch : std::uint8_t { None, B64, B128, B256 };
enum class CacheLevel : std::uint8_t { None, L1, L2 };
enum class VectorWidth : std::uint8_t { None, V2, V4, V8 };
enum class Shuffle : std::uint8_t { None, Up, Down, Bfly, Idx };
enum class Vote : std::uint8_t { None, All, Any, Uni, Ballot };
enum class Clamp : std::uint8_t { None, Wrap, Clamp };
enum class Direction : std::uint8_t { None, Left, Right };
enum class PrmtMode : std::uint8_t { None, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
enum class MajorA : std::uint8_t { None, Row, Col };
enum class MajorB : std::uint8_t { None, Row, Col };
enum class MatrixCount : std::uint8_t { None, X1, X2, X4 };
enum class Dimensions : std::uint8_t { None, D1, D2, D3, D4, D5 };
enum class LoadMode : std::uint8_t {
  None, Tile, TileGather4, TileScatter4, Im2col, Im2colW, Im2colW128, Im2colNoOffs,
};
enum class Completion : std::uint8_t { None, MbarrierBytes, BulkGroup, MbarrierArriveOne };
enum class Multicast : std::uint8_t { None, Cluster, ClusterAll };
enum class CtaGroup : std::uint8_t { None, One, Two };
enum class Proxy : std::uint8_t { None, Alias, Async, TensormapGeneric, AsyncGeneric };
enum class SyncRestrict : std::uint8_t { None, SharedCta, SharedCluster };
enum class CancelQuery : std::uint8_t { None, IsCanceled, FirstCtaid, FirstX, FirstY, FirstZ };
enum class MapField : std::uint8_t {
  None, GlobalAddress, Rank, BoxDim, GlobalDim, GlobalStride, ElementStride, Elemtype,
  InterleaveLayout, SwizzleMode, SwizzleAtomicity, FillMode,
};
enum class MmaKind : std::uint8_t { None, F8f6f4, Mxf8f6f4, Mxf4, Mxf4nvf4 };
enum class ScaleVector : std::uint8_t { None, X1, X2, X4 };
enum class Policy : std::uint8_t { None, Fractional, Range, Cvt };
enum class FloatTest : std::uint8_t {
  None, Finite, Infinite, Number, NotANumber, Normal, Subnormal,
};
enum class GridStep : std::uint8_t { None, LaunchDependents, Wait };
enum class Accumulator : std::uint8_t { None, F16, F32 };
enum class MatrixName : std::uint8_t { None, A, B, C, D };  // of wmma
// clang-format on

// clang-format off
enum class Slot : std::uint8_t {
  Rounding, Saturate, Precision, Part, Compare, BoolOp, Operation, Space, Space2, Semantics,
  Scope, CacheOp, L1Evict, L2Evict, L2Second, L2Prefetch, CacheLevel, VectorWidth, Shuffle, Vote,
  Clamp, Direction, PrmtMode, MajorA, MajorB, MatrixCount, Dimensions, LoadMode, Completion,
  Multicast, CtaGroup, Proxy, SyncRestrict, CancelQuery, MapField, MmaKind, ScaleVector, Policy,
  FloatTest, GridStep, Accumulator, MatrixName,
};
// clang-format on
inline constexpr std::size_t slot_count = static_cast<std::size_t>(Slot::MatrixName) + 1;

struct SlotRow {
  std::string_view name;   // in opcode_table.h
  std::string_view words;  // of enumerators 1, 2, ...
};

inline constexpr std::string_view l2_words =
    "L2::evict_normal L2::evict_first L2::evict_last L2::evict_unchanged";
// Those of Space stand in types.h.
inline constexpr std::string_view space_words =
    "reg global const local shared shared::cta shared::cluster param param::entry param::func";

inline constexpr std::array<SlotRow, slot_count> slot_table = {{
    {"rounding", "rn rz rm rp rni rzi rmi rpi rna rs"},
    {"saturate", "sat satfinite"},
    {"precision", "approx full"},
    {"part", "lo hi wide"},
    {"compare", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"},
    {"bool", "and or xor"},
    {"operation", "add sub min max and or xor inc dec cas exch popc"},
    {"space", space_words},
    {"space2", space_words},
    {"semantics", "weak relaxed acquire release acq_rel sc volatile"},
    {"scope", "cta cluster gpu sys gl"},
    {"cache", "ca cg cs lu cv wb wt"},
    {"l1", "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"},
    {"l2", l2_words},
    {"l2second", l2_words},
    {"prefetch", "L2::64B L2::128B L2::256B"},
    {"level", "L1 L2"},
    {"vector", "v2 v4 v8"},
    {"shuffle", "up down bfly idx"},
    {"vote", "all any uni ballot"},
    {"clamp", "wrap clamp"},
    {"direction", "l r"},
    {"prmt", "f4e b4e rc8 ecl ecr rc16"},
    {"major", "row col"},
    {"major2", "row col"},
    {"count", "x1 x2 x4"},
    {"dim", "1d 2d 3d 4d 5d"},
    {"mode", "tile tile::gather4 tile::scatter4 im2col im2col::w im2col::w::128 im2col_no_offs"},
    {"completion", "mbarrier::complete_tx::bytes bulk_group mbarrier::arrive::one"},
    {"multicast", "multicast::cluster multicast::cluster::all"},
    {"ctagroup", "cta_group::1 cta_group::2"},
    {"proxy", "alias async tensormap::generic async::generic"},
    {"restrict", "sync_restrict::shared::cta sync_restrict::shared::cluster"},
    {"query",
     "is_canceled get_first_ctaid get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"},
    {"field",
     "global_address rank box_dim global_dim global_stride element_stride elemtype "
     "interleave_layout swizzle_mode swizzle_atomicity fill_mode"},
    {"kind", "kind::f8f6f4 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4"},
    {"scale", "scale_vec::1X scale_vec::2X scale_vec::4X"},
    {"policy", "fractional range cvt"},
    {"test", "finite infinite number notanumber normal subnormal"},
    {"grid", "launch_dependents wait"},
    {"acc", "acc::f16 acc::f32"},
    {"matrix", "a b c d"},
}};

// The slot of an enumeration.
template <class Value>
inline constexpr Slot slot_of = Slot{};
// clang-format off
template <> inline constexpr Slot slot_of<Rounding> = Slot::Rounding;
template <> inline constexpr Slot slot_of<Saturate> = Slot::Saturate;
template <> inline constexpr Slot slot_of<Precision> = Slot::Precision;
template <> inline constexpr Slot slot_of<Part> = Slot::Part;
template <> inline constexpr Slot slot_of<Compare> = Slot::Compare;
template <> inline constexpr Slot slot_of<BoolOp> = Slot::BoolOp;
template <> inline constexpr Slot slot_of<Operation> = Slot::Operation;
template <> inline constexpr Slot slot_of<Semantics> = Slot::Semantics;
template <> inline constexpr Slot slot_of<Scope> = Slot::Scope;
template <> inline constexpr Slot slot_of<CacheOp> = Slot::CacheOp;
template <> inline constexpr Slot slot_of<L1Evict> = Slot::L1Evict;
template <> inline constexpr Slot slot_of<L2Evict> = Slot::L2Evict;
template <> inline constexpr Slot slot_of<L2Second> = Slot::L2Second;
template <> inline constexpr Slot slot_of<L2Prefetch> = Slot::L2Prefetch;
template <> inline constexpr Slot slot_of<CacheLevel> = Slot::CacheLevel;
template <> inline constexpr Slot slot_of<VectorWidth> = Slot::VectorWidth;
template <> inline constexpr Slot slot_of<Shuffle> = Slot::Shuffle;
template <> inline constexpr Slot slot_of<Vote> = Slot::Vote;
template <> inline constexpr Slot slot_of<Clamp> = Slot::Clamp;
template <> inline constexpr Slot slot_of<Direction> = Slot::Direction;
template <> inline constexpr Slot slot_of<PrmtMode> = Slot::PrmtMode;
template <> inline constexpr Slot slot_of<MajorA> = Slot::MajorA;
template <> inline constexpr Slot slot_of<MajorB> = Slot::MajorB;
template <> inline constexpr Slot slot_of<MatrixCount> = Slot::MatrixCount;
template <> inline constexpr Slot slot_of<Dimensions> = Slot::Dimensions;
template <> inline constexpr Slot slot_of<LoadMode> = Slot::LoadMode;
template <> inline constexpr Slot slot_of<Completion> = Slot::Completion;
template <> inline constexpr Slot slot_of<Multicast> = Slot::Multicast;
template <> inline constexpr Slot slot_of<CtaGroup> = Slot::CtaGroup;
template <> inline constexpr Slot slot_of<Proxy> = Slot::Proxy;
template <> inline constexpr Slot slot_of<SyncRestrict> = Slot::SyncRestrict;
template <> inline constexpr Slot slot_of<CancelQuery> = Slot::CancelQuery;
template <> inline constexpr Slot slot_of<MapField> = Slot::MapField;
template <> inline constexpr Slot slot_of<MmaKind> = Slot::MmaKind;
template <> inline constexpr Slot slot_of<ScaleVector> = Slot::ScaleVector;
template <> inline constexpr Slot slot_of<Policy> = Slot::Policy;
template <> inline constexpr Slot slot_of<FloatTest> = Slot::FloatTest;
template <> inline constexpr Slot slot_of<GridStep> = Slot::GridStep;
template <> inline constexpr Slot slot_of<Accumulator> = Slot::Accumulator;
template <> inline constexpr Slot slot_of<MatrixName> = Slot::MatrixName;
// clang-format on

// Words that are there or not.
// clang-format off
enum class Flag : std::uint8_t {
  Ftz, Cc, NaN, Xorsign, Abs, Relu, Sync, Aligned, Uni, Nc, Shiftamt, Trans, To, Read, Parity,
  NoComplete, Noinc, Noftz, Unified, CacheHint, BlockScale, Sparse, OrderedMetadata, Async,
  Tensormap, CpMask, Oob, ExpectTx, Mmio, Po, Shr7, Shr15,
};
// clang-format on
// clang-format off
inline constexpr std::array<std::string_view, 32> flag_words = {
    "ftz", "cc", "NaN", "xorsign", "abs", "relu", "sync", "aligned", "uni", "nc", "shiftamt",
    "trans", "to", "read", "parity", "noComplete", "noinc", "noftz", "unified", "L2::cache_hint",
    "block_scale", "sp", "sp::ordered_metadata", "async", "tensormap", "cp_mask", "oob",
    "expect_tx", "mmio", "po", "shr7", "shr15"};
// clang-format on
static_assert(flag_words.size() == static_cast<std::size_t>(Flag::Shr15) + 1);

}  // namespace tcq::ptx
