// One tcgen05 instruction, or a sequence of allocations: inputs, what a device answered, the file.
//
// A case is a pure function of its members: shared memory, Tensor Memory and registers are drawn
// from its seed and only their hash is stored. Its output is all that the instruction may have
// changed, as words: Tensor Memory of all CTAs (mma, cp, shift, st), registers of 128 threads, then
// the reduced words, then Tensor Memory (ld, ld.red), or three words for each step (alloc): address,
// how often it was blocked, whether it was skipped. A file holds a hash of every 512 words of it,
// which is one tmem_lane, and all words of the cases that ask for it. What the suites of cases are:
// tcgen05_suites.h. Only tools/record_tcgen05 writes such files; no device of compute capability 10
// was at hand, so none exists yet.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/recording/container.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {

// One step of one warp. A dealloc names the step that allocated.
struct AllocStep {
  enum class Action : std::uint8_t { Alloc, Dealloc, Relinquish };
  Action action = Action::Alloc;
  std::uint32_t columns = 0;
  std::uint32_t allocation = 0;

  friend constexpr bool operator==(const AllocStep&, const AllocStep&) = default;
};
inline constexpr int alloc_action_count = 3;

struct AllocSequence {
  int cta_group = 1;
  std::vector<AllocStep> steps;

  friend bool operator==(const AllocSequence&, const AllocSequence&) = default;
};

using Tcgen05CaseForm =
    std::variant<tcgen05::MmaForm, tcgen05::CpForm, tcgen05::ShiftForm, tcgen05::LdForm,
                 tcgen05::StForm, tcgen05::LdRedForm, AllocSequence>;

// Run-time operands, as words; those that the form lacks are 0. Addresses of Tensor Memory count
// from 0, shared addresses are absolute.
struct Tcgen05Operands {
  std::uint64_t desc_a = 0;
  std::uint64_t desc_b = 0;
  std::uint64_t zero_column_mask = 0;
  std::uint64_t desc = 0;  // cp
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t metadata = 0;
  std::uint32_t idesc = 0;
  std::uint32_t scale_a = 0;
  std::uint32_t scale_b = 0;
  std::array<std::uint32_t, 8> disable_output_lane = {};
  std::array<std::uint32_t, 4> taddr = {};  // ld, st: of each warp; cp, shift: the first
  bool accumulate = false;

  friend constexpr bool operator==(const Tcgen05Operands&, const Tcgen05Operands&) = default;
};

// How a case ended. The first five are the device's answer; the others say nothing about it.
enum class Tcgen05Outcome : std::uint8_t {
  Completed,
  Timeout,      // the mbarrier did not complete
  Trap,         // the instruction raised `error`; no output, here and below
  Leak,         // Tensor Memory was still allocated at the end: cudaErrorTensorMemoryLeak
  Hang,         // the kernel did not end within the recorder's limit
  ProbeFailed,  // the recorder's own kernel, the driver or the context
  NotRun,
};
inline constexpr int tcgen05_outcome_count = 7;

constexpr bool is_answer(Tcgen05Outcome outcome) {
  return outcome != Tcgen05Outcome::ProbeFailed && outcome != Tcgen05Outcome::NotRun;
}

// "trapped", "hung", ...
const char* name(Tcgen05Outcome outcome);

struct Tcgen05Case {
  Tcgen05CaseForm form;
  int immediate = 0;  // scale-input-d or immHalfSplitoff
  Tcgen05Operands operands;
  std::uint64_t seed = 0;
  bool keep_words = false;  // in a file, too

  std::uint64_t input_hash = 0;
  Tcgen05Outcome outcome = Tcgen05Outcome::Completed;
  std::uint32_t error = 0;            // of a trap: CUDA's number, the same in runtime and driver
  std::vector<std::uint32_t> output;  // empty if the file holds hashes only, or after a trap
  std::vector<std::uint64_t> hashes;  // one per 512 words of the output
};

// ---- State --------------------------------------------------------------------------------------

// Shared memory of a case: A's bytes, then B's. Its first byte has the address that the driver
// leaves to a kernel on sm_90; the tool refuses a device where it is another. Unit: bytes.
inline constexpr std::uint32_t tcgen05_shared_base = 1024;
inline constexpr std::uint32_t tcgen05_a_bytes = 48 * 1024;
inline constexpr std::uint32_t tcgen05_shared_bytes = 128 * 1024;

// First tmem_column of what an mma finds in Tensor Memory.
inline constexpr int tmem_d_column = 0;
inline constexpr int tmem_a_column = 256;
inline constexpr int tmem_metadata_column = 384;
inline constexpr int tmem_scale_a_column = 416;
inline constexpr int tmem_scale_b_column = 448;
inline constexpr int tmem_random_column = 480;

inline constexpr int tmem_words = tcgen05::tmem_lanes * tcgen05::tmem_columns;  // lane by lane

struct Tcgen05State {
  std::vector<std::vector<std::uint8_t>> shared;  // of each CTA; empty if nothing reads it
  std::vector<std::vector<std::uint32_t>> tmem;   // of each CTA
  std::vector<std::uint32_t> registers;           // thread by thread
};

int cta_group(const Tcgen05CaseForm& form);
// Per thread; 0 for all but ld, ld.red and st.
int register_count(const Tcgen05CaseForm& form);

Tcgen05State build_state(const Tcgen05Case& c);
std::uint64_t hash_inputs(const Tcgen05State& state);
std::vector<std::uint64_t> hash_lanes(const std::vector<std::uint32_t>& output);
// Size of the output of a case that completed or timed out.
std::size_t output_words(const Tcgen05Case& c);

// One line: opcode and operands.
std::string describe(const Tcgen05Case& c);

// ---- Files --------------------------------------------------------------------------------------

struct Tcgen05Recording {
  Header header;
  std::vector<Tcgen05Case> cases;
};

bool is_tcgen05_recording(std::string_view bytes);
std::string serialize(const Tcgen05Recording& recording);
// Throws BadFile.
Tcgen05Recording parse_tcgen05_recording(std::string_view bytes);

}  // namespace tcq::oracle
