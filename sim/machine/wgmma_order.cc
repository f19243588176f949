#include "sim/machine/wgmma_order.h"

#include <algorithm>

namespace tcq::wgmma {

OrderFault Order::fence(std::uint32_t) {
  fenced_ = true;
  ++epoch_;
  return {};
}

OrderFault Order::commit(std::uint32_t) {
  group_end_.push_back(issued_);
  return {};
}

OrderFault Order::wait(int pending, std::uint32_t) {
  if (committed() == 0 && issued_ == 0) return {.fault = Fault::WaitForNothing};
  completed_groups_ = std::max(completed_groups_, committed() - pending);
  if (completed_groups_ > 0)
    completed_mmas_ = group_end_[static_cast<std::size_t>(completed_groups_ - 1)];
  return {};
}

// The first group that ends with this wgmma or behind it; -1 if it was not committed.
int Order::group_of(std::uint32_t mma) const {
  const auto group = std::lower_bound(group_end_.begin(), group_end_.end(), mma);
  return group == group_end_.end() ? -1 : static_cast<int>(group - group_end_.begin());
}

OrderFault Order::owned(Fault fault, int number, std::uint32_t mma, std::uint32_t earlier) const {
  const int group = group_of(mma);
  return {group < 0 ? Fault::WgmmaUncommitted : fault, number, true, earlier, group};
}

// --- other instructions ----------------------------------------------------------------------------

OrderFault Order::touch(RegisterRange range, bool writes, std::uint32_t now) {
  for (int number = range.first; number < range.first + range.count; ++number) {
    Register& r = at(number);
    if (in_flight(r.accumulator_of))
      return owned(Fault::AccumulatorInFlight, number, r.accumulator_of, r.accumulator_at);
    if (in_flight(r.fragment_of))
      return owned(Fault::FragmentInFlight, number, r.fragment_of, r.fragment_at);
    if (!writes && !r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    r.written = r.written || writes;
    r.touched_at = now;
    r.touched_epoch = epoch_;
  }
  return {};
}

OrderFault Order::read(RegisterRange range, std::uint32_t now) { return touch(range, false, now); }
OrderFault Order::write(RegisterRange range, std::uint32_t now) { return touch(range, true, now); }

// --- wgmma -----------------------------------------------------------------------------------------

OrderFault Order::check_fragment(RegisterRange range) {
  for (int number = range.first; number < range.first + range.count; ++number) {
    const Register& r = at(number);
    if (in_flight(r.accumulator_of))
      return owned(Fault::AccumulatorInFlight, number, r.accumulator_of, r.accumulator_at);
    if (!r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    if (r.touched_epoch == epoch_)
      return {Fault::WgmmaFenceMissing, number, true, r.touched_at, -1};
  }
  return {};
}

OrderFault Order::check_accumulator(const MmaRegisters& mma, std::uint16_t shape) {
  OrderFault slow;
  for (int number = mma.d.first; number < mma.d.first + mma.d.count; ++number) {
    const Register& r = at(number);
    if (in_flight(r.fragment_of))
      return owned(Fault::FragmentInFlight, number, r.fragment_of, r.fragment_at);
    if (mma.accumulate && !r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    if (r.touched_epoch == epoch_)
      return {Fault::WgmmaFenceMissing, number, true, r.touched_at, -1};
    if (r.accumulator_of == 0 || r.accumulator_epoch != epoch_) continue;
    if (r.shape != shape)
      return {Fault::WgmmaShapeChange, number, true, r.accumulator_at, group_of(r.accumulator_of)};
    if (r.accumulator_first != mma.d.first && in_flight(r.accumulator_of))
      slow = {Fault::WgmmaSerialized, number, true, r.accumulator_at, group_of(r.accumulator_of)};
  }
  return slow;
}

OrderFault Order::mma(const MmaRegisters& mma, std::uint32_t now) {
  if (!fenced_) return {.fault = Fault::WgmmaFenceMissing};
  for (const RegisterRange range : {mma.a, mma.metadata})
    if (const OrderFault found = check_fragment(range); found.fault != Fault::None) return found;
  constexpr int shape_step = 512;
  const auto shape = static_cast<std::uint16_t>(k(mma.form) * shape_step + mma.form.n);
  const OrderFault found = check_accumulator(mma, shape);
  if (found.fault != Fault::None && found.fault != Fault::WgmmaSerialized) return found;
  ++issued_;
  for (const RegisterRange range : {mma.a, mma.metadata})
    for (int number = range.first; number < range.first + range.count; ++number) {
      at(number).fragment_of = issued_;
      at(number).fragment_at = now;
    }
  for (int number = mma.d.first; number < mma.d.first + mma.d.count; ++number) {
    Register& r = at(number);
    r.accumulator_of = issued_;
    r.accumulator_at = now;
    r.accumulator_epoch = epoch_;
    r.accumulator_first = static_cast<std::uint16_t>(mma.d.first);
    r.shape = shape;
    r.written = true;
  }
  return found;
}

}  // namespace tcq::wgmma
