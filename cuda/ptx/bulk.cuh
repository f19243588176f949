// One function = one PTX instruction: bulk copies and reductions without a tensor map. No logic.
//
// Shared-memory addresses are 32-bit addresses in the shared window of the CTA or, for `remote`
// ones, of the cluster (map_shared() in cuda/ptx/async.cuh); global ones are pointers. Sizes are bytes. Order of
// instructions: cuda/ptx/async.cuh; what they move: sim/machine/bulk.h.
//
// Source: PTX ISA 9.2, 9.7.9.25.4.1 "cp.async.bulk", 9.7.9.25.4.2 "cp.reduce.async.bulk".
#pragma once

#include <cstdint>

#include "cuda/ptx/async.cuh"
#include "sim/isa/copy/bulk_copy.h"

namespace tcq::ptx {

__device__ __forceinline__ void bulk_load(std::uint32_t to, const void* from, std::uint32_t bytes,
                                          std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Into every CTA of the cluster whose bit is set in `mask`.
__device__ __forceinline__ void bulk_load_multicast(std::uint32_t to, const void* from,
                                                    std::uint32_t bytes, std::uint32_t barrier,
                                                    std::uint16_t mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(mask)
      : "memory");
}

__device__ __forceinline__ void bulk_store(void* to, std::uint32_t from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}

// To another CTA; its mbarrier counts the bytes.
__device__ __forceinline__ void bulk_send(std::uint32_t remote, std::uint32_t from,
                                          std::uint32_t bytes, std::uint32_t remote_barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(remote),
      "r"(from), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

// The element type's qualifier, as text for inline assembly: .b32 and .b64 for bitwise operations,
// .noftz before the 16-bit types of a sum.
enum class Spelling { Number, Bits, Noftz };

HOST_DEVICE constexpr Spelling spelling(tma::Reduction op, tma::DataType type) {
  if (op == tma::Reduction::And || op == tma::Reduction::Or || op == tma::Reduction::Xor)
    return Spelling::Bits;
  const bool is_16_bit = type == tma::DataType::Float16 || type == tma::DataType::BFloat16;
  return op == tma::Reduction::Add && is_16_bit ? Spelling::Noftz : Spelling::Number;
}

template <tma::DataType Type, Spelling>
struct TypeText;
template <>
struct TypeText<tma::DataType::UInt32, Spelling::Number> {
  static constexpr char text[] = "u32";
};
template <>
struct TypeText<tma::DataType::Int32, Spelling::Number> {
  static constexpr char text[] = "s32";
};
template <>
struct TypeText<tma::DataType::UInt64, Spelling::Number> {
  static constexpr char text[] = "u64";
};
template <>
struct TypeText<tma::DataType::Int64, Spelling::Number> {
  static constexpr char text[] = "s64";
};
template <>
struct TypeText<tma::DataType::Float16, Spelling::Number> {
  static constexpr char text[] = "f16";
};
template <>
struct TypeText<tma::DataType::BFloat16, Spelling::Number> {
  static constexpr char text[] = "bf16";
};
template <>
struct TypeText<tma::DataType::Float32, Spelling::Number> {
  static constexpr char text[] = "f32";
};
template <>
struct TypeText<tma::DataType::Float64, Spelling::Number> {
  static constexpr char text[] = "f64";
};
template <>
struct TypeText<tma::DataType::Float16, Spelling::Noftz> {
  static constexpr char text[] = "noftz.f16";
};
template <>
struct TypeText<tma::DataType::BFloat16, Spelling::Noftz> {
  static constexpr char text[] = "noftz.bf16";
};
template <>
struct TypeText<tma::DataType::UInt32, Spelling::Bits> {
  static constexpr char text[] = "b32";
};
template <>
struct TypeText<tma::DataType::Int32, Spelling::Bits> {
  static constexpr char text[] = "b32";
};
template <>
struct TypeText<tma::DataType::UInt64, Spelling::Bits> {
  static constexpr char text[] = "b64";
};

template <tma::Reduction Op, tma::DataType Type>
__device__ __forceinline__ void bulk_reduce(void* to, std::uint32_t from, std::uint32_t bytes) {
  static_assert(bulk::check_global(Op, Type) == Fault::None);
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.%3.%4 [%0], [%1], %2;" ::"l"(to),
               "r"(from), "r"(bytes), "C"(ReductionText<Op>::text),
               "C"(TypeText<Type, spelling(Op, Type)>::text)
               : "memory");
}

template <tma::Reduction Op, tma::DataType Type>
__device__ __forceinline__ void bulk_send_reduce(std::uint32_t remote, std::uint32_t from,
                                                 std::uint32_t bytes,
                                                 std::uint32_t remote_barrier) {
  static_assert(bulk::check_shared(Op, Type) == Fault::None);
  asm volatile(
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%4.%5 "
      "[%0], [%1], %2, [%3];" ::"r"(remote),
      "r"(from), "r"(bytes), "r"(remote_barrier), "C"(ReductionText<Op>::text),
      "C"(TypeText<Type, spelling(Op, Type)>::text)
      : "memory");
}

}  // namespace tcq::ptx
