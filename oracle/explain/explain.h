// What a kernel engineer can do about a Fault: its cause, its cure, and an example of both; and
// which Fault a message of ptxas is about.
//
// Kind, sentence and source of a Fault are sim/isa/fault/fault.h's; the texts here are apart from the
// verb, one file per part: explanations_*.cc. The verb is explain.cc. Example: the wrong statement
// of Fault::ShapeK is one that `tcq check` answers with ShapeK, the right one is legal.
// tests/oracle/explain_test.cc holds the examples against what they claim.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

// Of an example. Ptx stands in the body of a kernel, with `wgmma.mma_async...` for any form.
enum class Language : std::uint8_t { Ptx, Cuda, Shell };

struct Explanation {
  Fault fault;
  std::string_view cause;  // three sentences at most
  std::string_view fix;    // two sentences at most
  Language language;
  std::string_view wrong;  // four lines at most
  std::string_view right;
  std::string_view seen = "";  // public threads about it; mostly empty
};

struct ExplanationGroup {
  std::string_view title;
  std::span<const Explanation> explanations;
};

// All Faults but None, in the order of their codes.
std::span<const ExplanationGroup> explanation_groups();

// Requires: not Fault::None.
const Explanation& explanation(Fault fault);

struct PtxasMessage {
  std::string_view code;
  std::string_view effect;  // what ptxas does
  std::string_view cause;   // when it does it
  std::string_view fix;
  std::array<Fault, 2> faults;  // None where there is one only
  std::string_view evidence;
};

// Ordered by code.
std::span<const PtxasMessage> ptxas_messages();

}  // namespace tcq::oracle
