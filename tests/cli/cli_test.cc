// The tcq binary: exit statuses, what goes to stdout and what to stderr, queries and data lines on
// stdin, and a sentence for everything that is wrong. What right answers say is oracle_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "tests/cli/run_tcq.h"
#include "tests/support/sealed_file.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::tests {
namespace {

const std::string mnemonic = "wgmma.m64n128k16.f32.bf16.bf16";
const std::string sparse = "wgmma.sp.m64n16k32.f32.f16.f16";
const std::string tcgen05 = "tcgen05.mma.cta_group::1.kind::f16";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos;
       begin = end + 1, end = text.find(separator, begin))
    parts.push_back(text.substr(begin, end - begin));
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

// Arguments are separated by blanks; M and SP stand for a dense and a sparse mnemonic of wgmma, T for
// one of tcgen05.
Finished tcq(const std::string& arguments, const std::string& input = "") {
  std::vector<std::string> words = split(arguments, ' ');
  for (std::string& word : words) {
    if (word == "M") word = mnemonic;
    if (word == "SP") word = sparse;
    if (word == "T") word = tcgen05;
  }
  return run_tcq(words, input);
}

TEST(Cli, AnAnswerGoesToStdoutWithStatusZero) {
  const Finished r = tcq("where M D row=9 col=13");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, "D[9][13] = thread 6, register 7 (warp 0, lane 6)\n");
  EXPECT_EQ(r.err, "");
}

TEST(Cli, OptionsMayStandAnywhere) {
  const std::string json = tcq("where M D row=9 col=13 --json").out;
  EXPECT_EQ(tcq("--json where M D row=9 col=13").out, json);
  EXPECT_EQ(tcq("where --json M D row=9 col=13").out, json);
  EXPECT_EQ(
      json,
      "{\"matrix\":\"D\",\"row\":9,\"col\":13,\"places\":[{\"thread\":6,\"register\":7,\"part\":0,"
      "\"low_bit\":0,\"bits\":32,\"warp\":0,\"lane\":6}],\"notes\":[]}\n");
  EXPECT_EQ(tcq("--by slot table M D").out, tcq("table M D --by=slot").out);
}

TEST(Cli, VersionNamesVersionCommitAndCompiler) {
  const Finished r = tcq("--version");
  EXPECT_EQ(r.status, 0);
  EXPECT_TRUE(r.out.starts_with("tcq ")) << r.out;
  EXPECT_NE(r.out.find("commit"), std::string::npos);
  EXPECT_NE(r.out.find("++"), std::string::npos);
}

TEST(Cli, HelpIsAnAnswer) {
  EXPECT_EQ(tcq("help").out, tcq("--help").out);
  EXPECT_EQ(tcq("help where").out, tcq("where --help").out);
  EXPECT_EQ(tcq("help where").status, 0);
  EXPECT_NE(tcq("help where").out.find("... + C@thread 6, register 7"), std::string::npos);
}

TEST(Cli, NotesAndEvidenceOfTcgen05GoToStderrBesideTablesAndData) {
  const Finished table = tcq("table tcgen05.mma.sp.cta_group::2.kind::f16 D m=128 n=16 --csv");
  EXPECT_EQ(table.status, 0);
  EXPECT_TRUE(table.out.starts_with("row,col,cta,tmem_lane,tmem_column,low_bit\n0,0,0,0,0,0\n"));
  EXPECT_TRUE(table.err.starts_with("tcq: note: sources disagree")) << table.err;
  std::string zeros;
  for (int i = 0; i < 15; ++i) zeros += ",0000";
  const std::string line = "3c00" + zeros + " 3c00" + zeros + " 00000000\n";
  const Finished sums = tcq("mma T", line + line);
  EXPECT_EQ(sums.status, 0);
  EXPECT_EQ(sums.out, "3f800000\n3f800000\n");
  EXPECT_TRUE(sums.err.starts_with("tcq: evidence: published: ")) << sums.err;
  EXPECT_EQ(std::count(sums.err.begin(), sums.err.end(), '\n'), 1) << sums.err;
}

TEST(Cli, TargetsDecideWhatIsLegal) {
  EXPECT_EQ(tcq("describe M --arch hopper").status, 0);
  const Finished r = tcq("describe M --arch b200");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("sm_90a only"), std::string::npos) << r.err;
}

TEST(Cli, AWrongPlanIsDrawnAndItsFirstFaultComplainedAbout) {
  const Finished r = tcq("tmem d=64 e=128");
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("AAAAAAAA..."), std::string::npos) << r.out;
  EXPECT_TRUE(r.err.starts_with("tcq: e=128: illegal TmemAllocGrows: ")) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_EQ(tcq("-", "tmem d=64\n").out.find("0 "), 0u);
}

// ---- wrong usage --------------------------------------------------------------------------------

struct Bad {
  const char* arguments;
  int status;
  const char* word;  // must be in the sentence
  const char* input = "";
};

const std::vector<Bad>& bad_questions() {
  static const std::vector<Bad> table = {
      {"", 2, "verb"},
      {"wher M D row=9 col=13", 2, "'where'"},
      {"WHERE M D row=9 col=13", 2, "'where'"},
      {"tabel M D", 2, "'table'"},
      {"help wher", 2, "'where'"},
      {"--jsn where M D row=9 col=13", 2, "'--json'"},
      {"where M D row=9 col=13 --input", 2, "'--inputs'"},
      {"where M D row=9 col=13 -z", 2, "'-z'"},
      {"table M D --by", 2, "--by"},
      {"table M D --by thread", 2, "'slot'"},
      {"table M D --csv --json", 2, "one style"},
      {"table M D --markdown --asciidoc", 2, "one style"},
      {"table M D --svg", 2, "--svg"},
      {"table M D --svg=", 2, "--svg"},
      {"table M D --svg /", 2, "directory"},
      {"table M D --svg /no/such/folder/x.svg", 2, "cannot be written"},
      {"where M D row=9 col=13 --csv", 2, "--csv does not apply to 'where'"},
      {"list --markdown", 2, "--markdown does not apply to 'list'"},
      {"table M D --svg x.svg --csv", 2, "--svg"},
      {"where M D row=9 col=13 --transpose", 2, "--transpose"},
      {"where M D row=9 col=13 --by slot", 2, "table"},
      {"where M D row=9 col=13 --svg x.svg", 2, "table"},
      {"what M D thread=6 reg=7 --inputs", 2, "where"},
      {"tmem", 2, "a plan is missing"},
      {"tmem d", 2, "'=' is missing"},
      {"tmem d=", 2, "column count of 'd='"},
      {"tmem d=0", 2, "outside [1, 65535]"},
      {"tmem d=1+2+3", 2, "'2+3'"},
      {"tmem =32", 2, "a name is missing"},
      {"tmem d/=32", 2, "a name is missing"},
      {"tmem d/a/b=32", 2, "names have letters"},
      {"tmem free=", 2, "a name is missing"},
      {"tmem d=256 d=128", 2, "'d' is in use already"},
      {"tmem d=64 --csv", 2, "--csv does not apply to 'tmem'"},
      {"tmem d=64 --svg /", 2, "directory"},
      {"describe M --family f16", 2, "list"},
      {"where", 2, "MNEMONIC"},
      {"where M", 2, "matrix"},
      {"where M D", 2, "row="},
      {"where M D row=9", 2, "col="},
      {"where M X row=9 col=13", 2, "'X'"},
      {"where M DD row=9 col=13", 2, "'DD'"},
      {"where M SFA row=9 col=13", 2, "'SFA'"},
      {"where mma.m16n8k16.f32.bf16.bf16 SFA row=0 col=0", 2, "expected A, B, C or D"},
      {"where mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 SFA row=16 col=0", 2,
       "[0, 15]"},
      {"where mma.m16n8k64.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 SFB row=0 col=0 "
       "byte_id=1",
       2, "2 factors begin at byte 0 or 2"},
      {"where mma.m16n8k64.kind::mxf4.f32.e2m1.e2m1.f32 A row=0 col=0", 2, "block_scale"},
      {"describe SM100_TMEM_LOAD_32dp128b2x", 2, "SM100_TMEM_LOAD_16dp128b2x exists"},
      {"describe tcgen05.mma.cta_group::1.kind::ti16", 2,
       "'kind::ti16'; known are those of PTX ISA 9.2"},
      {"describe SM61_DP4A", 2, "no atom is called so"},
      {"describe SM80_8x8x4_C64C64C64C64_TN", 3, "complex"},
      {"describe SM120_16x8x32_TN", 2, "template arguments"},
      {"where M D row=64 col=13", 2, "[0, 63]"},
      {"where M D row=9 col=128", 2, "[0, 127]"},
      {"where M D row=-1 col=13", 2, "'-1'"},
      {"where M D row=+1 col=13", 2, "'+1'"},
      {"where M D row=9.0 col=13", 2, "'9.0'"},
      {"where M D row=nine col=13", 2, "'nine'"},
      {"where M D row= col=13", 2, "row="},
      {"where M D row=0x col=13", 2, "'0x'"},
      {"where M D row=0xg col=13", 2, "'0xg'"},
      {"where M D row=99999999999999999999999 col=13", 2, "too large"},
      {"where M D row=18446744073709551616 col=13", 2, "too large"},
      {"where M D row=9 row=9 col=13", 2, "twice"},
      {"where M D rwo=9 col=13", 2, "'row'"},
      {"where M D 9 13", 2, "key=value"},
      {"where M D row=9 col=13 =5", 2, "unknown key"},
      {"where M D row=9 col=13 desc=0", 2, "desc="},
      {"where M D row=9 col=13 desc_a=0", 2, "--inputs"},
      {"where M A row=9 col=0", 2, "a=regs"},
      {"where M A row=9 col=0", 2, "desc=WORD"},
      {"where M B row=9 col=0", 2, "desc=WORD"},
      {"where M A row=9 col=0 a=regs desc=0", 2, "desc="},
      {"where M A row=9 col=16 a=regs", 2, "[0, 15]"},
      {"where M A row=9 col=0 a=registers", 2, "'regs'"},
      {"where M A row=9 col=0 a=regs major_a=MN", 1, "K-major"},
      {"where M B row=9 col=0 desc=word", 2, "'word'"},
      {"where M E row=9 k=0", 2, "sparse"},
      {"where M D row=9 col=13 selector=1", 2, "wgmma.sp"},
      {"where SP E row=9 k=32", 2, "[0, 31]"},
      {"where SP E row=9 col=0", 2, "'col'"},
      {"where SP E row=9 k=0 selector=2", 1, "selector"},
      {"where SP D row=9 col=13 --inputs codes=4", 2, "8 hex digits"},
      {"where SP D row=9 col=13 --inputs codes=4444444x", 2, "hex"},
      {"where SP D row=9 col=13 --inputs codes=44444440", 1, "undefined"},
      {"where M D row=9 col=13 --inputs codes=44444444", 2, "wgmma.sp"},
      {"where M D row=9 col=13 --inputs terms=0", 2, "[1, 16]"},
      {"where M C row=9 col=13 --inputs", 2, "matrix D"},
      {"where M D row=9 col=13 --inputs a=regs desc_a=0", 2, "registers"},
      {"what M D thread=128 reg=7", 2, "[0, 127]"},
      {"what M D thread=6 reg=64", 2, "[0, 63]"},
      {"what M D thread=6 reg=7 part=1", 2, "[0, 0]"},
      {"what M D register=6", 2, "thread="},
      {"what M B thread=6 reg=7", 2, "registers"},
      {"what M A thread=6 reg=0", 2, "a=regs"},
      {"what SP E thread=2 nibble=8", 2, "[0, 7]"},
      {"what SP E thread=2 nibble=0", 1, "not read"},
      {"table M B --by slot desc=0", 2, "--by"},
      {"table T A --by slot desc=0x4000404000010000", 2, "--by slot"},
      {"equation M A", 2, "a=regs"},
      {"describe", 2, "MNEMONIC"},
      {"describe wgmma", 2, "did you mean"},
      {"describe m64n128k16.f32.bf16.bf16", 2, "did you mean"},
      {"describe wgmma.m64n128k16", 2, "types"},
      {"describe wgmma.m64n128k16.f32.bf16", 2, "types"},
      {"describe wgmma.m64n128k16.f32.bf16.bf17", 2, "'bf17'"},
      {"describe wgmma.m64n128k16.f32.bf16.bf16.", 2, "no such qualifier"},
      {"describe wgmma.m64n128k16.f32.bf16.bf16.relu", 2, "'relu'"},
      {"describe wgmma.m32n128k16.f32.bf16.bf16", 1, "M is always 64"},
      {"describe wgmma.m64n12k16.f32.bf16.bf16", 1, "multiple of 8"},
      {"describe wgmma.m64n264k16.f32.bf16.bf16", 1, "[8, 256]"},
      {"describe wgmma.m64n99999999999k16.f32.bf16.bf16", 2, "no such qualifier"},
      {"describe wgmma.m64n-8k16.f32.bf16.bf16", 2, "did you mean"},
      {"describe wgmma.m64n8k32.f32.bf16.bf16", 1, "K is fixed"},
      {"describe wgmma.m64n8k16.f16.bf16.bf16", 1, "combination"},
      {"describe wgmma.sp.m64n8k512.s32.b1.b1.and.popc", 1, "no sparse form"},
      {"describe wgmma.m64n8k256.s32.b1.b1.xor.popc", 2, "'xor'"},
      {"describe wgmma.m64n8k8.f32.tf32.tf32 major_b=MN", 1, "MN-major"},
      {"describe wgmma.m64n8k32.s32.s8.s8 negate_a=1", 1, "scale-a"},
      {"describe wgmma.m64n8k16.satfinite.f32.f16.f16", 1, "satfinite"},
      {"describe M accumulate=2", 2, "[0, 1]"},
      {"describe M accumulate=yes", 2, "'yes'"},
      {"describe M --arch sm_91", 2, "'sm_90'"},
      {"describe M --arch h1000", 2, "'h100'"},
      {"describe tcgen05.mma.cta_group::1.kind::f17", 2, "did you mean 'tcgen05.mma"},
      {"describe tcgen05.mma.cta_group::1.kind::f16 m=96", 1, "M is 64 or 128"},
      {"describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale k=96", 3, "not modelled"},
      {"describe tcgen05.mma.cta_group::1.kind::f16 --arch h200", 1, "tcgen05 exists on"},
      {"describe tcgen05.ld.32x32b.x16 m=64", 2, "does not apply"},
      {"where T D row=128 col=0", 2, "[0, 127]"},
      {"where T C row=0 col=0", 2, "expected D"},
      {"where T B row=0 col=0", 2, "expected desc="},
      {"where T B row=0 col=0 desc=64", 1, "constant field"},
      {"where T A a=tmem row=0 col=0 desc=64", 2, "desc= does not apply"},
      {"where T SFA row=0 col=0", 2, "no scale factors"},
      {"where T D row=0 col=0 address=0x200", 1, "columns 0 to 511"},
      {"where tcgen05.ld.16x64b.x1 D tmem_lane=31 tmem_column=0", 1, "no warp"},
      {"where tcgen05.mma.sp.cta_group::1.kind::f16 E m=64 row=0 chunk=0", 3, "not modelled"},
      {"what T D tmem_lane=0 tmem_column=128", 1, "holds nothing of D"},
      {"bytes T D", 2, "shared memory"},
      {"layout T k=24", 1, "not a multiple of the 16"},
      {"layout T A swizzle=96B", 2, "'96B'"},
      {"mma T m=96", 1, "M is 64 or 128"},
      {"mma tcgen05.ld.32x32b.x1", 2, "expected tcgen05.mma"},
      {"mma tcgen05.mma.cta_group::2.kind::mxf4.block_scale k=96", 3, "96 products"},
      {"partition tcgen05.mma.sp.cta_group::1.kind::f16 bM=128 bN=128 bK=64", 3, "tcq layout"},
      {"table wgmma.fence.sync.aligned D", 3, "not modelled"},
      {"describe mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 3, "only dense mma"},
      {"list everything", 2, "'everything'"},
      {"list --family bf61", 2, "'bf16'"},
      {"list --family tcgen05.mna", 2, "'tcgen05.mma'"},
      {"list --family tcgen05 --arch sm_90a", 1, "sm_100a"},
      {"list --arch sm_120a", 1, "sm_90a"},
      {"mma", 2, "mnemonic"},
      {"mma wgmma.m64n8k16.f32.f16.f17", 2, "'f17'"},
      {"mma M row=1", 2, "'row'"},
      {"mma M --csv", 2, "tables"},
      {"check statement", 2, "'statement'"},
      {"check --arch sm_9", 2, "sm_90"},
      {"- where", 2, "'where'"},
      {"--stdin --svg x.svg", 2, "--svg"},
      {"decode", 2, ""},
      {"decode wgmma.desk 0", 2, "wgmma.desc"},
      {"decode wgmma.desc 0xg", 2, "'0xg'"},
      {"encode wgmma.desc start=5x", 2, ""},
      {"decode tcgen05.idesc.f61 0", 2, "did you mean 'tcgen05.idesc.f16'"},
      {"decode tmem.addr 0x100000000", 2, "32 bits"},
      {"encode tcgen05.idesc.f16 m=128 n=264", 1, "multiple of 8"},
      {"bytes M A", 2, "desc"},
      {"layout M Q", 2, ""},
      {"explain ShapK", 2, "'ShapeK'"},
      {"explain Tile", 2, "TileUnaligned, TileStartUnaligned"},
      {"explain C7521", 2, "C7504 to C7520"},
      {"explain ShapeK --csv", 2, "--csv does not apply to 'explain'"},
  };
  return table;
}

TEST(Cli, EveryWrongQuestionGetsItsStatusAndOneSentenceOnStderr) {
  ASSERT_GE(bad_questions().size(), 60u);
  for (const Bad& bad : bad_questions()) {
    const Finished r = tcq(bad.arguments, bad.input);
    EXPECT_EQ(r.status, bad.status) << bad.arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << bad.arguments;
    EXPECT_NE(r.err.find(bad.word), std::string::npos) << bad.arguments << "\n" << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << bad.arguments << "\n" << r.err;
  }
}

TEST(Cli, WordsOfAnyBytesAndLengthAreRefusedInShortSentences) {
  for (const std::string& word :
       {std::string(100000, 'x'), std::string("\xff\xfe\x01\n"),
        std::string("row=") + std::string(90000, '9'), std::string("a=\x1b[31m"),
        std::string("%s%n{}{0}"), std::string("=")}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{word}, std::vector<std::string>{"describe", word},
          std::vector<std::string>{"where", mnemonic, word},
          std::vector<std::string>{"where", mnemonic, "D", word, "col=1"},
          std::vector<std::string>{"list", "--family", word},
          std::vector<std::string>{"describe", mnemonic, "--arch", word}}) {
      const Finished r = run_tcq(words);
      EXPECT_EQ(r.status, 2) << r.err;
      EXPECT_LT(r.err.size(), 2000u);
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
      EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
    }
  }
}

TEST(Verify, AnUnreadableFileKeepsNoOtherFromBeingVerified) {
  const std::string good = source_file("tests/vectors/wgmma_range.tcqv").string();
  const Finished r = run_tcq({"verify", "/no/such/file", good, "/", "--csv"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 2) << r.out;
  EXPECT_NE(r.out.find("wgmma_range.tcqv,"), std::string::npos) << r.out;
  EXPECT_NE(r.err.find("/no/such/file: No such file"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("/: is a directory"), std::string::npos) << r.err;
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  const std::string json = run_tcq({"verify", good, "--json"}).out;
  EXPECT_NE(json.find("\"differing_bits\":0"), std::string::npos) << json;
}

// ---- Nothing from outside acts on a terminal ----------------------------------------------------

const std::string evil[] = {"\x1b[31mX",
                            "\x1b]0;title\x07",
                            "\x9b"
                            "31m",
                            "\xc2\x9b"
                            "31m",
                            "\x7f\x08",
                            "\nX: spoofed",
                            "\xe2\x80\xae",
                            "\r"};

// Printable ASCII, tabs, and lines that do not begin with what `word` holds behind a newline.
void expect_harmless(const Finished& r, const std::string& what) {
  for (const std::string& text : {r.out, r.err}) {
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(),
                    [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; }))
        << what << ": " << text.substr(0, 300);
    EXPECT_EQ(text.find("\nX: spoofed"), std::string::npos) << what << ": " << text;
  }
  EXPECT_LT(r.err.size(), 3000u) << what;
}

TEST(Terminal, NoArgumentReachesItRaw) {
  for (const std::string_view name : oracle::verb_names()) {
    const std::string verb(name);
    for (const std::string& word : evil) {
      expect_harmless(run_tcq({verb, word, "--arch", word}), verb);
      expect_harmless(run_tcq({verb, mnemonic, "D", "row=" + word, "k" + word + "=1"}), verb);
      expect_harmless(run_tcq({verb, mnemonic + word, "--json"}), verb);
      expect_harmless(run_tcq({verb, mnemonic, "--json=" + word}), verb);
    }
  }
  for (const std::string& word : evil) {
    expect_harmless(run_tcq({word}), "verb");
    expect_harmless(run_tcq({"list", "--" + word}), "option");
    expect_harmless(run_tcq({"table", mnemonic, "D", "--svg", "/no/" + word + "/x"}), "path");
  }
}

TEST(Terminal, NoLineOfStdinReachesItRaw) {
  const std::string statement = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ";
  for (const std::string& word : evil) {
    if (word.find('\n') != std::string::npos) continue;
    const std::string lines = word + "\n" + statement + word + ";\nwhere " + mnemonic +
                              " D row=" + word + "\n" + word + " " + word + " 00000000\nlist --" +
                              word + "\n";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"-"}, std::vector<std::string>{"-", "--json"},
          std::vector<std::string>{"check"}, std::vector<std::string>{"check", "--json"},
          std::vector<std::string>{"emission"}, std::vector<std::string>{"mma", mnemonic},
          std::vector<std::string>{"mma", mnemonic, "--json"}})
      expect_harmless(run_tcq(words, lines), words[0]);
  }
}

TEST(Terminal, NoFileReachesItRaw) {
  const TemporaryFolder folder;
  const std::string probe =
      "wgmma.m64n8k16.f32.f16.f16 A=0:5800 B=0-1:5800 C=00000000 D=3a800001\n";
  for (const std::string& word : evil) {
    const std::string path = folder.file("name" + word);
    for (const std::string& bytes :
         {word, "tcq recording 2\ndevice: " + word + "\n\n", "# tcq directed " + word,
          "# tcq directed 2\n" + word + " " + probe, "tcq " + word + " 1\n",
          sealed("tcq recording 2\ndevice: " + word + "\n", "", 0),
          sealed("# tcq directed 2\n# device: " + word + "\n", "a " + probe, 1),
          sealed("# tcq directed 2\n", "a" + word + " " + probe, 1),
          sealed("# tcq directed 2\n", "a " + probe, 1),
          sealed("# tcq provoked 2\n", "a\t" + word + "\n", 1)}) {
      std::ofstream(path, std::ios::binary) << bytes;
      for (const char* style : {"--csv", "--json", "--markdown"}) {
        const Finished r = run_tcq({"verify", path, style});
        EXPECT_NE(r.status, 0) << bytes;
        expect_harmless(r, bytes);
      }
    }
  }
}

// ---- stdin --------------------------------------------------------------------------------------

// A build can be gated: what is illegal wins over what is not modelled, which wins over silence.
TEST(Cli, TheStatusOfStatementsIsThatOfTheWorstKindOfNo) {
  const std::string legal = "wgmma.fence\n.sync // more\n.aligned;\n";
  EXPECT_EQ(tcq("check", legal).out, "legal\n");
  EXPECT_EQ(tcq("check", legal).status, 0);
  EXPECT_EQ(tcq("check", legal + "ret;\n").status, 3);
  EXPECT_EQ(tcq("check", legal + "wgmma.fence;\nret;\n").status, 1);
  EXPECT_EQ(tcq("check", "").status, 3);
  EXPECT_EQ(tcq("emission", "hello world\n").status, 3);
  EXPECT_EQ(tcq("emission", "").status, 3);
  const std::string mma =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3,%f1,%f0,%f2}, %rd1, %rd2, 0, 1, 1, "
      "0, "
      "0;\n";
  EXPECT_EQ(tcq("emission", mma + "frobnicate;\n").status, 1);
  EXPECT_EQ(tcq("emission", legal + mma + "wgmma.commit_group.sync.aligned;\n" +
                                "wgmma.wait_group.sync.aligned 0;\n")
                .status,
            0);
}

TEST(Stdin, EveryLineHasOneAnswerAndTheStatusIsTheWorst) {
  const std::string good = "where " + mnemonic + " D row=9 col=13";
  const std::string answer = "D[9][13] = thread 6, register 7 (warp 0, lane 6)\n";
  EXPECT_EQ(tcq("-", good + "\n" + good).out, answer + answer);
  EXPECT_EQ(tcq("--stdin", good + "\r\n").out, answer);
  EXPECT_EQ(tcq("-", "").status, 0);
  const Finished r = tcq("-", good + "\n\nwher\n" + good + "\ntable " + mnemonic + " D\nmma " +
                                  mnemonic + "\nlist --json\n" + good);
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err, "");
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), 8u);
  for (const std::size_t i : {1u, 2u, 4u, 5u, 6u})
    EXPECT_TRUE(lines[i].starts_with("error\t")) << lines[i];
  EXPECT_EQ(lines[7] + "\n", answer);
}

TEST(Stdin, JsonMakesEveryAnswerOneLine) {
  const Finished r =
      tcq("- --json", "table " + mnemonic + " D\ndescribe " + mnemonic + "\nwhat\nlist\n");
  EXPECT_EQ(r.status, 2);
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("[{\"thread\":0,"));
  EXPECT_TRUE(lines[2].starts_with("{\"error\":\""));
  EXPECT_TRUE(lines[2].ends_with("\"status\":2}"));
}

TEST(Stdin, SeveralLinesOfAnAnswerAreJoinedByTabs) {
  const Finished r = tcq("-", "equation " + mnemonic + " D\n");
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1);
  EXPECT_GE(std::count(r.out.begin(), r.out.end(), '\t'), 4);
}

// A form whose last source no line has was computed all the same, and took the answer before with it.
TEST(Stdin, NoQuestionEndsTheBatch) {
  const Finished r = tcq("-",
                         "mma add.f32 1.0 1.0\nmma vadd4.u32.u32.u32 01020304 01010101 00000000\n"
                         "mma vmad.u32.u32.u32 00000001 00000001 00000001\nmma add.f32 1.0 2.0\n");
  EXPECT_EQ(r.status, 3);
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "40000000 = 2");
  EXPECT_TRUE(lines[1].starts_with("error\t'vadd4.u32.u32.u32' is no form that")) << lines[1];
  EXPECT_EQ(lines[3], "40400000 = 3");
}

TEST(Stdin, LayoutsOfDiffMayBeQuoted) {
  const std::string layouts = "diff ldmatrix.x4 D mma.m16n8k16.f32.bf16.bf16 A\n";
  EXPECT_EQ(tcq("-", "diff \"ldmatrix.x4 D\" 'mma.m16n8k16.f32.bf16.bf16 A'\n").out,
            tcq("-", layouts).out);
}

TEST(Cli, MinusInfAndNanAreDataOfMma) {
  EXPECT_EQ(tcq("mma add.f32 1.0 -inf").out, "ff800000 = -inf\n");
  EXPECT_EQ(tcq("mma add.f32 -nan 1.0").out, "7fffffff = nan\n");
  EXPECT_EQ(tcq("mma wgmma.m64n8k16.f32.bf16.bf16 -inf,1.0 1.0,1.0").out, "ff800000\n");
  EXPECT_EQ(tcq("where M D -inf").status, 2);
}

TEST(Stdin, AnExplanationIsOneLine) {
  const Finished r = tcq("-", "explain proxyfencemissing\nexplain C7519\nexplain Mising\n");
  EXPECT_EQ(r.status, 2);
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("ProxyFenceMissing  undefined\twhat: ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("C7519  ptxas\twhat: ptxas injects")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("error\tunknown fault 'Mising'")) << lines[2];
}

TEST(Stdin, LinesOfAnyBytesAndLengthAreAnswered) {
  const std::string good = "where " + mnemonic + " D row=9 col=13\n";
  const std::string huge(10 * 1000 * 1000, 'x');
  const std::string blanks(10 * 1000 * 1000, ' ');
  std::string nuls = good;
  nuls[3] = '\0';
  const std::string input = huge + "\n" + good + blanks + "\n" + nuls + std::string(5, '\0') +
                            "\n" + "where " + std::string(1000 * 1000, 'y') + "\n" + good + huge;
  const Finished r = tcq("-", input);
  EXPECT_EQ(r.status, 2);
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "error\tthe line has 10000000 characters: expected at most 1048576");
  EXPECT_TRUE(lines[1].starts_with("D[9][13]"));
  EXPECT_EQ(lines[2], lines[0]);
  EXPECT_TRUE(lines[3].starts_with("error\tunknown verb 'whe\\x00e'")) << lines[3];
  EXPECT_TRUE(lines[6].starts_with("D[9][13]"));
  EXPECT_EQ(lines[7], lines[0]);
  for (const std::string& line : lines) EXPECT_LT(line.size(), 2000u);
}

TEST(Stdin, DataLinesOfMmaAreAnsweredOneByOne) {
  std::string row = "3c00";
  for (int i = 1; i < 16; ++i) row += ",0000";
  const std::string line = row + " " + row + " 3f800000";
  const std::string what = "mma wgmma.m64n8k16.f32.f16.f16";
  EXPECT_EQ(tcq(what, line + "\n" + line).out, "40000000\n40000000\n");
  EXPECT_EQ(tcq(what + " --json", line).out, "{\"d\":\"40000000\"}\n");
  // C left out is zero, a short row ends with zeros, a long one is a chain.
  EXPECT_EQ(tcq(what, row + " " + row + "\n3c00 " + row + " 3f800000\n" + row + ",0000 " + row +
                          " 3f800000")
                .out,
            "3f800000\n40000000\n40000000\n");
  const std::vector<std::string> wrong = {"",
                                          "a",
                                          line + " 44444444",
                                          row + " " + row + " 3f80000",
                                          row + " " + row + " 3f80000g",
                                          row + " " + row + " 0x3f8000",
                                          row + ", " + row + " 3f800000",
                                          "3c0," + row.substr(5) + " " + row + " 3f800000",
                                          "+c00" + row.substr(4) + " " + row + " 3f800000",
                                          std::string(500000, ',') + " b c",
                                          std::string(4, '\0') + " b c",
                                          std::string(3000000, '1')};
  std::string input;
  for (const std::string& w : wrong) input += w + "\n";
  const Finished r = tcq(what, input + line);
  EXPECT_EQ(r.status, 2);
  const std::vector<std::string> lines = split(r.out, '\n');
  ASSERT_EQ(lines.size(), wrong.size() + 1);
  for (std::size_t i = 0; i < wrong.size(); ++i)
    EXPECT_TRUE(lines[i].starts_with("error\t")) << wrong[i].substr(0, 80) << ": " << lines[i];
  EXPECT_EQ(lines.back(), "40000000");
}

TEST(Output, AFullDiskIsReported) {
  ASSERT_TRUE(std::filesystem::is_character_file("/dev/full"));
  const Finished r = run_tcq({"list"}, "", "/dev/full");
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("cannot write"), std::string::npos) << r.err;
}

TEST(Output, AReaderThatLeavesIsNoNews) {
  const std::string command =
      std::string(TCQ_BINARY) + " table " + mnemonic + " D --csv | head -n 1";
  const Finished r = run("/bin/sh", {"-c", command});
  EXPECT_EQ(r.out, "thread,register,part,row,col\n");
  EXPECT_EQ(r.err, "");
  const Finished ignored = run("/bin/sh", {"-c", "trap '' PIPE; " + command});
  EXPECT_EQ(ignored.err, "");
}

}  // namespace
}  // namespace tcq::tests
