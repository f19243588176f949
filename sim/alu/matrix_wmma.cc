// wmma.mma by the mma.sync products that it is made of.
//
// Decides which wmma.mma exist and which registers each product takes; where elements lie says
// sim/isa/base/wmma_fragment.h, what a product gives matrix.cc and its neighbours. Example: m16n16k16 of f16 is two
// m16n8k16: both take A's registers 0 to 3, the first B's 0 and 1, the second B's 2 and 3.
//
// Source: PTX ISA 9.2, 9.7.14.4.5 "wmma.mma"
// Inferred: that wmma.mma sums as mma.sync does, as ptxas 13.0 makes HMMA and IMMA of the same shapes of both
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "sim/alu/families.h"
#include "sim/isa/base/wmma_fragment.h"

namespace tcq::alu {
namespace {

using wmma::Matrix;
using wmma::Shape;

// The product as mma.sync is written; d and ab are bits of elements.
struct Row {
  Shape shape;
  std::string_view words;  // of the product
  std::string_view tail;   // its types
  int d, ab;
};

constexpr Shape square = {16, 16, 16};
constexpr Shape tall = {32, 8, 16};
constexpr Shape wide = {8, 32, 16};

constexpr std::array rows = {
    Row{square, "m16n8k16", ".f32.f16.f16.f32", 32, 16},
    Row{tall, "m16n8k16", ".f32.f16.f16.f32", 32, 16},
    Row{wide, "m16n8k16", ".f32.f16.f16.f32", 32, 16},
    Row{square, "m16n8k16", ".f16.f16.f16.f16", 16, 16},
    Row{tall, "m16n8k16", ".f16.f16.f16.f16", 16, 16},
    Row{wide, "m16n8k16", ".f16.f16.f16.f16", 16, 16},
    Row{square, "m16n8k16", ".f32.bf16.bf16.f32", 32, 16},
    Row{tall, "m16n8k16", ".f32.bf16.bf16.f32", 32, 16},
    Row{wide, "m16n8k16", ".f32.bf16.bf16.f32", 32, 16},
    Row{square, "m16n8k16", ".s32.s8.s8.s32", 32, 8},
    Row{tall, "m16n8k16", ".s32.s8.s8.s32", 32, 8},
    Row{wide, "m16n8k16", ".s32.s8.s8.s32", 32, 8},
    Row{square, "m16n8k16", ".s32.u8.u8.s32", 32, 8},
    Row{tall, "m16n8k16", ".s32.u8.u8.s32", 32, 8},
    Row{wide, "m16n8k16", ".s32.u8.u8.s32", 32, 8},
    Row{square, "m16n8k16.satfinite", ".s32.s8.s8.s32", 32, 8},
    Row{tall, "m16n8k16.satfinite", ".s32.s8.s8.s32", 32, 8},
    Row{wide, "m16n8k16.satfinite", ".s32.s8.s8.s32", 32, 8},
    Row{square, "m16n8k16.satfinite", ".s32.u8.u8.s32", 32, 8},
    Row{tall, "m16n8k16.satfinite", ".s32.u8.u8.s32", 32, 8},
    Row{wide, "m16n8k16.satfinite", ".s32.u8.u8.s32", 32, 8},
    Row{{16, 16, 8}, "m16n8k8", ".f32.tf32.tf32.f32", 32, 32},
    Row{{8, 8, 4}, "m8n8k4", ".f64.f64.f64.f64", 64, 64},
    Row{{8, 8, 32}, "m8n8k32", ".s32.s4.s4.s32", 32, 4},
    Row{{8, 8, 32}, "m8n8k32", ".s32.u4.u4.s32", 32, 4},
    Row{{8, 8, 32}, "m8n8k32.satfinite", ".s32.s4.s4.s32", 32, 4},
    Row{{8, 8, 32}, "m8n8k32.satfinite", ".s32.u4.u4.s32", 32, 4},
    Row{{8, 8, 128}, "m8n8k128.xor.popc", ".s32.b1.b1.s32", 32, 1},
    Row{{8, 8, 128}, "m8n8k128.and.popc", ".s32.b1.b1.s32", 32, 1},
};

constexpr bool is_f16(const Row& row) { return row.tail.substr(4, 4) == ".f16"; }
constexpr int registers(const Row& row, Matrix x) {
  return wmma::registers(row.shape, x, x == Matrix::D ? row.d : row.ab, is_f16(row));
}

Operation product_of(const Row& row) {
  std::string text = "mma.sync.aligned.";
  text.append(row.words.substr(0, row.words.find('.'))).append(".row.col");
  if (const std::size_t dot = row.words.find('.'); dot != row.words.npos)
    text.append(row.words.substr(dot));
  return operation(ptx::read_form(text.append(row.tail)));
}

template <std::size_t i>
void multiply(const Arguments& a) {
  constexpr const Row& row = rows[i];
  constexpr Shape s = wmma::transposed(row.shape);
  constexpr int a_each = wmma::tile_registers(s, Matrix::A, row.ab);
  constexpr int b_each = wmma::tile_registers(s, Matrix::B, row.ab);
  constexpr int d_each = wmma::tile_registers(s, Matrix::D, row.d);
  static const Evaluate product = product_of(row).evaluate;
  const void* const* first = a.in;
  const void* const* second = first + registers(row, Matrix::A);
  const void* const* c = second + registers(row, Matrix::B);
  if (wmma::is_transposed(row.shape)) std::swap(first, second);
  std::array<const void*, a_each + b_each + d_each> in;
  for (int tile = 0; tile < wmma::row_tiles(s) * wmma::column_tiles(s); ++tile) {
    auto next = in.begin();
    const auto take = [&](const void* const* from, int count) {
      for (int r = 0; r < count; ++r) *next++ = from[r];
    };
    take(first + tile / wmma::column_tiles(s) * a_each, a_each);
    take(second + tile % wmma::column_tiles(s) * b_each, b_each);
    take(c + tile * d_each, d_each);
    product(
        {a.out + tile * d_each, in.data(), a.lanes, a.carry, d_each, static_cast<int>(in.size())});
  }
}

template <std::size_t... i>
Evaluate evaluate_of(std::size_t row, std::index_sequence<i...>) {
  static constexpr std::array<Evaluate, sizeof...(i)> all = {multiply<i>...};
  return all[row];
}

// The words of a row as an instruction has them: its types are those of D and C where A and B are f16.
bool is_row(const Row& row, const ptx::Form& form) {
  const ptx::Form product =
      ptx::read_form("mma.sync.aligned." + std::string(row.words) + std::string(row.tail));
  const auto& types = product.types;
  const bool short_form = form.type_count == 2;
  const bool has_types = short_form
                             ? is_f16(row) && form.types[0] == types[0] && form.types[1] == types[3]
                             : form.type_count == 4 && !is_f16(row) && form.types == types;
  const Shape shape = {form.shape[0], form.shape[1], form.shape[2]};
  return has_types && shape == row.shape &&
         form.get<ptx::Saturate>() == product.get<ptx::Saturate>() &&
         form.get<ptx::BoolOp>() == product.get<ptx::BoolOp>() &&
         form.get<ptx::Operation>() == product.get<ptx::Operation>();
}

std::size_t row_number(const ptx::Form& form) {
  std::size_t i = 0;
  while (i < rows.size() && !is_row(rows[i], form)) ++i;
  return i;
}

// Of f64 alone, and only to nearest is what mma.sync does.
bool rounds_as_mma(const ptx::Form& form) {
  const auto rounding = form.get<ptx::Rounding>();
  return rounding == ptx::Rounding::None || rounding == ptx::Rounding::Rn;
}

}  // namespace

Operation wmma_product(const ptx::Form& form) {
  const std::size_t i = row_number(form);
  if (i == rows.size() || !rounds_as_mma(form)) return {};
  const bool is_float = form.types[0] != ptx::Type::S32;
  return {evaluate_of(i, std::make_index_sequence<rows.size()>{}), is_float,
          "the sums of mma.sync; not recorded itself"};
}

bool takes_wmma(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const std::size_t i = row_number(form);
  if (i == rows.size()) return false;
  const auto count = [&](Matrix x) { return static_cast<std::size_t>(registers(rows[i], x)); };
  return outs == count(Matrix::D) && ins == count(Matrix::A) + count(Matrix::B) + count(Matrix::D);
}

}  // namespace tcq::alu
