#include "sim/async/undefined_bytes.h"

#include <algorithm>

#include "sim/async/cluster_state.h"

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
  if (read.racing != 0) c.fail(read.finding);
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

}  // namespace tcq::machine
