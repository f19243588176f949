// What lies at a byte of shared memory is what `bytes` says, turned round, for operands of both
// architectures; K steps are those of compact tiles. And scale factors in memory: a bijection, counted as
// the manual's blocks are, in the matrix as in the part that one instruction takes.
#include "oracle/map/shared_bytes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "oracle/map/asked.h"
#include "sim/isa/wgmma/descriptor.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

Map map_of_words(const std::string& text) {
  const std::vector<std::string> words = split(text);
  Question question{"table", {}, {}};
  question.words.assign(words.begin(), words.end());
  return read_map(question, Ask::Whole).map;
}

bool names(const std::vector<ByteElement>& found, const Coords& e, int step, int byte) {
  for (const ByteElement& at : found)
    if (at.element == e && at.k_step == step && at.byte == byte) return true;
  return false;
}

// Every 37th element, every byte of it.
void expect_inverse(const std::string& question) {
  const Map map = map_of_words(question);
  int index = 0;
  for_each(map.element, false, [&](const Coords& e) {
    if (index++ % 37 != 0) return;
    const Coords at = map.places(e)[0];
    for (int byte = 0; byte < std::max(1, map.bits / 8); ++byte)
      ASSERT_TRUE(names(elements_at_byte(map, at[0], at[1] + byte), e, 0, byte))
          << question << ": " << element_text(map, e);
  });
}

TEST(SharedBytes, AreTheInverseOfBytes) {
  const char* const wgmma = "wgmma.m64n40k16.f32.bf16.bf16 ";
  for (const char* desc : {"0x4000004000010040", "0x8000002000010080", "0x0000004000080040"})
    for (const char* rest : {"A", "B", "A major_a=MN", "B major_b=MN"})
      expect_inverse(fmt::format("{}{} desc={}", wgmma, rest, desc));
  expect_inverse("wgmma.m64n8k256.s32.b1.b1 B desc=0x4000004000010040");
  expect_inverse("wgmma.m64n16k32.f32.e4m3.e4m3 A desc=0xc000001000010040");
  const char* const desc = " desc=0x4000404000010040";
  for (const char* rest : {"A", "B", "B major_b=MN"})
    expect_inverse(fmt::format("tcgen05.mma.cta_group::2.kind::f16 {} n=64{}", rest, desc));
  expect_inverse(fmt::format("tcgen05.mma.cta_group::1.kind::f8f6f4 A type_a=e2m3{}", desc));
  expect_inverse(fmt::format("tcgen05.mma.cta_group::1.kind::f8f6f4 A type_a=e2m1{}", desc));
}

struct Steps {
  const char* mnemonic;
  const char* matrix;  // and its keys
  Type type;
  Tile tile;
  const char* swizzle;
};

// The descriptor of step 0 knows the bytes that those of all other steps read.
TEST(SharedBytes, StepsAlongKAreThoseOfCompactTiles) {
  const Steps cases[] = {{"wgmma.m64n64k16.f32.f16.f16",
                          "A",
                          Type::f16,
                          {Major::K, 128, AtomOrder::MnFirst, 128, 64},
                          "128B"},
                         {"wgmma.m64n64k16.f32.f16.f16",
                          "B",
                          Type::f16,
                          {Major::K, 64, AtomOrder::MnFirst, 64, 64},
                          "64B"},
                         {"wgmma.m64n64k16.f32.f16.f16",
                          "A",
                          Type::f16,
                          {Major::K, 16, AtomOrder::MnFirst, 128, 64},
                          "none"},
                         {"wgmma.m64n64k16.f32.f16.f16",
                          "B major_b=MN",
                          Type::f16,
                          {Major::MN, 128, AtomOrder::MnFirst, 128, 64},
                          "128B"},
                         {"wgmma.m64n64k32.f32.e4m3.e4m3",
                          "A",
                          Type::e4m3,
                          {Major::K, 128, AtomOrder::MnFirst, 128, 64},
                          "128B"}};
  for (const Steps& c : cases) {
    const CanonicalLayout layout = canonical_layout(c.tile);
    wgmma::MatrixDescriptor d{1024, layout.lbo_bytes, layout.sbo_bytes, 0, Swizzle::None};
    d.swizzle = c.tile.pitch_bytes == 128  ? Swizzle::B128
                : c.tile.pitch_bytes == 64 ? Swizzle::B64
                                           : Swizzle::None;
    const auto question = [&] {
      return fmt::format("{} {} desc={:#x}", c.mnemonic, c.matrix, wgmma::encode(d));
    };
    const Map first = map_of_words(question());
    const int k = first.element[first.matrix == "B" ? 0 : 1].extent;
    const int k_bytes = c.tile.major == Major::K ? k * bits(c.type) / 8 : k;
    for (int step = 1; step < 4; ++step) {
      if (c.tile.major == Major::K && step * k_bytes >= static_cast<int>(c.tile.contiguous_bytes))
        break;
      d.start_bytes = 1024 + k_advance_bytes(c.tile, static_cast<std::uint32_t>(step * k_bytes));
      const Map later = map_of_words(question());
      int index = 0;
      for_each(later.element, false, [&](const Coords& e) {
        if (index++ % 41 != 0) return;
        const std::vector<ByteElement> found = elements_at_byte(first, 0, later.places(e)[0][1]);
        ASSERT_TRUE(names(found, e, step, 0)) << question() << " step " << step;
      });
    }
  }
}

// Of 128B, K-major, bf16: 8 rows make a group, 16 bytes a column, whatever the swizzle does.
TEST(SharedBytes, CoreMatricesAreCountedBeforeTheSwizzle) {
  const Map map = map_of_words("wgmma.m64n8k16.f32.bf16.bf16 A desc=0x4000004000010040");
  for_each(map.element, false, [&](const Coords& e) {
    const ByteElement at = elements_at_byte(map, 0, map.places(e)[0][1])[0];
    ASSERT_TRUE(at.core.has_value());
    EXPECT_EQ(at.core->mn, e[0] / 8);
    EXPECT_EQ(at.core->row, e[0] % 8);
    EXPECT_EQ(at.core->k, e[1] / 8);
    EXPECT_EQ(at.core->byte, e[1] % 8 * 2);
  });
}

TEST(SharedBytes, AByteOfNothingIsStatusOne) {
  const Answer reply = ask("what wgmma.m64n8k16.f32.bf16.bf16 A desc=0x4000004000010040 byte=0");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_EQ(reply.complaint, "byte 0x0 is not read as A");
  EXPECT_EQ(ask("what wgmma.m64n8k16.f32.bf16.bf16 A desc=0x4000004000010040 thread=0").status,
            Status::Usage);
  EXPECT_EQ(ask("what wgmma.m64n8k16.f32.bf16.bf16 D thread=0 register=0 byte=0").status,
            Status::Usage);
}

const std::string mx = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X ";

// 32 x 4 x 4 as the manual of cuBLAS draws a block: rows 0, 32, 64 and 96 side by side.
TEST(ScaleBlocks, InGlobalMemoryAreThoseOfTheWholeMatrix) {
  const int along_k = 3;
  std::set<int> bytes;
  const Map map = map_of_words(mx + "SFA in=global rows=256 factors=12");
  for_each(map.element, false, [&](const Coords& e) {
    const int block = e[0] / 128 * along_k + e[1] / 4;
    const int expected = 512 * block + e[0] % 32 * 16 + e[0] % 128 / 32 * 4 + e[1] % 4;
    ASSERT_EQ(map.places(e)[0][1], expected) << element_text(map, e);
    ASSERT_EQ(map.element_at({0, expected, 0}), e);
    bytes.insert(expected);
  });
  EXPECT_EQ(bytes.size(), 256u * 12u);
}

// Of a matrix whose height is not said, tables and closed forms are of one instruction's rows.
TEST(ScaleBlocks, RowsThatAreNotGivenAreSaid) {
  const std::string note = "rows= is not given: these are the 128 rows of one instruction";
  for (const std::string verb : {"equation ", "table "}) {
    const Answer open = ask(verb + mx + "SFA in=global factors=8");
    EXPECT_NE((open.text + open.complaint).find(note), std::string::npos) << verb;
    const Answer given = ask(verb + mx + "SFA in=global factors=8 rows=128");
    EXPECT_EQ((given.text + given.complaint).find(note), std::string::npos) << verb;
  }
}

// 227 KiB are a CTA's; a descriptor reaches 256.
TEST(SharedBytes, BeyondWhatACtaHasIsSaid) {
  const std::string a = "where wgmma.m64n8k16.f32.bf16.bf16 A row=63 col=15 desc=";
  const std::string note = "note: byte 0x41ffe is none that a CTA has: its window ends at 0x39000";
  EXPECT_NE(text_of(a + "0x4000004000003fff").find(note), std::string::npos)
      << text_of(a + "0x4000004000003fff");
  EXPECT_EQ(text_of(a + "0x4000004000010040").find("note:"), std::string::npos);
  const std::string bytes = "bytes wgmma.m64n8k16.f32.bf16.bf16 A desc=";
  EXPECT_NE(ask(bytes + "0x4000004000003fff").complaint.find("is none that a CTA has"),
            std::string::npos);
  EXPECT_EQ(ask("where " + mx + "SFA in=global factors=8 row=900000 col=5").text.find("CTA has"),
            std::string::npos);
}

TEST(ScaleBlocks, AreAskedByTheElementOfKThatTheyScale) {
  const auto place = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  EXPECT_EQ(place(text_of("where " + mx + "SFA in=global factors=8 row=300 k=170")),
            "SFA[300][5] = byte 0xac5");
  EXPECT_EQ(place(text_of("where " + mx + "SFA in=smem factors=8 row=77 k=170 start=0x6000")),
            "SFA[77][5] = byte 0x62d9");
  EXPECT_EQ(text_of("where " + mx + "SFA factors=8 row=77 k=170"),
            text_of("where " + mx + "SFA factors=8 row=77 col=5"));
  EXPECT_EQ(text_of("where " + mx + "SFA factors=8 row=77 col=5 k=32"),
            text_of("where " + mx + "SFA factors=8 row=77 col=5"));
  EXPECT_EQ(ask("where " + mx + "SFA in=global row=300 k=170").status, Status::Usage);
  EXPECT_EQ(ask("where " + mx + "SFA in=smem rows=300 row=3 k=17").status, Status::Usage);
}

}  // namespace
}  // namespace tcq::oracle
