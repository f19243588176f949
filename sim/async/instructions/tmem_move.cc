// The data of tcgen05.ld, st, cp, shift and mma when it is due; see tmem_data.h.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/async/instructions/tmem.h"
#include "sim/async/tmem_data.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/sparse.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/operand.h"
#include "sim/machine/tcgen05_mma.h"
#include "sim/num/float_bits.h"

namespace tcq::machine {
namespace {

using tcgen05::Cell;
using tcgen05::TmemAddress;

constexpr std::uint32_t low_half = 0xffff;

constexpr std::uint32_t low_bits(int count) { return count == 32 ? ~0u : (1u << count) - 1; }

Cell moved(const TmemAddress& at, const Cell& offset) {
  return {at.tmem_lane + offset.tmem_lane, at.tmem_column + offset.tmem_column};
}

template <class Visit>
void for_each_slot(const TmemData& data, const tcgen05::Fragment& f, Visit visit) {
  for (int reg = 0; reg < tcgen05::registers(f); ++reg)
    for (int half = 0; half < halves(f); ++half)
      for (int lane = 0; lane < warp_threads; ++lane)
        visit(static_cast<std::size_t>(lane), reg, half,
              moved(data.operation.at, fragment_cell(f, {lane, reg, half})));
}

}  // namespace

Fault Tcgen05Ld::move(TmemData& data) const {
  TensorMemory& cells = data.own_memory();
  for_each_slot(data, fragment, [&](std::size_t lane, int r, int half, Cell cell) {
    std::uint32_t& word = data.warp.registers.of_reg[static_cast<std::size_t>(reg + r)][lane];
    const std::uint32_t found = cells.load(cell);
    if (!fragment.packed)
      word = found;
    else
      word = half == 0 ? (found & low_half) : (word & low_half) | found << 16;
  });
  return Fault::None;
}

Fault Tcgen05St::move(TmemData& data) const {
  TensorMemory& cells = data.own_memory();
  for_each_slot(data, fragment, [&](std::size_t lane, int r, int half, Cell cell) {
    const std::uint32_t word = data.operation.registers[static_cast<std::size_t>(r)][lane];
    if (!fragment.packed) return cells.store(cell, word);
    const std::uint32_t part = half == 0 ? word & low_half : word >> 16;
    cells.store(cell, (cells.load(cell) & ~low_half) | part);
  });
  return Fault::None;
}

Fault Tcgen05Cp::move(TmemData& data) const {
  for (const int cta : data.ctas_of(cta_group))
    for (int row = 0; row < cp_rows(shape); ++row)
      for (int copy = 0; copy < cp_copies(shape); ++copy)
        for (int byte = 0; byte < cp_row_bytes(shape); byte += 4) {
          const tcgen05::CellByte cell = cp_place(shape, {row, byte}, copy);
          const auto word = data.shared(cta).load<std::uint32_t>(cp_address(from, {row, byte}));
          data.memory(cta).store(moved(data.operation.at, {cell.tmem_lane, cell.tmem_column}),
                                 word);
        }
  return Fault::None;
}

Fault Tcgen05Shift::move(TmemData& data) const {
  for (const int cta : data.ctas_of(cta_group))
    for (int column = 0; column < tcgen05::shift_columns; ++column)
      for (int lane = data.operation.at.tmem_lane; lane < tcgen05::tmem_lanes; ++lane) {
        const int to = data.operation.at.tmem_column + column;
        const int source = tcgen05::shift_source(lane).tmem_lane;
        data.memory(cta).store({lane, to}, data.memory(cta).load({source, to}));
      }
  return Fault::None;
}

// --- mma -------------------------------------------------------------------------------------------

namespace {

// Rows from the even CTA on, columns within.
template <class Visit>
void for_each_d(TmemData& data, const Tcgen05Mma& i, Visit visit) {
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  const tcgen05::Accumulator d = {datapath, i.idesc.n, data.operation.at.tmem_lane};
  for (const int cta : data.ctas_of(i.opcode.cta_group))
    for (int row = 0; row < rows(datapath); ++row)
      for (int col = 0; col < i.idesc.n; ++col) {
        Cell cell = d_cell(d, {row, col});
        cell.tmem_column += data.operation.at.tmem_column;
        visit(data.memory(cta), cell);
      }
}

// A or B in shared memory: each CTA has the rows or columns of its half.
struct SmemMatrix {
  const SmemOperand& operand;
  Type type;
  int rows_per_cta;
};

// Element k of a row or column.
std::uint32_t element(const TmemData& data, const SmemMatrix& of, int cta, tcgen05::Kind kind,
                      int mn, int k) {
  const auto row = static_cast<std::uint32_t>(mn);
  const auto along_k = static_cast<std::uint32_t>(k);
  const bool k_major = of.operand.layout.major == Major::K;
  const std::uint32_t bit = tcgen05::contiguous_bit(kind, of.type, k_major ? along_k : row);
  const OperandByte at = k_major ? OperandByte{row, bit / 8} : OperandByte{bit / 8, along_k};
  const std::uint32_t address = of.operand.swizzle.apply(
      of.operand.start_bytes + offset_bytes(of.operand.layout, at), of.operand.base_offset);
  const std::uint32_t bytes = (bit % 8 + static_cast<std::uint32_t>(bits(of.type)) + 7) / 8;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < bytes; ++i)
    word |= std::uint32_t{data.shared(cta).load<std::uint8_t>(address + i)} << (8 * i);
  return word >> (bit % 8) & low_bits(bits(of.type));
}

void gather(const TmemData& data, const SmemMatrix& of, const tcgen05::MmaOpcode& opcode, int count,
            std::vector<std::uint32_t>& out) {
  for (const int cta : data.ctas_of(opcode.cta_group))
    for (int mn = 0; mn < of.rows_per_cta; ++mn)
      for (int k = 0; k < count; ++k) out.push_back(element(data, of, cta, opcode.kind, mn, k));
}

void gather_a(TmemData& data, const Tcgen05Mma& i, std::vector<std::uint32_t>& out) {
  const int group = i.opcode.cta_group;
  if (i.opcode.a_place == tcgen05::Place::Smem)
    return gather(data, {i.a, i.idesc.a, i.idesc.m / group}, i.opcode,
                  tcgen05::products(i.opcode.kind), out);
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  const tcgen05::TmemA a = {datapath, i.opcode.kind, data.operation.a.tmem_lane};
  const int payload = tcgen05::tmem_payload_low_bit(i.opcode.kind, i.idesc.a);
  for (const int cta : data.ctas_of(group))
    for (int row = 0; row < rows(datapath); ++row)
      for (int k = 0; k < tcgen05::products(i.opcode.kind); ++k) {
        const tcgen05::CellBit place = a_place(a, {row, k});
        const Cell cell = {place.tmem_lane, data.operation.a.tmem_column + place.tmem_column};
        out.push_back(data.memory(cta).load(cell) >> (place.low_bit + payload) &
                      low_bits(bits(i.idesc.a)));
      }
}

// All columns, with as many k as a sparse A can choose from; those that the mask of .ws zeroes are 0.
void gather_b(const TmemData& data, const Tcgen05Mma& i, std::vector<std::uint32_t>& out) {
  const int count = tcgen05::products(i.opcode.kind) * (i.opcode.sparse ? 2 : 1);
  gather(data, {i.b, i.idesc.b, i.idesc.n / i.opcode.cta_group}, i.opcode, count, out);
  if (!i.options.masks_columns) return;
  const tcgen05::ZeroColumnMask mask = tcgen05::decode_zero_mask(i.options.zero_columns);
  for (int column = 0; column < i.idesc.n; ++column)
    if (column_is_zeroed(mask, i.idesc.m, i.idesc.n, column))
      std::fill_n(out.begin() + column * count, count, 0);
}

// The code of a chunk, of which .ws with fewer than 128 rows has copies. Nothing: they differ, and which of them counts is
// not known.
std::optional<std::uint32_t> code_of(TmemData& data, int cta, const tcgen05::TmemMetadata& e,
                                     tcgen05::MetadataChunk chunk) {
  std::optional<std::uint32_t> code;
  for (int copy = 0; copy < tcgen05::metadata_copies(e); ++copy) {
    const tcgen05::CellBit place = metadata_place(e, chunk, copy);
    const std::uint32_t cell = data.memory(cta).load(
        {place.tmem_lane, data.operation.metadata.tmem_column + place.tmem_column});
    const std::uint32_t one = cell >> place.low_bit & low_bits(tcgen05::metadata_code_bits);
    if (code && *code != one) return std::nullopt;
    code = one;
  }
  return code;
}

bool is_zero(Type type, std::uint32_t element) {
  return is_float(type) ? decode_float(type, element).kind == Class::Zero : element == 0;
}

// A code that PTX leaves open chooses nothing that counts in a chunk that stores zeros alone: they are zeros whatever of B
// they meet, but for infinities and NaN. CUTLASS's compressor writes 0 there (sm90_sparse_gemm_compressor.hpp).
bool has_open_choice(const Tcgen05Mma& i, const tcgen05::MmaTile& tile, std::size_t stored) {
  const auto together = static_cast<std::size_t>(tcgen05::stored_per_code(i.opcode.kind));
  const auto chunk = std::span(tile.a).subspan(stored / together * together, together);
  const auto is_special_b = [&](std::uint32_t element) {
    return is_float(i.idesc.b) && is_special(decode_float(i.idesc.b, element).kind);
  };
  return std::ranges::all_of(chunk, [&](std::uint32_t e) { return is_zero(i.idesc.a, e); }) &&
         std::ranges::none_of(tile.b, is_special_b);
}

// Faults: UndefinedMetadata, UnmodelledTmemOperand.
Fault gather_selection(TmemData& data, const Tcgen05Mma& i, tcgen05::MmaTile& tile) {
  constexpr std::uint32_t any_code = 0b0100;
  std::vector<std::uint16_t>& out = tile.selected_k;
  const tcgen05::TmemMetadata e = i.metadata_form();
  for (const int cta : data.ctas_of(i.opcode.cta_group))
    for (int row = 0; row < rows(e.datapath); ++row)
      for (int stored = 0; stored < tcgen05::products(e.kind); ++stored) {
        std::optional<std::uint32_t> code =
            code_of(data, cta, e, {row, stored / tcgen05::stored_per_code(e.kind)});
        if (!code) return Fault::UnmodelledTmemOperand;
        if (const Fault fault = tcgen05::check_code(e.kind, *code); fault != Fault::None) {
          if (!has_open_choice(i, tile, out.size())) return fault;
          code = any_code;
        }
        out.push_back(static_cast<std::uint16_t>(tcgen05::selected_k(e.kind, *code, stored)));
      }
  return Fault::None;
}

std::uint8_t scale(TmemData& data, int cta, const tcgen05::ScaleBuffer& buffer,
                   const TmemAddress& at, tcgen05::ScaleFactor factor) {
  const tcgen05::CellByte place = scale_place(buffer, factor, 0);
  const std::uint32_t word =
      data.memory(cta).load({place.tmem_lane, at.tmem_column + place.tmem_column});
  return static_cast<std::uint8_t>(word >> (8 * place.byte));
}

void gather_scales(TmemData& data, const Tcgen05Mma& i, tcgen05::MmaTile& tile) {
  const int factors = tcgen05::scale_count(i.opcode);
  const int group = i.opcode.cta_group;
  if (factors == 0) return;
  const auto sfa = tcgen05::sfa_buffer(i.idesc.m, group);
  const auto sfb = tcgen05::sfb_buffer(i.idesc.m, i.idesc.n, group);
  for (const int cta : data.ctas_of(group))
    for (int row = 0; row < i.idesc.m / group; ++row)
      for (int s = 0; s < factors; ++s)
        tile.scales_a.push_back(
            scale(data, cta, sfa, data.operation.scale_a, {row, i.idesc.scale_a_id + s}));
  for (int col = 0; col < i.idesc.n; ++col)
    for (int s = 0; s < factors; ++s)
      tile.scales_b.push_back(scale(data, data.ctas_of(group).front(), sfb, data.operation.scale_b,
                                    {col, i.idesc.scale_b_id + s}));
}

}  // namespace

Fault Tcgen05Mma::move(TmemData& data) const {
  tcgen05::MmaTile tile;
  tile.form = {opcode, idesc, accumulate, options.scale_input_d};
  gather_a(data, *this, tile.a);
  gather_b(data, *this, tile.b);
  if (opcode.sparse)
    if (const Fault fault = gather_selection(data, *this, tile); fault != Fault::None) return fault;
  gather_scales(data, *this, tile);
  std::vector<std::uint32_t> sums;
  const std::uint32_t mask = low_bits(bits(idesc.d));
  for_each_d(data, *this,
             [&](TensorMemory& cells, Cell cell) { sums.push_back(cells.load(cell) & mask); });
  const Fault fault = multiply(tile, sums);
  std::size_t next = 0;
  for_each_d(data, *this, [&](TensorMemory& cells, Cell cell) {
    const std::uint32_t sum = sums[next++];
    if (!keeps(cell.tmem_lane)) cells.store(cell, sum);
  });
  return fault;
}

}  // namespace tcq::machine
