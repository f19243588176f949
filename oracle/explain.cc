// `explain`: what a Fault means and what to do about it; also by the code of a ptxas message.
//
// The texts are explanations.h, sentences and sections sim/isa/fault.h. Example: `explain
// ProxyFenceMissing`, `explain C7514`.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "oracle/explanations.h"
#include "oracle/json.h"
#include "oracle/table.h"
#include "oracle/verbs.h"
#include "oracle/words.h"

namespace tcq::oracle {
namespace {

std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (int i = 1; i < fault_count; ++i) faults.push_back(static_cast<Fault>(i));
  return faults;
}

std::string source_of(Fault fault) {
  const std::string source = info(fault).source;
  const bool section = source.size() > 1 && source[1] == '.';
  return section ? "PTX ISA 9.2, " + source : source;
}

std::string text_of(Fault fault) {
  const FaultInfo about = info(fault);
  const Explanation& e = explanation(fault);
  std::string text = fmt::format(
      "{}  {}\nwhat: {}\ncause: {}\nfix: {}\nexample:\n  wrong  {}\n  right  {}\nsource: {}",
      about.name, name(about.kind), about.sentence, e.cause, e.fix, e.wrong, e.right,
      source_of(fault));
  if (*e.ptxas != 0) text += fmt::format("\nptxas: {}", e.ptxas);
  return text;
}

std::string json_of(Fault fault) {
  const FaultInfo about = info(fault);
  const Explanation& e = explanation(fault);
  return json_object({{"fault", json_string(about.name)},
                      {"kind", json_string(name(about.kind))},
                      {"what", json_string(about.sentence)},
                      {"cause", json_string(e.cause)},
                      {"fix", json_string(e.fix)},
                      {"wrong", json_string(e.wrong)},
                      {"right", json_string(e.right)},
                      {"source", json_string(source_of(fault))},
                      {"ptxas", json_string(e.ptxas)}});
}

std::string list_all(const Options& options) {
  Table table{{"fault", "kind", "sentence"}, {}};
  std::string text;
  for (const Fault fault : all_faults()) {
    const FaultInfo about = info(fault);
    table.rows.push_back({about.name, name(about.kind), about.sentence});
    text += fmt::format("{}{}  {}  {}", text.empty() ? "" : "\n", about.name, name(about.kind),
                        about.sentence);
  }
  if (options.style == Style::Text) return text;
  return render(options.transpose ? transposed(table) : table, options.style);
}

// A name, or the faults whose explanation names a message of ptxas.
std::vector<Fault> matching(std::string_view word) {
  std::vector<std::string_view> names;
  std::vector<Fault> found;
  const std::string lower = lowered(word);
  const bool is_code = lower.size() == 5 && lower.starts_with("c75");
  for (const Fault fault : all_faults()) {
    names.push_back(info(fault).name);
    const std::string ptxas = lowered(explanation(fault).ptxas);
    const bool named = is_code && ptxas.find(lower) != ptxas.npos;
    if (named || same_word(info(fault).name, word)) found.push_back(fault);
  }
  if (found.empty())
    throw UsageError(
        fmt::format("unknown fault {}: expected a name that 'tcq explain' lists, or a ptxas code "
                    "such as C7514; did you mean '{}'?",
                    quoted(word), nearest(word, names)));
  return found;
}

}  // namespace

Answer explain(const Question& question) {
  if (question.words.size() > 1)
    throw UsageError(
        fmt::format("unexpected word {}: expected at most one fault", quoted(question.words[1])));
  const bool json = question.options.style == Style::Json;
  if (question.words.empty() && !json) return {Status::Yes, list_all(question.options), ""};
  const std::vector<Fault> wanted =
      question.words.empty() ? all_faults() : matching(question.words[0]);
  std::vector<std::string> parts;
  for (const Fault fault : wanted) parts.push_back(json ? json_of(fault) : text_of(fault));
  if (json) return {Status::Yes, json_array(parts), ""};
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n\n") + part;
  return {Status::Yes, text, ""};
}

}  // namespace tcq::oracle
