// The silicon itself as a function: one wgmma of any form on given state, every register of D back.
//
// A Probe writes the PTX of a kernel with the one instruction of its form (opcode:
// sim/isa/base/ptx_text.h, tail: wgmma_text.h), lets the driver assemble it, and runs it once per case
// on a CTA of one warpgroup. It knows no layout: shared memory, descriptors and registers come from
// the caller, who derives them from sim/isa. Needs a device of compute capability 9.0. Example:
//
//   Probe probe({Type::f32, Type::f16, Type::f16, 8});
//   image[i] lies at shared address probe.shared_base() + i
//   probe.run(cases, image.size());
//
// Host code; every failure is a std::runtime_error that begins with the opcode.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/isa/wgmma/shape.h"

namespace tcq::cuda {

// State before one wgmma, and where D goes. Registers are thread-major: thread * count + register.
struct ProbeCase {
  std::uint64_t desc_a = 0;  // unused if A is in registers
  std::uint64_t desc_b = 0;
  bool accumulate = false;
  const std::uint8_t* shared = nullptr;     // shared_bytes of run(); cases may point at one image
  const std::uint32_t* a = nullptr;         // 128 x 4 if A is in registers
  const std::uint32_t* metadata = nullptr;  // 128 if sparse
  const std::uint32_t* d_in = nullptr;      // 128 x accumulator_registers(d, n), always loaded
  std::uint32_t* d_out = nullptr;           // as d_in
};

class Probe {
 public:
  // Assembles the kernel, or takes it from a cache that lives as long as the process. Throws if the
  // form or the selector does not exist, if there is no device, and if the driver rejects the PTX.
  explicit Probe(const wgmma::Form& form, int selector = 0);

  // Address of the first byte of every case's image; all below belongs to the driver.
  std::uint32_t shared_base() const { return shared_base_; }
  // The largest image.
  std::uint32_t max_shared_bytes() const { return max_shared_bytes_; }

  // Runs all cases on the current device and waits. shared_bytes is a multiple of 16. Throws if the
  // device reports an error, which includes a shared address that the hardware refuses; the process
  // can then not use the device any more. Concurrent calls are allowed.
  void run(std::span<const ProbeCase> cases, std::uint32_t shared_bytes) const;

 private:
  wgmma::Form form_;
  std::string opcode_;
  const struct JitKernel* kernel_ = nullptr;
  std::uint32_t shared_base_ = 0;
  std::uint32_t max_shared_bytes_ = 0;
};

// The kernel's text; ptxas -arch=sm_90a accepts it for every form that exists.
// Requires: check(form) == Fault::None, and a selector that the form has.
std::string probe_ptx(const wgmma::Form& form, int selector = 0);

}  // namespace tcq::cuda
