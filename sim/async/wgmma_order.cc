#include "sim/async/wgmma_order.h"

#include <algorithm>

namespace tcq::wgmma {

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::fence(std::uint32_t) {
  fenced_ = true;
  ++epoch_;
  return {};
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::commit(std::uint32_t) {
  group_end_.push_back(issued_);
  return {};
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::wait(int pending, std::uint32_t) {
  if (committed() == 0 && issued_ == 0) return {.fault = Fault::WaitForNothing};
  completed_groups_ = std::max(completed_groups_, committed() - pending);
  if (completed_groups_ > 0)
    completed_mmas_ = group_end_[static_cast<std::size_t>(completed_groups_ - 1)];
  return {};
}

// The first group that ends with this wgmma or behind it; -1 if it was not committed.
template <class Registers, class Numbers>
int BasicOrder<Registers, Numbers>::group_of(std::uint32_t mma) const {
  const auto group = std::lower_bound(group_end_.begin(), group_end_.end(), mma);
  return group == group_end_.end() ? -1 : static_cast<int>(group - group_end_.begin());
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::owned(Fault fault, int number, std::uint32_t mma,
                                                 std::uint32_t earlier) const {
  const int group = group_of(mma);
  return {group < 0 ? Fault::WgmmaUncommitted : fault, number, true, earlier, group};
}

// --- other instructions ----------------------------------------------------------------------------

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::touch(Numbers numbers, bool writes, std::uint32_t now,
                                                 bool moved) {
  for (const int number : numbers) {
    RegisterState& r = at(number);
    if (in_flight(r.accumulator_of))
      return owned(Fault::AccumulatorInFlight, number, r.accumulator_of, r.accumulator_at);
    if (in_flight(r.fragment_of))
      return owned(Fault::FragmentInFlight, number, r.fragment_of, r.fragment_at);
    if (!writes && !r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    r.written = r.written || writes;
    if (moved) {
      if (writes && in_flight(issued_)) r.late_epoch = epoch_;
      continue;
    }
    r.touched_at = now;
    r.touched_epoch = epoch_;
  }
  return {};
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::read(Numbers numbers, std::uint32_t now, bool moved) {
  return touch(numbers, false, now, moved);
}
template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::write(Numbers numbers, std::uint32_t now, bool moved) {
  return touch(numbers, true, now, moved);
}

// --- wgmma -----------------------------------------------------------------------------------------

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::check_fragment(Numbers numbers, bool is_fenced) {
  for (const int number : numbers) {
    const RegisterState& r = at(number);
    if (in_flight(r.accumulator_of))
      return owned(Fault::AccumulatorInFlight, number, r.accumulator_of, r.accumulator_at);
    if (!r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    if (is_fenced && r.touched_epoch == epoch_)
      return {Fault::WgmmaFenceMissing, number, true, r.touched_at, -1};
  }
  return {};
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::check_accumulator(const MmaOperands<Numbers>& mma,
                                                             std::uint16_t shape) {
  OrderFault slow;
  for (const int number : mma.d) {
    const RegisterState& r = at(number);
    if (in_flight(r.fragment_of))
      return owned(Fault::FragmentInFlight, number, r.fragment_of, r.fragment_at);
    if (mma.accumulate && !r.written) return {.fault = Fault::RegisterUninitialized, .reg = number};
    if (r.touched_epoch == epoch_)
      return {Fault::WgmmaFenceMissing, number, true, r.touched_at, -1};
    if (r.late_epoch == epoch_) slow = {.fault = Fault::WgmmaSerialized, .reg = number};
    if (r.accumulator_of == 0 || r.accumulator_epoch != epoch_) continue;
    if (r.shape != shape)
      return {Fault::WgmmaShapeChange, number, true, r.accumulator_at, group_of(r.accumulator_of)};
    if (r.accumulator_first != static_cast<std::uint16_t>(*mma.d.begin()) &&
        in_flight(r.accumulator_of))
      slow = {Fault::WgmmaSerialized, number, true, r.accumulator_at, group_of(r.accumulator_of)};
  }
  return slow;
}

template <class Registers, class Numbers>
OrderFault BasicOrder<Registers, Numbers>::mma(const MmaOperands<Numbers>& mma, std::uint32_t now) {
  if (!fenced_) return {.fault = Fault::WgmmaFenceMissing};
  if (const OrderFault f = check_fragment(mma.a, true); f.fault != Fault::None) return f;
  if (const OrderFault f = check_fragment(mma.metadata, mma.fences_metadata);
      f.fault != Fault::None)
    return f;
  constexpr int shape_step = 512;
  const auto shape = static_cast<std::uint16_t>(k(mma.form) * shape_step + mma.form.n);
  const OrderFault found = check_accumulator(mma, shape);
  if (found.fault != Fault::None && found.fault != Fault::WgmmaSerialized) return found;
  ++issued_;
  for (const Numbers numbers : {mma.a, mma.metadata})
    for (const int number : numbers) {
      at(number).fragment_of = issued_;
      at(number).fragment_at = now;
    }
  for (const int number : mma.d) {
    RegisterState& r = at(number);
    r.accumulator_of = issued_;
    r.accumulator_at = now;
    r.accumulator_epoch = epoch_;
    r.accumulator_first = static_cast<std::uint16_t>(*mma.d.begin());
    r.shape = shape;
    r.late_epoch = 0;
    r.written = true;
  }
  return found;
}

// --- states of a program with loops ----------------------------------------------------------------

template <class Registers, class Numbers>
bool BasicOrder<Registers, Numbers>::owns_registers() const {
  for (const RegisterState& r : registers_)
    if (in_flight(r.accumulator_of)) return true;
  return false;
}

// 1: complete; from 2 on the age of its group, oldest first; highest: in no group.
template <class Registers, class Numbers>
std::uint32_t BasicOrder<Registers, Numbers>::age_number(std::uint32_t mma,
                                                         std::uint32_t oldest) const {
  if (mma == 0) return 0;
  if (!in_flight(mma)) return 1;
  const int group = group_of(mma);
  if (group < 0) return oldest + 3;
  return oldest + 2 - std::min(oldest, static_cast<std::uint32_t>(committed() - 1 - group));
}

template <class Registers, class Numbers>
void BasicOrder<Registers, Numbers>::normalise(int oldest_age) {
  const auto oldest = static_cast<std::uint32_t>(oldest_age);
  constexpr std::uint32_t now = 1;
  for (RegisterState& r : registers_) {
    const bool same_epoch = r.accumulator_epoch == epoch_;
    r.accumulator_of = age_number(r.accumulator_of, oldest);
    r.fragment_of = in_flight(r.fragment_of) ? age_number(r.fragment_of, oldest) : 0;
    r.touched_epoch = r.touched_epoch == epoch_ ? now : 0;
    r.accumulator_epoch = same_epoch ? now : 0;
    r.late_epoch = 0;
    if (same_epoch) continue;
    r.shape = 0;
    r.accumulator_first = 0;
    if (r.accumulator_of == 1) r.accumulator_of = 0;
  }
  issued_ = uncommitted() ? oldest + 3 : oldest + 2;
  group_end_.resize(oldest + 2);
  for (std::uint32_t group = 0; group < oldest + 2; ++group) group_end_[group] = group + 1;
  completed_groups_ = 1;
  completed_mmas_ = 1;
  epoch_ = now;
}

namespace {

// The later of two uses; true if that is the other's.
bool take_later(std::uint32_t& mine, std::uint32_t& mine_at, std::uint32_t other,
                std::uint32_t other_at) {
  if (other <= mine) return false;
  mine = other;
  mine_at = other_at;
  return true;
}

bool join_register(RegisterState& r, const RegisterState& other) {
  constexpr std::uint16_t differs = 0xffff;  // no shape has this number
  bool changed =
      take_later(r.accumulator_of, r.accumulator_at, other.accumulator_of, other.accumulator_at);
  changed |= take_later(r.fragment_of, r.fragment_at, other.fragment_of, other.fragment_at);
  changed |= take_later(r.touched_epoch, r.touched_at, other.touched_epoch, other.touched_at);
  if (other.accumulator_epoch > r.accumulator_epoch) {
    r.accumulator_epoch = other.accumulator_epoch;
    r.shape = other.shape;
    r.accumulator_first = other.accumulator_first;
    changed = true;
  } else if (other.accumulator_epoch != 0 && r.shape != other.shape && r.shape != differs) {
    r.shape = differs;
    changed = true;
  }
  if (other.written && !r.written) changed = r.written = true;
  return changed;
}

}  // namespace

template <class Registers, class Numbers>
bool BasicOrder<Registers, Numbers>::join(const BasicOrder& other) {
  bool changed = other.issued_ > issued_ || (fenced_ && !other.fenced_);
  issued_ = std::max(issued_, other.issued_);
  fenced_ = fenced_ && other.fenced_;
  for (std::size_t i = 0; i < registers_.size(); ++i)
    changed |= join_register(registers_[i], other.registers_[i]);
  return changed;
}

template class BasicOrder<std::vector<RegisterState>, RegisterRange>;
template class BasicOrder<std::vector<RegisterState>, RegisterList>;

}  // namespace tcq::wgmma
