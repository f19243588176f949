// st.bulk, which clears shared memory, and bulk copies of single bytes (.cp_mask), both of sm_100; which space an address is in.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

struct Ran {
  Fault fault = Fault::None;
  std::vector<std::uint32_t> words;
};

Ran run_words(const std::string& body, std::uint32_t fill, int cluster = 1) {
  PtxRun run(kernel(body));
  const Pointer out = run.array(std::vector<std::uint32_t>(64, fill));
  run.pass(out);
  const auto ctas = static_cast<std::uint32_t>(cluster);
  Ran ran;
  ran.fault = run.go({.grid = {ctas}, .cluster = {ctas}, .explore = 10});
  ran.words = run.read<std::uint32_t>(out, 64);
  return ran;
}

// All 32 words are written, lane 0 clears `bytes` from word 2 on, all read their word.
Ran run_clear(const std::string& bytes, const std::string& before, const std::string& behind,
              const std::string& address = "%r2+8") {
  return run_words(R"(
    .shared .align 16 .b8 x[128];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    mov.u32 %r5, 77;
    st.shared.u32 [%r4], %r5;
    setp.eq.u32 %p1, %r1, 0;
)" + before + "@%p1 st.bulk.weak.shared::cta [" +
                       address + "], " + bytes + ", 0;\n" + behind + R"(
    ld.shared.u32 %r7, [%r4];
    st.global.u32 [%rd2], %r7;)",
                   1);
}

constexpr const char* barrier = "bar.sync 0;\n";

TEST(RunStoreBulk, BytesBecomeZero) {
  const Ran ran = run_clear("40", barrier, barrier);
  ASSERT_EQ(ran.fault, Fault::None);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i >= 2 && i < 12 ? 0u : 77u) << i;
  const Ran generic = run_words(R"(
    .shared .align 16 .b8 x[128];
    mov.u64 %rd4, x;
    cvta.shared.u64 %rd5, %rd4;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    mov.u64 %rd6, 128;
    st.bulk [%rd5], %rd6, 0;
    ld.shared.u32 %r7, [x+124];
    st.global.u32 [%rd2], %r7;
  DONE:)",
                                1);
  ASSERT_EQ(generic.fault, Fault::None);
  EXPECT_EQ(generic.words[0], 0u);
}

TEST(RunStoreBulk, ItIsAStoreOfItsLane) {
  EXPECT_EQ(run_clear("40", "", barrier).fault, Fault::LaneRace);
  EXPECT_EQ(run_clear("40", barrier, "").fault, Fault::LaneRace);
  EXPECT_EQ(run_clear("44", barrier, barrier).fault, Fault::BulkBytes);
  EXPECT_EQ(run_clear("128", barrier, barrier).fault, Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(run_clear("40", barrier, barrier, "%r2+4").fault, Fault::SharedUnaligned);
}

// --- .cp_mask --------------------------------------------------------------------------------------

Ran run_masked(const std::string& copy, const std::string& before = "") {
  return run_words(R"(
    .shared .align 16 .b8 x[128];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    mul.lo.u32 %r5, %r1, 0x01010101;
    st.shared.u32 [%r4], %r5;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
)" + before + R"(
    @%p1 bra DONE;
    mov.b16 %h1, 0x00f5;
    mov.b64 %rd5, 0;
)" + copy + R"(
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  DONE:)",
                   0xeeeeeeee);
}

TEST(RunMaskedCopy, BytesOfTheMaskAreCopied) {
  for (const char* copy :
       {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 64, %h1;\n",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd1], [%r2], 64, "
        "%rd5, "
        "%h1;\n"}) {
    const Ran ran = run_masked(copy);
    ASSERT_EQ(ran.fault, Fault::None) << copy;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t value = i * 0x01010101;
      const std::uint32_t mask = i >= 16 ? 0 : i % 4 > 1 ? 0 : i % 4 == 1 ? 0xffffffff : 0x00ff00ff;
      EXPECT_EQ(ran.words[i], (value & mask) | (0xeeeeeeee & ~mask)) << i;
    }
  }
}

TEST(RunMaskedCopy, OtherBytesAreFreeForOthers) {
  const char* copy =
      "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 64, %h1;\n";
  const std::string store = "setp.eq.u32 %p2, %r1, 5;\n@%p2 st.global.u8 [%rd1+";
  EXPECT_EQ(run_masked(copy, store + "1], %r1;\n").fault, Fault::None);
  EXPECT_EQ(run_masked(copy, store + "2], %r1;\n").fault, Fault::LaneRace);
  // Three bytes are none of a mask's.
  EXPECT_EQ(
      run_masked("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 60, %h1;\n")
          .fault,
      Fault::BulkBytes);
}

// --- spaces ----------------------------------------------------------------------------------------

TEST(RunSpaces, AnAddressOfTheOtherCtaIsOfTheClusterOnly) {
  const Ran ran = run_words(R"(
    .shared .align 16 .b8 x[128];
    mov.u64 %rd4, x;
    cvta.shared.u64 %rd5, %rd4;
    mov.u32 %r11, %cluster_ctarank;
    xor.b32 %r12, %r11, 1;
    mapa.u64 %rd6, %rd5, %r12;
    getctarank.u64 %r6, %rd6;
    setp.ne.u32 %p8, %r1, 0;
    @%p8 bra DONE;
    isspacep.shared %p1, %rd5;
    isspacep.shared::cta %p2, %rd6;
    isspacep.shared::cluster %p3, %rd6;
    isspacep.global %p4, %rd1;
    isspacep.global %p5, %rd6;
    selp.u32 %r2, 1, 0, %p1;
    selp.u32 %r3, 2, 0, %p2;
    selp.u32 %r4, 4, 0, %p3;
    selp.u32 %r5, 8, 0, %p4;
    selp.u32 %r7, 16, 0, %p5;
    or.b32 %r2, %r2, %r3;
    or.b32 %r2, %r2, %r4;
    or.b32 %r2, %r2, %r5;
    or.b32 %r2, %r2, %r7;
    mad.lo.u32 %r2, %r6, 100, %r2;
    mad.wide.u32 %rd2, %r11, 4, %rd1;
    st.global.u32 [%rd2], %r2;
  DONE:)",
                            0, 2);
  ASSERT_EQ(ran.fault, Fault::None);
  EXPECT_EQ(ran.words[0], 113u);
  EXPECT_EQ(ran.words[1], 13u);
}

}  // namespace
}  // namespace tcq::tests
