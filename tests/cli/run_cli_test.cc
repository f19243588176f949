// `tcq run` on real files: results that come back, findings, damaged PTX, arguments that do not fit.
#include "tests/cli/run_cli.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tcq::tests {
namespace {

// What a device demands of a launch by the kernel's own directives.
TEST_F(RunCli, ALaunchHasTheClusterThatTheKernelDemands) {
  const std::string body = R"((.param .u64 words)
DIRECTIVES
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
})";
  const auto ask_with = [&](const std::string& directives, std::vector<std::string> words) {
    std::string text = head() + ".visible .entry count" + body;
    text.replace(text.find("DIRECTIVES"), 10, directives);
    const std::string file = write("count.ptx", text);
    words.insert(words.begin(),
                 {"run", file, "--arg", "x=zeros:u32:4", "--out", "x=" + folder_.file("x.npy")});
    return run_tcq(words);
  };
  const auto refused = [&](const std::string& directives, std::vector<std::string> words,
                           const std::string& part) {
    const Finished done = ask_with(directives, std::move(words));
    EXPECT_EQ(done.status, 2) << done.out;
    EXPECT_NE(done.err.find(part), std::string::npos) << done.err;
  };
  const std::vector<std::string> four = {"--grid", "4", "--block", "32"};
  const auto four_with = [&](const std::string& name, const std::string& value) {
    std::vector<std::string> words = four;
    words.insert(words.end(), {name, value});
    return words;
  };
  const Finished done = ask_with(".reqnctapercluster 2, 1, 1", four);
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  std::ifstream in(folder_.file("x.npy"), std::ios::binary);
  const std::string array{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(array.substr(array.size() - 16), std::string("\2\0\0\0\2\0\0\0\2\0\0\0\2\0\0\0", 16));
  EXPECT_EQ(ask_with(".reqnctapercluster 2", four_with("--cluster", "2")).status, 0);
  refused(".reqnctapercluster 2, 1, 1", four_with("--cluster", "4"),
          "has .reqnctapercluster 2,1,1");
  refused(".reqnctapercluster 3, 1, 1", four, "no multiple");
  refused(".explicitcluster", four, "names no cluster");
  EXPECT_EQ(ask_with(".explicitcluster", four_with("--cluster", "1")).status, 0);
  refused(".maxclusterrank 2", four_with("--cluster", "4"), "has .maxclusterrank 2");
  refused(".reqntid 16, 2, 1", four, "has .reqntid 16,2,1");
  refused(".maxntid 4, 4, 1", four, "has .maxntid 4,4,1");
  EXPECT_EQ(ask_with(".maxntid 4, 8, 1", four).status, 0);
}

// One CTA that stores to itself: a device executes it where the launch names a cluster, if only of one.
TEST_F(RunCli, AClusterOfOneHasToBeNamed) {
  const auto file_with = [&](const std::string& directives) {
    return write("own.ptx", head() + ".visible .entry own(.param .u64 words)\n" + directives + R"(
{
  .shared .align 16 .b32 x;
  .shared .align 8 .b64 full;
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [words];
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 4;
  fence.mbarrier_init.release.cluster;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [x], 7, [full];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  ld.shared.u32 %r1, [x];
  st.global.u32 [%rd1], %r1;
  ret;
})");
  };
  const auto ask_with = [&](const std::string& directives, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "run", file_with(directives), "--arg", "x=zeros:u32:1", "--block", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tcq(words);
  };
  const Finished none = ask_with("", {"--grid", "1"});
  EXPECT_EQ(none.status, 1) << none.out << none.err;
  EXPECT_NE(none.out.find("illegal ClusterAttributeMissing"), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("say --cluster 1 to tcq run"), std::string::npos) << none.out;
  const Finished as_json = ask_with("", {"--grid", "1", "--json"});
  EXPECT_NE(as_json.out.find(R"("severity":"illegal")"), std::string::npos) << as_json.out;
  EXPECT_EQ(ask_with("", {"--grid", "1", "--cluster", "1"}).status, 0);
  EXPECT_EQ(ask_with(".reqnctapercluster 1, 1, 1", {"--grid", "1"}).status, 0);
  EXPECT_EQ(ask_with(".explicitcluster", {"--grid", "1", "--cluster", "1"}).status, 0);
  const std::string spec = folder_.file("own.json");
  const auto spec_with = [&](const std::string& keys) {
    std::ofstream(spec) << R"({"file": ")" << file_with("") << R"(", "grid": 1, "block": 1, )"
                        << keys << R"("args": ["x=zeros:u32:1"]})";
    return run_tcq({"run", "--spec", spec}).status;
  };
  EXPECT_EQ(spec_with(""), 1);
  EXPECT_EQ(spec_with(R"("cluster": 1, )"), 0);
}

// Each cluster leaves its number and 100 in the words of all those that it worked for.
std::string steal(const std::string& behind_no = "ret;") {
  std::string text = R"(.version 8.6
.target sm_100a
.address_size 64
.visible .entry steal(.param .u64 words)
{
  .shared .align 16 .b128 answer;
  .shared .align 8 .b64 full;
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .b128 %q;
  ld.param.u64 %rd1, [words];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  add.u32 %r4, %r2, 100;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
LOOP:
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd2, %rd1;
  @%p1 st.global.u32 [%rd2], %r4;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 16;
  @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], %r3;
  @!%p2 bra WAIT;
  ld.shared.b128 %q, [answer];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
  @!%p3 bra DONE;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r2, %q;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  xor.b32 %r3, %r3, 1;
  bra LOOP;
DONE:
  BEHIND
}
)";
  return text.replace(text.find("BEHIND"), 6, behind_no);
}

TEST_F(RunCli, ClustersThatBeginTakeOverOthers) {
  const std::string file = write("steal.ptx", steal()), out = folder_.file("x.npy");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {file, "--grid", "7", "--block", "32", "--arg", "x=zeros:u32:7",
                                 "--out", "x=" + out});
    return ask(std::move(words));
  };
  const auto workers = [&] {
    std::ifstream in(out, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    std::string who;
    for (std::size_t i = all.size() - 28; i < all.size(); i += 4)
      who += all[i] == 0 ? '-' : static_cast<char>('0' + all[i] - 100);
    return who;
  };
  const Finished all = run({});
  EXPECT_EQ(all.status, 0) << all.out << all.err;
  EXPECT_NE(all.out.find("try_cancel has always failed"), all.out.npos) << all.out;
  EXPECT_EQ(workers(), "0123456");
  const Finished two = run({"--resident", "2", "--explore", "3"});
  EXPECT_EQ(two.status, 0) << two.out << two.err;
  EXPECT_NE(two.out.find("executions of 2 of 7 clusters, which cancelled 5\n"), two.out.npos)
      << two.out;
  EXPECT_EQ(two.out.find("always failed"), two.out.npos) << two.out;
  EXPECT_EQ(workers(), "0101010");
  const Finished sample = run({"--resident", "1", "--sample", "3", "--json"});
  EXPECT_NE(sample.out.find(R"("clusters_run":1,"clusters_cancelled":2)"), sample.out.npos)
      << sample.out;
  EXPECT_EQ(workers(), "0-0-0--");
  expect_usage({file, "--grid", "7", "--block", "32", "--resident", "x"}, "--resident needs");
}

// What is repeated is the execution of a cluster that was handed the same ones.
TEST_F(RunCli, AFindingBehindANoIsRepeatedWithAsManyThatBegin) {
  const std::string file = write(
      "again.ptx",
      steal("@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
            ".b128 [answer], [full];\n  ret;"));
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {file, "--grid", "7", "--block", "32", "--arg", "x=zeros:u32:7"});
    return ask(std::move(words));
  };
  const Finished found = run({"--resident", "3", "--json"});
  EXPECT_EQ(found.status, 1) << found.out << found.err;
  EXPECT_NE(found.out.find("CancelAfterRefusal"), found.out.npos) << found.out;
  const std::string schedule = write("found.json", found.out);
  const Finished again = run({"--resident", "3", "--replay", schedule});
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  EXPECT_NE(again.out.find("undefined CancelAfterRefusal"), again.out.npos) << again.out;
  const Finished other = run({"--replay", schedule});
  EXPECT_EQ(other.status, 2) << other.out;
  EXPECT_NE(other.err.find("resident 3"), other.err.npos) << other.err;
}

TEST_F(RunCli, ARightKernelsArrayComesBack) {
  const std::string out = folder_.file("x.npy");
  const Finished first = ask({reverse(true), "--grid", "1", "--block", "64", "--arg",
                              "words=nan:u32:64", "--out", "words=" + out, "--explore", "3"});
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("nothing undefined in 5 executions of 1 of 1 cluster"),
            std::string::npos)
      << first.out;
  // A file that was written is read again.
  const Finished again =
      ask({reverse(true), "--grid", "1", "--block", "64", "--arg", out, "--json"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("\"findings\":[]"), std::string::npos) << again.out;
}

TEST_F(RunCli, AFindingHasStatusOneBothLinesAndWritesNothing) {
  const std::string out = folder_.file("x.npy");
  const Finished done = ask({reverse(false), "--grid", "1", "--block", "64", "--arg",
                             "words=zeros:u32:64", "--out", "words=" + out});
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_NE(done.out.find("undefined DataRace"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("reverse.ptx:23"), std::string::npos) << done.out;
  EXPECT_FALSE(std::ifstream(out).good());
}

TEST_F(RunCli, APictureSaysWhoWaitedForWhom) {
  const std::string kernel = source_file("docs/kernels/hand_over.ptx").string();
  const auto drawn = [&](const std::string& name) {
    const std::string picture = folder_.file(name);
    const Finished done = ask({kernel, "--grid", "1", "--block", "128", "--svg", picture});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_NE(done.out.find("wrote " + picture), std::string::npos) << done.out;
    std::ifstream in(picture);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string text = drawn("a.svg");
  std::size_t arrows = 0;
  for (std::size_t at = text.find("marker-end"); at != text.npos;
       at = text.find("marker-end", at + 1))
    ++arrows;
  EXPECT_EQ(arrows, 6u);  // three warps wait at the barrier, and at the mbarrier
  EXPECT_NE(text.find("mbarrier.arrive"), std::string::npos);
  EXPECT_EQ(text, drawn("b.svg"));
}

TEST_F(RunCli, APictureOfAFindingIsDrawnAndOneThatCannotBeIsRefused) {
  const std::string picture = folder_.file("x.svg");
  const Finished done = ask({reverse(false), "--grid", "1", "--block", "64", "--arg",
                             "words=zeros:u32:64", "--svg", picture});
  EXPECT_EQ(done.status, 1) << done.err;
  std::ifstream in(picture);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("DataRace"), std::string::npos);
  EXPECT_NE(text.find("tcq-bad\">"), std::string::npos);
  expect_usage({reverse(true), "--list", "--svg", picture}, "without --list");
  expect_usage({reverse(true), "--grid", "1", "--block", "64", "--arg", "words=zeros:u32:64",
                "--svg", folder_.file("no/x.svg")},
               "cannot be written");
}

TEST_F(RunCli, ASpecSaysTheSame) {
  const std::string spec =
      write("spec.json", "{\"file\": \"" + reverse(true) +
                             "\", \"kernel\": \"reverse\", \"grid\": [1], \"block\": 64, "
                             "\"args\": [\"words=zeros:u32:64\"], \"out\": {\"words\": \"" +
                             folder_.file("o.npy") + "\"}}");
  EXPECT_EQ(ask({"--spec", spec}).status, 0);
  EXPECT_TRUE(std::ifstream(folder_.file("o.npy")).good());
  expect_usage({"--spec", write("bad.json", "{\"grids\": 1}")}, "did you mean 'grid'?");
  expect_usage({"--spec", write("worse.json", "[1")}, "expected one JSON object");
}

// The words of the pair come from the text: a compiled kernel's program holds nothing else.
TEST_F(RunCli, APairOfTensorMemoryHasItsOwnNames) {
  const std::string file = write("pair.ptx", R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %r<9>; .reg .b64 %rd<4>; .shared .align 16 .b32 at;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 32;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
bar.sync 0;
ld.shared.u32 %r2, [at];
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r2];
tcgen05.wait::ld.sync.aligned;
st.global.u32 [%rd1], %r3;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
ret;
}
)");
  const Finished done = ask({file, "--grid", "1", "--block", "32", "--arg", "zeros:u32:32"});
  EXPECT_NE(done.out.find("st -> ld is not an ordered pair"), std::string::npos) << done.out;
}

TEST_F(RunCli, ArgumentsThatDoNotFitAreSentences) {
  const std::string file = reverse(true);
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {file, "--grid", "1", "--block", "64"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_usage(with({}), "0 arguments: the kernel has 1 parameters");
  expect_usage(with({"--arg", "1", "--arg", "2"}), "the kernel has 1 parameters");
  expect_usage(with({"--arg", "zeros:f33:4"}), "unknown element type 'f33'");
  expect_usage(with({"--arg", "zeros:f32:99999999999"}), "expected at most 2^30");
  expect_usage(with({"--arg", "map:x:box=1"}), "there is no array 'x' before it");
  expect_usage(with({"--arg", "no.npy"}), "no.npy");
  expect_usage(with({"--arg", "zeros:u32:64", "--out", "y=y.npy"}), "unknown array 'y'");
  expect_usage(with({"--arg", "x"}), "is no number");
  expect_usage({file, "--grid", "1"}, "--block is missing");
  expect_usage({file, "--grid", "0", "--block", "64"}, "at least 1");
  expect_usage({file, "--grid", "1", "--block", "2048"}, "at most 1024");
  expect_usage({file, "--grid", "1,65536", "--block", "64"}, "at most 2147483647,65535,65535");
  expect_usage({file, "--grid", "1,1,65536", "--block", "64"}, "at most 2147483647,65535,65535");
  expect_usage({file, "--grid", "1", "--block", "1,1,128"}, "at most 1024,1024,64");
  expect_usage({file, "--grid", "3", "--block", "64", "--cluster", "2"}, "no multiple");
  expect_usage({file, "--grid", "1", "--block", "64", "--kernel", "revers3"},
               "did you mean 'reverse'?");
  expect_usage({file, "--gird", "1"}, "--grid");
  expect_usage({file, "--grid", "2147483647,64", "--block", "64", "--arg", "zeros:u32:64"},
               "--sample");
}

// A parameter of bytes: numbers, a pointer and a tensor map at their alignments, as kernels' structs hold them.
TEST_F(RunCli, AStructIsWrittenMemberByMember) {
  const std::string file = write("struct.ptx", head() + R"(
.visible .entry k(.param .align 64 .b8 p[256])
{
  .shared .align 128 .b8 tile[64];
  .shared .align 8 .b64 full;
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u32 %r1, [p];
  ld.param.u64 %rd1, [p+8];
  mov.b64 %rd2, p;
  cvta.param.u64 %rd2, %rd2;
  add.s64 %rd2, %rd2, 64;
  mov.u32 %r2, tile;
  mov.u32 %r3, full;
  mov.u32 %r4, %tid.x;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra done;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
  cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r1}], [%r3];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
  @!%p2 bra wait;
  ld.shared.u32 %r5, [%r2];
  st.global.u32 [%rd1], %r5;
done:
  ret;
}
)");
  const std::string in = folder_.file("in.npy");
  const std::string out = folder_.file("out.npy");
  const auto with = [&](const std::string& members) {
    return std::vector<std::string>{file,
                                    "--grid",
                                    "1",
                                    "--block",
                                    "32",
                                    "--arg",
                                    "def:A=nan:u32:64",
                                    "--arg",
                                    "def:D=zeros:u32:1",
                                    "--arg",
                                    "struct:" + members,
                                    "--out",
                                    "D=" + out};
  };
  const Finished done = ask(with("s32=16+ptr=D+map=A:box=16"));
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  std::ifstream written(out, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(written), {}};
  ASSERT_GE(bytes.size(), 4u);
  EXPECT_NE(bytes.substr(bytes.size() - 4), std::string(4, '\0'));
  expect_usage(with("s32=16+ptr=D+map=A:box=16+map=A:box=16"),
               "member 'map=A:box=16' ends at byte 320: parameter p has 256");
  expect_usage(with("s32=16+ptr=D+pad=300"), "parameter p has 256");
  expect_usage(with("s32=16+what=D"), "expected TYPE=VALUE");
}

TEST_F(RunCli, AnArrayThatIsTooSmallIsAFinding) {
  const Finished done =
      ask({reverse(true), "--grid", "1", "--block", "64", "--arg", "zeros:u32:40"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("GlobalOutOfRange"), std::string::npos) << done.out;
}

TEST_F(RunCli, DamagedFilesAreSentences) {
  expect_usage({folder_.file("missing.ptx"), "--list"}, "cannot be read");
  expect_usage({write("empty.ptx", ""), "--grid", "1", "--block", "32"}, "has no kernel");
  expect_usage({write("noise.ptx", "\x7f\x45LF\x01\x02 kernel"), "--grid", "1", "--block", "32"},
               "noise.ptx");
}

TEST_F(RunCli, WhatIsNotModelledHasStatusThreeAndItsLine) {
  const std::string file =
      write("odd.ptx", head() + ".visible .entry k()\n{\nfrobnicate.b32 %r1, 2;\nret;\n}\n");
  const Finished done = ask({file, "--grid", "1", "--block", "32"});
  EXPECT_EQ(done.status, 3) << done.out;
  EXPECT_NE(done.out.find("frobnicate"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("PTX line 6"), std::string::npos) << done.out;
  EXPECT_EQ(ask({file, "--coverage"}).status, 0);
}

TEST_F(RunCli, WhatOfAKernelWasExecutedIsCounted) {
  const std::string file = write("ways.ptx", head() + R"(.visible .entry k()
{
.reg .pred %p; .reg .b32 %r;
mov.u32 %r, %ctaid.x;
setp.eq.u32 %p, %r, 0;
@%p bra END;
add.u32 %r, %r, 1;
add.u32 %r, %r, 1;
END: @!%p ret;
ret;
}
)");
  const auto ask_json = [&](const char* grid) {
    return ask({file, "--grid", grid, "--block", "32", "--json"}).out;
  };
  EXPECT_NE(ask_json("1").find(
                R"("kernel_instructions":7,"kernel_executed":4,"lines_not_executed":["10-12"])"),
            std::string::npos)
      << ask_json("1");
  EXPECT_NE(
      ask_json("2").find(R"("kernel_instructions":7,"kernel_executed":7,"lines_not_executed":[])"),
      std::string::npos);
}

// Of inlined code the lines up to the kernel's own, of both statements.
TEST_F(RunCli, AFindingNamesWhereInlinedCodeWasCalled) {
  const std::string file = write("inlined.ptx", head() + R"(.file 1 "src/kernel.cu"
.file 2 "lib/stage.h"
.file 3 "lib/word.h"
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
.shared .align 4 .b8 word[4];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
.loc 1 10 5
mov.u32 %r2, word;
.loc 2 20 3, function_name $put, inlined_at 1 10 5
.loc 3 30 1, function_name $set, inlined_at 2 20 3
st.shared.u32 [%r2], %r1;
.loc 1 11 5
.loc 3 31 1, function_name $get, inlined_at 1 11 5
ld.shared.u32 %r3, [%r2];
.loc 1 12 5
st.global.u32 [%rd1], %r3;
ret;
}
)");
  const std::vector<std::string> words = {file, "--grid", "1",           "--block",
                                          "64", "--arg",  "zeros:u32:64"};
  const Finished text = ask(words);
  EXPECT_EQ(text.status, 1) << text.out;
  EXPECT_NE(text.out.find("at word.h:30, inlined at stage.h:20, at kernel.cu:10 (kernel"),
            std::string::npos)
      << text.out;
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const std::string json = ask(as_json).out;
  EXPECT_NE(json.find(R"("word.h:30","stage.h:20","kernel.cu:10"])"), std::string::npos) << json;
}

// What is left of a text runs in no case as if it were the whole.
TEST_F(RunCli, AStatementThatCannotBeReadIsNotPassedOver) {
  const std::string text =
      head() + ".visible .entry k()\n{\n.reg .b32 %r<2>;\nadd.u32 %r1 2;\nret;\n}\n";
  const std::string file = write("unread.ptx", text);
  const Finished done = ask({file, "--grid", "1", "--block", "32"});
  EXPECT_EQ(done.status, 3) << done.out;
  EXPECT_NE(done.out.find("PTX line 7"), std::string::npos) << done.out;
  EXPECT_NE(ask({file, "--coverage"}).out.find("2 of 3 instructions"), std::string::npos);
  expect_usage({write("cut.ptx", text.substr(0, text.size() - 2)), "--grid", "1", "--block", "32"},
               "cut.ptx:9:1: expected '}', got the end of the text");
}

// Copies a box of 8 rows of 128 bytes, and what lies in shared memory then.
const char* const boxed = R"(.visible .entry boxed(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  .shared .align 1024 .b8 tile[1024];
  .shared .align 8 .b64 full;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r3, full;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra meet;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [%r3], 1024;
  mov.u32 %r4, 0;
  cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r4, %r4, %r4, %r4}], [%r3];
meet:
  bar.sync 0;
poll:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
  @!%p2 bra poll;
  shl.b32 %r5, %r1, 4;
  add.u32 %r6, %r2, %r5;
  cvt.u64.u32 %rd6, %r5;
  add.u64 %rd7, %rd3, %rd6;
  ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];
  st.global.v4.u32 [%rd7], {%r7, %r8, %r9, %r10};
  ret;
}
)";

// An array has as many dimensions as its map.
TEST_F(RunCli, ArraysHaveTheDimensionsOfMaps) {
  const std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 8, 128), }\n";
  std::string array("\x93NUMPY\x01\x00", 8);
  array += static_cast<char>(header.size());
  array += '\0' + header;
  for (int i = 0; i < 1024; ++i) array += static_cast<char>(i / 16);  // pieces of 16 bytes
  std::string for_sm100 = head();
  for_sm100.replace(for_sm100.find("sm_90a"), 6, "sm_100a");
  const std::string sm90 = write("boxed.ptx", head() + boxed);
  const std::string sm100 = write("boxed100.ptx", for_sm100 + boxed);
  const std::string x = write("x.npy", array);
  const std::string out = folder_.file("out.npy");
  const auto run = [&](const std::string& file, const std::string& map) {
    return std::vector<std::string>{
        file,    "--grid",       "1",     "--block",           "64",    "--arg",     "def:x=" + x,
        "--arg", "map:x:" + map, "--arg", "out=zeros:u8:1024", "--out", "out=" + out};
  };
  const auto piece = [&](const std::string& file, const std::string& map, int at) {
    const Finished done = ask(run(file, map));
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    std::ifstream in(out, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    return all.size() < 1024 ? -1 : static_cast<int>(all[all.size() - 1024 + 16 * at]);
  };
  EXPECT_EQ(piece(sm90, "swizzle=none:box=128,8,1,1", 9), 9);
  EXPECT_EQ(piece(sm90, "swizzle=128B:box=128,8,1,1", 9), 8);  // row 1: pieces XOR 1
  const std::string halves = "type=16U4_ALIGN8B:swizzle=128B:box=256,8,1,1";
  EXPECT_EQ(piece(sm100, halves, 9), 8);
  expect_usage(run(sm90, halves), "need compute capability 10.0");
  expect_usage(run(sm100, "type=U4:swizzle=128B:box=256,8,1,1"), "16U4_ALIGN8B");
}

TEST_F(RunCli, AnEndlessLoopEnds) {
  const std::string file = write(
      "loop.ptx",
      head() + ".visible .entry k()\n{\n.reg .b32 %r<2>;\na: add.u32 %r1, %r1, 1;\nbra a;\n}\n");
  const Finished done = ask({file, "--grid", "1", "--block", "32", "--limit", "100000"});
  EXPECT_EQ(done.status, 3) << done.out;
  EXPECT_NE(done.out.find("StepLimit"), std::string::npos) << done.out;
}

}  // namespace
}  // namespace tcq::tests
