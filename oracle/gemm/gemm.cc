// One request, or the lines of a list that are this shard's; what they throw becomes a status and a
// sentence.
#include "oracle/gemm/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/run.h"

namespace tcq::oracle {
namespace {

using gemm::Interrupted;
using gemm::Progress;
using gemm::Report;
using gemm::Request;

constexpr int exit_interrupted = 130;

struct Reply {
  int status = 0;
  std::optional<Report> report;
  std::string complaint;
};

Reply refused(Status status, std::string sentence) {
  return {static_cast<int>(status), {}, std::move(sentence)};
}

// Calls `reply()`; what it throws becomes a Reply.
template <class Make>
Reply caught(Make&& reply) {
  try {
    return reply();
  } catch (const UsageError& error) {
    return refused(Status::Usage, error.what());
  } catch (const FileError& error) {
    return refused(Status::Usage, error.what());
  } catch (const Interrupted& error) {
    return {exit_interrupted, {}, error.what()};
  } catch (const FaultError& error) {
    return refused(error.status(), error.what());
  } catch (const UnmodelledError& error) {
    return refused(Status::Unmodelled, error.what());
  } catch (const std::bad_alloc&) {
    return refused(Status::Usage, "no memory for operands and results of this size");
  }
}

Reply reply_to(const Request& request, std::FILE* err) {
  Progress progress(err);
  Report report = run_request(request, progress);
  const Status status = report.mismatch() ? Status::No : Status::Yes;
  return {static_cast<int>(status), std::move(report), ""};
}

void print(std::FILE* out, std::string_view text) { fmt::print(out, "{}\n", terminal_text(text)); }

// ---- lists ----------------------------------------------------------------------------------------

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", shown_path(path)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (file.bad()) throw UsageError(fmt::format("{}: read error", shown_path(path)));
  return lines;
}

bool asks_nothing(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == std::string::npos || line[begin] == '#';
}

void print_line(const Request& whole, std::size_t number, const std::string& line,
                const Reply& reply, std::FILE* out, std::FILE* err) {
  const std::string at = fmt::format("{}:{}", shown_path(whole.list), number);
  if (!reply.complaint.empty()) print(err, fmt::format("tcq: {}: {}", at, reply.complaint));
  if (whole.json) {
    Value::Members members = {{"line", number}, {"status", reply.status}};
    if (reply.report)
      members.push_back({"answer", value_of(*reply.report)});
    else
      members.push_back({"error", reply.complaint});
    print(out, json_text(members));
  } else if (reply.report) {
    print(out, fmt::format("{}: {}\n{}", at, line, text_of(*reply.report)));
  }
  std::fflush(out);
}

// Every count-th line that asks something. A line that fails keeps no other from being answered; a signal does, also one
// that comes between two lines or while operands are read.
int answer_list(const Request& whole, std::FILE* out, std::FILE* err) {
  int worst = 0;
  std::int64_t asked = 0;
  const std::vector<std::string> lines = lines_of(whole.list);
  Progress progress(nullptr);
  progress.notice_signals();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (asks_nothing(lines[i]) || asked++ % whole.shard.count != whole.shard.index) continue;
    const Reply reply = caught([&] {
      if (progress.ended()) throw Interrupted("interrupted: this line is not answered");
      return reply_to(gemm::parse_list_line(lines[i], whole), err);
    });
    print_line(whole, i + 1, lines[i], reply, out, err);
    worst = std::max(worst, reply.status);
    if (reply.status == exit_interrupted) break;
  }
  return worst;
}

}  // namespace

int answer_gemm(std::span<const std::string> words, std::FILE* out, std::FILE* err) {
  int listed = -1;
  bool json = false;
  const Reply reply = caught([&]() -> Reply {
    const Request request = gemm::parse_request(words);
    json = request.json;
    if (request.list.empty()) return reply_to(request, err);
    listed = answer_list(request, out, err);
    return {};
  });
  if (listed >= 0) return listed;
  if (reply.report) print(out, json ? json_text(value_of(*reply.report)) : text_of(*reply.report));
  if (!reply.complaint.empty()) print(err, "tcq: " + reply.complaint);
  return reply.status;
}

std::string gemm_example(std::span<const std::string> words) {
  Progress progress(nullptr);
  return text_of(run_request(gemm::parse_request(words), progress));
}

}  // namespace tcq::oracle
