#include "sim/machine/happened_before.h"

#include <algorithm>

#include "sim/machine/touch_order.h"

namespace tcq::machine {
namespace {

std::uint32_t at(const std::vector<std::uint32_t>& values, std::size_t index) {
  return index < values.size() ? values[index] : 0;
}

void raise(std::vector<std::uint32_t>& values, std::size_t index, std::uint32_t value) {
  if (index >= values.size()) values.resize(index + 1);
  values[index] = std::max(values[index], value);
}

void raise_all(std::vector<std::uint32_t>& values, const std::vector<std::uint32_t>& others) {
  for (std::size_t i = 0; i < others.size(); ++i) raise(values, i, others[i]);
}

}  // namespace

// --- what is known ---------------------------------------------------------------------------------

HappenedBefore::Past HappenedBefore::past_of(AgentId agent) const {
  std::uint32_t behind = 0;
  if (!is_copy(agent)) {
    behind = last_step_[agent];
  } else if (const auto found = issued_.find(agent); found != issued_.end()) {
    behind = found->second;
  }
  return behind == 0 ? Past{} : steps_[behind - 1].past;
}

bool HappenedBefore::knows(const Past& past, std::size_t step) const {
  const Step& s = steps_[step];
  if (!is_copy(s.agent)) return at(past.warps, s.agent) > step;
  if (!s.touches.empty() && s.touches[0].phase < at(past.phases, s.life)) return true;
  const auto found =
      std::lower_bound(past.copies.begin(), past.copies.end(), step,
                       [](const Counted& c, std::size_t number) { return c.step < number; });
  return found != past.copies.end() && found->step == step;
}

bool HappenedBefore::knew_of(AgentId other, std::size_t step) const {
  if (!is_copy(other)) return at(before_.warps, other) > step;
  const auto landed = landed_.find(other);
  return landed != landed_.end() && landed->second >= step && knows(before_, landed->second);
}

void HappenedBefore::know_phases(Past& past, std::uint32_t life, std::uint32_t phase) {
  if (phase > at(past.phases, life)) raise(past.phases, life, phase);
}

void HappenedBefore::forget_covered(Past& past) {
  std::erase_if(past.copies, [&](const Counted& c) { return c.phase < at(past.phases, c.life); });
}

void HappenedBefore::join(Past& into, const Past& from) const {
  raise_all(into.warps, from.warps);
  raise_all(into.phases, from.phases);
  std::vector<Counted> both;
  std::set_union(into.copies.begin(), into.copies.end(), from.copies.begin(), from.copies.end(),
                 std::back_inserter(both),
                 [](const Counted& a, const Counted& b) { return a.step < b.step; });
  into.copies = std::move(both);
  forget_covered(into);
}

// --- steps -----------------------------------------------------------------------------------------

void HappenedBefore::note_enabled(const std::vector<AgentId>& enabled) {
  for (const AgentId agent : enabled)
    if (is_copy(agent)) issued_.try_emplace(agent, static_cast<std::uint32_t>(steps_.size()));
}

std::vector<std::size_t> HappenedBefore::take(AgentId agent, const std::vector<Touch>& touches) {
  before_ = past_of(agent);
  Step step{agent, touches, 0, before_};
  std::vector<std::size_t> exchangeable;
  for (const Touch& touch : touches) look_back(touch, step.past, exchangeable);
  std::sort(exchangeable.begin(), exchangeable.end());
  exchangeable.erase(std::unique(exchangeable.begin(), exchangeable.end()), exchangeable.end());
  enter(step);
  return exchangeable;
}

// Earlier steps that the touch depends on, the latest first. What the agent knew is in order; so is
// all that has touched the object in the phases before one of which it knew a count.
void HappenedBefore::look_back(const Touch& touch, Past& past,
                               std::vector<std::size_t>& exchangeable) const {
  const auto found = objects_.find(touch.object);
  if (found == objects_.end()) return;
  const Object& object = found->second;
  std::uint32_t over = 0;
  for (auto t = object.touches.rbegin(); t != object.touches.rend(); ++t) {
    const Touch& earlier = touch_of(*t);
    if (earlier.phase < over && !object.reborn) return;
    if (knows(before_, t->step)) {
      if (earlier.kind == TouchKind::Count) over = std::max(over, earlier.phase);
      continue;
    }
    if (!depends(earlier, touch)) continue;
    if (may_be_exchanged(earlier, touch)) exchangeable.push_back(t->step);
    if (!knows(past, t->step)) join(past, steps_[t->step].past);
  }
}

// The step becomes part of what it knows itself, and of the history of what it touched.
void HappenedBefore::enter(Step& step) {
  const auto number = static_cast<std::uint32_t>(steps_.size());
  for (std::uint32_t i = 0; i < step.touches.size(); ++i) {
    const Touch& touch = step.touches[i];
    const auto [entry, fresh] = objects_.try_emplace(touch.object);
    Object& object = entry->second;
    object.reborn = object.reborn || touch.phase < object.phase;
    if (fresh || touch.phase < object.phase) object.life = lives_++;
    object.phase = touch.phase;
    object.touches.push_back({number, i});
    step.life = object.life;
    know_phases(step.past, object.life, touch.phase);
  }
  forget_covered(step.past);
  if (is_copy(step.agent)) {
    issued_.erase(step.agent);
    landed_.emplace(step.agent, number);
    const std::uint32_t phase = step.touches.empty() ? 0 : step.touches[0].phase;
    step.past.copies.push_back({number, step.life, phase});
  } else {
    last_step_[step.agent] = number + 1;
    raise(step.past.warps, step.agent, number + 1);
  }
  steps_.push_back(std::move(step));
}

}  // namespace tcq::machine
