// Words of global memory that a relaxed look may find as they were: which fences are missing between two of them. TCQ_PROBLEMS=10000
// draws so many chains, TCQ_SEED=N others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "tests/run/ptx_run.h"
#include "tests/support/effort.h"

namespace tcq::tests {
namespace {

const std::string fence = "fence.acq_rel.gpu;";

// Several CTAs, whose bodies these are, of one thread or so many; %rd1 is 0 in all words at first.
std::optional<machine::Finding> finding_in_ctas(const std::vector<std::string>& bodies,
                                                unsigned threads = 1) {
  std::string text = "mov.u32 %r2, %tid.x; setp.ne.u32 %p4, %r2, 0; mov.u32 %r1, %ctaid.x;\n";
  for (std::size_t cta = 0; cta < bodies.size(); ++cta)
    text += fmt::format("setp.ne.u32 %p1, %r1, {0};\n@%p1 bra NEXT{0};\n{1}\nbra DONE;\nNEXT{0}:\n",
                        cta, bodies[cta]);
  PtxRun run(kernel(text + "DONE:"));
  const auto ctas = static_cast<unsigned>(bodies.size());
  run.pass(run.array<std::uint32_t>(256));
  run.launch().grid = {ctas};
  run.launch().whole_grid = true;
  run.go({.grid = {ctas}, .block = {threads}, .explore = 4});
  return run.report().finding;
}
Fault found_in_ctas(const std::vector<std::string>& bodies, unsigned threads = 1) {
  const auto finding = finding_in_ctas(bodies, threads);
  return finding ? finding->fault : Fault::None;
}

// Waits until the word at the offset is 1.
std::string poll(int offset, const std::string& load) {
  return fmt::format(
      "LOOK{0}:\n{1}.u32 %r7, [%rd1+{0}];\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra LOOK{0};\n", offset,
      load);
}
std::string store(int offset, const std::string& kind, int value = 1) {
  return fmt::format("{}.u32 [%rd1+{}], {};\n", kind, offset, value);
}
// Loads the word and stores what it found.
std::string use(int offset, const std::string& kind) {
  return fmt::format("{0}.u32 %r8, [%rd1+{1}];\nst.global.u32 [%rd1+{2}], %r8;\n", kind, offset,
                     offset + 512);
}

TEST(RunLateWords, AWordAndItsFlagNeedTwoFences) {
  const auto go = [](const std::string& between_stores, const std::string& between_loads,
                     const std::string& st = "st.volatile.global",
                     const std::string& ld = "ld.volatile.global") {
    return found_in_ctas({store(0, st, 5) + between_stores + store(64, st),
                          poll(64, ld) + between_loads + use(0, ld)});
  };
  EXPECT_EQ(go(fence, fence), Fault::None);
  EXPECT_EQ(go("", fence), Fault::MemoryFenceMissing);
  EXPECT_EQ(go(fence, ""), Fault::MemoryFenceMissing);
  EXPECT_EQ(go("", ""), Fault::MemoryFenceMissing);
  EXPECT_EQ(go("membar.sys;", "membar.gl;"), Fault::None);
  EXPECT_EQ(go("membar.cta;", fence), Fault::MemoryFenceMissing);
  EXPECT_EQ(go("fence.acquire.gpu;", fence), Fault::MemoryFenceMissing);
  EXPECT_EQ(go("fence.release.gpu;", "fence.acquire.gpu;"), Fault::None);
  EXPECT_EQ(go("", "", "st.relaxed.gpu.global", "ld.relaxed.gpu.global"),
            Fault::MemoryFenceMissing);
  EXPECT_EQ(go("", "", "st.release.gpu.global", "ld.acquire.gpu.global"), Fault::None);
  EXPECT_EQ(go("", "", "st.release.gpu.global", "ld.relaxed.gpu.global"),
            Fault::MemoryFenceMissing);
}

// It is said which of the two is missing, and who wrote the word that is found late.
TEST(RunLateWords, TheFindingNamesTheLoadAndTheStore) {
  const auto go = [](const std::string& between_stores) {
    const std::string st = "st.volatile.global", ld = "ld.volatile.global";
    return finding_in_ctas(
               {store(0, st, 5) + between_stores + store(64, st), poll(64, ld) + use(0, ld)})
        .value();
  };
  const machine::Finding neither = go(""), no_acquire = go(fence);
  EXPECT_EQ(neither.number, 0);
  EXPECT_EQ(no_acquire.number, 1);
  EXPECT_EQ(neither.at.warp, 1);
  EXPECT_EQ(neither.earlier.warp, 0);
  EXPECT_EQ(neither.bytes.end - neither.bytes.begin, 4u);
}

// The last one of several CTAs adds up what they stored.
TEST(RunLateWords, TheLastOfSeveralCtasSumsWhatTheOthersStored) {
  const auto go = [](const std::string& release, const std::string& acquire) {
    const std::string count = store(0, "st.volatile.global", 5) + release +
                              "atom.global.inc.u32 %r9, [%rd1+128], 7;\n" + acquire +
                              "setp.ne.u32 %p3, %r9, 1;\n@%p3 bra DONE;\n";
    std::string other = count;
    other.replace(other.find("[%rd1+0]"), 8, "[%rd1+64]");
    const std::string sum =
        "ld.volatile.global.u32 %r4, [%rd1]; ld.volatile.global.u32 %r5, [%rd1+64];"
        "add.u32 %r4, %r4, %r5; st.global.u32 [%rd1+512], %r4;";
    return found_in_ctas({count + sum, other + sum});
  };
  EXPECT_EQ(go(fence, fence), Fault::None);
  EXPECT_EQ(go("", fence), Fault::MemoryFenceMissing);
  EXPECT_EQ(go("", ""), Fault::MemoryFenceMissing);
}

// One thread of a CTA was told, and another one looks behind their barrier.
TEST(RunLateWords, ABarrierHandsOnWhatWasTold) {
  const auto go = [](const std::string& between_stores) {
    const std::string st = "st.volatile.global", ld = "ld.volatile.global";
    return found_in_ctas(
        {"@%p4 bra DONE;\n" + store(0, st, 5) + between_stores + store(64, st),
         "@%p4 bra MEET;\n" + poll(64, ld) +
             "MEET: bar.sync 0; setp.ne.u32 %p5, %r2, 32; @%p5 bra DONE;\n" + use(0, ld)},
        64);
  };
  EXPECT_EQ(go(""), Fault::MemoryFenceMissing);
  EXPECT_EQ(go(fence), Fault::None);
}

// Who has not acquired what it was told of tells it all the same.
TEST(RunLateWords, WhatWasToldIsToldOn) {
  const std::string st = "st.relaxed.gpu.global", ld = "ld.relaxed.gpu.global";
  const std::string release = "st.release.gpu.global", acquire = "ld.acquire.gpu.global";
  const auto go = [&](const std::string& look, const std::string& raise) {
    return found_in_ctas({store(0, st, 5) + store(64, release), poll(64, look) + store(128, raise),
                          poll(128, acquire) + use(0, ld)});
  };
  EXPECT_EQ(go(acquire, release), Fault::None);
  EXPECT_EQ(go(ld, release), Fault::MemoryFenceMissing);
  EXPECT_EQ(go(acquire, st), Fault::MemoryFenceMissing);
  EXPECT_EQ(go(ld, st), Fault::MemoryFenceMissing);
  // Also over a barrier.
  const auto behind_barrier = [&](const std::string& look, const std::string& raise) {
    const std::string one = "@%p4 bra DONE;\n";
    return found_in_ctas(
        {one + store(0, st, 5) + store(64, release), one + poll(64, look) + store(128, raise),
         "@%p4 bra MEET;\n" + poll(128, acquire) +
             "MEET: bar.sync 0; setp.ne.u32 %p5, %r2, 32; @%p5 bra DONE;\n" + use(0, ld)},
        64);
  };
  EXPECT_EQ(behind_barrier(acquire, release), Fault::None);
  EXPECT_EQ(behind_barrier(ld, release), Fault::MemoryFenceMissing);
}

// Flags are looked at until they are raised: one that is found late is found the next time.
TEST(RunLateWords, SeveralFlagsAreNone) {
  const std::string st = "st.volatile.global", ld = "ld.volatile.global";
  EXPECT_EQ(found_in_ctas(
                {store(0, st) + store(64, st) + store(128, st),
                 poll(128, ld) + poll(0, ld) + poll(64, ld) + "st.global.u32 [%rd1+512], %r7;"}),
            Fault::None);
}

// How often it was looked at is not followed, though it may differ.
TEST(RunLateWords, LooksThatAreRepeatedAreAFlags) {
  const std::string st = "st.volatile.global", ld = "ld.volatile.global";
  const std::string counts =
      "mov.u32 %r8, 0;\nAGAIN: add.u32 %r8, %r8, 1; ld.volatile.global.u32 %r7, [%rd1];"
      "setp.eq.u32 %p2, %r7, 0; @%p2 bra AGAIN; st.global.u32 [%rd1+512], %r8;";
  EXPECT_EQ(found_in_ctas({store(0, st) + store(64, st), poll(64, ld) + counts}), Fault::None);
}

TEST(RunLateWords, WhatIsDroppedOrTheSameEitherWayIsNone) {
  const std::string st = "st.volatile.global", ld = "ld.volatile.global";
  const std::string look = "ld.volatile.global.u32 %r8, [%rd1];\n";
  EXPECT_EQ(found_in_ctas({store(0, st) + store(64, st), poll(64, ld) + look}), Fault::None);
  EXPECT_EQ(found_in_ctas({store(0, st, 0) + store(64, st), poll(64, ld) + use(0, ld)}),
            Fault::None);
}

// Each word by itself is in order: who has found a write does not find what was there before it.
TEST(RunLateWords, AWordThatWasFoundIsFoundAgain) {
  const std::string st = "st.volatile.global", ld = "ld.volatile.global";
  EXPECT_EQ(found_in_ctas({store(0, st) + store(64, st), poll(0, ld) + poll(64, ld) + use(0, ld)}),
            Fault::None);
  // The other half of it is another word.
  EXPECT_EQ(found_in_ctas({store(0, st) + store(4, st, 7) + store(64, st),
                           poll(0, ld) + poll(64, ld) + use(4, ld)}),
            Fault::MemoryFenceMissing);
}

// What is known is not undone with what is not.
TEST(RunLateWords, OnlyWhatIsBehindTheLastFenceIsFoundLate) {
  const std::string st = "st.volatile.global", ld = "ld.volatile.global";
  const auto go = [&](int again) {
    return found_in_ctas(
        {store(0, st, 5) + fence + store(64, st) + store(0, st, again) + store(128, st),
         poll(64, ld) + fence + poll(128, ld) + use(0, ld)});
  };
  EXPECT_EQ(go(5), Fault::None);
  EXPECT_EQ(go(6), Fault::MemoryFenceMissing);
}

// A wider store by a third thread, which is known, hides what was there before it.
TEST(RunLateWords, AVectorOverTheWordIsTheLastWrite) {
  const std::string st = "st.relaxed.gpu.global", ld = "ld.relaxed.gpu.global";
  const auto go = [&](const std::string& over) {
    return found_in_ctas({store(8, st, 5) + store(64, st) + store(192, st),
                          poll(64, ld) + over + store(128, "st.release.gpu.global"),
                          poll(128, "ld.acquire.gpu.global") + poll(192, ld) + use(8, ld)});
  };
  EXPECT_EQ(go("mov.u32 %r9, 6; st.relaxed.gpu.global.v4.u32 [%rd1], {%r9, %r9, %r9, %r9};"),
            Fault::None);
  EXPECT_EQ(go("mov.u32 %r9, 6; st.relaxed.gpu.global.u32 [%rd1+8], %r9;"), Fault::None);
  EXPECT_EQ(go(""), Fault::MemoryFenceMissing);
}

// A slot that is filled again once it was read: that its reader comes back to it makes no flag of it.
TEST(RunLateWords, ASlotThatIsReadInEachRoundIsNoFlag) {
  const auto go = [](const std::string& between_stores, const std::string& between_loads) {
    const std::string rounds = "add.u32 %r9, %r9, 1; setp.le.u32 %p3, %r9, 3; @%p3 bra ";
    const std::string writer =
        "mov.u32 %r9, 1;\nFILL: add.u32 %r8, %r9, 4; st.volatile.global.u32 [%rd1], %r8;" +
        between_stores +
        "st.volatile.global.u32 [%rd1+64], %r9;\nFREE: ld.volatile.global.u32 %r7, [%rd1+128];"
        "setp.lt.u32 %p2, %r7, %r9; @%p2 bra FREE;" +
        fence + rounds + "FILL;";
    const std::string reader =
        "mov.u32 %r9, 1;\nFULL: ld.volatile.global.u32 %r7, [%rd1+64];"
        "setp.lt.u32 %p2, %r7, %r9; @%p2 bra FULL;" +
        between_loads +
        "ld.volatile.global.u32 %r8, [%rd1]; mul.wide.u32 %rd4, %r9, 4; add.u64 %rd4, %rd1, %rd4;"
        "st.global.u32 [%rd4+512], %r8;" +
        fence + "st.volatile.global.u32 [%rd1+128], %r9;" + rounds + "FULL;";
    return found_in_ctas({writer, reader});
  };
  EXPECT_EQ(go(fence, fence), Fault::None);
  EXPECT_EQ(go("", fence), Fault::MemoryFenceMissing);
  EXPECT_EQ(go(fence, ""), Fault::MemoryFenceMissing);
}

// A Fault may come of it as well as other bits.
TEST(RunLateWords, AnAddressThatIsFoundLateEndsThere) {
  const std::string place = "mul.wide.u32 %rd4, %r8, 4; add.u64 %rd4, %rd1, %rd4;";
  const std::string reader = poll(64, "ld.volatile.global") +
                             "ld.volatile.global.u32 %r8, [%rd1]; sub.u32 %r8, %r8, 1;" + place +
                             "ld.global.u32 %r5, [%rd4+256];";
  const std::string writer = store(0, "st.volatile.global", 2) + store(64, "st.volatile.global");
  EXPECT_EQ(found_in_ctas({writer, reader}), Fault::MemoryFenceMissing);
}

// --- drawn: a chain of CTAs, each of which waits for the one before ----------------------------------

// An access to the flag at {}, or a fence, and what it is.
struct Said {
  const char* text;
  bool acquires = false, releases = false;
};
constexpr Said looks[] = {{"ld.relaxed.gpu.global.u32 %r7, [%rd1+{}];"},
                          {"ld.volatile.global.u32 %r7, [%rd1+{}];"},
                          {"ld.relaxed.sys.global.u32 %r7, [%rd1+{}];"},
                          {"atom.relaxed.gpu.global.or.b32 %r7, [%rd1+{}], 0;"},
                          {"ld.acquire.gpu.global.u32 %r7, [%rd1+{}];", true},
                          {"ld.acquire.sys.global.u32 %r7, [%rd1+{}];", true},
                          {"atom.acquire.gpu.global.or.b32 %r7, [%rd1+{}], 0;", true}};
constexpr Said fences[] = {{""},
                           {"membar.cta;"},
                           {"fence.acq_rel.cta;"},
                           {"fence.acquire.gpu;", true, false},
                           {"fence.release.gpu;", false, true},
                           {"fence.acq_rel.gpu;", true, true},
                           {"membar.gl;", true, true},
                           {"fence.sc.sys;", true, true}};
constexpr Said raises[] = {{"st.relaxed.gpu.global.u32 [%rd1+{}], 1;"},
                           {"st.volatile.global.u32 [%rd1+{}], 1;"},
                           {"st.relaxed.sys.global.u32 [%rd1+{}], 1;"},
                           {"atom.relaxed.gpu.global.exch.b32 %r9, [%rd1+{}], 1;"},
                           {"red.relaxed.gpu.global.add.u32 [%rd1+{}], 1;"},
                           {"st.release.gpu.global.u32 [%rd1+{}], 1;", false, true},
                           {"atom.release.gpu.global.exch.b32 %r9, [%rd1+{}], 1;", false, true},
                           {"red.release.gpu.global.add.u32 [%rd1+{}], 1;", false, true}};

std::string at(const Said& said, std::size_t flag) {
  return fmt::format(fmt::runtime(said.text), 64 * flag);
}

// The first CTA stores words, the last one loads them in another order. They are in order exactly where each hand-over on
// the way is a release and an acquire; each word may be found late where one is not.
TEST(RunLateWords, DrawnChainsAreInOrderWhereEachLinkIs) {
  std::mt19937 random(static_cast<unsigned>(number_or("TCQ_SEED", 1)));
  const auto one_of = [&](const auto& some) -> const Said& {
    return some[random() % std::size(some)];
  };
  std::uint64_t in_order = 0;
  const std::uint64_t rounds = number_or("TCQ_PROBLEMS", effort(400));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::size_t ctas = 2 + random() % 3;
    bool all = true;
    std::vector<std::string> bodies;
    for (std::size_t cta = 0; cta < ctas; ++cta) {
      const Said &look = one_of(looks), &between = one_of(fences), &raise = one_of(raises);
      std::string body;
      if (cta == 0) {
        body += store(0, "st.volatile.global", 5) + store(8, "st.relaxed.gpu.global", 6);
      } else {
        body += fmt::format("LOOK{0}: {1}\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra LOOK{0};\n", cta,
                            at(look, cta));
        all = all && (look.acquires || between.acquires);
      }
      body += between.text + std::string("\n");
      if (cta + 1 < ctas) {
        body += at(raise, cta + 1) + "\n";
        all = all && (raise.releases || between.releases);
      } else {
        body += use(8, "ld.relaxed.gpu.global") + use(0, "ld.volatile.global");
      }
      bodies.push_back(body);
    }
    in_order += all ? 1u : 0u;
    EXPECT_EQ(found_in_ctas(bodies), all ? Fault::None : Fault::MemoryFenceMissing)
        << fmt::format("{}", fmt::join(bodies, "\n--\n"));
  }
  EXPECT_GT(in_order, rounds / 20);
  EXPECT_LT(in_order, rounds - rounds / 20);
}

}  // namespace
}  // namespace tcq::tests
