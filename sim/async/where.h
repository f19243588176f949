// Where a statement stands in the source; of code that a compiler put into another function, also where that was called.
#pragma once

#include <cstdint>

namespace tcq::machine {

struct Where {
  const char* file = "";
  std::uint32_t line = 0;
  const Where* caller = nullptr;
};

}  // namespace tcq::machine
