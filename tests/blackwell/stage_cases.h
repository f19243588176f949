// What each stage of the first hour on a chip of compute capability 10.x runs: cases for rows of the table of kernels
// on tcgen05, of which each makes one more assumption than those before it. In which order: stages.cmake.
//
// Needs no device: tests/run/run_tensor_stages_test.cc plans them all, and runs the first stage's on the machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gemm/kernels.h"
#include "tests/support/tensor_problem.h"

namespace tcq::tests {

enum class Stage : std::uint8_t {
  OneTile,
  OneCta,
  Pair,
  Factors,
  FactorsOfPairs,
  Promotion,
  SharedK,
  FewRows,
  Dynamic
};
inline constexpr int gemm_stage_count = 9;

struct StageCase {
  std::size_t row;
  std::string_view what;
  Drawn drawn;
  int sm_limit = 0;  // of the problem; 0: all
};

// Kernels for groups have none yet (docs/first_hour.md).
inline bool belongs(const gemm::Kernel& row, Stage stage) {
  if (row.grouped || row.groups_k) return false;
  const bool few = row.skinny == gemm::Skinny::Rows;
  if (stage == Stage::FewRows || few) return stage == Stage::FewRows && few;
  if (stage == Stage::SharedK || row.split > 1) return stage == Stage::SharedK && row.split > 1;
  if (stage == Stage::Dynamic || row.dynamic) return stage == Stage::Dynamic && row.dynamic;
  const bool has_factors = row.scale_vec != tcgen05::ScaleVec::Default;
  const bool promotes = row.promotion != gemm::Promotion::None;
  const bool pair = row.cluster_m == 2;
  switch (stage) {
    case Stage::OneTile: return !has_factors && !promotes && !pair;
    case Stage::OneCta: return !has_factors && !promotes && !pair;
    case Stage::Pair: return !has_factors && !promotes && pair;
    case Stage::Factors: return has_factors && !pair;
    case Stage::FactorsOfPairs: return has_factors && pair;
    case Stage::Promotion: return promotes;
    case Stage::SharedK:
    case Stage::FewRows:
    case Stage::Dynamic: break;
  }
  return false;
}

// The product alone, in the type that sums have.
inline Drawn plain(const gemm::Kernel& row, std::int64_t m, std::int64_t n, std::int64_t k) {
  Drawn s{.m = m, .n = n, .k = k};
  if (!is_float(row.in)) s.out = Type::s32;
  return s;
}

inline StageCase one_tile(const gemm::Kernel& row, std::size_t number) {
  const int rows = row.block_m * row.cluster_m;
  return {number, "one tile, a block of K", plain(row, rows, row.block_n, row.split * row.block_k)};
}

// More blocks of K than stages; more tiles than accumulators, all by one CTA or pair; MN-major; what is drawn, ragged and with
// any epilogue.
inline void add_more(const gemm::Kernel& row, std::size_t number, std::vector<StageCase>& all) {
  const int rows = row.block_m * row.cluster_m;
  const int deep = row.split * row.block_k * (row.stages + 2);
  all.push_back({number, "one tile, the ring once round", plain(row, rows, row.block_n, deep)});
  const int sm_limit = gemm::is_persistent(row) && !row.dynamic ? gemm::cluster_size(row) : 0;
  if (sm_limit > 0)
    all.push_back({number, "six tiles in turn",
                   plain(row, 3 * rows, 2 * row.block_n, 2 * row.block_k), sm_limit});
  if (row.dynamic)  // of a device that has 148 SMs, or 160
    all.push_back({number, "more tiles than run at one time",
                   plain(row, 12 * rows, 15 * row.block_n, row.block_k)});
  if (row.any_major_a || row.any_major_b) {
    const auto other = [](bool any) { return any ? Major::MN : Major::K; };
    all.push_back({number, "operands MN-major",
                   turned(plain(row, rows, row.block_n, deep), other(row.any_major_a),
                          other(row.any_major_b))});
  }
  for (std::uint64_t i = 0; i < 3; ++i)
    all.push_back({number, "drawn", drawn_for(row, mix(1000 * i + number)), sm_limit});
}

// Of the rows of one type the narrowest, which is the smallest tile.
inline bool is_narrowest(std::span<const gemm::Kernel> table, std::size_t number) {
  const gemm::Kernel& row = table[number];
  return std::ranges::all_of(table, [&](const gemm::Kernel& other) {
    return !belongs(other, Stage::OneTile) || other.in != row.in || other.block_n >= row.block_n;
  });
}

inline std::vector<StageCase> cases_of(Stage stage, std::span<const gemm::Kernel> table) {
  std::vector<StageCase> all;
  for (std::size_t number = 0; number < table.size(); ++number) {
    if (!belongs(table[number], stage)) continue;
    if (stage == Stage::OneTile && !is_narrowest(table, number)) continue;
    all.push_back(one_tile(table[number], number));
    if (stage != Stage::OneTile) add_more(table[number], number, all);
  }
  return all;
}

// For the library, which plans what it likes: of the row's types and epilogues, larger than a tile.
inline TensorCase library_case(const gemm::Kernel& row, std::uint64_t seed) {
  Draw draw(seed);
  const Drawn sizes{.m = draw.in(1, 900),
                    .n = draw.in(1, 900),
                    .k = draw.in(1, 2000),
                    .batch = draw.one_in(6) ? 2 : 1};
  return case_of(row, drawn_for(row, sizes, seed, draw));
}

// Of a kind that the chip has.
inline bool exists_on(const gemm::Kernel& row, int minor) { return minor == 0 || is_float(row.in); }

inline std::string text_of(const StageCase& c, const gemm::Kernel& row) {
  const Drawn& s = c.drawn;
  return "row " + std::to_string(c.row) + " (" + tcq::name(row.in) + ", " + gemm::name(row) +
         "), " + std::string(c.what) + ": " + std::to_string(s.m) + "x" + std::to_string(s.n) +
         "x" + std::to_string(s.k) + " seed " + std::to_string(s.seed);
}

}  // namespace tcq::tests
