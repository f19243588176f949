// Which instruction sets Highway compiles the kernels for: AVX-512, AVX2, SSE4, NEON and scalar code. Left out are those
// that have nothing here which one of these has not: SSSE3 is older than SSE4, AVX3_DL adds dot products of integers to
// AVX3, and an Arm core with SVE runs NEON. Included before <hwy/foreach_target.h>.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
