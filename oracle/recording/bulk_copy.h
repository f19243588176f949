// One copy or reduction without a tensor map: between global and shared memory, or between the shared
// memories of a cluster.
//
// The output is the shared images of all CTAs, or global memory. Which are drawn: bulk_suites.cc. The
// simulator: sim/machine/bulk.h; the device: cuda/probe/bulk_sm90.h.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/isa/copy/operands.h"
#include "sim/isa/copy/tma_reduction.h"

namespace tcq::oracle {

struct BulkCopy {
  enum class Kind : std::uint8_t { Load, Store, Reduce, Multicast, Send, SendReduce };
  static constexpr int first_code = 7;
  static constexpr int kind_count = 6;

  Kind kind = Kind::Load;
  bulk::Range range = {};
  std::uint32_t destination = 0;  // sends only
  std::uint32_t destination_rank = 0;
  tma::DataType type = tma::DataType::UInt32;  // reductions only
  tma::Reduction reduction = tma::Reduction::Add;
  tma::Multicast how = {};

  friend constexpr bool operator==(const BulkCopy&, const BulkCopy&) = default;
};

void fields(Fields& io, BulkCopy& e);
Memories state(const BulkCopy& e, const Inputs& inputs);
Prediction predict(const BulkCopy& e, const Inputs& inputs, const Memories& before);
std::string describe(const BulkCopy& e, const Inputs& inputs);
std::string place(const BulkCopy& e, const Inputs& inputs, std::size_t at);
Properties properties(const BulkCopy& e, const Inputs& inputs);

bulk::Send send_of(const BulkCopy& e);
constexpr bool sends(BulkCopy::Kind kind) { return kind >= BulkCopy::Kind::Send; }
constexpr bool returns_shared(const BulkCopy& e) {
  return e.kind != BulkCopy::Kind::Store && e.kind != BulkCopy::Kind::Reduce;
}

}  // namespace tcq::oracle
