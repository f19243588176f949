// The verb tmem: draws a plan for Tensor Memory and names what is wrong with it.
//
// Decides the words of a plan, how it is drawn and how much of it is printed; sizes, places and
// Faults are sim/async/tmem_plan.h. The work grows with the words as their number does. Words in
// the order of time: NAME=COLUMNS allocates, NAME=START+COLUMNS is an allocation that the program
// was given at START, NAME/PART=... is a part of one, and free=NAME deallocates. Example: d0=256
// d1=256 free=d0 d2=128.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "oracle/answer/grid_picture.h"
#include "oracle/answer/svg.h"
#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "sim/async/tmem_plan.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::oracle {
namespace {

using tcgen05::tmem_columns;
using tcgen05::TmemAllocation;
using tcgen05::TmemColumns;
using tcgen05::TmemPart;
using tcgen05::TmemPlan;
using tcgen05::TmemStep;

constexpr std::string_view expected =
    "NAME=COLUMNS, NAME=START+COLUMNS, NAME/PART=COLUMNS, NAME/PART=START+COLUMNS or free=NAME";
constexpr std::string_view free_word = "free";

// However long the line, its answer can be read: this is all that is printed of a name, of the
// Faults, and of the allocations that were freed.
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_faults = 64;
constexpr std::size_t most_freed = 1024;  // regions
constexpr std::size_t most_title_words = 64;

// One character of the bar, one cell of the picture.
constexpr int columns_per_mark = 8;
constexpr int marks = tmem_columns / columns_per_mark;
constexpr char free_mark = '.';
constexpr char unnamed_mark = '-';  // of an allocation with parts, but in none of them
constexpr char crowded_mark = '#';  // several regions
constexpr std::string_view marks_of_regions =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// ---- Words --------------------------------------------------------------------------------------

[[noreturn]] void throw_word(std::string_view word, std::string_view why) {
  throw UsageError(fmt::format("{}: {}; expected {}", quoted(word), why, expected));
}

void check_name(std::string_view word, std::string_view name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  if (name.empty()) throw_word(word, "a name is missing");
  if (name.size() > longest_name)
    throw_word(word, fmt::format("a name has {} characters, at most {} are read", name.size(),
                                 longest_name));
  if (!std::all_of(name.begin(), name.end(), fine))
    throw_word(word, "names have letters, digits, '_', '.' and '-'");
}

int column_number(std::string_view word, std::string_view digits, std::uint64_t low) {
  constexpr std::uint64_t most = 65535;
  const std::uint64_t value = parse_number(digits, fmt::format("column count of {}", quoted(word)));
  if (value < low || value > most)
    throw_word(word, fmt::format("{} is outside [{}, {}]", value, low, most));
  return static_cast<int>(value);
}

TmemStep step_from(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) throw_word(word, "'=' is missing");
  std::string_view name = word.substr(0, equals);
  std::string_view value = word.substr(equals + 1);
  if (name == free_word) {
    check_name(word, value);
    return {TmemStep::Action::Free, std::string(value)};
  }
  TmemStep step = {TmemStep::Action::Allocate, ""};
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    step.action = TmemStep::Action::Part;
    step.part = name.substr(slash + 1);
    check_name(word, step.part);
    name = name.substr(0, slash);
  }
  check_name(word, name);
  step.allocation = name;
  if (const std::size_t plus = value.find('+'); plus != std::string_view::npos) {
    step.start = column_number(word, value.substr(0, plus), 0);
    value = value.substr(plus + 1);
  }
  step.columns = column_number(word, value, 1);
  const bool is_part = step.action == TmemStep::Action::Part;
  if (!is_part && step.start && *step.start + step.columns > tmem_columns)
    throw_word(word, fmt::format("it ends at column {}, beyond the {} of Tensor Memory",
                                 *step.start + step.columns, tmem_columns));
  return step;
}

// A name may come back after it was freed; before that it would be ambiguous.
void check_names_are_free(const Question& question, const std::vector<TmemStep>& steps) {
  std::unordered_map<std::string, std::unordered_set<std::string>> live;  // parts of allocations
  std::unordered_set<std::string> allocated;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const TmemStep& step = steps[i];
    if (step.action == TmemStep::Action::Free) {
      live.erase(step.allocation);
      allocated.erase(step.allocation);
      continue;
    }
    const bool fresh = step.part.empty() ? allocated.insert(step.allocation).second
                                         : live[step.allocation].insert(step.part).second;
    if (fresh) continue;
    const std::string name =
        step.part.empty() ? step.allocation : step.allocation + "/" + step.part;
    throw_word(question.words[i], fmt::format("{} is in use already", quoted(name)));
  }
}

std::vector<TmemStep> steps_from(const Question& question) {
  if (question.words.empty())
    throw UsageError(fmt::format("a plan is missing: expected {}", expected));
  std::vector<TmemStep> steps;
  for (const std::string_view word : question.words) steps.push_back(step_from(word));
  check_names_are_free(question, steps);
  return steps;
}

// ---- Regions ------------------------------------------------------------------------------------

// What is drawn: an allocation without parts, or a part.
struct Region {
  std::string name;
  TmemColumns at;
};

std::vector<Region> regions_of(const TmemPlan& plan) {
  std::vector<Region> regions;
  for (const TmemAllocation& allocation : plan.allocations) {
    if (allocation.freed) continue;
    if (allocation.parts.empty()) regions.push_back({allocation.name, allocation.at});
    for (const TmemPart& part : allocation.parts)
      regions.push_back({allocation.name + "/" + part.name, part.at});
  }
  return regions;
}

char mark_of(std::size_t region) {
  return region < marks_of_regions.size() ? marks_of_regions[region] : crowded_mark;
}

bool touches(TmemColumns at, int mark) {
  return at.start < (mark + 1) * columns_per_mark && mark * columns_per_mark < at.end();
}

// Indices of the regions in the columns of one mark.
std::vector<std::size_t> regions_at(const std::vector<Region>& regions, int mark) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < regions.size(); ++i)
    if (touches(regions[i].at, mark)) found.push_back(i);
  return found;
}

bool is_allocated(const TmemPlan& plan, int mark) {
  return std::any_of(plan.allocations.begin(), plan.allocations.end(),
                     [&](const TmemAllocation& a) { return !a.freed && touches(a.at, mark); });
}

char bar_mark(const TmemPlan& plan, const std::vector<Region>& regions, int mark) {
  const std::vector<std::size_t> here = regions_at(regions, mark);
  if (here.size() > 1) return crowded_mark;
  if (here.size() == 1) return mark_of(here[0]);
  return is_allocated(plan, mark) ? unnamed_mark : free_mark;
}

std::string ruler() {
  constexpr int step = tmem_columns / 8;
  std::string text;
  for (int column = 0; column < tmem_columns; column += step)
    text += fmt::format("{:<{}}", column, step / columns_per_mark);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string bar(const TmemPlan& plan) {
  const std::vector<Region> regions = regions_of(plan);
  std::string text;
  for (int mark = 0; mark < marks; ++mark) text += bar_mark(plan, regions, mark);
  return text;
}

// ---- Text ---------------------------------------------------------------------------------------

std::string range_text(TmemColumns at) { return fmt::format("[{},{})", at.start, at.end()); }

std::string region_lines(const TmemPlan& plan) {
  std::string text;
  std::size_t next = 0;
  const auto line = [&](char mark, const std::string& name, TmemColumns at) {
    text += fmt::format("\n{}  {:<16}  {:<9}  {} columns", mark, name, range_text(at), at.columns);
  };
  for (const TmemAllocation& allocation : plan.allocations) {
    if (allocation.freed) continue;
    line(allocation.parts.empty() ? mark_of(next++) : unnamed_mark, allocation.name, allocation.at);
    for (const TmemPart& part : allocation.parts) line(mark_of(next++), "  /" + part.name, part.at);
  }
  return text;
}

int total(const std::vector<TmemColumns>& runs) {
  int columns = 0;
  for (const TmemColumns& run : runs) columns += run.columns;
  return columns;
}

int largest(const std::vector<TmemColumns>& runs) {
  int columns = 0;
  for (const TmemColumns& run : runs) columns = std::max(columns, run.columns);
  return columns;
}

std::string free_text(const TmemPlan& plan) {
  const std::vector<TmemColumns> runs = free_columns(plan);
  if (runs.empty()) return "free: nothing";
  std::string ranges;
  for (const TmemColumns& run : runs) ranges += " " + range_text(run);
  return fmt::format("free: {} columns in {} piece{}:{}", total(runs), runs.size(),
                     runs.size() == 1 ? "" : "s", ranges);
}

std::string next_text(const TmemPlan& plan) {
  if (plan.next_at_most == 0) return "next allocation: none fits";
  return fmt::format("next allocation: at most {} columns", plan.next_at_most);
}

// A plan that frees anything is taken to be whole; then everything must be freed.
std::string left_text(const TmemPlan& plan) {
  std::string names;
  bool frees = false;
  for (const TmemAllocation& allocation : plan.allocations) {
    frees = frees || allocation.freed;
    if (!allocation.freed) names += (names.empty() ? "" : ", ") + allocation.name;
  }
  if (!frees || names.empty()) return "";
  return fmt::format("\nnot freed: {}: the kernel must free it before it ends", names);
}

// A word of the plan; numbers with thousands of zeros in front are cut.
std::string_view short_word(const Question& question, std::size_t step) {
  return question.words[step].substr(0, 2 * longest_name + 16);
}

// Parts that share columns may have lanes of their own, of which a plan says nothing.
bool may_have_own_lanes(const TmemStep& step, Fault fault) {
  return step.action == TmemStep::Action::Part && fault == Fault::TmemOverlap;
}

constexpr std::string_view own_lanes_text =
    "parts share columns, and a plan has no lanes: right for two accumulators of M = 64, the "
    "second with lane 16 in "
    "its address, else TmemOverlap";

// "d1=256: illegal TmemAllocGrows: SENTENCE (SOURCE)".
std::string finding_text(const Question& question, const TmemStep& step,
                         const tcgen05::TmemFinding& finding) {
  const FaultInfo about = info(finding.fault);
  if (may_have_own_lanes(step, finding.fault))
    return fmt::format("{}: not modelled: {} ({})", short_word(question, finding.step),
                       own_lanes_text, about.source);
  return fmt::format("{}: {} {}: {} ({})", short_word(question, finding.step), name(about.kind),
                     about.name, about.sentence, about.source);
}

// The words of a plan in which one allocation holds all that were asked for apart; empty if none does.
std::string together(const std::vector<TmemStep>& steps) {
  constexpr std::string_view whole = "all";
  int columns = 0;
  std::string parts;
  for (const TmemStep& step : steps) {
    if (step.action != TmemStep::Action::Allocate || step.start || step.allocation == whole)
      return "";
    columns += step.columns;
    if (columns > tmem_columns) return "";
    parts += fmt::format(" {}/{}={}", whole, step.allocation, step.columns);
  }
  return fmt::format("{}={}{}", whole, tcgen05::smallest_allocation(columns), parts);
}

std::string together_text(const TmemPlan& plan, const std::vector<TmemStep>& steps) {
  const bool asks_no_size =
      std::any_of(plan.findings.begin(), plan.findings.end(),
                  [](const auto& finding) { return finding.fault == Fault::TmemAllocSize; });
  if (!asks_no_size || steps.size() < 2) return "";
  const std::string words = together(steps);
  return words.empty() ? "" : "\nas parts of one allocation they fit: tcq tmem " + words;
}

std::string text_answer(const Question& question, const TmemPlan& plan,
                        const std::vector<TmemStep>& steps) {
  std::string text = ruler() + "\n" + bar(plan) + region_lines(plan);
  text += fmt::format("\n{}\n{}\npeak: {} of {} columns", free_text(plan), next_text(plan),
                      plan.peak_columns, tmem_columns);
  text += left_text(plan);
  for (std::size_t i = 0; i < std::min(plan.findings.size(), most_faults); ++i)
    text += "\nfault: " + finding_text(question, steps[plan.findings[i].step], plan.findings[i]);
  if (plan.findings.size() > most_faults)
    text += fmt::format(
        "\nfault: and {} more, which are not printed: cut the plan where the first "
        "one is",
        plan.findings.size() - most_faults);
  return text + together_text(plan, steps);
}

// ---- JSON ---------------------------------------------------------------------------------------

Value::Members region_members(const std::string& name, TmemColumns at) {
  return {{"name", name}, {"start", at.start}, {"columns", at.columns}};
}

Value value_of(const TmemAllocation& allocation) {
  Value::Members members = region_members(allocation.name, allocation.at);
  members.push_back({"freed", allocation.freed});
  members.push_back({"parts", list_of(allocation.parts, [](const TmemPart& part) {
                       return region_members(part.name, part.at);
                     })});
  return members;
}

Value value_of(const Question& question, const TmemStep& step,
               const tcgen05::TmemFinding& finding) {
  const FaultInfo about = info(finding.fault);
  if (may_have_own_lanes(step, finding.fault))
    return Value::Members{{"word", short_word(question, finding.step)},
                          {"kind", name(FaultKind::Unmodelled)},
                          {"name", about.name},
                          {"what", own_lanes_text}};
  return Value::Members{{"word", short_word(question, finding.step)},
                        {"kind", name(about.kind)},
                        {"name", about.name},
                        {"what", about.sentence}};
}

// Without those of the allocations freed first that are too many.
Value::List allocations_of(const TmemPlan& plan) {
  Value::List allocations;
  std::size_t freed = 0;  // regions
  for (const TmemAllocation& a : plan.allocations) {
    freed += a.freed ? 1 + a.parts.size() : 0;
    if (!a.freed || freed <= most_freed) allocations.push_back(value_of(a));
  }
  return allocations;
}

Value value_of(const Question& question, const TmemPlan& plan, const std::vector<TmemStep>& steps) {
  const std::vector<TmemColumns> runs = free_columns(plan);
  const std::span findings(plan.findings.data(), std::min(plan.findings.size(), most_faults));
  return Value::Members{
      {"bar", bar(plan)},
      {"columns_per_mark", columns_per_mark},
      {"allocations", allocations_of(plan)},
      {"allocation_count", plan.allocations.size()},
      {"free", list_of(runs,
                       [](TmemColumns run) {
                         return Value::Members{{"start", run.start}, {"columns", run.columns}};
                       })},
      {"free_columns", total(runs)},
      {"largest_free", largest(runs)},
      {"next_at_most", plan.next_at_most},
      {"peak_columns", plan.peak_columns},
      {"faults", list_of(findings,
                         [&](const auto& finding) {
                           return value_of(question, steps[finding.step], finding);
                         })},
      {"fault_count", plan.findings.size()}};
}

// ---- Picture ------------------------------------------------------------------------------------

// Cells of 8 columns, 128 columns in a row, a hue per region; what is free has none.
Picture picture_of(const Question& question, const TmemPlan& plan) {
  constexpr int cells_per_row = 16;
  const std::vector<Region> regions = regions_of(plan);
  Picture picture;
  picture.title = "Tensor Memory:";
  for (std::size_t i = 0; i < std::min(question.words.size(), most_title_words); ++i)
    picture.title += " " + std::string(short_word(question, i));
  if (question.words.size() > most_title_words) picture.title += " ...";
  picture.legend = fmt::format("cell: {} columns; its label: what lies there", columns_per_mark);
  picture.hue_word = "region";
  picture.hues = std::max(1, static_cast<int>(regions.size()));
  for (int cell = 0; cell < cells_per_row; ++cell)
    picture.column_names.push_back(fmt::format("+{}", cell * columns_per_mark));
  for (int mark = 0; mark < marks; ++mark) {
    if (mark % cells_per_row == 0) {
      picture.row_names.push_back(std::to_string(mark * columns_per_mark));
      picture.cells.emplace_back();
    }
    std::string label;
    const std::vector<std::size_t> here = regions_at(regions, mark);
    for (const std::size_t i : here) label += (label.empty() ? "" : " ") + regions[i].name;
    picture.cells.back().push_back({label, here.empty() ? unread : static_cast<int>(here[0])});
  }
  return picture;
}

}  // namespace

Answer tmem(const Question& question) {
  const std::vector<TmemStep> steps = steps_from(question);
  const TmemPlan plan = tcgen05::run_plan(steps);
  const Options& options = question.options;
  if (!options.svg_path.empty())
    write_whole_file(options.svg_path, svg_text(drawing_of(picture_of(question, plan))));
  Answer reply;
  reply.text = options.style == Style::Json ? json_text(value_of(question, plan, steps))
                                            : text_answer(question, plan, steps);
  if (plan.findings.empty()) return reply;
  const auto is_wrong = [&](const auto& finding) {
    return !may_have_own_lanes(steps[finding.step], finding.fault);
  };
  const auto wrong = std::find_if(plan.findings.begin(), plan.findings.end(), is_wrong);
  const auto& worst = wrong == plan.findings.end() ? plan.findings[0] : *wrong;
  reply.status = is_wrong(worst) ? Status::No : Status::Unmodelled;
  reply.complaint = finding_text(question, steps[worst.step], worst);
  return reply;
}

}  // namespace tcq::oracle
