// The silicon itself as a function: one tcgen05 instruction on given state, all of Tensor Memory
// back.
//
// An IssueProbe runs mma, cp or shift, a RegisterProbe ld, st or ld.red; allocation is
// cuda/probe/alloc_sm100.h. Each writes the PTX of a kernel with its one instruction
// (cuda/probe/tcgen05_text_sm100.h), lets the driver assemble it, and runs it once per case on one CTA, or on a
// cluster of two with cta_group::2. It knows no layout: images, addresses and descriptors come from
// the caller. Addresses of Tensor Memory count from 0, as the kernel allocates all columns. Example:
//
//   IssueProbe probe(tcgen05::MmaForm{{.kind = tcgen05::Kind::f16}});
//   byte i of an image lies at shared address probe.shared_base() + i
//   probe.run(cases, image_bytes);
//
// Host code; every failure is a std::runtime_error that begins with the opcode; that of a kernel
// which had begun is a KernelError. Needs a device of compute capability 10.0 or 10.3. None was at
// hand: this has been compiled, not run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cuda/probe/tcgen05_text_sm100.h"
#include "cuda/ptx/tcgen05_text.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::cuda {

// Words of an image of Tensor Memory: word tmem_lane * 512 + tmem_column.
inline constexpr int tmem_image_words = tcgen05::TmemAddress::lanes * tcgen05::TmemAddress::columns;

// Is the current device of compute capability 10.x?
bool sm100_present();

// Why it is not; empty if it is.
std::string sm100_absence();

// sm_100a or sm_103a. Throws a sentence for any other device.
Target sm100_target();

// Memory of one CTA before the instruction, and where its Tensor Memory goes.
struct CtaMemory {
  const std::uint8_t* shared = nullptr;  // shared_bytes of run()
  const std::uint32_t* tmem_in = nullptr;
  std::uint32_t* tmem_out = nullptr;
};

// Operands of mma, or taddr and desc of cp and shift; cta[1] with cta_group::2 only.
struct IssueCase {
  ptx::Tcgen05MmaOperands mma;
  std::uint32_t taddr = 0;
  std::uint64_t desc = 0;
  CtaMemory cta[2];
  bool* completed = nullptr;  // false: the mbarrier did not complete in time
};

// Registers are thread-major: thread * count + register. Warp w uses taddr[w].
struct RegisterCase {
  std::uint32_t taddr[4] = {};
  CtaMemory cta;                                // shared is unused
  const std::uint32_t* registers_in = nullptr;  // 128 x vector_registers(form)
  std::uint32_t* registers_out = nullptr;
  std::uint32_t* reduced = nullptr;  // 128 words, ld.red only
};

struct JitKernel;

namespace detail {

// A kernel for the current device.
struct LoadedProbe {
  std::string opcode;
  const JitKernel* kernel = nullptr;
  int cta_group = 1;
  int registers = 0;
  bool reduces = false;
  std::uint32_t shared_base = 0;
  std::uint32_t max_shared_bytes = 0;
};

}  // namespace detail

class IssueProbe {
 public:
  // Throws if the form does not exist on the current device, or if there is none. With
  // Probed::Nothing a run gives Tensor Memory back as it was.
  explicit IssueProbe(const tcgen05::MmaForm& form, int scale_input_d = 0,
                      Probed probed = Probed::Instruction);
  explicit IssueProbe(const tcgen05::CpForm& form, Probed probed = Probed::Instruction);
  explicit IssueProbe(const tcgen05::ShiftForm& form, Probed probed = Probed::Instruction);

  // Address of the first byte of every image; all below belongs to the driver.
  std::uint32_t shared_base() const { return probe_.shared_base; }
  // The largest image.
  std::uint32_t max_shared_bytes() const { return probe_.max_shared_bytes; }

  // Runs all cases on the current device and waits; no two CTAs share an SM. shared_bytes is a
  // multiple of 16. Throws KernelError (launch.h) if the kernel began and did not end well: the
  // process can then not use the device any more.
  void run(std::span<const IssueCase> cases, std::uint32_t shared_bytes) const;

 private:
  detail::LoadedProbe probe_;
};

class RegisterProbe {
 public:
  // As above; with Probed::Nothing the registers come back as well.
  explicit RegisterProbe(const tcgen05::LdForm& form, int half_split = 0,
                         Probed probed = Probed::Instruction);
  explicit RegisterProbe(const tcgen05::StForm& form, int half_split = 0,
                         Probed probed = Probed::Instruction);
  explicit RegisterProbe(const tcgen05::LdRedForm& form, int half_split = 0,
                         Probed probed = Probed::Instruction);

  void run(std::span<const RegisterCase> cases) const;

 private:
  detail::LoadedProbe probe_;
};

}  // namespace tcq::cuda
