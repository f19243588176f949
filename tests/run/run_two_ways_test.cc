// Lanes that come to one instruction of their warp on two ways.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

std::vector<std::uint32_t> words_of(const std::string& body, Fault expected = Fault::None) {
  PtxRun run(kernel("mov.u32 %r5, 0;\n" + body));
  const Pointer out = run.array<std::uint32_t>(32);
  run.pass(out);
  EXPECT_EQ(run.go({}), expected);
  return run.read<std::uint32_t>(out, 32);
}

// As compilers thread the jump behind `if (threadIdx.x == 0) init();` into the body of `if (warp == 0) alloc();`.
std::string on_two_ways(const std::string& statement, const std::string& first_goes_to = "BOTH") {
  return R"(
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r4, %r1;
    @%p1 bra FIRST;
    setp.gt.u32 %p2, %r1, 31;
    @%p2 bra BEHIND;
    bra BOTH;
  FIRST:
    bra )" +
         first_goes_to + ";\n  BOTH:\n" + statement +
         "\n  BEHIND:\n    st.global.u32 [%rd2], %r2;\n";
}

TEST(RunTwoWays, LanesComeToAnInstructionOfTheWarpOnWhateverWays) {
  for (const char* statement :
       {"movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r4;",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r2, %r3}, {%r4}, {%r4}, {%r5, %r5};",
        ".shared .align 16 .b8 rows[512]; mov.u32 %r6, rows; shl.b32 %r7, %r1, 4; add.u32 %r6, "
        "%r6, %r7; st.shared.u32 [%r6], %r1; "
        "st.shared.u32 [%r6+4], %r1; st.shared.v2.u32 [%r6+8], {%r1, %r1}; bar.warp.sync -1; "
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r6];"}) {
    EXPECT_EQ(words_of(on_two_ways(statement)),
              words_of(std::string("mov.u32 %r4, %r1;") + statement + "st.global.u32 [%rd2], %r2;"))
        << statement;
    words_of(on_two_ways(statement, "BEHIND"), Fault::WarpDivergent);
  }
}

}  // namespace
}  // namespace tcq::tests
