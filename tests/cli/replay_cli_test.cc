// `tcq run` of all clusters at once, and of schedules that it wrote: findings that come again, files that are not right.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/run_cli.h"

namespace tcq::tests {
namespace {

// --- all clusters at once ----------------------------------------------------------------------------

// CTA `writer` stores 7 to words[0] and raises a flag; another one waits for that and stores what it reads to words[4].
std::string handed_on(const std::string& writer, const std::string& release) {
  return head() + R"(.visible .entry handed(.param .u64 words)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p2, %r2, )" +
         writer + R"(;
  @%p2 bra look;
  mov.u32 %r3, 7;
  st.global.u32 [%rd1], %r3;
)" + release +
         R"(
  atom.global.exch.b32 %r4, [%rd1+32], 1;
  bra done;
look:
  ld.acquire.gpu.global.u32 %r5, [%rd1+32];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra look;
  ld.global.u32 %r6, [%rd1];
  st.global.u32 [%rd1+16], %r6;
done:
  ret;
}
)";
}

class TogetherCli : public RunCli {
 protected:
  Finished hand_on(const std::string& writer, const std::string& release,
                   std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {write("handed.ptx", handed_on(writer, release)),
                                    "--grid",
                                    "2",
                                    "--block",
                                    "32",
                                    "--arg",
                                    "words=zeros:u32:16"};
    all.insert(all.end(), more.begin(), more.end());
    return ask(all);
  }
};
const char* const released = "fence.acq_rel.gpu;";

// One after the other nothing shows, whoever comes first.
TEST_F(TogetherCli, AMissingFenceBetweenCtasIsFoundAndComesAgain) {
  const Finished right = hand_on("0", released);
  EXPECT_EQ(right.status, 0) << right.out;
  EXPECT_NE(right.out.find("of 2 of 2 clusters, and in 2 of all at once"), std::string::npos)
      << right.out;
  const Finished wrong = hand_on("0", "", {"--json"});
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  const auto first = nlohmann::json::parse(wrong.out);
  ASSERT_EQ(first["findings"].size(), 1u);
  EXPECT_EQ(first["findings"][0]["name"], "DataRace");
  EXPECT_EQ(first["findings"][0]["cluster"], 2);
  EXPECT_NE(std::string(first["findings"][0]["fix"]).find("in another CTA"), std::string::npos);
  const Finished again = hand_on("0", "", {"--json", "--replay", write("found.json", wrong.out)});
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["findings"], first["findings"]);
  // A sample of clusters is no whole grid.
  EXPECT_EQ(hand_on("0", "", {"--sample", "1"}).status, 0);
}

// Thread 0 of each of two CTAs counts itself, and then `body`.
std::string counted(const std::string& body) {
  return head() + R"(.visible .entry counted(.param .u64 words)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  atom.global.add.u32 %r3, [%rd1+32], 1;
)" + body +
         R"(
done:
  ret;
}
)";
}

// Results that the order of the CTAs decides are a suspicion, and hide neither a race nor another suspicion.
TEST_F(TogetherCli, ResultsThatDependOnTheOrderAreSuspect) {
  const auto run = [&](const std::string& body) {
    return ask({write("counted.ptx", counted(body)), "--grid", "2", "--block", "32", "--explore",
                "20", "--arg", "words=zeros:u32:16", "--json"});
  };
  const std::string appends =
      "mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+40], %r2;";
  const std::string looks = "ld.volatile.global.u32 %r4, [%rd1+32]; st.global.u32 [%rd2+40], %r4;";
  for (const std::string& body : {appends, looks}) {
    const Finished done = run(body);
    EXPECT_EQ(done.status, 0) << done.out;
    const auto answer = nlohmann::json::parse(done.out);
    ASSERT_EQ(answer["suspicions"].size(), 1u) << done.out;
    EXPECT_EQ(answer["suspicions"][0]["name"], "ResultsDiffer");
    EXPECT_EQ(answer["suspicions"][0]["severity"], "suspect");
    EXPECT_EQ(answer["executions_together"], 22);
    EXPECT_NE(done.out.find("the first at words[1"), std::string::npos) << done.out;
  }
  EXPECT_EQ(nlohmann::json::parse(run("").out)["suspicions"].size(), 0u);
  const Finished wrong = run(appends + "st.global.u32 [%rd1+60], %r2;");
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["findings"][0]["name"], "DataRace") << wrong.out;
}

// The warps of each CTA decide about one array, the CTAs about both: of the second one it is said, too.
TEST_F(TogetherCli, OneArrayThatDiffersHidesNoOther) {
  const std::string text = head() + R"(.visible .entry both(.param .u64 inner, .param .u64 outer)
{
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [inner];
  ld.param.u64 %rd2, [outer];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra done;
  mad.wide.u32 %rd3, %r2, 16, %rd1;
  atom.global.add.u32 %r4, [%rd3], 1;
  mad.wide.u32 %rd4, %r4, 4, %rd3;
  st.global.u32 [%rd4+4], %r1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra done;
  atom.global.add.u32 %r5, [%rd2], 1;
  mad.wide.u32 %rd5, %r2, 4, %rd2;
  ld.volatile.global.u32 %r6, [%rd2];
  st.global.u32 [%rd5+4], %r6;
  mad.wide.u32 %rd6, %r2, 4, %rd1;
  st.global.u32 [%rd6+40], %r6;
done:
  ret;
}
)";
  const Finished done =
      ask({write("both.ptx", text), "--grid", "2", "--block", "64", "--explore", "20", "--arg",
           "inner=zeros:u32:16", "--arg", "outer=zeros:u32:16", "--json"});
  EXPECT_EQ(done.status, 0) << done.err;
  const auto answer = nlohmann::json::parse(done.out);
  ASSERT_EQ(answer["suspicions"].size(), 2u) << done.out;
  const std::string within = answer["suspicions"][0]["what"];
  const std::string between = answer["suspicions"][1]["what"];
  EXPECT_NE(within.find("the first at inner["), std::string::npos) << within;
  EXPECT_NE(between.find("the first at outer["), std::string::npos) << between;
  EXPECT_NE(between.find("the CTAs come to their atomics"), std::string::npos) << between;
}

TEST_F(TogetherCli, ACtaMayWaitForALaterOne) {
  const std::string out = folder_.file("x.npy");
  const Finished right = hand_on("1", released, {"--out", "words=" + out});
  EXPECT_EQ(right.status, 0) << right.out;
  EXPECT_NE(right.out.find("executions of all 2 clusters at once"), std::string::npos) << right.out;
  std::ifstream in(out, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GE(bytes.size(), 64u);
  EXPECT_EQ(bytes[bytes.size() - 64 + 16], 7);
  EXPECT_EQ(hand_on("1", "").status, 1);
  EXPECT_EQ(hand_on("1", released, {"--sample", "1"}).status, 3);
}

// --- --replay ----------------------------------------------------------------------------------------

// Each CTA counts itself in words[8]. Warp 0 looks once whether warp 1 has arrived, which takes four steps more than the
// look: only a warp 1 that runs far ahead is seen. Then `seen` happens.
std::string ahead(const std::string& seen) {
  return head() + R"(.visible .entry ahead(.param .u64 words)
{
  .shared .align 8 .b64 other;
  .shared .align 8 .b64 ready;
  .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  setp.eq.u32 %p1, %r1, 32;
  setp.eq.u32 %p2, %r1, 0;
  setp.eq.u32 %p3, %r2, 2;
  mov.u32 %r3, ready;
  @%p1 mbarrier.init.shared::cta.b64 [ready], 1;
  @%p1 mbarrier.init.shared::cta.b64 [other], 1;
  bar.sync 0;
  @!%p1 bra look;
  red.global.add.u32 [%rd1+32], 1;
  mbarrier.test_wait.parity.shared::cta.b64 %p5, [other], 0;
  mbarrier.test_wait.parity.shared::cta.b64 %p5, [other], 0;
  mbarrier.arrive.shared::cta.b64 _, [ready];
  ret;
look:
  @!%p2 bra done;
  mbarrier.test_wait.parity.shared::cta.b64 %p6, [ready], 0;
  @!%p6 bra done;
)" + seen +
         "\ndone:\n  ret;\n}\n";
}
const char* const outside = "@%p3 st.global.u32 [%rd1+4096], %r1;";
const char* const differing = "@%p3 st.global.u32 [%rd2], 32;";

class ReplayCli : public RunCli {
 protected:
  std::vector<std::string> words(const std::string& file,
                                 std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {
        file, "--grid", "4", "--block", "64", "--arg", "words=zeros:u32:16"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // The answer of an exploration that finds something, in a file.
  std::string found(const std::string& kernel_file, int status = 1) const {
    const Finished done = ask(words(kernel_file, {"--explore", "200", "--seed", "5", "--json"}));
    EXPECT_EQ(done.status, status) << done.out << done.err;
    return write("found.json", done.out);
  }
  static nlohmann::json read(const std::string& path) {
    return nlohmann::json::parse(std::ifstream(path));
  }
};

TEST_F(ReplayCli, AFindingOfExploredOrdersComesAgain) {
  const std::string file = write("ahead.ptx", ahead(outside));
  EXPECT_EQ(ask(words(file)).status, 0);
  const std::string schedule = found(file);
  const nlohmann::json first = read(schedule);
  ASSERT_EQ(first["findings"].size(), 1u);
  EXPECT_EQ(first["findings"][0]["name"], "GlobalOutOfRange");
  EXPECT_EQ(first["findings"][0]["cluster"], 2);
  EXPECT_EQ(first["replayed"], false);
  const std::string out = folder_.file("x.npy");
  const Finished done = ask(words(file, {"--replay", schedule, "--json", "--out", "words=" + out}));
  EXPECT_EQ(done.status, 1) << done.err;
  const nlohmann::json again = nlohmann::json::parse(done.out);
  EXPECT_EQ(again["findings"], first["findings"]);  // with its schedule
  EXPECT_EQ(again["replayed"], true);
  EXPECT_EQ(again["executions"], 3);  // of clusters 0, 1 and 2
  EXPECT_EQ(again["written"].size(), 0u);
  EXPECT_FALSE(std::ifstream(out).good());
  // The schedule alone, the first of several, the same text under another name, with --kernel, from a spec.
  const std::string alone = write("alone.json", first["findings"][0]["schedule"].dump(2));
  const std::string copy = write("copy.ptx", ahead(outside));
  const std::string spec =
      write("spec.json", R"({"file": ")" + copy +
                             R"(", "grid": 4, "block": 64, "args": ["words=zeros:u32:16"]})");
  for (const auto& asked : {words(file, {"--replay", alone}),
                            words(copy, {"--replay", schedule}),
                            words(file, {"--replay", schedule + ":1", "--kernel", "ahe"}),
                            {"--spec", spec, "--replay", schedule}}) {
    const Finished same = ask(asked);
    EXPECT_EQ(same.status, 1) << same.err;
    EXPECT_NE(same.out.find("ahead: undefined, replayed\n"), std::string::npos) << same.out;
    EXPECT_NE(same.out.find("undefined GlobalOutOfRange\n"), std::string::npos) << same.out;
    EXPECT_EQ(same.out.find("repeat it"), std::string::npos) << same.out;
  }
  EXPECT_NE(ask(words(file, {"--explore", "200", "--seed", "5"})).out.find("--replay FILE"),
            std::string::npos);
}

// They are suspect, no more: nothing that PTX leaves open is behind them. The arrays are those of the execution that
// differs: cluster 3 has not run, words[2] is written.
TEST_F(ReplayCli, BitsThatDifferAreWritten) {
  const std::string file = write("ahead.ptx", ahead(differing));
  const std::string usual = folder_.file("usual.npy");
  EXPECT_EQ(ask(words(file, {"--out", "words=" + usual})).status, 0);
  const std::string schedule = found(file, 0);
  const nlohmann::json first = read(schedule);
  EXPECT_EQ(first["findings"].size(), 0u);
  ASSERT_EQ(first["suspicions"].size(), 1u);
  EXPECT_EQ(first["suspicions"][0]["name"], "ResultsDiffer");
  EXPECT_EQ(first["suspicions"][0]["severity"], "suspect");
  EXPECT_NE(std::string(first["suspicions"][0]["what"]).find("the first at words["),
            std::string::npos)
      << first["suspicions"][0]["what"];
  EXPECT_EQ(first["clusters_run"], 4);
  std::string bytes[2];
  for (std::string& once : bytes) {
    const std::string out = folder_.file("out.npy");
    const Finished done = ask(words(file, {"--replay", schedule, "--out", "words=" + out}));
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_NE(done.out.find("suspect ResultsDiffer"), std::string::npos) << done.out;
    std::ifstream in(out, std::ios::binary);
    once.assign(std::istreambuf_iterator<char>(in), {});
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  ASSERT_GT(bytes[0].size(), 64u);
  const auto word = [](const std::string& npy, std::size_t i) {
    return static_cast<int>(npy[npy.size() - 64 + 4 * i]);
  };
  EXPECT_EQ(word(bytes[0], 2), 32);
  EXPECT_EQ(word(bytes[0], 8), 3);
  std::ifstream in(usual, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(word(all, 2), 0);
  EXPECT_EQ(word(all, 8), 4);
}

// Of --sample 2 of 4 clusters, 0 and 2 run.
TEST_F(ReplayCli, AScheduleKnowsWhichClustersRanBefore) {
  const std::string file = write("ahead.ptx", ahead(differing));
  const Finished done =
      ask(words(file, {"--explore", "200", "--seed", "9", "--sample", "2", "--json"}));
  ASSERT_EQ(done.status, 0) << done.out;
  const Finished again = ask(words(file, {"--replay", write("sampled.json", done.out), "--json"}));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["clusters_run"], 2);
}

TEST_F(ReplayCli, AScheduleOfAnotherRunIsRefused) {
  const std::string file = write("ahead.ptx", ahead(outside));
  const std::string schedule = found(file);
  const std::string changed = write("changed.ptx", ahead(differing));
  expect_usage(words(changed, {"--replay", schedule}), "the file of the kernel has another text");
  const auto with = [&](const char* grid, const char* block, const char* arg) {
    return std::vector<std::string>{file,    "--grid", grid,       "--block", block,
                                    "--arg", arg,      "--replay", schedule};
  };
  expect_usage(with("5", "64", "words=zeros:u32:16"), "its launch is 'grid 4,1,1 block 64,1,1");
  expect_usage(with("4", "96", "words=zeros:u32:16"), "another run");
  expect_usage(with("4", "64", "words=nan:u32:16"), "its arguments are others");
  expect_usage(words(file, {"--cluster", "1", "--replay", schedule}), "cluster none shared 0");
  expect_usage(with("4", "64", "words=zeros:u32:32"), "its arguments are others");
  const std::string renamed = ahead(outside);
  std::string other = renamed;
  other.replace(other.find("entry ahead"), 11, "entry a_row");
  expect_usage(words(write("renamed.ptx", other), {"--replay", schedule}),
               "of kernel 'ahead', not 'a_row'");
}

TEST_F(ReplayCli, DamagedFilesOfSchedulesAreSentences) {
  const std::string file = write("ahead.ptx", ahead(outside));
  const std::string schedule = found(file);
  std::ifstream in(schedule);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto refused = [&](const std::string& damaged, const std::string& part) {
    expect_usage(words(file, {"--replay", write("damaged.json", damaged)}), part);
  };
  for (std::size_t size = 0; size < text.size() - 2; size += text.size() / 20)
    refused(text.substr(0, size), "damaged.json: is no JSON object, or not a whole one");
  std::string changed = text;
  const std::size_t step = changed.find("\"steps\":\"w") + 10;
  changed[step] = changed[step] == '0' ? '1' : '0';
  refused(changed, "its checksum is another one");
  refused("{\"findings\":[]}", "has no finding");
  refused("\x7f\x45LF", "is no JSON object");
  expect_usage(words(file, {"--replay", folder_.file("none.json")}), "none.json");
  expect_usage(words(file, {"--replay", folder_.file("")}), "is a directory");
  expect_usage(words(file, {"--replay", schedule + ":2"}), "has 1 finding: there is no number 2");
  expect_usage(words(file, {"--replay", schedule + ":0"}), "counted from 1");
  expect_usage(words(file, {"--replay", ""}), "empty value");
}

TEST_F(ReplayCli, WhatChoosesExecutionsCannotStandBesideASchedule) {
  const std::string file = write("ahead.ptx", ahead(outside));
  const std::string schedule = found(file);
  for (const std::string option : {"--explore", "--seed", "--sample", "--limit"})
    expect_usage(words(file, {"--replay", schedule, option, "3"}), option + " cannot stand beside");
  for (const std::string option : {"--coverage", "--list"})
    expect_usage(words(file, {"--replay", schedule, option}),
                 option + " cannot stand beside --replay");
}

}  // namespace
}  // namespace tcq::tests
