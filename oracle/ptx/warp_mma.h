// Mnemonics of the warp's mma: `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32` -> its fragments.
//
// .sync, .aligned, .row, .col and the type of C may be left out. Decides which shapes go with which types;
// where elements lie is sim/isa/base/mma_fragment.h, of m8n8k4 of f16 quad_pair_fragment.h. Example:
// `mma.m16n8k8.f32.tf32.tf32`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/isa/base/element.h"

namespace tcq::oracle {

struct WarpMma {
  int m, k;  // N is 8
  std::string d, a, b, c;
  int d_bits, a_bits, b_bits, c_bits;
  bool quad_pairs = false;  // four products; then A and B may have either major-ness
  bool a_col = false, b_row = false;
  std::string kind = {};        // mxf8f6f4, mxf4, mxf4nvf4 with scale factors; else empty
  int factors = 0;              // of a row of A, and of a column of B
  std::string scale_type = {};  // ue8m0, ue4m3
  bool f8f6f4 = false;          // .kind::f8f6f4: said, or needed by types of 4 and 6 bits
  bool saturates = false;       // .satfinite, of integers
  std::string rounding = {};    // rn, rz, rm, rp of f64, if said
  std::string bit_op = {};      // and, xor of b1, if said
};

// Of 4 or 6 bits, which .kind::f8f6f4 and .kind::mxf8f6f4 pad to a byte.
std::optional<Type> narrow_type(std::string_view type);
bool is_narrow(std::string_view type);

// True for words that begin with "mma.".
bool is_warp_mma(std::string_view mnemonic);

// Throws UsageError for what is no such mnemonic, UnmodelledError for sparse forms.
WarpMma parse_warp_mma(std::string_view mnemonic);

// "mma.m16n8k16.f32.bf16.bf16.f32"
std::string short_mnemonic(const WarpMma& mma);

// "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32"; of b1 with .and.popc if nothing was said.
std::string full_mnemonic(const WarpMma& mma);

}  // namespace tcq::oracle
