// Drawing the inputs of a case and running the simulator on it (async_case.h).
#include "oracle/recording/async_case.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "oracle/recording/async_groups.h"
#include "oracle/recording/async_mbarrier.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/inputs/float_pairs.h"

namespace tcq::oracle {
namespace {

constexpr std::size_t block_bytes = 1024;

// Values that a conversion on the way would change, for 16-bit and 32-bit floats at once.
constexpr std::array<std::uint32_t, 32> special_words = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00400000, 0x00800000,
    0x00001000, 0x00002000, 0x00003000, 0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff,
    0x3f803000, 0x3f803001, 0xbf801000, 0xbf803000, 0x3fffefff, 0x3ffff000, 0x7f7fffff, 0x7f7fefff,
    0xff7ff000, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0xffbfffff, 0xfffff123};

std::uint32_t random_word(const AsyncCase& c, int stream, std::size_t index) {
  const std::uint64_t key =
      std::uint64_t{1} * static_cast<std::uint64_t>(stream) * 0x100000000 + index;
  return static_cast<std::uint32_t>(mix(mix(c.seed) ^ key));
}

// Half of the special words as they are, the others somewhere among random ones.
std::uint32_t content(const AsyncCase& c, int stream, std::size_t index) {
  const std::uint32_t random = random_word(c, stream, index);
  if (c.content != MemoryContent::SpecialWords || index >= 2 * special_words.size()) return random;
  return index < special_words.size() ? special_words[index]
                                      : special_words[random % special_words.size()];
}

// Element `index` of the old values (global memory) or of the tile's (shared memory).
std::uint64_t float_element(const AsyncCase& c, bool old, std::size_t index) {
  const FloatLayout layout = float_layout(element_type(c));
  if (c.content == MemoryContent::FloatPairs) {
    const auto i = static_cast<int>(index);
    return special_float(layout, (old ? i / special_float_count : i) % special_float_count);
  }
  const DrawnPair pair(layout, mix(c.seed) ^ index);
  return old ? pair.old() : pair.tile();
}

void fill_floats(const AsyncCase& c, bool old, std::uint8_t* bytes, std::size_t size) {
  const std::size_t width = tma::element_bytes(element_type(c));
  for (std::size_t i = 0; i < size; i += width) {
    const std::uint64_t element = float_element(c, old, i / width);
    std::memcpy(bytes + i, &element, std::min(width, size - i));
  }
}

void fill(const AsyncCase& c, int stream, std::uint8_t* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; i += sizeof(std::uint32_t)) {
    const std::uint32_t word = content(c, stream, i / sizeof word);
    std::memcpy(bytes + i, &word, std::min(sizeof word, size - i));
  }
}

// A sequence's steps as numbers.
std::vector<std::uint64_t> sequence_of(const AsyncCase& c) {
  std::vector<std::uint64_t> numbers;
  if (c.move == Move::Mbarrier) {
    for (const MbarrierStep& s : mbarrier_steps(c))
      for (const std::uint64_t number :
           {static_cast<std::uint64_t>(s.operation), static_cast<std::uint64_t>(s.issuer),
            std::uint64_t{s.number}})
        numbers.push_back(number);
  } else if (c.move == Move::WgmmaGroups) {
    for (const GroupsStatement& s : groups_sequence(c).statements)
      for (const std::uint64_t number :
           {std::uint64_t{s.commit}, static_cast<std::uint64_t>(s.accumulator),
            std::uint64_t{s.instruction.accumulate}, s.instruction.desc_a, s.instruction.desc_b})
        numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::uint8_t> bytes_of(const SharedMemory& shared) {
  return {shared.data(), shared.data() + shared.size()};
}

std::vector<std::uint8_t> bytes_of(const std::vector<SharedMemory>& cluster) {
  std::vector<std::uint8_t> bytes;
  for (const SharedMemory& shared : cluster)
    bytes.insert(bytes.end(), shared.data(), shared.data() + shared.size());
  return bytes;
}

Prediction predict_tile(const AsyncCase& c, AsyncState&& inputs) {
  tma::State state{std::move(inputs.shared), std::move(inputs.global)};
  if (c.move == Move::Load) {
    const Fault fault = execute(state, tma::Load{c.tile});
    return {fault, bytes_of(state.shared)};
  }
  const Fault fault = c.move == Move::Store ? execute(state, tma::Store{c.tile})
                                            : execute(state, tma::Reduce{c.tile, c.reduction});
  return {fault, std::move(state.global)};
}

Prediction predict_multicast(const AsyncCase& c, AsyncState&& inputs) {
  tma::ClusterState state{{}, std::move(inputs.global)};
  state.shared.assign(static_cast<std::size_t>(c.cluster), inputs.shared);
  const Fault fault = execute(state, tma::MulticastLoad{c.tile, c.mask});
  return {fault, bytes_of(state.shared)};
}

Prediction predict_matrix(const AsyncCase& c, AsyncState&& inputs) {
  matrix::State state{std::move(inputs.shared), inputs.registers};
  if (c.move == Move::StoreMatrix) {
    const Fault fault = execute(state, matrix::StoreMatrix{c.operand});
    return {fault, bytes_of(state.shared)};
  }
  const Fault fault = execute(state, matrix::LoadMatrix{c.operand});
  Prediction prediction{fault, std::vector<std::uint8_t>(sizeof state.registers)};
  std::memcpy(prediction.output.data(), state.registers.data(), sizeof state.registers);
  return prediction;
}

Prediction predict_bulk_cta(const AsyncCase& c, AsyncState&& inputs) {
  bulk::State state{std::move(inputs.shared), std::move(inputs.global)};
  const bulk::Range range{c.bulk.global, c.bulk.shared, c.bulk.bytes};
  if (c.move == Move::BulkLoad) {
    const Fault fault = execute(state, bulk::Load{range});
    return {fault, bytes_of(state.shared)};
  }
  const Fault fault = c.move == Move::BulkStore
                          ? execute(state, bulk::Store{range})
                          : execute(state, bulk::Reduce{range, c.reduction, c.bulk.type});
  return {fault, std::move(state.global)};
}

Prediction predict_bulk_cluster(const AsyncCase& c, AsyncState&& inputs) {
  bulk::ClusterState state{{}, std::move(inputs.global)};
  state.shared.assign(static_cast<std::size_t>(c.cluster), inputs.shared);
  const bulk::Range range{c.bulk.global, c.bulk.shared, c.bulk.bytes};
  const bulk::Send send{static_cast<std::uint32_t>(c.issuer), c.bulk.shared,
                        c.bulk.destination_rank, c.bulk.destination, c.bulk.bytes};
  const Fault fault =
      c.move == Move::BulkMulticast ? execute(state, bulk::MulticastLoad{range, c.mask})
      : c.move == Move::BulkSend    ? execute(state, send)
                                 : execute(state, bulk::SendReduce{send, c.reduction, c.bulk.type});
  return {fault, bytes_of(state.shared)};
}

Prediction predict_move(const AsyncCase& c) {
  AsyncState inputs = build_state(c);
  switch (c.move) {
    case Move::Multicast: return predict_multicast(c, std::move(inputs));
    case Move::LoadMatrix:
    case Move::StoreMatrix: return predict_matrix(c, std::move(inputs));
    case Move::BulkLoad:
    case Move::BulkStore:
    case Move::BulkReduce: return predict_bulk_cta(c, std::move(inputs));
    case Move::BulkMulticast:
    case Move::BulkSend:
    case Move::BulkSendReduce: return predict_bulk_cluster(c, std::move(inputs));
    default: return predict_tile(c, std::move(inputs));
  }
}

// Does the device go on, although PTX forbids the copy? The probe's mbarrier expects the written
// size, which traps where an mbarrier cannot expect so many bytes.
bool has_silent_outcome(const AsyncCase& c, Fault fault) {
  if (!is_bulk(c.move)) return false;
  if (fault == Fault::MulticastMask) return c.mask == 0;
  return fault == Fault::BulkBytes && (writes_global(c.move) || c.bulk.bytes <= mbarrier::max_tx);
}

// Mask 0 moves nothing, and no CTA waits. A size is rounded down; an mbarrier that expects more
// waits for ever.
Prediction predict_silent(const AsyncCase& c, Fault fault) {
  AsyncCase moved = c;
  if (fault == Fault::MulticastMask) {
    moved.mask = 1;
    moved.bulk.bytes = 0;
  } else {
    moved.bulk.bytes = bulk::moved_bytes(c.bulk.bytes);
  }
  Prediction prediction = predict_move(moved);
  if (prediction.fault != Fault::None) return {fault, {}, Outcome::Trap};
  const bool waits = fault == Fault::BulkBytes && !writes_global(c.move);
  return {fault, std::move(prediction.output), waits ? Outcome::Timeout : Outcome::Completed};
}

}  // namespace

tma::DataType element_type(const AsyncCase& c) {
  return is_bulk(c.move) ? c.bulk.type : c.tile.map.type;
}

AsyncState build_state(const AsyncCase& c) {
  AsyncState state;
  state.shared = SharedMemory(shared_base_sm90, c.shared_bytes);
  state.global.resize(c.global_bytes);
  if (c.content == MemoryContent::FloatPairs || c.content == MemoryContent::FloatDraws) {
    fill_floats(c, false, state.shared.data(), c.shared_bytes);
    fill_floats(c, true, state.global.data(), c.global_bytes);
  } else if (c.content == MemoryContent::Operands) {
    fill_groups_operands(c, state);
  } else {
    fill(c, 1, state.shared.data(), c.shared_bytes);
    fill(c, 2, state.global.data(), c.global_bytes);
  }
  fill(c, 3, reinterpret_cast<std::uint8_t*>(state.registers.data()), sizeof state.registers);
  state.sequence = sequence_of(c);
  return state;
}

std::uint64_t hash_inputs(const AsyncState& state) {
  std::uint64_t hash = 0x74637161;
  const auto add = [&hash](const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(bytes) + i, std::min(sizeof word, size - i));
      hash = mix(hash ^ word);
    }
  };
  add(state.shared.data(), state.shared.size());
  add(state.global.data(), state.global.size());
  add(state.registers.data(), sizeof state.registers);
  add(state.sequence.data(), state.sequence.size() * sizeof state.sequence[0]);
  return hash;
}

std::vector<std::uint64_t> hash_blocks(const std::vector<std::uint8_t>& output) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t first = 0; first < output.size(); first += block_bytes) {
    std::uint64_t hash = first;
    for (std::size_t i = first; i < std::min(first + block_bytes, output.size()); ++i)
      hash = mix(hash ^ output[i]);
    hashes.push_back(hash);
  }
  return hashes;
}

Prediction predict(const AsyncCase& c) {
  if (c.move == Move::Encode) {
    const Fault fault = check(c.tile.map);
    const bool accepted = fault == Fault::None || info(fault).kind == FaultKind::Unmodelled;
    return {Fault::None, {static_cast<std::uint8_t>(accepted ? 1 : 0)}};
  }
  if (c.move == Move::Mbarrier) return predict_mbarrier(c);
  if (c.move == Move::WgmmaGroups) return predict_groups(c, build_state(c));
  Prediction prediction = predict_move(c);
  if (prediction.fault == Fault::None) return prediction;
  if (has_silent_outcome(c, prediction.fault)) return predict_silent(c, prediction.fault);
  return {prediction.fault, {}, Outcome::Trap};
}

}  // namespace tcq::oracle
