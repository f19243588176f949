// How sure the arithmetic of each form of tcgen05.mma is: the grade is that of its weakest reason.
#include "oracle/sum/tcgen05_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/tcgen05_kinds.h"

namespace tcq::tcgen05 {
namespace {

TEST(Tcgen05Evidence, GradesAreTheWeakestOfTheirReasons) {
  const auto of = [](const DotForm& form) { return evidence(form); };
  EXPECT_EQ(of(f16_form()), Evidence::Published);
  EXPECT_EQ(of(bf16_form()), Evidence::Published);
  EXPECT_EQ(of(f16_to_f16()), Evidence::Inferred);
  EXPECT_EQ(of(f8_form(Type::e4m3, Type::e4m3)), Evidence::Published);
  EXPECT_EQ(of(f8_form(Type::e5m2, Type::e5m2)), Evidence::Published);
  EXPECT_EQ(of(plain_form(Kind::f8f6f4, Type::f16, Type::e4m3, Type::e4m3)), Evidence::Published);
  EXPECT_EQ(of(mxf8_form(Type::e4m3, Type::e4m3)), Evidence::Published);
  EXPECT_EQ(of(plain_form(Kind::i8, Type::s32, Type::s8, Type::u8)), Evidence::Documented);
  for (const DotForm& form : packed_forms()) EXPECT_EQ(of(form), Evidence::Published);
  for (const Type a : narrow_types()) {
    for (const Type b : narrow_types()) {
      const bool measured = a == b && is_fp8(a);
      EXPECT_EQ(of(f8_form(a, b)), measured ? Evidence::Published : Evidence::Inferred);
      EXPECT_EQ(of(mxf8_form(a, b)), measured ? Evidence::Published : Evidence::Inferred);
    }
  }
}

TEST(Tcgen05Evidence, EveryOptionNobodyMeasuredLowersTheGrade) {
  std::vector<DotForm> doubtful(5, bf16_form());
  doubtful[0].opcode.sparse = true;
  doubtful[1].opcode.ws = true;
  doubtful[2].opcode.cta_group = 2;
  doubtful[3].opcode.a_place = Place::Tmem;
  doubtful[4].scale_input_d = 1;
  for (const DotForm& form : doubtful) EXPECT_EQ(evidence(form), Evidence::Inferred);
  DotForm k96 = mxf4();
  EXPECT_EQ(check_modelled(k96), Fault::None);
  k96.idesc.k96 = true;
  EXPECT_EQ(evidence(k96), Evidence::Unmodelled);
  EXPECT_EQ(check_modelled(k96), Fault::UnmodelledK96);
  DotForm negated = bf16_form();
  negated.idesc.negate_a = true;
  negated.accumulate = false;
  EXPECT_EQ(evidence(negated), Evidence::Published);
}

TEST(Tcgen05Evidence, EveryFormHasAReasonAndEveryReasonASentence) {
  for (const DotForm& form : all_forms()) {
    int reasons = 0;
    for (int i = 0; i < reason_count; ++i) reasons += applies(static_cast<Reason>(i), form);
    EXPECT_GE(reasons, 1) << text(form);
  }
  for (int i = 0; i < reason_count; ++i)
    EXPECT_GT(std::string(sentence(static_cast<Reason>(i))).size(), 20u);
}

}  // namespace
}  // namespace tcq::tcgen05
