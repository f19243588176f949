// `tcq gemm` on drawn requests, every option beside every other one, against loops (gemm_loops.h).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle/gemm/run.h"
#include "tests/oracle/gemm_draws.h"

namespace tcq::oracle::gemm {
namespace {

using namespace loops;

struct Answer {
  Report report;
  npy::Array d;
};

Answer answer_of(const Case& x, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = x.words;
  words.insert(words.end(), more.begin(), more.end());
  Answer answer;
  Request request = parse_request(words);
  request.read = [&](const std::string& name) { return x.files.at(name); };
  request.keep = [&](const npy::Array& d) { answer.d = d; };
  Progress progress(nullptr);
  answer.report = run_request(request, progress);
  return answer;
}

std::string text_of(const Case& x) { return fmt::format("{}", fmt::join(x.words, " ")); }

void expect_loops(const Drawn& drawn) {
  const Case& x = drawn.get();
  const npy::Array d = answer_of(x).d;
  const Part rows = drawn.rows();
  const std::int64_t all = std::max<std::int64_t>(1, x.batch) * x.m;
  const std::vector<std::int64_t> whole = {x.batch, x.m, x.n};
  if (x.batch > 0 && rows.count == all)
    EXPECT_EQ(d.header.shape, whole) << text_of(x);
  else
    EXPECT_EQ(d.header.shape, (std::vector<std::int64_t>{rows.count, x.n})) << text_of(x);
  for (std::int64_t r = 0; r < rows.count; ++r)
    for (std::int64_t j = 0; j < x.n; ++j) {
      const std::int64_t row = rows.first + r;
      ASSERT_EQ(fmt::format("{:08x}", load_element(x.out, d.data(), r * x.n + j)),
                fmt::format("{:08x}", output(x, row / x.m, row % x.m, j)))
          << text_of(x) << "\nrow " << row << " column " << j;
    }
}

// What cannot stand beside each other.
bool excluded(const std::string& a, const std::string& b) {
  static const std::set<std::pair<std::string, std::string>> pairs = {
      {"wgmma", "tcgen05"},          {"narrow", "wide"},           {"narrow", "integers"},
      {"wide", "integers"},          {"block-scaled", "factors"},  {"block-scaled", "wgmma"},
      {"block-scaled", "wide"},      {"block-scaled", "integers"}, {"block-scaled", "d=f16"},
      {"block-scaled", "satfinite"}, {"packed", "wgmma"},          {"packed", "wide"},
      {"packed", "integers"},        {"packed", "satfinite"},      {"promoted", "integers"},
      {"promoted", "d=f16"},         {"promoted", "satfinite"},    {"satfinite", "d=f16"},
      {"satfinite", "every"},        {"satfinite", "segments"},    {"satfinite", "narrow"},
      {"satfinite", "wide"},         {"d=f16", "integers"},        {"every", "segments"}};
  return pairs.contains({a, b}) || pairs.contains({b, a});
}

TEST(GemmDrawn, EveryOptionBesideEveryOtherIsTheLoops) {
  constexpr int count = 1200;
  std::map<std::string, std::set<std::string>> beside;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    const Drawn drawn(static_cast<std::uint64_t>(i));
    expect_loops(drawn);
    for (const std::string& a : drawn.get().traits)
      beside[a].insert(drawn.get().traits.begin(), drawn.get().traits.end());
  }
  EXPECT_GE(beside.size(), 28u);
  for (const auto& [a, seen] : beside)
    for (const auto& [b, _] : beside)
      EXPECT_TRUE(seen.contains(b) || excluded(a, b)) << a << " was never beside " << b;
}

// A device's D that is the prediction has no difference; with one bit flipped it has one, where the bit was flipped.
TEST(GemmDrawn, ComparisonsNameTheFlippedElement) {
  for (std::uint64_t seed = 5000; seed < 5060; ++seed) {
    const Drawn drawn(seed);
    Case x = drawn.get();
    if (x.traits.contains("shard")) continue;
    const npy::Array d = answer_of(x).d;
    x.files["device"] = d;
    const Report same = answer_of(x, {"--compare", "device", "--errors"}).report;
    EXPECT_FALSE(same.mismatch()) << text_of(x);
    npy::Array& device = x.files["device"];
    const std::size_t bytes = device.bytes.size() - device.first;
    const std::size_t at = mix(seed) % bytes;
    device.bytes[device.first + at] = static_cast<char>(device.bytes[device.first + at] ^ 1);
    const Report other = answer_of(x, {"--compare", "device"}).report;
    ASSERT_EQ(other.orders[0].device->differing, 1) << text_of(x);
    const auto width = static_cast<std::int64_t>(npy::item_bytes(device.header.dtype));
    const std::int64_t element = static_cast<std::int64_t>(at) / width;
    EXPECT_EQ(other.orders[0].device->first->row, element / x.n) << text_of(x);
    EXPECT_EQ(other.orders[0].device->first->col, element % x.n) << text_of(x);
  }
}

// Rival orders of a block-scaled product are of other kinds and parts, and one of them explains what another kind gave.
TEST(GemmDrawn, AnotherKindExplainsADifference) {
  int explained = 0;
  for (std::uint64_t seed = 6000; seed < 6400; ++seed) {
    Case x = Drawn(seed).get();
    if (x.scaling != Scaling::Ue8m0Block32 || x.kind != Kind::mxf4) continue;
    if (x.traits.contains("shard") || x.traits.contains("promoted")) continue;
    x.files["device"] = answer_of(x).d;
    for (std::string& word : x.words) {
      const std::size_t at = word.find("kind=mxf4");
      if (at != std::string::npos) word.replace(at, 9, "kind=mxf8f6f4");
    }
    const Report report = answer_of(x, {"--compare", "device"}).report;
    if (report.orders[0].device->differing == 0) continue;
    ++explained;
    EXPECT_FALSE(report.orders[0].explanation->by.empty()) << text_of(x);
  }
  EXPECT_GT(explained, 0);
}

}  // namespace
}  // namespace tcq::oracle::gemm
