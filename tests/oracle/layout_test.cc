// Laws of `layout`: worked descriptors of compact tiles, and that a tile laid out as the answer
// says is read back element by element through the descriptors that the answer gives.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/base/tile_offset.h"
#include "sim/isa/copy/tma_box.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/tile.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

// The value of "key: value" in an answer.
std::string fact(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(key + ": ")) return line.substr(key.size() + 2);
  return {};
}

std::vector<std::string> start_fields(const std::string& text) {
  std::vector<std::string> fields;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t at = line.find("start field 0x");
    if (at != std::string::npos)
      fields.push_back(line.substr(at + 14, line.find(',', at) - at - 14));
  }
  return fields;
}

// ---- Worked examples ----------------------------------------------------------------------------

TEST(Layout, Bf16Tile64x16IsB32WithLbo16AndSbo256) {
  const std::string text = text_of("layout wgmma.m64n64k16.f32.bf16.bf16 A rows=64 k=16");
  EXPECT_EQ(fact(text, "fields"),
            "start_bytes 0, lbo_bytes 16, sbo_bytes 256, base_offset 0, swizzle 32B");
  EXPECT_NE(fact(text, "tma").find("CU_TENSOR_MAP_SWIZZLE_32B"), std::string::npos) << text;
  EXPECT_EQ(fact(text, "tma").substr(0, 15), "1 box {16, 64} ");
}

struct Worked {
  const char* question;  // after "layout wgmma."
  const char* descriptor;
  std::vector<std::string> starts;  // of the K blocks of the first rows, hexadecimal
};

// A tile at shared byte 1024. MN-major rows of 128 are B with N = 128.
TEST(Layout, TheTypeMayBeNamedButNotChanged) {
  const std::string question = "layout wgmma.m64n64k32.f32.e4m3.e5m2 B rows=64 k=64";
  EXPECT_EQ(text_of(question + " type=e5m2"), text_of(question));
  const Answer reply = ask(question + " type=e4m3");
  EXPECT_EQ(reply.status, Status::Usage);
  EXPECT_NE(reply.complaint.find("expected type=e5m2"), std::string::npos) << reply.complaint;
}

TEST(Layout, DescriptorsOfCompactTiles) {
  const std::string a = "m64n64k16.f32.bf16.bf16 A ";
  const std::string b = "m64n128k16.f32.bf16.bf16 B ";
  const std::vector<std::pair<std::string, Worked>> rows = {
      {a,
       {"rows=64 k=64 swizzle=128B order=mn-first",
        "0x4000004000010040",
        {"40", "42", "44", "46"}}},
      {a,
       {"rows=64 k=64 swizzle=128B order=k-first", "0x4000004000010040", {"40", "42", "44", "46"}}},
      {a, {"rows=128 k=64", "0x4000004000010040", {"40", "42", "44", "46"}}},
      {a, {"rows=256 k=64", "0x4000004000010040", {"40", "42", "44", "46"}}},
      {a,
       {"rows=128 k=128 swizzle=128B order=k-first",
        "0x4000008000010040",
        {"40", "42", "44", "46", "80", "82", "84", "86"}}},
      {a,
       {"rows=64 k=64 swizzle=64B order=mn-first",
        "0x8000002000010040",
        {"40", "42", "140", "142"}}},
      {a,
       {"rows=64 k=64 swizzle=32B order=mn-first",
        "0xc000001000010040",
        {"40", "c0", "140", "1c0"}}},
      {a,
       {"rows=64 k=64 swizzle=none order=mn-first",
        "0x0000000800400040",
        {"40", "c0", "140", "1c0"}}},
      {a,
       {"rows=64 k=64 swizzle=none order=k-first", "0x0000004000080040", {"40", "50", "60", "70"}}},
      {"m64n64k32.s32.s8.s8 A ",
       {"rows=128 k=128", "0x4000004000010040", {"40", "42", "44", "46"}}},
      {"m64n64k8.f32.tf32.tf32 A ",
       {"rows=128 k=32", "0x4000004000010040", {"40", "42", "44", "46"}}},
      {a,
       {"major=MN rows=64 k=64 swizzle=128B order=mn-first",
        "0x4000004000000040",
        {"40", "c0", "140", "1c0"}}},
      {b,
       {"major=MN rows=128 k=64 swizzle=128B order=mn-first",
        "0x4000008000400040",
        {"40", "140", "240", "340"}}},
      {b,
       {"major=MN rows=128 k=64 swizzle=128B order=k-first",
        "0x4000004002000040",
        {"40", "c0", "140", "1c0"}}},
      {a,
       {"major=MN rows=64 k=64 swizzle=64B order=mn-first",
        "0x8000004000200040",
        {"40", "c0", "140", "1c0"}}},
      {a,
       {"major=MN rows=64 k=64 swizzle=32B order=mn-first",
        "0xc000004000100040",
        {"40", "c0", "140", "1c0"}}},
      {a,
       {"major=MN rows=64 k=64 swizzle=none order=mn-first",
        "0x0000000800400040",
        {"40", "c0", "140", "1c0"}}}};
  for (const auto& [instruction, row] : rows) {
    const std::string question = "layout wgmma." + instruction + row.question + " start=1024";
    const std::string text = text_of(question);
    EXPECT_EQ(fact(text, "descriptor"), row.descriptor) << question;
    std::vector<std::string> starts = start_fields(text);
    starts.resize(row.starts.size());
    EXPECT_EQ(starts, row.starts) << question;
  }
}

TEST(Layout, WidestSwizzleThatTheTileAllows) {
  const auto swizzle = [](const std::string& keys) {
    const std::string fields =
        fact(text_of("layout wgmma.m64n64k16.f32.bf16.bf16 A " + keys), "fields");
    return fields.substr(fields.rfind(' ') + 1);
  };
  EXPECT_EQ(swizzle("k=16"), "32B");
  EXPECT_EQ(swizzle("k=32"), "64B");
  EXPECT_EQ(swizzle("k=64"), "128B");
  EXPECT_EQ(swizzle("k=96"), "64B");
  EXPECT_EQ(swizzle("k=48"), "32B");
  EXPECT_EQ(swizzle("k=16 major=MN"), "128B");
  const std::string b24 =
      fact(text_of("layout wgmma.m64n24k16.f32.bf16.bf16 B major=MN"), "fields");
  EXPECT_EQ(b24.substr(b24.rfind(' ') + 1), "none");
}

TEST(Layout, CanonicalFormsOfTheManual) {
  const auto canonical = [](const std::string& keys) {
    return fact(text_of("layout wgmma.m64n128k16.f32.bf16.bf16 B k=64 rows=128 " + keys),
                "canonical");
  };
  EXPECT_EQ(canonical("swizzle=none"),
            "Sw<0,4,3> o ((8,m),(T,2k)):((1T,SBO),(1,LBO)), T = 8 elements");
  EXPECT_EQ(canonical("swizzle=32B"),
            "Sw<1,4,3> o ((8,m),(T,2k)):((2T,SBO),(1,T)), T = 8 elements");
  EXPECT_EQ(canonical("swizzle=128B"),
            "Sw<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T)), T = 8 elements");
  EXPECT_EQ(canonical("swizzle=none major=MN"),
            "Sw<0,4,3> o ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)), T = 8 elements");
  EXPECT_EQ(canonical("swizzle=64B major=MN"),
            "Sw<2,4,3> o ((T,4,m),(8,k)):((1,T,LBO),(4T,SBO)), T = 8 elements");
}

TEST(Layout, TmaBoxesOfTheUsualTiles) {
  const auto tma = [](const std::string& words) {
    return fact(text_of("layout wgmma." + words), "tma");
  };
  EXPECT_EQ(tma("m64n64k16.f32.bf16.bf16 A rows=128 k=128"),
            "2 boxes {64, 128} of CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 along {K, MN}, "
            "CU_TENSOR_MAP_SWIZZLE_128B, next K at +16384 "
            "bytes");
  EXPECT_EQ(tma("m64n128k16.f32.bf16.bf16 B major=MN k=64"),
            "2 boxes {64, 64} of CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 along {MN, K}, "
            "CU_TENSOR_MAP_SWIZZLE_128B, next MN at +8192 "
            "bytes");
  EXPECT_EQ(tma("m64n64k16.f32.bf16.bf16 A rows=512 k=64"),
            "2 boxes {64, 256} of CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 along {K, MN}, "
            "CU_TENSOR_MAP_SWIZZLE_128B, next MN at +32768 "
            "bytes");
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST(Layout, RowsOf16BytesAreTooShortForOneInstruction) {
  const Answer reply = ask("layout wgmma.m64n64k16.f32.bf16.bf16 A rows=64 k=8");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_NE(reply.complaint.find("one instruction reads 32 bytes of K"), std::string::npos)
      << reply.complaint;
}

TEST(Layout, ATileThatIsTooLargeForACtaSaysSo) {
  const std::string limit = "\nlimit: a CTA has at most 232448 bytes of shared memory\n";
  const std::string tile = "layout wgmma.m64n64k16.f32.bf16.bf16 A rows=128 k=";
  EXPECT_NE(text_of(tile + "960").find(limit), std::string::npos);
  EXPECT_EQ(text_of(tile + "896").find("limit"), std::string::npos);
  EXPECT_NE(text_of("layout tcgen05.mma.cta_group::1.kind::f16 A m=128 n=128 k=960").find(limit),
            std::string::npos);
}

TEST(Layout, ExplainsWhatCannotBeLaidOut) {
  const auto refused = [](const std::string& question, const std::string& why) {
    const Answer reply = ask("layout wgmma." + question);
    EXPECT_EQ(reply.status, Status::No) << question;
    EXPECT_NE(reply.complaint.find(why), std::string::npos) << reply.complaint;
  };
  refused("m64n64k32.f32.e4m3.e4m3 A major=MN", "e4m3 operands are K-major");
  refused("m64n64k16.f32.bf16.bf16 A rows=96", "M of A is 96, not a multiple of 64");
  refused("m64n64k16.f32.bf16.bf16 A k=32 swizzle=128B", "64 bytes, not a multiple of the 128");
  refused("m64n24k16.f32.bf16.bf16 B rows=48 major=MN swizzle=32B", "would start inside an atom");
  refused("m64n64k16.f32.bf16.bf16 A k=64 start=512", "not a multiple of 1024 bytes");
  refused("m64n64k16.f32.bf16.bf16 A rows=4096 k=64", "ends beyond");
  for (const char* question :
       {"layout", "layout wgmma.m64n64k16.f32.bf16.bf16", "layout wgmma.m64n64k16.f32.bf16.bf16 D",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A rows=0",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A rows=100000",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A swizzle=16B",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A order=first",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A a=regs",
        "layout wgmma.m64n64k16.f32.bf16.bf16 A start=262144"})
    EXPECT_EQ(ask(question).status, Status::Usage) << question;
}

// ---- Second formulation -------------------------------------------------------------------------

struct Case {
  Type type;
  Major major;
  Swizzle swizzle;
  AtomOrder order;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type type : {Type::bf16, Type::tf32, Type::e4m3})
    for (const Major major : {Major::K, Major::MN})
      for (const auto swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128})
        for (const AtomOrder order : {AtomOrder::MnFirst, AtomOrder::KFirst})
          if (major == Major::K || wgmma::has_major(type))
            all.push_back({type, major, swizzle, order});
  return all;
}

std::string question_of(const Case& c, std::uint32_t rows, std::uint32_t k) {
  const std::string type = name(c.type);
  return "layout wgmma.m64n64k" + std::to_string(wgmma::stored_k(c.type)) + ".f32." + type + "." +
         type + " B rows=" + std::to_string(rows) + " k=" + std::to_string(k) +
         " major=" + (c.major == Major::K ? "K" : "MN") + " swizzle=" + name(c.swizzle) +
         " order=" + (c.order == AtomOrder::MnFirst ? "mn-first" : "k-first") + " start=2048";
}

// The printed CuTe layout, evaluated as text and swizzled, against the address law at the printed
// descriptor of each instruction.
TEST(Layout, CuteStringIsWhereTheDescriptorsRead) {
  for (const Case& c : cases()) {
    const auto k = static_cast<std::uint32_t>(8 * wgmma::stored_k(c.type));
    const std::string text = text_of(question_of(c, 128, k));
    const std::string cute = fact(text, "cute");
    const cute::Layout layout(cute.substr(cute.rfind(" o ") + 3));
    int blocks = 0;
    for (const std::string& line : split(text, '\n')) {
      if (!line.starts_with("mn ")) continue;
      ++blocks;
      const std::vector<std::string> words = split(line);
      const int mn0 = std::stoi(words[1]);
      const int k0 = std::stoi(words[3]);
      const auto d = wgmma::decode(std::stoull(words.back(), nullptr, 16));
      for (int mn = 0; mn < 64; ++mn) {
        for (int i = 0; i < wgmma::stored_k(c.type); ++i) {
          const std::uint32_t linear =
              2048 + static_cast<std::uint32_t>(layout({mn0 + mn, k0 + i}) * bits(c.type) / 8);
          ASSERT_EQ(wgmma::element_address(
                        d, c.major, c.type,
                        {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(i)}),
                    swizzle_function(c.swizzle).apply(linear))
              << line << "\n"
              << cute;
        }
      }
    }
    EXPECT_EQ(blocks, 2 * 8) << text;
  }
}

// B of a sparse instruction has twice the K: in the 32B mode LBO leads to the second half.
TEST(Layout, SparseBIsReadAsItIsLaidOut) {
  for (const char* swizzle : {"none", "32B", "64B", "128B"}) {
    for (const char* order : {"mn-first", "k-first"}) {
      const std::string text =
          text_of(std::string("layout wgmma.sp.m64n32k32.f32.f16.f16 B rows=64 k=128 swizzle=") +
                  swizzle + " order=" + order);
      const std::string cute = fact(text, "cute");
      const cute::Layout layout(cute.substr(cute.rfind(" o ") + 3));
      for (const std::string& line : split(text, '\n')) {
        if (!line.starts_with("mn ")) continue;
        const std::vector<std::string> words = split(line);
        const auto d = wgmma::decode(std::stoull(words.back(), nullptr, 16));
        for (int mn = 0; mn < 32; ++mn)
          for (int k = 0; k < 32; ++k)
            ASSERT_EQ(wgmma::element_address(
                          d, Major::K, Type::f16,
                          {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)}),
                      swizzle_function(d.swizzle).apply(static_cast<std::uint32_t>(
                          2 * layout({std::stoi(words[1]) + mn, std::stoi(words[3]) + k}))))
                << line << "\n"
                << cute;
      }
    }
  }
  EXPECT_EQ(fact(text_of("layout wgmma.sp.m64n32k32.f32.f16.f16 B k=32 swizzle=32B"), "canonical"),
            "Sw<1,4,3> o ((8,m),(T,2,k)):((2T,SBO),(1,T,LBO)), T = 8 elements");
}

TEST(Layout, TileOffsetsAreABijection) {
  for (const Case& c : cases()) {
    const Tile tile = wgmma::compact_tile(c.type, c.major, c.swizzle, c.order, {128, 128});
    std::set<std::uint32_t> seen;
    for (std::uint32_t mn = 0; mn < 128; ++mn)
      for (std::uint32_t k = 0; k < 128; ++k)
        seen.insert(tile_offset_bytes(tile, wgmma::operand_byte(c.major, c.type, {mn, k})));
    EXPECT_EQ(seen.size(), 128u * 128u);
    EXPECT_LT(*seen.rbegin(), tile.bytes());
  }
}

// A box written densely covers exactly the bytes of its part of the tile, in order.
TEST(Layout, TmaBoxesWriteEveryByteToItsPlace) {
  for (const Case& c : cases()) {
    const Tile tile = wgmma::compact_tile(c.type, c.major, c.swizzle, c.order, {512, 128});
    const TmaBoxes boxes = tma_boxes(tile);
    EXPECT_LE(boxes.box.rows, max_box_extent);
    for (std::uint32_t row = 0; row < tile.rows; ++row) {
      for (std::uint32_t byte = 0; byte < tile.contiguous_bytes; byte += 16) {
        const std::uint32_t written = byte / boxes.box.inner_bytes * boxes.step_contiguous_bytes +
                                      row / boxes.box.rows * boxes.step_rows_bytes +
                                      row % boxes.box.rows * boxes.box.inner_bytes +
                                      byte % boxes.box.inner_bytes;
        const OperandByte at =
            c.major == Major::K ? OperandByte{row, byte} : OperandByte{byte, row};
        ASSERT_EQ(written, tile_offset_bytes(tile, at));
      }
    }
  }
}

}  // namespace
}  // namespace tcq::oracle
