#include "sim/run/evaluate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tcq::run {
namespace {

constexpr int warp_lanes = 32;

bool is_signed(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::S16 || type == ptx::Type::S32;
}

// By their sign, if they are integers that have one. Source: PTX ISA 9.2, 9.4.1 "Operand size exceeding instruction-type size"
void extend(Executor& x, const Op& op, const std::array<std::uint32_t, warp_lanes>& narrow,
            std::uint32_t lanes) {
  const ptx::Type type = x.form().types[0];
  const int unused = 64 - ptx::bits(type);
  const Slot to = x.kernel().outs(op)[0];
  const bool is_wide = x.kernel().words_of(x.value(0)) == 2;
  x.for_each_lane(lanes, [&](int lane) {
    const std::uint64_t high = std::uint64_t{narrow[static_cast<std::size_t>(lane)]} << unused;
    const std::uint64_t value =
        is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused)
                        : high >> unused;
    if (is_wide)
      x.set_wide(to, lane, value);
    else
      x.words(to)[lane] = static_cast<std::uint32_t>(value);
  });
}

}  // namespace

void evaluate(Executor& x, const Op& op, std::uint32_t lanes) {
  std::array<void*, most_operands> outs;
  std::array<const void*, most_operands> ins;
  const auto out_slots = x.kernel().outs(op);
  const auto in_slots = x.kernel().ins(op);
  for (std::size_t i = 0; i < out_slots.size(); ++i) outs[i] = x.words(out_slots[i]);
  for (std::size_t i = 0; i < in_slots.size(); ++i) ins[i] = x.words(in_slots[i]);
  std::array<std::uint32_t, warp_lanes> low, narrow;
  if (op.extends) outs[0] = narrow.data();
  if (op.chops) {
    for (int lane = 0; lane < warp_lanes; ++lane)
      low[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(x.wide(in_slots[0], lane));
    ins[0] = low.data();
  }
  std::array<std::uint32_t, 8> flipped;
  for (unsigned rest = op.negated; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    flipped[i] = ~x.words(in_slots[i])[0];
    ins[i] = &flipped[i];
  }
  const alu::Arguments all{outs.data(), ins.data(), lanes, &x.state.carry, op.outs, op.ins};
  const Fault fault = op.check != nullptr ? op.check(all) : Fault::None;
  if (fault != Fault::None) return x.fail(fault);
  op.evaluate(all);
  if (op.extends) extend(x, op, narrow, lanes);
}

void repack(Executor& x, const Op& op, std::uint32_t lanes) {
  const auto width = static_cast<std::size_t>(ptx::bits(x.form().types[0]) / 8);
  const std::size_t in_bytes = width / op.ins;
  const std::size_t out_bytes = width / op.outs;
  const auto words_of = [&](std::size_t bytes) { return static_cast<int>((bytes + 3) / 4); };
  x.for_each_lane(lanes, [&](int lane) {
    std::array<std::uint8_t, 16> bits = {};
    std::size_t at = 0;
    for (const Slot slot : x.kernel().ins(op)) {
      std::memcpy(bits.data() + at, x.words(slot) + words_of(in_bytes) * lane, in_bytes);
      at += in_bytes;
    }
    at = 0;
    for (const Slot slot : x.kernel().outs(op)) {
      std::array<std::uint32_t, 4> cell = {};
      std::memcpy(cell.data(), bits.data() + at, out_bytes);
      std::memcpy(x.words(slot) + words_of(out_bytes) * lane, cell.data(),
                  4 * static_cast<std::size_t>(words_of(out_bytes)));
      at += out_bytes;
    }
  });
}

}  // namespace tcq::run
