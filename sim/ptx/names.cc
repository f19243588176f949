// A hash table with open addressing; see names.h.
#include "sim/ptx/names.h"

#include <functional>
#include <utility>

namespace tcq::ptx {

Names::Names() : words_{{}}, hashes_{0}, slots_(1024) {}

std::size_t Names::slot_of(std::string_view word, std::size_t hash) const {
  const std::size_t last = slots_.size() - 1;
  std::size_t slot = hash & last;
  while (slots_[slot] != 0 && (hashes_[slots_[slot]] != hash || words_[slots_[slot]] != word))
    slot = (slot + 1) & last;
  return slot;
}

Name Names::intern(std::string_view word) {
  if (word.empty()) return 0;
  const std::size_t hash = std::hash<std::string_view>()(word);
  const std::size_t slot = slot_of(word, hash);
  if (slots_[slot] != 0) return slots_[slot];
  const auto name = static_cast<Name>(words_.size());
  slots_[slot] = name;
  words_.push_back(word);
  hashes_.push_back(hash);
  if (words_.size() * 2 > slots_.size()) grow();
  return name;
}

Name Names::keep(std::string word) {
  if (const Name known = find(word); known != 0) return known;
  return intern(kept_.emplace_back(std::move(word)));
}

Name Names::find(std::string_view word) const {
  if (word.empty()) return 0;
  return slots_[slot_of(word, std::hash<std::string_view>()(word))];
}

void Names::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t last = slots_.size() - 1;
  for (std::size_t name = 1; name < words_.size(); ++name) {
    std::size_t slot = hashes_[name] & last;
    while (slots_[slot] != 0) slot = (slot + 1) & last;
    slots_[slot] = static_cast<Name>(name);
  }
}

}  // namespace tcq::ptx
