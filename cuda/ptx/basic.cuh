// One function = one PTX instruction: what stands around a wgmma. No logic, no layout.
//
// Shared-memory addresses are addresses in the shared window (32 bits), as descriptors hold them.
// The order that a warpgroup keeps: write operands, fence_proxy_async_shared(), barrier;
// wgmma_fence(), mma<...>() (wgmma.cuh) as often as needed, wgmma_commit_group(),
// wgmma_wait_group<0>(), pin(d), read d. Which lane addresses which row of ldmatrix and stmatrix:
// sim/isa/base/matrix_fragment.h.
#pragma once

#include <cstdint>

#include "sim/isa/base/matrix_fragment.h"

namespace tcq::ptx {

// Not an instruction: the shared-window address of an object in shared memory.
__device__ __forceinline__ std::uint32_t shared_address(const void* object) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(object));
}

// Not an instruction: the compiler may move no computation on `registers` across this point. Put it
// between wgmma_wait_group and the first use of D: an accumulator is an ordinary variable to the
// compiler, which does not know that only the wait makes its value valid.
template <int Count>
__device__ __forceinline__ void pin(std::uint32_t (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

// Called by a whole warp: true in one lane, the same one each time. Source: PTX ISA 9.2, 9.7.13.14 "elect.sync".
// Of what stands behind it ptxas knows that a single thread executes it, which it does not of a thread that is chosen by its
// number (seen in SASS of ptxas 13.0.88: cuda/NOTES.md, "the producer's warp").
__device__ __forceinline__ bool elect_one() {
  std::uint32_t elected;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(elected));
  return elected != 0;
}

// Source: PTX ISA 9.2, 9.7.15.7.1.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Source: PTX ISA 9.2, 9.7.15.7.2.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Returns when at most the `Pending` youngest wgmma-groups are incomplete.
// Source: PTX ISA 9.2, 9.7.15.7.3.
template <int Pending>
__device__ __forceinline__ void wgmma_wait_group() {
  static_assert(Pending >= 0);
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Makes this thread's writes to the CTA's shared memory visible to wgmma and TMA (async proxy).
// Source: PTX ISA 9.2, 9.7.13.4 "membar, fence".
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Eight bytes to an address in the shared window that is a multiple of 8.
// Source: PTX ISA 9.2, "st".
__device__ __forceinline__ void store_shared(std::uint32_t address, std::uint32_t low,
                                             std::uint32_t high) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(low), "r"(high) : "memory");
}

// Four bytes at an address in the shared window.
__device__ __forceinline__ void store_shared(std::uint32_t address, std::uint32_t word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}

// Sixteen bytes to an address in the shared window that is a multiple of 16.
__device__ __forceinline__ void store_shared(std::uint32_t address,
                                             const std::uint32_t (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// The low half of `word`.
__device__ __forceinline__ void store_shared_half(std::uint32_t address, std::uint32_t word) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(static_cast<std::uint16_t>(word))
               : "memory");
}

// The low byte of `word`.
__device__ __forceinline__ void store_shared_byte(std::uint32_t address, std::uint32_t word) {
  asm volatile("st.shared.b8 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}

// Source: PTX ISA 9.2, "ld".
__device__ __forceinline__ std::uint32_t load_shared(std::uint32_t address) {
  std::uint32_t word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}

// Of an address that is a multiple of 16.
__device__ __forceinline__ void load_shared(std::uint32_t address, std::uint32_t (&words)[4]) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address)
               : "memory");
}

// Of an address that is a multiple of 8.
__device__ __forceinline__ void load_shared(std::uint32_t address, float& low, float& high) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(low), "=f"(high)
               : "r"(address)
               : "memory");
}

// Eight bytes that release to all threads of the device what this one has written or come to know.
// Source: PTX ISA 9.2, "st"; 8.8 "release and acquire patterns".
__device__ __forceinline__ void store_release(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// Acquires what was released with the value that it answers.
__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// Four bytes into the register that holds `word`.
__device__ __forceinline__ void load_global(const std::uint32_t* from, std::uint32_t& word) {
  asm volatile("ld.global.b32 %0, [%1];" : "+r"(word) : "l"(from) : "memory");
}

// For templates whose words lie in registers on any machine (cuda/gemm/unaligned.h).
struct Funnel {
  // The 32 bits that begin `rest` behind the beginning of `low`, of which `high` has the last.
  // Source: PTX ISA 9.2, "shf".
  static __device__ __forceinline__ std::uint32_t behind(std::uint32_t low, std::uint32_t high,
                                                         unsigned rest) {
    return __funnelshift_r(low, high, rest);
  }
};

// Barrier `barrier` of the CTA over `threads` threads, a multiple of the warp size.
// Source: PTX ISA 9.2, 9.7.13.1 "bar, barrier".
__device__ __forceinline__ void bar_sync(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// As above without waiting.
__device__ __forceinline__ void bar_arrive(std::uint32_t barrier, std::uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// As bar_sync(); true if `vote` is true in every thread.
__device__ __forceinline__ bool bar_red_and(std::uint32_t barrier, std::uint32_t threads,
                                            bool vote) {
  std::uint32_t all;
  asm volatile(
      "{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nbar.red.and.pred q, %2, %3, p;\n"
      "selp.u32 %0, 1, 0, q;\n}"
      : "=r"(all)
      : "r"(static_cast<std::uint32_t>(vote)), "r"(barrier), "r"(threads)
      : "memory");
  return all != 0;
}

// Changes how many registers a thread of this warpgroup may use; inc waits until the CTA has them.
// Source: PTX ISA 9.2, 9.7.19.5 "setmaxnreg".
template <int Registers>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(Registers >= 24 && Registers <= 256);  // and a multiple of 8: ptxas checks
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

template <int Registers>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(Registers >= 24 && Registers <= 256);  // and a multiple of 8: ptxas checks
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

enum class Trans : bool { No, Yes };

// The qualifier of a transposed ldmatrix or stmatrix, as text for inline assembly.
template <Trans>
struct TransText {
  static constexpr char text[] = "";
};
template <>
struct TransText<Trans::Yes> {
  static constexpr char text[] = ".trans";
};

// Reads Count matrices of 8 x 8 16-bit elements from the row addresses that the lanes give.
// Source: PTX ISA 9.2, 9.7.14.5.15.
template <Trans T = Trans::No, int Count>
__device__ __forceinline__ void ldmatrix(std::uint32_t (&matrices)[Count],
                                         std::uint32_t row_address) {
  static_assert(matrix::count_exists(Count), "ldmatrix moves 1, 2 or 4 matrices");
  if constexpr (Count == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1%2.shared.b16 {%0}, [%1];"
                 : "=r"(matrices[0])
                 : "r"(row_address), "C"(TransText<T>::text)
                 : "memory");
  } else if constexpr (Count == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2%3.shared.b16 {%0, %1}, [%2];"
                 : "=r"(matrices[0]), "=r"(matrices[1])
                 : "r"(row_address), "C"(TransText<T>::text)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4%5.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
                 : "r"(row_address), "C"(TransText<T>::text)
                 : "memory");
  }
}

// Writes Count matrices of 8 x 8 16-bit elements to the row addresses that the lanes give.
// Source: PTX ISA 9.2, 9.7.14.5.16.
template <Trans T = Trans::No, int Count>
__device__ __forceinline__ void stmatrix(std::uint32_t row_address,
                                         const std::uint32_t (&matrices)[Count]) {
  static_assert(matrix::count_exists(Count), "stmatrix moves 1, 2 or 4 matrices");
  if constexpr (Count == 1) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1%2.shared.b16 [%0], {%1};" ::"r"(row_address),
                 "r"(matrices[0]), "C"(TransText<T>::text)
                 : "memory");
  } else if constexpr (Count == 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2%3.shared.b16 [%0], {%1, %2};" ::"r"(row_address),
                 "r"(matrices[0]), "r"(matrices[1]), "C"(TransText<T>::text)
                 : "memory");
  } else {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4%5.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row_address),
        "r"(matrices[0]), "r"(matrices[1]), "r"(matrices[2]), "r"(matrices[3]),
        "C"(TransText<T>::text)
        : "memory");
  }
}

}  // namespace tcq::ptx
