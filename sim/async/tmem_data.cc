// The data of tcgen05 operations, when it is due: bits between registers, shared memory and cells.
//
// D's bits are those of tcgen05_mma.h. The upper half of a cell of f16 D, which no source settles,
// becomes 0.
#include <algorithm>

#include "sim/async/executor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/operand.h"
#include "sim/machine/tcgen05_mma.h"

namespace tcq::machine {
namespace {

using tcgen05::Cell;
using tcgen05::TmemAddress;

constexpr std::uint32_t low_half = 0xffff;

constexpr std::uint32_t low_bits(int count) { return count == 32 ? ~0u : (1u << count) - 1; }

Cell moved(const TmemAddress& at, const Cell& offset) {
  return {at.tmem_lane + offset.tmem_lane, at.tmem_column + offset.tmem_column};
}

// One operation, which may touch the memories of one or two CTAs.
class TmemMover {
 public:
  TmemMover(const Tcgen05Operation& operation, std::vector<Cta>& ctas, Tcgen05State& state,
            Warp& warp)
      : operation_(operation), ctas_(ctas), state_(state), warp_(warp) {}

  Fault fault() const { return fault_; }

  void operator()(const Tcgen05Ld& i) {
    TensorMemory& cells = memory(warp_.cta);
    for_each_slot(i.fragment, [&](std::size_t lane, int reg, int half, Cell cell) {
      std::uint32_t& word = warp_.registers.of_reg[static_cast<std::size_t>(i.reg + reg)][lane];
      const std::uint32_t found = cells.load(cell);
      if (!i.fragment.packed)
        word = found;
      else
        word = half == 0 ? (found & low_half) : (word & low_half) | found << 16;
    });
  }

  void operator()(const Tcgen05St& i) {
    TensorMemory& cells = memory(warp_.cta);
    for_each_slot(i.fragment, [&](std::size_t lane, int reg, int half, Cell cell) {
      const std::uint32_t word = operation_.registers[static_cast<std::size_t>(reg)][lane];
      if (!i.fragment.packed) return cells.store(cell, word);
      const std::uint32_t part = half == 0 ? word & low_half : word >> 16;
      cells.store(cell, (cells.load(cell) & ~low_half) | part);
    });
  }

  void operator()(const Tcgen05Cp& i) {
    for (const int cta : ctas_of(i.cta_group))
      for (int row = 0; row < cp_rows(i.shape); ++row)
        for (int copy = 0; copy < cp_copies(i.shape); ++copy)
          for (int byte = 0; byte < cp_row_bytes(i.shape); byte += 4) {
            const tcgen05::CellByte to = cp_place(i.shape, {row, byte}, copy);
            const auto word = shared(cta).load<std::uint32_t>(cp_address(i.from, {row, byte}));
            memory(cta).store(moved(operation_.at, {to.tmem_lane, to.tmem_column}), word);
          }
  }

  void operator()(const Tcgen05Shift& i) {
    for (const int cta : ctas_of(i.cta_group))
      for (int column = 0; column < tcgen05::shift_columns; ++column)
        for (int lane = operation_.at.tmem_lane; lane < tcgen05::tmem_lanes; ++lane) {
          const int at = operation_.at.tmem_column + column;
          const int source = tcgen05::shift_source(lane).tmem_lane;
          memory(cta).store({lane, at}, memory(cta).load({source, at}));
        }
  }

  void operator()(const Tcgen05Mma& i) {
    tcgen05::MmaTile tile;
    tile.form = {i.opcode, i.idesc, i.accumulate, 0};
    gather_a(i, tile.a);
    gather({i.b, i.idesc.b, i.idesc.n / i.opcode.cta_group}, i.opcode, tile.b);
    gather_scales(i, tile);
    std::vector<std::uint32_t> d;
    const std::uint32_t mask = low_bits(bits(i.idesc.d));
    for_each_d(i, [&](TensorMemory& cells, Cell cell) { d.push_back(cells.load(cell) & mask); });
    fault_ = multiply(tile, d);
    std::size_t next = 0;
    for_each_d(i, [&](TensorMemory& cells, Cell cell) { cells.store(cell, d[next++]); });
  }

  void operator()(const auto&) const {}

 private:
  TensorMemory& memory(int cta) { return state_.memory[static_cast<std::size_t>(cta)]; }
  const SharedMemory& shared(int cta) const { return ctas_[static_cast<std::size_t>(cta)].shared; }
  std::vector<int> ctas_of(int cta_group) const {
    if (cta_group == 1) return {warp_.cta};
    return {warp_.cta / 2 * 2, warp_.cta / 2 * 2 + 1};
  }

  template <class Visit>
  void for_each_slot(const tcgen05::Fragment& f, Visit visit) const {
    for (int reg = 0; reg < registers(f); ++reg)
      for (int half = 0; half < halves(f); ++half)
        for (int lane = 0; lane < warp_threads; ++lane)
          visit(static_cast<std::size_t>(lane), reg, half,
                moved(operation_.at, fragment_cell(f, {lane, reg, half})));
  }

  // Rows from the even CTA on, columns within.
  template <class Visit>
  void for_each_d(const Tcgen05Mma& i, Visit visit) {
    const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
    const tcgen05::Accumulator d = {datapath, i.idesc.n, operation_.at.tmem_lane};
    for (const int cta : ctas_of(i.opcode.cta_group))
      for (int row = 0; row < rows(datapath); ++row)
        for (int col = 0; col < i.idesc.n; ++col) {
          Cell cell = d_cell(d, {row, col});
          cell.tmem_column += operation_.at.tmem_column;
          visit(memory(cta), cell);
        }
  }

  // A or B in shared memory: each CTA has the rows or columns of its half.
  struct SmemMatrix {
    const SmemOperand& operand;
    Type type;
    int rows_per_cta;
  };

  // Element k of a row or column.
  std::uint32_t element(const SmemMatrix& of, int cta, tcgen05::Kind kind, int mn, int k) const {
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
      word |= std::uint32_t{shared(cta).load<std::uint8_t>(address + i)} << (8 * i);
    return word >> (bit % 8) & low_bits(bits(of.type));
  }

  void gather(const SmemMatrix& of, const tcgen05::MmaOpcode& opcode,
              std::vector<std::uint32_t>& out) const {
    for (const int cta : ctas_of(opcode.cta_group))
      for (int mn = 0; mn < of.rows_per_cta; ++mn)
        for (int k = 0; k < tcgen05::products(opcode.kind); ++k)
          out.push_back(element(of, cta, opcode.kind, mn, k));
  }

  void gather_a(const Tcgen05Mma& i, std::vector<std::uint32_t>& out) {
    const int group = i.opcode.cta_group;
    if (i.opcode.a_place == tcgen05::Place::Smem)
      return gather({i.a, i.idesc.a, i.idesc.m / group}, i.opcode, out);
    const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
    const tcgen05::TmemA a = {datapath, i.opcode.kind, operation_.a.tmem_lane};
    const int payload = tcgen05::tmem_payload_low_bit(i.opcode.kind, i.idesc.a);
    for (const int cta : ctas_of(group))
      for (int row = 0; row < rows(datapath); ++row)
        for (int k = 0; k < tcgen05::products(i.opcode.kind); ++k) {
          const tcgen05::CellBit place = a_place(a, {row, k});
          const Cell cell = {place.tmem_lane, operation_.a.tmem_column + place.tmem_column};
          out.push_back(memory(cta).load(cell) >> (place.low_bit + payload) &
                        low_bits(bits(i.idesc.a)));
        }
  }

  std::uint8_t scale(int cta, const tcgen05::ScaleBuffer& buffer, const TmemAddress& at,
                     tcgen05::ScaleFactor factor) {
    const tcgen05::CellByte place = scale_place(buffer, factor, 0);
    const std::uint32_t word =
        memory(cta).load({place.tmem_lane, at.tmem_column + place.tmem_column});
    return static_cast<std::uint8_t>(word >> (8 * place.byte));
  }

  void gather_scales(const Tcgen05Mma& i, tcgen05::MmaTile& tile) {
    const int factors = tcgen05::scale_count(i.opcode);
    const int group = i.opcode.cta_group;
    if (factors == 0) return;
    const auto sfa = tcgen05::sfa_buffer(i.idesc.m, group);
    const auto sfb = tcgen05::sfb_buffer(i.idesc.m, i.idesc.n, group);
    for (const int cta : ctas_of(group))
      for (int row = 0; row < i.idesc.m / group; ++row)
        for (int s = 0; s < factors; ++s)
          tile.scales_a.push_back(
              scale(cta, sfa, operation_.scale_a, {row, i.idesc.scale_a_id + s}));
    for (int col = 0; col < i.idesc.n; ++col)
      for (int s = 0; s < factors; ++s)
        tile.scales_b.push_back(
            scale(ctas_of(group).front(), sfb, operation_.scale_b, {col, i.idesc.scale_b_id + s}));
  }

  const Tcgen05Operation& operation_;
  std::vector<Cta>& ctas_;
  Tcgen05State& state_;
  Warp& warp_;
  Fault fault_ = Fault::None;
};

}  // namespace

void Executor::move_tmem(Cluster& c, std::uint32_t number) {
  auto& operations = c.tcgen05_.operations;
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const auto& x) { return x.number == number; });
  if (found == operations.end() || c.finding_) return;
  const Tcgen05Operation operation = std::move(*found);
  operations.erase(found);
  for (const std::uint32_t earlier : operation.before) move_tmem(c, earlier);
  TmemMover mover(operation, c.ctas_, c.tcgen05_,
                  c.warps_[static_cast<std::size_t>(operation.warp)]);
  std::visit(mover, c.statements_[operation.statement]->what);
  if (mover.fault() != Fault::None)
    c.fail({.fault = mover.fault(), .at = {operation.statement, operation.warp, -1}});
}

}  // namespace tcq::machine
