// Register fragments: every map is a bijection, its inverse inverts it, its CuTe string says the
// same, and the worked examples hold. D, A in registers, sparse metadata, ldmatrix/stmatrix.
#include "sim/isa/wgmma/fragment.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/isa/base/element.h"
#include "sim/isa/base/matrix_bytes.h"
#include "sim/isa/base/matrix_fragment.h"
#include "sim/isa/wgmma/cta_tile.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/isa/wgmma/store.h"
#include "tests/support/cute_string.h"

namespace tcq::wgmma {
namespace {

const std::vector<Type> a_types = {Type::f16,  Type::bf16, Type::tf32, Type::e4m3,
                                   Type::e5m2, Type::s8,   Type::u8,   Type::b1};

std::string text_of(const Slot& s) {
  return "thread " + std::to_string(s.thread) + " register " + std::to_string(s.reg) + " part " +
         std::to_string(s.part);
}

// --- D -------------------------------------------------------------------------------------------

TEST(Wgmma_D, SlotElementIsABijectionForEveryN) {
  for (const Type d : {Type::f32, Type::s32, Type::f16}) {
    for (int n = 8; n <= 256; n += 8) {
      std::vector<int> seen(static_cast<std::size_t>(64 * n));
      for (int thread = 0; thread < threads_per_warpgroup; ++thread) {
        for (int reg = 0; reg < accumulator_registers(d, n); ++reg) {
          for (int part = 0; part < parts_per_register(d); ++part) {
            const Slot slot{thread, reg, part};
            const Element e = accumulator_element(d, slot);
            ASSERT_TRUE(e.row >= 0 && e.row < 64 && e.col >= 0 && e.col < n) << text_of(slot);
            ASSERT_EQ(++seen[static_cast<std::size_t>(e.row * n + e.col)], 1) << text_of(slot);
            ASSERT_EQ(accumulator_slot(d, e), slot) << text_of(slot);
          }
        }
      }
      for (const int count : seen) ASSERT_EQ(count, 1);
    }
  }
}

TEST(Wgmma_D, EqualsItsCuteLayoutForEveryN) {
  for (const Type d : {Type::f32, Type::s32, Type::f16}) {
    for (int n = 8; n <= 256; n += 8) {
      const cute::Layout layout("((4,8,4),(2,2," + std::to_string(n / 8) +
                                ")):((128,1,16),(64,8,512))");
      ASSERT_EQ(layout.size(0), 128);
      ASSERT_EQ(layout.size(1), accumulator_registers(d, n) * parts_per_register(d));
      for (int thread = 0; thread < 128; ++thread) {
        for (int value = 0; value < layout.size(1); ++value) {
          const int parts = parts_per_register(d);
          const Element e = accumulator_element(d, {thread, value / parts, value % parts});
          ASSERT_EQ(e.row + 64 * e.col, layout({thread, value}));
        }
      }
    }
  }
}

TEST(Wgmma_D, WorkedExamples) {
  EXPECT_EQ(accumulator_element(Type::f32, {75, 9}), (Element{34, 23}));
  EXPECT_EQ(accumulator_slot(Type::f32, {57, 142}), (Slot{103, 70}));
  EXPECT_EQ(accumulator_element(Type::f16, {75, 4, 1}), (Element{34, 23}));
  EXPECT_EQ(accumulator_slot(Type::f16, {34, 23}), (Slot{75, 4, 1}));
}

TEST(Wgmma_D, RegisterCounts) {
  EXPECT_EQ(accumulator_registers(Type::f32, 8), 4);
  EXPECT_EQ(accumulator_registers(Type::f32, 256), 128);
  EXPECT_EQ(accumulator_registers(Type::s32, 24), 12);
  EXPECT_EQ(accumulator_registers(Type::f16, 8), 2);
  EXPECT_EQ(accumulator_registers(Type::f16, 256), 64);
}

TEST(Wgmma_D, AThreadOwnsTheSameElementsInF16AndF32) {
  for (int thread = 0; thread < 128; ++thread) {
    std::set<std::pair<int, int>> narrow;
    std::set<std::pair<int, int>> wide;
    for (int value = 0; value < 32; ++value) {
      const Element w = accumulator_element(Type::f32, {thread, value});
      const Element h = accumulator_element(Type::f16, {thread, value / 2, value % 2});
      wide.insert({w.row, w.col});
      narrow.insert({h.row, h.col});
    }
    EXPECT_EQ(wide, narrow);
  }
}

// --- A in registers ------------------------------------------------------------------------------

TEST(Wgmma_A, SlotElementIsABijectionForEveryType) {
  for (const Type a : a_types) {
    std::set<std::pair<int, int>> seen;
    for (int thread = 0; thread < 128; ++thread) {
      for (int reg = 0; reg < a_registers; ++reg) {
        for (int part = 0; part < parts_per_register(a); ++part) {
          const Slot slot{thread, reg, part};
          const Element e = a_element(a, slot);
          ASSERT_TRUE(e.row >= 0 && e.row < 64 && e.col >= 0 && e.col < stored_k(a)) << name(a);
          ASSERT_TRUE(seen.insert({e.row, e.col}).second) << name(a) << " " << text_of(slot);
          ASSERT_EQ(a_slot(a, e), slot) << name(a);
        }
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(64 * stored_k(a))) << name(a);
  }
}

const char* a_cute(Type a) {
  switch (bits(a)) {
    case 16: return "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))";
    case 32: return "((4,8,4),(2,2)):((64,1,16),(8,256))";
    case 8: return "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))";
    default: return "((4,8,4),(32,2,2)):((2048,1,16),(64,8,8192))";
  }
}

TEST(Wgmma_A, EqualsItsCuteLayoutForEveryType) {
  for (const Type a : a_types) {
    const cute::Layout layout(a_cute(a));
    const int parts = parts_per_register(a);
    ASSERT_EQ(layout.size(1), a_registers * parts) << name(a);
    for (int thread = 0; thread < 128; ++thread) {
      for (int value = 0; value < a_registers * parts; ++value) {
        const Element e = a_element(a, {thread, value / parts, value % parts});
        ASSERT_EQ(e.row + 64 * e.col, layout({thread, value})) << name(a);
      }
    }
  }
}

// In bytes the map does not depend on the type.
TEST(Wgmma_A, ByteFormulaHoldsForEveryType) {
  for (const Type a : {Type::f16, Type::tf32, Type::u8}) {
    for (int thread = 0; thread < 128; ++thread) {
      for (int reg = 0; reg < 4; ++reg) {
        const int w = thread / 32, g = thread % 32 / 4, q = thread % 4;
        const Element e = a_element(a, {thread, reg, 0});
        EXPECT_EQ(e.row, 16 * w + g + 8 * (reg & 1));
        EXPECT_EQ(e.col * bits(a) / 8, 16 * (reg >> 1) + 4 * q);
      }
    }
  }
}

TEST(Wgmma_A, WorkedExamples) {
  EXPECT_EQ(a_element(Type::f16, {75, 2, 0}), (Element{34, 14}));
  EXPECT_EQ(a_element(Type::f16, {75, 2, 1}), (Element{34, 15}));
  EXPECT_EQ(a_element(Type::tf32, {75, 2}), (Element{34, 7}));
  EXPECT_EQ(a_element(Type::s8, {75, 2, 0}), (Element{34, 28}));
  EXPECT_EQ(a_element(Type::s8, {75, 2, 3}), (Element{34, 31}));
  EXPECT_EQ(a_element(Type::b1, {75, 2, 0}), (Element{34, 224}));
  EXPECT_EQ(a_element(Type::b1, {75, 2, 31}), (Element{34, 255}));
}

// The logical K that the registers of a sparse A cover.
TEST(Wgmma_A, SparseRegistersCoverLogicalKAsTheirCuteLayoutSays) {
  const std::tuple<Type, const char*> cases[] = {
      {Type::tf32, "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"},
      {Type::f16, "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))"},
      {Type::e4m3, "((4,8,4),(8,2,2)):((512,1,16),(64,8,2048))"}};
  for (const auto& [a, text] : cases) {
    const cute::Layout layout(text);
    const int logical_per_register = 2 * parts_per_register(a);
    ASSERT_EQ(layout.size(1), 4 * logical_per_register);
    for (int thread = 0; thread < 128; ++thread) {
      for (int reg = 0; reg < 4; ++reg) {
        const Element e = a_element(a, {thread, reg, 0});
        const int k = e.col / stored_per_chunk(a) * chunk_elements(a);
        EXPECT_EQ(e.row + 64 * k, layout({thread, reg * logical_per_register})) << name(a);
      }
    }
  }
}

// --- sparse metadata -----------------------------------------------------------------------------

const std::vector<Type> sparse_types = {Type::f16,  Type::bf16, Type::tf32, Type::e4m3,
                                        Type::e5m2, Type::s8,   Type::u8};

TEST(Wgmma_Metadata, SlotChunkIsABijectionForEveryTypeAndSelector) {
  for (const Type a : sparse_types) {
    for (int selector = 0; selector <= max_selector(a); ++selector) {
      std::set<std::pair<int, int>> seen;
      for (int thread = 0; thread < 128; ++thread) {
        if (!metadata_is_read(a, selector, thread)) continue;
        for (int nibble = 0; nibble < 8; ++nibble) {
          const MetadataSlot slot{thread, nibble};
          const MetadataChunk c = metadata_chunk(a, slot);
          ASSERT_TRUE(c.row >= 0 && c.row < 64 && c.chunk >= 0 && c.chunk < chunks_per_row(a));
          ASSERT_TRUE(seen.insert({c.row, c.chunk}).second) << name(a) << " thread " << thread;
          ASSERT_EQ(metadata_slot(a, selector, c), slot) << name(a) << " thread " << thread;
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(64 * chunks_per_row(a))) << name(a);
    }
  }
}

TEST(Wgmma_Metadata, EqualsItsCuteLayout) {
  const auto text = [](Type a) {
    if (a == Type::tf32) return "((2,2,8,4),(8,2)):((512,0,1,16),(64,8))";
    return bits(a) == 16 ? "((2,2,8,4),(16,2)):((1024,0,1,16),(64,8))"
                         : "((2,2,8,4),(32)):((8,2048,1,16),(64))";
  };
  for (const Type a : sparse_types) {
    const cute::Layout layout(text(a));
    const int per_nibble = chunk_elements(a);
    ASSERT_EQ(layout.size(1), 8 * per_nibble) << name(a);
    for (int thread = 0; thread < 128; ++thread) {
      for (int nibble = 0; nibble < 8; ++nibble) {
        const MetadataChunk c = metadata_chunk(a, {thread, nibble});
        EXPECT_EQ(c.row + 64 * c.chunk * per_nibble, layout({thread, nibble * per_nibble}))
            << name(a) << " thread " << thread << " nibble " << nibble;
      }
    }
  }
}

TEST(Wgmma_Metadata, SelectorPicksHalfOfTheThreadsButNotOf8BitTypes) {
  for (int thread = 0; thread < 128; ++thread) {
    EXPECT_EQ(metadata_is_read(Type::f16, 0, thread), thread % 4 < 2);
    EXPECT_EQ(metadata_is_read(Type::tf32, 1, thread), thread % 4 >= 2);
    EXPECT_TRUE(metadata_is_read(Type::u8, 0, thread));
  }
  EXPECT_EQ(max_selector(Type::bf16), 1);
  EXPECT_EQ(max_selector(Type::tf32), 1);
  EXPECT_EQ(max_selector(Type::e5m2), 0);
}

TEST(Wgmma_Metadata, WorkedExamples) {
  EXPECT_EQ(metadata_slot(Type::f16, 1, {41, 20 / 4}), (MetadataSlot{71, 20 / 4}));
  EXPECT_EQ(metadata_slot(Type::tf32, 0, {41, 10 / 2}), (MetadataSlot{69, 20 / 4}));
  EXPECT_EQ(metadata_slot(Type::s8, 0, {41, 44 / 4}), (MetadataSlot{71, 12 / 4}));
  EXPECT_EQ(metadata_chunk(Type::f16, {71, 5}), (MetadataChunk{41, 5}));
}

TEST(Wgmma_Sparse, ACodeNamesAscendingPositions) {
  const std::set<std::uint32_t> defined = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  std::set<std::pair<int, int>> pairs;
  for (std::uint32_t code = 0; code < 16; ++code) {
    const bool fine = defined.count(code) != 0;
    EXPECT_EQ(check_metadata(Type::f16, code) == Fault::None, fine) << code;
    EXPECT_EQ(check_metadata(Type::u8, code) == Fault::None, fine) << code;
    EXPECT_EQ(check_metadata(Type::tf32, code) == Fault::None, code == 0b0100 || code == 0b1110);
    if (!fine) continue;
    const int first = logical_k(Type::f16, 3, code, 0);
    const int second = logical_k(Type::f16, 3, code, 1);
    EXPECT_TRUE(12 <= first && first < second && second < 16) << code;
    pairs.insert({first, second});
  }
  EXPECT_EQ(pairs.size(), 6u);
  EXPECT_EQ(check_metadata(Type::f16, 0), Fault::UndefinedMetadata);
}

TEST(Wgmma_Sparse, WorkedExamples) {
  EXPECT_EQ(logical_k(Type::f16, 5, 0b1001, 0), 21);
  EXPECT_EQ(logical_k(Type::f16, 5, 0b1001, 1), 22);
  EXPECT_EQ(logical_k(Type::s8, 0, 0b1110, 0), 2);
  EXPECT_EQ(logical_k(Type::s8, 0, 0b1110, 1), 3);
  EXPECT_EQ(logical_k(Type::tf32, 3, 0b0100, 0), 6);
  EXPECT_EQ(logical_k(Type::tf32, 3, 0b1110, 0), 7);
}

// Every code has a meaning on the chip: its two fields choose independently.
TEST(Wgmma_Sparse, EveryCodeSelectsWhatItsTwoFieldsName) {
  std::vector<std::uint32_t> b;
  for (std::uint32_t k = 0; k < 64; ++k) b.push_back(0x10001 * (2 * k) + 0x10000);
  for (std::uint32_t code = 0; code < 16; ++code) {
    const std::uint32_t low = code & 3, high = code >> 2;
    EXPECT_EQ(selected_b(Type::f16, 2, code, 0, b.data()), b[8 + low]) << code;
    EXPECT_EQ(selected_b(Type::u8, 2, code, 1, b.data()), b[8 + high]) << code;
    // tf32: b[k] holds the 16-bit numbers 2k (low half) and 2k + 1.
    const std::uint32_t got = selected_b(Type::tf32, 2, code, 0, b.data());
    EXPECT_EQ(got & 0xffff, 8 + low) << code;
    EXPECT_EQ(got >> 16, 8 + high) << code;
    if (check_metadata(Type::tf32, code) == Fault::None) {
      EXPECT_EQ(got, b[static_cast<std::size_t>(logical_k(Type::tf32, 2, code, 0))]) << code;
    }
  }
}

TEST(Wgmma_Sparse, StoredElementsFillTheDenseK) {
  for (const Type a : sparse_types) {
    EXPECT_EQ(chunks_per_row(a) * stored_per_chunk(a), stored_k(a)) << name(a);
    EXPECT_EQ(chunks_per_row(a) * chunk_elements(a), 2 * stored_k(a)) << name(a);
  }
}

// --- D of several warpgroups ---------------------------------------------------------------------

TEST(CtaTile, SlotElementIsABijection) {
  for (const wgmma::CtaTile& t :
       {wgmma::CtaTile{Type::f32, 64, 128, 128, 2, 1}, wgmma::CtaTile{Type::f32, 24, 64, 96, 1, 2},
        wgmma::CtaTile{Type::f16, 32, 256, 64, 2, 2}}) {
    ASSERT_TRUE(exists(t));
    std::set<std::tuple<int, int, int>> seen;
    for (int row = 0; row < t.rows; ++row)
      for (int col = 0; col < t.cols; ++col) {
        const wgmma::Slot s = slot(t, {row, col});
        ASSERT_TRUE(s.thread >= 0 && s.thread < threads(t) && s.reg >= 0 && s.reg < registers(t));
        ASSERT_TRUE(seen.insert({s.thread, s.reg, s.part}).second);
        ASSERT_EQ(element(t, s), (wgmma::Element{row, col}));
      }
  }
  EXPECT_FALSE(exists({Type::f32, 64, 64, 128, 2, 1}));
  EXPECT_FALSE(exists({Type::f32, 64, 128, 96, 2, 1}));
}

TEST(CtaTile, WarpgroupsStandSideBySideAndThenTheTileRepeats) {
  const wgmma::CtaTile t{Type::f32, 64, 256, 128, 2, 1};
  EXPECT_EQ(slot(t, {64, 0}), (wgmma::Slot{128, 0, 0}));
  EXPECT_EQ(slot(t, {128, 0}), (wgmma::Slot{0, 32, 0}));
  EXPECT_EQ(slot(t, {0, 64}), (wgmma::Slot{0, 64, 0}));
}

// --- ldmatrix and stmatrix -----------------------------------------------------------------------

TEST(MatrixFragment, SlotElementIsABijection) {
  for (const bool transposed : {false, true}) {
    for (const int count : {1, 2, 4}) {
      std::set<std::tuple<int, int, int>> seen;
      for (int lane = 0; lane < 32; ++lane) {
        for (int reg = 0; reg < count; ++reg) {
          for (int part = 0; part < 2; ++part) {
            const matrix::Slot slot{lane, reg, part};
            const matrix::Element e = matrix::element(transposed, slot);
            ASSERT_TRUE(e.row >= 0 && e.row < 8 && e.col >= 0 && e.col < 8);
            ASSERT_TRUE(seen.insert({e.matrix, e.row, e.col}).second);
            ASSERT_EQ(matrix::slot(transposed, e), slot);
          }
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(64 * count));
    }
  }
}

// (thread, bit of the thread's registers) -> bit of the row-major matrices, 1024 bits each.
TEST(MatrixFragment, EqualsItsCuteLayout) {
  for (const bool transposed : {false, true}) {
    for (const int count : {1, 2, 4}) {
      const std::string n = std::to_string(count);
      const cute::Layout layout(transposed ? "((4,8),(16,2," + n + ")):((256,16),(1,128,1024))"
                                           : "(32,(32," + n + ")):(32,(1,1024))");
      for (int lane = 0; lane < 32; ++lane) {
        for (int half = 0; half < 2 * count; ++half) {
          const matrix::Element e = matrix::element(transposed, {lane, half / 2, half % 2});
          EXPECT_EQ(e.matrix * 1024 + e.row * 128 + e.col * 16, layout({lane, half * 16}));
        }
      }
    }
  }
}

TEST(MatrixFragment, WorkedExamples) {
  EXPECT_EQ(matrix::element(false, {13, 0, 1}), (matrix::Element{0, 3, 3}));
  EXPECT_EQ(matrix::element(false, {13, 2, 0}), (matrix::Element{2, 3, 2}));
  EXPECT_EQ(matrix::element(true, {13, 0, 0}), (matrix::Element{0, 2, 3}));
}

TEST(MatrixFragment, EveryRowHasOneAddressLane) {
  std::set<int> lanes;
  for (int matrix = 0; matrix < 4; ++matrix)
    for (int row = 0; row < 8; ++row) lanes.insert(matrix::address_lane(matrix, row));
  EXPECT_EQ(lanes.size(), 32u);
  EXPECT_EQ(*lanes.begin(), 0);
  EXPECT_EQ(*lanes.rbegin(), 31);
  EXPECT_EQ(matrix::address_lane(2, 5), 21);
  for (int count = -1; count < 9; ++count)
    EXPECT_EQ(matrix::count_exists(count), count == 1 || count == 2 || count == 4);
}

constexpr matrix::ByteShape byte_shapes[] = {matrix::ByteShape::M16n16, matrix::ByteShape::M8n16,
                                             matrix::ByteShape::M16n8};

TEST(MatrixBytes, SlotElementIsABijection) {
  for (const matrix::ByteShape shape : byte_shapes) {
    for (const int count : {1, 2, 4}) {
      if (!matrix::count_exists(shape, count)) continue;
      std::set<std::tuple<int, int, int>> seen;
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < matrix::registers(shape) * count; ++reg)
          for (int part = 0; part < 4; ++part) {
            const matrix::Slot slot{lane, reg, part};
            const matrix::Element e = matrix::element(shape, slot);
            ASSERT_TRUE(e.row >= 0 && e.row < matrix::rows(shape) && e.col >= 0 && e.col < 16);
            ASSERT_TRUE(seen.insert({e.matrix, e.row, e.col}).second);
            ASSERT_EQ(matrix::slot(shape, e), slot);
          }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(16 * matrix::rows(shape) * count));
    }
  }
  EXPECT_FALSE(matrix::count_exists(matrix::ByteShape::M16n16, 4));
  EXPECT_EQ(matrix::address_lane(matrix::ByteShape::M16n16, 1, 15), 31);
  EXPECT_EQ(matrix::address_lane(matrix::ByteShape::M16n8, 3, 7), 31);
}

// CuTe's layouts of (thread, bit) -> bit of a tile of 16-byte rows. Its ldmatrix.m16n16 takes row r(i) of the
// tile from thread i and exchanges bytes 2, 3 of the first register with bytes 0, 1 of the second.
TEST(MatrixBytes, EqualsItsCuteLayout) {
  const cute::Layout load("((4,8),(8,2,2,2)):((256,8),(1,128,64,1024))");
  const cute::Layout row_of_thread("((2,2,4)):((1,8,2))");
  const cute::Layout store("((4,8),(8,2,2)):((256,8),(1,128,64))");
  const cute::Layout plain("(32,32):(32,1)");
  for (int lane = 0; lane < 32; ++lane) {
    for (int part = 0; part < 4; ++part) {
      for (int reg = 0; reg < 2; ++reg) {
        const matrix::Element e = matrix::element(matrix::ByteShape::M16n16, {lane, reg, part});
        const int byte = 4 * (part / 2) + 2 * reg + part % 2;  // behind the exchange
        EXPECT_EQ(128 * row_of_thread({e.row}) + 8 * e.col, load({lane, 8 * byte}));
      }
      const matrix::Element s = matrix::element(matrix::ByteShape::M16n8, {lane, 0, part});
      EXPECT_EQ(128 * s.row + 8 * s.col, store({lane, 8 * part}));
      const matrix::Element p = matrix::element(matrix::ByteShape::M8n16, {lane, 0, part});
      EXPECT_EQ(128 * p.row + 8 * p.col, plain({lane, 8 * part}));
    }
  }
}

TEST(MatrixBytes, WorkedExamples) {
  EXPECT_EQ(matrix::element(matrix::ByteShape::M16n16, {13, 1, 0}), (matrix::Element{0, 4, 11}));
  EXPECT_EQ(matrix::element(matrix::ByteShape::M8n16, {13, 2, 3}), (matrix::Element{2, 3, 7}));
  EXPECT_EQ(matrix::element(matrix::ByteShape::M16n8, {13, 0, 3}), (matrix::Element{0, 3, 11}));
}

// Registers 4j to 4j + 3 of a 16-bit D, stored to the addresses of store_element(), lie where D's
// elements belong.
TEST(MatrixFragment, StoreElementPutsFourRegistersWhereTheyBelong) {
  for (int thread = 0; thread < threads_per_warpgroup; ++thread) {
    for (int reg = 0; reg < store_registers; ++reg) {
      for (int part = 0; part < 2; ++part) {
        const matrix::Element in = matrix::element(false, {thread % 32, reg, part});
        const int writer = thread / 32 * 32 + matrix::address_lane(in.matrix, in.row);
        const Element row = store_element(writer);
        for (int j = 0; j < 4; ++j) {
          const Element stored = {row.row, row.col + in.col + store_columns * j};
          EXPECT_EQ(accumulator_element(Type::f16, {thread, store_registers * j + reg, part}),
                    stored);
        }
      }
    }
  }
}

// Two registers of a 16-bit D, stored transposed to the addresses of store_transposed_element().
TEST(MatrixFragment, StoreTransposedElementPutsColumnsIntoRows) {
  for (int thread = 0; thread < threads_per_warpgroup; ++thread) {
    for (int reg = 0; reg < 2; ++reg) {
      for (int part = 0; part < 2; ++part) {
        const matrix::Element in = matrix::element(true, {thread % 32, reg, part});
        const int writer = thread / 32 * 32 + matrix::address_lane(in.matrix, in.row);
        const Element row = store_transposed_element(writer);
        const Element d = accumulator_element(Type::f16, {thread, reg, part});
        EXPECT_EQ((Element{row.row, row.col + in.col}), (Element{d.col, d.row}));
      }
    }
  }
}

// --- at compile time -----------------------------------------------------------------------------

static_assert(accumulator_slot(Type::f32, accumulator_element(Type::f32, {75, 9})) == Slot{75, 9});
static_assert(a_element(Type::tf32, {75, 2}) == Element{34, 7});
static_assert(metadata_slot(Type::s8, 0, {41, 11}) == MetadataSlot{71, 3});
static_assert(matrix::slot(true, {0, 2, 3}) == matrix::Slot{13, 0, 0});
static_assert(logical_k(Type::bf16, 5, 0b1001, 1) == 22);

}  // namespace
}  // namespace tcq::wgmma
