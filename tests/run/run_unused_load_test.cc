// Loads that race: what uses their values is the race, with both statements; what nobody uses is silent.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// A way for a value of warp 0 to race: its lanes have it in %r5 behind `load`.
struct Source {
  const char* name;
  Fault fault;
  std::string before, load, store;  // warp 0's; `store` as it stands in `before` or `others`
  std::string others;               // warp 1's
  std::string after = "";           // warp 0's, behind the use
};

// Thread t has 16 bytes of x in [%r4], of global memory behind [%rd5] and [%rd6]; [%r4+1024] and [%rd2] are its own.
std::string body(const Source& s, const std::string& use) {
  return R"(
    .shared .align 128 .b8 x[2048];
    .shared .align 8 .b64 full;
    .local .align 4 .b8 own[16];
    mov.u32 %r3, x;
    mov.u32 %r11, full;
    and.b32 %r9, %r1, 31;
    mad.lo.u32 %r4, %r9, 16, %r3;
    mad.wide.u32 %rd5, %r9, 16, %rd1;
    add.u64 %rd5, %rd5, 1024;
    add.u64 %rd6, %rd5, 1024;
    mov.u32 %r10, 1;
    mov.u32 %r12, 0;
    setp.lt.u32 %p1, %r1, 32;
    setp.eq.u32 %p3, %r9, 0;
    @%p1 st.shared.v4.u32 [%r4], {%r10, %r10, %r10, %r10};
    @%p1 st.shared.v4.u32 [%r4+1024], {%r10, %r10, %r10, %r10};
    setp.eq.u32 %p4, %r1, 0;
    @%p4 mbarrier.init.shared.b64 [%r11], 1;
    @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 512;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    bar.sync 0;
    mapa.shared::cluster.u32 %r13, %r4, %r12;
    mapa.shared::cluster.u32 %r14, %r11, %r12;
    @!%p1 bra OTHERS;
)" + s.before +
         "\n" + s.load + "\n" + use + "\n" + s.after + "\nbra END;\nOTHERS:\n" + s.others +
         "\nEND:\n";
}

constexpr const char* ld = "ld.shared.u32 %r5, [%r4];";
constexpr const char* wait_for_copies = "cp.async.wait_all;";
constexpr const char* wait_for_phase =
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [%r11], 0;\n@!%p5 bra WAIT;";

std::vector<Source> sources() {
  const std::string st = "st.shared.u32 [%r4], %r1;", cp = "cp.async.ca.shared.global";
  const std::string copy = cp + " [%r4], [%rd5], 16;\n";
  const std::string met = "bar.sync 1, 64;";
  return {
      {"another thread's store", Fault::DataRace, "", ld, "st.shared", st},
      {"a store to global memory", Fault::DataRace, "", "ld.global.u32 %r5, [%rd6];", "st.global",
       "st.global.u32 [%rd6], %r1;"},
      {"of vectors", Fault::DataRace, "", "ld.shared.v4.u32 {%r6, %r5, %r7, %r8}, [%r4];",
       "st.shared", "st.shared.u32 [%r4+4], %r1;"},
      {"of bytes", Fault::DataRace, "", "ld.shared.u8 %r5, [%r4+2];", "st.shared", st},
      {"ldmatrix", Fault::DataRace, "", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];",
       "st.shared", st},
      {"a lane's store", Fault::LaneRace, "st.shared.u32 [%r4], %r1;\nxor.b32 %r8, %r4, 16;",
       "ld.shared.u32 %r5, [%r8];", "st.shared", ""},
      {"its own cp.async", Fault::CopyInFlight, copy, ld, cp, "", wait_for_copies},
      {"its own cp.async, committed", Fault::CopyInFlight,
       copy + "cp.async.commit_group;\ncp.async.wait_group 1;", ld, cp, "", wait_for_copies},
      {"a lane's cp.async", Fault::CopyInFlight, copy + "xor.b32 %r8, %r4, 16;",
       "ld.shared.u32 %r5, [%r8];", cp, "", wait_for_copies},
      {"ldmatrix of cp.async", Fault::CopyInFlight, copy,
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];", cp, "", wait_for_copies},
      {"another warp's cp.async", Fault::CopyInFlight, met, ld, cp,
       copy + met + "bar.sync 3, 64;" + wait_for_copies, "bar.sync 3, 64;"},
      {"st.async", Fault::DataRace, met, ld, "st.async",
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r13], {%r1, %r1, %r1, %r1}, "
       "[%r14];\n" +
           met,
       wait_for_phase},
      {"a bulk copy", Fault::CopyInFlight, met, ld, "@%p3 cp.async.bulk",
       "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd5], 512, "
       "[%r11];\n" +
           met,
       wait_for_phase},
  };
}

const std::vector<std::string>& uses() {
  static const std::vector<std::string> all = {
      "st.global.u32 [%rd2], %r5;",
      "st.shared.u32 [%r4+1024], %r5;",
      "add.u32 %r6, %r5, 1; st.global.u32 [%rd2], %r6;",
      "setp.eq.u32 %p2, %r5, 9; @%p2 bra SKIP; st.global.u32 [%rd2], 1; SKIP:",
      "setp.eq.u32 %p2, %r5, 9; @%p2 st.global.u32 [%rd2], 1;",
      "setp.eq.u32 %p2, %r5, 9; selp.u32 %r6, 1, 2, %p2; st.global.u32 [%rd2], %r6;",
      "and.b32 %r6, %r5, 4; add.u32 %r6, %r6, %r4; ld.shared.u32 %r7, [%r6+1024];",
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r6, %r7}, {%r5, %r5}, {%r12}, {%r12, "
      "%r12};",
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r6, %r7}, {%r12, %r12}, {%r12}, {%r5, "
      "%r12};",
      "atom.shared.add.u32 %r6, [%r4+1024], %r5;",
      "red.global.add.u32 [%rd2], %r5;",
      "shfl.sync.bfly.b32 %r6, %r5, 1, 31, 0xffffffff; st.global.u32 [%rd2], %r6;",
      "shfl.sync.idx.b32 %r6, %r12, %r5, 31, 0xffffffff;",
      "setp.eq.u32 %p2, %r5, 9; vote.sync.ballot.b32 %r6, %p2, 0xffffffff;",
      "st.local.u32 [own], %r5; ld.local.u32 %r6, [own]; st.global.u32 [%rd2], %r6;",
      "setp.eq.u32 %p2, %r5, 9; @%p2 bra SUM; add.u32 %r12, %r12, 1; SUM: st.global.u32 [%rd2], "
      "%r12;",
      "cvt.u64.u32 %rd7, %r5; shl.b64 %rd7, %rd7, 8; st.global.u64 [%rd6+8], %rd7;",
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4+1024], {%r5};",
      "setp.eq.u32 %p2, %r5, 9; @%p2 bra END;\nbar.sync 2, 32;",
  };
  return all;
}

const std::vector<std::string>& no_uses() {
  static const std::vector<std::string> all = {
      "",
      "add.u32 %r6, %r5, 1; mul.lo.u32 %r6, %r6, %r5;",
      "mov.u32 %r5, 3; st.global.u32 [%rd2], %r5;",
      "setp.lt.u32 %p2, %r1, 64; selp.u32 %r6, 7, %r5, %p2; st.global.u32 [%rd2], %r6;",
      "setp.ge.u32 %p2, %r1, 64; @%p2 mov.u32 %r12, %r5; st.global.u32 [%rd2], %r12;",
      "setp.ge.u32 %p2, %r1, 64; @%p2 st.global.u32 [%rd2], %r5;",
      "and.b32 %r6, %r5, %r12; st.global.u32 [%rd2], %r6;",
      "setp.eq.u32 %p2, %r5, 9; selp.u32 %r6, 1, 2, %p2;",
      "setp.eq.u32 %p2, %r5, 9; @%p2 bra SUM; add.u32 %r12, %r12, 1; SUM: st.global.u32 [%rd2], "
      "%r10;",
      "shfl.sync.bfly.b32 %r6, %r5, 1, 31, 0xffffffff;",
      "st.local.u32 [own], %r5; st.local.u32 [own], %r10; ld.local.u32 %r6, [own]; st.global.u32 "
      "[%rd2], %r6;",
      "ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2], %r5;",
  };
  return all;
}

struct Found {
  Fault fault = Fault::None;
  std::vector<std::string> statements;  // of the two that meet
  std::size_t suspicions = 0;
};

Found run_of(const std::string& text, std::uint32_t threads = 64) {
  PtxRun run(text);
  run.pass(run.array<std::uint32_t>(1024));
  Found found;
  found.fault = run.go({.block = {threads}, .explore = 2});
  found.suspicions = run.report().suspicions.size();
  if (const auto& finding = run.report().finding)
    for (const machine::Place& place : {finding->at, finding->earlier})
      if (place.statement >= 0)
        found.statements.push_back(run.kernel().texts[static_cast<std::size_t>(place.statement)]);
  return found;
}

bool has(const Found& found, std::string_view words) {
  return std::ranges::any_of(found.statements,
                             [&](const std::string& s) { return s.starts_with(words); });
}

TEST(RunUnusedLoad, WhatIsUsedIsARaceOfBothStatements) {
  for (const Source& source : sources())
    for (const std::string& use : uses()) {
      const Found found = run_of(kernel(body(source, use)));
      EXPECT_EQ(found.fault, source.fault) << source.name << ": " << use;
      EXPECT_TRUE(has(found, source.load.substr(0, source.load.find_first_of(" ."))))
          << source.name << ": " << use;
      EXPECT_TRUE(has(found, source.store)) << source.name << ": " << use;
    }
}

TEST(RunUnusedLoad, WhatNobodyUsesIsSilent) {
  for (const Source& source : sources())
    for (const std::string& rest : no_uses()) {
      const Found found = run_of(kernel(body(source, rest)));
      EXPECT_EQ(found.fault, Fault::None) << source.name << ": " << rest;
      EXPECT_EQ(found.suspicions, 0u) << source.name << ": " << rest;
    }
}

// Whoever reads otherwise than by ld or ldmatrix is not followed: its race stays one, used or not.
TEST(RunUnusedLoad, WhatIsNotFollowedStaysARace) {
  const std::string copy = "cp.async.ca.shared.global [%r4], [%rd5], 16;\n";
  const std::string st = "st.shared.u32 [%r4], %r1;";
  const Source rows[] = {
      {"volatile", Fault::CopyInFlight, copy, "ld.volatile.shared.u32 %r5, [%r4];", "", "",
       wait_for_copies},
      {"atom", Fault::AtomicRace, "", "atom.shared.add.u32 %r5, [%r4], 1;", "", st},
      {"cp.async", Fault::DataRace, "", "cp.async.ca.shared.global [%r4], [%rd6], 16;", "",
       "st.global.u32 [%rd6], %r1;", wait_for_copies},
  };
  for (const Source& row : rows)
    EXPECT_EQ(run_of(kernel(body(row, ""))).fault, row.fault) << row.name;
  // Two stores are a race of their own kind: disputed while nobody reads.
  const Source stores = {"stores", Fault::DataRace, "", "st.shared.u32 [%r4], 5;", "", st};
  PtxRun run(kernel(body(stores, "")));
  run.pass(run.array<std::uint32_t>(1024));
  EXPECT_EQ(run.go({.block = {64}}), Fault::None);
  ASSERT_FALSE(run.report().suspicions.empty());
  for (const machine::Finding& f : run.report().suspicions)
    EXPECT_EQ(f.fault, Fault::UnreadStoresRace) << info(f.fault).name;
}

const Source& plain() {
  static const Source source = sources().front();
  return source;
}

// The last round's value is dropped, or that of the round before is not.
TEST(RunUnusedLoad, OneRoundOfManyCounts) {
  const auto rounds = [](const std::string& first) {
    return kernel(
        body(plain(), "mov.u32 %r8, 0; mov.u32 %r7, " + first +
                          ";\nL: add.u32 %r8, %r8, %r12; ld.shared.u32 %r12, [%r4]; add.u32 "
                          "%r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 3; @%p2 bra L; st.global.u32 "
                          "[%rd2], %r8;"));
  };
  EXPECT_EQ(run_of(rounds("0")).fault, Fault::DataRace);
  EXPECT_EQ(run_of(rounds("2")).fault, Fault::None);
}

// What is left out hides no other race, and no second load of the same bytes.
TEST(RunUnusedLoad, AnotherIsNotExcused) {
  for (const char* other :
       {"ld.shared.u32 %r6, [%r4]; st.global.u32 [%rd2], %r6;",
        "st.shared.u32 [%r4], 5; ld.shared.u32 %r6, [%r4]; st.global.u32 [%rd2], %r6;",
        "ld.shared.u32 %r6, [%r4+2]; st.global.u32 [%rd2], %r6;"})
    EXPECT_NE(run_of(kernel(body(plain(), other))).fault, Fault::None) << other;
  // Behind a barrier it is another epoch.
  Source ordered = plain();
  ordered.others += "\nbar.sync 1, 64;";
  ordered.after = "bar.sync 1, 64;\nld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd2], %r6;";
  EXPECT_EQ(run_of(kernel(body(ordered, ""))).fault, Fault::None);
}

// Whether a lane's value is used, not whether that of another lane is; lanes from 20 on load what lane 19 stores.
TEST(RunUnusedLoad, LanesAreApart) {
  const auto clamped = [](int users) {
    return kernel(
        ".shared .align 16 .b8 x[128];\n"
        "mov.u32 %r3, x; min.u32 %r9, %r1, 19; mad.lo.u32 %r4, %r9, 4, %r3;\n"
        "setp.lt.u32 %p1, %r1, 20; setp.lt.u32 %p2, %r1, " +
        std::to_string(users) +
        ";\n@%p1 st.shared.u32 [%r4], 7; bar.sync 0; ld.shared.u32 %r5, [%r4];\n"
        "@%p2 st.global.u32 [%rd2], %r5; @%p1 st.shared.u32 [%r4], %r1;");
  };
  EXPECT_EQ(run_of(clamped(20), 32).fault, Fault::None);
  EXPECT_EQ(run_of(clamped(21), 32).fault, Fault::LaneRace);
}

// Many readers of the same bytes, each in several epochs: known after one round more.
TEST(RunUnusedLoad, ManyReadersOfOneByte) {
  const auto readers = [](const std::string& rest) {
    std::string loads;
    for (int i = 0; i < 20; ++i) loads += "ld.shared.u32 %r5, [x]; bar.warp.sync 0xffffffff;\n";
    return kernel(
        ".shared .align 16 .b8 x[128];\n"
        "setp.ge.u32 %p1, %r1, 480; setp.eq.u32 %p2, %r1, 0; @%p2 st.shared.u32 [x], 7;\n"
        "bar.sync 0; @%p1 bra LAST;\n" +
        loads + rest +
        "\nbra END;\nLAST: setp.eq.u32 %p2, %r1, 511; @%p2 st.shared.u32 [x], 8;\nEND:");
  };
  EXPECT_EQ(run_of(readers(""), 512).fault, Fault::None);
  EXPECT_EQ(run_of(readers("st.global.u32 [%rd2], %r5;"), 512).fault, Fault::DataRace);
}

}  // namespace
}  // namespace tcq::tests
