// The parts of explanation_groups(), one function per file explanations_*.cc; see explain.h.
//
// In examples %f0 to %f3 are an accumulator, %r0 to %r3 a fragment of A, %rd1 and %rd2 the
// descriptors of A and B; tile, full and empty lie in shared memory: a tile and two mbarriers.
#pragma once

#include <array>
#include <span>

#include "oracle/explain/explain.h"

namespace tcq::oracle {

std::array<ExplanationGroup, 2> statement_explanations();      // explanations_statements.cc
std::array<ExplanationGroup, 3> tcgen05_explanations();        // explanations_tcgen05.cc
std::array<ExplanationGroup, 4> tile_explanations();           // explanations_tiles.cc
std::array<ExplanationGroup, 1> word_explanations();           // explanations_tcgen05_words.cc
std::array<ExplanationGroup, 2> order_explanations();          // explanations_order.cc
std::array<ExplanationGroup, 3> barrier_explanations();        // explanations_barriers.cc
std::array<ExplanationGroup, 1> tmem_explanations();           // explanations_tmem.cc
std::array<ExplanationGroup, 1> tensor_memory_explanations();  // explanations_tensor_memory.cc
std::array<ExplanationGroup, 3> program_explanations();        // explanations_programs.cc

}  // namespace tcq::oracle
