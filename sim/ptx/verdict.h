// What is said about an opcode or a statement: legal, or the Fault and the numbers of this one.
//
// Example: illegal(Fault::ShapeN8, "got 12") is told as "ShapeN8: N must be a multiple of 8 in
// [8, 256]; got 12".
#pragma once

#include <string>

#include "sim/isa/fault/fault.h"

namespace tcq::ptx {

struct Verdict {
  FaultKind kind = FaultKind::None;  // None: legal
  Fault fault = Fault::None;
  std::string specifics;
};

Verdict legal();

// Of the Fault's own kind: an Unmodelled one is not called illegal. None: legal.
Verdict illegal(Fault fault, std::string specifics = {});

// For what has no Fault.
Verdict unmodelled(std::string why);

bool is_legal(const Verdict& verdict);

// The sentence of the Fault and the specifics, without its name.
std::string sentence_of(const Verdict& verdict);

// "NAME: SENTENCE; SPECIFICS".
std::string reason_of(const Verdict& verdict);

}  // namespace tcq::ptx
