// `errata`: the known wrong claims about wgmma and tcgen05, one per line, or one of them with its evidence.
//
// The claims themselves are errata.md; words that are no key search them (search.h). Example: `errata 004.1` prints the wrong bit table,
// the right one, and the test and the recording that decide.
#include "oracle/explain/errata.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "oracle/answer/table.h"
#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

// The label of a piece of evidence, and the word for it in answers.
struct KindName {
  Evidence::Kind kind;
  std::string_view label, word;
};
constexpr KindName kinds[] = {{Evidence::Kind::Test, "Test", "test"},
                              {Evidence::Kind::Recording, "Recording", "recording"},
                              {Evidence::Kind::Document, "Document", "document"}};

constexpr std::size_t most_found = 12;

std::string_view word_of(Evidence::Kind kind) { return kinds[static_cast<int>(kind)].word; }

Erratum read_erratum(const Section& section) {
  Fields fields(section);
  Erratum e = {
      section.title, section.group, fields.take("Claim").text, fields.take("Correction").text, {}};
  for (bool found = true; found;) {
    found = false;
    for (const KindName& kind : kinds) {
      const Field* field = fields.take_if(kind.label);
      if (field == nullptr) continue;
      e.evidence.push_back({kind.kind, field->text});
      found = true;
    }
  }
  fields.end();
  return e;
}

// Those whose key is the word, or begins with the word and a dot.
void add_keyed(std::vector<const Erratum*>& found, std::string_view word) {
  for (const Erratum& erratum : all_errata()) {
    const bool inside = erratum.key.size() > word.size() && erratum.key.starts_with(word) &&
                        erratum.key[word.size()] == '.';
    if (erratum.key == word || inside) found.push_back(&erratum);
  }
}

std::string_view nearest_key(std::string_view word) {
  std::vector<std::string_view> keys;
  for (const Erratum& erratum : all_errata()) keys.push_back(erratum.key);
  return nearest(word, keys);
}

[[noreturn]] void throw_unknown_erratum(std::string_view word, std::string_view meant) {
  throw UsageError(fmt::format(
      "unknown erratum {}: expected a key that 'tcq errata' lists, or words of a claim{}",
      quoted(word), meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
}

// Those of the keys, or those that are about the words.
std::vector<const Erratum*> matching(std::span<const std::string_view> words) {
  std::vector<const Erratum*> found;
  for (const std::string_view word : words) add_keyed(found, word);
  if (!found.empty()) return found;
  const std::string about = joined(words);
  const bool is_key = words.size() == 1 && about.size() > 4 && about[3] == '.' &&
                      about.find_first_not_of("0123456789", 4) == about.npos;
  if (is_key) throw_unknown_erratum(about, nearest_key(about));
  for (const Hit& hit : found_by(about, errata_texts(), most_found))
    found.push_back(&all_errata()[hit.index]);
  if (!found.empty()) return found;
  std::string meant = respelt(about, errata_texts());
  if (meant.empty() && about.find_first_of("0123456789") == 0) meant = nearest_key(about);
  throw_unknown_erratum(about, meant);
}

std::string list_all(const Options& options) {
  Table table{{"key", "claim"}, {}};
  std::string text;
  for (const Erratum& erratum : all_errata()) {
    table.rows.push_back({erratum.key, erratum.claim});
    text += fmt::format("{}{}  {}", text.empty() ? "" : "\n", erratum.key, erratum.claim);
  }
  if (options.style == Style::Text) return text;
  return render(options.transpose ? transposed(table) : table, options.style);
}

}  // namespace

std::vector<Erratum> read_errata(const Page& page) {
  std::vector<Erratum> errata;
  for (const Section& section : sections_of(page)) errata.push_back(read_erratum(section));
  return errata;
}

std::string full_text(const Erratum& erratum) {
  std::string text = fmt::format("{}  {}\nclaim: {}\ncorrection: {}", erratum.key, erratum.document,
                                 erratum.claim, erratum.correction);
  for (const Evidence& one : erratum.evidence)
    text += fmt::format("\n{}: {}", word_of(one.kind), one.name);
  return text;
}

Value full_value(const Erratum& erratum) {
  return Value::Members{{"key", erratum.key},
                        {"document", erratum.document},
                        {"claim", erratum.claim},
                        {"correction", erratum.correction},
                        {"evidence", list_of(erratum.evidence, [](const Evidence& one) {
                           return Value::Members{{"kind", word_of(one.kind)}, {"name", one.name}};
                         })}};
}

std::vector<SearchText> errata_texts() {
  std::vector<SearchText> texts;
  for (const Erratum& e : all_errata()) texts.push_back({e.claim, e.correction + " " + e.document});
  return texts;
}

std::span<const Erratum> all_errata() {
  static const std::vector<Erratum> errata = read_errata(page("errata.md"));
  return errata;
}

Answer errata(const Question& question) {
  const bool json = question.options.style == Style::Json;
  if (question.words.empty() && !json) return {Status::Yes, list_all(question.options), ""};
  std::vector<const Erratum*> wanted;
  if (question.words.empty()) {
    for (const Erratum& erratum : all_errata()) wanted.push_back(&erratum);
  } else {
    wanted = matching(question.words);
  }
  if (json) {
    const Value::List all = list_of(wanted, [](const Erratum* e) { return full_value(*e); });
    return {Status::Yes, all.size() == 1 ? json_text(all[0]) : json_text(all), ""};
  }
  std::string text;
  for (const Erratum* e : wanted) text += (text.empty() ? "" : "\n\n") + full_text(*e);
  return {Status::Yes, text, ""};
}

}  // namespace tcq::oracle
