// Every opcode has an operation for at least one form.
//
// Every row of the opcode table is written with each of its mandatory words and each type; any spelling gives an
// operation or null, and none of them fails.
#include "sim/alu/forms.h"
#include "sim/ptx/decode.h"
#include "tests/alu/alu_kit.h"
#include "tests/ptx/ptx_kit.h"
#include "tests/support/alu_spellings.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;

// Memory, control, barriers and what is asynchronous is the executor's.
// Three types are what each_form() does not spell.
bool has_three_types(const ptx::OpcodeRow& row) {
  return row.modifiers.find("t3") != row.modifiers.npos;
}

TEST(Coverage, EveryOpcodeOfTheAluHasAnOperationOrIsNamed) {
  for (const ptx::OpcodeRow& row : ptx::opcode_table()) {
    if (!is_of_the_alu(row.opcode) || row.opcode == Opcode::Cvt) continue;
    bool found = false;
    each_form(row, [&](const std::string& text) {
      const ptx::Form form = ptx::read_form(text);
      found |= form.opcode == row.opcode && alu::operation(form).evaluate != nullptr;
    });
    EXPECT_EQ(found, !has_three_types(row)) << row.name;
  }
}

bool is_of_a_matrix(Opcode opcode) { return opcode == Opcode::Mma || opcode == Opcode::Movmatrix; }

TEST(Coverage, EveryFormOfRealKernelsHasAnOperationOrIsTheExecutors) {
  const std::string text = ptx::text_of_file("forms.ptx");
  const ptx::Program program = ptx::load(text);
  std::size_t count = 0;
  for (const ptx::Form& form : program.forms) {
    const bool is_computed = is_of_the_alu(form.opcode) || is_of_a_matrix(form.opcode);
    EXPECT_EQ(alu::operation(form).evaluate != nullptr, is_computed)
        << program.unit.names.text(form.text);
    count += is_computed ? 1 : 0;
  }
  EXPECT_EQ(count, 263U);
}

// What real kernels use, by family; a form that is here and has no operation is a kernel that cannot run.
constexpr std::string_view forms[] = {"add.s32",
                                      "add.s64",
                                      "add.u64",
                                      "add.s16",
                                      "add.f32",
                                      "add.ftz.f32",
                                      "add.rn.f32",
                                      "add.f16",
                                      "add.bf16",
                                      "add.f16x2",
                                      "add.rn.f16x2",
                                      "add.f32x2",
                                      "add.rn.f32x2",
                                      "sub.s64",
                                      "sub.f32x2",
                                      "sub.bf16x2",
                                      "mul.lo.s64",
                                      "mul.wide.u16",
                                      "mul.hi.u64",
                                      "mul.hi.s64",
                                      "mul.hi.u16",
                                      "mul.f64",
                                      "mul.rn.ftz.f32",
                                      "mul.bf16x2",
                                      "mul.rn.f16x2",
                                      "mul.f32x2",
                                      "mad.lo.s32",
                                      "mad.wide.u32",
                                      "mad.lo.cc.u32",
                                      "madc.hi.u32",
                                      "fma.rn.ftz.f32",
                                      "fma.rm.f32",
                                      "fma.rn.f32x2",
                                      "fma.rn.f16x2",
                                      "div.s64",
                                      "div.u16",
                                      "div.full.f32",
                                      "div.approx.ftz.f32",
                                      "div.rn.f32",
                                      "rem.u32",
                                      "min.u64",
                                      "max.NaN.f32",
                                      "min.NaN.f32",
                                      "max.bf16x2",
                                      "abs.bf16",
                                      "abs.ftz.f32",
                                      "neg.f16",
                                      "neg.ftz.f32",
                                      "copysign.f32",
                                      "setp.leu.f64",
                                      "setp.gtu.f32",
                                      "setp.equ.ftz.f32",
                                      "setp.neu.ftz.f32",
                                      "setp.lt.bf16",
                                      "setp.ne.f16",
                                      "setp.nan.f32",
                                      "setp.eq.b64",
                                      "setp.lt.u64",
                                      "setp.ne.b16",
                                      "selp.f64",
                                      "selp.b16",
                                      "selp.s64",
                                      "and.pred",
                                      "xor.pred",
                                      "not.pred",
                                      "mov.pred",
                                      "mov.b128",
                                      "shf.l.wrap.b32",
                                      "shf.r.wrap.b32",
                                      "lop3.b32",
                                      "prmt.b32",
                                      "bfe.s32",
                                      "bfi.b64",
                                      "popc.b32",
                                      "bfind.shiftamt.u32",
                                      "brev.b32",
                                      "cvt.rn.f16x2.f32",
                                      "cvt.rn.bf16x2.f32",
                                      "cvt.f32.f16",
                                      "cvt.rn.bf16.f32",
                                      "cvt.rn.f16.s32",
                                      "cvt.rn.f16x2.e4m3x2",
                                      "cvt.rn.f16x2.e5m2x2",
                                      "cvt.rn.f16x2.e2m1x2",
                                      "cvt.rn.bf16x2.ue8m0x2",
                                      "cvt.rn.satfinite.e4m3x2.f32",
                                      "cvt.rn.satfinite.e5m2x2.f32",
                                      "cvt.rn.satfinite.e2m1x2.f32",
                                      "cvt.rp.satfinite.ue8m0x2.f32",
                                      "cvt.rz.ue8m0x2.f32",
                                      "cvt.f64.f32",
                                      "cvt.rn.f32.f64",
                                      "cvt.rzi.s32.f64",
                                      "cvt.rni.ftz.s32.f32",
                                      "cvt.rzi.ftz.u32.f32",
                                      "cvt.rpi.ftz.f32.f32",
                                      "cvt.sat.f32.f32",
                                      "cvt.rn.f64.s64",
                                      "cvt.rn.f32.u64",
                                      "cvt.s16.s8",
                                      "cvt.u64.u16",
                                      "ex2.approx.ftz.f32",
                                      "lg2.approx.ftz.f32",
                                      "rcp.approx.ftz.f32",
                                      "rcp.rn.f32",
                                      "sqrt.rn.f32",
                                      "sqrt.approx.ftz.f32",
                                      "rsqrt.approx.f32",
                                      "sin.approx.f32",
                                      "cos.approx.f32",
                                      "tanh.approx.f32",
                                      "shfl.sync.bfly.b32",
                                      "vote.sync.ballot.b32",
                                      "vote.sync.any.pred",
                                      "redux.sync.max.NaN.f32",
                                      "redux.sync.add.s32",
                                      "elect.sync",
                                      "activemask.b32",
                                      "match.any.sync.b32"};

TEST(Coverage, ListedFormsAreWrittenInOneWayAndHaveOperations) {
  EXPECT_GT(scalar_forms().size(), 3400U);
  for (const std::string& spelling : scalar_forms()) {
    const auto form = read_scalar_form(spelling);
    ASSERT_TRUE(form) << spelling;
    EXPECT_EQ(ptx::print(form->form), spelling.substr(0, spelling.find(' ')));
    EXPECT_FALSE(form->out.empty()) << spelling;
    EXPECT_FALSE(operation(form->form).approximate) << spelling;
  }
}

TEST(Coverage, FormsOfRealKernelsHaveOperations) {
  for (const std::string_view text : forms) {
    const ptx::Form form = ptx::read_form(text);
    EXPECT_EQ(form.problem, "") << text;
    EXPECT_NE(alu::operation(form).evaluate, nullptr) << text;
  }
}

}  // namespace
}  // namespace tcq::alu
