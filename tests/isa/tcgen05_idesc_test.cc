// Laws of tcgen05's instruction descriptor, zero-column mask and Tensor Memory address.
//
// The golden words are instruction descriptors as CuTe's host code makes them, one line of text per
// word; reserved bits are those that the manual's tables leave at 0.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"

namespace tcq::tcgen05 {
namespace {

constexpr Kind kinds[] = {Kind::f16,      Kind::tf32, Kind::f8f6f4,  Kind::i8,
                          Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4};

Type type_named(const std::string& text) {
  for (int i = 0; i < type_count; ++i)
    if (text == name(static_cast<Type>(i))) return static_cast<Type>(i);
  ADD_FAILURE() << text;
  return Type::b1;
}

Kind kind_named(const std::string& text) {
  for (const Kind kind : kinds)
    if (text == name(kind)) return kind;
  ADD_FAILURE() << text;
  return Kind::f16;
}

// ---- Golden words -------------------------------------------------------------------------------

struct Golden {
  Kind kind;
  InstructionDescriptor d;
  std::uint32_t word;
  std::string text;
};

// kind, A, B, D, M, N, majors (1 is MN), negations, saturate, sparse, max shift in columns -> word
constexpr const char* plain_lines =
    "f16 f16 f16 f16 64 8 0 0 0 0 0 0 0 04020000\n"
    "f16 f16 f16 f32 128 256 0 0 0 0 0 0 0 08400010\n"
    "f16 bf16 bf16 f32 128 128 0 0 0 0 0 0 0 08200490\n"
    "f16 bf16 bf16 f32 256 256 0 0 0 0 0 0 0 10400490\n"
    "f16 f16 f16 f32 128 64 1 0 0 0 0 0 0 08108010\n"
    "f16 f16 f16 f32 128 64 0 1 0 0 0 0 0 08110010\n"
    "f16 f16 f16 f32 128 64 1 1 0 0 0 0 0 08118010\n"
    "f16 f16 f16 f32 128 64 0 0 1 0 0 0 0 08102010\n"
    "f16 f16 f16 f32 128 64 0 0 0 1 0 0 0 08104010\n"
    "tf32 tf32 tf32 f32 128 64 0 0 0 0 0 0 0 08100910\n"
    "i8 s8 s8 s32 128 64 0 0 0 0 0 0 0 081004a0\n"
    "i8 u8 s8 s32 128 64 0 0 0 0 0 0 0 08100420\n"
    "i8 s8 u8 s32 128 64 0 0 0 0 0 0 0 081000a0\n"
    "i8 u8 u8 s32 128 64 0 0 0 0 1 0 0 08100028\n"
    "f8f6f4 e4m3 e4m3 f32 128 64 0 0 0 0 0 0 0 08100010\n"
    "f8f6f4 e4m3 e5m2 f16 128 64 0 0 0 0 0 0 0 08100400\n"
    "f8f6f4 e5m2 e4m3 f32 64 64 0 0 0 0 0 0 0 04100090\n"
    "f8f6f4 e2m3 e3m2 f32 128 64 0 0 0 0 0 0 0 08101190\n"
    "f8f6f4 e2m1 e4m3 f32 128 64 0 0 0 0 0 0 0 08100290\n"
    "f16 f16 f16 f32 128 64 0 0 0 0 0 1 0 08100014\n"
    "f16 f16 f16 f32 32 64 0 0 0 0 0 0 8 42100010\n"
    "f16 f16 f16 f32 64 64 0 0 0 0 0 0 32 c4100010\n";

// kind, A, B, scale type, M, N, majors, sparse, ids of A and B, K = 96 -> word
constexpr const char* scaled_lines =
    "mxf8f6f4 e4m3 e4m3 ue8m0 128 128 0 0 0 0 0 0 08a00000\n"
    "mxf8f6f4 e4m3 e4m3 ue8m0 128 128 0 0 0 1 2 0 28a00020\n"
    "mxf8f6f4 e4m3 e4m3 ue8m0 128 128 0 0 0 3 3 0 68a00030\n"
    "mxf8f6f4 e5m2 e2m1 ue8m0 256 192 0 0 0 0 0 0 10b01480\n"
    "mxf8f6f4 e2m3 e3m2 ue8m0 128 64 0 0 0 0 0 0 08901180\n"
    "mxf8f6f4 e4m3 e4m3 ue8m0 128 128 1 1 0 0 0 0 08a18000\n"
    "mxf4 e2m1 e2m1 ue8m0 128 128 0 0 0 0 0 0 08a00480\n"
    "mxf4 e2m1 e2m1 ue8m0 128 128 0 0 0 0 0 1 88a00480\n"
    "mxf4nvf4 e2m1 e2m1 ue4m3 128 128 0 0 0 0 0 0 08200480\n"
    "mxf4nvf4 e2m1 e2m1 ue4m3 128 128 0 0 0 0 0 1 88200480\n"
    "mxf4nvf4 e2m1 e2m1 ue4m3 256 256 0 0 0 0 0 0 10400480\n"
    "mxf4nvf4 e2m1 e2m1 ue4m3 256 256 0 0 0 0 0 1 90400480\n"
    "mxf4nvf4 e2m1 e2m1 ue4m3 256 256 0 0 1 0 0 0 10400484\n";

Golden plain_golden(const std::string& line) {
  std::istringstream in(line);
  std::string kind, a, b, d;
  Golden g{};
  int major_a = 0, major_b = 0;
  in >> kind >> a >> b >> d >> g.d.m >> g.d.n >> major_a >> major_b >> g.d.negate_a >>
      g.d.negate_b >> g.d.saturate >> g.d.sparse >> g.d.max_shift_b >> std::hex >> g.word;
  g.kind = kind_named(kind);
  g.d.a = type_named(a);
  g.d.b = type_named(b);
  g.d.d = type_named(d);
  g.d.major_a = major_a != 0 ? Major::MN : Major::K;
  g.d.major_b = major_b != 0 ? Major::MN : Major::K;
  g.text = line;
  return g;
}

Golden scaled_golden(const std::string& line) {
  std::istringstream in(line);
  std::string kind, a, b, scale;
  Golden g{};
  int major_a = 0, major_b = 0;
  in >> kind >> a >> b >> scale >> g.d.m >> g.d.n >> major_a >> major_b >> g.d.sparse >>
      g.d.scale_a_id >> g.d.scale_b_id >> g.d.k96 >> std::hex >> g.word;
  g.kind = kind_named(kind);
  g.d.a = type_named(a);
  g.d.b = type_named(b);
  g.d.scale_type = scale == "ue4m3" ? ScaleType::ue4m3 : ScaleType::ue8m0;
  g.d.major_a = major_a != 0 ? Major::MN : Major::K;
  g.d.major_b = major_b != 0 ? Major::MN : Major::K;
  g.text = line;
  return g;
}

std::vector<Golden> golden_words() {
  std::vector<Golden> all;
  std::istringstream plain(plain_lines), scaled(scaled_lines);
  for (std::string line; std::getline(plain, line);) all.push_back(plain_golden(line));
  for (std::string line; std::getline(scaled, line);) all.push_back(scaled_golden(line));
  return all;
}

TEST(Tcgen05_Idesc, GoldenWords) {
  EXPECT_EQ(golden_words().size(), 35u);
  for (const Golden& g : golden_words()) {
    EXPECT_EQ(check(g.d, g.kind), Fault::None) << g.text;
    EXPECT_EQ(encode(g.d, g.kind), g.word) << g.text;
    EXPECT_EQ(decode(g.word, g.kind), g.d) << g.text;
    EXPECT_EQ(check_word(g.word, g.kind), Fault::None) << g.text;
  }
}

// ---- Round trips --------------------------------------------------------------------------------

std::vector<InstructionDescriptor> types_of(Kind kind) {
  std::vector<InstructionDescriptor> all;
  for (int a = 0; a < type_count; ++a)
    for (int b = 0; b < type_count; ++b)
      for (const Type d : {Type::f16, Type::f32, Type::s32, Type::bf16}) {
        InstructionDescriptor each;
        each.a = static_cast<Type>(a);
        each.b = static_cast<Type>(b);
        each.d = d;
        if (fits_types(each, kind)) all.push_back(each);
      }
  return all;
}

// Every value of the members that are no type and no shape.
std::vector<InstructionDescriptor> modifiers_of(Kind kind) {
  std::vector<InstructionDescriptor> all;
  for (unsigned bits = 0; bits < 1u << 15; ++bits) {
    InstructionDescriptor d;
    d.major_a = bits & 1 ? Major::MN : Major::K;
    d.major_b = bits & 2 ? Major::MN : Major::K;
    d.negate_a = bits & 4;
    d.negate_b = bits & 8;
    d.sparse = bits & 16;
    d.saturate = bits & 32;
    d.scale_type = bits & 64 ? ScaleType::ue4m3 : ScaleType::ue8m0;
    if (is_block_scaled(kind)) {
      d.scale_a_id = static_cast<int>(bits >> 7 & 3);
      d.scale_b_id = static_cast<int>(bits >> 9 & 3);
      d.k96 = bits & 1u << 11;
    } else {
      d.selector = static_cast<int>(bits >> 7 & 3);
      const int shifts[] = {0, 8, 16, 32};
      d.max_shift_b = shifts[bits >> 9 & 3];
    }
    if (bits >> 12 != 0 || !fits_members(d, kind) || !fits_scale_id(d, kind, d.scale_a_id) ||
        !fits_scale_id(d, kind, d.scale_b_id))
      continue;
    all.push_back(d);
  }
  return all;
}

InstructionDescriptor joined(InstructionDescriptor modifiers, const InstructionDescriptor& types,
                             int m, int n) {
  modifiers.a = types.a;
  modifiers.b = types.b;
  modifiers.d = types.d;
  modifiers.m = m;
  modifiers.n = n;
  return modifiers;
}

TEST(Tcgen05_Idesc, DecodeInvertsEncodeForEveryTypeShapeAndModifier) {
  const std::size_t type_counts[] = {8, 1, 50, 4, 25, 1, 1};
  std::mt19937 random(1);
  for (const Kind kind : kinds) {
    const auto types = types_of(kind), modifiers = modifiers_of(kind);
    EXPECT_EQ(types.size(), type_counts[static_cast<int>(kind)]) << name(kind);
    const auto inverts = [&](const InstructionDescriptor& d) {
      ASSERT_EQ(check(d, kind), Fault::None);
      const std::uint32_t word = encode(d, kind);
      ASSERT_EQ(word & ~idesc_mask(kind), 0u) << name(kind);
      ASSERT_EQ(check_word(word, kind), Fault::None) << name(kind);
      ASSERT_EQ(decode(word, kind), d) << name(kind) << std::hex << word;
    };
    const int m_step = is_block_scaled(kind) ? 128 : 16;
    for (const InstructionDescriptor& type : types)
      for (int m = m_step; m <= 256; m += m_step)
        for (int n = 8; n <= 256; n += 8)
          inverts(joined(modifiers[random() % modifiers.size()], type, m, n));
    for (const InstructionDescriptor& modifier : modifiers)
      for (const InstructionDescriptor& type : types) inverts(joined(modifier, type, 128, 64));
  }
}

// Any word at all: check_word() and the round trip agree.
TEST(Tcgen05_Idesc, CheckWordAcceptsExactlyTheWordsOfRightDescriptors) {
  std::mt19937 random(2);
  for (const Kind kind : kinds) {
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
      const auto word =
          static_cast<std::uint32_t>(random() & (random() | idesc_mask(kind)) & random());
      const InstructionDescriptor d = decode(word, kind);
      const bool right = encode(d, kind) == word && check(d, kind) == Fault::None;
      ASSERT_EQ(check_word(word, kind) == Fault::None, right) << name(kind) << std::hex << word;
      accepted += right ? 1 : 0;
    }
    EXPECT_GT(accepted, 0) << name(kind);
  }
}

TEST(Tcgen05_Idesc, ReservedBitsAreThoseOfTheTables) {
  const auto bits_of = [](std::vector<int> positions) {
    std::uint32_t mask = 0;
    for (const int position : positions) mask |= 1u << position;
    return mask;
  };
  for (const Kind kind : {Kind::f16, Kind::tf32, Kind::f8f6f4, Kind::i8})
    EXPECT_EQ(static_cast<std::uint32_t>(~idesc_mask(kind)), bits_of({6, 23, 29}));
  EXPECT_EQ(static_cast<std::uint32_t>(~idesc_mask(Kind::mxf8f6f4)),
            bits_of({0, 1, 3, 6, 24, 25, 26, 31}));
  for (const Kind kind : {Kind::mxf4, Kind::mxf4nvf4})
    EXPECT_EQ(static_cast<std::uint32_t>(~idesc_mask(kind)),
              bits_of({0, 1, 3, 6, 12, 15, 16, 24, 25, 26}));
  for (const Golden& g : golden_words())
    for (int bit = 0; bit < 32; ++bit) {
      const std::uint32_t changed = g.word | 1u << bit;
      if (changed == g.word) continue;
      EXPECT_EQ(check_word(changed, g.kind) == Fault::WordReserved,
                (idesc_mask(g.kind) >> bit & 1) == 0)
          << g.text << " bit " << bit;
    }
}

TEST(Tcgen05_Idesc, EveryMemberChangesItsOwnBitsOnly) {
  const InstructionDescriptor plain{.m = 64, .n = 64};
  const auto changes = [](InstructionDescriptor before, Kind kind, auto member, auto value) {
    InstructionDescriptor after = before;
    after.*member = value;
    return encode(before, kind) ^ encode(after, kind);
  };
  using D = InstructionDescriptor;
  EXPECT_EQ(changes(plain, Kind::f16, &D::selector, 3), idesc::Selector::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::sparse, true), idesc::Sparse::mask);
  EXPECT_EQ(changes(plain, Kind::i8, &D::saturate, true), idesc::Saturate::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::b, Type::bf16), 1u << idesc::TypeB::low);
  EXPECT_EQ(changes(plain, Kind::f16, &D::a, Type::bf16), 1u << idesc::TypeA::low);
  EXPECT_EQ(changes(plain, Kind::f16, &D::negate_a, true), idesc::NegateA::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::negate_b, true), idesc::NegateB::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::major_a, Major::MN), idesc::MajorA::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::major_b, Major::MN), idesc::MajorB::mask);
  EXPECT_EQ(changes(plain, Kind::f16, &D::n, 72), 1u << idesc::N::low);
  EXPECT_EQ(changes(plain, Kind::f16, &D::m, 80), 1u << idesc::M::low);
  EXPECT_EQ(changes(plain, Kind::f16, &D::max_shift_b, 32), idesc::MaxShiftB::mask);
  const InstructionDescriptor mx{.a = Type::e2m1, .b = Type::e2m1, .n = 64};
  EXPECT_EQ(changes(mx, Kind::mxf4nvf4, &D::scale_type, ScaleType::ue4m3),
            idesc::ScaleFormat::mask);
  EXPECT_EQ(changes(mx, Kind::mxf8f6f4, &D::scale_a_id, 3), idesc::ScaleAId::mask);
  EXPECT_EQ(changes(mx, Kind::mxf8f6f4, &D::scale_b_id, 3), idesc::ScaleBId::mask);
  EXPECT_EQ(changes(mx, Kind::mxf4, &D::m, 256), idesc::ScaledM::mask);
  EXPECT_EQ(changes(mx, Kind::mxf4, &D::k96, true), idesc::K96::mask);
}

// ---- What does not fit --------------------------------------------------------------------------

TEST(Tcgen05_Idesc, CheckNamesWhatAKindsFormatCannotHold) {
  const auto verdict = [](InstructionDescriptor d, Kind kind) { return check(d, kind); };
  const InstructionDescriptor f16{.n = 64};
  EXPECT_EQ(verdict(f16, Kind::f16), Fault::None);
  EXPECT_EQ(verdict(f16, Kind::tf32), Fault::IdescType);
  EXPECT_EQ(verdict({.d = Type::bf16, .n = 64}, Kind::f16), Fault::IdescType);
  EXPECT_EQ(verdict({.d = Type::s32, .n = 64}, Kind::f16), Fault::IdescType);
  for (const int m : {0, -16, 8, 72, 272, 512}) {
    EXPECT_EQ(verdict({.m = m, .n = 64}, Kind::f16), Fault::IdescM) << m;
  }
  for (const int n : {0, -8, 4, 12, 264, 512}) {
    EXPECT_EQ(verdict({.n = n}, Kind::f16), Fault::IdescN) << n;
  }
  EXPECT_EQ(verdict({.n = 64, .saturate = true}, Kind::f16), Fault::IdescField);
  EXPECT_EQ(verdict({.n = 64, .selector = 4}, Kind::f16), Fault::IdescField);
  EXPECT_EQ(verdict({.n = 64, .max_shift_b = 24}, Kind::f16), Fault::IdescField);
  EXPECT_EQ(verdict({.n = 64, .scale_type = ScaleType::ue4m3}, Kind::f16), Fault::IdescField);
  EXPECT_EQ(verdict({.n = 64, .scale_a_id = 1}, Kind::f16), Fault::IdescScaleId);
  EXPECT_EQ(verdict({.n = 64, .k96 = true}, Kind::f16), Fault::IdescField);
  const InstructionDescriptor s8{.d = Type::s32, .a = Type::s8, .b = Type::s8, .n = 64};
  EXPECT_EQ(verdict(s8, Kind::i8), Fault::None);
  InstructionDescriptor negated = s8;
  negated.negate_b = true;
  EXPECT_EQ(verdict(negated, Kind::i8), Fault::IdescField);
}

TEST(Tcgen05_Idesc, CheckNamesWhatAScaledFormatCannotHold) {
  const auto with = [](Kind kind, auto member, auto value) {
    InstructionDescriptor d{.a = Type::e2m1, .b = Type::e2m1, .n = 64};
    d.*member = value;
    return check(d, kind);
  };
  using D = InstructionDescriptor;
  EXPECT_EQ(with(Kind::mxf4, &D::m, 256), Fault::None);
  EXPECT_EQ(with(Kind::mxf4, &D::m, 64), Fault::IdescM);
  EXPECT_EQ(with(Kind::mxf4, &D::d, Type::f16), Fault::IdescType);
  EXPECT_EQ(with(Kind::mxf4, &D::a, Type::e4m3), Fault::IdescType);
  EXPECT_EQ(with(Kind::mxf4, &D::major_a, Major::MN), Fault::IdescField);
  EXPECT_EQ(with(Kind::mxf8f6f4, &D::major_b, Major::MN), Fault::None);
  EXPECT_EQ(with(Kind::mxf4, &D::scale_type, ScaleType::ue4m3), Fault::IdescField);
  EXPECT_EQ(with(Kind::mxf4nvf4, &D::scale_type, ScaleType::ue4m3), Fault::None);
  EXPECT_EQ(with(Kind::mxf8f6f4, &D::k96, true), Fault::IdescField);
  EXPECT_EQ(with(Kind::mxf8f6f4, &D::selector, 1), Fault::IdescField);
  EXPECT_EQ(with(Kind::mxf8f6f4, &D::scale_a_id, 3), Fault::None);
  EXPECT_EQ(with(Kind::mxf8f6f4, &D::scale_a_id, 4), Fault::IdescScaleId);
  EXPECT_EQ(with(Kind::mxf4, &D::scale_a_id, 2), Fault::None);
  EXPECT_EQ(with(Kind::mxf4, &D::scale_b_id, 1), Fault::IdescScaleId);
  const InstructionDescriptor k96{
      .a = Type::e2m1, .b = Type::e2m1, .n = 64, .scale_b_id = 3, .k96 = true};
  EXPECT_EQ(check(k96, Kind::mxf4), Fault::None);
}

TEST(Tcgen05_Idesc, FormatsListTheMembersThatTheirMaskCovers) {
  for (const Kind kind : kinds) {
    std::uint64_t mask = 0;
    with_idesc_format(kind, [&](auto format) {
      decltype(format)::for_each([&](auto field) { mask |= decltype(field)::mask; });
      return 0;
    });
    EXPECT_EQ(mask, idesc_mask(kind)) << name(kind);
    EXPECT_EQ(mask >> idesc::word_bits, 0u) << name(kind);
  }
}

// ---- The zero-column mask -----------------------------------------------------------------------

std::string mask_text(const ZeroColumnMask& z, int m, int n, int first, int count) {
  std::string text;
  for (int column = first; column < first + count; ++column)
    text += column_is_zeroed(z, m, n, column) ? '1' : '0';
  return text;
}

TEST(Tcgen05_ZeroMask, NothingIsZeroedWithoutTheNonZeroBit) {
  ZeroColumnMask z{{}, {true, true, true, true}, false, 256, 1, 0};
  EXPECT_EQ(mask_text(z, 128, 64, 0, 64), std::string(64, '0'));
  z.non_zero = true;
  EXPECT_EQ(mask_text(z, 128, 64, 0, 64), std::string(64, '1'));
}

TEST(Tcgen05_ZeroMask, RunsOfUsedAndZeroedColumnsTakeTurns) {
  ZeroColumnMask z{{}, {}, true, 3, 4, 0};
  EXPECT_EQ(mask_text(z, 128, 64, 0, 16), "0000111000011100");
  z.first_zeroed[0] = true;
  EXPECT_EQ(mask_text(z, 128, 64, 0, 16), "1110000111000011");
}

TEST(Tcgen05_ZeroMask, TheStartCountLeavesOutTheFirstColumnsOfThePattern) {
  const ZeroColumnMask z{{5, 1, 0, 0}, {false, true, false, false}, true, 3, 4, 0};
  EXPECT_EQ(mask_text(z, 64, 64, 0, 10), "1100001110");
  EXPECT_EQ(mask_text(z, 64, 64, 32, 10), "1100001110");
  const ZeroColumnMask late{{9, 0, 0, 0}, {}, true, 3, 4, 0};  // one whole period and 2
  EXPECT_EQ(mask_text(late, 128, 64, 0, 10), "0011100001");
}

TEST(Tcgen05_ZeroMask, EverySubMaskHasItsOwnStart) {
  const ZeroColumnMask z{{0, 1, 2, 3}, {false, false, false, true}, true, 2, 2, 0};
  EXPECT_EQ(mask_text(z, 32, 64, 0, 6), "001100");
  EXPECT_EQ(mask_text(z, 32, 64, 16, 6), "011001");
  EXPECT_EQ(mask_text(z, 32, 64, 32, 6), "110011");
  EXPECT_EQ(mask_text(z, 32, 64, 48, 6), "011001");
  EXPECT_EQ(mask_text(z, 128, 64, 48, 4), mask_text(z, 128, 64, 0, 4));
}

TEST(Tcgen05_ZeroMask, DecodeInvertsEncodeAndReservedBitsAreNamed) {
  const ZeroColumnMask worked{{1, 2, 3, 4}, {true, false, true, false}, true, 3, 4, 16};
  EXPECT_EQ(encode(worked), 0x1003028504030201u);
  std::mt19937_64 random(3);
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t word = random();
    const ZeroColumnMask z = decode_zero_mask(word);
    const bool right = (word & ZeroColumnMaskFormat::unused) == 0 && z.column_shift <= 32;
    ASSERT_EQ(check_zero_mask_word(word) == Fault::None, right) << std::hex << word;
    ASSERT_EQ(encode(z), word & ZeroColumnMaskFormat::mask);
  }
  for (const int bit : {36, 37, 38, 62, 63})
    EXPECT_EQ(check_zero_mask_word(std::uint64_t{1} << bit), Fault::WordReserved);
}

TEST(Tcgen05_ZeroMask, CheckNamesWhatDoesNotFit) {
  const auto with = [](auto change, int m) {
    ZeroColumnMask z;
    change(z);
    return check(z, m);
  };
  EXPECT_EQ(with([](auto&) {}, 128), Fault::None);
  EXPECT_EQ(with([](auto& z) { z.start_count[3] = 256; }, 128), Fault::ZeroMaskRange);
  EXPECT_EQ(with([](auto& z) { z.skip_columns = 0; }, 128), Fault::ZeroMaskRange);
  EXPECT_EQ(with([](auto& z) { z.use_columns = 257; }, 128), Fault::ZeroMaskRange);
  EXPECT_EQ(with([](auto& z) { z.use_columns = 256; }, 128), Fault::None);
  EXPECT_EQ(with([](auto& z) { z.column_shift = 33; }, 128), Fault::ZeroMaskRange);
  EXPECT_EQ(with([](auto& z) { z.column_shift = 32; }, 64), Fault::UnmodelledColumnShift);
  EXPECT_EQ(with([](auto& z) { z.column_shift = 17; }, 32), Fault::ZeroMaskRange);
  EXPECT_EQ(with([](auto& z) { z.column_shift = 16; }, 32), Fault::UnmodelledColumnShift);
}

TEST(Tcgen05_Idesc, AKindWithoutScaleFactorsForEveryType) {
  for (const Type type : {Type::f16, Type::bf16}) EXPECT_EQ(kind_without_factors(type), Kind::f16);
  EXPECT_EQ(kind_without_factors(Type::tf32), Kind::tf32);
  for (const Type type : {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1})
    EXPECT_EQ(kind_without_factors(type), Kind::f8f6f4);
  for (const Type type : {Type::s8, Type::u8}) EXPECT_EQ(kind_without_factors(type), Kind::i8);
}

// ---- Tensor Memory addresses --------------------------------------------------------------------

TEST(Tmem_Address, EveryCellHasItsOwnWordAndComesBack) {
  for (int lane = 0; lane < 128; ++lane)
    for (int column = 0; column < 512; ++column) {
      const TmemAddress a{lane, column};
      const auto word = static_cast<std::uint32_t>(lane * 65536 + column);
      ASSERT_EQ(check(a), Fault::None);
      ASSERT_EQ(encode(a), word);
      ASSERT_EQ(decode_tmem_address(word), a);
    }
}

TEST(Tmem_Address, CellsOutsideAreNamed) {
  for (const TmemAddress& a :
       {TmemAddress{128, 0}, TmemAddress{0, 512}, TmemAddress{-1, 0}, TmemAddress{0, -1}})
    EXPECT_EQ(check(a), Fault::TmemAddressRange);
  EXPECT_EQ(decode_tmem_address(0xffffffff), (TmemAddress{65535, 65535}));
}

}  // namespace
}  // namespace tcq::tcgen05
