// The compiled GEMM kernels as data: what each computes and how it is launched.
//
// A row of the table is one instance of gemm_kernel.cuh; gemm_plan.cc chooses among the rows,
// gemm_launch.cc launches one. The instances are compiled in gemm_instances_*.cu.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cuda/gemm_config.h"
#include "sim/isa/canonical_layout.h"
#include "sim/isa/element.h"

namespace tcq::gemm {

// Who brings the operands to shared memory: TMA, or the threads of a warpgroup, which can address
// anything (gemm_copy.cuh).
enum class Loader : std::uint8_t { Tma, Copy };

struct Kernel {
  Type in;
  Type out;
  Major major_a;
  Major major_b;
  bool full;  // any epilogue and any D; else D is the product and TMA stores it
  Loader loader;
  bool skinny;  // gemm_skinny.cuh: D's columns are wgmma's rows; split CTAs share a tile
  int split;
  int block_m;  // of D
  int block_n;
  int block_k;
  Turns turns;
  int cluster_m;
  int cluster_n;
  int stages;
  std::uint32_t box_rows_a;  // of the TMA boxes; all are one swizzle span wide
  std::uint32_t box_rows_b;
  int store_rows;  // of the box that stores D
  int store_columns;
  int tail_columns;
  int threads;
  std::uint32_t shared_bytes;
  const void* function;
};

// `function` is what the CUDA runtime calls the kernel.
template <class C>
constexpr Kernel kernel_of(bool full, const void* function, Loader loader = Loader::Tma) {
  return {.in = C::in,
          .out = C::out,
          .major_a = C::A::major,
          .major_b = C::B::major,
          .full = full,
          .loader = loader,
          .skinny = false,
          .split = 1,
          .block_m = C::block_m,
          .block_n = C::block_n,
          .block_k = C::block_k,
          .turns = C::turns,
          .cluster_m = C::cluster_m,
          .cluster_n = C::cluster_n,
          .stages = C::stages,
          .box_rows_a = C::A::box_rows,
          .box_rows_b = C::B::box_rows,
          .store_rows = warpgroup_rows,
          .store_columns = C::store_columns,
          .tail_columns = C::tail_columns,
          .threads = C::threads,
          .shared_bytes = C::shared_bytes,
          .function = function};
}

template <class C>
constexpr Kernel skinny_kernel_of(const void* function) {
  return {.in = C::in,
          .out = C::out,
          .major_a = Major::K,
          .major_b = Major::K,
          .full = false,
          .loader = Loader::Tma,
          .skinny = true,
          .split = C::split,
          .block_m = C::tokens,
          .block_n = C::weights,
          .block_k = C::block_k,
          .turns = Turns::Together,
          .cluster_m = 1,
          .cluster_n = 1,
          .stages = C::stages,
          .box_rows_a = C::B::box_rows,
          .box_rows_b = C::A::box_rows,
          .store_rows = C::slice_tokens,
          .store_columns = warpgroup_rows,
          .tail_columns = 0,
          .threads = C::threads,
          .shared_bytes = C::shared_bytes,
          .function = function};
}

// CTAs that work on one tile together, or on neighbouring ones.
constexpr int cluster_size(const Kernel& k) { return k.cluster_m * k.cluster_n * k.split; }

// Tells kernels of equal types and majors apart: "128x128x64 ping-pong cluster 1x2 6 stages".
std::string name(const Kernel& kernel);

// The instances of one file each.
std::span<const Kernel> bf16_plain_kernels();
std::span<const Kernel> skinny_kernels();
std::span<const Kernel> bf16_kernels();
std::span<const Kernel> f16_kernels();
std::span<const Kernel> tf32_kernels();
std::span<const Kernel> s8_kernels();
std::span<const Kernel> u8_kernels();

// Every instance, in a fixed order.
std::span<const Kernel> kernels();

}  // namespace tcq::gemm
