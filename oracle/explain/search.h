// Words that people type -> the texts of this folder that are about them.
//
// Those come first that have most of the words, the rarest ones, in their title or name, or among few others: a long
// text has any word. Endings do not count (hangs, serialized), numbers must be whole, and a few words
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
  bool is_topic = false;   // rather than about one rule
};

// A text about the words; it is sure if it has most of them, rare ones counting more, and those that no text has, too.
struct Hit {
  std::size_t index;
  bool is_sure;
};

// Best first, at most `most`. Empty if nothing is about the words.
std::vector<Hit> found_by(std::string_view words, std::span<const SearchText> texts,
                          std::size_t most);

// The words with those that no text has spelt as the nearest word of a text; empty if none is near.
std::string respelt(std::string_view words, std::span<const SearchText> texts);

// True if the first of two or more is meant: it has clearly more of the words than the second.
bool is_clear(std::string_view words, const SearchText& first, const SearchText& second);

}  // namespace tcq::oracle
