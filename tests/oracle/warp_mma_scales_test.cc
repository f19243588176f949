// The warp's mma: where its scale factors lie, and how its narrow types are spelt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/isa/base/mma_scales.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

// Each factor has one byte, whichever lanes give it; the lanes are CUTLASS's SFALayout and SFBLayout,
// ((2,2,8)):((8,0,1)) and ((4,8)):((0,1)).
TEST(WarpMmaScales, AreWhereTheirSelectorsSay) {
  using namespace warp_mma;
  for (int byte_id = 0; byte_id < scale_bytes; ++byte_id)
    for (int thread_id = 0; thread_id < b_scale_threads; ++thread_id)
      for (int row = 0; row < 16; ++row) {
        const ScaleSelector at{byte_id, thread_id};
        if (thread_id < a_scale_threads) {
          const Slot a = a_scale_slot({row, 0}, at);
          EXPECT_EQ(a.part, byte_id);
          EXPECT_EQ(a.lane / 2 % 2, thread_id);
          EXPECT_EQ(8 * (a.lane % 2) + a.lane / 4, row);
          EXPECT_EQ(a_scale_element(a, at), (Element{row, 0}));
        }
        if (row >= n) continue;
        const Slot b = b_scale_slot({row, 0}, at);
        EXPECT_EQ(b.lane % 4, thread_id);
        EXPECT_EQ(b.lane / 4, row);
        EXPECT_EQ(b_scale_element(b, at), (Element{row, 0}));
      }
  EXPECT_EQ(ask("what mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 SFA thread=2")
                .status,
            Status::No);
}

// The byte that byte_id= names is the part of every answer: in text, in JSON, as a question, in grids, in equations.
TEST(WarpMmaScales, PartIsTheByteEverywhere) {
  const std::string two = "mma.m16n8k64.kind::mxf4.block_scale.f32.e2m1.e2m1.f32 SFA";
  const auto starts = [](const std::string& question, const std::string& text) {
    const std::string answer = text_of(question);
    EXPECT_TRUE(answer.starts_with(text)) << question << "\n" << answer;
  };
  starts("where " + two + " row=5 col=1 byte_id=2", "SFA[5][1] = thread 20, register 0, part 3\n");
  EXPECT_NE(text_of("where " + two + " row=5 col=1 byte_id=2", styled(Style::Json))
                .find("\"part\":3,\"low_bit\":24,\"bits\":8"),
            std::string::npos);
  starts("what " + two + " thread=20 register=0 part=3 byte_id=2",
         "thread 20, register 0, part 3 = SFA[5][1]\n");
  EXPECT_NE(ask("what " + two + " thread=20 register=0 part=1 byte_id=2").status, Status::Yes);
  starts("table " + two + " byte_id=2", "SFA[16][2]  0       1\n0           0:0.2   0:0.3\n");
  const std::string equation = text_of("equation " + two + " byte_id=2");
  EXPECT_NE(equation.find("col = (part - 2)\n"), std::string::npos) << equation;
  EXPECT_NE(equation.find("part = col + 2\n"), std::string::npos) << equation;
  const std::string one = "mma.m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 SFA";
  starts("where " + one + " row=3 col=0 byte_id=2", "SFA[3][0] = thread 12, register 0, part 2\n");
  EXPECT_NE(text_of("equation " + one + " byte_id=2").find("part = 0 + 2\n"), std::string::npos)
      << text_of("equation " + one + " byte_id=2");
}

// mma reads 4 bits in the middle of a byte, 6 at its low end; ldmatrix leaves them at the low end.
TEST(WarpMma, NarrowTypesHaveTheirBitsOfAByte) {
  const std::string a = "mma.m16n8k32.f32.e2m1.e4m3 A";
  EXPECT_NE(text_of("where " + a + " row=1 col=1", styled(Style::Json))
                .find("\"part\":1,\"low_bit\":10,\"bits\":4"),
            std::string::npos);
  EXPECT_NE(text_of("where " + a + " row=1 col=1").find("note: e2m1 is bits [2,6) of its byte"),
            std::string::npos);
  const std::string four = "ldmatrix.m8n16.x4.b8x16.b4x16_p64 D ";
  EXPECT_NE(text_of("where " + four + "row=1 col=1", styled(Style::Json))
                .find("\"low_bit\":8,\"bits\":4"),
            std::string::npos);
  const std::string of_b = "ldmatrix.m8n16.x2.b8x16.b4x16_p64 D mma.m16n8k32.f32.e4m3.e2m1 B";
  for (const std::string& layouts : {four + a, of_b}) {
    const std::string answer = text_of("diff " + layouts);
    EXPECT_EQ(answer.find("the same"), std::string::npos) << answer;
    EXPECT_NE(answer.find("shl.b32 of every register by 2"), std::string::npos) << answer;
  }
  const std::string six = "ldmatrix.m8n16.x4.b8x16.b6x16_p32 D ";
  EXPECT_NE(text_of("diff " + six + "mma.m16n8k32.f32.e3m2.e4m3 A").find("the same"),
            std::string::npos);
  EXPECT_EQ(ask("diff " + six + a).status, Status::No);
  EXPECT_EQ(ask("where mma.m16n8k64.kind::mxf4.block_scale.f32.e2m1.e2m1.f32 A row=0 col=1")
                .text.find("note"),
            std::string::npos);
}

// What describe says of words, targets and evidence is what check and the recording say.
TEST(WarpMma, DescribeSaysWordsTargetsAndEvidence) {
  const auto says = [](const std::string& mnemonic, const std::string& text) {
    const std::string answer = text_of("describe " + mnemonic);
    EXPECT_NE(answer.find(text), std::string::npos) << answer;
  };
  says("mma.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "row.col.s32.b1.b1.s32.xor.popc D, A, B, C");
  says("mma.m16n8k32.row.col.satfinite.s32.s8.s8.s32", "row.col.satfinite.s32.s8.s8.s32 D, A");
  says("mma.m8n8k4.rz.f64.f64.f64", "m8n8k4.row.col.rz.f64.f64.f64.f64 D, A");
  says("mma.m16n8k256.s32.b1.b1", ".and.popc or .xor.popc, one of them mandatory");
  says("mma.m16n8k16.f32.bf16.bf16", "legal on             sm_90, sm_90a, sm_100, ");
  says("mma.m16n8k16.f32.bf16.bf16", "Measured tests/vectors/warp_mma.tcqv");
  for (const char* narrow : {"mma.m16n8k32.f32.e2m1.e4m3", "mma.m16n8k32.f32.e3m2.e4m3"}) {
    says(narrow, "legal on             sm_120a, sm_120f, sm_121a\n");
    says(narrow, "its arithmetic: Inferred, not recorded");
  }
}

// ptxas 13.0.88: ".kind::f8f6f4 modifier required".
TEST(WarpMma, NarrowTypesAreSpeltWithTheirKind) {
  for (const char* narrow : {"e2m1", "e2m3", "e3m2"})
    EXPECT_NE(text_of(fmt::format("describe mma.m16n8k32.f32.e4m3.{}", narrow))
                  .find(fmt::format("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.{}.f32", narrow)),
              std::string::npos);
  EXPECT_EQ(text_of("describe mma.m16n8k32.f32.e4m3.e5m2").find("kind::"), std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
