// Work and peak rate of one wgmma: multiply-adds, operand bytes, and tensor-core clocks.
//
// Example: m64n256k16 of bf16 is 524288 FLOPs in at least 128 clocks of the SM's four tensor cores.
//
// Source: NVIDIA H100 data sheet, dense peaks: 4096 16-bit FLOPs per SM and clock, half that for
// tf32, twice for 8-bit types, twice again with sparsity. Each is 32 stored bytes of K per N/2
// clocks.
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

// A multiply and an add per logical product, as peak rates count them.
HOST_DEVICE constexpr std::int64_t operations(const Form& f) {
  return std::int64_t{2} * m * f.n * k(f);
}

// Bytes read per instruction: A as stored, B with all of logical K.
HOST_DEVICE constexpr int a_bytes(const Form&) { return m * stored_k_bytes; }
HOST_DEVICE constexpr int b_bytes(const Form& f) { return f.n * k(f) * bits(f.b) / 8; }

// b1 has no published rate.
HOST_DEVICE constexpr bool rate_is_published(Type a) { return a != Type::b1; }
HOST_DEVICE constexpr int tensor_clocks(const Form& f) { return f.n / 2; }

}  // namespace tcq::wgmma
