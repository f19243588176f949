// Operands are gathered as raw bits and multiplied by sim/num/fast; b1 is counted here. See wgmma.h.
#include "sim/machine/wgmma.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/num/fast/chain.h"

namespace tcq::wgmma {
namespace {

// An operand as raw element bits, [row or column][k]; b1 as words of 32 elements.
struct Matrix {
  int rows = 0;
  int k = 0;
  std::vector<std::uint32_t> elements;

  Matrix(int row_count, int k_count)
      : rows(row_count), k(k_count), elements(static_cast<std::size_t>(row_count * k_count)) {}
  std::uint32_t& at(int row, int col) { return elements[static_cast<std::size_t>(row * k + col)]; }
  const std::uint32_t* row(int index) const {
    return &elements[static_cast<std::size_t>(index * k)];
  }
};

// Where the elements of an operand go, one row or column behind the other.
struct Elements {
  std::uint32_t* words;
  int rows;
  int k;
  int stride;

  std::uint32_t& at(int row, int col) const {
    return words[static_cast<std::ptrdiff_t>(row) * stride + col];
  }
};

Elements all_of(Matrix& matrix) {
  return {matrix.elements.data(), matrix.rows, matrix.k, matrix.k};
}
// `k` elements from `first` on of each line.
Elements part_of(fast::Lines& lines, int first, int k) {
  return {lines.words(0) + first, lines.count(), k, lines.k()};
}

// b1 elements travel 32 at a time: their sums are population counts.
Type carrier(Type type) { return type == Type::b1 ? Type::s32 : type; }

// The elements of one chunk, `step` apart in `to`.
template <class Word>
void copy_elements(const std::uint8_t* chunk, std::uint32_t* to, int step) {
  for (std::size_t i = 0; i < operand_chunk_bytes / sizeof(Word); ++i) {
    Word word;
    std::memcpy(&word, chunk + i * sizeof word, sizeof word);
    to[i * static_cast<std::size_t>(step)] = word;
  }
}

void copy_chunk(Type type, const std::uint8_t* chunk, std::uint32_t* to, int step) {
  switch (bits(type)) {
    case 8: return copy_elements<std::uint8_t>(chunk, to, step);
    case 16: return copy_elements<std::uint16_t>(chunk, to, step);
    default: return copy_elements<std::uint32_t>(chunk, to, step);
  }
}

Fault load_from_shared(const SharedMemory& shared, std::uint64_t desc, Major major, Type type,
                       const Elements& out) {
  Fault fault = Fault::None;
  const auto extent = operand_extent(major, type, static_cast<std::uint32_t>(out.rows),
                                     static_cast<std::uint32_t>(out.k));
  const auto chunk = [&](std::uint32_t line, std::uint32_t byte, std::uint32_t address) {
    if (!shared.contains(address, operand_chunk_bytes)) fault = Fault::SharedMemoryOutOfRange;
    if (fault != Fault::None) return;
    const int begin = static_cast<int>(byte) * 8 / bits(type);
    const int at = static_cast<int>(line);
    copy_chunk(type, shared.data() + (address - shared.base()),
               major == Major::K ? &out.at(at, begin) : &out.at(begin, at),
               major == Major::K ? 1 : out.stride);
  };
  for_each_chunk(decode(desc), major, extent, chunk);
  return fault;
}

void load_from_registers(const WarpgroupRegisters& registers, Type type, const Elements& out) {
  for (int row = 0; row < out.rows; ++row) {
    for (int k = 0; k < out.k; ++k) {
      const Slot s = a_slot(type, {row, k});
      const auto index = static_cast<std::size_t>(s.thread * a_registers + s.reg);
      out.at(row, k) = register_part(type, registers.a[index], s.part);
    }
  }
}

// The metadata codes of each row of A, one per chunk.
Matrix load_codes(const WarpgroupRegisters& registers, const Instruction& in) {
  const Type a = in.form.a;
  Matrix codes(m, chunks_per_row(a));
  for (int row = 0; row < m; ++row) {
    for (int chunk = 0; chunk < codes.k; ++chunk) {
      const MetadataSlot s = metadata_slot(a, in.selector, {row, chunk});
      const std::uint32_t word = registers.metadata[static_cast<std::size_t>(s.thread)];
      codes.at(row, chunk) = word >> (4 * s.nibble) & 0xfu;
    }
  }
  return codes;
}

// Words of one register of a warp, lane by lane, among those of WarpgroupRegisters.
template <class Word>
struct LaneWords {
  Word* first;
  int count;  // registers of a thread

  Word& operator[](std::size_t lane) const { return first[lane * static_cast<std::size_t>(count)]; }
};

template <class Words>
auto lanes_of(Words& d, const Form& f) {
  const int count = accumulator_registers(f.d, f.n);
  return [&d, count](int warp, int reg) {
    return LaneWords<std::remove_pointer_t<decltype(d.data())>>{
        d.data() + static_cast<std::ptrdiff_t>(warp) * lanes_per_warp * count + reg, count};
  };
}

void count_bits(const Matrix& a, const Matrix& b, Outputs& d) {
  for (int row = 0; row < a.rows; ++row) {
    for (int col = 0; col < b.rows; ++col) {
      std::uint32_t& word = d[static_cast<std::size_t>(row * b.rows + col)];
      for (int i = 0; i < a.k; ++i)
        word += static_cast<std::uint32_t>(__builtin_popcount(a.row(row)[i] & b.row(col)[i]));
    }
  }
}

fast::Instruction sums_of(const Form& f) {
  fast::Instruction out = fast::wgmma_instruction({f.d, f.a, f.b});
  out.negate_a = f.negate_a;
  out.negate_b = f.negate_b;
  out.saturate = f.satfinite;
  return out;
}

fast::Lines packed(const fast::Instruction& in, fast::Side side, const Matrix& matrix) {
  fast::Lines lines(in, side, matrix.rows, matrix.k);
  for (int row = 0; row < matrix.rows; ++row)
    std::copy_n(matrix.row(row), matrix.k, lines.words(row));
  lines.pack();
  return lines;
}

// The k of B that every stored element of A meets. Requires: not tf32.
std::vector<std::uint16_t> met(const Form& f, const Matrix& a, const Matrix& codes) {
  const int per_chunk = stored_per_chunk(f.a);
  std::vector<std::uint16_t> out;
  for (int row = 0; row < a.rows; ++row)
    for (int i = 0; i < a.k; ++i)
      out.push_back(static_cast<std::uint16_t>(
          logical_k(f.a, i / per_chunk, codes.row(row)[i / per_chunk], i % per_chunk)));
  return out;
}

// A code of tf32 may take halves of two elements of B, so that each row of A has a B of its own.
void multiply_sparse_tf32(const Form& f, const Matrix& a, const Matrix& b, const Matrix& codes,
                          Outputs& d) {
  const fast::Instruction in = sums_of(f);
  Matrix row(1, a.k);
  Matrix selected(b.rows, a.k);
  for (int i = 0; i < a.rows; ++i) {
    std::copy_n(a.row(i), a.k, row.elements.begin());
    for (int col = 0; col < b.rows; ++col)
      for (int k = 0; k < a.k; ++k)
        selected.at(col, k) = selected_b(f.a, k, codes.row(i)[k], 0, b.row(col));
    fast::advance(in, packed(in, fast::Side::Rows, row), packed(in, fast::Side::Columns, selected),
                  {d.data() + i * b.rows, b.rows});
  }
}

// A and B of one instruction. Faults as execute_chain().
Fault load_operands(const SharedMemory& shared, const WarpgroupRegisters& sources,
                    const Instruction& in, const Elements& a, const Elements& b) {
  const Form& f = in.form;
  if (f.a_place == Place::Registers) {
    load_from_registers(sources, carrier(f.a), a);
  } else if (const Fault fault = load_from_shared(shared, in.desc_a, f.major_a, carrier(f.a), a);
             fault != Fault::None) {
    return fault;
  }
  return load_from_shared(shared, in.desc_b, f.major_b, carrier(f.b), b);
}

// Dense, and not of bits: all instructions of the chain at once.
Fault advance_dense(const SharedMemory& shared, const WarpgroupRegisters& sources,
                    std::span<const Instruction> chain, Outputs& d) {
  const Form& f = chain.front().form;
  const fast::Instruction in = sums_of(f);
  const int count = static_cast<int>(chain.size());
  fast::Lines rows(in, fast::Side::Rows, m, in.products * count);
  fast::Lines columns(in, fast::Side::Columns, f.n, in.products * count);
  for (int i = 0; i < count; ++i) {
    const Fault fault = load_operands(shared, sources, chain[static_cast<std::size_t>(i)],
                                      part_of(rows, i * in.products, in.products),
                                      part_of(columns, i * in.products, in.products));
    if (fault != Fault::None) return fault;
  }
  rows.pack();
  columns.pack();
  if (!chain.front().accumulate) std::fill(d.begin(), d.end(), 0);
  fast::advance(in, rows, columns, {d.data(), f.n});
  return Fault::None;
}

Fault advance_single(const SharedMemory& shared, const WarpgroupRegisters& sources,
                     const Instruction& one, Outputs& d) {
  const Form& f = one.form;
  Matrix a(m, stored_k_bytes * 8 / bits(carrier(f.a)));
  Matrix b(f.n, a.k * (f.sparse ? 2 : 1));
  if (const Fault fault = load_operands(shared, sources, one, all_of(a), all_of(b));
      fault != Fault::None)
    return fault;
  if (!one.accumulate) std::fill(d.begin(), d.end(), 0);
  if (f.a == Type::b1) {
    count_bits(a, b, d);
    return Fault::None;
  }
  const Matrix codes = load_codes(sources, one);
  const fast::Instruction in = sums_of(f);
  if (f.a == Type::tf32)
    multiply_sparse_tf32(f, a, b, codes, d);
  else
    fast::advance_sparse(in, packed(in, fast::Side::Rows, a), packed(in, fast::Side::Columns, b),
                         met(f, a, codes).data(), {d.data(), f.n});
  return Fault::None;
}

Fault check(const Instruction& in) {
  const Form& f = in.form;
  if (const Fault fault = check(f); fault != Fault::None) return fault;
  const bool selects = !f.sparse || (in.selector >= 0 && in.selector <= max_selector(f.a));
  return selects ? Fault::None : Fault::SelectorOutOfRange;
}

}  // namespace

bool continues(const Instruction& first, const Instruction& next) {
  const Form& f = first.form;
  return next.form == f && next.accumulate && !f.sparse && f.a != Type::b1 &&
         f.a_place == Place::Smem;
}

Fault execute_chain(const SharedMemory& shared, const WarpgroupRegisters& sources,
                    std::span<const Instruction> chain, Outputs& d) {
  const Form& f = chain.front().form;
  if (const Fault fault = check(chain.front()); fault != Fault::None) return fault;
  d.resize(static_cast<std::size_t>(m * f.n));
  if (f.sparse || f.a == Type::b1) return advance_single(shared, sources, chain.front(), d);
  return advance_dense(shared, sources, chain, d);
}

Fault execute(const SharedMemory& shared, WarpgroupRegisters& registers, const Instruction& in) {
  if (const Fault fault = check(in); fault != Fault::None) return fault;
  const Form& f = in.form;
  assert(registers.d.size() ==
         static_cast<std::size_t>(threads_per_warpgroup * accumulator_registers(f.d, f.n)));
  Outputs d;
  if (in.accumulate) load_accumulators(f, lanes_of(std::as_const(registers.d), f), d);
  const Fault fault = execute_chain(shared, registers, {&in, 1}, d);
  if (fault == Fault::None) store_accumulators(f, d, lanes_of(registers.d, f));
  return fault;
}

Fault execute(State& state, const Instruction& in) {
  return execute(state.shared, state.registers, in);
}

}  // namespace tcq::wgmma
