// One tcgen05 instruction, or a sequence of allocations.
//
// Shared memory, Tensor Memory and registers are drawn from the seed. The output is all that the
// instruction may have changed, as words: Tensor Memory of all CTAs (mma, cp, shift, st), registers of
// 128 threads, then the reduced words, then Tensor Memory (ld, ld.red), or three words for each step
// (alloc): address, how often it was blocked, whether it was skipped. Which are drawn: tcgen05_suites.cc;
// what the simulator knows of them: tcgen05_predict.h; the device: cuda/probe/tcgen05_sm100.h. No device
// of compute capability 10 was at hand, so no recording exists yet.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "oracle/recording/case.h"
#include "oracle/recording/fields.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tmem/alloc_step.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {

using tcgen05::AllocStep;

// Of one warp.
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

struct Tcgen05Case {
  static constexpr int first_code = 15;  // and one for each alternative of the form
  static constexpr int kind_count = static_cast<int>(std::variant_size_v<Tcgen05CaseForm>);

  Tcgen05CaseForm form;
  int immediate = 0;  // scale-input-d or immHalfSplitoff
  Tcgen05Operands operands;

  friend bool operator==(const Tcgen05Case&, const Tcgen05Case&) = default;
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

void fields(Fields& io, Tcgen05Case& e);
Tcgen05State state(const Tcgen05Case& e, const Inputs& inputs);
std::uint64_t hash_inputs(const Tcgen05State& state);
Prediction predict(const Tcgen05Case& e, const Inputs& inputs, const Tcgen05State& before);
std::string describe(const Tcgen05Case& e, const Inputs& inputs);
std::string place(const Tcgen05Case& e, const Inputs& inputs, std::size_t at);
Properties properties(const Tcgen05Case& e, const Inputs& inputs);
constexpr std::size_t output_width(const Tcgen05Case&) { return sizeof(std::uint32_t); }
std::size_t output_bytes(const Tcgen05Case& e, const Inputs& inputs);

// The form whose number in a file is first_code + `kind`, its members yet to be read.
Tcgen05CaseForm form_of_kind(int kind);

}  // namespace tcq::oracle
