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

// That say nothing of what a question is about, with any ending.
constexpr std::array<std::string_view, 94> empty_words = {
    "the",      "a",         "an",          "is",    "are",    "was",        "be",
    "of",       "to",        "in",          "on",    "at",     "and",        "or",
    "for",      "with",      "by",          "why",   "what",   "how",        "when",
    "which",    "does",      "do",          "did",   "my",     "i",          "we",
    "it",       "its",       "this",        "that",  "there",  "from",       "as",
    "if",       "not",       "no",          "can",   "has",    "have",       "function",
    "ptxas",    "info",      "warning",     "none",  "due",    "around",     "error",
    "get",      "potential", "performance", "loss",  "kernel", "need",       "necessary",
    "required", "must",      "should",      "use",   "using",  "attempting", "always",
    "really",   "still",     "exactly",     "only",  "wrong",  "results",    "both",
    "invalid",  "argument",  "every",       "once",  "enough", "many",       "much",
    "about",    "between",   "into",        "than",  "then",   "too",        "also",
    "any",      "same",      "who",         "whose", "where",  "data",       "limit",
    "before",   "after",     "support"};

// Words of which each, with any ending, stands for all in its row.
constexpr std::array<std::array<std::string_view, 5>, 20> same_meaning = {
    {{"hang", "deadlock", "stuck", "forever", ""},
     {"serialized", "serialised", "slow", "", ""},
     {"mma", "wgmma", "mma_async", "gmma", ""},
     {"barrier", "syncthreads", "__syncthreads", "synchronize", ""},
     {"parity", "phase", "", "", ""},
     {"first", "start", "begin", "initial", "fresh"},
     {"alignment", "align", "unaligned", "misaligned", ""},
     {"lbo", "leading_byte_offset", "leading", "", ""},
     {"overwrites", "overwritten", "refills", "reuse", ""},
     {"stage", "slot", "buffer", "", ""},
     {"race", "sometimes", "rarely", "flaky", "nondeterministic"},
     {"exceed", "wider", "larger", "bigger", ""},
     {"invariance", "reproducible", "deterministic", "", ""},
     {"expect_tx", "expect", "", "", ""},
     {"target", "gpu", "device", "chip", ""},
     {"missing", "without", "omitted", "", ""},
     {"int8", "s8", "u8", "", ""},
     {"f16", "fp16", "half", "", ""},
     {"f32", "fp32", "float32", "", ""},
     {"e2m1", "fp4", "mxfp4", "nvfp4", ""}}};

// Names of CUTLASS and others, and words of PTX that say the same.
struct Spoken {
  std::string_view name, words;
};
constexpr std::array<Spoken, 62> spoken = {
    {{"fence_view_async_shared", "fence proxy async"},
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
     {"max_num_imprecise_acc", "promotion fp8"},
     {"mma_promotion_interval", "promotion fp8"},
     {"2xacc", "promotion fp8"},
     {"consumer_release", "arrive empty"},
     {"producer_acquire", "wait empty"},
     {"barrier_wait", "mbarrier try_wait phase"},
     {"underarrival", "deadlock lacks arrivals"},
     {"ldsm", "ldmatrix"},
     {"stsm", "stmatrix"},
     {"umma", "tcgen05 mma"},
     {"smem", "shared memory"},
     {"gmem", "global memory"},
     {"tmem", "tensor memory"},
     {"pixelspercolumn", "im2col box"},
     {"pixelboxlowercorner", "im2col corner"},
     {"pixelboxuppercorner", "im2col corner"},
     {"namedbarrier", "bar arrive"},
     {"tma_store_wait", "bulk wait_group"},
     {"cublaslt_matmul_desc_fast_accum", "promotion fp8"},
     {"use_fast_accum", "promotion fp8"},
     {"fp8_fast_accum", "promotion fp8"},
     {"fast_accum", "promotion fp8"},
     {"get_col_major_tma_aligned_tensor", "tensor map stride"},
     {"get_mn_major_tma_aligned_tensor", "tensor map stride"},
     {"swizzle_32_4_4", "scale factor row atom"},
     {"to_blocked", "scale factor row atom"},
     {"layout_128x4", "scale factor row atom"},
     {"layout_8x4", "scale factor row atom"},
     {"blockscaled", "scale factors"},
     {"clc", "clusterlaunchcontrol"},
     {"pdl", "programmatic dependent launch"},
     {"gb10", "sm_121"},
     {"spark", "sm_121"},
     {"thor", "sm_110"},
     {"utccp", "tcgen05 cp"},
     {"dsmem", "distributed shared memory cluster"},
     {"clusterbarrier", "mbarrier cluster arrive"},
     {"pipelinetmaasync", "deadlock arrivals"},
     {"smemlayoutatom", "layout_k_sw128_atom"},
     {"tile_to_shape", "layout_k_sw128_atom"},
     {"nvmma_shared", "swizzle tile"},
     {"cutensormap", "tensor map"},
     {"syncthreads", "barrier"},
     {"layout_k_inter_atom", "swizzle atom"},
     {"layout_k_sw32_atom", "swizzle atom"},
     {"layout_k_sw64_atom", "swizzle atom"},
     {"layout_k_sw128_atom", "swizzle atom"},
     {"layout_mn_inter_atom", "swizzle atom"},
     {"layout_mn_sw32_atom", "swizzle atom"},
     {"layout_mn_sw64_atom", "swizzle atom"},
     {"layout_mn_sw128_atom", "swizzle atom"}}};

bool has_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "128x4" and "128 x 4" are the same; 0x10 is one number.
Tokens factors_of(const std::string& token) {
  const std::size_t times = token.find('x');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return has_digit({&c, 1});
    });
  };
  if (times == token.npos || token.starts_with("0x")) return {token};
  const std::string first = token.substr(0, times), second = token.substr(times + 1);
  return is_number(first) && is_number(second) ? Tokens{first, second} : Tokens{token};
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
    if (!word.empty())
      for (std::string& factor : factors_of(word)) tokens.push_back(std::move(factor));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    // synchronize and synchronise are one word
    const char c = text[i] == 'z' && word.size() > 4 && word.back() == 'i' ? 's' : text[i];
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

// nullptr if it is none.
const Spoken* spoken_as(std::string_view word) {
  const auto* said = std::find_if(spoken.begin(), spoken.end(),
                                  [&](const Spoken& one) { return one.name == word; });
  return said == spoken.end() ? nullptr : said;
}

Tokens in_ptx(std::string_view words) {
  Tokens tokens;
  for (std::string& token : tokens_of(words, false)) {
    const Spoken* said = spoken_as(token);
    tokens.push_back(std::move(token));
    if (said == nullptr) continue;
    for (std::string& word : tokens_of(said->words, false)) tokens.push_back(std::move(word));
  }
  return tokens;
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

Tokens asked_words(std::string_view words) {
  Tokens asked;
  for (std::string& token : in_ptx(words)) {
    const bool is_empty =
        std::any_of(empty_words.begin(), empty_words.end(), [&](std::string_view word) {
          return token.size() >= word.size() && same_stem(word, token);
        });
    const bool is_letter = token.size() == 1 && !has_digit(token);
    const bool is_extent = token[0] == '_' && token.find_first_not_of("_0123456789") == token.npos;
    if (!is_empty && !is_letter && !is_extent &&
        std::find(asked.begin(), asked.end(), token) == asked.end())
      asked.push_back(std::move(token));
  }
  return asked;
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

// The tokens of a text: of its title, with those of its name, and all.
struct TextTokens {
  bool is_topic;
  Tokens title, name, all;
  explicit TextTokens(const SearchText& one)
      : is_topic(one.is_topic),
        title(tokens_of(one.title)),
        name(tokens_of(one.title + " " + one.name)),
        all(tokens_of(one.title + " " + one.name + " " + one.text)) {}
};

std::vector<TextTokens> tokens_of_all(std::span<const SearchText> texts) {
  return {texts.begin(), texts.end()};
}

struct Candidate {
  std::size_t index;
  std::size_t words = 0;  // that it has
  double rarity = 0;      // of those
  double weight = 0;      // the same, more for a word of the title, less for one of many
};

// A word counts more where few texts have it, and for a text that has few others.
class Weights {
 public:
  explicit Weights(std::span<const TextTokens> texts) : texts_(texts) {
    for (const TextTokens& one : texts) mean_ += size(one.all);
    mean_ /= static_cast<double>(std::max<std::size_t>(texts.size(), 1));
  }
  double of(std::size_t text, std::string_view word) const {
    if (has_meaning(texts_[text].title, word)) return texts_[text].is_topic ? 4 : 3;
    if (has_meaning(texts_[text].name, word))
      return 1 + sentence / std::max(sentence, size(texts_[text].name));
    const double longer = size(texts_[text].all) / mean_;
    return 1.5 / (0.5 + std::max(longer, 0.5));
  }

 private:
  static constexpr double sentence = 50;  // words of a name; of a longer one each counts less
  static double size(const Tokens& tokens) { return static_cast<double>(tokens.size()); }

  std::span<const TextTokens> texts_;
  double mean_ = 0;
};

double rarity_of(std::size_t having, std::size_t texts) {
  return std::log(1 + static_cast<double>(texts) / static_cast<double>(having + 1));
}

std::vector<Candidate> candidates(const Tokens& asked, std::span<const TextTokens> texts,
                                  double& rarity_of_all) {
  const Weights weights(texts);
  std::vector<Candidate> result(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) result[i].index = i;
  for (const std::string& word : asked) {
    std::vector<std::size_t> having;
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (has_meaning(texts[i].all, word)) having.push_back(i);
    if (having.empty() && spoken_as(word) != nullptr) continue;  // what it means was asked as well
    const double rarity = rarity_of(having.size(), texts.size());
    rarity_of_all += rarity;
    for (const std::size_t i : having) {
      ++result[i].words;
      result[i].rarity += rarity;
      result[i].weight += rarity * weights.of(i, word);
    }
  }
  return result;
}

}  // namespace

std::vector<Hit> found_by(std::string_view words, std::span<const SearchText> texts,
                          std::size_t most) {
  const Tokens asked = asked_words(words);
  if (asked.empty()) return {};
  double whole = 0;
  std::vector<Candidate> all = candidates(asked, tokens_of_all(texts), whole);
  std::size_t best = 0;
  for (const Candidate& c : all) best = std::max(best, c.words);
  if (best == 0 || 2 * best < asked.size()) return {};
  std::erase_if(all, [&](const Candidate& c) { return 2 * c.words < best; });
  const auto score = [&](const Candidate& c) { return c.weight * c.rarity / whole; };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Candidate& x, const Candidate& y) { return score(x) > score(y); });
  constexpr double share_of_sure = 0.5, share_of_best = 0.4;
  std::erase_if(all, [&, most_of = score(all[0])](const Candidate& c) {
    return score(c) < share_of_best * most_of;
  });
  std::vector<Hit> found;
  for (const Candidate& c : all)
    if (found.size() < most) found.push_back({c.index, c.rarity > share_of_sure * whole});
  return found;
}

std::string respelt(std::string_view words, std::span<const SearchText> texts) {
  std::string text;
  bool changed = false;
  std::vector<Tokens> all;
  for (const SearchText& one : texts) all.push_back(TextTokens(one).all);
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

bool is_clear(std::string_view words, const SearchText& first, const SearchText& second) {
  const Tokens asked = asked_words(words);
  const auto missing = [&](const SearchText& one) {
    const Tokens tokens = TextTokens(one).all;
    return std::count_if(asked.begin(), asked.end(),
                         [&](const std::string& word) { return !has_stem(tokens, word); });
  };
  return asked.size() > 4 && missing(first) < missing(second);
}

}  // namespace tcq::oracle
