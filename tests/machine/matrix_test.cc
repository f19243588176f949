// ldmatrix and stmatrix on the CPU: which element lands in which register, that one undoes the
// other, and that nothing else changes.
#include "sim/machine/matrix.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/num/inputs/draw.h"

namespace tcq::matrix {
namespace {

constexpr std::uint32_t base = shared_base_sm90;
constexpr std::uint32_t image_bytes = 1024;

// Row i of matrix j at slot 8j + i of the image.
Operand rows_in_order(int count, bool transposed) {
  Operand operand{count, transposed, {}};
  for (std::size_t lane = 0; lane < lanes; ++lane)
    operand.addresses[lane] = base + 16 * static_cast<std::uint32_t>(lane);
  return operand;
}

// Element [row][col] of a matrix is 256 * matrix + 16 * row + col.
State numbered_state() {
  State state{SharedMemory(base, image_bytes), {}};
  for (std::uint32_t j = 0; j < 4; ++j)
    for (std::uint32_t row = 0; row < 8; ++row)
      for (std::uint32_t col = 0; col < 8; ++col)
        state.shared.store(base + 128 * j + 16 * row + 2 * col,
                           static_cast<std::uint16_t>(256 * j + 16 * row + col));
  for (std::size_t lane = 0; lane < lanes; ++lane) state.registers[lane].fill(0xdeadbeef);
  return state;
}

State random_state(std::uint64_t seed) {
  State state{SharedMemory(base, image_bytes), {}};
  Draw draw(seed);
  for (std::uint32_t i = 0; i < image_bytes; i += 4) state.shared.store(base + i, draw.word());
  for (auto& lane : state.registers)
    for (std::uint32_t& word : lane) word = draw.word();
  return state;
}

TEST(LdMatrix, WorkedRegisters) {
  State state = numbered_state();
  ASSERT_EQ(execute(state, LoadMatrix{rows_in_order(4, false)}), Fault::None);
  EXPECT_EQ(state.registers[0][0], 0x00010000u);   // M0[0][0], M0[0][1]
  EXPECT_EQ(state.registers[13][0], 0x00330032u);  // M0[3][2], M0[3][3]
  EXPECT_EQ(state.registers[31][3], 0x03770376u);  // M3[7][6], M3[7][7]
  ASSERT_EQ(execute(state, LoadMatrix{rows_in_order(4, true)}), Fault::None);
  EXPECT_EQ(state.registers[0][0], 0x00100000u);   // M0[0][0], M0[1][0]
  EXPECT_EQ(state.registers[13][0], 0x00330023u);  // M0[2][3], M0[3][3]
  EXPECT_EQ(state.registers[31][3], 0x03770367u);  // M3[6][7], M3[7][7]
}

TEST(LdMatrix, LeavesOtherRegistersAndSharedMemoryAlone) {
  for (const int count : {1, 2, 4}) {
    const State before = numbered_state();
    State after = before;
    ASSERT_EQ(execute(after, LoadMatrix{rows_in_order(count, false)}), Fault::None);
    EXPECT_EQ(after.shared, before.shared);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      for (std::size_t reg = static_cast<std::size_t>(count); reg < max_count; ++reg)
        EXPECT_EQ(after.registers[lane][reg], 0xdeadbeefu);
  }
}

TEST(LdMatrix, LanesWithoutARowGiveAddressesThatNobodyReads) {
  Operand operand = rows_in_order(2, false);
  State expected = random_state(5);
  State state = expected;
  ASSERT_EQ(execute(expected, LoadMatrix{operand}), Fault::None);
  for (std::size_t lane = 16; lane < lanes; ++lane) operand.addresses[lane] = 0xffffffff;
  ASSERT_EQ(execute(state, LoadMatrix{operand}), Fault::None);
  EXPECT_EQ(state, expected);
}

TEST(StMatrix, UndoesLdMatrixForEveryForm) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const State before = random_state(static_cast<std::uint64_t>(count));
      State state = before;
      const Operand operand = rows_in_order(count, transposed);
      ASSERT_EQ(execute(state, LoadMatrix{operand}), Fault::None);
      state.shared = SharedMemory(base, image_bytes);
      ASSERT_EQ(execute(state, StoreMatrix{operand}), Fault::None);
      for (std::uint32_t i = 0; i < image_bytes; i += 4) {
        const std::uint32_t want = i < 128u * static_cast<std::uint32_t>(count)
                                       ? before.shared.load<std::uint32_t>(base + i)
                                       : 0;
        EXPECT_EQ(state.shared.load<std::uint32_t>(base + i), want) << i;
      }
    }
  }
}

TEST(StMatrix, TransposedIsTheTransposeOfPlain) {
  State plain = random_state(9);
  State transposed = plain;
  ASSERT_EQ(execute(plain, StoreMatrix{rows_in_order(4, false)}), Fault::None);
  ASSERT_EQ(execute(transposed, StoreMatrix{rows_in_order(4, true)}), Fault::None);
  for (std::uint32_t j = 0; j < 4; ++j)
    for (std::uint32_t row = 0; row < 8; ++row)
      for (std::uint32_t col = 0; col < 8; ++col)
        EXPECT_EQ(plain.shared.load<std::uint16_t>(base + 128 * j + 16 * row + 2 * col),
                  transposed.shared.load<std::uint16_t>(base + 128 * j + 16 * col + 2 * row));
}

TEST(Matrix, FaultsChangeNothing) {
  const State state = random_state(11);
  const auto expect_fault = [&state](const Operand& operand, Fault fault) {
    State after = state;
    EXPECT_EQ(execute(after, LoadMatrix{operand}), fault);
    EXPECT_EQ(execute(after, StoreMatrix{operand}), fault);
    EXPECT_EQ(after, state);
  };
  expect_fault(rows_in_order(3, false), Fault::MatrixCount);
  Operand operand = rows_in_order(4, false);
  operand.addresses[31] += 8;
  expect_fault(operand, Fault::MatrixRowUnaligned);
  operand.addresses[31] = base + image_bytes;
  expect_fault(operand, Fault::SharedMemoryOutOfRange);
  operand.addresses[31] = base - 16;
  expect_fault(operand, Fault::SharedMemoryOutOfRange);
}

}  // namespace
}  // namespace tcq::matrix
