// Words of global memory as a relaxed look may still find them: as they were before a write that another word told of.
//
// Accesses by which threads synchronise (atom, red, relaxed, volatile, acquire, release) take effect here in one order
// for all threads. PTX promises that of each word alone. One thread writes x, then y; another finds y written and looks
// at x: unless fences, or a release and an acquire, stand between, x may be what it was. Such looks are noted while a
// program runs; explore.h executes each of them once more, and then it does find what was there before. If other
// bits or a Fault come of that, it is MemoryFenceMissing. Example: CUDA's threadFenceReduction without its
// __threadfence(): the last block counts all others as done and may add up partial sums of before.
//
// A look that its warp repeats before it writes global memory is a flag's: it finds the write the next time.
//
// Source: PTX ISA 9.2, 8.9.2 "Observation", 8.9.3 "Release and Acquire Patterns", 8.10 (coherence and causality are
// all that bind a read to a write). Never provoked on silicon here.
// Not followed: what atomics find; words of shared memory; more than 8 bytes of a lane, whose elements are apart; what
// two threads find that write one word each and look at the other's; what comes too early. All that one aligned word of
// 8 bytes holds counts as one word.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/async/clock.h"
#include "sim/async/finding.h"

namespace tcq::machine {

struct LaneAtomic;  // instructions/lanes.h
struct Step;        // step.h
struct Touch;       // touch.h

// An aligned word of 8 bytes before one of its writes.
struct EarlierWord {
  Stream stream = 0;  // (stream, tick): the write
  Tick tick = 0;
  Place by;
  std::array<std::uint8_t, 8> bytes = {};
};

// Of an execution.
struct LateWords {
  std::unordered_map<std::uint64_t, std::deque<EarlierWord>>
      before;                  // by Touch::object; the youngest last
  std::vector<Finding> looks;  // that may find what was there before, the first of each statement
  // The statement whose first such look does, and which look that was.
  std::optional<std::int64_t> late_at;
  std::optional<Place> late;
  std::vector<std::uint64_t> late_objects;
  bool has_acted = false;    // its warp has written global memory since
  bool is_repeated = false;  // before that it looked at one of them again
};

// The lanes of a look that find what was there before, and what each of them does.
struct LateLook {
  std::uint32_t lanes = 0;
  std::array<std::array<std::uint8_t, 8>, 32> bytes = {};
};

// Behind record of a write and before its bytes are.
void note_write(Step& s, const LaneAtomic& i, const std::vector<Touch>& touched);
// A store to global memory.
inline void note_act(LateWords& words, int warp) {
  if (words.late && words.late->warp == warp) words.has_acted = true;
}
// What the word that a thread writes tells those that find it.
void tell(const Step& s, Clock& told);
// Before the look makes anything known.
LateLook late_look(Step& s, const LaneAtomic& i);

}  // namespace tcq::machine
