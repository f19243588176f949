// `partition`: a CTA tile (bM, bN, bK, stages) cut into warpgroups and wgmma instructions, in
// CuTe's words.
//
// Decides which layouts are printed: sA, sB (shared memory), tCsA, tCsB (the same, cut into
// instructions), tCrA, tCrB (descriptor iterators; strides in 16-byte units), tCrC (registers) and
// tCgC (global memory, with ldC). All strides are probed from sim/isa through tiling.h. Example:
// half 128x64x3, MN-major, 128B: sA is
// Sw<3,4,3> o smem_ptr o ((_64,_2),(_8,_8),_3):((_1,_512),(_64,_1024),_8192).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/facts.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/atoms.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/tile/operand_layout.h"
#include "oracle/tile/tcgen05_partition.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::Multiplicand;

// Warpgroups that share the tile along M, N and K.
struct PartitionRequest {
  wgmma::Form form;
  std::uint32_t m, n, k;
  std::uint32_t stages;
  Atoms atoms;
  OperandTile a, b;
  std::optional<std::uint64_t> ldc;
};

// ---- Reading the question -----------------------------------------------------------------------

std::uint32_t extent_from(const Keys& keys, std::string_view key) {
  return static_cast<std::uint32_t>(keys.number(key, 1, longest_extent));
}

OperandTile operand_tile(const Keys& keys, const PartitionRequest& request, Multiplicand operand) {
  const bool is_a = operand == Multiplicand::A;
  OperandTile tile{request.form,
                   operand,
                   wgmma::operand_major(request.form, operand),
                   Swizzle::None,
                   keys.order(cute_order),
                   {is_a ? request.m : request.n, request.k},
                   {is_a ? request.atoms.m : request.atoms.n, request.atoms.k}};
  const std::string_view own = is_a ? "swizzle_a" : "swizzle_b";
  tile.swizzle = swizzle_from(keys, keys.has(own) ? own : "swizzle", tile);
  return tile;
}

PartitionRequest partition_request(const Question& question) {
  const Keys keys(
      words_from(question, 1), instruction_keys,
      {"bM", "bN", "bK", "stages", "atoms", "swizzle", "swizzle_a", "swizzle_b", "order", "ldC"});
  PartitionRequest r{};
  r.form = instruction_of(question, keys).form;
  if (r.form.sparse)
    throw UnmodelledError(
        "partition of sparse instructions is not modelled: expected a dense mnemonic");
  r.m = extent_from(keys, "bM");
  r.n = extent_from(keys, "bN");
  r.k = extent_from(keys, "bK");
  r.stages = static_cast<std::uint32_t>(keys.number_or("stages", 1, most_stages, 1));
  r.atoms = parse_atoms(keys.text("atoms", "1x1x1"));
  r.a = operand_tile(keys, r, Multiplicand::A);
  r.b = operand_tile(keys, r, Multiplicand::B);
  if (keys.has("ldC")) r.ldc = keys.number("ldC", r.m, 0xffffffff);
  return r;
}

void require_fit(const PartitionRequest& r) {
  std::vector<std::string> found = misfits(r.a);
  for (std::string& sentence : misfits(r.b)) found.push_back(std::move(sentence));
  const bool a_in_smem = r.form.a_place == wgmma::Place::Smem;
  const std::uint64_t needed =
      std::uint64_t{(a_in_smem ? tile_bytes(r.a) : 0) + tile_bytes(r.b)} * r.stages;
  if (needed > address_space_bytes)
    found.push_back(
        fmt::format("{} bytes of shared memory are more than the {} that a descriptor can address",
                    needed, address_space_bytes));
  if (!found.empty())
    throw FaultError(fmt::format("this tile cannot be partitioned: {}", fmt::join(found, "; ")));
}

// ---- Layouts ------------------------------------------------------------------------------------

struct Counts {
  std::uint32_t mn;
  std::uint32_t k;
};

// Instructions per warpgroup along MN and K of an operand.
Counts counts_of(const OperandTile& tile) {
  const Extent one = instruction_extent(tile);
  return {tile.extent.mn / (one.mn * tile.warpgroups.mn),
          tile.extent.k / (one.k * tile.warpgroups.k)};
}

std::int64_t stage_elements(const OperandTile& tile) {
  return std::int64_t{tile.extent.mn} * tile.extent.k;
}

CuteLayout staged_tile(const OperandTile& tile, std::uint32_t stages) {
  return cute_tuple({mn_mode(tile, 1, tile.extent.mn), k_mode(tile, 1, tile.extent.k),
                     cute_leaf(stages, stage_elements(tile))});
}

// The modes after the first: instructions along MN and K, stages.
std::vector<CuteLayout> rest_modes(const OperandTile& tile, std::uint32_t stages) {
  const Extent one = instruction_extent(tile);
  const Counts counts = counts_of(tile);
  return {mn_mode(tile, one.mn * tile.warpgroups.mn, counts.mn),
          k_mode(tile, one.k * tile.warpgroups.k, counts.k),
          cute_leaf(stages, stage_elements(tile))};
}

CuteLayout partitioned(const OperandTile& tile, std::uint32_t stages) {
  const Extent one = instruction_extent(tile);
  std::vector<CuteLayout> modes = {cute_tuple({mn_mode(tile, 1, one.mn), k_mode(tile, 1, one.k)})};
  for (CuteLayout& mode : rest_modes(tile, stages)) modes.push_back(std::move(mode));
  return cute_tuple(std::move(modes));
}

// Strides of elements -> strides of the start field.
CuteLayout in_field_units(CuteLayout layout, Type type) {
  layout.stride /= elements_in(type, 1 << StartAddress::unit_log2);
  for (CuteLayout& mode : layout.modes) mode = in_field_units(std::move(mode), type);
  return layout;
}

CuteLayout descriptors(const OperandTile& tile, std::uint32_t stages) {
  std::vector<CuteLayout> modes = {cute_leaf(1, 0)};
  for (CuteLayout& mode : rest_modes(tile, stages))
    modes.push_back(in_field_units(std::move(mode), type_of(tile)));
  return cute_tuple(std::move(modes));
}

// The shape of one thread's values of a fragment: one mode per direction in which they step.
template <class ElementOf>
CuteLayout values_shape(std::int64_t count, ElementOf&& element_of) {
  constexpr std::int64_t apart = std::int64_t{1} << 32;  // rows and columns never coalesce
  return probe(count, [&](std::int64_t value) {
    const wgmma::Element e = element_of(static_cast<int>(value));
    return e.row + e.col * apart;
  });
}

wgmma::Element accumulator_value(Type d, int value) {
  const int parts = parts_per_register(d);
  return wgmma::accumulator_element(d, {0, value / parts, value % parts});
}

std::int64_t accumulator_values(const wgmma::Form& f) {
  return wgmma::accumulator_registers(f.d, f.n) * parts_per_register(f.d);
}

CuteLayout register_a(const PartitionRequest& r) {
  const Type type = r.form.a;
  const int parts = parts_per_register(type);
  const CuteLayout values = values_shape(wgmma::a_registers * parts, [&](int value) {
    return wgmma::a_element(type, {0, value / parts, value % parts});
  });
  const Counts counts = counts_of(r.a);
  return compacted(cute_tuple({values, cute_leaf(counts.mn, 1), cute_leaf(counts.k, 1)}));
}

// The accumulator's values, then instructions along M and N.
CuteLayout accumulator_shape(const PartitionRequest& r) {
  CuteLayout values = values_shape(accumulator_values(r.form),
                                   [&](int value) { return accumulator_value(r.form.d, value); });
  // CuTe keeps a mode for the groups of columns even where there is one.
  if (values.modes.size() == 2) values.modes.push_back(cute_leaf(1, 0));
  return cute_tuple(
      {std::move(values), cute_leaf(counts_of(r.a).mn, 1), cute_leaf(counts_of(r.b).mn, 1)});
}

// tCgC of thread 0: column-major C, so a step along N is a run-time multiple of ldC.
CuteLayout global_c(const PartitionRequest& r) {
  CuteLayout layout = accumulator_shape(r);
  const auto ldc = static_cast<std::int64_t>(*r.ldc);
  std::int64_t step = 1;
  for (CuteLayout& mode : layout.modes[0].modes) {
    const wgmma::Element moved =
        mode.size == 1 ? wgmma::Element{} : accumulator_value(r.form.d, static_cast<int>(step));
    mode.stride = moved.row + moved.col * ldc;
    mode.dynamic = moved.col != 0;
    step *= mode.size;
  }
  const std::int64_t m_step = wgmma::m * r.atoms.m;
  const std::int64_t n_step = std::int64_t{r.form.n} * r.atoms.n;
  layout.modes[1] = cute_leaf(layout.modes[1].size, m_step);
  layout.modes[2] = cute_leaf(layout.modes[2].size, n_step * ldc);
  layout.modes[2].dynamic = layout.modes[2].size != 1;
  return layout;
}

// ---- Answer -------------------------------------------------------------------------------------

std::string descriptor_text(const OperandTile& tile) {
  const wgmma::MatrixDescriptor d = first_descriptor(tile, 0);
  return fmt::format("{} + (start >> {}): lbo_bytes {}, sbo_bytes {}, swizzle {}",
                     hex_word(encode(d), 64), StartAddress::unit_log2, d.lbo_bytes, d.sbo_bytes,
                     name(d.swizzle));
}

std::string steps_text(const OperandTile& tile, std::uint32_t stages) {
  const CuteLayout layout = descriptors(tile, stages);
  const auto steps = [&](std::size_t mode) {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < size(layout.modes[mode]); ++i)
      found.push_back(offset(layout.modes[mode], i));
    return fmt::format("{}", fmt::join(found, " "));
  };
  return fmt::format("{} {}; K {}; stage {}", tile.operand == Multiplicand::A ? "M" : "N", steps(1),
                     steps(2), steps(3));
}

void add_operand(const OperandTile& tile, std::uint32_t stages, Facts& facts) {
  const std::string letter = name(tile.operand);
  const std::string prefix = swizzle_prefix(tile.swizzle);
  facts.push_back({"s" + letter, prefix + to_string(staged_tile(tile, stages))});
  facts.push_back({"tCs" + letter, prefix + to_string(partitioned(tile, stages))});
  facts.push_back(
      {"tCr" + letter, "GMMA::DescriptorIterator o " + to_string(descriptors(tile, stages))});
  facts.push_back({"descriptor " + letter, descriptor_text(tile)});
  facts.push_back({"descriptor steps " + letter, steps_text(tile, stages)});
  facts.push_back({"bytes " + letter,
                   fmt::format("{} = {} x {} stages", std::uint64_t{tile_bytes(tile)} * stages,
                               tile_bytes(tile), stages)});
}

Facts facts_of(const PartitionRequest& r) {
  Facts facts;
  const Counts a = counts_of(r.a);
  const Counts b = counts_of(r.b);
  if (r.form.a_place == wgmma::Place::Smem) {
    add_operand(r.a, r.stages, facts);
  } else {
    facts.push_back({"tCrA", to_string(register_a(r))});
  }
  add_operand(r.b, r.stages, facts);
  facts.push_back({"order", std::string(name(r.b.order))});
  facts.push_back({"order note", std::string(partition_order_note)});
  facts.push_back({"tCrC", to_string(compacted(accumulator_shape(r)))});
  if (r.ldc) facts.push_back({"tCgC", to_string(global_c(r))});
  facts.push_back(
      {"threads", fmt::format("{}", static_cast<std::uint32_t>(wgmma::threads_per_warpgroup) *
                                        r.atoms.m * r.atoms.n * r.atoms.k)});
  facts.push_back({"accumulator registers per thread",
                   fmt::format("{}", static_cast<std::uint32_t>(
                                         wgmma::accumulator_registers(r.form.d, r.form.n)) *
                                         a.mn * b.mn)});
  facts.push_back({"instructions per warpgroup and stage",
                   fmt::format("{} = M {} x N {} x K {}", a.mn * b.mn * b.k, a.mn, b.mn, b.k)});
  return facts;
}

}  // namespace

Answer partition(const Question& question) {
  if (is_tcgen05(word_at(question, 0, "a mnemonic"))) return partition_tcgen05(question);
  const PartitionRequest request = partition_request(question);
  require_fit(request);
  const Facts facts = facts_of(request);
  const bool json = question.options.style == Style::Json;
  return {Status::Yes, json ? json_text(facts_members(facts)) : facts_lines(facts), ""};
}

}  // namespace tcq::oracle
