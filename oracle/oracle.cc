// Dispatch: a question's verb -> the function that answers it, a pasted statement -> mnemonic and keys, and every
// error -> status and sentence.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/answer/answer.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/pasted.h"

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
enum class Takes { Nothing, Inputs, Terms, Family, Page, Styles, Tables, Picture, List };

// Where a verb has mnemonics, in place of which a statement may be pasted: as its first word, in every word, or behind
// mnemonic=.
enum class Mnemonics { None, First, Each, Key };

struct Verb {
  std::string_view name;
  Answer (*answer)(const Question&);
  Takes takes = Takes::Nothing;
  Mnemonics mnemonics = Mnemonics::None;
  Answer (*line)(const Question&, std::string_view) = nullptr;
  Answer (*stream)(const Question&, std::span<const std::string>) = nullptr;
};

constexpr std::array<Verb, 22> verbs = {
    {{"list", list, Takes::Family},
     {"describe", describe, Takes::Page, Mnemonics::First},
     {"where", where, Takes::Inputs, Mnemonics::First},
     {"what", what, Takes::Nothing, Mnemonics::First},
     {"table", table, Takes::Tables, Mnemonics::First},
     {"equation", equation, Takes::Nothing, Mnemonics::First},
     {"decode", decode, Takes::Picture, Mnemonics::Key},
     {"encode", encode, Takes::Nothing, Mnemonics::Key},
     {"bytes", bytes, Takes::List, Mnemonics::First},
     {"diff", diff, Takes::Nothing, Mnemonics::Each},
     {"banks", banks, Takes::Nothing, Mnemonics::First},
     {"layout", layout, Takes::Picture, Mnemonics::First},
     {"partition", partition, Takes::Nothing, Mnemonics::First},
     {"tmem", tmem, Takes::Picture},
     {"check", data_lines_follow, Takes::Nothing, Mnemonics::None, check_line},
     {"emission", data_lines_follow, Takes::Nothing, Mnemonics::None, nullptr, emission_stream},
     {"mma", mma_words, Takes::Terms, Mnemonics::First, mma_line},
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
  const bool page = takes == Takes::Page && options.style == Style::Markdown;
  refuse_option(!plain && !styles && !page, option_of(options.style),
                options.style == Style::Markdown ? "tables and describe" : "tables", question);
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

// The data lines of mma need what says how A, B and D add up, and nothing else.
constexpr std::array<std::string_view, 19> keys_of_sums = {
    "accumulate",      "negate_a",    "negate_b", "m",        "n",          "type_a",
    "type_b",          "type_d",      "selector", "saturate", "scale_type", "scale_a_id",
    "scale_b_id",      "max_shift_b", "k96",      "sparse",   "half_split", "scale_input_d",
    "zero_column_mask"};

// Words of descriptors need how A and B lie.
constexpr std::array<std::string_view, 3> keys_of_words = {"a", "major_a", "major_b"};

// A question whose pasted statements are read; keeps the words that it is made of.
class Reworded {
 public:
  Reworded(const Question& question, const Verb& verb) : question_(question) {
    if (verb.mnemonics == Mnemonics::First) read(question.words, verb);
    if (verb.mnemonics == Mnemonics::Each) read_each(question.words, verb);
    if (verb.mnemonics == Mnemonics::Key) read_key(question.words);
    if (words_.empty()) return;
    question_.words.assign(words_.begin(), words_.end());
  }

  const Question& question() const { return question_; }

  // What the statement leaves open is said beside the answer.
  Answer noted(Answer answer) const {
    if (note_.empty() || answer.status != Status::Yes) return answer;
    answer.complaint += fmt::format("{}note: {}", answer.complaint.empty() ? "" : "\n", note_);
    return answer;
  }

 private:
  using Words = std::span<const std::string_view>;

  bool read(Words words, const Verb& verb) {
    return read(words, verb.name == "mma" ? Words(keys_of_sums) : Words());
  }
  bool read(Words words, Words takes) {
    auto pasted = read_pasted(words, takes);
    if (!pasted) return false;
    words_.insert(words_.end(), pasted->words.begin(), pasted->words.end());
    note_ = pasted->note;
    return true;
  }
  // The statement may have blanks: it goes on to the last word, or to the keys at the end.
  void read_key(Words words) {
    constexpr std::string_view key = "mnemonic=";
    const auto at = std::find_if(words.begin(), words.end(),
                                 [&](std::string_view word) { return word.starts_with(key); });
    if (at == words.end()) return;
    std::vector<std::string_view> behind(at, words.end());
    behind[0].remove_prefix(key.size());
    words_.assign(words.begin(), at);
    const std::size_t begin = words_.size();
    if (!read(behind, Words(keys_of_words))) return words_.clear();
    words_[begin].insert(0, key);
  }
  // A matrix behind a text belongs to it: keys that the text says come behind the matrix.
  void read_each(Words words, const Verb& verb) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t matrix = i + 1 < words.size() && is_matrix(words[i + 1]) ? 1 : 0;
      if (!read(words.subspan(i, 1 + matrix), verb))
        words_.emplace_back(words[i]);
      else
        i += matrix;
    }
  }

  Question question_;
  std::vector<std::string> words_;
  std::string note_;
};

}  // namespace

Answer answer(const Question& question) {
  return caught([&] {
    const Verb& verb = verb_of(question);
    check_options(question, verb.takes);
    const Reworded reworded(question, verb);
    return reworded.noted(verb.answer(reworded.question()));
  });
}

bool reads_lines(std::string_view verb) {
  const Verb* found = find(verb);
  return found != nullptr && found->line != nullptr;
}

Answer answer_line(const Question& question, std::string_view line) {
  return caught([&] {
    const Verb& verb = verb_of(question);
    return verb.line(Reworded(question, verb).question(), line);
  });
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
