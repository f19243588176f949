// A compile-time test: kernels around the wrappers of wgmma.cuh and cuda/ptx/basic.cuh, nothing to run.
//
// That it compiles without a message of ptxas about wgmma shows that every chosen form has a
// wrapper whose text the assembler accepts and whose fence and wait are right. As it stands: every
// count of D registers with A in either place, dense and sparse; every combination of types; every
// modifier. With -DTCQ_ALL_FORMS: every combination of types, N, place and sparsity, of which this
// compilation takes shard TCQ_SHARD of TCQ_SHARDS. Compile for sm_90a.

#include <cstdint>
#include <span>
#include <utility>

#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/base/element.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/shape.h"

#ifndef TCQ_SHARDS
#define TCQ_SHARDS 1
#define TCQ_SHARD 0
#endif

namespace tcq::cuda {
namespace {

#ifdef TCQ_ALL_FORMS
constexpr bool take_all = true;
#else
constexpr bool take_all = false;
#endif

using wgmma::Form;
using wgmma::Place;

struct Instance {
  Form form;
  int selector;
};

struct Instances {
  Instance list[2048];
  int size;

  // Adds the form if it exists.
  constexpr bool add(const Form& form, int selector = 0) {
    if (check(form) != Fault::None || !ptx::selector_exists(form, selector)) return false;
    list[size++] = {form, selector};
    return true;
  }
};

constexpr Type operand_types[] = {Type::f16,  Type::bf16, Type::tf32, Type::e4m3,
                                  Type::e5m2, Type::s8,   Type::u8,   Type::b1};
constexpr Type accumulator_types[] = {Type::f16, Type::f32, Type::s32};
constexpr Place places[] = {Place::Smem, Place::Registers};

// Calls visit(d, a, b, sparse, place) for all that may exist; add() drops the rest.
template <class Visit>
constexpr void for_each_kind(Visit visit) {
  for (const Type d : accumulator_types)
    for (const Type a : operand_types)
      for (const Type b : operand_types)
        if (wgmma::types_exist(d, a, b))
          for (const bool sparse : {false, true})
            for (const Place place : places) visit(d, a, b, sparse, place);
}

constexpr Instances all_forms() {
  Instances all{};
  for_each_kind([&](Type d, Type a, Type b, bool sparse, Place place) {
    for (int n = 8; n <= 256; n += 8) all.add({d, a, b, n, sparse, place});
  });
  return all;
}

constexpr Instances representative_forms() {
  Instances some{};
  // Every count of D registers; f32 and f16 D of one N differ by a factor of two.
  for (int n = 8; n <= 256; n += 8)
    for (const bool sparse : {false, true})
      for (const Place place : places) {
        some.add({Type::f16, Type::f16, Type::f16, n, sparse, place});
        if (n > 128) some.add({Type::f32, Type::e5m2, Type::e4m3, n, sparse, place});
      }
  // Every combination of types, and every selector and saturation it has.
  for_each_kind([&](Type d, Type a, Type b, bool sparse, Place place) {
    Form form{d, a, b, 48, sparse, place};
    for (const int selector : {0, 1}) some.add(form, selector);
    form.satfinite = true;
    some.add(form);
  });
  // Every combination of major-ness and negation.
  for (const bool sparse : {false, true})
    for (const Place place : places)
      for (const Major major_a : {Major::K, Major::MN})
        for (const Major major_b : {Major::K, Major::MN})
          for (const bool negate_a : {false, true})
            for (const bool negate_b : {false, true})
              some.add({Type::f32, Type::bf16, Type::bf16, 16, sparse, place, major_a, major_b,
                        negate_a, negate_b},
                       sparse ? 1 : 0);
  return some;
}

static_assert(all_forms().size == 948 + 912, "dense and sparse forms that ptxas accepts");

constexpr Instances instances = take_all ? all_forms() : representative_forms();

struct Operands {
  const std::uint32_t* d_in;  // 128 x registers, as all arrays here
  const std::uint32_t* a;
  const std::uint32_t* metadata;
  std::uint64_t desc_a;
  std::uint64_t desc_b;
  bool accumulate;
  std::uint32_t* d_out;
};

// Issues instance `Index` as a kernel should: registers before the fence, D after the wait.
template <int Index>
__global__ void __launch_bounds__(wgmma::threads_per_warpgroup) issue(Operands o) {
  constexpr Instance instance = instances.list[Index];
  constexpr Form form = instance.form;
  constexpr int registers = wgmma::accumulator_registers(form.d, form.n);
  std::uint32_t d[registers];
#pragma unroll
  for (int i = 0; i < registers; ++i) d[i] = o.d_in[threadIdx.x * registers + i];
  std::uint32_t metadata = 0;
  if constexpr (form.sparse) metadata = o.metadata[threadIdx.x];

  if constexpr (form.a_place == Place::Registers) {
    std::uint32_t a[wgmma::a_registers];
#pragma unroll
    for (int i = 0; i < wgmma::a_registers; ++i) a[i] = o.a[threadIdx.x * wgmma::a_registers + i];
    ptx::wgmma_fence();
    if constexpr (form.sparse)
      ptx::mma<form, instance.selector>(d, a, o.desc_b, metadata, o.accumulate);
    else
      ptx::mma<form>(d, a, o.desc_b, o.accumulate);
  } else {
    ptx::wgmma_fence();
    if constexpr (form.sparse)
      ptx::mma<form, instance.selector>(d, o.desc_a, o.desc_b, metadata, o.accumulate);
    else
      ptx::mma<form>(d, o.desc_a, o.desc_b, o.accumulate);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
#pragma unroll
  for (int i = 0; i < registers; ++i) o.d_out[threadIdx.x * registers + i] = d[i];
}

template <int Count, ptx::Trans T>
__device__ void copy_matrices(std::uint32_t from, std::uint32_t to) {
  std::uint32_t matrices[Count];
  ptx::ldmatrix<T>(matrices, from);
  ptx::stmatrix<T>(to, matrices);
}

// The instructions of cuda/ptx/basic.cuh that the kernels above do not use.
__global__ void __launch_bounds__(wgmma::threads_per_warpgroup) others() {
  extern __shared__ std::uint32_t shared[];
  const std::uint32_t here = ptx::shared_address(shared);
  copy_matrices<1, ptx::Trans::No>(here, here);
  copy_matrices<1, ptx::Trans::Yes>(here, here);
  copy_matrices<2, ptx::Trans::No>(here, here);
  copy_matrices<2, ptx::Trans::Yes>(here, here);
  copy_matrices<4, ptx::Trans::No>(here, here);
  copy_matrices<4, ptx::Trans::Yes>(here, here);
  ptx::fence_proxy_async_shared();
  ptx::bar_arrive(1, 2 * wgmma::threads_per_warpgroup);
  ptx::bar_sync(0, wgmma::threads_per_warpgroup);
}

using Kernel = void (*)(Operands);

template <int... I>
std::span<const Kernel> kernels(std::integer_sequence<int, I...>) {
  static const Kernel list[] = {issue<I * TCQ_SHARDS + TCQ_SHARD>...};
  return list;
}

}  // namespace

// Taking the kernels' addresses is what makes the compiler write them.
std::span<const Kernel> wgmma_instances() {
  constexpr int count = (instances.size - TCQ_SHARD + TCQ_SHARDS - 1) / TCQ_SHARDS;
  return kernels(std::make_integer_sequence<int, count>());
}
const void* other_instance() { return reinterpret_cast<const void*>(others); }

}  // namespace tcq::cuda
