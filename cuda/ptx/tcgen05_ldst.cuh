// tcgen05.ld, tcgen05.st, tcgen05.ld.red and their waits: registers of a warp and Tensor Memory.
//
// All lanes of the warp execute the same call with the same taddr. Which cell a register is:
// sim/isa/tcgen05/fragment.h. ld and st are asynchronous: tcgen05_wait_ld() and pin() (cuda/ptx/basic.cuh)
// stand before the first use of what ld returns, tcgen05_wait_st() before anything that reads what
// st wrote. Example, 32 columns of the warp's 32 lanes:
//
//   std::uint32_t r[32];
//   ptx::tcgen05_ld<tcgen05::LdForm{tcgen05::LdShape::S32x32b, 32}>(r, taddr);
//   ptx::tcgen05_wait_ld();
//   ptx::pin(r);
//
// HalfSplit is the immediate of shape 16x32bx2: the column offset of lanes 16 to 31.
//
// No device of compute capability 10 was at hand: all this has been compiled, not run.
// Source: PTX ISA 9.2, 9.7.16.8 "Tensor Memory and register load/store".
#pragma once

#include <cstdint>

#include "cuda/ptx/tcgen05.cuh"

namespace tcq::ptx {

// Source: PTX ISA 9.2, 9.7.16.8.5 "tcgen05.wait".
__device__ __forceinline__ void tcgen05_wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void tcgen05_wait_st() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

namespace detail {

// clang-format off
// TCQ_REST_n(X) is X(1) X(2) ... X(n - 1).
#define TCQ_REST_1(X)
#define TCQ_REST_2(X) X(1)
#define TCQ_REST_4(X) TCQ_REST_2(X) X(2) X(3)
#define TCQ_REST_8(X) TCQ_REST_4(X) X(4) X(5) X(6) X(7)
#define TCQ_REST_16(X) TCQ_REST_8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define TCQ_REST_32(X) TCQ_REST_16(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25)  \
  X(26) X(27) X(28) X(29) X(30) X(31)
#define TCQ_REST_64(X) TCQ_REST_32(X) X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) X(41)  \
  X(42) X(43) X(44) X(45) X(46) X(47) X(48) X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56) X(57)  \
  X(58) X(59) X(60) X(61) X(62) X(63)
#define TCQ_REST_128(X) TCQ_REST_64(X) X(64) X(65) X(66) X(67) X(68) X(69) X(70) X(71) X(72) X(73) \
  X(74) X(75) X(76) X(77) X(78) X(79) X(80) X(81) X(82) X(83) X(84) X(85) X(86) X(87) X(88) X(89)  \
  X(90) X(91) X(92) X(93) X(94) X(95) X(96) X(97) X(98) X(99) X(100) X(101) X(102) X(103) X(104)   \
  X(105) X(106) X(107) X(108) X(109) X(110) X(111) X(112) X(113) X(114) X(115) X(116) X(117)       \
  X(118) X(119) X(120) X(121) X(122) X(123) X(124) X(125) X(126) X(127)
#define TCQ_NAME(i) ", %" #i
#define TCQ_OUT(i) , "=r"(r[i])
#define TCQ_IN(i) , "r"(r[i])
#define TCQ_VECTOR(R) "{%0" TCQ_REST_##R(TCQ_NAME) "}"

// The operands after the R registers have the numbers R, R + 1, ... = N0, N1, ...
#define TCQ_LDST(R, N0, N1, N2, N3, N4)                                                            \
  template <class Opcode, class Before, class After>                                               \
  __device__ __forceinline__ void load(std::uint32_t (&r)[R], std::uint32_t taddr) {               \
    asm volatile("{\n.reg .b32 taddr;\nmov.b32 taddr, %" #N0 ";\n%" #N1 "%" #N2                    \
                 TCQ_VECTOR(R) "%" #N3 "\n}\n"                                                     \
                 : "=r"(r[0]) TCQ_REST_##R(TCQ_OUT)                                                \
                 : "r"(taddr), "C"(Opcode::text), "C"(Before::text), "C"(After::text)              \
                 : "memory");                                                                      \
  }                                                                                                \
  template <class Opcode, class Before, class After>                                               \
  __device__ __forceinline__ void load_and_reduce(std::uint32_t (&r)[R], std::uint32_t& reduced,   \
                                                  std::uint32_t taddr) {                           \
    asm volatile("{\n.reg .b32 taddr, reduced;\nmov.b32 taddr, %" #N1 ";\n%" #N2 "%" #N3           \
                 TCQ_VECTOR(R) "%" #N4 "\nmov.b32 %" #N0 ", reduced;\n}\n"                         \
                 : "=r"(r[0]) TCQ_REST_##R(TCQ_OUT), "=r"(reduced)                                 \
                 : "r"(taddr), "C"(Opcode::text), "C"(Before::text), "C"(After::text)              \
                 : "memory");                                                                      \
  }                                                                                                \
  template <class Opcode, class Before, class After>                                               \
  __device__ __forceinline__ void store(std::uint32_t taddr, const std::uint32_t (&r)[R]) {        \
    asm volatile("{\n.reg .b32 taddr;\nmov.b32 taddr, %" #N0 ";\n%" #N1 "%" #N2                    \
                 TCQ_VECTOR(R) "%" #N3 "\n}\n"                                                     \
                 ::"r"(r[0]) TCQ_REST_##R(TCQ_IN), "r"(taddr), "C"(Opcode::text),                  \
                 "C"(Before::text), "C"(After::text)                                               \
                 : "memory");                                                                      \
  }

TCQ_LDST(1, 1, 2, 3, 4, 5)
TCQ_LDST(2, 2, 3, 4, 5, 6)
TCQ_LDST(4, 4, 5, 6, 7, 8)
TCQ_LDST(8, 8, 9, 10, 11, 12)
TCQ_LDST(16, 16, 17, 18, 19, 20)
TCQ_LDST(32, 32, 33, 34, 35, 36)
TCQ_LDST(64, 64, 65, 66, 67, 68)
TCQ_LDST(128, 128, 129, 130, 131, 132)

#undef TCQ_LDST
#undef TCQ_VECTOR
#undef TCQ_IN
#undef TCQ_OUT
#undef TCQ_NAME
#undef TCQ_REST_1
#undef TCQ_REST_2
#undef TCQ_REST_4
#undef TCQ_REST_8
#undef TCQ_REST_16
#undef TCQ_REST_32
#undef TCQ_REST_64
#undef TCQ_REST_128
// clang-format on

}  // namespace detail

// What every function below demands of its Form.
template <auto F, int HalfSplit>
HOST_DEVICE constexpr bool ldst_exists() {
  static_assert(tcgen05::check(F) == Fault::None, "no such form; tcgen05::check(F) says why");
  static_assert(immediate_exists(F, HalfSplit), "only shape 16x32bx2 has immHalfSplitoff");
  return true;
}

// Source: PTX ISA 9.2, 9.7.16.8.3 "tcgen05.ld".
template <tcgen05::LdForm F, int HalfSplit = 0>
__device__ __forceinline__ void tcgen05_ld(std::uint32_t (&r)[tcgen05::registers(F.shape, F.num)],
                                           std::uint32_t taddr) {
  static_assert(ldst_exists<F, HalfSplit>());
  detail::load<detail::Opcode<F>, detail::Before<F, HalfSplit>, detail::After<F, HalfSplit>>(r,
                                                                                             taddr);
}

// As above; `reduced` is the minimum or maximum of the thread's registers. Not on sm_100a.
template <tcgen05::LdRedForm F, int HalfSplit = 0>
__device__ __forceinline__ void tcgen05_ld_red(
    std::uint32_t (&r)[tcgen05::registers(F.shape, F.num)], std::uint32_t& reduced,
    std::uint32_t taddr) {
  static_assert(ldst_exists<F, HalfSplit>());
  detail::load_and_reduce<detail::Opcode<F>, detail::Before<F, HalfSplit>,
                          detail::After<F, HalfSplit>>(r, reduced, taddr);
}

// Source: PTX ISA 9.2, 9.7.16.8.4 "tcgen05.st".
template <tcgen05::StForm F, int HalfSplit = 0>
__device__ __forceinline__ void tcgen05_st(
    std::uint32_t taddr, const std::uint32_t (&r)[tcgen05::registers(F.shape, F.num)]) {
  static_assert(ldst_exists<F, HalfSplit>());
  detail::store<detail::Opcode<F>, detail::Before<F, HalfSplit>, detail::After<F, HalfSplit>>(taddr,
                                                                                              r);
}

}  // namespace tcq::ptx
