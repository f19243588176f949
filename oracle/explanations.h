// What a kernel engineer can do about each Fault: cause, fix, an example of both, and what ptxas says.
//
// Sentences and sections are sim/isa/fault.h's; explain.cc prints both. The texts are in
// explanations.cc (forms, descriptors, copies) and explanations_machine.cc (order, proxies,
// barriers).
#pragma once

#include <span>

#include "sim/isa/fault.h"

namespace tcq::oracle {

struct Explanation {
  Fault fault;
  const char* cause;
  const char* fix;
  const char* wrong;  // an example, PTX unless it says otherwise
  const char* right;
  const char* ptxas = "";  // code and effect, if ptxas has something to say
};

std::span<const Explanation> form_explanations();
std::span<const Explanation> machine_explanations();

// Every Fault has one.
const Explanation& explanation(Fault fault);

}  // namespace tcq::oracle
