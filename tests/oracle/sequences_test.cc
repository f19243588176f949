// Sequences of mbarrier operations and of wgmmas in groups: what their suites hold, and that files
// and comparison keep every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

using mbarrier::Mbarrier;
using mbarrier::Operation;

const MbarrierScript& script_of(const Case& c) { return std::get<MbarrierScript>(c.experiment); }
const WgmmaGroups& groups_of(const Case& c) { return std::get<WgmmaGroups>(c.experiment); }

// A recording in which the device did what the simulator says.
Recording predicted(std::string_view suite) {
  Recording recording;
  recording.cases = draw_suite(suite, 1);
  for (Case& c : recording.cases) set_answer(c, Outcome::Completed, predict(c).output);
  return recording;
}

// Through a file, which keeps some outputs as hashes only.
Recording through_a_file(const Recording& recording) {
  return parse_recording(serialize(recording));
}

struct Seen {
  std::size_t steps = 0;
  std::size_t flips = 0;
  std::size_t negative = 0;  // tx-counts
  std::size_t open = 0;      // steps that leave no arrival pending
};

Seen run(const std::vector<mbarrier::Step>& steps) {
  Seen seen;
  Mbarrier barrier;
  for (const mbarrier::Step& s : steps) {
    const Mbarrier before = barrier;
    EXPECT_EQ(apply(barrier, s.operation, s.number), Fault::None);
    EXPECT_FALSE(barrier.pending == 0 && barrier.tx == 0) << "what PTX leaves to be read";
    ++seen.steps;
    seen.flips += barrier.phase != before.phase ? 1 : 0;
    seen.negative += barrier.tx < 0 ? 1 : 0;
    seen.open += barrier.pending == 0 ? 1 : 0;
  }
  return seen;
}

TEST(MbarrierSuite, DrawnSequencesAreLegalFlipPhasesAndReachNegativeTxCounts) {
  std::size_t flips = 0;
  std::size_t negative = 0;
  std::size_t open = 0;
  std::size_t steps = 0;
  std::set<std::pair<Operation, bool>> operations;  // remote?
  const std::vector<Case> cases = draw_suite("mbarrier", 1);
  EXPECT_GE(cases.size(), 4000u);
  for (const Case& c : cases) {
    const std::vector<mbarrier::Step> script = mbarrier_steps(script_of(c), c);
    EXPECT_GE(script.size(), 4u);
    EXPECT_LE(script.size(), 40u);
    for (const mbarrier::Step& s : script) {
      operations.insert({s.operation, s.issuer != 0});
      EXPECT_LT(s.issuer, static_cast<std::uint32_t>(script_of(c).cluster));
    }
    const Seen seen = run(script);
    steps += seen.steps;
    flips += seen.flips;
    negative += seen.negative;
    open += seen.open;
  }
  EXPECT_EQ(operations.size(), 2u * mbarrier::operation_count - 1) << "init is never remote";
  EXPECT_GT(flips, steps / 8);
  EXPECT_GT(negative, steps / 16);
  EXPECT_GT(open, steps / 16);
}

TEST(MbarrierSuite, DirectedSequencesReachEveryFaultAndSomeReachNone) {
  std::set<Fault> faults;
  for (const Case& c : draw_suite("mbarrier_edge", 1)) faults.insert(predict(c).fault);
  EXPECT_EQ(faults, (std::set<Fault>{Fault::None, Fault::MbarrierArrivals, Fault::MbarrierCount,
                                     Fault::MbarrierTxCount, Fault::MbarrierUnaligned}));
}

TEST(MbarrierSuite, NothingBehindAFaultIsCompared) {
  Recording recording = predicted("mbarrier_edge");
  std::erase_if(recording.cases, [](const Case& c) { return predict(c).outcome.has_value(); });
  ASSERT_FALSE(recording.cases.empty());
  for (Case& c : recording.cases) {
    const std::vector<std::uint8_t> known = predict(c).known;
    ASSERT_EQ(known.size(), output_bytes(c));
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i] == 0) c.output[i] = 0xa5;
    c.hashes = hash_blocks(c.output);
  }
  EXPECT_EQ(compare(through_a_file(recording)).differing_bits, 0u);
  const auto reaches_a_step = [](const Case& c) { return predict(c).known[4] == 0xff; };
  const auto c = std::ranges::find_if(recording.cases, reaches_a_step);
  ASSERT_NE(c, recording.cases.end());
  c->output[4] ^= 2;
  c->hashes = hash_blocks(c->output);
  EXPECT_EQ(compare(through_a_file(recording)).differing_bits, 1u);
}

TEST(MbarrierSuite, AWrongAnswerIsAMismatchEvenWhereOnlyItsHashIsKept) {
  Recording recording = predicted("mbarrier");
  for (const bool kept : {false, true}) {
    const auto c = std::ranges::find(recording.cases, kept, &Case::keep);
    c->output.back() ^= 1;
    c->hashes = hash_blocks(c->output);
  }
  const std::string file = serialize(recording);
  EXPECT_LT(file.size(), 300u * 1024);
  const Comparison c = compare(parse_recording(file));
  EXPECT_EQ(c.cases, recording.cases.size());
  EXPECT_EQ(c.differing_outputs, 1024u + 1u);
}

TEST(MbarrierSuite, ADifferentSequenceIsAnInputMismatch) {
  Recording recording = predicted("mbarrier_edge");
  recording.cases.resize(1);
  std::get<MbarrierScript>(recording.cases[0].experiment).script = 2;
  EXPECT_THROW(compare(recording), BadFile);
}

TEST(GroupsSuite, TheFileKeepsEveryCaseAndAWrongBitIsAMismatch) {
  Recording recording = predicted("groups");
  EXPECT_EQ(compare(through_a_file(recording)).differing_bits, 0u);
  const auto c = std::ranges::find(recording.cases, true, &Case::keep);
  c->output[17] ^= 8;
  c->hashes = hash_blocks(c->output);
  EXPECT_EQ(compare(through_a_file(recording)).differing_bits, 1u);
}

TEST(GroupsSuite, EveryWaitCoversTheOldestGroups) {
  std::set<std::tuple<Type, int, int, Between>> seen;
  for (const Case& c : draw_suite("groups", 1)) {
    const GroupsSequence s = groups_sequence(groups_of(c), c);
    seen.insert(
        {groups_of(c).type, groups_of(c).groups, groups_of(c).pending, groups_of(c).between});
    ASSERT_TRUE(s.statements.back().commit) << "nothing stays uncommitted";
    // Counted anew: the group of every wgmma is the number of commits before it.
    std::set<int> covered;
    int group = 0;
    for (const wgmma::GroupsStatement& statement : s.statements) {
      if (statement.commit)
        ++group;
      else if (group < s.committed - groups_of(c).pending)
        covered.insert(statement.accumulator);
    }
    EXPECT_EQ(group, s.committed);
    EXPECT_EQ(covered, std::set<int>(s.covered.begin(), s.covered.end())) << describe(c);
    if (groups_of(c).pending == 0) {
      EXPECT_EQ(static_cast<int>(covered.size()), s.accumulators);
    }
  }
  // Per type: G + 1 values of N, one more with an empty group, for G = 1 to 4.
  EXPECT_EQ(seen.size(), 2u * (14 + 3 * 18 + 14));
}

TEST(GroupsSuite, NoTwoWgmmasShareATile) {
  for (const Case& c : draw_suite("groups", 2)) {
    std::set<std::uint64_t> words;
    std::size_t wgmmas = 0;
    for (const wgmma::GroupsStatement& s : groups_sequence(groups_of(c), c).statements) {
      if (s.commit) continue;
      ++wgmmas;
      words.insert(s.desc_a);
      words.insert(s.desc_b);
    }
    EXPECT_EQ(words.size(), 2 * wgmmas);
  }
}

// Results that no wgmma changed, or that another order of chains would give as well, prove nothing.
TEST(GroupsSuite, EveryAccumulatorEndsOtherThanItBegan) {
  for (const Case& c : draw_suite("groups", 3)) {
    const std::vector<std::uint8_t> before = state(groups_of(c), c).global;
    const Prediction prediction = predict(c);
    ASSERT_EQ(prediction.fault, Fault::None);
    ASSERT_EQ(prediction.output.size(), before.size());
    std::size_t same = 0;
    for (std::size_t i = 0; i < before.size(); i += 4)
      same += std::equal(before.begin() + static_cast<std::ptrdiff_t>(i),
                         before.begin() + static_cast<std::ptrdiff_t>(i + 4),
                         prediction.output.begin() + static_cast<std::ptrdiff_t>(i))
                  ? 1
                  : 0;
    EXPECT_LT(same, before.size() / 400);
  }
}

}  // namespace
}  // namespace tcq::oracle
