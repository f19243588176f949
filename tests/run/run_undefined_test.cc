// Shared memory that nothing has written: to read it is no Fault, that something depends on what was read is.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

constexpr const char* shared = ".shared .align 16 .b8 x[2048];\n";

// Lane l of 32 has its own word x[l] in %r4; of `written` lanes it holds %tid.x.
std::string body(const std::string& rest, int written = 31) {
  return std::string(shared) + "mov.u32 %r3, x; mad.lo.u32 %r4, %r1, 4, %r3;\n" +
         "setp.lt.u32 %p1, %r1, " + std::to_string(written) + ";\n" +
         "@%p1 st.shared.u32 [%r4], %r1; bar.sync 0;\n" + rest;
}

struct Left {
  Fault fault = Fault::None;
  std::vector<Fault> suspicions;
  std::vector<std::uint32_t> words;
};

Left left_by(const std::string& rest, int written = 31) {
  PtxRun run(kernel(body(rest, written)));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  const Fault fault = run.go({});
  std::vector<Fault> suspicions;
  for (const machine::Finding& f : run.report().suspicions) suspicions.push_back(f.fault);
  return {fault, suspicions,
          fault == Fault::None ? run.read<std::uint32_t>(out, 32) : std::vector<std::uint32_t>()};
}
Fault fault_of(const std::string& rest, int written = 31) { return left_by(rest, written).fault; }
void expect_silent(const std::string& rest) {
  const Left left = left_by(rest);
  EXPECT_EQ(left.fault, Fault::None) << rest;
  EXPECT_TRUE(left.suspicions.empty()) << rest;
}

constexpr const char* load = "ld.shared.u32 %r5, [%r4];\n";

TEST(RunUndefined, WhatNobodyUsesIsNoFault) {
  EXPECT_EQ(fault_of(load), Fault::None);
  EXPECT_EQ(fault_of(std::string(load) +
                     "add.u32 %r6, %r5, 1; mov.u32 %r5, 3; st.global.u32 [%rd2], %r5;"),
            Fault::None);
  EXPECT_EQ(fault_of(std::string(load) + "@%p1 st.global.u32 [%rd2], %r5;"), Fault::None);
}

TEST(RunUndefined, WhatDependsOnItIsFound) {
  const std::string used[] = {
      "st.global.u32 [%rd2], %r5;",
      "add.u32 %r6, %r5, 1; cvt.u64.u32 %rd4, %r6; st.global.u64 [%rd1], %rd4;",
      "setp.eq.u32 %p2, %r5, 7; @%p2 st.global.u32 [%rd2], 1;",
      "setp.eq.u32 %p2, %r5, 7; @%p2 bra E; st.global.u32 [%rd2], 1; E:",
      "setp.eq.u32 %p2, %r5, 7; mov.u32 %r6, 0; @%p2 bra E; mov.u32 %r6, 1; E: st.global.u32 "
      "[%rd2], %r6;",
      "setp.ne.u32 %p2, %r5, 7; mov.u32 %r6, 0; @%p2 bra E; mov.u32 %r6, 1; E: st.global.u32 "
      "[%rd2], %r6;",
      "setp.eq.u32 %p2, %r5, 7; mov.u32 %r6, 0; @%p2 mov.u32 %r6, 1; st.global.u32 [%rd2], %r6;",
      "and.b32 %r6, %r5, 4; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd2], "
      "%r7;",
      "atom.global.add.u32 %r6, [%rd1], %r5;",
      "setp.eq.u32 %p2, %r5, 7; vote.sync.ballot.b32 %r6, %p2, -1; st.global.u32 [%rd2], %r6;",
      "st.volatile.shared.u32 [%r4], %r5; ld.volatile.shared.u32 %r6, [%r4]; st.global.u32 [%rd2], "
      "%r6;",
  };
  for (const std::string& use : used)
    EXPECT_EQ(fault_of(load + use), Fault::SharedUninitialized) << use;
}

// The other operand decides: a comparison behind a bound, a choice.
TEST(RunUndefined, TheOtherOperandMayDecide) {
  const std::string decided[] = {
      "setp.lt.u32 %p2, %r5, 9; and.pred %p3, %p1, %p2; selp.b32 %r6, %r5, 0, %p3;",
      "setp.lt.and.u32 %p3, %r5, 9, %p1; selp.b32 %r6, %r5, 0, %p3;",
      "setp.lt.or.u32 %p3, %r5, 9, !%p1; selp.b32 %r6, 0, %r5, %p3;",
      "selp.b32 %r6, %r5, 0, %p1;",
      "selp.b32 %r7, -1, 0, %p1; and.b32 %r6, %r5, %r7;",
      "selp.b32 %r7, 0, -1, %p1; or.b32 %r6, %r7, %r5;",
  };
  for (const std::string& choice : decided)
    EXPECT_EQ(fault_of(load + choice + "st.global.u32 [%rd2], %r6;"), Fault::None) << choice;
  const std::string open[] = {
      "setp.lt.u32 %p2, %r5, 9; or.pred %p3, %p1, %p2; selp.b32 %r6, 1, 0, %p3;",
      "setp.lt.or.u32 %p3, %r5, 9, %p1; selp.b32 %r6, 1, 0, %p3;",
      "selp.b32 %r6, 0, %r5, %p1;",
      "selp.b32 %r7, 1, 2, %p1; and.b32 %r6, %r5, %r7;",
      "xor.b32 %r6, %r5, %r1;",
  };
  for (const std::string& choice : open)
    EXPECT_EQ(fault_of(load + choice + "st.global.u32 [%rd2], %r6;"), Fault::SharedUninitialized)
        << choice;
}

// A merge looks at the key behind its tile, which decides where it goes on, and drops what it finds there: lane 31's word
// says whether it loads word 0 or word 1, and only lanes below 31 store.
TEST(RunUndefined, WhatComesToNothingIsDisputed) {
  const std::string merge = std::string(load) + R"(
    setp.lt.u32 %p2, %r5, 7;
    add.u32 %r6, %r3, 4;
    selp.b32 %r6, %r3, %r6, %p2;
    ld.shared.u32 %r7, [%r6];
    setp.ne.u32 %p3, %r7, 9;
    and.pred %p3, %p3, %p1;)";
  const std::vector<Fault> disputed = {Fault::UninitializedAssumed};
  const Left dropped = left_by(merge + "@%p3 st.global.u32 [%rd2], 5;");
  EXPECT_EQ(dropped.fault, Fault::None);
  EXPECT_EQ(dropped.suspicions, disputed);
  EXPECT_EQ(dropped.words[30], 5u);
  EXPECT_EQ(dropped.words[31], 0u);
  EXPECT_EQ(fault_of(merge + "st.global.u32 [%rd2], %r7;"), Fault::SharedUninitialized);
  // Nobody looks at what these leave.
  for (const char* use : {"and.b32 %r6, %r5, 4; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];",
                          "st.volatile.shared.u32 [%r4], %r5;",
                          "xor.b32 %r6, %r5, %r5; st.global.u32 [%rd2], %r6;"}) {
    const Left left = left_by(std::string(load) + use);
    EXPECT_EQ(left.fault, Fault::None) << use;
    EXPECT_EQ(left.suspicions, disputed) << use;
  }
  // A flag that is compared with one number, which none of the contents tried is: either way of it is.
  EXPECT_EQ(fault_of(std::string(load) +
                     "setp.eq.u32 %p2, %r5, 12345; @%p2 bra E; st.global.u32 [%rd2], 1; E:"),
            Fault::SharedUninitialized);
  // Who takes part, and what a barrier or a copy is told, nobody may leave to chance.
  for (const char* use :
       {"vote.sync.ballot.b32 %r6, %p1, %r5;", "shfl.sync.idx.b32 %r6, %r1, 0, 31, %r5;",
        "match.any.sync.b32 %r6, %r1, %r5;", "and.b32 %r6, %r5, 7; bar.sync %r6;"})
    EXPECT_EQ(fault_of(std::string(load) + use), Fault::SharedUninitialized) << use;
  // Many such, which no bytes equal together, and no drawn predicates are true together.
  std::string many = std::string(load) + "setp.eq.u32 %p2, %r5, 12345;";
  for (int i = 0; i < 12; ++i)
    many += "setp.eq.u32 %p3, %r5, " + std::to_string(100 + i) + "; and.pred %p2, %p2, %p3;";
  EXPECT_EQ(fault_of(many + "@%p2 st.global.u32 [%rd2], 1;"), Fault::SharedUninitialized);
  // Other contents lead beyond shared memory, or to a wait that nobody ends.
  EXPECT_EQ(fault_of(std::string(load) + "add.u32 %r6, %r3, %r5; and.b32 %r6, %r6, -4;"
                                         "ld.shared.u32 %r7, [%r6];"),
            Fault::SharedUninitialized);
}

// Lanes that part by what nobody knows only compute, and nobody stores what they have computed.
TEST(RunUndefined, ABranchAroundArithmeticIsFollowed) {
  const std::string branch =
      "setp.eq.u32 %p2, %r5, 7; mov.u32 %r6, 0; @%p2 bra E; add.u32 %r6, %r5, 1; E:";
  EXPECT_EQ(fault_of(load + branch + "@%p1 st.global.u32 [%rd2], %r6;"), Fault::None);
  EXPECT_EQ(fault_of(load + branch + "mov.u32 %r6, 4; st.global.u32 [%rd2], %r6;"), Fault::None);
}

// Through registers, shared and local memory, from lane to lane.
TEST(RunUndefined, ValuesAreFollowed) {
  const auto all = [&](const std::string& way, const char* guard) {
    return fault_of(load + way + guard + "st.global.u32 [%rd2], %r6;");
  };
  const std::string ways[] = {
      "st.shared.u32 [%r4+512], %r5; ld.shared.u32 %r6, [%r4+512];",
      ".local .align 4 .b8 mine[16]; st.local.u32 [mine+4], %r5; ld.local.u32 %r6, [mine+4];",
      "mov.b64 %rd4, {%r1, %r5}; mov.b64 {%r7, %r6}, %rd4;",
      "cvta.to.shared.u64 %rd4, %rd1; add.u32 %r6, %r5, 0;",
      "shfl.sync.bfly.b32 %r6, %r5, 0, 31, -1;",
  };
  for (const std::string& way : ways) {
    EXPECT_EQ(all(way, "@%p1 "), Fault::None) << way;
    EXPECT_EQ(all(way, ""), Fault::SharedUninitialized) << way;
  }
  // Lane 30 takes lane 31's value, and lane 31 its.
  const std::string swap = "shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; setp.lt.u32 %p1, %r1, 30;";
  EXPECT_EQ(all(swap, "@%p1 "), Fault::None);
  EXPECT_EQ(all(swap, "@!%p1 "), Fault::SharedUninitialized);
  EXPECT_EQ(all(swap + "setp.ne.u32 %p1, %r1, 30;", "@%p1 "), Fault::None);
  // The same where lane 30 stands at another shfl than the others.
  const std::string apart =
      "setp.eq.u32 %p2, %r1, 30; @%p2 bra one; shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; bra meet; "
      "one: "
      "mov.b32 %r7, %r5; shfl.sync.bfly.b32 %r6, %r7, 1, 31, -1; meet: setp.lt.u32 %p1, %r1, 30;";
  EXPECT_EQ(all(apart, "@%p1 "), Fault::None);
  EXPECT_EQ(all(apart, "@!%p1 "), Fault::SharedUninitialized);
  EXPECT_EQ(all(apart + "setp.ne.u32 %p1, %r1, 30;", "@%p1 "), Fault::None);
  // Half of a pair is undefined, and stands for all of it; the other half is not, which other contents show.
  EXPECT_EQ(all("mov.b64 %rd4, {%r1, %r5}; mov.b64 {%r6, %r7}, %rd4;", ""), Fault::None);
  // Written again, bytes and registers are defined.
  EXPECT_EQ(all("st.shared.u32 [%r4+512], %r5; st.shared.u32 [%r4+512], %r1; ld.shared.u32 %r6, "
                "[%r4+512];",
                ""),
            Fault::None);
}

// Rows beyond the end that ldmatrix brings: of the products those of other rows are right.
TEST(RunUndefined, RowsOfMatricesAreApart) {
  const auto product = [](const std::string& guard, const std::string& behind = "") {
    const std::string text = std::string(shared) + R"(
      mov.u32 %r3, x; mad.lo.u32 %r4, %r1, 16, %r3;
      setp.lt.u32 %p1, %r1, 5;
      @%p1 st.shared.v4.u32 [%r4], {0x3c003c00, 0, 0, 0};
      bar.sync 0;
      ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];
      mov.u32 %r6, 0; mov.u32 %r7, 0x3c003c00;
      mov.f32 %f0, 0f00000000;
      mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r5,%r6}, {%r7}, {%f0,%f0,%f0,%f0};
)" + behind + "setp.lt.u32 %p2, %r1, 20;\n" +
                             guard + "st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+128], %f3;";
    PtxRun run(kernel(text));
    run.pass(run.array<float>(64));
    return run.go({});
  };
  EXPECT_EQ(product("@%p2 "), Fault::None);  // row 4 is lanes 16 to 19
  EXPECT_EQ(product(""), Fault::SharedUninitialized);
  EXPECT_EQ(product("@%p2 ",
                    "mov.b32 %r7, %r5; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                    "{%f1,%f2,%f3,%f4}, {%r6,%r6}, {%r7}, {%f0,%f0,%f0,%f0};"),
            Fault::SharedUninitialized);  // a column of B is of all rows
}

TEST(RunUndefined, StmatrixKeepsRowsApart) {
  const auto rows = [](const std::string& guard) {
    const std::string text = std::string(shared) + R"(
      mov.u32 %r3, x; mad.lo.u32 %r4, %r1, 16, %r3; mad.lo.u32 %r8, %r1, 4, %r3;
      setp.lt.u32 %p1, %r1, 5;
      @%p1 st.shared.v4.u32 [%r4], {1, 2, 3, 4};
      bar.sync 0;
      ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];
      stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4+1024], {%r5};
      bar.warp.sync -1;
      ld.shared.u32 %r6, [%r8+1024];
      setp.lt.u32 %p2, %r1, 20;
)" + guard + "st.global.u32 [%rd2], %r6;";
    PtxRun run(kernel(text));
    run.pass(run.array<std::uint32_t>(32));
    return run.go({});
  };
  EXPECT_EQ(rows("@%p2 "), Fault::None);
  EXPECT_EQ(rows(""), Fault::SharedUninitialized);
}

// What a bulk copy sends on is used.
TEST(RunUndefined, ACopyUsesWhatItSends) {
  const std::string store =
      "st.shared.u32 [%r4+512], %r5; fence.proxy.async.shared::cta; bar.sync 0;"
      "setp.eq.u32 %p2, %r1, 0;";
  const auto send = [&](const std::string& bytes) {
    return fault_of(load + store +
                    "add.u32 %r6, %r3, 512;"
                    "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r6], " +
                    bytes +
                    ";"
                    "@%p2 cp.async.bulk.commit_group; @%p2 cp.async.bulk.wait_group 0;");
  };
  EXPECT_EQ(send("112"), Fault::None);
  EXPECT_EQ(send("128"), Fault::SharedUninitialized);
}

// It comes too late: the race is what is said, whether the value is used or not.
TEST(RunUndefined, AWriteThatComesLaterIsARace) {
  PtxRun run(kernel(std::string(shared) + R"(
      mov.u32 %r3, x; setp.ge.u32 %p1, %r1, 32;
      @!%p1 ld.shared.u32 %r5, [%r3];
      @!%p1 st.global.u32 [%rd2], %r5;
      @%p1 st.shared.u32 [%r3], 7;)"));
  run.pass(run.array<std::uint32_t>(64));
  EXPECT_EQ(run.go({.block = {64}}), Fault::DataRace);
}

// Registers that nothing has written, on any way to where they are read.
TEST(RunUndefined, ARegisterThatNothingWroteIsFoundWhereSomethingDependsOnIt) {
  const std::string used[] = {"st.global.u32 [%rd2], %r39;",
                              "mad.wide.u32 %rd4, %r39, 4, %rd2; st.global.u32 [%rd4], %r1;",
                              "setp.eq.u32 %p2, %r39, 0; @%p2 bra E; st.global.u32 [%rd2], %r1; E:",
                              "@%p8 st.global.u32 [%rd2], %r1;",
                              "shf.r.wrap.b32 %r5, %r1, %r39, 4; st.global.u32 [%rd2], %r5;",
                              "shf.l.clamp.b32 %r5, %r39, %r1, 32; st.global.u32 [%rd2], %r5;",
                              "@%p1 mov.u32 %r39, 1; st.global.u32 [%rd2], %r39;",
                              "addc.u32 %r5, %r1, %r1; st.global.u32 [%rd2], %r5;",
                              "mov.u32 %r6, 0; L: add.u32 %r39, %r39, 1; add.u32 %r6, %r6, 1; "
                              "setp.lt.u32 %p2, %r6, 3; @%p2 "
                              "bra L; st.global.u32 [%rd2], %r39;",
                              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, "
                              "%f3}, {%r1, %r1, %r1, %r1}, "
                              "{%r1, %r1}, {%f4, %f5, %f6, %f7}; st.global.f32 [%rd2], %f0;"};
  for (const std::string& rest : used)
    EXPECT_EQ(fault_of(rest), Fault::RegisterUninitialized) << rest;
  const std::string unused[] = {
      "add.u32 %r5, %r39, 1; mov.u32 %r39, 2; st.global.u32 [%rd2], %r39;",
      "@%p1 mov.u32 %r39, 1; @%p1 st.global.u32 [%rd2], %r39;",
      "shf.r.wrap.b32 %r5, %r1, %r39, 0; st.global.u32 [%rd2], %r5;",
      "shf.l.wrap.b32 %r5, %r39, %r1, 32; st.global.u32 [%rd2], %r5;",
      "@%p1 mov.u32 %r39, 1; selp.u32 %r5, %r39, 0, %p1; st.global.u32 [%rd2], %r5;",
      "add.cc.u32 %r5, %r1, %r1; addc.u32 %r5, %r1, %r1; st.global.u32 [%rd2], %r5;",
      "createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0; ld.global.L2::cache_hint.u32 %r5, "
      "[%rd2], %rd9; st.global.u32 [%rd2], %r5;",
      "@%p1 bra E; mov.u32 %r39, 1; bra F; E: mov.u32 %r39, 2; F: st.global.u32 [%rd2], %r39;"};
  for (const std::string& rest : unused) expect_silent(rest);
}

// As of bytes: other contents, the same result.
TEST(RunUndefined, ARegisterWhoseValueChangesNothingIsDisputed) {
  for (const char* same :
       {"mul.lo.u32 %r5, %r39, 0; st.global.u32 [%rd2], %r5;",
        "setp.eq.u32 %p2, %r39, 7; @%p2 bra E; st.global.u32 [%rd2], 1; bra F; E: "
        "st.global.u32 [%rd2], 1; F:",
        "@%p8 bra E; st.global.u32 [%rd2], 1; bra F; E: st.global.u32 [%rd2], 1; F:",
        "addc.u32 %r5, %r1, %r1; mul.lo.u32 %r5, %r5, 0; "
        "st.global.u32 [%rd2], %r5;"}) {
    const Left left = left_by(same);
    EXPECT_EQ(left.fault, Fault::None) << same;
    EXPECT_EQ(left.suspicions, std::vector<Fault>{Fault::UninitializedAssumed}) << same;
  }
}

// Each lane's own: bytes that it has not stored, whatever lies beside them.
TEST(RunUndefined, LocalMemoryThatNothingWroteIsFoundWhereSomethingDependsOnIt) {
  const std::string own = ".local .align 16 .b8 mine[64]; mov.u64 %rd9, mine; ";
  const std::string generic = own + "cvta.local.u64 %rd8, %rd9; ";
  const std::string store = "st.global.u32 [%rd2], %r6;";
  const std::string used[] = {
      own + "ld.local.u32 %r6, [%rd9+8];" + store,
      own + "st.local.u32 [%rd9+8], %r1; ld.local.u32 %r6, [%rd9+4];" + store,
      own + "st.local.u8 [%rd9+8], %r1; ld.local.u32 %r6, [%rd9+8];" + store,
      own + "@%p1 st.local.u32 [%rd9], %r1; ld.local.u32 %r6, [%rd9];" + store,
      own + "st.local.u32 [%rd9], %r1; ld.local.v2.u32 {%r7, %r6}, [%rd9];" + store,
      own + "ld.local.u32 %r6, [%rd9]; st.local.u32 [%rd9+16], %r6; ld.local.u32 %r6, [%rd9+16];" +
          store,
      own + "ld.local.u32 %r7, [%rd9]; st.shared.u32 [%r4], %r7; ld.shared.u32 %r6, [%r4];" + store,
      own + "ld.local.u32 %r7, [%rd9]; setp.eq.u32 %p2, %r7, 7; @%p2 st.global.u32 [%rd2], 1;",
      generic + "ld.u32 %r6, [%rd8];" + store,
      generic + "st.u32 [%rd8+4], %r1; ld.u32 %r6, [%rd8];" + store};
  for (const std::string& rest : used) EXPECT_EQ(fault_of(rest), Fault::LocalUninitialized) << rest;
  const std::string unused[] = {
      own + "ld.local.u32 %r7, [%rd9]; add.u32 %r7, %r7, 1;",
      own + "st.local.u32 [%rd9+8], %r1; ld.local.u32 %r6, [%rd9+8];" + store,
      own + "@%p1 st.local.u32 [%rd9], %r1; ld.local.u32 %r6, [%rd9]; @%p1 " + store,
      own + "st.local.u32 [%rd9], %r1; ld.local.v2.u32 {%r6, %r7}, [%rd9];" + store,
      own + "st.local.v4.u32 [%rd9], {%r1, %r1, %r1, %r1}; ld.local.u16 %r6, [%rd9+14];" + store,
      own + "ld.local.u32 %r7, [%rd9]; st.local.u32 [%rd9], %r1; ld.local.u32 %r6, [%rd9];" + store,
      generic + "st.u32 [%rd8+4], %r1; ld.local.u32 %r6, [%rd9+4];" + store};
  for (const std::string& rest : unused) expect_silent(rest);
  const Left same = left_by(own + "ld.local.u32 %r6, [%rd9]; mul.lo.u32 %r6, %r6, 0;" + store);
  EXPECT_EQ(same.suspicions, std::vector<Fault>{Fault::UninitializedAssumed});
  EXPECT_EQ(fault_of(own + "st.local.u32 [%rd9+64], %r1;"), Fault::AddressNowhere);
  // What another read brought stays that read's.
  EXPECT_EQ(fault_of(own + load + "st.local.u32 [%rd9], %r5; ld.local.v2.u32 {%r6, %r7}, [%rd9];" +
                     store),
            Fault::SharedUninitialized);
}

// What shfl takes from a lane that does not take part: not in the mask, gone, elsewhere, not of the block.
TEST(RunUndefined, AShuffleFromALaneThatTakesNoPartIsFoundWhereItIsUsed) {
  const std::string store = "st.global.u32 [%rd2], %r5;";
  const std::string half = "setp.lt.u32 %p1, %r1, 16; ";
  const std::string ended = half + "@!%p1 ret; ";
  const std::string down = "shfl.sync.down.b32 %r5, %r1, 8, 31, ";
  const std::string used[] = {
      half + "@%p1 shfl.sync.idx.b32 %r5, %r1, 20, 31, 0xffff; @%p1 " + store,
      ended + "shfl.sync.idx.b32 %r5, %r1, 20, 31, -1; " + store,
      ended + down + "-1; setp.lt.u32 %p2, %r1, 9; @%p2 " + store,
      half + "@%p1 bra L; " + down + "0xffff0000; " + store + " bra E; L: " + down + "0xffff; " +
          store + " E:",
      ended + down +
          "-1; add.u32 %r5, %r5, %r1; st.shared.u32 [%r4], %r5; ld.shared.u32 %r6, [%r4]; "
          "st.global.u32 [%rd1], %r6;",
      ended + "shfl.sync.idx.b32 %r1, %r1, 20, 31, -1; st.global.u32 [%rd2], %r1;",
      ended + "shfl.down.b32 %r5, %r1, 8, 31; " + store,
      half + "@!%p1 bra E; shfl.idx.b32 %r5, %r1, 20, 31; " + store + " E:",
      // Two masks at one instruction: there, and not in the reader's.
      half +
          "selp.b32 %r6, 0xffff, 0xffff0000, %p1; shfl.sync.idx.b32 %r5, %r1, 20, 31, %r6; @%p1 " +
          store,
      // A sum of a warp of which sixteen lanes are left.
      ended + "mov.u32 %r6, %r1; shfl.sync.bfly.b32 %r5, %r6, 16, 31, -1; add.u32 %r5, %r6, %r5; " +
          store,
      // An undefined value of another kind is handed on by lanes that take part.
      "shfl.sync.idx.b32 %r5, %r39, 3, 31, -1; shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; " + store};
  for (const std::string& rest : used) {
    const bool is_register = rest.find("%r39") != std::string::npos;
    EXPECT_EQ(fault_of(rest),
              is_register ? Fault::RegisterUninitialized : Fault::ShuffleSourceInactive)
        << rest;
  }
  PtxRun narrow(kernel(down + "-1; setp.gt.u32 %p1, %r1, 7; @%p1 " + store));
  narrow.pass(narrow.array<std::uint32_t>(32));
  EXPECT_EQ(narrow.go({.block = {16}}), Fault::ShuffleSourceInactive);
  EXPECT_NE(narrow.place().find("shfl.sync.down"), std::string::npos);
}

TEST(RunUndefined, AShuffleWhoseUpperLanesAreDroppedIsNoFault) {
  const std::string ended = "setp.lt.u32 %p1, %r1, 16; @!%p1 ret; ";
  std::string sum = ended + "mov.u32 %r5, %r1; ";
  for (const char* step : {"8", "4", "2", "1"})
    sum += "shfl.sync.down.b32 %r6, %r5, " + std::string(step) +
           ", 31, 0xffff; add.u32 %r5, %r5, %r6; ";
  const Left dropped = left_by(sum + "setp.eq.u32 %p2, %r1, 0; @%p2 st.global.u32 [%rd2], %r5;");
  EXPECT_EQ(dropped.fault, Fault::None);
  EXPECT_TRUE(dropped.suspicions.empty());
  EXPECT_EQ(dropped.words[0], 120u);
  const std::string store = " st.global.u32 [%rd2], %r5;";
  for (const std::string& rest :
       {// Out of range: the lane's own value.
        ended + "shfl.sync.down.b32 %r5, %r1, 8, 0x100f, 0xffff;" + store,
        ended + "shfl.sync.up.b32 %r5|%p2, %r1, 8, 0, 0xffff;" + store,
        ended + "shfl.down.b32 %r5, %r1, 8, 0x100f;" + store,
        // The predicate that says so is defined; selp takes what is.
        ended + "shfl.sync.down.b32 %r5|%p2, %r1, 8, 31, 0xffff; selp.u32 %r5, 1, 0, %p2;" + store,
        ended +
            "shfl.sync.down.b32 %r5, %r1, 8, 31, 0xffff; setp.lt.u32 %p2, %r1, 8; "
            "selp.b32 %r5, %r5, %r1, %p2;" +
            store,
        std::string("setp.lt.u32 %p1, %r1, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p1; "
                    "shfl.sync.idx.b32 %r5, %r1, 20, 31, %r6; @!%p1") +
            store,
        // Two halves, each in a mask and on a way of its own.
        std::string("setp.lt.u32 %p1, %r1, 16; @%p1 bra L; "
                    "shfl.sync.idx.b32 %r5, %r1, 20, 31, 0xffff0000; bra E; L: "
                    "shfl.sync.idx.b32 %r5, %r1, 3, 31, 0xffff; E:") +
            store,
        std::string("setp.lt.u32 %p1, %r1, 16; @%p1 bra L; "
                    "shfl.sync.bfly.b32 %r5, %r1, 16, 31, -1; bra E; L: "
                    "shfl.sync.bfly.b32 %r5, %r1, 16, 31, -1; E:") +
            store})
    expect_silent(rest);
}

// Any word instead leaves the same.
TEST(RunUndefined, AShuffleFromNobodyThatChangesNothingIsDisputed) {
  const std::string ended = "setp.lt.u32 %p1, %r1, 16; @!%p1 ret; ";
  const Left left = left_by(ended +
                            "shfl.sync.idx.b32 %r5, %r1, 20, 31, -1; mul.lo.u32 %r5, %r5, 0; "
                            "st.global.u32 [%rd2], %r5;");
  EXPECT_EQ(left.fault, Fault::None);
  EXPECT_EQ(left.suspicions, std::vector<Fault>{Fault::UninitializedAssumed});
}

// CC is followed as a register is.
TEST(RunUndefined, ACarryHandsOnWhatNothingWrote) {
  EXPECT_EQ(fault_of(std::string(load) + "add.cc.u32 %r6, %r5, %r5; addc.u32 %r6, %r1, %r1; "
                                         "st.global.u32 [%rd2], %r6;"),
            Fault::SharedUninitialized);
}

}  // namespace
}  // namespace tcq::tests
