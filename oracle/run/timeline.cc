// Steps and waits as shapes; see timeline.h.
#include "oracle/run/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "oracle/diagnosis/instruction_text.h"
#include "sim/async/agent.h"

namespace tcq::oracle::run {
namespace {

using machine::Agent;
using machine::AgentKind;
using machine::Standstill;
using machine::StepKind;
using machine::Trace;
using machine::TracedStep;
using sheet::line_height;
using sheet::margin;

// Longer executions are cut.
constexpr std::size_t most_steps_drawn = 120;
constexpr std::size_t most_rows = 24;
constexpr std::size_t most_sentences = 24;

constexpr int step_width = 26;
constexpr int row_height = 20;

// A wait, in steps of the trace: from `begin` on, up to the end of step `end`.
struct Wait {
  Standstill at;
  int begin = 0;
  int end = 0;
  bool ended = false;    // by step `end`
  bool earlier = false;  // it began before the first step that is drawn
};

std::vector<Wait> waits_of(const Trace& trace) {
  std::vector<Wait> waits;
  std::map<int, std::size_t> open;  // warp -> its wait
  const auto begin = [&](const Standstill& at, int step, bool earlier) {
    open[at.warp] = waits.size();
    waits.push_back({at, step, static_cast<int>(trace.steps.size()) - 1, false, earlier});
  };
  for (const Standstill& at : trace.waiting) begin(at, 0, true);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    for (const Standstill& at : trace.steps[i].continued) {
      Wait& wait = waits[open.at(at.warp)];
      wait.end = static_cast<int>(i);
      wait.ended = true;
    }
    for (const Standstill& at : trace.steps[i].stopped) begin(at, static_cast<int>(i) + 1, false);
  }
  return waits;
}

constexpr int asynchronous = -1;  // the row of copies, commits and data

int row_key(const TracedStep& step) {
  if (step.step.kind == StepKind::Data || machine::is_copy(step.step.what)) return asynchronous;
  return machine::decode(step.step.what).warp;
}

struct Timeline {
  const machine::Program& program;
  const Trace& trace;
  std::vector<Wait> waits;
  std::map<int, int> rows;  // warp, or asynchronous, -> row
  std::size_t warps_left_out = 0;
  int left = 0;
  int per_band = 1;
  int top = 0;

  int steps() const { return static_cast<int>(trace.steps.size()); }
  int band_height() const { return line_height + static_cast<int>(rows.size()) * row_height + 10; }
  int bands() const { return (steps() + per_band - 1) / per_band; }
  int x(int step) const { return left + step % per_band * step_width; }
  int y(int step, int row) const {
    return top + step / per_band * band_height() + line_height + row * row_height;
  }
  bool has(int key) const { return rows.contains(key); }
};

void find_rows(Timeline& t) {
  std::map<int, bool> seen;
  for (const TracedStep& step : t.trace.steps) seen[row_key(step)] = true;
  for (const Wait& wait : t.waits) seen[wait.at.warp] = true;
  const bool has_asynchronous = seen.erase(asynchronous) != 0;
  for (const auto& [warp, _] : seen) {
    if (t.rows.size() < most_rows)
      t.rows.emplace(warp, static_cast<int>(t.rows.size()));
    else
      ++t.warps_left_out;
  }
  if (has_asynchronous) t.rows.emplace(asynchronous, static_cast<int>(t.rows.size()));
}

// ---- Words --------------------------------------------------------------------------------------

std::string row_name(const Timeline& t, int key) {
  return key == asynchronous ? "in flight" : who_text(t.program, {-1, key, -1});
}

std::string statement_text(const Timeline& t, std::int64_t number) {
  const machine::Statement& statement = t.program.statement(static_cast<std::size_t>(number));
  std::string text = instruction_text(t.program, statement.what);
  text = text.substr(0, text.find(" (PTX line "));  // which stands before it
  constexpr std::size_t longest = 60;
  if (text.size() > longest) text = text.substr(0, longest - 3) + "...";
  return fmt::format("{} ({})", line_text(statement), text);
}

// On its box.
std::string step_label(const Timeline& t, const TracedStep& step) {
  if (step.step.kind == StepKind::Data) return "data";
  const Agent agent = machine::decode(step.step.what);
  if (agent.kind != AgentKind::Warp)
    return fmt::format("{}{}", agent.kind == AgentKind::Copy ? 'c' : 'k', agent.warp);
  if (step.step.statement < 0) return "";
  return std::to_string(
      t.program.statement(static_cast<std::size_t>(step.step.statement)).where.line);
}

// Who took it, where.
std::string step_text(const Timeline& t, const TracedStep& step) {
  if (step.step.kind == StepKind::Data) return "data that moves";
  const Agent agent = machine::decode(step.step.what);
  const std::string who = who_text(t.program, {-1, agent.warp, -1});
  if (agent.kind != AgentKind::Warp)
    return fmt::format("a {} that {} issued", agent.kind == AgentKind::Copy ? "copy" : "commit",
                       who);
  return step.step.statement < 0
             ? who
             : fmt::format("{} at {}", who, statement_text(t, step.step.statement));
}

// All warps that wait there until then: "warps 1, 2 wait at ...; step 9 ends it: ...".
std::string wait_text(const Timeline& t, const std::vector<const Wait*>& alike) {
  std::string who;
  for (const Wait* wait : alike)
    who += fmt::format(
        "{}{} since {}", who.empty() ? "" : ", ", who_text(t.program, {-1, wait->at.warp, -1}),
        wait->earlier
            ? "before"
            : fmt::format("step {}", t.trace.begin + static_cast<std::size_t>(wait->begin)));
  const Wait& wait = *alike[0];
  std::string text = fmt::format("waiting at {}: {}; ", statement_text(t, wait.at.statement), who);
  if (!wait.ended) return text + (t.trace.found ? "to the end" : "nothing that is drawn ends it");
  const auto step = static_cast<std::size_t>(wait.end);
  return text + fmt::format("ended by step {}, {}", t.trace.begin + step,
                            step_text(t, t.trace.steps[step]));
}

// Those of one statement that end together, in the order of their beginnings.
std::vector<std::vector<const Wait*>> alike_waits(const Timeline& t) {
  std::vector<std::vector<const Wait*>> groups;
  for (const Wait& wait : t.waits) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const Wait& first = *group[0];
      return first.at.statement == wait.at.statement && first.end == wait.end &&
             first.ended == wait.ended;
    });
    if (same == groups.end())
      groups.push_back({&wait});
    else
      same->push_back(&wait);
  }
  return groups;
}

// ---- Shapes -------------------------------------------------------------------------------------

void add_rows(Drawing& drawing, const Timeline& t) {
  for (int band = 0; band < t.bands(); ++band) {
    const int first = band * t.per_band;
    const int end = std::min(first + t.per_band, t.steps());
    for (const auto& [key, row] : t.rows) {
      const int middle = t.y(first, row) + row_height / 2;
      drawing.line(Ink::Line, t.left, middle, t.left + (end - first) * step_width, middle);
      drawing.words(Ink::Text, t.left - 6, t.y(first, row) + 2, row_name(t, key), Anchor::End);
    }
    for (int step = first; step < end; ++step)
      drawing.words(Ink::Dim, t.x(step) + step_width / 2, t.y(step, 0) - line_height,
                    std::to_string(t.trace.begin + static_cast<std::size_t>(step)), Anchor::Middle);
  }
}

// A box for each band that the wait goes through.
void add_wait(Drawing& drawing, const Timeline& t, const Wait& wait) {
  if (!t.has(wait.at.warp)) return;
  for (int step = wait.begin; step <= wait.end;) {
    const int next = std::min((step / t.per_band + 1) * t.per_band, wait.end + 1);
    drawing.box(Ink::Waiting, {t.x(step), t.y(step, t.rows.at(wait.at.warp)) + 5,
                               (next - step) * step_width, row_height - 10});
    step = next;
  }
}

void add_steps(Drawing& drawing, const Timeline& t) {
  const auto at = [&](int step, int row) {
    return Box{t.x(step) + 1, t.y(step, row) + 1, step_width - 2, row_height - 2};
  };
  const int hues = static_cast<int>(t.rows.size());
  for (int step = 0; step < t.steps(); ++step) {
    const TracedStep& traced = t.trace.steps[static_cast<std::size_t>(step)];
    if (!t.has(row_key(traced))) continue;
    const int row = t.rows.at(row_key(traced));
    drawing.box(Ink::Box, at(step, row), pastel(row, hues, 1, 3));
    drawing.words(Ink::Label, t.x(step) + step_width / 2, t.y(step, row) + 2, step_label(t, traced),
                  Anchor::Middle);
    if (t.trace.found && step + 1 == t.steps()) drawing.box(Ink::Bad, at(step, row));
  }
}

void add_arrow(Drawing& drawing, const Timeline& t, const Wait& wait) {
  if (!wait.ended || !t.has(wait.at.warp)) return;
  const int by = row_key(t.trace.steps[static_cast<std::size_t>(wait.end)]);
  if (!t.has(by) || by == wait.at.warp) return;
  const int from = t.rows.at(by);
  const int to = t.rows.at(wait.at.warp);
  drawing.line(Ink::Arrow, t.x(wait.end) + step_width / 2,
               t.y(wait.end, from) + (from < to ? row_height - 1 : 1), t.x(wait.end) + step_width,
               t.y(wait.end, to) + row_height / 2);
}

void add_sentences(Drawing& drawing, const Timeline& t, const std::string& remark, int y) {
  constexpr int letters = (sheet::widest - margin) / sheet::letter_width;
  const auto say = [&](const std::string& text) {
    y = drawing.paragraph(Ink::Text, margin, y, text, letters);
  };
  say("a column is a step of the machine, not a time; a box: the line at which the step begins; "
      "c: a copy lands, k: a commit arrives, both of the warp of that number; grey: a wait; arrow: "
      "what ended it");
  if (t.trace.steps.size() < t.trace.all)
    say(fmt::format("left out: {} of {} steps; drawn are {} to {}",
                    t.trace.all - t.trace.steps.size(), t.trace.all, t.trace.begin,
                    t.trace.begin + t.trace.steps.size() - 1));
  if (t.warps_left_out > 0)
    say(fmt::format("left out: the rows of {} more warps", t.warps_left_out));
  if (t.trace.found) say("outlined in red: the step that shows it");
  say(remark);
  const auto groups = alike_waits(t);
  for (std::size_t i = 0; i < std::min(groups.size(), most_sentences); ++i)
    say(wait_text(t, groups[i]));
  if (groups.size() > most_sentences)
    say(fmt::format("left out: sentences about {} more waits", groups.size() - most_sentences));
}

}  // namespace

Drawing drawing_of(const machine::Program& program, const Trace& trace, const Captions& captions) {
  Timeline t{program, trace, waits_of(trace), {}};
  find_rows(t);
  int widest = 0;
  for (const auto& [key, _] : t.rows) widest = std::max(widest, width_of(row_name(t, key)));
  t.left = margin + widest + 8;
  t.per_band = (sheet::widest - t.left) / step_width;
  Drawing drawing{captions.title, 0, 0, {}};
  t.top = drawing.paragraph(Ink::Title, margin, margin, captions.title, sheet::widest / 8) + 6;
  add_rows(drawing, t);
  for (const Wait& wait : t.waits) add_wait(drawing, t, wait);
  add_steps(drawing, t);
  for (const Wait& wait : t.waits) add_arrow(drawing, t, wait);
  add_sentences(drawing, t, captions.remark, t.top + t.bands() * t.band_height());
  return drawing;
}

Drawing timeline_of(const machine::Program& program, const machine::Schedule& schedule,
                    const Captions& captions, bool to_its_end) {
  const std::size_t all = schedule.execution.steps.size();
  const std::size_t begin = to_its_end && all > most_steps_drawn ? all - most_steps_drawn : 0;
  return drawing_of(program, machine::trace(program, schedule, begin, begin + most_steps_drawn),
                    captions);
}

}  // namespace tcq::oracle::run
