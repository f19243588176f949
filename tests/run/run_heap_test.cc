// malloc and free of kernels: blocks, what lies beyond them, what was freed.
#include <set>

#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

constexpr const char* declared =
    ".extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);\n"
    ".extern .func free(.param .b64 free_param_0);\n";

// %rd9 = malloc(bytes)
std::string take(const std::string& bytes) {
  return "{ .param .b64 param0; .param .b64 retval0; mov.u64 %rd8, " + bytes +
         "; st.param.b64 [param0+0], %rd8; call.uni (retval0), malloc, (param0);"
         "ld.param.b64 %rd9, [retval0+0]; }\n";
}
std::string give(const std::string& pointer) {
  return "{ .param .b64 param0; st.param.b64 [param0+0], " + pointer +
         "; call.uni free, (param0); }\n";
}

struct Left {
  Fault fault = Fault::None;
  std::vector<std::uint64_t> words;
};
// What the threads store at %rd3, 8 bytes each.
Left left_by(const std::string& body, const Shape& shape = {.block = {64}}) {
  PtxRun run(
      kernel("mov.u32 %r9, %ctaid.x; mad.lo.u32 %r9, %r9, 64, %r1;"
             "mad.wide.u32 %rd3, %r9, 8, %rd1;\n" +
                 body,
             declared));
  const Pointer out = run.array<std::uint64_t>(256);
  run.pass(out);
  Left left{run.go(shape), {}};
  if (left.fault == Fault::None) left.words = run.read<std::uint64_t>(out, 256);
  return left;
}
Fault fault_of(const std::string& body) { return left_by(body).fault; }

TEST(RunHeap, ABlockIsOfTheThreadThatTookIt) {
  const Left left = left_by(take("20") + R"(
    st.u32 [%rd9], %r1;
    st.u32 [%rd9+16], 9;
    ld.u32 %r2, [%rd9];
    ld.u32 %r3, [%rd9+16];
    add.u32 %r2, %r2, %r3;
    cvt.u64.u32 %rd4, %r2;
    st.global.u64 [%rd3], %rd4;)" +
                            give("%rd9"));
  ASSERT_EQ(left.fault, Fault::None);
  for (std::uint64_t t = 0; t < 64; ++t) EXPECT_EQ(left.words[t], t + 9);
}

// Of all CTAs, which run one after the other.
TEST(RunHeap, BlocksAreAlignedAndApart) {
  const Left left =
      left_by(take("20") + "st.global.u64 [%rd3], %rd9;", {.grid = {2}, .block = {64}});
  std::set<std::uint64_t> begins;
  for (std::size_t t = 0; t < 128; ++t) {
    EXPECT_EQ(left.words[t] % 16, 0u);
    begins.insert(left.words[t]);
  }
  ASSERT_EQ(begins.size(), 128u);
  std::uint64_t last = 0;
  for (const std::uint64_t at : begins) {
    EXPECT_GE(at, last + 20);
    last = at;
  }
}

TEST(RunHeap, OnlyABlockInUseIsAccessed) {
  const std::string ways[] = {"st.u32 [%rd9+20], 1;", "ld.u32 %r2, [%rd9+-4];",
                              "st.u64 [%rd9+16], %rd9;", "atom.add.u32 %r2, [%rd9+32], 1;",
                              "ld.v4.u32 {%r2, %r3, %r4, %r5}, [%rd9+16];"};
  for (const std::string& way : ways)
    EXPECT_EQ(fault_of(take("20") + way), Fault::HeapBlockMissing) << way;
  for (const std::string within :
       {"ld.v4.u32 {%r2, %r3, %r4, %r5}, [%rd9];", "ld.u32 %r2, [%rd9+16];"})
    EXPECT_EQ(fault_of(take("20") + within), Fault::None) << within;
  EXPECT_EQ(fault_of(take("0") + "ld.u8 %r2, [%rd9];"), Fault::HeapBlockMissing);
  EXPECT_EQ(fault_of(take("20") + give("%rd9") + "ld.u32 %r2, [%rd9];"), Fault::HeapBlockMissing);
}

TEST(RunHeap, ABlockIsFreedOnce) {
  EXPECT_EQ(fault_of(take("40") + give("%rd9")), Fault::None);
  EXPECT_EQ(fault_of(take("40") + give("%rd9") + give("%rd9")), Fault::HeapBlockMissing);
  EXPECT_EQ(fault_of(take("40") + "add.u64 %rd9, %rd9, 16;" + give("%rd9")),
            Fault::HeapBlockMissing);
  EXPECT_EQ(fault_of(give("%rd3")), Fault::HeapBlockMissing);
  EXPECT_EQ(fault_of("mov.u64 %rd9, 0;" + give("%rd9")), Fault::None);
}

// More than there is at all is a null pointer; of more than is left a chip may have what was freed.
TEST(RunHeap, WhereThereIsNoRoom) {
  const Left none = left_by(take("8388609") + "st.global.u64 [%rd3], %rd9;");
  ASSERT_EQ(none.fault, Fault::None);
  EXPECT_EQ(none.words[63], 0u);
  EXPECT_EQ(fault_of(take("1000000")), Fault::UnmodelledInstruction);
}

// A block that one thread hands to another is global memory as any other.
TEST(RunHeap, SharedBlocksRace) {
  const auto hand_over = [](const std::string& between) {
    return fault_of(".shared .align 8 .b64 place; setp.eq.u32 %p1, %r1, 0; @!%p1 bra J;\n" +
                    take("8") +
                    "st.shared.u64 [place], %rd9; J: bar.sync 0; ld.shared.u64 %rd9, [place];\n"
                    "@%p1 st.u32 [%rd9], 5;\n" +
                    between + "ld.u32 %r2, [%rd9]; st.global.u32 [%rd3], %r2;");
  };
  EXPECT_EQ(hand_over("bar.sync 0;"), Fault::None);
  EXPECT_EQ(hand_over(""), Fault::DataRace);
}

}  // namespace
}  // namespace tcq::tests
