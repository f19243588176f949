// Reading instructions.md; see instructions.h.
#include "oracle/explain/instructions.h"

#include "oracle/answer/words.h"
#include "oracle/explain/explain.h"

namespace tcq::oracle {
namespace {

InstructionPage read_instruction(const Section& section) {
  Fields fields(section);
  InstructionPage page;
  page.name = section.title;
  page.syntax = fields.take("Syntax").text;
  if (const Field* example = fields.take_if("Example")) page.example = example->text;
  page.does = fields.take("Does").text;
  page.orders = fields.take("Orders").text;
  page.by = fields.take("By").text;
  if (const Field* faults = fields.take_if("Faults")) page.faults = faults_named(faults->text, fields);
  page.evidence = fields.take("Evidence").text;
  fields.end();
  return page;
}

// "tcgen05.fence" of "tcgen05.fence::after_thread_sync".
bool begins(std::string_view opcode, std::string_view name) {
  return same_word(opcode.substr(0, name.size()), name) &&
         (opcode.size() == name.size() || opcode[name.size()] == '.' || opcode[name.size()] == ':');
}

std::string names_of(std::span<const Fault> faults) {
  std::string text;
  for (const Fault fault : faults) text += (text.empty() ? "" : ", ") + std::string(info(fault).name);
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
  return best;
}

Facts page_facts(const InstructionPage& page) {
  Facts facts = {{"instruction", page.name}, {"PTX", page.syntax}};
  if (!page.example.empty()) facts.push_back({"example", page.example});
  add_behaviour(facts, page);
  facts.push_back({"executed by", page.by});
  add_faults(facts, page);
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
