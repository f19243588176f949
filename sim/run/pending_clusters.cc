#include "sim/run/pending_clusters.h"

#include <algorithm>

namespace tcq::run {

PendingClusters::PendingClusters(const std::vector<std::uint64_t>& clusters,
                                 std::uint64_t resident) {
  const std::size_t first =
      resident == 0 ? clusters.size() : std::min<std::size_t>(resident, clusters.size());
  const auto pending = clusters.begin() + static_cast<std::ptrdiff_t>(first);
  begins_.assign(clusters.begin(), pending);
  pending_.assign(pending, clusters.end());
}

std::vector<std::uint64_t> PendingClusters::share() const {
  std::vector<std::uint64_t> share;
  for (std::size_t i = 0; i < pending_.size(); i += begins_.size()) share.push_back(pending_[i]);
  return share;
}

void PendingClusters::ran(std::size_t taken) {
  const std::vector<std::uint64_t> handed = share();
  for (std::size_t i = 0; i < taken; ++i) pending_.erase(std::ranges::find(pending_, handed[i]));
  begins_.pop_front();
  if (!begins_.empty() || pending_.empty()) return;
  begins_.push_back(pending_.front());
  pending_.pop_front();
}

}  // namespace tcq::run
