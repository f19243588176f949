// mma.sp by the mma.sync products that it is made of: a row of D is that of the dense product of half the K, whose B has the
// elements that the row's metadata chooses.
//
// Decides which mma.sp exist, whose registers the metadata are, and which elements they choose. A fragment is that of the
// dense product: its stored elements lie as elements of a dense A do. Two of four elements are kept, of tf32 one of two, of 4
// bits two pairs of four. Codes that PTX leaves open have no result: check. Example: m16n8k32 of f16, selector 1: lanes
// 4g + 2 and 4g + 3 tell of k 0 to 15 and 16 to 31, in their low halves of row g, in their high halves of row g + 8; of s8, of
// all k of row g and of row g + 8.
//
// Source: PTX ISA 9.2, 9.7.14.6 "Matrix multiply-accumulate operation using mma.sp instruction with sparse matrix A"
// Measured: tests/vectors/statements.tcqv: every shape and width on sm_90a with every selector and codes that PTX defines, one
// pair of signs each, all as ::ordered_metadata; 34 statements in 115 cases, 0 differ
// Inferred: without ::ordered_metadata a code may name its positions in any order, and chooses by each of its halves
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/isa/base/mma_fragment.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::alu {
namespace {

using Kind = ptx::Type;
using Bits = std::uint32_t;

constexpr int rows = 16;
constexpr int code_bits = 4;
constexpr int chunks_of_half_a_word = 4;

// K is that of the instruction; width is in bits. `clamps`: with .satfinite.
struct SparseRow {
  int k;
  Kind d, a, b;
  int width;
  bool clamps = false;
};

// 8-bit and 4-bit integers: both K, each pair of signs, with and without .satfinite.
constexpr auto integer_rows = [] {
  std::array<SparseRow, 32> all{};
  std::size_t i = 0;
  for (const int width : {8, 4})
    for (const int k : {256 / width, 512 / width})
      for (const bool clamps : {false, true})
        for (const int signs : {0, 1, 2, 3}) {
          const auto kind = [&](bool is_unsigned) {
            return width == 8 ? (is_unsigned ? Kind::U8 : Kind::S8)
                              : (is_unsigned ? Kind::U4 : Kind::S4);
          };
          all[i++] = {k, Kind::S32, kind(signs / 2 != 0), kind(signs % 2 != 0), width, clamps};
        }
  return all;
}();

constexpr std::array float_rows = {
    SparseRow{16, Kind::F32, Kind::F16, Kind::F16, 16},
    SparseRow{32, Kind::F32, Kind::F16, Kind::F16, 16},
    SparseRow{16, Kind::F16, Kind::F16, Kind::F16, 16},
    SparseRow{32, Kind::F16, Kind::F16, Kind::F16, 16},
    SparseRow{16, Kind::F32, Kind::BF16, Kind::BF16, 16},
    SparseRow{32, Kind::F32, Kind::BF16, Kind::BF16, 16},
    SparseRow{8, Kind::F32, Kind::TF32, Kind::TF32, 32},
    SparseRow{16, Kind::F32, Kind::TF32, Kind::TF32, 32},
    SparseRow{64, Kind::F32, Kind::E4M3, Kind::E4M3, 8},
    SparseRow{64, Kind::F32, Kind::E4M3, Kind::E5M2, 8},
    SparseRow{64, Kind::F32, Kind::E5M2, Kind::E4M3, 8},
    SparseRow{64, Kind::F32, Kind::E5M2, Kind::E5M2, 8},
};

constexpr auto sparse_rows = [] {
  std::array<SparseRow, float_rows.size() + integer_rows.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i < float_rows.size() ? float_rows[i] : integer_rows[i - float_rows.size()];
  return all;
}();

// ---- metadata -----------------------------------------------------------------------------------

// Elements that are chosen together, and elements of a chunk.
constexpr int unit(const SparseRow& r) { return r.width == 4 ? 2 : 1; }
constexpr int chunk_elements(const SparseRow& r) { return r.width == 32 ? 2 : 4 * unit(r); }
constexpr int chunks(const SparseRow& r) { return r.k / chunk_elements(r); }

// Lanes of each four that tell: 1, 2 or 4.
constexpr int telling_lanes(const SparseRow& r) { return chunks(r) / chunks_of_half_a_word; }

// What law a code follows: those of 8 and 4 bits that of f16.
constexpr Type selection_law(const SparseRow& r) { return r.width == 32 ? Type::tf32 : Type::f16; }

// ---- the product --------------------------------------------------------------------------------

Evaluate dense(const SparseRow& r) {
  std::string text = "mma.sync.aligned.m16n8k" + std::to_string(r.k / 2) + ".row.col";
  if (r.clamps) text += ".satfinite";
  for (const Kind kind : {r.d, r.a, r.b, r.d}) text.append(".").append(ptx::name(kind));
  return operation(ptx::read_form(text)).evaluate;
}

template <std::size_t i>
struct Sparse {
  static constexpr const SparseRow& r = sparse_rows[i];
  static constexpr int a_registers = warp_mma::a_registers(rows, r.k / 2, r.width);
  static constexpr int b_registers = warp_mma::b_registers(r.k, r.width);
  static constexpr int d_registers = warp_mma::d_registers(rows, r.d == Kind::F16 ? 16 : 32);
  static constexpr int metadata = a_registers + b_registers + d_registers;  // then the selector
  static constexpr Bits mask = r.width == 32 ? ~Bits{0} : (Bits{1} << r.width) - 1;

  static constexpr int per_code = chunk_elements(r) / 2;

  using Register = std::array<Bits, warp_size>;
  using Column = std::array<Bits, static_cast<std::size_t>(r.k)>;
  using Columns = std::array<Column, warp_mma::n>;

  static Columns columns(const Arguments& arguments) {
    Columns b;
    for (int col = 0; col < warp_mma::n; ++col)
      for (int k = 0; k < r.k; ++k) {
        const auto [lane, reg, part] = warp_mma::b_slot(r.width, {k, col});
        b[static_cast<std::size_t>(col)][static_cast<std::size_t>(k)] =
            cells<Bits>(arguments.in[a_registers + reg])[lane] >> (r.width * part) & mask;
      }
    return b;
  }

  static Bits code_of(const Arguments& arguments, int row, int chunk) {
    const auto selector = static_cast<int>(cells<Bits>(arguments.in[metadata + 1])[0]);
    const auto [lane, nibble] =
        wgmma::warp_metadata_slot(r.width, selector * telling_lanes(r), {row, chunk});
    return cells<Bits>(arguments.in[metadata])[lane] >> (code_bits * nibble) &
           ((1u << code_bits) - 1);
  }

  // `ordered`: with ::ordered_metadata. Faults: UndefinedMetadata.
  template <bool ordered>
  static Fault check(const Arguments& arguments) {
    constexpr Type law = selection_law(r);
    for (int row = 0; row < rows; ++row)
      for (int chunk = 0; chunk < chunks(r); ++chunk) {
        const Bits code = code_of(arguments, row, chunk);
        const Bits turned = (code << 2 | code >> 2) & ((1u << code_bits) - 1);
        const bool may_turn = !ordered && law == Type::f16;
        Fault fault = wgmma::check_metadata(law, code);
        if (fault != Fault::None && may_turn) fault = wgmma::check_metadata(law, turned);
        if (fault != Fault::None) return fault;
      }
    return Fault::None;
  }

  // The fragment of the B that a row of A meets.
  static auto chosen_by(const Arguments& arguments, const Columns& b, int row) {
    std::array<Register, static_cast<std::size_t>(b_registers / 2)> fragment{};
    for (int stored = 0; stored < r.k / 2; ++stored) {
      const Bits code = code_of(arguments, row, stored / per_code);
      const int k = wgmma::selected_k(selection_law(r), unit(r), code, stored);
      for (int col = 0; col < warp_mma::n; ++col) {
        const auto [lane, reg, part] = warp_mma::b_slot(r.width, {stored, col});
        fragment[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)] |=
            b[static_cast<std::size_t>(col)][static_cast<std::size_t>(k)] << (r.width * part);
      }
    }
    return fragment;
  }

  // Lanes hold rows g and g + 8: those of D's registers that are of this row.
  static bool is_of_row(int row, int lane, int reg) {
    return warp_mma::d_element(r.d == Kind::F16 ? 16 : 32, {lane, reg, 0}).row == row;
  }

  static void multiply(const Arguments& arguments) {
    static const Evaluate product = dense(r);
    const Columns b = columns(arguments);
    std::array<Register, static_cast<std::size_t>(d_registers)> d{}, all{};
    std::array<void*, static_cast<std::size_t>(d_registers)> out;
    for (std::size_t reg = 0; reg < d.size(); ++reg) out[reg] = all[reg].data();
    for (int row = 0; row < rows; ++row) {
      const auto met = chosen_by(arguments, b, row);
      std::array<const void*, static_cast<std::size_t>(a_registers + b_registers / 2 + d_registers)>
          in;
      auto next = in.begin();
      for (int reg = 0; reg < a_registers; ++reg) *next++ = arguments.in[reg];
      for (const Register& reg : met) *next++ = reg.data();
      for (int reg = 0; reg < d_registers; ++reg)
        *next++ = arguments.in[a_registers + b_registers + reg];
      product({out.data(), in.data(), all_lanes, arguments.carry, d_registers,
               static_cast<int>(in.size())});
      for (int reg = 0; reg < d_registers; ++reg)
        for (int lane = 0; lane < warp_size; ++lane)
          if (is_of_row(row, lane, reg))
            d[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)] =
                all[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)];
    }
    for (std::size_t reg = 0; reg < d.size(); ++reg)
      write(arguments.out[reg], d[reg].data(), arguments.lanes);
  }
};

struct Found {
  Evaluate evaluate;
  Fault (*check_ordered)(const Arguments&);
  Fault (*check)(const Arguments&);
  int outs, ins, selectors;
};

template <std::size_t... i>
Found found(std::size_t row, std::index_sequence<i...>) {
  static constexpr std::array<Found, sizeof...(i)> all = {
      Found{Sparse<i>::multiply, Sparse<i>::template check<true>, Sparse<i>::template check<false>,
            Sparse<i>::d_registers, Sparse<i>::metadata + 2, 4 / telling_lanes(sparse_rows[i])}...};
  return all[row];
}

bool is_row(const SparseRow& r, const ptx::Form& form) {
  return form.shape[0] == rows && form.shape[1] == warp_mma::n && form.shape[2] == r.k &&
         form.types[0] == r.d && form.types[1] == r.a && form.types[2] == r.b &&
         form.types[3] == r.d &&
         form.get<ptx::Saturate>() == (r.clamps ? ptx::Saturate::Satfinite : ptx::Saturate::None);
}

// Null where no such product exists.
Found find_sparse(const ptx::Form& form) {
  const bool is_plain = form.type_count == 4 && !form.has(ptx::Flag::BlockScale) &&
                        !form.has(ptx::Slot::MmaKind) && !form.has(ptx::Slot::BoolOp) &&
                        form.get<ptx::MajorA>() == ptx::MajorA::Row &&
                        form.get<ptx::MajorB>() == ptx::MajorB::Col;
  if (!is_plain) return {};
  for (std::size_t i = 0; i < sparse_rows.size(); ++i)
    if (is_row(sparse_rows[i], form))
      return found(i, std::make_index_sequence<sparse_rows.size()>{});
  return {};
}

}  // namespace

bool is_sparse(const ptx::Form& form) {
  return form.has(ptx::Flag::Sparse) || form.has(ptx::Flag::OrderedMetadata);
}

Operation sparse_product(const ptx::Form& form) {
  const Found f = find_sparse(form);
  Operation operation{f.evaluate};
  operation.check = form.has(ptx::Flag::OrderedMetadata) ? f.check_ordered : f.check;
  return operation;
}

bool takes_sparse(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const Found f = find_sparse(form);
  return f.evaluate != nullptr && outs == static_cast<std::size_t>(f.outs) &&
         ins == static_cast<std::size_t>(f.ins);
}

// The last source: which of each four lanes tell. A constant.
bool takes_selector(const ptx::Form& form, std::size_t i, std::optional<std::uint64_t> constant) {
  const Found f = find_sparse(form);
  if (i + 1 != static_cast<std::size_t>(f.ins)) return true;
  return constant && *constant < static_cast<std::uint64_t>(f.selectors);
}

}  // namespace tcq::alu
