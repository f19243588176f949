// The nearest values that a field can hold, and the words "; nearest legal: start_bytes=1008" for
// them.
//
// Decides the words only; what fits is the Field's own business (sim/isa/base/field.h). Example: 1001
// in a field of unit 16 becomes 1008.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace tcq::oracle {

// Members of a descriptor brought into range one by one, with the list of what changed.
class Rounded {
 public:
  template <class F, class Member>
  void to_field(F, Member& member) {
    constexpr std::uint64_t unit = std::uint64_t{1} << F::unit_log2;
    const auto value = static_cast<std::uint64_t>(member);
    const std::uint64_t up = std::min<std::uint64_t>(value, F::max_code * unit) + unit / 2;
    set(F::name, member,
        static_cast<Member>(std::min<std::uint64_t>(up / unit, F::max_code) * unit));
  }
  template <class Member>
  void to_range(std::string_view key, Member& member, Member low, Member high) {
    set(key, member, std::clamp(member, low, high));
  }
  template <class Member>
  void set(std::string_view key, Member& member, Member value) {
    set(key, member, value, fmt::format("{}", value));
  }
  template <class Member>
  void set(std::string_view key, Member& member, Member value, std::string_view text) {
    if (member == value) return;
    member = value;
    text_ += fmt::format(" {}={}", key, text);
  }
  // "" if nothing changed, or if the result is not legal either.
  std::string words(bool is_legal) const {
    return text_.empty() || !is_legal ? "" : "; nearest legal:" + text_;
  }

 private:
  std::string text_;
};

}  // namespace tcq::oracle
