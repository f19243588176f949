// Filling the slots of a syntax; see opcode_reader.h.
#include "oracle/ptx/opcode_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

constexpr int absent = OpcodeSlot::absent;

// PTX knows upper case, mnemonics do not.
bool same(std::string_view a, std::string_view b, Spelling spelling) {
  return spelling == Spelling::Mnemonic ? same_word(a, b) : a == b;
}

std::string syntax_of(const OpcodeSlots& syntax) {
  std::string text;
  for (const OpcodeSlot& slot : syntax.slots)
    text += slot.need && !slot.derived ? slot.what : fmt::format("[{}]", slot.what);
  return text;
}

// Index of the word among those of a slot; of a shape its N.
int index_in(const OpcodeSlot& slot, std::string_view word, Spelling spelling) {
  if (slot.is_shape) {
    const auto shape = parse_shape(spelling == Spelling::Mnemonic ? lowered(word) : word);
    return shape ? shape->n : absent;
  }
  for (std::size_t i = 0; i < slot.words.size(); ++i)
    if (same(word, slot.words[i], spelling)) return static_cast<int>(i);
  return absent;
}

// Fills one slot after another, as the words come.
class Filler {
 public:
  Filler(OpcodeSlots& syntax, Spelling spelling) : syntax_(syntax), spelling_(spelling) {}

  // False if no slot has the word.
  bool take(std::string_view word) {
    OpcodeSlot* const slot = slot_for(word);
    if (slot == nullptr) return false;
    if (slot->chosen != absent || is_repeated(*slot)) {
      out_of_order(fmt::format("{} is given twice", slot->what));
      return true;
    }
    if (slot->rank < last_rank_) out_of_order(fmt::format("expected {}", syntax_of(syntax_)));
    slot->chosen = index_in(*slot, word, spelling_);
    if (slot->set) slot->set(slot->chosen);
    last_rank_ = std::max(last_rank_, slot->rank);
    return true;
  }

  Verdict order() && { return std::move(order_); }

 private:
  void out_of_order(std::string specifics) {
    if (is_legal(order_)) order_ = illegal(Fault::QualifierOrder, std::move(specifics));
  }

  // The first empty slot of the word at or behind the last one that was filled, else any empty one,
  // else any: types have three slots, .satfinite two.
  OpcodeSlot* slot_for(std::string_view word) {
    OpcodeSlot* found = nullptr;
    for (OpcodeSlot& slot : syntax_.slots) {
      if (index_in(slot, word, spelling_) == absent) continue;
      const bool empty = slot.chosen == absent;
      if (empty && slot.rank >= last_rank_) return &slot;
      if (found == nullptr || (empty && found->chosen != absent)) found = &slot;
    }
    return found;
  }

  // True if the other slot of a flag is filled.
  bool is_repeated(const OpcodeSlot& slot) const {
    return std::any_of(syntax_.slots.begin(), syntax_.slots.end(), [&](const OpcodeSlot& other) {
      return other.chosen != absent && other.words.size() == 1 && other.words == slot.words;
    });
  }

  OpcodeSlots& syntax_;
  Spelling spelling_;
  int last_rank_ = 0;
  Verdict order_ = {};
};

void check_needs(const OpcodeSlots& syntax, Spelling spelling, Fault missing,
                 OpcodeReading& reading) {
  const bool statement = spelling == Spelling::Statement;
  for (const OpcodeSlot& slot : syntax.slots) {
    if (slot.chosen != absent || !slot.need || slot.derived) continue;
    if (slot.need == Need::Mandatory || (slot.need == Need::Implied && statement)) {
      reading.problem = illegal(missing, fmt::format("expected {}", slot.what));
      return;
    }
    if (!statement || !is_legal(reading.sync)) continue;
    if (slot.need == Need::Sync) reading.sync = illegal(Fault::SyncMissing);
    if (slot.need == Need::Aligned) reading.sync = illegal(Fault::AlignedMissing);
  }
}

}  // namespace

OpcodeSlot& OpcodeSlots::add(std::string what, std::vector<std::string> words,
                             std::function<void(int)> set) {
  slots.push_back({std::move(what), std::move(words), std::move(set)});
  slots.back().rank = rank_;
  rank_ += ranked_ ? 1 : 0;
  return slots.back();
}

void OpcodeSlots::derived(const char* word, bool present, Need need, Fault fault,
                          const char* because, const char* value) {
  OpcodeSlot& slot = add(dotted(word), {word}, {});
  slot.need = need;
  slot.derived = present;
  slot.otherwise = illegal(fault, std::string(because) + value);
}

void OpcodeSlots::power(const char* what, const char* prefix, int& value, int last) {
  OpcodeSlot& slot = add(what, {}, [&value](int i) { value = 1 << i; });
  slot.need = Need::Mandatory;
  for (int i = 1; i <= last; i *= 2) slot.words.push_back(prefix + std::to_string(i));
}

std::optional<OpcodeShape> parse_shape(std::string_view part) {
  OpcodeShape shape{};
  const char* at = part.data();
  const char* const end = at + part.size();
  for (const auto& [letter, value] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end || *at++ != letter || at == end || *at < '1' || *at > '9') return std::nullopt;
    const auto [rest, error] = std::from_chars(at, end, *value);
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  if (at != end) return std::nullopt;
  return shape;
}

std::vector<std::string_view> split_opcode(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

std::size_t words_of_name(const OpcodeSlots& syntax, std::span<const std::string_view> words,
                          Spelling spelling) {
  const std::vector<std::string_view> name = split_opcode(syntax.instruction_name);
  const bool begins = words.size() >= name.size() &&
                      std::equal(name.begin(), name.end(), words.begin(),
                                 [&](auto a, auto b) { return same(a, b, spelling); });
  return begins ? name.size() : 0;
}

OpcodeReading fill_slots(OpcodeSlots& syntax, std::span<const std::string_view> words,
                         Spelling spelling, Fault missing) {
  OpcodeReading reading;
  Filler filler(syntax, spelling);
  for (const OpcodeSlot& slot : syntax.slots)
    if (slot.is_flag) slot.set(absent);
  for (const std::string_view word : words) {
    if (!filler.take(word)) {
      reading.problem = illegal(Fault::QualifierUnknown, fmt::format("got {}", quoted(word)));
      return reading;
    }
    if (!reading.shape) reading.shape = parse_shape(lowered(word));
  }
  check_needs(syntax, spelling, missing, reading);
  reading.order = std::move(filler).order();
  return reading;
}

Verdict disagreement_of(const OpcodeSlots& now, const OpcodeSlots& read, Spelling spelling) {
  const auto may_be_absent = [&](const OpcodeSlot& slot) {
    return spelling == Spelling::Mnemonic && slot.need == Need::Implied;
  };
  // Implied words are left out all or none.
  bool any = false;
  for (const OpcodeSlot& slot : read.slots) any |= slot.derived && slot.chosen != absent;
  for (std::size_t i = 0; i < now.slots.size(); ++i) {
    const OpcodeSlot& slot = now.slots[i];
    const bool present = read.slots[i].chosen != absent;
    if (!slot.derived || *slot.derived == present) continue;
    if (present || any || !may_be_absent(slot)) return slot.otherwise;
  }
  return legal();
}

std::string shortened(std::string_view opcode) {
  std::string text(opcode);
  for (const std::string_view part : {".mma_async", ".sync.aligned", ".b32", ".b64"})
    if (const std::size_t at = text.find(part); at != std::string::npos)
      text.erase(at, part.size());
  return text;
}

}  // namespace tcq::oracle
