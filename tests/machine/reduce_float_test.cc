// The bits of floating-point reductions: against the host's own arithmetic where that rounds alike,
// on worked values, and against every rival rule, which some pair must tell apart.
#include "sim/num/reduce_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "oracle/recording/reduction_rules.h"
#include "oracle/recording/suites.h"
#include "sim/isa/copy/bulk_copy.h"
#include "sim/num/inputs/float_pairs.h"

namespace tcq {
namespace {

using tma::DataType;
using tma::Reduction;

constexpr DataType types[] = {DataType::Float16, DataType::BFloat16, DataType::Float32,
                              DataType::Float64};

// Calls visit(x, y) for all pairs of special values and many drawn ones.
void for_each_pair(DataType type, const std::function<void(std::uint64_t, std::uint64_t)>& visit) {
  const FloatLayout layout = float_layout(type);
  for (int i = 0; i < special_float_count; ++i)
    for (int j = 0; j < special_float_count; ++j)
      visit(special_float(layout, i), special_float(layout, j));
  for (std::uint64_t key = 0; key < 300000; ++key) {
    const DrawnPair pair(layout, key);
    visit(pair.old(), pair.tile());
  }
}

float f32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// Of a sum that is no NaN, to the 16 bits of bf16.
std::uint64_t bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (std::uint64_t{bits} + 0x7fff + (bits >> 16 & 1)) >> 16;
}

double f16_value(std::uint64_t bits) {
  const auto fraction = static_cast<double>(bits % 1024);
  const int field = static_cast<int>(bits / 1024 % 32);
  const double magnitude =
      field == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, field - 25);
  return bits >= 0x8000 ? -magnitude : magnitude;
}

// Nearest by halving the interval; infinity counts as 65536.
std::uint64_t f16_of(double value, bool negative) {
  const double magnitude = std::abs(value);
  std::uint64_t low = 0, high = 0x7c00;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (f16_value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - f16_value(low);
  const double above = f16_value(high) - magnitude;
  const bool up = above < below || (above == below && low % 2 != 0);
  return (up ? high : low) | (negative ? 0x8000 : 0);
}

// The host's sum, or nothing to compare (NaN).
bool host_sum(DataType type, std::uint64_t x, std::uint64_t y, std::uint64_t& sum) {
  if (type == DataType::Float64) {
    const double value = std::bit_cast<double>(x) + std::bit_cast<double>(y);
    sum = std::bit_cast<std::uint64_t>(value);
    return value == value;
  }
  if (type == DataType::Float32 || type == DataType::BFloat16) {
    const bool bf16 = type == DataType::BFloat16;
    const float value = bf16 ? f32(x << 16) + f32(y << 16) : f32(x) + f32(y);
    sum = bf16 ? bf16_of(value) : std::bit_cast<std::uint32_t>(value);
    return value == value;
  }
  const std::uint64_t infinity = float_layout(type).infinity();
  if ((x & infinity) == infinity || (y & infinity) == infinity) return false;
  const double value = f16_value(x) + f16_value(y);
  sum = f16_of(value, value < 0 || (value == 0 && std::signbit(value)));
  return true;
}

TEST(ReduceFloat, AddEqualsTheHostsArithmetic) {
  for (const DataType type : types) {
    int compared = 0;
    for_each_pair(type, [&](std::uint64_t x, std::uint64_t y) {
      std::uint64_t want = 0;
      if (!host_sum(type, x, y, want)) return;
      ++compared;
      ASSERT_EQ(reduce_float(Reduction::Add, float_layout(type), FloatRules{}, x, y), want)
          << tma::name(type) << std::hex << " " << x << " + " << y;
    });
    EXPECT_GT(compared, 290000);
  }
}

TEST(ReduceFloat, OperandsCommuteButForNan) {
  for (const DataType type : types) {
    for_each_pair(type, [&](std::uint64_t x, std::uint64_t y) {
      for (const Reduction op : {Reduction::Add, Reduction::Min, Reduction::Max})
        ASSERT_EQ(reduce_float(op, float_layout(type), FloatRules{}, x, y),
                  reduce_float(op, float_layout(type), FloatRules{}, y, x));
    });
  }
}

TEST(ReduceFloat, TowardZeroNeverExceedsNearestEven) {
  const FloatLayout layout = float_layout(DataType::Float16);
  FloatRules chopped;
  chopped.rounding = Rounding::TowardZero;
  int smaller = 0;
  for_each_pair(DataType::Float16, [&](std::uint64_t x, std::uint64_t y) {
    const std::uint64_t nearest = reduce_float(Reduction::Add, layout, FloatRules{}, x, y);
    const std::uint64_t toward = reduce_float(Reduction::Add, layout, chopped, x, y);
    ASSERT_TRUE(toward == nearest || toward + 1 == nearest);
    smaller += toward == nearest ? 0 : 1;
  });
  EXPECT_GT(smaller, 1000);
}

TEST(ReduceFloat, WorkedResultsOfF16) {
  const auto result = [](Reduction op, std::uint64_t old, std::uint64_t tile) {
    return tma::reduced_bits(op, DataType::Float16, old, tile);
  };
  EXPECT_EQ(result(Reduction::Add, 0x3c00, 0x1000), 0x3c00u);  // a tie, to even
  EXPECT_EQ(result(Reduction::Add, 0x3c01, 0x1000), 0x3c02u);
  EXPECT_EQ(result(Reduction::Add, 0x0001, 0x0001), 0x0002u);  // subnormals are kept
  EXPECT_EQ(result(Reduction::Add, 0x7bff, 0x4c00), 0x7c00u);  // 65504 + 16
  EXPECT_EQ(result(Reduction::Add, 0x7bff, 0x4bff), 0x7bffu);
  EXPECT_EQ(result(Reduction::Add, 0x8000, 0x0000), 0x0000u);
  EXPECT_EQ(result(Reduction::Add, 0x8000, 0x8000), 0x8000u);
  EXPECT_EQ(result(Reduction::Add, 0x3c00, 0xbc00), 0x0000u);
  EXPECT_EQ(result(Reduction::Add, 0xfc00, 0x7bff), 0xfc00u);
  EXPECT_EQ(result(Reduction::Min, 0xbc00, 0xc000), 0xc000u);
  EXPECT_EQ(result(Reduction::Max, 0xbc00, 0xc000), 0xbc00u);
  EXPECT_EQ(result(Reduction::Max, 0x0001, 0x8001), 0x0001u);
}

TEST(ReduceFloat, F32FlushesSubnormalsOnlyInFtzTensors) {
  const auto sum = [](DataType type, std::uint64_t old, std::uint64_t tile) {
    return tma::reduced_bits(Reduction::Add, type, old, tile);
  };
  for (const DataType type : {DataType::Float32, DataType::TFloat32}) {
    EXPECT_EQ(sum(type, 0x00400000, 0x00400000), 0x00800000u);
    EXPECT_EQ(sum(type, 0x80800001, 0x00800000), 0x80000001u);
    EXPECT_EQ(sum(type, 0x3f800001, 0x34000000), 0x3f800002u) << "tf32 is added as f32";
  }
  for (const DataType type : {DataType::Float32Ftz, DataType::TFloat32Ftz}) {
    EXPECT_EQ(sum(type, 0x00400000, 0x00400000), 0u);
    EXPECT_EQ(sum(type, 0x80400000, 0x80000000), 0x80000000u);
    EXPECT_EQ(sum(type, 0x00800000, 0x007fffff), 0x00800000u);
    EXPECT_EQ(sum(type, 0x80800001, 0x00800000), 0x80000000u);
    EXPECT_EQ(tma::check(Reduction::Max, type), Fault::ReductionType);
  }
}

TEST(ReduceFloat, F64KeepsThePayloadOfANan) {
  const auto sum = [](std::uint64_t old, std::uint64_t tile) {
    return tma::reduced_bits(Reduction::Add, DataType::Float64, old, tile);
  };
  EXPECT_EQ(sum(0x7ff0000000000001, 0x3ff0000000000000), 0x7ff0000000000001u);
  EXPECT_EQ(sum(0x7ff8000000000005, 0xfff0000000000001), 0xfff0000000000001u) << "the tile's";
  EXPECT_EQ(sum(0x7ff0000000000000, 0xfff0000000000000), 0xfff8000000000000u);
}

// ---- Rivals -------------------------------------------------------------------------------------

std::vector<FloatRules> rivals(Reduction op, const FloatRules& rules) {
  std::vector<FloatRules> all;
  const auto add = [&](const std::function<void(FloatRules&)>& change) {
    FloatRules rival = rules;
    change(rival);
    if (rival != rules) all.push_back(rival);
  };
  add([](FloatRules& r) { r.flush_operands = r.flush_result = false; });
  add([](FloatRules& r) { r.flush_operands = r.flush_result = true; });
  for (int nan = 0; nan <= static_cast<int>(NanRule::Tile); ++nan)
    add([=](FloatRules& r) { r.nan = static_cast<NanRule>(nan); });
  if (op == Reduction::Add) {
    add([](FloatRules& r) { r.flush_operands = !r.flush_operands; });
    add([](FloatRules& r) { r.flush_result = !r.flush_result; });
    add([](FloatRules& r) { r.rounding = Rounding::TowardZero; });
    for (const NanRule nan : {NanRule::AllOnes, NanRule::Quiet, NanRule::NegativeQuiet})
      add([=](FloatRules& r) { r.invalid = nan; });
  } else {
    add([](FloatRules& r) { r.number_wins = !r.number_wins; });
    for (const ZeroRule zeros : {ZeroRule::NegativeIsLess, ZeroRule::KeepsOld, ZeroRule::TakesTile})
      add([=](FloatRules& r) { r.zeros = zeros; });
  }
  return all;
}

TEST(FloatPairs, SpecialValuesTellEveryRivalApart) {
  for (const DataType type : types) {
    const FloatLayout layout = float_layout(type);
    for (const Reduction op : {Reduction::Add, Reduction::Min, Reduction::Max}) {
      if (tma::check(op, type) != Fault::None) continue;
      const FloatRules rules = float_rules(type);
      const std::vector<FloatRules> all = rivals(op, rules);
      EXPECT_GE(all.size(), 10u);
      for (std::size_t i = 0; i < all.size(); ++i) {
        int differing = 0;
        for (int old = 0; old < special_float_count; ++old)
          for (int tile = 0; tile < special_float_count; ++tile)
            differing += reduce_float(op, layout, rules, special_float(layout, old),
                                      special_float(layout, tile)) !=
                                 reduce_float(op, layout, all[i], special_float(layout, old),
                                              special_float(layout, tile))
                             ? 1
                             : 0;
        EXPECT_GT(differing, 0) << tma::name(type) << " " << tma::name(op) << " rival " << i;
      }
    }
  }
}

TEST(FloatPairs, DrawnSumsHaveTiesSubnormalsAndOverflows) {
  const FloatLayout layout = float_layout(DataType::Float32);
  FloatRules chopped, flushed;
  chopped.rounding = Rounding::TowardZero;
  flushed.flush_operands = flushed.flush_result = true;
  int rounded_up = 0, subnormal = 0, infinite = 0, cancelled = 0;
  for (std::uint64_t key = 0; key < 4096; ++key) {
    const DrawnPair pair(layout, key);
    const auto sum = [&](const FloatRules& rules) {
      return reduce_float(Reduction::Add, layout, rules, pair.old(), pair.tile());
    };
    const std::uint64_t result = sum({});
    rounded_up += result != sum(chopped) ? 1 : 0;
    subnormal += result != sum(flushed) ? 1 : 0;
    infinite += (result | layout.sign_bit()) == (layout.infinity() | layout.sign_bit()) ? 1 : 0;
    const std::uint64_t larger =
        std::max(pair.old() % layout.sign_bit(), pair.tile() % layout.sign_bit());
    cancelled += result % layout.sign_bit() + 4 * layout.hidden_bit() < larger ? 1 : 0;
  }
  EXPECT_GT(rounded_up, 400);
  EXPECT_GT(subnormal, 100);
  EXPECT_GT(infinite, 10);
  EXPECT_GT(cancelled, 200);
}

// ---- The suites ---------------------------------------------------------------------------------

TEST(AsyncSuites, CopiesAndReductionsAreLegalAndTheirRecordingsSmall) {
  for (const char* name : {"bulk", "reduce_float"}) {
    oracle::Recording recording;
    recording.cases = oracle::draw_suite(name, 3);
    for (oracle::Case& c : recording.cases) {
      oracle::Prediction prediction = predict(c);
      ASSERT_EQ(prediction.fault, Fault::None) << describe(c);
      set_answer(c, oracle::Outcome::Completed, std::move(prediction.output));
    }
    EXPECT_LT(oracle::serialize(recording).size(), 400000u) << name;
  }
}

TEST(AsyncSuites, BulkEdgesHaveBothVerdicts) {
  int legal = 0, refused = 0;
  for (const oracle::Case& c : oracle::draw_suite("bulk_edge", 3))
    (predict(c).fault == Fault::None ? legal : refused) += 1;
  EXPECT_GT(legal, 5);
  EXPECT_GT(refused, 30);
}

// A copy of `bytes` bytes between memories of 1 KiB.
oracle::Case small_copy(oracle::BulkCopy::Kind kind, std::uint32_t bytes, tma::Multicast how = {}) {
  oracle::Case c(oracle::BulkCopy{.kind = kind, .range = {0, shared_base_sm90, bytes}, .how = how});
  c.shared_bytes = c.global_bytes = 1024;
  return c;
}

// PTX forbids sizes that are no multiples of 16; an H200 rounds them down.
TEST(AsyncCases, ForbiddenSizesMoveWholeUnitsAndLeaveThePhaseOpen) {
  using Kind = oracle::BulkCopy::Kind;
  const oracle::Prediction legal = predict(small_copy(Kind::Load, 32));
  const oracle::Prediction load = predict(small_copy(Kind::Load, 40));
  EXPECT_EQ(load.fault, Fault::BulkBytes);
  EXPECT_EQ(load.outcome, oracle::Outcome::Timeout);
  EXPECT_EQ(load.output, legal.output);
  constexpr std::uint32_t too_many = bulk::max_bytes + bulk::unit_bytes;
  EXPECT_EQ(predict(small_copy(Kind::Load, too_many)).outcome, oracle::Outcome::Trap)
      << "no mbarrier expects 2^20 bytes";
  const oracle::Case store = small_copy(Kind::Store, too_many);
  EXPECT_EQ(predict(store).outcome, oracle::Outcome::Completed);
  EXPECT_EQ(predict(store).output, oracle::draw_memories(store).global)
      << "the count of units wraps to 0";
}

TEST(AsyncCases, AMulticastToNoCtaMovesNothing) {
  using Kind = oracle::BulkCopy::Kind;
  const oracle::Case c = small_copy(Kind::Multicast, 64, {2, 0, 0});
  const oracle::Prediction none = predict(c);
  EXPECT_EQ(none.fault, Fault::MulticastMask);
  EXPECT_EQ(none.outcome, oracle::Outcome::Completed);
  const oracle::Memories before = oracle::draw_memories(c);
  for (std::size_t i = 0; i < none.output.size(); ++i)
    ASSERT_EQ(none.output[i], before.shared.data()[i % 1024]) << i;
  EXPECT_EQ(predict(small_copy(Kind::Multicast, 64, {2, 0, 4})).outcome, oracle::Outcome::Trap)
      << "a CTA that the cluster lacks";
}

// ---- What a recording says about the rules ------------------------------------------------------

oracle::Recording recorded(const std::function<FloatRules(DataType)>& rules_of) {
  oracle::Recording recording;
  recording.cases = oracle::draw_suite("reduce_float", 1);
  for (oracle::Case& c : recording.cases) {
    const auto* tile = std::get_if<oracle::TileCopy>(&c.experiment);
    const auto* copy = std::get_if<oracle::BulkCopy>(&c.experiment);
    const DataType type = tile != nullptr ? tile->tile.map.type : copy->type;
    const Reduction op = tile != nullptr ? tile->reduction : copy->reduction;
    const oracle::Memories inputs = oracle::draw_memories(c, type);
    const std::uint32_t width = tma::element_bytes(type);
    std::vector<std::uint8_t> output = inputs.global;
    for (std::size_t at = 0; at < output.size(); at += width) {
      std::uint64_t old = 0, tile = 0;
      std::memcpy(&old, &inputs.global[at], width);
      std::memcpy(&tile, inputs.shared.data() + at, width);
      const std::uint64_t result = reduce_float(op, float_layout(type), rules_of(type), old, tile);
      std::memcpy(&output[at], &result, width);
    }
    set_answer(c, oracle::Outcome::Completed, std::move(output));
  }
  return recording;
}

TEST(ExplainFloatReductions, FindsTheSimulatorsOwnRules) {
  const oracle::Recording recording = recorded(float_rules);
  EXPECT_EQ(oracle::compare(recording).differing_bits, 0u);
  const std::string text = oracle::explain_float_reductions(recording);
  EXPECT_NE(text.find("tensor add FLOAT16: 0 of 4096 elements differ"), std::string::npos) << text;
  EXPECT_NE(text.find("bulk max BFLOAT16: 0 of 8192 elements differ"), std::string::npos);
  EXPECT_EQ(text.find("want"), std::string::npos);
  EXPECT_LT(oracle::serialize(recording).size(), 400000u);
}

TEST(ExplainFloatReductions, FindsARivalAndShowsTheElements) {
  const std::string text = oracle::explain_float_reductions(recorded([](DataType) {
    FloatRules rules;
    rules.nan = NanRule::TileQuieted;
    rules.invalid = NanRule::NegativeQuiet;
    return rules;
  }));
  EXPECT_NE(text.find("     0 differ: subnormal operands kept, results kept; NaN tile's quieted, "
                      "inf - inf -quiet; nearest even\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    old 7c00 tile fc00 got fe00 want 7fff\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tcq
