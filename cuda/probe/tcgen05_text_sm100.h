// The text of the kernels of cuda/probe/tcgen05_sm100.h: one tcgen05 instruction on given state.
//
// Order in every kernel: all of Tensor Memory allocated, shared image in, the right to allocate
// given back, Tensor Memory filled by tcgen05.st, the one instruction, its completion, Tensor Memory
// read by tcgen05.ld, deallocated; a barrier of all threads between any two of these. With
// cta_group::2 it is one of both CTAs, and two more stand before the allocation, as the peer must
// run by then, and behind the deallocation, as it must not have ended. An instruction of one thread
// is issued by thread 0 of CTA 0 of the pair and completes at an mbarrier; waiting is bounded, and a
// timeout is reported. Whatever happens, the kernel frees what it allocated. These rules are tested
// on every text (tests/recording/tcgen05_protocol_test.cc).
// Source: PTX ISA 9.2, 9.7.16.5 (issue granularity, CTA pair), 9.7.16.6 (which accesses are ordered),
// 9.7.16.7.1 "tcgen05.alloc, dealloc, relinquish_alloc_permit".
//
// No device of compute capability 10 was at hand: these texts have been assembled, not run.
#pragma once

#include <cstdint>
#include <string>

#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::cuda {

inline constexpr int probe_threads = 128;  // 4 warps: together they reach every tmem_lane
inline constexpr std::uint32_t probe_tail_bytes = 16;  // of shared memory behind the image

// What the kernel of mma, cp and shift reads of one case besides the images. Names of operands as
// in ptx::Tcgen05MmaOperands; taddr and desc are those of cp and shift.
struct IssueRecord {
  std::uint64_t desc_a;
  std::uint64_t desc_b;
  std::uint64_t zero_mask;
  std::uint64_t desc;
  std::uint32_t d;
  std::uint32_t a;
  std::uint32_t metadata;
  std::uint32_t idesc;
  std::uint32_t scale_a;
  std::uint32_t scale_b;
  std::uint32_t taddr;
  std::uint32_t accumulate;
  std::uint32_t lanes[8];
};
static_assert(sizeof(IssueRecord) == 96);

// What a CTA says about itself.
struct ProbeReport {
  std::uint32_t shared_base;  // address of the image
  std::uint32_t tmem_base;    // address of the allocation
  std::uint32_t completed;    // 0 after a timeout
  std::uint32_t cycles;       // from the issue to the end of the wait
};
static_assert(sizeof(ProbeReport) == 16);

// Does the kernel execute its instruction? Without, all else is the same, and what comes back is
// what went in: a control, which tells a failure of the kernel from one of the instruction.
enum class Probed : bool { Nothing, Instruction };

// ptxas -arch=TARGET accepts each text. The immediate is scale-input-d or immHalfSplitoff.
// Requires: check(form, target) == Fault::None, ptx::immediate_exists(form, immediate).
std::string probe_ptx(const tcgen05::MmaForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);
std::string probe_ptx(const tcgen05::CpForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);
std::string probe_ptx(const tcgen05::ShiftForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);
std::string probe_ptx(const tcgen05::LdForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);
std::string probe_ptx(const tcgen05::StForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);
std::string probe_ptx(const tcgen05::LdRedForm& form, int immediate, Target target,
                      Probed probed = Probed::Instruction);

}  // namespace tcq::cuda
