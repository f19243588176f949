// `explain`: cause, cure and example of a Fault, or what a message of ptxas is about; for other words what
// is about them.
//
// Names are read without regard to case and may be cut short as long as they are unique. A message of
// ptxas may be pasted whole, with its code or without; what is neither is searched (search.h), in published
// claims, instructions and the guide as well. Example: `explain C7519` names WgmmaFenceMissing; `explain wgmmaf` explains that;
// `explain why does it hang` explains Deadlock, and names what else may be meant.
#include "oracle/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/explain/errata.h"
#include "oracle/explain/guide.h"
#include "oracle/explain/instructions.h"
#include "oracle/explain/search.h"
#include "sim/isa/fault/fault.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view ptxas_title = "Messages of ptxas";
constexpr std::string_view cuda_title = "Errors of CUDA";

std::string_view name(Language language) {
  switch (language) {
    case Language::Ptx: return "ptx";
    case Language::Cuda: return "cuda";
    case Language::Shell: return "shell";
  }
  return "?";
}

std::string_view kind_of(const PtxasMessage& message) { return message.of_cuda ? "cuda" : "ptxas"; }

std::string what_of(const PtxasMessage& message) {
  return fmt::format("{} {}", message.of_cuda ? "CUDA" : "ptxas", message.effect);
}

std::string effect_of(const PtxasMessage& message) {
  return fmt::format("{} {}: {}", message.code, message.effect, message.cause);
}

// Of ptxas with a code and without, then those of CUDA.
const std::vector<PtxasMessage>& all_messages() {
  static const std::vector<PtxasMessage> all = [] {
    std::vector<PtxasMessage> both(ptxas_messages().begin(), ptxas_messages().end());
    both.insert(both.end(), ptxas_errors().begin(), ptxas_errors().end());
    both.insert(both.end(), cuda_errors().begin(), cuda_errors().end());
    return both;
  }();
  return all;
}

// Of ptxas: an error of CUDA may be about any statement.
std::vector<const PtxasMessage*> messages_about(Fault fault) {
  std::vector<const PtxasMessage*> found;
  for (const PtxasMessage& message : all_messages())
    if (!message.of_cuda &&
        std::find(message.faults.begin(), message.faults.end(), fault) != message.faults.end())
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
  std::string text =
      fmt::format("{}  {}\nwhat: {}\nsays: {}\ncause: {}\nfix: {}", message.code, kind_of(message),
                  what_of(message), message.says, message.cause, message.fix);
  for (const Fault fault : message.faults)
    text += fmt::format("\nfault: {}: {}", info(fault).name, info(fault).sentence);
  return text + fmt::format("\nsource: {}", message.evidence);
}

std::string full_text(const GuidePage& page) {
  return fmt::format("{}  guide\nwhat: {}\nanswer: {}\nmore: docs/{}.md", page.name, page.question,
                     page.answer, page.name);
}

std::string full_text(const InstructionPage& page) { return facts_lines(page_facts(page)); }

std::string line_text(std::string_view name, std::string_view kind, std::string_view what) {
  return fmt::format("  {:<26}  {:<10}  {}", name, kind, what);
}

std::string line_text(const Explanation& e) {
  return line_text(info(e.fault).name, tcq::name(info(e.fault).kind), info(e.fault).sentence);
}

std::string line_text(const PtxasMessage& message) {
  return line_text(message.code, kind_of(message),
                   fmt::format("{}: {}", message.effect, message.cause));
}

std::string line_text(const Erratum& erratum) {
  return line_text("errata " + erratum.key, "wrong", erratum.claim);
}

std::string line_text(const GuidePage& page) {
  return line_text(page.name, "guide", page.question);
}

std::string line_text(const InstructionPage& page) {
  return line_text(page.name, "ptx", page.does);
}

std::string list_text() {
  std::string text;
  for (const ExplanationGroup& group : explanation_groups()) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", group.title);
    for (const Explanation& e : group.explanations) text += "\n" + line_text(e);
  }
  text += fmt::format("\n{}", ptxas_title);
  for (const PtxasMessage& message : all_messages()) {
    if (&message == &all_messages()[all_messages().size() - cuda_errors().size()])
      text += fmt::format("\n{}", cuda_title);
    text += "\n" + line_text(message);
  }
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
      {"kind", kind_of(message)},
      {"group", message.of_cuda ? cuda_title : ptxas_title},
      {"what", what_of(message)},
      {"says", message.says},
      {"cause", message.cause},
      {"fix", message.fix},
      {"faults", list_of(message.faults, [](Fault fault) { return info(fault).name; })},
      {"source", message.evidence}};
}

Value full_value(const GuidePage& page) {
  return Value::Members{{"name", page.name},
                        {"kind", "guide"},
                        {"what", page.question},
                        {"answer", page.answer},
                        {"source", fmt::format("docs/{}.md", page.name)}};
}

Value full_value(const InstructionPage& page) { return facts_members(page_facts(page)); }

Value list_value() {
  Value::List all;
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations) all.push_back(full_value(e));
  for (const PtxasMessage& message : all_messages()) all.push_back(full_value(message));
  return all;
}

// ---- Words --------------------------------------------------------------------------------------

// What words may mean: one of the five.
struct Subject {
  std::string_view name;
  std::variant<const Explanation*, const PtxasMessage*, const Erratum*, const GuidePage*,
               const InstructionPage*>
      of;
  bool is_sure = true;  // has most of the words that were asked
};

std::vector<Subject> named_subjects() {
  std::vector<Subject> all;
  for (const ExplanationGroup& group : explanation_groups())
    for (const Explanation& e : group.explanations) all.push_back({info(e.fault).name, &e});
  for (const PtxasMessage& message : all_messages()) all.push_back({message.code, &message});
  return all;
}

[[noreturn]] void throw_unknown_subject(std::string_view word, std::string_view meant) {
  throw UsageError(
      fmt::format("unknown fault {}: expected a name that 'tcq explain' lists, a code from C7504 "
                  "to C7520 or C7602, or "
                  "words that a text has{}",
                  quoted(word), meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
}

// Empty if none is near.
std::string_view nearest_name(std::string_view word) {
  std::size_t distance = word.size() / 3 + 1;  // one letter of three
  std::string_view best;
  for (const bool whole : {true, false})  // else it may be cut short
    for (const Subject& subject : named_subjects()) {
      const std::string_view name = whole ? subject.name : subject.name.substr(0, word.size());
      const std::size_t d = edit_distance(word, name, distance);
      if (d < distance) best = subject.name;
      distance = d;
    }
  return best;
}

[[noreturn]] void throw_ambiguous(std::string_view word, const std::vector<Subject>& several) {
  std::string names;
  for (const Subject& subject : several)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", subject.name);
  throw UsageError(fmt::format("{} begins several names: expected one of {}", quoted(word), names));
}

// The whole name counts before its beginnings.
std::vector<Subject> named(std::string_view word) {
  std::vector<Subject> begun;
  for (const Subject& subject : named_subjects()) {
    if (same_word(subject.name, word)) return {subject};
    if (same_word(subject.name.substr(0, word.size()), word)) begun.push_back(subject);
  }
  if (word.empty()) throw_unknown_subject(word, nearest_name(word));
  if (begun.size() > 1) throw_ambiguous(word, begun);
  return begun;
}

bool has_number(std::string_view words, std::string_view number) {
  const std::size_t at = words.find(number);
  const auto is_digit = [&](std::size_t i) {
    return i < words.size() && words[i] >= '0' && words[i] <= '9';
  };
  return at != words.npos && (at == 0 || !is_digit(at - 1)) && !is_digit(at + number.size());
}

// "errata 003.14", as answers name a claim, or its key alone.
std::vector<Subject> erratum_named(std::string_view words) {
  constexpr std::string_view before = "errata ";
  if (words.starts_with(before)) words.remove_prefix(before.size());
  for (const Erratum& erratum : all_errata())
    if (words == erratum.key) return {{erratum.key, &erratum}};
  return {};
}

// The page of the instruction that a message quotes first: tensormap.replace of "Instruction 'tensormap.replace' not
// supported on .target 'sm_120'". None of wgmma and tcgen05, of which Faults say more.
std::vector<Subject> quoted_instruction(std::string_view words) {
  const std::size_t begin = words.find('\'');
  if (begin == words.npos) return {};
  std::string_view quoted = words.substr(begin + 1);
  quoted = quoted.substr(0, quoted.find_first_of("' "));
  const InstructionPage* page = instruction_page(quoted);
  if (page == nullptr || quoted.starts_with("wgmma") || quoted.starts_with("tcgen05")) return {};
  return {{page->name, page}};
}

// Where `part` stands from `begin` on; CUDA_EXCEPTION_1 is not the beginning of another.
std::size_t behind_part(std::string_view text, std::string_view part, std::size_t begin) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = text.find(part, begin); at != text.npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (end == text.size() || !is_digit(part.back()) || !is_digit(text[end])) return end;
  }
  return text.npos;
}

// Parts with anything between them: "Address 0x .. is misaligned".
bool has_spelling(std::string_view text, std::string_view spelling) {
  constexpr std::string_view gap = " .. ";
  std::size_t at = 0;
  for (std::string_view rest = spelling; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(gap));
    rest.remove_prefix(std::min(part.size() + gap.size(), rest.size()));
    at = behind_part(text, part, at);
    if (at == text.npos) return false;
  }
  return true;
}

// One of the ways in which a message is spelt, in any case.
bool says(const PtxasMessage& message, std::string_view lowered_words) {
  constexpr std::string_view between = " | ";
  const std::string all = lowered(message.says);
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(between));
    rest.remove_prefix(std::min(one.size() + between.size(), rest.size()));
    if (has_spelling(lowered_words, one)) return true;
  }
  return false;
}

// What the words of an error without a code say, and the instruction that it quotes.
std::vector<Subject> pasted_error(std::string_view words) {
  const std::string text = lowered(words);
  for (const PtxasMessage& message : ptxas_errors()) {
    if (!says(message, text)) continue;
    std::vector<Subject> found = {{message.code, &message}};
    for (const Subject& page : quoted_instruction(words)) found.push_back(page);
    return found;
  }
  return {};
}

// The number in brackets at the end of its Effect, as in "error 715".
std::string_view number_of(const PtxasMessage& message) {
  const std::size_t open = message.effect.rfind('(');
  if (!message.of_cuda || open == message.effect.npos) return "";
  return std::string_view(message.effect).substr(open + 1, message.effect.size() - open - 2);
}

// What CUDA says, or its number alone: "715", "error 715". Those that say what failed come last, and are asked first.
std::vector<Subject> pasted_cuda_error(std::string_view words) {
  const std::string text = lowered(words);
  const std::span<const PtxasMessage> errors = cuda_errors();
  for (std::size_t i = errors.size(); i-- > 0;)
    if (says(errors[i], text)) return {{errors[i].code, &errors[i]}};
  const std::string_view number =
      text.starts_with("error ") ? std::string_view(text).substr(6) : std::string_view(text);
  for (const PtxasMessage& message : errors)
    if (number.size() > 1 && number == number_of(message)) return {{message.code, &message}};
  return {};
}

// A pasted message: a code says everything, "(C7514) Potential Performance Loss"; an error is known by its words, as its
// line may have the number of a code; then a number alone or the words of a code.
std::vector<Subject> pasted(std::string_view words) {
  for (const PtxasMessage& message : ptxas_messages())
    if (has_number(words, message.code)) return {{message.code, &message}};
  if (words.find("not supported on .target") != words.npos)
    if (std::vector<Subject> page = quoted_instruction(words); !page.empty()) return page;
  if (std::vector<Subject> error = pasted_error(words); !error.empty()) return error;
  if (std::vector<Subject> error = pasted_cuda_error(words); !error.empty()) return error;
  for (const PtxasMessage& message : ptxas_messages())
    if (has_number(words, std::string_view(message.code).substr(1)) ||
        words.find(message.says) != words.npos)
      return {{message.code, &message}};
  return {};
}

SearchText search_text(const Explanation& e) {
  return {std::string(info(e.fault).sentence),
          fmt::format("{} {} {} {}", e.cause, e.fix, e.seen, tcq::name(info(e.fault).kind)),
          std::string(info(e.fault).name)};
}

SearchText search_text(const PtxasMessage& m) {
  return {m.code, fmt::format("{} {} {} {}", m.effect, m.says, m.cause, m.fix), ""};
}

SearchText search_text(const GuidePage& page) {
  std::string spaced = page.name;
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  return {page.question, page.answer + " " + page.more, page.name + " " + spaced, true};
}

// Does the name stand there as a word?
bool names(std::string_view words, std::string_view name) {
  const std::size_t at = words.find(name);
  const auto ends = [&](std::size_t i) { return i >= words.size() || words[i] == ' '; };
  return at != words.npos && (at == 0 || words[at - 1] == ' ') && ends(at + name.size());
}

// Its name counts as any word: who asks why wants the Fault, the instruction is among the others. One that is spelt out
// is what is asked about.
SearchText search_text(const InstructionPage& page, std::string_view asked) {
  const bool is_opcode = page.name.find('.') != page.name.npos;
  const bool is_named = is_opcode && names(asked, page.name);
  return {is_named ? page.name : "",
          fmt::format("{} {} {} {}", page.name, page.does, page.orders, page.by), "", is_named};
}

// The pages of instructions whose functions stand there, tma_store_wait: where nothing else is found.
std::vector<Subject> functions_in(std::string_view words) {
  std::vector<Subject> found;
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const InstructionPage* page = instruction_page(word);
    const auto is_it = [&](const Subject& one) { return one.name == page->name; };
    if (page != nullptr && std::none_of(found.begin(), found.end(), is_it))
      found.push_back({page->name, page});
  }
  return found;
}

std::vector<Subject> searched(std::string_view words) {
  constexpr std::size_t most_found = 12;
  std::vector<Subject> all = named_subjects();
  std::vector<SearchText> texts;
  for (const Subject& subject : all)
    texts.push_back(std::holds_alternative<const Explanation*>(subject.of)
                        ? search_text(*std::get<const Explanation*>(subject.of))
                        : search_text(*std::get<const PtxasMessage*>(subject.of)));
  for (const Erratum& erratum : all_errata()) all.push_back({erratum.key, &erratum});
  for (SearchText& text : errata_texts()) texts.push_back(std::move(text));
  for (const GuidePage& page : guide_pages()) {
    all.push_back({page.name, &page});
    texts.push_back(search_text(page));
  }
  for (const InstructionPage& page : instruction_pages()) {
    all.push_back({page.name, &page});
    texts.push_back(search_text(page, words));
  }
  const std::vector<Hit> found = found_by(words, texts, most_found);
  if (found.empty()) {
    if (std::vector<Subject> functions = functions_in(words); !functions.empty()) return functions;
    const std::string other = respelt(words, texts);
    const std::string_view name = nearest_name(words);
    throw_unknown_subject(words, name.empty() ? std::string_view(other) : name);
  }
  if (found.size() > 1 && is_clear(words, texts[found[0].index], texts[found[1].index]))
    return {all[found[0].index]};
  std::vector<Subject> subjects;
  for (const Hit& hit : found) {
    subjects.push_back(all[hit.index]);
    subjects.back().is_sure = hit.is_sure;
  }
  return subjects;
}

std::vector<Subject> subjects_of(std::string_view words) {
  if (words.find(' ') == words.npos)
    if (std::vector<Subject> found = named(words); !found.empty()) return found;
  if (std::vector<Subject> found = erratum_named(words); !found.empty()) return found;
  if (const InstructionPage* page = instruction_page(words);
      page != nullptr && words.find(' ') == words.npos &&
      (words.find('.') != words.npos || same_word(words, page->name)))
    return {{page->name, page}};
  if (std::vector<Subject> found = pasted(words); !found.empty()) return found;
  return searched(words);
}

std::string lines_text(std::span<const Subject> subjects) {
  std::string text;
  for (const Subject& subject : subjects)
    text += "\n" + std::visit([](const auto* one) { return line_text(*one); }, subject.of);
  return text;
}

// The first in full if it has most of the words, the others in a line each.
std::string text_about(std::span<const Subject> found) {
  if (!found[0].is_sure)
    return "these have some of the words; 'tcq explain NAME' says more" + lines_text(found);
  const std::string first =
      std::visit([](const auto* one) { return full_text(*one); }, found[0].of);
  if (found.size() == 1) return first;
  return first + "\n\nothers that may be meant; 'tcq explain NAME' says more" +
         lines_text(found.subspan(1));
}

}  // namespace

Answer explain(const Question& question) {
  const bool json = question.options.style == Style::Json;
  if (question.words.empty())
    return {Status::Yes, json ? json_text(list_value()) : list_text(), ""};
  std::string words = joined(question.words);
  const auto is_doubled = [](char x, char y) { return x == ' ' && y == ' '; };
  words.erase(std::unique(words.begin(), words.end(), is_doubled), words.end());
  const std::vector<Subject> found = subjects_of(words);
  const auto value = [](const Subject& subject) {
    return std::visit([](const auto* one) { return full_value(*one); }, subject.of);
  };
  if (!json) return {Status::Yes, text_about(found), ""};
  return {Status::Yes,
          found.size() == 1 ? json_text(value(found[0])) : json_text(list_of(found, value)), ""};
}

}  // namespace tcq::oracle
