// How far two results are apart, and which rival order explains it.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "oracle/gemm/difference.h"
#include "oracle/gemm/progress.h"
#include "oracle/gemm/rivals.h"
#include "oracle/gemm/run.h"
#include "oracle/sum/gemm_epilogue.h"

namespace tcq::oracle::gemm {
namespace {

TEST(GemmDifference, UlpsAreStepsBetweenNumbers) {
  EXPECT_EQ(ulps(Type::f32, 0x3f800001, 0x3f800000), 1u);
  EXPECT_EQ(ulps(Type::f32, 0x00000000, 0x80000000), 0u);
  EXPECT_EQ(ulps(Type::f32, 0x00000001, 0x80000001), 2u);
  EXPECT_EQ(ulps(Type::f32, 0x7f7fffff, 0x7f800000), 1u);
  EXPECT_EQ(ulps(Type::f16, 0x3c00, 0xbc00), 2u * 0x3c00);
  EXPECT_EQ(ulps(Type::bf16, 0x3f80, 0x3f82), 2u);
  EXPECT_EQ(ulps(Type::f32, 0x7fffffff, 0x7fc00000), 0u);
  EXPECT_EQ(ulps(Type::f32, 0x7fffffff, 0x7f800000), one_is_nan);
  EXPECT_EQ(ulps(Type::s32, 0x80000000, 0x7fffffff), 0xffffffffu);
}

TEST(GemmDifference, FirstWorstAndPayloads) {
  std::vector<std::uint32_t> d(12, 0x3f800000);
  std::vector<std::uint32_t> device(20, 0x3f800000);  // 5 rows of 4, of which 3 are ours
  const Rows rows{2, 5};
  EXPECT_EQ(compare(Type::f32, d.data(), device.data(), rows, 4).differing, 0);
  d[1] = 0x3f800002;  // D[2][1]
  d[6] = 0x7fffffff;  // D[3][2]
  device[8 + 6] = 0x7fc00000;
  d[11] = 0x3f7ffff0;  // D[4][3]
  const Comparison c = compare(Type::f32, d.data(), device.data(), rows, 4);
  EXPECT_EQ(c.outputs, 12);
  EXPECT_EQ(c.differing, 3);
  EXPECT_EQ(c.nan_payloads, 1);
  EXPECT_EQ(c.first->row, 2);
  EXPECT_EQ(c.first->col, 1);
  EXPECT_EQ(c.first->predicted, 0x3f800002u);
  EXPECT_EQ(c.first->other, 0x3f800000u);
  EXPECT_EQ(c.first->ulps, 2u);
  EXPECT_EQ(c.worst->row, 4);
  EXPECT_EQ(c.worst->col, 3);
  EXPECT_EQ(c.worst->ulps, 16u);
  device[8 + 4] = 0x7fc00000;  // a NaN and a number
  EXPECT_EQ(compare(Type::f32, d.data(), device.data(), rows, 4).worst->ulps, one_is_nan);
}

TEST(GemmDifference, ASampleIsSpreadOverAll) {
  constexpr std::int64_t n = 1000;
  std::vector<std::uint32_t> d(4 * n, 0);
  std::vector<std::uint32_t> device(4 * n, 0);
  for (std::size_t i = 0; i < device.size(); i += 2) device[i] = 1;
  const Rows rows{0, 4};
  const Comparison c = compare(Type::f32, d.data(), device.data(), rows, n);
  const Sample s = sample(Type::f32, d.data(), device.data(), rows, n, c);
  EXPECT_EQ(s.differing.size(), 32u);
  EXPECT_EQ(s.equal.size(), 32u);
  EXPECT_EQ(s.differing.front().row, 0);
  EXPECT_EQ(s.differing.back().row, 3);
  for (const Difference& x : s.differing) EXPECT_NE(x.predicted, x.other);
  for (const Difference& x : s.equal) EXPECT_EQ(x.predicted, x.other);
}

// --- orders that compute what they say ---------------------------------------------------------------

Problem drawn(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"--order", "chain"};
  all.insert(all.end(), words.begin(), words.end());
  return load_problem(parse_request(all));
}

std::vector<std::uint32_t> predicted(const Problem& problem, const Order& order, Rows rows,
                                     int threads = 2) {
  std::vector<char> d(static_cast<std::size_t>(rows.count() * problem.n) *
                      element_bytes(problem.out));
  EXPECT_TRUE(predict(problem, order, rows, threads, d.data(), [](std::int64_t) { return true; }));
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < rows.count() * problem.n; ++i)
    words.push_back(load_element(problem.out, d.data(), i));
  return words;
}

// A sum of instructions, each by the front door of its arithmetic; f32 results or s32.
std::uint32_t chained(const Problem& p, const Order& order, std::int64_t row, std::int64_t col) {
  const Product& t = p.product;
  const int unit = step(order, t);
  std::vector<GemmSegment> parts = order.segments;
  if (parts.empty()) parts = {{0, t.k}};
  std::uint32_t total = 0;
  for (const GemmSegment& part : parts) {
    std::uint32_t sum = 0;
    for (std::int64_t first = 0; first < part.count; first += unit) {
      std::array<std::uint32_t, 64> a{};
      std::array<std::uint32_t, 64> b{};
      for (std::int64_t i = 0; i < unit && first + i < part.count; ++i) {
        const std::int64_t k = part.first + first + i;
        a[static_cast<std::size_t>(i)] = load_element(t.a, p.a.array.data(), p.a.index(row, k));
        b[static_cast<std::size_t>(i)] = load_element(t.b, p.b.array.data(), p.b.index(k, col));
      }
      if (order.engine == Engine::Wgmma) {
        sum = dot({order.accumulator, t.a, t.b}, a.data(), b.data(), unit, sum,
                  {.accumulate = first > 0, .satfinite = order.saturate});
      } else {
        tcgen05::DotForm form = tcgen05_form_of(order, t);
        form.accumulate = first > 0;
        form.idesc.saturate = order.saturate;
        sum = tcgen05::dot(form, {a.data(), b.data(), sum});
      }
    }
    if (order.accumulator == Type::f16) {
      const double value = element_value(Type::f16, sum);
      sum =
          std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    total = &part == &parts.front() ? sum : add_f32(total, sum);
  }
  return total;
}

// The definition, output by output.
TEST(GemmPredict, BandsOutputsAndShardsAreTheSameBits) {
  const Problem p =
      drawn({"--generate", "9,11,200", "--type", "bf16", "--mixture", "weighted", "--seed", "5"});
  for (const char* spec :
       {"chain", "every=64", "split=3", "segments=80-200,0-80", "float64", "fma"}) {
    const Order order = parse_order(spec, p.product);
    const std::vector<std::uint32_t> all = predicted(p, order, {0, p.m});
    for (std::int64_t i = 0; i < p.m * p.n; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)], predict_one(p, order, i / p.n, i % p.n)) << spec;
    std::vector<std::uint32_t> joined;
    for (std::int64_t shard = 0; shard < 4; ++shard)
      for (const std::uint32_t word : predicted(p, order, rows_of({shard, 4}, p.m)))
        joined.push_back(word);
    EXPECT_EQ(joined, all) << spec;
  }
}

// fp8 in mixtures, narrower types, f16 accumulators: every output is a chain of dot() as it stands in
// sim/num.
TEST(GemmPredict, EveryInstructionsSumsAreItsOwn) {
  struct Case {
    const char* a;
    const char* b;
    const char* spec;
  };
  for (const Case& x :
       {Case{"e4m3", "e5m2", "chain"}, Case{"e4m3", "e4m3", "every=64"},
        Case{"e5m2", "e4m3", "chain:wgmma,d=f16"}, Case{"f16", "f16", "chain:wgmma,d=f16"},
        Case{"e4m3", "e4m3", "chain:tcgen05"}, Case{"e2m1", "e3m2", "every=32"},
        Case{"e5m2", "e2m3", "chain:tcgen05,d=f16"}, Case{"s8", "u8", "chain"},
        Case{"s8", "s8", "chain:wgmma,satfinite"}, Case{"u8", "s8", "chain:tcgen05"},
        Case{"f16", "bf16", "chain:tcgen05"}}) {
    for (const char* mixture : {"normal", "weighted", "specials"}) {
      const Problem p = drawn({"--generate", "5,7,100", "--type", x.a, "--type-b", x.b, "--mixture",
                               mixture, "--seed", "9"});
      const Order order = parse_order(x.spec, p.product);
      const std::vector<std::uint32_t> all = predicted(p, order, {0, p.m});
      for (std::int64_t i = 0; i < p.m * p.n; ++i)
        EXPECT_EQ(all[static_cast<std::size_t>(i)], chained(p, order, i / p.n, i % p.n))
            << x.a << " " << x.b << " " << x.spec << " " << mixture;
    }
  }
}

TEST(GemmPredict, FmaAndFloat64AreWhatTheirNamesSay) {
  const Problem p = drawn({"--generate", "3,70,50", "--type", "f16"});
  const Order float64 = parse_order("float64", p.product);
  const Order fma = parse_order("fma", p.product);
  const std::vector<std::uint32_t> all_wide = predicted(p, float64, {0, 3});
  const std::vector<std::uint32_t> all_narrow = predicted(p, fma, {0, 3});
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t col = 0; col < 70; ++col) {
      double wide = 0;
      float narrow = 0;
      for (std::int64_t k = 0; k < 50; ++k) {
        const double a =
            element_value(Type::f16, load_element(Type::f16, p.a.array.data(), row * 50 + k));
        const double b =
            element_value(Type::f16, load_element(Type::f16, p.b.array.data(), col * 50 + k));
        wide += a * b;
        narrow = std::fmaf(static_cast<float>(a), static_cast<float>(b), narrow);
      }
      const auto at = static_cast<std::size_t>(row * 70 + col);
      const auto want_wide = std::bit_cast<std::uint32_t>(static_cast<float>(wide));
      const auto want_narrow = std::bit_cast<std::uint32_t>(narrow);
      EXPECT_EQ(all_wide[at], want_wide);
      EXPECT_EQ(all_narrow[at], want_narrow);
      EXPECT_EQ(predict_one(p, float64, row, col), want_wide);
      EXPECT_EQ(predict_one(p, fma, row, col), want_narrow);
    }
  }
}

// More rows and columns than one piece of the work has.
TEST(GemmPredict, ThreadsChangeNoBitOfFmaAndFloat64) {
  const Problem p = drawn({"--generate", "300,110,33", "--type", "bf16"});
  for (const char* spec : {"float64", "fma"}) {
    const Order order = parse_order(spec, p.product);
    std::vector<std::uint32_t> one(300 * 110);
    std::vector<std::uint32_t> three(one.size());
    const auto go_on = [](std::int64_t) { return true; };
    ASSERT_TRUE(predict(p, order, {0, 300}, 1, one.data(), go_on));
    ASSERT_TRUE(predict(p, order, {0, 300}, 3, three.data(), go_on));
    EXPECT_EQ(one, three);
    for (const std::int64_t row : {0, 127, 128, 299})
      for (const std::int64_t col : {0, 31, 32, 109})
        EXPECT_EQ(one[static_cast<std::size_t>(row * 110 + col)], predict_one(p, order, row, col));
  }
}

TEST(GemmPredict, AShardIsABandOfRows) {
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < 7; ++i) {
    const Rows rows = rows_of({i, 7}, 30);
    EXPECT_EQ(rows.first, end);
    EXPECT_GE(rows.count(), 4);
    EXPECT_LE(rows.count(), 5);
    end = rows.end;
  }
  EXPECT_EQ(end, 30);
  EXPECT_EQ(rows_of({6, 7}, 3).count(), 0);
}

TEST(GemmPredict, APulseEndsIt) {
  const Problem p = drawn({"--generate", "4,4,16", "--type", "bf16"});
  std::vector<char> d(4 * 4 * 4);
  int asked = 0;
  EXPECT_FALSE(predict(p, parse_order("chain", p.product), {0, 4}, 1, d.data(), [&](std::int64_t) {
    ++asked;
    return false;
  }));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(d, std::vector<char>(4 * 4 * 4));  // nothing was computed
}

TEST(GemmPredict, TimeLeftIsSaid) {
  EXPECT_EQ(progress_text(0, 4096, 1), "0 % of 4096 rows");
  EXPECT_EQ(progress_text(1024, 4096, 10), "25 % of 4096 rows, 30 s left");
  EXPECT_EQ(progress_text(1, 100, 10), "1 % of 100 rows, 16 min 30 s left");
  EXPECT_EQ(progress_text(1, 1000, 10), "0 % of 1000 rows, 2 h 46 min left");
  EXPECT_EQ(progress_text(4096, 4096, 10), "100 % of 4096 rows");
}

// --- explanations ----------------------------------------------------------------------------------

// What explains a result of `truth` that was predicted as `claim`.
Explanation explanation(const Problem& p, const char* claim, const char* truth) {
  const Order order = parse_order(claim, p.product);
  const Rows rows{0, p.m};
  const auto d = predicted(p, order, rows);
  const auto device = predicted(p, parse_order(truth, p.product), rows);
  const Comparison c = compare(p.out, d.data(), device.data(), rows, p.n);
  EXPECT_GT(c.differing, 0) << truth;
  return explain(p, order, sample(p.out, d.data(), device.data(), rows, p.n, c),
                 [](std::int64_t) { return true; });
}

TEST(GemmRivals, TheTruthExplainsADifference) {
  const Problem p = drawn({"--generate", "48,80,640", "--type", "bf16", "--mixture", "normal"});
  for (const char* truth :
       {"every=64:wgmma", "every=128:wgmma", "split=3:wgmma", "float64", "fma"}) {
    const Explanation e = explanation(p, "chain", truth);
    EXPECT_EQ(e.by, std::vector<std::string>{truth});
    EXPECT_EQ(e.outputs, 64);  // 32 that differ and 32 that are equal
  }
  EXPECT_EQ(explanation(p, "every=64", "chain").by, std::vector<std::string>{"chain:wgmma"});
}

// FP8: promotion every 128, the adder of tcgen05, and an f16 accumulator leave traces of their own.
TEST(GemmRivals, TheTruthExplainsADifferenceOfFp8) {
  const Problem p = drawn({"--generate", "24,40,1024", "--type", "e4m3"});
  for (const std::string truth : {"every=128:wgmma", "every=256:wgmma", "chain:tcgen05",
                                  "chain:wgmma,d=f16", "split=5:wgmma"})
    EXPECT_EQ(explanation(p, "chain", truth.c_str()).by.front(), truth);
  EXPECT_EQ(explanation(p, "every=128", "chain").by, std::vector<std::string>{"chain:wgmma"});
}

TEST(GemmRivals, WhatNoRivalIsIsSaid) {
  const Problem p = drawn({"--generate", "24,40,640", "--type", "bf16"});
  const Explanation e = explanation(p, "chain", "segments=320-640,0-16,16-320");
  EXPECT_TRUE(e.by.empty());
  EXPECT_GT(e.asked, 20);
  EXPECT_FALSE(e.nearest.empty());
  EXPECT_LT(e.nearest_outputs, e.outputs);
}

}  // namespace
}  // namespace tcq::oracle::gemm
