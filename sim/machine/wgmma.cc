// Operands are gathered as raw bits, then every output is one sum; see wgmma.h.
#include "sim/machine/wgmma.h"

#include <array>
#include <cassert>
#include <vector>

#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/num/dot.h"

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

// Every output of one instruction; float operands are decoded once. `codes` is null if dense.
class Sums {
 public:
  Sums(const Instruction& in, const Matrix& a, const Matrix& b, const Matrix* codes)
      : form_(in.form), accumulate_(in.accumulate), a_(a), b_(b), codes_(codes) {
    if (!is_float(form_.a)) return;
    decode_all(a, form_.a, form_.negate_a, decoded_a_);
    if (codes == nullptr) decode_all(b, form_.b, form_.negate_b, decoded_b_);
  }

  std::uint32_t output(int row, int col, std::uint32_t c) const {
    std::array<std::uint32_t, max_products> selected;
    const std::uint32_t* b = b_.row(col);
    if (codes_ != nullptr) {
      select(row, b, selected.data());
      b = selected.data();
    }
    if (is_float(form_.a)) return floating(row, col, b, c);
    const std::int64_t sum = (accumulate_ ? decode_integer(Type::s32, c) : 0) + integer(row, b);
    return finish_integer(sum, form_.satfinite);
  }

 private:
  static void decode_all(const Matrix& matrix, Type type, bool negate, std::vector<Decoded>& out) {
    out.reserve(matrix.elements.size());
    for (const std::uint32_t word : matrix.elements)
      out.push_back(decode_float(type, word, negate));
  }

  // The elements of a column of B that the stored elements of a sparse row meet.
  void select(int row, const std::uint32_t* b, std::uint32_t* selected) const {
    const int per_chunk = stored_per_chunk(form_.a);
    for (int i = 0; i < a_.k; ++i)
      selected[i] =
          selected_b(form_.a, i / per_chunk, codes_->row(row)[i / per_chunk], i % per_chunk, b);
  }

  std::uint32_t floating(int row, int col, const std::uint32_t* b, std::uint32_t c) const {
    std::array<Decoded, max_products> decoded;
    const Decoded* columns =
        codes_ == nullptr ? &decoded_b_[static_cast<std::size_t>(col * b_.k)] : decoded.data();
    if (codes_ != nullptr) {
      for (int i = 0; i < a_.k; ++i)
        decoded[static_cast<std::size_t>(i)] = decode_float(form_.b, b[i], form_.negate_b);
    }
    return fused_sum(wgmma_dot_traits(form_.d, form_.a), form_.d, form_.a, form_.b,
                     &decoded_a_[static_cast<std::size_t>(row * a_.k)], columns, a_.k,
                     decode_c(form_.d, c, accumulate_));
  }

  std::int64_t integer(int row, const std::uint32_t* b) const {
    const std::uint32_t* a = a_.row(row);
    std::int64_t sum = 0;
    for (int i = 0; i < a_.k; ++i) {
      sum += form_.a == Type::b1 ? __builtin_popcount(a[i] & b[i])
                                 : decode_integer(form_.a, a[i]) * decode_integer(form_.b, b[i]);
    }
    return sum;
  }

  const Form form_;
  const bool accumulate_;
  const Matrix& a_;
  const Matrix& b_;
  const Matrix* codes_;
  std::vector<Decoded> decoded_a_;
  std::vector<Decoded> decoded_b_;
};

void write_outputs(std::vector<std::uint32_t>& d, const Form& f, const Sums& sums) {
  const int registers = accumulator_registers(f.d, f.n);
  const int parts = parts_per_register(f.d);
  for (int thread = 0; thread < threads_per_warpgroup; ++thread) {
    for (int reg = 0; reg < registers; ++reg) {
      std::uint32_t& word = d[static_cast<std::size_t>(thread * registers + reg)];
      std::uint32_t result = 0;
      for (int part = 0; part < parts; ++part) {
        const Element e = accumulator_element(f.d, {thread, reg, part});
        const std::uint32_t c = register_part(f.d, word, part);
        result |= in_register_part(f.d, sums.output(e.row, e.col, c), part);
      }
      word = result;
    }
  }
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
  const Sums sums(in, a, b, f.sparse ? &codes : nullptr);
  write_outputs(registers.d, f, sums);
  return Fault::None;
}

Fault execute(State& state, const Instruction& in) {
  return execute(state.shared, state.registers, in);
}

}  // namespace tcq::wgmma
