#include "oracle/recording/matrix_move.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <utility>

namespace tcq::oracle {
namespace {

const char* name(MatrixMove::Kind kind) {
  return kind == MatrixMove::Kind::Load ? "ldmatrix" : "stmatrix";
}

std::string count_text(const MatrixMove& e) {
  return fmt::format("x{}{}", e.operand.count, e.operand.transposed ? ".trans" : "");
}

}  // namespace

void fields(Fields& io, MatrixMove& e) {
  io.number(e.operand.count, 1);
  io.flag(e.operand.transposed);
  io.numbers(e.operand.addresses, 4);
}

Memories state(const MatrixMove&, const Inputs& inputs) { return draw_memories(inputs); }

Prediction predict(const MatrixMove& e, const Inputs&, Memories before) {
  matrix::State state{std::move(before.shared), before.registers};
  const Fault fault = returns_shared(e) ? execute(state, matrix::StoreMatrix{e.operand})
                                        : execute(state, matrix::LoadMatrix{e.operand});
  if (fault != Fault::None) return trap(fault);
  return {fault, returns_shared(e) ? bytes_of(state.shared) : bytes_of(state.registers)};
}

std::vector<std::uint8_t> bytes_of(const matrix::WarpRegisters& registers) {
  std::vector<std::uint8_t> bytes(sizeof registers);
  std::memcpy(bytes.data(), registers.data(), sizeof registers);
  return bytes;
}

std::string describe(const MatrixMove& e, const Inputs&) {
  return fmt::format("{}.{} addresses {:#x}", name(e.kind), count_text(e),
                     fmt::join(e.operand.addresses, ","));
}

std::string place(const MatrixMove& e, const Inputs& inputs, std::size_t at) {
  if (returns_shared(e)) return shared_place(inputs, at);
  return fmt::format("lane {} register {} byte {}", at / 16, at / 4 % 4, at % 4);
}

Properties properties(const MatrixMove& e, const Inputs&) { return {name(e.kind), count_text(e)}; }

}  // namespace tcq::oracle
