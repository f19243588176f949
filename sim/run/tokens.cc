#include "sim/run/tokens.h"

namespace tcq::run {
namespace {

constexpr int phase_bits = 12, barrier_bits = 20;  // the pending count stands above
constexpr int offset_bits = 15;                    // in units of 8 bytes
constexpr std::uint64_t low(int bits) { return (std::uint64_t{1} << bits) - 1; }

// From 1; 0: none.
std::uint64_t number_of(std::uint32_t barrier) {
  const std::uint64_t offset = offset_of(barrier) / 8 & low(offset_bits);
  const auto rank = static_cast<std::uint64_t>(rank_of(barrier));
  return 1 + (rank << offset_bits | offset);
}

}  // namespace

std::uint64_t token_of(std::uint64_t state_word, std::uint32_t barrier) {
  return (state_word & ~(low(barrier_bits) << phase_bits)) | number_of(barrier) << phase_bits;
}

bool demand_own_token(Executor& x) {
  std::uint32_t others = 0;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t named = x.number(x.value(2), lane) >> phase_bits & low(barrier_bits);
    if (named != 0 && named != number_of(shared_at(x, x.value(1), lane))) others |= 1u << lane;
  });
  if (others != 0) x.fail(Fault::TokenOfOtherMbarrier, std::countr_zero(others));
  return others == 0;
}

}  // namespace tcq::run
