// Every verb: one question, lines of data, or a program's words.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/gemm/command_line.h"
#include "oracle/help.h"
#include "oracle/ptx/check_stream.h"
#include "oracle/recording/recording.h"
#include "oracle/run/run.h"
#include "tools/python/module.h"

namespace nb = nanobind;

namespace tcq::python {
namespace {

using oracle::Answer;
using oracle::Question;
using oracle::Status;
using Words = std::vector<std::string>;

// The options of a question, as the command line names them.
struct Asked {
  std::string verb;
  Words words;
  oracle::Options options;

  Question question() const { return {verb, {words.begin(), words.end()}, options}; }
};

Asked asked(std::string verb, Words words, const nb::kwargs& options) {
  Asked result{std::move(verb), std::move(words), {}};
  oracle::Options& o = result.options;
  o.style = oracle::Style::Json;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (name == "text") {
      if (nb::cast<bool>(value)) o.style = oracle::Style::Text;
    } else if (name == "transpose") {
      o.transpose = nb::cast<bool>(value);
    } else if (name == "by_slot") {
      o.by_slot = nb::cast<bool>(value);
    } else if (name == "inputs") {
      o.inputs = nb::cast<bool>(value);
    } else if (name == "explain") {
      o.explain = nb::cast<bool>(value);
    } else if (name == "svg") {
      o.svg_path = nb::cast<std::string>(value);
    } else if (name == "arch") {
      o.arch = nb::cast<std::string>(value);
    } else if (name == "family") {
      o.family = nb::cast<std::string>(value);
    } else {
      throw nb::type_error(("unknown option " + name).c_str());
    }
  }
  return result;
}

Reply reply_of(Answer answer) {
  return {static_cast<int>(answer.status), std::move(answer.text), std::move(answer.complaint)};
}

nb::tuple answer(std::string verb, Words words, const nb::kwargs& options) {
  const Asked a = asked(std::move(verb), std::move(words), options);
  Reply reply;
  {
    const nb::gil_scoped_release released;
    reply = reply_of(oracle::answer(a.question()));
  }
  return to_python(reply);
}

// ---- lines ----------------------------------------------------------------------------------------

std::vector<Reply> replies_to(const Question& question, const Words& lines) {
  Answer first = oracle::answer(question);
  if (first.status != Status::Yes) return {reply_of(std::move(first))};
  std::vector<Reply> replies;
  if (question.verb == "check") {
    oracle::CheckStream stream(question, [&](const Answer& a) { replies.push_back(reply_of(a)); });
    for (const std::string& line : lines) stream.add_line(line);
    stream.end();
  } else if (oracle::reads_stream(question.verb)) {
    replies.push_back(reply_of(oracle::answer_stream(question, lines)));
  } else {
    for (const std::string& line : lines)
      replies.push_back(reply_of(oracle::answer_line(question, line)));
  }
  return replies;
}

nb::list answer_lines(std::string verb, Words words, const Words& lines,
                      const nb::kwargs& options) {
  const Asked a = asked(std::move(verb), std::move(words), options);
  std::vector<Reply> replies;
  {
    const nb::gil_scoped_release released;
    Reply refusal = caught([&]() -> Reply {
      if (!oracle::reads_lines(a.verb) && !oracle::reads_stream(a.verb))
        throw oracle::UsageError("'" + a.verb + "' reads no lines");
      replies = replies_to(a.question(), lines);
      return {};
    });
    if (!refusal.complaint.empty()) replies = {std::move(refusal)};
  }
  nb::list list;
  for (const Reply& reply : replies) list.append(to_python(reply));
  return list;
}

// ---- programs -------------------------------------------------------------------------------------

// A FILE whose bytes become a string.
class Stream {
 public:
  Stream() : file_(open_memstream(&bytes_, &size_)) {
    if (file_ == nullptr) throw std::bad_alloc();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    std::fclose(file_);
    std::free(bytes_);
  }
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {bytes_, size_};
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

// `run` and `verify`, whose words are read as on the command line.
nb::tuple program(const std::string& verb, const Words& words) {
  Reply reply;
  {
    const nb::gil_scoped_release released;
    Stream out;
    Stream err;
    reply = caught([&]() -> Reply {
      if (verb == "run") return {oracle::answer_run(words, out.file(), err.file()), "", ""};
      if (verb != "verify") throw oracle::UsageError("'" + verb + "' is no program");
      oracle::Options options;
      options.style = oracle::Style::Json;
      return {static_cast<int>(oracle::verify(words, options, out.file(), err.file())), "", ""};
    });
    reply.text = out.text();
    if (reply.complaint.empty()) reply.complaint = err.text();
  }
  return to_python(reply);
}

nb::tuple help(const std::string& verb) {
  return to_python(caught([&]() -> Reply {
    return {0, verb.empty() ? oracle::overview() : oracle::help(verb), ""};
  }));
}

Words verbs() {
  const auto names = oracle::verb_names();
  return {names.begin(), names.end()};
}

}  // namespace

void add_questions(nb::module_& m) {
  m.def("answer", answer, nb::arg("verb"), nb::arg("words"), nb::arg("options"),
        "One question: (status, answer, complaint).");
  m.def("answer_lines", answer_lines, nb::arg("verb"), nb::arg("words"), nb::arg("lines"),
        nb::arg("options"), "The same for every line, statement or stream.");
  m.def("program", program, nb::arg("verb"), nb::arg("words"),
        "run and verify: (status, stdout, stderr).");
  m.def("help", help, nb::arg("verb"), "What `tcq help VERB` prints.");
  m.def("verbs", verbs, "All verbs, in the order of the documentation.");
}

}  // namespace tcq::python
