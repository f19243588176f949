// Programs of random statements: whatever they are, exploring them ends soon and with a sentence.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "sim/async/program.h"

namespace tcq::tests {

// Three roles of one warp with six statements each; draw(random) is an instruction.
template <class DrawInstruction>
void add_random_roles(machine::Program& program, std::mt19937& random, DrawInstruction draw) {
  for (int role = 0; role < 3; ++role) {
    machine::Role some = program.warps("role", static_cast<int>(random() % 4), 1);
    for (int k = 0; k < 6; ++k) (random() % 2 == 0 ? some.elect() : some).add(draw(random));
  }
}

inline void expect_a_sentence_within_bounds(const machine::Program& program) {
  const machine::Report report = explore(program, {.max_executions = 20,
                                                   .random_executions = 2,
                                                   .max_instructions = 5000,
                                                   .max_total_instructions = 50'000});
  EXPECT_FALSE(oracle::report_text(program, report).empty());
  EXPECT_LE(report.instructions, 60'000u);
}

}  // namespace tcq::tests
