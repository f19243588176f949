// `partition` for tcgen05: shared memory, descriptors and accumulators of one CTA in CuTe notation.
//
// Decides which layouts are printed: sA, sB (CuTe's tile_to_mma_shape), tCrA, tCrB (descriptor
// iterators; strides in 16-byte units) and tCtC (Tensor Memory; strides in elements of D's type as
// CuTe counts them: a column has 32 bits, a lane 65536 columns). All strides are probed from
// sim/isa through tcgen05_tiling.h and the address of a cell. Example: f16, 128 x 256, bK = 64,
// K-major: sA is Sw<3,4,3> o smem_ptr o ((_128,_16),_1,_4,_1):((_64,_1),_0,_16,_0), tCtC
// tmem_[32b] o ((_128,_256),_1,_1):((_65536,_1),_0,_0).
//
// wgmma's is partition.cc. Not here: sparse forms, .ws, A in Tensor Memory, scale factors.
#include "oracle/tile/tcgen05_partition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/facts.h"
#include "oracle/answer/words.h"
#include "oracle/map/maps_tcgen05.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/tile/cute_layout.h"
#include "oracle/tile/tcgen05_tiling.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {
namespace {

using tcgen05::Accumulator;
using tcgen05::InstructionDescriptor;
using tcgen05::MmaOpcode;

struct Tcgen05Request {
  Tcgen05Instruction instruction;
  MmaOpcode op;
  std::uint32_t stages;
  Tcgen05Tile a, b;
  Accumulator accumulator;  // of one instruction
};

// ---- Reading the question -----------------------------------------------------------------------

[[noreturn]] void throw_unmodelled(std::string_view what) {
  throw UnmodelledError(
      fmt::format("not modelled: partition of {}; tcq layout plans it without CuTe's words", what));
}

MmaOpcode require_form(const Tcgen05Instruction& instruction) {
  const auto* mma = std::get_if<tcgen05::MmaForm>(&instruction.form);
  if (mma == nullptr)
    throw UsageError(fmt::format("tcgen05.{} multiplies nothing: expected tcgen05.mma",
                                 instruction_name(instruction.form)));
  const MmaOpcode& op = mma->opcode;
  if (op.sparse) throw_unmodelled("sparse tcgen05.mma (A as stored, tCtE)");
  if (op.ws) throw_unmodelled("tcgen05.mma.ws");
  if (op.a_place == tcgen05::Place::Tmem) throw_unmodelled("A in Tensor Memory (tCrA)");
  if (is_block_scaled(op.kind)) throw_unmodelled("block-scaled tcgen05.mma (tCtSFA, tCtSFB)");
  return op;
}

Tcgen05Tile tile_from(const Keys& keys, const Tcgen05Request& r, bool is_b) {
  Tcgen05Tile tile{r.op, r.instruction.idesc, is_b};
  const char* extent = is_b ? "bN" : "bM";
  const auto whole = static_cast<std::uint32_t>(keys.number(extent, 1, longest_extent));
  const auto pair = static_cast<std::uint32_t>(r.op.cta_group);
  if (whole % (instruction_mn(tile) * pair) != 0)
    throw FaultError(fmt::format(
        "this tile cannot be partitioned: {} is {}, not a multiple of the {} of one instruction",
        extent, whole, instruction_mn(tile) * pair));
  tile.mn = whole / pair;
  tile.k = static_cast<std::uint32_t>(keys.number("bK", 1, longest_extent));
  tile.order = keys.order(cute_order);
  tile.swizzle = swizzle_from(keys, is_b ? "swizzle_b" : "swizzle_a", tile);
  require_fit(tile, 0);
  return tile;
}

Tcgen05Request tcgen05_request(const Question& question) {
  const Keys keys(words_from(question, 1), tcgen05_keys,
                  {"bM", "bN", "bK", "stages", "swizzle", "swizzle_a", "swizzle_b", "order"});
  Tcgen05Request r{tcgen05_instruction_of(question, keys), {}, 1, {}, {}, {}};
  r.op = require_form(r.instruction);
  const InstructionDescriptor& d = r.instruction.idesc;
  r.stages = static_cast<std::uint32_t>(keys.number_or("stages", 1, most_stages, 1));
  r.a = tile_from(keys, r, false);
  r.b = tile_from(keys, r, true);
  r.accumulator = {datapath(r.op, d.m), d.n};
  return r;
}

// ---- Shared memory ------------------------------------------------------------------------------

std::int64_t signed_of(std::uint32_t value) { return static_cast<std::int64_t>(value); }

// Instructions along M or N, and along K.
std::int64_t count_mn(const Tcgen05Tile& tile) { return tile.mn / instruction_mn(tile); }
std::int64_t count_k(const Tcgen05Tile& tile) { return tile.k / instruction_k(tile); }

// What f(mn, k) makes of steps of the instruction's extents; `stage` is a stage's.
template <class Offset>
std::vector<CuteLayout> rest_modes(const Tcgen05Tile& tile, Offset&& f, std::uint32_t stages,
                                   std::int64_t stage) {
  const std::int64_t mn = instruction_mn(tile);
  const std::int64_t k = instruction_k(tile);
  return {probe(count_mn(tile), [&](std::int64_t i) { return f(i * mn, 0); }),
          probe(count_k(tile), [&](std::int64_t i) { return f(0, i * k); }),
          cute_leaf(stages, stage)};
}

CuteLayout shared_layout(const Tcgen05Tile& tile, std::uint32_t stages) {
  const auto at = [&](std::int64_t mn, std::int64_t k) { return element_offset(tile, mn, k); };
  std::vector<CuteLayout> modes = {
      cute_tuple({probe(instruction_mn(tile), [&](std::int64_t i) { return at(i, 0); }),
                  probe(instruction_k(tile), [&](std::int64_t i) { return at(0, i); })})};
  for (CuteLayout& mode : rest_modes(tile, at, stages, signed_of(tile.mn) * tile.k))
    modes.push_back(std::move(mode));
  return cute_tuple(std::move(modes));
}

std::int64_t start_code(std::uint32_t bytes) {
  return static_cast<std::int64_t>(StartAddress::code(StartAddress::encode(bytes)));
}

CuteLayout descriptors(const Tcgen05Tile& tile, std::uint32_t stages) {
  const auto at = [&](std::int64_t mn, std::int64_t k) {
    return start_code(
        descriptor_at(tile, 0, static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k))
            .start_bytes);
  };
  std::vector<CuteLayout> modes = {cute_leaf(1, 0)};
  for (CuteLayout& mode : rest_modes(tile, at, stages, start_code(compact(tile).bytes())))
    modes.push_back(std::move(mode));
  return cute_tuple(std::move(modes));
}

// ---- Tensor Memory ------------------------------------------------------------------------------

constexpr int cell_bits = 32;

int columns_per_accumulator(const Tcgen05Request& r) { return tcgen05::columns(r.accumulator); }

// A lane other than 0 at which an accumulator may begin; 0 if there is none.
int other_lane_base(tcgen05::Datapath datapath) {
  for (int lane = 1; lane < tcgen05::tmem_lanes; ++lane)
    if (is_lane_base(datapath, lane)) return lane;
  return 0;
}

// Accumulators that share columns: CuTe puts two half datapaths side by side, 16 lanes apart.
int side_by_side(const Tcgen05Request& r) {
  return other_lane_base(r.accumulator.datapath) > 0 ? 2 : 1;
}

// CuTe's address of D[m][n] of accumulator `index`, counted along M first.
std::int64_t d_address(const Tcgen05Request& r, std::int64_t index, tcgen05::Element e) {
  Accumulator at = r.accumulator;
  if (index % side_by_side(r) != 0) at.lane_base = other_lane_base(at.datapath);
  const tcgen05::Cell cell = d_cell(at, e);
  const int column = static_cast<int>(index / side_by_side(r)) * columns_per_accumulator(r);
  const std::uint32_t word = encode(tcgen05::TmemAddress{cell.tmem_lane, cell.tmem_column}) +
                             static_cast<std::uint32_t>(column);
  return std::int64_t{word} * (cell_bits / bits(r.instruction.idesc.d));
}

int accumulator_columns(const Tcgen05Request& r) {
  const std::int64_t count = count_mn(r.a) * count_mn(r.b);
  return static_cast<int>((count + side_by_side(r) - 1) / side_by_side(r)) *
         columns_per_accumulator(r);
}

void require_accumulators(const Tcgen05Request& r) {
  const int columns = accumulator_columns(r);
  if (columns > tcgen05::tmem_columns)
    throw FaultError(fmt::format(
        "this tile cannot be partitioned: its accumulators take {} columns of Tensor Memory, "
        "which has {}",
        columns, tcgen05::tmem_columns));
  const std::int64_t m = count_mn(r.a);
  const std::int64_t along = m > 1 ? m : count_mn(r.b);
  if (side_by_side(r) == 2 && along > 1 && along % 2 != 0)
    throw_unmodelled(fmt::format(
        "{} x {} accumulators of 64 rows, of which two share columns: no CuTe layout counts them",
        m, count_mn(r.b)));
}

CuteLayout accumulators(const Tcgen05Request& r) {
  const std::int64_t m = count_mn(r.a);
  const auto local = [&](std::int64_t row, std::int64_t col) {
    return d_address(r, 0, {static_cast<int>(row), static_cast<int>(col)});
  };
  return cute_tuple(
      {cute_tuple({probe(rows(r.accumulator.datapath), [&](std::int64_t i) { return local(i, 0); }),
                   probe(r.accumulator.n, [&](std::int64_t i) { return local(0, i); })}),
       probe(m,
             [&](std::int64_t i) {
               return d_address(r, i, {0, 0});
             }),
       probe(count_mn(r.b), [&](std::int64_t i) {
         return d_address(r, m * i, {0, 0});
       })});
}

// ---- Answer -------------------------------------------------------------------------------------

std::string descriptor_text(const Tcgen05Tile& tile) {
  const tcgen05::SmemDescriptor d = descriptor_at(tile, 0, 0, 0);
  return fmt::format("{} + (start >> {}): lbo_bytes {}, sbo_bytes {}, swizzle {}",
                     hex_word(encode(d), 64), StartAddress::unit_log2, d.lbo_bytes, d.sbo_bytes,
                     name(d.swizzle));
}

void add_operand(const Tcgen05Tile& tile, std::uint32_t stages, Facts& facts) {
  const std::string letter = tile.is_b ? "B" : "A";
  facts.push_back(
      {"s" + letter, swizzle_prefix(tile.swizzle) + to_string(shared_layout(tile, stages))});
  facts.push_back(
      {"tCr" + letter, "UMMA::DescriptorIterator o " + to_string(descriptors(tile, stages))});
  facts.push_back({"descriptor " + letter, descriptor_text(tile)});
  facts.push_back({"bytes " + letter,
                   fmt::format("{} = {} x {} stages{}",
                               std::uint64_t{compact(tile).bytes()} * stages, compact(tile).bytes(),
                               stages, tile.opcode.cta_group == 2 ? ", in each CTA" : "")});
}

void require_shared(const Tcgen05Request& r) {
  const std::uint64_t bytes =
      (std::uint64_t{compact(r.a).bytes()} + compact(r.b).bytes()) * r.stages;
  if (bytes > address_space_bytes)
    throw FaultError(fmt::format(
        "this tile cannot be partitioned: {} bytes of shared memory are more than the {} that a "
        "descriptor can address",
        bytes, address_space_bytes));
}

Facts facts_of(const Tcgen05Request& r) {
  const InstructionDescriptor& d = r.instruction.idesc;
  Facts facts = {{"instruction", mnemonic_with_keys(r.instruction)}};
  add_operand(r.a, r.stages, facts);
  add_operand(r.b, r.stages, facts);
  facts.push_back({"order", std::string(name(r.b.order))});
  facts.push_back({"order note", std::string(partition_order_note)});
  facts.push_back({"tCtC", fmt::format("tmem_[{}b] o {}", bits(d.d), to_string(accumulators(r)))});
  facts.push_back({"accumulator columns", fmt::format("{}", accumulator_columns(r))});
  facts.push_back(
      {"instructions per stage",
       fmt::format("{} = M {} x N {} x K {}", count_mn(r.a) * count_mn(r.b) * count_k(r.a),
                   count_mn(r.a), count_mn(r.b), count_k(r.a))});
  for (const Tcgen05Tile& tile : {r.a, r.b})
    if (const std::string note = container_text({tile.opcode, tile.idesc, tile.is_b, {}});
        !note.empty())
      facts.push_back({tile.is_b ? "note B" : "note A", note});
  return facts;
}

}  // namespace

Answer partition_tcgen05(const Question& question) {
  const Tcgen05Request request = tcgen05_request(question);
  require_shared(request);
  require_accumulators(request);
  const Facts facts = facts_of(request);
  const bool json = question.options.style == Style::Json;
  return {Status::Yes, json ? json_text(facts_members(facts)) : facts_lines(facts), ""};
}

}  // namespace tcq::oracle
