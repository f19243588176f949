#include "sim/async/undefined_bytes.h"

#include <algorithm>
#include <utility>

#include "sim/async/cluster_state.h"
#include "sim/async/unused_loads.h"

namespace tcq::machine {

std::optional<std::uint32_t> undefined_from(const ClusterState& c, int cta, ByteRange bytes,
                                            std::uint32_t unwritten) {
  const Provenance& memory = c.cta(cta).provenance;
  for (std::uint32_t at = bytes.begin; at < bytes.end; ++at) {
    const AccessId writer = memory.writer(at);
    if (writer == 0) return unwritten;
    const auto& all = c.undefined_bytes;
    auto u =
        std::lower_bound(all.begin(), all.end(), writer,
                         [](const UndefinedBytes& one, AccessId id) { return one.store < id; });
    for (; u != all.end() && u->store == writer; ++u)
      if (u->bytes.begin <= at && at < u->bytes.end) return u->from;
  }
  return std::nullopt;
}

void use_undefined(ClusterState& c, std::uint32_t from) {
  if (from >= c.unwritten_reads.size()) return;
  UnwrittenRead& read = c.unwritten_reads[from];
  read.is_used = true;
  if (read.racing == 0) return;
  std::erase_if(c.suspicions, [&](const Finding& f) {
    return f.fault == Fault::UnreadStoresRace && f.at.statement == read.finding.at.statement;
  });
  c.fail(read.finding);
}

void use_undefined(ClusterState& c, int cta, ByteRange bytes) {
  constexpr std::uint32_t nobody = ~0u;  // a read of what is unwritten stands for itself
  if (c.undefined_bytes.empty()) return;
  if (const auto from = undefined_from(c, cta, bytes, nobody)) use_undefined(c, *from);
}

void add_undefined(ClusterState& c, AccessId store, std::span<const UndefinedBytes> filled) {
  for (UndefinedBytes bytes : filled) {
    bytes.store = store;
    c.undefined_bytes.push_back(bytes);
  }
}

bool note_unread_stores(ClusterState& c, const Finding& race, AccessId store) {
  Finding said = race;
  said.fault = Fault::UnreadStoresRace;
  if (c.stops_at(std::move(said))) return false;
  auto& reads = c.unwritten_reads;
  const auto known = std::find_if(reads.begin(), reads.end(), [&](const UnwrittenRead& read) {
    return read.racing != 0 && read.finding.at_kind == AccessKind::Store &&
           is_same_race(read.finding, race);
  });
  const auto from = static_cast<std::uint32_t>(known - reads.begin());
  if (known == reads.end()) {
    UnwrittenRead& read = reads.emplace_back();
    read.finding = race;
    read.is_followed = true;
    read.racing = ~0u;
  }
  c.undefined_bytes.push_back({race.bytes, from, store});
  return true;
}

void fill(std::span<std::uint8_t> bytes, Contents contents, std::uint64_t place) {
  std::uint32_t mixed =
      static_cast<std::uint32_t>(place * 2654435761u + static_cast<std::uint64_t>(contents));
  for (std::uint8_t& byte : bytes) {
    mixed = mixed * 1664525u + 1013904223u;
    switch (contents) {
      case Contents::Zeros: byte = 0; break;
      case Contents::Ones: byte = 0xff; break;
      case Contents::Large: byte = 0x7f; break;
      default: byte = static_cast<std::uint8_t>(mixed >> 24);
    }
  }
}

std::uint32_t assumed_predicates(Contents contents, std::uint32_t computed, std::uint64_t place) {
  switch (contents) {
    case Contents::True: return ~0u;
    case Contents::False: return 0;
    case Contents::Drawn:
    case Contents::DrawnAgain: {
      const std::uint64_t mixed =
          (place + static_cast<std::uint64_t>(contents)) * 0x9e3779b97f4a7c15u;
      return static_cast<std::uint32_t>((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> 32);
    }
    default: return computed;
  }
}

}  // namespace tcq::machine
