#include "sim/async/happened_before.h"

#include <algorithm>

#include "sim/async/touch_order.h"

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

HappenedBefore::Looker HappenedBefore::looker_of(AgentId agent) const {
  const auto warp = static_cast<std::size_t>(decode(agent).warp);
  if (!is_copy(agent)) return {warp, last_step_[warp]};
  const auto issued = issued_.find(agent);
  return {warp, issued == issued_.end() ? 0 : issued->second};
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
  const Looker looker = looker_of(agent);
  before_ = looker.behind == 0 ? Past{} : steps_[looker.behind - 1].past;
  Step step{agent, touches, 0, before_};
  std::vector<std::size_t> exchangeable;
  for (const Touch& touch : touches)
    look_back(objects_[touch.object], touch, looker, step.past, exchangeable);
  std::sort(exchangeable.begin(), exchangeable.end());
  exchangeable.erase(std::unique(exchangeable.begin(), exchangeable.end()), exchangeable.end());
  enter(step);
  return exchangeable;
}

// Earlier steps that the touch depends on, the latest first; those that were known are in order.
void HappenedBefore::look_back(Object& object, const Touch& touch, const Looker& looker, Past& past,
                               std::vector<std::size_t>& exchangeable) const {
  if (looker.warp >= object.looked.size()) object.looked.resize(looker.warp + 1);
  Looked& looked = object.looked[looker.warp];
  const bool is_later = looked.behind <= looker.behind;  // a copy may look for its warp as it was
  std::size_t known = is_later ? looked.known : 0;
  for (std::size_t i = object.touches.size(); i-- > known;) {
    const std::uint32_t earlier = object.touches[i].step;
    if (knows(before_, earlier) || !depends(touch_of(object.touches[i]), touch)) continue;
    if (may_be_exchanged(touch_of(object.touches[i]), touch)) exchangeable.push_back(earlier);
    if (!knows(past, earlier)) join(past, steps_[earlier].past);
  }
  if (!is_later) return;
  while (known < object.touches.size() && knows(before_, object.touches[known].step)) ++known;
  looked = {looker.behind, known};
}

// The step becomes part of what it knows itself, and of the history of what it touched.
void HappenedBefore::enter(Step& step) {
  const auto number = static_cast<std::uint32_t>(steps_.size());
  for (std::uint32_t i = 0; i < step.touches.size(); ++i) {
    const Touch& touch = step.touches[i];
    Object& object = objects_[touch.object];
    if (object.touches.empty() || touch.phase < object.phase) object.life = lives_++;
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
