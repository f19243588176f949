// The inline assembly of wgmma: one statement per count of D registers and operand pattern.
//
// Generates issue<Opcode, Tail>(d, a, b, accumulate [, metadata]) for the 48 counts that exist,
// with A as a descriptor or in four registers, dense or sparse: 192 statements that differ in
// nothing but the numbers of their operands. `Opcode::text` and `Tail::text` are arrays of char
// with everything that depends on the form; the "C" constraint pastes them. Read wgmma.cuh first,
// the only user.
#pragma once

#include <cstdint>

#include "sim/isa/wgmma/fragment.h"

namespace tcq::ptx::detail {

// clang-format off
// TCQ_REST_n(X) is X(1) X(2) ... X(n - 1).
#define TCQ_REST_2(X) X(1)
#define TCQ_REST_4(X) TCQ_REST_2(X) X(2) X(3)
#define TCQ_REST_6(X) TCQ_REST_4(X) X(4) X(5)
#define TCQ_REST_8(X) TCQ_REST_6(X) X(6) X(7)
#define TCQ_REST_10(X) TCQ_REST_8(X) X(8) X(9)
#define TCQ_REST_12(X) TCQ_REST_10(X) X(10) X(11)
#define TCQ_REST_14(X) TCQ_REST_12(X) X(12) X(13)
#define TCQ_REST_16(X) TCQ_REST_14(X) X(14) X(15)
#define TCQ_REST_18(X) TCQ_REST_16(X) X(16) X(17)
#define TCQ_REST_20(X) TCQ_REST_18(X) X(18) X(19)
#define TCQ_REST_22(X) TCQ_REST_20(X) X(20) X(21)
#define TCQ_REST_24(X) TCQ_REST_22(X) X(22) X(23)
#define TCQ_REST_26(X) TCQ_REST_24(X) X(24) X(25)
#define TCQ_REST_28(X) TCQ_REST_26(X) X(26) X(27)
#define TCQ_REST_30(X) TCQ_REST_28(X) X(28) X(29)
#define TCQ_REST_32(X) TCQ_REST_30(X) X(30) X(31)
#define TCQ_REST_34(X) TCQ_REST_32(X) X(32) X(33)
#define TCQ_REST_36(X) TCQ_REST_34(X) X(34) X(35)
#define TCQ_REST_38(X) TCQ_REST_36(X) X(36) X(37)
#define TCQ_REST_40(X) TCQ_REST_38(X) X(38) X(39)
#define TCQ_REST_42(X) TCQ_REST_40(X) X(40) X(41)
#define TCQ_REST_44(X) TCQ_REST_42(X) X(42) X(43)
#define TCQ_REST_46(X) TCQ_REST_44(X) X(44) X(45)
#define TCQ_REST_48(X) TCQ_REST_46(X) X(46) X(47)
#define TCQ_REST_50(X) TCQ_REST_48(X) X(48) X(49)
#define TCQ_REST_52(X) TCQ_REST_50(X) X(50) X(51)
#define TCQ_REST_54(X) TCQ_REST_52(X) X(52) X(53)
#define TCQ_REST_56(X) TCQ_REST_54(X) X(54) X(55)
#define TCQ_REST_58(X) TCQ_REST_56(X) X(56) X(57)
#define TCQ_REST_60(X) TCQ_REST_58(X) X(58) X(59)
#define TCQ_REST_62(X) TCQ_REST_60(X) X(60) X(61)
#define TCQ_REST_64(X) TCQ_REST_62(X) X(62) X(63)
#define TCQ_REST_68(X) TCQ_REST_64(X) X(64) X(65) X(66) X(67)
#define TCQ_REST_72(X) TCQ_REST_68(X) X(68) X(69) X(70) X(71)
#define TCQ_REST_76(X) TCQ_REST_72(X) X(72) X(73) X(74) X(75)
#define TCQ_REST_80(X) TCQ_REST_76(X) X(76) X(77) X(78) X(79)
#define TCQ_REST_84(X) TCQ_REST_80(X) X(80) X(81) X(82) X(83)
#define TCQ_REST_88(X) TCQ_REST_84(X) X(84) X(85) X(86) X(87)
#define TCQ_REST_92(X) TCQ_REST_88(X) X(88) X(89) X(90) X(91)
#define TCQ_REST_96(X) TCQ_REST_92(X) X(92) X(93) X(94) X(95)
#define TCQ_REST_100(X) TCQ_REST_96(X) X(96) X(97) X(98) X(99)
#define TCQ_REST_104(X) TCQ_REST_100(X) X(100) X(101) X(102) X(103)
#define TCQ_REST_108(X) TCQ_REST_104(X) X(104) X(105) X(106) X(107)
#define TCQ_REST_112(X) TCQ_REST_108(X) X(108) X(109) X(110) X(111)
#define TCQ_REST_116(X) TCQ_REST_112(X) X(112) X(113) X(114) X(115)
#define TCQ_REST_120(X) TCQ_REST_116(X) X(116) X(117) X(118) X(119)
#define TCQ_REST_124(X) TCQ_REST_120(X) X(120) X(121) X(122) X(123)
#define TCQ_REST_128(X) TCQ_REST_124(X) X(124) X(125) X(126) X(127)

// The operands after the R registers of D have the numbers R = scale-d, O = opcode, T = tail,
// B = descriptor of B, then those of A and the metadata. `a_b` is their text, the rest are they.
#define TCQ_NAME(i) ", %" #i
#define TCQ_REGISTER(i) , "+r"(d[i])
#define TCQ_ASM(R, O, T, a_b, ...)                                                                 \
  asm volatile("{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, %" #R ", 0;\n%" #O              \
               " {%0" TCQ_REST_##R(TCQ_NAME) "}, " a_b "%" #T "\n}\n"                              \
               : "+r"(d[0]) TCQ_REST_##R(TCQ_REGISTER)                                             \
               : "r"(accumulate), "C"(Opcode::text), "C"(Tail::text), "l"(b),                      \
                 __VA_ARGS__)

#define TCQ_WGMMA(R, O, T, B, A0, A1, A2, A3, E)                                                   \
  template <class Opcode, class Tail>                                                              \
  __device__ __forceinline__ void issue(std::uint32_t (&d)[R], std::uint64_t a, std::uint64_t b,   \
                                        std::uint32_t accumulate) {                                \
    TCQ_ASM(R, O, T, "%" #A0 ", %" #B, "l"(a));                                                    \
  }                                                                                                \
  template <class Opcode, class Tail>                                                              \
  __device__ __forceinline__ void issue(std::uint32_t (&d)[R], std::uint64_t a, std::uint64_t b,   \
                                        std::uint32_t accumulate, std::uint32_t metadata) {        \
    TCQ_ASM(R, O, T, "%" #A0 ", %" #B ", %" #A1, "l"(a), "r"(metadata));                           \
  }                                                                                                \
  template <class Opcode, class Tail>                                                              \
  __device__ __forceinline__ void issue(std::uint32_t (&d)[R],                                     \
                                        const std::uint32_t (&a)[wgmma::a_registers],              \
                                        std::uint64_t b, std::uint32_t accumulate) {               \
    TCQ_ASM(R, O, T, "{%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B,                             \
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));                                           \
  }                                                                                                \
  template <class Opcode, class Tail>                                                              \
  __device__ __forceinline__ void issue(std::uint32_t (&d)[R],                                     \
                                        const std::uint32_t (&a)[wgmma::a_registers],              \
                                        std::uint64_t b, std::uint32_t accumulate,                 \
                                        std::uint32_t metadata) {                                  \
    TCQ_ASM(R, O, T, "{%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", %" #E,                    \
            "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(metadata));                            \
  }

TCQ_WGMMA(2, 3, 4, 5, 6, 7, 8, 9, 10)               TCQ_WGMMA(4, 5, 6, 7, 8, 9, 10, 11, 12)
TCQ_WGMMA(6, 7, 8, 9, 10, 11, 12, 13, 14)           TCQ_WGMMA(8, 9, 10, 11, 12, 13, 14, 15, 16)
TCQ_WGMMA(10, 11, 12, 13, 14, 15, 16, 17, 18)       TCQ_WGMMA(12, 13, 14, 15, 16, 17, 18, 19, 20)
TCQ_WGMMA(14, 15, 16, 17, 18, 19, 20, 21, 22)       TCQ_WGMMA(16, 17, 18, 19, 20, 21, 22, 23, 24)
TCQ_WGMMA(18, 19, 20, 21, 22, 23, 24, 25, 26)       TCQ_WGMMA(20, 21, 22, 23, 24, 25, 26, 27, 28)
TCQ_WGMMA(22, 23, 24, 25, 26, 27, 28, 29, 30)       TCQ_WGMMA(24, 25, 26, 27, 28, 29, 30, 31, 32)
TCQ_WGMMA(26, 27, 28, 29, 30, 31, 32, 33, 34)       TCQ_WGMMA(28, 29, 30, 31, 32, 33, 34, 35, 36)
TCQ_WGMMA(30, 31, 32, 33, 34, 35, 36, 37, 38)       TCQ_WGMMA(32, 33, 34, 35, 36, 37, 38, 39, 40)
TCQ_WGMMA(34, 35, 36, 37, 38, 39, 40, 41, 42)       TCQ_WGMMA(36, 37, 38, 39, 40, 41, 42, 43, 44)
TCQ_WGMMA(38, 39, 40, 41, 42, 43, 44, 45, 46)       TCQ_WGMMA(40, 41, 42, 43, 44, 45, 46, 47, 48)
TCQ_WGMMA(42, 43, 44, 45, 46, 47, 48, 49, 50)       TCQ_WGMMA(44, 45, 46, 47, 48, 49, 50, 51, 52)
TCQ_WGMMA(46, 47, 48, 49, 50, 51, 52, 53, 54)       TCQ_WGMMA(48, 49, 50, 51, 52, 53, 54, 55, 56)
TCQ_WGMMA(50, 51, 52, 53, 54, 55, 56, 57, 58)       TCQ_WGMMA(52, 53, 54, 55, 56, 57, 58, 59, 60)
TCQ_WGMMA(54, 55, 56, 57, 58, 59, 60, 61, 62)       TCQ_WGMMA(56, 57, 58, 59, 60, 61, 62, 63, 64)
TCQ_WGMMA(58, 59, 60, 61, 62, 63, 64, 65, 66)       TCQ_WGMMA(60, 61, 62, 63, 64, 65, 66, 67, 68)
TCQ_WGMMA(62, 63, 64, 65, 66, 67, 68, 69, 70)       TCQ_WGMMA(64, 65, 66, 67, 68, 69, 70, 71, 72)
TCQ_WGMMA(68, 69, 70, 71, 72, 73, 74, 75, 76)       TCQ_WGMMA(72, 73, 74, 75, 76, 77, 78, 79, 80)
TCQ_WGMMA(76, 77, 78, 79, 80, 81, 82, 83, 84)       TCQ_WGMMA(80, 81, 82, 83, 84, 85, 86, 87, 88)
TCQ_WGMMA(84, 85, 86, 87, 88, 89, 90, 91, 92)       TCQ_WGMMA(88, 89, 90, 91, 92, 93, 94, 95, 96)
TCQ_WGMMA(92, 93, 94, 95, 96, 97, 98, 99, 100)
TCQ_WGMMA(96, 97, 98, 99, 100, 101, 102, 103, 104)
TCQ_WGMMA(100, 101, 102, 103, 104, 105, 106, 107, 108)
TCQ_WGMMA(104, 105, 106, 107, 108, 109, 110, 111, 112)
TCQ_WGMMA(108, 109, 110, 111, 112, 113, 114, 115, 116)
TCQ_WGMMA(112, 113, 114, 115, 116, 117, 118, 119, 120)
TCQ_WGMMA(116, 117, 118, 119, 120, 121, 122, 123, 124)
TCQ_WGMMA(120, 121, 122, 123, 124, 125, 126, 127, 128)
TCQ_WGMMA(124, 125, 126, 127, 128, 129, 130, 131, 132)
TCQ_WGMMA(128, 129, 130, 131, 132, 133, 134, 135, 136)

#undef TCQ_WGMMA
#undef TCQ_ASM
#undef TCQ_REGISTER
#undef TCQ_NAME
#undef TCQ_REST_2
#undef TCQ_REST_4
#undef TCQ_REST_6
#undef TCQ_REST_8
#undef TCQ_REST_10
#undef TCQ_REST_12
#undef TCQ_REST_14
#undef TCQ_REST_16
#undef TCQ_REST_18
#undef TCQ_REST_20
#undef TCQ_REST_22
#undef TCQ_REST_24
#undef TCQ_REST_26
#undef TCQ_REST_28
#undef TCQ_REST_30
#undef TCQ_REST_32
#undef TCQ_REST_34
#undef TCQ_REST_36
#undef TCQ_REST_38
#undef TCQ_REST_40
#undef TCQ_REST_42
#undef TCQ_REST_44
#undef TCQ_REST_46
#undef TCQ_REST_48
#undef TCQ_REST_50
#undef TCQ_REST_52
#undef TCQ_REST_54
#undef TCQ_REST_56
#undef TCQ_REST_58
#undef TCQ_REST_60
#undef TCQ_REST_62
#undef TCQ_REST_64
#undef TCQ_REST_68
#undef TCQ_REST_72
#undef TCQ_REST_76
#undef TCQ_REST_80
#undef TCQ_REST_84
#undef TCQ_REST_88
#undef TCQ_REST_92
#undef TCQ_REST_96
#undef TCQ_REST_100
#undef TCQ_REST_104
#undef TCQ_REST_108
#undef TCQ_REST_112
#undef TCQ_REST_116
#undef TCQ_REST_120
#undef TCQ_REST_124
#undef TCQ_REST_128
// clang-format on

}  // namespace tcq::ptx::detail
