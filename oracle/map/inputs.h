// The sum behind one output: which elements of A, B and C go into D[row][col], and where they lie.
#pragma once

#include <string>

#include "oracle/map/view.h"

namespace tcq::oracle {

// Keys of `where D --inputs`: descriptors of A and B, metadata codes of the row, and how many
// products to write out before "...".
inline constexpr std::array<std::string_view, 4> input_keys = {"desc_a", "desc_b", "codes",
                                                               "terms"};

// "A[9][0]@0x890*B[0][13]@0x2ad0 + ... + C@thread 6, register 7".
std::string inputs_text(const View& d, wgmma::Element element, const Keys& keys);

// The same as a JSON array of products and the place of C.
std::string inputs_json(const View& d, wgmma::Element element, const Keys& keys);

}  // namespace tcq::oracle
