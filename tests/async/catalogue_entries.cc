// All rows of the catalogue, in its order.
#include "tests/async/catalogue.h"

namespace tcq::catalogue {

std::vector<Entry> all_entries() {
  std::vector<Entry> all;
  for (const auto entries :
       {proxy_entries(), tensormap_entries(), descriptor_entries(), wgmma_entries(),
        mbarrier_entries(), cluster_entries(), register_entries(), global_entries(),
        tcgen05_entries(), tcgen05_pair_entries()})
    all.insert(all.end(), entries.begin(), entries.end());
  return all;
}

}  // namespace tcq::catalogue
