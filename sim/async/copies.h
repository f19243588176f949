// Bulk copies in flight: when their data moves, what their completion counts on, which maps they use.
//
// A load is in flight until a step of the explorer completes it and its bytes count on the mbarrier;
// a store is in flight until a wait forces it, or chance (advance_data). What moves where is
// tma.h's and bulk.h's business.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/async/step.h"
#include "sim/machine/tma.h"

namespace tcq::machine {

// What a copy's data moves between.
struct CopyData {
  const Copy& copy;
  std::vector<std::uint8_t>& global;
  ClusterState& c;

  SharedMemory& target() const { return c.cta(copy.cta).shared; }
  SharedMemory source() const;  // the captured bytes, at the addresses they were read from
  tma::Tile tile(const tma::Coordinates& start) const { return {*copy.map, start, copy.box.begin}; }
};
// Copy::move of an instruction.
template <class I>
void move_copy(const Instruction& what, const CopyData& data) {
  std::get<I>(what).move(data);
}

inline bool asks_launch(const Copy& copy) { return std::holds_alternative<TryCancel>(*copy.what); }
void complete_load(ClusterState& c, AgentId copy);
void read_source(ClusterState& c, AgentId copy);
void write_destination(ClusterState& c, AgentId copy);

// --- tensor maps -----------------------------------------------------------------------------------

MapActor map_actor(const Step& s);
// False if the verdict is a Fault.
bool settle(Step& s, const MapVerdict& verdict, int map);
// May the thread use the map as it is? Else a Fault.
bool may_use_map(Step& s, int map);
void note_map(Step& s, Copy& copy, int map);
void end_map_use(ClusterState& c, const Copy& copy, Tick tick);

inline PatchableMap& map_at(Step& s, int number) {
  return s.c.maps[static_cast<std::size_t>(number)];
}

}  // namespace tcq::machine
