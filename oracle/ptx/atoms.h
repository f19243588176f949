// atoms=2x1x1: warpgroups along M, N and K of a CTA tile, as CuTe's AtomLayoutMNK.
#pragma once

#include <cstdint>
#include <string_view>

namespace tcq::oracle {

struct Atoms {
  std::uint32_t m = 1;
  std::uint32_t n = 1;
  std::uint32_t k = 1;
};

// Throws UsageError for what is not MxNxK with numbers in [1, 8]; 2 and 2x1 mean 2x1x1.
Atoms parse_atoms(std::string_view word);

}  // namespace tcq::oracle
