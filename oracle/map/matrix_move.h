// Mnemonics of ldmatrix and stmatrix: what they say about matrices; see maps_ldmatrix.cc.
#pragma once

#include <optional>
#include <string_view>

#include "sim/isa/base/matrix_bytes.h"

namespace tcq::oracle {

struct MatrixMove {
  int count = 0;
  bool transposed = false;
  std::optional<matrix::ByteShape> bytes = {};  // empty: 8 x 8 matrices of 16 bits
  matrix::Packing packing = matrix::Packing::Bytes;

  int rows() const;  // of a matrix, each of 16 bytes in memory
};

// Throws UsageError for what is no such mnemonic.
MatrixMove matrix_move_from(std::string_view mnemonic);

}  // namespace tcq::oracle
