// How well a text is about words; see search.h.
#include "oracle/explain/search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::array<std::string_view, 76> empty_words = {
    "the",        "a",        "an",        "is",        "are",         "was",     "be",     "of",
    "to",         "in",       "on",        "at",        "and",         "or",      "for",    "with",
    "by",         "why",      "what",      "how",       "when",        "which",   "does",   "do",
    "did",        "my",       "i",         "we",        "it",          "its",     "this",   "that",
    "there",      "from",     "as",        "if",        "not",         "no",      "can",    "has",
    "have",       "function", "ptxas",     "info",      "warning",     "none",    "line",   "due",
    "around",     "error",    "get",       "potential", "performance", "loss",    "kernel", "need",
    "needs",      "needed",   "necessary", "required",  "must",        "should",  "use",    "using",
    "attempting", "without",  "always",    "really",    "still",       "exactly", "only",   "wrong",
    "results",    "both",     "invalid",   "argument"};

// Words of which each stands for all in its row.
constexpr std::array<std::array<std::string_view, 5>, 14> same_meaning = {
    {{"hang", "deadlock", "stuck", "hangs", "forever"},
     {"serialized", "serialises", "serialised", "slow", ""},
     {"mma", "wgmma", "mma_async", "gmma", ""},
     {"barrier", "syncthreads", "__syncthreads", "synchronize", "synchronise"},
     {"parity", "phase", "", "", ""},
     {"first", "start", "begin", "initial", "fresh"},
     {"alignment", "aligned", "align", "unaligned", "misaligned"},
     {"lbo", "leading_byte_offset", "leading", "", ""},
     {"overwrites", "overwritten", "refills", "reused", "reuse"},
     {"stage", "slot", "buffer", "", ""},
     {"race", "sometimes", "rarely", "flaky", "nondeterministic"},
     {"exceed", "exceeds", "wider", "larger", "bigger"},
     {"invariance", "invariant", "reproducible", "deterministic", ""},
     {"expect_tx", "expects", "expected", "expect", ""}}};

// Names of CUTLASS, and words of PTX that say the same.
struct Spoken {
  std::string_view name, words;
};
constexpr std::array<Spoken, 12> spoken = {{{"fence_view_async_shared", "fence proxy async"},
                                            {"tma_store_fence", "fence proxy async"},
                                            {"warpgroup_arrive", "wgmma fence"},
                                            {"warpgroup_fence_operand", "wgmma fence"},
                                            {"warpgroup_wait", "wgmma wait_group"},
                                            {"warpgroup_commit_batch", "wgmma commit_group"},
                                            {"umma_arrive", "tcgen05 commit"},
                                            {"rtx", "sm_120"},
                                            {"geforce", "sm_120"},
                                            {"leading_dimension_byte_offset", "lbo"},
                                            {"cuda_error_misaligned_address", "misaligned address"},
                                            {"max_num_imprecise_acc", "promotion fp8"}}};

bool has_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Lowered words; those in camel case also in parts.
Tokens tokens_of(std::string_view text, bool with_parts = true) {
  Tokens tokens;
  std::string word, part;
  const auto end_part = [&] {
    if (with_parts && part.size() > 2 && part != word) tokens.push_back(part);
    part.clear();
  };
  const auto end_word = [&] {
    end_part();
    if (!word.empty()) tokens.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0 && c != '_') {
      end_word();
      continue;
    }
    if (std::isupper(u) != 0) end_part();
    word += static_cast<char>(std::tolower(u));
    part += static_cast<char>(std::tolower(u));
  }
  end_word();
  return tokens;
}

Tokens in_ptx(std::string_view words) {
  Tokens tokens;
  for (std::string& token : tokens_of(words, false)) {
    const auto* said = std::find_if(spoken.begin(), spoken.end(),
                                    [&](const Spoken& one) { return one.name == token; });
    tokens.push_back(std::move(token));
    if (said == spoken.end()) continue;
    for (std::string& word : tokens_of(said->words, false)) tokens.push_back(std::move(word));
  }
  return tokens;
}

Tokens asked_words(std::string_view words) {
  Tokens asked;
  for (std::string& token : in_ptx(words)) {
    const bool is_empty =
        std::find(empty_words.begin(), empty_words.end(), token) != empty_words.end();
    const bool is_letter = token.size() == 1 && !has_digit(token);
    if (!is_empty && !is_letter && std::find(asked.begin(), asked.end(), token) == asked.end())
      asked.push_back(std::move(token));
  }
  return asked;
}

// The same word but for its ending.
bool same_stem(std::string_view x, std::string_view y) {
  if (x == y) return true;
  if (has_digit(x) || has_digit(y)) return false;
  const auto [shorter, longer] = std::minmax({x.size(), y.size()});
  if (longer == shorter + 1 && shorter > 2 && (x.size() > y.size() ? x : y).back() == 's' &&
      x.substr(0, shorter) == y.substr(0, shorter))
    return true;
  std::size_t common = 0;
  while (common < shorter && x[common] == y[common]) ++common;
  return common + 2 >= longer && common >= (common == shorter ? 4u : 6u);
}

bool has_stem(const Tokens& tokens, std::string_view word) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const std::string& token) { return same_stem(token, word); });
}

bool has_meaning(const Tokens& tokens, std::string_view word) {
  if (has_stem(tokens, word)) return true;
  for (const auto& row : same_meaning) {
    const bool meant = std::any_of(row.begin(), row.end(), [&](std::string_view other) {
      return !other.empty() && same_stem(other, word);
    });
    if (!meant) continue;
    for (const std::string_view other : row)
      if (!other.empty() && has_stem(tokens, other)) return true;
  }
  return false;
}

struct Candidate {
  std::size_t index;
  std::size_t words = 0;  // that it has
  double weight = 0;      // of those, rarer ones more
};

std::vector<Candidate> candidates(const Tokens& asked, std::span<const SearchText> texts) {
  std::vector<Tokens> titles, names, all;
  for (const SearchText& one : texts) {
    titles.push_back(tokens_of(one.title));
    names.push_back(tokens_of(one.title + " " + one.name));
    all.push_back(tokens_of(one.title + " " + one.name + " " + one.text));
  }
  std::vector<Candidate> result(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) result[i].index = i;
  for (const std::string& word : asked) {
    std::vector<std::size_t> having;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (has_meaning(all[i], word)) having.push_back(i);
    const double rare =
        std::log(1 + static_cast<double>(texts.size()) / static_cast<double>(having.size() + 1));
    for (const std::size_t i : having) {
      ++result[i].words;
      result[i].weight += has_meaning(titles[i], word)  ? 3 * rare
                          : has_meaning(names[i], word) ? 2 * rare
                                                        : rare;
    }
  }
  return result;
}

}  // namespace

std::vector<std::size_t> found_by(std::string_view words, std::span<const SearchText> texts,
                                  std::size_t most) {
  const Tokens asked = asked_words(words);
  if (asked.empty()) return {};
  std::vector<Candidate> all = candidates(asked, texts);
  std::size_t best = 0;
  for (const Candidate& c : all) best = std::max(best, c.words);
  const bool whole = best == asked.size();
  if (best == 0 || (!whole && 2 * best < asked.size())) return {};
  if (whole) std::erase_if(all, [&](const Candidate& c) { return c.words < best; });
  if (!whole) std::erase_if(all, [&](const Candidate& c) { return 2 * c.words < best; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.weight > y.weight; });
  std::vector<std::size_t> found;
  for (const Candidate& c : all)
    if (found.size() < most) found.push_back(c.index);
  return found;
}

std::string respelt(std::string_view words, std::span<const SearchText> texts) {
  std::string text;
  bool changed = false;
  std::vector<Tokens> all;
  for (const SearchText& one : texts)
    all.push_back(tokens_of(one.title + " " + one.name + " " + one.text));
  for (const std::string& word : tokens_of(words, false)) {
    std::size_t distance = word.size() / 3 + 1;  // one letter of three
    std::string best = word;
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Tokens& tokens) { return has_meaning(tokens, word); });
    for (const Tokens& tokens : all)
      for (const std::string& token : tokens) {
        if (known || word.size() < 5) break;
        const std::size_t d = edit_distance(word, token, distance);
        if (d < distance) best = token;
        distance = d;
      }
    changed = changed || best != word;
    text += (text.empty() ? "" : " ") + best;
  }
  return changed ? text : "";
}

bool has_most(std::string_view words, const SearchText& text) {
  const Tokens asked = asked_words(words);
  const Tokens tokens = tokens_of(text.title + " " + text.name + " " + text.text);
  const auto had = std::count_if(asked.begin(), asked.end(), [&](const std::string& word) {
    return has_meaning(tokens, word);
  });
  return 2 * static_cast<std::size_t>(had) > asked.size();
}

bool is_clear(std::string_view words, const SearchText& first, const SearchText& second) {
  const Tokens asked = asked_words(words);
  const auto missing = [&](const SearchText& one) {
    const Tokens tokens = tokens_of(one.title + " " + one.name + " " + one.text);
    return std::count_if(asked.begin(), asked.end(),
                         [&](const std::string& word) { return !has_stem(tokens, word); });
  };
  return asked.size() > 4 && missing(first) < missing(second);
}

}  // namespace tcq::oracle
