// Reductions into shared memory of a CTA of the cluster, which an mbarrier counts: red.async and cp.reduce.async.bulk. The
// bytes that they make, and what is found where a wait, a fence or the first value is missing.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// Both CTAs of a pair reduce into CTA 0, whose threads wait and write what they find. A word of `x` per thread begins as 1000;
// `bytes` are expected.
std::string pair(const std::string& first, const std::string& reduce, int bytes,
                 const std::string& wait) {
  return kernel(R"(
    .shared .align 16 .b8 x[128];
    .shared .align 16 .b8 y[128];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r20, y;
    mov.u32 %r9, full;
    mov.u32 %r11, %cluster_ctarank;
    mov.u32 %r12, 0;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p4, %r11, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], )" +
                std::to_string(bytes) + R"(;
    fence.mbarrier_init.release.cluster;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    add.u32 %r21, %r20, %r3;
    mad.lo.u32 %r15, %r11, 100, %r1;
)" + first + R"(
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r13, %r4, %r12;
    mapa.shared::cluster.u32 %r14, %r9, %r12;
    mapa.shared::cluster.u32 %r16, %r2, %r12;
)" + reduce + "@!%p4 bra DONE;\n" +
                wait + R"(
    ld.shared.u32 %r7, [%r4];
    st.global.u32 [%rd2], %r7;
  DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
}

struct Reduced {
  Fault fault = Fault::None;
  bool is_order_open = false;
  std::vector<std::uint32_t> words;
};

Reduced run_pair(const std::string& text) {
  PtxRun run(text);
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  Reduced got;
  got.fault = run.go({.grid = {2}, .cluster = {2}, .explore = 20});
  got.words = run.read<std::uint32_t>(out, 32);
  for (const machine::Finding& suspicion : run.report().suspicions)
    got.is_order_open |= suspicion.fault == Fault::ReductionOrder;
  return got;
}

constexpr const char* first = "mov.u32 %r17, 1000;\nst.shared.u32 [%r4], %r17;\n";
constexpr const char* wait =
    "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0;\n"
    "@!%p3 bra WAIT;\n";

std::string red(const std::string& op, const std::string& value = "%r15") {
  return "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." + op +
         " [%r13], " + value + ", [%r14];\n";
}

TEST(RunReduceAsync, BothCtasReduceAndTheMbarrierCounts) {
  struct Row {
    const char* op;
    std::uint32_t (*want)(std::uint32_t lane);
  };
  for (const Row& row : {
           Row{"add.u32", [](std::uint32_t l) { return 1100 + 2 * l; }},
           Row{"min.s32", [](std::uint32_t l) { return l; }},
           Row{"max.u32", [](std::uint32_t) { return 1000u; }},
           Row{"xor.b32", [](std::uint32_t l) { return 1000u ^ l ^ (100 + l); }},
           Row{"or.b32", [](std::uint32_t l) { return 1000u | l | (100 + l); }},
           Row{"and.b32", [](std::uint32_t l) { return 1000u & l & (100 + l); }},
       }) {
    const Reduced got = run_pair(pair(first, red(row.op), 256, wait));
    ASSERT_EQ(got.fault, Fault::None) << row.op;
    for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(got.words[l], row.want(l)) << row.op << l;
  }
}

// They are relaxed operations: strong ones of other threads may meet them.
TEST(RunReduceAsync, AtomsMeetThem) {
  const std::string atom = "@%p4 atom.relaxed.cluster.shared.add.u32 %r18, [%r4], 5;\n";
  const Reduced got = run_pair(pair(first, red("add.u32") + atom, 256, wait));
  ASSERT_EQ(got.fault, Fault::None);
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(got.words[l], 1105 + 2 * l);
}

TEST(RunReduceAsync, WhatIsMissingIsFound) {
  const auto fault = [](const std::string& text) { return run_pair(text).fault; };
  EXPECT_EQ(fault(pair(first, red("add.u32"), 256, "")), Fault::CopyInFlight);
  EXPECT_EQ(fault(pair("", red("add.u32"), 256, wait)), Fault::SharedUninitialized);
  EXPECT_EQ(fault(pair(first, red("add.u32"), 260, wait)), Fault::Deadlock);
  EXPECT_EQ(fault(pair(first, red("add.u32") + "@%p4 st.shared.u32 [%r4], %r1;\n", 256, wait)),
            Fault::CopyInFlight);
}

// Of two CTAs that count, which came first shows only where their limits differ.
TEST(RunReduceAsync, OrderMattersToCountersWithOtherLimits) {
  const Reduced same = run_pair(pair(first, red("inc.u32", "5000"), 256, wait));
  EXPECT_EQ(same.fault, Fault::None);
  EXPECT_FALSE(same.is_order_open);
  EXPECT_EQ(same.words[7], 1002u);
  const Reduced other = run_pair(pair(first, red("inc.u32"), 256, wait));
  EXPECT_EQ(other.fault, Fault::ResultsDiffer);
  EXPECT_TRUE(other.is_order_open);
  const std::string mixed =
      "@%p4 bra ADD;\n" + red("xor.b32") + "bra BEHIND;\nADD:\n" + red("add.u32") + "BEHIND:\n";
  EXPECT_TRUE(run_pair(pair(first, mixed, 256, wait)).is_order_open);
}

TEST(RunReduceAsync, TypesThatDoNotExistAreNotModelled) {
  const std::string global =
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [%r13], "
      "%rd1, "
      "[%r14];\n";
  EXPECT_EQ(run_pair(pair(first, global, 256, wait)).fault, Fault::UnmodelledInstruction);
}

// --- cp.reduce.async.bulk --------------------------------------------------------------------------

constexpr const char* source = "st.shared.u32 [%r21], %r15;\n";
constexpr const char* fence = "fence.proxy.async.shared::cta;\n";

std::string bulk(const std::string& op = "add.u32") {
  return "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
         op + " [%r16], [%r20], 128, [%r14];\n";
}

TEST(RunReduceAsync, BulkReductionsOfBothCtasAdd) {
  const std::string filled = std::string(first) + source + fence;
  const Reduced got = run_pair(pair(filled, bulk(), 256, wait));
  ASSERT_EQ(got.fault, Fault::None);
  for (std::uint32_t l = 0; l < 32; ++l) EXPECT_EQ(got.words[l], 1100 + 2 * l);
  EXPECT_EQ(run_pair(pair(filled, bulk("min.s32"), 256, wait)).words[3], 3u);
}

TEST(RunReduceAsync, BulkReductionsNeedFenceWaitAndData) {
  const std::string filled = std::string(first) + source;
  EXPECT_EQ(run_pair(pair(filled, bulk(), 256, wait)).fault, Fault::ProxyFenceMissing);
  EXPECT_EQ(run_pair(pair(filled + fence, bulk(), 256, "")).fault, Fault::CopyInFlight);
  EXPECT_EQ(run_pair(pair(std::string(source) + fence, bulk(), 256, wait)).fault,
            Fault::SharedUninitialized);
  // The source is read until the reduction has landed.
  EXPECT_EQ(run_pair(pair(filled + fence, bulk() + source, 256, wait)).fault,
            Fault::SourceInFlight);
  // Each CTA's own operation: which came last shows.
  const std::string mixed =
      "@%p4 bra ADD;\n" + bulk("xor.b32") + "bra BEHIND;\nADD:\n" + bulk() + "BEHIND:\n";
  EXPECT_TRUE(run_pair(pair(filled + fence, mixed, 256, wait)).is_order_open);
}

TEST(RunReduceAsync, BulkReductionsThatDoNotExistAreNamed) {
  const std::string filled = std::string(first) + source + fence;
  EXPECT_EQ(run_pair(pair(filled, bulk("max.u64"), 256, wait)).fault, Fault::ReductionType);
}

// --- the end of a CTA that was stored to -----------------------------------------------------------

// Two warps of each CTA store a word to the other CTA; its mbarrier expects `bytes`, and no cluster barrier stands behind.
Fault fault_at_ends(const std::string& store, int bytes, const std::string& wait_for_all) {
  PtxRun run(kernel(R"(
    .shared .align 16 .b8 x[8];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r9, full;
    mov.u32 %r11, %cluster_ctarank;
    xor.b32 %r12, %r11, 1;
    setp.eq.u32 %p1, %r1, 0;
    and.b32 %r3, %r1, 31;
    setp.eq.u32 %p4, %r3, 0;
    shr.u32 %r5, %r1, 5;
    shl.b32 %r5, %r5, 2;
    add.u32 %r4, %r2, %r5;
    mov.u32 %r6, 0;
    @%p4 st.shared.u32 [%r4], %r6;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], )" +
                    std::to_string(bytes) + R"(;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r13, %r4, %r12;
    mapa.shared::cluster.u32 %r14, %r9, %r12;
)" + store + wait_for_all));
  run.pass(run.array<std::uint32_t>(1));
  return run.go({.grid = {2}, .block = {64}, .cluster = {2}, .explore = 20});
}

TEST(RunReduceAsync, WhoHasWaitedForWhatWasStoredMayEnd) {
  const std::string st =
      "@%p4 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r1, [%r14];\n";
  const std::string reduce = "@%p4 " + red("add.u32", "%r1");
  for (const std::string& store : {st, reduce}) {
    EXPECT_EQ(fault_at_ends(store, 8, wait), Fault::None) << store;
    EXPECT_EQ(fault_at_ends(store, 8, ""), Fault::CtaExited) << store;
    EXPECT_EQ(fault_at_ends(store, 4, wait), Fault::CtaExited) << store;  // one may come later
  }
}

}  // namespace
}  // namespace tcq::tests
