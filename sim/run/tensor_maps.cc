#include "sim/run/tensor_maps.h"

#include <algorithm>
#include <optional>

#include "sim/isa/copy/tensor_map_object.h"

namespace tcq::run {
namespace {

using machine::LaneAccess;
using machine::LaneAddresses;
using ptx::MapField;
using ptx::Value;

machine::Scope scope_of(const ptx::Form& form) {
  return form.get<ptx::Scope>() == ptx::Scope::Cta ? machine::Scope::Cta : machine::Scope::Cluster;
}

std::optional<tma::TensorMap> map_of(const tma::MapObject& object) {
  tma::TensorMap map;
  if (!tma::map_of(object, map)) return std::nullopt;
  map.address -= global_window;
  return map;
}

std::optional<tma::MapObject> global_object(const Executor& x, std::uint64_t offset) {
  tma::MapObject object;
  if (offset > x.c.global.size() || x.c.global.size() - offset < tma::map_object_bytes)
    return std::nullopt;
  std::memcpy(object.bytes, x.c.global.bytes().data() + offset, tma::map_object_bytes);
  return object;
}

tma::MapObject shared_object(const Executor& x, std::uint32_t offset) {
  const auto& shared = x.c.cta(x.warp.cta).shared;
  tma::MapObject object;
  const std::uint32_t at = offset - shared.base();
  if (at <= shared.size() && shared.size() - at >= tma::map_object_bytes)
    std::memcpy(object.bytes, shared.data() + at, tma::map_object_bytes);
  return object;
}

// Offset in global memory of a map that no launch placed.
std::optional<std::uint64_t> made_at(const Executor& x, std::uint64_t address) {
  const auto& places = x.feeder.launch().map_places;
  const bool placed = std::any_of(places.begin(), places.end(),
                                  [&](const MapPlace& place) { return place.address == address; });
  if (placed || !in_window(address, global_window)) return std::nullopt;
  return address - global_window;
}

// Its number from now on, whatever it holds.
int made_map(Executor& x, std::uint64_t offset) {
  const auto [known, fresh] = x.c.made_maps.try_emplace(offset, static_cast<int>(x.c.maps.size()));
  if (fresh) x.c.maps.emplace_back(nullptr, true);
  return known->second;
}

// Has something in this cluster written bytes of it?
bool is_written(const Executor& x, std::uint64_t offset) {
  for (std::uint32_t i = 0; i < tma::map_object_bytes; ++i)
    if (x.c.global_provenance.writer(static_cast<std::uint32_t>(offset) + i) != 0) return true;
  return false;
}

// --- tensormap.replace -----------------------------------------------------------------------------

std::optional<tma::MapPart> part_of(MapField field) {
  if (field == MapField::None) return std::nullopt;
  return static_cast<tma::MapPart>(static_cast<int>(field) - 1);
}
static_assert(static_cast<int>(MapField::FillMode) - 1 == static_cast<int>(tma::MapPart::FillMode));

struct Replacement {
  tma::MapPlaceInObject place;
  std::uint64_t value = 0;
};

// [map]{, ordinal}, value
std::optional<Replacement> replacement_of(const Executor& x, int lane) {
  const auto part = part_of(x.form().get<MapField>());
  if (!part) return std::nullopt;
  const std::uint32_t last = x.operand_count() - 1;
  const auto ordinal = static_cast<std::uint32_t>(last > 1 ? x.number(x.value(1), lane) : 0);
  const Replacement r{tma::place_of(*part, ordinal), x.number(x.value(last), lane)};
  if (r.place.bytes == 0 || !tma::is_code(*part, r.value)) return std::nullopt;
  return r;
}

// In shared memory a store is all; in global memory it patches what copies may use.
void patch_global(Executor& x, std::uint64_t offset, const Replacement& r, int lane) {
  std::optional<tma::MapObject> object = global_object(x, offset);
  if (!object) return x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(offset));
  tma::map_object::put(*object, r.place, r.value);
  if (const auto map = map_of(*object))
    x.add(machine::TensormapReplace{made_map(x, offset), *map}, 1u << lane);
}

}  // namespace

tma::MapObject kernel_object(const tma::TensorMap& of_launch) {
  tma::TensorMap map = of_launch;
  map.address += global_window;
  return tma::object_of(map);
}

int map_at(Executor& x, const Value& address, int lane) {
  const std::uint64_t a = x.address(address, lane);
  for (const MapPlace& place : x.feeder.launch().map_places)
    if (a == place.address) return place.map;
  const auto offset = made_at(x, a);
  const auto object = offset ? global_object(x, *offset) : std::nullopt;
  const auto map = object ? map_of(*object) : std::nullopt;
  if (!map) return no_map;
  const int number = made_map(x, *offset);
  machine::PatchableMap& made = x.c.maps[static_cast<std::size_t>(number)];
  if (made.value() != nullptr && *made.value() == *map) return number;
  if (is_written(x, *offset)) return map_by_stores;
  x.c.map_values.push_back(std::make_shared<const tma::TensorMap>(*map));
  made = machine::PatchableMap(x.c.map_values.back().get(), true);
  return number;
}

const tma::TensorMap& map_value(const Executor& x, int map) {
  return *x.c.maps[static_cast<std::size_t>(map)].value();
}

bool make_tensormap_replace(Executor& x) {
  const bool shared = is_own_shared(x.form().space());
  bool fine = true;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::optional<Replacement> r = replacement_of(x, lane);
    fine = fine && r.has_value();
    if (!fine || x.c.finding) return;
    const std::uint64_t address = x.address(x.value(0), lane);
    const bool is_global = !shared && in_window(address, global_window);
    const std::uint64_t at =
        is_global ? address - global_window : offset_of(shared_at(x, x.value(0), lane));
    const auto l = static_cast<std::size_t>(lane);
    LaneAccess store{true, {.global = is_global, .bytes = 1}, &x.group.data, {}};
    std::memcpy(x.group.data[l].data(), &r->value, sizeof r->value);
    for (; store.begin < static_cast<int>(r->place.bytes); ++store.begin) {  // of any alignment
      store.where.at[l] =
          static_cast<std::uint32_t>(at + r->place.at) + static_cast<std::uint32_t>(store.begin);
      x.add(store, 1u << lane);
    }
    if (is_global) patch_global(x, at, *r, lane);
  });
  return fine;
}

// [global], [shared], 128: the warp copies, every lane four bytes, and releases; behind it its lanes are in order. The half
// that says nothing is not read: kernels of the CuTe DSL never write it.
bool make_tensormap_copy(Executor& x) {
  const int lane = first_lane(x);
  const std::uint64_t to = x.address(x.value(0), lane);
  const std::uint32_t from = offset_of(shared_at(x, x.value(1), lane));
  if (!in_window(to, global_window)) {
    x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(to));
    return true;
  }
  LaneAddresses source, target;
  target.global = true;
  for (std::uint32_t l = 0; l < machine::warp_threads; ++l) {
    source.at[l] = from + 4 * l;
    target.at[l] = static_cast<std::uint32_t>(to - global_window) + 4 * l;
  }
  constexpr std::uint32_t reading = (1u << tma::map_object_said_bytes / 4) - 1;
  x.group.data = {};
  x.add(LaneAccess{false, source, &x.group.data, {}}, reading);
  x.add(LaneAccess{true, target, &x.group.data, {}}, machine::all_lanes);
  if (const auto map = map_of(shared_object(x, from)))
    x.add(machine::TensormapReplace{made_map(x, to - global_window), *map}, machine::all_lanes);
  x.add(machine::FenceProxyTensormap{.scope = scope_of(x.form())}, machine::all_lanes);
  x.add(machine::FenceMemory{}, machine::all_lanes);
  x.add(machine::WarpSync{}, machine::all_lanes);  // which lane copies what is nobody's business
  return true;
}

// Of an acquire, which map: [map], 128.
void add_tensormap_fence(Executor& x) {
  const machine::Scope scope = scope_of(x.form());
  if (x.form().get<ptx::Semantics>() != ptx::Semantics::Acquire)
    return x.add(machine::FenceProxyTensormap{.scope = scope}, x.group.active);
  x.for_each_lane(x.group.active, [&](int lane) {
    const auto offset = made_at(x, x.address(x.value(0), lane));
    if (!offset) return;
    const int map = made_map(x, *offset);
    x.add(machine::FenceProxyTensormap{machine::TensormapFence::Acquire, map, scope}, 1u << lane);
  });
}

}  // namespace tcq::run
