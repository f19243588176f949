// Every way a program can be wrong: its code, its kind, one sentence, and where the rule is written.
//
// The rows are faults.inc and what it includes; a new Fault is one row there and one section of oracle/explain/faults/.
// Kinds are never mixed: illegal (forbidden), undefined (left open by the manual), unmodelled
// (legal, but not measured or not implemented here). Faults are values; nothing throws. Example:
// info(Fault::ShapeM64).source is "PTX ISA 9.2, 9.7.15.2".
//
// Source: the section named in each row (PTX ISA 9.2).
#pragma once

#include <cstdint>

namespace tcq {

enum class Fault : std::uint8_t {
  None,
#define FAULT(kind, name, document, place, sentence) name,
#include "sim/isa/fault/faults.inc"
#undef FAULT
};

// Disputed: undefined by the letter of the manual, but published kernels rely on it; the Fault's source
// says which. Suspect and Slow are no verdicts: the program is right as far as the manual goes.
enum class FaultKind : std::uint8_t {
  None,
  Illegal,
  Undefined,
  Disputed,
  Unmodelled,
  Suspect,
  Slow,
};

constexpr const char* name(FaultKind kind) {
  constexpr const char* names[] = {"none",       "illegal", "undefined", "disputed",
                                   "unmodelled", "suspect", "slow"};
  return names[static_cast<int>(kind)];
}

// What ends an execution and makes a program wrong; illegal, undefined and unmodelled always do. The
// rest is remembered and reported beside the outcome.
struct Severities {
  bool disputed = false;
  bool suspect = false;
  bool slow = false;
  friend constexpr bool operator==(const Severities&, const Severities&) = default;
};

constexpr bool fails(FaultKind kind, Severities severities) {
  switch (kind) {
    case FaultKind::None: return false;
    case FaultKind::Disputed: return severities.disputed;
    case FaultKind::Suspect: return severities.suspect;
    case FaultKind::Slow: return severities.slow;
    default: return true;
  }
}

struct FaultInfo {
  FaultKind kind;
  const char* name;
  const char* source;  // the document and the place in it
  const char* sentence;
};

#define TCQ_PtxIsa "PTX ISA 9.2, "
#define TCQ_CudaGuide "CUDA C++ Programming Guide, "
#define TCQ_Simulator "none: "
inline constexpr FaultInfo fault_infos[] = {
    {FaultKind::None, "None", "", "no fault"},
#define FAULT(kind, name, document, place, sentence) \
  {FaultKind::kind, #name, TCQ_##document place, sentence},
#include "sim/isa/fault/faults.inc"
#undef FAULT
};
#undef TCQ_PtxIsa
#undef TCQ_CudaGuide
#undef TCQ_Simulator

inline constexpr int fault_count = sizeof(fault_infos) / sizeof(fault_infos[0]);

constexpr const FaultInfo& info(Fault fault) { return fault_infos[static_cast<int>(fault)]; }

}  // namespace tcq
