#include "sim/run/shuffle.h"

#include <algorithm>
#include <numeric>

#include "sim/run/evaluate.h"
#include "sim/run/undefined.h"

namespace tcq::run {
namespace {

// The lanes that each lane's mask names; null: there is no mask.
const std::uint32_t* masks_of(const Executor& x, const alu::Arguments& all) {
  if (x.form().opcode == ptx::Opcode::Shfl) return nullptr;
  return static_cast<const std::uint32_t*>(all.in[all.ins - 1]);
}

// No lane is left out, as mostly.
bool take_all(const std::uint32_t* masks, std::uint32_t lanes) {
  std::uint32_t named = lanes;
  for (int lane = 0; masks != nullptr && lane < 32; ++lane) named &= masks[lane];
  return named == machine::all_lanes;
}

}  // namespace

std::array<std::uint32_t, 32> source_lanes(const Op& op, const alu::Arguments& all) {
  std::array<std::uint32_t, 32> numbers, result = {}, inside = {};
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::array<const void*, most_operands> sources;
  std::copy(all.in, all.in + all.ins, sources.begin());
  sources[0] = numbers.data();
  const std::array<void*, 2> targets = {result.data(), inside.data()};
  op.evaluate({targets.data(), sources.data(), all.lanes, all.carry, op.outs, op.ins});
  return result;
}

std::uint32_t sourceless_lanes(const Executor& x, const Op& op, const alu::Arguments& all) {
  const std::uint32_t* const masks = masks_of(x, all);
  if (take_all(masks, all.lanes)) return 0;
  const auto sources = source_lanes(op, all);
  std::uint32_t lanes = 0;
  x.for_each_lane(all.lanes, [&](int lane) {
    const std::uint32_t present = all.lanes & (masks == nullptr ? machine::all_lanes : masks[lane]);
    if ((present >> sources[static_cast<std::size_t>(lane)] & 1) == 0) lanes |= 1u << lane;
  });
  return lanes;
}

void assume_words(const Executor& x, std::uint32_t* words, std::uint32_t lanes) {
  if (!x.c.contents || lanes == 0) return;
  std::array<std::uint32_t, 32> assumed;
  const std::span bytes(reinterpret_cast<std::uint8_t*>(assumed.data()), sizeof assumed);
  machine::fill(bytes, *x.c.contents, x.state.steps << 16 ^ x.number());
  x.for_each_lane(lanes, [&](int lane) { words[lane] = assumed[static_cast<std::size_t>(lane)]; });
}

void shuffle(Executor& x, const Op& op, std::uint32_t lanes) {
  std::array<const void*, most_operands> sources;
  const auto ins = x.kernel().ins(op);
  for (std::size_t i = 0; i < ins.size(); ++i) sources[i] = x.words(ins[i]);
  const alu::Arguments all{nullptr, sources.data(), lanes, &x.state.carry, op.outs, op.ins};
  const Place place{&op, lanes};
  const std::uint32_t sourceless = follow_shuffle(x, {&place, 1}, all);
  evaluate(x, op, lanes);
  assume_words(x, x.words(x.kernel().outs(op)[0]), sourceless);
}

}  // namespace tcq::run
