// The tensor maps of a launch as values: what TMA is told of A, B and D. cuda/gemm/launch.cc has the driver encode them,
// tests run kernels on the simulator with them.
#pragma once

#include <optional>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/operands.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::gemm {

// `address` is the matrix's pointer. Nothing where TMA has no part in it. Of a kernel that multiplies D's transpose a, b and their
// factors are exchanged: a is what it multiplies first.
struct PlainMaps {
  std::optional<tma::TensorMap> a;
  std::optional<tma::TensorMap> rest_a;  // cuda/gemm/operand_maps.h
  std::optional<tma::TensorMap> b;
  std::optional<tma::TensorMap> rest_b;
  std::optional<tma::TensorMap> d;
  std::optional<tma::TensorMap> tail;  // of the last columns of a tile, if they do not fill a box
  std::optional<tma::TensorMap> scales_a;  // kinds of tcgen05 with factors of blocks; staged.cuh's
  std::optional<tma::TensorMap> scales_b;
};

PlainMaps plain_maps(const Kernel& kernel, const Extents& extents, const MatrixAt& a,
                     const MatrixAt& b, const MatrixAt& d, const Arguments& arguments);

}  // namespace tcq::gemm
