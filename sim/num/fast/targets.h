// Which instruction sets Highway compiles the kernels for: those that change something here. Included before
// <hwy/foreach_target.h>.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
