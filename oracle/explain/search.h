// Words that people type -> the texts of this folder that are about them.
//
// Of texts that have all words those come first that have them in their title or name; if none has all,
// those with the rarest ones. Endings do not count (hangs, serialized), numbers must be whole, and a few words
// have others that mean the same. Example: "why does it hang" finds what says deadlock. Who asks:
// explain.cc, errata.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

struct SearchText {
  std::string name;  // what it says in one sentence
  std::string text;
  std::string title = {};  // WgmmaFenceMissing
};

// Indices of texts, best first, at most `most`. Empty if nothing is about the words.
std::vector<std::size_t> found_by(std::string_view words, std::span<const SearchText> texts,
                                  std::size_t most);

// The words with those that no text has spelt as the nearest word of a text; empty if none is near.
std::string respelt(std::string_view words, std::span<const SearchText> texts);

// True if the text has more than half of the words.
bool has_most(std::string_view words, const SearchText& text);

// True if the first of two or more is meant: it has clearly more of the words than the second.
bool is_clear(std::string_view words, const SearchText& first, const SearchText& second);

}  // namespace tcq::oracle
