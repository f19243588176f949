// Offsets, lines and columns; see source.h.
#include "sim/ptx/source.h"

#include <algorithm>

namespace tcq::ptx {

LineTable::LineTable(std::string_view text) : begins_{0} {
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1))
    begins_.push_back(static_cast<Offset>(end + 1));
}

Position LineTable::at(Offset offset) const {
  if (begins_.empty()) return {};
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), offset);
  return {static_cast<std::uint32_t>(next - begins_.begin()), offset - *(next - 1) + 1};
}

std::string sentence(const Diagnostic& diagnostic) {
  return "line " + std::to_string(diagnostic.at.line) + ", column " +
         std::to_string(diagnostic.at.column) + ": " + diagnostic.message;
}

}  // namespace tcq::ptx
