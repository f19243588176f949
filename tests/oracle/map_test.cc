// Laws of every Map of every form of both architectures: a place and its element name each other, no
// other place is held, closed forms and CuTe strings evaluate to the Map; and facts about some of
// them by name.
#include "oracle/map/map.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "oracle/map/asked.h"
#include "oracle/map/equation.h"
#include "oracle/map/maps_tcgen05.h"
#include "oracle/ptx/mnemonic.h"
#include "tests/oracle/c_expression.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

struct Named {
  std::string question;  // MNEMONIC MATRIX keys
  Map map;
};

Map map_of_words(const std::string& text) {
  const std::vector<std::string> words = split(text);
  Question question{"table", {}, {}};
  question.words.assign(words.begin(), words.end());
  return read_map(question, Ask::Whole).map;
}

// ---- Every form ---------------------------------------------------------------------------------

std::vector<std::string> wgmma_questions() {
  std::vector<std::string> all;
  for (const wgmma::Form& form : all_forms()) {
    const std::string mnemonic = short_mnemonic(form);
    for (const char* rest :
         {" D", " C", " A a=regs", " A desc=0x4000004000010040", " B desc=0x4000004000010040"})
      all.push_back(mnemonic + rest);
    if (!form.sparse) continue;
    all.push_back(mnemonic + " E");
    if (wgmma::max_selector(form.a) == 1) all.push_back(mnemonic + " E selector=1");
  }
  return all;
}

void add_mma(std::vector<std::string>& all, const std::string& mnemonic) {
  const bool scaled = mnemonic.find("block_scale") != std::string::npos;
  const bool sparse = mnemonic.find(".sp") != std::string::npos;
  for (const char* m : {"32", "64", "128", "256"})
    for (const char* n : {"16", "24", "64", "96", "200", "256"}) {
      const std::string keys = std::string(" m=") + m + " n=" + n;
      if (n != std::string_view("16") && n != std::string_view("64")) {  // what only D and SFB know
        all.push_back(mnemonic + " D" + keys);
        if (scaled) all.push_back(mnemonic + " SFB" + keys);
        continue;
      }
      for (const char* rest : {" D address=0x40", " A a=tmem", " A desc=0x4000404000010040",
                               " B desc=0x4000404000010040"})
        all.push_back(mnemonic + rest + keys);
      all.push_back(mnemonic + " D address=0x100000" + keys);
      if (sparse) all.push_back(mnemonic + " E selector=1" + keys);
      if (sparse) all.push_back(mnemonic + " E address=0x20" + keys);
      if (!scaled) continue;
      for (const char* rest : {"", " address=0x10 factors=12 column_step=16"})
        for (const char* matrix : {" SFA", " SFB"}) all.push_back(mnemonic + matrix + rest + keys);
    }
}

void add_copies(std::vector<std::string>& all, const std::string& mnemonic) {
  for (const char* rest :
       {" D", " D address=0x40", " S desc=0x0000400800800040", " S desc=0x4000404000010040",
        " S desc=0x8000402000010080", " S desc=0xc000401000010040"})
    all.push_back(mnemonic + rest);
}

// Runs of .16x32bx2 that overlap are searched, cell by cell: short ones are enough.
void add_loads(std::vector<std::string>& all, const std::string& mnemonic) {
  for (const char* rest : {"", " address=0x100020", " half_split=128"})
    all.push_back(mnemonic + " D" + rest);
  if (mnemonic.find(".x4") != std::string::npos) all.push_back(mnemonic + " D half_split=2");
}

std::vector<std::string> tcgen05_questions() {
  std::vector<std::string> all;
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    const std::string mnemonic = short_opcode(form);
    if (std::holds_alternative<tcgen05::MmaForm>(form))
      add_mma(all, mnemonic);
    else if (mnemonic.starts_with("tcgen05.cp"))
      add_copies(all, mnemonic);
    else if (mnemonic.starts_with("tcgen05.ld") || mnemonic.starts_with("tcgen05.st"))
      add_loads(all, mnemonic);
  }
  return all;
}

std::vector<std::string> ldmatrix_questions() {
  std::vector<std::string> all;
  for (const char* opcode : {"ldmatrix", "stmatrix"})
    for (const char* count : {".x1", ".x2", ".x4"})
      for (const char* trans : {"", ".trans"})
        all.push_back(std::string(opcode) + ".sync.aligned.m8n8" + count + trans + ".shared.b16 D");
  for (const char* opcode : {"ldmatrix.m16n16.x1.trans.b8", "ldmatrix.m16n16.x2.trans.b8",
                             "ldmatrix.m8n16.x1.b8x16.b6x16_p32", "stmatrix.m16n8.x4.trans.b8"})
    all.push_back(std::string(opcode) + " D");
  return all;
}

// What tells layouts apart: extents, and the places of elements all over the matrix.
std::string fingerprint(const Map& map) {
  std::string text = map.matrix + std::to_string(static_cast<int>(map.space)) + ":" +
                     std::to_string(map.bits) + ":";
  const auto add = [&text](int number) { text += std::to_string(number) + ","; };
  for (const auto* axes : {&map.element, &map.place})
    for (const Axis& axis : *axes) add(axis.extent * 64 + axis.first * 8 + axis.step);
  constexpr std::array<int, 3> primes = {37, 11, 5};
  for (int i = 0; i < 64; ++i) {
    Coords e{};
    for (std::size_t j = 0; j < map.element.size(); ++j)
      e[j] = (i * primes[j]) % map.element[j].extent;
    for (const Coords& at : map.places(e))
      for (const int index : at) add(index);
  }
  return text;
}

// One of each layout among all questions that have a Map.
std::vector<Named> layouts_of(const std::vector<std::string>& questions) {
  std::vector<Named> layouts;
  std::set<std::string> seen;
  for (const std::string& question : questions) {
    try {
      Map map = map_of_words(question);
      if (seen.insert(fingerprint(map)).second) layouts.push_back({question, std::move(map)});
    } catch (const FaultError&) {
    } catch (const UsageError&) {
    } catch (const UnmodelledError&) {
    }
  }
  return layouts;
}

// Every layout of a family, made once.
const std::vector<Named>& layouts(std::string_view family) {
  static std::map<std::string, std::vector<Named>, std::less<>> all;
  if (all.empty()) {
    all["wgmma"] = layouts_of(wgmma_questions());
    all["tcgen05"] = layouts_of(tcgen05_questions());
    all["ldmatrix"] = layouts_of(ldmatrix_questions());
  }
  return all.find(family)->second;
}

// ---- Laws ---------------------------------------------------------------------------------------

class EveryMap : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Families, EveryMap, testing::Values("wgmma", "tcgen05", "ldmatrix"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(EveryMap, IsOneOfMany) {
  const std::map<std::string, std::size_t> least = {
      {"wgmma", 200}, {"tcgen05", 200}, {"ldmatrix", 6}};
  EXPECT_GE(layouts(GetParam()).size(), least.at(GetParam()));
}

// With this no place is that of two elements.
TEST_P(EveryMap, NamesTheElementAtEachOfItsPlaces) {
  for (const auto& [question, map] : layouts(GetParam())) {
    if (!map.element_at) continue;
    for_each(map.element, false, [&, &map = map, &question = question](const Coords& e) {
      for (const Coords& place : map.places(e)) {
        const bool exists = place[0] == both_ctas || contains(map.place, place);
        if (!exists || map.element_at(place) != e)
          FAIL() << question << ": " << element_text(map, e) << " at " << place_text(map, place);
      }
    });
  }
}

// Shared memory has no way back, but every element has bits of its own.
TEST_P(EveryMap, GivesNoBitsOfSharedMemoryToTwoElements) {
  for (const auto& [question, map] : layouts(GetParam())) {
    if (map.space != Space::SharedMemory) continue;
    std::set<Coords> places;
    std::size_t count = 0;
    for_each(map.element, false, [&, &map = map](const Coords& e) {
      places.insert(map.places(e)[0]);
      ++count;
    });
    EXPECT_EQ(places.size(), count) << question;
  }
}

// The axes of CTA 0, as far as the matrix reaches and a little more.
std::vector<Axis> nearby(const Map& map, const std::set<Coords>& places) {
  std::vector<Axis> axes = map.place;
  if (map.space != Space::TensorMemory) return axes;
  int last = 0;
  for (const Coords& place : places) last = std::max(last, place[2]);
  axes[0].extent = 1;
  axes[2].extent = std::min(axes[2].extent, last + 3);
  return axes;
}

// The places of all elements in CTA 0, or anywhere but in Tensor Memory.
std::set<Coords> listed(const Map& map) {
  std::set<Coords> places;
  for_each(map.element, false, [&](const Coords& e) {
    for (Coords place : map.places(e)) {
      if (map.space == Space::TensorMemory) place[0] = std::max(place[0], 0);
      if (map.space != Space::TensorMemory || place[0] == 0) places.insert(place);
    }
  });
  return places;
}

// How the places that the map holds differ in number from those of its elements, or nothing.
std::string held_and_listed(const Map& map) {
  const std::set<Coords> places = listed(map);
  std::size_t held = 0;
  for_each(nearby(map, places), false,
           [&](const Coords& place) { held += holds(map, place) ? 1 : 0; });
  if (held == places.size()) return "";
  return std::to_string(held) + " held, " + std::to_string(places.size()) + " listed";
}

// Small layouts of every form; larger ones below, one of each sort.
TEST_P(EveryMap, HoldsWhatSomeElementHasAsItsPlaceAndNothingElse) {
  for (const auto& [question, map] : layouts(GetParam())) {
    if (!map.element_at || listed(map).size() > 1500) continue;
    EXPECT_EQ(held_and_listed(map), "") << question;
  }
}

// ---- Closed forms -------------------------------------------------------------------------------

using Lines = std::map<std::string, std::string>;
using Names = std::map<std::string, int>;

Lines lines_of(const Map& map) {
  const EquationLines lines = equation_of(map);
  return {lines.begin(), lines.end()};
}

int evaluate(const Lines& lines, const std::string& what, const Names& names) {
  return tests::Evaluator(lines.at(what), names).value();
}

// Layouts of every sort, small extents that are no powers of two among them.
const std::vector<std::string> in_tensor_memory = {
    "tcgen05.mma.cta_group::2.kind::f16 D m=256 n=48",
    "tcgen05.mma.cta_group::2.kind::tf32 D m=128 n=64 address=0x64",
    "tcgen05.mma.sp.cta_group::2.kind::tf32 D m=128 n=64",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 D m=128 n=24",
    "tcgen05.mma.cta_group::1.kind::i8 D m=64 n=24 address=0x100040",
    "tcgen05.mma.ws.cta_group::1.kind::f16 D m=64 n=64",
    "tcgen05.mma.ws.sp.cta_group::1.kind::f16 D m=32 n=64 address=0x20",
    "tcgen05.mma.cta_group::2.kind::f16 A a=tmem m=256 n=48",
    "tcgen05.mma.cta_group::2.kind::tf32 A a=tmem m=128 n=64 address=0x64",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 A a=tmem m=64 n=24 type_a=e2m1",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 A a=tmem m=128 n=32",
    "tcgen05.mma.sp.cta_group::1.kind::f16 E m=128 n=64 selector=1",
    "tcgen05.mma.sp.cta_group::2.kind::f8f6f4 E m=256 n=64 address=0x64",
    "tcgen05.mma.ws.sp.cta_group::1.kind::i8 E m=32 n=64",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 SFA m=128 n=96 factors=8",
    "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 SFA m=128 n=96 column_step=8",
    "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 SFB m=128 n=96 factors=8",
    "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 SFB m=256 n=192 address=0x64",
    "tcgen05.cp.cta_group::1.128x256b D",
    "tcgen05.cp.cta_group::2.4x256b D address=0x64",
    "tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 D",
    "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13 D address=0x40",
    "tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b4x16_p64 D",
    "tcgen05.cp.cta_group::1.32x128b.warpx4 D address=0x1fc"};

TEST(Equation, OfTensorMemoryIsTheMap) {
  for (const std::string& question : in_tensor_memory) {
    const Map map = map_of_words(question);
    const Lines lines = lines_of(map);
    const std::string row(symbol(map.element[0]));
    const std::string col(symbol(map.element[1]));
    for_each(map.element, false, [&](const Coords& e) {
      if (e[0] % 3 != 0) return;
      const std::vector<Coords> places = map.places(e);
      for (std::size_t copy = 0; copy < places.size(); ++copy) {
        const Coords& at = places[copy];
        Names names = {
            {row, e[0]}, {"whole_" + row, e[0]}, {col, e[1]}, {"copy", static_cast<int>(copy)}};
        if (lines.contains("cta")) {
          ASSERT_EQ(evaluate(lines, "cta", names), at[0]) << question;
          names[row] = evaluate(lines, row + " in the CTA", names);
        }
        ASSERT_EQ(evaluate(lines, "tmem_lane", names), at[1]) << question;
        ASSERT_EQ(evaluate(lines, "tmem_column", names), at[2]) << question;
        const int bit = lines.contains("low_bit") ? evaluate(lines, "low_bit", names) : 0;
        ASSERT_EQ(bit, value(map.place[3], at[3])) << question;
      }
    });
  }
}

TEST(Equation, TheirLayoutsHoldWhatSomeElementHasAsItsPlaceAndNothingElse) {
  for (const std::string& question : in_tensor_memory)
    EXPECT_EQ(held_and_listed(map_of_words(question)), "") << question;
}

TEST(Equation, OfDGoesBackAndHasACuTeString) {
  for (const std::string& question : in_tensor_memory) {
    const Map map = map_of_words(question);
    if (!is_accumulator(map)) continue;
    const Lines lines = lines_of(map);
    const cute::Layout layout(lines.at("CuTe (row, col) -> tmem_lane + 128*tmem_column"));
    const Coords first = map.places({})[0];
    for (int row = 0; row < layout.size(0); ++row) {
      for (int col = 0; col < map.element[1].extent; ++col) {
        const Coords at = map.places({row, col})[0];
        const Names names = {{"tmem_lane", at[1]}, {"tmem_column", at[2] - first[2]}};
        ASSERT_EQ(evaluate(lines, "row", names), row) << question;
        ASSERT_EQ(evaluate(lines, "col", names), col) << question;
        ASSERT_EQ(layout({row, col}), at[1] - first[1] + 128 * (at[2] - first[2])) << question;
      }
    }
  }
}

TEST(Equation, OfACopyGoesBackFromEveryCopy) {
  for (const std::string& question : in_tensor_memory) {
    const Map map = map_of_words(question);
    if (map.matrix != "D" || is_accumulator(map)) continue;
    const Lines lines = lines_of(map);
    const int first_column = map.places({})[0][2];
    for_each(map.element, false, [&](const Coords& e) {
      for (const Coords& at : map.places(e)) {
        const Names names = {{"tmem_lane", at[1]},
                             {"tmem_column", at[2] - first_column},
                             {"low_bit", value(map.place[3], at[3])}};
        ASSERT_EQ(evaluate(lines, "row", names), e[0]) << question;
        ASSERT_EQ(evaluate(lines, "col", names), e[1]) << question;
      }
    });
  }
}

TEST(Equation, OfWhatACopyReadsIsTheMap) {
  std::vector<std::string> questions;
  add_copies(questions, "tcgen05.cp.cta_group::1.128x256b");
  add_copies(questions, "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23.b8x16.b4x16_p64");
  add_copies(questions, "tcgen05.cp.cta_group::1.4x256b.b8x16.b6x16_p32");
  for (const std::string& question : questions) {
    const Map map = map_of_words(question);
    if (map.space != Space::SharedMemory) continue;
    const Lines lines = lines_of(map);
    for_each(map.element, false, [&](const Coords& e) {
      const Coords at = map.places(e)[0];
      Names names = {{"row", e[0]}, {"col", e[1]}};
      if (map.bits < 8) names["bit"] = evaluate(lines, "bit", names);
      names["x"] = evaluate(lines, "x", names);
      ASSERT_EQ(evaluate(lines, "byte", names), at[1]) << question;
      const int low_bit = map.bits < 8 ? evaluate(lines, "low_bit", names) : 0;
      ASSERT_EQ(low_bit, at[2]) << question;
    });
  }
}

TEST(Equation, OfLoadsIsTheMap) {
  for (const std::string shape :
       {"32x32b.x8", "16x64b.x8", "16x128b.x8", "16x256b.x2", "16x32bx2.x8"}) {
    const std::string split = shape.starts_with("16x32bx2") ? " half_split=32" : "";
    for (const char* rest : {" D", ".pack::16b D", " D address=0x20"}) {
      const std::string question = "tcgen05.ld." + shape + rest + split;
      const Map map = map_of_words(question);
      const Lines lines = lines_of(map);
      const cute::Layout layout(lines.at("CuTe (lane, value) -> tmem_lane + 128*tmem_column"));
      for_each(map.place, false, [&](const Coords& at) {
        const Coords cell = map.element_at(at);
        const Names names = {
            {"thread", at[0]}, {"lane", at[0] % 32}, {"reg", at[1]}, {"part", at[2]}};
        ASSERT_EQ(evaluate(lines, "tmem_lane", names), cell[0]) << question;
        ASSERT_EQ(evaluate(lines, "tmem_column", names), value(map.element[1], cell[1]))
            << question;
        if (at[0] >= 32) return;
        ASSERT_EQ(layout({at[0], at[1] * map.place[2].extent + at[2]}), cell[0] + 128 * cell[1])
            << question;
      });
    }
  }
}

TEST(Equation, OfLdmatrixIsTheMapBothWays) {
  for (const std::string& question : ldmatrix_questions()) {
    const Map map = map_of_words(question);
    const Lines lines = lines_of(map);
    const int rows = map.element[1].extent, size = rows * map.element[2].extent;
    const cute::Layout layout(lines.at("CuTe (thread, value) -> row + " + std::to_string(rows) +
                                       "*col + " + std::to_string(size) + "*matrix"));
    for_each(map.place, false, [&](const Coords& at) {
      const Coords e = map.element_at(at);
      const Names names = {{"thread", at[0]}, {"reg", at[1]}, {"part", at[2]},
                           {"matrix", e[0]},  {"row", e[1]},  {"col", e[2]}};
      for (const std::string what : {"matrix", "row", "col", "thread", "reg", "part"})
        ASSERT_EQ(evaluate(lines, what, names), names.at(what)) << question;
      ASSERT_EQ(layout({at[0], 32 / map.bits * at[1] + at[2]}), e[1] + rows * e[2] + size * e[0]);
    });
  }
}

// ---- Facts by name ------------------------------------------------------------------------------

const std::string f16 = "tcgen05.mma.cta_group::1.kind::f16";
const std::string nvf4 = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16";

TEST(Where, NamesEverythingInTensorMemory) {
  EXPECT_EQ(text_of("where " + f16 + " D m=64 n=64 row=37 col=10"),
            "D[37][10] = tmem_lane 69, tmem_column 10 (warp 2 of the warpgroup reads it)");
  EXPECT_EQ(text_of("what " + f16 + " D m=64 n=64 tmem_lane=69 tmem_column=10"),
            "tmem_lane 69, tmem_column 10 = D[37][10]");
  EXPECT_EQ(ask("what " + f16 + " D m=64 n=64 tmem_lane=85 tmem_column=10").complaint,
            "tmem_lane 85, tmem_column 10 holds nothing of D");
  EXPECT_EQ(ask("what " + f16 + " A a=tmem tmem_lane=0 tmem_column=8").status, Status::No);
  EXPECT_EQ(text_of("where " + nvf4 + " SFA m=128 n=64 factors=8 row=77 col=5"),
            "SFA[77][5] = tmem_lane 13, tmem_column 6, bits [8,16); copies in tmem_lane 45, 77 and "
            "109");
  EXPECT_EQ(text_of("where tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 SFB m=128 "
                    "n=256 row=200 col=1"),
            "SFB[200][1] = tmem_lane 72, tmem_column 2, bits [8,16); a copy in tmem_lane 104, in "
            "both CTAs");
  EXPECT_EQ(text_of("what tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale SFB m=128 n=256 "
                    "tmem_lane=72 tmem_column=2 cta=1"),
            "tmem_lane 72, tmem_column 2, in CTA 1 of the pair = SFB[200][0]");
  EXPECT_EQ(text_of("where " + f16 + " D m=128 n=64 type_d=f16 row=3 col=4"),
            "D[3][4] = tmem_lane 3, tmem_column 4, bits [0,16) (warp 0 of the warpgroup reads it)");
}

TEST(Where, KnowsWhatACopyMoves) {
  const std::string x4 = "tcgen05.cp.cta_group::1.32x128b.warpx4 ";
  EXPECT_EQ(text_of("where " + x4 + "D row=5 col=7"),
            "D[5][7] = tmem_lane 5, tmem_column 1, bits [24,32); copies in tmem_lane 37, 69 and "
            "101");
  EXPECT_EQ(text_of("what " + x4 + "D tmem_lane=69 tmem_column=1"),
            "tmem_lane 69, tmem_column 1 = D[5][4], D[5][5], D[5][6], D[5][7]");
  EXPECT_EQ(ask("what " + x4 + "D tmem_lane=69 tmem_column=4").complaint,
            "tmem_lane 69, tmem_column 4 gets nothing from this copy");
  EXPECT_EQ(text_of("where " + x4 + "S row=5 col=7 desc=0x0000400800010040"),
            "S[5][7] = byte 0x457");
  EXPECT_EQ(text_of("where tcgen05.cp.cta_group::2.64x128b.warpx2::01_23 D row=40 col=0"),
            "D[40][0] = tmem_lane 72, tmem_column 0, bits [0,8); a copy in tmem_lane 104, in both "
            "CTAs");
  const std::string six = "tcgen05.cp.cta_group::2.128x256b.b8x16.b6x16_p32 ";
  EXPECT_TRUE(text_of("where " + six + "D row=3 col=21")
                  .starts_with("D[3][21] = tmem_lane 3, tmem_column 5, bits [9,15), in both CTAs\n"
                               "note: inferred: "));
  EXPECT_TRUE(text_of("where " + six + "S row=3 col=21 desc=0x0000400800800040")
                  .starts_with("S[3][21] = byte 0xc33, bits [6,12) of each CTA's shared memory\n"));
  EXPECT_EQ(ask("where tcgen05.cp.cta_group::1.4x256b D row=3 col=0 address=0x100000").status,
            Status::No);
  EXPECT_EQ(ask("where " + x4 + "D row=0 col=0 address=0x1fd").status, Status::No);
  EXPECT_EQ(ask("where " + x4 + "S row=0 col=0 desc=0x2000400800010040").status,
            Status::Unmodelled);
  EXPECT_EQ(ask("where " + x4 + "S row=0 col=0 desc=0x4010400800010040").status, Status::No);
  EXPECT_EQ(ask("what " + x4 + "S row=0 col=0").status, Status::Usage);
  EXPECT_EQ(ask("bytes " + x4 + "D").status, Status::Usage);
  EXPECT_EQ(ask("where " + x4 + "SFA row=0 col=0").status, Status::Usage);
}

TEST(Where, NamesRegistersOfLoadsBothWays) {
  EXPECT_EQ(text_of("where tcgen05.ld.16x256b.x8 D tmem_lane=66 tmem_column=23"),
            "tmem_lane 66, tmem_column 23 = thread 75, register 9");
  EXPECT_EQ(text_of("what tcgen05.ld.16x256b.x8 D thread=75 register=9"),
            "thread 75, register 9 = tmem_lane 66, tmem_column 23");
  EXPECT_EQ(ask("where tcgen05.ld.16x256b.x8 D tmem_lane=85 tmem_column=10").status, Status::No);
  const std::string second = "where tcgen05.ld.16x256b.x8 D address=0x100020 tmem_lane=82";
  EXPECT_EQ(text_of(second + " tmem_column=55"),
            "tmem_lane 82, tmem_column 55 = thread 75, register 9");
  EXPECT_EQ(
      ask(second + " tmem_column=31").complaint,
      "no warp of the load reads tmem_lane 82, tmem_column 31: each reads lanes 16 to 31 of its "
      "32, columns 32 to 95; address=0x00000020 names the other lanes");
  EXPECT_EQ(text_of("where tcgen05.ld.16x32bx2.x4 D half_split=2 tmem_lane=3 tmem_column=2"),
            "tmem_lane 3, tmem_column 2 = thread 3, register 2 and thread 19, register 0");
  EXPECT_EQ(text_of("where tcgen05.ld.32x32b.x16.pack::16b D tmem_lane=69 tmem_column=11"),
            "tmem_lane 69, tmem_column 11 = thread 69, register 5, part 1");
  EXPECT_EQ(text_of("what tcgen05.ld.32x32b.x16.pack::16b D thread=69 reg=5"),
            "thread 69, register 5 = tmem_lane 69, tmem_column 10, bits [0,16); tmem_lane 69, "
            "tmem_column 11, bits [0,16)");
}

// The rows of PTX's figures of ldmatrix: thread 4*row + col/2 without .trans.
TEST(Where, KnowsTheMatricesOfLdmatrix) {
  const std::string x4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 D ";
  EXPECT_EQ(text_of("where " + x4 + "row=3 col=3 matrix=1"),
            "D[1][3][3] = thread 13, register 1, part 1");
  EXPECT_EQ(text_of("where " + x4 + "row=3 col=3"), "D[0][3][3] = thread 13, register 0, part 1");
  EXPECT_EQ(text_of("where stmatrix.x1.trans D row=3 col=3"),
            "D[0][3][3] = thread 13, register 0, part 1");
  EXPECT_EQ(text_of("what ldmatrix.x2.trans D thread=13 register=0"),
            "thread 13, register 0 = D[0][2][3], D[0][3][3]");
  EXPECT_EQ(ask("where ldmatrix.x2 D row=3 col=3 matrix=2").status, Status::Usage);
  EXPECT_EQ(ask("where ldmatrix.x3 D row=3 col=3").status, Status::Usage);
  EXPECT_EQ(ask("where ldmatrix.x4 A row=3 col=3").status, Status::Usage);
  EXPECT_EQ(ask("bytes ldmatrix.x4 D").status, Status::Usage);
}

TEST(Where, HasOneShapeInJsonEverywhere) {
  const Options json = styled(Style::Json);
  const std::string sparse = "wgmma.sp.m64n16k32.f32.f16.f16";
  for (const std::string& question : std::vector<std::string>{
           "where wgmma.m64n24k16.f16.f16.f16 D row=34 col=23",
           "where wgmma.m64n8k256.s32.b1.b1 A row=0 col=11 desc=0x4000004000010040",
           "where " + sparse + " E row=41 k=22", "where " + f16 + " D row=3 col=4",
           "where " + f16 + " A row=3 col=4 desc=0x4000404000010040",
           "where " + nvf4 + " B row=3 col=4 desc=0x4000404000010040",
           "where tcgen05.mma.sp.cta_group::1.kind::f16 E row=77 k=22",
           "where tcgen05.ld.32x32b.x16.pack::16b D tmem_lane=69 tmem_column=11",
           "where tcgen05.cp.cta_group::2.4x256b D row=3 col=11",
           "where tcgen05.cp.cta_group::2.4x256b S row=3 col=11 desc=0x0000400800010040",
           "where ldmatrix.x4 D row=3 col=3 matrix=1"}) {
    const nlohmann::json answer = nlohmann::json::parse(text_of(question, json));
    EXPECT_TRUE(answer.at("matrix").is_string() && answer.at("notes").is_array()) << question;
    ASSERT_FALSE(answer.at("places").empty()) << question;
    for (const auto& place : answer.at("places")) {
      EXPECT_TRUE(place.contains("low_bit") && place.contains("bits")) << question;
      EXPECT_EQ(place.contains("thread"), place.contains("register") && place.contains("part"));
      EXPECT_EQ(place.contains("thread") + place.contains("tmem_lane") + place.contains("byte"), 1)
          << question;
    }
  }
  EXPECT_EQ(text_of("where wgmma.m64n24k16.f16.f16.f16 D row=34 col=23", json),
            "{\"matrix\":\"D\",\"row\":34,\"col\":23,\"places\":[{\"thread\":75,\"register\":4,"
            "\"part\":1,\"low_bit\":16,\"bits\":16,\"warp\":2,\"lane\":11}],\"notes\":[]}");
  EXPECT_EQ(text_of("what wgmma.m64n24k16.f16.f16.f16 D thread=75 register=4 part=1", json),
            "[" + text_of("where wgmma.m64n24k16.f16.f16.f16 D row=34 col=23", json) + "]");
}

TEST(Where, SaysDoubtsInJson) {
  const std::string c = "where tcgen05.mma.sp.cta_group::2.kind::f16 D m=128 n=64 row=0 col=0";
  EXPECT_NE(text_of(c, styled(Style::Json))
                .find("\"notes\":[\"sources disagree: this is the manual's layout C"),
            std::string::npos);
  const tcgen05::MmaOpcode pair{.kind = tcgen05::Kind::mxf4, .cta_group = 2};
  EXPECT_NE(doubt({TmemMatrix::SFA, pair, 128, 64, 2}).find("128 rows"), std::string::npos);
  const TmemOperand sfb{TmemMatrix::SFB, pair, 128, 96, 2};
  EXPECT_TRUE(doubt(sfb).starts_with("inferred: ")) << doubt(sfb);
  EXPECT_EQ(doubt({TmemMatrix::SFB, pair, 128, 128, 2}), "");
  EXPECT_EQ(doubt({TmemMatrix::D, {.kind = tcgen05::Kind::f16, .cta_group = 2}, 128, 64}), "");
  const tcgen05::MmaOpcode ws{.kind = tcgen05::Kind::f16, .ws = true};
  EXPECT_EQ(check(TmemOperand{TmemMatrix::A, ws, 64, 64, 16, Type::f16}),
            Fault::UnmodelledTmemOperand);
}

// k= counts elements along K on both architectures; chunk= counts codes.
TEST(Where, MetadataIsAskedByLogicalK) {
  const std::string sp = "where tcgen05.mma.sp.cta_group::1.kind::f16 E m=128 row=77 ";
  EXPECT_EQ(text_of(sp + "k=22"), "E[77][20..23] = tmem_lane 77, tmem_column 0, bits [20,24)");
  EXPECT_EQ(text_of(sp + "chunk=5"), text_of(sp + "k=22"));
  EXPECT_EQ(text_of(sp + "chunk=5 k=32"), text_of(sp + "k=22")) << "K of the instruction";
  EXPECT_EQ(ask(sp + "k=32").status, Status::Usage);
}

TEST(Table, ListsAndGridsOfTensorMemoryHaveTheSamePlaces) {
  const std::string sfa = "table tcgen05.mma.cta_group::1.kind::mxf4.block_scale SFA m=128 n=64";
  const auto list = split(text_of(sfa, styled(Style::Csv)), '\n');
  EXPECT_EQ(list.size(), 1 + 128u * 2 * 4);
  EXPECT_EQ(list[1 + 33 * 8 + 4 + 1], "33,1,0,33,1,8");
  EXPECT_EQ(split(text_of(sfa), '\n')[1 + 33], "33           1:1.0   1:1.8");
  const auto grid = split(
      text_of("table tcgen05.mma.ws.cta_group::1.kind::f16 D m=32 n=64", styled(Style::Csv)), '\n');
  EXPECT_EQ(grid[1 + 5 * 64 + 40], "5,40,0,69,8,0");
}

TEST(Inputs, NameTheCellsOfAAndOfTheScaleFactors) {
  Options inputs;
  inputs.inputs = true;
  const std::string d = " D m=64 n=64 row=37 col=10 terms=2";
  EXPECT_TRUE(text_of("where " + f16 + d, inputs)
                  .ends_with("A[37][0]*B[0][10] + A[37][1]*B[1][10] + ... + D[37][10]@69:10.0"));
  EXPECT_TRUE(text_of("where " + f16 + d + " a=tmem", inputs)
                  .ends_with("A[37][0]@69:0.0*B[0][10] + A[37][1]@69:0.16*B[1][10] + ... + "
                             "D[37][10]@69:10.0"));
  const std::string text = text_of("where " + nvf4 + " D m=128 n=64 row=37 col=10", inputs);
  EXPECT_NE(text.find(" = SFA[37][0]@5:1.0*SFB[10][0]@10:0.0*A[37][0]*B[0][10] + "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" + SFA[37][1]@5:1.8*SFB[10][1]@10:0.8*A[37][16]*B[16][10] + "),
            std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
