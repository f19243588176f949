#include "cuda/gemm/maps.h"

#include <algorithm>
#include <utility>

#include "cuda/gemm/check.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"

namespace tcq::gemm {
namespace {

tma::DataType data_type(Type type) {
  switch (type) {
    case Type::f16: return tma::DataType::Float16;
    case Type::bf16: return tma::DataType::BFloat16;
    case Type::tf32:
    case Type::f32: return tma::DataType::Float32;
    case Type::s32: return tma::DataType::Int32;
    default: return tma::DataType::UInt8;
  }
}

// `inner` is the contiguous index, of which 4-bit types have an even number.
tma::TensorMap map_of(Type type, const MatrixAt& matrix, std::int64_t inner, std::int64_t outer,
                      std::int64_t batch, std::uint32_t box_inner, std::uint32_t box_outer) {
  inner /= packed_elements(type);
  box_inner /= static_cast<std::uint32_t>(packed_elements(type));
  const auto bytes_of = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements * bits(type) / 8);
  };
  tma::TensorMap map;
  map.type = data_type(type);
  map.rank = 3;
  map.dims[0] = static_cast<std::uint64_t>(inner);
  map.dims[1] = static_cast<std::uint64_t>(outer);
  map.dims[2] = static_cast<std::uint64_t>(batch);
  map.stride_bytes[0] = bytes_of(matrix.ld);
  map.stride_bytes[1] = batch > 1 ? bytes_of(matrix.batch_stride) : map.stride_bytes[0];
  map.box[0] = box_inner;
  map.box[1] = box_outer;
  map.box[2] = 1;
  map.swizzle = operand_swizzle;
  map.address = reinterpret_cast<std::uint64_t>(matrix.data);
  return map;
}

// Of an operand of `mn` rows or columns; a box has `box_rows` of them, or, MN-major, a block's K.
tma::TensorMap operand_map(const Kernel& kernel, Type type, const MatrixAt& matrix, std::int64_t mn,
                           const Extents& e, std::uint32_t box_rows) {
  const bool k_major = matrix.major == Major::K;
  const auto span = static_cast<std::uint32_t>(kernel.block_k);
  tma::TensorMap map = map_of(type, matrix, k_major ? e.k : mn, k_major ? mn : e.k, e.batch, span,
                              k_major ? box_rows : span);
  map.swizzle = swizzle_of(type, matrix.major);
  return map;
}

// Of the rows behind the last whole box.
std::optional<tma::TensorMap> rest_of(tma::TensorMap map) {
  map.box[1] = static_cast<std::uint32_t>(map.dims[1] % map.box[1]);
  if (map.box[1] == 0) return std::nullopt;
  return map;
}

// Of an operand's atoms of factors, those of 128 of its lines beside each other along K; a box is a stage's of
// `lines_of_box` lines. Requires: factors of blocks.
tma::TensorMap map_of_factors(const Kernel& kernel, const ScaleCodes& codes, std::int64_t lines,
                              std::int64_t k, std::int64_t batch, int lines_of_box) {
  const auto up = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::uint64_t>(round_up_quotient(x, y));
  };
  const auto atoms = [](std::int64_t mn) {
    return static_cast<std::uint64_t>(tcgen05::scale_atoms_along_mn(mn));
  };
  const std::int64_t atom_k = tcgen05::scale_group * tcgen05::scale_block(kernel.scale_vec);
  tma::TensorMap map;
  map.type = tma::DataType::UInt64;
  map.rank = 3;
  map.dims[0] = up(k, atom_k) * scale_atom_words;
  map.dims[1] = atoms(lines);
  map.dims[2] = static_cast<std::uint64_t>(batch);
  map.stride_bytes[0] = up(k, atom_k) * tcgen05::scale_atom_bytes;
  map.stride_bytes[1] =
      batch > 1 ? static_cast<std::uint64_t>(codes.batch_step) : map.stride_bytes[0];
  map.box[0] = static_cast<std::uint32_t>(kernel.block_k / atom_k * scale_atom_words);
  map.box[1] = static_cast<std::uint32_t>(atoms(lines_of_box));
  map.box[2] = 1;
  map.address = reinterpret_cast<std::uint64_t>(codes.data);
  return map;
}

// Of an operand's factors of blocks of K, of which a box has those of four blocks, of `mn_of_box` rows or blocks of columns.
tma::TensorMap map_of_block_factors(const Factors& f, std::int64_t mn, std::int64_t k_blocks,
                                    std::int64_t batch, std::uint32_t mn_of_box) {
  const bool along_k = lie_along_k(f);
  const MatrixAt matrix = {f.data, along_k ? f.mn_step : f.k_step, f.batch_step};
  constexpr auto turns = static_cast<std::uint32_t>(factor_turns);
  tma::TensorMap map = along_k ? map_of(Type::f32, matrix, k_blocks, mn, batch, turns, mn_of_box)
                               : map_of(Type::f32, matrix, mn, k_blocks, batch, mn_of_box, turns);
  map.swizzle = Swizzle::None;
  return map;
}

void exchange(PlainMaps& maps) {
  std::swap(maps.a, maps.b);
  std::swap(maps.rest_a, maps.rest_b);
  std::swap(maps.scales_a, maps.scales_b);
}

}  // namespace

PlainMaps plain_maps(const Kernel& kernel, const Extents& e, const MatrixAt& a, const MatrixAt& b,
                     const MatrixAt& d, const Arguments& arguments) {
  PlainMaps maps;
  const bool loads = e.k > 0;  // no dimension of a map is 0
  if (kernel.loader == Loader::Tma && loads) {
    maps.a = operand_map(kernel, kernel.in, a, e.m, e, kernel.box_rows_a);
    maps.b = operand_map(kernel, kernel.in_b, b, e.n, e, kernel.box_rows_b);
    if (a.major == Major::K) maps.rest_a = rest_of(*maps.a);
    if (b.major == Major::K) maps.rest_b = rest_of(*maps.b);
  }
  if (kernel.stages_factors) {
    const Factors& of_b = arguments.block_factors_b;
    const auto blocks = [](std::int64_t count) { return round_up_quotient(count, scale_block); };
    const bool each = kernel.promotion == Promotion::EachColumn;
    const int of_box = column_factors_of_box(kernel.promotion, kernel.block_n, lie_along_k(of_b));
    maps.scales_a = map_of_block_factors(arguments.block_factors_a, e.m, blocks(e.k), e.batch,
                                         static_cast<std::uint32_t>(kernel.block_m));
    maps.scales_b = map_of_block_factors(of_b, each ? e.n : blocks(e.n), blocks(e.k), e.batch,
                                         static_cast<std::uint32_t>(of_box));
  }
  if (loads && kernel.scale_vec != tcgen05::ScaleVec::Default) {
    maps.scales_a =
        map_of_factors(kernel, arguments.scale_codes_a, lines_of_codes(e.m, arguments.groups), e.k,
                       e.batch, kernel.block_m);
    maps.scales_b =
        map_of_factors(kernel, arguments.scale_codes_b, e.n, e.k, e.batch, kernel.block_n);
  }
  if (kernel.skinny == Skinny::Rows) exchange(maps);
  if (arguments.stores_elements) return maps;
  const Type out = type_of_d(arguments);
  const int halves = is_gated(arguments.epilogue.activation) ? 2 : 1;
  // Elements smaller than a byte: as many as of bytes, 128 columns are quantized at a time.
  const int columns =
      std::min(kernel.store_row, staged_columns(static_cast<int>(element_bytes(out))));
  const auto d_map = [&](int box_columns) {
    return map_of(out, d, e.n / halves, e.m, e.batch,
                  static_cast<std::uint32_t>(box_columns / halves),
                  static_cast<std::uint32_t>(kernel.store_rows));
  };
  maps.d = d_map(columns);
  if (kernel.store_row % columns != 0) maps.tail = d_map(kernel.store_row % columns);
  return maps;
}

}  // namespace tcq::gemm
