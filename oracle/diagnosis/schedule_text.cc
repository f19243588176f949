#include "oracle/diagnosis/schedule_text.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

using machine::Agent;
using machine::AgentKind;
using machine::Execution;
using machine::Misfit;
using machine::Schedule;
using machine::ScheduleStep;
using machine::StepKind;
using machine::TestResult;
using machine::Timing;

constexpr std::string_view magic = "tcq schedule 1\n";

// --- print -----------------------------------------------------------------------------------------

std::string step_text(const ScheduleStep& step) {
  if (step.kind == StepKind::Data) return fmt::format("d{}", step.what);
  const Agent agent = machine::decode(step.what);
  if (agent.kind != AgentKind::Warp)
    return fmt::format("{}{}.{}>{}", agent.kind == AgentKind::Copy ? 'c' : 'k', agent.warp,
                       agent.sequence, agent.cta);
  std::string text = fmt::format("w{}@{}", agent.warp, step.statement);
  if (step.test != TestResult::None) text += step.test == TestResult::True ? "=1" : "=0";
  return text;
}

std::string execution_text(std::string_view word, const Execution& execution) {
  std::string text = fmt::format("{} {}\n", word, name(execution.timing));
  for (const ScheduleStep& step : execution.steps) text += step_text(step) + '\n';
  return text;
}

// --- parse -----------------------------------------------------------------------------------------

// What is left of one line, or of one step among others.
class Line {
 public:
  Line(std::string_view text, std::size_t number, std::string_view noun = "line")
      : whole_(text), rest_(text), noun_(noun), number_(number) {}

  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word, std::string_view form) {
    if (!skip(word)) refuse(form);
  }
  std::uint64_t value(std::uint64_t most, std::string_view form, int base = 10) {
    std::uint64_t value = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
    if (error != std::errc() || value > most) refuse(form);
    rest_ = {stop, static_cast<std::size_t>(end - stop)};
    return value;
  }
  void expect_end(std::string_view form) const {
    if (!rest_.empty()) refuse(form);
  }
  [[noreturn]] void refuse(std::string_view form) const {
    throw BadFile(
        fmt::format("{} {} of the schedule, {}, is not {}", noun_, number_, quoted(whole_), form));
  }

 private:
  std::string_view whole_;
  std::string_view rest_;
  std::string_view noun_;
  std::size_t number_;  // of a line: behind the header
};

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  bool next_is(std::string_view word) const { return text_.starts_with(word); }
  Line next() {
    const std::size_t end = text_.find('\n');
    ++number_;
    if (end == std::string_view::npos)
      throw BadFile(fmt::format("the schedule ends in line {}: it was cut off", number_));
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return {line, number_};
  }

 private:
  std::string_view text_;
  std::size_t number_ = 0;
};

// Bounds of what encode() of sim/async/agent.h can hold.
constexpr std::uint64_t most_warps = 0x3fffff;
constexpr std::uint64_t most_copies = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t most_ctas = 0xff;
constexpr auto most_statements = std::uint64_t{machine::max_statements};

ScheduleStep parse_warp(Line line) {
  constexpr std::string_view form = "w<warp>@<statement>, with =0 or =1 behind a test_wait";
  ScheduleStep step;
  step.what = machine::encode({AgentKind::Warp, static_cast<int>(line.value(most_warps, form))});
  line.expect("@", form);
  step.statement = static_cast<std::int64_t>(line.value(most_statements, form));
  if (line.skip("=0"))
    step.test = TestResult::False;
  else if (line.skip("=1"))
    step.test = TestResult::True;
  line.expect_end(form);
  return step;
}

ScheduleStep parse_copy(Line line, AgentKind kind) {
  constexpr std::string_view form = "c<warp>.<number>><cta> or k<warp>.<number>><cta>";
  Agent agent{kind, static_cast<int>(line.value(most_warps, form))};
  line.expect(".", form);
  agent.sequence = static_cast<std::uint32_t>(line.value(most_copies, form));
  line.expect(">", form);
  agent.cta = static_cast<int>(line.value(most_ctas, form));
  line.expect_end(form);
  return {.what = machine::encode(agent)};
}

ScheduleStep parse_step(Line line) {
  if (line.skip("w")) return parse_warp(line);
  if (line.skip("c")) return parse_copy(line, AgentKind::Copy);
  if (line.skip("k")) return parse_copy(line, AgentKind::Commit);
  constexpr std::string_view form = "a step: w, c, k or d and its numbers";
  line.expect("d", form);
  const std::uint64_t choice = line.value(std::numeric_limits<std::uint64_t>::max(), form);
  line.expect_end(form);
  return {.kind = StepKind::Data, .what = choice};
}

Execution parse_execution(Lines& lines, const std::string& word) {
  const std::string form = fmt::format("`{0} earliest` or `{0} latest`", word);
  Line head = lines.next();
  head.expect(word + " ", form);
  Execution execution;
  if (head.skip("earliest"))
    execution.timing = Timing::Earliest;
  else
    head.expect("latest", form);
  head.expect_end(form);
  while (!lines.at_end() && !lines.next_is("against"))
    execution.steps.push_back(parse_step(lines.next()));
  return execution;
}

std::uint64_t parse_setting(Lines& lines, std::string_view word, int base, std::string_view form) {
  Line line = lines.next();
  line.expect(word, form);
  const std::uint64_t value = line.value(std::numeric_limits<std::uint64_t>::max(), form, base);
  line.expect_end(form);
  return value;
}

std::size_t steps_of(const Schedule& schedule) {
  return schedule.execution.steps.size() + (schedule.against ? schedule.against->steps.size() : 0);
}

std::string_view reason(Misfit misfit) {
  switch (misfit) {
    case Misfit::NotRunnable: return "whoever it names cannot take a step there";
    case Misfit::OtherStatement: return "that warp stands before another statement";
    case Misfit::OtherTest: return "the test_wait finds something else";
    case Misfit::NothingInFlight: return "no operation in flight has data to move";
    case Misfit::GoesOn: return "the execution has ended before it";
    default: return "";
  }
}

}  // namespace

namespace {

// Bits: disputed 1, suspect 2, slow 4.
int code_of(Severities fails) { return fails.disputed + 2 * fails.suspect + 4 * fails.slow; }

Severities severities_of(std::uint64_t code) {
  if (code > 7) throw BadFile(fmt::format("`fails {}` of the schedule is not 0 to 7", code));
  return {(code & 1) != 0, (code & 2) != 0, (code & 4) != 0};
}

}  // namespace

std::string schedule_text(const Schedule& schedule) {
  std::string text = fmt::format("program {:016x}\nlimit {}\nfails {}\n", schedule.program,
                                 schedule.max_instructions, code_of(schedule.fails));
  text += execution_text("execution", schedule.execution);
  if (schedule.against) text += execution_text("against", *schedule.against);
  return pack(magic, {}, steps_of(schedule), text);
}

Schedule parse_schedule(std::string_view text) {
  const Container container = unpack(magic, text);
  Lines lines(container.payload);
  Schedule schedule;
  schedule.program = parse_setting(lines, "program ", 16, "`program` and a fingerprint");
  schedule.max_instructions = parse_setting(lines, "limit ", 10, "`limit` and a number");
  schedule.fails = severities_of(parse_setting(lines, "fails ", 10, "`fails` and a number"));
  schedule.execution = parse_execution(lines, "execution");
  if (!lines.at_end()) schedule.against = parse_execution(lines, "against");
  if (!lines.at_end()) lines.next().refuse("expected: a schedule has two executions at most");
  check_cases(container.header, steps_of(schedule));
  return schedule;
}

std::string steps_text(std::span<const ScheduleStep> steps) {
  std::string text;
  for (const ScheduleStep& step : steps) {
    if (!text.empty()) text += ' ';
    text += step_text(step);
  }
  return text;
}

std::vector<ScheduleStep> parse_steps(std::string_view text) {
  std::vector<ScheduleStep> steps;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    steps.push_back(parse_step({text.substr(0, end), steps.size() + 1, "step"}));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) throw BadFile("the steps of the schedule end in a blank: they were cut off");
  }
  return steps;
}

std::string_view name(Timing timing) { return timing == Timing::Latest ? "latest" : "earliest"; }

std::string misfit_text(const Schedule& schedule, const machine::Replay& replay) {
  switch (replay.misfit) {
    case Misfit::None: return "";
    case Misfit::ProgramRefused: return "the program itself is refused: nothing was run";
    case Misfit::OtherProgram:
      return fmt::format("the schedule is of another program (fingerprint {:016x})",
                         schedule.program);
    case Misfit::EndsEarly:
      return fmt::format(
          "the schedule ends behind step {} of {} while others are possible: it is "
          "no whole execution",
          replay.step, replay.in_against ? "`against`" : "`execution`");
    default: break;
  }
  const bool in_against = replay.in_against && schedule.against;
  const auto& steps = (in_against ? *schedule.against : schedule.execution).steps;
  return fmt::format("step {} of {}, {}, does not fit the program: {}", replay.step + 1,
                     in_against ? "`against`" : "`execution`",
                     replay.step < steps.size() ? step_text(steps[replay.step]) : "none",
                     reason(replay.misfit));
}

}  // namespace tcq::oracle
