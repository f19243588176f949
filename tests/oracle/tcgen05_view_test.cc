// Matrices in Tensor Memory as the oracle shows them: sentences, JSON, tables, closed forms that are
// evaluated against the maps, the sum behind an output, and registers of tcgen05.ld.
#include "oracle/map/tcgen05_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/map/tcgen05_inputs.h"
#include "oracle/map/tcgen05_load_view.h"
#include "tests/oracle/c_expression.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

using tcgen05::Cell;
using tcgen05::Element;
using tcgen05::Kind;
using tcgen05::MmaOpcode;

TmemView d_view(MmaOpcode opcode, int m, int n) { return {TmemMatrix::D, opcode, m, n}; }

// Every matrix of every layout, small extents that are no powers of two among them.
std::vector<TmemView> all_views() {
  std::vector<TmemView> views;
  const auto add = [&](MmaOpcode op, int m, int n, Type type, int stored_k, int codes) {
    views.push_back(d_view(op, m, n));
    TmemView a{TmemMatrix::A, op, m, n, stored_k, type};
    if (check(a) == Fault::None) views.push_back(a);
    TmemView e{TmemMatrix::E, op, m, n, codes, type};
    if (check(e) == Fault::None) views.push_back(e);
  };
  for (const bool sparse : {false, true}) {
    add({.kind = Kind::f16, .cta_group = 2, .sparse = sparse}, 256, 48, Type::f16, 16, 8);
    add({.kind = Kind::tf32, .cta_group = 2, .sparse = sparse}, 128, 48, Type::tf32, 8, 8);
    add({.kind = Kind::f8f6f4, .sparse = sparse}, 128, 24, Type::e2m1, 32, 16);
    add({.kind = Kind::i8, .sparse = sparse}, 64, 24, Type::s8, 32, 16);
    add({.kind = Kind::f16, .ws = true, .sparse = sparse}, 64, 64, Type::bf16, 16, 8);
    add({.kind = Kind::f16, .ws = true, .sparse = sparse}, 32, 64, Type::bf16, 16, 8);
  }
  for (const int cta_group : {1, 2}) {
    const MmaOpcode op{.kind = Kind::mxf4nvf4, .cta_group = cta_group};
    views.push_back({TmemMatrix::A, op, 128, 32, 64, Type::e2m1});
    for (const int step : {0, 8}) {
      views.push_back({TmemMatrix::SFA, op, 128, 96, 8, Type::e2m1, 0, step});
      views.push_back({TmemMatrix::SFB, op, 128, 96, 8, Type::e2m1, 0, step});
      views.push_back({TmemMatrix::SFB, op, 128 * cta_group, 200, 4, Type::e2m1, 0, step});
    }
  }
  const std::size_t at_zero = views.size();
  for (std::size_t i = 0; i < at_zero; ++i) {
    views.push_back(views[i]);
    views.back().base.tmem_column = 100;
  }
  return views;
}

std::string text_of_view(const TmemView& v) {
  return std::string(name(v.matrix)) + " m " + std::to_string(v.m) + " n " + std::to_string(v.n) +
         " cta_group " + std::to_string(v.opcode.cta_group) + " kind " + name(v.opcode.kind) +
         (v.opcode.ws ? " ws" : "") + (v.opcode.sparse ? " sparse" : "");
}

TEST(Tcgen05_View, WhatNamesTheElementAtEachOfItsPlaces) {
  for (const TmemView& view : all_views()) {
    for (int row = 0; row < rows(view); row += 3) {
      for (int col = 0; col < cols(view); ++col) {
        const Element e = {row, col};
        for (const TmemPlace& at : places_of(view, e)) {
          const int cta = at.cta == both_ctas ? 1 : at.cta;
          const std::vector<Element> here = elements_in(view, cta, at.cell);
          EXPECT_EQ(std::count(here.begin(), here.end(), e), 1)
              << text_of_view(view) << " " << element_text(view, e);
        }
      }
    }
  }
}

TEST(Tcgen05_View, CellsHoldWhatSomeElementHasAsItsPlace) {
  for (const TmemView& view : all_views()) {
    std::set<std::vector<int>> places;
    for (int row = 0; row < rows(view); ++row)
      for (int col = 0; col < cols(view); ++col)
        for (const TmemPlace& at : places_of(view, {row, col}))
          if (at.cta != 1) places.insert({at.cell.tmem_lane, at.cell.tmem_column, at.low_bit});
    std::size_t held = 0;
    for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
      for (int column = 0; column < 260; ++column)
        held += elements_in(view, 0, {lane, column}).size();
    EXPECT_EQ(held, places.size()) << text_of_view(view);
  }
}

std::map<std::string, std::string> lines_of(const EquationLines& lines) {
  return {lines.begin(), lines.end()};
}

int value(const std::string& text, const std::map<std::string, int>& names) {
  return tests::Evaluator(text, names).value();
}

TEST(Tcgen05_View, ClosedFormsAreTheMaps) {
  for (const TmemView& view : all_views()) {
    const auto lines = lines_of(equation_of(view));
    const std::string row_name =
        view.matrix == TmemMatrix::SFA || view.matrix == TmemMatrix::SFB ? "mn" : "row";
    for (int row = 0; row < rows(view); row += 3) {
      for (int col = 0; col < cols(view); ++col) {
        const std::vector<TmemPlace> places = places_of(view, {row, col});
        for (std::size_t copy = 0; copy < places.size(); ++copy) {
          std::map<std::string, int> names = {{row_name, row}, {"whole_" + row_name, row},
                                              {"col", col},    {"chunk", col},
                                              {"s", col},      {"copy", static_cast<int>(copy)}};
          if (lines.contains("cta")) {
            ASSERT_EQ(value(lines.at("cta"), names), places[copy].cta) << text_of_view(view);
            names[row_name] = value(lines.at(row_name + " in the CTA"), names);
          }
          const Cell cell = places[copy].cell;
          ASSERT_EQ(value(lines.at("tmem_lane"), names), cell.tmem_lane) << text_of_view(view);
          ASSERT_EQ(value(lines.at("tmem_column"), names), cell.tmem_column) << text_of_view(view);
          const int bit = lines.contains("low_bit") ? value(lines.at("low_bit"), names) : 0;
          ASSERT_EQ(bit, places[copy].low_bit) << text_of_view(view);
        }
      }
    }
  }
}

TEST(Tcgen05_View, InverseAndCuteStringOfDAreTheMap) {
  const std::string label = "CuTe (row, col) -> tmem_lane + 128*tmem_column";
  for (const TmemView& view : all_views()) {
    if (view.matrix != TmemMatrix::D || view.base.tmem_column != 0) continue;
    const auto lines = lines_of(equation_of(view));
    const cute::Layout layout(lines.at(label));
    for (int row = 0; row < layout.size(0); ++row) {
      for (int col = 0; col < cols(view); ++col) {
        const Cell cell = places_of(view, {row, col})[0].cell;
        const std::map<std::string, int> names = {{"tmem_lane", cell.tmem_lane},
                                                  {"tmem_column", cell.tmem_column}};
        ASSERT_EQ(value(lines.at("row"), names), row) << text_of_view(view);
        ASSERT_EQ(value(lines.at("col"), names), col) << text_of_view(view);
        ASSERT_EQ(layout({row, col}), cell.tmem_lane + 128 * cell.tmem_column);
      }
    }
  }
}

TEST(Tcgen05_View, SentencesNameEverything) {
  const TmemView d = d_view({.kind = Kind::f16}, 64, 64);
  EXPECT_EQ(where_text(d, {37, 10}),
            "D[37][10] = tmem_lane 69, tmem_column 10 (warp 2 of the warpgroup reads it)");
  EXPECT_EQ(what_text(d, 0, {69, 10}), "tmem_lane 69, tmem_column 10 = D[37][10]");
  EXPECT_EQ(what_text(d, 0, {85, 10}), "tmem_lane 85, tmem_column 10 holds nothing of D");
  const TmemView a{TmemMatrix::A, {.kind = Kind::f8f6f4, .cta_group = 2}, 128, 64, 32, Type::e2m1};
  EXPECT_EQ(
      where_text(a, {101, 6}),
      "A[101][6] = tmem_lane 37, tmem_column 1, bits [18,22); a copy in tmem_lane 101, in CTA "
      "1 of the pair");
  const TmemView e{TmemMatrix::E, {.kind = Kind::f16, .sparse = true}, 128, 64, 8, Type::f16};
  EXPECT_EQ(where_text(e, {77, 5}), "E[77][20..23] = tmem_lane 77, tmem_column 0, bits [20,24)");
  const TmemView sfa{TmemMatrix::SFA, {.kind = Kind::mxf4nvf4}, 128, 64, 8};
  EXPECT_EQ(where_text(sfa, {77, 5}),
            "SFA[77][5] = tmem_lane 13, tmem_column 6, bits [8,16); copies in tmem_lane 45, 77 and "
            "109");
  const TmemView sfb{TmemMatrix::SFB, {.kind = Kind::mxf4nvf4, .cta_group = 2}, 128, 256, 4};
  EXPECT_EQ(where_text(sfb, {200, 1}),
            "SFB[200][1] = tmem_lane 72, tmem_column 2, bits [8,16); a copy in tmem_lane 104, in "
            "both CTAs");
}

TEST(Tcgen05_View, F16LiesInTheLowHalfOfItsCell) {
  TmemView d = d_view({.kind = Kind::f16}, 128, 64);
  d.type = Type::f16;
  EXPECT_EQ(where_text(d, {3, 4}),
            "D[3][4] = tmem_lane 3, tmem_column 4, bits [0,16) (warp 0 of the warpgroup reads it)");
}

TEST(Tcgen05_View, DoubtsAreSaid) {
  const TmemView c = d_view({.kind = Kind::f16, .cta_group = 2, .sparse = true}, 128, 64);
  EXPECT_NE(doubt(c).find("sources disagree: this is the manual's layout C"), std::string::npos);
  EXPECT_NE(where_json(c, {0, 0}).find("\"doubt\":\"sources disagree"), std::string::npos);
  const TmemView sfa{TmemMatrix::SFA, {.kind = Kind::mxf4, .cta_group = 2}, 128, 64, 2};
  EXPECT_NE(doubt(sfa).find("128 rows"), std::string::npos);
  TmemView sfb{TmemMatrix::SFB, {.kind = Kind::mxf4, .cta_group = 2}, 128, 96, 2};
  EXPECT_TRUE(doubt(sfb).starts_with("inferred: ")) << doubt(sfb);
  sfb.n = 128;
  EXPECT_EQ(doubt(sfb), "");
  EXPECT_EQ(doubt(d_view({.kind = Kind::f16, .cta_group = 2}, 128, 64)), "");
  EXPECT_EQ(check(TmemView{TmemMatrix::A, {.kind = Kind::f16, .ws = true}, 64, 64, 16, Type::f16}),
            Fault::UnmodelledTmemOperand);
}

TEST(Tcgen05_View, JsonAndTablesListTheSamePlaces) {
  const TmemView sfa{TmemMatrix::SFA, {.kind = Kind::mxf4}, 128, 64, 2};
  EXPECT_EQ(where_json(sfa, {33, 1}).substr(0, 146),
            "{\"matrix\":\"SFA\",\"row\":33,\"col\":1,\"places\":[{\"cta\":0,\"tmem_lane\":1,"
            "\"tmem_column\":1,\"low_bit\":8,\"bits\":8,\"warp\":0},{\"cta\":0,\"tmem_lane\":33,"
            "\"tmem_col");
  const Table list = table_of(sfa, true);
  EXPECT_EQ(list.rows.size(), 128u * 2 * 4);
  EXPECT_EQ(list.rows[33 * 8 + 4 + 1], (std::vector<std::string>{"33", "1", "0", "33", "1", "8"}));
  const Table grid = table_of(d_view({.kind = Kind::f16, .ws = true}, 32, 64), false);
  EXPECT_EQ(grid.header[0], "D[32][64]");
  EXPECT_EQ(grid.rows[5][41], "69:8");
  EXPECT_EQ(table_of(sfa, false).rows[33][2], "1:1.8");
}

TEST(Tcgen05_View, InputsNameTheCellsOfAAndOfTheScaleFactors) {
  const MmaOpcode f16{.kind = Kind::f16};
  TmemInputs inputs{d_view(f16, 64, 64), 16};
  inputs.terms = 2;
  EXPECT_EQ(inputs_text(inputs, {37, 10}),
            "A[37][0]*B[0][10] + A[37][1]*B[1][10] + ... + D[37][10]@69:10.0");
  inputs.a = TmemView{TmemMatrix::A, f16, 64, 64, 16, Type::f16};
  EXPECT_EQ(inputs_text(inputs, {37, 10}),
            "A[37][0]@69:0.0*B[0][10] + A[37][1]@69:0.16*B[1][10] + ... + D[37][10]@69:10.0");
  const MmaOpcode mx{.kind = Kind::mxf4nvf4};
  TmemInputs scaled{d_view(mx, 128, 64), 64};
  scaled.sfa = TmemView{TmemMatrix::SFA, mx, 128, 64, 4};
  scaled.sfb = TmemView{TmemMatrix::SFB, mx, 128, 64, 4};
  const std::string text = inputs_text(scaled, {37, 10});
  EXPECT_TRUE(text.starts_with("SFA[37][0]@5:1.0*SFB[10][0]@10:0.0*A[37][0]*B[0][10] + ")) << text;
  EXPECT_NE(text.find(" + SFA[37][1]@5:1.8*SFB[10][1]@10:0.8*A[37][16]*B[16][10] + "),
            std::string::npos);
}

TEST(Tcgen05_View, MatrixWordsAreNamedOrRefused) {
  EXPECT_EQ(parse_tmem_matrix("sfa"), TmemMatrix::SFA);
  EXPECT_EQ(parse_tmem_matrix("D"), TmemMatrix::D);
  EXPECT_THROW(parse_tmem_matrix("B"), UsageError);
}

// --- ld --------------------------------------------------------------------------------------------

const std::vector<tcgen05::LdShape> kShapes = {
    tcgen05::LdShape::S32x32b, tcgen05::LdShape::S16x64b, tcgen05::LdShape::S16x128b,
    tcgen05::LdShape::S16x256b, tcgen05::LdShape::S16x32bx2};

TEST(Tcgen05_View, RegistersOfALoadAreNamedBothWays) {
  const TmemLoad f = {{tcgen05::LdShape::S16x256b, 8}};
  EXPECT_EQ(register_text(f, {66, 23}), "thread 75, register 9");
  EXPECT_EQ(cell_text(f, 75, 9), "thread 75, register 9 = tmem_lane 66, tmem_column 23");
  EXPECT_EQ(register_text(f, {85, 10}), "");
  const TmemLoad second = {{tcgen05::LdShape::S16x256b, 8}, {16, 32}};
  EXPECT_EQ(register_text(second, {82, 55}), "thread 75, register 9");
  EXPECT_EQ(register_text(second, {82, 31}), "");
  const TmemLoad overlapping = {{tcgen05::LdShape::S16x32bx2, 4, false, 2}};
  EXPECT_EQ(register_text(overlapping, {3, 2}), "thread 3, register 2 and thread 19, register 0");
  const TmemLoad packed = {{tcgen05::LdShape::S32x32b, 16, true}};
  EXPECT_EQ(register_text(packed, {69, 11}), "thread 69, register 5, half 1");
  EXPECT_EQ(cell_text(packed, 69, 5),
            "thread 69, register 5 = tmem_lane 69, tmem_column 10, bits [0,16); tmem_lane 69, "
            "tmem_column 11, bits [0,16)");
}

TEST(Tcgen05_View, ClosedFormsOfLoadsAreTheirMaps) {
  const std::string label = "CuTe (lane, value) -> tmem_lane + 128*tmem_column";
  for (const tcgen05::LdShape shape : kShapes) {
    for (const bool packed : {false, true}) {
      const tcgen05::Fragment f = {shape, 8, packed, 32};
      const auto lines = lines_of(equation_of(f));
      const cute::Layout layout(lines.at(label));
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < registers(f) * halves(f); ++i) {
          const int reg = i / halves(f);
          const int half = i % halves(f);
          const Cell cell = fragment_cell(f, {lane, reg, half});
          const std::map<std::string, int> names = {{"lane", lane}, {"reg", reg}, {"half", half}};
          ASSERT_EQ(value(lines.at("tmem_lane"), names), cell.tmem_lane) << name(shape);
          ASSERT_EQ(value(lines.at("tmem_column"), names), cell.tmem_column) << name(shape);
          ASSERT_EQ(layout({lane, i}), cell.tmem_lane + 128 * cell.tmem_column) << name(shape);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tcq::oracle
