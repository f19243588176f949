// What lanes tell each other, and predicates.
#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

Register iota() {
  Register made;
  for (std::uint32_t lane = 0; lane < 32; ++lane) made.words[lane] = 100 + lane;
  return made;
}
Register of(std::uint32_t x) { return Register::of<std::uint32_t>({x}); }

TEST(Shuffle, DownInSegmentsOfEight) {
  const Outcome down = run("shfl.sync.down.b32", {iota(), of(3), of(0x181f), of(0xffffffff)});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const bool in_range = lane % 8 + 3 < 8;
    EXPECT_EQ(down.first.words[lane], 100 + (in_range ? lane + 3 : lane));
    EXPECT_EQ(down.second.words[0] >> lane & 1, in_range ? 1u : 0u);
  }
}

TEST(Shuffle, UpButterflyAndIndex) {
  const Outcome up = run("shfl.sync.up.b32", {iota(), of(1), of(0), of(0xffffffff)});
  EXPECT_EQ(up.first.words[0], 100u);
  EXPECT_EQ(up.first.words[31], 130u);
  EXPECT_EQ(up.second.words[0], 0xfffffffe);
  const Outcome swap = run("shfl.sync.bfly.b32", {iota(), of(16), of(31), of(0xffffffff)});
  EXPECT_EQ(swap.first.words[3], 119u);
  const Outcome pick = run("shfl.sync.idx.b32", {iota(), of(5), of(31), of(0xffffffff)});
  EXPECT_EQ(pick.first.words[30], 105u);
}

TEST(Vote, CountsTheMembersThatAreHere) {
  const Register p = Register::mask(0x0000f0f0);
  EXPECT_EQ(run("vote.sync.ballot.b32", {p, of(0xff)}, 0xff).first.words[2], 0xf0u);
  EXPECT_EQ(run("vote.sync.any.pred", {p, of(0x0f)}, 0xf).first.words[0], 0u);
  EXPECT_EQ(run("vote.sync.all.pred", {p, of(0xf0)}, 0xf0).first.words[0], 0xf0u);
  EXPECT_EQ(run("vote.sync.uni.pred", {p, of(0x0f)}, 0xf).first.words[0], 0xfu);
}

TEST(Match, EqualValuesFindEachOther) {
  const Register halves = Register::of<std::uint32_t>({1, 2});
  const Outcome any = run("match.any.sync.b32", {halves, of(0xffffffff)}, 0xffffffff, {}, 1);
  EXPECT_EQ(any.first.words[0], 0x55555555u);
  EXPECT_EQ(any.first.words[1], 0xaaaaaaaau);
  const Outcome all = run("match.all.sync.b32", {halves, of(0xffffffff)});
  EXPECT_EQ(all.second.words[0], 0u);
}

TEST(Redux, SumsAndExtremes) {
  EXPECT_EQ(run("redux.sync.add.s32", {iota(), of(0xffffffff)}).first.words[9], 3200u + 496u);
  EXPECT_EQ(run("redux.sync.max.u32", {iota(), of(0xff)}, 0xff).first.words[0], 107u);
  const Register floats = Register::of<std::uint32_t>({0xc0000000, 0x3f800000, 0x7fc00000});
  const Register everyone = of(0xffffffff);
  EXPECT_EQ(run("redux.sync.max.f32", {floats, everyone}).first.words[0], 0x3f800000u);
  EXPECT_EQ(run("redux.sync.max.abs.f32", {floats, everyone}).first.words[0], 0x40000000u);
  EXPECT_EQ(run("redux.sync.min.NaN.f32", {floats, everyone}).first.words[0], 0x7fffffffu);
}

TEST(Elect, TheLowestMemberLeads) {
  const Outcome elect = run("elect.sync", {of(0xfff0)}, 0xfff0);
  EXPECT_EQ(elect.second.words[0], 0x10u);
  EXPECT_EQ(elect.first.words[8], 4u);
}

TEST(Setp, JoinsBothHalvesOfThePair) {
  const Register p = Register::mask(0x0f0f0f0f);
  const Outcome less = run("setp.lt.and.s32", {of(0xffffffff), of(1), p});
  EXPECT_EQ(less.first.words[0], 0x0f0f0f0fu);
  EXPECT_EQ(less.second.words[0], 0u);
  const Outcome above = run("setp.lt.or.u32", {of(0xffffffff), of(1), p});
  EXPECT_EQ(above.first.words[0], 0x0f0f0f0fu);
  EXPECT_EQ(above.second.words[0], 0xffffffffu);
}

TEST(Setp, NanIsUnordered) {
  const Register nan = of(0x7fc00000), one = of(0x3f800000);
  for (const auto& [text, holds] :
       {std::pair{"setp.eq.f32", false}, std::pair{"setp.ne.f32", false},
        std::pair{"setp.neu.f32", true}, std::pair{"setp.ltu.f32", true},
        std::pair{"setp.nan.f32", true}, std::pair{"setp.num.f32", false}})
    EXPECT_EQ(run(text, {nan, one}).first.words[0] != 0, holds) << text;
  EXPECT_NE(run("setp.eq.ftz.f32", {of(1), of(0x80000000)}).first.words[0], 0u);
  EXPECT_EQ(run("setp.eq.f32", {of(1), of(0x80000000)}).first.words[0], 0u);
  EXPECT_NE(run("setp.lt.f16", {of(0x0001), of(0x0400)}).first.words[0], 0u);
}

TEST(Select, TakesByThePredicateOfEachLane) {
  const Outcome selected = run("selp.b32", {of(7), of(9), Register::mask(4)});
  EXPECT_EQ(selected.first.words[2], 7u);
  EXPECT_EQ(selected.first.words[3], 9u);
  EXPECT_EQ(run("slct.b32.f32", {of(7), of(9), of(0x80000000)}).first.words[0], 7u);
  EXPECT_EQ(run("slct.b32.f32", {of(7), of(9), of(0x7fc00000)}).first.words[0], 9u);
}

}  // namespace
}  // namespace tcq::alu
