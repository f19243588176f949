// wgmma.mma_async: one function template, four operand patterns, every form.
//
// mma<Form>(d, a, desc_b, accumulate) issues exactly the instruction that the Form names. Its
// opcode (sim/isa/base/ptx_text.h) and its tail of immediates (wgmma_text.h) are made at compile time
// and pasted into the assembly of wgmma_issue.cuh, where only the count of D registers matters. D
// is always an array of 32-bit registers, the thread's share of D in order
// (sim/isa/wgmma/fragment.h): the bits of an f32, an s32 or two f16. Fences and waits: cuda/ptx/basic.cuh.
// Example, one 64 x 8 x 16 product:
//
//   constexpr wgmma::Form form{Type::f32, Type::bf16, Type::bf16, 8};
//   std::uint32_t d[4];
//   ptx::mma<form>(d, desc_a, desc_b, false);
//
// A kernel (__global__) template must not take a Form as its parameter: nvcc 13.0 then writes a
// host stub that does not compile. Give it an int or a type and look the Form up inside.
//
// Source: PTX ISA 9.2, 9.7.15.5.2 and 9.7.15.6.3.
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/ptx/wgmma_issue.cuh"
#include "cuda/ptx/wgmma_text.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::ptx {

namespace detail {

// A PtxText as an array of exactly its length, which is what the "C" constraint takes.
template <class Source, class = std::make_integer_sequence<int, Source::text.size>>
struct Exact;
template <class Source, int... I>
struct Exact<Source, std::integer_sequence<int, I...>> {
  static constexpr char text[] = {Source::text.chars[I]..., 0};
};

template <wgmma::Form F>
struct OpcodeText {
  static constexpr PtxText text = wgmma::opcode(F);
};
template <wgmma::Form F, int Selector>
struct TailText {
  static constexpr PtxText text = wgmma_tail(F, Selector);
};

template <wgmma::Form F>
using OpcodeChars = Exact<OpcodeText<F>>;
template <wgmma::Form F, int Selector>
using TailChars = Exact<TailText<F, Selector>>;

}  // namespace detail

// What every overload demands of its Form.
template <wgmma::Form F, int Selector, bool Sparse, wgmma::Place APlace>
HOST_DEVICE constexpr bool fits() {
  static_assert(check(F) == Fault::None, "no such wgmma instruction; wgmma::check(F) says why");
  static_assert(F.sparse == Sparse, "a metadata register belongs to sparse forms, and to no other");
  static_assert(F.a_place == APlace, "A is a descriptor (Place::Smem) or 4 registers");
  static_assert(selector_exists(F, Selector), "the selector of this form is out of range");
  return true;
}

// D = A * B, plus D if `accumulate`; accumulate and the descriptors must be equal in all threads.
template <wgmma::Form F>
__device__ __forceinline__ void mma(std::uint32_t (&d)[wgmma::accumulator_registers(F.d, F.n)],
                                    std::uint64_t desc_a, std::uint64_t desc_b, bool accumulate) {
  static_assert(fits<F, 0, false, wgmma::Place::Smem>());
  detail::issue<detail::OpcodeChars<F>, detail::TailChars<F, 0>>(d, desc_a, desc_b, accumulate);
}

template <wgmma::Form F>
__device__ __forceinline__ void mma(std::uint32_t (&d)[wgmma::accumulator_registers(F.d, F.n)],
                                    const std::uint32_t (&a)[wgmma::a_registers],
                                    std::uint64_t desc_b, bool accumulate) {
  static_assert(fits<F, 0, false, wgmma::Place::Registers>());
  detail::issue<detail::OpcodeChars<F>, detail::TailChars<F, 0>>(d, a, desc_b, accumulate);
}

// Sparse A: `metadata` is the thread's register of codes, of which Selector chooses the readers.
template <wgmma::Form F, int Selector = 0>
__device__ __forceinline__ void mma(std::uint32_t (&d)[wgmma::accumulator_registers(F.d, F.n)],
                                    std::uint64_t desc_a, std::uint64_t desc_b,
                                    std::uint32_t metadata, bool accumulate) {
  static_assert(fits<F, Selector, true, wgmma::Place::Smem>());
  detail::issue<detail::OpcodeChars<F>, detail::TailChars<F, Selector>>(d, desc_a, desc_b,
                                                                        accumulate, metadata);
}

template <wgmma::Form F, int Selector = 0>
__device__ __forceinline__ void mma(std::uint32_t (&d)[wgmma::accumulator_registers(F.d, F.n)],
                                    const std::uint32_t (&a)[wgmma::a_registers],
                                    std::uint64_t desc_b, std::uint32_t metadata, bool accumulate) {
  static_assert(fits<F, Selector, true, wgmma::Place::Registers>());
  detail::issue<detail::OpcodeChars<F>, detail::TailChars<F, Selector>>(d, a, desc_b, accumulate,
                                                                        metadata);
}

}  // namespace tcq::ptx
