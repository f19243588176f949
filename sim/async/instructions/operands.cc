#include "sim/async/instructions/operands.h"

#include <array>
#include <charconv>

namespace tcq::machine {

std::string Names::at(const Address& address) const {
  const std::string text = at(address.of(0));
  return address.cta == own_cta ? text : joined(text, " of CTA ", address.cta);
}

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number, 16).ptr;
  return "0x" + std::string(digits.begin(), end);
}

std::string text_of(RegisterRange range) {
  if (range.count == 1) return joined("r", range.first);
  return joined("{r", range.first, "..r", range.first + range.count - 1, "}");
}

std::string text_of(const TmemOperand& operand) {
  const std::string offset = joined("lane ", operand.tmem_lane, ", column ", operand.tmem_column);
  return operand.reg < 0 ? offset : joined("r", operand.reg, " + ", offset);
}

}  // namespace tcq::machine
