// Drawn problems on every row of the table of kernels on tcgen05 (cuda/gemm/tensor_table.h): D equal to the reference bit
// for bit, nothing found, no Tensor Memory left. Types, majors, epilogues, sizes, strides, factors, values and how many
// CTAs share the tiles are drawn. A few here, of which each row gets its share; TCQ_PROBLEMS=200 draws so many, TCQ_SEED=N
// others. Skipped without nvcc.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/num/inputs/draw.h"
#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

class TensorDrawn : public TensorKernels {};

std::uint64_t number_or(const char* variable, std::uint64_t usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

TEST_F(TensorDrawn, EveryBitAndNoFinding) {
  const std::uint64_t problems = number_or("TCQ_PROBLEMS", 2 * tensor_table().size());
  const std::uint64_t seed = number_or("TCQ_SEED", 18);
  for (std::uint64_t i = 0; i < problems; ++i) {
    const std::size_t row = i % tensor_table().size();
    const std::uint64_t own = mix(seed * 1000 + i);
    SCOPED_TRACE("TCQ_SEED=" + std::to_string(seed) + ", problem " + std::to_string(i));
    expect_bits(tensor_row(row), drawn_for(tensor_table()[row], own),
                static_cast<int>(own % 3) + 1);
  }
}

}  // namespace
}  // namespace tcq::tests
