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

struct BulkRange {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  std::uint32_t bytes = 0;
};

// `shared` becomes what it holds after the load. False if the mbarrier, told to expect that many
// bytes, did not complete its phase in time.
bool probe_bulk_load(const BulkRange& range, Bytes shared, ConstBytes global);

// `global` becomes what it holds afterwards.
void probe_bulk_store(const BulkRange& range, ConstBytes shared, Bytes global);
// Requires: bulk::check_global(op, type) == Fault::None; the assembler knows no other.
void probe_bulk_reduce(tma::Reduction op, tma::DataType type, const BulkRange& range,
                       ConstBytes shared, Bytes global);

// As probe_multicast().
bool probe_bulk_multicast(const BulkRange& range, const Multicast& how, ConstBytes shared,
                          ConstBytes global, std::vector<std::uint8_t>& images);

// From CTA `source_rank` of a cluster to CTA `destination_rank`, whose mbarrier counts. Every CTA
// begins with a copy of `shared`; the images of all come back one after the other. False as above.
struct BulkSend {
  int cluster = 2;
  std::uint32_t source_rank = 0;
  std::uint32_t source = 0;
  std::uint32_t destination_rank = 1;
  std::uint32_t destination = 0;
  std::uint32_t bytes = 0;
};
bool probe_bulk_send(const BulkSend& send, ConstBytes shared, std::vector<std::uint8_t>& images);
// Requires: bulk::check_shared(op, type) == Fault::None.
bool probe_bulk_send_reduce(tma::Reduction op, tma::DataType type, const BulkSend& send,
                            ConstBytes shared, std::vector<std::uint8_t>& images);

}  // namespace tcq::cuda
