// Right programs, each with one bug put in by a rule: what diagnoses are measured with.
//
// A bug changes all statements of one source line together, as they stand in one loop of a kernel:
// left out, moved by one place, relaxed, miscounted, sent to the wrong stage. Which Fault it must
// become, and which lines a reader has to be sent to, follows from the rule; seeded_bugs_test.cc
// asks whether the diagnosis does. The programs: pipeline.h draws them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/async/program.h"

namespace tcq::seeded {

struct Bug {
  std::string rule;  // "wait left out"
  std::string line;  // of the changed statements, `file.cc:40`
  machine::Program program;
  std::set<std::string> named;  // any of these lines sends the reader to the change
  std::set<Fault> right;        // the Faults that tell of this bug; empty: any
};

// Every bug that the rules can make of a program.
std::vector<Bug> bugs_of(const machine::Program& right);

}  // namespace tcq::seeded
