// Loads, stores and atomics of compiled kernels: spaces, widths, generic addresses, races, and loops that poll.
#include "sim/async/cluster.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

TEST(RunMemory, WidthsAndVectors) {
  PtxRun run(kernel(R"(
    ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [%rd2];
    ld.global.s16 %r6, [%rd2+2];
    add.u32 %r7, %r2, %r5;
    mov.u16 %h1, 1;
    mov.u16 %h2, 2;
    st.global.v2.u16 [%rd2], {%h1, %h2};
    st.global.u32 [%rd2], %r6;
    st.global.u8 [%rd2], %r7;)"));
  std::vector<std::uint32_t> in(32);
  for (std::uint32_t i = 0; i < 32; ++i) in[i] = 0x80000000u + i * 0x01010101u;
  const Pointer data = run.array(in);
  run.pass(data);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto out = run.read<std::uint32_t>(data, 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const auto high = static_cast<std::uint32_t>(static_cast<std::int16_t>(in[i] >> 16));
    const std::uint32_t sum = ((in[i] & 0xff) + (in[i] >> 24)) & 0xff;
    EXPECT_EQ(out[i], (high & ~0xffu) | sum);
  }
}

// Registers that are declared as vectors: elements, and all of them at once.
TEST(RunMemory, EachElementOfAVectorRegisterIsItsOwn) {
  PtxRun run(kernel(R"(
    .reg .v2 .b32 pair, other;
    .reg .v4 .b32 four<2>;
    add.u32 pair.x, %r1, 1;
    add.u32 pair.y, %r1, 100;
    mov.b64 %rd3, pair;
    mov.b64 {%r2, %r3}, %rd3;
    mad.wide.u32 %rd2, %r1, 16, %rd1;
    mov.b64 other, %rd3;
    mov.u32 four1.w, 7;
    mov.u32 four1.r, other.y;
    mov.u32 four1.g, %r2;
    sub.u32 four1.z, pair.y, pair.x;
    st.global.v4.b32 [%rd2], four1;)"));
  const Pointer out = run.array<std::uint32_t>(128);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {32}}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 128);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words[4 * i], i + 100);
    EXPECT_EQ(words[4 * i + 1], i + 1);
    EXPECT_EQ(words[4 * i + 2], 99u);
    EXPECT_EQ(words[4 * i + 3], 7u);
  }
}

TEST(RunMemory, GenericAddressesOfEverySpace) {
  PtxRun run(
      kernel(R"(
    .local .align 4 .b8 mine[64];
    .shared .align 4 .b8 ours[256];
    mov.u64 %rd3, mine;
    cvta.local.u64 %rd4, %rd3;
    st.u32 [%rd4+8], %r1;
    ld.local.u32 %r2, [mine+8];
    mov.u32 %r3, ours;
    cvt.u64.u32 %rd5, %r3;
    cvta.shared.u64 %rd5, %rd5;
    mad.wide.u32 %rd6, %r1, 4, %rd5;
    st.u32 [%rd6], %r2;
    bar.sync 0;
    cvta.to.shared.u64 %rd7, %rd6;
    ld.shared.u32 %r4, [%rd7];
    ld.const.u32 %r5, [seven];
    mov.u64 %rd8, seven;
    cvta.const.u64 %rd8, %rd8;
    ld.u32 %r6, [%rd8];
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
    ld.global.u32 %r7, [shared_by_all];
    add.u32 %r4, %r4, %r7;
    st.global.u32 [%rd2], %r4;)",
             ".const .align 4 .u32 seven = 7;\n.global .align 4 .u32 shared_by_all = 1000;\n"));
  const Pointer out = run.array<std::uint32_t>(64);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {64}}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], i + 1014);
}

// LLVM takes 32 bits of the address of a parameter, and widens them before the conversion.
TEST(RunMemory, AddressesOf32BitsBecomeGeneric) {
  PtxRun run(kernel(R"(
    .local .align 4 .b8 mine[64];
    mov.b32 %r3, out;
    cvt.u64.u32 %rd3, %r3;
    cvta.param.u64 %rd3, %rd3;
    ld.u64 %rd4, [%rd3];
    sub.u64 %rd4, %rd1, %rd4;
    cvt.u32.u64 %r4, %rd4;
    mov.b32 %r5, mine;
    cvt.u64.u32 %rd5, %r5;
    cvta.local.u64 %rd5, %rd5;
    st.u32 [%rd5+8], %r1;
    ld.local.u32 %r6, [mine+8];
    mov.b32 %r7, seven;
    cvt.u64.u32 %rd6, %r7;
    cvta.const.u64 %rd6, %rd6;
    ld.u32 %r8, [%rd6];
    add.u32 %r4, %r4, %r6;
    add.u32 %r4, %r4, %r8;
    st.global.u32 [%rd2], %r4;)",
                    ".const .align 4 .u32 seven = 7;\n"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i + 7);
}

TEST(RunMemory, AddressesThatAreNowhere) {
  const auto fault_of = [](const std::string& body) {
    PtxRun run(kernel(body));
    run.pass(run.array<std::uint32_t>(32));
    return run.go({});
  };
  EXPECT_EQ(fault_of("mov.u64 %rd3, 0; ld.global.u32 %r2, [%rd3];"), Fault::AddressNowhere);
  EXPECT_EQ(fault_of("ld.global.u32 %r2, [%rd2+4096];"), Fault::GlobalOutOfRange);
  EXPECT_EQ(fault_of("ld.shared.u32 %r2, [4];"), Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(fault_of(".shared .b8 x[64]; mov.u32 %r3, x; ld.shared.u32 %r2, [%r3+2];"),
            Fault::SharedUnaligned);
  EXPECT_EQ(fault_of("st.param.u32 [out], %r1;"), Fault::AddressNowhere);
}

// A chip stops a kernel there; vectors count as a whole.
TEST(RunMemory, AddressesThatAreNoMultipleOfTheAccess) {
  const auto fault_of = [](const std::string& body) {
    PtxRun run(kernel(".local .align 16 .b8 own[64]; " + body));
    run.pass(run.array<std::uint32_t>(64));
    return run.go({});
  };
  const std::string four = "{%r4,%r5,%r6,%r7}";
  EXPECT_EQ(fault_of("ld.global.u32 %r2, [%rd1+4];"), Fault::None);
  EXPECT_EQ(fault_of("ld.global.u32 %r2, [%rd1+2];"), Fault::AddressUnaligned);
  EXPECT_EQ(fault_of("ld.global.v4.u32 " + four + ", [%rd1+16];"), Fault::None);
  EXPECT_EQ(fault_of("ld.global.v4.u32 " + four + ", [%rd1+8];"), Fault::AddressUnaligned);
  EXPECT_EQ(fault_of("st.global.v2.u32 [%rd1+4], {%r1,%r1};"), Fault::AddressUnaligned);
  EXPECT_EQ(fault_of("red.global.add.u32 [%rd1+1], %r1;"), Fault::AddressUnaligned);
  EXPECT_EQ(fault_of("st.local.u32 [own+4], %r1;"), Fault::None);
  const std::string copy =
      ".shared .align 16 .b8 x[64]; mov.u32 %r3, x; cp.async.ca.shared.global [%r3], ";
  EXPECT_EQ(fault_of(copy + "[%rd1+8], 8, 3; cp.async.wait_all;"), Fault::None);
  EXPECT_EQ(fault_of(copy + "[%rd1+4], 8, 3; cp.async.wait_all;"), Fault::AddressUnaligned);
  EXPECT_EQ(fault_of("st.local.v2.u32 [own+4], {%r1,%r1};"), Fault::AddressUnaligned);
}

std::string swap_through_shared(const std::string& between) {
  return kernel(R"(
    .shared .align 4 .b8 x[256];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;)" +
                between + R"(
    xor.b32 %r3, %r3, 252;
    add.u32 %r4, %r2, %r3;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd2], %r5;)");
}

TEST(RunMemory, ABarrierOrdersAndItsLackIsNamed) {
  PtxRun right(swap_through_shared("bar.sync 0;"));
  const Pointer out = right.array<std::uint32_t>(64);
  right.pass(out);
  ASSERT_EQ(right.go({.block = {64}, .explore = 5}), Fault::None);
  const auto words = right.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words[i], 63 - i);

  PtxRun wrong(swap_through_shared(""));
  wrong.pass(wrong.array<std::uint32_t>(64));
  ASSERT_EQ(wrong.go({.block = {64}}), Fault::DataRace);
  EXPECT_NE(wrong.place().find("ld.shared.u32 %r5"), std::string::npos) << wrong.place();
}

TEST(RunMemory, RacesInGlobalMemoryAreNamed) {
  PtxRun run(kernel(R"(
    mul.wide.u32 %rd3, %r1, 0;
    add.u64 %rd3, %rd3, %rd1;
    st.global.u32 [%rd3], %r1;)"));
  run.pass(run.array<std::uint32_t>(64));
  EXPECT_EQ(run.go({.block = {64}}), Fault::DataRace);
}

// Triton's warps store the same states; another value is a race.
TEST(RunMemory, StoresOfOneValueAreDisputed) {
  for (const bool equal : {true, false}) {
    PtxRun run(kernel(std::string("    mov.u32 %r2, ") + (equal ? "5" : "%r1") + R"(;
    st.global.u32 [%rd1], %r2;
    bar.sync 0;
    ld.global.u32 %r3, [%rd1];
    st.global.u32 [%rd2+128], %r3;)"));
    const Pointer data = run.array<std::uint32_t>(96);
    run.pass(data);
    EXPECT_EQ(run.go({.block = {64}}), equal ? Fault::None : Fault::DataRace);
    if (!equal) continue;
    ASSERT_EQ(run.report().suspicions.size(), 1u);
    EXPECT_EQ(run.report().suspicions[0].fault, Fault::EqualStoresRace);
    EXPECT_EQ(run.read<std::uint32_t>(data, 33)[32], 5u);
  }
}

// The same of matrices: a layout of more warps than the tile has rows for stores some of them twice.
TEST(RunMemory, MatricesOfOneValueStoredTwiceAreDisputed) {
  for (const bool equal : {true, false}) {
    PtxRun run(kernel(std::string(R"(
    .shared .align 16 .b8 rows[128];
    and.b32 %r3, %r1, 7;
    shl.b32 %r3, %r3, 4;
    mov.u32 %r4, rows;
    add.u32 %r3, %r3, %r4;
    mov.u32 %r2, )") + (equal ? "5" : "%r1") +
                      R"(;
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r2};
    bar.sync 0;
    ld.shared.u32 %r5, [rows+8];
    st.global.u32 [%rd2], %r5;)"));
    const Pointer data = run.array<std::uint32_t>(64);
    run.pass(data);
    EXPECT_EQ(run.go({.block = {64}}), equal ? Fault::None : Fault::DataRace);
    if (!equal) continue;
    ASSERT_EQ(run.report().suspicions.size(), 1u);
    EXPECT_EQ(run.report().suspicions[0].fault, Fault::EqualStoresRace);
    EXPECT_EQ(run.read<std::uint32_t>(data, 33)[32], 5u);
  }
}

// Of two statements it is a race, whatever they store: one of the two is not meant. Copies of an unrolled one are one statement: a
// loop whose rows are clamped to the last stores that twice, by lanes of one warp as by two warps.
TEST(RunMemory, OneValueStoredByTwoStatementsIsARaceUnlessTheyAreCopiesOfOne) {
  const auto twice = [](std::uint32_t threads, const std::string& first,
                        const std::string& second) {
    PtxRun run(kernel(R"(
    mov.u32 %r3, )" + std::to_string(threads / 2) +
                          R"(;
    setp.lt.u32 %p1, %r1, %r3;
    mov.u32 %r2, 5;
)" + first + "@%p1 st.global.u32 [%rd1], %r2;\n" +
                          second + "@!%p1 st.global.u32 [%rd1], %r2;\n",
                      ".file 1 \"k.cu\"\n"));
    run.pass(run.array<std::uint32_t>(64));
    const Fault fault = run.go({.block = {threads}});
    const auto& suspicions = run.report().suspicions;
    if (fault != Fault::None) return fault;
    return suspicions.size() == 1 ? suspicions[0].fault : Fault::None;
  };
  for (const std::uint32_t threads : {64u, 32u}) {
    const Fault race = threads == 64 ? Fault::DataRace : Fault::LaneRace;
    EXPECT_EQ(twice(threads, "", ""), threads == 64 ? race : Fault::EqualStoresRace);  // no lines
    EXPECT_EQ(twice(threads, ".loc 1 7 3\n", ".loc 1 7 3\n"), Fault::EqualStoresRace);
    EXPECT_EQ(twice(threads, ".loc 1 7 3\n", ".loc 1 7 9\n"), race);
    EXPECT_EQ(twice(threads, ".loc 1 0 0\n", ".loc 1 0 0\n"), race);  // nowhere in the source
  }
}

// CUTLASS's epilogues: every lane of a warp stores the tile.
TEST(RunMemory, AStoreOfOneTileByAllLanesIsCarriedOutOnceAndNamed) {
  PtxRun run(kernel(R"(
    .shared .align 128 .b8 tile[128];
    mov.u32 %r3, tile;
    shl.b32 %r2, %r1, 2;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    fence.proxy.async.shared::cta;
    bar.warp.sync -1;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {32}}), Fault::None);
  ASSERT_EQ(run.report().suspicions.size(), 1u);
  EXPECT_EQ(run.report().suspicions[0].fault, Fault::StoreRepeated);
  const auto words = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i);
}

TEST(RunMemory, AtomicsOfManyThreadsAddUp) {
  PtxRun run(kernel(R"(
    atom.global.add.u32 %r2, [%rd1], %r1;
    red.global.max.u32 [%rd1+4], %r1;
    atom.global.cas.b32 %r3, [%rd1+8], 0, 77;
    red.global.add.f32 [%rd1+12], 0f3F800000;)"));
  const Pointer out = run.array<std::uint32_t>(4);
  run.pass(out);
  ASSERT_EQ(run.go({.grid = {3}, .block = {64}, .explore = 3}), Fault::None);
  EXPECT_EQ(run.read<std::uint32_t>(out, 3), (std::vector<std::uint32_t>{3 * 63 * 32, 63, 77}));
  EXPECT_EQ(run.read<float>(out + 12, 1)[0], 192.0f);
}

// Warp 1 hands data to warp 0 by a flag: with release and acquire, without, and with fences.
std::string by_flag(const std::string& publish, const std::string& poll,
                    const std::string& behind) {
  return kernel(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra reader;
    st.global.u32 [%rd2+256], %r1;
    bar.warp.sync -1;
    setp.ne.u32 %p2, %r1, 32;
    @%p2 bra done;
    mov.u32 %r3, 1;
    )" + publish +
                R"(
    bra done;
  reader:
    )" + poll + R"(
    setp.eq.u32 %p3, %r4, 0;
    @%p3 bra reader;
    )" + behind +
                R"(
    ld.global.u32 %r5, [%rd2+384];
    st.global.u32 [%rd2+1024], %r5;
  done:)");
}

Fault fault_by_flag(const std::string& publish, const std::string& poll,
                    const std::string& behind = "") {
  PtxRun run(by_flag(publish, poll, behind));
  const Pointer out = run.array<std::uint32_t>(512);
  run.pass(out);
  const Fault fault = run.go({.block = {64}, .explore = 10});
  if (fault != Fault::None) return fault;
  const auto words = run.read<std::uint32_t>(out + 1024, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i + 32);
  return fault;
}

TEST(RunMemory, AFlagOrdersWhatReleaseAndAcquireOrder) {
  EXPECT_EQ(fault_by_flag("st.release.gpu.global.u32 [%rd1], %r3;",
                          "ld.acquire.gpu.global.u32 %r4, [%rd1];"),
            Fault::None);
  EXPECT_EQ(fault_by_flag("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], %r3;",
                          "ld.relaxed.gpu.global.u32 %r4, [%rd1];", "fence.acq_rel.gpu;"),
            Fault::None);
  EXPECT_EQ(fault_by_flag("membar.gl; red.global.add.u32 [%rd1], %r3;",
                          "ld.volatile.global.u32 %r4, [%rd1];", "membar.gl;"),
            Fault::None);
  EXPECT_EQ(fault_by_flag("st.relaxed.gpu.global.u32 [%rd1], %r3;",
                          "ld.acquire.gpu.global.u32 %r4, [%rd1];"),
            Fault::DataRace);
  EXPECT_EQ(fault_by_flag("st.release.gpu.global.u32 [%rd1], %r3;",
                          "ld.relaxed.gpu.global.u32 %r4, [%rd1];"),
            Fault::DataRace);
}

// A loop that polls what nobody changes is a deadlock, not a long run.
TEST(RunMemory, APollThatNothingEndsIsADeadlock) {
  PtxRun run(kernel(
      "again: ld.acquire.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra again;"));
  run.pass(run.array<std::uint32_t>(32));
  EXPECT_EQ(run.go({}), Fault::Deadlock);
  EXPECT_LT(run.report().instructions, 1000u);
}

// Each lane has a stack of its own, as long as it asked for; what is given back is given again.
TEST(RunMemory, StacksGrowAndAreGivenBack) {
  const std::string text = R"(
    .local .align 4 .b8 mine[12];
    st.local.u32 [mine+8], 77;
    mad.wide.u32 %rd3, %r1, 4, 4;
    stacksave.u64 %rd9;
    alloca.u64 %rd4, %rd3, 16;
    alloca.u64 %rd5, 40, 128;
    cvta.local.u64 %rd6, %rd4;
    mad.wide.u32 %rd7, %r1, 4, %rd6;
    st.u32 [%rd7], %r1;
    st.local.u32 [%rd5+36], 1000;
    ld.local.u32 %r2, [mine+8];
    ld.u32 %r3, [%rd7];
    ld.local.u32 %r4, [%rd5+36];
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    cvt.u32.u64 %r5, %rd5;
    and.b32 %r5, %r5, 127;
    add.u32 %r2, %r2, %r5;
    stackrestore.u64 %rd9;
    alloca.u64 %rd8, 16, 16;
    setp.ne.u64 %p1, %rd8, %rd4;
    @%p1 add.u32 %r2, %r2, 5000;
    st.global.u32 [%rd2], %r2;)";
  PtxRun run(kernel(text));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], 1077 + i);
  for (const char* beyond :
       {"alloca.u64 %rd4, 16385, 16;", "alloca.u64 %rd4, -8, 16;",
        "alloca.u64 %rd4, 8; stackrestore.u64 64;", "alloca.u64 %rd4, 8, -1;",
        "alloca.u64 %rd4, 8, 24;", "alloca.u64 %rd4, 8, 0;", "alloca.u64 %rd4, 8, 16777216;",
        "alloca.u64 %rd5, 8; stacksave.u64 %rd4; add.u64 %rd4, %rd4, 8; stackrestore.u64 %rd4;"}) {
    PtxRun too_far(kernel(beyond));
    too_far.pass(too_far.array<std::uint32_t>(32));
    EXPECT_EQ(too_far.go({}), Fault::UnmodelledInstruction) << beyond;
  }
}

// Whatever lies below the stack, a large alignment is one of addresses.
TEST(RunMemory, StacksAreAlignedAsAskedFor) {
  for (const std::string alignment : {"8", "256", "512", "4096"}) {
    PtxRun run(kernel(R"(
    .local .align 4 .b8 mine[300];
    st.local.u32 [mine+296], 77;
    alloca.u64 %rd4, 4, 8;
    alloca.u64 %rd5, 4, )" +
                      alignment + R"(;
    st.local.u32 [%rd4], 1000;
    st.local.u32 [%rd5], 2000;
    cvt.u32.u64 %r5, %rd5;
    and.b32 %r5, %r5, )" +
                      alignment + R"( - 1;
    ld.local.u32 %r2, [mine+296];
    ld.local.u32 %r3, [%rd4];
    ld.local.u32 %r4, [%rd5];
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    mad.lo.u32 %r2, %r5, 10000, %r2;
    st.global.u32 [%rd2], %r2;)"));
    const Pointer out = run.array<std::uint32_t>(32);
    run.pass(out);
    ASSERT_EQ(run.go({}), Fault::None) << alignment;
    for (const std::uint32_t word : run.read<std::uint32_t>(out, 32))
      EXPECT_EQ(word, 3077u) << alignment;
  }
}

// Without an mbarrier: into global memory, in order with what its thread did before.
TEST(RunMemory, AsynchronousStoresAndReductionsReachGlobalMemory) {
  std::string text = kernel(R"(
    st.async.release.gpu.global.b32 [%rd2], %r1;
    cvt.u64.u32 %rd4, %r1;
    red.async.mmio.release.sys.global.add.u64 [%rd1+128], %rd4;
    red.async.release.gpu.global.add.u32 [%rd1+136], 3;)");
  text.replace(text.find("sm_90a"), 6, "sm_100");
  PtxRun run(text);
  const Pointer out = run.array<std::uint32_t>(64);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 64);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i);
  EXPECT_EQ(words[32], 31u * 16);
  EXPECT_EQ(words[33], 0u);
  EXPECT_EQ(words[34], 96u);

  const auto fault = [](const std::string& body) {
    std::string one = kernel("  .shared .align 8 .b8 s[64];\n  " + body);
    one.replace(one.find("sm_90a"), 6, "sm_100");
    PtxRun refused(one);
    refused.pass(refused.array<std::uint32_t>(64));
    return refused.go({});
  };
  EXPECT_EQ(fault("st.async.release.sys.b32 [%rd2], %r1;"), Fault::None);
  for (const std::string body :
       {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [s], 1;",
        "st.async.shared::cluster.b32 [s], 1;", "st.async.weak.global.b32 [%rd2], %r1;",
        "st.async.global.b32 [%rd2], %r1;", "st.async.release.cluster.global.b32 [%rd2], %r1;",
        "red.async.release.cta.global.add.u32 [%rd2], 1;",
        "st.async.release.gpu.global.mbarrier::complete_tx::bytes.b32 [%rd2], %r1;",
        "st.async.release.gpu.global.v2.b32 [%rd2], {%r1, %r1};",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [s], 1;",
        "red.async.relaxed.gpu.global.add.u32 [%rd2], 1;",
        "red.async.release.gpu.global.mbarrier::complete_tx::bytes.add.u32 [%rd2], 1;"})
    EXPECT_EQ(fault(body), Fault::UnmodelledInstruction) << body;
  for (const std::string body :
       {"st.async.release.gpu.b32 [%rd3], 1;", "red.async.release.gpu.add.u32 [%rd3], 1;"})
    EXPECT_EQ(fault("mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; " + body), Fault::AddressNowhere)
        << body;
}

// A variable that an access names without its space is meant by its generic address.
TEST(RunMemory, AVariableByItsNameAloneIsMeantByItsGenericAddress) {
  PtxRun run(kernel(R"(
    .shared .align 8 .b32 s[32];
    .local .align 8 .b32 l[2];
    st.b32 [s], 7;
    st.b32 [l+4], 4;
    atom.add.u32 %r3, [s], 1;
    bar.sync 0;
    ld.b32 %r4, [s];
    ld.b32 %r5, [l+4];
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%rd2], %r4;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  run.launch().block = {1};
  ASSERT_EQ(run.go({.block = {1}}), Fault::None);
  EXPECT_EQ(run.read<std::uint32_t>(out, 1)[0], 12u);
}

// PTX adds numbers to registers in addresses alone.
TEST(RunMemory, ANumberAddedToARegisterIsNotDropped) {
  for (const char* text : {"add.u32 %r3, %r1+3, %r1;", "st.global.u32 [%rd2], %r1+1;"}) {
    PtxRun run(kernel(text));
    run.pass(run.array<std::uint32_t>(32));
    EXPECT_EQ(run.go({}), Fault::UnmodelledInstruction) << text;
  }
}

// What is left out of an execution, or assumed of it, is said before its first step.
TEST(RunMemory, NothingIsStoredBeforeTheFirstStep) {
  PtxRun run(kernel("add.u32 %r1, %r1, 1; st.global.u32 [%rd2], %r1; st.global.u32 [%rd2], %r1;"));
  run.pass(run.array<std::uint32_t>(32));
  ASSERT_EQ(run.go({}), Fault::None);
  machine::MmaCache cache;
  machine::Cluster cluster(run.program(), cache, machine::Timing::Latest);
  ASSERT_TRUE(cluster.changes().empty());
  cluster.step(0);
  EXPECT_FALSE(cluster.changes().empty());
  EXPECT_TRUE(cluster.finished());
}

// Words at a stride of a word, between which those of other threads lie.
TEST(RunMemory, WhatLiesBetweenTheLanesOfAStoreIsNotTheirs) {
  PtxRun run(kernel(R"(
    and.b32 %r2, %r1, 31;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    and.b32 %r3, %r2, 1;
    setp.eq.u32 %p1, %r3, 0;
    setp.lt.u32 %p2, %r1, 32;
    and.pred %p3, %p1, %p2;
    or.pred %p4, %p1, %p2;
    @%p3 st.global.u32 [%rd2], %r1;
    @!%p4 st.global.u32 [%rd2], %r1;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({.block = {64}}), Fault::None);
  const auto words = run.read<std::uint32_t>(out, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i % 2 == 0 ? i : 32 + i);
}

// Lanes 5 and 6 have each other's word: lane 5 loads what it has stored itself.
TEST(RunMemory, LanesThatSwapTheirWordsHaveStoredThese) {
  PtxRun run(kernel(R"(
    setp.eq.u32 %p1, %r1, 5;
    setp.eq.u32 %p2, %r1, 6;
    or.pred %p3, %p1, %p2;
    selp.b32 %r2, 3, 0, %p3;
    xor.b32 %r3, %r1, %r2;
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    @%p1 ld.global.u32 %r4, [%rd2];
    @%p1 add.u32 %r4, %r4, 100;
    @%p1 st.global.u32 [%rd2], %r4;)"));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  ASSERT_EQ(run.go({}), Fault::None);
  EXPECT_EQ(run.read<std::uint32_t>(out, 32)[6], 105u);
}

}  // namespace
}  // namespace tcq::tests
