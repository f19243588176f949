// Synchronisation bugs provoked on the silicon: programs in two versions that differ by one thing.
//
// Each program runs many times in many CTAs; every run checks on the device the exact values that
// the program must produce. The mutant lacks, moves or miscounts one instruction; delays that help
// it to misbehave stand in both versions. So a correct version shows 0 wrong runs and 0 timeouts,
// and whatever its mutant shows comes from the mutation. A mutant with 0 wrong runs is evidence
// too: the bug did not show on this chip. What a simulator has to say about each mutant is decided
// elsewhere; here are the counts. Kernels: a .cu file for each family, over cuda/litmus/device.cuh.
//
// Some mutants never return or trap: run each call in a child process (tools/provoke.cc does).
// Example:
//
//   for (const Provocation& p : provocations()) run(p, Version::Mutant, 200'000);
#pragma once

#include <cstdint>
#include <vector>

namespace tcq::cuda {

enum class Version : std::uint8_t { Correct, Mutant };

struct Provocation {
  const char* row;       // of the bug catalogue: P1, W5, B3, ...
  const char* name;      // unique within its row
  const char* mutant;    // what is different
  const char* expected;  // what should go wrong
};

// In the order in which they should run: those that may never return come last.
std::vector<Provocation> provocations();

struct ProvokeCounts {
  std::uint64_t runs = 0;      // begun
  std::uint64_t wrong = 0;     // runs in which a value differed
  std::uint64_t timeouts = 0;  // CTAs in which a wait did not end within about 20 ms
};

// At least `runs` runs, fewer if CTAs time out and leave, or where each run may wait in vain (R1).
// A failure of the device is a std::runtime_error. Requires: a device of compute capability 9.0.
ProvokeCounts run(const Provocation& provocation, Version version, std::uint64_t runs);

}  // namespace tcq::cuda
