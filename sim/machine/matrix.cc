#include "sim/machine/matrix.h"

namespace tcq::matrix {
namespace {

constexpr int half_rows = 8;
constexpr int columns = 8;
constexpr std::uint32_t row_bytes = 16;
constexpr std::uint32_t element_bytes = 2;

std::uint32_t address_of(const Operand& operand, const Element& e) {
  const auto lane = static_cast<std::size_t>(address_lane(e.matrix, e.row));
  return operand.addresses[lane] + static_cast<std::uint32_t>(e.col) * element_bytes;
}

template <class Visit>
void for_each_element(const Operand& operand, Visit visit) {
  for (int matrix = 0; matrix < operand.count; ++matrix)
    for (int row = 0; row < half_rows; ++row)
      for (int col = 0; col < columns; ++col) visit(Element{matrix, row, col});
}

}  // namespace

Fault check(const Operand& operand, const SharedMemory& shared) {
  if (!count_exists(operand.count)) return Fault::MatrixCount;
  for (int matrix = 0; matrix < operand.count; ++matrix) {
    for (int row = 0; row < half_rows; ++row) {
      const std::uint32_t address = address_of(operand, {matrix, row, 0});
      if (address % row_bytes != 0) return Fault::MatrixRowUnaligned;
      if (!shared.contains(address, row_bytes)) return Fault::SharedMemoryOutOfRange;
    }
  }
  return Fault::None;
}

void execute(const SharedMemory& shared, WarpRegisters& registers, const LoadMatrix& load) {
  const Operand& operand = load.operand;
  for_each_element(operand, [&](const Element& e) {
    const Slot s = slot(operand.transposed, e);
    const std::uint32_t element = shared.load<std::uint16_t>(address_of(operand, e));
    std::uint32_t& word =
        registers[static_cast<std::size_t>(s.lane)][static_cast<std::size_t>(s.reg)];
    word = s.part == 0 ? (word & 0xffff0000u) | element : (word & 0xffffu) | element << 16;
  });
}

void execute(SharedMemory& shared, const WarpRegisters& registers, const StoreMatrix& store) {
  const Operand& operand = store.operand;
  for_each_element(operand, [&](const Element& e) {
    const Slot s = slot(operand.transposed, e);
    const std::uint32_t word =
        registers[static_cast<std::size_t>(s.lane)][static_cast<std::size_t>(s.reg)];
    shared.store(address_of(operand, e),
                 static_cast<std::uint16_t>(s.part == 0 ? word : word >> 16));
  });
}

Fault execute(State& state, const LoadMatrix& load) {
  if (const Fault fault = check(load.operand, state.shared); fault != Fault::None) return fault;
  execute(state.shared, state.registers, load);
  return Fault::None;
}

Fault execute(State& state, const StoreMatrix& store) {
  if (const Fault fault = check(store.operand, state.shared); fault != Fault::None) return fault;
  execute(state.shared, state.registers, store);
  return Fault::None;
}

// --- of bytes --------------------------------------------------------------------------------------

namespace {

std::uint32_t row_address(const ByteOperand& operand, int matrix, int row) {
  return operand.addresses[static_cast<std::size_t>(address_lane(operand.shape, matrix, row))];
}

template <class Visit>
void for_each_element(const ByteOperand& operand, Visit visit) {
  for (int matrix = 0; matrix < operand.count; ++matrix)
    for (int row = 0; row < rows(operand.shape); ++row)
      for (int col = 0; col < byte_columns; ++col) visit(Element{matrix, row, col});
}

}  // namespace

Fault check(const ByteOperand& operand, const SharedMemory& shared) {
  if (!count_exists(operand.shape, operand.count)) return Fault::MatrixCount;
  for (int matrix = 0; matrix < operand.count; ++matrix) {
    for (int row = 0; row < rows(operand.shape); ++row) {
      const std::uint32_t address = row_address(operand, matrix, row);
      if (address % row_bytes != 0) return Fault::MatrixRowUnaligned;
      if (!shared.contains(address, row_bytes)) return Fault::SharedMemoryOutOfRange;
    }
  }
  return Fault::None;
}

void load(const SharedMemory& shared, WarpRegisters& registers, const ByteOperand& operand) {
  for_each_element(operand, [&](const Element& e) {
    const int first = first_byte(operand.packing, e.col);
    const std::uint32_t row = row_address(operand, e.matrix, e.row);
    const auto byte = [&](int i) {
      return static_cast<int>(shared.load<std::uint8_t>(row + static_cast<std::uint32_t>(i)));
    };
    const int next = first + 1 < packed_bytes(operand.packing) ? byte(first + 1) : 0;
    const auto value =
        static_cast<std::uint32_t>(unpacked(operand.packing, e.col, byte(first), next));
    const Slot s = slot(operand.shape, e);
    std::uint32_t& word =
        registers[static_cast<std::size_t>(s.lane)][static_cast<std::size_t>(s.reg)];
    word = (word & ~(0xffu << 8 * s.part)) | value << 8 * s.part;
  });
}

void store(SharedMemory& shared, const WarpRegisters& registers, const ByteOperand& operand) {
  for_each_element(operand, [&](const Element& e) {
    const Slot s = slot(operand.shape, e);
    const std::uint32_t word =
        registers[static_cast<std::size_t>(s.lane)][static_cast<std::size_t>(s.reg)];
    shared.store(row_address(operand, e.matrix, e.row) + static_cast<std::uint32_t>(e.col),
                 static_cast<std::uint8_t>(word >> 8 * s.part));
  });
}

}  // namespace tcq::matrix
