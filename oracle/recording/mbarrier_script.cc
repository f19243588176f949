#include "oracle/recording/mbarrier_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "oracle/recording/tile_copy.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using mbarrier::Mbarrier;
using mbarrier::Operation;
using mbarrier::Step;

constexpr std::size_t answer_bytes = sizeof(mbarrier::Answer);
static_assert(answer_bytes == 8);

// What is seen of a barrier behind an operation that led from `before` to `after`.
mbarrier::Answer answer_of(const Mbarrier& before, const Mbarrier& after, const Step& step) {
  mbarrier::Answer answer;
  answer.passes = (test_parity(after, 0) ? 1u : 0u) + (test_parity(after, 1) ? 2u : 0u);
  const bool returns_state = is_arrival(step.operation) && step.issuer == 0;
  answer.pending_count = returns_state ? before.pending : mbarrier::no_pending_count;
  return answer;
}

std::string step_text(const Step& step) {
  return fmt::format("{} {}{}", name(step.operation), step.number,
                     step.issuer == 0 ? "" : fmt::format(" (CTA {})", step.issuer));
}

std::string state_text(const Mbarrier& b) {
  return fmt::format("phase {} expected {} pending {} tx {}", b.phase, b.expected, b.pending, b.tx);
}

// As numbers, for the hash.
std::vector<std::uint64_t> sequence_of(const std::vector<Step>& steps) {
  std::vector<std::uint64_t> numbers;
  for (const Step& s : steps)
    numbers.insert(numbers.end(), {static_cast<std::uint64_t>(s.operation), s.issuer, s.number});
  return numbers;
}

}  // namespace

std::vector<Step> mbarrier_steps(const MbarrierScript& e, const Inputs& inputs) {
  std::vector<Step> steps =
      e.script == 0 ? drawn_mbarrier_script(inputs.seed)
                    : directed_mbarrier_scripts().at(static_cast<std::size_t>(e.script) - 1);
  if (e.cluster == 1) return steps;
  // Directed ones come from the other CTA altogether.
  Draw draw(inputs.seed + 1);
  for (Step& step : steps)
    if (step.operation != Operation::Init)
      step.issuer =
          static_cast<std::uint32_t>(e.script != 0 ? e.cluster - 1 : draw.below(e.cluster));
  return steps;
}

void fields(Fields& io, MbarrierScript& e) {
  io.below(e.cluster, max_cluster + 1, "cluster");
  io.below(e.script, static_cast<int>(directed_mbarrier_scripts().size()) + 1, "script");
  io.number(e.misplaced_by, 1);
}

Memories state(const MbarrierScript& e, const Inputs& inputs) {
  Memories memories = draw_memories(inputs);
  memories.sequence = sequence_of(mbarrier_steps(e, inputs));
  return memories;
}

Prediction predict(const MbarrierScript& e, const Inputs& inputs, const Memories&) {
  if (e.misplaced_by % mbarrier::alignment_bytes != 0) return trap(Fault::MbarrierUnaligned);
  const std::vector<Step> steps = mbarrier_steps(e, inputs);
  std::vector<mbarrier::Answer> answers;
  Mbarrier barrier;
  for (const Step& step : steps) {
    const Mbarrier before = barrier;
    const Fault fault = apply(barrier, step.operation, step.number);
    if (fault != Fault::None) {  // what follows, and whether anything does, is open
      Prediction prediction{fault, to_bytes(answers), std::nullopt};
      prediction.known.resize(prediction.output.size(), 0xff);
      prediction.known.resize(steps.size() * answer_bytes);
      prediction.output.resize(prediction.known.size());
      return prediction;
    }
    answers.push_back(answer_of(before, barrier, step));
  }
  return {Fault::None, to_bytes(answers)};
}

std::vector<std::uint8_t> to_bytes(const std::vector<mbarrier::Answer>& answers) {
  std::vector<std::uint8_t> bytes(answers.size() * answer_bytes);
  if (!bytes.empty()) std::memcpy(bytes.data(), answers.data(), bytes.size());
  return bytes;
}

std::string describe(const MbarrierScript& e, const Inputs& inputs) {
  std::string text;
  for (const Step& step : mbarrier_steps(e, inputs))
    text += (text.empty() ? "mbarrier: " : ", ") + step_text(step);
  if (e.misplaced_by != 0)
    text += fmt::format("; {} bytes behind an aligned address", e.misplaced_by);
  return text;
}

std::string place(const MbarrierScript&, const Inputs&, std::size_t at) {
  return fmt::format("step {} byte {}", at / answer_bytes, at % answer_bytes);
}

Properties properties(const MbarrierScript& e, const Inputs&) {
  return {"mbarrier", fmt::format("cluster {}", e.cluster),
          e.script == 0 ? "drawn" : fmt::format("script {}", e.script)};
}

std::size_t output_bytes(const MbarrierScript& e, const Inputs& inputs) {
  return mbarrier_steps(e, inputs).size() * answer_bytes;
}

std::string mbarrier_table(const MbarrierScript& e, const Inputs& inputs, const Returned& answer) {
  const std::vector<Step> steps = mbarrier_steps(e, inputs);
  std::string text;
  Mbarrier barrier;
  bool known = true;
  for (std::size_t i = 0; i < std::min(steps.size(), answer.output.size() / answer_bytes); ++i) {
    const Mbarrier before = barrier;
    known = known && apply(barrier, steps[i].operation, steps[i].number) == Fault::None;
    const mbarrier::Answer want = answer_of(before, barrier, steps[i]);
    mbarrier::Answer got;
    std::memcpy(&got, answer.output.data() + i * answer_bytes, answer_bytes);
    text += fmt::format("    {:<28} device: parity {} count {:>8}\n", step_text(steps[i]),
                        got.passes, static_cast<std::int32_t>(got.pending_count));
    if (known && !(got == want))
      text += fmt::format("    {:<28} wanted: parity {} count {:>8} = {}\n", "", want.passes,
                          static_cast<std::int32_t>(want.pending_count), state_text(barrier));
    if (!known) text += "      not predicted\n";
  }
  return text;
}

}  // namespace tcq::oracle
