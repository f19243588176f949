// What a word means, read once: a script asks thousands of questions about a few mnemonics.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tcq::oracle {

// Read(word), or what it gave before for the same word. Only what is read without a throw is kept, for
// each thread and each Read, and not too much of it.
template <auto Read>
auto remembered(std::string_view word) {
  constexpr std::size_t most = 4096;
  static thread_local std::map<std::string, decltype(Read(word)), std::less<>> known;
  if (const auto found = known.find(word); found != known.end()) return found->second;
  auto value = Read(word);
  if (known.size() == most) known.clear();
  known.emplace(word, value);
  return value;
}

}  // namespace tcq::oracle
