// Reading instructions.md; see instructions.h.
#include "oracle/explain/instructions.h"

#include <algorithm>

#include "oracle/answer/words.h"
#include "oracle/explain/explain.h"

namespace tcq::oracle {
namespace {

std::vector<Target> targets_named(std::string_view names, const Fields& fields) {
  std::vector<Target> targets;
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(", "));
    names.remove_prefix(std::min(one.size() + 2, names.size()));
    const std::size_t before = targets.size();
    for (int i = 0; i < target_count; ++i)
      if (one == tcq::name(static_cast<Target>(i))) targets.push_back(static_cast<Target>(i));
    if (targets.size() == before) fields.fail("no target is called " + std::string(one));
  }
  return targets;
}

InstructionPage read_instruction(const Section& section) {
  Fields fields(section);
  InstructionPage page;
  page.name = section.title;
  page.syntax = fields.take("Syntax").text;
  if (const Field* example = fields.take_if("Example")) page.example = example->text;
  if (const Field* called = fields.take_if("Called")) page.called = called->text;
  page.does = fields.take("Does").text;
  page.orders = fields.take("Orders").text;
  page.by = fields.take("By").text;
  if (const Field* faults = fields.take_if("Faults"))
    page.faults = faults_named(faults->text, fields);
  if (const Field* targets = fields.take_if("Targets"))
    page.targets = targets_named(targets->text, fields);
  page.evidence = fields.take("Evidence").text;
  fields.end();
  return page;
}

// A function of cuda::ptx has _ for each dot: mbarrier_try_wait_parity.
std::string dotted(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '.');
  return text;
}

// "tcgen05.fence" of "tcgen05.fence::after_thread_sync".
bool begins(std::string_view opcode, std::string_view name) {
  const bool is_function = opcode.find('.') == opcode.npos;
  const std::string_view head = opcode.substr(0, name.size());
  const bool same = is_function ? same_word(dotted(head), dotted(name)) : same_word(head, name);
  constexpr std::string_view ends = ".:_";
  return same && (opcode.size() == name.size() ||
                  ends.substr(0, is_function ? 3 : 2).find(opcode[name.size()]) != ends.npos);
}

std::string_view name_of(Fault fault) { return info(fault).name; }
std::string_view name_of(Target target) { return tcq::name(target); }

// The last part of cutlass::arch::warpgroup_wait<0>() and cute.arch.elect_one.
std::string_view function_of(std::string_view text) {
  text = text.substr(0, text.find_first_of("<("));
  const std::size_t colons = text.rfind("::"), dot = text.rfind('.');
  if (colons != text.npos) return text.substr(colons + 2);
  return text.starts_with("cute.") && dot != text.npos ? text.substr(dot + 1) : text;
}

bool is_called(const InstructionPage& page, std::string_view function) {
  for (std::string_view names = page.called; !names.empty();) {
    const std::string_view one = names.substr(0, names.find(", "));
    names.remove_prefix(std::min(one.size() + 2, names.size()));
    if (same_word(one, function)) return true;
  }
  return false;
}

template <class One>
std::string names_of(const std::vector<One>& all) {
  std::string text;
  for (const One one : all) text += (text.empty() ? "" : ", ") + std::string(name_of(one));
  return text;
}

void add_behaviour(Facts& facts, const InstructionPage& page) {
  facts.push_back({"does", page.does});
  facts.push_back({"orders", page.orders});
}

void add_faults(Facts& facts, const InstructionPage& page) {
  if (!page.faults.empty()) facts.push_back({"what goes wrong", names_of(page.faults)});
}

}  // namespace

std::vector<InstructionPage> read_instructions(const Page& page) {
  std::vector<InstructionPage> pages;
  for (const Section& section : sections_of(page)) pages.push_back(read_instruction(section));
  return pages;
}

std::span<const InstructionPage> instruction_pages() {
  static const std::vector<InstructionPage> pages = read_instructions(page("instructions.md"));
  return pages;
}

const InstructionPage* instruction_page(std::string_view opcode) {
  const InstructionPage* best = nullptr;
  for (const InstructionPage& page : instruction_pages())
    if (begins(opcode, page.name) && (best == nullptr || page.name.size() > best->name.size()))
      best = &page;
  if (best != nullptr) return best;
  const std::string_view function = function_of(opcode);
  for (const InstructionPage& page : instruction_pages())
    if (is_called(page, function)) return &page;
  return nullptr;
}

Facts page_facts(const InstructionPage& page) {
  Facts facts = {{"instruction", page.name}, {"PTX", page.syntax}};
  if (!page.example.empty()) facts.push_back({"example", page.example});
  if (!page.called.empty()) facts.push_back({"called", page.called});
  add_behaviour(facts, page);
  facts.push_back({"executed by", page.by});
  add_faults(facts, page);
  if (!page.targets.empty()) facts.push_back({"legal on", names_of(page.targets)});
  facts.push_back({"evidence", page.evidence});
  return facts;
}

void add_page_facts(Facts& facts, std::string_view opcode) {
  const InstructionPage* page = instruction_page(opcode);
  if (page == nullptr) return;
  add_behaviour(facts, *page);
  add_faults(facts, *page);
}

}  // namespace tcq::oracle
