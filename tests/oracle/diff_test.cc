// diff says what the Maps say: packings are executed, register by register, and end where the second
// layout has its elements; orders of columns keep every element in its thread. And the fragments of the
// warp's mma as verbs, beside CuTe's strings for them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "oracle/map/asked.h"
#include "oracle/ptx/warp_mma.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

using nlohmann::json;

Map map_of_words(const std::string& text) {
  const std::vector<std::string> words = split(text);
  Question question{"table", {}, {}};
  question.words.assign(words.begin(), words.end());
  return read_map(question, Ask::Whole).map;
}

json diff_of(const std::string& layouts) {
  return json::parse(ask("diff " + layouts, styled(Style::Json)).text);
}

const std::string bf16 = "wgmma.m64n64k16.f32.bf16.bf16 ";

// Registers of D are moved as the answer says; A's Map then finds its elements.
void expect_joins(const std::string& from, const std::string& to) {
  const json answer = diff_of(from + " " + to);
  const Map d = map_of_words(from), a = map_of_words(to);
  const int cols = a.element[1].extent;
  for (int first = 0; first + cols <= d.element[1].extent; first += cols)
    for (int thread = 0; thread < a.place[0].extent; ++thread)
      for (const json& packed : answer["packing"]) {
        int part = 0;
        for (const json& source : packed["from"]) {
          const int step =
              answer["register_step"].is_null() ? 0 : answer["register_step"].get<int>();
          const int reg = source["register"].get<int>() + first / cols * step;
          const Coords moved = d.element_at({thread, reg, source["part"].get<int>()});
          const Coords wanted = a.element_at({thread, packed["register"].get<int>(), part++});
          ASSERT_EQ(moved, (Coords{wanted[0], wanted[1] + first})) << from << " -> " << to;
        }
      }
}

TEST(Diff, SaysWhichRegistersOfDMakeTheNextA) {
  expect_joins(bf16 + "D", "wgmma.m64n128k16.f32.bf16.bf16 A a=regs");
  expect_joins("wgmma.m64n96k16.f16.f16.f16 D", "wgmma.m64n8k16.f16.f16.f16 A a=regs");
  expect_joins("mma.m16n8k16.f32.f16.f16 D", "mma.m16n8k8.f32.f16.f16 A");
  const std::string text = text_of("diff " + bf16 + "D wgmma.m64n128k16.f32.bf16.bf16 A a=regs");
  EXPECT_NE(text.find("\nregister 3 of A = registers 6, 7 of D\n"), text.npos) << text;
  EXPECT_NE(text.find("every 16 columns further: the same, 8 registers of D further"), text.npos);
}

void expect_order(const std::string& from, const std::string& to) {
  EXPECT_EQ(ask("diff " + from + " " + to).status, Status::No);
  const json order = diff_of(from + " " + to)["columns"];
  const Map d = map_of_words(from), a = map_of_words(to);
  std::set<int> all;
  ASSERT_EQ(order.size(), static_cast<std::size_t>(a.element[1].extent));
  for (int col = 0; col < a.element[1].extent; ++col) {
    const int source = order[static_cast<std::size_t>(col)].get<int>();
    all.insert(source);
    for (int row = 0; row < a.element[0].extent; ++row)
      ASSERT_EQ(d.places({row, source})[0][0], a.places({row, col})[0][0]) << from;
  }
  EXPECT_EQ(all.size(), order.size());
}

TEST(Diff, FindsTheOrderOfKInWhichFp8StaysInItsThread) {
  expect_order("wgmma.m64n64k32.f32.e4m3.e4m3 D", "wgmma.m64n128k32.f32.e4m3.e4m3 A a=regs");
  expect_order("wgmma.m64n64k8.f32.tf32.tf32 D", "wgmma.m64n64k8.f32.tf32.tf32 A a=regs");
}

TEST(Diff, LdmatrixLoadsTheFragmentsOfMma) {
  const std::string same = "\nthe same: every element has one place in both";
  for (const char* pair :
       {"ldmatrix.x4 D mma.m16n8k16.f32.bf16.bf16 A", "ldmatrix.x2 D mma.m16n8k8.f32.f16.f16 A",
        "ldmatrix.x2.trans D mma.m16n8k16.f32.bf16.bf16 B",
        "ldmatrix.x1.trans D mma.m16n8k8.f32.f16.f16 B", "stmatrix.x2 D mma.m16n8k16.f16.f16.f16 D",
        "ldmatrix.m16n16.x2.trans.b8 D mma.m16n8k32.f32.e4m3.e4m3 A",
        "ldmatrix.m8n16.x1.b8x16.b4x16_p64 D mma.m8n8k16.s32.s8.s8 A"})
    EXPECT_TRUE(text_of(std::string("diff ") + pair).ends_with(same)) << pair;
  EXPECT_EQ(ask("diff ldmatrix.x2.trans D mma.m16n8k32.f32.e4m3.e4m3 B").status, Status::No);
}

TEST(Diff, WhatIsLeftOfEitherMatrixIsNamed) {
  // Four matrices are two fragments of B; one of 16 x 16 bytes is half of one.
  const std::string more = text_of("diff ldmatrix.x4.trans D mma.m16n8k16.f32.f16.f16 B");
  EXPECT_TRUE(more.ends_with("\nevery 8 columns further: the same, 2 registers of D further"));
  EXPECT_EQ(more.find("not the whole"), more.npos);
  const std::string less =
      text_of("diff ldmatrix.m16n16.x1.trans.b8 D mma.m16n8k32.f32.e4m3.e4m3 B");
  EXPECT_NE(less.find(": 16 x 8 elements\nnot the whole of B of mma.m16n8k32.f32.e4m3.e4m3.f32, "
                      "which has 32 x 8 elements: the others are not here\nthe same"),
            less.npos)
      << less;
}

// It moves 16 bits, whatever they are: two bytes of fp8, four s4, half of a tf32. An accumulator of f32 is converted
// behind the move.
TEST(Diff, LdmatrixMovesBitsOfOperandsOfAnyWidth) {
  const std::string same = "\nthe same: every element has one place in both";
  for (const char* pair :
       {"ldmatrix.x4 D mma.m16n8k32.f32.e4m3.e4m3 A", "ldmatrix.x2 D mma.m16n8k32.f32.e4m3.e4m3 B",
        "ldmatrix.x4 D mma.m16n8k32.s32.s8.s8 A", "ldmatrix.x2 D mma.m16n8k64.s32.s4.s4 B",
        "ldmatrix.x4 D mma.m16n8k8.f32.tf32.tf32 A", "ldmatrix.x2 D mma.m16n8k8.f32.tf32.tf32 B",
        "ldmatrix.x1 D mma.m16n8k8.f32.tf32.tf32 B",
        "mma.m16n8k32.f32.e4m3.e4m3 A stmatrix.x4 D"}) {
    const Answer reply = ask(std::string("diff ") + pair);
    EXPECT_TRUE(reply.text.ends_with(same)) << pair << "\n" << reply.text;
    EXPECT_NE(reply.complaint.find(" moves 16 bits at a time"), std::string::npos) << pair;
  }
  // Of one matrix half of B, k = 0 to 3.
  EXPECT_TRUE(
      text_of("diff ldmatrix.x1 D mma.m16n8k8.f32.tf32.tf32 B").find(": 4 x 8 elements\n") !=
      std::string::npos);
  EXPECT_TRUE(
      text_of("diff ldmatrix.x4 D mma.m16n8k16.f32.bf16.bf16 D")
          .ends_with("each thread, the first into the low bits: no shuffle, no shared memory"));
}

TEST(Diff, AnElementWiderThanWhatTransMovesComesApart) {
  const Answer reply = ask("diff ldmatrix.x2.trans D mma.m16n8k8.f32.tf32.tf32 B");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_NE(reply.text.find("bits [0,16) of the first go to thread 0, register 0, part 0, bits "
                            "[16,32) to thread 4, register 0, part 0"),
            std::string::npos)
      << reply.text;
  EXPECT_EQ(ask("diff ldmatrix.x2 D mma.m8n8k4.f64.f64.f64 A").status, Status::No);
  EXPECT_EQ(ask("diff ldmatrix.x1.trans D mma.m16n8k8.f32.tf32.tf32 B").status, Status::No);
  for (const char* pair : {"ldmatrix.m16n16.x2.trans.b8 D mma.m16n8k16.f32.bf16.bf16 A",
                           "ldmatrix.m16n16.x2.trans.b8 D mma.m16n8k8.f32.tf32.tf32 A"}) {
    const Answer bytes = ask(std::string("diff ") + pair);
    EXPECT_EQ(bytes.status, Status::No) << pair;
    EXPECT_NE(bytes.text.find("moves 8 bits, so that bits [0,8) of the first go to thread 0, "
                              "register 0, part 0, bits ["),
              std::string::npos)
        << bytes.text;
  }
  const json value = diff_of("ldmatrix.x2.trans D mma.m16n8k8.f32.tf32.tf32 B");
  EXPECT_EQ(value["same_thread"], 0);
  EXPECT_TRUE(value["apart"].is_string());
}

// .16x256b loads the fragments of mma, so that stmatrix takes them; .32x32b gives each thread a row.
TEST(Diff, StmatrixStoresWhatTcgen05LdLoads) {
  const std::string load = "tcgen05.ld.sync.aligned.16x256b.x2.b32";
  const std::string text = text_of("diff " + load + " D stmatrix.x4 D");
  EXPECT_NE(text.find("\nregister 0 of D = registers 0, 1 of D\n"), text.npos) << text;
  EXPECT_NE(text.find("\nregister 3 of D = registers 6, 7 of D\n"), text.npos) << text;
  EXPECT_EQ(text_of("diff " + load + " stmatrix.x4"), text);
  const Answer reply = ask("diff " + load + " stmatrix.x4");
  EXPECT_NE(reply.complaint.find("a cell is taken for an element"), std::string::npos);
  for (const char* other :
       {"tcgen05.ld.32x32b.x16", "tcgen05.ld.16x64b.x8", "tcgen05.ld.16x128b.x4"})
    EXPECT_EQ(ask(std::string("diff ") + other + " stmatrix.x4").status, Status::No) << other;
  // 16 lanes of each warp, as the accumulator of M = 64 lies, are the rows of wgmma's.
  EXPECT_TRUE(text_of("diff wgmma.m64n16k16.f32.bf16.bf16 D tcgen05.ld.16x256b.x2")
                  .ends_with("\nthe same: every element has one place in both"));
  EXPECT_EQ(ask("diff tcgen05.ld.16x256b.x2 mma.m8n8k4.f32.f16.f16 D").status, Status::Unmodelled);
}

// Rows of memory along N or K: .trans, or none where mma wants what lies across.
TEST(Diff, ReadsRowsOfMemoryTransposedWhereThatFits) {
  for (const char* pair : {"ldmatrix.x2 D mma.m16n8k16.f32.bf16.bf16 B",
                           "ldmatrix.x4.trans D mma.m16n8k16.f32.f16.f16 A",
                           "ldmatrix.m16n16.x2.trans.b8 D mma.m16n8k32.f32.e4m3.e4m3 A",
                           "ldmatrix.x1 D mma.m16n8k8.f32.f16.f16 B"}) {
    const std::string text = text_of(std::string("diff ") + pair);
    EXPECT_NE(text.find(" read transposed"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("\nthe same: every element has one place in both")) << text;
  }
  const std::string stored = text_of("diff " + bf16 + "D stmatrix.x4.trans D");
  EXPECT_NE(
      stored.find(
          "D of stmatrix.x4.trans read transposed, matrix 1 beside matrix 0 in memory: 16 x 16"),
      std::string::npos);
  EXPECT_NE(stored.find("\nregister 1 of D = registers 2, 3 of D"), std::string::npos) << stored;
}

// Of the two arrangements that are read transposed the title says which: with matrix 1 below matrix 0 the same question has
// other answers.
TEST(Diff, ReadTransposedSaysHowTheMatricesLie) {
  const std::string fits = text_of("diff ldmatrix.x4.trans D mma.m16n8k16.f32.f16.f16 A");
  EXPECT_TRUE(fits.starts_with(
      "D of ldmatrix.x4.trans read transposed, matrix 1 beside matrix 0 in memory -> "))
      << fits;
  const std::string below =
      text_of("diff ldmatrix.m16n16.x2.trans.b8 D mma.m16n8k32.f32.e4m3.e4m3 A");
  EXPECT_NE(below.find(" read transposed, matrix 1 below matrix 0 in memory -> "),
            std::string::npos)
      << below;
  EXPECT_NE(text_of("diff ldmatrix.x1 D mma.m16n8k8.f32.f16.f16 B").find(" read transposed -> "),
            std::string::npos);
}

TEST(Where, KnowsTheMatricesOfBytes) {
  EXPECT_EQ(
      text_of("where ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 D row=4 col=11 matrix=1"),
      "D[1][4][11] = thread 13, register 3, part 0");
  EXPECT_EQ(text_of("what stmatrix.m16n8.x1.trans.b8 D thread=13 register=0"),
            "thread 13, register 0 = D[0][2][3], D[0][3][3], D[0][2][11], D[0][3][11]");
  EXPECT_EQ(text_of("where ldmatrix.m8n16.x1.b8x16.b4x16_p64 D row=3 col=7"),
            "D[0][3][7] = thread 13, register 0, part 3\nnote: inferred: an element of 4 bits is "
            "bits [0,4) of its byte, with zeros above");
  for (const char* wrong :
       {"ldmatrix.m16n16.x4.trans.b8", "ldmatrix.m16n16.x1.b8", "ldmatrix.m16n8.x1.trans.b8",
        "stmatrix.m16n16.x1.trans.b8", "ldmatrix.m8n16.x1.b8",
        "ldmatrix.m8n16.x1.trans.b8x16.b4x16_p64", "ldmatrix.m8n8.x1.b8",
        "stmatrix.m8n16.x1.b8x16.b4x16_p64", "ldmatrix.m8n16.x1.b8x16"})
    EXPECT_EQ(ask(std::string("where ") + wrong + " D row=3 col=3").status, Status::Usage) << wrong;
}

// The element that `where` names for CuTe's tCgC of thread 0, and of the first of each warpgroup.
TEST(Where, ATileOfSeveralWarpgroupsIsThatOfCute) {
  const std::string tile = " bM=256 bN=128 atoms=2x1x1";
  const std::string text = text_of("partition wgmma.m64n64k16.f32.f16.f16 bK=64 ldC=1000" + tile);
  const std::size_t begin = text.find("tCgC: ") + 6;
  std::string layout = text.substr(begin, text.find('\n', begin) - begin);
  std::erase(layout, '_');
  const cute::Layout cute(layout);
  const Map map = map_of_words("wgmma.m64n64k16.f32.f16.f16 D" + tile);
  for (int i = 0; i < 32; ++i)
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 2; ++n) {
        const Coords e = map.element_at({0, i + 32 * (m + 2 * n), 0});
        EXPECT_EQ(e[0] + 1000 * e[1], cute({i, m, n}));
        EXPECT_EQ(map.element_at({128, i + 32 * (m + 2 * n), 0}), (Coords{e[0] + 64, e[1]}));
      }
  EXPECT_EQ(text_of("where wgmma.m64n128k16.f32.bf16.bf16 D row=100 col=140 bM=128 bN=256 atoms=2"),
            "D[100][140] = thread 210, register 68 (warpgroup 1, warp 6, lane 18)");
  EXPECT_EQ(ask("where wgmma.m64n128k16.f32.bf16.bf16 D row=0 col=0 bM=100").status, Status::No);
  EXPECT_EQ(ask("where wgmma.m64n128k16.f32.bf16.bf16 D row=0 col=0 atoms=1x1x2").status,
            Status::Usage);
  EXPECT_EQ(ask("where wgmma.m64n128k16.f32.bf16.bf16 B row=0 col=0 bM=128").status, Status::Usage);
}

TEST(Diff, OffsetsBeginInsideTheFirst) {
  const json answer = diff_of(bf16 + "D wgmma.m64n128k16.f32.bf16.bf16 A a=regs col=32");
  EXPECT_EQ(answer["packing"][0]["from"][0]["register"], 16);
  EXPECT_EQ(ask("diff " + bf16 + "D " + bf16 + "D col=64").status, Status::Usage);
}

TEST(Diff, WrongQuestionsGetOneSentence) {
  for (const std::string& words : {bf16 + "D", std::string("x y"), bf16 + "D " + bf16 + "Q",
                                   bf16 + "D tcgen05.mma.cta_group::1.kind::f16 D", bf16,
                                   bf16 + "D wgmma.m64n8k16.f32.bf16.bf16 A"}) {
    const Answer reply = ask("diff " + words);
    EXPECT_EQ(reply.status, Status::Usage) << words;
    EXPECT_FALSE(reply.complaint.empty()) << words;
  }
  EXPECT_EQ(ask("diff").status, Status::Usage);
}

// cute/atom/mma_traits_sm80.hpp
TEST(WarpMma, HasTheLayoutsOfCute) {
  const std::pair<const char*, const char*> known[] = {
      {"mma.m16n8k16.f32.f16.f16 A", "((4,8),(2,2,2)):((32,1),(16,8,128))"},
      {"mma.m16n8k8.f32.f16.f16 A", "((4,8),(2,2)):((32,1),(16,8))"},
      {"mma.m16n8k32.s32.s8.s8 A", "((4,8),(4,2,2)):((64,1),(16,8,256))"},
      {"mma.m16n8k16.f32.f16.f16 D", "((4,8),(2,2)):((32,1),(16,8))"}};
  for (const auto& [layout, cute] : known)
    EXPECT_NE(text_of(std::string("equation ") + layout).find(cute), std::string::npos)
        << text_of(std::string("equation ") + layout);
}

// cute/atom/mma_traits_sm70.hpp: eight logical threads of a quad pair, lanes 0 to 3 and 16 to 19.
TEST(WarpMma, QuadPairsHaveTheLayoutsOfCute) {
  const std::string opcode = "mma.sync.aligned.m8n8k4.";
  const std::tuple<std::string, const char*, int, int> known[] = {
      {"row.col.f32.f16.f16.f32 A", "(8,4):(1,8)", 8, 0},
      {"col.row.f32.f16.f16.f32 A", "((4,2),4):((8,4),1)", 8, 0},
      {"row.col.f32.f16.f16.f32 B", "(8,4):(1,8)", 8, 1},
      {"col.row.f32.f16.f16.f32 B", "((4,2),4):((8,4),1)", 8, 1},
      {"row.col.f16.f16.f16.f16 D", "(8,8):(1,8)", 8, 0},
      {"row.col.f32.f16.f16.f32 D", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", 8, 0}};
  for (const auto& [layout, text, rows, turned] : known) {
    const cute::Layout cute(text);
    const Map map = map_of_words(opcode + layout);
    const int parts = map.place[2].extent;
    for (int lane = 0; lane < 32; ++lane)
      for (int value = 0; value < map.place[1].extent * parts; ++value) {
        const Coords place = {lane, value / parts, value % parts};
        const Coords e = map.element_at(place);
        const int member = lane % 4 + 4 * (lane / 16);
        EXPECT_EQ(e[0], lane % 16 / 4);
        EXPECT_EQ(turned == 0 ? e[1] + rows * e[2] : e[2] + rows * e[1], cute({member, value}))
            << layout << " lane " << lane << " value " << value;
        EXPECT_EQ(map.places(e), std::vector<Coords>{place}) << layout;
      }
  }
  EXPECT_EQ(text_of("where mma.m8n8k4.f32.f16.f16 D product=1 row=3 col=6").substr(0, 41),
            "D[1][3][6] = thread 7, register 6\nnote: f");
}

TEST(WarpMma, WordsThatNameNoInstructionAreRefused) {
  EXPECT_EQ(short_mnemonic(parse_warp_mma("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")),
            short_mnemonic(parse_warp_mma("MMA.m16n8k16.f32.bf16.bf16")));
  for (const char* wrong :
       {"mma.", "mma.m16n8k16", "mma.m16n8k16.f32.bf16", "mma.m16n8k32.f32.bf16.bf16",
        "mma.m16n16k16.f32.bf16.bf16", "mma.m16n8k8.f32.f16.bf16", "mma.m8n8k16.f32.e4m3.e4m3",
        "mma.m16n8k16.f32.f32.f32", "mma.m16n8k16.f32.bf16.bf16.what",
        "mma.m99999999999n8k16.f32.f16.f16"})
    EXPECT_EQ(ask(std::string("describe ") + wrong).status, Status::Usage) << wrong;
  // PTX has the words, but not together: no is the answer.
  for (const char* no : {"mma.m16n8k16.f16.bf16.bf16", "mma.m16n8k16.row.row.f32.f16.f16",
                         "mma.m16n8k16.s32.s8.s4", "mma.m16n8k32.s32.u4.s8"})
    EXPECT_EQ(ask(std::string("describe ") + no).status, Status::No) << no;
  for (const char* other : {"mma.sp.m16n8k32.f32.f16.f16", "mma.m8n8k4.f32.f16.f16"})
    EXPECT_EQ(ask(std::string("describe ") + other).status, Status::Unmodelled) << other;
}

}  // namespace
}  // namespace tcq::oracle
