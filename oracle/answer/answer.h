// What goes in and out of the oracle: a Question (verb, words, options) and an Answer (status,
// text).
//
// answer() is the whole oracle behind one function; the command line, scripts on stdin and tests
// all call it. It never throws: UsageError and friends are for the verbs' own use. Which verb lives
// in which file: verbs.h.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

// The process's exit status, too.
enum class Status { Yes = 0, No = 1, Usage = 2, Unmodelled = 3 };

enum class Style { Text, Json, Csv, Markdown, Asciidoc };

struct Options {
  Style style = Style::Text;
  bool transpose = false;  // tables: exchange rows and columns
  bool by_slot = false;    // tables: rows are threads, columns are registers (default: the matrix)
  bool inputs = false;     // where: also the elements of A and B that are summed
  bool explain = false;    // mma: also every term of the sum
  std::string svg_path;    // table: write a picture there
  std::string arch;        // empty: sm_90a
  std::string family;      // list: empty means all
};

struct Question {
  std::string_view verb;
  std::vector<std::string_view> words;  // everything after the verb that is not an option
  Options options;
};

struct Answer {
  Status status = Status::Yes;
  std::string text;       // for stdout, without the last newline
  std::string complaint;  // for stderr, one sentence
};

// A question that cannot be understood: status 2. The sentence names the offending word and what
// was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A question about something legal that is not modelled: status 3.
class UnmodelledError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A question about a program that the manual forbids or leaves open: status 1; about one whose Fault is
// that it is not modelled: status 3.
class FaultError : public std::runtime_error {
 public:
  // "illegal: SENTENCE (SOURCE)" or "not modelled: SENTENCE", and `rest` behind it.
  explicit FaultError(Fault fault, const std::string& rest = "");
  using std::runtime_error::runtime_error;

  Status status() const { return status_; }

 private:
  Status status_ = Status::No;
};

// Every verb but those that read data lines; answers the words of those, too, with an empty text.
Answer answer(const Question& question);

// True for verbs that read one case per line from stdin (mma, check).
bool reads_lines(std::string_view verb);

// One data line of such a verb.
Answer answer_line(const Question& question, std::string_view line);

// True for verbs that read all of stdin before they answer (emission), and their answer.
bool reads_stream(std::string_view verb);
Answer answer_stream(const Question& question, std::span<const std::string> lines);

// All verbs, in the order of the documentation.
std::span<const std::string_view> verb_names();

}  // namespace tcq::oracle
