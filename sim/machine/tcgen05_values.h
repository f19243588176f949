// The values of one tcgen05.mma of the asynchronous machine: which bits it takes, and D's bits.
//
// The machine gathers element bits from shared and Tensor Memory (tmem_data.cc); what comes of them
// is decided here, in one function. Example: kind f16, M = 64, N = 8: a has 64 x 16 words, b 8 x
// 16, d 64 x 8.
//
// Source: PTX ISA 9.2, 9.7.16.2.1 "Matrix shape": an instruction takes 32 bytes of a row along K.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/fault.h"
#include "sim/isa/tcgen05_instr_desc.h"
#include "sim/isa/tmem_operand.h"

namespace tcq::tcgen05 {

inline constexpr int k_row_bytes = 32;

// Elements along K of a dense instruction.
constexpr int dense_k(Kind kind) { return 8 * k_row_bytes / tmem_container_bits(kind); }

// Stored elements that share a scale factor; 0 for kinds without.
constexpr int scale_factor_block(const MmaOpcode& opcode) {
  if (!is_block_scaled(opcode.kind)) return 0;
  const ScaleVec v = opcode.scale_vec;
  return v == ScaleVec::X4 || v == ScaleVec::Block16 ? 16 : 32;
}

constexpr int scale_factors_per_row(const MmaOpcode& opcode) {
  const int block = scale_factor_block(opcode);
  return block == 0 ? 0 : dense_k(opcode.kind) / block;
}

struct MmaValues {
  MmaOpcode opcode;
  InstructionDescriptor idesc;
  bool accumulate = false;
  std::vector<std::uint32_t> a;        // [row][k]
  std::vector<std::uint32_t> b;        // [column][k]
  std::vector<std::uint8_t> scales_a;  // [row][block]
  std::vector<std::uint8_t> scales_b;  // [column][block]
};

// `d` is C before and D after, [row][column].
Fault multiply(const MmaValues& in, std::vector<std::uint32_t>& d);

}  // namespace tcq::tcgen05
