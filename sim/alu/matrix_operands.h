// Fragments of mma.sync in the registers of a warp: matrices of words.
//
// gathered<m, k, width>: row by row what `registers` hold of an m x k matrix A of elements of `width` bits, or, with m = 8,
// column by column of a matrix B. Where which element lies: sim/isa/base/mma_fragment.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/alu/lanes.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::alu {

template <int width>
using ElementWord = std::conditional_t<width == 64, std::uint64_t, std::uint32_t>;

template <int m, int k, int width>
using Lines = std::array<std::array<ElementWord<width>, k>, m>;

template <int m, int k, int width>
Lines<m, k, width> gathered(const void* const* registers) {
  using Word = ElementWord<width>;
  constexpr Word element = static_cast<Word>(~Word{0} >> (8 * sizeof(Word) - width));
  Lines<m, k, width> x;
  for (int reg = 0; reg < warp_mma::a_registers(m, k, width); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int part = 0; part < warp_mma::parts(width); ++part) {
        const auto [row, col] = warp_mma::a_element(m, width, {lane, reg, part});
        const Word word = cells<Word>(registers[reg])[lane];
        x[static_cast<std::size_t>(row)][static_cast<std::size_t>(col)] =
            word >> (width * part) & element;
      }
  return x;
}

// A, B and C one after the other among the sources of an instruction.
template <int m, int k, int width>
struct Sources {
  explicit Sources(const Arguments& arguments)
      : a(gathered<m, k, width>(arguments.in)),
        b(gathered<warp_mma::n, k, width>(arguments.in + warp_mma::a_registers(m, k, width))),
        c(arguments.in + warp_mma::a_registers(m, k, width) + warp_mma::b_registers(k, width)) {}

  Lines<m, k, width> a;
  Lines<warp_mma::n, k, width> b;  // by column
  const void* const* c;
};

}  // namespace tcq::alu
