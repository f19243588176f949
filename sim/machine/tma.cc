#include "sim/machine/tma.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sim/isa/base/matrix_bytes.h"
#include "sim/num/reduce_float.h"

namespace tcq::tma {
namespace {

std::uint64_t load_element(const std::uint8_t* from, std::uint32_t width) {
  std::uint64_t element = 0;
  std::memcpy(&element, from, width);
  return element;
}

void store_element(std::uint8_t* to, std::uint64_t element, std::uint32_t width) {
  std::memcpy(to, &element, width);
}

// Elements that follow `first` along dimension 0: of one unit of 16 bytes in shared memory.
struct Unit {
  BoxElement first;
  std::uint32_t count;

  BoxElement element(std::uint32_t i) const {
    BoxElement e = first;
    e.at[0] += i;
    return e;
  }
  BoxElement last() const { return element(count - 1); }
};

// Calls visit(first element) for every line of the box along dimension 0, until one says false.
// Requires: check(map) found nothing.
template <class Visit>
bool all_lines(const TensorMap& map, Visit visit) {
  std::uint32_t extents[max_rank] = {};
  for (int d = 0; d < map.rank; ++d) extents[d] = extent(map, d);
  for (BoxElement line = {};;) {
    if (!visit(std::as_const(line))) return false;
    int d = 1;
    while (d < map.rank && ++line.at[d] == extents[d]) line.at[d++] = 0;
    if (d >= map.rank) return true;
  }
}

// A whole line as one unit.
Unit whole(const TensorMap& map, const BoxElement& line) { return {line, extent(map, 0)}; }

// Calls visit(unit) for every unit of a line.
template <class Visit>
bool all_units_of(const TensorMap& map, const BoxElement& line, Visit visit) {
  const std::uint32_t most = start_alignment_bytes / grain(map.type).shared_bytes;
  const std::uint32_t end = extent(map, 0);
  Unit unit = {line, 0};
  for (; unit.first.at[0] < end; unit.first.at[0] += unit.count) {
    unit.count = std::min(most, end - unit.first.at[0]);
    if (!visit(std::as_const(unit))) return false;
  }
  return true;
}

// Of the box, dimension 0 fastest.
template <class Visit>
bool all_units(const TensorMap& map, Visit visit) {
  return all_lines(map, [&](const BoxElement& line) { return all_units_of(map, line, visit); });
}

// The same for elements.
template <class Visit>
bool all_elements(const TensorMap& map, Visit visit) {
  return all_units(map, [&](const Unit& unit) {
    for (std::uint32_t i = 0; i < unit.count; ++i)
      if (!visit(unit.element(i))) return false;
    return true;
  });
}

// Calls visit(index of the byte in shared memory, element) for every element of the box.
template <class Visit>
void for_each_element(const Tile& tile, const SharedMemory& shared, Visit visit) {
  all_elements(tile.map, [&](const BoxElement& e) {
    visit(shared_address(tile.map, tile.shared_address, e) - shared.base(), e);
    return true;
  });
}

// The box never straddles what its swizzle permutes: the XOR leaves address bits from 7 on alone.
bool shared_fits(const Tile& tile, const SharedMemory& shared) {
  const std::uint32_t width = grain(tile.map.type).shared_bytes;
  const std::uint32_t permuted = tile_alignment_bytes;
  std::uint64_t box =
      row_pitch_bytes(tile.map);  // element strides let boxes of more than 2^32 bytes pass
  for (int d = 1; d < tile.map.rank; ++d) box *= extent(tile.map, d);
  box = (box + permuted - 1) / permuted * permuted;
  if (box <= shared.size() && shared.contains(tile.shared_address, static_cast<std::uint32_t>(box)))
    return true;
  return all_units(tile.map, [&](const Unit& unit) {
    const std::uint32_t first = shared_address(tile.map, tile.shared_address, unit.first);
    return shared.contains(first, unit.count * width);
  });
}

using Touches = bool (*)(const TensorMap&, const Coordinates&, const BoxElement&);

// Calls visit(address, bytes) for all of global memory that a tile touches, in the order of its elements, until one says
// false: a whole line or unit where both of its ends are touched, since what is touched along dimension 0 is an interval
// whose elements lie one behind the other.
template <class Visit>
bool all_touched(const Tile& tile, Touches touches, Visit visit) {
  const TensorMap& map = tile.map;
  const std::uint32_t width = grain(map.type).bytes;
  const auto touched = [&](const Unit& unit) {
    return touches(map, tile.start, unit.first) && touches(map, tile.start, unit.last());
  };
  const auto visit_all = [&](const Unit& unit) {
    return visit(global_address(map, tile.start, unit.first), unit.count * width);
  };
  return all_lines(map, [&](const BoxElement& line) {
    if (touched(whole(map, line))) return visit_all(whole(map, line));
    return all_units_of(map, line, [&](const Unit& unit) {
      if (touched(unit)) return visit_all(unit);
      for (std::uint32_t i = 0; i < unit.count; ++i) {
        const Unit one = {unit.element(i), 1};
        if (touched(one) && !visit_all(one)) return false;
      }
      return true;
    });
  });
}

bool global_fits(const Tile& tile, std::size_t global_bytes, Touches touches) {
  return all_touched(tile, touches, [&](std::uint64_t address, std::uint32_t bytes) {
    return address + bytes <= global_bytes;
  });
}

Fault check_tile(const Tile& tile, const SharedMemory& shared, std::size_t global_bytes,
                 Capability capability, Touches touches = in_bounds) {
  if (const Fault fault = check(tile.map, capability); fault != Fault::None) return fault;
  if (tile.shared_address % tile_alignment_bytes != 0) return Fault::TileUnaligned;
  if (!starts_aligned(tile.map, tile.start)) return Fault::TileStartUnaligned;
  if (!shared_fits(tile, shared)) return Fault::SharedMemoryOutOfRange;
  return global_fits(tile, global_bytes, touches) ? Fault::None : Fault::TileOutOfTensorMemory;
}

// For stores and reductions.
Fault check_outward(const Tile& tile, const SharedMemory& shared, const Global& global,
                    Capability capability) {
  const Fault fault = check_tile(tile, shared, global.size(), capability, is_written);
  if (fault != Fault::None) return fault;
  if (tile.map.type == DataType::U4Align16) return Fault::TargetLacksPackedTypes;
  if (has_padding(tile.map)) return Fault::Im2colPadding;
  return starts_negative(tile.map, tile.start) ? Fault::TileStartNegative : Fault::None;
}

// Calls visit(element of shared memory, element of global memory) for all that a store writes.
template <class Visit>
void for_each_pair(const Tile& tile, const SharedMemory& shared, Global& global, Visit visit) {
  for_each_element(tile, shared, [&](std::uint32_t at, const BoxElement& e) {
    if (is_written(tile.map, tile.start, e))
      visit(shared.data() + at, &global[global_address(tile.map, tile.start, e)]);
  });
}

// A run behind the last one, or more of it.
template <class Run, class Address>
void add_run(std::vector<Run>& runs, Address at, std::uint32_t bytes) {
  if (!runs.empty() && runs.back().end == at)
    runs.back().end += bytes;
  else
    runs.push_back({at, at + bytes});
}

std::vector<GlobalRun> runs_of(const Tile& tile, Touches touches) {
  std::vector<GlobalRun> runs;
  all_touched(tile, touches, [&](std::uint64_t at, std::uint32_t bytes) {
    add_run(runs, at, bytes);
    return true;
  });
  return runs;
}

}  // namespace

std::vector<GlobalRun> runs_read(const Tile& tile) { return runs_of(tile, in_bounds); }
std::vector<GlobalRun> runs_written(const Tile& tile) { return runs_of(tile, is_written); }

// A line that fills its pitch is one run: swizzles permute within it.
std::vector<SharedRun> runs_sent(const Tile& tile) {
  const TensorMap& map = tile.map;
  const auto lands = [&](const Unit& unit) {
    return is_written(map, tile.start, unit.first) && is_written(map, tile.start, unit.last());
  };
  const bool is_dense = inner_box_bytes(map) == row_pitch_bytes(map);
  std::vector<SharedRun> runs;
  const auto add_unit = [&](const Unit& unit) {
    if (lands(unit))
      add_run(runs, shared_address(map, tile.shared_address, unit.first),
              unit.count * grain(map.type).shared_bytes);
    return true;
  };
  all_lines(map, [&](const BoxElement& line) {
    if (!is_dense || !lands(whole(map, line))) return all_units_of(map, line, add_unit);
    add_run(runs, linear_address(map, tile.shared_address, line), inner_box_bytes(map));
    return true;
  });
  return runs;
}

// Any map, also one that check() refuses.
GlobalRun hull(const TensorMap& map, std::uint64_t memory_bytes) {
  if (map.address >= memory_bytes) return {};
  std::uint64_t end = map.address + start_alignment_bytes;
  for (int d = 0; d < std::clamp(map.rank, 0, max_rank); ++d) {
    const std::uint64_t step = d == 0 ? grain(map.type).bytes : map.stride_bytes[d - 1];
    end += std::min<std::uint64_t>(size(map, d), memory_bytes) * std::min(step, memory_bytes);
  }
  return {map.address, std::min(end, memory_bytes)};
}

Fault check(const Load& load, const SharedMemory& shared, const Global& global,
            Capability capability) {
  return check_tile(load.tile, shared, global.size(), capability);
}

Fault check(const Store& store, const SharedMemory& shared, const Global& global,
            Capability capability) {
  return check_outward(store.tile, shared, global, capability);
}

Fault check(const Reduce& reduction, const SharedMemory& shared, const Global& global,
            Capability capability) {
  const Fault fault = check_outward(reduction.tile, shared, global, capability);
  return fault != Fault::None ? fault : check(reduction.op, reduction.tile.map.type);
}

namespace {

// Copies the elements of a unit or a line as they are, 16 bytes at a time, which swizzles leave together.
void copy_bits(const Tile& tile, const Unit& unit, SharedMemory& shared, const Global& global) {
  const std::uint32_t bytes = unit.count * grain(tile.map.type).bytes;
  const std::uint32_t to = linear_address(tile.map, tile.shared_address, unit.first);
  const SwizzleFunction swizzle = swizzle_function(tile.map.swizzle);
  const std::uint8_t* from = &global[global_address(tile.map, tile.start, unit.first)];
  const auto place = [&](std::uint32_t at) {
    return shared.data() + (swizzle.apply(to + at) - shared.base());
  };
  std::uint32_t at = 0;
  for (; at + start_alignment_bytes <= bytes; at += start_alignment_bytes)
    std::memcpy(place(at), from + at, start_alignment_bytes);
  if (at < bytes) std::memcpy(place(at), from + at, bytes - at);
}

// One group of 16 elements of a padded type.
// Inferred: the padding keeps what stood there; refuted by a kernel that reads something else in it. No mma reads it.
void load_group(const Tile& tile, const BoxElement& e, SharedMemory& shared, const Global& global) {
  const TensorMap& map = tile.map;
  std::uint8_t* to = shared.data() + (shared_address(map, tile.shared_address, e) - shared.base());
  const std::uint32_t bytes = grain(map.type).bytes;
  if (in_bounds(map, tile.start, e))
    std::memcpy(to, &global[global_address(map, tile.start, e)], bytes);
  else
    std::memset(to, 0, bytes);
}

// 16 bytes with six bits each, .b6p2x16, as the 12 bytes that they are in the tensor.
void store_sixes(std::uint8_t* to, const std::uint8_t* from) {
  constexpr auto packing = matrix::Packing::B6x16_p32;
  std::array<int, matrix::byte_columns> bytes = {};
  for (int col = 0; col < matrix::byte_columns; ++col) {
    const int both = matrix::packed(packing, col, from[col]);
    const auto first = static_cast<std::size_t>(matrix::first_byte(packing, col));
    bytes[first] |= both % 256;
    bytes[first + 1] |= both / 256;
  }
  for (std::size_t i = 0; i < matrix::packed_bytes(packing); ++i)
    to[i] = static_cast<std::uint8_t>(bytes[i]);
}

// What becomes of one element.
std::uint64_t loaded_element(const Tile& tile, const BoxElement& e, const Global& global) {
  const TensorMap& map = tile.map;
  if (!in_bounds(map, tile.start, e)) return fill_bits(map.type, map.fill);
  const std::uint64_t at = global_address(map, tile.start, e);
  return loaded_bits(map.type, load_element(&global[at], grain(map.type).bytes));
}

}  // namespace

void execute(const Load& load, SharedMemory& shared, const Global& global) {
  const Tile& tile = load.tile;
  const TensorMap& map = tile.map;
  if (is_padded(map.type)) {
    all_elements(map, [&](const BoxElement& e) {
      load_group(tile, e, shared, global);
      return true;
    });
    return;
  }
  const auto keeps_all = [&](const Unit& unit) {
    return keeps_bits(map.type) && in_bounds(map, tile.start, unit.first) &&
           in_bounds(map, tile.start, unit.last());
  };
  const auto load_unit = [&](const Unit& unit) {
    if (keeps_all(unit)) {
      copy_bits(tile, unit, shared, global);
      return true;
    }
    for (std::uint32_t i = 0; i < unit.count; ++i) {
      const BoxElement e = unit.element(i);
      store_element(shared.data() + (shared_address(map, tile.shared_address, e) - shared.base()),
                    loaded_element(tile, e, global), grain(map.type).bytes);
    }
    return true;
  };
  all_lines(map, [&](const BoxElement& line) {
    const Unit all = whole(map, line);
    if (!keeps_all(all)) return all_units_of(map, line, load_unit);
    copy_bits(tile, all, shared, global);
    return true;
  });
}

void execute(const Store& store, const SharedMemory& shared, Global& global) {
  const DataType type = store.tile.map.type;
  const std::uint32_t width = grain(type).bytes;
  for_each_pair(store.tile, shared, global, [&](const std::uint8_t* from, std::uint8_t* to) {
    if (type == DataType::U6Align16) return store_sixes(to, from);
    store_element(to, load_element(from, width), width);
  });
}

void execute(const Reduce& reduction, const SharedMemory& shared, Global& global) {
  const DataType type = reduction.tile.map.type;
  const std::uint32_t width = element_bytes(type);
  for_each_pair(reduction.tile, shared, global, [&](const std::uint8_t* from, std::uint8_t* to) {
    const std::uint64_t element = load_element(from, width);
    store_element(to, reduced_bits(reduction.op, type, load_element(to, width), element), width);
  });
}

Fault execute(ClusterState& state, const MulticastLoad& load) {
  if (load.mask == 0 || load.mask >> state.shared.size() != 0) return Fault::MulticastMask;
  for (const SharedMemory& shared : state.shared)
    if (const Fault fault = check_tile(load.tile, shared, state.global.size(), Capability::V9);
        fault != Fault::None)
      return fault;
  for (std::size_t rank = 0; rank < state.shared.size(); ++rank)
    if ((load.mask >> rank & 1) != 0) execute(Load{load.tile}, state.shared[rank], state.global);
  return Fault::None;
}

}  // namespace tcq::tma
