// The operators that scarce_memory.h decides about, for a whole program.
#include "tests/gemm/scarce_memory.h"

#include <cstdlib>
#include <new>

// Out of line, or the compiler sees free() on what it knows to be of new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (tcq::allocations_left == 0) throw std::bad_alloc();
  if (tcq::allocations_left > 0) --tcq::allocations_left;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
