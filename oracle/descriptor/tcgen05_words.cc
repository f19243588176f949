// Words of tcgen05 taken apart and put together; see tcgen05_words.h. One part per format.
#include "oracle/descriptor/tcgen05_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>

#include "oracle/answer/nearest_field.h"
#include "oracle/answer/words.h"
#include "oracle/descriptor/tcgen05_lint.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_idesc_use.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::string_view smem_format = "tcgen05.desc";
constexpr std::string_view idesc_formats = "tcgen05.idesc.";
constexpr std::string_view mask_format = "tcgen05.zero_mask";
constexpr std::string_view tmem_format = "tmem.addr";

constexpr std::array<std::string_view, 10> formats = {
    smem_format,          "tcgen05.idesc.f16",
    "tcgen05.idesc.tf32", "tcgen05.idesc.f8f6f4",
    "tcgen05.idesc.i8",   "tcgen05.idesc.mxf8f6f4",
    "tcgen05.idesc.mxf4", "tcgen05.idesc.mxf4nvf4",
    mask_format,          tmem_format};

// ---- Reading ------------------------------------------------------------------------------------

std::uint64_t word_from(const Question& question, std::string_view example) {
  return parse_number(word_at(question, 1, fmt::format("a word such as {}", example)), "word");
}

// CUTLASS hands the instruction descriptor on in the upper half of 64 bits.
std::uint32_t narrow_word_from(const Question& question, std::string_view example) {
  using Low = Field<0, 32>;
  using High = Field<32, 32>;
  const std::uint64_t word = word_from(question, example);
  if (Low::fits(word)) return static_cast<std::uint32_t>(word);
  throw UsageError(fmt::format(
      "{} has more than 32 bits: expected a 32-bit word such as {}{}",
      quoted(word_at(question, 1, "a word")), example,
      Low::code(word) == 0
          ? fmt::format("; did you mean its upper half '{}'?", hex_word(High::code(word), 32))
          : ""));
}

Kind kind_named(std::string_view word) {
  std::vector<std::string_view> known;
  for (int i = 0; i < kind_count; ++i) {
    known.push_back(name(static_cast<Kind>(i)));
    if (same_word(word, known.back())) return static_cast<Kind>(i);
  }
  throw_unknown("kind", word, known);
}

void require(Fault fault, const std::string& rest) {
  if (fault != Fault::None) throw FaultError(fault, rest);
}

// ---- Shared memory descriptors ------------------------------------------------------------------

constexpr int smem_bits = 64;

template <class F>
std::string smem_value(F, std::uint64_t word) {
  const SmemDescriptor d = tcgen05::decode(word);
  if constexpr (std::is_same_v<F, SwizzleMode>)
    return name(d.swizzle);
  else if constexpr (std::is_same_v<F, LboMode>)
    return d.lbo_absolute ? "absolute" : "relative";
  else if constexpr (std::is_same_v<F, DescriptorConstant>)
    return fmt::format("{:0{}b}", F::code(word), F::width);
  else
    return fmt::format("{}", F::decode(word));
}

// The kind that has a type, where nothing else is said.
Kind kind_of(Type type) {
  const Kind kind = tcgen05::kind_without_factors(type);
  if (type_code(kind, type) != no_code) return kind;
  throw UsageError(
      fmt::format("type={} is no operand of tcgen05.mma: expected f16, bf16, tf32, s8, u8, e4m3, "
                  "e5m2, e2m3, e3m2 or e2m1",
                  name(type)));
}

// How an instruction reads the word, for decode and encode.
constexpr std::array<std::string_view, 4> smem_use_keys = {"type", "kind", "major", "mn"};

std::optional<SmemUse> smem_use_from(const Keys& keys) {
  if (!keys.has("type")) {
    if (keys.has("kind") || keys.has("major") || keys.has("mn"))
      throw UsageError(
          "kind=, major= and mn= say how an instruction reads the word: expected type= as well");
    return std::nullopt;
  }
  const Type type = keys.type("type", Type::f16);
  const Kind kind = keys.has("kind") ? kind_named(keys.text("kind", "")) : kind_of(type);
  if (type_code(kind, type) == no_code)
    throw UsageError(fmt::format("kind={} has no operands of type={}", name(kind), name(type)));
  SmemUse use{kind, type, keys.major("major"), std::nullopt};
  constexpr int most_rows = 256;
  if (keys.has("mn")) use.mn = static_cast<std::uint32_t>(keys.number("mn", 8, most_rows));
  return use;
}

DecodedWord decode_smem(const Question& question) {
  const std::uint64_t word = word_from(question, "0x4000404000010040");
  const Keys keys(words_from(question, 2), smem_use_keys);
  return {std::string(smem_format),
          hex_word(word, smem_bits),
          field_lines(SmemDescriptorFormat{}, word,
                      [&](auto field) { return smem_value(field, word); }),
          rest_lines(SmemDescriptorFormat{}, word, "reserved", "must be 0"),
          "reserved",
          remarks_on_smem(word, smem_use_from(keys))};
}

constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128,
                                Swizzle::B128Atom32};

Swizzle swizzle_from(const Keys& keys) {
  return swizzles[keys.choice(SwizzleMode::name,
                              {name(swizzles[0]), name(swizzles[1]), name(swizzles[2]),
                               name(swizzles[3]), name(swizzles[4])},
                              0)];
}

SmemDescriptor smem_from(const Keys& keys) {
  SmemDescriptor d;
  d.start_bytes = keys.either_number("start", StartAddress::name);
  d.lbo_bytes = keys.either_number("lbo", LeadingByteOffset::name);
  d.sbo_bytes = keys.either_number("sbo", StrideByteOffset::name);
  d.base_offset = static_cast<std::uint32_t>(
      keys.number_or(BaseOffset::name, 0, std::numeric_limits<std::uint32_t>::max(), 0));
  d.lbo_absolute = keys.choice(LboMode::name, {"relative", "absolute"}, 0) == 1;
  d.swizzle = swizzle_from(keys);
  return d;
}

Fault check_use(const SmemDescriptor& d, const std::optional<SmemUse>& use) {
  return use ? check_operand(d, use->kind, use->type, use->major) : check(d);
}

// Offsets that fit, then another mode of the LBO, then another swizzle.
std::string nearest_smem(SmemDescriptor d, const std::optional<SmemUse>& use) {
  Rounded rounded;
  rounded.to_field(StartAddress{}, d.start_bytes);
  rounded.to_field(LeadingByteOffset{}, d.lbo_bytes);
  rounded.to_field(StrideByteOffset{}, d.sbo_bytes);
  rounded.to_field(BaseOffset{}, d.base_offset);
  if (check_use(d, use) != Fault::None)
    rounded.set(LboMode::name, d.lbo_absolute, false, "relative");
  for (const Swizzle swizzle : swizzles)
    if (check_use(d, use) != Fault::None) {
      SmemDescriptor other = d;
      other.swizzle = swizzle;
      if (check_use(other, use) == Fault::None)
        rounded.set(SwizzleMode::name, d.swizzle, swizzle, name(swizzle));
    }
  return rounded.words(check_use(d, use) == Fault::None);
}

EncodedWord encode_smem(const Question& question) {
  const Keys keys(
      words_from(question, 1), smem_use_keys,
      {StartAddress::name, LeadingByteOffset::name, StrideByteOffset::name, BaseOffset::name,
       LboMode::name, SwizzleMode::name, "start", "lbo", "sbo", DescriptorConstant::name});
  keys.choice(DescriptorConstant::name, {"001"}, 0);  // may be given, as decode prints it
  const SmemDescriptor d = smem_from(keys);
  const std::optional<SmemUse> use = smem_use_from(keys);
  require(check_use(d, use), nearest_smem(d, use));
  return {hex_word(encode(d), smem_bits), remarks_on_smem(encode(d), use).lints};
}

// ---- Instruction descriptors --------------------------------------------------------------------

std::string type_text(Type type) { return type == no_type ? "no type" : name(type); }

template <class F>
std::string idesc_value(F, std::uint32_t word, const InstructionDescriptor& d) {
  if constexpr (std::is_same_v<F, idesc::TypeD>)
    return type_text(d.d);
  else if constexpr (std::is_same_v<F, idesc::TypeA>)
    return type_text(d.a);
  else if constexpr (std::is_same_v<F, idesc::TypeB> || std::is_same_v<F, idesc::PackedTypeB>)
    return type_text(d.b);
  else if constexpr (std::is_same_v<F, idesc::MajorA>)
    return name(d.major_a);
  else if constexpr (std::is_same_v<F, idesc::MajorB>)
    return name(d.major_b);
  else if constexpr (std::is_same_v<F, idesc::ScaleFormat>)
    return name(d.scale_type);
  else if constexpr (std::is_same_v<F, idesc::MaxShiftB>)
    return fmt::format("{}", d.max_shift_b);
  else
    return fmt::format("{}", F::decode(word));
}

// What the instruction's opcode says, for decode and encode; encode has sparse as a field.
constexpr std::array<std::string_view, 4> opcode_keys = {"cta_group", "ws", "scale_vec", "a"};

OpcodeChoice opcode_from(const Keys& keys) {
  OpcodeChoice choice;
  if (keys.has("cta_group")) choice.cta_group = static_cast<int>(keys.number("cta_group", 1, 2));
  if (keys.has("ws")) choice.ws = keys.flag("ws");
  if (keys.has(idesc::Sparse::name)) choice.sparse = keys.flag(idesc::Sparse::name);
  choice.a_place = keys.choice("a", {"smem", "tmem"}, 0) == 1 ? Place::Tmem : Place::Smem;
  constexpr ScaleVec all[] = {ScaleVec::X1, ScaleVec::X2, ScaleVec::X4, ScaleVec::Block16,
                              ScaleVec::Block32};
  const int chosen = keys.choice("scale_vec", {"1X", "2X", "4X", "block16", "block32"}, -1);
  if (chosen >= 0) choice.scale_vec = all[chosen];
  return choice;
}

DecodedWord decode_idesc(const Question& question, Kind kind) {
  const std::uint32_t word = narrow_word_from(question, "0x08400010");
  const Keys keys(words_from(question, 2), opcode_keys, {idesc::Sparse::name});
  const InstructionDescriptor d = decode(word, kind);
  return with_idesc_format(kind, [&](auto format) {
    return DecodedWord{
        fmt::format("{}{}", idesc_formats, name(kind)),
        hex_word(word, idesc::word_bits),
        field_lines(format, word, [&](auto field) { return idesc_value(field, word, d); }),
        rest_lines<idesc::word_bits>(format, word, "reserved", "must be 0"),
        "reserved",
        remarks_on_idesc(word, kind, opcode_from(keys))};
  });
}

// Throws unless the kind's format holds d and an instruction takes it.
void require_idesc(const InstructionDescriptor& d, Kind kind, const OpcodeChoice& opcode) {
  const IdescIsLegal is_legal = [&](const InstructionDescriptor& other) {
    return check(other, kind) == Fault::None &&
           verdict_on(other, kind, opcode).fault == Fault::None;
  };
  if (is_legal(d)) return;
  if (const Fault fault = check(d, kind); fault != Fault::None)
    require(fault, nearest_legal(d, is_legal));
  const IdescVerdict verdict = verdict_on(d, kind, opcode);
  require(verdict.fault, "; " + subject_text(verdict, d) + nearest_legal(d, is_legal));
}

EncodedWord encode_idesc(const Question& question, Kind kind) {
  std::vector<std::string_view> names(opcode_keys.begin(), opcode_keys.end());
  with_idesc_format(kind, [&](auto format) {
    decltype(format)::for_each([&](auto field) { names.push_back(decltype(field)::name); });
    return 0;
  });
  const Keys keys(words_from(question, 1), names);
  constexpr std::uint64_t largest = std::numeric_limits<std::int32_t>::max();
  for (const std::string_view needed : {idesc::M::name, idesc::N::name})
    keys.number(needed, 0, largest);
  const InstructionDescriptor d = read_descriptor(keys, default_types(kind));
  const OpcodeChoice opcode = opcode_from(keys);
  require_idesc(d, kind, opcode);
  const std::uint32_t word = encode(d, kind);
  return {hex_word(word, idesc::word_bits), remarks_on_idesc(word, kind, opcode).lints};
}

// ---- Zero-column masks --------------------------------------------------------------------------

constexpr int mask_bits = 64;

template <class F>
std::string mask_value(F, std::uint64_t word) {
  const ZeroColumnMask z = decode_zero_mask(word);
  if constexpr (std::is_same_v<F, zero_mask::SkipSpan>)
    return fmt::format("{}", z.skip_columns);
  else if constexpr (std::is_same_v<F, zero_mask::UseSpan>)
    return fmt::format("{}", z.use_columns);
  else
    return fmt::format("{}", F::decode(word));
}

std::optional<MaskUse> mask_use_from(const Keys& keys) {
  if (!keys.has("m") && !keys.has("n")) return std::nullopt;
  constexpr int rows[] = {32, 64, 128}, columns[] = {64, 128, 256};
  keys.number("m", 32, 128);  // missing and far off: the sentence of a number
  keys.number("n", 64, 256);
  return MaskUse{rows[keys.choice("m", {"32", "64", "128"}, 0)],
                 columns[keys.choice("n", {"64", "128", "256"}, 0)]};
}

DecodedWord decode_mask(const Question& question) {
  const std::uint64_t word = word_from(question, "0x0003028000000000");
  const Keys keys(words_from(question, 2), {}, {"m", "n"});
  return {std::string(mask_format),
          hex_word(word, mask_bits),
          field_lines(ZeroColumnMaskFormat{}, word,
                      [&](auto field) { return mask_value(field, word); }),
          rest_lines(ZeroColumnMaskFormat{}, word, "reserved", "must be 0"),
          "reserved",
          remarks_on_zero_mask(word, mask_use_from(keys))};
}

Fault check_use(const ZeroColumnMask& z, const std::optional<MaskUse>& use) {
  return use ? check(z, use->m) : check(z);
}

constexpr std::array mask_counts = {zero_mask::StartCount0::name, zero_mask::StartCount1::name,
                                    zero_mask::StartCount2::name, zero_mask::StartCount3::name};
constexpr std::array mask_spans = {zero_mask::FirstSpan0::name, zero_mask::FirstSpan1::name,
                                   zero_mask::FirstSpan2::name, zero_mask::FirstSpan3::name};

ZeroColumnMask mask_from(const Keys& keys) {
  const auto number = [&](std::string_view key, int fallback) {
    return static_cast<std::uint32_t>(keys.integer(key, fallback));
  };
  ZeroColumnMask z;
  for (std::size_t i = 0; i < mask_counts.size(); ++i) {
    z.start_count[i] = number(mask_counts[i], 0);
    z.first_zeroed[i] = keys.flag(mask_spans[i]);
  }
  z.non_zero = keys.flag(zero_mask::NonZero::name);
  z.skip_columns = number(zero_mask::SkipSpan::name, 1);
  z.use_columns = number(zero_mask::UseSpan::name, 1);
  z.column_shift = number(zero_mask::ColumnShift::name, 0);
  return z;
}

std::string nearest_mask(ZeroColumnMask z, const std::optional<MaskUse>& use) {
  Rounded rounded;
  for (std::size_t i = 0; i < mask_counts.size(); ++i)
    rounded.to_range<std::uint32_t>(mask_counts[i], z.start_count[i], 0,
                                    zero_mask::StartCount0::max_code);
  constexpr std::uint32_t longest = zero_mask::SkipSpan::max_code + 1;
  rounded.to_range<std::uint32_t>(zero_mask::SkipSpan::name, z.skip_columns, 1, longest);
  rounded.to_range<std::uint32_t>(zero_mask::UseSpan::name, z.use_columns, 1, longest);
  rounded.to_range<std::uint32_t>(zero_mask::ColumnShift::name, z.column_shift, 0,
                                  use ? 0 : max_column_shift);
  return rounded.words(check_use(z, use) == Fault::None);
}

EncodedWord encode_mask(const Question& question) {
  std::vector<std::string_view> names = {"m", "n"};
  ZeroColumnMaskFormat::for_each([&](auto field) { names.push_back(decltype(field)::name); });
  const Keys keys(words_from(question, 1), names);
  const ZeroColumnMask z = mask_from(keys);
  const std::optional<MaskUse> use = mask_use_from(keys);
  require(check_use(z, use), nearest_mask(z, use));
  return {hex_word(encode(z), mask_bits), remarks_on_zero_mask(encode(z), use).lints};
}

// ---- Tensor Memory addresses --------------------------------------------------------------------

constexpr int tmem_bits = 32;

DecodedWord decode_tmem(const Question& question) {
  const std::uint32_t word = narrow_word_from(question, "0x00200010");
  const Keys keys(words_from(question, 2), {});
  return {std::string(tmem_format),
          hex_word(word, tmem_bits),
          field_lines(TmemAddressFormat{}, word,
                      [&](auto field) { return fmt::format("{}", decltype(field)::decode(word)); }),
          {},
          "reserved",
          remarks_on_tmem_address(word)};
}

std::string nearest_tmem(TmemAddress a) {
  Rounded rounded;
  rounded.to_range(TmemLaneField::name, a.tmem_lane, 0, TmemAddress::lanes - 1);
  rounded.to_range(TmemColumnField::name, a.tmem_column, 0, TmemAddress::columns - 1);
  return rounded.words(check(a) == Fault::None);
}

EncodedWord encode_tmem(const Question& question) {
  const Keys keys(words_from(question, 1), {}, {TmemLaneField::name, TmemColumnField::name});
  const TmemAddress a{keys.integer(TmemLaneField::name, 0), keys.integer(TmemColumnField::name, 0)};
  require(check(a), nearest_tmem(a));
  return {hex_word(encode(a), tmem_bits), remarks_on_tmem_address(encode(a)).lints};
}

}  // namespace

std::span<const std::string_view> tcgen05_formats() { return formats; }

bool is_tcgen05_format(std::string_view format) {
  return std::any_of(formats.begin(), formats.end(),
                     [&](std::string_view known) { return same_word(format, known); });
}

DecodedWord decode_tcgen05(const Question& question) {
  const std::string format = lowered(word_at(question, 0, "a format"));
  if (format == smem_format) return decode_smem(question);
  if (format == mask_format) return decode_mask(question);
  if (format == tmem_format) return decode_tmem(question);
  return decode_idesc(question, kind_named(format.substr(idesc_formats.size())));
}

EncodedWord encode_tcgen05(const Question& question) {
  const std::string format = lowered(word_at(question, 0, "a format"));
  if (format == smem_format) return encode_smem(question);
  if (format == mask_format) return encode_mask(question);
  if (format == tmem_format) return encode_tmem(question);
  return encode_idesc(question, kind_named(format.substr(idesc_formats.size())));
}

}  // namespace tcq::oracle
