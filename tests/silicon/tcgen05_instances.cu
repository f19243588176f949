// A compile-time test: kernels around every wrapper of tcgen05, nothing to run.
//
// That it compiles shows that every form that check(form, target) calls legal has a wrapper whose
// text the assembler accepts. Compile for sm_100a, sm_103a or sm_110a with TCQ_TARGET set to that
// name. A kernel holds a batch of instructions; one function may use one cta_group only.

#include <cstdint>
#include <span>
#include <utility>

#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/tcgen05.cuh"
#include "cuda/ptx/tcgen05_ldst.cuh"
#include "cuda/ptx/tcgen05_mma.cuh"
#include "cuda/ptx/tmem.cuh"
#include "sim/isa/wgmma/shape.h"
#include "tests/support/tcgen05_forms.h"

namespace tcq::cuda {
namespace {

constexpr Target target = Target::TCQ_TARGET;
constexpr int batch = 16;

template <int CtaGroup>
constexpr auto mma_list = tests::mma_forms(target, CtaGroup);
template <int CtaGroup>
constexpr auto cp_list = tests::cp_forms(target, CtaGroup);
constexpr auto ld_list = tests::ld_forms(target);
constexpr auto st_list = tests::st_forms(target);
constexpr auto ld_red_list = tests::ld_red_forms(target);

struct Arguments {
  ptx::Tcgen05MmaOperands mma;
  std::uint32_t taddr;
  std::uint32_t columns;
  std::uint32_t* words;
};

// Calls issue(integral_constant) for the indices below Size.
template <int Size, class Issue>
__device__ void for_each_index(Issue issue) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (issue(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, Size>());
}

template <int CtaGroup, int Batch>
constexpr auto mma_batch = tests::part<batch>(mma_list<CtaGroup>, Batch* batch);
template <int Batch>
constexpr auto ld_batch = tests::part<batch>(ld_list, Batch* batch);
template <int Batch>
constexpr auto st_batch = tests::part<batch>(st_list, Batch* batch);
template <int Batch>
constexpr auto ld_red_batch = tests::part<batch>(ld_red_list, Batch* batch);
template <int CtaGroup, int Batch>
constexpr auto cp_batch = tests::part<batch>(cp_list<CtaGroup>, Batch* batch);

template <int CtaGroup, int Batch>
__global__ void mma_kernel(Arguments o) {
  constexpr auto forms = mma_batch<CtaGroup, Batch>;
  for_each_index<forms.size>([&]<int I>(std::integral_constant<int, I>) {
    ptx::tcgen05_mma<forms.list[I].form, forms.list[I].immediate>(o.mma);
  });
}

template <int Batch>
__global__ void ld_kernel(Arguments o) {
  constexpr auto forms = ld_batch<Batch>;
  for_each_index<forms.size>([&]<int I>(std::integral_constant<int, I>) {
    constexpr tcgen05::LdForm form = forms.list[I].form;
    std::uint32_t r[tcgen05::registers(form.shape, form.num)];
    ptx::tcgen05_ld<form, forms.list[I].immediate>(r, o.taddr);
    ptx::tcgen05_wait_ld();
    ptx::pin(r);
    for (const std::uint32_t word : r) *o.words++ = word;
  });
}

template <int Batch>
__global__ void st_kernel(Arguments o) {
  constexpr auto forms = st_batch<Batch>;
  for_each_index<forms.size>([&]<int I>(std::integral_constant<int, I>) {
    constexpr tcgen05::StForm form = forms.list[I].form;
    std::uint32_t r[tcgen05::registers(form.shape, form.num)];
    for (std::uint32_t& word : r) word = *o.words++;
    ptx::tcgen05_st<form, forms.list[I].immediate>(o.taddr, r);
    ptx::tcgen05_wait_st();
  });
}

template <int Batch>
__global__ void ld_red_kernel(Arguments o) {
  constexpr auto forms = ld_red_batch<Batch>;
  for_each_index<forms.size>([&]<int I>(std::integral_constant<int, I>) {
    constexpr tcgen05::LdRedForm form = forms.list[I].form;
    std::uint32_t r[tcgen05::registers(form.shape, form.num)];
    std::uint32_t reduced;
    ptx::tcgen05_ld_red<form, forms.list[I].immediate>(r, reduced, o.taddr);
    ptx::tcgen05_wait_ld();
    ptx::pin(r);
    for (const std::uint32_t word : r) *o.words++ = word;
    *o.words++ = reduced;
  });
}

template <int CtaGroup, int Batch>
__global__ void cp_kernel(Arguments o) {
  constexpr auto forms = cp_batch<CtaGroup, Batch>;
  for_each_index<forms.size>([&]<int I>(std::integral_constant<int, I>) {
    constexpr tcgen05::CpForm form = forms.list[I].form;
    ptx::tcgen05_cp<form>(o.taddr, o.mma.desc_a);
  });
}

// The instructions whose only choices are cta_group and the kind of an address.
template <int G>
__global__ void other_kernel(Arguments o) {
  __shared__ std::uint32_t dst;
  __shared__ std::uint64_t barrier;
  const std::uint32_t mbar = ptx::shared_address(&barrier);
  ptx::tcgen05_alloc<tcgen05::AllocForm{G}>(ptx::shared_address(&dst), o.columns);
  ptx::tcgen05_alloc<tcgen05::AllocForm{G, false}>(&dst, o.columns);
  if constexpr (tcgen05::check(tcgen05::ShiftForm{G}, target) == Fault::None)
    ptx::tcgen05_shift<tcgen05::ShiftForm{G}>(o.taddr);
  ptx::tcgen05_commit<tcgen05::CommitForm{G}>(mbar);
  ptx::tcgen05_commit<tcgen05::CommitForm{G, true}>(mbar, std::uint16_t{3});
  ptx::tcgen05_commit<tcgen05::CommitForm{G, false, false}>(&barrier);
  ptx::tcgen05_commit<tcgen05::CommitForm{G, true, false}>(&barrier, std::uint16_t{3});
  ptx::tcgen05_fence_before_thread_sync();
  ptx::tcgen05_fence_after_thread_sync();
  ptx::tcgen05_dealloc<tcgen05::DeallocForm{G}>(dst, o.columns);
  ptx::tcgen05_relinquish_alloc_permit<tcgen05::RelinquishForm{G}>();
}

using Kernel = void (*)(Arguments);

constexpr int batches(int size) { return (size + batch - 1) / batch; }

template <int G, int... Batch>
std::span<const Kernel> mma_kernels(std::integer_sequence<int, Batch...>) {
  static const Kernel list[] = {mma_kernel<G, Batch>...};
  return list;
}

template <int... Batch>
std::span<const Kernel> ld_kernels(std::integer_sequence<int, Batch...>) {
  static const Kernel list[] = {ld_kernel<Batch>..., st_kernel<Batch>...};
  return list;
}

template <int... Batch>
std::span<const Kernel> ld_red_kernels(std::integer_sequence<int, Batch...>) {
  static const Kernel list[] = {ld_red_kernel<Batch>..., nullptr};
  return list;
}

template <int G, int... Batch>
std::span<const Kernel> cp_kernels(std::integer_sequence<int, Batch...>) {
  static const Kernel list[] = {cp_kernel<G, Batch>..., other_kernel<G>};
  return list;
}

}  // namespace

// Taking the kernels' addresses is what makes the compiler write them.
std::span<const Kernel> tcgen05_mma_1() {
  return mma_kernels<1>(std::make_integer_sequence<int, batches(mma_list<1>.size)>());
}
std::span<const Kernel> tcgen05_mma_2() {
  return mma_kernels<2>(std::make_integer_sequence<int, batches(mma_list<2>.size)>());
}
std::span<const Kernel> tcgen05_ldst() {
  static_assert(ld_list.size == st_list.size);
  return ld_kernels(std::make_integer_sequence<int, batches(ld_list.size)>());
}
std::span<const Kernel> tcgen05_ld_red() {
  return ld_red_kernels(std::make_integer_sequence<int, batches(ld_red_list.size)>());
}
std::span<const Kernel> tcgen05_cp_1() {
  return cp_kernels<1>(std::make_integer_sequence<int, batches(cp_list<1>.size)>());
}
std::span<const Kernel> tcgen05_cp_2() {
  return cp_kernels<2>(std::make_integer_sequence<int, batches(cp_list<2>.size)>());
}

}  // namespace tcq::cuda
