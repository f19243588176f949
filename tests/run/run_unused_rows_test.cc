// Rows of A that a wgmma of 64 rows reads behind a tile of fewer: what races there is a finding where a row of D made of
// them is used.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/run/lanes_run.h"

namespace tcq::tests {
namespace {

// A ring of two stages that a producer, thread 128, fills by bulk copies; the tile of A has `rows` rows of 16 halves and lies
// without a swizzle, so that rows behind it are the next stage's, then B's, then nobody's.
struct Ring {
  int rows = 32;
  int rounds = 5;
  int expected = 0;  // bytes; 0: those of both copies
  // Behind the last wait. %f1 and %f2 are of row tid % 32 / 4 of the warp's 16, %f3 and %f4 eight below.
  std::string use;
  std::string between = "";  // behind each wait
  std::string scale = "%p2";
  bool is_zeroed = true;  // before the first copy
  bool has_map =
      false;  // A is copied as tiles of a tensor whose columns are K, swizzled by 32 bytes
};

constexpr std::uint64_t map_place = 16128;  // of the array: behind the tensor and what is stored

std::string text_of(const Ring& ring) {
  const int a = 32 * ring.rows, b = 256;
  const auto number = [](auto n) { return std::to_string(n); };
  const std::string copy = "cp.async.bulk.";
  const std::string copy_a =
      ring.has_map
          ? "shl.b32 %r10, %r5, 4;\nadd.u64 %rd6, %rd1, " + number(map_place) + ";\n" + copy +
                "tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r9], [%rd6, "
                "{%r10, 0}], [%r8];"
          : copy + "shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], " +
                number(a) + ", [%r8];";
  const std::string layout = ring.has_map ? "0xc000001000010000" : "0x0000001000080000";
  const std::string expected = number(ring.expected != 0 ? ring.expected : a + b);
  return kernel(R"(
    .shared .align 1024 .b8 x[8192];
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    mov.u32 %r2, x;
    mov.u32 %r3, full;
    mov.u32 %r4, empty;
    mad.lo.u32 %r5, %r1, 4, %r2;
    add.u32 %r6, %r2, )" +
                number(ring.is_zeroed ? 8192 : 0) + R"(;
    mov.u32 %r7, 0;
  zero:
    setp.ge.u32 %p1, %r5, %r6;
    @%p1 bra zeroed;
    st.shared.u32 [%r5], %r7;
    add.u32 %r5, %r5, 640;
    bra zero;
  zeroed:
    fence.proxy.async;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra ready;
    mbarrier.init.shared.b64 [%r3], 1;
    mbarrier.init.shared.b64 [%r3+8], 1;
    mbarrier.init.shared.b64 [%r4], 128;
    mbarrier.init.shared.b64 [%r4+8], 128;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
  ready:
    bar.sync 0;
    mov.u32 %r5, 0;
    mov.f32 %f9, 0f00000000;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra producer;
  consume:
    and.b32 %r6, %r5, 1;
    shr.u32 %r7, %r5, 1;
    and.b32 %r7, %r7, 1;
    mad.lo.u32 %r8, %r6, 8, %r3;
  full_wait:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r8], %r7;
    @!%p3 bra full_wait;
    mad.lo.u32 %r9, %r6, )" +
                number(a) + R"(, %r2;
    and.b32 %r9, %r9, 0x3ffff;
    shr.u32 %r9, %r9, 4;
    cvt.u64.u32 %rd4, %r9;
    or.b64 %rd4, %rd4, )" +
                layout + R"(;
    mad.lo.u32 %r9, %r6, )" +
                number(b) + R"(, %r2;
    add.u32 %r9, %r9, )" +
                number(2 * a) + R"(;
    and.b32 %r9, %r9, 0x3ffff;
    shr.u32 %r9, %r9, 4;
    cvt.u64.u32 %rd5, %r9;
    or.b64 %rd5, %rd5, 0x0000001000080000;
    setp.ne.u32 %p2, %r5, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd5, )" +
                ring.scale + R"(, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mad.lo.u32 %r8, %r6, 8, %r4;
    mbarrier.arrive.shared.b64 _, [%r8];
)" + ring.between +
                R"(
    add.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, )" +
                number(ring.rounds) + R"(;
    @%p2 bra consume;
    setp.lt.u32 %p4, %r1, )" +
                number(2 * ring.rows) + R"(;
    mad.wide.u32 %rd2, %r1, 16, %rd1;
    add.u64 %rd2, %rd2, 8192;
)" + ring.use + R"(
    bra done;
  producer:
    setp.ne.u32 %p1, %r1, 128;
    @%p1 bra done;
  produce:
    and.b32 %r6, %r5, 1;
    shr.u32 %r7, %r5, 1;
    and.b32 %r7, %r7, 1;
    xor.b32 %r7, %r7, 1;
    mad.lo.u32 %r8, %r6, 8, %r4;
  empty_wait:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r8], %r7;
    @!%p3 bra empty_wait;
    mad.lo.u32 %r8, %r6, 8, %r3;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r8], )" +
                expected + R"(;
    mad.lo.u32 %r9, %r6, )" +
                number(b) + R"(, %r2;
    add.u32 %r9, %r9, )" +
                number(2 * a) + R"(;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], )" +
                number(b) + R"(, [%r8];
    mad.lo.u32 %r9, %r6, )" +
                number(a) + R"(, %r2;
    )" + copy_a +
                R"(
    add.u32 %r5, %r5, 1;
    setp.ne.u32 %p2, %r5, )" +
                number(ring.rounds) + R"(;
    @%p2 bra produce;
  done:
)");
}

Found run_ring(const Ring& ring) {
  PtxRun run(text_of(ring));
  const Pointer memory = run.array<std::uint32_t>(4096);
  run.pass(memory);
  const auto rows = static_cast<std::uint32_t>(ring.rows);
  run.launch().maps = {{tma::DataType::Float16, 2, 0, {128, rows}, {256}, {16, rows}}};
  run.launch().maps[0].swizzle = Swizzle::B32;
  run.launch().map_places = {{memory + map_place, 0}};
  Found found;
  found.fault = run.go({.block = {160}, .explore = 6});
  for (const machine::Finding& f : run.report().suspicions) found.beside.push_back(f.fault);
  if (run.report().finding) found.finding = *run.report().finding;
  return found;
}

bool is_race(const Found& found) {
  using enum Fault;
  return found.fault == CopyInFlight || found.fault == SourceInFlight || found.fault == DataRace ||
         found.fault == ExpectTxTooSmall;
}

constexpr const char* store_tile =
    "@%p4 st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};";  // the warps that have rows of it
constexpr const char* store_all = "st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};";

TEST(RunUnusedRows, RowsBehindTheTileAreNobodys) {
  for (const int rounds : {1, 2, 3, 5})
    for (const bool is_zeroed : {false, true})
      EXPECT_EQ(run_ring({.rounds = rounds, .use = store_tile, .is_zeroed = is_zeroed}),
                Fault::None)
          << rounds;
  EXPECT_EQ(run_ring({.rows = 16, .use = store_tile}), Fault::None);
  EXPECT_EQ(run_ring({.rows = 64, .use = store_all}), Fault::None);
}

TEST(RunUnusedRows, OneThatIsStoredIsTheRaceThatItWas) {
  for (const int rounds : {2, 3, 5}) {
    const Found found = run_ring({.rounds = rounds, .use = store_all});
    EXPECT_TRUE(is_race(found)) << rounds << info(found.fault).name;
  }
  EXPECT_EQ(run_ring({.rounds = 1, .use = store_all}), Fault::None);
  EXPECT_EQ(run_ring({.rounds = 1, .use = store_all, .is_zeroed = false}).fault,
            Fault::SharedUninitialized);
}

// Rows of another tile of the tensor are wrong rows where they are used (OperandScrambled), and nobody's else.
TEST(RunUnusedRows, SoAreThoseThatATensorCopyBrought) {
  for (const int rounds : {1, 2, 3, 6}) {
    EXPECT_EQ(run_ring({.rounds = rounds, .use = store_tile, .has_map = true}), Fault::None);
    EXPECT_EQ(run_ring({.rows = 64, .rounds = rounds, .use = store_all, .has_map = true}),
              Fault::None);
  }
  const Found found = run_ring({.rounds = 3, .use = store_all, .has_map = true});
  EXPECT_TRUE(is_race(found)) << info(found.fault).name;
}

// Of a tile of 40 rows warp 2 has the first 8 in %f1 and %f2, and none in %f3 and %f4.
TEST(RunUnusedRows, RowsAreToldApart) {
  const auto upper = [](const std::string& values) {
    return run_ring(
        {.rows = 40,
         .use = "setp.lt.u32 %p4, %r1, 96;\n@%p4 st.global.v2.f32 [%rd2], {" + values + "};"});
  };
  EXPECT_EQ(upper("%f1, %f2"), Fault::None);
  EXPECT_TRUE(is_race(upper("%f3, %f4")));
}

// What arithmetic makes of a row goes with it; a wgmma that does not add begins anew.
TEST(RunUnusedRows, ArithmeticHandsThemOn) {
  const std::string sum = "add.f32 %f9, %f9, %f1;";
  EXPECT_EQ(run_ring({.use = "@%p4 st.global.f32 [%rd2], %f9;", .between = sum}), Fault::None);
  EXPECT_TRUE(is_race(run_ring({.use = "st.global.f32 [%rd2], %f9;", .between = sum})));
  EXPECT_TRUE(
      is_race(run_ring({.use = "st.global.f32 [%rd2], %f9;", .between = sum, .scale = "0"})));
}

// A copy whose bytes nobody waits for is one, as the rows of the tile are used.
TEST(RunUnusedRows, ABugInTheTileIsFound) {
  EXPECT_TRUE(is_race(run_ring({.expected = 256, .use = store_tile})));
  EXPECT_TRUE(is_race(run_ring({.rows = 64, .expected = 256, .use = store_tile})));
  // B is in every row.
  EXPECT_TRUE(is_race(run_ring({.expected = 1024, .use = store_tile})));
  EXPECT_TRUE(is_race(run_ring({.expected = 1024, .use = ""})));
}

}  // namespace
}  // namespace tcq::tests
