// The problems that bench_gemm measures, in device memory, and the check of their bits.
//
// Sets of operands take turns so that no launch finds its operands in L2. Example:
// parse_shape("4096x2112x7168") is M, N and K of one of the suite's 40 shapes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/runtime/launch.h"

namespace tcq::tools {

struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

std::string name(const Shape& shape);
// MxNxK, each from 1 to 2^20. Throws oracle::UsageError.
Shape parse_shape(std::string_view text);

struct Group {
  std::string name;
  bool (*holds)(const Shape&);
};

// Forty shapes: squares, layers of language models, small K, few rows, ragged sizes.
const std::vector<Shape>& suite();
// Of any shapes; they overlap.
const std::vector<Group>& groups();

// What D is for operands of this type: 16-bit types themselves, tf32 f32, integers s32.
Type result_of(Type in);

// What a problem is besides its shape and type, all packed.
struct Variant {
  std::string majors = "KK";      // of A and B, K or M for MN
  std::string epilogue = "none";  // words joined by +: bias, c (beta 1), an activation
  std::string out;                // a type; none: result_of()

  // "none" if it is nothing special, else like "bias+gelu f32 KM".
  std::string name() const;
  // Throws oracle::UsageError if a word is unknown or the library has no such problem.
  gemm::Problem problem(const Shape& shape, Type in) const;
};

double operations(const gemm::Problem& problem);  // 2 * M * N * K
double bytes(const gemm::Problem& problem);       // every operand once

// Normal random operands, as many sets as fill twice the L2 cache; one bias for all.
class OperandSets {
 public:
  OperandSets(const gemm::Problem& problem, std::uint64_t seed, cudaStream_t stream);

  std::size_t count() const { return d_.size(); }
  gemm::Pointers at(std::size_t set) const;

  // Outputs of set 0 that differ from the prediction among the crossings of a few rows and columns:
  // {differing, checked}. `segments`: the order of accumulation.
  std::pair<int, int> check(const std::vector<gemm::KSegment>& segments) const;
  void poison_result() const;

 private:
  gemm::Problem problem_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> a_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> b_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> c_;  // none, if it is not read
  std::vector<cuda::DeviceBuffer<std::uint8_t>> d_;
  cuda::DeviceBuffer<std::uint8_t> bias_;
};

}  // namespace tcq::tools
