#include "oracle/recording/async_mbarrier.h"

#include <fmt/format.h>

#include <cstring>

#include "oracle/recording/async_mbarrier_scripts.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using mbarrier::Mbarrier;
using mbarrier::Operation;

static_assert(sizeof(MbarrierAnswer) == mbarrier_answer_bytes);

// What is seen of a barrier behind an operation that led from `before` to `after`.
MbarrierAnswer answer_of(const Mbarrier& before, const Mbarrier& after, const MbarrierStep& step) {
  MbarrierAnswer answer;
  answer.passes = (test_parity(after, 0) ? 1u : 0u) + (test_parity(after, 1) ? 2u : 0u);
  const bool returns_state = is_arrival(step.operation) && step.issuer == 0;
  answer.pending_count = returns_state ? before.pending : no_pending_count;
  return answer;
}

std::string step_text(const MbarrierStep& step) {
  return fmt::format("{} {}{}", name(step.operation), step.number,
                     step.issuer == 0 ? "" : fmt::format(" (CTA {})", step.issuer));
}

std::string state_text(const Mbarrier& b) {
  return fmt::format("phase {} expected {} pending {} tx {}", b.phase, b.expected, b.pending, b.tx);
}

}  // namespace

std::vector<MbarrierStep> mbarrier_steps(const AsyncCase& c) {
  std::vector<MbarrierStep> steps =
      c.mbarrier.script == 0
          ? drawn_mbarrier_script(c.seed)
          : directed_mbarrier_scripts().at(static_cast<std::size_t>(c.mbarrier.script) - 1);
  if (c.cluster == 1) return steps;
  // Directed ones come from the other CTA altogether.
  Draw draw(c.seed + 1);
  for (MbarrierStep& step : steps)
    if (step.operation != Operation::Init)
      step.issuer = c.mbarrier.script != 0 ? c.cluster - 1 : draw.below(c.cluster);
  return steps;
}

std::vector<std::uint8_t> to_bytes(const std::vector<MbarrierAnswer>& answers) {
  std::vector<std::uint8_t> bytes(answers.size() * mbarrier_answer_bytes);
  if (!bytes.empty()) std::memcpy(bytes.data(), answers.data(), bytes.size());
  return bytes;
}

std::vector<MbarrierAnswer> mbarrier_answers(const std::vector<std::uint8_t>& bytes) {
  std::vector<MbarrierAnswer> answers(bytes.size() / mbarrier_answer_bytes);
  if (!answers.empty())
    std::memcpy(answers.data(), bytes.data(), answers.size() * mbarrier_answer_bytes);
  return answers;
}

Prediction predict_mbarrier(const AsyncCase& c) {
  if (c.mbarrier.misplaced_by % mbarrier::alignment_bytes != 0)
    return {Fault::MbarrierUnaligned, {}, Outcome::Trap};
  std::vector<MbarrierAnswer> answers;
  Mbarrier barrier;
  for (const MbarrierStep& step : mbarrier_steps(c)) {
    const Mbarrier before = barrier;
    const Fault fault = apply(barrier, step.operation, step.number);
    if (fault != Fault::None) return {fault, to_bytes(answers), Outcome::Completed, true};
    answers.push_back(answer_of(before, barrier, step));
  }
  return {Fault::None, to_bytes(answers), Outcome::Completed};
}

std::string describe_mbarrier(const AsyncCase& c) {
  std::string text;
  for (const MbarrierStep& step : mbarrier_steps(c))
    text += (text.empty() ? "mbarrier: " : ", ") + step_text(step);
  if (c.mbarrier.misplaced_by != 0)
    text += fmt::format("; {} bytes behind an aligned address", c.mbarrier.misplaced_by);
  return text;
}

std::string mbarrier_table(const AsyncCase& c) {
  const std::vector<MbarrierStep> steps = mbarrier_steps(c);
  const std::vector<MbarrierAnswer> answers = mbarrier_answers(c.output);
  std::string text;
  Mbarrier barrier;
  bool known = true;
  for (std::size_t i = 0; i < std::min(steps.size(), answers.size()); ++i) {
    const Mbarrier before = barrier;
    known = known && apply(barrier, steps[i].operation, steps[i].number) == Fault::None;
    const MbarrierAnswer want = answer_of(before, barrier, steps[i]);
    const MbarrierAnswer& got = answers[i];
    text += fmt::format("    {:<28} device: parity {} count {:>8}\n", step_text(steps[i]),
                        got.passes, static_cast<std::int32_t>(got.pending_count));
    if (known && !(got == want))
      text += fmt::format("    {:<28} wanted: parity {} count {:>8} = {}\n", "", want.passes,
                          static_cast<std::int32_t>(want.pending_count), state_text(barrier));
    if (!known) text += "      not predicted\n";
  }
  return text;
}

std::string explain_open_mbarriers(const AsyncRecording& recording) {
  std::string text;
  for (std::size_t i = 0; i < recording.cases.size(); ++i) {
    const AsyncCase& c = recording.cases[i];
    if (c.move != Move::Mbarrier) continue;
    const Prediction prediction = predict_mbarrier(c);
    if (!prediction.open) continue;
    text += fmt::format("  case {}: {}\n    at the end: {}{}\n{}", i, describe_mbarrier(c),
                        info(prediction.fault).name, c.outcome == Outcome::Trap ? ", trapped" : "",
                        mbarrier_table(c));
  }
  return text;
}

std::vector<AsyncCase> mbarriers(std::uint64_t seed) {
  constexpr std::size_t count = 4000;
  constexpr std::size_t kept = 64;  // one in so many with all bytes
  std::vector<AsyncCase> cases(count);
  for (std::size_t i = 0; i < count; ++i) {
    AsyncCase& c = cases[i];
    c.move = Move::Mbarrier;
    c.seed = mix(seed + i);
    c.cluster = i % 2 == 0 ? 1 : 2;
    c.keep_bytes = i / 2 % kept == 0;
  }
  return cases;
}

std::vector<AsyncCase> mbarrier_edges(std::uint64_t seed) {
  std::vector<AsyncCase> cases;
  const auto add = [&](int script, int cluster, std::uint32_t misplaced_by) {
    AsyncCase c;
    c.move = Move::Mbarrier;
    c.seed = mix(seed + cases.size());
    c.cluster = cluster;
    c.mbarrier = {script, misplaced_by};
    c.keep_bytes = true;
    cases.push_back(c);
  };
  const auto scripts = static_cast<int>(directed_mbarrier_scripts().size());
  for (int script = 1; script <= scripts; ++script)
    for (const int cluster : {1, 2}) add(script, cluster, 0);
  for (const std::uint32_t misplaced_by : {1u, 4u}) add(1, 1, misplaced_by);
  return cases;
}

}  // namespace tcq::oracle
