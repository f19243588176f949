// The compiled GEMM kernels as data: what each computes and how it is launched.
//
// A row of the table is one instance of cuda/gemm/kernel.cuh, skinny.cuh (in one cluster: rows share functions), copy.cuh or
// tensor_kernel.cuh; each makes any D with any epilogue. cuda/gemm/plan.cc chooses among the rows, cuda/gemm/launch.cc launches one. The instances are
// compiled in gemm_instances/*.cu of the build.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "cuda/gemm/config.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::gemm {

// Who brings the operands to shared memory: TMA, or the threads of a warpgroup, which can address
// anything (cuda/gemm/copy.cuh).
enum class Loader : std::uint8_t { Tma, Copy };

struct Kernel {
  Type in;  // of A
  Type in_b;
  Promotion promotion;
  bool grouped;
  int quantized_columns;  // of the product, whose results can share a factor of D; 0: D is not quantized
  Major major_a;
  Major major_b;
  Loader loader;
  Skinny skinny;
  int split;    // CTAs that share a tile, each with a part of K
  int block_m;  // of D
  int block_n;
  int block_k;
  Turns turns;
  int cluster_m;
  int cluster_n;
  int stages;
  std::uint32_t box_rows_a;  // of the TMA boxes; all are one swizzle span wide
  std::uint32_t box_rows_b;
  int store_rows;  // of the product, of a box that stores D
  int store_row;   // columns of it that such boxes share
  int threads;
  std::uint32_t shared_bytes;
  int ctas_per_sm;  // that fit one
  const void* function;
  // tcgen05: how many of K share one of the scale factors that its products have; Default: none.
  tcgen05::ScaleVec scale_vec = tcgen05::ScaleVec::Default;
  int tensor_columns = 0;  // of Tensor Memory that a CTA allocates; 0: the kernel is Hopper's
  int instruction_k = 0;   // of one tcgen05.mma
  int accumulators = 0;    // tiles whose sums stand in Tensor Memory
  // Of a D that is quantized: how many of its columns share one of the factors. Default: 128, and factors are f32.
  tcgen05::ScaleVec quantized_vec = tcgen05::ScaleVec::Default;
  bool dynamic = false;  // a cluster for each tile: cuda/gemm/dynamic.cuh
  // Of the problems on which it was timed beside all others: products and sums, each one.
  double most_operations = std::numeric_limits<double>::infinity();
  bool groups_k = false;        // for groups along K
  bool stages_factors = false;  // of blocks of K, which TMA brings: cuda/gemm/staged.cuh
  bool streams_k = false;       // cuda/gemm/stream_k.cuh
  // tcgen05: is the major of A, of B, the problem's, whatever the kernel is compiled for?
  bool any_major_a = false;
  bool any_major_b = false;
};

template <class C>
constexpr int tensor_columns_of() {
  if constexpr (requires { C::tensor_columns; }) return C::tensor_columns;
  return 0;
}

template <class C>
constexpr int accumulators_of() {
  if constexpr (requires { C::tensor_columns; }) return C::accumulators;
  return 0;
}

template <class C>
constexpr int instruction_k_of() {
  if constexpr (requires { C::tensor_columns; }) return C::instruction_k;
  return 0;
}

template <class Op, class Turned>
constexpr bool turns() {
  return Op::major != Turned::major;
}

// Of what a kernel multiplies: D, or its transpose.
template <class C>
constexpr Kernel multiplied_by(const void* function, Loader loader) {
  return {.in = C::in,
          .in_b = C::in_b,
          .promotion = C::promotion,
          .grouped = C::grouped,
          .quantized_columns = C::quantized_columns,
          .major_a = C::A::major,
          .major_b = C::B::major,
          .loader = loader,
          .skinny = transposes<C>() ? Skinny::Rows : Skinny::No,
          .split = C::split,
          .block_m = C::block_m,
          .block_n = C::block_n,
          .block_k = C::block_k,
          .turns = C::turns,
          .cluster_m = C::cluster_m,
          .cluster_n = C::cluster_n,
          .stages = C::stages,
          .box_rows_a = C::A::box_rows(C::sharers_a),
          .box_rows_b = C::B::box_rows(C::sharers_b),
          .store_rows = C::store_rows,
          .store_row = C::store_row,
          .threads = C::threads,
          .shared_bytes = C::shared_bytes,
          .ctas_per_sm = C::resident,
          .function = function,
          .scale_vec = scale_vec_of<C>(),
          .tensor_columns = tensor_columns_of<C>(),
          .instruction_k = instruction_k_of<C>(),
          .accumulators = accumulators_of<C>(),
          .quantized_vec = quantized_vec_of<C>(),
          .dynamic = is_dynamic<C>(),
          .groups_k = groups_k<C>(),
          .stages_factors = stages_factors<C>(),
          .streams_k = streams_k<C>(),
          .any_major_a = turns<typename C::A, typename C::TurnedA>(),
          .any_major_b = turns<typename C::B, typename C::TurnedB>()};
}

// The same of D: a kernel that multiplies its transpose has B in A's place.
constexpr Kernel of_d(Kernel k) {
  if (k.skinny != Skinny::Rows) return k;
  std::swap(k.in, k.in_b);
  std::swap(k.major_a, k.major_b);
  std::swap(k.block_m, k.block_n);
  std::swap(k.cluster_m, k.cluster_n);
  std::swap(k.box_rows_a, k.box_rows_b);
  std::swap(k.any_major_a, k.any_major_b);
  return k;
}

// `function` is what the CUDA runtime calls the kernel.
template <class C>
constexpr Kernel kernel_of(const void* function, Loader loader = Loader::Tma) {
  return of_d(multiplied_by<C>(function, loader));
}

// For few rows or columns `peers` tiles of a cluster have the same tokens, `mates` the same weights.
template <class C>
constexpr Kernel skinny_kernel_of(const void* function, int peers = 1, int mates = 1) {
  Kernel k = multiplied_by<C>(function, Loader::Tma);
  k.skinny = C::few;
  k.cluster_m = peers;
  k.cluster_n = mates;
  k.box_rows_a = C::A::box_rows(mates);
  k.box_rows_b = C::B::box_rows(peers);
  return of_d(k);
}

// CTAs that work on one tile together, or on neighbouring ones.
constexpr int cluster_size(const Kernel& k) { return k.cluster_m * k.cluster_n * k.split; }

// Warpgroups beside the one that produces.
constexpr int consumers_of(const Kernel& k) { return k.threads / warpgroup_threads - 1; }

// Do its consumers share the columns of D, not the rows?
constexpr bool is_beside(const Kernel& k) {
  return k.skinny == Skinny::No && k.quantized_columns > scale_block;
}

// Does a cluster take tile after tile? Else there is one for each.
constexpr bool is_persistent(const Kernel& k) {
  return (k.skinny == Skinny::No || k.tensor_columns > 0) && k.split == 1;
}

// Clusters of the grid, of which so many run at one time.
constexpr std::int64_t clusters_of_grid(const Kernel& k, std::int64_t tiles, std::int64_t at_once) {
  return is_persistent(k) && !k.dynamic && at_once < tiles ? at_once : tiles;
}

// Tells kernels of equal types and majors apart: "128x128x64 ping-pong cluster 1x2 6 stages".
std::string name(const Kernel& kernel);

// The instances of one operand type: what any product of it may need, what is good for large ones, and
// for few rows or columns of D, by one consumer or more, for groups, and what quantizes D. Each type and part is a source of its own,
// made from instances.cu.in.
enum class Part { General, Large, Skinny, Wide, Middle, RowMajor, Groups, Quantizing };
template <Type In, Part P>
std::span<const Kernel> instances();

// Every instance for Hopper, in a fixed order.
std::span<const Kernel> kernels();

// Those on tcgen05, cuda/gemm/tensor_table.h; none if the compiler did not know sm_100a.
std::span<const Kernel> tensor_kernels();

}  // namespace tcq::gemm
