// D of a wgmma as a matrix, and between it and the registers of a warpgroup.
//
// Word [row * n + column] has the bits of one element. In registers D lies in blocks of 8 rows and 8 columns: lane l of a
// warp has columns 2 * (l % 4) and the next one of row l / 4, in two registers, or of 16 bits in the parts of one. Example:
// f32, register 9 of warp 2: lane 11 has column 7 of row 2 of its block, whose corner is D[32][16]: D[34][23].
//
// Source: sim/isa/wgmma/fragment.h, an element at a time; Wgmma_Chain.AccumulatorsLie* holds these blocks against it
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

using Outputs = std::vector<std::uint32_t>;

inline constexpr int lanes_per_warp = 32;
inline constexpr int warps_per_warpgroup = threads_per_warpgroup / lanes_per_warp;

// Calls visit(warp, first register, place of the corner) for every block.
template <class Visit>
void for_each_block(const Form& f, Visit visit) {
  const int step = 2 / parts_per_register(f.d);
  for (int warp = 0; warp < warps_per_warpgroup; ++warp)
    for (int reg = 0; reg < accumulator_registers(f.d, f.n); reg += step) {
      const Element corner = accumulator_element(f.d, {lanes_per_warp * warp, reg, 0});
      visit(warp, reg, static_cast<std::size_t>(corner.row * f.n + corner.col));
    }
}

// words_of(warp, register)[lane]: a word.
template <class WordsOf>
void load_accumulators(const Form& f, const WordsOf& words_of, Outputs& d) {
  d.resize(static_cast<std::size_t>(m * f.n));
  for_each_block(f, [&](int warp, int reg, std::size_t corner) {
    const bool is_wide = bits(f.d) == 32;
    const auto& first = words_of(warp, reg);
    const auto& second = words_of(warp, is_wide ? reg + 1 : reg);
    for (std::size_t row = 0; row < 8; ++row) {
      std::uint32_t* to = d.data() + corner + row * static_cast<std::size_t>(f.n);
      for (std::size_t pair = 0; pair < 4; ++pair) {
        const std::size_t lane = 4 * row + pair;
        to[2 * pair] = is_wide ? first[lane] : register_part(f.d, first[lane], 0);
        to[2 * pair + 1] = is_wide ? second[lane] : register_part(f.d, first[lane], 1);
      }
    }
  });
}

template <class WordsOf>
void store_accumulators(const Form& f, const Outputs& d, const WordsOf& words_of) {
  for_each_block(f, [&](int warp, int reg, std::size_t corner) {
    const bool is_wide = bits(f.d) == 32;
    auto&& first = words_of(warp, reg);
    auto&& second = words_of(warp, is_wide ? reg + 1 : reg);
    for (std::size_t row = 0; row < 8; ++row) {
      const std::uint32_t* from = d.data() + corner + row * static_cast<std::size_t>(f.n);
      for (std::size_t pair = 0; pair < 4; ++pair) {
        const std::size_t lane = 4 * row + pair;
        const std::uint32_t low = from[2 * pair];
        const std::uint32_t high = from[2 * pair + 1];
        first[lane] =
            is_wide ? low : in_register_part(f.d, low, 0) | in_register_part(f.d, high, 1);
        if (is_wide) second[lane] = high;
      }
    }
  });
}

}  // namespace tcq::wgmma
