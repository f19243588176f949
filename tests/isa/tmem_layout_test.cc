// Tensor Memory: D, A and sparse metadata are bijections onto their cells, inverses invert, CuTe's
// strings say the same, and the worked examples hold. What tcgen05.ld, st and cp do with the cells
// is tcgen05_fragment_test.cc, scale factors are scale_layout_test.cc.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/layout.h"
#include "sim/isa/tmem/operand.h"
#include "tests/support/cute_string.h"

namespace tcq::tcgen05 {
namespace {

using enum Datapath;

const std::vector<Datapath> all_datapaths = {A, B, C, D, E, F, G};
const std::vector<Kind> all_kinds = {Kind::f16,      Kind::tf32, Kind::f8f6f4,  Kind::i8,
                                     Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4};

std::vector<int> lane_bases(Datapath datapath) {
  return is_half_datapath(datapath) ? std::vector<int>{0, 16} : std::vector<int>{0};
}

std::vector<int> n_values(Datapath datapath) {
  std::vector<int> values;
  if (datapath == E || datapath == G) return {64, 128, 256};
  const int step = datapath == A || datapath == B || datapath == C ? 16 : 8;
  for (int n = step; n <= 256; n += step) values.push_back(n);
  return values;
}

std::string text_of(const Accumulator& d, Element e) {
  return std::string("layout ") + name(d.datapath) + " n " + std::to_string(d.n) + " base " +
         std::to_string(d.lane_base) + " D[" + std::to_string(e.row) + "][" +
         std::to_string(e.col) + "]";
}

std::string str(int value) { return std::to_string(value); }

// --- Which layout ----------------------------------------------------------------------------------

TEST(Tmem_Datapath, EveryShapeHasTheLayoutOfTheManual) {
  for (const bool sparse : {false, true}) {
    EXPECT_EQ(datapath(256, 2, false, sparse), A);
    EXPECT_EQ(datapath(128, 2, false, sparse), sparse ? C : B);
    EXPECT_EQ(datapath(128, 1, false, sparse), D);
    EXPECT_EQ(datapath(128, 1, true, sparse), D);
    EXPECT_EQ(datapath(64, 1, true, sparse), E);
    EXPECT_EQ(datapath(64, 1, false, sparse), F);
    EXPECT_EQ(datapath(32, 1, true, sparse), G);
  }
}

TEST(Tmem_Datapath, AnOpcodeHasTheLayoutOfItsQualifiers) {
  EXPECT_EQ(datapath(MmaOpcode{.kind = Kind::f16, .cta_group = 2}, 128), B);
  EXPECT_EQ(datapath(MmaOpcode{.kind = Kind::f16, .cta_group = 2, .sparse = true}, 128), C);
  EXPECT_EQ(datapath(MmaOpcode{.kind = Kind::i8, .ws = true}, 64), E);
  EXPECT_EQ(datapath(MmaOpcode{.kind = Kind::i8}, 64), F);
}

TEST(Tmem_Datapath, RowsOfTheCtasMakeM) {
  for (const auto& [m, cta_group, ws] : std::vector<std::tuple<int, int, bool>>{{256, 2, false},
                                                                                {128, 2, false},
                                                                                {128, 1, false},
                                                                                {128, 1, true},
                                                                                {64, 1, true},
                                                                                {64, 1, false},
                                                                                {32, 1, true}})
    EXPECT_EQ(rows(datapath(m, cta_group, ws, false)) * cta_group, m);
}

TEST(Tmem_Datapath, OnlyLayoutCIsDisputed) {
  for (const Datapath d : all_datapaths) EXPECT_EQ(is_disputed(d), d == C) << name(d);
}

TEST(Tmem_Datapath, HalfDatapathsMayStartAtLane16) {
  for (const Datapath d : all_datapaths) {
    EXPECT_TRUE(is_lane_base(d, 0));
    EXPECT_EQ(is_lane_base(d, 16), d == C || d == F) << name(d);
    EXPECT_FALSE(is_lane_base(d, 32));
  }
}

// --- D ---------------------------------------------------------------------------------------------

TEST(Tmem_D, LaneColumnIsABijectionForEveryMAndN) {
  for (const Datapath datapath : all_datapaths) {
    for (const int base : lane_bases(datapath)) {
      for (const int n : n_values(datapath)) {
        const Accumulator d = {datapath, n, base};
        std::vector<int> seen(static_cast<std::size_t>(tmem_lanes * columns(d)));
        for (int row = 0; row < rows(datapath); ++row) {
          for (int col = 0; col < n; ++col) {
            const Cell cell = d_cell(d, {row, col});
            ASSERT_TRUE(holds_d(d, cell)) << text_of(d, {row, col});
            ASSERT_LE(columns(d), tmem_columns);
            ASSERT_EQ(
                ++seen[static_cast<std::size_t>(cell.tmem_lane * columns(d) + cell.tmem_column)], 1)
                << text_of(d, {row, col});
            ASSERT_EQ(d_element(d, cell), (Element{row, col})) << text_of(d, {row, col});
          }
        }
        int held = 0;
        for (int lane = 0; lane < tmem_lanes; ++lane)
          for (int column = 0; column < columns(d); ++column)
            held += holds_d(d, {lane, column}) ? 1 : 0;
        ASSERT_EQ(held, rows(datapath) * n);
      }
    }
  }
}

TEST(Tmem_D, CellsOutsideHoldNothing) {
  for (const Datapath datapath : all_datapaths) {
    const Accumulator d = {datapath, 64};
    EXPECT_FALSE(holds_d(d, {-1, 0}));
    EXPECT_FALSE(holds_d(d, {tmem_lanes, 0}));
    EXPECT_FALSE(holds_d(d, {0, -1}));
    EXPECT_FALSE(holds_d(d, {0, columns(d)}));
    EXPECT_EQ(holds_d(d, {16, 0}), !is_half_datapath(datapath)) << name(datapath);
  }
}

TEST(Tmem_D, TwoInterleavedTilesShareNoCell) {
  for (const Datapath datapath : {C, F}) {
    for (int lane = 0; lane < tmem_lanes; ++lane)
      EXPECT_NE(holds_d({datapath, 32, 0}, {lane, 5}), holds_d({datapath, 32, 16}, {lane, 5}));
  }
}

// What the layouts are in CuTe's notation, lane + 128 * column. C is F's string by the manual.
std::string cute_text(Datapath datapath, int n) {
  switch (datapath) {
    case A:
    case D: return "(128," + str(n) + "):(1,128)";
    case B:
    case E: return "(64,(" + str(n / 2) + ",2)):(1,(128,64))";
    case C:
    case F: return "((16,4)," + str(n) + "):((1,32),128)";
    case G: break;
  }
  return "(32,(" + str(n / 4) + ",4)):(1,(128,32))";
}

TEST(Tmem_D, EqualsItsCuteLayoutForEveryMAndN) {
  for (const Datapath datapath : all_datapaths) {
    for (const int n : n_values(datapath)) {
      const cute::Layout layout(cute_text(datapath, n));
      ASSERT_EQ(layout.size(0), rows(datapath));
      ASSERT_EQ(layout.size(1), n);
      for (const int base : lane_bases(datapath)) {
        const Accumulator d = {datapath, n, base};
        for (int row = 0; row < rows(datapath); ++row) {
          for (int col = 0; col < n; ++col) {
            const Cell cell = d_cell(d, {row, col});
            ASSERT_EQ(cell.tmem_lane + 128 * cell.tmem_column, base + layout({row, col}))
                << text_of(d, {row, col});
          }
        }
      }
    }
  }
}

TEST(Tmem_D, WorkedExamples) {
  EXPECT_EQ(d_cell({F, 64}, {37, 10}), (Cell{69, 10}));
  EXPECT_EQ(d_cell({F, 64, 16}, {37, 10}), (Cell{85, 10}));
  EXPECT_EQ(d_cell({B, 128}, {37, 100}), (Cell{101, 36}));
  EXPECT_EQ(d_cell({G, 64}, {5, 40}), (Cell{69, 8}));
  EXPECT_EQ(d_cell({E, 64}, {5, 40}), (Cell{69, 8}));
  EXPECT_EQ(d_cell({A, 256}, {127, 255}), (Cell{127, 255}));
  EXPECT_EQ(d_element({B, 128}, {101, 36}), (Element{37, 100}));
}

// --- disable-output-lane ---------------------------------------------------------------------------

TEST(Tmem_DisableOutputLane, BitsAndLanesAreABijection) {
  for (const int cta_group : {1, 2}) {
    std::set<int> seen;
    for (int word = 0; word < disable_words(cta_group); ++word) {
      for (int bit = 0; bit < 32; ++bit) {
        const OutputLane lane = disabled_lane({word, bit});
        EXPECT_TRUE(lane.tmem_lane >= 0 && lane.tmem_lane < tmem_lanes);
        EXPECT_TRUE(cta_group == 2 || !lane.peer_cta);
        EXPECT_TRUE(seen.insert(lane.tmem_lane + (lane.peer_cta ? 128 : 0)).second);
        EXPECT_EQ(disable_bit(lane), (DisableBit{word, bit}));
      }
    }
    EXPECT_EQ(seen.size(), 128u * static_cast<std::size_t>(cta_group));
  }
  EXPECT_EQ(disabled_lane({2, 5}), (OutputLane{false, 69}));
  EXPECT_EQ(disabled_lane({5, 0}), (OutputLane{true, 32}));
}

// --- A ---------------------------------------------------------------------------------------------

TEST(Tmem_A, ContainersAreWhatTheKindSays) {
  EXPECT_EQ(tmem_container_bits(Kind::tf32), 32);
  EXPECT_EQ(tmem_container_bits(Kind::f16), 16);
  EXPECT_EQ(tmem_container_bits(Kind::f8f6f4), 8);
  EXPECT_EQ(tmem_container_bits(Kind::i8), 8);
  EXPECT_EQ(tmem_container_bits(Kind::mxf8f6f4), 8);
  EXPECT_EQ(tmem_container_bits(Kind::mxf4), 4);
  EXPECT_EQ(tmem_container_bits(Kind::mxf4nvf4), 4);
}

TEST(Tmem_A, NarrowElementsLieInTheMiddleOfTheirContainer) {
  for (const Kind kind : {Kind::f8f6f4, Kind::mxf8f6f4}) {
    EXPECT_EQ(tmem_payload_low_bit(kind, Type::e2m1), 2);
    EXPECT_EQ(tmem_payload_low_bit(kind, Type::e2m3), 1);
    EXPECT_EQ(tmem_payload_low_bit(kind, Type::e3m2), 1);
    EXPECT_EQ(tmem_payload_low_bit(kind, Type::e4m3), 0);
  }
  EXPECT_EQ(tmem_payload_low_bit(Kind::mxf4, Type::e2m1), 0);
  EXPECT_EQ(tmem_payload_low_bit(Kind::f16, Type::bf16), 0);
  EXPECT_EQ(tmem_payload_low_bit(Kind::tf32, Type::tf32), 0);
}

TEST(Tmem_A, WsWithFewRowsIsUnmodelled) {
  for (const Datapath datapath : all_datapaths) {
    const Fault fault = check(TmemA{datapath, Kind::f16});
    EXPECT_EQ(fault != Fault::None, datapath == E || datapath == G) << name(datapath);
    EXPECT_TRUE(fault == Fault::None || info(fault).kind == FaultKind::Unmodelled);
  }
}

TEST(Tmem_A, PlacesAreDistinctAndInvertForEveryCopy) {
  for (const Datapath datapath : {A, B, C, D, F}) {
    for (const Kind kind : all_kinds) {
      for (const int base : lane_bases(datapath)) {
        const TmemA a = {datapath, kind, base};
        const int width = tmem_container_bits(kind);
        const int k = 8 * 32 / width;
        ASSERT_EQ(a_columns(a, k), 8);
        std::set<int> seen;
        for (int copy = 0; copy < a_copies(a); ++copy) {
          for (int row = 0; row < rows(datapath); ++row) {
            for (int col = 0; col < k; ++col) {
              const CellBit at = a_place(a, {row, col}, copy);
              ASSERT_TRUE(at.tmem_lane >= 0 && at.tmem_lane < tmem_lanes);
              ASSERT_TRUE(at.tmem_column >= 0 && at.tmem_column < 8);
              ASSERT_TRUE(at.low_bit % width == 0 && at.low_bit < 32);
              ASSERT_TRUE(
                  seen.insert((at.tmem_lane * 8 + at.tmem_column) * 32 + at.low_bit).second);
              ASSERT_EQ(a_element(a, at), (Element{row, col}));
            }
          }
        }
        const int lanes = is_half_datapath(datapath) ? 64 : 128;
        ASSERT_EQ(seen.size(), static_cast<std::size_t>(lanes * k));
      }
    }
  }
}

TEST(Tmem_A, EqualsItsCuteLayout) {
  for (const Kind kind : all_kinds) {
    const int width = tmem_container_bits(kind);
    const int k = 256 / width;
    const cute::Layout full("(128," + str(k) + "):(1,128)");
    const cute::Layout half("((16,4)," + str(k) + "):((1,32),128)");
    for (const Datapath datapath : {A, B, C, D, F}) {
      const TmemA a = {datapath, kind};
      const cute::Layout& layout = is_half_datapath(datapath) ? half : full;
      for (int row = 0; row < layout.size(0); ++row) {
        for (int col = 0; col < k; ++col) {
          const CellBit at = a_place(a, {row % rows(datapath), col}, row / rows(datapath));
          const int unit = (32 * at.tmem_column + at.low_bit) / width;
          ASSERT_EQ(at.tmem_lane + 128 * unit, layout({row, col})) << name(datapath);
        }
      }
    }
  }
}

TEST(Tmem_A, AHalfDatapathFollowsTheLaneBaseOfD) {
  for (int row = 0; row < 64; ++row)
    EXPECT_EQ(a_place({F, Kind::f16, 16}, {row, 0}).tmem_lane,
              d_cell({F, 8, 16}, {row, 0}).tmem_lane);
}

TEST(Tmem_A, WorkedExamples) {
  EXPECT_EQ(a_place({D, Kind::f16}, {77, 5}), (CellBit{77, 2, 16}));
  EXPECT_EQ(a_place({F, Kind::tf32}, {37, 3}), (CellBit{69, 3, 0}));
  EXPECT_EQ(a_place({B, Kind::i8}, {37, 6}, 1), (CellBit{101, 1, 16}));
  EXPECT_EQ(a_place({D, Kind::mxf4}, {3, 9}), (CellBit{3, 1, 4}));
}

// --- Sparse metadata -------------------------------------------------------------------------------

TEST(Tmem_Metadata, CodesFillTheLanesOfEveryKindAndRowCount) {
  for (const Datapath datapath : {A, D, E, G}) {
    for (const Kind kind : all_kinds) {
      const TmemMetadata e = {datapath, kind};
      ASSERT_EQ(check(e), Fault::None);
      std::set<int> seen;
      for (int copy = 0; copy < metadata_copies(e); ++copy) {
        for (int row = 0; row < rows(datapath); ++row) {
          for (int chunk = 0; chunk < metadata_chunks(kind); ++chunk) {
            const CellBit at = metadata_place(e, {row, chunk}, copy);
            ASSERT_TRUE(at.tmem_lane >= 0 && at.tmem_lane < tmem_lanes);
            ASSERT_TRUE(at.tmem_column >= 0 && at.tmem_column < metadata_columns(kind));
            ASSERT_TRUE(seen.insert((at.tmem_lane * 2 + at.tmem_column) * 32 + at.low_bit).second);
            ASSERT_EQ(metadata_chunk(e, at), (MetadataChunk{row, chunk}));
          }
        }
      }
      ASSERT_EQ(seen.size(), static_cast<std::size_t>(128 * 8 * metadata_columns(kind)));
    }
  }
}

// (row, logical k, copy) -> lane + 128 * unit; half_bits: half bits of a code per unit of k.
TEST(Tmem_Metadata, EqualsItsCuteLayoutForEveryRowCount) {
  const std::vector<std::tuple<Kind, int, int, std::string>> paired = {{Kind::tf32, 8, 4, "1024"},
                                                                       {Kind::f16, 16, 2, "2048"}};
  for (const auto& [kind, k_half, half_bits, row_stride] : paired) {
    for (const Datapath datapath : {A, D, E, G}) {
      const int m = rows(datapath);
      const cute::Layout layout("((8,2," + str(m / 16) + "),(" + str(k_half) + ",2)," +
                                str(128 / m) + "):((1," + row_stride + ",16),(128,8)," + str(m) +
                                ")");
      const TmemMetadata e = {datapath, kind};
      for (int copy = 0; copy < metadata_copies(e); ++copy) {
        for (int row = 0; row < m; ++row) {
          for (int k = 0; k < 2 * k_half; k += metadata_chunk_elements(kind)) {
            const CellBit at = metadata_place(e, {row, k / metadata_chunk_elements(kind)}, copy);
            const int unit = (32 * at.tmem_column + at.low_bit) * 2 / half_bits;
            ASSERT_EQ(at.tmem_lane + 128 * unit, layout({row, k, copy})) << name(kind);
          }
        }
      }
    }
  }
  const std::vector<std::tuple<Kind, int, int>> plain = {{Kind::i8, 64, 2},
                                                         {Kind::f8f6f4, 64, 2},
                                                         {Kind::mxf8f6f4, 64, 2},
                                                         {Kind::mxf4, 128, 1},
                                                         {Kind::mxf4nvf4, 128, 1}};
  for (const auto& [kind, k_extent, half_bits] : plain) {
    for (const Datapath datapath : {A, D, E, G}) {
      const int m = rows(datapath);
      const cute::Layout layout("(" + str(m) + "," + str(k_extent) + "," + str(128 / m) +
                                "):(1,128," + str(m) + ")");
      const TmemMetadata e = {datapath, kind};
      for (int copy = 0; copy < metadata_copies(e); ++copy) {
        for (int row = 0; row < m; ++row) {
          for (int k = 0; k < k_extent; k += metadata_chunk_elements(kind)) {
            const CellBit at = metadata_place(e, {row, k / metadata_chunk_elements(kind)}, copy);
            const int unit = (32 * at.tmem_column + at.low_bit) * 2 / half_bits;
            ASSERT_EQ(at.tmem_lane + 128 * unit, layout({row, k, copy})) << name(kind);
          }
        }
      }
    }
  }
}

// Blocks of K side by side, as CuTe's tmem_e_frg tiles them: (row, k in the block, block) -> lane +
// 128 * unit, 4096 or 2048 units to a column. The instruction of a block names its column by an
// even one and a selector.
TEST(Tmem_Metadata, TheSelectorNamesTheColumnOfItsBlock) {
  struct Row {
    Kind kind;
    const char* cute;
    int half_bits;  // of a code per unit of k
    int units;      // of a column
  };
  for (const Row& c : {Row{Kind::tf32, "((8,2,8),(8,2),16):((1,1024,16),(128,8),2048)", 4, 16},
                       Row{Kind::f16, "((8,2,8),(16,2),16):((1,2048,16),(128,8),4096)", 2, 32},
                       Row{Kind::i8, "(128,64,8):(1,128,8192)", 2, 32},
                       Row{Kind::f8f6f4, "(128,64,8):(1,128,8192)", 2, 32},
                       Row{Kind::mxf4, "(128,128,8):(1,128,16384)", 1, 64}}) {
    const cute::Layout layout{c.cute};
    for (int block = 0; block < layout.size(2); ++block) {
      const int begin = layout({0, 0, block}) / 128 / c.units;
      const MetadataAddress address = metadata_address(c.kind, begin);
      ASSERT_EQ(check_metadata_column(address.tmem_column), Fault::None) << name(c.kind);
      const TmemMetadata e = {D, c.kind, address.selector};
      ASSERT_EQ(check(e), Fault::None) << name(c.kind) << block;
      for (int row = 0; row < 128; ++row) {
        for (int k = 0; k < layout.size(1); k += metadata_chunk_elements(c.kind)) {
          const MetadataChunk chunk = {row, k / metadata_chunk_elements(c.kind)};
          CellBit at = metadata_place(e, chunk);
          ASSERT_LT(at.tmem_column, metadata_reach(e));
          ASSERT_EQ(metadata_chunk(e, at), chunk);
          at.tmem_column += address.tmem_column;
          const int unit = (32 * at.tmem_column + at.low_bit) * 2 / c.half_bits;
          ASSERT_EQ(at.tmem_lane + 128 * unit, layout({row, k, block})) << name(c.kind) << block;
        }
      }
    }
  }
}

TEST(Tmem_Metadata, WhatCuteNeitherLaysOutNorIssuesIsUnmodelled) {
  for (const Datapath datapath : {B, C, F})
    EXPECT_EQ(check(TmemMetadata{datapath, Kind::f16}), Fault::UnmodelledTmemOperand);
  for (const Kind kind : all_kinds) {
    for (int selector = 1; selector < 4; ++selector) {
      const bool issued = selector == 1 && (kind == Kind::f16 || kind == Kind::tf32);
      EXPECT_EQ(check(TmemMetadata{D, kind, selector}) == Fault::None, issued) << name(kind);
      for (const Datapath datapath : {D, E, G})
        EXPECT_EQ(check(TmemMetadata{datapath, kind, selector, true}),
                  Fault::UnmodelledTmemOperand);
    }
  }
  for (int column = 0; column < 512; ++column)
    EXPECT_EQ(check_metadata_column(column) == Fault::None, column % 2 == 0);
}

TEST(Tmem_Metadata, WorkedExamples) {
  // f16, m = 77, k = 20: lane 77, bit 20. tf32, m = 41, k = 10: lane 41, bit 20.
  EXPECT_EQ(metadata_place({D, Kind::f16}, {77, 5}), (CellBit{77, 0, 20}));
  EXPECT_EQ(metadata_place({D, Kind::tf32}, {41, 5}), (CellBit{41, 0, 20}));
  EXPECT_EQ(metadata_place({D, Kind::i8}, {77, 9}), (CellBit{77, 1, 4}));
  EXPECT_EQ(metadata_place({E, Kind::i8}, {5, 9}, 1), (CellBit{69, 1, 4}));
}

}  // namespace
}  // namespace tcq::tcgen05
