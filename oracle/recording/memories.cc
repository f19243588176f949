#include "oracle/recording/memories.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/isa/base/shared_limits.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/inputs/float_pairs.h"

namespace tcq::oracle {
namespace {

// Values that a conversion on the way would change, for 16-bit and 32-bit floats at once.
constexpr std::array<std::uint32_t, 32> special_words = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00400000, 0x00800000,
    0x00001000, 0x00002000, 0x00003000, 0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff,
    0x3f803000, 0x3f803001, 0xbf801000, 0xbf803000, 0x3fffefff, 0x3ffff000, 0x7f7fffff, 0x7f7fefff,
    0xff7ff000, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0xffbfffff, 0xfffff123};

std::uint32_t random_word(const Inputs& in, int stream, std::size_t index) {
  const std::uint64_t key = static_cast<std::uint64_t>(stream) * 0x100000000 + index;
  return static_cast<std::uint32_t>(mix(mix(in.seed) ^ key));
}

// Half of the special words as they are, the others somewhere among random ones.
std::uint32_t content(const Inputs& in, int stream, std::size_t index) {
  const std::uint32_t random = random_word(in, stream, index);
  if (in.content != MemoryContent::SpecialWords || index >= 2 * special_words.size()) return random;
  return index < special_words.size() ? special_words[index]
                                      : special_words[random % special_words.size()];
}

// Element `index` of the old values (global memory) or of the tile's (shared memory).
std::uint64_t float_element(const Inputs& in, tma::DataType type, bool old, std::size_t index) {
  const FloatLayout layout = float_layout(type);
  if (in.content == MemoryContent::FloatPairs) {
    const auto i = static_cast<int>(index);
    return special_float(layout, (old ? i / special_float_count : i) % special_float_count);
  }
  const DrawnPair pair(layout, mix(in.seed) ^ index);
  return old ? pair.old() : pair.tile();
}

void fill_floats(const Inputs& in, tma::DataType type, bool old, std::uint8_t* bytes,
                 std::size_t size) {
  const std::size_t width = tma::element_bytes(type);
  for (std::size_t i = 0; i < size; i += width) {
    const std::uint64_t element = float_element(in, type, old, i / width);
    std::memcpy(bytes + i, &element, std::min(width, size - i));
  }
}

void fill(const Inputs& in, int stream, std::uint8_t* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; i += sizeof(std::uint32_t)) {
    const std::uint32_t word = content(in, stream, i / sizeof word);
    std::memcpy(bytes + i, &word, std::min(sizeof word, size - i));
  }
}

}  // namespace

Memories draw_memories(const Inputs& in, tma::DataType type) {
  Memories memories;
  memories.shared = SharedMemory(shared_base_sm90, in.shared_bytes);
  memories.global.resize(in.global_bytes);
  if (in.content == MemoryContent::FloatPairs || in.content == MemoryContent::FloatDraws) {
    fill_floats(in, type, false, memories.shared.data(), in.shared_bytes);
    fill_floats(in, type, true, memories.global.data(), in.global_bytes);
  } else {
    fill(in, 1, memories.shared.data(), in.shared_bytes);
    fill(in, 2, memories.global.data(), in.global_bytes);
  }
  fill(in, 3, reinterpret_cast<std::uint8_t*>(memories.registers.data()),
       sizeof memories.registers);
  return memories;
}

std::uint64_t hash_inputs(const Memories& memories) {
  std::uint64_t hash = 0x74637161;
  const auto add = [&hash](const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(bytes) + i, std::min(sizeof word, size - i));
      hash = mix(hash ^ word);
    }
  };
  add(memories.shared.data(), memories.shared.size());
  add(memories.global.data(), memories.global.size());
  add(memories.registers.data(), sizeof memories.registers);
  add(memories.sequence.data(), memories.sequence.size() * sizeof memories.sequence[0]);
  return hash;
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

std::string shared_place(const Inputs& in, std::size_t at) {
  const std::size_t image = std::max(in.shared_bytes, 1u);
  return fmt::format("CTA {} shared address {:#x}", at / image, shared_base_sm90 + at % image);
}

std::string global_place(std::size_t at) { return fmt::format("global byte {:#x}", at); }

}  // namespace tcq::oracle
