#include "sim/machine/bulk.h"

#include <algorithm>
#include <cstring>

#include "sim/num/reduce_float.h"

namespace tcq::bulk {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool contains(const Bytes& global, std::uint64_t address, std::uint32_t bytes) {
  return address <= global.size() && bytes <= global.size() - address;
}

Fault check_range(const Range& range, const SharedMemory& shared, const Bytes& global) {
  if (const Fault fault = check(range.global, range.shared, range.bytes); fault != Fault::None)
    return fault;
  if (!shared.contains(range.shared, range.bytes)) return Fault::SharedMemoryOutOfRange;
  return contains(global, range.global, range.bytes) ? Fault::None : Fault::GlobalOutOfRange;
}

std::uint8_t* at(SharedMemory& shared, std::uint32_t address) {
  return shared.data() + (address - shared.base());
}

void load_range(SharedMemory& shared, const Bytes& global, const Range& range) {
  std::copy_n(global.data() + range.global, range.bytes, at(shared, range.shared));
}

// Element by element, in ascending order.
void reduce_bytes(tma::Reduction op, tma::DataType type, std::uint8_t* home,
                  const std::uint8_t* from, std::uint32_t bytes) {
  const std::uint32_t width = tma::element_bytes(type);
  for (std::uint32_t i = 0; i < bytes; i += width) {
    std::uint64_t old = 0;
    std::uint64_t element = 0;
    std::memcpy(&old, home + i, width);
    std::memcpy(&element, from + i, width);
    const std::uint64_t result = tma::reduced_bits(op, type, old, element);
    std::memcpy(home + i, &result, width);
  }
}

Fault check_send(const ClusterState& state, const Send& send) {
  if (send.source_rank >= state.shared.size() || send.destination_rank >= state.shared.size())
    return Fault::CtaRankOutOfRange;
  if (const Fault fault = check(send.source, send.destination, send.bytes); fault != Fault::None)
    return fault;
  const bool fits = state.shared[send.source_rank].contains(send.source, send.bytes) &&
                    state.shared[send.destination_rank].contains(send.destination, send.bytes);
  return fits ? Fault::None : Fault::SharedMemoryOutOfRange;
}

}  // namespace

Fault execute(State& state, const Load& load) {
  const Fault fault = check_range(load.range, state.shared, state.global);
  if (fault == Fault::None) load_range(state.shared, state.global, load.range);
  return fault;
}

Fault execute(State& state, const Store& store) {
  const Range& range = store.range;
  const Fault fault = check_range(range, state.shared, state.global);
  if (fault == Fault::None)
    std::copy_n(at(state.shared, range.shared), range.bytes, state.global.data() + range.global);
  return fault;
}

Fault execute(State& state, const Reduce& reduction) {
  const Range& range = reduction.range;
  if (const Fault fault = check_global(reduction.op, reduction.type); fault != Fault::None)
    return fault;
  const Fault fault = check_range(range, state.shared, state.global);
  if (fault == Fault::None)
    reduce_bytes(reduction.op, reduction.type, state.global.data() + range.global,
                 at(state.shared, range.shared), range.bytes);
  return fault;
}

Fault execute(ClusterState& state, const MulticastLoad& load) {
  if (load.mask == 0 || load.mask >> state.shared.size() != 0) return Fault::MulticastMask;
  for (const SharedMemory& shared : state.shared)
    if (const Fault fault = check_range(load.range, shared, state.global); fault != Fault::None)
      return fault;
  for (std::size_t rank = 0; rank < state.shared.size(); ++rank)
    if ((load.mask >> rank & 1) != 0) load_range(state.shared[rank], state.global, load.range);
  return Fault::None;
}

Fault execute(ClusterState& state, const Send& send) {
  if (const Fault fault = check_send(state, send); fault != Fault::None) return fault;
  const std::uint8_t* from = at(state.shared[send.source_rank], send.source);
  const Bytes moved(from, from + send.bytes);
  std::ranges::copy(moved, at(state.shared[send.destination_rank], send.destination));
  return Fault::None;
}

Fault execute(ClusterState& state, const SendReduce& reduction) {
  const Send& send = reduction.send;
  if (const Fault fault = check_shared(reduction.op, reduction.type); fault != Fault::None)
    return fault;
  const Fault fault = check_send(state, send);
  if (fault == Fault::None)
    reduce_bytes(reduction.op, reduction.type,
                 at(state.shared[send.destination_rank], send.destination),
                 at(state.shared[send.source_rank], send.source), send.bytes);
  return fault;
}

}  // namespace tcq::bulk
