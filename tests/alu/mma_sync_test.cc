// Matrices of a warp against plain loops over the fragments that PTX numbers.
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/num/narrow.h"
#include "tests/alu/alu_kit.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;
constexpr Bits all = 0xffffffff;

Bits bits_of(float x) { return std::bit_cast<Bits>(x); }
float float_of(Bits x) { return std::bit_cast<float>(x); }
Register filled(Bits x) { return Register::of<Bits>({x}); }

int row_of(int lane, int i) { return lane / 4 + (i % 4 < 2 ? 0 : 8); }

// The fragments of mma.m16n8k16 for 16 bits, as the text of PTX numbers them: a0 to a7, b0 to b3, c0 to c3.
TEST(Matrix, HalvesAreMultipliedWhereTheirFragmentsAre) {
  std::mt19937_64 random(10);
  int a[16][16];
  int b[16][8];
  for (auto& row : a)
    for (int& x : row) x = static_cast<int>(random() % 17) - 8;
  for (auto& row : b)
    for (int& x : row) x = static_cast<int>(random() % 17) - 8;
  std::vector<Register> in(10);
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    const auto half = [](int x) { return narrow(Type::f16, bits_of(static_cast<float>(x))); };
    for (int i = 0; i < 8; i += 2) {
      const int col = lane % 4 * 2 + (i >= 4 ? 8 : 0);
      const int* const row = a[row_of(lane, i)];
      in[static_cast<std::size_t>(i / 2)].set(at, half(row[col]) | half(row[col + 1]) << 16);
    }
    for (int i = 0; i < 4; i += 2) {
      const int depth = lane % 4 * 2 + (i >= 2 ? 8 : 0);
      in[static_cast<std::size_t>(4 + i / 2)].set(
          at, half(b[depth][lane / 4]) | half(b[depth + 1][lane / 4]) << 16);
    }
    for (int i = 0; i < 4; ++i)
      in[static_cast<std::size_t>(6 + i)].set(at, bits_of(static_cast<float>(100 * lane + i)));
  }
  std::vector<Register> out(4);
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (const Register& r : in) sources.push_back(r.words.data());
  for (Register& r : out) targets.push_back(r.words.data());
  const Operation mma =
      operation(ptx::read_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  ASSERT_NE(mma.evaluate, nullptr);
  EXPECT_FALSE(mma.approximate);
  mma.evaluate({targets.data(), sources.data(), all, nullptr, 4, 10});
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      int want = 100 * lane + i;
      for (int k = 0; k < 16; ++k) want += a[row_of(lane, i)][k] * b[k][lane % 4 * 2 + i % 2];
      ASSERT_EQ(
          float_of(out[static_cast<std::size_t>(i)].get<Bits>(static_cast<std::size_t>(lane))),
          static_cast<float>(want));
    }
}

// mma.m16n8k32: a byte of A in lane 4 * (row % 8) + (k % 16) / 4.
TEST(Matrix, BytesAreSummedExactlyAndClampedOnce) {
  const auto product = [](const std::string& text, Bits a, Bits b, Bits c) {
    std::vector<Register> in(10);
    for (std::size_t i = 0; i < 10; ++i) in[i] = filled(i < 4 ? a : i < 6 ? b : c);
    std::vector<const void*> sources;
    for (const Register& r : in) sources.push_back(r.words.data());
    std::vector<Register> out(4);
    std::vector<void*> targets;
    for (Register& r : out) targets.push_back(r.words.data());
    const Operation mma = operation(ptx::read_form(text));
    EXPECT_FALSE(mma.approximate);
    if (mma.evaluate != nullptr)
      mma.evaluate({targets.data(), sources.data(), all, nullptr, 4, 10});
    return out[3].get<Bits>(31);
  };
  const std::string row = "mma.sync.aligned.m16n8k32.row.col";
  EXPECT_EQ(product(row + ".s32.s8.u8.s32", 0xff010101, 0x02020202, 5), 5U + 8 * 2 * (3 - 1));
  EXPECT_EQ(product(row + ".s32.u8.u8.s32", 0xff010101, 0x02020202, 5), 5U + 8 * 2 * (3 + 255));
  EXPECT_EQ(product(row + ".satfinite.s32.s8.s8.s32", 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff),
            0x7fffffffU);
  EXPECT_EQ(product(row + ".s32.s8.s8.s32", 0x01010101, 0x01010101, 0x7fffffff), 0x8000001fU);
}

TEST(Matrix, TransposingMovesElementsAcrossTheDiagonal) {
  Register in;
  for (std::size_t lane = 0; lane < 32; ++lane) {  // element (row, col) is 8 * row + col
    const auto first = static_cast<Bits>(8 * (lane / 4) + 2 * (lane % 4));
    in.set(lane, first | (first + 1) << 16);
  }
  const Register out = run("movmatrix.sync.aligned.m8n8.trans.b16", {in}, all, {}, 1).first;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto row = static_cast<Bits>(lane / 4);
    const auto col = static_cast<Bits>(2 * (lane % 4));
    EXPECT_EQ(out.get<Bits>(lane), (8 * col + row) | (8 * (col + 1) + row) << 16) << lane;
  }
}

}  // namespace
}  // namespace tcq::alu
