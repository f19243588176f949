// Sorting the words of an opcode into slots by its row; see form.h.
#include "sim/ptx/form.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// ---- The table, read once -----------------------------------------------------------------------

struct Place {
  enum class Kind : std::uint8_t { Slot, Flag, Shape };
  Kind kind = Kind::Slot;
  std::uint8_t index = 0;
  bool is_mandatory = false;
  std::string_view text;
};

struct Syntax {
  Opcode opcode = Opcode::Unknown;
  std::vector<Place> places;
  int min_types = 0, max_types = 0;
  std::uint64_t flags = 0;  // that the name implies
};
std::uint8_t flag_index(std::string_view word) {
  const auto found = std::find(flag_words.begin(), flag_words.end(), word);
  return static_cast<std::uint8_t>(found - flag_words.begin());
}

std::uint8_t slot_index(std::string_view name) {
  const auto found = std::find_if(slot_table.begin(), slot_table.end(),
                                  [&](const SlotRow& row) { return row.name == name; });
  return static_cast<std::uint8_t>(found - slot_table.begin());
}

bool is_type_count(std::string_view word) {
  return word[0] == 't' && word.size() > 1 && word[1] >= '1' && word[1] <= '5';
}

Syntax syntax_of(const OpcodeRow& row) {
  Syntax syntax;
  syntax.opcode = row.opcode;
  for (std::string_view word : split(row.modifiers, ' ')) {
    if (is_type_count(word)) {
      syntax.min_types = word[1] - '0';
      syntax.max_types = word.back() - '0';
      continue;
    }
    Place place;
    place.is_mandatory = word.back() == '!';
    if (place.is_mandatory) word.remove_suffix(1);
    place.text = word;
    if (word == "shape") {
      place.kind = Place::Kind::Shape;
    } else if (word[0] == '.') {
      place.kind = Place::Kind::Flag;
      place.index = flag_index(word.substr(1));
    } else {
      place.index = slot_index(word);
    }
    syntax.places.push_back(place);
  }
  return syntax;
}

// Other names of a row; bar is barrier.aligned.
struct Alias {
  std::string_view name;
  Opcode opcode;
  bool is_aligned;
};
constexpr std::array aliases = {
    Alias{"bar.sync", Opcode::BarSync, true},
    Alias{"bar.cta.sync", Opcode::BarSync, true},
    Alias{"barrier.sync", Opcode::BarSync, false},
    Alias{"barrier.cta.sync", Opcode::BarSync, false},
    Alias{"bar.arrive", Opcode::BarArrive, true},
    Alias{"bar.cta.arrive", Opcode::BarArrive, true},
    Alias{"barrier.arrive", Opcode::BarArrive, false},
    Alias{"barrier.cta.arrive", Opcode::BarArrive, false},
    Alias{"bar.red", Opcode::BarRed, true},
    Alias{"bar.cta.red", Opcode::BarRed, true},
    Alias{"barrier.red", Opcode::BarRed, false},
    Alias{"barrier.cta.red", Opcode::BarRed, false},
};

bool is_barrier(Opcode opcode) {
  return opcode == Opcode::BarSync || opcode == Opcode::BarArrive || opcode == Opcode::BarRed;
}

using Table = std::unordered_map<std::string_view, Syntax>;

const Table& table() {
  static const Table made = [] {
    Table rows;
    for (const OpcodeRow& row : opcode_table())
      if (row.opcode != Opcode::Unknown) rows.emplace(row.name, syntax_of(row));
    for (const Alias& alias : aliases) {
      Syntax syntax = syntax_of(row_of(alias.opcode));
      if (alias.is_aligned) syntax.flags = std::uint64_t{1} << static_cast<unsigned>(Flag::Aligned);
      rows.insert_or_assign(alias.name, std::move(syntax));
    }
    return rows;
  }();
  return made;
}

// The row with the longest name that the opcode begins with.
const Syntax* find_syntax(std::string_view text, std::string_view& rest) {
  const Syntax* found = nullptr;
  std::size_t end = 0;
  for (int words = 0; words < 5 && end != text.npos; ++words) {
    end = text.find('.', end == 0 ? 0 : end + 1);
    const auto row = table().find(text.substr(0, end));
    if (row == table().end()) continue;
    found = &row->second;
    rest = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return found;
}

// ptxas takes .sync of these wherever it stands, as CUB writes vote.ballot.sync; rows have it in the name.
std::string with_sync_first(std::string_view text) {
  std::string moved(text);
  constexpr std::string_view sync = ".sync";
  for (const std::string_view name : {"vote", "shfl", "redux"}) {
    const std::size_t at = moved.find(".sync", name.size() + 1);
    const std::size_t behind = at == moved.npos ? at : at + sync.size();
    const bool is_word = at != moved.npos && (behind == moved.size() || moved[behind] == '.');
    if (!moved.starts_with(name) || moved[name.size()] != '.' || !is_word) continue;
    moved.erase(at, sync.size()).insert(name.size(), sync);
  }
  return moved;
}

// ---- One opcode ---------------------------------------------------------------------------------
// Which of the words it is, from 1; 0 if none.
std::uint8_t index_in(std::string_view words, std::string_view word) {
  std::uint8_t index = 1;
  for (std::size_t begin = 0; begin < words.size(); ++index) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return index;
    begin = end + 1;
  }
  return 0;
}

// m16n8k16, m8n8
bool read_shape(std::string_view word, std::array<std::uint16_t, 3>& shape) {
  constexpr std::string_view letters = "mnk";
  const char* at = word.data();
  const char* const end = at + word.size();
  std::array<std::uint16_t, 3> found = {};
  for (std::size_t i = 0; i < letters.size() && at != end; ++i) {
    if (*at++ != letters[i]) return false;
    const auto [rest, error] = std::from_chars(at, end, found[i]);
    if (error != std::errc()) return false;
    at = rest;
  }
  if (at != end || found[1] == 0) return false;
  shape = found;
  return true;
}

bool take(const Place& place, std::string_view word, Form& form) {
  if (place.kind == Place::Kind::Shape) return form.shape[0] == 0 && read_shape(word, form.shape);
  if (place.kind == Place::Kind::Flag) {
    const std::uint64_t bit = std::uint64_t{1} << place.index;
    if (flag_words[place.index] != word || (form.flags & bit) != 0) return false;
    form.flags |= bit;
    return true;
  }
  if (form.slots[place.index] != 0) return false;
  const std::uint8_t index = index_in(slot_table[place.index].words, word);
  form.slots[place.index] = index;
  return index != 0;
}

bool is_there(const Place& place, const Form& form) {
  if (place.kind == Place::Kind::Shape) return form.shape[0] != 0;
  if (place.kind == Place::Kind::Flag) return form.has(static_cast<Flag>(place.index));
  return form.slots[place.index] != 0;
}

Form unknown(std::string problem) {
  Form form;
  form.problem = std::move(problem);
  return form;
}

Form read_by(const Syntax& syntax, std::string_view words) {
  Form form;
  form.opcode = syntax.opcode;
  form.flags = syntax.flags;
  for (const std::string_view word : split(words, '.')) {
    const bool taken = std::any_of(syntax.places.begin(), syntax.places.end(),
                                   [&](const Place& place) { return take(place, word, form); });
    if (taken) continue;
    const Type type = type_of(word);
    if (type == Type::None || form.type_count == syntax.max_types)
      return unknown("has no modifier " + quoted("." + std::string(word)) + " here");
    form.types[form.type_count++] = type;
  }
  for (const Place& place : syntax.places)
    if (place.is_mandatory && !is_there(place, form))
      return unknown("lacks its modifier '" + std::string(place.text) + "'");
  if (form.type_count < syntax.min_types)
    return unknown("lacks a type: expected " + std::to_string(syntax.min_types));
  return form;
}

// In the order of the alternatives of Tcgen05Form.
constexpr std::array tcgen05_opcodes = {
    Opcode::Tcgen05Mma,        Opcode::Tcgen05Ld,     Opcode::Tcgen05LdRed, Opcode::Tcgen05St,
    Opcode::Tcgen05Cp,         Opcode::Tcgen05Shift,  Opcode::Tcgen05Alloc, Opcode::Tcgen05Dealloc,
    Opcode::Tcgen05Relinquish, Opcode::Tcgen05Commit, Opcode::Tcgen05Wait,  Opcode::Tcgen05Fence};
static_assert(tcgen05_opcodes.size() == std::variant_size_v<Tcgen05Form>);

Form read_tcgen05_opcode(std::span<const std::string_view> words) {
  const Tcgen05Reading reading = read_form(words, Spelling::Statement);
  if (!reading.form) return unknown(reason_of(reading.problem));
  Form form;
  form.opcode = tcgen05_opcodes[reading.form->index()];
  form.tensor = *reading.form;
  return form;
}

Form read_wgmma_opcode(std::span<const std::string_view> words) {
  Form form;
  const std::string_view which = words.empty() ? std::string_view() : words[0];
  if (which == "mma_async") {
    wgmma::Form mma{};
    const OpcodeReading reading = read_wgmma(mma, words, Spelling::Statement);
    for (const Verdict& verdict : {reading.problem, reading.disagreement})
      if (!is_legal(verdict)) return unknown(reason_of(verdict));
    form.opcode = Opcode::WgmmaMmaAsync;
    form.tensor = mma;
    return form;
  }
  for (const auto& [step, opcode] : {std::pair{wgmma::GroupStep::Fence, Opcode::WgmmaFence},
                                     {wgmma::GroupStep::Commit, Opcode::WgmmaCommitGroup},
                                     {wgmma::GroupStep::Wait, Opcode::WgmmaWaitGroup}}) {
    if (which != name(step)) continue;
    const OpcodeReading reading =
        read_words(step, words.subspan(1), Spelling::Statement, Fault::QualifierMissing);
    if (!is_legal(reading.problem)) return unknown(reason_of(reading.problem));
    form.opcode = opcode;
    return form;
  }
  return unknown("is no instruction");
}

}  // namespace

Form read_form(std::string_view text) {
  if (text.starts_with("wgmma.") || text.starts_with("tcgen05.")) {
    const std::vector<std::string_view> words = split_opcode(text);
    const auto behind = std::span(words).subspan(1);
    return words[0] == "wgmma" ? read_wgmma_opcode(behind) : read_tcgen05_opcode(behind);
  }
  const std::string ordered = with_sync_first(text);
  std::string_view rest;
  const Syntax* const syntax = find_syntax(ordered, rest);
  return syntax == nullptr ? unknown("is no opcode that is known") : read_by(*syntax, rest);
}

std::string print(const Form& form) {
  if (const auto* mma = std::get_if<wgmma::Form>(&form.tensor)) return wgmma::opcode(*mma).chars;
  if (const auto* of = std::get_if<Tcgen05Form>(&form.tensor))
    return std::visit([](const auto& f) { return std::string(tcgen05::opcode(f).chars); }, *of);
  std::string text(row_of(form.opcode).name);
  const bool is_bar = is_barrier(form.opcode);
  if (is_bar && !form.has(Flag::Aligned)) text.replace(0, 3, "barrier");
  if (form.opcode == Opcode::WgmmaFence || form.opcode == Opcode::WgmmaCommitGroup ||
      form.opcode == Opcode::WgmmaWaitGroup)
    return text + ".sync.aligned";
  const Syntax syntax = syntax_of(row_of(form.opcode));
  for (const Place& place : syntax.places) {
    if (!is_there(place, form)) continue;
    if (place.kind == Place::Kind::Flag) {
      if (!is_bar) text += place.text;
    } else if (place.kind == Place::Kind::Shape) {
      text += ".";
      for (std::size_t i = 0; i < 3 && form.shape[i] != 0; ++i)
        text += "mnk"[i] + std::to_string(form.shape[i]);
    } else {
      text += "." +
              std::string(split(slot_table[place.index].words, ' ')[form.slots[place.index] - 1U]);
    }
  }
  for (std::size_t i = 0; i < form.type_count; ++i) text += "." + std::string(name(form.types[i]));
  return text;
}

}  // namespace tcq::ptx
