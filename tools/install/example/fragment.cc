// Which register of which thread holds D[9][13]? At compile time, from the header that the kernels use.
#include <cstdio>

#include "sim/isa/wgmma/fragment.h"

int main() {
  constexpr tcq::wgmma::Element element{9, 13};
  constexpr tcq::wgmma::Slot slot = tcq::wgmma::accumulator_slot(tcq::Type::f32, element);
  static_assert(tcq::wgmma::accumulator_element(tcq::Type::f32, slot) == element);
  std::printf("thread %d, register %d\n", slot.thread, slot.reg);
}
