// The silicon itself as a function: one TMA copy, or one ldmatrix or stmatrix, on given memory.
//
// Each call runs one instruction on one CTA (a multicast on one cluster) and brings back everything
// it may have changed. It knows no layout: tensor map, coordinates and addresses come from the
// caller. Shared images begin at shared address `tile_shared_base`; global images are tensors'
// memory, in which a TensorMap's address is an offset. Needs a device of compute capability 9.0;
// every failure is a std::runtime_error. After an illegal access the process can use the device no
// more. Example:
//
//   std::vector<std::uint8_t> shared(8192), global(65536);
//   const bool completed = probe_load({map, {{0, 0}}, 2048}, shared, global);
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/isa/copy/operands.h"
#include "sim/isa/copy/tma_reduction.h"

namespace tcq::cuda {

// Where every shared image begins; all below belongs to the driver. The probes check it.
inline constexpr std::uint32_t tile_shared_base = 1024;

using Bytes = std::span<std::uint8_t>;
using ConstBytes = std::span<const std::uint8_t>;

// The sizes of images are multiples of 16. `shared` becomes what it holds after the load. False if
// the mbarrier, told to expect complete_tx_bytes(map), did not complete its phase in time.
bool probe_load(const tma::Tile& tile, Bytes shared, ConstBytes global);

// Every CTA of a cluster begins with a copy of `shared`. The images of all CTAs come back one after
// the other. False as above, for any CTA of the mask.
bool probe_multicast(const tma::Tile& tile, const tma::Multicast& how, ConstBytes shared,
                     ConstBytes global, std::vector<std::uint8_t>& images);

// `global` becomes what it holds after the store or reduction.
void probe_store(const tma::Tile& tile, ConstBytes shared, Bytes global);
void probe_reduce(tma::Reduction op, const tma::Tile& tile, ConstBytes shared, Bytes global);

// One ldmatrix or stmatrix of `count` matrices; 32 addresses, 32 x 4 registers, register r of lane
// l at 4 * l + r. Shared image and registers become what they hold afterwards.
struct MatrixForm {
  bool store = false;
  int count = 1;
  bool transposed = false;
};
void probe_matrix(const MatrixForm& form, std::span<const std::uint32_t> addresses, Bytes shared,
                  std::span<std::uint32_t> registers);

}  // namespace tcq::cuda
