// What a video instruction says, all in one word: its opcode's words, which bytes or halves of its operands it takes,
// which operands it negates.
//
// A Form has no operands' selectors, so the word stands behind the operands as a value more, a constant of 64 bits.
// Example: "vadd.s32.u32.s32.sat d, a.b1, b.h0" has parts of `a` 2, of `b` 5, `mask` 0.
//
// Source: PTX ISA 9.2, 9.7.17 "Scalar video instructions", 9.7.18 "SIMD video instructions"
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "sim/ptx/form.h"
#include "sim/ptx/syntax.h"

namespace tcq::ptx {

enum class VideoOp : std::uint8_t { Add, Sub, Absdiff, Min, Max, Avrg, Shl, Shr, Mad, Set };

struct Video {
  std::uint64_t op : 4 = 0;
  std::uint64_t parts : 3 = 1;  // 1: scalar, 2 halves, 4 bytes
  // Of a scalar one 0: the word, 1 to 4: byte 0 to 3, 5 and 6: half 0 and 1. Else three bits for each part: which of the
  // parts of a and, behind those, of b.
  std::uint64_t a : 12 = 0, b : 12 = 0;
  std::uint64_t mask : 4 = 0;   // of d: as of a scalar's a; else a bit for each part
  std::uint64_t minus : 3 = 0;  // -a, -b, -c
  std::uint64_t signed_d : 1 = 0, signed_a : 1 = 0, signed_b : 1 = 0;
  std::uint64_t saturates : 1 = 0, wraps : 1 = 0, plus_one : 1 = 0;
  std::uint64_t shift : 4 = 0;    // 0, 7, 15
  std::uint64_t second : 4 = 0;   // Operation
  std::uint64_t compare : 5 = 0;  // Compare
  std::uint64_t unused : 5 = 0;
};
static_assert(sizeof(Video) == 8);

bool is_video(Opcode opcode);
// `problem` stays empty if all is well. Requires: the operands are as many as the opcode's row has.
Video video_of(const Form& form, std::span<const Operand> operands, const Names& names,
               std::string& problem);

}  // namespace tcq::ptx
