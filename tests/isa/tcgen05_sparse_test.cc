// Which k of B a stored element of a sparse A of tcgen05.mma meets: written out for every code, and one count of stored
// elements for the codes and for where they lie.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "sim/isa/tcgen05/sparse.h"
#include "sim/isa/tmem/operand.h"

namespace tcq::tcgen05 {
namespace {

const std::vector<Kind> all_kinds = {Kind::tf32,     Kind::f16,  Kind::i8,      Kind::f8f6f4,
                                     Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4};

// A code, and the positions of its chunk that it keeps.
using Kept = std::map<std::uint32_t, std::vector<int>>;
const Kept one_of_two = {{0b0100, {0}}, {0b1110, {1}}};
const Kept two_of_four = {{0b0100, {0, 1}}, {0b1000, {0, 2}}, {0b1100, {0, 3}},
                          {0b1001, {1, 2}}, {0b1101, {1, 3}}, {0b1110, {2, 3}}};
const Kept two_pairs_of_four = {{0b0100, {0, 1, 2, 3}}, {0b1000, {0, 1, 4, 5}},
                                {0b1100, {0, 1, 6, 7}}, {0b1001, {2, 3, 4, 5}},
                                {0b1101, {2, 3, 6, 7}}, {0b1110, {4, 5, 6, 7}}};

const Kept& kept(Kind kind) {
  switch (kind) {
    case Kind::tf32: return one_of_two;
    case Kind::mxf4:
    case Kind::mxf4nvf4: return two_pairs_of_four;
    default: return two_of_four;
  }
}

TEST(Tcgen05_Sparse, ACodeKeepsTheElementsThatItNames) {
  for (const Kind kind : all_kinds)
    for (const auto& [code, positions] : kept(kind)) {
      const auto count = static_cast<int>(positions.size());
      ASSERT_EQ(stored_per_code(kind), count) << name(kind);
      for (int stored = 0; stored < 5 * count; ++stored)
        EXPECT_EQ(selected_k(kind, code, stored),
                  stored / count * 2 * count + positions[static_cast<std::size_t>(stored % count)])
            << name(kind) << " code " << code << " stored " << stored;
    }
}

TEST(Tcgen05_Sparse, OtherCodesAreUndefined) {
  for (const Kind kind : all_kinds)
    for (std::uint32_t code = 0; code < 16; ++code)
      EXPECT_EQ(check_code(kind, code),
                kept(kind).contains(code) ? Fault::None : Fault::UndefinedMetadata)
          << name(kind) << " code " << code;
}

TEST(Tcgen05_Sparse, HalfOfWhatACodeCoversIsStored) {
  for (const Kind kind : all_kinds)
    EXPECT_EQ(2 * stored_per_code(kind), metadata_chunk_elements(kind)) << name(kind);
}

TEST(Tcgen05_Sparse, WorkedExample) {
  for (int c = 0; c < 16; ++c)
    for (int i = 0; i < 4; ++i) EXPECT_EQ(selected_k(Kind::mxf4, 0b1001, 4 * c + i), 8 * c + 2 + i);
}

}  // namespace
}  // namespace tcq::tcgen05
