// How far orders are from float64 by K: the figures are errors_of()'s at every K, and the picture shows them.
#include "oracle/gemm/error_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tcq::oracle::gemm {
namespace {

Request request(const std::string& text) {
  Request whole;
  return parse_list_line(text, whole);
}

ErrorPicture picture_of(const std::string& text) {
  return errors_by_k(request(text), [](std::int64_t) { return true; });
}

TEST(Gemm_ErrorPicture, KDoublesUpToTheRequests) {
  const auto ks = [](const std::string& k) {
    return picture_of("--generate 1,1," + k + " --type e4m3 --order chain").ks;
  };
  EXPECT_EQ(ks("1000"), (std::vector<std::int64_t>{128, 256, 512, 1000}));
  EXPECT_EQ(ks("256"), (std::vector<std::int64_t>{128, 256}));
  EXPECT_EQ(ks("100"), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(ks("0"), (std::vector<std::int64_t>{0}));
}

TEST(Gemm_ErrorPicture, AChainOfFp8DriftsAndPromotionDoesNot) {
  const ErrorPicture picture =
      picture_of("--generate 16,16,4096 --type e4m3 --order chain --order every=128 --order fma");
  ASSERT_EQ(picture.lines.size(), 3u);
  const std::vector<double>& chain = picture.lines[0].errors;
  const std::vector<double>& promoted = picture.lines[1].errors;
  const std::vector<double>& f32 = picture.lines[2].errors;
  ASSERT_EQ(chain.size(), 6u);
  EXPECT_EQ(chain[0], promoted[0]);  // of one block
  EXPECT_GT(chain[5], 5 * promoted[5]);
  EXPECT_GT(promoted[5], 100 * f32[5]);
  EXPECT_GT(f32[5], 0);
}

// Of D as an order of a request has it, and that D's first element as f32.
std::pair<GemmErrors, float> errors_of_d(const std::string& text) {
  const Request one = request(text);
  const Problem problem = load_problem(one);
  Matrix d = zeros(problem.out, problem.m, problem.n);
  char* elements = d.array.bytes.data() + d.array.first;
  const Order order = parse_order(one.orders[0], problem.product);
  const Rows rows = {0, problem.m};
  EXPECT_TRUE(predict(problem, order, rows, 1, elements, [](std::int64_t) { return true; }));
  float first = 0;
  std::memcpy(&first, elements, sizeof first);
  return {errors_of(problem, order, rows, elements), first};
}

TEST(Gemm_ErrorPicture, EachFigureIsTheErrorOfThatGemm) {
  const std::string text = "--generate 8,24,512 --type bf16 --order chain";
  const GemmErrors errors = errors_of_d(text).first;
  EXPECT_EQ(picture_of(text).lines[0].errors.back(),
            errors.root_mean_square / errors.exact_root_mean_square);
}

TEST(Gemm_ErrorPicture, TheMeasureOfDIsItsRootMeanSquare) {
  const auto [errors, d] = errors_of_d("--generate 1,1,64 --type bf16 --order float64");
  EXPECT_FLOAT_EQ(static_cast<float>(errors.exact_root_mean_square), std::abs(d));
}

TEST(Gemm_ErrorPicture, ExactSumsLieOnTheAxis) {
  const ErrorPicture picture =
      picture_of("--generate 4,8,300 --type s8 --order chain --order every=64");
  for (const ErrorLine& line : picture.lines)
    for (const double error : line.errors) EXPECT_EQ(error, 0);
  EXPECT_NE(svg_text(picture).find("<polyline"), std::string::npos);
}

TEST(Gemm_ErrorPicture, IsWellFormedWithALineAndANameForEachOrder) {
  const ErrorPicture picture =
      picture_of("--generate 4,8,600 --type e4m3 --order chain --order every=128 --order every=256");
  const std::string text = svg_text(picture);
  EXPECT_EQ(text, svg_text(picture));
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str()));
  const pugi::xml_node svg = document.child("svg");
  EXPECT_NE(std::string(svg.attribute("viewBox").value()), "");
  int lines = 0;
  for ([[maybe_unused]] const pugi::xml_node line : svg.children("polyline")) ++lines;
  EXPECT_EQ(lines, 3);
  for (const ErrorLine& line : picture.lines)
    EXPECT_NE(text.find(">" + line.spec + "<"), std::string::npos) << line.spec;
}

TEST(Gemm_ErrorPicture, CanBeEnded) {
  const ErrorPicture picture =
      errors_by_k(request("--generate 4,8,600 --type e4m3 --order chain"),
                  [](std::int64_t) { return false; });
  EXPECT_TRUE(picture.lines[0].errors.empty());
}

}  // namespace
}  // namespace tcq::oracle::gemm
