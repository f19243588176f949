// The statements of a kernel's warps, made as they run: what only moves registers is done here, everything else is
// a statement of the machine with its operands as they are now.
#pragma once

#include <memory>

#include "sim/async/feed.h"
#include "sim/run/launch.h"

namespace tcq::run {

class KernelFeeder : public machine::Feeder {
 public:
  KernelFeeder(std::shared_ptr<const Kernel> kernel, Launch launch, Dim3 first_cta);

  std::unique_ptr<machine::Feed> start(const machine::Program& program) const override;
  int registers() const override { return static_cast<int>(kernel_->slot_count); }
  std::uint64_t fingerprint() const override;

  const Kernel& kernel() const { return *kernel_; }
  const Launch& launch() const { return launch_; }
  const Dim3& first_cta() const { return first_cta_; }

 private:
  std::shared_ptr<const Kernel> kernel_;
  Launch launch_;
  Dim3 first_cta_;
};

}  // namespace tcq::run
