// Memory that runs out: the program's operator new, which fails behind as many calls as a test
// grants this thread. Include it in one source of a program.
#pragma once

#include <cstdlib>
#include <new>

namespace tcq {

inline constexpr int unlimited = -1;
inline thread_local int allocations_left = unlimited;

// `call` with memory for so many allocations.
template <class Call>
auto with_memory_for(int allocations, Call call) {
  struct Again {
    ~Again() { allocations_left = unlimited; }
  } again;
  allocations_left = allocations;
  return call();
}

}  // namespace tcq

// Out of line, or the compiler sees free() on what it knows to be of new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (tcq::allocations_left == 0) throw std::bad_alloc();
  if (tcq::allocations_left > 0) --tcq::allocations_left;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
