// `explain`: cause, cure and example of a Fault, or what a message of ptxas is about.
//
// Names are read without regard to case and may be cut short as long as they are unique. Example:
// `explain C7519` names WgmmaFenceMissing; `explain wgmmaf` explains that.
#include "oracle/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "sim/isa/fault/fault.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view ptxas_title = "Messages of ptxas";
constexpr std::string_view ptxas_kind = "ptxas";

std::string_view name(Language language) {
  switch (language) {
    case Language::Ptx: return "ptx";
    case Language::Cuda: return "cuda";
    case Language::Shell: return "shell";
  }
  return "?";
}

std::string effect_of(const PtxasMessage& message) {
  return fmt::format("{} {}: {}", message.code, message.effect, message.cause);
}

std::vector<const PtxasMessage*> messages_about(Fault fault) {
  std::vector<const PtxasMessage*> found;
  for (const PtxasMessage& message : ptxas_messages())
    if (std::find(message.faults.begin(), message.faults.end(), fault) != message.faults.end())
      found.push_back(&message);
  return found;
}

// ---- Text ---------------------------------------------------------------------------------------

// The lines of an example, the first behind its label.
std::string example_lines(std::string_view label, std::string_view lines) {
  std::string text = fmt::format("\n  {:<8}", label);
  for (const char c : lines) text += c == '\n' ? std::string("\n          ") : std::string(1, c);
  return text;
}

std::string full_text(const Explanation& e) {
  const FaultInfo about = info(e.fault);
  std::string text =
      fmt::format("{}  {}\nwhat: {}\ncause: {}\nfix: {}\nexample:{}{}\nsource: {}", about.name,
                  tcq::name(about.kind), about.sentence, e.cause, e.fix,
                  example_lines("wrong", e.wrong), example_lines("right", e.right), about.source);
  for (const PtxasMessage* message : messages_about(e.fault))
    text += "\nptxas: " + effect_of(*message);
  if (!e.seen.empty()) text += fmt::format("\nseen: {}", e.seen);
  return text;
}

std::string full_text(const PtxasMessage& message) {
  std::string text = fmt::format("{}  {}\nwhat: ptxas {}\ncause: {}\nfix: {}", message.code,
                                 ptxas_kind, message.effect, message.cause, message.fix);
  for (const Fault fault : message.faults)
    text += fmt::format("\nfault: {}: {}", info(fault).name, info(fault).sentence);
  return text + fmt::format("\nsource: {}", message.evidence);
}

std::string list_text() {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view kind, std::string_view what) {
    text += fmt::format("\n  {:<26}  {:<10}  {}", name, kind, what);
  };
  for (const ExplanationGroup& group : explanation_groups()) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", group.title);
    for (const Explanation& e : group.explanations)
      line(info(e.fault).name, tcq::name(info(e.fault).kind), info(e.fault).sentence);
  }
  text += fmt::format("\n{}", ptxas_title);
  for (const PtxasMessage& message : ptxas_messages())
    line(message.code, ptxas_kind, fmt::format("{}: {}", message.effect, message.cause));
  return text;
}

// ---- JSON ---------------------------------------------------------------------------------------

std::string_view group_of(Fault fault) {
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations)
      if (e.fault == fault) return group.title;
  return "?";
}

Value full_value(const Explanation& e) {
  const FaultInfo about = info(e.fault);
  return Value::Members{
      {"name", about.name},
      {"kind", tcq::name(about.kind)},
      {"group", group_of(e.fault)},
      {"what", about.sentence},
      {"cause", e.cause},
      {"fix", e.fix},
      {"language", name(e.language)},
      {"wrong", e.wrong},
      {"right", e.right},
      {"source", about.source},
      {"ptxas", list_of(messages_about(e.fault), [](const PtxasMessage* m) { return m->code; })},
      {"seen", e.seen}};
}

Value full_value(const PtxasMessage& message) {
  return Value::Members{
      {"name", message.code},
      {"kind", ptxas_kind},
      {"group", ptxas_title},
      {"what", fmt::format("ptxas {}", message.effect)},
      {"cause", message.cause},
      {"fix", message.fix},
      {"faults", list_of(message.faults, [](Fault fault) { return info(fault).name; })},
      {"source", message.evidence}};
}

Value list_value() {
  Value::List all;
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations) all.push_back(full_value(e));
  for (const PtxasMessage& message : ptxas_messages()) all.push_back(full_value(message));
  return all;
}

// ---- Words --------------------------------------------------------------------------------------

// What a word may mean: one of the two.
struct Subject {
  std::string_view name;
  const Explanation* explanation = nullptr;
  const PtxasMessage* message = nullptr;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations) all.push_back({info(e.fault).name, &e});
  for (const PtxasMessage& message : ptxas_messages())
    all.push_back({message.code, nullptr, &message});
  return all;
}

[[noreturn]] void throw_unknown_subject(std::string_view word, const std::vector<Subject>& all) {
  std::vector<std::string_view> names;
  for (const Subject& subject : all) names.push_back(subject.name);
  throw UsageError(
      fmt::format("unknown fault {}: expected a name that 'tcq explain' lists, or a code from "
                  "C7504 to C7520; did you mean '{}'?",
                  quoted(word), nearest(word, names)));
}

[[noreturn]] void throw_ambiguous(std::string_view word, const std::vector<Subject>& several) {
  std::string names;
  for (const Subject& subject : several)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", subject.name);
  throw UsageError(fmt::format("{} begins several names: expected one of {}", quoted(word), names));
}

// The whole name counts before its beginnings.
Subject subject_of(std::string_view word) {
  const std::vector<Subject> all = subjects();
  std::vector<Subject> begun;
  for (const Subject& subject : all) {
    if (same_word(subject.name, word)) return subject;
    if (same_word(subject.name.substr(0, word.size()), word)) begun.push_back(subject);
  }
  if (begun.empty() || word.empty()) throw_unknown_subject(word, all);
  if (begun.size() > 1) throw_ambiguous(word, begun);
  return begun[0];
}

}  // namespace

Answer explain(const Question& question) {
  if (question.words.size() > 1)
    throw UsageError(
        fmt::format("unexpected word {}: expected at most one name", quoted(question.words[1])));
  const bool json = question.options.style == Style::Json;
  if (question.words.empty())
    return {Status::Yes, json ? json_text(list_value()) : list_text(), ""};
  const Subject subject = subject_of(question.words[0]);
  const auto reply = [&](const auto& found) -> Answer {
    return {Status::Yes, json ? json_text(full_value(found)) : full_text(found), ""};
  };
  return subject.message != nullptr ? reply(*subject.message) : reply(*subject.explanation);
}

}  // namespace tcq::oracle
