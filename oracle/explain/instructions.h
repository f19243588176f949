// What every instruction that orders, moves or multiplies does, and who has to execute it.
//
// The texts are instructions.md, read by prose.h; forms and legality are sim/isa's. Whoever describes an
// instruction adds these words (oracle/sum/instructions.cc). Example: the page of
// "mbarrier.try_wait.parity.shared::cta.b64" is mbarrier.try_wait. tests/oracle/instructions_test.cc holds the
// page against the opcodes that are decoded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/facts.h"
#include "oracle/explain/prose.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

struct InstructionPage {
  std::string name;
  std::string syntax;
  std::string called;   // functions of CUTLASS, CUDA and the DSL that are it, with commas
  std::string example;  // empty where there are forms instead
  std::string does;
  std::string orders;
  std::string by;
  std::vector<Fault> faults;
  std::vector<Target> targets;  // empty: all
  std::string evidence;
};

std::span<const InstructionPage> instruction_pages();

// Of the longest name that the opcode begins with, or of a function that is called so (cutlass::arch::fence_barrier_init),
// nullptr if there is none.
const InstructionPage* instruction_page(std::string_view opcode);

// The page as facts, and what of it belongs to a description of a form: what it does, orders, and its Faults.
Facts page_facts(const InstructionPage& page);
void add_page_facts(Facts& facts, std::string_view opcode);

// For tests. Throws BadProse for a page that does not follow its form.
std::vector<InstructionPage> read_instructions(const Page& page);

}  // namespace tcq::oracle
