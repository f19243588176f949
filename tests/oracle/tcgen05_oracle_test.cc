// Laws of the answers about tcgen05: mnemonics, list, describe, and check with its reasons. That
// ptxas says the same as check is tests/silicon/tcgen05_ptxas_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "oracle/ptx/tcgen05_mnemonic.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Tcgen05Instruction parsed(const std::string& text) {
  const std::vector<std::string> words = split(text);
  const std::vector<std::string_view> keys(words.begin() + 1, words.end());
  return parse_tcgen05(words[0], Keys(keys, tcgen05_keys));
}

Options on(const std::string& arch, const std::string& family = "") {
  Options options;
  options.arch = arch;
  options.family = family;
  return options;
}

// ---- Mnemonics ----------------------------------------------------------------------------------

TEST(Tcgen05Mnemonic, EveryOpcodeIsReadBackInBothSpellings) {
  const Keys none({}, {});
  std::set<std::string> opcodes;
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    const std::string text = full_opcode(form);
    EXPECT_TRUE(opcodes.insert(text).second) << text;
    EXPECT_TRUE(parse_tcgen05(text, none).form == form) << text;
    EXPECT_TRUE(parse_tcgen05(short_opcode(form), none).form == form) << short_opcode(form);
  }
}

// mma: 4 kinds x cta_group x .sp x .ashift (32), .ws: 4 kinds x .sp (8), mx: 10 scale vectors x
// cta_group x .sp (40). ld and st: 37 pairs of shape and num, packed or not; ld.red: 2 shapes x 7
// nums x 2 operations x (u32, s32, f32 with .abs and .NaN); cp: 6 shapes x 3 formats x cta_group.
TEST(Tcgen05Mnemonic, FormsAreAsManyAsTheSyntaxSays) {
  constexpr std::size_t mma = 32 + 8 + 40;
  constexpr std::size_t ld_and_st = 2 * 37 * 2;
  constexpr std::size_t ld_red = 2 * 7 * 2 * (1 + 1 + 4);
  constexpr std::size_t cp = 6 * 3 * 2;
  constexpr std::size_t shift_alloc_dealloc_relinquish = 2 + 4 + 2 + 2;
  constexpr std::size_t commit_wait_fence = 8 + 2 + 2;
  EXPECT_EQ(all_tcgen05_forms().size(),
            mma + ld_and_st + ld_red + cp + shift_alloc_dealloc_relinquish + commit_wait_fence);
}

TEST(Tcgen05Mnemonic, KeysAreReadBack) {
  for (const char* text :
       {"tcgen05.mma.cta_group::1.kind::f16 m=64 n=24 type_a=bf16 type_b=bf16 type_d=f32 a=tmem "
        "major_b=MN accumulate=0 negate_b=1",
        "tcgen05.mma.ws.sp.cta_group::1.kind::tf32 m=32 n=64 type_a=tf32 type_b=tf32 type_d=f32 "
        "selector=3 max_shift_b=16",
        "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 m=256 n=16 k96=1 type_a=e2m1 "
        "type_b=e2m1 type_d=f32 scale_type=ue4m3 scale_a_id=2",
        "tcgen05.mma.cta_group::1.kind::i8 m=128 n=8 type_a=u8 type_b=s8 type_d=s32 saturate=1 "
        "disable_output_lane=1",
        "tcgen05.ld.16x32bx2.x4 half_split=8"})
    EXPECT_EQ(mnemonic_with_keys(parsed(text)), text);
}

TEST(Tcgen05Mnemonic, KOf96IsK96AndAnyOtherWrongKIsRefused) {
  EXPECT_TRUE(parsed("tcgen05.mma.cta_group::2.kind::mxf4.block_scale k=96").idesc.k96);
  EXPECT_FALSE(parsed("tcgen05.mma.cta_group::2.kind::mxf4.block_scale k=64").idesc.k96);
  EXPECT_THROW(parsed("tcgen05.mma.cta_group::1.kind::f16 k=8"), UsageError);
}

TEST(Tcgen05Mnemonic, ErrorsKeepTheThreeKindsOfNoApart) {
  EXPECT_THROW(parsed("tcgen05.mma.cta_group::1.kind::f17"), UsageError);
  EXPECT_THROW(parsed("tcgen05.mma.kind::f16.cta_group::1"), UsageError);
  EXPECT_THROW(parsed("tcgen05.ld.32x32b"), UsageError);
  EXPECT_THROW(parsed("tcgen05.ld.32x32b.x1 half_split=1"), UsageError);
  EXPECT_THROW(parsed("tcgen05.mma.cta_group::1.kind::f16 m=96"), FaultError);
  EXPECT_THROW(parsed("tcgen05.mma.cta_group::1.kind::mxf4"), FaultError);
  EXPECT_THROW(parsed("tcgen05.ld.16x128b.x128"), FaultError);
  EXPECT_THROW(parsed("tcgen05.mma.cta_group::1.kind::f16 a=tmem major_a=MN"), FaultError);
}

// ---- list ---------------------------------------------------------------------------------------

TEST(Tcgen05List, HasWhatTheTargetHas) {
  const auto count = [](const Options& options) {
    const std::vector<std::string> lines = split(text_of("list", options), '\n');
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
    return lines.size();
  };
  EXPECT_EQ(count(on("b200")), all_tcgen05_forms().size() - 168);  // without ld.red
  EXPECT_EQ(count(on("", "tcgen05")), count(on("b200")));
  EXPECT_EQ(count(on("b300", "tcgen05.ld.red")), 168u);
  EXPECT_EQ(count(on("", "tcgen05.mma")), 80u);
  EXPECT_EQ(count(on("sm_103a", "tcgen05.mma")), 80u - 10u);  // without i8
  EXPECT_EQ(count(on("", "tcgen05.cp")), 36u);
  EXPECT_EQ(ask("list", on("", "tcgen05.ld.red")).status, Status::No);
  EXPECT_EQ(ask("list", on("h200", "tcgen05")).status, Status::No);
}

// ---- describe -----------------------------------------------------------------------------------

TEST(Tcgen05Describe, ReadsItsNumbersFromTheIsa) {
  const std::string text = text_of("describe tcgen05.mma.sp.cta_group::2.kind::f16 m=128 n=48");
  for (const char* part :
       {"M 128, N 48, K 32 (logical; A stores half)", "64 rows in each CTA",
        "16 to 256 in steps of 16", "[d], a-desc, b-desc, [sp-meta], idesc, enable-input-d",
        "sm_100a, sm_100f, sm_103a, sm_103f, sm_110a, sm_110f\n", "layout C", "393216 (2*M*N*K)",
        "has not run on silicon here: no sm_100 device"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

struct ArithmeticCase {
  std::string question;
  std::vector<std::string> lines;
};

TEST(Tcgen05Describe, ArithmeticIsThatOfTheNumbers) {
  const std::string one = "describe tcgen05.mma.cta_group::1.kind::";
  const std::string two = "describe tcgen05.mma.cta_group::2.kind::";
  for (const ArithmeticCase& c : std::vector<ArithmeticCase>{
           {one + "f16 type_d=f16",
            {"fraction bits kept    25\n", "floor                 E is at least -21\n",
             "rounding              to nearest even f16, once, from the sum\n",
             "arithmetic is         inferred\n", "inferred: the floor of the alignment exponent"}},
           {one + "tf32", {"arithmetic is         published\n", "toward zero to f32"}},
           {one + "i8 saturate=1", {"clamped to s32 once", "arithmetic is         documented\n"}},
           {one + "mxf4nvf4.block_scale.block16 scale_type=ue4m3",
            {"4 groups of 16 products", "2^(E - 35)", "E is at least -139",
             "scale format          ue4m3: e4m3 without its sign bit, 0x7f is NaN\n"}},
           {one + "mxf8f6f4.block_scale type_a=e2m1",
            {"scale format          ue8m0: 2^(byte - 127), 0xff is NaN\n",
             "add to exponents, before alignment", "inferred: e4m3 * e4m3"}},
           {two + "mxf4.block_scale k=96",
            {"sum                   not modelled: nobody has published how the 96 products",
             "arithmetic is         unmodelled\n"}}}) {
    const std::string text = text_of(c.question);
    for (const std::string& line : c.lines)
      EXPECT_TRUE(contains(text, line)) << c.question << ": " << line << "\n" << text;
    EXPECT_TRUE(contains(text, "has not run on silicon here")) << c.question;
  }
}

TEST(Tcgen05Describe, LegalNIsThatOfTheseKeys) {
  const std::string plain = "describe tcgen05.mma.cta_group::1.kind::f8f6f4";
  EXPECT_TRUE(contains(text_of(plain), "legal N               8 to 256 in steps of 8\n"));
  EXPECT_TRUE(
      contains(text_of(plain + " major_b=MN"), "legal N               16 to 256 in steps of 16\n"));
}

TEST(Tcgen05Describe, EveryFormHasAnAnswerWithEvidence) {
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    const std::string text = text_of("describe " + short_opcode(form));
    EXPECT_TRUE(contains(text, "\nlegal on  ")) << text;
    EXPECT_TRUE(contains(text, "\nillegal on  ")) << text;
    EXPECT_TRUE(contains(text, "no sm_100 device")) << text;
    EXPECT_TRUE(contains(text, full_opcode(form))) << text;
  }
}

// ---- check --------------------------------------------------------------------------------------

std::string verdict(const std::string& line, const std::string& arch = "") {
  Question question{"check", {}, {}};
  question.options.arch = arch;
  return answer_line(question, line).text;
}

struct Line {
  const char* statement;
  Fault fault;  // None: legal
};

TEST(Tcgen05Check, NamesTheReason) {
  for (const Line& line : std::vector<Line>{
           {"tcgen05.mma.cta_group::1.kind::f16 [d], %rd1, %rd2, idesc, p;", Fault::None},
           {"@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r0 + 4], %rd1, %rd2, 0x8100010, !%p2;",
            Fault::None},
           {"tcgen05.ld.sync.aligned.32x32b.x4.b32 {%f0..%f3}, [taddr + 16];", Fault::None},
           {"tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 512;", Fault::None},
           {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster."
            "b64 "
            "[%rd1], %rs1;",
            Fault::None},
           {"tcgen05.fence::before_thread_sync;", Fault::None},
           {"tcgen05.wait::ld.sync;", Fault::AlignedMissing},
           {"tcgen05.wait::ld.aligned;", Fault::SyncMissing},
           {"tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0..%r2}, [%r9];", Fault::RegisterCountLd},
           {"tcgen05.ld.sync.aligned.x4.32x32b.b32 {%r0..%r3}, [%r9];", Fault::QualifierOrder},
           {"tcgen05.ld.sync.aligned.32x32b.x4.unpack::16b.b32 {%r0..%r3}, [%r9];",
            Fault::QualifierUnknown},
           {"tcgen05.ld.sync.aligned.32x32b.x4 {%r0..%r3}, [%r9];", Fault::Tcgen05QualifierMissing},
           {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, %r9;", Fault::OperandKind},
           {"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r9], {%r0,_};", Fault::OperandKind},
           {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r0,%r1}, %r5, [%r9];",
            Fault::TargetLacksLdRed},
           {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r1, %p0, 16;",
            Fault::ImmediateScaleInputD},
           {"tcgen05.mma.cta_group::2.kind::f16 [%r0], %rd1, %rd2, %r1, {%r0..%r3}, 1;",
            Fault::RegisterCountMask},
           {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 48;", Fault::TmemAllocSize},
           {"tcgen05.wait::mma.sync.aligned;", Fault::Tcgen05Unknown},
           {"tcgen05.mma.cta_group::1.kind::f16 [%r0], {%r0, %rd2;", Fault::StatementMalformed},
           {"@%r1 tcgen05.fence::after_thread_sync;", Fault::OperandKind}}) {
    const std::string found = verdict(line.statement);
    const std::string expected = line.fault == Fault::None
                                     ? std::string("legal")
                                     : fmt::format("illegal\t{}: ", info(line.fault).name);
    EXPECT_TRUE(found.starts_with(expected)) << line.statement << "\n" << found;
  }
}

// Words of the f16 format: f32 D, A and B f16, N 64, M 128, and one thing wrong.
TEST(Tcgen05Check, ReadsAnImmediateInstructionDescriptor) {
  const auto with = [](const std::string& opcode, const std::string& idesc) {
    return verdict("tcgen05.mma." + opcode + " [%r0], %rd1, %rd2, " + idesc + ", %p0;");
  };
  const std::string one = "cta_group::1.kind::f16";
  EXPECT_EQ(with(one, "0x8100010"), "legal");
  EXPECT_EQ(with(one, "%r1"), "legal");
  EXPECT_TRUE(with("cta_group::2.kind::f16", "0x4100010").starts_with("illegal\tTcgen05ShapeM: "));
  EXPECT_TRUE(with(one, "0x8100014").starts_with("illegal\tSparseBit: "));
  EXPECT_TRUE(with(one, "0x8000010").starts_with("illegal\tIdescN: "));
  EXPECT_TRUE(with(one, "0x8100490").starts_with("legal")) << "bf16 operands";
  EXPECT_TRUE(with(one, "0x8100480").starts_with("illegal\tTypesOfKind: ")) << "with f16 D";
  EXPECT_TRUE(with(one, "0x8100050").starts_with("undefined\tWordReserved: "));
  EXPECT_TRUE(with(one, "0x8100018").starts_with("illegal\t")) << "saturate";
}

TEST(Tcgen05Check, WithoutATargetIsForSm100a) {
  const std::string i8 = "tcgen05.mma.cta_group::1.kind::i8 [%r0], %rd1, %rd2, %r1, 1;";
  EXPECT_EQ(verdict(i8), "legal");
  EXPECT_EQ(verdict(i8, "b200"), "legal");
  EXPECT_TRUE(verdict(i8, "b300").starts_with("illegal\tTargetLacksKindI8: "));
  EXPECT_TRUE(verdict(i8, "h200").starts_with("illegal\tTargetLacksTcgen05: "));
  EXPECT_EQ(verdict("wgmma.fence.sync.aligned;"), "legal");
  EXPECT_TRUE(
      verdict("wgmma.fence.sync.aligned;", "b200").starts_with("illegal\tTargetLacksWgmma"));
}

TEST(Tcgen05Check, WhatPtxComputesIsUnmodelled) {
  for (const char* line : {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, 1+1, %p0;",
                           "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r1, !1;"})
    EXPECT_TRUE(verdict(line).starts_with("unmodelled\t")) << verdict(line);
}

TEST(Tcgen05Check, LongLinesAreAnsweredInLinearTime) {
  const std::size_t length = 10 * 1000 * 1000;
  std::string qualifiers = "tcgen05.mma";
  while (qualifiers.size() < length) qualifiers += ".ws";
  EXPECT_TRUE(verdict(qualifiers).starts_with("illegal\t"));
  std::string vector = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0";
  while (vector.size() < length) vector += ",%r1";
  EXPECT_TRUE(verdict(vector + "}, [%r9];").starts_with("illegal\tRegisterCountLd: "));
}

}  // namespace
}  // namespace tcq::oracle
