#include "oracle/recording/tcgen05_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using tcgen05::MmaForm;

constexpr int lane_words = tcgen05::tmem_columns;
constexpr int threads = 128;

// ---- Elements -----------------------------------------------------------------------------------

std::uint32_t random_byte(Draw& draw) { return static_cast<std::uint32_t>(draw.below(256)); }

bool is_drawn_as_float(Type type) {
  switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::tf32:
    case Type::e4m3:
    case Type::e5m2: return true;
    default: return false;
  }
}

// Near 1, now and then zero; any bits once in a thousand, so that NaN and infinity occur.
std::uint32_t draw_float(Type type, Draw& draw) {
  if (draw.one_in(1024)) return draw.word();
  if (draw.one_in(16)) return 0;
  const auto fraction = static_cast<Fraction>(draw.below(4));
  const bool negative = draw.one_in(2);  // before the exponent, as in wgmma_groups.cc
  const int exponent = draw.in(-4, 4);
  return make_float(type, exponent, fraction, negative, draw);
}

// Bytes of consecutive elements; integers and types of less than 8 bits are uniform bits.
void fill_elements(std::uint8_t* bytes, std::size_t size, Type type, Draw& draw) {
  const std::size_t width = is_drawn_as_float(type) ? static_cast<std::size_t>(bits(type)) / 8 : 1;
  for (std::size_t i = 0; i < size; i += width) {
    const std::uint32_t element =
        width == 1 && !is_drawn_as_float(type) ? random_byte(draw) : draw_float(type, draw);
    std::memcpy(bytes + i, &element, width);  // little-endian, as the device
  }
}

// ---- Columns of Tensor Memory -------------------------------------------------------------------

// Both nibbles are codes that the manual defines.
std::uint32_t draw_codes(Type a, Draw& draw) {
  const auto code = [&] {
    for (;;) {
      const auto c = static_cast<std::uint32_t>(draw.below(16));
      if (wgmma::check_metadata(a, c) == Fault::None) return c;
    }
  };
  const std::uint32_t low = code();
  return low + 16 * code();
}

// A ue8m0 near 1 or a ue4m3 that is no NaN; any byte once in 256.
std::uint32_t draw_scale(tcgen05::ScaleType type, Draw& draw) {
  if (draw.one_in(256)) return random_byte(draw);
  return static_cast<std::uint32_t>(type == tcgen05::ScaleType::ue8m0 ? draw.in(121, 133)
                                                                      : draw.in(0, 126));
}

template <class DrawByte>
std::uint32_t word_of_bytes(DrawByte draw_byte) {
  std::array<std::uint8_t, 4> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draw_byte());
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

// A cell of D: a float of its type in the low bits, anything above.
std::uint32_t draw_d(Type type, Draw& draw) {
  if (type == Type::f16) {
    std::uint32_t word = draw.word();
    const std::uint32_t half = draw_float(type, draw);
    std::memcpy(&word, &half, 2);
    return word;
  }
  // tf32 has f32's exponent; its ignored low bits are the rest of the fraction.
  return type == Type::f32 ? draw_float(Type::tf32, draw) : draw.word();
}

std::uint32_t draw_cell(const tcgen05::InstructionDescriptor& idesc, int column, Draw& draw) {
  if (column < tmem_a_column) return draw_d(idesc.d, draw);
  if (column < tmem_metadata_column) {
    std::array<std::uint8_t, 4> bytes;
    fill_elements(bytes.data(), bytes.size(), idesc.a, draw);
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }
  if (column < tmem_scale_a_column) return word_of_bytes([&] { return draw_codes(idesc.a, draw); });
  if (column < tmem_random_column)
    return word_of_bytes([&] { return draw_scale(idesc.scale_type, draw); });
  return draw.word();
}

// Every lane gets the columns of lane source(lane), which is its own or a lower one.
void copy_lanes(std::vector<std::uint32_t>& tmem, int first, int end, auto&& source) {
  for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
    for (int column = first; column < end; ++column)
      tmem[static_cast<std::size_t>(lane * lane_words + column)] =
          tmem[static_cast<std::size_t>(source(lane) * lane_words + column)];
}

// A and its metadata, which some forms read from several groups of lanes: all copies alike, as a
// program stores them.
void copy_operands(std::vector<std::uint32_t>& tmem, tcgen05::Datapath datapath) {
  const int height = tcgen05::rows(datapath);
  if (tcgen05::is_half_datapath(datapath)) return;
  copy_lanes(tmem, tmem_a_column, tmem_scale_a_column, [&](int lane) { return lane % height; });
}

// Scale factors: the copies of every 32 lanes, or of 32 lanes of each half, and SFB in both CTAs.
void copy_scales(Tcgen05State& state, std::size_t rank, bool split_sfb) {
  std::vector<std::uint32_t>& tmem = state.tmem[rank];
  copy_lanes(tmem, tmem_scale_a_column, tmem_scale_b_column, [](int lane) { return lane % 32; });
  copy_lanes(tmem, tmem_scale_b_column, tmem_random_column,
             [&](int lane) { return lane % 32 + (split_sfb ? 64 * (lane / 64) : 0); });
  if (rank == 0) return;
  for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
    for (int column = tmem_scale_b_column; column < tmem_random_column; ++column) {
      const auto word = static_cast<std::size_t>(lane * lane_words + column);
      tmem[word] = state.tmem[0][word];
    }
}

void fill_for_mma(Tcgen05State& state, const MmaForm& form, const Tcgen05Case& c,
                  std::uint64_t case_seed) {
  const tcgen05::InstructionDescriptor idesc = tcgen05::decode(c.operands.idesc, form.opcode.kind);
  for (std::size_t rank = 0; rank < state.tmem.size(); ++rank) {
    Draw draw(mix(case_seed + rank));
    std::vector<std::uint8_t>& shared = state.shared[rank];
    fill_elements(shared.data(), tcgen05_a_bytes, idesc.a, draw);
    fill_elements(shared.data() + tcgen05_a_bytes, shared.size() - tcgen05_a_bytes, idesc.b, draw);
    std::vector<std::uint32_t>& tmem = state.tmem[rank];
    for (std::size_t i = 0; i < tmem.size(); ++i)
      tmem[i] = draw_cell(idesc, static_cast<int>(i) % lane_words, draw);
    copy_operands(tmem, tcgen05::datapath(form.opcode, idesc.m));
    copy_scales(state, rank, form.opcode.cta_group == 2 && idesc.m == 128);
  }
}

void fill_with_bits(Tcgen05State& state, std::uint64_t seed) {
  for (std::size_t rank = 0; rank < state.tmem.size(); ++rank) {
    Draw draw(mix(seed + rank));
    for (std::uint8_t& byte : state.shared[rank]) byte = static_cast<std::uint8_t>(draw.word());
    for (std::uint32_t& word : state.tmem[rank]) word = draw.word();
  }
  Draw draw(mix(seed + state.tmem.size()));
  for (std::uint32_t& word : state.registers) word = draw.word();
}

std::string hex_words(const auto& words) {
  std::string text;
  for (const std::uint32_t word : words) text += fmt::format(" {:#x}", word);
  return text;
}

std::string opcode_of(const Tcgen05CaseForm& any) {
  return std::visit(
      [](const auto& form) -> std::string {
        if constexpr (requires { form.steps; })
          return "";
        else
          return tcgen05::opcode(form).chars;
      },
      any);
}

std::string describe_steps(const AllocSequence& sequence) {
  std::string text = fmt::format("cta_group::{}:", sequence.cta_group);
  for (const AllocStep& step : sequence.steps) {
    if (step.action == AllocStep::Action::Alloc) text += fmt::format(" alloc {}", step.columns);
    if (step.action == AllocStep::Action::Dealloc)
      text += fmt::format(" dealloc step {}", step.allocation);
    if (step.action == AllocStep::Action::Relinquish) text += " relinquish";
  }
  return text;
}

}  // namespace

int cta_group(const Tcgen05CaseForm& form) {
  if (const auto* mma = std::get_if<MmaForm>(&form)) return mma->opcode.cta_group;
  if (const auto* cp = std::get_if<tcgen05::CpForm>(&form)) return cp->cta_group;
  if (const auto* shift = std::get_if<tcgen05::ShiftForm>(&form)) return shift->cta_group;
  if (const auto* alloc = std::get_if<AllocSequence>(&form)) return alloc->cta_group;
  return 1;
}

int register_count(const Tcgen05CaseForm& form) {
  return std::visit(
      [](const auto& f) {
        if constexpr (requires { f.shape; })
          return tcgen05::registers(f.shape, f.num);
        else
          return 0;
      },
      form);
}

Tcgen05State state(const Tcgen05Case& c, const Inputs& inputs) {
  Tcgen05State state;
  const auto ctas = static_cast<std::size_t>(cta_group(c.form));
  state.registers.resize(static_cast<std::size_t>(threads * register_count(c.form)));
  state.shared.resize(ctas);
  if (std::holds_alternative<AllocSequence>(c.form)) return state;
  state.tmem.resize(ctas, std::vector<std::uint32_t>(tmem_words));
  const auto* mma = std::get_if<MmaForm>(&c.form);
  if (mma != nullptr || std::holds_alternative<tcgen05::CpForm>(c.form))
    for (std::vector<std::uint8_t>& shared : state.shared) shared.resize(tcgen05_shared_bytes);
  if (mma != nullptr)
    fill_for_mma(state, *mma, c, inputs.seed);
  else
    fill_with_bits(state, inputs.seed);
  return state;
}

std::uint64_t hash_inputs(const Tcgen05State& state) {
  std::uint64_t hash = mix(state.tmem.size());
  const auto add = [&hash](const auto& values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof values[0]);
    hash = mix(hash ^ fnv1a64(bytes));
  };
  for (const auto& shared : state.shared) add(shared);
  for (const auto& tmem : state.tmem) add(tmem);
  add(state.registers);
  return hash;
}

std::size_t output_bytes(const Tcgen05Case& c, const Inputs&) {
  const auto ctas = static_cast<std::size_t>(cta_group(c.form));
  if (const auto* alloc = std::get_if<AllocSequence>(&c.form))
    return 3 * alloc->steps.size() * ctas * sizeof(std::uint32_t);
  std::size_t words = ctas * tmem_words;
  if (!std::holds_alternative<tcgen05::StForm>(c.form))
    words += static_cast<std::size_t>(threads * register_count(c.form));
  words += std::holds_alternative<tcgen05::LdRedForm>(c.form) ? threads : 0;
  return words * sizeof(std::uint32_t);
}

Properties properties(const Tcgen05Case& c, const Inputs&) {
  const bool alloc = std::holds_alternative<AllocSequence>(c.form);
  return {alloc ? "allocations" : opcode_of(c.form), fmt::format("immediate {}", c.immediate)};
}

std::string describe(const Tcgen05Case& c, const Inputs&) {
  const Tcgen05Operands& o = c.operands;
  if (const auto* alloc = std::get_if<AllocSequence>(&c.form)) return describe_steps(*alloc);
  std::string text = opcode_of(c.form);
  if (std::holds_alternative<MmaForm>(c.form))
    return text + fmt::format(
                      " d {:#x} desc_a {:#x} a {:#x} desc_b {:#x} metadata {:#x} idesc {:#x} "
                      "scales {:#x} {:#x} lanes{} accumulate {} scale-input-d {} zero mask {:#x}",
                      o.d, o.desc_a, o.a, o.desc_b, o.metadata, o.idesc, o.scale_a, o.scale_b,
                      hex_words(o.disable_output_lane), o.accumulate ? 1 : 0, c.immediate,
                      o.zero_column_mask);
  return text +
         fmt::format(" taddr{} desc {:#x} immediate {}", hex_words(o.taddr), o.desc, c.immediate);
}

}  // namespace tcq::oracle
