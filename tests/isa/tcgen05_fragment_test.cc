// tcgen05.ld, st, cp, shift: slots and cells are bijections for every shape and num, CuTe's strings
// say the same, layout F through .16x256b is wgmma's fragment, and the worked examples hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/wgmma/fragment.h"
#include "tests/support/cute_string.h"

namespace tcq::tcgen05 {
namespace {

using enum LdShape;

const std::vector<LdShape> all_shapes = {S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2};
const std::vector<CpShape> all_copies = {CpShape::S128x256b,      CpShape::S4x256b,
                                         CpShape::S128x128b,      CpShape::S64x128b_02_13,
                                         CpShape::S64x128b_01_23, CpShape::S32x128b};

std::string str(int value) { return std::to_string(value); }

// Every form that exists, .16x32bx2 with the split CuTe uses and with wider ones.
std::vector<Fragment> all_fragments() {
  std::vector<Fragment> all;
  for (const LdShape shape : all_shapes) {
    for (int num = 1; num * registers_per_repetition(shape) <= 128; num *= 2) {
      for (const bool packed : {false, true}) {
        Fragment f = {shape, num, packed};
        if (shape != S16x32bx2) {
          all.push_back(f);
          continue;
        }
        for (const int gap : {0, 3, 64}) {
          f.half_split = run_columns(f) + gap;
          all.push_back(f);
        }
      }
    }
  }
  return all;
}

std::string text_of(const Fragment& f, FragmentSlot s) {
  return std::string(name(f.shape)) + ".x" + str(f.num) + (f.packed ? ".16b" : "") + " split " +
         str(f.half_split) + " lane " + str(s.lane) + " register " + str(s.reg) + " half " +
         str(s.half);
}

template <class Visit>
void for_each_slot(const Fragment& f, Visit&& visit) {
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < registers(f); ++reg)
      for (int half = 0; half < halves(f); ++half) visit(FragmentSlot{lane, reg, half});
}

// --- ld and st -------------------------------------------------------------------------------------

TEST(Tcgen05_Fragment, SlotCellIsABijectionForEveryShapeAndNum) {
  for (const Fragment& f : all_fragments()) {
    ASSERT_TRUE(is_one_to_one(f));
    const int lanes = fragment_lanes(f.shape);
    std::set<int> seen;
    for_each_slot(f, [&](FragmentSlot s) {
      const Cell cell = fragment_cell(f, s);
      ASSERT_TRUE(cell.tmem_lane >= 0 && cell.tmem_lane < lanes) << text_of(f, s);
      ASSERT_TRUE(cell.tmem_column >= 0 && cell.tmem_column < footprint_columns(f))
          << text_of(f, s);
      ASSERT_TRUE(seen.insert(cell.tmem_lane + 128 * cell.tmem_column).second) << text_of(f, s);
      ASSERT_TRUE(holds_fragment(f, cell)) << text_of(f, s);
      ASSERT_EQ(fragment_slot(f, cell), s) << text_of(f, s);
    });
    std::size_t held = 0;
    for (int lane = -1; lane <= lanes; ++lane)
      for (int column = -1; column <= footprint_columns(f); ++column)
        held += holds_fragment(f, {lane, column}) ? 1u : 0u;
    ASSERT_EQ(seen.size(), held) << text_of(f, {});
  }
}

TEST(Tcgen05_Fragment, TheFootprintEndsAtTheLastCell) {
  for (const Fragment& f : all_fragments()) {
    int last = 0;
    for_each_slot(f,
                  [&](FragmentSlot s) { last = std::max(last, fragment_cell(f, s).tmem_column); });
    EXPECT_EQ(last + 1, footprint_columns(f)) << text_of(f, {});
  }
}

TEST(Tcgen05_Fragment, WholeRunsFitTensorMemory) {
  for (const Fragment& f : all_fragments()) EXPECT_LE(run_columns(f), tmem_columns);
  EXPECT_EQ(footprint_columns({S32x32b, 128}), 128);
  EXPECT_EQ(footprint_columns({S16x64b, 128}), 256);
  EXPECT_EQ(footprint_columns({S16x128b, 64}), 256);
  EXPECT_EQ(footprint_columns({S16x256b, 32}), 256);
  EXPECT_EQ(footprint_columns({S16x256b, 32, true}), 512);
  EXPECT_EQ(footprint_columns({S16x32bx2, 16, false, 40}), 56);
}

// A split below the run's width makes both halves of the warp meet in some cells.
TEST(Tcgen05_Fragment, ANarrowSplitIsNoBijection) {
  for (const bool packed : {false, true}) {
    for (int split = 0; split < 16; ++split) {
      const Fragment f = {S16x32bx2, 8, packed, split};
      std::set<int> cells;
      for_each_slot(f, [&](FragmentSlot s) {
        const Cell cell = fragment_cell(f, s);
        cells.insert(cell.tmem_lane + 128 * cell.tmem_column);
      });
      const bool distinct = cells.size() == static_cast<std::size_t>(32 * 8 * halves(f));
      EXPECT_EQ(is_one_to_one(f), distinct) << split;
    }
  }
}

// (lane, register) -> lane + 128 * column, for the plain forms.
std::string cute_text(LdShape shape, int num) {
  const std::string n = str(num);
  switch (shape) {
    case S32x32b: return "(32," + n + "):(1,128)";
    case S16x64b: return "((2,2,8)," + n + "):((8,128,1),256)";
    case S16x128b: return "((4,8),(2," + n + ")):((128,1),(8,512))";
    case S16x256b: return "((4,8),(2,2," + n + ")):((256,1),(128,8,1024))";
    case S16x32bx2: break;
  }
  return "((16,2)," + n + "):((1," + str(128 * num) + "),128)";
}

TEST(Tcgen05_Fragment, EqualsItsCuteLayoutForEveryShapeAndNum) {
  for (const LdShape shape : all_shapes) {
    for (int num = 1; num * registers_per_repetition(shape) <= 128; num *= 2) {
      const cute::Layout layout(cute_text(shape, num));
      const Fragment f = {shape, num, false, num};
      ASSERT_EQ(layout.size(0), 32);
      ASSERT_EQ(layout.size(1), registers(f));
      for_each_slot(f, [&](FragmentSlot s) {
        const Cell cell = fragment_cell(f, s);
        ASSERT_EQ(cell.tmem_lane + 128 * cell.tmem_column, layout({s.lane, s.reg}))
            << text_of(f, s);
      });
    }
  }
}

// Packed: half h of a register is the low half of column 2c + h where the plain form has column c.
TEST(Tcgen05_Fragment, PackedFormsTakeTwoColumnsForOne) {
  for (const LdShape shape : all_shapes) {
    for (int num = 1; num * registers_per_repetition(shape) <= 128; num *= 2) {
      const Fragment packed = {shape, num, true, 2 * num};
      const Fragment plain = {shape, num, false, num};
      EXPECT_EQ(registers(packed), registers(plain));
      EXPECT_EQ(footprint_columns(packed), 2 * footprint_columns(plain));
      for_each_slot(packed, [&](FragmentSlot s) {
        const Cell c = fragment_cell(plain, {s.lane, s.reg});
        ASSERT_EQ(fragment_cell(packed, s), (Cell{c.tmem_lane, 2 * c.tmem_column + s.half}))
            << text_of(packed, s);
      });
    }
  }
}

// Layout F read by .16x256b: warp w's rows and registers are those of wgmma.
TEST(Tcgen05_Fragment, LayoutFThrough16x256bIsTheFragmentOfWgmma) {
  for (const int n : {8, 64, 256}) {
    const Accumulator d = {Datapath::F, n};
    const Fragment f = {S16x256b, n / 8};
    for (int warp = 0; warp < 4; ++warp) {
      for_each_slot(f, [&](FragmentSlot s) {
        const Cell c = fragment_cell(f, s);
        const Element e = d_element(d, {first_tmem_lane(warp) + c.tmem_lane, c.tmem_column});
        const wgmma::Element w = wgmma::accumulator_element(Type::f32, {32 * warp + s.lane, s.reg});
        ASSERT_EQ(e.row, w.row);
        ASSERT_EQ(e.col, w.col);
      });
    }
  }
}

TEST(Tcgen05_Fragment, LayoutDThrough32x32bGivesEveryThreadARow) {
  const Accumulator d = {Datapath::D, 128};
  for (int warp = 0; warp < 4; ++warp) {
    for_each_slot({S32x32b, 128}, [&](FragmentSlot s) {
      const Cell c = fragment_cell({S32x32b, 128}, s);
      EXPECT_EQ(d_element(d, {first_tmem_lane(warp) + c.tmem_lane, c.tmem_column}),
                (Element{32 * warp + s.lane, s.reg}));
    });
  }
}

TEST(Tcgen05_Fragment, WarpsReachTheirOwnQuarter) {
  for (int warp = 0; warp < 16; ++warp) {
    EXPECT_EQ(first_tmem_lane(warp), 32 * (warp % 4));
    for (const LdShape shape : all_shapes) {
      for (int lane = 0; lane < tmem_lanes; ++lane) {
        const bool first = lane == first_tmem_lane(warp);
        const bool second = lane == first_tmem_lane(warp) + 16 && shape != S32x32b;
        EXPECT_EQ(is_lane_base(shape, warp, lane), first || second);
      }
    }
  }
  for (int lane = 0; lane < tmem_lanes; ++lane) {
    EXPECT_LE(first_tmem_lane(warp_of_tmem_lane(lane)), lane);
    EXPECT_LT(lane - first_tmem_lane(warp_of_tmem_lane(lane)), 32);
  }
}

TEST(Tcgen05_Fragment, WorkedExamples) {
  EXPECT_EQ(fragment_cell({S16x256b, 2}, {13, 7}), (Cell{11, 11}));
  EXPECT_EQ(fragment_cell({S16x128b, 4}, {13, 7}), (Cell{11, 13}));
  EXPECT_EQ(fragment_cell({S16x64b, 8}, {13, 7}), (Cell{11, 14}));
  EXPECT_EQ(fragment_cell({S32x32b, 8}, {13, 7}), (Cell{13, 7}));
  EXPECT_EQ(fragment_cell({S16x32bx2, 8, false, 20}, {29, 7}), (Cell{13, 27}));
  EXPECT_EQ(fragment_cell({S16x32bx2, 8, true, 20}, {29, 7, 1}), (Cell{13, 35}));
  EXPECT_EQ(fragment_slot({S16x256b, 2}, {11, 11}), (FragmentSlot{13, 7}));
}

// --- cp --------------------------------------------------------------------------------------------

TEST(Tcgen05_Copy, SourceAndCellsAreABijectionForEveryShape) {
  for (const CpShape shape : all_copies) {
    std::set<int> seen;
    for (int copy = 0; copy < cp_copies(shape); ++copy) {
      for (int row = 0; row < cp_rows(shape); ++row) {
        for (int byte = 0; byte < cp_row_bytes(shape); ++byte) {
          const CellByte to = cp_place(shape, {row, byte}, copy);
          ASSERT_TRUE(to.tmem_lane >= 0 && to.tmem_lane < tmem_lanes) << name(shape);
          ASSERT_TRUE(is_written(shape, {to.tmem_lane, to.tmem_column})) << name(shape);
          ASSERT_TRUE(seen.insert((to.tmem_lane * 8 + to.tmem_column) * 4 + to.byte).second);
          ASSERT_EQ(cp_source(shape, to), (CpByte{row, byte})) << name(shape);
        }
      }
    }
    std::size_t written = 0;
    for (int lane = 0; lane < tmem_lanes; ++lane)
      for (int column = -1; column <= 8; ++column)
        written += is_written(shape, {lane, column}) ? 4u : 0u;
    ASSERT_EQ(seen.size(), written) << name(shape);
  }
}

TEST(Tcgen05_Copy, BytesAreWhatTheShapeSays) {
  for (const CpShape shape : all_copies) {
    const std::string text = name(shape);
    EXPECT_EQ(std::stoi(text), cp_rows(shape));
    EXPECT_EQ(std::stoi(text.substr(text.find('x') + 1)), 8 * cp_row_bytes(shape));
    EXPECT_EQ(cp_columns(shape) * 4, cp_row_bytes(shape));
    EXPECT_EQ(is_disputed(shape), shape == CpShape::S4x256b);
  }
}

// (copy, row, bit) -> lane + 128 * bit: CuTe's strides in lanes, one column is 32 bits.
std::string cute_text(CpShape shape) {
  switch (shape) {
    case CpShape::S128x256b: return "(1,128,256):(0,1,128)";
    case CpShape::S128x128b: return "(1,128,128):(0,1,128)";
    case CpShape::S4x256b: return "(1,4,256):(0,32,128)";
    case CpShape::S64x128b_02_13: return "(2,64,128):(64,1,128)";
    case CpShape::S64x128b_01_23: return "(2,(32,2),128):(32,(1,64),128)";
    case CpShape::S32x128b: break;
  }
  return "(4,32,128):(32,1,128)";
}

TEST(Tcgen05_Copy, EqualsItsCuteLayoutForEveryShape) {
  for (const CpShape shape : all_copies) {
    const cute::Layout layout(cute_text(shape));
    ASSERT_EQ(layout.size(0), cp_copies(shape));
    ASSERT_EQ(layout.size(1), cp_rows(shape));
    ASSERT_EQ(layout.size(2), 8 * cp_row_bytes(shape));
    for (int copy = 0; copy < cp_copies(shape); ++copy) {
      for (int row = 0; row < cp_rows(shape); ++row) {
        for (int byte = 0; byte < cp_row_bytes(shape); ++byte) {
          const CellByte to = cp_place(shape, {row, byte}, copy);
          ASSERT_EQ(to.tmem_lane + 128 * (32 * to.tmem_column + 8 * to.byte),
                    layout({copy, row, 8 * byte}))
              << name(shape);
        }
      }
    }
  }
}

// Shapes and the forms that check() accepts are the same, under the same names.
TEST(Tcgen05_Copy, EveryFormHasAShapeOfItsNameAndBack) {
  int forms = 0;
  for (int s = 0; s < cp_size_count; ++s) {
    for (int m = 0; m < cp_multicast_count; ++m) {
      const CpForm form{static_cast<CpSize>(s), static_cast<CpMulticast>(m), {}, 2};
      if (check(form) != Fault::None) continue;
      const std::string dot = form.multicast == CpMulticast::None ? "" : ".";
      EXPECT_EQ(name(cp_shape(form)), name(form.size) + dot + name(form.multicast));
      EXPECT_EQ(cp_form(cp_shape(form), 2), form);
      ++forms;
    }
  }
  EXPECT_EQ(forms, cp_shape_count);
}

TEST(Tcgen05_Copy, WorkedExamples) {
  EXPECT_EQ(cp_place(CpShape::S64x128b_01_23, {40, 0}, 0), (CellByte{72, 0, 0}));
  EXPECT_EQ(cp_place(CpShape::S64x128b_01_23, {40, 0}, 1), (CellByte{104, 0, 0}));
  EXPECT_EQ(cp_place(CpShape::S64x128b_02_13, {40, 7}, 1), (CellByte{104, 1, 3}));
  EXPECT_EQ(cp_place(CpShape::S4x256b, {2, 31}, 0), (CellByte{64, 7, 3}));
}

// Rows of 32 bytes without swizzle: LBO steps to the second 16 bytes, SBO to the next 8 rows.
TEST(Tcgen05_Copy, AddressesFollowTheDescriptorsStrides) {
  const CpOperand none = {1024, {Major::K, 16, 2048, 128}, {0, 4, 3}};
  for (int row = 0; row < 128; ++row) {
    for (int byte = 0; byte < 32; ++byte) {
      const int expected = 1024 + row / 8 * 128 + row % 8 * 16 + byte / 16 * 2048 + byte % 16;
      ASSERT_EQ(cp_address(none, {row, byte}), static_cast<std::uint32_t>(expected));
    }
  }
}

TEST(Tcgen05_Copy, SwizzledAddressesExchangeSixteenByteUnits) {
  const CpOperand b128 = {1024, {Major::K, 128, 16, 1024}, {3, 4, 3}};
  EXPECT_EQ(cp_address(b128, {11, 10}), 2490u);  // as an operand of bf16: mn = 11, k = 5
  for (int row = 0; row < 64; ++row) {
    const std::uint32_t linear = 1024u + static_cast<std::uint32_t>(row / 8 * 1024 + row % 8 * 128);
    EXPECT_EQ(cp_address(b128, {row, 0}), linear + 16u * static_cast<std::uint32_t>(row % 8));
  }
}

// --- Decompression and shift -----------------------------------------------------------------------

TEST(Tcgen05_Copy, DecompressionReadsTheDataAndNotThePadding) {
  for (const int bits : {4, 6}) {
    std::set<int> sources;
    for (int i = 0; i < 16; ++i) {
      const Unpacked u = decompressed(bits, i);
      EXPECT_EQ(u.byte, i);
      EXPECT_TRUE(u.source_low_bit >= 0 && u.source_low_bit + bits <= 16 * bits);
      EXPECT_TRUE(sources.insert(u.source_low_bit).second);
      EXPECT_EQ(u.low_bit, bits == 4 ? 2 : 1);
    }
  }
  EXPECT_EQ(decompressed(6, 5), (Unpacked{30, 5, 1}));
}

TEST(Tcgen05_Shift, RowsMoveDownWithinTheirQuarter) {
  for (int lane = 0; lane < tmem_lanes; ++lane) {
    const ShiftSource source = shift_source(lane);
    const bool edge = lane == 31 || lane == 63 || lane == 95;
    EXPECT_EQ(source.fault, edge ? Fault::UnmodelledShiftEdge : Fault::None) << lane;
    if (edge) continue;
    EXPECT_EQ(source.tmem_lane, lane == 127 ? 127 : lane + 1);
  }
}

}  // namespace
}  // namespace tcq::tcgen05
