// Laws of `decode`, `encode`, `bytes` and the descriptor lints. Worked words are those of the
// manual's formulas by hand (start 1024 unless the name says otherwise).
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "oracle/descriptor/lint.h"
#include "sim/isa/base/field_gaps.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"
#include "sim/isa/wgmma/operand.h"
#include "tests/support/ask.h"
#include "tests/support/lints.h"

namespace tcq::oracle {
namespace {

const std::string kBf16 = "wgmma.m64n128k16.f32.bf16.bf16";

std::string hex(std::uint64_t word) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
  return text;
}

// ---- decode and encode --------------------------------------------------------------------------

TEST(Decode, HasHexThenALinePerFieldThenLints) {
  EXPECT_EQ(text_of("decode wgmma.desc 0x4000004000010040"),
            "0x4000004000010040\n"
            "bits [0,14)  start_bytes  64  1024\n"
            "bits [16,30)  lbo_bytes  1  16\n"
            "bits [32,46)  sbo_bytes  64  1024\n"
            "bits [49,52)  base_offset  0  0\n"
            "bits [62,64)  swizzle  1  128B\n"
            "note: lbo_bytes 16 is ignored if the operand is dense and K-major (swizzle 128B)");
}

TEST(Decode, NamesIgnoredBitsThatAreSet) {
  const std::string text = text_of("decode wgmma.desc 0x400040400001c040");
  EXPECT_NE(text.find("bits [14,16)  ignored  3  no effect"), std::string::npos) << text;
  EXPECT_NE(text.find("bits [46,49)  ignored  1  no effect"), std::string::npos) << text;
  EXPECT_EQ(text.find("bits [30,32)"), std::string::npos) << text;
}

TEST(Decode, TakesDecimalWordsToo) {
  EXPECT_EQ(text_of("decode wgmma.desc 4611686293305360448").substr(0, 18), "0x4000004000010040");
}

TEST(Decode, JsonHasFieldsIgnoredBitsAndLints) {
  const std::string text = text_of("decode wgmma.desc 0x4000004000010040", styled(Style::Json));
  EXPECT_NE(text.find(R"({"low":62,"end":64,"name":"swizzle","code":1,"value":"128B"})"),
            std::string::npos)
      << text;
}

TEST(Gaps, AreExactlyTheBitsOfNoField) {
  std::uint64_t gaps = 0;
  for_each_gap(wgmma::MatrixDescriptorFormat{}, [&](auto gap) { gaps |= decltype(gap)::mask; });
  EXPECT_EQ(gaps, wgmma::MatrixDescriptorFormat::unused);
}

TEST(Encode, InvertsDecodeForRandomWords) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t word = random() & wgmma::MatrixDescriptorFormat::mask;
    std::map<std::string, std::string> value;
    for (const std::string& line : split(text_of("decode wgmma.desc " + hex(word)), '\n')) {
      const std::vector<std::string> cells = split(line);
      if (line.starts_with("bits")) value[cells[3]] = cells.back();
    }
    std::string question = "encode wgmma.desc";
    for (const auto& [key, text] : value) question += " " + key + "=" + text;
    ASSERT_EQ(text_of(question), hex(word)) << question;
  }
}

TEST(Encode, TakesBytesAndRefusesWhatDoesNotFitWithTheFaultsSentence) {
  EXPECT_EQ(text_of("encode wgmma.desc start=1024 lbo=16 sbo=1024 swizzle=128B"),
            "0x4000004000010040");
  EXPECT_EQ(text_of("encode wgmma.desc"), "0x0000000000000000");
  const auto refused = [](const std::string& keys, Fault fault) {
    const Answer reply = ask("encode wgmma.desc " + keys);
    EXPECT_EQ(reply.status, Status::No) << keys;
    EXPECT_NE(reply.complaint.find(info(fault).sentence), std::string::npos) << reply.complaint;
    EXPECT_EQ(reply.text, "");
  };
  refused("start=1025", Fault::DescriptorUnaligned);
  refused("sbo=8", Fault::DescriptorUnaligned);
  refused("lbo=0x40000", Fault::DescriptorTooLarge);
  refused("base_offset=8", Fault::DescriptorBaseOffset);
}

TEST(Formats, UnknownOnesAreUsageErrorsThatListAll) {
  const Answer typo = ask("decode wgmma.dsc 0");
  EXPECT_EQ(typo.status, Status::Usage);
  EXPECT_NE(typo.complaint.find("did you mean 'wgmma.desc'"), std::string::npos) << typo.complaint;
  EXPECT_NE(typo.complaint.find("tcgen05.idesc.mxf4nvf4"), std::string::npos) << typo.complaint;
  EXPECT_EQ(ask("encode tcgen05.idesc n=8").status, Status::Usage);
}

TEST(Decode, BadInputIsAUsageError) {
  for (const char* question :
       {"decode", "decode wgmma.desc", "decode wgmma.desc 12x", "decode wgmma.desc -1",
        "decode wgmma.desc 0x10000000000000000", "decode wgmma.desc 0 matrix=A",
        "decode wgmma.desc 0 rows=64", "decode wgmma.desc 0 colour=red",
        "decode wgmma.desc 0 mnemonic=wgmma.m64n8k16.f32.bf16.bf16 matrix=C",
        "decode wgmma.desc 0 mnemonic=wgmma.m64n8k16.f32.bf16.bf16 rows=0",
        "encode wgmma.desc swizzle=256B", "encode wgmma.desc start=1 start_bytes=1",
        "encode wgmma.desc start", "bytes wgmma.m64n8k16.f32.bf16.bf16 A",
        "bytes wgmma.m64n8k16.f32.bf16.bf16 C desc=0",
        "bytes wgmma.m64n8k16.f32.bf16.bf16 A desc=0 a=regs"})
    EXPECT_EQ(ask(question).status, Status::Usage) << question;
}

// ---- Lints --------------------------------------------------------------------------------------

TEST(Lints, ARightWordHasNone) {
  EXPECT_EQ(lints("wgmma.desc 0x4000004000010040 mnemonic=" + kBf16 + " rows=64 k=64"), "");
  EXPECT_EQ(
      lints("wgmma.desc 0x4000008000400040 mnemonic=" + kBf16 + " matrix=B major=MN rows=128 k=64"),
      "");
}

TEST(Lints, SboInsideTheAtomNamesTwoElementsOfOneByte) {
  expect_lint(
      "element (mn 8, k 0) is read from byte 0x90, which is (mn 1, k 0) as well; sbo_bytes 128 "
      "lies inside the 1024-byte atom; expected sbo_bytes 1024",
      "wgmma.desc 0x4000000800010000 mnemonic=" + kBf16);
}

TEST(Lints, SboZeroRepeatsTheFirstRows) {
  expect_lint("sbo_bytes 0 repeats the first 8 rows; expected sbo_bytes 1024",
              "wgmma.desc 0x4000000000010000 mnemonic=" + kBf16);
  expect_lint("sbo_bytes 0 repeats", "wgmma.desc 0x4000000000010000");
  EXPECT_EQ(lints("wgmma.desc 0x4000000000010000 mnemonic=wgmma.m64n8k16.f32.bf16.bf16 matrix=B")
                .find("sbo_bytes"),
            lints("wgmma.desc 0x4000000000010000 mnemonic=wgmma.m64n8k16.f32.bf16.bf16 matrix=B")
                .rfind("sbo_bytes"));
}

TEST(Lints, BytesNotDividedBy16) {
  expect_lint(
      "sbo_bytes field 1024 means 16384 bytes: looks like bytes not divided by 16; for 1024 "
      "bytes the field is 64",
      "wgmma.desc 0x4000040000010000");
  expect_lint("sbo_bytes field 1024 means 16384 bytes, beyond the 8192-byte tile",
              "wgmma.desc 0x4000040000010000 mnemonic=" + kBf16 + " rows=64 k=64");
}

TEST(Lints, CarryOutOfTheStartField) {
  expect_lint("bits [14,16) are set: something larger than 262128 was packed into start_bytes",
              "wgmma.desc 0x4000004000014040");
  expect_lint("carried out of it", "wgmma.desc 0x4000004000014040");
}

TEST(Lints, AdvanceOf32InsteadOf2) {
  expect_lint(
      "start_bytes moved by 512 bytes, but one step of 16 k with this descriptor is 32 bytes: "
      "looks like bytes added to the field",
      "wgmma.desc 0x4000004000010060 mnemonic=" + kBf16 + " from=0x4000004000010040");
  EXPECT_EQ(lints("wgmma.desc 0x4000004000010042 mnemonic=" + kBf16 + " from=0x4000004000010040")
                .find("moved by"),
            std::string::npos);
}

TEST(Lints, MnMajorAdvancedLikeKMajor) {
  expect_lint(
      "start_bytes moved by 32 bytes, but one step of 16 k with this descriptor is 4096 bytes: "
      "that is the step of a K-major operand",
      "wgmma.desc 0x4000008000400042 mnemonic=" + kBf16 +
          " matrix=B major=MN from=0x4000008000400040");
}

TEST(Lints, SwizzleCodeOfTcgen05) {
  expect_lint("swizzle code 2 means 64B here and 128B in a tcgen05 descriptor",
              "wgmma.desc 0x8000004000010040 mnemonic=" + kBf16 + " rows=64 k=64");
  expect_lint("bits [46,49) hold 1, the constant of a tcgen05", "wgmma.desc 0x4000404000010040");
}

TEST(Lints, LboAndSboExchangedInMnMajor) {
  expect_lint(
      "lbo_bytes 2048 and sbo_bytes 1024 look exchanged: with swizzle 128B LBO steps 128 bytes "
      "of MN and SBO steps 8 k; without swizzle it is the other way round",
      "wgmma.desc 0x4000004000800000 mnemonic=" + kBf16 + " matrix=B major_b=MN rows=128 k=64");
}

TEST(Lints, AnMnMajorTileReadAsKMajor) {
  const std::string tile = " mnemonic=" + kBf16 + " matrix=B rows=128 k=64";
  expect_lint("fit this tile if it is stored MN-major, but the instruction reads it K-major",
              "wgmma.desc 0x4000008000400040" + tile);
  EXPECT_EQ(lints("wgmma.desc 0x4000008000400040" + tile + " major=MN").find("stored MN-major"),
            std::string::npos);
}

TEST(Lints, StartInsideThePatternNeedsABaseOffset) {
  expect_lint("base_offset must be 4", "wgmma.desc 0x4000004000010420");
  EXPECT_EQ(lints("wgmma.desc 0x4008004000010420").find("base_offset must"), std::string::npos);
  EXPECT_EQ(lints("wgmma.desc 0x4000004000010042").find("base_offset must"), std::string::npos)
      << "a step along K inside the first row is fine";
}

TEST(Lints, MnMajorFp8) {
  expect_lint("e4m3 operands cannot be MN-major",
              "wgmma.desc 0x4000004000010040 mnemonic=wgmma.m64n64k32.f32.e4m3.e4m3 major=MN");
}

TEST(Lints, PublishedPackingIsRecognisedAndPackedRight) {
  expect_lint(
      "the word looks packed with lbo at bit 14, sbo at bit 30, base offset at bit 46 and "
      "swizzle at bit 52",
      "wgmma.desc 0x0010000002001000");
  expect_lint("0x4000000000801000", "wgmma.desc 0x0010000002001000");
  wgmma::MatrixDescriptor d{4096, 16, 1024, 0, Swizzle::B64};
  expect_lint(hex(wgmma::encode(d)), "wgmma.desc " + hex(published::encode(d)));
}

TEST(Lints, OperandBeyondTheAddressSpace) {
  expect_lint("beyond the 262144 bytes", "wgmma.desc 0x4000004000013fc0 mnemonic=" + kBf16);
}

TEST(Lints, OperandBeyondTheWindowOfACta) {
  expect_lint("ends at byte 253856, beyond the window of a CTA: 232448 bytes",
              "wgmma.desc 0x4000004000003c00 mnemonic=" + kBf16);
}

// Every descriptor that sim/isa makes for a compact tile is free of suspicion.
TEST(Lints, CompactTilesAreNeverSuspicious) {
  for (const auto swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
    for (const Major major : {Major::K, Major::MN}) {
      for (const AtomOrder order : {AtomOrder::MnFirst, AtomOrder::KFirst}) {
        DescriptorUse use;
        use.form = wgmma::Form{Type::f32, Type::bf16, Type::bf16, 128};
        use.operand = wgmma::Multiplicand::B;
        use.major = major;
        use.tile = wgmma::Extent{128, 64};
        const Tile tile = wgmma::compact_tile(Type::bf16, major, swizzle, order, *use.tile);
        const std::uint64_t word =
            wgmma::encode(wgmma::tile_descriptor(tile, Type::bf16, swizzle, {128, 16}, 1024));
        for (const std::string& lint : remarks_on(word, use).lints) {
          const bool expected =
              swizzle == Swizzle::B64 && lint.find("tcgen05") != std::string::npos;
          EXPECT_TRUE(expected) << hex(word) << ": " << lint;
        }
      }
    }
  }
}

// ---- bytes --------------------------------------------------------------------------------------

TEST(Bytes, CsvIsTheAddressLawWithKFastest) {
  const std::string text =
      text_of("bytes " + kBf16 + " A desc=0x4000004000010040", styled(Style::Csv));
  const std::vector<std::string> lines = split(text, '\n');
  ASSERT_EQ(lines.size(), 1u + 64 * 16);
  EXPECT_EQ(lines[0], "mn,k,byte");
  EXPECT_EQ(lines[1], "0,0,1024");
  EXPECT_EQ(lines[2], "0,1,1026");
  EXPECT_EQ(lines[1 + 11 * 16 + 5], "11,5,2490");  // 1024 + 1418, XOR 48
}

// Worked by hand from the law: mn, k and the final address.
TEST(Bytes, WorkedAddresses) {
  struct Row {
    const char* question;
    const char* line;
  };
  const Row rows[] = {
      {"bytes wgmma.m64n64k32.s32.s8.s8 A desc=0x8000002000010040", "13,21,1909"},
      {"bytes wgmma.m64n128k16.f32.bf16.bf16 A desc=0x0000000800400040", "13,9,2258"},
      {"bytes wgmma.m64n128k16.f32.bf16.bf16 A major_a=MN desc=0x0000000800400040", "13,9,2202"},
      {"bytes wgmma.m64n256k16.f32.bf16.bf16 B major_b=MN desc=0x8000010000200040", "100,11,6872"},
      {"bytes wgmma.m64n128k16.f32.bf16.bf16 B major_b=MN desc=0x4000004002000040", "100,11,10744"},
      {"bytes wgmma.m64n128k16.f32.bf16.bf16 A desc=0x4004004000010050", "7,0,2288"}};
  for (const Row& row : rows) {
    const std::string text = text_of(row.question, styled(Style::Csv)) + "\n";
    EXPECT_NE(text.find(std::string("\n") + row.line + "\n"), std::string::npos) << row.question;
  }
}

TEST(Bytes, B1NamesTheBitInTextOnly) {
  const std::string question = "bytes wgmma.m64n8k256.s32.b1.b1.and.popc B desc=0";
  EXPECT_EQ(split(text_of(question, styled(Style::Csv)), '\n')[10], "0,9,1");
  const std::string text = text_of(question);
  EXPECT_EQ(split(text, '\n')[10], "0   9    1     1");
}

TEST(Bytes, SparseAIsCompressedAndBHasAllOfK) {
  const std::string sparse = "bytes wgmma.sp.m64n8k32.f32.f16.f16 ";
  EXPECT_EQ(split(text_of(sparse + "A desc=0", styled(Style::Csv)), '\n').size(), 1u + 64 * 16);
  EXPECT_EQ(split(text_of(sparse + "B desc=0", styled(Style::Csv)), '\n').size(), 1u + 8 * 32);
  // 32B mode, LBO 4096: k 16 of row 0 starts the second atom along K.
  EXPECT_EQ(split(text_of(sparse + "B desc=0xc000000001000000", styled(Style::Csv)), '\n')[17],
            "0,16,4096");
}

TEST(Decode, FieldsInPlaceOfTheWordAreSentToEncode) {
  for (const char* format : {"wgmma.desc", "tcgen05.desc", "tcgen05.idesc.f16", "tmem.addr"}) {
    const Answer reply = ask(std::string("decode ") + format + " lbo=1024 sbo=1024");
    EXPECT_EQ(reply.status, Status::Usage) << format;
    EXPECT_NE(reply.complaint.find("'lbo=1024' is a field and no word"), std::string::npos)
        << reply.complaint;
    EXPECT_NE(reply.complaint.find("'tcq encode' makes"), std::string::npos);
  }
}

}  // namespace
}  // namespace tcq::oracle
