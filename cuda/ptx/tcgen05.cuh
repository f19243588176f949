// tcgen05: every form of every instruction, one function each. No logic, no layout.
//
// A Form (sim/isa/tcgen05/instruction.h) is a template argument; its opcode (sim/isa/tcgen05/syntax.h)
// and its operands (cuda/ptx/tcgen05_text.h) are made at compile time and pasted into inline assembly.
// Addresses of Tensor Memory are 32-bit words (sim/isa/tmem/address.h), descriptors are 64-bit ones.
// This file has what all share, and fences; cuda/ptx/tcgen05_mma.cuh has mma, cuda/ptx/tcgen05_ldst.cuh has
// ld, st, ld.red and their waits, cuda/ptx/tmem.cuh has alloc, cp, shift and commit. The order of one
// mma: tcgen05_alloc() in one warp; operands written, fence_proxy_async_shared() (cuda/ptx/basic.cuh), barrier;
// one thread: tcgen05_mma(), tcgen05_commit(); mbarrier_try_wait() (cuda/ptx/async.cuh),
// tcgen05_fence_after_thread_sync(), tcgen05_ld(), tcgen05_wait_ld(), pin() (cuda/ptx/basic.cuh), read;
// tcgen05_dealloc(). A kernel must use one cta_group only.
//
// A kernel (__global__) template must not take a Form as its parameter: nvcc 13.0 then writes a
// host stub that does not compile. Give it an int or a type and look the Form up inside.
//
// No device of compute capability 10 was at hand: all this has been compiled, not run.
// Source: PTX ISA 9.2, 9.7.16.
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/ptx/tcgen05_text.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/syntax.h"

#if defined(__CUDA_ARCH__) && \
    !(defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200)
#error "tcgen05 needs sm_100a, sm_103a, sm_110a or their families; wgmma.cuh is for sm_90a"
#endif

namespace tcq::ptx {

namespace detail {

// A PtxText as an array of exactly its length, which is what the "C" constraint takes.
template <class Source, class = std::make_integer_sequence<int, Source::text.size>>
struct ExactText;
template <class Source, int... I>
struct ExactText<Source, std::integer_sequence<int, I...>> {
  static constexpr char text[] = {Source::text.chars[I]..., 0};
};

template <auto Form>
struct Tcgen05Opcode {
  static constexpr PtxText text = tcgen05::opcode(Form);
};
template <auto Form, int Immediate>
struct BeforeVector {
  static constexpr PtxText text = operands_before_vector(Form, Immediate);
};
template <auto Form, int Immediate>
struct AfterVector {
  static constexpr PtxText text = operands_after_vector(Form, Immediate);
  static_assert(is_whole(text));
};

template <auto Form>
using Opcode = ExactText<Tcgen05Opcode<Form>>;
template <auto Form, int Immediate>
using Before = ExactText<BeforeVector<Form, Immediate>>;
template <auto Form, int Immediate>
using After = ExactText<AfterVector<Form, Immediate>>;

// Of a form without a vector.
template <auto Form, int Immediate>
struct Whole : Before<Form, Immediate> {
  static_assert(is_whole(operands_before_vector(Form, Immediate)));
};

}  // namespace detail

// Orders the thread's asynchronous tcgen05 operations before a later synchronisation.
// Source: PTX ISA 9.2, 9.7.16.11 "tcgen05.fence".
__device__ __forceinline__ void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// Orders them after an earlier one.
__device__ __forceinline__ void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

}  // namespace tcq::ptx
