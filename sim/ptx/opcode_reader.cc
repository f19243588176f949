// Filling the slots of a syntax; see opcode_reader.h.
#include "sim/ptx/opcode_reader.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

constexpr int absent = OpcodeSlot::absent;

std::string syntax_of(const OpcodeSlots& syntax) {
  std::string text;
  for (const OpcodeSlot& slot : syntax.slots) text += slot.need ? slot.what : "[" + slot.what + "]";
  return text;
}

// Fills one slot after another, as the words come.
class Filler {
 public:
  Filler(OpcodeSlots& syntax, Spelling spelling) : syntax_(syntax), spelling_(spelling) {}

  // False if no slot has the word.
  bool take(std::string_view word) {
    const auto [slot, index] = find(word);
    if (slot == nullptr) return false;
    const bool twice = slot->chosen != absent || is_repeated(*slot);
    if (is_legal(order_) && (twice || slot->rank < last_rank_))
      order_ = illegal(Fault::QualifierOrder,
                       twice ? slot->what + " is given twice" : "expected " + syntax_of(syntax_));
    if (twice) return true;
    slot->chosen = index;
    if (slot->set) slot->set(index);
    if (slot->is_shape) shape_ = parse_shape(lowered(word));
    last_rank_ = std::max(last_rank_, slot->rank);
    return true;
  }

  Verdict order() && { return std::move(order_); }
  std::optional<OpcodeShape> shape() const { return shape_; }

 private:
  struct Found {
    OpcodeSlot* slot = nullptr;
    int index = absent;
  };

  // The first empty slot of the word at or behind the last one that was filled, else any empty one,
  // else any: types have three slots, .satfinite two.
  Found find(std::string_view word) {
    Found found;
    for (OpcodeSlot& slot : syntax_.slots) {
      const int index = slot.find(word, spelling_);
      if (index == absent) continue;
      const bool empty = slot.chosen == absent;
      if (empty && slot.rank >= last_rank_) return {&slot, index};
      if (found.slot == nullptr || (empty && found.slot->chosen != absent)) found = {&slot, index};
    }
    return found;
  }

  // True if the other slot of a flag is filled.
  bool is_repeated(const OpcodeSlot& slot) const {
    return std::any_of(syntax_.slots.begin(), syntax_.slots.end(), [&](const OpcodeSlot& other) {
      return other.chosen != absent && other.what == slot.what;
    });
  }

  OpcodeSlots& syntax_;
  Spelling spelling_;
  int last_rank_ = 0;
  Verdict order_ = {};
  std::optional<OpcodeShape> shape_ = {};
};

void check_needs(const OpcodeSlots& syntax, Spelling spelling, Fault missing,
                 OpcodeReading& reading) {
  const bool statement = spelling == Spelling::Statement;
  for (const OpcodeSlot& slot : syntax.slots) {
    if (slot.chosen != absent || !slot.need) continue;
    if (slot.need == Need::Mandatory || (slot.need == Need::Implied && statement)) {
      reading.problem = illegal(missing, "expected " + slot.what);
      return;
    }
    if (!statement || !is_legal(reading.sync)) continue;
    if (slot.need == Need::Sync) reading.sync = illegal(Fault::SyncMissing);
    if (slot.need == Need::Aligned) reading.sync = illegal(Fault::AlignedMissing);
  }
}

}  // namespace

bool is_same(std::string_view a, std::string_view b, Spelling spelling) {
  return spelling == Spelling::Mnemonic ? same_word(a, b) : a == b;
}

bool is_behind(std::string_view prefix, std::string_view& word, Spelling spelling) {
  if (!is_same(word.substr(0, prefix.size()), prefix, spelling)) return false;
  word.remove_prefix(prefix.size());
  return true;
}

OpcodeSlot& OpcodeSlots::add(std::string what, OpcodeSlot::Find find,
                             std::function<void(int)> set) {
  slots.push_back({std::move(what), std::move(find), std::move(set)});
  slots.back().rank = rank_;
  rank_ += ranked_ ? 1 : 0;
  return slots.back();
}

OpcodeSlot& OpcodeSlots::add_word(const char* word, std::function<void(int)> set) {
  const auto find = [word](std::string_view given, Spelling spelling) {
    return is_same(given, word, spelling) ? 0 : absent;
  };
  return add("." + std::string(word), find, std::move(set));
}

void OpcodeSlots::power(const char* what, const char* prefix, int& value, int last) {
  const auto find = [prefix, last](std::string_view word, Spelling spelling) {
    if (!is_behind(prefix, word, spelling)) return absent;
    for (int i = 0; 1 << i <= last; ++i)
      if (word == std::to_string(1 << i)) return i;
    return absent;
  };
  add(what, find, [&value](int i) { value = 1 << i; }).need = Need::Mandatory;
}

void OpcodeSlots::shape(const char* what, int, int& n, int) {
  const auto find = [](std::string_view word, Spelling spelling) {
    const auto shape = parse_shape(spelling == Spelling::Mnemonic ? lowered(word) : word);
    return shape ? shape->n : absent;
  };
  OpcodeSlot& slot = add(what, find, [&n](int i) { n = i; });
  slot.need = Need::Mandatory;
  slot.is_shape = true;
}

OpcodeAgreement::OpcodeAgreement(const OpcodeSlots& read, Spelling spelling)
    : read_(read), spelling_(spelling) {
  for (const OpcodeSlot& slot : read.slots) any_ |= slot.is_derived && slot.chosen != absent;
}

void OpcodeAgreement::derived(const char* word, bool present, Need need, Fault fault,
                              const char* because, const char* value) {
  const auto slot = std::find_if(
      read_.slots.begin(), read_.slots.end(),
      [&](const OpcodeSlot& one) { return one.is_derived && one.what.substr(1) == word; });
  const bool given = slot->chosen != absent;
  const bool may_be_absent = spelling_ == Spelling::Mnemonic && need == Need::Implied && !any_;
  if (!is_legal(verdict) || given == present || (!given && may_be_absent)) return;
  verdict = illegal(fault, std::string(because) + value);
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

std::size_t words_of_name(std::string_view name, std::span<const std::string_view> words,
                          Spelling spelling) {
  const std::vector<std::string_view> parts = split_opcode(name);
  const bool begins = words.size() >= parts.size() &&
                      std::equal(parts.begin(), parts.end(), words.begin(),
                                 [&](auto a, auto b) { return is_same(a, b, spelling); });
  return begins ? parts.size() : 0;
}

OpcodeReading fill_slots(OpcodeSlots& syntax, std::span<const std::string_view> words,
                         Spelling spelling, Fault missing) {
  OpcodeReading reading;
  Filler filler(syntax, spelling);
  for (const OpcodeSlot& slot : syntax.slots)
    if (slot.is_flag) slot.set(absent);
  for (const std::string_view word : words) {
    if (filler.take(word)) continue;
    reading.problem = illegal(Fault::QualifierUnknown, "got " + quoted(word));
    return reading;
  }
  check_needs(syntax, spelling, missing, reading);
  reading.shape = filler.shape();
  reading.order = std::move(filler).order();
  return reading;
}

std::string shortened(std::string_view opcode) {
  std::string text(opcode);
  for (const std::string_view part : {".mma_async", ".sync.aligned", ".b32", ".b64"})
    if (const std::size_t at = text.find(part); at != std::string::npos)
      text.erase(at, part.size());
  return text;
}

}  // namespace tcq::ptx
