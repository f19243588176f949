// Operands are gathered as raw bits and multiplied by sim/num/fast; b1 is counted here. See wgmma.h.
#include "sim/machine/wgmma.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
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
                       Matrix& out) {
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
               major == Major::K ? 1 : out.k);
  };
  for_each_chunk(decode(desc), major, extent, chunk);
  return fault;
}

void load_from_registers(const WarpgroupRegisters& registers, Type type, Matrix& out) {
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

// C before and D after, [row][column]; zeros where nothing is added to.
using Outputs = std::vector<std::uint32_t>;

// Where the parts of accumulator registers lie in Outputs: rows and columns are sums of what the thread and what the
// part of a register contribute (sim/isa/wgmma/fragment.h), so that a place is one of each.
class AccumulatorPlaces {
 public:
  explicit AccumulatorPlaces(const Form& f)
      : parts_(parts_per_register(f.d)), registers_(accumulator_registers(f.d, f.n)) {
    for (int thread = 0; thread < threads_per_warpgroup; ++thread)
      of_thread_[static_cast<std::size_t>(thread)] = place(f, {thread, 0, 0});
    for (int i = 0; i < registers_ * parts_; ++i)
      of_part_.push_back(place(f, {0, i / parts_, i % parts_}));
  }

  // Calls visit(word, part, place) for every part of every accumulator register.
  template <class Registers, class Visit>
  void for_each(Registers& d, Visit visit) const {
    auto word = d.begin();
    for (const std::size_t first : of_thread_) {
      const std::size_t* place = of_part_.data();
      for (int reg = 0; reg < registers_; ++reg, ++word)
        for (int part = 0; part < parts_; ++part, ++place) visit(*word, part, first + *place);
    }
  }

 private:
  static std::size_t place(const Form& f, Slot slot) {
    const Element e = accumulator_element(f.d, slot);
    return static_cast<std::size_t>(e.row * f.n + e.col);
  }

  int parts_;
  int registers_;
  std::array<std::size_t, threads_per_warpgroup> of_thread_;
  std::vector<std::size_t> of_part_;
};

void load_c(const std::vector<std::uint32_t>& registers, const Instruction& in,
            const AccumulatorPlaces& places, Outputs& c) {
  c.resize(static_cast<std::size_t>(m * in.form.n));
  if (!in.accumulate) std::fill(c.begin(), c.end(), 0);
  if (!in.accumulate) return;
  if (bits(in.form.d) == 32)
    places.for_each(registers, [&](std::uint32_t word, int, std::size_t at) { c[at] = word; });
  else
    places.for_each(registers, [&](std::uint32_t word, int part, std::size_t at) {
      c[at] = register_part(in.form.d, word, part);
    });
}

void store_d(const Outputs& d, const Form& f, const AccumulatorPlaces& places,
             std::vector<std::uint32_t>& registers) {
  if (bits(f.d) == 32)
    places.for_each(registers, [&](std::uint32_t& word, int, std::size_t at) { word = d[at]; });
  else
    places.for_each(registers, [&](std::uint32_t& word, int part, std::size_t at) {
      word = (part == 0 ? 0 : word) | in_register_part(f.d, d[at], part);
    });
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

// `codes` is empty if A is dense.
void multiply(const Form& f, const Matrix& a, const Matrix& b, const Matrix& codes, Outputs& d) {
  if (f.a == Type::b1) return count_bits(a, b, d);
  if (f.sparse && f.a == Type::tf32) return multiply_sparse_tf32(f, a, b, codes, d);
  const fast::Instruction in = sums_of(f);
  const fast::Lines rows = packed(in, fast::Side::Rows, a);
  const fast::Lines columns = packed(in, fast::Side::Columns, b);
  if (f.sparse)
    fast::advance_sparse(in, rows, columns, met(f, a, codes).data(), {d.data(), f.n});
  else
    fast::advance(in, rows, columns, {d.data(), f.n});
}

}  // namespace

Fault execute(const SharedMemory& shared, WarpgroupRegisters& registers, const Instruction& in,
              Outputs& d) {
  const Form& f = in.form;
  if (const Fault fault = check(f); fault != Fault::None) return fault;
  if (f.sparse && (in.selector < 0 || in.selector > max_selector(f.a)))
    return Fault::SelectorOutOfRange;
  assert(registers.d.size() ==
         static_cast<std::size_t>(threads_per_warpgroup * accumulator_registers(f.d, f.n)));

  Matrix a(m, stored_k_bytes * 8 / bits(carrier(f.a)));
  Matrix b(f.n, a.k * (f.sparse ? 2 : 1));
  if (f.a_place == Place::Registers) {
    load_from_registers(registers, carrier(f.a), a);
  } else if (const Fault fault = load_from_shared(shared, in.desc_a, f.major_a, carrier(f.a), a);
             fault != Fault::None) {
    return fault;
  }
  if (const Fault fault = load_from_shared(shared, in.desc_b, f.major_b, carrier(f.b), b);
      fault != Fault::None) {
    return fault;
  }
  const Matrix codes = f.sparse ? load_codes(registers, in) : Matrix(0, 0);
  const AccumulatorPlaces places(f);
  load_c(registers.d, in, places, d);
  multiply(f, a, b, codes, d);
  store_d(d, f, places, registers.d);
  return Fault::None;
}

Fault execute(const SharedMemory& shared, WarpgroupRegisters& registers, const Instruction& in) {
  Outputs d;
  return execute(shared, registers, in, d);
}

Fault execute(State& state, const Instruction& in) {
  return execute(state.shared, state.registers, in);
}

}  // namespace tcq::wgmma
