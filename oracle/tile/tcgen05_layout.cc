// `layout` for tcgen05: one operand in shared memory, or everything that a GEMM tile needs.
//
// Decides what is asked and printed; numbers are tcgen05_tiling.h's and tcgen05_plan.h's. k= is K of
// the tile here, m= and n= are the instruction's. Example: `tcq layout
// tcgen05.mma.cta_group::1.kind::f16 A rows=128 k=64` and the same with m=128 n=256 k=64 in place of
// A.
#include "oracle/tile/tcgen05_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/facts.h"
#include "oracle/map/maps_tcgen05.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/tile/operand_layout.h"
#include "oracle/tile/tcgen05_plan.h"
#include "oracle/tile/tcgen05_tiling.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/operand.h"

namespace tcq::oracle {
namespace {

using tcgen05::SmemDescriptor;

constexpr int idesc_bits = 32;

std::string word_of(const SmemDescriptor& d) { return hex_word(encode(d), descriptor_bits); }

std::string word_of(const tcgen05::InstructionDescriptor& d, tcgen05::Kind kind) {
  return hex_word(encode(d, kind), idesc_bits);
}

bool has_matrix(const Question& question) {
  return question.words.size() > 1 && question.words[1].find('=') == std::string_view::npos;
}

// k= means the tile here; everything else is the instruction's own.
Tcgen05Instruction instruction_without_k(const Question& question,
                                         std::initializer_list<std::string_view> own,
                                         std::span<const std::string_view> words) {
  std::vector<std::string_view> rest;
  for (const std::string_view word : words)
    if (!word.starts_with("k=")) rest.push_back(word);
  const Tcgen05Instruction instruction =
      tcgen05_instruction_of(question, Keys(rest, tcgen05_keys, own));
  if (!std::holds_alternative<tcgen05::MmaForm>(instruction.form))
    throw UsageError(fmt::format("tcgen05.{} multiplies nothing: expected tcgen05.mma",
                                 instruction_name(instruction.form)));
  return instruction;
}

// ---- One operand --------------------------------------------------------------------------------

const std::initializer_list<std::string_view> operand_keys = {"rows",  "major", "swizzle",
                                                              "order", "start", "type"};

struct OperandRequest {
  Tcgen05Tile tile;
  std::uint32_t start;
};

void set_major(Tcgen05Tile& tile, const Keys& keys) {
  if (!keys.has("major")) return;
  Major& major = tile.is_b ? tile.idesc.major_b : tile.idesc.major_a;
  major = keys.major("major");
}

OperandRequest operand_request(const Question& question) {
  const std::span<const std::string_view> words = words_from(question, 2);
  const Keys keys(words, tcgen05_keys, operand_keys);
  const Tcgen05Instruction instruction = instruction_without_k(question, operand_keys, words);
  const tcgen05::MmaOpcode& op = std::get<tcgen05::MmaForm>(instruction.form).opcode;
  Tcgen05Tile tile{op, instruction.idesc,
                   parse_multiplicand(question.words[1]) == wgmma::Multiplicand::B};
  if (!tile.is_b && op.a_place == tcgen05::Place::Tmem)
    throw UsageError(
        "a=tmem: A in Tensor Memory has no shared-memory layout; expected B, or no a=");
  const std::string_view type = name(type_of(tile));
  if (!same_word(keys.text("type", type), type))
    throw UsageError(fmt::format("type {} is not the instruction's: expected type={}, or type_{}=",
                                 quoted(keys.text("type", "")), type, tile.is_b ? "b" : "a"));
  set_major(tile, keys);
  tile.mn =
      static_cast<std::uint32_t>(keys.number_or("rows", 1, longest_extent, instruction_mn(tile)));
  tile.k = static_cast<std::uint32_t>(keys.number_or("k", 1, longest_extent, instruction_k(tile)));
  tile.order = keys.order(usual_order(major_of(tile)));
  tile.swizzle = swizzle_from(keys, "swizzle", tile);
  const auto start =
      static_cast<std::uint32_t>(keys.number_or("start", 0, address_space_bytes - 1, 0));
  require_fit(tile, start);
  return {tile, start};
}

std::vector<OperandBlock> blocks_of(const OperandRequest& request) {
  const Tcgen05Tile& tile = request.tile;
  std::vector<OperandBlock> blocks;
  for (std::uint32_t mn = 0; mn < tile.mn; mn += instruction_mn(tile))
    for (std::uint32_t k = 0; k < tile.k; k += instruction_k(tile)) {
      const SmemDescriptor d = descriptor_at(tile, request.start, mn, k);
      blocks.push_back({mn, k, d.start_bytes, encode(d)});
    }
  return blocks;
}

OperandLayout layout_of(const OperandRequest& request) {
  const Tcgen05Tile& tile = request.tile;
  const SmemDescriptor first = descriptor_at(tile, request.start, 0, 0);
  const std::uint32_t mn = instruction_mn(tile), k = instruction_k(tile);
  return {
      .title = tile_text(tile),
      .tile = compact(tile),
      .swizzle = tile.swizzle,
      .type = stored_type(tile),
      .read = offsets_read(canonical_layout(first, major_of(tile)), byte_of(tile, mn - 1, k - 1)),
      .lbo_bytes = first.lbo_bytes,
      .sbo_bytes = first.sbo_bytes,
      .cute = cute_text(tile),
      .instruction_mn = mn,
      .instruction_k = k,
      .instruction_k_bytes = bytes_of(tile, k),
      .container = container_text({tile.opcode, tile.idesc, tile.is_b, first}),
      .blocks = blocks_of(request)};
}

// ---- A whole tile -------------------------------------------------------------------------------

const std::initializer_list<std::string_view> tile_keys = {"swizzle", "swizzle_a", "swizzle_b",
                                                           "order", "start"};

// What a plan decides for every step.
void refuse_planned(const Keys& keys) {
  for (const std::string_view key : {"selector", "scale_a_id", "scale_b_id"})
    if (keys.has(key))
      throw UsageError(fmt::format(
          "{0}= is what the plan chooses for every step along K: expected no {0}=", key));
}

TilePlan plan_from(const Question& question) {
  const std::span<const std::string_view> words = words_from(question, 1);
  const Keys keys(words, tcgen05_keys, tile_keys);
  const Tcgen05Instruction instruction = instruction_without_k(question, tile_keys, words);
  refuse_planned(keys);
  const auto& op = std::get<tcgen05::MmaForm>(instruction.form).opcode;
  const auto one = static_cast<std::uint64_t>(k(op, instruction.idesc));
  const int k = static_cast<int>(keys.number_or("k", 1, longest_extent, one));
  return plan_tile(instruction, k, keys);
}

tcgen05::Kind kind_of(const TilePlan& plan) { return plan.b.opcode.kind; }

std::string whole_text(const TilePlan& plan) {
  const tcgen05::InstructionDescriptor& d = plan.b.idesc;
  const int pair = plan.b.opcode.cta_group;
  return fmt::format("D {} x {} {} += A {} x {} {} * B {} x {} {}, {} instruction{} along K{}", d.m,
                     d.n, name(d.d), d.m, plan.k, name(d.a), plan.k, d.n, name(d.b),
                     plan.steps.size(), plan.steps.size() == 1 ? "" : "s",
                     pair == 2 ? ", by a pair of CTAs" : "");
}

std::string shared_text(const TilePlan& plan) {
  std::string text;
  for (const SmemRegion& region : plan.shared)
    text += fmt::format("{}{} [{:#x},{:#x})", text.empty() ? "" : ", ", region.name, region.start,
                        region.start + region.bytes);
  const SmemRegion& last = plan.shared.back();
  return text + fmt::format(": {} bytes{}", last.start + last.bytes - plan.shared.front().start,
                            plan.b.opcode.cta_group == 2 ? " in each CTA" : "");
}

std::string tmem_text(const TilePlan& plan) {
  std::string text;
  for (const TmemRegion& region : plan.tmem)
    text += fmt::format("{}{} [{},{})", text.empty() ? "" : ", ", region.name, region.column,
                        region.column + region.columns);
  return text + fmt::format(": {} columns, allocate {}", plan.columns, plan.allocation);
}

std::string scales_text(const ScalePlan& scales) {
  return fmt::format("{} x {} factors, {} columns for each 4 of them{}", scales.buffer.mn,
                     scales.factors, scales.buffer.column_step,
                     scales.buffer.split
                         ? ", each half of N in its half of the lanes; atoms of both halves side "
                           "by side in shared memory"
                         : "");
}

std::string copy_text(const TilePlan& plan, const ScaleCopy& copy) {
  const tcgen05::CpForm form = cp_form(copy.shape, plan.b.opcode.cta_group);
  return fmt::format("{} [column {}], {}", full_opcode(Tcgen05Form(form)), copy.tmem_column,
                     word_of(copy.source));
}

bool chooses_selector(const TilePlan& plan) {
  const tcgen05::MmaOpcode& op = plan.b.opcode;
  return op.sparse && tcgen05::metadata_selectors(op.kind, op.ws) > 1;
}

std::string step_text(const TilePlan& plan, const PlanStep& step) {
  std::string text =
      step.a ? "desc_a " + word_of(*step.a) : fmt::format("A column {}", step.a_column);
  text += fmt::format(", desc_b {}, idesc {}", word_of(step.b), word_of(step.idesc, kind_of(plan)));
  if (plan.b.opcode.sparse) {
    text += fmt::format(", metadata column {}", step.metadata_column);
    if (chooses_selector(plan)) text += fmt::format(" selector {}", step.idesc.selector);
  }
  if (plan.sfa)
    text += fmt::format(", scale_a column {} id {}, scale_b column {} id {}", step.scale_a_column,
                        step.idesc.scale_a_id, step.scale_b_column, step.idesc.scale_b_id);
  return text;
}

std::vector<std::string> notes_of(const TilePlan& plan) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  };
  add(doubt(tmem_operand(plan.instruction, TmemMatrix::D)));
  if (plan.sfa) {
    add(doubt(tmem_operand(plan.instruction, TmemMatrix::SFA)));
    add(doubt(tmem_operand(plan.instruction, TmemMatrix::SFB)));
  }
  if (chooses_selector(plan))
    add("metadata: even columns and selectors as CuTe issues them; no Blackwell device has "
        "confirmed them");
  if (plan.a) add(container_text({plan.a->opcode, plan.a->idesc, false, {}}));
  add(container_text({plan.b.opcode, plan.b.idesc, true, {}}));
  const SmemRegion& last = plan.shared.back();
  if (last.start + last.bytes > max_cta_shared_bytes) add(cta_limit_text());
  if ((plan.a && plan.a->order != cute_order) || plan.b.order != cute_order)
    add(fmt::format("order: {}", layout_order_note));
  add("columns count from the address that tcgen05.alloc returns");
  return notes;
}

Facts facts_of(const TilePlan& plan) {
  Facts facts = {{"instruction", mnemonic_with_keys(plan.instruction)}, {"tile", whole_text(plan)}};
  if (plan.a) {
    facts.push_back({"A", tile_text(*plan.a)});
    facts.push_back({"A tma", tma_text(*plan.a)});
  }
  facts.push_back({"B", tile_text(plan.b)});
  facts.push_back({"B tma", tma_text(plan.b)});
  facts.push_back({"shared memory", shared_text(plan)});
  facts.push_back({"tensor memory", tmem_text(plan)});
  if (plan.sfa) {
    facts.push_back({"SFA", scales_text(*plan.sfa)});
    facts.push_back({"SFB", scales_text(*plan.sfb)});
  }
  return facts;
}

std::string plan_text(const TilePlan& plan) {
  std::string text = facts_lines(facts_of(plan));
  for (const ScaleCopy& copy : plan.copies)
    text += fmt::format("\n{}: {}", copy.name, copy_text(plan, copy));
  for (const PlanStep& step : plan.steps)
    text += fmt::format("\nk {}: {}", step.k, step_text(plan, step));
  for (const std::string& note : notes_of(plan)) text += "\nnote: " + note;
  return text;
}

Value value_of(const TilePlan& plan, const PlanStep& step) {
  Value::Members members = {{"k", step.k}};
  if (step.a)
    members.push_back({"desc_a", word_of(*step.a)});
  else
    members.push_back({"a_column", step.a_column});
  members.push_back({"desc_b", word_of(step.b)});
  members.push_back({"idesc", word_of(step.idesc, kind_of(plan))});
  if (plan.b.opcode.sparse) members.push_back({"metadata_column", step.metadata_column});
  if (chooses_selector(plan)) members.push_back({"selector", step.idesc.selector});
  if (plan.sfa) {
    members.push_back({"scale_a_column", step.scale_a_column});
    members.push_back({"scale_a_id", step.idesc.scale_a_id});
    members.push_back({"scale_b_column", step.scale_b_column});
    members.push_back({"scale_b_id", step.idesc.scale_b_id});
  }
  return members;
}

Value value_of(const SmemRegion& region) {
  return Value::Members{{"name", region.name}, {"start", region.start}, {"bytes", region.bytes}};
}

Value value_of(const TmemRegion& region) {
  return Value::Members{
      {"name", region.name}, {"column", region.column}, {"columns", region.columns}};
}

Value value_of(const TilePlan& plan, const ScaleCopy& copy) {
  const Tcgen05Form form = cp_form(copy.shape, plan.b.opcode.cta_group);
  return Value::Members{{"name", copy.name},
                        {"opcode", full_opcode(form)},
                        {"column", copy.tmem_column},
                        {"desc", word_of(copy.source)}};
}

Value value_of(const TilePlan& plan) {
  const auto values = [](const auto& item) { return value_of(item); };
  const auto of_plan = [&](const auto& item) { return value_of(plan, item); };
  return Value::Members{{"instruction", mnemonic_with_keys(plan.instruction)},
                        {"k", plan.k},
                        {"order_a", plan.a ? Value(name(plan.a->order)) : Value()},
                        {"order_b", name(plan.b.order)},
                        {"shared", list_of(plan.shared, values)},
                        {"tmem", list_of(plan.tmem, values)},
                        {"columns", plan.columns},
                        {"allocation", plan.allocation},
                        {"copies", list_of(plan.copies, of_plan)},
                        {"steps", list_of(plan.steps, of_plan)},
                        {"notes", list_of(notes_of(plan))}};
}

}  // namespace

Answer layout_tcgen05(const Question& question, const TileElementWords& element) {
  if (has_matrix(question))
    return layout_answer(layout_of(operand_request(question)), question.options, element);
  if (!question.options.svg_path.empty())
    throw UsageError("--svg draws one operand: expected A or B after the mnemonic");
  const bool json = question.options.style == Style::Json;
  const TilePlan plan = plan_from(question);
  return {Status::Yes, json ? json_text(value_of(plan)) : plan_text(plan), ""};
}

}  // namespace tcq::oracle
