// The suite of launches: what an H100 was seen to trap at without a cluster, and what the rest leaves in memory.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle/recording/experiment.h"
#include "oracle/recording/launch_case.h"
#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

const LaunchCase& launch_of(const Case& c) { return std::get<LaunchCase>(c.experiment); }

using Words = std::vector<std::uint32_t>;

Words words_of_bytes(const std::vector<std::uint8_t>& bytes) {
  Words words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// What a thread finds in x, y and its register afterwards, from what stood in those and in memory: x lies there first.
struct Left {
  std::uint32_t x, y, word;
};
using Rule = Left (*)(Left before);

const std::map<std::string, Rule> rules = {
    {"cp.async.bulk to shared::cluster",
     [](Left l) {
       return Left{l.y, l.y, l.word};
     }},
    {"cp.reduce.async.bulk to shared::cluster",
     [](Left l) {
       return Left{l.x + l.y, l.y, l.word};
     }},
    {"st.async",
     [](Left l) {
       return Left{l.word, l.y, l.word};
     }},
    {"red.async",
     [](Left l) {
       return Left{l.x + l.word, l.y, l.word};
     }},
    {"st.async without mapa",
     [](Left l) {
       return Left{l.word, l.y, l.word};
     }},
    {"barrier.cluster", [](Left l) { return l; }},
    {"mapa",
     [](Left l) {
       return Left{l.x, l.y, 0};
     }},
    {"getctarank",
     [](Left l) {
       return Left{l.x, l.y, 0};
     }},
    {"ld.shared::cluster",
     [](Left l) {
       return Left{l.x, l.y, l.x};
     }},
    {"st.shared::cluster",
     [](Left l) {
       return Left{l.word, l.y, l.word};
     }},
    {"atom.shared::cluster",
     [](Left l) {
       return Left{l.x + l.word, l.y, l.x};
     }},
    {"mbarrier.arrive at shared::cluster", [](Left l) { return l; }},
    {"cp.async.bulk from global memory", [](Left l) { return l; }},
    {"cp.async.bulk with multicast", [](Left l) { return l; }},
};

const std::set<std::string> need_a_cluster = {"cp.async.bulk to shared::cluster",
                                              "cp.reduce.async.bulk to shared::cluster", "st.async",
                                              "red.async", "st.async without mapa"};

TEST(Launches, TrapWhereNobodyNamesAClusterAndElseDoWhatTheyDo) {
  std::map<std::string, std::set<NamedBy>> seen;
  for (const Case& c : draw_suite("launch", 1)) {
    const LaunchCase& e = launch_of(c);
    EXPECT_TRUE(seen[e.name].insert(e.named_by).second) << describe(c);
    const Prediction p = predict(c);
    ASSERT_EQ(p.unmodelled, "") << describe(c);
    const bool is_named = e.named_by != NamedBy::Nobody;
    const bool traps = !is_named && need_a_cluster.contains(e.name);
    ASSERT_EQ(p.outcome, traps ? Outcome::Trap : Outcome::Completed) << describe(c);
    if (traps) continue;
    const Words before = words_of_bytes(state(e, c).bytes), after = words_of_bytes(p.output);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t t = 0; t < launch_threads; ++t) {
      const Left left = rules.at(e.name)({before[t], before[32 + t], before[64 + t]});
      EXPECT_EQ(after[t], left.x) << describe(c);
      EXPECT_EQ(after[32 + t], left.y) << describe(c);
      EXPECT_EQ(after[64 + t], left.word) << describe(c);
      EXPECT_EQ(after[96 + t], is_named ? 1u : 0u) << describe(c);
    }
  }
  EXPECT_EQ(seen.size(), rules.size());
  for (const auto& [name, ways] : seen) EXPECT_EQ(ways.size(), 4u) << name;
}

}  // namespace
}  // namespace tcq::oracle
