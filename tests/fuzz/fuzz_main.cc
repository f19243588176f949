// A libFuzzer program of one body of bodies.h: TCQ_FUZZ_BODY. A law that does not hold ends it, as a crash does.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/bodies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tcq::fuzz::TCQ_FUZZ_BODY({reinterpret_cast<const char*>(data), size});
  return 0;
}
