// Executing one ldmatrix or stmatrix: 8 x 8 matrices of 16-bit elements, or matrices of bytes, between
// shared memory and the registers of one warp.
//
// Which element sits in which register is sim/isa/base/matrix_fragment.h. Rows may be read twice; where
// the rows of a store overlap, PTX names no winner and here the last matrix and row wins.
//
// Measured: tests/vectors/matrix.tcqv
#pragma once

#include <array>
#include <cstdint>

#include "sim/isa/base/matrix_bytes.h"
#include "sim/isa/base/matrix_fragment.h"
#include "sim/isa/fault/fault.h"
#include "sim/machine/shared_memory.h"

namespace tcq::matrix {

inline constexpr int lanes = 32;
inline constexpr int max_count = 4;

struct Operand {
  int count = 1;  // matrices: 1, 2 or 4
  bool transposed = false;
  std::array<std::uint32_t, lanes> addresses{};  // of rows; lanes from 8 * count on are ignored

  friend constexpr bool operator==(const Operand&, const Operand&) = default;
};

// Of bytes: sim/isa/base/matrix_bytes.h. Only ldmatrix takes a packing, only stmatrix M16n8.
struct ByteOperand {
  ByteShape shape = ByteShape::M16n16;
  Packing packing = Packing::Bytes;
  int count = 1;
  std::array<std::uint32_t, lanes> addresses{};  // of rows; lanes behind them are ignored
};

struct LoadMatrix {
  Operand operand;
};
struct StoreMatrix {
  Operand operand;
};

// Register r of lane l is at [l][r].
using WarpRegisters = std::array<std::array<std::uint32_t, max_count>, lanes>;

struct State {
  SharedMemory shared;
  WarpRegisters registers{};

  friend bool operator==(const State&, const State&) = default;
};

// Faults: MatrixCount, MatrixRowUnaligned, SharedMemoryOutOfRange; then the state is unchanged. A
// load changes registers [0, count) of every lane, a store shared memory only.
Fault execute(State& state, const LoadMatrix& load);
Fault execute(State& state, const StoreMatrix& store);

// The same in parts: what may fault, and then the moving. Requires: check() found nothing.
Fault check(const Operand& operand, const SharedMemory& shared);
void execute(const SharedMemory& shared, WarpRegisters& registers, const LoadMatrix& load);
void execute(SharedMemory& shared, const WarpRegisters& registers, const StoreMatrix& store);

// ldmatrix and stmatrix of bytes. Requires: check() found nothing. Never run on silicon here.
Fault check(const ByteOperand& operand, const SharedMemory& shared);
void load(const SharedMemory& shared, WarpRegisters& registers, const ByteOperand& operand);
void store(SharedMemory& shared, const WarpRegisters& registers, const ByteOperand& operand);

}  // namespace tcq::matrix
