// Memory that runs out: the program's operator new, which fails behind as many calls as a test
// grants this thread. The operators are scarce_memory.cc.
#pragma once

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
