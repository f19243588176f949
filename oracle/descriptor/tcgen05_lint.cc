// Lints of tcgen05's instruction descriptor, zero-column mask and Tensor Memory address; see
// tcgen05_lint.h. Those of the shared memory descriptor: tcgen05_smem_lint.cc.
#include "oracle/descriptor/tcgen05_lint.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "oracle/map/maps_tcgen05.h"
#include "sim/isa/base/field_gaps.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

using Sentences = std::vector<std::string>;

// ---- The instruction descriptor -----------------------------------------------------------------

constexpr std::array<Kind, 7> all_kinds = {Kind::f16,      Kind::tf32, Kind::f8f6f4,  Kind::i8,
                                           Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4};
static_assert(all_kinds.size() == kind_count);

// A field of type codes: D has codes of its own.
template <class F>
Type type_in(F, Kind kind, std::uint64_t code) {
  if constexpr (std::is_same_v<F, idesc::TypeD>)
    return is_block_scaled(kind) ? no_type : type_d_of_code(kind, code);
  else
    return type_of_code(kind, code);
}

// "0 f16, 1 bf16".
template <class F>
std::string type_codes(F field, Kind kind) {
  std::string text;
  for (std::uint64_t code = 0; code <= F::max_code; ++code)
    if (const Type type = type_in(field, kind, code); type != no_type)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", code, name(type));
  return text;
}

// "; code 2 is tf32 in kind tf32"; empty if no kind has the code.
template <class F>
std::string type_elsewhere(F field, std::uint64_t code) {
  std::string text;
  for (const Kind kind : all_kinds)
    if (const Type type = type_in(field, kind, code); type != no_type)
      text += fmt::format("{}{} in kind {}", text.empty() ? "" : ", ", name(type), name(kind));
  return text.empty() ? "" : fmt::format("; code {} is {}", code, text);
}

template <class F>
void lint_type(F field, std::uint32_t word, Kind kind, Sentences& out) {
  const std::uint64_t code = F::code(word);
  if (type_in(field, kind, code) != no_type) return;
  out.push_back(fmt::format("{} code {} is no type of kind {} ({}){}", F::name, code, name(kind),
                            type_codes(field, kind), type_elsewhere(field, code)));
}

void lint_types(std::uint32_t word, Kind kind, Sentences& out) {
  if (!is_block_scaled(kind)) lint_type(idesc::TypeD{}, word, kind, out);
  lint_type(idesc::TypeA{}, word, kind, out);
  if (is_packed_4bit(kind))
    lint_type(idesc::PackedTypeB{}, word, kind, out);
  else
    lint_type(idesc::TypeB{}, word, kind, out);
}

// "N>>3 = 33 is outside 1..32".
template <class F>
std::string outside_text(F, char letter, std::uint32_t word, int largest) {
  return fmt::format("{}>>{} = {} is outside 1..{}", letter, F::unit_log2, F::code(word),
                     F::code(F::encode(static_cast<std::uint64_t>(largest))));
}

void lint_shape(std::uint32_t word, Kind kind, const InstructionDescriptor& d, Sentences& out) {
  if (!fits_m(d.m, kind))
    out.push_back(fmt::format("{}: M = {}, but {}",
                              is_block_scaled(kind)
                                  ? outside_text(idesc::ScaledM{}, 'M', word, idesc::largest_m)
                                  : outside_text(idesc::M{}, 'M', word, idesc::largest_m),
                              d.m,
                              is_block_scaled(kind) ? "with scale factors it is 128 or 256"
                                                    : "it is 32, 64, 128 or 256"));
  if (!fits_n(d.n))
    out.push_back(fmt::format("{}: N = {}, but it is a multiple of 8 up to {}",
                              outside_text(idesc::N{}, 'N', word, idesc::largest_n), d.n,
                              idesc::largest_n));
}

// What the bits of a gap are in the formats of other kinds: "; in kind f16 they are n".
template <class Gap>
std::string fields_elsewhere(Gap) {
  std::string text;
  for (const Kind kind : {Kind::f16, Kind::mxf8f6f4, Kind::mxf4}) {
    std::string fields;
    with_idesc_format(kind, [&](auto format) {
      decltype(format)::for_each([&](auto field) {
        using F = decltype(field);
        if ((F::mask & Gap::mask) != 0)
          fields += fmt::format("{}{}", fields.empty() ? "" : " and ", F::name);
      });
      return 0;
    });
    if (!fields.empty())
      text +=
          fmt::format("{} in kind {} they are {}", text.empty() ? ";" : ",", name(kind), fields);
  }
  return text;
}

void lint_idesc_reserved(std::uint32_t word, Kind kind, Sentences& out) {
  with_idesc_format(kind, [&](auto format) {
    for_each_gap<idesc::word_bits>(format, [&](auto gap) {
      using Gap = decltype(gap);
      if (Gap::code(word) == 0) return;
      const bool transposed = ((idesc::MajorA::mask | idesc::MajorB::mask) & Gap::mask) != 0;
      out.push_back(fmt::format("{} must be 0 in kind {}{}{}", bits_text(gap), name(kind),
                                transposed ? ": 4-bit operands are K-major" : "",
                                fields_elsewhere(gap)));
    });
    return 0;
  });
}

void lint_members(Kind kind, const InstructionDescriptor& d, Sentences& out) {
  if (d.saturate && !has_saturate(kind))
    out.push_back(
        fmt::format("saturate is set: only kind i8 saturates, in kind {} it is 0", name(kind)));
  if ((d.negate_a || d.negate_b) && !has_negate(kind))
    out.push_back(fmt::format("{} is set: kind {} cannot negate its operands",
                              d.negate_a ? idesc::NegateA::name : idesc::NegateB::name,
                              name(kind)));
  if (d.scale_type == ScaleType::ue4m3 && !has_scale_ue4m3(kind))
    out.push_back(fmt::format("scale_type 0 is ue4m3: the scale factors of kind {} are ue8m0, 1",
                              name(kind)));
  for (const auto& [field, major, type] : {std::tuple{idesc::MajorA::name, d.major_a, d.a},
                                           std::tuple{idesc::MajorB::name, d.major_b, d.b}})
    if (major == Major::MN && type != no_type && !can_be_mn_major(type))
      out.push_back(
          fmt::format("{} is MN: 4- and 6-bit operands ({}) are K-major", field, name(type)));
  for (const auto& [field, id] : {std::pair{idesc::ScaleAId::name, d.scale_a_id},
                                  std::pair{idesc::ScaleBId::name, d.scale_b_id}})
    if (!fits_scale_id(d, kind, id))
      out.push_back(fmt::format("{} {}: with K = 64 kind {} takes 0 or 2", field, id, name(kind)));
}

// Other kinds whose format the word fits without a fault.
void lint_other_kind(std::uint32_t word, Kind kind, Sentences& out) {
  std::string kinds;
  for (const Kind other : all_kinds)
    if (other != kind && check_word(word, other) == Fault::None)
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", name(other));
  if (!kinds.empty()) out.push_back(fmt::format("the word fits kind {}", kinds));
}

// What the instructions make of a word that its format can hold.
void remark_instruction(Kind kind, const InstructionDescriptor& d, const OpcodeChoice& opcode,
                        DescriptorRemarks& out) {
  const IdescVerdict verdict = verdict_on(d, kind, opcode);
  if (verdict.fault != Fault::None) {
    out.lints.push_back(verdict_text(verdict, d));
    return;
  }
  if (d.sparse && d.selector != 0)
    out.notes.push_back(fmt::format("metadata, selector {}: {}", d.selector,
                                    selector_text(verdict.opcode, d.selector)));
  for (int i = 0; i < dispute_count; ++i)
    if (const auto dispute = static_cast<Dispute>(i); is_disputed(dispute, verdict.opcode, d))
      out.notes.push_back(fmt::format("disputed: {}", sentence(dispute)));
}

// "f16 K-major".
std::string operand_text(Type type, Major major) {
  return fmt::format("{} {}-major", name(type), name(major));
}

void note_meaning(Kind kind, const InstructionDescriptor& d, Sentences& out) {
  out.push_back(fmt::format("kind {}: D {} {} x {} = {}A {}{} x {}B {}", name(kind), name(d.d), d.m,
                            d.n, d.negate_a ? "-" : "", d.sparse ? "sparse " : "",
                            operand_text(d.a, d.major_a), d.negate_b ? "-" : "",
                            operand_text(d.b, d.major_b)));
  if (d.k96)
    out.push_back(
        "k96: K is 96, 48 bytes of each row; sm_103a only, with lbo_mode absolute in both shared "
        "memory descriptors");
}

// ---- The zero-column mask -----------------------------------------------------------------------

// "4-6, 11-13": the first ranges of zeroed columns.
std::string zeroed_columns(const ZeroColumnMask& z, const MaskUse& use) {
  constexpr int most = 16;
  std::string text;
  int ranges = 0;
  for (int column = 0; column < use.n; ++column) {
    if (!column_is_zeroed(z, use.m, use.n, column)) continue;
    const int first = column;
    while (column + 1 < use.n && column_is_zeroed(z, use.m, use.n, column + 1)) ++column;
    if (ranges++ == most) return text + ", ...";
    text += text.empty() ? "" : ", ";
    text += first == column ? fmt::format("{}", first) : fmt::format("{}-{}", first, column);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

DescriptorRemarks remarks_on_idesc(std::uint32_t word, Kind kind, const OpcodeChoice& opcode) {
  DescriptorRemarks out;
  const InstructionDescriptor d = decode(word, kind);
  lint_types(word, kind, out.lints);
  lint_shape(word, kind, d, out.lints);
  lint_members(kind, d, out.lints);
  lint_idesc_reserved(word, kind, out.lints);
  if (check_word(word, kind) == Fault::None) {
    note_meaning(kind, d, out.notes);
    remark_instruction(kind, d, opcode, out);
  } else {
    lint_other_kind(word, kind, out.lints);
  }
  return out;
}

DescriptorRemarks remarks_on_zero_mask(std::uint64_t word, const std::optional<MaskUse>& use) {
  DescriptorRemarks out;
  const ZeroColumnMask z = decode_zero_mask(word);
  for_each_gap(ZeroColumnMaskFormat{}, [&](auto gap) {
    if (decltype(gap)::code(word) != 0)
      out.lints.push_back(bits_text(gap) + " are reserved and must be 0");
  });
  const Fault fault = use ? check(z, use->m) : check(z);
  if (fault != Fault::None)
    out.lints.push_back(fmt::format("column_shift {}, {}: {}", z.column_shift,
                                    name(info(fault).kind), info(fault).sentence));
  if (!z.non_zero) out.notes.push_back("non_zero is 0: no column is zeroed, whatever else is set");
  if (use && fault == Fault::None)
    out.notes.push_back(fmt::format("zeroed columns of B (M {}, N {}): {}", use->m, use->n,
                                    zeroed_columns(z, *use)));
  return out;
}

DescriptorRemarks remarks_on_tmem_address(std::uint32_t word) {
  DescriptorRemarks out;
  const TmemAddress a = decode_tmem_address(word);
  if (a.tmem_lane >= TmemAddress::lanes)
    out.lints.push_back(fmt::format(
        "{} {} is outside 0..{}: CuTe keeps the part of a cell or a scale factor id in the upper "
        "bits of its pointers; take them off before PTX sees the address",
        TmemLaneField::name, a.tmem_lane, TmemAddress::lanes - 1));
  if (a.tmem_column >= TmemAddress::columns)
    out.lints.push_back(fmt::format("{} {} is outside 0..{}", TmemColumnField::name, a.tmem_column,
                                    TmemAddress::columns - 1));
  return out;
}

}  // namespace tcq::oracle
