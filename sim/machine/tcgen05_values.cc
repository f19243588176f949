// D's bits are drawn from all bits that the sum reads, so that equal operands give equal bits and
// nothing else does; the exact sums take its place with the arithmetic of tcgen05.
#include "sim/machine/tcgen05_values.h"

namespace tcq::tcgen05 {
namespace {

class Draw {
 public:
  void add(std::uint32_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  template <class T>
  void add_row(const std::vector<T>& matrix, int row, int width) {
    for (int i = 0; i < width; ++i) add(matrix[static_cast<std::size_t>(row * width + i)]);
  }
  std::uint32_t word() const { return static_cast<std::uint32_t>(state_ >> 32); }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace

Fault multiply(const MmaValues& in, std::vector<std::uint32_t>& d) {
  const int k = dense_k(in.opcode.kind);
  const int factors = scale_factors_per_row(in.opcode);
  for (int row = 0; row < in.idesc.m; ++row) {
    Draw a;
    a.add_row(in.a, row, k);
    a.add_row(in.scales_a, row, factors);
    for (int col = 0; col < in.idesc.n; ++col) {
      std::uint32_t& word = d[static_cast<std::size_t>(row * in.idesc.n + col)];
      Draw sum = a;
      sum.add_row(in.b, col, k);
      sum.add_row(in.scales_b, col, factors);
      if (in.accumulate) sum.add(word);
      word = sum.word();
    }
  }
  return Fault::None;
}

}  // namespace tcq::tcgen05
