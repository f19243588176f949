// Reading the words of a question: numbers, key=value pairs, and the nearest spelling of a wrong
// word.
//
// Every reader throws UsageError with a sentence that names the word and what was expected.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/ptx/words.h"

namespace tcq::oracle {

// 'word' for a complaint. Values are not case sensitive, keys and options are.
using ptx::lowered;
using ptx::quoted;
using ptx::same_word;

// Decimal or 0x hex, no sign, with the suffix (ULL) and the separators (_ and ') of C++ if it has any; `what` names the
// argument in the complaint.
std::uint64_t parse_number(std::string_view word, std::string_view what);

// Exactly `digits` hex digits without 0x (the fixed-width form of mma lines).
std::uint32_t parse_hex(std::string_view word, int digits, std::string_view what);

// Text from outside as a terminal may see it: bytes that are not printable ASCII become \xNN, also
// newlines. terminal_text() keeps newlines and tabs: the last step of everything that is printed.
std::string printable(std::string_view text);
std::string terminal_text(std::string_view text);

// printable(), and of a very long text its end: the name of a file in a sentence.
std::string shown_path(std::string_view path);

// The words with a blank between each two.
std::string joined(std::span<const std::string_view> words);

// Levenshtein distance without regard to case, or `limit` if it is not smaller.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

// The candidate that is `word` with the fewest dotted parts left out (tcgen05.mma), else a key that ends in it
// (lane: tmem_lane), else the one with the smallest edit distance; what people call fp8 or half is taken as PTX's
// word. Empty if there is none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "unknown WHAT 'word': expected a, b or c; did you mean 'b'?"
[[noreturn]] void throw_unknown(std::string_view what, std::string_view word,
                                std::span<const std::string_view> candidates);

// "mn-first", "k-first".
std::string_view name(AtomOrder order);

// The key=value words of one question. Unknown, repeated and malformed ones are refused at once.
class Keys {
 public:
  // Requires: words are views that outlive this object.
  Keys(std::span<const std::string_view> words, std::span<const std::string_view> allowed,
       std::initializer_list<std::string_view> also_allowed = {});

  bool has(std::string_view key) const;
  // The same without one key, for a reader to whom it means something else.
  Keys without(std::string_view key) const;
  // The value, or `fallback`.
  std::string_view text(std::string_view key, std::string_view fallback) const;
  // A number in [low, high]; missing is an error unless there is a fallback.
  std::uint64_t number(std::string_view key, std::uint64_t low, std::uint64_t high) const;
  std::uint64_t number_or(std::string_view key, std::uint64_t low, std::uint64_t high,
                          std::uint64_t fallback) const;
  // A 32-bit number under one of two spellings of a key, 0 if neither is given.
  std::uint32_t either_number(std::string_view key, std::string_view long_key) const;
  // A number in [0, 2^31), for checks that say themselves what exists.
  int integer(std::string_view key, int fallback) const;
  // 0 or 1.
  bool flag(std::string_view key, bool fallback = false) const;
  // K or MN.
  Major major(std::string_view key, Major fallback = Major::K) const;
  // order=mn-first|k-first.
  AtomOrder order(AtomOrder fallback) const;
  // An element type of any instruction.
  Type type(std::string_view key, Type fallback) const;
  // Index of the value in `choices`, or `fallback` if the key is missing.
  int choice(std::string_view key, std::initializer_list<std::string_view> choices,
             int fallback) const;

 private:
  struct Pair {
    std::string_view key;
    std::string_view value;
  };
  const Pair* find(std::string_view key) const;
  std::vector<Pair> pairs_;
};

}  // namespace tcq::oracle
