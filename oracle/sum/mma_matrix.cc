// Lines are packed once for all outputs; packed kinds are, instruction by instruction. See mma_matrix.h.
#include "oracle/sum/mma_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/tcgen05_mma.h"
#include "sim/num/dot.h"
#include "sim/num/fast/chain.h"
#include "sim/num/fast/packed.h"

namespace tcq::oracle {
namespace {

std::size_t at(int row, int count) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(count);
}

void refuse_sparse(bool sparse, const Question& question) {
  if (sparse)
    throw UnmodelledError(
        fmt::format("{} is sparse: expected a dense instruction with matrices; sparse ones are "
                    "asked line by line",
                    question.words[0]));
}

fast::Lines packed(const fast::Instruction& in, fast::Side side, int count, int k,
                   const std::vector<std::uint32_t>& words,
                   const std::vector<std::uint8_t>& scales) {
  fast::Lines lines(in, side, count, k);
  for (int line = 0; line < count; ++line)
    std::copy_n(words.data() + at(line, k), k, lines.words(line));
  lines.scales = scales;
  lines.pack();
  return lines;
}

}  // namespace

MatrixMma::MatrixMma(const Question& question) {
  word_at(question, 0, mnemonic_expected);
  const std::span<const std::string_view> words = words_from(question, 1);
  if (is_tcgen05(question.words[0])) {
    form_ = dot_form_of(question, Keys(words, tcgen05_keys));
    const tcgen05::InstructionDescriptor& idesc = form_.idesc;
    refuse_sparse(form_.opcode.sparse, question);
    in_.types = {idesc.d, idesc.a, idesc.b};
    in_.products = tcgen05::products(form_.opcode.kind);
    if (!is_packed_4bit(form_.opcode.kind))
      in_ = fast::tcgen05_instruction(form_.opcode.kind, in_.types);
    in_.negate_a = idesc.negate_a;
    in_.negate_b = idesc.negate_b;
    in_.saturate = idesc.saturate;
    in_.scale_c = form_.scale_input_d;
    accumulate_ = form_.accumulate;
    scales_ = tcgen05::scale_count(form_.opcode);
    return;
  }
  constexpr std::array<std::string_view, 3> keys = {"accumulate", "negate_a", "negate_b"};
  const Instruction instruction = instruction_of(question, Keys(words, keys));
  const wgmma::Form& form = instruction.form;
  refuse_sparse(form.sparse, question);
  in_ = fast::wgmma_instruction({form.d, form.a, form.b});
  in_.negate_a = form.negate_a;
  in_.negate_b = form.negate_b;
  in_.saturate = form.satfinite;
  accumulate_ = instruction.accumulate;
}

int MatrixMma::instructions(int k) const { return (k + in_.products - 1) / in_.products; }

void MatrixMma::advance(MmaMatrices& m) const {
  if (!accumulate_) std::fill(m.d.begin(), m.d.end(), 0);
  if (m.m == 0 || m.n == 0 || m.k == 0) return;
  if (in_.types.a == Type::b1) return advance_bits(m);
  if (scales_ > 1) return advance_packed(m);
  fast::advance(in_, packed(in_, fast::Side::Rows, m.m, m.k, m.a, m.scales_a),
                packed(in_, fast::Side::Columns, m.n, m.k, m.b, m.scales_b), {m.d.data(), m.n});
}

void MatrixMma::advance_bits(MmaMatrices& m) const {
  for (int i = 0; i < m.m; ++i)
    for (int j = 0; j < m.n; ++j) {
      std::uint32_t& d = m.d[at(i, m.n) + at(j, 1)];
      d = dot(in_.types, m.a.data() + at(i, m.k), m.b.data() + at(j, m.k), m.k, d, {});
    }
}

void MatrixMma::advance_packed(MmaMatrices& m) const {
  using tcgen05::packed_products;
  const int count = instructions(m.k);
  const auto line = [&](const std::vector<std::uint32_t>& words, bool negate,
                        const std::vector<std::uint8_t>& scales, int row, int instruction) {
    std::array<std::uint32_t, packed_products> elements{};
    const int first = instruction * packed_products;
    std::copy_n(words.data() + at(row, m.k) + first, std::min(packed_products, m.k - first),
                elements.begin());
    return fast::packed_row(elements.data(), negate, form_.idesc.scale_type,
                            scales.data() + at(row, count * scales_) + at(instruction, scales_),
                            scale_block(form_.opcode));
  };
  for (int instruction = 0; instruction < count; ++instruction) {
    fast::PackedLines rows(fast::Side::Rows, m.m);
    fast::PackedLines columns(fast::Side::Columns, m.n);
    for (int i = 0; i < m.m; ++i)
      rows.set(i, line(m.a, form_.idesc.negate_a, m.scales_a, i, instruction));
    for (int j = 0; j < m.n; ++j)
      columns.set(j, line(m.b, form_.idesc.negate_b, m.scales_b, j, instruction));
    fast::advance_packed(form_, rows, columns, {m.d.data(), m.n});
  }
}

}  // namespace tcq::oracle
