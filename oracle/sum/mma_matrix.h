// What `mma` computes for one line, for whole matrices: rows of A times columns of B, C -> D.
//
// K is a chain of instructions over ascending k; what K does not fill of the last one are zeros. M and N are
// anything: no bit of an output depends on them. Through sim/num/fast, but for b1, whose sums are exact
// anyhow. Example: wgmma.m64n8k16.f32.bf16.bf16, a row {2.0} and a column {3.0} turn C = 0 into 0x40c00000.
// Sparse instructions are asked line by line (mma.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "sim/num/fast/instruction.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {

// Raw bits in the low part of each word.
struct MmaMatrices {
  int m = 0;
  int n = 0;
  int k = 0;
  std::vector<std::uint32_t> a;        // [m][k]
  std::vector<std::uint32_t> b;        // [n][k]
  std::vector<std::uint8_t> scales_a;  // [m][instruction][scales()]
  std::vector<std::uint8_t> scales_b;  // [n][instruction][scales()]
  std::vector<std::uint32_t> d;        // [m][n]: C, then D
};

class MatrixMma {
 public:
  // Words: a mnemonic and its keys. Throws what `mma` throws, UnmodelledError for sparse instructions.
  explicit MatrixMma(const Question& question);

  const DotTypes& types() const { return in_.types; }
  int products() const { return in_.products; }  // K of an instruction
  int scales() const { return scales_; }         // factors of a line for an instruction; 0: none
  int instructions(int k) const;

  void advance(MmaMatrices& m) const;

 private:
  void advance_bits(MmaMatrices& m) const;
  void advance_packed(MmaMatrices& m) const;

  fast::Instruction in_;
  tcgen05::DotForm form_;  // of tcgen05.mma
  bool accumulate_ = true;
  int scales_ = 0;
};

}  // namespace tcq::oracle
