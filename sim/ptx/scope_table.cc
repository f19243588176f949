// Looking names up; see scope_table.h.
#include "sim/ptx/scope_table.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace tcq::ptx {
namespace {

// %r07 is none of %r<8>.
bool index_of(std::string_view digits, std::uint32_t& number) {
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return false;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  return rest == end && error == std::errc();
}

}  // namespace

ScopeTable::ScopeTable(const Names& names)
    : names_(names),
      plain_(names.size(), none),
      ranges_(names.size(), none),
      splits_(names.size()),
      cached_(names.size()) {
  open();
}

void ScopeTable::close() {
  for (; stack_.size() > marks_.back(); stack_.pop_back()) {
    const Entry& entry = stack_.back();
    (entry.is_range ? ranges_ : plain_)[entry.name] = entry.previous;
  }
  marks_.pop_back();
}

bool ScopeTable::push(Entry entry) {
  std::vector<std::uint32_t>& nearest = entry.is_range ? ranges_ : plain_;
  entry.previous = nearest[entry.name];
  entry.id = next_id_++;
  const bool is_new = entry.previous == none || entry.previous < marks_.back();
  nearest[entry.name] = static_cast<std::uint32_t>(stack_.size());
  stack_.push_back(entry);
  return is_new;
}

bool ScopeTable::declare(Name name, Kind kind, Index index) {
  return push({name, 0, none, kind, false, index, {}});
}

bool ScopeTable::declare_registers(const RegisterItem& item) {
  const std::string_view text = names_.text(item.name);
  const bool is_range = item.count != 0;
  if (is_range && is_digit(text.back())) has_digit_prefix_ = true;
  return push({item.name, 0, none, Kind::Register, is_range, none, item});
}

const ScopeTable::Split& ScopeTable::split(Name name) {
  Split& split = splits_[name];
  if (split.is_known) return split;
  split.is_known = true;
  const std::string_view text = names_.text(name);
  std::size_t digits = text.size();
  while (digits > 0 && is_digit(text[digits - 1])) --digits;
  if (index_of(text.substr(digits), split.number))
    split.prefix = names_.find(text.substr(0, digits));
  return split;
}

// The nearest range that is long enough.
std::uint32_t ScopeTable::range_of(Name prefix, std::uint32_t number) const {
  std::uint32_t at = ranges_[prefix];
  while (at != none && number >= stack_[at].item.count) at = stack_[at].previous;
  return at;
}

std::uint32_t ScopeTable::find_range(Name name, std::uint32_t& number) {
  if (!has_digit_prefix_) {
    const Split& parts = split(name);
    number = parts.number;
    return parts.prefix == 0 ? none : range_of(parts.prefix, number);
  }
  const std::string_view text = names_.text(name);
  std::uint32_t found = none;
  constexpr std::size_t most_digits = 10;
  for (std::size_t digits = 1; digits <= most_digits && digits < text.size(); ++digits) {
    std::uint32_t index = 0;
    const std::size_t begin = text.size() - digits;
    if (!is_digit(text[begin])) break;
    const Name prefix = names_.find(text.substr(0, begin));
    if (prefix == 0 || !index_of(text.substr(begin), index)) continue;
    const std::uint32_t at = range_of(prefix, index);
    if (at == none || (found != none && found > at)) continue;
    found = at;
    number = index;
  }
  return found;
}

Index ScopeTable::number_of(Entry& entry, std::uint32_t number, Name name,
                            std::vector<Register>& registers, Index first) {
  if (!entry.is_range && entry.index != none) return entry.index;
  const std::uint64_t key = (std::uint64_t{entry.id} << 32) + number;
  if (entry.is_range)
    if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  const auto index = static_cast<Index>(registers.size()) - first;
  registers.insert(registers.end(), entry.item.vector, {name, entry.item.type, entry.item.vector});
  if (entry.is_range)
    numbers_.emplace(key, index);
  else
    entry.index = index;
  return index;
}

ScopeTable::Meaning ScopeTable::find(Name name, std::vector<Register>& registers, Index first) {
  std::uint32_t number = 0;
  const std::uint32_t plain = plain_[name];
  const std::uint32_t range = find_range(name, number);
  // What stands higher in the stack was declared in a nearer block.
  const std::uint32_t at = plain == none || (range != none && range > plain) ? range : plain;
  if (at == none) return {};
  Entry& entry = stack_[at];
  if (entry.kind != Kind::Register) return {entry.kind, entry.index};
  Cached& cached = cached_[name];
  if (cached.id != entry.id) cached = {entry.id, number_of(entry, number, name, registers, first)};
  return {Kind::Register, cached.index};
}

}  // namespace tcq::ptx
