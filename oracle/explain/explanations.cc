// The tables of explain.h, made of the pages faults/*.md, ptxas.md, ptxas_errors.md and cuda_errors.md, and the Fix at a
// place.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "oracle/explain/explain.h"

namespace tcq::oracle {
namespace {

Fault fault_named(std::string_view name, const Fields& fields) {
  for (int i = 1; i < fault_count; ++i)
    if (name == info(static_cast<Fault>(i)).name) return static_cast<Fault>(i);
  fields.fail(fmt::format("no row of faults.inc is called '{}'", name));
}

Language language_of(const Field& block, const Fields& fields) {
  if (block.language == "ptx") return Language::Ptx;
  if (block.language == "cuda") return Language::Cuda;
  if (block.language == "shell") return Language::Shell;
  fields.fail(fmt::format("{} is no block of ptx, cuda or shell", block.label));
}

// "{at: the wgmma}" becomes the place, or the words behind the colon where it is not known.
std::string filled(std::string text, const FixPlaces& places) {
  const std::pair<std::string_view, const std::string&> known[] = {{"{at: ", places.at},
                                                                   {"{earlier: ", places.earlier},
                                                                   {"{hint: ", places.hint},
                                                                   {"{missing: ", places.missing}};
  for (const auto& [begin, place] : known) {
    for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
      const std::size_t words = at + begin.size();
      const std::size_t end = text.find('}', words);
      const std::string by = place.empty() ? text.substr(words, end - words) : place;
      text.replace(at, end + 1 - at, by);
    }
  }
  return text;
}

Explanation read_explanation(const Section& section) {
  Fields fields(section);
  Explanation e;
  e.fault = fault_named(section.title, fields);
  e.cause = fields.take("Cause").text;
  e.fix_template = fields.take("Fix").text;
  e.fix = filled(e.fix_template, {});
  const Field& wrong = fields.take("Wrong");
  const Field& right = fields.take("Right");
  e.language = language_of(wrong, fields);
  if (language_of(right, fields) != e.language) fields.fail("Wrong and Right differ in language");
  e.wrong = wrong.text;
  e.right = right.text;
  if (const Field* seen = fields.take_if("Seen")) e.seen = seen->text;
  fields.end();
  return e;
}

PtxasMessage read_message(const Section& section) {
  Fields fields(section);
  PtxasMessage m = {section.title,
                    fields.take("Effect").text,
                    fields.take("Says").text,
                    fields.take("Cause").text,
                    fields.take("Fix").text,
                    {},
                    {},
                    false};
  if (const Field* faults = fields.take_if("Faults")) m.faults = faults_named(faults->text, fields);
  m.evidence = fields.take("Source").text;
  fields.end();
  return m;
}

}  // namespace

std::vector<Fault> faults_named(std::string_view names, const Fields& fields) {
  std::vector<Fault> faults;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(", "), names.size());
    faults.push_back(fault_named(names.substr(0, end), fields));
    names.remove_prefix(std::min(end + 2, names.size()));
  }
  return faults;
}

std::vector<ExplanationGroup> read_explanations(std::span<const Page> pages) {
  std::vector<ExplanationGroup> groups;
  for (const Page& page : pages) {
    if (!page.path.starts_with("faults/")) continue;
    for (const Section& section : sections_of(page)) {
      if (groups.empty() || groups.back().title != section.group)
        groups.push_back({section.group, {}});
      groups.back().explanations.push_back(read_explanation(section));
    }
  }
  std::sort(groups.begin(), groups.end(), [](const auto& x, const auto& y) {
    return x.explanations[0].fault < y.explanations[0].fault;
  });
  return groups;
}

std::vector<PtxasMessage> read_ptxas_messages(const Page& page) {
  std::vector<PtxasMessage> messages;
  for (const Section& section : sections_of(page)) messages.push_back(read_message(section));
  return messages;
}

std::span<const ExplanationGroup> explanation_groups() {
  static const std::vector<ExplanationGroup> groups = read_explanations(pages());
  return groups;
}

const Explanation& explanation(Fault fault) {
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations)
      if (e.fault == fault) return e;
  throw BadProse(fmt::format("no page of faults/ has a section {}", info(fault).name));
}

std::string fix_at(Fault fault, const FixPlaces& places) {
  std::string text = filled(explanation(fault).fix_template, places);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  text.pop_back();  // the full stop
  return text;
}

std::span<const PtxasMessage> ptxas_messages() {
  static const std::vector<PtxasMessage> messages = read_ptxas_messages(page("ptxas.md"));
  return messages;
}

std::span<const PtxasMessage> ptxas_errors() {
  static const std::vector<PtxasMessage> errors = read_ptxas_messages(page("ptxas_errors.md"));
  return errors;
}

std::span<const PtxasMessage> cuda_errors() {
  static const std::vector<PtxasMessage> errors = [] {
    std::vector<PtxasMessage> read = read_ptxas_messages(page("cuda_errors.md"));
    for (PtxasMessage& message : read) message.of_cuda = true;
    return read;
  }();
  return errors;
}

}  // namespace tcq::oracle
