// The verbs where, what, table, equation and bytes on tcgen05: their answers agree with each other
// and with the maps, in every sort of place, and wrong questions get one sentence.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/operand.h"
#include "tests/oracle/c_expression.h"
#include "tests/support/ask.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

const std::string f16 = "tcgen05.mma.cta_group::1.kind::f16";
const std::string mxf8 = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale";
const std::string nvf4 = "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16";
const std::string k_128b = " desc=0x4000404000010040";  // start 1024, SBO 1024, 128B

// Lines of a CSV answer without its header, split at commas.
std::vector<std::vector<std::string>> csv_of(const std::string& question) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(text_of(question, styled(Style::Csv)), '\n'))
    rows.push_back(split(line, ','));
  rows.erase(rows.begin());
  return rows;
}

std::map<std::string, std::string> equation_of(const std::string& words) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : split(text_of("equation " + words), '\n')) {
    const std::size_t at = line.find(" = ");
    if (at != std::string::npos) lines[line.substr(0, at)] = line.substr(at + 3);
  }
  return lines;
}

int value(const std::string& text, const std::map<std::string, int>& names) {
  return tests::Evaluator(text, names).value();
}

TEST(Tcgen05_Verbs, TablesListWhatWhereAndWhatAnswer) {
  for (const std::string& matrix : std::vector<std::string>{
           f16 + " D m=64 n=16", f16 + " A a=tmem m=64 n=16", mxf8 + " SFB n=48",
           "tcgen05.mma.ws.cta_group::1.kind::tf32 D m=32 n=64",
           nvf4 + " SFA m=256 n=64 address=0x40", nvf4 + " D m=256 n=32 address=0x40"}) {
    const std::vector<std::string> words = split(matrix);
    const auto rows = csv_of("table " + matrix);
    for (std::size_t i = 0; i < rows.size(); i += 37) {
      const auto& row = rows[i];
      const std::string element = words[1] + "[" + row[0] + "][" + row[1] + "]";
      const std::string cell = "tmem_lane " + row[3] + ", tmem_column " + row[4];
      const std::string where = text_of("where " + matrix + " row=" + row[0] + " col=" + row[1]);
      EXPECT_TRUE(where.starts_with(element + " = tmem_lane ")) << where;
      const std::string cta = row[2] == "1" ? " cta=1" : "";
      const std::string what =
          text_of("what " + matrix + " tmem_lane=" + row[3] + " tmem_column=" + row[4] + cta);
      EXPECT_TRUE(what.starts_with(cell)) << what;
      EXPECT_NE((what + ",").find(element + ","), std::string::npos) << what << " " << element;
    }
  }
}

TEST(Tcgen05_Verbs, MetadataIsAskedByChunkOfLogicalK) {
  const std::string sp = "tcgen05.mma.sp.cta_group::1.kind::f16";
  EXPECT_EQ(text_of("where " + sp + " E m=128 row=77 chunk=5"),
            "E[77][20..23] = tmem_lane 77, tmem_column 0, bits [20,24)");
  EXPECT_TRUE(ask("where " + sp + " E row=77 col=5").complaint.starts_with("col= does not apply"));
  EXPECT_EQ(text_of("where " + sp + " E m=128 row=77 chunk=5 selector=1"),
            "E[77][20..23] = tmem_lane 77, tmem_column 1, bits [20,24)\nnote: CuTe's code is the "
            "only source: selector 1 means the column behind the address's");
  EXPECT_TRUE(text_of("what " + sp + " E tmem_lane=77 tmem_column=129 address=128 selector=1")
                  .starts_with("tmem_lane 77, tmem_column 129 = E[69][16..19]"));
  EXPECT_EQ(ask("what " + sp + " E tmem_lane=77 tmem_column=128 address=128 selector=1").status,
            Status::No);
  EXPECT_EQ(ask("where " + sp + " E row=1 chunk=1 selector=2").status, Status::Unmodelled);
  EXPECT_EQ(ask("where " + sp + " E row=1 chunk=1 address=129").status, Status::Unmodelled);
}

TEST(Tcgen05_Verbs, ScaleIdsMoveTheFactorsOfTheInstruction) {
  EXPECT_EQ(text_of("where " + mxf8 + " SFA row=77 col=0 scale_a_id=3"),
            "SFA[77][0] = tmem_lane 13, tmem_column 2, bits [24,32); copies in tmem_lane 45, 77 "
            "and 109");
  EXPECT_EQ(text_of("what " + mxf8 + " SFA tmem_lane=45 tmem_column=2 scale_a_id=3"),
            "tmem_lane 45, tmem_column 2 = SFA[77][0]");
  EXPECT_EQ(text_of("what " + mxf8 + " SFA tmem_lane=45 tmem_column=2 factors=4"),
            "tmem_lane 45, tmem_column 2 = SFA[77][0], SFA[77][1], SFA[77][2], SFA[77][3]");
}

// --- Shared memory --------------------------------------------------------------------------------

struct SmemCase {
  std::string words;  // mnemonic, matrix, keys without desc=
  std::string desc;
  tcgen05::Kind kind;
  Type type;
  Major major;
};

const std::vector<SmemCase> smem_cases = {
    {f16 + " A", "0x4000404000010040", tcgen05::Kind::f16, Type::f16, Major::K},
    {f16 + " B n=64 major_b=MN", "0x4000408000400040", tcgen05::Kind::f16, Type::f16, Major::MN},
    {"tcgen05.mma.cta_group::1.kind::tf32 A major_a=MN", "0x2000408000200040", tcgen05::Kind::tf32,
     Type::tf32, Major::MN},
    {mxf8 + " A type_a=e2m3", "0x4000404000010040", tcgen05::Kind::mxf8f6f4, Type::e2m3, Major::K},
    {mxf8 + " B type_b=e2m1", "0xc000401000010040", tcgen05::Kind::mxf8f6f4, Type::e2m1, Major::K},
    {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale B n=64", "0x8000402000010040",
     tcgen05::Kind::mxf4, Type::e2m1, Major::K}};

TEST(Tcgen05_Verbs, BytesAreTheAddressLaw) {
  for (const SmemCase& c : smem_cases) {
    const auto d = tcgen05::decode(std::stoull(c.desc, nullptr, 16));
    const auto rows = csv_of("bytes " + c.words + " desc=" + c.desc);
    EXPECT_FALSE(rows.empty());
    for (const auto& row : rows) {
      const auto mn = static_cast<std::uint32_t>(std::stoul(row[0]));
      const auto k = static_cast<std::uint32_t>(std::stoul(row[1]));
      const auto at = element_place(d, c.major, c.kind, c.type, {mn, k});
      ASSERT_EQ(row[2], std::to_string(at.byte)) << c.words;
      ASSERT_EQ(row.size(), bits(c.type) < 8 ? 4u : 3u) << c.words;
      if (bits(c.type) < 8) {
        ASSERT_EQ(row[3], std::to_string(at.bit)) << c.words;
      }
    }
  }
}

TEST(Tcgen05_Verbs, EquationsOfSharedMemoryAreTheTable) {
  for (const SmemCase& c : smem_cases) {
    const std::string question = c.words + " desc=" + c.desc;
    const auto lines = equation_of(question);
    const auto rows = csv_of("table " + question);
    for (std::size_t i = 0; i < rows.size(); i += 7) {
      std::map<std::string, int> names = {{"row", std::stoi(rows[i][0])},
                                          {"col", std::stoi(rows[i][1])}};
      if (lines.contains("bit")) names["bit"] = value(lines.at("bit"), names);
      names["x"] = value(lines.at("x"), names);
      ASSERT_EQ(std::to_string(value(lines.at("byte"), names)), rows[i][2]) << question;
      if (lines.contains("low_bit")) {
        ASSERT_EQ(std::to_string(value(lines.at("low_bit"), names)), rows[i][3]) << question;
      }
    }
  }
}

TEST(Tcgen05_Verbs, PairsSplitRowsOfAAndColumnsOfB) {
  const std::string pair = "tcgen05.mma.cta_group::2.kind::f16 ";
  const std::string keys = " m=256 n=128" + k_128b;
  EXPECT_EQ(text_of("where " + pair + "A row=130 col=0" + keys),
            "A[130][0] = byte 0x520 of CTA 1's shared memory");
  EXPECT_EQ(text_of("where " + pair + "B row=0 col=66" + keys),
            "B[0][66] = byte 0x520 of CTA 1's shared memory");
  EXPECT_EQ(text_of("where " + pair + "B row=0 col=2" + keys),
            "B[0][2] = byte 0x520 of CTA 0's shared memory");
}

TEST(Tcgen05_Verbs, NarrowElementsSayHowTheyArePacked) {
  EXPECT_NE(ask("bytes " + mxf8 + " A type_a=e3m2" + k_128b).complaint.find("first 12 of every 16"),
            std::string::npos);
  EXPECT_NE(text_of("where " + nvf4 + " B row=0 col=0 m=256" + k_128b)
                .find("\nnote: e2m1 of kind "
                      "mxf4nvf4 is packed"),
            std::string::npos);
  EXPECT_EQ(ask("bytes " + mxf8 + " A type_a=e4m3" + k_128b).complaint, "");
}

// --- Registers ------------------------------------------------------------------------------------

TEST(Tcgen05_Verbs, RegistersOfLoadsAndStoresGoBothWays) {
  for (const std::string& load : std::vector<std::string>{
           "tcgen05.ld.16x256b.x2 D", "tcgen05.st.32x32b.x4.unpack::16b D address=0x30",
           "tcgen05.ld.16x64b.x4 D address=0x100000", "tcgen05.ld.16x32bx2.x4 D half_split=8",
           "tcgen05.ld.red.32x32b.x8.max.u32 D"}) {
    const auto lines = equation_of(load);
    const auto rows = csv_of("table " + load);
    for (std::size_t i = 0; i < rows.size(); i += 11) {
      const auto& row = rows[i];
      const std::string cell = "tmem_lane " + row[3] + ", tmem_column " + row[4];
      const std::string slot = "thread " + row[0] + ", register " + row[1];
      const std::string where =
          text_of("where " + load + " tmem_lane=" + row[3] + " tmem_column=" + row[4]);
      EXPECT_TRUE(where.starts_with(cell + " = " + slot)) << where;
      const std::string what = text_of("what " + load + " thread=" + row[0] + " reg=" + row[1]);
      EXPECT_NE(what.find(cell), std::string::npos) << what;
      std::map<std::string, int> names = {
          {"thread", std::stoi(row[0])}, {"reg", std::stoi(row[1])}, {"part", std::stoi(row[2])}};
      names["lane"] = value(lines.at("lane"), names);
      EXPECT_EQ(std::to_string(value(lines.at("tmem_lane"), names)), row[3]) << load;
      EXPECT_EQ(std::to_string(value(lines.at("tmem_column"), names)), row[4]) << load;
    }
  }
}

// --- What is taken for granted --------------------------------------------------------------------

TEST(Tcgen05_Verbs, AnMThatIsNotGivenIsSaid) {
  const std::string f16 = "where tcgen05.mma.cta_group::1.kind::f16 ";
  const std::string note = "m= is not given: M 128 is taken";
  EXPECT_NE(text_of(f16 + "D row=37 col=10").find("\nnote: " + note), std::string::npos);
  EXPECT_NE(text_of(f16 + "D row=37 col=10", styled(Style::Json)).find("\"" + note),
            std::string::npos);
  EXPECT_EQ(text_of(f16 + "D m=64 row=37 col=10").find("note:"), std::string::npos);
  EXPECT_EQ(text_of(f16 + "A row=1 col=2" + k_128b).find("m= is not"), std::string::npos);
  EXPECT_EQ(text_of("where " + mxf8 + " SFA row=1 col=0").find("m= is not"), std::string::npos);
}

TEST(Tcgen05_Verbs, AHalfSplitThatIsNotGivenIsSaid) {
  const std::string load = "tcgen05.ld.16x32bx2.x4 D ";
  for (const std::string& question :
       {"where " + load + "tmem_lane=3 tmem_column=2", "what " + load + "thread=3 register=1"}) {
    EXPECT_NE(text_of(question).find("\nnote: half_split= is not given"), std::string::npos);
    EXPECT_EQ(text_of(question + " half_split=0").find("half_split= is not"), std::string::npos);
  }
  EXPECT_NE(text_of("equation " + load).find("half_split= is not given"), std::string::npos);
  EXPECT_EQ(text_of("where tcgen05.ld.16x64b.x4 D tmem_lane=3 tmem_column=2").find("note:"),
            std::string::npos);
}

TEST(Tcgen05_Verbs, GridsOfALoadShowCellsOrSlots) {
  Options by_slot;
  by_slot.by_slot = true;
  const auto slots = split(text_of("table tcgen05.ld.16x256b.x1 D", by_slot), '\n');
  EXPECT_EQ(slots[1 + 4], "4       1:0    1:1    9:0    9:1");
  const auto cells = split(text_of("table tcgen05.ld.16x256b.x1 D"), '\n');
  EXPECT_TRUE(cells[1 + 9].starts_with("9          4:2    4:3    5:2")) << cells[1 + 9];
  EXPECT_TRUE(cells[1 + 16].starts_with("16         -      -")) << cells[1 + 16];
}

TEST(Tcgen05_Verbs, PicturesHaveACellForEachElementOrRegister) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("map.svg");
  EXPECT_NE(text_of("table " + f16 + " D m=64 n=8", options).find(": D[64][8] of tcgen05.mma"),
            std::string::npos);
  EXPECT_NE(text_of("table " + mxf8 + " A m=128" + k_128b, options).find("128 x 32 cells"),
            std::string::npos);
  options.by_slot = true;
  EXPECT_NE(text_of("table tcgen05.ld.16x64b.x2 D", options).find("128 x 2 cells"),
            std::string::npos);
  options.by_slot = false;
  options.transpose = true;
  EXPECT_NE(text_of("table tcgen05.ld.16x64b.x2 D", options).find("4 x 128 cells"),
            std::string::npos);
}

// --- Notes and refusals ---------------------------------------------------------------------------

TEST(Tcgen05_Verbs, DoubtsAreNotesInEveryVerb) {
  const std::string c = "tcgen05.mma.sp.cta_group::2.kind::f16 D m=128 n=32";
  for (const std::string& question : std::vector<std::string>{
           "where " + c + " row=0 col=0", "what " + c + " tmem_lane=0 tmem_column=0", "table " + c,
           "equation " + c})
    EXPECT_NE(text_of(question).find("\nnote: sources disagree: this is the manual's layout C"),
              std::string::npos)
        << question;
  EXPECT_TRUE(ask("table " + c, styled(Style::Csv)).complaint.starts_with("note: sources"));
  EXPECT_EQ(ask("where " + f16 + " D m=128 row=0 col=0").text.find("note"), std::string::npos);
}

struct Refusal {
  std::string question;
  Status status;
  std::string words;  // of the complaint
};

TEST(Tcgen05_Verbs, WrongQuestionsGetOneSentence) {
  for (const Refusal& r : std::vector<Refusal>{
           {"where " + f16 + " C row=0 col=0", Status::Usage, "expected D"},
           {"where " + f16 + " Q row=0 col=0", Status::Usage, "unknown matrix 'Q'"},
           {"where " + f16 + " D row=128 col=0", Status::Usage, "row="},
           {"where " + f16 + " D row=0", Status::Usage, "col="},
           {"where " + f16 + " D", Status::Usage, "row="},
           {"where " + f16, Status::Usage, "expected a matrix"},
           {"where " + f16 + " E row=0 chunk=0", Status::Usage, "sparse"},
           {"where " + f16 + " SFA row=0 col=0", Status::Usage, "kind f16 has no scale factors"},
           {"where " + f16 + " A row=0 col=0", Status::Usage, "expected desc="},
           {"where " + f16 + " A row=0 col=0 desc=0x40", Status::No, "constant field"},
           {"where " + f16 + " B row=0 col=0 desc=0x2000404000010040", Status::Unmodelled,
            "32-byte swizzle atoms"},
           {"where " + f16 + " D row=0 col=0 desc=0", Status::Usage, "desc= does not apply to D"},
           {"where " + f16 + " D row=0 col=0 terms=2", Status::Usage, "expected --inputs"},
           {"where " + f16 + " D row=0 col=0 address=0x100000", Status::No, "begins at lane 0"},
           {"where " + f16 + " D row=0 col=0 address=0x1ff", Status::No, "columns 0 to 511"},
           {"where " + f16 + " D row=0 col=0 address=0x800000", Status::No, "lanes 0 to 127"},
           {"where " + mxf8 + " SFA row=0 col=0 address=0x100000", Status::Unmodelled, "lane 16"},
           {"where " + mxf8 + " SFA row=0 col=0 column_step=2", Status::Usage, "column_step"},
           {"where tcgen05.mma.ws.cta_group::1.kind::f16 A a=tmem m=64 row=0 col=0",
            Status::Unmodelled, "no source says"},
           {"what " + f16 + " D tmem_lane=0 tmem_column=200", Status::No, "holds nothing of D"},
           {"what " + f16 + " D tmem_lane=0 tmem_column=0 cta=1", Status::Usage, "cta="},
           {"what " + f16 + " B tmem_lane=0 tmem_column=0" + k_128b, Status::Usage,
            "tmem_lane= does not apply to B"},
           {"table tcgen05.wait::ld D", Status::Usage, "no matrix with places"},
           {"where tcgen05.ld.16x64b.x1 D tmem_lane=20 tmem_column=0", Status::No, "no warp"},
           {"where tcgen05.ld.16x64b.x1 A tmem_lane=0 tmem_column=0", Status::Usage, "expected D"},
           {"where tcgen05.ld.32x32b.x1 D tmem_lane=0 tmem_column=0 address=0x100000", Status::No,
            "lane 0;"},
           {"bytes " + f16 + " D", Status::Usage, "shared memory"},
           {"equation " + nvf4 + " A m=256 k=96 desc=0x4010404000400040", Status::Unmodelled,
            "absolute LBO"}}) {
    const Answer reply = ask(r.question);
    EXPECT_EQ(reply.status, r.status) << r.question << ": " << reply.complaint << reply.text;
    EXPECT_NE(reply.complaint.find(r.words), std::string::npos)
        << r.question << ": " << reply.complaint;
  }
}

// --- mma ------------------------------------------------------------------------------------------

// `first` and zeros, comma separated.
std::string row_of(const std::string& first, const std::string& zero, int count) {
  std::string text = first;
  for (int i = 1; i < count; ++i) text += "," + zero;
  return text;
}

TEST(Tcgen05_Verbs, MmaReadsKeysAndScaleFactors) {
  const std::string one = row_of("3c00", "0000", 16);
  const std::string ones = one + " " + one + " 40000000";
  EXPECT_EQ(ask_line("mma " + f16, ones).text, "40400000");
  EXPECT_EQ(ask_line("mma " + f16 + " accumulate=0", ones).text, "3f800000");
  EXPECT_EQ(ask_line("mma " + f16 + " negate_a=1", ones).text, "3f800000");
  EXPECT_EQ(ask_line("mma " + f16 + " scale_input_d=2", ones).text, "3fc00000");
  EXPECT_EQ(ask_line("mma " + f16 + " type_d=f16", one + " " + one + " 4000").text, "4200");
  const std::string e4m3 = row_of("38", "00", 32);
  EXPECT_EQ(ask_line("mma " + mxf8, e4m3 + " " + e4m3 + " 00000000 7f 80").text, "40000000");
  const std::string e2m1 = row_of("2", "0", 64);
  EXPECT_EQ(
      ask_line("mma " + nvf4 + " m=256", e2m1 + " " + e2m1 + " 00000000 7f,7f,7f,7f 80,7f,7f,7f")
          .text,
      "40000000");
}

TEST(Tcgen05_Verbs, MmaSaysOnceHowSureItIs) {
  EXPECT_TRUE(ask("mma " + f16).complaint.starts_with("evidence: published: "));
  EXPECT_NE(ask("mma " + nvf4 + " m=256").complaint.find("evidence: inferred: cta_group::2"),
            std::string::npos);
  EXPECT_EQ(ask("mma wgmma.m64n8k16.f32.f16.f16").complaint, "");
  EXPECT_EQ(ask("mma " + nvf4 + " m=256 k=96").status, Status::Unmodelled);
  EXPECT_EQ(ask("mma tcgen05.ld.32x32b.x1").status, Status::Usage);
  EXPECT_EQ(ask("mma " + f16 + " scale_input_d=16").status, Status::Usage);
  EXPECT_EQ(ask_line("mma " + f16, "3c00 3c00 0").status, Status::Usage);
}

TEST(Tcgen05_Verbs, InputsNameBytesCellsAndScaleFactors) {
  Options inputs;
  inputs.inputs = true;
  EXPECT_EQ(
      text_of("where " + f16 + " D m=128 row=37 col=10 terms=2 desc_a=0x4000404000010040", inputs),
      "D[37][10] = tmem_lane 37, tmem_column 10 (warp 1 of the warpgroup reads it) = "
      "A[37][0]@0x16d0*B[0][10] + A[37][1]@0x16d2*B[1][10] + ... + D[37][10]@37:10.0");
  EXPECT_NE(text_of("where " + mxf8 + " D row=7 col=5 terms=1 accumulate=0 negate_a=1", inputs)
                .find(" = SFA[7][0]@7:0.0*SFB[5][0]@5:0.0*-A[7][0]*B[0][5] + ..."),
            std::string::npos);
  EXPECT_EQ(ask("where tcgen05.mma.sp.cta_group::1.kind::f16 D row=0 col=0", inputs).status,
            Status::Unmodelled);
  inputs.style = Style::Json;
  EXPECT_NE(text_of("where " + f16 + " D row=0 col=0 a=tmem terms=1", inputs)
                .find("\"inputs\":{\"products\":[{\"a\":{\"matrix\":\"A\",\"row\":0,\"col\":0,"
                      "\"places\":[{\"cta\":0,"),
            std::string::npos);
}

// sim/isa/tmem/operand.h: where 4 and 6 bits lie in a byte is inferred.
TEST(Tcgen05_Verbs, NarrowAInTensorMemorySaysThatItIsInferred) {
  const std::string a = " A m=128 n=64 a=tmem row=3 col=5";
  const std::string bytes = "where tcgen05.mma.cta_group::1.kind::f8f6f4" + a;
  EXPECT_NE(text_of(bytes + " type_a=e2m3")
                .find("note: inferred, after an example of NVIDIA's: "
                      "e2m3 is bits [1,7) of its byte"),
            std::string::npos);
  EXPECT_NE(text_of(bytes + " type_a=e2m1").find("e2m1 is bits [2,6) of its byte"),
            std::string::npos);
  EXPECT_EQ(text_of(bytes + " type_a=e4m3").find("note"), std::string::npos);
  EXPECT_EQ(
      text_of("where tcgen05.mma.cta_group::2.kind::f8f6f4 A a=tmem m=128 n=64 type_a=e2m1 "
              "row=101 col=6"),
      "A[101][6] = tmem_lane 37, tmem_column 1, bits [18,22); a copy in tmem_lane 101, in "
      "CTA 1 of the pair\nnote: inferred, after an example of NVIDIA's: e2m1 is bits [2,6) of "
      "its byte");
  EXPECT_NE(text_of("where tcgen05.mma.cta_group::1.kind::mxf4.block_scale" + a)
                .find("note: inferred: the even one of two elements of 4 bits"),
            std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
