// A warp's cells for one instruction: what tests of sim/alu fill, run and read.
//
// Example: run<std::uint32_t>("add.u32", {{1}, {2}}) gives 32 lanes of 3.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "sim/alu/alu.h"

namespace tcq::alu {

// 128 bits for each lane: enough for a cell of any width.
struct Register {
  alignas(16) std::array<std::uint32_t, 128> words = {};

  template <class T>
  static Register of(const std::vector<T>& values) {  // again and again
    Register made;
    for (std::size_t lane = 0; lane < 32; ++lane) made.set(lane, values[lane % values.size()]);
    return made;
  }
  static Register mask(std::uint32_t mask) {
    Register made;
    made.words[0] = mask;
    return made;
  }
  template <class T>
  void set(std::size_t lane, T value) {
    if constexpr (sizeof(T) == 8)
      reinterpret_cast<T*>(words.data())[lane] = value;
    else
      words[lane] = static_cast<std::uint32_t>(value);
  }
  template <class T>
  T get(std::size_t lane) const {
    if constexpr (sizeof(T) == 8) return reinterpret_cast<const T*>(words.data())[lane];
    return static_cast<T>(words[lane]);
  }
};

struct Outcome {
  Register first, second;
  std::uint32_t carry = 0;
};

inline Outcome run(std::string_view text, const std::vector<Register>& in,
                   std::uint32_t lanes = 0xffffffff, Outcome before = {}, int outs = 2) {
  const Operation operation = alu::operation(ptx::read_form(text));
  EXPECT_NE(operation.evaluate, nullptr) << text;
  if (operation.evaluate == nullptr) return before;
  std::vector<const void*> sources;
  for (const Register& source : in) sources.push_back(source.words.data());
  void* const targets[] = {before.first.words.data(), before.second.words.data()};
  operation.evaluate(
      {targets, sources.data(), lanes, &before.carry, outs, static_cast<int>(in.size())});
  return before;
}

// Words that carries, signs and shifts depend on, and others.
template <class T>
T draw(std::mt19937_64& random) {
  constexpr int width = 8 * sizeof(T);
  const std::uint64_t word = random();
  switch (random() % 8) {
    case 0: return static_cast<T>(word % 4);
    case 1: return static_cast<T>(~(word % 4));
    case 2: return static_cast<T>((std::uint64_t{1} << (width - 1)) + word % 3 - 1);
    case 3: return static_cast<T>(word % (width + 3));
    case 4: return static_cast<T>(std::uint64_t{1} << word % width);
    default: return static_cast<T>(word);
  }
}

template <class T>
Register draw_register(std::mt19937_64& random) {
  Register made;
  for (std::size_t lane = 0; lane < 32; ++lane) made.set(lane, draw<T>(random));
  return made;
}

}  // namespace tcq::alu
