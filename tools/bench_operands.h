// The operands of a problem that bench_gemm measures, in device memory, and the check of its bits.
//
// Sets of operands take turns so that no launch finds its operands in L2. Which problems: tools/bench_problem.h; where what lies:
// tools/bench_places.h. Between lines are NaNs, of integers and e2m1 what is large: a product that reads them differs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"
#include "cuda/runtime/launch.h"
#include "tools/bench_places.h"

namespace tcq::tools {

// Normal random operands, as many sets as fill twice the L2 cache; one bias and one set of factors for all.
class OperandSets {
 public:
  OperandSets(const gemm::Problem& problem, std::uint64_t seed, cudaStream_t stream);

  std::size_t count() const { return d_.size(); }
  // That a launch cannot but move: every operand once, of groups the B of those that have rows.
  double bytes() const;
  gemm::Pointers at(std::size_t set) const;
  // Strides are numbers; a batch is one, however it is planned.
  const gemm::Problem& problem() const { return problem_; }
  // What a library without groups has instead, on the same operands.
  gemm::Problem one_product() const;

  // Outputs of set 0 that differ from the prediction among the crossings of a few rows and columns (quantized: whole blocks of them) of
  // up to three products (checked_parts()), and elements that are no longer as poison_result() left them behind these rows and in rows
  // of no group: {differing, checked}. The plan states the order of accumulation, and whose instruction sums.
  std::pair<int, int> check(const gemm::Plan& plan, gemm::Path path) const;
  void poison_result() const;

 private:
  // Lines of A, of D and of the product whose crossings are checked.
  struct Lines {
    Part part;
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> results;
    std::vector<std::int64_t> cols;
    std::vector<std::int64_t> codes_a = {};  // rows among A's factors of blocks
    std::int64_t k_first = 0;                // the part's, along K
    std::int64_t k = 0;
  };
  Lines lines_of(const Part& part) const;
  // Of those lines, one line behind the other; `first`: the matrix's in `all`.
  std::vector<float> factors(const cuda::DeviceBuffer<float>& all, const gemm::View& view,
                             Major major, const std::vector<std::int64_t>& lines, std::int64_t per,
                             std::int64_t first) const;
  // Elements of C or D.
  static std::vector<std::uint8_t> crossings(Type type,
                                             const cuda::DeviceBuffer<std::uint8_t>& matrices,
                                             const gemm::Strides& s, const Lines& lines);
  std::vector<std::uint8_t> bias_of(const Lines& lines) const;
  std::vector<std::uint8_t> predicted(const gemm::Plan& plan, gemm::Path path,
                                      const Lines& lines) const;
  // {differing, checked}
  std::pair<int, int> check_part(const Lines& lines, const std::vector<std::uint8_t>& want) const;
  std::pair<int, int> check_poison(std::int64_t element, std::int64_t count) const;

  gemm::Problem problem_;            // strides are numbers
  std::vector<std::int32_t> sizes_;  // of groups
  std::vector<Part> parts_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> a_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> b_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> c_;  // none, if it is not read
  std::vector<cuda::DeviceBuffer<std::uint8_t>> d_;
  cuda::DeviceBuffer<std::uint8_t> bias_;
  cuda::DeviceBuffer<std::int32_t> sizes_on_device_;
  cuda::DeviceBuffer<float> scale_a_;  // packed, K-major
  cuda::DeviceBuffer<float> scale_b_;
  std::vector<std::uint8_t> codes_a_;  // of block-scaled kinds, in atoms; on the device as well
  std::vector<std::uint8_t> codes_b_;
  cuda::DeviceBuffer<std::uint8_t> atoms_a_;
  cuda::DeviceBuffer<std::uint8_t> atoms_b_;
  cuda::DeviceBuffer<float> scale_d_;  // if D is quantized
};

}  // namespace tcq::tools
