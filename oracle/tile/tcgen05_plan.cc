// Regions, copies and K steps of a tcgen05 tile; see tcgen05_plan.h.
#include "oracle/tile/tcgen05_plan.h"

#include <fmt/format.h>

#include "oracle/map/maps_tcgen05.h"
#include "oracle/map/scale_blocks.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/isa/tmem/operand.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::uint32_t scale_alignment = 128;  // of a row of atoms in shared memory
constexpr int atom_columns = 4;                 // that one copy of an atom fills

const MmaOpcode& opcode_of(const Tcgen05Instruction& instruction) {
  return std::get<MmaForm>(instruction.form).opcode;
}

std::uint32_t aligned(std::uint32_t at, std::uint32_t unit) {
  return (at + unit - 1) / unit * unit;
}

// Columns of mn side by side: half of them in a split buffer.
int across(const ScaleBuffer& buffer) { return buffer.split ? buffer.mn / 2 : buffer.mn; }

int mn_atoms(const ScaleBuffer& buffer) {
  return (across(buffer) + scale_atom_mn - 1) / scale_atom_mn;
}

// With whole atoms in Tensor Memory: the copies write all of them.
ScaleBuffer padded(ScaleBuffer buffer) {
  buffer.column_step = atom_columns * mn_atoms(buffer);
  return buffer;
}

int columns_of(const ScalePlan& plan) {
  return scale_atoms_along_k(plan.factors) * plan.buffer.column_step;
}

std::uint32_t bytes_of(const ScalePlan& plan) {
  const int atoms = scale_atoms_along_k(plan.factors) * mn_atoms(plan.buffer);
  return static_cast<std::uint32_t>(atoms * (plan.buffer.split ? 2 : 1) * scale_atom_bytes);
}

// ---- Building -----------------------------------------------------------------------------------

class Planner {
 public:
  Planner(const Tcgen05Instruction& instruction, int k, const Keys& keys)
      : keys_(keys),
        op_(opcode_of(instruction)),
        d_(instruction.idesc),
        next_byte_(
            static_cast<std::uint32_t>(keys.number_or("start", 0, address_space_bytes - 1, 0))) {
    plan_.instruction = instruction;
    plan_.k = k;
  }

  TilePlan plan() {
    require_k();
    add_d();
    if (op_.a_place == Place::Smem)
      plan_.a = add_operand(false, "swizzle_a");
    else
      add_tmem("A", columns_of_matrix(TmemMatrix::A) * steps());
    plan_.b = add_operand(true, "swizzle_b");
    if (op_.sparse) add_metadata();
    if (is_block_scaled(op_.kind)) add_scales();
    allocate();
    for (int step = 0; step < steps(); ++step) add_step(step);
    return std::move(plan_);
  }

 private:
  int steps() const { return plan_.k / tcgen05::k(op_, d_); }

  void require_k() const {
    if (d_.k96)
      throw UnmodelledError(
          "not modelled: tiles of K = 96, whose instructions cross 128-byte lines; expected K = "
          "64");
    const int one = tcgen05::k(op_, d_);
    if (plan_.k % one != 0)
      throw FaultError(fmt::format(
          "this tile cannot be laid out: K is {}, not a multiple of the {} of one instruction",
          plan_.k, one));
  }

  void add_tmem(const char* name, int columns) {
    plan_.tmem.push_back({name, next_column_, columns});
    next_column_ += columns;
  }

  int column_of(std::string_view name) const {
    for (const TmemRegion& region : plan_.tmem)
      if (region.name == name) return region.column;
    return 0;
  }

  void add_d() { add_tmem("D", tcgen05::columns(Accumulator{datapath(op_, d_.m), d_.n})); }

  int columns_of_matrix(TmemMatrix matrix) const {
    const TmemOperand operand = tmem_operand(plan_.instruction, matrix);
    require(operand);
    return columns(operand);
  }

  // Whole copies of metadata: what follows begins behind them.
  void add_metadata() {
    require(tmem_operand(plan_.instruction, TmemMatrix::E));
    const int columns = steps() * metadata_columns(op_.kind);
    if (columns > metadata_columns(op_.kind) && metadata_pairs_rows(op_.kind) && op_.ws)
      throw UnmodelledError(
          fmt::format("not modelled: metadata of {} blocks of K with .ws, for which no source says "
                      "how the second is named; expected k={}",
                      steps(), tcgen05::k(op_, d_)));
    add_tmem("E", static_cast<int>(aligned(static_cast<std::uint32_t>(columns),
                                           static_cast<std::uint32_t>(metadata_column_unit))));
  }

  Tcgen05Tile add_operand(bool is_b, std::string_view swizzle_key) {
    Tcgen05Tile tile{op_, d_, is_b};
    tile.mn = instruction_mn(tile);
    tile.k = static_cast<std::uint32_t>(steps()) * instruction_k(tile);
    tile.order = keys_.order(usual_order(major_of(tile)));
    tile.swizzle = oracle::swizzle_from(keys_, swizzle_key, tile);
    const Tile t = compact(tile);
    // The first region lies where it was asked for; require_fit() says if that is wrong.
    if (!plan_.shared.empty()) next_byte_ = aligned(next_byte_, t.atom_bytes());
    require_fit(tile, next_byte_);
    add_shared(is_b ? "B" : "A", t.bytes());
    return tile;
  }

  void add_shared(const char* name, std::uint32_t bytes) {
    plan_.shared.push_back({name, next_byte_, bytes});
    next_byte_ += bytes;
  }

  void add_scales() {
    plan_.sfa = add_scale("SFA", sfa_buffer(d_.m, op_.cta_group));
    plan_.sfb = add_scale("SFB", sfb_buffer(d_.m, d_.n, op_.cta_group));
  }

  ScalePlan add_scale(const char* name, const ScaleBuffer& buffer) {
    next_byte_ = aligned(next_byte_, scale_alignment);
    const ScalePlan scales = {padded(buffer), steps() * scale_factors(op_, d_), next_byte_,
                              next_column_};
    add_shared(name, bytes_of(scales));
    if (next_byte_ > address_space_bytes)
      throw FaultError(
          fmt::format("{} ends at byte {}, beyond the {} bytes that a descriptor can "
                      "address",
                      name, next_byte_, address_space_bytes));
    add_tmem(name, columns_of(scales));
    add_copies(name, scales);
    return scales;
  }

  void add_copies(const char* name, const ScalePlan& scales) {
    const bool split = scales.buffer.split;
    for (int group = 0; group < scale_atoms_along_k(scales.factors); ++group) {
      for (int atom = 0; atom < mn_atoms(scales.buffer); ++atom) {
        const std::uint32_t byte =
            scale_source_byte(scales, {scale_atom_mn * atom, scale_group * group});
        plan_.copies.push_back(
            {name, split ? CpShape::S64x128b_01_23 : CpShape::S32x128b, scale_atom_descriptor(byte),
             scales.tmem_column + scales.buffer.column_step * group + atom_columns * atom});
      }
    }
  }

  void allocate() {
    plan_.columns = next_column_;
    plan_.allocation = smallest_allocation(next_column_);
    if (plan_.allocation <= tmem_columns) return;
    std::string parts;
    for (const TmemRegion& region : plan_.tmem)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", region.name, region.columns);
    throw FaultError(fmt::format(
        "this tile cannot be laid out: it takes {} columns of Tensor Memory ({}), which has {}",
        next_column_, parts, tmem_columns));
  }

  void add_step(int step) {
    PlanStep s{step * tcgen05::k(op_, d_), {}, {}, d_};
    const auto stored = static_cast<std::uint32_t>(step * stored_k(op_, d_));
    if (plan_.a) s.a = descriptor_at(*plan_.a, plan_.shared[0].start, 0, stored);
    s.b = descriptor_at(plan_.b, plan_.shared[plan_.a ? 1 : 0].start, 0,
                        static_cast<std::uint32_t>(s.k));
    if (!plan_.a) s.a_column = column_of("A") + step * columns_of_matrix(TmemMatrix::A);
    if (op_.sparse) {
      const MetadataAddress e =
          metadata_address(op_.kind, column_of("E") + step * metadata_columns(op_.kind));
      s.metadata_column = e.tmem_column;
      s.idesc.selector = e.selector;
    }
    if (plan_.sfa) {
      const int first = step * scale_factors(op_, d_);
      const ScaleStart a = scale_start(plan_.sfa->buffer, first);
      const ScaleStart b = scale_start(plan_.sfb->buffer, first);
      s.idesc.scale_a_id = a.id;
      s.idesc.scale_b_id = b.id;
      s.scale_a_column = plan_.sfa->tmem_column + a.tmem_column;
      s.scale_b_column = plan_.sfb->tmem_column + b.tmem_column;
    }
    plan_.steps.push_back(s);
  }

  const Keys& keys_;
  MmaOpcode op_;
  InstructionDescriptor d_;
  std::uint32_t next_byte_;
  int next_column_ = 0;
  TilePlan plan_ = {};
};

}  // namespace

TilePlan plan_tile(const Tcgen05Instruction& instruction, int k, const Keys& keys) {
  return Planner(instruction, k, keys).plan();
}

std::uint32_t scale_source_byte(const ScalePlan& plan, ScaleFactor f) {
  return plan.start + scale_source_byte(plan.buffer, plan.factors, f);
}

}  // namespace tcq::oracle
