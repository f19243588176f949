// What lanes that do not execute keep.
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

template <class C>
void keep_others(C* out, const C* result, std::uint32_t lanes) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const C keep = static_cast<C>(lanes >> lane & 1) - 1;
    out[lane] = (out[lane] & keep) | (result[lane] & ~keep);
  }
}

}  // namespace

void write_some(std::uint32_t* out, const std::uint32_t* result, std::uint32_t lanes) {
  keep_others(out, result, lanes);
}
void write_some(std::uint64_t* out, const std::uint64_t* result, std::uint32_t lanes) {
  keep_others(out, result, lanes);
}

}  // namespace tcq::alu
