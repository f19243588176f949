// What every step of one execution knows to have happened before it, and which earlier steps it
// could have come before instead.
//
// A step happens after the steps of its agent before it, and after those whose order with it matters
// (touch_order.h). What a step knows (Past) is one count per warp; of copies, each of which takes one
// step only, those are listed one by one that counted in an mbarrier's present phase: whoever knows a
// step on an mbarrier in phase p knows all counts of the phases before p, because they depend on it.
// So a Past stays small however long the execution is. Of every object and warp it is kept how many
// of the first steps on the object the warp knew when it last looked, so that the search for earlier
// steps need not begin at the first. Example: a consumer waits for phase 7 of `full` and knew all
// steps on it up to the end of phase 5: only those behind are looked at.
//
// Used by explore.h, which decides what is tried.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/async/agent.h"
#include "sim/async/touch.h"

namespace tcq::machine {

class HappenedBefore {
 public:
  explicit HappenedBefore(int warps) : warps_(static_cast<std::size_t>(warps)) {}

  std::size_t size() const { return steps_.size(); }
  const std::vector<Touch>& last_touches() const { return steps_.back().touches; }

  // The agents that can step in the present state: copies that are new were issued by the last step.
  void note_enabled(const std::vector<AgentId>& enabled);

  // The agent takes the next step. Returns the earlier ones that it could have come before, each once.
  std::vector<std::size_t> take(AgentId agent, const std::vector<Touch>& touches);

  // Had the agent of the last step, before it, known of a step that `other` took at `at` or later?
  bool knew_of(AgentId other, std::size_t at) const;

 private:
  struct Counted {  // a step of a copy
    std::uint32_t step = 0;
    std::uint32_t life = 0;
    std::uint32_t phase = 0;
  };
  struct Past {
    std::vector<std::uint32_t> warps;   // steps of each warp known: those before this one
    std::vector<std::uint32_t> phases;  // per life: of copies, all counts of earlier phases
    std::vector<Counted> copies;        // and these; by step
  };
  struct Step {
    AgentId agent = 0;
    std::vector<Touch> touches;
    std::uint32_t life = 0;  // of what a copy touches
    Past past;               // and the step itself
  };
  struct Touched {
    std::uint32_t step = 0;
    std::uint32_t touch = 0;  // which one of the step's
  };
  // Whose knowledge is asked: a warp's, for copies that of the warp that issued it, `behind` a step.
  struct Looker {
    std::size_t warp = 0;
    std::uint32_t behind = 0;  // 0: none yet
  };
  // How many of an object's first touches the warp knew then.
  struct Looked {
    std::uint32_t behind = 0;
    std::size_t known = 0;
  };
  // An object's touches in order. Initialised again, an mbarrier counts its phases from 0: a new life.
  struct Object {
    std::vector<Touched> touches;
    std::uint32_t life = 0;
    std::uint32_t phase = 0;
    std::vector<Looked> looked;  // per warp
  };

  const Touch& touch_of(const Touched& t) const { return steps_[t.step].touches[t.touch]; }
  Looker looker_of(AgentId agent) const;
  bool knows(const Past& past, std::size_t step) const;
  void join(Past& into, const Past& from) const;
  void look_back(Object& object, const Touch& touch, const Looker& looker, Past& past,
                 std::vector<std::size_t>& exchangeable) const;
  void enter(Step& step);
  static void know_phases(Past& past, std::uint32_t life, std::uint32_t phase);
  static void forget_covered(Past& past);

  std::size_t warps_;
  std::vector<Step> steps_;
  std::unordered_map<std::uint64_t, Object> objects_;
  std::uint32_t lives_ = 0;
  std::vector<std::uint32_t> last_step_ = std::vector<std::uint32_t>(warps_);  // behind it; 0: none
  std::unordered_map<AgentId, std::uint32_t> issued_;  // copies in flight: behind the step
  std::unordered_map<AgentId, std::uint32_t> landed_;  // copies: the step
  Past before_;                                        // of the last step's agent
};

}  // namespace tcq::machine
