// Cells as values of C++ types, and the loops over lanes.
//
// lanewise() computes all 32 lanes, which compilers turn into vectors, and writes those that execute: a function
// given to it must be total, since it sees what inactive lanes hold. each_lane() is for functions that cost more
// than idle lanes are worth. Example: lanewise<plus, int, int, int> is add.s32.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sim/alu/alu.h"

namespace tcq::alu {

inline constexpr int warp_size = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffff;

template <class T>
using Cell = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr T from_cell(Cell<T> cell) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(cell);
  else
    return static_cast<T>(cell);
}

template <class T>
constexpr Cell<T> to_cell(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<Cell<T>>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

template <class T>
const Cell<T>* cells(const void* p) {
  return static_cast<const Cell<T>*>(p);
}
template <class T>
Cell<T>* cells(void* p) {
  return static_cast<Cell<T>*>(p);
}
template <class T>
T value_at(const void* p, int lane) {
  return from_cell<T>(cells<T>(p)[lane]);
}

constexpr bool has_lane(std::uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }
inline std::uint32_t mask_at(const void* p) { return *static_cast<const std::uint32_t*>(p); }

// The results of lanes that execute, where some do not: compiled once, not for each of thousands of forms.
void write_some(std::uint32_t* out, const std::uint32_t* result, std::uint32_t lanes);
void write_some(std::uint64_t* out, const std::uint64_t* result, std::uint32_t lanes);

template <class C>
void write(void* out, const C* result, std::uint32_t lanes) {
  C* const to = static_cast<C*>(out);
  if (lanes == all_lanes)
    std::memcpy(to, result, warp_size * sizeof(C));
  else
    write_some(to, result, lanes);
}

inline void write_mask(void* out, std::uint32_t result, std::uint32_t lanes) {
  std::uint32_t& to = *static_cast<std::uint32_t*>(out);
  to = (to & ~lanes) | (result & lanes);
}

template <class F>
void each_lane(std::uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

namespace detail {

template <auto f, class D, class... S, std::size_t... i>
void lanewise(const Arguments& a, std::index_sequence<i...>) {
  Cell<D> result[warp_size];
  [&result](const Cell<S>*... in) {
    for (int lane = 0; lane < warp_size; ++lane)
      result[lane] = to_cell<D>(static_cast<D>(f(from_cell<S>(in[lane])...)));
  }(cells<S>(a.in[i])...);
  write(a.out[0], result, a.lanes);
}

template <auto f, class... S, std::size_t... i>
std::uint32_t lanes_where(const Arguments& a, std::index_sequence<i...>) {
  return [](const Cell<S>*... in) {
    std::uint32_t mask = 0;
    for (int lane = 0; lane < warp_size; ++lane)
      mask |= static_cast<std::uint32_t>(f(from_cell<S>(in[lane])...)) << lane;
    return mask;
  }(cells<S>(a.in[i])...);
}

}  // namespace detail

// out[0] = f(in[0], in[1], ...): of type D from types S.
template <auto f, class D, class... S>
void lanewise(const Arguments& a) {
  detail::lanewise<f, D, S...>(a, std::index_sequence_for<S...>{});
}

// The lanes for which f(in[0], in[1], ...) holds.
template <auto f, class... S>
std::uint32_t lanes_where(const Arguments& a) {
  return detail::lanes_where<f, S...>(a, std::index_sequence_for<S...>{});
}

// make(T{}) for the C++ type of an integer type of PTX; null for others. A b type counts as unsigned.
template <class Make>
Evaluate for_integer(ptx::Type type, Make make) {
  switch (type) {
    case ptx::Type::U16:
    case ptx::Type::B16: return make(std::uint16_t{});
    case ptx::Type::S16: return make(std::int16_t{});
    case ptx::Type::U32:
    case ptx::Type::B32: return make(std::uint32_t{});
    case ptx::Type::S32: return make(std::int32_t{});
    case ptx::Type::U64:
    case ptx::Type::B64: return make(std::uint64_t{});
    case ptx::Type::S64: return make(std::int64_t{});
    default: return nullptr;
  }
}

// The same for the type of its width.
template <class Make>
Evaluate for_width(ptx::Type type, Make make) {
  switch (ptx::bits(type)) {
    case 8:
    case 16: return make(std::uint16_t{});
    case 32: return make(std::uint32_t{});
    case 64: return make(std::uint64_t{});
    default: return nullptr;
  }
}

template <class To, class Make>
Evaluate if_bits_below_64(Make make) {
  if constexpr (sizeof(To) < 8)
    return make(To{});
  else
    return nullptr;
}

// Sums and products wrap: they are computed without sign, 16 bits in 32.
template <class T>
using Wrap = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

__extension__ typedef __int128 S128;
__extension__ typedef unsigned __int128 U128;

}  // namespace tcq::alu
