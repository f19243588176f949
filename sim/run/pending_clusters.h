// Which clusters of a grid begin, and which of those that have not may be handed to one that runs (try_cancel).
//
// Of the clusters that are run, the first `resident` begin; the others are pending. They run one after the other, yet as if
// all of them asked in turn: of n that are still to begin, the first may be handed every n-th pending one, the lowest first,
// and so on; the last is handed whatever is left. So each is told yes, and no once its share is used up. What nobody has asked
// for begins in the end, as a cluster of its own, and may ask as well. Example: 7 clusters, of which 2 begin: cluster 0 may be
// handed 2, 4, 6, then cluster 1 may be handed 3, 5.
//
// A device decides by time, and may say no while clusters are pending (another kernel has its place): whoever is told yes, this
// is one of the schedules it may choose.
//
// Source: PTX ISA 9.2, 9.7.13.17 "clusterlaunchcontrol.try_cancel"; CUDA programming guide 4.12
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tcq::run {

class PendingClusters {
 public:
  // `clusters`: those that are run, ascending. `resident` = 0: all of them begin.
  PendingClusters(const std::vector<std::uint64_t>& clusters, std::uint64_t resident);

  bool is_done() const { return begins_.empty(); }
  // Requires of these: !is_done().
  std::uint64_t next() const { return begins_.front(); }
  // What the next one may be handed, in that order.
  std::vector<std::uint64_t> share() const;
  // The next one has run, and was handed the first `taken` of its share.
  void ran(std::size_t taken);

 private:
  std::deque<std::uint64_t> begins_, pending_;
};

}  // namespace tcq::run
