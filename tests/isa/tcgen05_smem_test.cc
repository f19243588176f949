// Laws of tcgen05's shared memory descriptor and of the addresses it stands for.
//
// Second formulations: the address law in plain code, and the canonical CuTe layouts as text.
// Golden words and worked addresses were computed by hand from the manual's tables.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/wgmma/descriptor.h"
#include "tests/support/cute_string.h"
#include "tests/support/descriptor_laws.h"

namespace tcq::tcgen05 {
namespace {

constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::B128Atom32, Swizzle::B128, Swizzle::B64,
                                Swizzle::B32};

std::uint32_t multiple_of_16(std::mt19937_64& random, std::uint32_t limit = 16384) {
  return static_cast<std::uint32_t>(random() % limit) * 16;
}

SmemDescriptor random_descriptor(std::mt19937_64& random) {
  SmemDescriptor d{multiple_of_16(random),
                   multiple_of_16(random),
                   multiple_of_16(random),
                   static_cast<std::uint32_t>(random() % 8),
                   false,
                   swizzles[random() % 5]};
  if (random() % 8 == 0) {
    d.base_offset = 0;
    d.swizzle = Swizzle::B128;
    d.lbo_absolute = true;
  }
  return d;
}

// ---- The word -----------------------------------------------------------------------------------

TEST(Tcgen05_SmemDescriptor, GoldenWords) {
  EXPECT_EQ(encode(SmemDescriptor{1024, 16, 1024, 0, false, Swizzle::B128}), 0x4000404000010040u);
  EXPECT_EQ(encode(SmemDescriptor{1024, 512, 2048, 0, false, Swizzle::B128Atom32}),
            0x2000408000200040u);
  EXPECT_EQ(encode(SmemDescriptor{1024, 16, 128, 0, false, Swizzle::None}), 0x0000400800010040u);
  EXPECT_EQ(encode(SmemDescriptor{0, 0, 0, 5, false, Swizzle::B32}), 0xc00a400000000000u);
  EXPECT_EQ(encode(SmemDescriptor{0, 0, 0, 0, true, Swizzle::B128}), 0x4010400000000000u);
}

TEST(Tcgen05_SmemDescriptor, GoldenWordsOfCompactTiles) {
  const Tile k128 = {Major::K, 128, AtomOrder::MnFirst, 128, 128};  // bf16 128 x 64
  EXPECT_EQ(encode(tile_descriptor(k128, Swizzle::B128, 1024)), 0x4000404000010040u);
  Tile tf32 = {Major::MN, 128, AtomOrder::MnFirst, 512, 32, atom_rows(Swizzle::B128Atom32)};
  EXPECT_EQ(encode(tile_descriptor(tf32, Swizzle::B128Atom32, 1024)), 0x2000408000200040u);
  EXPECT_EQ(k_advance_bytes(tf32, 8), 2u * 2048);
  tf32.order = AtomOrder::KFirst;
  const SmemDescriptor k_first = tile_descriptor(tf32, Swizzle::B128Atom32, 1024);
  EXPECT_EQ(k_first.lbo_bytes, 128u * 32);
  EXPECT_EQ(k_first.sbo_bytes, 512u);
  EXPECT_EQ(k_advance_bytes(tf32, 8), 2u * 512);
  EXPECT_TRUE(tf32.is_whole());
  tf32.rows = 36;
  EXPECT_TRUE(tf32.is_whole());
  tf32.rows = 34;
  EXPECT_FALSE(tf32.is_whole());
}

TEST(Tcgen05_SmemDescriptor, DecodeInvertsEncode) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i) {
    const SmemDescriptor d = random_descriptor(random);
    ASSERT_EQ(check(d), Fault::None);
    ASSERT_EQ(check_word(encode(d)), Fault::None);
    ASSERT_EQ(decode(encode(d)), d);
  }
}

// A right word with one bit changed, or any bits at all: check_word() and the round trip agree.
TEST(Tcgen05_SmemDescriptor, CheckWordAcceptsExactlyTheWordsOfRightDescriptors) {
  std::mt19937_64 random(2);
  int accepted = 0;
  const auto agrees = [&](std::uint64_t word) {
    const SmemDescriptor d = decode(word);
    const bool right = encode(d) == word && check(d) == Fault::None;
    accepted += right ? 1 : 0;
    ASSERT_EQ(check_word(word) == Fault::None, right) << std::hex << word;
  };
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t word = encode(random_descriptor(random));
    for (int bit = 0; bit < 64; ++bit) agrees(word ^ (std::uint64_t{1} << bit));
    agrees(random());
  }
  EXPECT_GT(accepted, 100000);
}

TEST(Tcgen05_SmemDescriptor, CheckWordNamesConstantReservedBitsAndSwizzleCodes) {
  const std::uint64_t word = 0x4000404000010040;
  for (std::uint64_t constant = 0; constant < 8; ++constant)
    EXPECT_EQ(check_word((word & ~DescriptorConstant::mask) | constant << 46),
              constant == 1 ? Fault::None : Fault::DescriptorConstant);
  const std::set<int> reserved = {14, 15, 30, 31, 53, 54, 55, 56, 57, 58, 59, 60};
  for (int bit = 0; bit < 64; ++bit) {
    const Fault fault = check_word(word | std::uint64_t{1} << bit);
    EXPECT_EQ(fault == Fault::WordReserved, reserved.contains(bit)) << bit;
  }
  const std::set<std::uint64_t> codes = {0, 1, 2, 4, 6};
  for (std::uint64_t code = 0; code < 8; ++code)
    EXPECT_EQ(check_word((word & ~SwizzleMode::mask) | code << 61),
              codes.contains(code) ? Fault::None : Fault::DescriptorSwizzleCode);
}

TEST(Tcgen05_SmemDescriptor, EveryFieldChangesItsOwnBitsOnly) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const SmemDescriptor d = random_descriptor(random), e = random_descriptor(random);
    const auto only = [&](std::uint64_t mask, auto SmemDescriptor::*member) {
      SmemDescriptor changed = d;
      changed.*member = e.*member;
      ASSERT_EQ((encode(changed) ^ encode(d)) & ~mask, 0u);
      ASSERT_EQ(encode(changed) & mask, encode(e) & mask);
    };
    only(StartAddress::mask, &SmemDescriptor::start_bytes);
    only(LeadingByteOffset::mask, &SmemDescriptor::lbo_bytes);
    only(StrideByteOffset::mask, &SmemDescriptor::sbo_bytes);
    only(BaseOffset::mask, &SmemDescriptor::base_offset);
    only(LboMode::mask, &SmemDescriptor::lbo_absolute);
    only(SwizzleMode::mask, &SmemDescriptor::swizzle);
  }
}

TEST(Tcgen05_SmemDescriptor, CheckNamesWhatCannotBeEncoded) {
  SmemDescriptor d = {1024, 16, 1024, 0, false, Swizzle::B128};
  expect_check_names_what_would_be_lost(d);
  d.lbo_absolute = true;
  EXPECT_EQ(check(d), Fault::None);
  EXPECT_EQ(check({1024, 16, 1024, 1, true, Swizzle::B128}), Fault::DescriptorLboMode);
  EXPECT_EQ(check({1024, 16, 1024, 0, true, Swizzle::B64}), Fault::DescriptorLboMode);
}

TEST(Tcgen05_SmemDescriptor, AdvanceChangesTheStartOnly) {
  expect_advance_changes_the_start_only([](std::uint64_t word) { return decode(word); });
}

// The codes of the two architectures differ, but the bits of the four common modes are the same:
// what a pasted wgmma word lacks is the constant.
TEST(Tcgen05_SmemDescriptor, SwizzleBitsOfCommonModesAreThoseOfWgmma) {
  for (const Swizzle swizzle : {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32}) {
    const wgmma::MatrixDescriptor d{1024, 16, 1024, 3, swizzle};
    const SmemDescriptor same{1024, 16, 1024, 3, false, swizzle};
    EXPECT_EQ(encode(same), wgmma::encode(d) | DescriptorConstant::bits);
  }
}

TEST(Tcgen05_SmemDescriptor, SwizzleCodesPitchesAndFunctions) {
  struct Row {
    std::uint64_t code;
    Swizzle swizzle;
    std::uint32_t pitch;
    std::uint32_t rows;
    SwizzleFunction function;
    const char* name;
  };
  const Row rows[] = {{0, Swizzle::None, 16, 8, {0, 4, 3}, "none"},
                      {1, Swizzle::B128Atom32, 128, 4, {2, 5, 2}, "128B_ATOM_32B"},
                      {2, Swizzle::B128, 128, 8, {3, 4, 3}, "128B"},
                      {4, Swizzle::B64, 64, 8, {2, 4, 3}, "64B"},
                      {6, Swizzle::B32, 32, 8, {1, 4, 3}, "32B"}};
  for (const Row& row : rows) {
    EXPECT_EQ(SwizzleMode::mode(row.code), row.swizzle);
    EXPECT_EQ(swizzle_code<SwizzleMode>(row.swizzle), row.code);
    EXPECT_EQ(pitch_bytes(row.swizzle), row.pitch);
    EXPECT_EQ(atom_rows(row.swizzle), row.rows);
    EXPECT_EQ(swizzle_function(row.swizzle), row.function);
    EXPECT_STREQ(name(row.swizzle), row.name);
  }
  for (const std::uint64_t code : {3, 5, 7}) EXPECT_EQ(SwizzleMode::mode(code), no_swizzle);
}

// ---- The address law ----------------------------------------------------------------------------

std::uint32_t law(const SmemDescriptor& d, bool mn_major, std::uint32_t mn, std::uint32_t k,
                  std::uint32_t es) {
  const std::uint32_t kb = k * es, mb = mn * es;
  std::uint32_t b = 0;
  if (d.swizzle == Swizzle::B128Atom32) {
    const std::uint32_t a =
        d.start_bytes + k / 4 * d.sbo_bytes + k % 4 * 128 + mb / 128 * d.lbo_bytes + mb % 128;
    return a ^ ((a / 128 - d.base_offset) % 4 * 32);
  }
  if (d.swizzle == Swizzle::B32) b = 1;
  if (d.swizzle == Swizzle::B64) b = 2;
  if (d.swizzle == Swizzle::B128) b = 3;
  const std::uint32_t r = 16u << b;
  std::uint32_t off = 0;
  if (!mn_major)
    off = mn / 8 * d.sbo_bytes + mn % 8 * r + (b != 0 ? kb : kb / 16 * d.lbo_bytes + kb % 16);
  else if (b != 0)
    off = k / 8 * d.sbo_bytes + k % 8 * r + mb / r * d.lbo_bytes + mb % r;
  else
    off = k / 8 * d.lbo_bytes + k % 8 * 16 + mb / 16 * d.sbo_bytes + mb % 16;
  const std::uint32_t a = d.start_bytes + off;
  return a ^ ((a / 128 - d.base_offset) % (1u << b) * 16);
}

struct Example {
  Type type;
  Kind kind;
};

constexpr Example byte_types[] = {
    {Type::bf16, Kind::f16}, {Type::tf32, Kind::tf32}, {Type::e4m3, Kind::f8f6f4}};

TEST(Tcgen05_Operand, AddressLawHoldsForRandomDescriptors) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    SmemDescriptor d = random_descriptor(random);
    d.lbo_absolute = false;
    for (const auto& [type, kind] : byte_types) {
      for (const Major major : {Major::K, Major::MN}) {
        if (check_operand(d, kind, type, major) != Fault::None) continue;
        const auto es = static_cast<std::uint32_t>(bits(type)) / 8;
        const std::uint32_t mn_end = major == Major::K && d.swizzle == Swizzle::None ? 64 : 256;
        for (std::uint32_t mn = 0; mn < mn_end; mn += 1 + static_cast<std::uint32_t>(random() % 3))
          for (std::uint32_t k = 0; k < 32 / es; ++k)
            ASSERT_EQ(element_place(d, major, kind, type, {mn, k}),
                      (ElementPlace{law(d, major == Major::MN, mn, k, es), 0}))
                << name(d.swizzle) << " " << name(type) << " " << mn << " " << k;
      }
    }
  }
}

// The canonical layouts in CuTe's notation, strides in elements; T elements make 16 bytes.
std::string canonical(const SmemDescriptor& d, Major major, std::uint32_t es) {
  const auto n = [](std::uint32_t value) { return std::to_string(value); };
  const std::uint32_t t = 16 / es;
  const std::uint32_t w = pitch_bytes(d.swizzle) / 16;
  const std::string lbo = n(d.lbo_bytes / es), sbo = n(d.sbo_bytes / es);
  if (d.swizzle == Swizzle::B128Atom32)
    return "((" + n(t) + ",8,4),(4,8)):((1," + n(t) + "," + lbo + "),(" + n(8 * t) + "," + sbo +
           "))";
  if (major == Major::K && w == 1)
    return "((8,8),(" + n(t) + ",2)):((" + n(t) + "," + sbo + "),(1," + lbo + "))";
  if (major == Major::K)
    return "((8,8),(" + n(t) + "," + n(w) + ")):((" + n(w * t) + "," + sbo + "),(1," + n(t) + "))";
  if (w == 1) return "((" + n(t) + ",8),(8,4)):((1," + sbo + "),(" + n(t) + "," + lbo + "))";
  return "((" + n(t) + "," + n(w) + ",4),(8,4)):((1," + n(t) + "," + lbo + "),(" + n(w * t) + "," +
         sbo + "))";
}

TEST(Tcgen05_Operand, CanonicalLayoutsAreTheStringsOfCuTe) {
  std::mt19937_64 random(6);
  int modes = 0;
  for (const Swizzle swizzle : swizzles) {
    for (const auto& [type, kind] : byte_types) {
      for (const Major major : {Major::K, Major::MN}) {
        const SmemDescriptor d = {1024 * static_cast<std::uint32_t>(random() % 64),
                                  multiple_of_16(random, 256),
                                  multiple_of_16(random, 256),
                                  0,
                                  false,
                                  swizzle};
        if (check_operand(d, kind, type, major) != Fault::None) continue;
        ++modes;
        const auto es = static_cast<std::uint32_t>(bits(type)) / 8;
        const cute::Layout layout(canonical(d, major, es));
        for (int mn = 0; mn < layout.size(0); ++mn)
          for (int k = 0; k < layout.size(1); ++k) {
            const std::uint32_t linear =
                d.start_bytes + static_cast<std::uint32_t>(layout({mn, k})) * es;
            const ElementPlace place =
                element_place(d, major, kind, type,
                              {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
            ASSERT_EQ(place.byte, swizzle_function(swizzle).apply(linear))
                << canonical(d, major, es);
          }
      }
    }
  }
  EXPECT_EQ(modes, 12 + 9);
}

TEST(Tcgen05_Operand, WorkedAddresses) {
  const SmemDescriptor atoms = decode(0x2000408000200040);
  EXPECT_EQ(element_place(atoms, Major::MN, Kind::tf32, Type::tf32, {33, 5}).byte, 3748u);
  const SmemDescriptor k128 = decode(0x4000404000010040);
  EXPECT_EQ(element_place(k128, Major::K, Kind::f16, Type::bf16, {11, 5}).byte, 2490u);
  const SmemDescriptor based = decode(0x4004404000010050);  // start 1280, base offset 2
  EXPECT_EQ(element_place(based, Major::K, Kind::f16, Type::bf16, {7, 0}).byte, 2288u);
}

// A 32 x 128-byte tile of TMA's 128B swizzle read as 128 rows of 32 bytes through a 32B descriptor.
TEST(Tcgen05_Operand, StripesOfA128ByteTileReadThroughA32ByteDescriptor) {
  const SmemDescriptor d = {0, 16, 256, 0, false, Swizzle::B32};
  const SwizzleFunction tma = swizzle_function(Swizzle::B128);
  for (std::uint32_t row = 0; row < 128; ++row) {
    const std::uint32_t byte = byte_address(d, Major::K, {row, 0});
    const std::uint32_t unswizzled = tma.apply(byte);
    EXPECT_EQ(unswizzled / 128, row / 4);
    EXPECT_EQ(unswizzled % 128 / 32, (row % 4) ^ (row / 8 % 4)) << row;
  }
}

// ---- 48 bytes of K ------------------------------------------------------------------------------

// 768 elements of 4 bits lie in three buffers of 128 bytes per row; eight instructions read them.
TEST(Tcgen05_Operand, EightInstructionsOf48BytesReadThreeBuffersOnce) {
  constexpr std::uint32_t rows = 128, buffer_bytes = rows * 128, start = 1024;
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t first = 48 * i / 128;
    const std::uint32_t last = (48 * i + 47) / 128;
    const SmemDescriptor d = {start + first * buffer_bytes + 48 * i % 128,
                              start + last * buffer_bytes,
                              1024,
                              0,
                              true,
                              Swizzle::B128};
    ASSERT_EQ(check_operand(d, Kind::mxf4, Type::e2m1, Major::K), Fault::None);
    for (std::uint32_t mn = 0; mn < rows; ++mn)
      for (std::uint32_t kb = 0; kb < 48; ++kb) {
        const std::uint32_t at = 48 * i + kb;
        const std::uint32_t linear = start + at / 128 * buffer_bytes + mn * 128 + at % 128;
        const std::uint32_t byte = byte_address(d, Major::K, {mn, kb});
        ASSERT_EQ(byte, swizzle_function(Swizzle::B128).apply(linear))
            << i << " " << mn << " " << kb;
        ASSERT_TRUE(seen.insert(byte).second);
      }
  }
  EXPECT_EQ(seen.size(), 3u * buffer_bytes);
}

// ---- Elements narrower than a byte --------------------------------------------------------------

TEST(Tcgen05_Operand, NarrowElementsArePaddedTo16BytesPer16OrPackedTwoPerByte) {
  const auto k_place = [](Kind kind, Type type, std::uint32_t k) {
    const SmemDescriptor flat = {0, 16, 128, 0, false, Swizzle::None};
    return element_place(flat, Major::K, kind, type, {0, k});
  };
  for (const Kind kind : {Kind::f8f6f4, Kind::mxf8f6f4}) {
    EXPECT_EQ(k_place(kind, Type::e2m1, 5), (ElementPlace{2, 4}));
    EXPECT_EQ(k_place(kind, Type::e2m1, 15), (ElementPlace{7, 4}));
    EXPECT_EQ(k_place(kind, Type::e2m1, 17), (ElementPlace{16, 4}));
    EXPECT_EQ(k_place(kind, Type::e3m2, 5), (ElementPlace{3, 6}));
    EXPECT_EQ(k_place(kind, Type::e2m3, 15), (ElementPlace{11, 2}));
    EXPECT_EQ(k_place(kind, Type::e2m3, 31), (ElementPlace{27, 2}));
    EXPECT_EQ(k_place(kind, Type::e4m3, 31), (ElementPlace{31, 0}));
  }
  for (const Kind kind : {Kind::mxf4, Kind::mxf4nvf4}) {
    EXPECT_EQ(k_place(kind, Type::e2m1, 5), (ElementPlace{2, 4}));
    EXPECT_EQ(k_place(kind, Type::e2m1, 33), (ElementPlace{16, 4}));
    EXPECT_EQ(k_place(kind, Type::e2m1, 63), (ElementPlace{31, 4}));
  }
}

// Bits of different elements never overlap, and an element stays inside a 16-byte unit.
TEST(Tcgen05_Operand, EveryElementHasItsOwnBits) {
  const Example narrow[] = {{Type::e2m1, Kind::f8f6f4}, {Type::e2m3, Kind::mxf8f6f4},
                            {Type::e3m2, Kind::f8f6f4}, {Type::e2m1, Kind::mxf4},
                            {Type::e5m2, Kind::f8f6f4}, {Type::tf32, Kind::tf32}};
  for (const auto& [type, kind] : narrow) {
    for (const Swizzle swizzle : {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32}) {
      const SmemDescriptor d = {1024, 128, 1024, 0, false, swizzle};
      const std::uint32_t per_32_bytes = is_padded(kind, type) ? 32 : 256u / bits(type);
      std::set<std::uint32_t> seen;
      for (std::uint32_t mn = 0; mn < 16; ++mn)
        for (std::uint32_t k = 0; k < per_32_bytes; ++k) {
          const ElementPlace p = element_place(d, Major::K, kind, type, {mn, k});
          const std::uint32_t first = p.byte * 8 + p.bit;
          for (int bit = 0; bit < bits(type); ++bit)
            ASSERT_TRUE(seen.insert(first + static_cast<std::uint32_t>(bit)).second);
          ASSERT_EQ(first / 128, (first + static_cast<std::uint32_t>(bits(type)) - 1) / 128);
        }
    }
  }
}

// ---- Which swizzles exist -----------------------------------------------------------------------

TEST(Tcgen05_Operand, SwizzlesPerTypeAndMajor) {
  for (const Swizzle s : swizzles) {
    const bool atoms = s == Swizzle::B128Atom32;
    for (const Type t : {Type::f16, Type::bf16, Type::e4m3, Type::e5m2, Type::s8, Type::u8})
      EXPECT_EQ(check_swizzle(s, t, Major::MN), atoms ? Fault::SwizzleOfOperand : Fault::None);
    EXPECT_EQ(check_swizzle(s, Type::tf32, Major::MN),
              atoms ? Fault::None : Fault::SwizzleOfOperand);
    for (const Type t : {Type::e2m3, Type::e3m2, Type::e2m1})
      EXPECT_EQ(check_swizzle(s, t, Major::MN), Fault::SwizzleOfOperand);
    for (const Type t : {Type::f16, Type::tf32, Type::e4m3, Type::s8, Type::e2m3, Type::e2m1})
      EXPECT_EQ(check_swizzle(s, t, Major::K), atoms ? Fault::UnmodelledSwizzle : Fault::None);
  }
}

TEST(Tcgen05_Operand, AbsoluteLboIsForKMajorPackedElements) {
  const SmemDescriptor d = {1024, 0x8000, 1024, 0, true, Swizzle::B128};
  EXPECT_EQ(check_operand(d, Kind::mxf4nvf4, Type::e2m1, Major::K), Fault::None);
  EXPECT_EQ(check_operand(d, Kind::f16, Type::f16, Major::K), Fault::DescriptorLboMode);
  EXPECT_EQ(check_operand(d, Kind::mxf4, Type::e2m1, Major::MN), Fault::DescriptorLboMode);
}

}  // namespace
}  // namespace tcq::tcgen05
