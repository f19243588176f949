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
