// Families of mnemonics, and coordinates among keys; see asked.h.
#include "oracle/map/asked.h"

#include <fmt/format.h>

#include "oracle/ptx/mnemonic.h"

namespace tcq::oracle {
namespace {

bool counts_elements(const Axis& axis, const Keys& keys) {
  return !axis.elements_key.empty() && keys.has(axis.elements_key);
}

// A key under its name or its alias. Indices that do not exist are no error if so much may be asked.
int index_from(const Axis& axis, const Keys& keys) {
  if (counts_elements(axis, keys))
    return static_cast<int>(keys.number(
               axis.elements_key, 0, static_cast<std::uint64_t>(axis.elements * axis.extent) - 1)) /
           axis.elements;
  const bool aliased = !axis.alias.empty() && keys.has(axis.alias);
  if (aliased && keys.has(axis.name))
    throw UsageError(
        fmt::format("{}= and {}= are the same: expected one of them", axis.name, axis.alias));
  const int step = aliased ? 1 : axis.step;
  const int end = axis.asked != 0 ? axis.asked : axis.first + step * axis.extent;
  const auto given = static_cast<int>(
      keys.number(aliased ? axis.alias : axis.name, 0, static_cast<std::uint64_t>(end) - 1));
  return (given - axis.first) / step;
}

bool is_given(const Axis& axis, const Keys& keys) {
  return keys.has(axis.name) || (!axis.alias.empty() && keys.has(axis.alias)) ||
         counts_elements(axis, keys);
}

}  // namespace

Asked read_map(const Question& question, Ask ask) {
  const std::string_view word = word_at(
      question, 0, ask == Ask::Bytes ? "MNEMONIC A|B desc=WORD" : "MNEMONIC MATRIX key=value ...");
  for (const Family* family :
       {&tmem_copy_family, &tensor_memory_family, &matrix_move_family, &warp_mma_family})
    if (family->has(word)) return family->read(question, ask);
  return warpgroup_family.read(question, ask);
}

void refuse_input_keys(const Question& question, const Keys& keys) {
  for (const std::string_view key : input_keys)
    if (keys.has(key) && !question.options.inputs)
      throw UsageError(fmt::format("{}= describes the inputs: expected --inputs with it", key));
}

std::string notes_text(const Map& map) {
  std::string text;
  for (const std::string& note : map.notes)
    text += fmt::format("{}note: {}", text.empty() ? "" : "\n", note);
  return text;
}

Answer with_notes(const Map& map, std::string text, Style style) {
  const std::string notes = notes_text(map);
  if (style != Style::Text || notes.empty()) return {Status::Yes, std::move(text), notes};
  return {Status::Yes, text + "\n" + notes, ""};
}

std::vector<Coords> coords_from(const std::vector<Axis>& axes, const Keys& keys) {
  std::vector<Coords> all = {Coords{}};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!is_given(axes[i], keys) && axes[i].missing == Missing::Zero) continue;
    if (!is_given(axes[i], keys) && axes[i].missing == Missing::All) {
      std::vector<Coords> more;
      for (const Coords& at : all)
        for (int index = 0; index < axes[i].extent; ++index) {
          more.push_back(at);
          more.back()[i] = index;
        }
      all = std::move(more);
      continue;
    }
    const int index = index_from(axes[i], keys);
    for (Coords& at : all) at[i] = index;
  }
  return all;
}

}  // namespace tcq::oracle
