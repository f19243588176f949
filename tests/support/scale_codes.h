// Scale factors of a block-scaled product: random ones for the reference, a byte each in rows, and the atoms that tcgen05
// wants of a caller (ScaleCodes of cuda/gemm/arguments.h).
//
// What fills atoms up behind the last of K is any number, behind the last row NaN. Example: see
// tests/run/tensor_gemm_run.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "oracle/sum/gemm_chain.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/num/inputs/draw.h"
#include "tests/support/gemm_case.h"

namespace tcq {

inline constexpr std::uint8_t nan_code = 0xff;  // of ue8m0, and of ue4m3 with its sign ignored

// Mostly near 1; `edges`: the smallest and largest, zero, NaN by chance.
inline std::uint8_t random_code(tcgen05::ScaleType type, bool edges, Draw& draw) {
  constexpr std::uint8_t largest_ue4m3 = 0x7e;
  const bool ue8m0 = type == tcgen05::ScaleType::ue8m0;
  if (edges && draw.one_in(600)) return nan_code;
  if (edges && draw.one_in(40)) return ue8m0 ? 250 : largest_ue4m3;
  if (edges && draw.one_in(40)) return draw.one_in(2) ? 0 : 1;
  if (ue8m0) return static_cast<std::uint8_t>(draw.in(122, 132));
  return static_cast<std::uint8_t>(draw.in(0x18, 0x58));
}

inline std::int64_t codes_along_k(const oracle::Gemm& g) {
  return (g.k + oracle::scale_block(g) - 1) / oracle::scale_block(g);
}

// Of `lines` rows of A or columns of B of each product, those of a line one behind the other.
inline Buffer random_codes(const oracle::Gemm& g, std::int64_t lines, bool edges,
                           std::uint64_t seed) {
  const std::int64_t count = g.batch * lines * codes_along_k(g);
  Buffer out = poisoned(Type::u8, count, 0, nan_code);
  Draw draw(seed);
  for (std::int64_t i = 0; i < count; ++i)
    oracle::store_element(Type::u8, out.data(), i, random_code(g.chain.scale_type, edges, draw));
  return out;
}

inline oracle::GemmFactors code_steps(const oracle::Gemm& g, std::int64_t lines) {
  const std::int64_t along = codes_along_k(g);
  return {.line_step = along, .block_step = 1, .batch_step = lines * along};
}

// Bytes from the atoms of one product to the next one's.
inline std::int64_t atoms_step(const oracle::Gemm& g, std::int64_t lines) {
  return tcgen05::scale_bytes(static_cast<int>(lines), static_cast<int>(codes_along_k(g)));
}

inline constexpr std::int64_t no_line = -1;

// Atoms in which these lines of `codes` stand one behind the other.
inline std::vector<std::uint8_t> atoms_of_lines(const oracle::Gemm& g, const Buffer& codes,
                                                const std::vector<std::int64_t>& lines) {
  const auto along = static_cast<int>(codes_along_k(g));
  const int padded = tcgen05::scale_atoms_along_k(along) * tcgen05::scale_group;
  const auto count = static_cast<std::int64_t>(lines.size());
  std::vector<std::uint8_t> out(static_cast<std::size_t>(atoms_step(g, count)), nan_code);
  Draw draw(lines.size());
  for (int mn = 0; mn < count; ++mn) {
    const std::int64_t line = lines[static_cast<std::size_t>(mn)];
    if (line == no_line) continue;
    for (int s = 0; s < padded; ++s)
      out[static_cast<std::size_t>(tcgen05::scale_byte({mn, s}, along))] =
          s < along ? static_cast<std::uint8_t>(
                          oracle::load_element(Type::u8, codes.data(), line * along + s))
                    : random_code(g.chain.scale_type, false, draw);
  }
  return out;
}

// Of all products, `lines` of each.
inline std::vector<std::uint8_t> atoms_of(const oracle::Gemm& g, const Buffer& codes,
                                          std::int64_t lines) {
  std::vector<std::uint8_t> out;
  std::vector<std::int64_t> of_one(static_cast<std::size_t>(lines));
  for (std::int64_t l = 0; l < g.batch; ++l) {
    std::iota(of_one.begin(), of_one.end(), l * lines);
    const std::vector<std::uint8_t> atoms = atoms_of_lines(g, codes, of_one);
    out.insert(out.end(), atoms.begin(), atoms.end());
  }
  return out;
}

// Two elements of 4 bits to a byte, the first in the low half. Requires: an even number lies before the first one.
inline Buffer packed_by_two(const Buffer& elements) {
  Buffer out;
  out.first = elements.first / 2;
  out.bytes.resize(elements.bytes.size() / 2);
  for (std::size_t i = 0; i < out.bytes.size(); ++i)
    for (int part = 0; part < 2; ++part) {
      const std::size_t from = 2 * i + static_cast<std::size_t>(part);
      out.bytes[i] = static_cast<std::uint8_t>(
          out.bytes[i] |
          in_register_part(Type::e2m1, register_part(Type::e2m1, elements.bytes[from], 0), part));
    }
  return out;
}

// --- D as the library stores it -------------------------------------------------------------------

inline Buffer stored_d(const oracle::Gemm& g, const Buffer& d) {
  return g.d_type() == Type::e2m1 ? packed_by_two(d) : d;
}

// Rows of D of each matrix in the order in which their factors stand in atoms.
using CodedLines = std::vector<std::vector<std::int64_t>>;

inline CodedLines all_lines(const oracle::Gemm& g) {
  std::vector<std::int64_t> lines(static_cast<std::size_t>(g.m));
  std::iota(lines.begin(), lines.end(), 0);
  return {static_cast<std::size_t>(g.batch), lines};
}

// Factors of a quantized D, of which bytes lie in atoms; `fill`: what these have behind the last of a row.
inline std::vector<std::uint8_t> stored_factors(const oracle::Gemm& g, const Buffer& factors,
                                                std::uint8_t fill, const CodedLines& matrices) {
  if (g.quantized_vec == tcgen05::ScaleVec::Default) return factors.bytes;
  const auto along = static_cast<int>(blocks_of_d(g));
  const int padded = tcgen05::scale_atoms_along_k(along) * tcgen05::scale_group;
  const oracle::GemmFactors& f = g.factors_d;
  std::vector<std::uint8_t> out;
  for (std::size_t l = 0; l < matrices.size(); ++l) {
    const std::vector<std::int64_t>& lines = matrices[l];
    const std::size_t begin = out.size();
    const std::int64_t step = tcgen05::scale_bytes(static_cast<int>(lines.size()), along);
    out.resize(begin + static_cast<std::size_t>(step), poison_of_d);
    for (int place = 0; place < static_cast<int>(lines.size()); ++place) {
      const std::int64_t line = lines[static_cast<std::size_t>(place)];
      if (line == no_line) continue;
      for (int s = 0; s < padded; ++s) {
        const std::int64_t from =
            static_cast<std::int64_t>(l) * f.batch_step + line * f.line_step + s * f.block_step;
        const std::int64_t code =
            s < along ? oracle::load_element(Type::u8, factors.data(), from) : fill;
        out[begin + static_cast<std::size_t>(tcgen05::scale_byte({place, s}, along))] =
            static_cast<std::uint8_t>(code);
      }
    }
  }
  return out;
}
inline std::vector<std::uint8_t> stored_factors(const oracle::Gemm& g, const Buffer& factors,
                                                std::uint8_t fill) {
  return stored_factors(g, factors, fill, all_lines(g));
}

// All bytes of D's buffer and of its factors' as they become.
inline std::vector<std::uint8_t> stored_results(const GemmCase& x, int threads = 0) {
  const auto [d, factors] = x.results(threads);
  return GemmCase::joined(stored_d(x.gemm, d).bytes, stored_factors(x.gemm, factors, 0));
}

}  // namespace tcq
