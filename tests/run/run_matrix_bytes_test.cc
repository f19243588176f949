// ldmatrix and stmatrix of bytes (sm_100): which byte a thread gets or stores, where 4 and 6 bits lie in their byte, and what is
// found where an order is missing. What is expected is written out by thread g = lane / 4, q = lane % 4, beside sim/isa/base/matrix_bytes.h.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// 64 rows of 16 bytes from global memory to `x`, each thread two of them; then `move`, whose registers %r20.. are stored: four
// words a thread. `written`: how many bytes of a row are written at all.
struct Moved {
  Fault fault = Fault::None;
  bool is_disputed = false;
  std::vector<std::uint32_t> words;
};

Moved run_move(const std::string& move, const std::vector<std::uint8_t>& bytes,
               const std::string& sync = "bar.sync 0;\n", const char* store = "v4.u32") {
  const std::string vector = std::string(store) == "v2.u32" ? "{%r4, %r5}" : "{%r4, %r5, %r6, %r7}";
  PtxRun run(kernel(R"(
    .shared .align 16 .b8 x[1024];
    mov.u32 %r2, x;
    shl.b32 %r3, %r1, 4;
    add.u32 %r8, %r2, %r3;
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd1, %rd4;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd5];
    st.shared.)" + std::string(store) +
                    " [%r8], " + vector + R"(;
    mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;
)" + sync + move + R"(
    st.global.v4.u32 [%rd5+1024], {%r20, %r21, %r22, %r23};)"));
  std::vector<std::uint8_t> global = bytes;
  global.resize(2048);
  const Pointer data = run.array(global);
  run.pass(data);
  Moved moved;
  moved.fault = run.go({});
  for (const machine::Finding& suspicion : run.report().suspicions)
    moved.is_disputed |= suspicion.fault == Fault::LaneOrderAssumed;
  moved.words = run.read<std::uint32_t>(data + 1024, 128);
  return moved;
}

std::vector<std::uint8_t> numbered() {
  std::vector<std::uint8_t> bytes(512);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return bytes;
}

std::uint32_t byte_of(const Moved& moved, int lane, int reg, int part) {
  return moved.words[static_cast<std::size_t>(4 * lane + reg)] >> 8 * part & 0xff;
}

TEST(RunMatrixBytes, TwoTransposedMatricesOfSixteenRows) {
  const auto bytes = numbered();
  const Moved moved = run_move(
      "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r20, %r21, %r22, %r23}, [%r8];\n", bytes);
  ASSERT_EQ(moved.fault, Fault::None);
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < 4; ++reg)
      for (int part = 0; part < 4; ++part) {
        const int row = 16 * (reg / 2) + 4 * (lane % 4) + part;
        const int col = lane / 4 + 8 * (reg % 2);
        EXPECT_EQ(byte_of(moved, lane, reg, part), bytes[static_cast<std::size_t>(16 * row + col)]);
      }
  EXPECT_EQ(
      run_move("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r20, %r21}, [%r8];\n", bytes)
          .words[4 * 13 + 1],
      moved.words[4 * 13 + 1]);
}

// The rows' padding was never written, and nobody reads it.
TEST(RunMatrixBytes, FourBitsBecomeBytes) {
  const auto bytes = numbered();
  const Moved moved = run_move(
      "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r20, %r21, %r22, %r23}, [%r8];\n",
      bytes, "bar.sync 0;\n", "v2.u32");
  ASSERT_EQ(moved.fault, Fault::None);
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < 4; ++reg)
      for (int part = 0; part < 4; ++part) {
        const int row = 8 * reg + lane / 4;
        const int col = 4 * (lane % 4) + part;
        const std::uint32_t byte = bytes[static_cast<std::size_t>(16 * row + col / 2)];
        EXPECT_EQ(byte_of(moved, lane, reg, part), col % 2 == 0 ? byte & 15 : byte >> 4);
      }
}

TEST(RunMatrixBytes, SixBitsBecomeBytes) {
  const auto bytes = numbered();
  const Moved moved = run_move(
      "ldmatrix.sync.aligned.m16n16.x1.trans.shared::cta.b8x16.b6x16_p32 {%r20, %r21}, [%r8];\n",
      bytes);
  ASSERT_EQ(moved.fault, Fault::None);
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < 2; ++reg)
      for (int part = 0; part < 4; ++part) {
        const int row = 4 * (lane % 4) + part;
        const int col = lane / 4 + 8 * reg;
        std::uint32_t want = 0;
        for (int bit = 0; bit < 6; ++bit) {
          const int at = 6 * col + bit;
          want |= (bytes[static_cast<std::size_t>(16 * row + at / 8)] >> at % 8 & 1u) << bit;
        }
        EXPECT_EQ(byte_of(moved, lane, reg, part), want);
      }
}

TEST(RunMatrixBytes, StoresPutTwoColumnsOfTwoRows) {
  const Moved moved = run_move(R"(
    mul.lo.u32 %r10, %r1, 0x04040404;
    add.u32 %r10, %r10, 0x03020100;
    xor.b32 %r11, %r10, 0x80808080;
    stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r8], {%r10, %r11};
    bar.sync 0;
    ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r8];
)",
                               numbered());
  ASSERT_EQ(moved.fault, Fault::None);
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < 2; ++reg)
      for (int part = 0; part < 4; ++part) {
        const int row = 8 * reg + 2 * (lane % 4) + part % 2;
        const int col = lane / 4 + 8 * (part / 2);
        const auto value = static_cast<std::uint32_t>((4 * lane + part) ^ (reg == 0 ? 0 : 0x80));
        EXPECT_EQ(byte_of(moved, row, col / 4, col % 4), value);
      }
  const auto bytes = numbered();
  EXPECT_EQ(byte_of(moved, 20, 1, 2), bytes[16 * 20 + 6]);  // a row that no matrix has
}

TEST(RunMatrixBytes, OrderFormsAndPlacesAreChecked) {
  const auto bytes = numbered();
  const std::string load = "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r20, %r21}, [%r8];\n";
  EXPECT_EQ(run_move("add.u32 %r8, %r8, 8;\n" + load, bytes).fault, Fault::MatrixRowUnaligned);
  EXPECT_EQ(run_move("add.u32 %r8, %r8, 1024;\n" + load, bytes).fault,
            Fault::SharedMemoryOutOfRange);
  // The lanes of one instruction meet, and memory may stay unordered.
  EXPECT_TRUE(run_move("xor.b32 %r8, %r8, 16;\n" + load, bytes, "").is_disputed);
  EXPECT_FALSE(run_move("xor.b32 %r8, %r8, 16;\n" + load, bytes).is_disputed);
  const std::string store = "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r8], {%r10};\n";
  EXPECT_EQ(run_move(store + "ld.shared.u32 %r20, [%r8];\n", bytes).fault, Fault::LaneRace);
  EXPECT_EQ(run_move("ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r20, %r21, %r22, %r23}, "
                     "[%r8];\n",
                     bytes)
                .fault,
            Fault::UnmodelledInstruction);
  EXPECT_EQ(run_move("ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r20}, [%r8];\n", bytes).fault,
            Fault::UnmodelledInstruction);
}

}  // namespace
}  // namespace tcq::tests
