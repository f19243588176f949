#include "sim/machine/matrix.h"

namespace tcq::matrix {
namespace {

constexpr int rows = 8;
constexpr int columns = 8;
constexpr std::uint32_t row_bytes = 16;
constexpr std::uint32_t element_bytes = 2;

std::uint32_t address_of(const Operand& operand, const Element& e) {
  const auto lane = static_cast<std::size_t>(address_lane(e.matrix, e.row));
  return operand.addresses[lane] + static_cast<std::uint32_t>(e.col) * element_bytes;
}

Fault check(const Operand& operand, const SharedMemory& shared) {
  if (!count_exists(operand.count)) return Fault::MatrixCount;
  for (int matrix = 0; matrix < operand.count; ++matrix) {
    for (int row = 0; row < rows; ++row) {
      const std::uint32_t address = address_of(operand, {matrix, row, 0});
      if (address % row_bytes != 0) return Fault::MatrixRowUnaligned;
      if (!shared.contains(address, row_bytes)) return Fault::SharedMemoryOutOfRange;
    }
  }
  return Fault::None;
}

template <class Visit>
void for_each_element(const Operand& operand, Visit visit) {
  for (int matrix = 0; matrix < operand.count; ++matrix)
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < columns; ++col) visit(Element{matrix, row, col});
}

std::uint32_t& register_at(State& state, const Slot& s) {
  return state.registers[static_cast<std::size_t>(s.lane)][static_cast<std::size_t>(s.reg)];
}

}  // namespace

Fault execute(State& state, const LoadMatrix& load) {
  const Operand& operand = load.operand;
  if (const Fault fault = check(operand, state.shared); fault != Fault::None) return fault;
  for_each_element(operand, [&](const Element& e) {
    const Slot s = slot(operand.transposed, e);
    const std::uint32_t element = state.shared.load<std::uint16_t>(address_of(operand, e));
    std::uint32_t& word = register_at(state, s);
    word = s.part == 0 ? (word & 0xffff0000u) | element : (word & 0xffffu) | element << 16;
  });
  return Fault::None;
}

Fault execute(State& state, const StoreMatrix& store) {
  const Operand& operand = store.operand;
  if (const Fault fault = check(operand, state.shared); fault != Fault::None) return fault;
  for_each_element(operand, [&](const Element& e) {
    const Slot s = slot(operand.transposed, e);
    const std::uint32_t word = register_at(state, s);
    state.shared.store(address_of(operand, e),
                       static_cast<std::uint16_t>(s.part == 0 ? word : word >> 16));
  });
  return Fault::None;
}

}  // namespace tcq::matrix
