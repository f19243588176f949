#include "oracle/recording/bulk_copy.h"

#include <fmt/format.h>

#include <utility>

#include "oracle/recording/tile_copy.h"
#include "sim/isa/copy/mbarrier.h"
#include "sim/machine/bulk.h"

namespace tcq::oracle {
namespace {

using Kind = BulkCopy::Kind;

const char* name(Kind kind) {
  switch (kind) {
    case Kind::Load: return "bulk load";
    case Kind::Store: return "bulk store";
    case Kind::Reduce: return "bulk reduce";
    case Kind::Multicast: return "bulk multicast";
    case Kind::Send: return "bulk send";
    case Kind::SendReduce: return "bulk send reduce";
  }
  return "?";
}

bool reduces(const BulkCopy& e) { return e.kind == Kind::Reduce || e.kind == Kind::SendReduce; }

Prediction run_cta(const BulkCopy& e, Memories before) {
  bulk::State state{std::move(before.shared), std::move(before.global)};
  const Fault fault = e.kind == Kind::Load ? execute(state, bulk::Load{e.range})
                      : e.kind == Kind::Store
                          ? execute(state, bulk::Store{e.range})
                          : execute(state, bulk::Reduce{e.range, e.reduction, e.type});
  return {fault, e.kind == Kind::Load ? bytes_of(state.shared) : std::move(state.global)};
}

Prediction run_cluster(const BulkCopy& e, Memories before) {
  bulk::ClusterState state{{}, std::move(before.global)};
  state.shared.assign(static_cast<std::size_t>(e.how.cluster), before.shared);
  const bulk::Send send = send_of(e);
  const Fault fault =
      e.kind == Kind::Multicast ? execute(state, bulk::MulticastLoad{e.range, e.how.mask})
      : e.kind == Kind::Send    ? execute(state, send)
                                : execute(state, bulk::SendReduce{send, e.reduction, e.type});
  return {fault, bytes_of(state.shared)};
}

Prediction run(const BulkCopy& e, const Memories& before) {
  return e.kind <= Kind::Reduce ? run_cta(e, before) : run_cluster(e, before);
}

// Does the device go on, although PTX forbids the copy? The probe's mbarrier expects the written
// size, which traps where an mbarrier cannot expect so many bytes.
bool has_silent_outcome(const BulkCopy& e, Fault fault) {
  if (fault == Fault::MulticastMask) return e.how.mask == 0;
  return fault == Fault::BulkBytes && (!returns_shared(e) || e.range.bytes <= mbarrier::max_tx);
}

// Mask 0 moves nothing, and no CTA waits. A size is rounded down; an mbarrier that expects more
// waits for ever.
Prediction predict_silent(const BulkCopy& e, Fault fault, const Memories& before) {
  BulkCopy moved = e;
  if (fault == Fault::MulticastMask) {
    moved.how.mask = 1;
    moved.range.bytes = 0;
  } else {
    moved.range.bytes = bulk::moved_bytes(e.range.bytes);
  }
  Prediction prediction = run(moved, before);
  if (prediction.fault != Fault::None) return trap(fault);
  const bool waits = fault == Fault::BulkBytes && returns_shared(e);
  return {fault, std::move(prediction.output), waits ? Outcome::Timeout : Outcome::Completed};
}

}  // namespace

bulk::Send send_of(const BulkCopy& e) {
  return {static_cast<std::uint32_t>(e.how.issuer), e.range.shared, e.destination_rank,
          e.destination, e.range.bytes};
}

void fields(Fields& io, BulkCopy& e) {
  io.number(e.range.global, 8);
  io.number(e.range.shared, 4);
  io.number(e.range.bytes, 4);
  io.number(e.destination, 4);
  io.below(e.destination_rank, max_cluster, "rank");
  io.below(e.type, tma::data_type_count, "element type");
  fields(io, e.reduction, e.how);
}

Memories state(const BulkCopy& e, const Inputs& inputs) { return draw_memories(inputs, e.type); }

Prediction predict(const BulkCopy& e, const Inputs&, const Memories& before) {
  Prediction prediction = run(e, before);
  if (prediction.fault == Fault::None) return prediction;
  return has_silent_outcome(e, prediction.fault) ? predict_silent(e, prediction.fault, before)
                                                 : trap(prediction.fault);
}

std::string describe(const BulkCopy& e, const Inputs&) {
  std::string text = fmt::format("{}: {} bytes, global {:#x}, shared {:#x}", name(e.kind),
                                 e.range.bytes, e.range.global, e.range.shared);
  if (reduces(e)) text += fmt::format(" op {} type {}", tma::name(e.reduction), tma::name(e.type));
  if (e.kind == Kind::Multicast)
    text +=
        fmt::format(" cluster {} mask {:#x} issuer {}", e.how.cluster, e.how.mask, e.how.issuer);
  if (sends(e.kind))
    text += fmt::format(" cluster {} from CTA {} to {:#x} of CTA {}", e.how.cluster, e.how.issuer,
                        e.destination, e.destination_rank);
  return text;
}

std::string place(const BulkCopy& e, const Inputs& inputs, std::size_t at) {
  return returns_shared(e) ? shared_place(inputs, at) : global_place(at);
}

Properties properties(const BulkCopy& e, const Inputs&) {
  Properties p = {name(e.kind), fmt::format("cluster {}", e.how.cluster),
                  fmt::format("{} bytes", e.range.bytes),
                  fmt::format("global at {} mod 128", e.range.global % 128),
                  fmt::format("shared at {} mod 128", e.range.shared % 128)};
  if (reduces(e)) p.push_back(fmt::format("{} {}", tma::name(e.reduction), tma::name(e.type)));
  return p;
}

}  // namespace tcq::oracle
