#include "tools/tcgen05_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "oracle/recording/container.h"
#include "oracle/recording/tcgen05_compare.h"

namespace tcq::tools {
namespace {

using oracle::Tcgen05Case;
using oracle::Tcgen05Outcome;

Tcgen05Outcome outcome_of(Ending ending) {
  switch (ending) {
    case Ending::Answered: return Tcgen05Outcome::Completed;
    case Ending::TimedOut: return Tcgen05Outcome::Timeout;
    case Ending::Trapped: return Tcgen05Outcome::Trap;
    case Ending::Leaked: return Tcgen05Outcome::Leak;
    case Ending::Hung: return Tcgen05Outcome::Hang;
    case Ending::Failed: return Tcgen05Outcome::ProbeFailed;
  }
  return Tcgen05Outcome::ProbeFailed;
}

// What a case was made of, without what it became.
std::string inputs_of(const Tcgen05Case& c) {
  Tcgen05Case inputs = c;
  inputs.outcome = Tcgen05Outcome::NotRun;
  inputs.error = 0;
  inputs.input_hash = 0;  // compare() demands it
  inputs.output.clear();
  inputs.hashes.clear();
  return oracle::serialize({{}, {inputs}});
}

void add(oracle::Comparison& total, const oracle::Comparison& one) {
  total.cases += one.cases;
  total.outputs += one.outputs;
  total.differing_outputs += one.differing_outputs;
  total.differing_bits += one.differing_bits;
  total.unmodelled += one.unmodelled;
  if (total.first_mismatch.empty()) total.first_mismatch = one.first_mismatch;
  if (total.first_unmodelled.empty()) total.first_unmodelled = one.first_unmodelled;
}

std::size_t count_of(const StageResult& result, Tcgen05Outcome outcome) {
  return result.outcomes[static_cast<std::size_t>(outcome)];
}

}  // namespace

Stage stage_of(const Tcgen05Case& c) {
  if (std::holds_alternative<oracle::AllocSequence>(c.form)) return Stage::Alloc;
  if (oracle::cta_group(c.form) == 2) return Stage::Pairs;
  if (std::holds_alternative<tcgen05::MmaForm>(c.form)) return Stage::Mma;
  return oracle::register_count(c.form) != 0 ? Stage::LdSt : Stage::Cp;
}

const char* name(Stage stage) {
  switch (stage) {
    case Stage::LdSt: return "ld and st";
    case Stage::Cp: return "cp and shift of one CTA";
    case Stage::Mma: return "mma of one CTA";
    case Stage::Pairs: return "pairs of CTAs";
    case Stage::Alloc: return "allocations";
  }
  return "";
}

bool StageResult::holds() const {
  return count_of(*this, Tcgen05Outcome::Completed) == cases && comparison.differing_outputs == 0;
}

std::string describe(const StageResult& result) {
  std::string text = fmt::format("{}: {} cases", name(result.stage), result.cases);
  for (int i = 0; i < oracle::tcgen05_outcome_count; ++i) {
    const auto outcome = static_cast<Tcgen05Outcome>(i);
    const std::size_t count = count_of(result, outcome);
    if (count != 0) text += fmt::format(", {} {}", count, name(outcome));
  }
  const oracle::Comparison& c = result.comparison;
  text += fmt::format("; {} compared, {} outputs, {} differing bits, {} not compared\n", c.cases,
                      c.outputs, c.differing_bits, c.unmodelled);
  if (!c.first_mismatch.empty()) text += fmt::format("  {}\n", c.first_mismatch);
  if (!result.stopped.empty()) text += fmt::format("  {}\n", result.stopped);
  return text;
}

std::string progress_line(std::size_t done, std::size_t total, Stage stage, double seconds,
                          double seconds_left) {
  return fmt::format("{} of {} cases, {}, {:.0f} s, about {:.0f} s left", done, total, name(stage),
                     seconds, std::ceil(seconds_left));
}

Tcgen05Recorder::Tcgen05Recorder(std::span<SuiteRun> suites, Tcgen05Device device,
                                 RecorderOptions options)
    : suites_(suites),
      options_(options),
      runner_({device.open, [this, run = device.run](std::size_t place) { return run(at(place)); },
               [this, control = device.control](std::size_t place) { return control(at(place)); }},
              options.limits) {
  for (std::size_t suite = 0; suite < suites.size(); ++suite)
    for (std::size_t index = 0; index < suites[suite].cases.size(); ++index) {
      suites[suite].cases[index].outcome = Tcgen05Outcome::NotRun;
      order_.push_back({suite, index});
    }
}

Tcgen05Case& Tcgen05Recorder::at(std::size_t place) const {
  return suites_[order_[place].suite].cases[order_[place].index];
}

// An entry: number of the case in all suites, then a recording of it alone.
void Tcgen05Recorder::restore(std::string_view entry) {
  std::uint64_t place = 0;
  if (entry.size() < sizeof place) throw oracle::BadFile("an entry of the journal has no case");
  std::memcpy(&place, entry.data(), sizeof place);
  entry.remove_prefix(sizeof place);
  if (place >= order_.size()) throw oracle::BadFile("the journal holds a case that does not exist");
  oracle::Tcgen05Recording recording = oracle::parse_tcgen05_recording(entry);
  Tcgen05Case& c = at(place);
  if (recording.cases.size() != 1 || inputs_of(recording.cases[0]) != inputs_of(c))
    throw oracle::BadFile(fmt::format("the journal holds another case {}", place));
  if (!is_answer(recording.cases[0].outcome)) return;
  restored_ += is_answer(c.outcome) ? 0 : 1;
  c = std::move(recording.cases[0]);
}

void Tcgen05Recorder::count(std::size_t place, StageResult& result) const {
  const Tcgen05Case& c = at(place);
  ++result.outcomes[static_cast<std::size_t>(c.outcome)];
  if (is_answer(c.outcome)) add(result.comparison, oracle::compare({{}, {c}}));
}

void Tcgen05Recorder::finish(std::size_t place, Attempt attempt, StageResult& result) {
  Tcgen05Case& c = at(place);
  const std::size_t wanted = output_words(c) * sizeof c.output[0];
  if (attempt.ending == Ending::Answered && attempt.answer.size() != wanted)
    attempt = {Ending::Failed, 0,
               fmt::format("an answer of {} bytes, not {}", attempt.answer.size(), wanted), ""};
  c.input_hash = hash_inputs(build_state(c));
  c.outcome = outcome_of(attempt.ending);
  c.error = static_cast<std::uint32_t>(attempt.error);
  c.output.resize(c.outcome == Tcgen05Outcome::Completed ? output_words(c) : 0);
  if (!c.output.empty()) std::memcpy(c.output.data(), attempt.answer.data(), wanted);
  c.hashes = oracle::hash_lanes(c.output);
  if (c.outcome != Tcgen05Outcome::Completed)
    on_trouble(fmt::format("{}: {}: {}", describe(c), oracle::name(c.outcome), attempt.sentence));
  const std::uint64_t number = place;
  std::string entry(reinterpret_cast<const char*>(&number), sizeof number);
  on_entry(entry += oracle::serialize({{}, {c}}));
  count(place, result);
  if (!c.keep_words) c.output = {};
  on_progress(++done_, stage_of(c));
}

StageResult Tcgen05Recorder::run_stage(Stage stage, const std::string& blocked) {
  StageResult result;
  result.stage = stage;
  std::vector<std::size_t> open;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    if (stage_of(at(place)) != stage) continue;
    ++result.cases;
    if (is_answer(at(place).outcome))
      count(place, result);
    else
      open.push_back(place);
  }
  std::size_t ended = 0;
  int failures = 0;
  if (!open.empty()) result.stopped = blocked;
  if (result.stopped.empty())
    result.stopped = runner_.run(open, true, [&](std::size_t place, Attempt attempt) {
      finish(place, std::move(attempt), result);
      ++ended;
      failures += at(place).outcome == Tcgen05Outcome::Completed ? 0 : 1;
      return options_.keep_going || failures < options_.max_failures;
    });
  const std::size_t left = open.size() - ended;
  result.outcomes[static_cast<std::size_t>(Tcgen05Outcome::NotRun)] += left;
  if (left != 0 && result.stopped.empty())
    result.stopped = fmt::format("{} cases did not answer", failures);
  if (left != 0) result.stopped = fmt::format("{} cases not run: {}", left, result.stopped);
  return result;
}

std::vector<StageResult> Tcgen05Recorder::run() {
  done_ = restored_;
  std::vector<StageResult> results;
  std::string blocked;
  for (int i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    results.push_back(run_stage(stage, blocked));
    const StageResult& result = results.back();
    if (result.cases == 0) {
      results.pop_back();
    } else if (!result.holds() && blocked.empty() && !options_.keep_going) {
      blocked = fmt::format(
          "they build on {}, of which not all is as expected; --keep-going runs "
          "them",
          name(stage));
    }
  }
  return results;
}

}  // namespace tcq::tools
