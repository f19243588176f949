// `check` against ptxas: the same verdict on thousands of generated statements, legal ones and ones
// with one thing wrong. ptxas reports by line, so one file per target holds them all; its last line
// is always wrong, so that ptxas stops before it compiles. Where the two differ, the difference has
// a name and a reason below.
#include "tests/silicon/ptxas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "oracle/explain/explain.h"
#include "oracle/explain/instructions.h"
#include "oracle/ptx/check_stream.h"
#include "sim/isa/fault/fault.h"
#include "tests/silicon/ptx_random.h"
#include "tests/silicon/ptx_statements.h"
#include "tests/silicon/statements.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

Differences differences() {
  const std::map<Fault, std::string> tolerated = {
      {Fault::AlignedMissing, "the syntax has .aligned; ptxas does not insist on it"},
      {Fault::OperandKind,
       "the front end takes a predicate as sp-meta, on which ptxas 13.0 crashes later, a vector as "
       "sp-meta, and a vector of several 32-bit types for one of .b32"},
      {Fault::QualifierOrder,
       "the syntax fixes the order and each qualifier once; ptxas is lenient"},
      {Fault::QualifierUnknown, "ptxas skips .row and .col"}};
  Differences all;
  for (const auto& [fault, reason] : tolerated)
    all[info(fault).name] = {fault, reason, Target::sm_90a, true};
  return all;
}

TEST(Ptxas, AgreesWithCheckOnEveryGeneratedStatement) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::vector<Statement> statements = generate();
  ASSERT_GE(statements.size(), 4000u);
  expect_agreement(statements, Target::sm_90a, differences());
}

// What `check` says of a stream of statements, each on any number of lines.
std::vector<std::string> verdicts(const std::vector<std::string>& texts, Target target) {
  Question question{"check", {}, {}};
  question.options.arch = name(target);
  std::vector<std::string> found;
  CheckStream check(question, [&](const Answer& a) { found.push_back(a.text); });
  for (const std::string& text : texts)
    for (const std::string& line : split(text, '\n')) check.add_line(line);
  check.end();
  return found;
}

// TCQ_SEED draws others, TCQ_STATEMENTS more.
TEST(Ptxas, AgreesWithCheckOnRandomStatementsOverSeveralLines) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const char* const seed = std::getenv("TCQ_SEED");
  const char* const count = std::getenv("TCQ_STATEMENTS");
  Random random(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 0));
  const std::vector<wgmma::Form> forms = all_forms();
  std::vector<RandomStatement> statements(count == nullptr ? 4000
                                                           : std::strtoull(count, nullptr, 0));
  std::vector<std::string> texts;
  for (RandomStatement& statement : statements)
    texts.push_back((statement = random_statement(random, forms)).text);
  const std::set<std::size_t> wrong = rejected(texts, Target::sm_90a);
  const std::vector<std::string> ours = verdicts(texts, Target::sm_90a);
  ASSERT_EQ(ours.size(), texts.size()) << "one answer per statement";
  int legal = 0;
  int tolerated = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool accepted = !wrong.contains(i);
    legal += accepted && ours[i] == "legal" ? 1 : 0;
    if ((ours[i] == "legal") == accepted) continue;
    const std::set<Fault>& differences = statements[i].differences;
    const bool known = std::any_of(differences.begin(), differences.end(),
                                   [&](Fault fault) { return is_illegal_by(ours[i], fault); });
    EXPECT_TRUE(accepted && known)
        << texts[i] << "\nptxas: " << (accepted ? "accepted" : "rejected")
        << "\ncheck: " << ours[i];
    ++tolerated;
  }
  EXPECT_GT(legal, static_cast<int>(texts.size() / 10));
  std::printf("statements %zu: both legal %d, ptxas more lenient %d\n", texts.size(), legal,
              tolerated);
}

TEST(Ptxas, NoOtherTargetHasWgmma) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  Generator generated;
  for (const wgmma::Form& form : kinds()) add(generated, parts_of(form));
  generated.add("wgmma.fence.sync.aligned;");
  generated.add("wgmma.commit_group.sync.aligned;");
  generated.add("wgmma.wait_group.sync.aligned 0;");
  int legal = 0;
  for (int i = 0; i < target_count; ++i)
    legal += compare(generated.statements, static_cast<Target>(i), differences()).legal;
  EXPECT_EQ(legal, static_cast<int>(generated.statements.size())) << "sm_90a's only";
}

const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kLoad =
    "ld.param.u64 %rd0, [in]; mov.u64 %rd1, %rd0; setp.ne.u64 %p0, %rd0, 0;\n";

// One kernel with a fence, a group and a wait around each of the 1860 forms.
TEST(Ptxas, EveryLegalFormCompiles) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const std::vector<Statement> statements = legal_statements();
  EXPECT_EQ(statements.size(), 1860u);
  std::string body = kLoad;
  for (const Statement& statement : statements)
    body += kFence + statement.text + "\n" + kCommit + kWait;
  const PtxasRun run = run_ptxas(kernel(body + "ret;\n", Target::sm_90a), Target::sm_90a);
  EXPECT_EQ(run.status, 0) << (run.lines.empty() ? "" : run.lines[0]);
}

// ---- Examples of explain ------------------------------------------------------------------------

// Vectors of registers written out, and `wgmma.mma_async...` as one form of it.
std::string assembler_text(std::string text) {
  static const std::regex any_form(R"re(wgmma\.mma_async\.\.\. ([^;]*);)re");
  static const std::regex vector(R"re(\{(%[a-z]+)(\d+)\.\.%[a-z]+(\d+)\})re");
  std::smatch found;
  while (std::regex_search(text, found, any_form)) {
    const bool a_in_registers = found[1].str().find("{%r") != std::string::npos;
    text = found.prefix().str() + "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " +
           found[1].str() + (a_in_registers ? ", 1, 1, 1, 0;" : ", 1, 1, 1, 0, 0;") +
           found.suffix().str();
  }
  while (std::regex_search(text, found, vector)) {
    std::string registers;
    for (int i = std::stoi(found[2].str()); i <= std::stoi(found[3].str()); ++i)
      registers += (registers.empty() ? "" : ",") + found[1].str() + std::to_string(i);
    text = found.prefix().str() + "{" + registers + "}" + found.suffix().str();
  }
  return text;
}

// In a block of its own, so that labels do not meet those of the kernel.
void expect_assembles(std::string_view example, Fault fault) {
  const std::string memory =
      ".shared .align 1024 .b8 tile[4096]; .shared .b64 full; .shared .b64 empty;\n"
      ".reg .b128 %rq<4>;\n";
  const std::string block = "{\n" + assembler_text(std::string(example)) + "\n}\n";
  const bool about_blackwell =
      example.find("tcgen05") != example.npos || example.find("clusterlaunch") != example.npos;
  const Target target = about_blackwell ? Target::sm_100a : Target::sm_90a;
  const PtxasRun run = run_ptxas(kernel(memory + block + "ret;\n", target), target);
  EXPECT_EQ(run.status, 0) << info(fault).name << "\n"
                           << block << (run.lines.empty() ? "" : run.lines[0]);
}

// What is not illegal assembles as well: that is why these faults need a simulator.
TEST(Ptxas, AcceptsTheRightExamplesOfExplainAndTheWrongOnesThatAreNotIllegal) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  int examples = 0;
  for (const ExplanationGroup& group : explanation_groups()) {
    for (const Explanation& e : group.explanations) {
      if (e.language != Language::Ptx) continue;
      ++examples;
      expect_assembles(e.right, e.fault);
      if (info(e.fault).kind != FaultKind::Illegal) expect_assembles(e.wrong, e.fault);
    }
  }
  EXPECT_GE(examples, 75);
}

// Straight-line code with a missing fence or wait is repaired, and ptxas says so.
// An instruction whose page names targets is refused on all others, one whose page names none on none.
TEST(Ptxas, TakesTheExamplesOfInstructionsOnTheirTargetsAlone) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  int compared = 0;
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    std::vector<std::string> texts;
    std::vector<bool> expected;
    for (const InstructionPage& page : instruction_pages()) {
      if (page.example.empty()) continue;
      texts.push_back(page.example);
      expected.push_back(page.targets.empty() || std::find(page.targets.begin(), page.targets.end(),
                                                           target) != page.targets.end());
    }
    const std::set<std::size_t> wrong = rejected(texts, target);
    for (std::size_t k = 0; k < texts.size(); ++k, ++compared)
      EXPECT_EQ(!wrong.contains(k), expected[k]) << texts[k] << " on " << name(target);
  }
  EXPECT_GE(compared, 40 * target_count);
}

// The message that says how many registers an instruction needs.
TEST(Ptxas, RefusesAnInstructionThatNeedsMoreRegistersThanTheCtaHas) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  std::string registers;
  for (int i = 0; i < 128; ++i) registers += (i > 0 ? ", %f" : "%f") + std::to_string(i);
  const PtxasRun run = run_ptxas(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() .maxntid 512 "
      ".minnctapersm 1\n{\n"
      ".reg .f32 %f<128>; .reg .b64 %rd<4>;\nwgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" +
          registers +
          "}, %rd1, %rd2, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\nret;\n}\n",
      Target::sm_90a);
  EXPECT_NE(run.status, 0);
  const auto says = [](const std::string& line) {
    return line.find("(C7602) Insufficient registers (128)") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(run.lines.begin(), run.lines.end(), says));
}

// One of the spellings of a message is in a line.
bool has_one_of(const std::string& line, std::string_view spellings) {
  constexpr std::string_view between = " | ";
  while (!spellings.empty()) {
    const std::string_view one = spellings.substr(0, spellings.find(between));
    if (line.find(one) != line.npos) return true;
    spellings.remove_prefix(std::min(one.size() + between.size(), spellings.size()));
  }
  return false;
}

// The messages without a code, each provoked by a statement; but those that a thread alone reports.
TEST(Ptxas, SaysTheWordsByWhichExplainKnowsItsErrors) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  struct Provoked {
    Target target;
    std::string statement;
    std::string options = "-v";
    std::optional<Target> assembled_for = {};
  };
  const std::string d4 = " {%f0,%f1,%f2,%f3}, ";
  const std::string abc = "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};";
  const std::string wgmma = "wgmma.mma_async.sync.aligned.";
  const std::map<std::string, std::vector<Provoked>> provoked = {
      {"TypesUnexpected",
       {{Target::sm_90a, "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + d4 + abc}}},
      {"ShapeIllegal",
       {{Target::sm_90a, wgmma + "m64n8k32.f32.f16.f16" + d4 + "%rd1, %rd2, 1, 1, 1, 0, 0;"},
        {Target::sm_103a, "tcgen05.ld.red.sync.aligned.16x64b.x2.u32.min {%r1,%r2}, %r3, [%r0];"}}},
      {"ModifierUnknown",
       {{Target::sm_90a, wgmma + "m64n264k16.f32.f16.f16" + d4 + "%rd1, %rd2, 1, 1, 1, 0, 0;"}}},
      {"ModifierRequired", {{Target::sm_90a, "wgmma.fence.aligned;"}}},
      {"ArgumentsMismatch", {{Target::sm_90a, "wgmma.wait_group.sync.aligned;"}}},
      {"VectorSizeMismatch",
       {{Target::sm_90a, wgmma + "m64n8k16.f32.f16.f16 {%f0,%f1,%f2}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
        {Target::sm_100a, "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r0];"}}},
      {"LayoutIllegal",
       {{Target::sm_90a, "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32" + d4 + abc}}},
      {"TargetTooOld",
       {{Target::sm_90,
         "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
         "[%r1], [%r2];"}}},
      {"FeatureLacking",
       {{Target::sm_90a,
         "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
         "ue8m0" +
             d4 + "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, %r6, {0,0}, %r7, {0,0};"}}},
      {"ValueOutOfRange",
       {{Target::sm_90a,
         "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, "
         "{%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, %r4, 3;"}}},
      {"OrderedMetadata",
       {{Target::sm_90a, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + d4 +
                             "{%r0,%r1}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, %r4, 0;"}}},
      {"MulticastAdvised",
       {{Target::sm_90,
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r1], [%rd1], 16, [%r2], %rs1;"}}},
      {"PowerOfTwo",
       {{Target::sm_100a, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 48;"}}},
      {"SetmaxnregStep", {{Target::sm_90a, "setmaxnreg.inc.sync.aligned.u32 242;"}}},
      {"RegistersUsed", {{Target::sm_90a, "ret;"}}},
      {"ModifierIllegal",
       {{Target::sm_120a,
         "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
         "f32.ue8m0" +
             d4 + "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, %r6, {0,0}, %r7, {0,0};"}}},
      {"OtherArchitecture", {{Target::sm_90a, "ret;", "-v", Target::sm_100a}}},
      {"SharedDataTooLarge",
       {{Target::sm_90,
         ".shared .align 4 .b8 big[65536];\nld.param.u64 %rd1, [out];\nld.volatile.shared.b32 %r1, "
         "[big];\nst.global.b32 [%rd1], %r1;\nret;"}}},
      {"MaxregcountIgnored", {{Target::sm_90a, "ret;", "-maxrregcount=300"}}},
      {"BarrierCountStep", {{Target::sm_90a, "bar.sync 0, 33;"}}},
      {"StateSpace", {{Target::sm_90a, "st.async.release.global.b32 [%rd1], %r1;"}}},
      {"SymbolUndefined",
       {{Target::sm_90a, "ret;\n}\n.extern .func g;\n.visible .entry h() {\ncall g;\nret;"}}},
      {"AssemblyAborted", {{Target::sm_90a, "bar.sync 0, 33;"}}}};
  const auto is_provoked = [](const PtxasMessage& m) {
    return !m.evidence.starts_with("reported");
  };
  EXPECT_EQ(static_cast<std::ptrdiff_t>(provoked.size()),
            std::count_if(ptxas_errors().begin(), ptxas_errors().end(), is_provoked));
  for (const PtxasMessage& message : ptxas_errors()) {
    if (!is_provoked(message)) continue;
    for (const auto& [target, statement, options, assembled_for] : provoked.at(message.code)) {
      const PtxasRun run =
          run_ptxas(kernel(statement + "\n", target), assembled_for.value_or(target), options);
      const bool refuses =
          message.effect.starts_with("refuses") || message.effect.starts_with("and nvlink miss");
      EXPECT_EQ(run.status != 0, refuses) << statement;
      const auto says = [&](const std::string& line) { return has_one_of(line, message.says); };
      EXPECT_TRUE(std::any_of(run.lines.begin(), run.lines.end(), says))
          << message.says << " is not in\n"
          << (run.lines.empty() ? "" : run.lines[0]);
    }
  }
}

TEST(Ptxas, InjectsTheMissingFenceAndWait) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const auto says = [](const std::string& fence, const std::string& wait, const std::string& code) {
    const std::string body =
        kLoad + "ld.param.u64 %rd2, [out];\nmov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; " +
        "mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n" + fence +
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd0, %rd1, 1, 1, 1, "
        "0, 0;\n" +
        kCommit + wait + "st.global.f32 [%rd2], %f0;\nret;\n";
    const PtxasRun run = run_ptxas(kernel(body, Target::sm_90a), Target::sm_90a);
    EXPECT_EQ(run.status, 0);
    for (const std::string& line : run.lines)
      if (line.find(code) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(says("", kWait, "(C7519)"));
  EXPECT_TRUE(says(kFence, "", "(C7517)"));
  EXPECT_FALSE(says(kFence, kWait, "(C75"));
}

// sim/run/launch.cc: as many as fit, and no more than the largest count that a setmaxnreg.inc asks for.
TEST(Ptxas, RegistersAtLaunchAreAtMostTheLargestSetmaxnregInc) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  constexpr int values = 220;  // alive at one time: more than any count
  std::string body = "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < values; ++i) {
    body += fmt::format("ld.volatile.global.f32 %f{0}, [%rd1+{1}];\n", i, 4 * i);
  }
  for (int i = 0; i < values; ++i)
    body += fmt::format("st.volatile.global.f32 [%rd1+{1}], %f{0};\n", values - 1 - i, 4 * i);
  const auto used = [&](int threads, const std::string& statements) {
    const std::string text = fmt::format(
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) .maxntid {} .minnctapersm 1 {{\n"
        ".reg .u64 %rd<2>;\n.reg .f32 %f<{}>;\n{}{}ret;\n}}\n",
        threads, values, statements, body);
    for (const std::string& line : run_ptxas(text, Target::sm_90a, "-v").lines)
      if (const auto at = line.find("Used "); at != line.npos)
        return std::stoi(line.substr(at + 5));
    return 0;
  };
  const std::string inc = "setmaxnreg.inc.sync.aligned.u32 ";
  const std::string dec = "setmaxnreg.dec.sync.aligned.u32 ";
  EXPECT_EQ(used(384, ""), 168);
  EXPECT_EQ(used(384, dec + "40;\n" + inc + "240;\n"), 168);
  EXPECT_EQ(used(384, dec + "40;\n" + inc + "120;\n"), 120);
  EXPECT_EQ(used(256, inc + "152;\n" + inc + "120;\n"), 152);
  EXPECT_EQ(used(128, inc + "240;\n"), 240);
  EXPECT_EQ(used(128, dec + "40;\n"), 255);
}

}  // namespace
}  // namespace tcq::oracle
