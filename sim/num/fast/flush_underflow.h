// While it lives, results of this thread that underflow become 0.
//
// For float_kernel.cc: what underflows there is far below what a sum keeps, and a subnormal result
// costs some hundred cycles. Operands that are subnormal stay what they are, so that on processors
// that know only both together (Arm) nothing changes.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tcq::fast {

#if defined(__x86_64__)
class FlushUnderflow {
 public:
  FlushUnderflow() : before_(_mm_getcsr()) { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON); }
  ~FlushUnderflow() { _mm_setcsr(before_); }
  FlushUnderflow(const FlushUnderflow&) = delete;
  FlushUnderflow& operator=(const FlushUnderflow&) = delete;

 private:
  unsigned before_;
};
#else
struct FlushUnderflow {};
#endif

}  // namespace tcq::fast
