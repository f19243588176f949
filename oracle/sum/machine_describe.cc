// Facts about instructions of the asynchronous machine; see machine_describe.h.
#include "oracle/sum/machine_describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/answer/facts.h"
#include "oracle/answer/words.h"
#include "oracle/explain/instructions.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/ptx/form.h"

namespace tcq::oracle {
namespace {

// Those that are told from another when they have all their words; of the last ones only sim/isa knows the forms.
constexpr std::array<std::string_view, 4> with_forms = {"ldmatrix", "stmatrix", "mma",
                                                        "wgmma.mma_async"};

bool has_forms(const InstructionPage& page) {
  return page.name.starts_with("tcgen05.") ||
         std::find(with_forms.begin(), with_forms.end(), page.name) != with_forms.end();
}

// barrier.cta.sync is the page bar.sync.
const InstructionPage* page_of(std::string_view mnemonic) {
  if (const InstructionPage* page = instruction_page(mnemonic)) return page;
  const ptx::Form form = ptx::read_form(lowered(mnemonic));
  if (form.opcode == ptx::Opcode::Unknown) return nullptr;
  return instruction_page(ptx::row_of(form.opcode).name);
}

// Words may be missing, as an abbreviation; what the opcode does not have is a mistake.
void check_words(std::string_view mnemonic, const InstructionPage& page) {
  if (same_word(mnemonic, page.name)) return;
  const ptx::Form form = ptx::read_form(mnemonic);
  if (form.problem.empty() || form.problem.starts_with("lacks")) return;
  if (form.problem.starts_with("is ")) return;  // a name is cut short
  throw UsageError(
      fmt::format("unknown mnemonic {}: {} {}; its syntax is {}", quoted(mnemonic), page.name, form.problem, page.syntax));
}

void check_target(const InstructionPage& page, Target target) {
  const auto& targets = page.targets;
  if (targets.empty() || std::find(targets.begin(), targets.end(), target) != targets.end()) return;
  if (page.name.starts_with("wgmma")) throw FaultError(Fault::TargetLacksWgmma);
  if (page.name.starts_with("tcgen05")) throw FaultError(Fault::TargetLacksTcgen05);
  throw FaultError(Fault::InstructionUnknown,
                   fmt::format("; {} does not have {}, ptxas takes it for targets with suffix a or f only",
                               name(target), page.name));
}

// A word that the page has, such as an operand's or a field's, is what is asked about.
void check_no_keys(const Question& question, const InstructionPage& page) {
  const std::string text = lowered(page.syntax + " " + page.does + " " + page.orders);
  for (const std::string_view word : words_from(question, 1))
    if (text.find(lowered(word)) == text.npos)
      throw UsageError(fmt::format("unexpected word {}: {} has no keys", quoted(word),
                                   quoted(question.words[0])));
}

std::string forms_text(const InstructionPage& page) {
  int forms = 0;
  for (const Tcgen05Form& form : all_tcgen05_forms())
    if (instruction_page(full_opcode(form)) == &page) ++forms;
  return fmt::format("{}, which 'tcq list --family {}' names; with all its words describe says more",
                     forms, page.name);
}

}  // namespace

bool is_machine_instruction(std::string_view mnemonic) {
  const InstructionPage* page = page_of(mnemonic);
  const bool is_name = same_word(mnemonic, page == nullptr ? "" : page->name) ||
                       mnemonic.find('.') == mnemonic.npos;  // or a function's, mbarrier_init
  return page != nullptr && (is_name || !has_forms(*page));
}

Answer describe_machine_instruction(const Question& question) {
  const std::string_view mnemonic = question.words[0];
  const InstructionPage& page = *page_of(mnemonic);
  check_no_keys(question, page);
  check_words(mnemonic, page);
  if (!question.options.arch.empty()) check_target(page, parse_target(question.options.arch));
  Facts facts = page_facts(page);
  if (page.name.starts_with("tcgen05.")) {
    facts.insert(facts.begin() + 2, {"forms", forms_text(page)});
    facts.push_back({"evidence, silicon", "has not run on silicon here: no sm_100 device"});
  }
  return facts_answer(facts, facts_members(facts), question.options.style);
}

void throw_undescribed(std::string_view mnemonic) {
  throw UnmodelledError(fmt::format(
      "{} is not described here: those are that order, move or multiply, such as mbarrier.try_wait, "
      "fence.proxy.async, cp.async.bulk.tensor or wgmma.fence; tcq run executes what a kernel has",
      quoted(mnemonic)));
}

}  // namespace tcq::oracle
