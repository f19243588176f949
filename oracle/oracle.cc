// Dispatch: a question's verb -> the function that answers it, and every error -> status and
// sentence.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/answer/answer.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

Answer data_lines_follow(const Question& question) {
  return {Status::Yes, "", check_line_words(question)};
}

Answer answered_elsewhere(const Question& question) {
  throw UsageError(
      fmt::format("'{}' is answered on a command line of its own only: expected tcq {} ...",
                  question.verb, question.verb));
}

// What a verb takes besides --json and --arch.
enum class Takes { Nothing, Inputs, Terms, Family, Styles, Tables, Picture, List };

struct Verb {
  std::string_view name;
  Answer (*answer)(const Question&);
  Takes takes = Takes::Nothing;
  Answer (*line)(const Question&, std::string_view) = nullptr;
  Answer (*stream)(const Question&, std::span<const std::string>) = nullptr;
};

constexpr std::array<Verb, 22> verbs = {
    {{"list", list, Takes::Family},
     {"describe", describe},
     {"where", where, Takes::Inputs},
     {"what", what},
     {"table", table, Takes::Tables},
     {"equation", equation},
     {"decode", decode, Takes::Picture},
     {"encode", encode},
     {"bytes", bytes, Takes::List},
     {"diff", diff},
     {"banks", banks},
     {"layout", layout, Takes::Picture},
     {"partition", partition},
     {"tmem", tmem, Takes::Picture},
     {"check", data_lines_follow, Takes::Nothing, check_line},
     {"emission", data_lines_follow, Takes::Nothing, nullptr, emission_stream},
     {"mma", data_lines_follow, Takes::Terms, mma_line},
     {"gemm", answered_elsewhere},
     {"run", answered_elsewhere},
     {"verify", answered_elsewhere, Takes::Styles},
     {"errata", errata, Takes::Styles},
     {"explain", explain}}};

constexpr auto names = [] {
  std::array<std::string_view, verbs.size()> result;
  for (std::size_t i = 0; i < verbs.size(); ++i) result[i] = verbs[i].name;
  return result;
}();

const Verb* find(std::string_view name) {
  const auto* found =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : found;
}

const Verb& verb_of(const Question& question) {
  const Verb* verb = find(question.verb);
  if (verb == nullptr) throw_unknown("verb", question.verb, names);
  return *verb;
}

constexpr std::string_view option_of(Style style) {
  switch (style) {
    case Style::Text: break;
    case Style::Json: return "--json";
    case Style::Csv: return "--csv";
    case Style::Markdown: return "--markdown";
    case Style::Asciidoc: return "--asciidoc";
  }
  return "";
}

void refuse_option(bool given, std::string_view option, std::string_view verbs_with_it,
                   const Question& question) {
  if (given)
    throw UsageError(fmt::format("{} does not apply to '{}': expected it with {} only", option,
                                 question.verb, verbs_with_it));
}

void check_options(const Question& question, Takes takes) {
  const Options& options = question.options;
  const bool tables = takes == Takes::Tables;
  const bool plain = options.style == Style::Text || options.style == Style::Json;
  refuse_option(options.inputs && takes != Takes::Inputs, "--inputs", "where", question);
  refuse_option(options.explain && takes != Takes::Terms, "--explain", "mma", question);
  refuse_option(!options.family.empty() && takes != Takes::Family, "--family", "list", question);
  refuse_option(options.by_slot && !tables, "--by slot", "table", question);
  const bool list = takes == Takes::List;
  refuse_option(!options.svg_path.empty() && !tables && !list && takes != Takes::Picture, "--svg",
                "table, bytes, layout, tmem and decode", question);
  const bool styles = tables || list || takes == Takes::Styles;
  refuse_option(options.transpose && !styles, "--transpose", "tables", question);
  refuse_option(!plain && !styles, option_of(options.style), "tables", question);
}

// Calls `reply()`; what it throws becomes an Answer.
template <class Reply>
Answer caught(Reply&& reply) {
  try {
    return reply();
  } catch (const UsageError& error) {
    return {Status::Usage, "", error.what()};
  } catch (const FaultError& error) {
    return {error.status(), "", error.what()};
  } catch (const UnmodelledError& error) {
    return {Status::Unmodelled, "", error.what()};
  } catch (const std::exception& error) {
    return {Status::Unmodelled, "",
            fmt::format("internal error, please report it with the question: {}", error.what())};
  }
}

}  // namespace

Answer answer(const Question& question) {
  return caught([&] {
    const Verb& verb = verb_of(question);
    check_options(question, verb.takes);
    return verb.answer(question);
  });
}

bool reads_lines(std::string_view verb) {
  const Verb* found = find(verb);
  return found != nullptr && found->line != nullptr;
}

Answer answer_line(const Question& question, std::string_view line) {
  return caught([&] { return verb_of(question).line(question, line); });
}

bool reads_stream(std::string_view verb) {
  const Verb* found = find(verb);
  return found != nullptr && found->stream != nullptr;
}

Answer answer_stream(const Question& question, std::span<const std::string> lines) {
  return caught([&] { return verb_of(question).stream(question, lines); });
}

std::span<const std::string_view> verb_names() { return names; }

}  // namespace tcq::oracle
