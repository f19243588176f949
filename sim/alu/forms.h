// Every form of an instruction on registers that sm_90a has and the ALU computes: what tests, probes and recordings
// go through.
//
// Decides which forms exist and which operands each has; what they compute is operation()'s (alu.h), how operands
// stand in a kernel is cuda/probe/scalar_text_sm90.h's. A spelling is an opcode with its words in the order of its row
// (sim/ptx/opcode_table.h); behind it may stand, after a space, what the words do not say: the immediate of lop3
// ("lop3.b32 150"), or with whose condition code a sum is told ("subc.u32 carry"). Example: "add.rn.f32" has one
// result and two sources, all F32.
//
// mma.sync and movmatrix are a list of their own: what they read are fragments of 32 lanes, each register of a fragment is
// an operand here.
//
// Source: ptxas 13.0 takes these for sm_90a and no other that operation() knows (tests/silicon/scalar_ptxas_test.cc)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alu/alu.h"

namespace tcq::alu {

// What sets the condition code before a form that reads it, and reads it behind one that sets it.
enum class Chain : std::uint8_t { Carry, Borrow };

struct ScalarForm {
  ptx::Form form;
  std::vector<ptx::Type> out, in;          // in the order of the text, without the immediate
  std::optional<std::uint32_t> immediate;  // lop3's table, the source behind the first three
  Chain chain = Chain::Carry;
  bool reads_carry = false, sets_carry = false;
  std::vector<int>
      vectors;  // of mma.sync: registers of D, A, B and C; empty: no operand is a vector
};

// How tables of sources and results hold a form's rows. A source is a word of 64 bits, low bits first, two for one of
// 128 bits; a predicate is 0 or 1; a carry that is read comes last. All results of a row are as wide as the widest of
// them, a predicate counting as 16 bits, one of 128 as two; a carry that is set comes last.
int source_words(const ScalarForm& form);
int result_bytes(const ScalarForm& form);  // of one result: 2, 4 or 8
int result_count(const ScalarForm& form);

// All spellings, each once: of a lane's registers, and of matrices in those of a warp.
const std::vector<std::string>& scalar_forms();
const std::vector<std::string>& matrix_forms();

// Among scalar_forms(), whatever lop3's table and the chain? read_form() and the ALU take more: words that no instruction has
// together, and forms of other targets.
bool is_scalar_form(const ptx::Form& form);

// Of any spelling whose operands are all registers or lop3's; empty for others.
std::optional<ScalarForm> read_scalar_form(std::string_view spelling);

}  // namespace tcq::alu
