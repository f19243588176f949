// Laws of `decode` and `encode` for the words of tcgen05, and of their lints.
#include "oracle/descriptor/tcgen05_words.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "oracle/descriptor/tcgen05_lint.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"
#include "tests/support/ask.h"
#include "tests/support/lints.h"

namespace tcq::oracle {
namespace {

using tcgen05::Kind;

// ---- decode and encode --------------------------------------------------------------------------

TEST(Tcgen05_Decode, HasHexThenALinePerFieldThenNotes) {
  EXPECT_EQ(text_of("decode tcgen05.desc 0x4000404000010040"),
            "0x4000404000010040\n"
            "bits [0,14)  start_bytes  64  1024\n"
            "bits [16,30)  lbo_bytes  1  16\n"
            "bits [32,46)  sbo_bytes  64  1024\n"
            "bits [46,49)  constant  1  001\n"
            "bits [49,52)  base_offset  0  0\n"
            "bits [52,53)  lbo_mode  0  relative\n"
            "bits [61,64)  swizzle  2  128B\n"
            "note: lbo_bytes 16 is ignored if the operand is dense and K-major (swizzle 128B)");
  EXPECT_EQ(text_of("decode tmem.addr 0x00200010"),
            "0x00200010\n"
            "bits [0,16)  tmem_column  16  16\n"
            "bits [16,32)  tmem_lane  32  32");
}

TEST(Tcgen05_Decode, ExplainsEveryKindInItsOwnFormat) {
  EXPECT_EQ(text_of("decode tcgen05.idesc.mxf4nvf4 0x28200484"),
            "0x28200484\n"
            "bits [2,3)  sparse  1  1\n"
            "bits [4,6)  scale_b_id  0  0\n"
            "bits [7,10)  type_a  1  e2m1\n"
            "bits [10,12)  type_b  1  e2m1\n"
            "bits [13,14)  negate_a  0  0\n"
            "bits [14,15)  negate_b  0  0\n"
            "bits [17,23)  n  16  128\n"
            "bits [23,24)  scale_type  0  ue4m3\n"
            "bits [27,29)  m  1  128\n"
            "bits [29,31)  scale_a_id  1  1\n"
            "bits [31,32)  k96  0  0\n"
            "lint: scale_a_id 1: with K = 64 kind mxf4nvf4 takes 0 or 2");
  expect_note("kind f16: D f32 128 x 64 = A bf16 MN-major x -B bf16 K-major",
              "tcgen05.idesc.f16 0x0810c490");
  expect_note("kind mxf4: D f32 128 x 128 = A sparse e2m1 K-major x B e2m1 K-major",
              "tcgen05.idesc.mxf4 0x08a00484");
  expect_note("k96: K is 96", "tcgen05.idesc.mxf4 0x88a00480");
  expect_note("disputed: K = 96 with 128 rows", "tcgen05.idesc.mxf4nvf4 0x88a00480 cta_group=1");
  expect_note("metadata, selector 1: they begin in the odd column behind the even one",
              "tcgen05.idesc.f16 0x08200015");
  expect_note("metadata, selector 2: no source says", "tcgen05.idesc.tf32 0x08200916");
}

TEST(Tcgen05_Decode, NamesReservedBitsThatAreSet) {
  const std::string text = text_of("decode tcgen05.idesc.mxf8f6f4 0x89a00000");
  EXPECT_NE(text.find("bits [24,27)  reserved  1  must be 0"), std::string::npos) << text;
  EXPECT_NE(text.find("bits [31,32)  reserved  1  must be 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("bits [0,2)"), std::string::npos) << text;
}

TEST(Tcgen05_Decode, JsonHasTheSameParts) {
  const std::string text = text_of("decode TCGEN05.desc 0x4000c04000010040", styled(Style::Json));
  EXPECT_TRUE(
      text.starts_with(R"({"format":"tcgen05.desc","word":"0x4000c04000010040","fields":[)"))
      << text;
  for (const char* part : {R"({"low":61,"end":64,"name":"swizzle","code":2,"value":"128B"})",
                           R"("reserved":[])", R"("lints":["bits [46,49) must be 001: )"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text_of("encode tmem.addr tmem_lane=1", styled(Style::Json)),
            R"({"format":"tmem.addr","word":"0x00010000","lints":[]})");
}

// The keys of encode are the names and values that decode prints.
std::string encode_question(const std::string& format, const std::string& word) {
  std::string question = "encode " + format;
  for (const std::string& line : split(text_of("decode " + format + " " + word), '\n')) {
    const std::vector<std::string> cells = split(line);
    if (line.starts_with("bits")) question += " " + cells[3] + "=" + cells.back();
  }
  return question;
}

void expect_round_trip(const std::string& format, const std::string& word) {
  const std::string question = encode_question(format, word);
  ASSERT_EQ(text_of(question), word) << question;
}

// A right word that an instruction takes; whether one does is nonsense_test.cc's concern.
bool is_taken(std::uint32_t word, Kind kind) {
  return tcgen05::check_word(word, kind) == Fault::None &&
         verdict_on(tcgen05::decode(word, kind), kind, {}).fault == Fault::None;
}

TEST(Tcgen05_Encode, InvertsDecodeForRandomRightWords) {
  std::mt19937_64 random(1);
  int tried[4] = {};
  while (tried[0] < 300 || tried[1] < 700 || tried[2] < 300 || tried[3] < 300) {
    const std::uint64_t word = random();
    const std::uint64_t desc =
        (word & tcgen05::SmemDescriptorFormat::mask & ~tcgen05::DescriptorConstant::mask) |
        tcgen05::DescriptorConstant::bits;
    if (tcgen05::check_word(desc) == Fault::None && ++tried[0] <= 300)
      expect_round_trip("tcgen05.desc", hex_word(desc, 64));
    const auto kind = static_cast<Kind>(random() % tcgen05::kind_count);
    const auto idesc = static_cast<std::uint32_t>(random() & random() & tcgen05::idesc_mask(kind));
    if (is_taken(idesc, kind) && ++tried[1] <= 700)
      expect_round_trip(std::string("tcgen05.idesc.") + name(kind), hex_word(idesc, 32));
    const std::uint64_t mask = word & tcgen05::ZeroColumnMaskFormat::mask;
    if (tcgen05::check_zero_mask_word(mask) == Fault::None && ++tried[2] <= 300)
      expect_round_trip("tcgen05.zero_mask", hex_word(mask, 64));
    const tcgen05::TmemAddress cell{static_cast<int>(random() % 128),
                                    static_cast<int>(random() % 512)};
    if (++tried[3] <= 300) expect_round_trip("tmem.addr", hex_word(tcgen05::encode(cell), 32));
    if (HasFatalFailure()) return;
  }
}

TEST(Tcgen05_Encode, GivesGoldenWords) {
  EXPECT_EQ(text_of("encode tcgen05.desc start=1024 lbo=16 sbo=1024 swizzle=128B"),
            "0x4000404000010040");
  EXPECT_EQ(text_of("encode tcgen05.idesc.f16 m=128 n=256"), "0x08400010");
  EXPECT_EQ(text_of("encode tcgen05.idesc.i8 m=128 n=64 type_a=s8 type_b=s8"), "0x081004a0");
  EXPECT_EQ(text_of("encode tcgen05.idesc.tf32 m=128 n=64"), "0x08100910");
  EXPECT_EQ(text_of("encode tcgen05.idesc.mxf4 m=128 n=128"), "0x08a00480");
  EXPECT_EQ(text_of("encode tcgen05.idesc.mxf4nvf4 m=128 n=128 scale_type=ue4m3"), "0x08200480");
  EXPECT_EQ(text_of("encode tcgen05.zero_mask non_zero=1 skip_columns=3 use_columns=4"),
            "0x0003028000000000");
  EXPECT_EQ(text_of("encode tmem.addr tmem_lane=32 tmem_column=16"), "0x00200010");
}

TEST(Tcgen05_Encode, RefusesWhatDoesNotFitWithTheFaultsSentence) {
  const auto refused = [](const std::string& question, Fault fault) {
    const Answer reply = ask("encode " + question);
    EXPECT_EQ(reply.status, Status::No) << question;
    EXPECT_NE(reply.complaint.find(info(fault).sentence), std::string::npos) << reply.complaint;
    EXPECT_EQ(reply.text, "");
  };
  refused("tcgen05.desc start=1025", Fault::DescriptorUnaligned);
  refused("tcgen05.desc lbo_mode=absolute", Fault::DescriptorLboMode);
  refused("tcgen05.idesc.f16 m=128 n=264", Fault::IdescN);
  refused("tcgen05.idesc.f16 m=72 n=64", Fault::IdescM);
  refused("tcgen05.idesc.f16 m=128 n=64 type_a=e4m3", Fault::IdescType);
  refused("tcgen05.idesc.i8 m=128 n=64 negate_a=1", Fault::IdescField);
  refused("tcgen05.idesc.mxf4 m=128 n=64 scale_b_id=3", Fault::IdescScaleId);
  refused("tcgen05.zero_mask column_shift=33", Fault::ZeroMaskRange);
  refused("tmem.addr tmem_lane=128", Fault::TmemAddressRange);
}

TEST(Tcgen05_Formats, BadInputIsAUsageErrorThatNamesIt) {
  const auto refused = [](const std::string& question, const std::string& part) {
    const Answer reply = ask(question);
    EXPECT_EQ(reply.status, Status::Usage) << question;
    EXPECT_NE(reply.complaint.find(part), std::string::npos) << reply.complaint;
  };
  refused("decode tcgen05.idesc.f61 0", "did you mean 'tcgen05.idesc.f16'");
  refused("decode tcgen05.idesc 0", "unknown format");
  refused("decode tcgen05.desc", "0x4000404000010040");
  refused("decode tcgen05.desc 12x", "is no number");
  refused("decode tcgen05.desc 0 major=MN", "expected type= as well");
  refused("decode tcgen05.desc 0 type=f17", "'f16'");
  refused("decode tcgen05.desc 0 type=f32", "no operand of tcgen05.mma");
  refused("decode tcgen05.desc 0 type=f16 kind=i8", "kind=i8 has no operands of type=f16");
  refused("decode tcgen05.desc 0 type=f16 mn=0", "[8, 256]");
  refused("decode tcgen05.idesc.f16 0x0840001000000000",
          "did you mean its upper half '0x08400010'");
  refused("decode tcgen05.idesc.f16 0x100000001", "has more than 32 bits");
  refused("decode tcgen05.idesc.f16 0 mn=8", "'mn'");
  refused("decode tcgen05.idesc.f16 0 cta_group=3", "[1, 2]");
  refused("decode tcgen05.idesc.mxf4 0 scale_vec=3X", "'3X'");
  refused("decode tcgen05.zero_mask 0 m=64", "n= is missing");
  refused("decode tcgen05.zero_mask 0 m=48 n=64", "'48'");
  refused("decode tmem.addr 0x100000000", "has more than 32 bits");
  refused("encode tcgen05.idesc.f16 m=128", "n= is missing");
  refused("encode tcgen05.idesc.f16 m=128 n=8 scale_a_id=0", "unknown key 'scale_a_id'");
  refused("encode tcgen05.idesc.mxf4 m=128 n=8 major_a=MN", "unknown key 'major_a'");
  refused("encode tcgen05.desc swizzle=256B", "64B, 128B or 128B_ATOM_32B");
  refused("encode tcgen05.desc constant=010", "'010'");
  refused("encode tmem.addr lane=1", "tmem_lane");
}

// ---- Lints of shared memory descriptors ---------------------------------------------------------

TEST(Tcgen05_Lints, RightWordsHaveNone) {
  for (const char* question :
       {"tcgen05.desc 0x4000404000010040 type=bf16 mn=128", "tcgen05.desc 0x2000408000200040",
        "tcgen05.desc 0x2000408000200040 type=tf32 major=MN mn=128",
        "tcgen05.desc 0x4000404000010040 type=e2m1 kind=mxf4 mn=256",
        "tcgen05.desc 0x4000404000010042", "tcgen05.idesc.f16 0x08400010",
        "tcgen05.idesc.mxf4nvf4 0x88200480", "tcgen05.zero_mask 0x0003028000000000 m=64 n=64",
        "tmem.addr 0x007f01ff"})
    EXPECT_EQ(lints(question), "") << question;
}

TEST(Tcgen05_Lints, AWgmmaWordLacksTheConstant) {
  expect_lint(
      "bits [46,49) must be 001: they are 000, as in a wgmma descriptor; the other fields mean the "
      "same here, so the word is 0x4000404000010040",
      "tcgen05.desc 0x4000004000010040");
  expect_lint("bits [46,49) must be 001: they are 011", "tcgen05.desc 0x4000c04000010040");
}

TEST(Tcgen05_Lints, SwizzleCodesOfWgmma) {
  expect_lint(
      "swizzle code 1 is 128B_ATOM_32B, for MN-major tf32 only; wgmma's code 1 is 128B, which is "
      "code 2 here",
      "tcgen05.desc 0x2000404000010040 type=bf16");
  expect_note("swizzle code 1 is 128B_ATOM_32B, for MN-major tf32 only; wgmma's code 1 is 128B",
              "tcgen05.desc 0x2000404000010040");
  expect_lint(
      "swizzle code 3 does not exist: 0 none, 1 128B_ATOM_32B, 2 128B, 4 64B, 6 32B; "
      "wgmma's code 3 is 32B, which is code 6 here",
      "tcgen05.desc 0x6000401000010040");
  expect_lint("swizzle code 5 does not exist", "tcgen05.desc 0xa000401000010040");
  EXPECT_EQ(lints("tcgen05.desc 0xa000401000010040").find("wgmma"), std::string::npos);
}

TEST(Tcgen05_Lints, BytesNotDividedBy16) {
  expect_lint(
      "sbo_bytes field 1024 means 16384 bytes: looks like bytes not divided by 16; for 1024 bytes "
      "the field is 64",
      "tcgen05.desc 0x4000440000010040");
  expect_lint("lbo_bytes field 1024 means 16384 bytes", "tcgen05.desc 0x4000440004000040");
  EXPECT_EQ(lints("tcgen05.desc 0x4000404004000040"), "") << "an LBO of 16 atoms is common";
}

TEST(Tcgen05_Lints, PublishedPackingIsRecognisedAndPackedRight) {
  expect_lint("the word looks packed with lbo at bit 14, sbo at bit 30",
              "tcgen05.desc 0x0010000002001000");
  const wgmma::MatrixDescriptor d{4096, 16, 1024, 0, Swizzle::B64};
  expect_lint("swizzle 64B packed right is " +
                  hex_word(tcgen05::encode({4096, 16, 1024, 0, false, Swizzle::B64}), 64),
              "tcgen05.desc " + hex_word(published::encode(d), 64));
}

TEST(Tcgen05_Lints, ReservedBitsSayHowTheyMayHaveBeenSet) {
  expect_lint(
      "bits [14,16) are reserved and must be 0: something larger than 262128 was packed "
      "into start_bytes",
      "tcgen05.desc 0x400040400001c040");
  expect_lint("bits [30,32) are reserved and must be 0: something larger",
              "tcgen05.desc 0x4000404080010040");
  expect_lint("bits [53,61) are reserved and must be 0\n", "tcgen05.desc 0x5000404000010040");
}

TEST(Tcgen05_Lints, PhaseAndLboMode) {
  expect_lint("base_offset must be 4", "tcgen05.desc 0x4000404000010420");
  EXPECT_EQ(lints("tcgen05.desc 0x4008404000010420"), "");
  expect_lint("lbo_mode is absolute: an absolute LBO needs", "tcgen05.desc 0x8010402000010040");
  expect_note("lbo_bytes 0x4400 is the address where", "tcgen05.desc 0x4010404004400040");
  expect_lint("lbo_mode absolute, K-major bf16 operand of kind f16, illegal: an absolute LBO needs",
              "tcgen05.desc 0x4010404004400040 type=bf16");
  EXPECT_EQ(lints("tcgen05.desc 0x4010404004400040 type=e2m1 kind=mxf4 mn=128"), "");
}

TEST(Tcgen05_Lints, SwizzleAgainstTheOperand) {
  expect_lint("128B, MN-major tf32 operand of kind tf32, illegal: ",
              "tcgen05.desc 0x4000408000200040 type=tf32 major=MN");
  expect_lint("128B_ATOM_32B, K-major tf32 operand of kind tf32, unmodelled: ",
              "tcgen05.desc 0x2000408000200040 type=tf32");
  expect_lint("128B, MN-major e2m3 operand of kind f8f6f4, illegal: ",
              "tcgen05.desc 0x4000408000200040 type=e2m3 major=MN");
}

TEST(Tcgen05_Lints, OverlapNamesTwoElementsOfOneByteAndTheOffsetThatIsRead) {
  const std::string found = lints("tcgen05.desc 0x4000400800010040 type=bf16 mn=128");
  EXPECT_EQ(found,
            "lint: element (mn 8, k 0) is read from byte 0x490, which is (mn 1, k 0) as well; "
            "sbo_bytes 128 lies inside the 1024-byte atom\n");
  expect_lint(
      "element (mn 32, k 0) is read from byte 0x400, which is (mn 0, k 0) as well; "
      "lbo_bytes 0 repeats the first 128 bytes of MN",
      "tcgen05.desc 0x2000408000000040 type=tf32 major=MN mn=128");
  expect_lint("sbo_bytes 0 repeats the first of all groups of 8 rows (K-major) or 8 k (MN-major)",
              "tcgen05.desc 0x4000400000010040");
  expect_lint("sbo_bytes 128 lies inside the 1024-byte atom", "tcgen05.desc 0x4000400800010040");
}

TEST(Tcgen05_Lints, OperandBeyondTheAddressSpace) {
  expect_lint("the operand ends at byte 277408, beyond the 262144 bytes of 18 address bits",
              "tcgen05.desc 0x4000404000013fc0 type=bf16 mn=128");
}

// Every descriptor that sim/isa makes for a compact tile is free of suspicion.
TEST(Tcgen05_Lints, CompactTilesAreNeverSuspicious) {
  int tiles = 0;
  for (const Type type : {Type::bf16, Type::tf32, Type::e4m3})
    for (const Swizzle swizzle :
         {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128, Swizzle::B128Atom32})
      for (const Major major : {Major::K, Major::MN})
        for (const AtomOrder order : {AtomOrder::MnFirst, AtomOrder::KFirst}) {
          if (tcgen05::check_swizzle(swizzle, type, major) != Fault::None) continue;
          ++tiles;
          const std::uint32_t es = static_cast<std::uint32_t>(bits(type)) / 8;
          const Tile tile{major, pitch_bytes(swizzle), order, 128 * es, 128, atom_rows(swizzle)};
          const std::uint64_t word = tcgen05::encode(tcgen05::tile_descriptor(tile, swizzle, 1024));
          const SmemUse use{type == Type::bf16   ? Kind::f16
                            : type == Type::tf32 ? Kind::tf32
                                                 : Kind::f8f6f4,
                            type, major, 128};
          for (const std::string& lint : remarks_on_smem(word, use).lints)
            ADD_FAILURE() << hex_word(word, 64) << ": " << lint;
        }
  EXPECT_EQ(tiles, 2 * (12 + 9));
}

// ---- Lints of instruction descriptors -----------------------------------------------------------

TEST(Tcgen05_IdescLints, ShapesOutsideTheirFields) {
  expect_lint("N>>3 = 33 is outside 1..32: N = 264, but it is a multiple of 8 up to 256",
              "tcgen05.idesc.f16 0x08420490");
  expect_lint("N>>3 = 0 is outside 1..32", "tcgen05.idesc.f16 0x08000490");
  expect_lint("M>>4 = 17 is outside 1..16: M = 272, but it is 32, 64, 128 or 256",
              "tcgen05.idesc.f16 0x11100490");
  expect_lint("M>>7 = 3 is outside 1..2: M = 384, but with scale factors it is 128 or 256",
              "tcgen05.idesc.mxf8f6f4 0x18a00000");
}

TEST(Tcgen05_IdescLints, TypeCodesOfAnotherKindNameTheLegalOnesAndTheKind) {
  expect_lint("type_a code 2 is no type of kind f16 (0 f16, 1 bf16); code 2 is tf32 in kind tf32",
              "tcgen05.idesc.f16 0x08100910");
  expect_lint("the word fits kind tf32\n", "tcgen05.idesc.f16 0x08100910");
  expect_lint("type_d code 2 is no type of kind f16 (0 f16, 1 f32); code 2 is s32 in kind i8",
              "tcgen05.idesc.f16 0x08100020");
  expect_lint("type_b code 5 is no type of kind i8 (0 u8, 1 s8); code 5 is e2m1 in kind f8f6f4",
              "tcgen05.idesc.i8 0x08101420");
  expect_lint("type_a code 7 is no type of kind f8f6f4 (0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1)\n",
              "tcgen05.idesc.f8f6f4 0x08100390");
}

TEST(Tcgen05_IdescLints, MembersThatAKindDoesNotHave) {
  expect_lint("saturate is set: only kind i8 saturates, in kind f16 it is 0",
              "tcgen05.idesc.f16 0x08100018");
  EXPECT_EQ(lints("tcgen05.idesc.i8 0x081000a8"), "");
  expect_lint("negate_b is set: kind i8 cannot negate its operands", "tcgen05.idesc.i8 0x081040a0");
  expect_lint("major_a is MN: 4- and 6-bit operands (e2m1) are K-major",
              "tcgen05.idesc.f8f6f4 0x08108290");
  expect_lint("scale_type 0 is ue4m3: the scale factors of kind mxf4 are ue8m0, 1",
              "tcgen05.idesc.mxf4 0x08200480");
  expect_lint("scale_b_id 1: with K = 64 kind mxf4 takes 0 or 2", "tcgen05.idesc.mxf4 0x08a00490");
  EXPECT_EQ(lints("tcgen05.idesc.mxf4 0x90a00490"), "");
}

TEST(Tcgen05_IdescLints, ReservedBitsSayWhatTheyAreElsewhere) {
  expect_lint("bits [23,24) must be 0 in kind f16; in kind mxf8f6f4 they are scale_type",
              "tcgen05.idesc.f16 0x08a00000");
  expect_lint("the word fits kind mxf8f6f4\n", "tcgen05.idesc.f16 0x08a00000");
  expect_lint("bits [15,17) must be 0 in kind mxf4: 4-bit operands are K-major",
              "tcgen05.idesc.mxf4 0x08a08480");
  expect_lint(
      "bits [31,32) must be 0 in kind mxf8f6f4; in kind f16 they are max_shift_b, in kind "
      "mxf4 they are k96",
      "tcgen05.idesc.mxf8f6f4 0x88a00000");
}

TEST(Tcgen05_IdescLints, AgainstTheInstruction) {
  const std::string m64 = "tcgen05.idesc.f16 0x04100010";
  EXPECT_EQ(lints(m64 + " cta_group=1"), "");
  expect_lint("tcgen05.mma.cta_group::2.kind::f16 with M 64, N 64, illegal: ",
              m64 + " cta_group=2");
  expect_lint("tcgen05.mma.sp.cta_group::1.kind::f16 with M 64, N 64, illegal: ",
              m64 + " sparse=1");
  EXPECT_EQ(lints(m64 + " ws=1"), "");
  expect_lint("tcgen05.mma.ws.cta_group::1.kind::f16 with M 64, N 72, illegal: ",
              "tcgen05.idesc.f16 0x04120010 ws=1");
  expect_lint("kind::mxf4nvf4.block_scale.scale_vec::4X with M 128, N 128, illegal: ",
              "tcgen05.idesc.mxf4nvf4 0x48200480 scale_vec=4X");
  EXPECT_EQ(lints("tcgen05.idesc.mxf4nvf4 0x48a00480 scale_vec=2X"), "");
  EXPECT_EQ(lints("tcgen05.idesc.f16 0x08120010 a=tmem"), "");
}

// A word is without lints exactly if sim/isa finds nothing wrong and an instruction takes it.
TEST(Tcgen05_IdescLints, EveryWrongWordHasOneAndNoRightWordHas) {
  std::mt19937_64 random(2);
  int right = 0;
  for (int i = 0; i < 40000; ++i) {
    const auto kind = static_cast<Kind>(random() % tcgen05::kind_count);
    auto word = static_cast<std::uint32_t>(random() & random() & tcgen05::idesc_mask(kind));
    if (i % 8 == 0) word |= 1u << random() % 32;
    const bool is_right = is_taken(word, kind);
    right += is_right ? 1 : 0;
    const DescriptorRemarks remarks = remarks_on_idesc(word, kind);
    ASSERT_EQ(remarks.lints.empty(), is_right) << name(kind) << " " << hex_word(word, 32);
    ASSERT_EQ(remarks.notes.empty(), tcgen05::check_word(word, kind) != Fault::None)
        << name(kind) << " " << hex_word(word, 32);
  }
  EXPECT_GT(right, 100);
}

// ---- Lints of masks and addresses ---------------------------------------------------------------

TEST(Tcgen05_MaskNotes, NameTheZeroedColumns) {
  expect_note("zeroed columns of B (M 64, N 64): 4-6, 11-13, 18-20, 25-27, 36-38",
              "tcgen05.zero_mask 0x0003028000000000 m=64 n=64");
  expect_note("zeroed columns of B (M 32, N 64): none", "tcgen05.zero_mask 0 m=32 n=64");
  expect_note("non_zero is 0: no column is zeroed", "tcgen05.zero_mask 0x0003020000000000");
  expect_note(
      "zeroed columns of B (M 128, N 256): 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, "
      "26, 28, 30, ...",
      "tcgen05.zero_mask 0x0000008100000000 m=128 n=256");
}

TEST(Tcgen05_MaskLints, ColumnShiftAndReservedBits) {
  expect_lint("column_shift 8, unmodelled: ", "tcgen05.zero_mask 0x0803028000000000 m=64 n=64");
  expect_lint("column_shift 33, illegal: ", "tcgen05.zero_mask 0x2103028000000000");
  expect_lint("column_shift 17, illegal: ", "tcgen05.zero_mask 0x1103028000000000 m=32 n=64");
  EXPECT_EQ(lints("tcgen05.zero_mask 0x1103028000000000"), "");
  expect_lint("bits [36,39) are reserved and must be 0", "tcgen05.zero_mask 0x0000001000000000");
}

TEST(Tmem_Lints, CellsThatDoNotExist) {
  expect_lint("tmem_lane 16384 is outside 0..127: CuTe keeps", "tmem.addr 0x40000000");
  expect_lint("tmem_column 512 is outside 0..511", "tmem.addr 0x00000200");
}

}  // namespace
}  // namespace tcq::oracle
