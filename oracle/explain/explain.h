// What a kernel engineer can do about a Fault: its cause, its cure, and an example of both; and
// which Fault a message of ptxas is about.
//
// The texts are faults/*.md, ptxas.md and ptxas_errors.md, read by prose.h; kind, sentence and source of a Fault are
// sim/isa/fault/fault.h's. The verb is explain.cc. Whoever finds a Fault at a place says its Fix with
// fix_at(): diagnoses and emission have no wording of their own. Example: the wrong statement of
// Fault::ShapeK is one that `tcq check` answers with ShapeK, the right one is legal.
// tests/oracle/explain_test.cc holds the examples against what they claim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/explain/prose.h"
#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

// Of an example. Ptx stands in the body of a kernel, with `wgmma.mma_async...` for any form.
enum class Language : std::uint8_t { Ptx, Cuda, Shell };

struct Explanation {
  Fault fault = Fault::None;
  std::string cause;
  std::string fix;  // general words where a finding has places
  Language language = Language::Ptx;
  std::string wrong;
  std::string right;
  std::string seen;          // public threads about it; mostly empty
  std::string fix_template;  // with {at: the general words}
};

struct ExplanationGroup {
  std::string title;
  std::vector<Explanation> explanations;
};

// All Faults but None, in the order of their codes.
std::span<const ExplanationGroup> explanation_groups();

// Requires: not Fault::None.
const Explanation& explanation(Fault fault);

// Statements by what a reader finds them under: `gemm.cc:40`, `line 3`. Empty: not known.
struct FixPlaces {
  std::string at = "";       // where the Fault was found
  std::string earlier = "";  // what it conflicts with
  std::string hint = "";     // a third one, which explains it
  std::string missing = "";  // the instruction that lacks
};

// The Fix with these places, as what stands behind "fix: ": `put wgmma.fence before gemm.cc:40, ...`.
std::string fix_at(Fault fault, const FixPlaces& places);

struct PtxasMessage {
  std::string code;
  std::string effect;  // what ptxas does
  std::string says;    // its words, without line, function and what it quotes
  std::string cause;   // when it does it
  std::string fix;
  std::vector<Fault> faults;
  std::string evidence;
  bool of_cuda = false;  // of the runtime, the driver or cuda-gdb; then `says` has several, with " | " between them
};

// Ordered by code.
std::span<const PtxasMessage> ptxas_messages();

// Those without a code, which have a name of ours instead (ptxas_errors.md).
std::span<const PtxasMessage> ptxas_errors();

// Of kernels that trapped or did not start (cuda_errors.md).
std::span<const PtxasMessage> cuda_errors();

// The Faults of a field: "Deadlock, DataRace".
std::vector<Fault> faults_named(std::string_view names, const Fields& fields);

// Of these pages, for tests. Throw BadProse for a page that does not follow its form.
std::vector<ExplanationGroup> read_explanations(std::span<const Page> pages);
std::vector<PtxasMessage> read_ptxas_messages(const Page& page);

}  // namespace tcq::oracle
