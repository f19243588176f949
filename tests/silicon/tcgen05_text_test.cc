// The text of tcgen05 statements, in wrappers and in probes: whole, and as PTX writes it. That
// ptxas accepts it: tcgen05_instances.cu for wrappers, tcgen05_probe_test.cc for probes.
#include "cuda/ptx/tcgen05_text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "sim/isa/tcgen05/syntax.h"
#include "tests/support/tcgen05_forms.h"

namespace tcq::tests {
namespace {

using namespace tcgen05;

template <class Form>
std::string statement(const Form& form, int immediate = 0) {
  std::string text =
      std::string(opcode(form).chars) + ptx::operands_before_vector(form, immediate).chars;
  if (vector_registers(form) != 0 && text.back() != ';')
    text += std::string("{...}") + ptx::operands_after_vector(form, immediate).chars;
  return text;
}

TEST(Tcgen05_Text, StatementsAreWrittenAsTheManualDoes) {
  MmaForm mma{{.kind = Kind::f16}};
  EXPECT_EQ(statement(mma),
            "tcgen05.mma.cta_group::1.kind::f16 [d], desc_a, desc_b, idesc, accumulate;");
  mma.opcode = {Kind::tf32, 2, false, true, ScaleVec::Default, Place::Tmem, true};
  mma.disable_output_lane = mma.scale_input_d = true;
  EXPECT_EQ(statement(mma, 15),
            "tcgen05.mma.sp.cta_group::2.kind::tf32.ashift [d], [a], desc_b, [metadata], idesc, "
            "{l0, l1, l2, l3, l4, l5, l6, l7}, accumulate, 15;");
  EXPECT_EQ(statement(MmaForm{{.kind = Kind::mxf4, .scale_vec = ScaleVec::Block32}}),
            "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 [d], desc_a, desc_b, idesc, "
            "[scale_a], [scale_b], accumulate;");
  MmaForm ws{{.kind = Kind::i8, .ws = true}, {CollectorBuffer::B2, CollectorUse::Fill}};
  ws.zero_column_mask = true;
  EXPECT_EQ(statement(ws),
            "tcgen05.mma.ws.cta_group::1.kind::i8.collector::b2::fill [d], desc_a, desc_b, idesc, "
            "accumulate, zero_mask;");
  EXPECT_EQ(statement(LdForm{LdShape::S32x32b, 4, true}),
            "tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {...}, [taddr];");
  EXPECT_EQ(statement(StForm{LdShape::S16x32bx2, 8}, -4),
            "tcgen05.st.sync.aligned.16x32bx2.x8.b32 [taddr], -4, {...};");
  EXPECT_EQ(statement(LdRedForm{LdShape::S16x32bx2, 2, RedOp::Max, true, true}, 64),
            "tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.abs.NaN.f32 {...}, reduced, [taddr], 64;");
  EXPECT_EQ(statement(CpForm{CpSize::S32x128b, CpMulticast::Warpx4, CpSource::B6x16_p32, 2}),
            "tcgen05.cp.cta_group::2.32x128b.warpx4.b8x16.b6x16_p32 [taddr], desc;");
  EXPECT_EQ(statement(CommitForm{2, true}),
            "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster"
            ".b64 [mbar], mask;");
  EXPECT_EQ(statement(DeallocForm{}),
            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, columns;");
  EXPECT_EQ(statement(WaitForm{}), "tcgen05.wait::ld.sync.aligned;");
}

template <class List>
void expect_whole(const List& forms) {
  for (int i = 0; i < forms.size; ++i) {
    const auto& [form, immediate] = forms.list[i];
    const bool vector = ptx::vector_index(operands(form)) != operands(form).size;
    EXPECT_TRUE(ptx::is_whole(vector ? ptx::operands_after_vector(form, immediate)
                                     : ptx::operands_before_vector(form, immediate)));
    EXPECT_LT(opcode(form).size + 1, PtxText::capacity) << opcode(form).chars;
    EXPECT_LT(ptx::operands_before_vector(form, immediate).size + 1, PtxText::capacity);
    EXPECT_TRUE(ptx::immediate_exists(form, immediate));
  }
}

TEST(Tcgen05_Text, NoFormsTextIsCutOff) {
  for (const Target target : {Target::sm_100a, Target::sm_103a, Target::sm_110a}) {
    for (const int cta_group : {1, 2}) {
      expect_whole(mma_forms(target, cta_group));
      expect_whole(cp_forms(target, cta_group));
    }
    expect_whole(ld_forms(target));
    expect_whole(st_forms(target));
    expect_whole(ld_red_forms(target));
  }
}

// A kind without scale factors has, per cta_group, dense and sparse, A in shared memory with 5
// collectors (none and four) or in Tensor Memory with 5, and 3 with .ashift: 26, twice with
// disable-output-lane, twice again with scale-input-d for f16 and tf32. Kinds with scale factors
// have 10 spellings of the vector size and 20 forms of each; .ws has 17 collectors.
TEST(Tcgen05_Text, InstancesAreEveryForm) {
  const int pair = 2 * 26 * 4 + 2 * 26 * 2 + 10 * 20;
  const int ws = 4 * 2 * 2 * 17 * 2;
  EXPECT_EQ(mma_forms(Target::sm_100a, 2).size, pair);
  EXPECT_EQ(mma_forms(Target::sm_100a, 1).size, pair + ws);
  const int half_splits_more = 2 * 8;
  const int ld = 2 * (8 + 8 + 7 + 6 + 8 + half_splits_more);
  EXPECT_EQ(ld_forms(Target::sm_100a).size, ld);
  EXPECT_EQ(st_forms(Target::sm_100a).size, ld);
  EXPECT_EQ(ld_red_forms(Target::sm_100a).size, 0);
  EXPECT_EQ(ld_red_forms(Target::sm_103a).size, 3 * 7 * 2 * (4 + 2));
  EXPECT_EQ(cp_forms(Target::sm_100a, 2).size, (3 + 2 + 1) * 3);
  for (const Target target : {Target::sm_100a, Target::sm_103a, Target::sm_110a})
    std::printf("%s: mma %d, ld %d, st %d, ld.red %d, cp %d\n", name(target),
                mma_forms(target, 1).size + mma_forms(target, 2).size, ld_forms(target).size,
                st_forms(target).size, ld_red_forms(target).size,
                cp_forms(target, 1).size + cp_forms(target, 2).size);
}

}  // namespace
}  // namespace tcq::tests
