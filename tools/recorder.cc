#include "tools/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tcq::tools {
namespace {

using oracle::Case;
using oracle::Outcome;
using oracle::Tcgen05Case;

Outcome outcome_of(Ending ending) {
  switch (ending) {
    case Ending::Answered: return Outcome::Completed;
    case Ending::TimedOut: return Outcome::Timeout;
    case Ending::Trapped: return Outcome::Trap;
    case Ending::Leaked: return Outcome::Leak;
    case Ending::Hung: return Outcome::Hang;
    case Ending::Refused: return Outcome::Refused;
    case Ending::Failed: return Outcome::ProbeFailed;
  }
  return Outcome::ProbeFailed;
}

// What a case was made of, without what it became.
std::string inputs_of(const Case& c) {
  Case inputs = c;
  static_cast<oracle::Returned&>(inputs) = {};
  inputs.outcome = Outcome::Trap;  // of which every file is capable, and which has no output
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

std::size_t count_of(const StageResult& result, Outcome outcome) {
  return result.outcomes[static_cast<std::size_t>(outcome)];
}

}  // namespace

Stage stage_of(const Case& any) {
  const auto* c = std::get_if<Tcgen05Case>(&any.experiment);
  if (c == nullptr) return Stage::Hopper;
  if (std::holds_alternative<oracle::AllocSequence>(c->form)) return Stage::Alloc;
  if (oracle::cta_group(c->form) == 2) return Stage::Pairs;
  if (std::holds_alternative<tcgen05::MmaForm>(c->form)) return Stage::Mma;
  return oracle::register_count(c->form) != 0 ? Stage::LdSt : Stage::Cp;
}

const char* name(Stage stage) {
  switch (stage) {
    case Stage::Hopper: return "instructions of sm_90";
    case Stage::LdSt: return "ld and st";
    case Stage::Cp: return "cp and shift of one CTA";
    case Stage::Mma: return "mma of one CTA";
    case Stage::Pairs: return "pairs of CTAs";
    case Stage::Alloc: return "allocations";
  }
  return "";
}

const char* word(Stage stage) {
  switch (stage) {
    case Stage::Hopper: return "sm_90";
    case Stage::LdSt: return "ld-st";
    case Stage::Cp: return "cp";
    case Stage::Mma: return "mma";
    case Stage::Pairs: return "pairs";
    case Stage::Alloc: return "alloc";
  }
  return "";
}

Stage parse_stage(std::string_view text) {
  std::string words;
  for (int i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (text == word(stage)) return stage;
    words += fmt::format("{}{}", i == 0 ? "" : ", ", word(stage));
  }
  throw oracle::UsageError(fmt::format("'{}' is no stage: {}", text, words));
}

void keep_stage(std::vector<SuiteRun>& suites, Stage stage) {
  for (SuiteRun& suite : suites)
    std::erase_if(suite.cases, [&](const oracle::Case& c) { return stage_of(c) != stage; });
  std::erase_if(suites, [](const SuiteRun& suite) { return suite.cases.empty(); });
}

bool StageResult::holds() const {
  return unexpected == 0 && count_of(*this, Outcome::NotRun) == 0 &&
         comparison.differing_outputs == 0;
}

std::string describe(const StageResult& result) {
  std::string text = fmt::format("{}: {} cases", name(result.stage), result.cases);
  for (int i = 0; i < oracle::outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
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

Recorder::Recorder(std::span<SuiteRun> suites, Device device, RecorderOptions options)
    : suites_(suites), options_(options), runner_(on_places(std::move(device)), options.limits) {
  for (std::size_t suite = 0; suite < suites.size(); ++suite)
    for (std::size_t index = 0; index < suites[suite].cases.size(); ++index) {
      suites[suite].cases[index].outcome = Outcome::NotRun;
      order_.push_back({suite, index});
    }
}

CaseDevice Recorder::on_places(Device device) const {
  CaseDevice d{
      device.open, [this, run = device.run](std::size_t place) { return run(at(place)); }, {}};
  if (device.control)
    d.control = [this, control = device.control](std::size_t place) { return control(at(place)); };
  return d;
}

Case& Recorder::at(std::size_t place) const {
  return suites_[order_[place].suite].cases[order_[place].index];
}

// An entry: number of the case in all suites, then a recording of it alone.
void Recorder::restore(std::string_view entry) {
  std::uint64_t place = 0;
  if (entry.size() < sizeof place) throw oracle::BadFile("an entry of the journal has no case");
  std::memcpy(&place, entry.data(), sizeof place);
  entry.remove_prefix(sizeof place);
  if (place >= order_.size()) throw oracle::BadFile("the journal holds a case that does not exist");
  oracle::Recording recording = oracle::parse_recording(entry);
  Case& c = at(place);
  if (recording.cases.size() != 1 || inputs_of(recording.cases[0]) != inputs_of(c))
    throw oracle::BadFile(fmt::format("the journal holds another case {}", place));
  restored_ += is_answer(c.outcome) ? 0 : 1;
  c = std::move(recording.cases[0]);
}

bool Recorder::count(std::size_t place, StageResult& result) const {
  const Case& c = at(place);
  ++result.outcomes[static_cast<std::size_t>(c.outcome)];
  oracle::Comparison one;
  if (is_answer(c.outcome)) oracle::compare(c, 0, one);
  add(result.comparison, one);
  const bool foretold = one.cases == 1 && one.differing_outputs == 0;
  const bool expected = c.outcome == Outcome::Completed || foretold;
  result.unexpected += expected ? 0 : 1;
  return expected;
}

bool Recorder::finish(std::size_t place, Attempt attempt, StageResult& result) {
  Case& c = at(place);
  const std::size_t wanted = output_bytes(c).value_or(attempt.answer.size());
  if (attempt.ending == Ending::Answered && attempt.answer.size() != wanted)
    attempt = {Ending::Failed, 0,
               fmt::format("an answer of {} bytes, not {}", attempt.answer.size(), wanted), ""};
  Outcome outcome = outcome_of(attempt.ending);
  if (!can_hold(c, outcome)) outcome = Outcome::ProbeFailed;
  set_answer(c, outcome, {attempt.answer.begin(), attempt.answer.end()},
             static_cast<std::uint32_t>(attempt.error));
  const std::size_t differing = result.comparison.differing_outputs;
  const bool expected = count(place, result);
  // What a row of sources gave is all that there is to say about a scalar form, what memory holds of a statement.
  if (std::holds_alternative<oracle::ScalarCase>(c.experiment) ||
      std::holds_alternative<oracle::StatementCase>(c.experiment) ||
      std::holds_alternative<oracle::LaunchCase>(c.experiment))
    c.keep = c.keep || result.comparison.differing_outputs != differing;
  if (!expected)
    on_trouble(fmt::format("{}: {}: {}", describe(c), oracle::name(outcome), attempt.sentence));
  if (is_answer(outcome)) {
    const std::uint64_t number = place;
    std::string entry(reinterpret_cast<const char*>(&number), sizeof number);
    on_entry(entry += oracle::serialize({{}, {c}}));
  }
  if (!c.keep) c.output = {};
  on_progress(++done_, stage_of(c));
  return expected;
}

StageResult Recorder::run_stage(Stage stage, const std::string& blocked) {
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
      failures += finish(place, std::move(attempt), result) ? 0 : 1;
      ++ended;
      return options_.keep_going || failures < options_.max_failures;
    });
  const std::size_t left = open.size() - ended;
  result.outcomes[static_cast<std::size_t>(Outcome::NotRun)] += left;
  if (left != 0 && result.stopped.empty())
    result.stopped = fmt::format("{} cases did not end as expected", failures);
  if (left != 0) result.stopped = fmt::format("{} cases not run: {}", left, result.stopped);
  return result;
}

std::vector<StageResult> Recorder::run() {
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
