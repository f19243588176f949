// The verb that compares files with the simulator and prints the result (recording.h).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <limits>

#include "oracle/answer/in_parallel.h"
#include "oracle/answer/table.h"
#include "oracle/answer/words.h"
#include "oracle/recording/directed.h"
#include "oracle/recording/files.h"
#include "oracle/recording/provoked.h"
#include "oracle/recording/recording.h"

namespace tcq::oracle {
namespace {

struct Row {
  std::string device;
  std::string date;
  Comparison comparison;
};

std::string field(const std::map<std::string, std::string>& header, const char* key) {
  const auto it = header.find(key);
  return it == header.end() ? "?" : it->second;
}

// Counts of provoked bugs: read whole, and nothing the simulator could answer.
Comparison uncomparable(const ProvokedFile& file) {
  Comparison c;
  c.unmodelled = file.lines.size();
  c.first_unmodelled = "how often a provoked bug shows is no question to the simulator";
  return c;
}

Row verify_file(const std::string& path, std::int64_t only) {
  const std::string bytes = read_file(path);
  if (is_directed(bytes)) {
    const DirectedFile file = parse_directed(bytes);
    if (std::ranges::none_of(file.probes, &Probe::recorded))
      throw BadFile("holds questions and no recorded answer");
    return {field(file.header, "device"), field(file.header, "date"), compare(file, only)};
  }
  if (is_provoked(bytes)) {
    const ProvokedFile file = parse_provoked(bytes);
    return {field(file.header, "device"), field(file.header, "date"), uncomparable(file)};
  }
  const Recording recording = parse_recording(bytes);
  return {field(recording.header, "device"), field(recording.header, "date"),
          compare(recording, only)};
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::int64_t case_number(std::string_view word) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(parse_number(word, "case"), most));
}

// Progress for eyes only: a line that is wiped again.
void show_progress(std::FILE* err, std::string_view text) {
  if (isatty(fileno(err)) == 0) return;
  fmt::print(err, "\r\033[K{}", text);
  std::fflush(err);
}

struct Verified {
  Row row;
  std::exception_ptr failed;
};

Verified verified(const std::string& path, std::int64_t only) {
  try {
    return {verify_file(path, only), nullptr};
  } catch (...) {
    return {{}, std::current_exception()};
  }
}

// In the order of the files.
std::vector<Verified> verify_files(std::span<const std::string> files, std::int64_t only,
                                   std::FILE* err) {
  std::vector<Verified> all(files.size());
  in_parallel(static_cast<std::int64_t>(files.size()), thread_count(0), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    show_progress(err, fmt::format("verifying {}", base_name(shown_path(files[at]))));
    all[at] = verified(files[at], only);
  });
  return all;
}

}  // namespace

Status verify(std::span<const std::string> words, const Options& options, std::FILE* out,
              std::FILE* err) {
  std::int64_t only = -1;
  std::vector<std::string> files;
  for (const std::string& word : words) {
    if (word.starts_with("case="))
      only = case_number(std::string_view(word).substr(5));
    else
      files.push_back(word);
  }
  if (files.empty()) throw UsageError("verify needs at least one recording");
  Table table{{"file", "device", "date", "cases", "outputs", "differing bits"}, {}};
  std::string mismatches;
  std::string notes;
  bool nothing_compared = false;
  std::string unreadable;  // these files keep no other from being verified
  const std::vector<Verified> all = verify_files(files, only, err);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string shown = shown_path(files[i]);
    const Row& row = all[i].row;
    try {
      if (all[i].failed) std::rethrow_exception(all[i].failed);
      if (only < 0 && row.comparison.cases + row.comparison.unmodelled == 0)
        throw BadFile("holds no case");
    } catch (const BadFile& error) {
      const std::string sentence = error.what();
      if (!unreadable.empty()) unreadable += "; ";
      unreadable += sentence.starts_with(shown) ? sentence : shown + ": " + sentence;
      continue;
    }
    const Comparison& c = row.comparison;
    if (only >= 0 && c.cases + c.unmodelled == 0)
      throw UsageError(fmt::format("{}: has no case {}", shown, only));
    table.rows.push_back({base_name(shown), row.device, row.date, std::to_string(c.cases),
                          std::to_string(c.outputs), std::to_string(c.differing_bits)});
    if (c.unmodelled != 0)
      notes += fmt::format("{}: {} cases were not compared; the first: {}\n", shown, c.unmodelled,
                           c.first_unmodelled);
    nothing_compared = nothing_compared || (c.cases == 0 && c.unmodelled != 0);
    if (c.differing_outputs != 0) {
      mismatches +=
          fmt::format("{}: {} of {} outputs differ\n  {}\n  rerun: tcq verify {} case={}\n", shown,
                      c.differing_outputs, c.outputs, c.first_mismatch, shown, c.first_case);
    }
  }
  show_progress(err, "");
  const std::string answer = table.rows.empty() ? "" : render(table, options.style) + "\n";
  fmt::print(out, "{}", terminal_text(answer));
  fmt::print(err, "{}", terminal_text(notes + mismatches));
  if (!unreadable.empty()) throw UsageError(unreadable);
  if (!mismatches.empty()) return Status::No;
  return nothing_compared ? Status::Unmodelled : Status::Yes;
}

}  // namespace tcq::oracle
