// The one law of the warp's mma against the manual's formulas for each shape, which count a thread's
// elements a0, a1, ...; and it goes both ways.
#include "sim/isa/base/mma_fragment.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <tuple>

namespace tcq::warp_mma {
namespace {

// Row and column along K of element i of a thread: (group, thread in group, i).
using Formula = std::function<Element(int group, int thread, int i)>;

struct Manual {
  int m, k, bits;
  Formula a;
};

// PTX ISA 9.2, 9.7.14.5, in the order of its shapes.
const Manual manual[] = {
    {8, 4, 64,
     [](int g, int t, int) {
       return Element{g, t};
     }},
    {8, 16, 8,
     [](int g, int t, int i) {
       return Element{g, 4 * t + i};
     }},
    {8, 32, 4,
     [](int g, int t, int i) {
       return Element{g, 8 * t + i};
     }},
    {8, 128, 1,
     [](int g, int t, int i) {
       return Element{g, 32 * t + i};
     }},
    {16, 4, 32,
     [](int g, int t, int i) {
       return Element{i == 0 ? g : g + 8, t};
     }},
    {16, 4, 64,
     [](int g, int t, int i) {
       return Element{i == 0 ? g : g + 8, t};
     }},
    {16, 8, 16,
     [](int g, int t, int i) {
       return Element{i < 2 ? g : g + 8, 2 * t + (i & 1)};
     }},
    {16, 8, 32,
     [](int g, int t, int i) {
       return Element{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
     }},
    {16, 8, 64,
     [](int g, int t, int i) {
       return Element{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
     }},
    {16, 16, 64,
     [](int g, int t, int i) {
       return Element{i % 2 == 0 ? g : g + 8, i / 2 * 4 + t};
     }},
    {16, 16, 16,
     [](int g, int t, int i) {
       return Element{i < 2 || (i >= 4 && i < 6) ? g : g + 8, 2 * t + (i & 1) + (i >= 4 ? 8 : 0)};
     }},
    {16, 16, 8,
     [](int g, int t, int i) {
       return Element{i < 4 ? g : g + 8, 4 * t + (i & 3)};
     }},
    {16, 32, 8,
     [](int g, int t, int i) {
       return Element{i < 4 || (i >= 8 && i < 12) ? g : g + 8, 4 * t + (i & 3) + (i >= 8 ? 16 : 0)};
     }},
    {16, 32, 4,
     [](int g, int t, int i) {
       return Element{i < 8 ? g : g + 8, 8 * t + (i & 7)};
     }},
    {16, 64, 4,
     [](int g, int t, int i) {
       return Element{i < 8 || (i >= 16 && i < 24) ? g : g + 8,
                      8 * t + (i & 7) + (i >= 16 ? 32 : 0)};
     }},
    {16, 128, 1,
     [](int g, int t, int i) {
       return Element{i < 32 ? g : g + 8, 32 * t + (i & 31)};
     }},
    {16, 256, 1, [](int g, int t, int i) {
       return Element{i < 32 || (i >= 64 && i < 96) ? g : g + 8,
                      32 * t + (i & 31) + (i >= 64 ? 128 : 0)};
     }}};

TEST(MmaFragment, OfAIsTheManualsForEveryShape) {
  for (const Manual& f : manual)
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < f.m * f.k / lanes; ++i) {
        const Slot slot = {lane, i / parts(f.bits), i % parts(f.bits)};
        const Element expected = f.a(lane >> 2, lane % 4, i);
        ASSERT_EQ(a_element(f.m, f.bits, slot), expected) << f.m << " " << f.k << " " << f.bits;
        ASSERT_EQ(a_slot(f.m, f.bits, expected), slot);
      }
}

// The rows of B step as the columns of an A of 8 rows: tid * width + i, then the next group of K.
TEST(MmaFragment, OfBCountsKAsAnAOfEightRowsDoes) {
  for (const Manual& f : manual) {
    const int width = parts(f.bits);
    std::set<std::tuple<int, int>> seen;
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < f.k * n / lanes; ++i) {
        const Slot slot = {lane, i / width, i % width};
        const Element e = b_element(f.bits, slot);
        ASSERT_EQ(e.col, lane >> 2);
        ASSERT_EQ(e.row, lane % 4 * width + i % width + 4 * width * (i / width));
        ASSERT_EQ(b_slot(f.bits, e), slot);
        seen.insert({e.row, e.col});
      }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(f.k * n));
  }
}

TEST(MmaFragment, OfDIsTheManuals) {
  for (const int m : {8, 16})
    for (const int bits : {16, 32, 64})
      for (int lane = 0; lane < lanes; ++lane)
        for (int i = 0; i < m * n / lanes; ++i) {
          const Slot slot = {lane, i / parts(bits), i % parts(bits)};
          const Element expected = {(lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
          ASSERT_EQ(d_element(bits, slot), expected);
          ASSERT_EQ(d_slot(bits, expected), slot);
        }
}

TEST(MmaFragment, RegistersAreThoseOfTheManual) {
  EXPECT_EQ(a_registers(16, 16, 16), 4);
  EXPECT_EQ(b_registers(16, 16), 2);
  EXPECT_EQ(d_registers(16, 32), 4);
  EXPECT_EQ(d_registers(16, 16), 2);
  EXPECT_EQ(a_registers(16, 16, 64), 8);
  EXPECT_EQ(b_registers(16, 64), 4);
  EXPECT_EQ(a_registers(8, 4, 64), 1);
  EXPECT_EQ(a_registers(16, 256, 1), 4);
}

}  // namespace
}  // namespace tcq::warp_mma
