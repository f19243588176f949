// wmma.load and wmma.store: a matrix between memory and the fragments of a warp; see executor.h.
//
// Decides which bytes each lane reads and writes: those of its elements (sim/isa/base/wmma_fragment.h), a register at a
// time where its elements are neighbours in memory, else one by one. Example: of A, row-major, m16n16k16 of f16, lane 5
// reads 4 bytes at (row 1, column 2) for register 0.
//
// Source: PTX ISA 9.2, 9.7.14.4.3 "wmma.load", 9.7.14.4.4 "wmma.store"
#include <algorithm>
#include <array>
#include <optional>

#include "sim/isa/base/wmma_fragment.h"
#include "sim/run/executor.h"

namespace tcq::run {
namespace {

using ptx::MatrixName;
using ptx::Value;
using ptx::ValueKind;
using wmma::Matrix;

struct Fragment {
  wmma::Shape shape;
  Matrix matrix = Matrix::D;
  int bits = 0;              // of an element
  bool row_major = true;     // in memory
  std::uint64_t stride = 0;  // elements from a row, or column, to the next

  int word_bytes() const { return std::max(4, bits / 8); }
  int parts() const { return warp_mma::parts(bits); }
  int distinct() const { return wmma::distinct_registers(shape, matrix, bits); }
  // Bits from the matrix's first element.
  std::uint64_t place(int lane, int reg, int part) const {
    const auto e = wmma::element(shape, matrix, bits, {lane, reg, part});
    const auto line = static_cast<std::uint64_t>(row_major ? e.row : e.col);
    const auto along = static_cast<std::uint64_t>(row_major ? e.col : e.row);
    return (line * stride + along) * static_cast<std::uint64_t>(bits);
  }
  // Are the elements of a register neighbours?
  bool is_packed() const {
    return parts() == 1 || place(0, 0, 1) == place(0, 0, 0) + static_cast<std::uint64_t>(bits);
  }
};

bool stores(const Executor& x) { return x.form().opcode == ptx::Opcode::WmmaStore; }
const Value& vector_of(const Executor& x) { return x.value(stores(x) ? 1 : 0); }
const Value& address_of(const Executor& x) { return x.value(stores(x) ? 0 : 1); }

std::uint64_t default_stride(const wmma::Shape& s, Matrix m, bool row_major) {
  const int rows = m == Matrix::B ? s.k : s.m;
  const int columns = m == Matrix::A ? s.k : s.n;
  return static_cast<std::uint64_t>(row_major ? columns : rows);
}

// Nothing if the vector has not the registers of the form.
std::optional<Fragment> fragment_of(const Executor& x) {
  const ptx::Form& form = x.form();
  const auto name = form.get<MatrixName>();
  Fragment f;
  f.shape = {form.shape[0], form.shape[1], form.shape[2]};
  f.matrix = name == MatrixName::A ? Matrix::A : name == MatrixName::B ? Matrix::B : Matrix::D;
  f.bits = ptx::bits(form.types[0]);
  f.row_major = form.get<ptx::MajorA>() == ptx::MajorA::Row;
  f.stride = x.operand_count() > 2 ? x.number(x.value(2), first_lane(x))
                                   : default_stride(f.shape, f.matrix, f.row_major);
  const Value& vector = vector_of(x);
  const int count = vector.kind == ValueKind::Vector ? static_cast<int>(vector.value) : 1;
  const bool is_f16 = form.types[0] == ptx::Type::F16;
  const bool fits = f.bits > 0 && f.distinct() > 0 &&
                    count == wmma::registers(f.shape, f.matrix, f.bits, is_f16) &&
                    f.distinct() * f.word_bytes() <= machine::max_lane_bytes;
  // Elements of less than a byte lie side by side along K only.
  if (!fits || (f.bits < 8 && !f.is_packed())) return std::nullopt;
  return f;
}

const Value& register_of(const Executor& x, int reg) {
  const Value& vector = vector_of(x);
  return vector.kind == ValueKind::Vector ? x.item(vector, static_cast<std::uint32_t>(reg))
                                          : vector;
}

int registers_named(const Executor& x) {
  const Value& vector = vector_of(x);
  return vector.kind == ValueKind::Vector ? static_cast<int>(vector.value) : 1;
}

// Between registers and the lanes' data.
void copy_registers(Executor& x, const Fragment& f, bool to_registers) {
  const auto words = static_cast<std::size_t>(f.word_bytes());
  for (int reg = 0; reg < (to_registers ? registers_named(x) : f.distinct()); ++reg) {
    const Value& value = register_of(x, reg);
    if (value.kind == ValueKind::Sink) continue;
    std::uint32_t* const cells = x.words(x.slot(value));
    const std::size_t at = words * static_cast<std::size_t>(reg % f.distinct());
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::uint8_t* const data = x.group.data[lane].data() + at;
      std::uint32_t* const cell = cells + words / 4 * lane;
      to_registers ? std::memcpy(cell, data, words) : std::memcpy(data, cell, words);
    }
  }
}

}  // namespace

bool make_fragment(Executor& x) {
  const std::optional<Fragment> f = fragment_of(x);
  if (!f) return false;
  if (x.group.active != machine::all_lanes) {
    x.fail(Fault::WarpDivergent, first_lane(x));
    return true;
  }
  if (stores(x)) copy_registers(x, *f, false);
  const bool packed = f->is_packed();
  const int bytes = packed ? f->word_bytes() : f->bits / 8;
  const int pieces = packed ? 1 : f->parts();
  x.group.result = stores(x) ? Result::None : Result::Fragment;
  for (int reg = 0; reg < f->distinct() && !x.c.finding; ++reg)
    for (int part = 0; part < pieces && !x.c.finding; ++part) {
      std::array<std::uint64_t, 32> at = {};
      for (int lane = 0; lane < 32; ++lane)
        at[static_cast<std::size_t>(lane)] =
            x.address(address_of(x), lane) + f->place(lane, reg, part) / 8;
      const int begin = reg * f->word_bytes() + part * bytes;
      std::vector<int> loaded;
      if (!stores(x)) loaded.push_back(static_cast<int>(x.slot(register_of(x, reg))));
      add_lane_accesses(x, at, {stores(x), bytes, begin, loaded});
    }
  return true;
}

void finish_fragment(Executor& x) {
  if (const std::optional<Fragment> f = fragment_of(x)) copy_registers(x, *f, true);
}

}  // namespace tcq::run
