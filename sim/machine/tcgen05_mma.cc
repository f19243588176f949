// Rows and columns are packed once for sim/num/fast; see tcgen05_mma.h.
#include "sim/machine/tcgen05_mma.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "sim/num/fast/chain.h"
#include "sim/num/fast/packed.h"

namespace tcq::tcgen05 {
namespace {

std::size_t index(int row, int count) { return static_cast<std::size_t>(row * count); }

// --- kinds that are not packed ---------------------------------------------------------------------

fast::Instruction sums_of(const DotForm& form) {
  const InstructionDescriptor& idesc = form.idesc;
  fast::Instruction out = fast::tcgen05_instruction(form.opcode.kind, {idesc.d, idesc.a, idesc.b});
  out.negate_a = idesc.negate_a;
  out.negate_b = idesc.negate_b;
  out.saturate = idesc.saturate;
  out.scale_c = form.scale_input_d;
  return out;
}

fast::Lines packed(const fast::Instruction& in, fast::Side side, int count,
                   const std::vector<std::uint32_t>& words,
                   const std::vector<std::uint8_t>& scales) {
  const int k = static_cast<int>(words.size()) / count;
  fast::Lines lines(in, side, count, k);
  for (int line = 0; line < count; ++line)
    std::copy_n(words.begin() + line * k, k, lines.words(line));
  // One for each instruction's K; the columns of a sparse A have twice that.
  for (const std::uint8_t scale : scales)
    lines.scales.insert(lines.scales.end(), static_cast<std::size_t>(lines.k() / in.products),
                        scale);
  lines.pack();
  return lines;
}

void run_unpacked(const MmaTile& tile, std::vector<std::uint32_t>& d) {
  const fast::Instruction in = sums_of(tile.form);
  const InstructionDescriptor& idesc = tile.form.idesc;
  const fast::Lines rows = packed(in, fast::Side::Rows, idesc.m, tile.a, tile.scales_a);
  const fast::Lines columns = packed(in, fast::Side::Columns, idesc.n, tile.b, tile.scales_b);
  if (!tile.form.accumulate) std::fill(d.begin(), d.end(), 0);
  if (tile.form.opcode.sparse)
    fast::advance_sparse(in, rows, columns, tile.selected_k.data(), {d.data(), idesc.n});
  else
    fast::advance(in, rows, columns, {d.data(), idesc.n});
}

// --- packed kinds ----------------------------------------------------------------------------------

PackedRow decoded(const DotForm& form, bool negate, const std::uint32_t* words,
                  const std::uint8_t* scales) {
  return fast::packed_row(words, negate, form.idesc.scale_type, scales, scale_block(form.opcode));
}

// One instruction of a packed kind.
class PackedProduct {
 public:
  explicit PackedProduct(const MmaTile& tile) : tile_(tile), form_(tile.form) {}

  void run(std::vector<std::uint32_t>& d) const {
    const int m = form_.idesc.m;
    const int n = form_.idesc.n;
    if (!form_.accumulate) std::fill(d.begin(), d.end(), 0);
    if (!form_.opcode.sparse) return advance_packed(form_, rows(0, m), columns(), {d.data(), n});
    for (int i = 0; i < m; ++i)
      advance_packed(form_, rows(i, 1), columns_met(i), {d.data() + index(i, n), n});
  }

 private:
  fast::PackedLines rows(int first, int count) const {
    fast::PackedLines lines(fast::Side::Rows, count);
    for (int i = 0; i < count; ++i)
      lines.set(i, decoded(form_, form_.idesc.negate_a, &tile_.a[index(first + i, k_)],
                           tile_.scales_a.data() + index(first + i, scales_)));
    return lines;
  }

  PackedRow column(int j, const std::uint32_t* words) const {
    return decoded(form_, form_.idesc.negate_b, words, tile_.scales_b.data() + index(j, scales_));
  }

  fast::PackedLines columns() const {
    fast::PackedLines lines(fast::Side::Columns, form_.idesc.n);
    for (int j = 0; j < lines.count(); ++j) lines.set(j, column(j, &tile_.b[index(j, k_)]));
    return lines;
  }

  // The elements of all columns that the stored elements of row i meet.
  fast::PackedLines columns_met(int i) const {
    fast::PackedLines lines(fast::Side::Columns, form_.idesc.n);
    const std::size_t logical_k = tile_.b.size() / static_cast<std::size_t>(form_.idesc.n);
    for (int j = 0; j < lines.count(); ++j) {
      const std::uint32_t* words = &tile_.b[static_cast<std::size_t>(j) * logical_k];
      std::array<std::uint32_t, most_products> met{};
      for (int k = 0; k < k_; ++k)
        met[static_cast<std::size_t>(k)] = words[tile_.selected_k[index(i, k_) + index(k, 1)]];
      lines.set(j, column(j, met.data()));
    }
    return lines;
  }

  const MmaTile& tile_;
  const DotForm& form_;
  const int k_ = products(form_.opcode.kind);
  const int scales_ = scale_count(form_.opcode);
};

}  // namespace

Fault multiply(const MmaTile& tile, std::vector<std::uint32_t>& d) {
  if (const Fault fault = check_modelled(tile.form); fault != Fault::None) return fault;
  const Kind kind = tile.form.opcode.kind;
  assert(tile.a.size() == index(tile.form.idesc.m, products(kind)));
  assert(tile.scales_a.size() == index(tile.form.idesc.m, scale_count(tile.form.opcode)));
  assert(tile.scales_b.size() == index(tile.form.idesc.n, scale_count(tile.form.opcode)));
  assert(d.size() == index(tile.form.idesc.m, tile.form.idesc.n));
  assert(!tile.form.opcode.sparse || tile.selected_k.size() == tile.a.size());
  if (is_packed_4bit(kind))
    PackedProduct(tile).run(d);
  else
    run_unpacked(tile, d);
  return Fault::None;
}

}  // namespace tcq::tcgen05
