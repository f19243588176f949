#include "oracle/run/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tcq::oracle::run {

int Report::status() const {
  if (interrupted) return 130;
  const auto unmodelled_only = [](const FindingText& f) { return f.is_unmodelled; };
  if (findings.empty()) return 0;
  return std::all_of(findings.begin(), findings.end(), unmodelled_only) ? 3 : 1;
}

void add_suspicion(std::vector<FindingText>& list, FindingText found) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const FindingText& f) {
    return f.fault == found.fault && f.fix == found.fix && f.array == found.array;
  });
  if (same == list.end()) return list.push_back(std::move(found));
  if (found.last_cluster != same->last_cluster) ++same->clusters;
  same->last_cluster = found.last_cluster;
  for (const std::int64_t statement : found.statements) {
    auto& known = same->statements;
    if (std::find(known.begin(), known.end(), statement) != known.end()) continue;
    known.push_back(statement);
    same->also.push_back(found.at);
  }
}

namespace {

Value value_of(const FindingText& f) {
  Value::Members all = {{"name", f.fault},
                        {"severity", f.severity},
                        {"cluster", f.cluster},
                        {"clusters", f.clusters},
                        {"statement", f.at},
                        {"lines", list_of(f.lines)},
                        {"earlier_lines", list_of(f.earlier_lines)},
                        {"also", list_of(f.also)},
                        {"what", f.happened},
                        {"fix", f.fix},
                        {"source", f.source}};
  if (f.schedule) all.push_back({"schedule", value_of(*f.schedule)});
  return all;
}

std::string text_of(const FindingText& f) {
  std::string text = f.text;
  if (f.clusters > 1) text += fmt::format("\nin {} clusters", f.clusters);
  constexpr std::size_t shown = 3;
  for (std::size_t i = 0; i < std::min(shown, f.also.size()); ++i) text += "\nalso " + f.also[i];
  if (f.also.size() > shown)
    text += fmt::format("\nand {} more statements, which --json lists", f.also.size() - shown);
  return text;
}

std::string executions_text(std::uint64_t number) {
  return fmt::format("{} execution{}", number, number == 1 ? "" : "s");
}

std::string verdict(const Report& r) {
  if (r.interrupted) return "interrupted";
  if (r.findings.empty() && r.replayed)
    return fmt::format("nothing undefined in the replayed execution of cluster {}", *r.replayed);
  if (r.findings.empty() && r.ran == 0 && r.together > 0)
    return fmt::format("nothing undefined in {} of all {} clusters at once",
                       executions_text(r.together), r.clusters);
  if (r.findings.empty())
    return fmt::format(
        "nothing undefined in {} of {} of {} cluster{}{}{}", executions_text(r.executions), r.ran,
        r.clusters, r.clusters == 1 ? "" : "s",
        r.cancelled == 0 ? "" : fmt::format(", which cancelled {}", r.cancelled),
        r.together == 0 ? "" : fmt::format(", and in {} of all at once", r.together));
  return fmt::format("{}{}", r.status() == 3 ? "not modelled to its end" : "undefined",
                     r.replayed ? ", replayed" : "");
}

// How an execution with a finding is had again.
std::string repeat_text(const Report& r) {
  const auto repeatable = [](const FindingText& f) { return f.schedule.has_value(); };
  if (r.replayed || r.status() == 3) return "";
  const auto& list = r.findings.empty() ? r.suspicions : r.findings;
  if (std::none_of(list.begin(), list.end(), repeatable)) return "";
  return "\nrepeat it with: tcq run ... --replay FILE, where FILE is what --json prints\n";
}

}  // namespace

std::string text_of(const Report& r) {
  std::string text = fmt::format("{}: {}\n", r.kernel, verdict(r));
  text += fmt::format("{} instructions of warps\n", r.instructions);
  for (const FindingText& f : r.findings) text += "\n" + text_of(f) + "\n";
  const std::string repeat = repeat_text(r);
  if (!r.findings.empty()) text += repeat;
  for (const FindingText& f : r.suspicions) text += "\n" + text_of(f) + "\n";
  if (r.findings.empty()) text += repeat;
  if (!r.unmodelled.empty()) {
    text += "\nnot executed in this form, should a thread come there:\n";
    for (const std::string& line : r.unmodelled) text += "  " + line + "\n";
  }
  if (!r.approximate.empty()) {
    text += "\nnot known to be the chip's bits:\n";
    for (const std::string& line : r.approximate) text += "  " + line + "\n";
  }
  if (r.never_cancels)
    text += "\ntry_cancel has always failed, as all clusters begin: --resident N lets N begin\n";
  for (const std::string& file : r.written) text += fmt::format("wrote {}\n", file);
  text.pop_back();
  return text;
}

Value value_of(const Report& r) {
  const auto list = [](const auto& items) {
    return list_of(items, [](const FindingText& f) { return value_of(f); });
  };
  return Value::Members{{"kernel", r.kernel},
                        {"status", r.status()},
                        {"clusters", r.clusters},
                        {"clusters_run", r.ran},
                        {"clusters_cancelled", r.cancelled},
                        {"executions", r.executions},
                        {"executions_together", r.together},
                        {"instructions", r.instructions},
                        {"kernel_instructions", r.kernel_instructions},
                        {"kernel_executed", r.kernel_executed},
                        {"lines_not_executed", list_of(r.lines_not_executed)},
                        {"exhaustive", r.exhaustive},
                        {"replayed", r.replayed.has_value()},
                        {"findings", list(r.findings)},
                        {"suspicions", list(r.suspicions)},
                        {"unmodelled", list_of(r.unmodelled)},
                        {"approximate", list_of(r.approximate)},
                        {"written", list_of(r.written)}};
}

}  // namespace tcq::oracle::run
