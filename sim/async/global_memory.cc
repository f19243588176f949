#include "sim/async/global_memory.h"

#include <algorithm>
#include <set>

namespace tcq::machine {

bool ByteSet::holds_any(ByteRange range) const {
  if (pages_.empty()) return false;
  for (std::size_t byte = range.begin; byte < range.end;) {
    const auto page = pages_.find(byte / page_bytes);
    const std::size_t end = std::min<std::size_t>(range.end, (byte / page_bytes + 1) * page_bytes);
    for (; page != pages_.end() && byte < end; ++byte)
      if (page->second.test(byte % page_bytes)) return true;
    byte = end;
  }
  return false;
}

void apply(const GlobalChanges& changes, LaunchMemory& memory) {
  for (const PageChange& change : changes)
    for (std::size_t i = 0; i < change.bytes.size(); ++i) {
      std::uint8_t& byte = memory.bytes[change.begin + i];
      if (byte == change.bytes[i]) continue;
      byte = change.bytes[i];
      memory.written.add(change.begin + i);
    }
}

ProgramMemory::ProgramMemory(const ProgramMemory& other) {
  const LaunchMemory& from = *other.launch_;
  if (from.holder != nullptr) {
    launch_ = from.holder->given();
    return;
  }
  launch_ = std::make_shared<LaunchMemory>();
  launch_->bytes = from.bytes;
  launch_->written = from.written;
}

GlobalMemory::GlobalMemory(const std::shared_ptr<LaunchMemory>& of) : memory_(of) {
  if (of->holder != nullptr) memory_ = of->holder->given();
  memory_->holder = this;
}

GlobalMemory::GlobalMemory(const GlobalMemory& other)
    : memory_(std::make_shared<LaunchMemory>()),
      before_(other.before_),
      last_kept_(other.last_kept_) {
  memory_->bytes = other.bytes();
  memory_->written = other.memory_->written;
  memory_->holder = this;
}

GlobalMemory::~GlobalMemory() {
  put_back(memory_->bytes);
  memory_->holder = nullptr;
}

std::shared_ptr<LaunchMemory> GlobalMemory::given() const {
  auto memory = std::make_shared<LaunchMemory>();
  memory->bytes = memory_->bytes;
  memory->written = memory_->written;
  put_back(memory->bytes);
  return memory;
}

void GlobalMemory::put_back(std::vector<std::uint8_t>& bytes) const {
  for (const auto& [number, old] : before_)
    std::copy(old.begin(), old.end(), bytes.data() + number * page_bytes);
}

void GlobalMemory::keep_pages(ByteRange bytes) {
  for (std::size_t number = bytes.begin / page_bytes; number * page_bytes < bytes.end; ++number) {
    const auto [old, is_new] = before_.try_emplace(number);
    last_kept_ = number;
    if (!is_new) continue;
    const std::size_t count = std::min(page_bytes, size() - number * page_bytes);
    old->second.assign(page(number), page(number) + count);
  }
}

GlobalChanges GlobalMemory::changes() const {
  GlobalChanges changes;
  for (const auto& [number, old] : before_)
    if (!std::equal(old.begin(), old.end(), page(number)))
      changes.push_back({number * page_bytes, {page(number), page(number) + old.size()}});
  return changes;
}

std::optional<std::size_t> GlobalMemory::first_difference(const GlobalChanges& other) const {
  std::set<std::size_t> pages;
  std::map<std::size_t, const std::uint8_t*> theirs;
  for (const auto& [number, old] : before_) {
    pages.insert(number);
    theirs[number] = old.data();
  }
  for (const PageChange& change : other) {
    pages.insert(change.begin / page_bytes);
    theirs[change.begin / page_bytes] = change.bytes.data();
  }
  for (const std::size_t number : pages) {
    const std::size_t count = std::min(page_bytes, size() - number * page_bytes);
    const auto [mine, their] = std::mismatch(page(number), page(number) + count, theirs[number]);
    if (mine != page(number) + count) return static_cast<std::size_t>(mine - memory_->bytes.data());
  }
  return std::nullopt;
}

}  // namespace tcq::machine
