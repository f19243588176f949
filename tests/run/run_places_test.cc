// Addresses in another place than the instruction names: another state space, a peer's shared memory, an mbarrier that is not
// beside the bytes, what lies between arrays.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// %r2: the address of x in shared memory; in a pair of CTAs %r13: that of the peer's, %r14: of the peer's mbarrier, %r9: of the own.
std::string in_pair(const std::string& body) {
  return kernel(R"(
    .shared .align 128 .b8 x[128];
    .shared .align 128 .b8 y[128];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r20, y;
    mov.u32 %r9, full;
    mov.u32 %r11, %cluster_ctarank;
    xor.b32 %r12, %r11, 1;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.and.u32 %p2, %r11, 0, %p1;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    fence.mbarrier_init.release.cluster;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    fence.proxy.async;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r13, %r2, %r12;
    mapa.shared::cluster.u32 %r14, %r9, %r12;
    mapa.shared::cluster.u32 %r15, %r4, %r12;
)" + body + R"(
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
}

Fault of_pair(const std::string& body) {
  PtxRun run(in_pair(body));
  run.pass(run.array<std::uint32_t>(64));
  return run.go({.grid = {2}, .cluster = {2}});
}

Fault of_one(const std::string& body) {
  PtxRun run(kernel(".shared .align 16 .b8 x[128];\n.local .align 16 .b8 own[16];\n" + body));
  run.pass(run.array<std::uint32_t>(32));
  return run.go({});
}

TEST(RunPlaces, AGlobalAccessOfAnotherMemory) {
  const std::string shared = "mov.u64 %rd3, x; cvta.shared.u64 %rd3, %rd3;\n";
  const std::string local = "mov.u64 %rd3, own; cvta.local.u64 %rd3, %rd3;\n";
  EXPECT_EQ(of_one(shared + "st.u32 [%rd3], 7;\nld.u32 %r2, [%rd3];"), Fault::None);
  EXPECT_EQ(of_one(shared + "st.global.u32 [%rd3], 7;"), Fault::AddressNowhere);
  EXPECT_EQ(of_one(shared + "ld.global.nc.u32 %r2, [%rd3];"), Fault::AddressNowhere);
  EXPECT_EQ(of_one(shared + "atom.global.add.u32 %r2, [%rd3], 1;"), Fault::AddressNowhere);
  EXPECT_EQ(of_one(local + "st.u32 [%rd3], 7;\nld.u32 %r2, [%rd3];"), Fault::None);
  EXPECT_EQ(of_one(local + "ld.global.u32 %r2, [%rd3];"), Fault::AddressNowhere);
}

TEST(RunPlaces, APeersAddressIsOfSharedCluster) {
  EXPECT_EQ(of_pair("ld.shared::cluster.u32 %r5, [%r15];"), Fault::None);
  EXPECT_EQ(of_pair("@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];"),
            Fault::None);
  for (const char* wrong :
       {"ld.shared.u32 %r5, [%r15];", "ld.shared::cta.v4.u32 {%r5, %r6, %r7, %r8}, [%r13];",
        "st.shared.u32 [%r15], 7;", "atom.shared::cta.add.u32 %r5, [%r15], 1;",
        "red.shared.add.u32 [%r15], 1;",
        "@%p2 mbarrier.arrive.release.cluster.shared::cta.b64 _, [%r14];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r13];",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r13], {%r5};",
        "cp.async.ca.shared.global [%r15], [%rd2], 4;",
        "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r13], 16;",
        "@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], "
        "[%r13], 16, [%r14];"})
    EXPECT_EQ(of_pair(wrong), Fault::AddressNowhere) << wrong;
}

// mapa on one of the two.
TEST(RunPlaces, AnMbarrierIsBesideTheBytes) {
  for (const std::string copy :
       {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r13], %r1, ",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r13], "
        "%r1, ",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r20], "
        "16, ",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%r13], [%r20], 16, ",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 16, "}) {
    EXPECT_EQ(of_pair("@%p2 " + copy + "[%r9];"), Fault::MbarrierElsewhere) << copy;
    EXPECT_NE(of_pair("@%p2 " + copy + "[%r14];"), Fault::MbarrierElsewhere) << copy;
  }
}

TEST(RunPlaces, WhatLiesBetweenArraysIsNobodys) {
  const auto fault = [](const std::string& body) {
    PtxRun run(kernel(".shared .align 16 .b8 x[128];\nmov.u32 %r2, x;\nsetp.eq.u32 %p1, %r1, 0;\n" +
                      body));
    run.pass(run.array<std::uint32_t>(40));
    (void)run.array<std::uint32_t>(64);
    run.launch().gaps = {{160, 256}};
    return run.go({});
  };
  EXPECT_EQ(fault("st.global.u32 [%rd2+32], %r1;"), Fault::None);
  EXPECT_EQ(fault("st.global.u32 [%rd2+256], %r1;"), Fault::None);
  EXPECT_EQ(fault("ld.global.u32 %r3, [%rd2+36];"), Fault::GlobalOutOfRange);
  EXPECT_EQ(fault("st.global.u32 [%rd2+252], %r1;"), Fault::GlobalOutOfRange);
  EXPECT_EQ(fault("@%p1 atom.global.add.u32 %r3, [%rd2+160], 1;"), Fault::GlobalOutOfRange);
  EXPECT_EQ(fault("@%p1 cp.async.ca.shared.global [%r2], [%rd2+156], 8;"), Fault::GlobalOutOfRange);
  EXPECT_EQ(fault("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1+144], [%r2], 32;"),
            Fault::GlobalOutOfRange);
  // Between the lanes' bytes alone: one lane in the first array, one in the second.
  EXPECT_EQ(fault("shl.b32 %r3, %r1, 8;\ncvt.u64.u32 %rd3, %r3;\nadd.u64 %rd3, %rd1, %rd3;\n"
                  "setp.lt.u32 %p2, %r1, 2;\n@%p2 st.global.u32 [%rd3], %r1;"),
            Fault::None);
}

// A proxy fence is one of the memory that it names.
TEST(RunPlaces, AProxyFenceOfAnotherMemory) {
  const auto fault = [](const std::string& fence, bool loads) {
    PtxRun run(kernel(R"(
    .shared .align 128 .b8 x[128];
    .shared .align 8 .b64 full;
    mov.u32 %r2, x;
    mov.u32 %r9, full;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r9], 1;
    fence.mbarrier_init.release.cluster;
    @!%p1 bra met;
    )" +
                      std::string(loads ? "st.global.u32 [%rd2], %r1;\n"
                                        : "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};\n") +
                      fence + R"(
    )" +
                      (loads ? R"(
    mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, [%r9];
  met:
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;
    @!%p3 bra WAIT;)"
                             : R"(
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  met:)")));
    run.pass(run.array<std::uint32_t>(32));
    return run.go({});
  };
  for (const bool loads : {false, true}) {
    const char* right = loads ? "fence.proxy.async.global;" : "fence.proxy.async.shared::cta;";
    const char* wrong = loads ? "fence.proxy.async.shared::cta;" : "fence.proxy.async.global;";
    EXPECT_EQ(fault("fence.proxy.async;", loads), Fault::None) << loads;
    EXPECT_EQ(fault(right, loads), Fault::None) << loads;
    EXPECT_EQ(fault(wrong, loads), Fault::ProxyFenceMissing) << loads;
    EXPECT_EQ(fault("", loads), Fault::ProxyFenceMissing) << loads;
  }
}

// Each CTA of a pair stores into its peer's bytes, which the peer then copies out.
TEST(RunPlaces, AProxyFenceOfTheOwnMemoryLeavesOutThePeers) {
  const auto fault = [](const std::string& fence, const std::string& whose) {
    PtxRun run(kernel(R"(
    .shared .align 128 .b8 x[128];
    mov.u32 %r2, x;
    mov.u32 %r3, %cluster_ctarank;
    xor.b32 %r4, %r3, )" +
                      whose + R"(;
    mapa.shared::cluster.u32 %r5, %r2, %r4;
    mad.lo.u32 %r5, %r1, 4, %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.shared::cluster.u32 [%r5], %r1;
    )" + fence + R"(
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mad.wide.u32 %rd3, %r3, 128, %rd1;
    setp.eq.u32 %p1, %r1, 0;
    @!%p1 bra met;
    cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r2], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  met:)"));
    run.pass(run.array<std::uint32_t>(64));
    return run.go({.grid = {2}, .cluster = {2}});
  };
  const char* peers = "1";
  const char* own = "0";
  EXPECT_EQ(fault("fence.proxy.async.shared::cta;", peers), Fault::ProxyFenceMissing);
  EXPECT_EQ(fault("fence.proxy.async.global;", peers), Fault::ProxyFenceMissing);
  EXPECT_EQ(fault("fence.proxy.async.shared::cluster;", peers), Fault::None);
  EXPECT_EQ(fault("fence.proxy.async;", peers), Fault::None);
  EXPECT_EQ(fault("fence.proxy.async.shared::cta;", own), Fault::None);
}

// The writer's side is .release, that of the thread which copies .acquire.
TEST(RunPlaces, AProxyFenceOfOneDirection) {
  const std::string of = "fence.proxy.async::generic.";
  const std::string release = of + "release.sync_restrict::shared::cta.cluster;";
  const std::string acquire = of + "acquire.sync_restrict::shared::cluster.cluster;";
  struct Said {
    Fault fault = Fault::None;
    std::vector<Fault> suspicions;
  };
  const auto said = [](const std::string& writer, const std::string& reader) {
    PtxRun run(kernel(R"(
    .shared .align 128 .b8 x[256];
    mov.u32 %r2, x;
    mad.lo.u32 %r3, %r1, 4, %r2;
    setp.lt.u32 %p2, %r1, 32;
    @!%p2 bra wait;
    st.shared.u32 [%r3], %r1;
    )" + writer + R"(
  wait:
    bar.sync 0;
    setp.eq.u32 %p1, %r1, 32;
    @!%p1 bra met;
    )" + reader + R"(
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  met:)"));
    run.pass(run.array<std::uint32_t>(64));
    Said result{run.go({.block = {64}}), {}};
    for (const machine::Finding& f : run.report().suspicions) result.suspicions.push_back(f.fault);
    return result;
  };
  EXPECT_EQ(said(release, acquire).fault, Fault::None);
  EXPECT_TRUE(said(release, acquire).suspicions.empty());
  EXPECT_EQ(said(acquire, "").fault, Fault::ProxyFenceMissing);
  EXPECT_EQ(said("", release).fault, Fault::ProxyFenceMissing);
  EXPECT_EQ(said("", acquire).suspicions, std::vector<Fault>{Fault::ProxyFenceByReader});
}

}  // namespace
}  // namespace tcq::tests
