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

namespace {

Value value_of(const FindingText& f) {
  return Value::Members{{"name", f.fault},   {"severity", f.severity}, {"cluster", f.cluster},
                        {"statement", f.at}, {"what", f.happened},     {"fix", f.fix},
                        {"source", f.source}};
}

std::string verdict(const Report& r) {
  if (r.interrupted) return "interrupted";
  if (r.findings.empty())
    return fmt::format("nothing undefined in {} execution{} of {} of {} cluster{}", r.executions,
                       r.executions == 1 ? "" : "s", r.ran, r.clusters, r.clusters == 1 ? "" : "s");
  return r.status() == 3 ? "not modelled to its end" : "undefined";
}

}  // namespace

std::string text_of(const Report& r) {
  std::string text = fmt::format("{}: {}\n", r.kernel, verdict(r));
  text += fmt::format("{} instructions of warps\n", r.instructions);
  for (const auto* list : {&r.findings, &r.suspicions})
    for (const FindingText& f : *list) text += "\n" + f.text + "\n";
  if (!r.unmodelled.empty()) {
    text += "\nnot executed in this form, should a thread come there:\n";
    for (const std::string& line : r.unmodelled) text += "  " + line + "\n";
  }
  if (!r.approximate.empty()) {
    text += "\nmodelled within a bound, not to the bit:\n";
    for (const std::string& line : r.approximate) text += "  " + line + "\n";
  }
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
                        {"executions", r.executions},
                        {"instructions", r.instructions},
                        {"exhaustive", r.exhaustive},
                        {"findings", list(r.findings)},
                        {"suspicions", list(r.suspicions)},
                        {"unmodelled", list_of(r.unmodelled)},
                        {"approximate", list_of(r.approximate)},
                        {"written", list_of(r.written)}};
}

}  // namespace tcq::oracle::run
