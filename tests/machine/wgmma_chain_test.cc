// Chains of wgmmas against the same instructions one after the other, and D between registers and a matrix against where
// sim/isa/wgmma/fragment.h says that elements lie.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/machine/wgmma.h"

namespace tcq::wgmma {
namespace {

constexpr int links = 3;
constexpr std::uint32_t memory_bytes = 96 * 1024;

State random_state(const Form& f, std::mt19937& random) {
  State state;
  state.shared = SharedMemory(shared_base_sm90, memory_bytes);
  // Halves below 2 for the most part; a NaN or an infinity is rare.
  for (std::uint32_t at = 0; at < memory_bytes; at += 2) {
    const auto word = static_cast<std::uint16_t>(random() % 4096 == 0 ? 0x7f80 : random() % 0x3f00);
    state.shared.store(shared_base_sm90 + at, word);
  }
  state.registers.d.resize(
      static_cast<std::size_t>(threads_per_warpgroup * accumulator_registers(f.d, f.n)));
  for (std::uint32_t& word : state.registers.d)
    word =
        static_cast<std::uint32_t>(bits(f.d) == 32 ? random() % 0x42000000 : random() & 0x3fff3fff);
  // Near both limits: each instruction clamps for itself.
  for (std::uint32_t& word : state.registers.d)
    if (f.satfinite) word = 0x80000000 - 5000 + static_cast<std::uint32_t>(random()) % 10000;
  return state;
}

std::vector<Instruction> random_chain(const Form& f, bool accumulate, std::mt19937& random) {
  std::vector<Instruction> chain;
  for (int i = 0; i < links; ++i) {
    const auto start = [&] {
      return shared_base_sm90 + 16 * static_cast<std::uint32_t>(random() % 1024);
    };
    Instruction in{f};
    in.desc_a = encode(
        {.start_bytes = start(), .lbo_bytes = 4096, .sbo_bytes = 1024, .swizzle = Swizzle::B128});
    in.desc_b = encode(
        {.start_bytes = start(), .lbo_bytes = 4096, .sbo_bytes = 1024, .swizzle = Swizzle::B128});
    in.accumulate = i > 0 || accumulate;
    chain.push_back(in);
  }
  return chain;
}

Outputs matrix_of(const Form& f, const std::vector<std::uint32_t>& registers) {
  Outputs d;
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < f.n; ++col) {
      const Slot s = accumulator_slot(f.d, {row, col});
      const int count = accumulator_registers(f.d, f.n);
      d.push_back(register_part(f.d, registers[static_cast<std::size_t>(s.thread * count + s.reg)],
                                s.part));
    }
  return d;
}

const Form forms[] = {
    {Type::f32, Type::f16, Type::f16, 8},
    {Type::f32, Type::bf16, Type::bf16, 256},
    {Type::f16, Type::f16, Type::f16, 40},
    {Type::f32, Type::tf32, Type::tf32, 24},
    {Type::f32, Type::e4m3, Type::e5m2, 72},
    {Type::s32, Type::s8, Type::u8, 32},
    {.d = Type::s32, .a = Type::s8, .b = Type::s8, .n = 16, .satfinite = true},
    {Type::f32, Type::bf16, Type::bf16, 64, false, Place::Smem, Major::MN, Major::MN, true},
};

TEST(Wgmma_Chain, IsItsInstructionsOneAfterTheOther) {
  std::mt19937 random(3);
  for (const Form& f : forms) {
    for (const bool accumulate : {false, true}) {
      State state = random_state(f, random);
      const std::vector<Instruction> chain = random_chain(f, accumulate, random);
      Outputs d = matrix_of(f, state.registers.d);
      ASSERT_EQ(execute_chain(state.shared, state.registers, chain, d), Fault::None);
      for (const Instruction& in : chain) {
        ASSERT_TRUE(continues(chain.front(), in) || !in.accumulate);
        ASSERT_EQ(execute(state, in), Fault::None);
      }
      EXPECT_EQ(d, matrix_of(f, state.registers.d)) << name(f.a) << ' ' << f.n << accumulate;
    }
  }
}

TEST(Wgmma_Chain, WhatDoesNotContinueIt) {
  const Instruction first{{Type::f32, Type::f16, Type::f16, 64}};
  EXPECT_TRUE(continues(first, first));
  const auto differs = [&](auto change) {
    Instruction next = first;
    change(next);
    return !continues(first, next);
  };
  EXPECT_TRUE(differs([](Instruction& i) { i.accumulate = false; }));
  EXPECT_TRUE(differs([](Instruction& i) { i.form.n = 128; }));
  EXPECT_TRUE(differs([](Instruction& i) { i.form.negate_a = true; }));
  const auto breaks = [](auto change) {
    Instruction one{{Type::f32, Type::f16, Type::f16, 64}};
    change(one.form);
    return !continues(one, one);
  };
  EXPECT_TRUE(breaks([](Form& f) { f.sparse = true; }));
  EXPECT_TRUE(breaks([](Form& f) { f.a_place = Place::Registers; }));
  EXPECT_TRUE(breaks([](Form& f) { f = {Type::s32, Type::b1, Type::b1, 64}; }));
}

TEST(Wgmma_Chain, ALinkOutsideOfSharedMemoryLeavesDAlone) {
  std::mt19937 random(5);
  const State state = random_state(forms[0], random);
  std::vector<Instruction> chain = random_chain(forms[0], false, random);
  chain.back().desc_b = encode({.start_bytes = shared_base_sm90 + memory_bytes - 16,
                                .sbo_bytes = 1024,
                                .swizzle = Swizzle::B128});
  Outputs d = matrix_of(forms[0], state.registers.d);
  const Outputs before = d;
  EXPECT_EQ(execute_chain(state.shared, state.registers, chain, d), Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(d, before);
}

TEST(Wgmma_Chain, AccumulatorsLieWhereFragmentsSay) {
  std::mt19937 random(7);
  for (const Form& f : forms) {
    const int count = accumulator_registers(f.d, f.n);
    std::vector<std::array<std::uint32_t, 32>> words(static_cast<std::size_t>(4 * count));
    const auto words_of = [&](int warp, int reg) -> auto& {
      return words[static_cast<std::size_t>(warp * count + reg)];
    };
    std::vector<std::uint32_t> by_thread(static_cast<std::size_t>(128 * count));
    for (int thread = 0; thread < 128; ++thread)
      for (int reg = 0; reg < count; ++reg)
        by_thread[static_cast<std::size_t>(thread * count + reg)] =
            words_of(thread / 32, reg)[static_cast<std::size_t>(thread % 32)] =
                static_cast<std::uint32_t>(random());
    Outputs d;
    load_accumulators(f, words_of, d);
    EXPECT_EQ(d, matrix_of(f, by_thread)) << name(f.d) << f.n;
    const auto before = words;
    for (auto& lanes : words) lanes.fill(0);
    store_accumulators(f, d, words_of);
    EXPECT_EQ(words, before) << name(f.d) << f.n;
  }
}

}  // namespace
}  // namespace tcq::wgmma
