// `errata`: the known wrong claims about wgmma and tcgen05, one per line, or one of them with its evidence.
//
// The claims themselves are errata_claims.h. Example: `errata 004.1` prints the wrong bit table,
// the right one, and the test and the recording that decide.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "oracle/answer/json.h"
#include "oracle/answer/table.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/explain/errata_claims.h"

namespace tcq::oracle {
namespace {

std::string_view title_of(const Erratum& erratum) {
  for (const Document& document : errata_documents())
    if (erratum.key.starts_with(document.key)) return document.title;
  return "?";
}

std::string_view kind_of(std::string_view evidence) {
  if (evidence.starts_with("tests/")) return "recording";
  const bool sentence = evidence.find(' ') != std::string_view::npos;
  return sentence ? "document" : "test";
}

std::string full_text(const Erratum& erratum) {
  std::string text = fmt::format("{}  {}\nclaim: {}\ncorrection: {}", erratum.key,
                                 title_of(erratum), erratum.claim, erratum.correction);
  for (const std::string_view evidence : erratum.evidence)
    if (!evidence.empty()) text += fmt::format("\n{}: {}", kind_of(evidence), evidence);
  return text;
}

std::string full_json(const Erratum& erratum) {
  std::vector<std::string> evidence;
  for (const std::string_view one : erratum.evidence)
    if (!one.empty())
      evidence.push_back(
          json_object({{"kind", json_string(kind_of(one))}, {"name", json_string(one)}}));
  return json_object({{"key", json_string(erratum.key)},
                      {"document", json_string(title_of(erratum))},
                      {"claim", json_string(erratum.claim)},
                      {"correction", json_string(erratum.correction)},
                      {"evidence", json_array(evidence)}});
}

// The errata whose key is the word, or begins with the word and a dot.
std::vector<const Erratum*> matching(std::string_view word) {
  std::vector<const Erratum*> found;
  std::vector<std::string_view> keys;
  for (const Erratum& erratum : all_errata()) {
    keys.push_back(erratum.key);
    const bool inside = erratum.key.size() > word.size() && erratum.key.starts_with(word) &&
                        erratum.key[word.size()] == '.';
    if (erratum.key == word || inside) found.push_back(&erratum);
  }
  if (found.empty())
    throw UsageError(
        fmt::format("unknown erratum {}: expected a key that 'tcq errata' lists; did you "
                    "mean '{}'?",
                    quoted(word), nearest(word, keys)));
  return found;
}

std::string list_all(const Options& options) {
  Table table{{"key", "claim"}, {}};
  std::string text;
  for (const Erratum& erratum : all_errata()) {
    table.rows.push_back({std::string(erratum.key), std::string(erratum.claim)});
    text += fmt::format("{}{}  {}", text.empty() ? "" : "\n", erratum.key, erratum.claim);
  }
  if (options.style == Style::Text) return text;
  return render(options.transpose ? transposed(table) : table, options.style);
}

}  // namespace

Answer errata(const Question& question) {
  if (question.words.size() > 1)
    throw UsageError(
        fmt::format("unexpected word {}: expected at most one key", quoted(question.words[1])));
  const bool json = question.options.style == Style::Json;
  if (question.words.empty() && !json) return {Status::Yes, list_all(question.options), ""};
  std::vector<const Erratum*> wanted;
  if (question.words.empty()) {
    for (const Erratum& erratum : all_errata()) wanted.push_back(&erratum);
  } else {
    wanted = matching(question.words[0]);
  }
  std::vector<std::string> parts;
  for (const Erratum* erratum : wanted)
    parts.push_back(json ? full_json(*erratum) : full_text(*erratum));
  if (json) return {Status::Yes, parts.size() == 1 ? parts[0] : json_array(parts), ""};
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n\n") + part;
  return {Status::Yes, text, ""};
}

}  // namespace tcq::oracle
