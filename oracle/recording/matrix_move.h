// One ldmatrix or stmatrix of a warp.
//
// The output is the registers (ldmatrix: lane by lane, four each) or the shared image (stmatrix). The
// simulator: sim/machine/matrix.h; the device: cuda/probe/tma_sm90.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/machine/matrix.h"

namespace tcq::oracle {

struct MatrixMove {
  enum class Kind : std::uint8_t { Load, Store };
  static constexpr int first_code = 4;
  static constexpr int kind_count = 2;

  Kind kind = Kind::Load;
  matrix::Operand operand;

  friend constexpr bool operator==(const MatrixMove&, const MatrixMove&) = default;
};

void fields(Fields& io, MatrixMove& e);
Memories state(const MatrixMove& e, const Inputs& inputs);
Prediction predict(const MatrixMove& e, const Inputs& inputs, Memories before);
std::string describe(const MatrixMove& e, const Inputs& inputs);
std::string place(const MatrixMove& e, const Inputs& inputs, std::size_t at);
Properties properties(const MatrixMove& e, const Inputs& inputs);
constexpr bool returns_shared(const MatrixMove& e) { return e.kind == MatrixMove::Kind::Store; }

std::vector<std::uint8_t> bytes_of(const matrix::WarpRegisters& registers);

}  // namespace tcq::oracle
