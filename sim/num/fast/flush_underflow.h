// While it lives, results of this thread that underflow become 0.
//
// For float_kernel.cc: what underflows there is far below what a sum keeps, and a subnormal result
// costs some hundred cycles. Operands that are subnormal stay what they are, so that on processors
// that know only both together (Arm) nothing changes. No bit of a sum depends on it.
#pragma once

namespace tcq::fast {

#if defined(__x86_64__)
class FlushUnderflow {
 public:
  FlushUnderflow() : before_(__builtin_ia32_stmxcsr()) {
    __builtin_ia32_ldmxcsr(before_ | flush_to_zero);
  }
  ~FlushUnderflow() { __builtin_ia32_ldmxcsr(before_); }
  FlushUnderflow(const FlushUnderflow&) = delete;
  FlushUnderflow& operator=(const FlushUnderflow&) = delete;

 private:
  static constexpr unsigned flush_to_zero = 0x8000;
  unsigned before_;
};
#else
struct FlushUnderflow {};
#endif

}  // namespace tcq::fast
