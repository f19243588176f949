// Operands are gathered as raw bits and multiplied by sim/num/fast; b1 is counted here. See wgmma.h.
#include "sim/machine/wgmma.h"

#include <algorithm>
#include <cassert>
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

// Raw bits of one element; only whole bytes are ever addressed.
Fault load_element(const SharedMemory& shared, Type type, std::uint32_t address,
                   std::uint32_t& out) {
  const auto width = static_cast<std::uint32_t>(bits(type)) / 8;
  if (!shared.contains(address, width)) return Fault::SharedMemoryOutOfRange;
  out = width == 1   ? shared.load<std::uint8_t>(address)
        : width == 2 ? shared.load<std::uint16_t>(address)
                     : shared.load<std::uint32_t>(address);
  return Fault::None;
}

Fault load_from_shared(const SharedMemory& shared, std::uint64_t desc, Major major, Type type,
                       Matrix& out) {
  const MatrixDescriptor d = decode(desc);
  for (int mn = 0; mn < out.rows; ++mn) {
    for (int k = 0; k < out.k; ++k) {
      const OperandElement e{static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)};
      const std::uint32_t address = element_address(d, major, type, e);
      if (const Fault f = load_element(shared, type, address, out.at(mn, k)); f != Fault::None)
        return f;
    }
  }
  return Fault::None;
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

// Calls visit(word, part, element) for every part of every accumulator register.
template <class Registers, class Visit>
void for_each_output(Registers& d, const Form& f, Visit visit) {
  const int registers = accumulator_registers(f.d, f.n);
  for (int thread = 0; thread < threads_per_warpgroup; ++thread) {
    for (int reg = 0; reg < registers; ++reg) {
      for (int part = 0; part < parts_per_register(f.d); ++part) {
        const Element e = accumulator_element(f.d, {thread, reg, part});
        visit(d[static_cast<std::size_t>(thread * registers + reg)], part,
              static_cast<std::size_t>(e.row * f.n + e.col));
      }
    }
  }
}

Outputs load_c(const std::vector<std::uint32_t>& registers, const Instruction& in) {
  Outputs c(static_cast<std::size_t>(m * in.form.n));
  if (!in.accumulate) return c;
  for_each_output(registers, in.form, [&](const std::uint32_t& word, int part, std::size_t at) {
    c[at] = register_part(in.form.d, word, part);
  });
  return c;
}

void store_d(const Outputs& d, const Form& f, std::vector<std::uint32_t>& registers) {
  for_each_output(registers, f, [&](std::uint32_t& word, int part, std::size_t at) {
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

Fault execute(const SharedMemory& shared, WarpgroupRegisters& registers, const Instruction& in) {
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
  Outputs d = load_c(registers.d, in);
  multiply(f, a, b, codes, d);
  store_d(d, f, registers.d);
  return Fault::None;
}

Fault execute(State& state, const Instruction& in) {
  return execute(state.shared, state.registers, in);
}

}  // namespace tcq::wgmma
