// A program's fingerprint, for schedule.h: one word for all that its executions depend on.
//
// Instructions are plain structs (instructions/), so their members are hashed one after the other
// whatever they are called: a new instruction or member needs nothing here, and a struct that cannot
// be taken apart this way does not compile.
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sim/async/program.h"
#include "sim/async/schedule.h"

namespace tcq::machine {
namespace {

struct Anything {
  template <class T>
  operator T() const;
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}

constexpr std::size_t most_members = 24;

// Of a struct without arrays.
template <class T, std::size_t N = most_members>
constexpr std::size_t member_count() {
  if constexpr (takes<T>(std::make_index_sequence<N>{}))
    return N;
  else
    return member_count<T, N - 1>();
}
template <>
constexpr std::size_t member_count<tma::TensorMap>() {
  return 11;
}
template <>
constexpr std::size_t member_count<tma::Im2col>() {
  return 3;
}
template <>
constexpr std::size_t member_count<tma::Coordinates>() {
  return 2;
}

class Fingerprint {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
      add_word(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_array_v<T>)
      for (const auto& element : value) add(element);
    else
      add_members(value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add_word(values.size());
    for (const T& value : values) add(value);
  }
  // Global memory may be large: four words at a time, each in a chain of its own.
  void add(const std::vector<std::uint8_t>& bytes) {
    add_word(bytes.size());
    std::array<std::uint64_t, 4> chains = {0, 1, 2, 3};
    std::size_t at = 0;
    for (; bytes.size() - at >= sizeof chains; at += sizeof chains) {
      std::array<std::uint64_t, 4> words;
      std::memcpy(words.data(), &bytes[at], sizeof words);
      for (std::size_t i = 0; i < chains.size(); ++i) chains[i] = mixed(chains[i], words[i]);
    }
    for (const std::uint64_t chain : chains) add_word(chain);
    for (; at < bytes.size(); ++at) add_word(bytes[at]);
  }
  void add(const Address& address) {
    add_all(address.base, address.stride_bytes, address.cta, address.table != nullptr);
    if (address.table) add(*address.table);
  }
  // Made while a program runs: part of no program.
  void add(const LaneAccess&) {}
  void add(const LaneAtomic&) {}
  void add(const LaneMatrices&) {}
  void add(const KernelText&) {}
  void add(const CpAsync&) {}
  void add(const CpAsyncCommit&) {}
  void add(const CpAsyncWait&) {}
  void add(const CpAsyncTrack&) {}
  void add(const StoreAsync&) {}
  void add(const ReduceAsync&) {}
  void add(const StoreZeros&) {}
  void add(LaneBytes* const&) {}
  void add(const Instruction& what) {
    add_word(what.index());
    std::visit([&](const auto& i) { add(i); }, what);
  }
  void add(const Statement& s) { add_all(s.what, s.guard); }
  void add(const Segment& s) { add_all(s.first_warp, s.warps, s.cta, s.statements); }
  void add(const Allocation& a) { add_all(a.address, a.bytes); }

  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t mixed(std::uint64_t value, std::uint64_t word) {
    value = (value ^ word) * 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
  }
  void add_word(std::uint64_t word) { value_ = mixed(value_, word); }
  void add_all(const auto&... values) { (add(values), ...); }

  template <class T>
  void add_members(const T& value) {
    constexpr std::size_t count = member_count<T>();
    if constexpr (count == 0) {
      static_assert(std::is_empty_v<T>);
    } else if constexpr (count <= 5) {
      add_few<count>(value);
    } else {
      add_many<count>(value);
    }
  }
  template <std::size_t Count, class T>
  void add_few(const T& value) {
    if constexpr (Count == 1) {
      const auto& [a] = value;
      add_all(a);
    } else if constexpr (Count == 2) {
      const auto& [a, b] = value;
      add_all(a, b);
    } else if constexpr (Count == 3) {
      const auto& [a, b, c] = value;
      add_all(a, b, c);
    } else if constexpr (Count == 4) {
      const auto& [a, b, c, d] = value;
      add_all(a, b, c, d);
    } else if constexpr (Count == 5) {
      const auto& [a, b, c, d, e] = value;
      add_all(a, b, c, d, e);
    } else {
      static_assert(Count == 0, "a struct of so many members needs a line here");
    }
  }
  template <std::size_t Count, class T>
  void add_many(const T& value) {
    if constexpr (Count == 6) {
      const auto& [a, b, c, d, e, f] = value;
      add_all(a, b, c, d, e, f);
    } else if constexpr (Count == 7) {
      const auto& [a, b, c, d, e, f, g] = value;
      add_all(a, b, c, d, e, f, g);
    } else if constexpr (Count == 8) {
      const auto& [a, b, c, d, e, f, g, h] = value;
      add_all(a, b, c, d, e, f, g, h);
    } else if constexpr (Count == 9) {
      const auto& [a, b, c, d, e, f, g, h, i] = value;
      add_all(a, b, c, d, e, f, g, h, i);
    } else if constexpr (Count == 10) {
      const auto& [a, b, c, d, e, f, g, h, i, j] = value;
      add_all(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (Count == 11) {
      const auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
      add_all(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (Count == 17) {
      const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = value;
      add_all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    } else {
      static_assert(Count == 0, "a struct of so many members needs a line here");
    }
  }

  std::uint64_t value_ = 0x243f6a8885a308d3u;
};

}  // namespace

std::uint64_t fingerprint(const Program& program) {
  Fingerprint all;
  all.add(program.launch());
  all.add(program.segments());
  all.add(program.allocations());
  all.add(program.maps());
  all.add(program.initial_global());
  for (const LaunchAnswer& answer : program.pending())
    for (const std::uint32_t word : answer) all.add(word);
  if (program.feeder() != nullptr) all.add(program.feeder()->fingerprint());
  return all.value();
}

}  // namespace tcq::machine
