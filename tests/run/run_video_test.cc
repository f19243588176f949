// Video instructions: parts of operands, saturation, second operations, what stays of c.
#include "sim/run/inline_calls.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

struct Row {
  std::string text;  // %r5 is written, %r6, %r7 and %r8 are read
  std::uint32_t a, b, c, d;
};

std::uint32_t result_of(const Row& row) {
  PtxRun run(kernel("mov.u32 %r6, " + std::to_string(row.a) + "; mov.u32 %r7, " +
                    std::to_string(row.b) + "; mov.u32 %r8, " + std::to_string(row.c) + ";\n" +
                    row.text + "; st.global.u32 [%rd1], %r5;"));
  const Pointer out = run.array<std::uint32_t>(1);
  run.pass(out);
  EXPECT_EQ(run.go({.block = {1}}), Fault::None) << row.text;
  return run.read<std::uint32_t>(out, 1)[0];
}

void expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(result_of(row), row.d) << row.text;
}

TEST(RunVideo, ScalarsTakeParts) {
  expect({{"vadd.u32.u32.u32 %r5, %r6, %r7", 0xffffffff, 2, 0, 1},
          {"vadd.s32.u32.u32 %r5, %r6.b1, %r7.h1", 0x8000, 0x12345678, 0, 0x80 + 0x1234},
          {"vadd.s32.s32.u32 %r5, %r6.b3, %r7.h0", 0x80000000, 0x1234, 0, 0x1234 - 0x80},
          {"vsub.s32.s32.s32 %r5, %r6.h1, %r7.b0", 0xffff0000, 0x7f, 0, 0xffffff80},
          {"vabsdiff.u32.s32.s32 %r5, %r6, %r7", 0x80000000, 0x7fffffff, 0, 0xffffffff},
          {"vmin.s32.s32.u32 %r5, %r6, %r7", 0xffffffff, 0, 0, 0xffffffff},
          {"vmin.s32.u32.s32 %r5, %r6, %r7", 0xffffffff, 5, 0, 5},
          {"vmax.s32.s32.s32 %r5, %r6.b2, %r7.b1", 0x00800000, 0x0100, 0, 1}});
}

TEST(RunVideo, ScalarsSaturateToWhatIsWritten) {
  expect({{"vadd.s32.s32.s32.sat %r5, %r6, %r7", 0x7fffffff, 1, 0, 0x7fffffff},
          {"vadd.u32.s32.s32.sat %r5, %r6, %r7", 0xffffffff, 0, 0, 0},
          {"vsub.u32.u32.s32.sat %r5, %r6, %r7", 0xffffffff, 0xffffffff, 0, 0xffffffff},
          {"vadd.s32.u32.u32.sat %r5.b1, %r6, %r7, %r8", 100, 100, 0x11223344, 0x11227f44},
          {"vadd.u32.u32.u32.sat %r5.h1, %r6, %r7, %r8", 0xffff, 7, 0x11223344, 0xffff3344},
          {"vadd.u32.u32.u32 %r5.b3, %r6, %r7, %r8", 0xff, 2, 0x11223344, 0x01223344},
          {"vadd.u32.u32.u32.sat.add %r5, %r6, %r7, %r8", 0xffffffff, 9, 2, 1},
          {"vsub.s32.u32.u32.min %r5, %r6, %r7, %r8", 1, 2, 0, 0xffffffff},
          {"vsub.u32.u32.u32.max %r5, %r6, %r7, %r8", 1, 2, 0xfffffff0, 0xfffffff0}});
}

TEST(RunVideo, ShiftsClampOrWrap) {
  expect({{"vshl.u32.u32.u32.clamp %r5, %r6, %r7", 1, 40, 0, 0},
          {"vshl.u32.u32.u32.wrap %r5, %r6, %r7", 1, 40, 0, 256},
          {"vshl.u32.u32.u32.sat.clamp %r5, %r6, %r7", 0xa0000000, 40, 0, 0xffffffff},
          {"vshl.s32.s32.u32.sat.clamp %r5, %r6.b3, %r7", 0xa0000000, 30, 0, 0x80000000},
          {"vshr.s32.s32.u32.clamp %r5, %r6, %r7", 0x80000000, 99, 0, 0xffffffff},
          {"vshr.u32.u32.u32.wrap.add %r5, %r6, %r7.b1, %r8", 0x80000000, 0x2300, 5, 0x10000005}});
}

TEST(RunVideo, ProductsAreNegatedAndScaled) {
  expect(
      {{"vmad.u32.u32.u32 %r5, %r6, %r7, %r8", 0x10001, 0x10001, 3, 0x20004},
       {"vmad.u32.u32.u32.shr15 %r5, %r6, %r7, %r8", 0xffffffff, 0xffffffff, 0xffffffff,
        0xfffe0000},
       {"vmad.u32.u32.u32.sat %r5, %r6, %r7, %r8", 0xffffffff, 2, 0, 0xffffffff},
       {"vmad.s32.s32.s32.sat.shr7 %r5, %r6.b0, %r7.b1, %r8", 0x80, 0x7f00, 0xfffffff0, 0xffffff80},
       {"vmad.s32.u32.u32.sat %r5, -%r6, %r7, %r8", 0xffffffff, 1, 5, 0x80000000},
       {"vmad.s32.u32.u32 %r5, -%r6, -%r7, %r8", 3, 5, 1, 16},
       {"vmad.s32.u32.u32.sat %r5, %r6, %r7, -%r8", 1, 1, 0xfffffff0, 0x80000000},
       {"vmad.u32.u32.u32.po %r5, %r6.h0, %r7.h1, %r8", 3, 0x50000, 1, 17}});
}

TEST(RunVideo, ComparisonsAreOneOrZero) {
  expect({{"vset.s32.u32.lt %r5, %r6, %r7", 0xffffffff, 0, 0, 1},
          {"vset.u32.u32.lt %r5, %r6, %r7", 0xffffffff, 0, 0, 0},
          {"vset.u32.u32.ge.add %r5, %r6.b0, %r7.b1, %r8", 0x33, 0x3300, 6, 7},
          {"vset.u32.s32.eq %r5.b2, %r6, %r7, %r8", 4, 4, 0xffffffff, 0xff01ffff},
          {"vset2.s32.s32.gt %r5, %r6, %r7, %r8", 0x00018000, 0x00008001, 9, 0x00010000},
          {"vset4.u32.u32.ne.add %r5, %r6, %r7, %r8", 0x11223344, 0x11003300, 5, 7}});
}

TEST(RunVideo, PartsAreChosenAndMasked) {
  expect({{"vadd4.u32.u32.u32.sat %r5, %r6, %r7, %r8", 0x01ff7f80, 0x0102017f, 0, 0x02ff80ff},
          {"vadd4.s32.s32.s32.sat %r5, %r6, %r7, %r8", 0x80ff7f80, 0x80020101, 0, 0x80017f81},
          {"vsub2.s32.u32.u32 %r5, %r6, %r7, %r8", 0x00000005, 0x00010007, 9, 0xfffffffe},
          {"vsub2.u32.u32.u32.sat %r5.h1, %r6.h03, %r7.h12, %r8", 0x00030004, 0x00010002,
           0x55557777, 0x00017777},
          {"vavrg2.s32.s32.s32 %r5, %r6, %r7, %r8", 0xffff0001, 0xfffe0002, 0, 0xfffe0002},
          {"vavrg4.u32.u32.u32 %r5.b20, %r6.b7777, %r7.b0000, %r8", 2, 0x05000000, 0x11223344,
           0x11043304},
          {"vmin4.s32.s32.u32.add %r5.b310, %r6, %r7, %r8", 0x01ff0380, 0x00020101, 100, 0U - 27},
          {"vmax2.u32.s32.s32 %r5, %r6, %r7, %r8", 0x8000ffff, 0x0001fffe, 0, 0x0001ffff},
          {"vabsdiff2.u32.u32.u32.sat %r5, %r6, %r7, %r8", 0x00ffff01, 0x0100fe00, 9, 0x00010101},
          {"vabsdiff4.u32.u32.u32 %r5, %r6, %r7, %r8", 0x01ff0580, 0x02001080, 9, 0x01ff0b00},
          {"vabsdiff4.u32.u32.u32.add %r5, %r6, %r7, %r8", 0x01ff0580, 0x02001080, 9, 9 + 267},
          {"vabsdiff4.s32.s32.s32.sat %r5, %r6, %r7, %r8", 0x80ff0000, 0x7f010000, 0, 0x7f020000}});
}

TEST(RunVideo, WhatItsTextDoesNotHaveIsRefused) {
  for (const std::string text :
       {"vadd.u32.u32.u32 %r5, %r6, %r7, %r8", "vadd.u32.u32.u32.add %r5, %r6, %r7",
        "vadd.u32.u32.u32.add %r5.b0, %r6, %r7, %r8", "vadd.u32.u32.u32 %r5, %r6.b4, %r7",
        "vadd.u32.u32.u32 %r5, -%r6, %r7", "vadd.u32.u32.u16 %r5, %r6, %r7",
        "vshl.u32.u32.s32.wrap %r5, %r6, %r7", "vmad.u32.u32.u32 %r5.b0, %r6, %r7, %r8",
        "vmad.u32.u32.u32.po %r5, -%r6, %r7, %r8", "vmad.u32.u32.u32 %r5, -%r6, %r7, -%r8",
        "vadd2.u32.u32.u32 %r5.h01, %r6, %r7, %r8", "vadd2.u32.u32.u32 %r5, %r6.h4, %r7, %r8",
        "vadd4.u32.u32.u32 %r5, %r6.b8000, %r7, %r8",
        "vadd2.u32.u32.u32.sat.add %r5, %r6, %r7, %r8", "add.u32 %r5, -%r6, %r7"}) {
    const std::string whole = kernel(text + ";");
    EXPECT_EQ(run::load(whole).unknown, 1U) << text;
  }
}

}  // namespace
}  // namespace tcq::tests
