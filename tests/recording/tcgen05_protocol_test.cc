// The kernels of the tcgen05 probes follow the protocol of tcgen05: fences, waits, barriers of both
// CTAs, allocation and its end, on every path of every text. Nothing here runs on a device or needs
// CUDA.
#include "tests/support/tcgen05_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "cuda/probe/tcgen05_text_sm100.h"
#include "oracle/recording/suites.h"
#include "sim/isa/tcgen05/syntax.h"
#include "tests/support/tcgen05_forms.h"

namespace tcq::tests {
namespace {

using namespace tcgen05;

constexpr const char* memory = R"(tcgen05\.(ld|st|mma|cp|shift)\b)";
constexpr const char* issued = R"(tcgen05\.(mma|cp|shift)\b)";
constexpr const char* meeting = R"(barrier\.cluster\.arrive|bar\.sync)";

struct Subject {
  std::string name;
  std::string ptx;
  bool pair = false;
  bool issues = false;   // mma, cp, shift: one thread, and an mbarrier
  bool control = false;  // without its instruction
};

// A thread and the rules that hold for what it does.
struct RoleRules {
  ProbeThread thread;
  std::vector<ProtocolRule> rules;
};

// Rules about what any threads do before others, so that no branch is decided.
std::vector<ProtocolRule> rules_of_all(const Subject& s) {
  const std::string barrier = s.pair ? R"(barrier\.cluster\.wait)" : R"(bar\.sync)";
  std::vector<ProtocolRule> rules = {
      {"the address is read behind a barrier", R"(tcgen05\.alloc)", barrier, R"(ld\.shared)"},
      {"what st writes is there before it counts", R"(tcgen05\.st)", R"(tcgen05\.wait::st)",
       std::string(R"(tcgen05\.(ld|mma|cp|shift|dealloc|fence::before)|ret|)") + meeting},
      {"what ld reads is there before it counts", R"(tcgen05\.ld)", R"(tcgen05\.wait::ld)",
       std::string(R"(st\.global|tcgen05\.(st|mma|cp|shift|dealloc|fence::before)|ret|)") +
           meeting},
      // Every barrier has both fences; where no access needs one it costs nothing.
      {"a fence stands before a barrier", barrier, R"(tcgen05\.fence::before)", meeting, true},
      {"an access is fenced before a barrier", R"(tcgen05\.(st|ld))", R"(tcgen05\.fence::before)",
       meeting},
      {"a barrier stands between its fences", R"(tcgen05\.fence::before)", barrier,
       R"(tcgen05\.|ret)"},
      {"a fence stands behind a barrier", barrier + R"(|mbarrier\.try_wait)",
       R"(tcgen05\.fence::after)",
       R"(tcgen05\.(ld|st|mma|cp|shift|alloc|dealloc|relinquish)|ld\.|ret)"},
      {"all threads are done before a deallocation", std::string(memory) + R"(|tcgen05\.commit)",
       barrier, R"(tcgen05\.dealloc)"},
      {"all of Tensor Memory is filled before it is used", R"(tcgen05\.st)", barrier, issued},
      {"nothing is used that was freed", R"(tcgen05\.dealloc)", "", memory},
      {"nothing is allocated behind the last allocation", R"(tcgen05\.relinquish)", "",
       R"(tcgen05\.alloc)"},
      {"what threads store is fenced", R"(st\.shared)", R"(fence\.proxy\.async)", meeting},
      {"what is fenced is ordered by a barrier", R"(fence\.proxy\.async)", barrier, issued},
      {"an mbarrier is known to all", R"(mbarrier\.init)", barrier,
       R"(mbarrier\.try_wait|tcgen05\.commit)"},
      {"an mbarrier is fenced", R"(mbarrier\.init)", R"(fence\.mbarrier_init)", meeting},
  };
  if (s.pair)
    for (const ProtocolRule& rule : pair_rules()) rules.push_back(rule);
  return rules;
}

std::vector<ProtocolRule> rules_of_first_warp() {
  return {{"whoever allocates frees", R"(tcgen05\.alloc)", R"(tcgen05\.dealloc)",
           R"(ret|exit|tcgen05\.alloc)"},
          {"only what was allocated is freed", R"(tcgen05\.dealloc)", R"(tcgen05\.alloc)",
           R"(tcgen05\.dealloc)", true},
          {"only what was allocated is used", "", R"(tcgen05\.alloc)", memory, true},
          {"the right to allocate is given back", "", R"(tcgen05\.relinquish)", "ret|exit", true}};
}

std::vector<ProtocolRule> rules_of_issuer() {
  return {{"what is issued is committed", issued, R"(tcgen05\.commit)",
           std::string(R"(mbarrier\.try_wait|ret|)") + meeting},
          {"a commit has its mbarrier", "", R"(mbarrier\.init)", R"(tcgen05\.commit)", true},
          {"nothing waits for what is not committed", "", R"(tcgen05\.commit)",
           R"(mbarrier\.try_wait)", true}};
}

std::vector<ProtocolRule> rules_of_waiting() {
  return {{"the end is waited for", R"(tcgen05\.st)", R"(mbarrier\.try_wait)", R"(tcgen05\.ld)"},
          {"a timeout is reported", R"(setp\.lt\.u64 more)",
           "mov.u32 completed, 0|mbarrier.try_wait", R"(tcgen05\.fence)"}};
}

std::vector<RoleRules> roles(const Subject& s) {
  std::vector<RoleRules> all;
  for (const unsigned rank : {0u, 1u}) {
    if (rank == 1 && !s.pair) continue;
    for (const unsigned thread : {0u, 1u, 32u, 127u}) {
      RoleRules role{{thread, rank}, {}};
      const auto add = [&role](const std::vector<ProtocolRule>& rules) {
        role.rules.insert(role.rules.end(), rules.begin(), rules.end());
      };
      if (thread < 32) add(rules_of_first_warp());
      if (s.issues) add(rules_of_waiting());
      if (s.issues && thread == 0 && rank == 0) add(rules_of_issuer());
      all.push_back(role);
    }
  }
  return all;
}

// Who executes what: allocation one warp of each CTA, issuing one thread of one CTA.
void find_wrong_issuers(const PtxBody& body, const Subject& s, std::vector<std::string>& found) {
  const auto expect = [&](const char* what, const std::string& pattern, const ProbeThread& t,
                          bool wanted) {
    if (reaches(body, pattern, t) != wanted)
      found.push_back(std::string("who issues ") + what + ": thread " + std::to_string(t.thread) +
                      " of CTA " + std::to_string(t.rank));
  };
  for (const unsigned rank : {0u, 1u})
    for (const unsigned thread : {0u, 1u, 31u, 32u, 127u}) {
      if (rank == 1 && !s.pair) continue;
      const ProbeThread t{thread, rank};
      for (const char* what : {"alloc", "dealloc", "relinquish"})
        expect(what, std::string(R"(tcgen05\.)") + what, t, thread < 32);
      expect("mbarrier.init", R"(mbarrier\.init)", t, thread == 0);
      if (s.issues) {
        expect("the instruction", issued, t, thread == 0 && rank == 0 && !s.control);
        expect("commit", R"(tcgen05\.commit)", t, thread == 0 && rank == 0);
      }
      expect("the end", "ret", t, true);
    }
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::vector<std::string> violations(const Subject& s) {
  const PtxBody body = parse_ptx(s.ptx, "tcq_probe");
  std::vector<std::string> found;
  const auto judge = [&](const ProtocolRule& rule, const ProbeThread* thread) {
    if (const std::string what = broken(body, rule, thread); !what.empty()) found.push_back(what);
  };
  for (const ProtocolRule& rule : rules_of_all(s)) judge(rule, nullptr);
  for (const RoleRules& role : roles(s))
    for (const ProtocolRule& rule : role.rules) judge(rule, &role.thread);
  find_wrong_issuers(body, s, found);
  if (count(s.ptx, "  ret;") != 1) found.push_back("one end");
  // The commit of a pair tells both CTAs, each at its own mbarrier.
  if (s.issues && (count(s.ptx, "multicast::cluster") != (s.pair ? 1 : 0) ||
                   count(s.ptx, "mov.b16 mask, 3;") != 1))
    found.push_back("both CTAs hear of the end");
  if (count(s.ptx, ".reqnctapercluster 2, 1, 1") != (s.pair ? 1 : 0)) found.push_back("a pair");
  return found;
}

// ---- All texts ----------------------------------------------------------------------------------

template <class Form>
Subject subject(const Form& form, int immediate, Target target, cuda::Probed probed) {
  int group = 1;
  if constexpr (requires { form.opcode; }) group = form.opcode.cta_group;
  if constexpr (requires { form.cta_group; }) group = form.cta_group;
  Subject s;
  s.name = std::string(name(target)) + " " + opcode(form).chars;
  s.ptx = cuda::probe_ptx(form, immediate, target, probed);
  s.pair = group == 2;
  s.issues = !requires { form.shape; };
  s.control = probed == cuda::Probed::Nothing;
  return s;
}

using Visit = std::function<void(const Subject&)>;

template <class List>
void visit_list(const List& forms, Target target, cuda::Probed probed, const Visit& visit) {
  for (int i = 0; i < forms.size; ++i)
    visit(subject(forms.list[i].form, forms.list[i].immediate, target, probed));
}

void visit_all(cuda::Probed probed, const Visit& visit) {
  for (const Target target : {Target::sm_100a, Target::sm_103a}) {
    for (const int cta_group : {1, 2}) {
      visit_list(mma_forms(target, cta_group), target, probed, visit);
      visit_list(cp_forms(target, cta_group), target, probed, visit);
      if (check(ShiftForm{cta_group}, target) == Fault::None)
        visit(subject(ShiftForm{cta_group}, 0, target, probed));
    }
    visit_list(ld_forms(target), target, probed, visit);
    visit_list(st_forms(target), target, probed, visit);
    visit_list(ld_red_forms(target), target, probed, visit);
  }
}

// Most texts differ in the operands of their one instruction only, at which no rule looks: each is
// judged once.
class Different {
 public:
  bool is_new(const Subject& s) { return seen_.insert(without_instruction(s)).second; }
  std::size_t size() const { return seen_.size(); }

 private:
  static std::string without_instruction(const Subject& s) {
    const std::string opcode = s.name.substr(s.name.find(' ') + 1);
    const std::size_t family = opcode.find('.', opcode.find('.') + 1);
    const std::size_t line = s.ptx.find("\n  " + opcode + " ");
    if (line == std::string::npos) return s.ptx;
    return opcode.substr(0, family) + s.ptx.substr(0, line) +
           s.ptx.substr(s.ptx.find('\n', line + 1));
  }
  std::set<std::string> seen_;
};

TEST(Tcgen05_Protocol, HoldsOnEveryPathOfEveryProbe) {
  for (const cuda::Probed probed : {cuda::Probed::Instruction, cuda::Probed::Nothing}) {
    int texts = 0, pairs = 0;
    Different different;
    visit_all(probed, [&](const Subject& s) {
      ++texts;
      pairs += s.pair ? 1 : 0;
      if (!different.is_new(s)) return;
      for (const std::string& what : violations(s)) ADD_FAILURE() << s.name << ": " << what;
    });
    EXPECT_GT(pairs, 500);
    std::printf("%s: %d texts, %d of pairs, %zu different\n",
                probed == cuda::Probed::Nothing ? "controls" : "probes", texts, pairs,
                different.size());
  }
}

// What the suites run, with the immediates that they draw.
TEST(Tcgen05_Protocol, HoldsForEveryCaseOfEverySuite) {
  int cases = 0, pairs = 0;
  Different different;
  for (const Target target : {Target::sm_100a, Target::sm_103a})
    for (const oracle::SuiteInfo& suite : oracle::suites()) {
      if (!oracle::is_tcgen05_suite(suite.name)) continue;
      for (const oracle::Case& any : suite.draw(1, target)) {
        const auto& c = std::get<oracle::Tcgen05Case>(any.experiment);
        std::visit(
            [&](const auto& form) {
              if constexpr (!requires { form.steps; }) {
                const Subject s = subject(form, c.immediate, target, cuda::Probed::Instruction);
                ++cases;
                pairs += s.pair ? 1 : 0;
                if (!different.is_new(s)) return;
                for (const std::string& what : violations(s)) ADD_FAILURE() << what;
              }
            },
            c.form);
      }
    }
  std::printf("%d cases, %d of pairs\n", cases, pairs);
  EXPECT_GT(pairs, 1000);
}

// ---- Each statement of the protocol is missed ---------------------------------------------------

std::vector<Subject> samples() {
  const MmaForm one{{.kind = Kind::f16}};
  const MmaForm two{{.kind = Kind::f16, .cta_group = 2}};
  const auto probed = cuda::Probed::Instruction;
  return {subject(one, 0, Target::sm_100a, probed),
          subject(two, 0, Target::sm_100a, probed),
          subject(CpForm{.cta_group = 2}, 0, Target::sm_100a, probed),
          subject(ShiftForm{2}, 0, Target::sm_100a, probed),
          subject(LdForm{LdShape::S16x256b, 8}, 0, Target::sm_100a, probed),
          subject(StForm{LdShape::S16x64b, 8}, 0, Target::sm_100a, probed)};
}

TEST(Tcgen05_Protocol, IsBrokenByDeletingAnyStatementOfIt) {
  static const std::regex protocol(
      R"(barrier\.cluster|bar\.sync|tcgen05\.(alloc|dealloc|relinq|commit|wait|fence)|)"
      R"(fence\.|mbarrier\.)");
  int deleted = 0;
  std::map<std::string, int> missed;
  for (const Subject& s : samples()) {
    const PtxBody body = parse_ptx(s.ptx, "tcq_probe");
    std::size_t from = 0;
    for (std::size_t i = 0; i < body.statements.size(); ++i) {
      const std::string& text = body.statements[i].text;
      if (!std::regex_search(text, protocol, std::regex_constants::match_continuous)) continue;
      const std::string line = "  " + text + ";\n";
      from = s.ptx.find(line, from);
      ASSERT_NE(from, std::string::npos) << text;
      Subject mutant = s;
      mutant.ptx.erase(from, line.size());
      from += line.size();
      ++deleted;
      if (!violations(mutant).empty()) continue;
      ++missed[s.name + ": " + text + " before " + body.statements.at(i + 1).text];
    }
  }
  for (const auto& [what, times] : missed) ADD_FAILURE() << times << " times not missed: " << what;
  std::printf("%d statements deleted\n", deleted);
  EXPECT_GT(deleted, 100);
}

// The kernel that was recorded with before: the pair allocates without having met.
TEST(Tcgen05_Protocol, APairThatAllocatesBeforeItHasMetIsFound) {
  Subject s = samples()[1];
  const std::size_t alloc = s.ptx.find("tcgen05.alloc");
  for (const std::string& line : {std::string("  barrier.cluster.arrive.release.aligned;\n"),
                                  std::string("  barrier.cluster.wait.acquire.aligned;\n")}) {
    const std::size_t at = s.ptx.find(line);
    ASSERT_LT(at, alloc);
    s.ptx.erase(at, line.size());
  }
  const auto found = violations(s);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::ranges::any_of(
      found, [](const std::string& what) { return what.starts_with("the peer is known to run"); }));
}

}  // namespace
}  // namespace tcq::tests
