#include "sim/machine/bulk.h"

#include <algorithm>
#include <cstring>

#include "sim/num/reduce_float.h"

namespace tcq::bulk {
namespace {

bool contains(const Global& global, std::uint64_t address, std::uint32_t bytes) {
  return address <= global.size() && bytes <= global.size() - address;
}

Fault check_range(const Range& range, const SharedMemory& shared, const Global& global) {
  if (const Fault fault = check(range.global, range.shared, range.bytes); fault != Fault::None)
    return fault;
  if (!shared.contains(range.shared, range.bytes)) return Fault::SharedMemoryOutOfRange;
  return contains(global, range.global, range.bytes) ? Fault::None : Fault::GlobalOutOfRange;
}

template <class Memory>
auto* at(Memory& shared, std::uint32_t address) {
  return shared.data() + (address - shared.base());
}

Fault check_ranks(const ClusterState& state, const Send& send) {
  const std::size_t ctas = state.shared.size();
  return send.source_rank < ctas && send.destination_rank < ctas ? Fault::None
                                                                 : Fault::CtaRankOutOfRange;
}

Fault check_send(const ClusterState& state, const Send& send) {
  if (const Fault fault = check_ranks(state, send); fault != Fault::None) return fault;
  return check(send, state.shared[send.source_rank], state.shared[send.destination_rank]);
}

}  // namespace

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

Fault check(const Load& load, const SharedMemory& shared, const Global& global) {
  return check_range(load.range, shared, global);
}

Fault check(const Store& store, const SharedMemory& shared, const Global& global) {
  return check_range(store.range, shared, global);
}

Fault check(const Reduce& reduction, const SharedMemory& shared, const Global& global) {
  const Fault fault = check_global(reduction.op, reduction.type);
  return fault != Fault::None ? fault : check_range(reduction.range, shared, global);
}

Fault check(const Send& send, const SharedMemory& source, const SharedMemory& destination) {
  if (const Fault fault = check(send.source, send.destination, send.bytes); fault != Fault::None)
    return fault;
  const bool fits = source.contains(send.source, send.bytes) &&
                    destination.contains(send.destination, send.bytes);
  return fits ? Fault::None : Fault::SharedMemoryOutOfRange;
}

Fault check(const SendReduce& reduction, const SharedMemory& source,
            const SharedMemory& destination) {
  const Fault fault = check_shared(reduction.op, reduction.type);
  return fault != Fault::None ? fault : check(reduction.send, source, destination);
}

void execute(const Load& load, SharedMemory& shared, const Global& global) {
  const Range& range = load.range;
  std::copy_n(global.data() + range.global, range.bytes, at(shared, range.shared));
}

void execute(const Store& store, const SharedMemory& shared, Global& global) {
  const Range& range = store.range;
  const std::uint8_t* const from = at(shared, range.shared);
  std::uint8_t* const to = global.data() + range.global;
  for (std::uint32_t i = 0; i < range.bytes; ++i)
    if (is_copied(store.byte_mask, i)) to[i] = from[i];
}

void execute(const Reduce& reduction, const SharedMemory& shared, Global& global) {
  const Range& range = reduction.range;
  reduce_bytes(reduction.op, reduction.type, global.data() + range.global, at(shared, range.shared),
               range.bytes);
}

void execute(const Send& send, const SharedMemory& source, SharedMemory& destination) {
  const std::uint8_t* from = at(source, send.source);
  const std::vector<std::uint8_t> moved(from, from + send.bytes);
  std::ranges::copy(moved, at(destination, send.destination));
}

void execute(const SendReduce& reduction, const SharedMemory& source, SharedMemory& destination) {
  const Send& send = reduction.send;
  reduce_bytes(reduction.op, reduction.type, at(destination, send.destination),
               at(source, send.source), send.bytes);
}

Fault execute(ClusterState& state, const MulticastLoad& load) {
  if (load.mask == 0 || load.mask >> state.shared.size() != 0) return Fault::MulticastMask;
  for (const SharedMemory& shared : state.shared)
    if (const Fault fault = check_range(load.range, shared, state.global); fault != Fault::None)
      return fault;
  for (std::size_t rank = 0; rank < state.shared.size(); ++rank)
    if ((load.mask >> rank & 1) != 0) execute(Load{load.range}, state.shared[rank], state.global);
  return Fault::None;
}

Fault execute(ClusterState& state, const Send& send) {
  const Fault fault = check_send(state, send);
  if (fault == Fault::None)
    execute(send, state.shared[send.source_rank], state.shared[send.destination_rank]);
  return fault;
}

Fault execute(ClusterState& state, const SendReduce& reduction) {
  const Send& send = reduction.send;
  if (const Fault fault = check_shared(reduction.op, reduction.type); fault != Fault::None)
    return fault;
  const Fault fault = check_send(state, send);
  if (fault == Fault::None)
    execute(reduction, state.shared[send.source_rank], state.shared[send.destination_rank]);
  return fault;
}

}  // namespace tcq::bulk
