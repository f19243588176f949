// Laws of the oracle's answers: places against the maps of sim/isa, tables, pictures, mnemonics,
// and the arithmetic of `mma`. Closed forms: equation_test.cc; what the binary does with answers:
// cli_test.cc.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/table.h"
#include "oracle/help.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/syntax.h"
#include "tests/support/ask.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

const std::string bf16 = "wgmma.m64n128k16.f32.bf16.bf16";
const std::string f16_to_f16 = "wgmma.m64n24k16.f16.f16.f16";
const std::string sparse = "wgmma.sp.m64n16k32.f32.f16.f16";
const std::string desc_a = "0x4000004000010040";
const std::string desc_b = "0x4000004000010240";

// ---- where and what -----------------------------------------------------------------------------

TEST(Where, WorkedExampleOfTheManual) {
  EXPECT_EQ(text_of("where " + bf16 + " D row=9 col=13"),
            "D[9][13] = thread 6, register 7 (warp 0, lane 6)");
  Options inputs;
  inputs.inputs = true;
  const std::string question =
      "where " + bf16 + " D row=9 col=13 desc_a=" + desc_a + " desc_b=" + desc_b;
  EXPECT_EQ(text_of(question + " terms=2", inputs),
            "D[9][13] = thread 6, register 7 = A[9][0]@0x890*B[0][13]@0x2ad0 + "
            "A[9][1]@0x892*B[1][13]@0x2ad2 + ... + C@thread 6, register 7");
  const std::string whole = text_of(question, inputs);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '*'), 16);
  EXPECT_NE(whole.find(" + A[9][15]@0x88e*B[15][13]@0x2ace + C@thread 6, register 7"),
            std::string::npos);
}

TEST(Where, PartsAreNamedWhereARegisterHasSeveral) {
  EXPECT_EQ(text_of("where " + f16_to_f16 + " D row=34 col=23"),
            "D[34][23] = thread 75, register 4, part 1 (warp 2, lane 11)");
  EXPECT_EQ(text_of("where " + bf16 + " A row=9 col=1 a=regs"),
            "A[9][1] = thread 4, register 1, part 1 (warp 0, lane 4)");
}

TEST(Where, SharedMemoryAnswersWithBytes) {
  EXPECT_EQ(text_of("where " + bf16 + " A row=9 col=0 desc=" + desc_a), "A[9][0] = byte 0x890");
  EXPECT_EQ(text_of("where " + bf16 + " B row=1 col=13 desc=" + desc_b), "B[1][13] = byte 0x2ad2");
  EXPECT_EQ(text_of("where wgmma.m64n8k256.s32.b1.b1 A row=0 col=11 desc=" + desc_a),
            "A[0][11] = byte 0x401, bit 3");
}

TEST(Where, MetadataIsNamedByBits) {
  EXPECT_EQ(text_of("where " + sparse + " E row=41 k=22 selector=1"),
            "E[41][20..23] = thread 71, bits [20,24) (nibble 5, warp 2, lane 7)");
  EXPECT_EQ(text_of("what " + sparse + " E thread=71 nibble=5 selector=1"),
            "thread 71, bits [20,24) = E[41][20..23]");
  EXPECT_EQ(ask("what " + sparse + " E thread=69 nibble=5 selector=1").status, Status::No);
}

TEST(Where, InputsShowNegationRegistersAndMissingC) {
  Options inputs;
  inputs.inputs = true;
  EXPECT_EQ(
      text_of("where " + bf16 +
                  " D row=9 col=13 a=regs negate_a=1 negate_b=1 accumulate=0 "
                  "terms=1",
              inputs),
      "D[9][13] = thread 6, register 7 = -A[9][0]@thread 4, register 1, part 0*-B[0][13] + ...");
}

TEST(Where, SparseInputsNameTheRowsThatTheCodeMaySelect) {
  Options inputs;
  inputs.inputs = true;
  EXPECT_EQ(
      text_of("where " + sparse + " D row=9 col=13 terms=2", inputs),
      "D[9][13] = thread 6, register 7 = A[9][0]*B[{0..2}][13] + A[9][1]*B[{1..3}][13] + ... + "
      "C@thread 6, register 7");
  EXPECT_EQ(
      text_of("where " + sparse + " D row=9 col=13 codes=e9444444 terms=4", inputs),
      "D[9][13] = thread 6, register 7 = A[9][0]*B[2][13] + A[9][1]*B[3][13] + A[9][2]*B[5][13] "
      "+ A[9][3]*B[6][13] + ... + C@thread 6, register 7");
  EXPECT_EQ(ask("where " + sparse + " D row=9 col=13 codes=04444444", inputs).status, Status::No);
}

TEST(What, APackedRegisterAnswersWithAllItsParts) {
  EXPECT_EQ(text_of("what " + f16_to_f16 + " D thread=75 reg=4"),
            "thread 75, register 4 = D[34][22], D[34][23]");
  EXPECT_EQ(text_of("what " + f16_to_f16 + " D thread=75 reg=4 part=1"),
            "thread 75, register 4, part 1 = D[34][23]");
}

// ---- table --------------------------------------------------------------------------------------

TEST(Table, CsvListsEveryElementOnceWithItsSlot) {
  for (const bool by_slot : {false, true}) {
    Options options = styled(Style::Csv);
    options.by_slot = by_slot;
    const std::vector<std::string> lines =
        split(text_of("table " + f16_to_f16 + " D", options), '\n');
    EXPECT_EQ(lines[0], "thread,register,part,row,col");
    std::set<std::pair<int, int>> seen;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::vector<std::string> cells = split(lines[i], ',');
      ASSERT_EQ(cells.size(), 5u);
      const wgmma::Element e = wgmma::accumulator_element(
          Type::f16, {std::stoi(cells[0]), std::stoi(cells[1]), std::stoi(cells[2])});
      ASSERT_EQ(e.row, std::stoi(cells[3]));
      ASSERT_EQ(e.col, std::stoi(cells[4]));
      seen.insert({e.row, e.col});
    }
    EXPECT_EQ(seen.size(), 64u * 24u);
    EXPECT_EQ(lines.size(), 1 + seen.size());
    EXPECT_EQ(lines[2], by_slot ? "0,0,1,0,1" : "0,0,1,0,1");
  }
}

TEST(Table, TransposeExchangesTheOrderOfTheListAndTheAxesOfTheGrid) {
  Options options = styled(Style::Csv);
  options.transpose = true;
  EXPECT_EQ(split(text_of("table " + bf16 + " D", options), '\n')[2], "4,0,0,1,0");
  options.style = Style::Text;
  const std::vector<std::string> lines = split(text_of("table " + bf16 + " D", options), '\n');
  EXPECT_EQ(lines.size(), 129u);
  EXPECT_TRUE(lines[0].starts_with("D[64][128]  0 "));
}

TEST(Table, GridsShowThreadRegisterAndPart) {
  const std::vector<std::string> grid = split(text_of("table " + f16_to_f16 + " D"), '\n');
  EXPECT_EQ(grid.size(), 65u);
  EXPECT_NE(grid[1 + 34].find("75:4.1"), std::string::npos);
  Options options;
  options.by_slot = true;
  const std::vector<std::string> slots =
      split(text_of("table " + f16_to_f16 + " D", options), '\n');
  EXPECT_EQ(slots.size(), 129u);
  EXPECT_NE(slots[0].find("r4.1"), std::string::npos);
  EXPECT_NE(slots[1 + 75].find("[34][23]"), std::string::npos);
}

TEST(Table, EveryStyleHasItsShape) {
  const Table table{{"a", "b"}, {{"1", "x,y"}, {"02", "p|q\"r"}}};
  EXPECT_EQ(render(table, Style::Text), "a   b\n1   x,y\n02  p|q\"r");
  EXPECT_EQ(render(table, Style::Csv), "a,b\n1,\"x,y\"\n02,\"p|q\"\"r\"");
  EXPECT_EQ(render(table, Style::Markdown), "| a | b |\n|---|---|\n| 1 | x,y |\n| 02 | p\\|q\"r |");
  EXPECT_EQ(render(table, Style::Asciidoc), "[%header]\n|===\n|a |b\n|1 |x,y\n|02 |p\\|q\"r\n|===");
  EXPECT_EQ(render(table, Style::Json), R"([{"a":1,"b":"x,y"},{"a":"02","b":"p|q\"r"}])");
  EXPECT_EQ(render(transposed(table), Style::Csv), "a,1,02\nb,\"x,y\",\"p|q\"\"r\"");
}

class Picture : public testing::Test {
 protected:
  Answer draw(const std::string& name, const std::string& question) {
    Options options;
    options.svg_path = folder_.file(name);
    return ask(question, options);
  }
  const TemporaryFolder folder_;
};

TEST_F(Picture, HasOneCellPerElementAndIsWrittenWhole) {
  EXPECT_EQ(draw("d.svg", "table " + f16_to_f16 + " D").status, Status::Yes);
  std::ifstream in(folder_.file("d.svg"));
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  std::size_t rects = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1))
    ++rects;
  EXPECT_EQ(rects, 1 + 64 * 24 + 32 + 4u);  // background, cells, legend of lanes and warps
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find(">75:4.1<"), std::string::npos);
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(Picture, AnswersInJsonWhatWasWritten) {
  Options options;
  options.svg_path = folder_.file("d.svg");
  options.style = Style::Json;
  EXPECT_EQ(ask("table " + f16_to_f16 + " D", options).text,
            "{\"file\":\"" + options.svg_path + "\",\"title\":\"D of " + f16_to_f16 +
                "\",\"rows\":64,\"columns\":24}");
}

TEST_F(Picture, AnUnwritablePathIsRefusedAndLeavesNothing) {
  for (const char* name : {"", "no/such/folder.svg", "."}) {
    const Answer reply = draw(name, "table " + bf16 + " D");
    EXPECT_EQ(reply.status, Status::Usage) << name;
    EXPECT_NE(reply.complaint.find("cannot be written"), std::string::npos) << reply.complaint;
  }
  EXPECT_EQ(folder_.files(), 0);
}

// As root a rename onto a device would succeed, and the machine would have lost the device.
TEST_F(Picture, WhatIsNoRegularFileIsNotReplaced) {
  const std::filesystem::path pipe = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Answer reply = draw("pipe", "table " + bf16 + " D");
  EXPECT_EQ(reply.status, Status::Usage);
  EXPECT_NE(reply.complaint.find("no regular file"), std::string::npos) << reply.complaint;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(folder_.files(), 1);
}

// ---- mnemonics, list, describe, help ------------------------------------------------------------

TEST(Mnemonic, EverySpellingOfEveryLegalOpcodeParsesBack) {
  int dense = 0;
  for (const wgmma::Form& form : all_forms()) {
    dense += form.sparse ? 0 : 1;
    const Keys none({}, {});
    ASSERT_EQ(parse_instruction(short_mnemonic(form), none).form, form);
    ASSERT_EQ(parse_instruction(wgmma::opcode(form).chars, none).form, form);
  }
  EXPECT_EQ(dense, 474);
  EXPECT_EQ(all_forms().size(), 474u + 456u);
}

// The manual's syntax has .satfinite behind the shape, its examples have it behind the types.
TEST(Mnemonic, SatfiniteHasTwoPlacesAndStandsOnce) {
  const Keys none({}, {});
  const auto form = [&](const char* word) { return parse_instruction(word, none).form; };
  EXPECT_TRUE(form("wgmma.m64n8k32.s32.s8.u8.satfinite").satfinite);
  EXPECT_EQ(form("wgmma.m64n8k32.s32.s8.u8.satfinite"),
            form("wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8"));
  EXPECT_THROW(form("wgmma.m64n8k32.satfinite.s32.s8.u8.satfinite"), UsageError);
  EXPECT_THROW(form("wgmma.m64n8k8.f32.tf32.tf32.satfinite"), FaultError);
  EXPECT_THROW(form("wgmma.m064n8k32.s32.s8.u8"), UsageError) << "check refuses it, too";
}

TEST(Mnemonic, KeysAreSpeltBackAsTheyCanBeTyped) {
  const std::vector<std::string> words = {"a=regs", "major_b=MN", "accumulate=0", "negate_b=1"};
  const std::vector<std::string_view> views(words.begin(), words.end());
  const Instruction instruction = parse_instruction(bf16, Keys(views, instruction_keys));
  EXPECT_EQ(mnemonic_with_keys(instruction), bf16 + " a=regs major_b=MN accumulate=0 negate_b=1");
}

TEST(Mnemonic, AnIllegalOneIsANoWithTheReasonAndTheNearestSpelling) {
  const Answer reply = ask("describe wgmma.m64n40k32.s32.s8.s8");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_NE(reply.complaint.find("multiple of 16"), std::string::npos) << reply.complaint;
  EXPECT_NE(reply.complaint.find("did you mean 'wgmma.m64n48k32.s32.s8.s8'"), std::string::npos)
      << reply.complaint;
}

// What PTX has is no unknown mnemonic, and no unknown target.
TEST(Mnemonic, WhatIsKnownAndNotModelledHasAStatusOfItsOwn) {
  for (const char* known :
       {"where wmma.mma.sync.aligned.m16n16k16.row.col.f32.f16.f16.f32 D row=1 col=2",
        "where movmatrix.sync.aligned.m8n8.trans.b16 D row=1 col=1", "table wmma.mma D"})
    EXPECT_EQ(ask(known).status, Status::Unmodelled) << known;
  EXPECT_EQ(ask("where wgmma.mma_async.m64n8k16.f32.f16 D row=1 col=1").status, Status::Usage);
  EXPECT_EQ(ask("where ldmatrix.x3 D").status, Status::Usage);
  EXPECT_EQ(ask("where nonsense D").status, Status::Usage);
  for (const char* target : {"sm_75", "sm_80", "sm_89", "sm_120"}) {
    Options options;
    options.arch = target;
    EXPECT_EQ(ask("list", options).status, Status::Unmodelled) << target;
    EXPECT_EQ(ask("check", options).status, Status::Unmodelled) << target;
  }
  Options unknown;
  unknown.arch = "sm_99";
  EXPECT_EQ(ask("list", unknown).status, Status::Usage);
}

TEST(List, HasEveryFormOnceAndOnlyTheFamilyAskedFor) {
  const std::vector<std::string> all = split(text_of("list"), '\n');
  EXPECT_EQ(all.size(), 474u + 456u + 72u + 72u);  // with .satfinite of the 8-bit integers
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  Options options;
  options.family = "b1";
  EXPECT_EQ(split(text_of("list", options), '\n').size(), 18u);
  options.family = "";
  options.arch = "sm_120a";
  EXPECT_EQ(ask("list", options).status, Status::No);
  options.arch = "h200";
  EXPECT_EQ(split(text_of("list", options), '\n').size(), all.size());
}

TEST(Describe, ReadsItsNumbersFromTheSimulator) {
  const std::string text = text_of("describe wgmma.m64n16k32.f32.e4m3.e5m2 a=regs");
  EXPECT_NE(text.find("fraction bits kept       13\n"), std::string::npos) << text;
  EXPECT_NE(text.find("14 significant bits"), std::string::npos);
  EXPECT_NE(text.find("65536 (2*M*N*K)"), std::string::npos);
  EXPECT_NE(text.find("D 8, A 4"), std::string::npos);
  EXPECT_NE(text.find("d, a, b-desc, scale-d, imm-scale-a, imm-scale-b\n"), std::string::npos);
  EXPECT_NE(text.find("tests/vectors/"), std::string::npos);
}

// Whoever takes 1.875 * 1.875 = 3.5156 for a term of exponent 1 gets 40610000.
TEST(Describe, SaysWhichExponentAProductHas) {
  const std::string text = text_of("describe wgmma.m64n8k32.f32.e4m3.e4m3");
  EXPECT_NE(text.find("\nexponent of a term       of a product the sum of its factors' exponents"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\noverflow                 Inf, toward zero too\n"), std::string::npos);
  const std::string row = "1.875,0.001953125,0.001953125,0.001953125,0.001953125 ";
  EXPECT_EQ(
      text_of("mma wgmma.m64n8k32.f32.e4m3.e4m3 " + row + "1.875,0.0625,0.0625,0.0625,0.0625 0.0"),
      "40610800");
  EXPECT_EQ(text_of("mma wgmma.m64n8k16.f32.bf16.bf16 7f7f,7f7f 3f80,3f80"), "7f800000");
  const std::string other = text_of("describe tcgen05.mma.cta_group::1.kind::f16");
  EXPECT_NE(other.find("\nexponent of a term "), std::string::npos) << other;
}

TEST(Help, EveryVerbHasAPageAndItsExampleIsAnswered) {
  for (const std::string_view verb : verb_names()) {
    const std::string page = help(verb);
    EXPECT_TRUE(page.starts_with("tcq " + std::string(verb))) << page;
    EXPECT_NE(overview().find("  " + std::string(verb)), std::string::npos);
    for (const char* bad : {"internal error", "did you mean", "unknown", "expected"})
      EXPECT_EQ(page.find(bad), std::string::npos) << page;
  }
}

// ---- mma ----------------------------------------------------------------------------------------

std::string repeated(const std::string& first, const std::string& rest, int count) {
  std::string text = first;
  for (int i = 1; i < count; ++i) text += "," + rest;
  return text;
}

TEST(Mma, AnswersTheBitsOfTheDotProduct) {
  const std::string one = repeated("38", "00", 32);
  EXPECT_EQ(ask_line("mma wgmma.m64n8k32.f32.e4m3.e4m3", one + " " + one + " 3f8007ff").text,
            "40000000");
  EXPECT_EQ(
      ask_line("mma wgmma.m64n8k32.f32.e4m3.e4m3 accumulate=0", one + " " + one + " 7fc00000").text,
      "3f800000");
  EXPECT_EQ(
      ask_line("mma wgmma.m64n8k32.f32.e4m3.e4m3 negate_b=1", one + " " + one + " 00000000").text,
      "bf800000");
  EXPECT_EQ(ask_line("mma wgmma.m64n8k32.f16.e4m3.e4m3", one + " " + one + " 3c00\r").text, "4000");
}

TEST(Mma, IntegersWrapOrClampAndBitsAreCounted) {
  const std::string ones = repeated("01", "01", 32);
  EXPECT_EQ(ask_line("mma wgmma.m64n8k32.s32.s8.s8", ones + " " + ones + " 7fffffff").text,
            "8000001f");
  EXPECT_EQ(
      ask_line("mma wgmma.m64n8k32.satfinite.s32.s8.s8", ones + " " + ones + " 7fffffff").text,
      "7fffffff");
  const std::string bits = std::string(62, '0') + "f5";
  const std::string mask = std::string(60, 'f') + "00f1";
  EXPECT_EQ(
      ask_line("mma wgmma.m64n8k256.s32.b1.b1.and.popc", bits + " " + mask + " 00000001").text,
      "00000006");
}

TEST(Mma, SparseMeetsTheElementsThatTheCodesName) {
  // Stored 1, 2 at positions 1 and 3 of chunk 2; B[k] = k as f16 small integers.
  const std::vector<std::string> integers = {"0000", "3c00", "4000", "4200", "4400", "4500",
                                             "4600", "4700", "4800", "4880", "4900", "4980",
                                             "4a00", "4a80", "4b00", "4b80"};
  std::string b;
  for (int k = 0; k < 32; ++k) b += (k > 0 ? "," : "") + integers[static_cast<std::size_t>(k % 16)];
  std::string a;
  for (int i = 0; i < 16; ++i)
    a += (i > 0 ? "," : "") + std::string(i == 4 ? "3c00" : i == 5 ? "4000" : "0000");
  const Answer reply = ask_line("mma " + sparse, a + " " + b + " 00000000 44d44444");
  EXPECT_EQ(reply.text, "41f80000") << reply.complaint;  // 1 * 9 + 2 * 11 = 31
  // The chip's answer to a code that PTX leaves undefined: both elements at position 1, 1 * 9 + 2 *
  // 9.
  EXPECT_EQ(ask_line("mma " + sparse, a + " " + b + " 00000000 44544444").text, "41d80000");
}

}  // namespace
}  // namespace tcq::oracle
