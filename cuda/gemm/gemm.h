// D = activation(alpha * A * B + beta * C + bias), or FP8 of it with its factors, on Hopper, and on Blackwell by tcgen05, where nothing has run on silicon:
// describe a problem, plan it once, run the plan as often as needed. The device chooses among the kernels of both.
//
// A is M x K, B is K x N, C and D are M x N, or D M x N / 2 if a gated activation makes one column of two
// beside each other; D and C are row-major (for a column-major D ask for its
// transpose: exchange A and B). Nothing is thrown but by k_segments(): every call that can fail
// answers a Status, and sentence() says what it means. A run() that does not answer Ok leaves D as
// it was. Errors that other calls have left in CUDA are neither taken for ours nor taken away. C may
// be D with D's strides; D may share memory with nothing else that is read, and nobody looks for
// that. Kernels are chosen on the device that is current in make_plan(); run() allocates nothing and
// may be captured in a graph. Operands that TMA cannot address (lines or pointers at no multiple of
// 16 bytes), or wgmma cannot read (MN-major ones of 8 or 32 bits), are copied into the workspace, of workspace_bytes(plan), if run()
// gets one; without it, threads load them: run() is several times slower where K is contiguous, up to a hundred times else, and on tcgen05 refused. Other plans are faster with the workspace that they ask for. A C interface: gemm_c.h. Plans from measurements: cuda/gemm/tune.h. The bits of D, predicted:
// oracle/sum/gemm_reference.h. Example:
//
//   gemm::Problem problem{.m = 4096, .n = 4096, .k = 4096};  // bf16, both operands K-major
//   gemm::Plan plan;
//   gemm::Status status = gemm::make_plan(problem, plan);
//   if (status == gemm::Status::Ok) status = gemm::run(plan, {a, b, nullptr, d}, {}, stream);
//   if (status != gemm::Status::Ok) std::puts(gemm::sentence(status));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/gemm/arguments.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/num/activation.h"

struct CUstream_st;

namespace tcq::gemm {

using Stream = CUstream_st*;  // cudaStream_t

enum class Status : std::uint8_t {
  Ok,
  NegativeSize,
  SizeTooLarge,
  UnsupportedTypes,
  UnsupportedEpilogue,
  KernelDoesNotFit,
  LeadingDimensionTooSmall,
  BadBatchStride,
  NoPlan,
  NullPointer,
  Misaligned,
  WorkspaceTooSmall,
  NotDeviceMemory,
  MixedDevices,
  NoDevice,
  WrongArchitecture,
  WrongDevice,
  NoMemory,
  CudaFailed,
  BadTuneOptions,
  StreamCaptured,
  NothingToTune,
  TuneFileMissing,
  TuneFileUnreadable,
  TuneFileDamaged,
  TuneFileForeign,
  TuneFileNewer,
  TuneFileNotWritten,
  UnsupportedMajor,
  CIsNotD,
  BadSmLimit,
  BadStructSize,
  UnknownField,
  UnsupportedScaling,
  UnsupportedGrouping,
  NeedsTcgen05,
  NotOnTcgen05,
  UnsupportedSchedule,
};
inline constexpr int status_count = 38;

const char* name(Status status) noexcept;
const char* sentence(Status status) noexcept;

inline constexpr std::int64_t packed = -1;

// What the product of FP8 operands is multiplied by: f32 factors in device memory, of any sign and size. One of A is
// multiplied by one of B, rounded to f32, before either meets a sum. With block_scaling: the first three, besides its bytes,
// as NVFP4 has one f32 for all of a matrix.
enum class Scaling : std::uint8_t {
  None,
  Tensor,     // one factor for A, one for B
  RowColumn,  // one for each row of A, one for each column of B
  Block128,   // of 128 of K: one for each row of A, one for each 128 columns of B
  Vector128,  // of 128 of K: one for each row of A, one for each column of B
};
inline constexpr int scaling_count = 5;

constexpr bool scales_blocks(Scaling s) {
  return s == Scaling::Block128 || s == Scaling::Vector128;
}

// What tcgen05 multiplies elements by, a byte for each block of K of a row of A or column of B (compute capability 10.x):
// MXFP8 is e4m3 and e5m2 with Ue8m0Block32, MXFP4 e2m1 with it, NVFP4 e2m1 with Ue4m3Block16; both operands are K-major,
// of an even K, e2m1 with even strides. Where the bytes lie: ScaleCodes of cuda/gemm/arguments.h.
enum class BlockScaling : std::uint8_t { None, Ue8m0Block32, Ue4m3Block16 };
inline constexpr int block_scaling_count = 3;

// Unit: elements. `ld` steps the index that is not contiguous, `batch` from one matrix to the next;
// `packed` is the least that holds the matrix. A batch stride of 0 reads one matrix for all; those of
// a batch may overlap but for D's.
struct Strides {
  std::int64_t ld = packed;
  std::int64_t batch = packed;

  friend constexpr bool operator==(const Strides&, const Strides&) = default;
};

struct Problem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;  // 0: the product is 0
  std::int64_t batch = 1;
  // f16, bf16, tf32 (any f32: the low 13 bits do not count), e4m3, e5m2, s8, u8; e2m1, two to a byte, with block_scaling.
  Type in = Type::bf16;
  // f16: f16, f32; bf16: bf16, f32; tf32: f32; e4m3, e5m2 and e2m1: bf16, f16, f32; s8 and u8: s32, f32, bf16.
  Type out = Type::bf16;
  Major major_a = Major::K;  // K: A is row-major
  Major major_b = Major::K;  // K: B is column-major, its columns are contiguous
  Strides a = {};
  Strides b = {};
  Strides c = {};  // c and d have type `out`; d another one if it is quantized
  Strides d = {};
  // s32 has no epilogue: alpha 1, beta 0, no bias, no activation.
  float alpha = 1;
  float beta = 0;         // 0: C is not read
  bool has_bias = false;  // one element of type `out` for each of the N columns
  // Gated: N is even, beta 0; columns 2 j and 2 j + 1 are gate and value of D's column j.
  Activation activation = Activation::None;
  bool batch_invariant = false;  // the bits of a row of D may not depend on M
  // A kernel runs on at most so many SMs, copies of operands too; 0: all. One that is launched early waits on
  // SMs of its own: without programmatic_launch runs in a stream never take more. K is split as without a
  // limit, or not at all if so many CTAs would not fit: batch-invariant bits are the same for every limit.
  int sm_limit = 0;
  // Of B, where A's is e4m3 or e5m2 and B's the other one.
  std::optional<Type> in_b = {};
  Scaling scaling = Scaling::None;  // else: FP8, or block_scaling
  // FP8: sums of 128 of K, which keep 13 bits behind the point of their largest summand, are added in f32, each with its
  // factors if these are of 128 of K. That is always so for factors of 128 of K.
  bool promotes = false;
  // Factors of 128 of K are matrices of rows of A (columns of B, or 128 of them) by K / 128, rounded up.
  Major major_scale_a = Major::K;  // K: those of a row are contiguous
  Major major_scale_b = Major::K;
  Strides scale_a = {};
  Strides scale_b = {};
  // Several products in one launch, `batch` groups of them, whose sizes only the device knows (Pointers::sizes): f16, bf16
  // and FP8 operands, or such with block_scaling, K-major, but B of 16 bits of either major on Hopper. `m` is the rows of A and D, Counts: of one group's matrix; B, and
  // factors of B, have a matrix for each group; A, C and D have one unless Counts. Rows of no group are neither read nor written; RowIds: those
  // that share 128 rows with a group's may be.
  // KEnds: `batch` groups along K, with a matrix of C and D for each, 0 and its epilogue where a group has no K; A and B have one,
  // whose batch strides do not count: f16, bf16 and FP8, any majors, D not quantized. The
  // bits are those of a product that begins at the multiple of 128 bytes of K at or ahead of the group's first k (k_unit), with zeros
  // ahead of it. Factors of blocks of K are those of the whole K's blocks, whichever group an element is of; others have a batch of them.
  Grouping grouping = Grouping::None;
  std::int64_t expected_rows =
      0;  // of a group, for the choice of a kernel alone; 0: m / batch, Counts: m
  // run()'s kernels may be launched before the one ahead in the stream has ended, and wait on the device.
  bool programmatic_launch = true;
  BlockScaling block_scaling = BlockScaling::None;
  // D is FP8, e4m3 or e5m2, of the results in f32, and what quantize() makes of them (cuda/gemm/quantize.h, Vector128): 128
  // columns of a row of D share a factor, Pointers::scale_d, a matrix of D's rows by its columns / 128, rounded up. `out` is
  // the type of C and the bias then, and C is not D. Both operands are FP8. With block_scaling_d: what follows below.
  std::optional<Type> quantized = {};
  bool scale_d_power_of_two = false;
  Major major_scale_d = Major::K;  // K: those of a row are contiguous
  Strides scale_d = {};
  // D as the next product on tcgen05 reads it: 32 or 16 columns of a row share a factor, a byte of Pointers::scale_codes_d
  // (sim/num/quantize.h). `quantized` is e4m3 or e5m2, of 32, or e2m1; the fields of scale_d do not count. Columns and
  // strides of e2m1 are even numbers. Operands: bf16, f16, or with block_scaling, whose factors are of the same blocks.
  BlockScaling block_scaling_d = BlockScaling::None;
  // On tcgen05: a cluster of the grid for each tile, and those that run take over those that have not begun
  // (clusterlaunchcontrol), instead of tiles dealt beforehand to as many clusters as run at one time. The bits of D are the
  // same. Never measured: no plan prefers it. Of dense products alone, without a limit of SMs, which such a grid cannot keep.
  bool dynamic_schedule = false;

  friend constexpr bool operator==(const Problem&, const Problem&) = default;
};

// What can be said without a device and without pointers.
Status check(const Problem& problem) noexcept;

// Whom to ask for how many clusters fit: facts on the device that a plan depends on.
struct Device {
  int id = 0;
  int major = 9;  // compute capability
  int minor = 0;
  int sm_count = 132;
  double memory = 3.352e6;  // bytes in a microsecond, by its clock and its bus; an H100's
};

struct Kernel;  // cuda/gemm/kernels.h

// The last tiles of a launch, whose blocks of K are dealt to its clusters if run() has a workspace: cuda/gemm/stream_k.h.
struct Runs {
  int tiles = 0;
  int blocks = 0;  // of each cluster; the last ones may have fewer
};

struct Launch {
  const Kernel* kernel = nullptr;
  int clusters = 0;
  Schedule schedule;
  int k_blocks = 0;
  double microseconds = 0;  // estimated, without copies of operands
  bool overlaps = false;    // its neighbours in the stream: cuda/gemm/skinny.cuh
  Runs runs = {};
  bool programmatic = true;  // Problem's programmatic_launch
};

struct Plan {
  Problem problem;  // strides are numbers; a batch with one B is one product, where its rows follow each other
  int device = 0;
  bool made = false;
  bool runnable = false;  // the device was asked
  bool empty = false;     // no output: run() does nothing
  Launch aligned;         // every pointer a multiple of 16
  Launch
      any_factors;  // the operands' are, pointers of f32 factors need not be; no kernel where `aligned` takes those
  Launch whole;          // as `aligned` where that deals runs, without a workspace for their sums
  Launch unaligned;      // any pointers
  Launch realigned;      // operands that TMA cannot address are copied first; may have no kernel
  bool turns_a = false;  // a copy of A is K-major, and is made whatever A's strides are
  bool turns_b = false;
  std::size_t workspace_bytes = 0;  // for copies
};

// `problem` may be plan.problem. If the answer is not Ok the plan is none.
Status make_plan(const Problem& problem, Plan& plan) noexcept;
// For a device that need not be there: nothing is asked of CUDA, and run() refuses the plan.
Status make_plan_for(const Problem& problem, const Device& device, Plan& plan) noexcept;

// With this kernel of cuda/gemm/kernels.h instead of those that make_plan() would choose, in every launch
// that it can compute but `unaligned`: for the tuner (cuda/gemm/tune.h), benchmarks and tests.
// KernelDoesNotFit if there is none.
Status make_plan_with(const Problem& problem, const Kernel& kernel, Plan& plan) noexcept;
Status make_plan_for(const Problem& problem, const Device& device, const Kernel& kernel,
                     Plan& plan) noexcept;

struct Pointers {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;  // may be d, with d's strides
  void* d = nullptr;
  const void* bias = nullptr;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  // Sizes of groups; what is out of order or beyond A is cut, never followed.
  const std::int32_t* sizes = nullptr;
  // With block_scaling; multiples of 16. A matrix's atoms lie behind those of the matrix before it, if there are several; how
  // groups' do: ScaleCodes.
  const std::uint8_t* scale_codes_a = nullptr;
  const std::uint8_t* scale_codes_b = nullptr;
  float* scale_d = nullptr;  // written, if D is quantized
  // With block_scaling_d, written: whole atoms, as those of A are (ScaleCodes), of groups too, D's columns in the place of K. What fills up a
  // row's last atom becomes 0; what fills up rows stays as it was. A multiple of 16.
  std::uint8_t* scale_codes_d = nullptr;
  // With block_scaling_d: results are multiplied by this f32 in device memory before they are quantized, what NVFP4 has for a
  // whole matrix; null: 1.
  const float* global_scale_d = nullptr;
};

// At any address. Two runs that may overlap in time need two of them.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// For copies of the operands whose strides TMA cannot address, if some kernel could read these: one that is smaller is refused. Else
// for the sums of tiles that two CTAs have parts of, which makes some launches faster: one that is smaller is not used. 0 for neither.
std::size_t workspace_bytes(const Plan& plan) noexcept;
// With these pointers: more, if one is no multiple of 16 although its operand's strides are.
std::size_t workspace_bytes(const Plan& plan, const Pointers& pointers) noexcept;

// Which of the plan's launches run() takes.
enum class Path : std::uint8_t { Aligned, Unaligned, Realigned, AnyFactors, Whole };

// Realigned if the workspace holds all that is to be copied, workspace_bytes(plan, pointers). Else Unaligned if an operand's pointer
// is no multiple of 16; AnyFactors if one of factors is not and the kernel wants that; Whole if the workspace does not hold the sums
// that the kernel leaves there; or Aligned. The last three have the same bits, by other kernels.
Path path_of(const Plan& plan, const Pointers& pointers, const Workspace& workspace) noexcept;

const Launch& launch_of(const Plan& plan, Path path) noexcept;

// Several lines: the problem, all launches, the order of accumulation, the workspace. "no memory\n"
// if there is none for them.
std::string describe(const Plan& plan) noexcept;

// A part of K that one chain of wgmmas sums, in ascending steps of one instruction's K; or several of 128, if the problem
// promotes: fma(factor, chain's sum, sum so far), from 0 on. The results of segments are added in f32 in the order given.
struct KSegment {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend constexpr bool operator==(const KSegment&, const KSegment&) = default;
};

// The order of accumulation of every output on this path; the same for all paths unless K is split.
// Empty if the plan has no such launch. Throws std::bad_alloc, which no shorter answer can stand for.
std::vector<KSegment> k_segments(const Plan& plan, Path path);

// What run() says before it asks CUDA for anything. A workspace that is null is never too small.
Status check(const Plan& plan, const Pointers& pointers, const Workspace& workspace) noexcept;

// Asks the driver whose memory it is that run() would follow each pointer to: NotDeviceMemory,
// MixedDevices. run() does not.
Status check_memory(const Plan& plan, const Pointers& pointers,
                    const Workspace& workspace = {}) noexcept;

// Asynchronous in `stream`, a stream of the plan's device, which must be current. Errors of kernels
// that run later are CUDA's to report; one that has broken the context fails every call: CudaFailed.
Status run(const Plan& plan, const Pointers& pointers, const Workspace& workspace,
           Stream stream) noexcept;

}  // namespace tcq::gemm
