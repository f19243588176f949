// Words of a text as numbers: the same word is the same number, and comparing costs nothing.
//
// The words stay where they are, in the text; those that stand nowhere in one piece are kept here. Example:
// intern("%r1") twice gives one Name, text() of it "%r1".
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::ptx {

// 0 is the empty word.
using Name = std::uint32_t;

class Names {
 public:
  Names();

  // Requires: the word outlives this object.
  Name intern(std::string_view word);
  // The same for a word that does not.
  Name keep(std::string word);
  // 0 if it was never interned.
  Name find(std::string_view word) const;

  std::string_view text(Name name) const { return words_[name]; }
  std::size_t size() const { return words_.size(); }

 private:
  std::size_t slot_of(std::string_view word, std::size_t hash) const;
  void grow();

  std::vector<std::string_view> words_;
  std::vector<std::size_t> hashes_;
  std::vector<Name> slots_;  // a power of two of them, 0 where none
  std::deque<std::string> kept_;
};

}  // namespace tcq::ptx
