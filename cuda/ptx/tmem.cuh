// Tensor Memory itself: alloc, dealloc, relinquish_alloc_permit, cp, shift, and commit.
//
// alloc, dealloc and relinquish are executed by a whole warp (with cta_group::2 by one warp of each
// CTA of the pair), cp, shift and commit by one thread. alloc blocks until the columns are free.
// What cp and shift move: sim/isa/tcgen05/copy.h.
//
// No device of compute capability 10 was at hand: all this has been compiled, not run.
// Source: PTX ISA 9.2, 9.7.16.7 "Tensor Memory allocation", 9.7.16.9 "Data movement", 9.7.16.12
// "tcgen05.commit".
#pragma once

#include <cstdint>

#include "cuda/ptx/tcgen05.cuh"

namespace tcq::ptx {

// Writes the address of the columns to `dst` in the CTA's shared memory.
template <tcgen05::AllocForm F = tcgen05::AllocForm{}>
__device__ __forceinline__ void tcgen05_alloc(std::uint32_t dst, std::uint32_t columns) {
  static_assert(tcgen05::check(F) == Fault::None && F.shared_cta);
  asm volatile(
      "{\n.reg .b32 dst, columns;\nmov.b32 dst, %0;\nmov.b32 columns, %1;\n%2%3\n}\n" ::"r"(dst),
      "r"(columns), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

// As above, to a generic address.
template <tcgen05::AllocForm F>
__device__ __forceinline__ void tcgen05_alloc(std::uint32_t* dst, std::uint32_t columns) {
  static_assert(tcgen05::check(F) == Fault::None && !F.shared_cta);
  asm volatile(
      "{\n.reg .b64 dst;\n.reg .b32 columns;\nmov.b64 dst, %0;\nmov.b32 columns, %1;\n%2%3\n}\n" ::
          "l"(dst),
      "r"(columns), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

// `taddr` and `columns` as in the alloc that gave the address.
template <tcgen05::DeallocForm F = tcgen05::DeallocForm{}>
__device__ __forceinline__ void tcgen05_dealloc(std::uint32_t taddr, std::uint32_t columns) {
  static_assert(tcgen05::check(F) == Fault::None);
  asm volatile(
      "{\n.reg .b32 taddr, columns;\nmov.b32 taddr, %0;\nmov.b32 columns, %1;\n%2%3\n}\n" ::"r"(
          taddr),
      "r"(columns), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

// This CTA allocates no more.
template <tcgen05::RelinquishForm F = tcgen05::RelinquishForm{}>
__device__ __forceinline__ void tcgen05_relinquish_alloc_permit() {
  static_assert(tcgen05::check(F) == Fault::None);
  asm volatile("%0%1" ::"C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text) : "memory");
}

// Copies from shared memory; `desc` is a shared memory descriptor.
template <tcgen05::CpForm F>
__device__ __forceinline__ void tcgen05_cp(std::uint32_t taddr, std::uint64_t desc) {
  static_assert(tcgen05::check(F) == Fault::None);
  asm volatile(
      "{\n.reg .b32 taddr;\n.reg .b64 desc;\nmov.b32 taddr, %0;\nmov.b64 desc, %1;\n%2%3\n}\n" ::
          "r"(taddr),
      "l"(desc), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

// Moves rows down by one.
template <tcgen05::ShiftForm F = tcgen05::ShiftForm{}>
__device__ __forceinline__ void tcgen05_shift(std::uint32_t taddr) {
  static_assert(tcgen05::check(F) == Fault::None);
  asm volatile("{\n.reg .b32 taddr;\nmov.b32 taddr, %0;\n%1%2\n}\n" ::"r"(taddr),
               "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
               : "memory");
}

// The mbarrier gets one arrival when all earlier mma, cp and shift of this thread are complete;
// `mbar` is an address in the shared window of the cluster.
template <tcgen05::CommitForm F = tcgen05::CommitForm{}>
__device__ __forceinline__ void tcgen05_commit(std::uint32_t mbar) {
  static_assert(tcgen05::check(F) == Fault::None && !F.multicast && F.shared_cluster);
  asm volatile("{\n.reg .b32 mbar;\nmov.b32 mbar, %0;\n%1%2\n}\n" ::"r"(mbar),
               "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
               : "memory");
}

// As above, with a generic address.
template <tcgen05::CommitForm F>
__device__ __forceinline__ void tcgen05_commit(const void* mbar) {
  static_assert(tcgen05::check(F) == Fault::None && !F.multicast && !F.shared_cluster);
  asm volatile("{\n.reg .b64 mbar;\nmov.b64 mbar, %0;\n%1%2\n}\n" ::"l"(mbar),
               "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
               : "memory");
}

// The mbarriers at the same offset in every CTA of the cluster whose bit is set in `mask`.
template <tcgen05::CommitForm F>
__device__ __forceinline__ void tcgen05_commit(std::uint32_t mbar, std::uint16_t mask) {
  static_assert(tcgen05::check(F) == Fault::None && F.multicast && F.shared_cluster);
  asm volatile(
      "{\n.reg .b32 mbar;\n.reg .b16 mask;\nmov.b32 mbar, %0;\nmov.b16 mask, %1;\n%2%3\n}\n" ::"r"(
          mbar),
      "h"(mask), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

template <tcgen05::CommitForm F>
__device__ __forceinline__ void tcgen05_commit(const void* mbar, std::uint16_t mask) {
  static_assert(tcgen05::check(F) == Fault::None && F.multicast && !F.shared_cluster);
  asm volatile(
      "{\n.reg .b64 mbar;\n.reg .b16 mask;\nmov.b64 mbar, %0;\nmov.b16 mask, %1;\n%2%3\n}\n" ::"l"(
          mbar),
      "h"(mask), "C"(detail::Opcode<F>::text), "C"(detail::Whole<F, 0>::text)
      : "memory");
}

}  // namespace tcq::ptx
