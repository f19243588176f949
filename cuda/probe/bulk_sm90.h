// The silicon itself as a function: one bulk copy or reduction without a tensor map, on given
// memory.
//
// As in cuda/probe/tma_sm90.h: each call runs one instruction on one CTA or one cluster and brings back
// everything it may have changed; shared images begin at shared address `tile_shared_base`, offsets
// into global images stand for addresses. Sizes of images are multiples of 16; nothing is checked,
// so that the device's own verdict is seen. Example:
//
//   std::vector<std::uint8_t> shared(8192), global(65536);
//   const bool completed = probe_bulk_load({0, 2048, 64}, shared, global);
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/probe/tma_sm90.h"
#include "sim/isa/copy/tma_reduction.h"

namespace tcq::cuda {

// `shared` becomes what it holds after the load. False if the mbarrier, told to expect that many
// bytes, did not complete its phase in time.
bool probe_bulk_load(const bulk::Range& range, Bytes shared, ConstBytes global);

// `global` becomes what it holds afterwards.
void probe_bulk_store(const bulk::Range& range, ConstBytes shared, Bytes global);
// Requires: bulk::check_global(op, type) == Fault::None; the assembler knows no other.
void probe_bulk_reduce(tma::Reduction op, tma::DataType type, const bulk::Range& range,
                       ConstBytes shared, Bytes global);

// As probe_multicast().
bool probe_bulk_multicast(const bulk::Range& range, const tma::Multicast& how, ConstBytes shared,
                          ConstBytes global, std::vector<std::uint8_t>& images);

// In a cluster of `cluster` CTAs, the mbarrier of the destination counts. Every CTA begins with a copy
// of `shared`; the images of all come back one after the other. False as above.
bool probe_bulk_send(const bulk::Send& send, int cluster, ConstBytes shared,
                     std::vector<std::uint8_t>& images);
// Requires: bulk::check_shared(op, type) == Fault::None.
bool probe_bulk_send_reduce(tma::Reduction op, tma::DataType type, const bulk::Send& send,
                            int cluster, ConstBytes shared, std::vector<std::uint8_t>& images);

}  // namespace tcq::cuda
