// Scale factors: memory atom and Tensor Memory buffers are what CuTe's strings say, inverses
// invert, copies are equal, and the K blocks of every scale_vec start where the manual says.
#include "sim/isa/tmem/scale_layout.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/shape.h"
#include "tests/support/cute_string.h"

namespace tcq::tcgen05 {
namespace {

std::string str(int value) { return std::to_string(value); }

// --- Memory ----------------------------------------------------------------------------------------

TEST(Scale_Memory, BytesAreABijection) {
  for (const int mn : {128, 256, 384}) {
    for (const int factors : {1, 2, 4, 5, 8, 12, 16}) {
      const int padded = scale_group * scale_atoms_along_k(factors);
      std::vector<int> seen(static_cast<std::size_t>(scale_bytes(mn, factors)));
      ASSERT_EQ(seen.size(), static_cast<std::size_t>(mn * padded));
      for (int i = 0; i < mn; ++i) {
        for (int s = 0; s < padded; ++s) {
          const int byte = scale_byte({i, s}, factors);
          ASSERT_EQ(++seen.at(static_cast<std::size_t>(byte)), 1);
          ASSERT_EQ(scale_factor(byte, factors), (ScaleFactor{i, s}));
        }
      }
    }
  }
}

// Rows of 8 x 4 as a tensor [M / 8][K / 4][8][4] has them.
TEST(Scale_Memory, SmallBlocksAreATensorOfFourDimensions) {
  for (const int factors : {1, 4, 5, 8, 12, 16}) {
    const int blocks = scale_atoms_along_k(factors);
    for (int mn = 0; mn < 40; ++mn)
      for (int s = 0; s < scale_group * blocks; ++s) {
        const int byte = s % 4 + 4 * (mn % 8 + 8 * (s / 4 + blocks * (mn / 8)));
        ASSERT_EQ(small_block_byte({mn, s}, factors), byte);
        ASSERT_EQ(small_block_factor(byte, factors), (ScaleFactor{mn, s}));
      }
  }
}

// The atom of CuTe has a mode for the elements of K that share a factor: stride 0.
TEST(Scale_Memory, TheAtomEqualsBothOfItsCuteLayouts) {
  for (const int vector_size : {16, 32}) {
    const cute::Layout sm100("((32,4),(" + str(vector_size) + ",4)):((16,4),(0,1))");
    const cute::Layout sm103("((8,4,4),(" + str(vector_size) + ",4)):((16,128,4),(0,1))");
    for (int mn = 0; mn < 128; ++mn) {
      for (int k = 0; k < 4 * vector_size; ++k) {
        const int byte = scale_byte({mn, k / vector_size}, 4);
        ASSERT_EQ(byte, sm100({mn, k}));
        ASSERT_EQ(byte, sm103({mn, k}));
      }
    }
  }
}

TEST(Scale_Memory, TiledAtomsEqualTheirCuteLayout) {
  const cute::Layout layout("(((32,4),2),((16,4),4)):(((16,4),2048),((0,1),512))");
  for (int mn = 0; mn < 256; ++mn)
    for (int k = 0; k < 256; ++k) ASSERT_EQ(scale_byte({mn, k / 16}, 16), layout({mn, k}));
}

TEST(Scale_Memory, WorkedExamples) {
  EXPECT_EQ(scale_byte({77, 5}, 8), 729);
  EXPECT_EQ(scale_byte({200, 5}, 8), 1673);
  EXPECT_EQ(scale_factor(729, 8), (ScaleFactor{77, 5}));
}

// --- Tensor Memory ---------------------------------------------------------------------------------

const std::vector<int> mn_values = {8, 16, 24, 32, 64, 96, 128, 192, 200, 256};

TEST(Scale_Tmem, PlacesAreDistinctAndEveryCopyInverts) {
  for (const bool split : {false, true}) {
    for (const int mn : mn_values) {
      for (const int gap : {0, 1, 4}) {
        ScaleBuffer buffer = scale_buffer(mn, split);
        buffer.column_step += gap;
        std::set<int> seen;
        for (int copy = 0; copy < scale_copies(buffer); ++copy) {
          for (int i = 0; i < mn; ++i) {
            for (int s = 0; s < 12; ++s) {
              const CellByte at = scale_place(buffer, {i, s}, copy);
              ASSERT_TRUE(at.tmem_lane >= 0 && at.tmem_lane < tmem_lanes);
              ASSERT_TRUE(at.tmem_column >= 0 && at.tmem_column < scale_columns(buffer, 12));
              ASSERT_TRUE(seen.insert((at.tmem_column * 128 + at.tmem_lane) * 4 + at.byte).second);
              ASSERT_TRUE(holds_scale(buffer, at));
              ASSERT_EQ(scale_factor(buffer, at), (ScaleFactor{i, s})) << mn << " " << split;
            }
          }
        }
        int held = 0;
        for (int column = 0; column < scale_columns(buffer, 12); ++column)
          for (int lane = 0; lane < tmem_lanes; ++lane)
            held += holds_scale(buffer, {lane, column, 0}) ? 4 : 0;
        ASSERT_EQ(seen.size(), static_cast<std::size_t>(held)) << mn << " " << split;
      }
    }
  }
}

TEST(Scale_Tmem, EqualsItsCuteLayout) {
  for (const int mn : {32, 64, 96, 128, 192, 256}) {
    for (const int nsf : {1, 2, 4}) {
      const cute::Layout layout("(((32," + str(mn / 32) + "),4),(16," + str(nsf) +
                                ")):(((1,512),32),(0,128))");
      const ScaleBuffer buffer = scale_buffer(mn);
      for (int copy = 0; copy < 4; ++copy) {
        for (int i = 0; i < mn; ++i) {
          for (int k = 0; k < 16 * nsf; ++k) {
            const CellByte at = scale_place(buffer, {i, k / 16}, copy);
            ASSERT_EQ(at.tmem_lane + 128 * at.byte + 512 * at.tmem_column,
                      layout({i + mn * copy, k}));
          }
        }
      }
    }
  }
}

TEST(Scale_Tmem, TheSplitBufferEqualsItsCuteLayout) {
  for (const int mn : {64, 128, 192, 256}) {
    const cute::Layout layout("(((32," + str(mn / 64) + "),2,2),(16,4)):(((1,512),64,32),(0,128))");
    const ScaleBuffer buffer = scale_buffer(mn, true);
    for (int copy = 0; copy < 2; ++copy) {
      for (int i = 0; i < mn; ++i) {
        for (int k = 0; k < 64; ++k) {
          const CellByte at = scale_place(buffer, {i, k / 16}, copy);
          ASSERT_EQ(at.tmem_lane + 128 * at.byte + 512 * at.tmem_column,
                    layout({i + mn * copy, k}));
        }
      }
    }
  }
}

TEST(Scale_Tmem, EveryGroupOf32LanesHoldsWhatItsPartOfDNeeds) {
  // Whole buffers: all rows or columns in all four groups. Split: the half of N that lies there.
  for (int group = 0; group < 4; ++group) {
    std::set<int> whole;
    std::set<int> split;
    for (int lane = 32 * group; lane < 32 * group + 32; ++lane) {
      for (int column = 0; column < 4; ++column) {
        whole.insert(scale_factor(scale_buffer(128), {lane, column, 0}).mn);
        if (column < 2) split.insert(scale_factor(scale_buffer(128, true), {lane, column, 0}).mn);
      }
    }
    EXPECT_EQ(whole.size(), 128u);
    EXPECT_EQ(split.size(), 64u);
    EXPECT_EQ(*split.begin(), group < 2 ? 0 : 64);
  }
}

TEST(Scale_Tmem, OperandsHaveTheirBuffers) {
  EXPECT_EQ(sfa_buffer(128, 1).mn, 128);
  EXPECT_EQ(sfa_buffer(256, 2).mn, 128);
  EXPECT_EQ(sfa_buffer(128, 2).mn, 64);
  EXPECT_EQ(sfa_buffer(128, 2).column_step, 2);
  EXPECT_FALSE(sfa_buffer(128, 2).split);
  EXPECT_EQ(sfb_buffer(128, 200, 1).mn, 200);
  EXPECT_FALSE(sfb_buffer(128, 200, 1).split);
  EXPECT_FALSE(sfb_buffer(256, 256, 2).split);
  EXPECT_TRUE(sfb_buffer(128, 256, 2).split);
  EXPECT_TRUE(is_disputed_sfa(128, 2));
  EXPECT_FALSE(is_disputed_sfa(256, 2));
  EXPECT_FALSE(is_disputed_sfa(128, 1));
}

TEST(Scale_Tmem, OnlySplitBuffersOfOddHalvesAreInferred) {
  for (int n = 16; n <= 256; n += 16) {
    EXPECT_EQ(is_inferred(sfb_buffer(128, n, 2)), n % 64 != 0) << n;
    EXPECT_FALSE(is_inferred(sfb_buffer(128, n, 1)));
    EXPECT_FALSE(is_inferred(sfb_buffer(256, n, 2)));
  }
}

TEST(Scale_Tmem, WorkedExamples) {
  const ScaleBuffer buffer = scale_buffer(128);
  for (int copy = 0; copy < 4; ++copy)
    EXPECT_EQ(scale_place(buffer, {77, 5}, copy), (CellByte{13 + 32 * copy, 6, 1}));
  EXPECT_EQ(scale_columns(buffer, 8), 8);
  EXPECT_EQ(scale_columns(scale_buffer(256), 4), 8);
  EXPECT_EQ(scale_columns(scale_buffer(256, true), 4), 4);
  EXPECT_EQ(scale_place(scale_buffer(256, true), {200, 1}, 1), (CellByte{104, 2, 1}));
}

// --- Moving a buffer -------------------------------------------------------------------------------

// An atom through a descriptor without swizzle and SBO = 128 arrives where the factors belong.
TEST(Scale_Copy, WarpX4MovesTheAtomUnchanged) {
  const CpOperand source = {0, {Major::K, 16, 16, 128}, {0, 4, 3}};
  for (int mn = 0; mn < 128; ++mn) {
    for (int s = 0; s < 4; ++s) {
      for (int copy = 0; copy < 4; ++copy) {
        const CellByte at = scale_place(scale_buffer(128), {mn, s}, copy);
        const CpByte from = cp_source(CpShape::S32x128b, at);
        ASSERT_EQ(cp_address(source, from), static_cast<std::uint32_t>(scale_byte({mn, s}, 4)));
      }
    }
  }
}

TEST(Scale_Copy, WarpX2MovesTwoAtomsIntoTheSplitBuffer) {
  const CpOperand source = {0, {Major::K, 16, 16, 128}, {0, 4, 3}};
  for (int n = 0; n < 256; ++n) {
    for (int s = 0; s < 4; ++s) {
      for (int copy = 0; copy < 2; ++copy) {
        const CellByte at = scale_place(scale_buffer(256, true), {n, s}, copy);
        const CpByte from = cp_source(CpShape::S64x128b_01_23, at);
        ASSERT_EQ(cp_address(source, from), static_cast<std::uint32_t>(scale_byte({n, s}, 4)));
      }
    }
  }
}

// --- One instruction -------------------------------------------------------------------------------

TEST(Scale_Start, EveryScaleVecStartsWhereTheManualSays) {
  const ScaleBuffer buffer = scale_buffer(128);
  for (int block = 0; block < 8; ++block) {
    EXPECT_EQ(scale_start(buffer, block), (ScaleStart{4 * (block / 4), block % 4}));
    EXPECT_EQ(scale_start(buffer, 2 * block), (ScaleStart{4 * (block / 2), 2 * (block % 2)}));
    EXPECT_EQ(scale_start(buffer, 4 * block), (ScaleStart{4 * block, 0}));
  }
  const std::vector<ScaleStart> block32 = {{0, 0}, {0, 3}, {4, 2}, {8, 1}};
  const std::vector<ScaleStart> block16 = {{0, 0}, {4, 2}, {12, 0}, {16, 2}};
  for (int block = 0; block < 4; ++block) {
    const auto i = static_cast<std::size_t>(block);
    EXPECT_EQ(scale_start(buffer, 3 * block), block32[i]);
    EXPECT_EQ(scale_start(buffer, 6 * block), block16[i]);
  }
}

TEST(Scale_Start, EveryBlockHasALegalId) {
  for (const int factors : {1, 2, 3, 4, 6})
    for (int block = 0; block < 16; ++block)
      EXPECT_TRUE(scale_id_exists(factors, scale_start(scale_buffer(128), factors * block).id))
          << factors << " " << block;
}

TEST(Scale_Start, IdsAreThoseOfTheManual) {
  const std::vector<std::pair<int, std::set<int>>> legal = {
      {1, {0, 1, 2, 3}}, {2, {0, 2}}, {3, {0, 1, 2, 3}}, {4, {0}}, {6, {0, 2}}};
  for (const auto& [factors, ids] : legal)
    for (int id = -1; id <= 4; ++id) EXPECT_EQ(scale_id_exists(factors, id), ids.contains(id));
}

TEST(Scale_Start, OnlyK96ReadsBeyondFourFactors) {
  for (const int factors : {1, 2, 4})
    for (int id = 0; id < 4; ++id)
      EXPECT_FALSE(scale_id_exists(factors, id) && scales_spill(factors, id)) << factors;
  EXPECT_TRUE(scales_spill(3, 2));
  EXPECT_FALSE(scales_spill(3, 1));
  EXPECT_TRUE(scales_spill(6, 0));
  EXPECT_EQ(scale_spill_step(64), 4);
  EXPECT_EQ(scale_spill_step(128), 4);
  EXPECT_EQ(scale_spill_step(136), 8);
}

}  // namespace
}  // namespace tcq::tcgen05
