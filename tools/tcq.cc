// tcq: questions about tensor-core instructions on the command line.
//
// Decides options, where answers go and the exit status; every answer is oracle/answer/answer.h's. Three
// ways to run: one question in the words of the command line, one question per line of stdin (`-`),
// or stdin as data: a line each (`mma`), a statement each (`check`), all at once (`emission`).
#include <fmt/format.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/line_reader.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/command_line.h"
#include "oracle/gemm/gemm.h"
#include "oracle/help.h"
#include "oracle/ptx/check_stream.h"
#include "oracle/recording/recording.h"
#include "oracle/run/run.h"

namespace {

using tcq::oracle::Answer;
using tcq::oracle::CheckStream;
using tcq::oracle::LineReader;
using tcq::oracle::OptionReader;
using tcq::oracle::Options;
using tcq::oracle::Question;
using tcq::oracle::Status;
using tcq::oracle::Style;
using tcq::oracle::terminal_text;
using tcq::oracle::throw_unknown;
using tcq::oracle::UsageError;
using tcq::oracle::Value;

constexpr int exit_usage = static_cast<int>(Status::Usage);

struct CommandLine {
  Options options;
  std::vector<std::string> words;
  bool from_stdin = false;
  bool help = false;
  bool version = false;
};

int complain(std::string_view sentence) {
  fmt::print(stderr, "tcq: {}\n", terminal_text(sentence));
  return exit_usage;
}

// Whatever the answer quotes, a terminal shows it as text.
void print(std::string_view answer) {
  const std::string text = terminal_text(answer);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// The exit status, unless stdout could not be written. A reader that went away is no news.
int finished(int status) {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || errno == EPIPE) return status;
  return complain(fmt::format("cannot write the answer: {}", std::strerror(errno)));
}

// ---- Options ------------------------------------------------------------------------------------

struct Flags {
  bool json = false;
  bool csv = false;
  bool markdown = false;
  bool asciidoc = false;
  std::string by = "element";
};

Style style_of(const Flags& flags) {
  if (flags.json + flags.csv + flags.markdown + flags.asciidoc > 1)
    throw UsageError("one style at most: expected --json, --csv, --markdown or --asciidoc");
  return flags.json       ? Style::Json
         : flags.csv      ? Style::Csv
         : flags.markdown ? Style::Markdown
         : flags.asciidoc ? Style::Asciidoc
                          : Style::Text;
}

// What is pasted has options of nvcc and ptxas, -G or -O3: with a capital, as none of ours. There they are words.
std::vector<std::string> with_words_of_others(std::vector<std::string> words) {
  if (words.empty() || (words[0] != "explain" && words[0] != "errata")) return words;
  for (std::string& word : words)
    if (word.size() > 1 && word[0] == '-' && word[1] >= 'A' && word[1] <= 'Z') word.erase(0, 1);
  return words;
}

// Before a data word of mma such as -inf, so that it is taken for no option.
constexpr char data_mark = '\x1f';

std::vector<std::string> with_marked_data(std::vector<std::string> words) {
  if (std::find(words.begin(), words.end(), "mma") == words.end()) return words;
  for (std::string& word : words)
    for (const std::string_view special : {"-inf", "-nan"})
      if (tcq::oracle::same_word(std::string_view(word).substr(0, special.size()), special))
        word.insert(word.begin(), data_mark);
  return words;
}

CommandLine parse(const std::vector<std::string>& words) {
  CommandLine result;
  Flags flags;
  OptionReader reader;
  Options& options = result.options;
  reader.flag("-h,--help", result.help);
  reader.flag("-v,--version", result.version);
  reader.flag("--stdin", result.from_stdin);
  reader.flag("--json", flags.json);
  reader.flag("--csv", flags.csv);
  reader.flag("--markdown", flags.markdown);
  reader.flag("--asciidoc", flags.asciidoc);
  reader.flag("--transpose", options.transpose);
  reader.flag("--inputs", options.inputs);
  reader.flag("--explain", options.explain);
  reader.word("--by", flags.by);
  reader.word("--svg", options.svg_path);
  reader.word("-a,--arch", options.arch);
  reader.word("--family", options.family);
  reader.rest("words", result.words);
  reader.read(with_marked_data(with_words_of_others(words)));
  for (std::string& word : result.words)
    if (word.starts_with(data_mark)) word.erase(0, 1);
  options.style = style_of(flags);
  constexpr std::string_view orders[] = {"slot", "element"};
  if (std::find(std::begin(orders), std::end(orders), flags.by) == std::end(orders))
    throw_unknown("value of --by", flags.by, orders);
  options.by_slot = flags.by == "slot";
  if (std::erase(result.words, "-") > 0) result.from_stdin = true;
  return result;
}

std::string version() {
#ifdef __clang__
  const char* compiler = "clang++ " __clang_version__;
#else
  const char* compiler = "g++ " __VERSION__;
#endif
  return fmt::format("tcq {} (commit {}, evidence of {}, {})\n", TCQ_VERSION, TCQ_COMMIT,
                     TCQ_EVIDENCE, compiler);
}

// ---- Lines of stdin -----------------------------------------------------------------------------

// Verbs whose answers are grids or pages; on stdin they need --json.
bool is_page(std::string_view verb) {
  return verb == "table" || verb == "describe" || verb == "list" || verb == "bytes";
}

Answer refused(std::string sentence) { return {Status::Usage, "", std::move(sentence)}; }

Answer line_too_long(std::size_t characters) {
  return refused(fmt::format("the line has {} characters: expected at most {}", characters,
                             LineReader::longest_line));
}

// One line for one answer: lines of text become columns, complaints become `error<TAB>sentence`. An answer
// that explains itself keeps its lines.
void print_line(const Answer& answer, const Options& options) {
  const Style style = options.style;
  if (answer.text.empty()) {
    if (style == Style::Json)
      print(json_text(Value::Members{{"error", answer.complaint},
                                     {"status", static_cast<int>(answer.status)}}) +
            "\n");
    else
      print(fmt::format("error\t{}\n", answer.complaint));
    return;
  }
  std::string text = answer.text;
  if (style != Style::Json && !options.explain) std::replace(text.begin(), text.end(), '\n', '\t');
  text += '\n';
  print(text);
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  words.clear();
  for (auto begin = line.begin(); true;) {
    begin = std::find_if_not(begin, line.end(), is_blank);
    if (begin == line.end()) return;
    const auto end = std::find_if(begin, line.end(), is_blank);
    words.emplace_back(begin, end);
    begin = end;
  }
}

// The layouts of diff may have quotes, which no shell has taken away here.
void unquote(std::vector<std::string_view>& words) {
  constexpr std::string_view quotes = "\"'";
  for (std::string_view& word : words) {
    if (!word.empty() && quotes.find(word.front()) != quotes.npos) word.remove_prefix(1);
    if (!word.empty() && quotes.find(word.back()) != quotes.npos) word.remove_suffix(1);
  }
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
}

Answer answer_query(Question& question, std::string_view line) {
  split_words(line, question.words);
  if (!question.words.empty() && question.words[0] == "diff") unquote(question.words);
  if (question.words.empty()) return refused("empty line: expected a verb and its words");
  question.verb = question.words.front();
  question.words.erase(question.words.begin());
  for (const std::string_view word : question.words)
    if (word.starts_with("--"))
      return refused(
          fmt::format("{} in a line: expected options on the command line, where they "
                      "apply to all lines",
                      tcq::oracle::quoted(word)));
  if (question.verb == "mma")  // with a data line among its words
    if (Answer answer = tcq::oracle::answer(question);
        answer.status != Status::Yes || !answer.text.empty())
      return answer;
  if (tcq::oracle::reads_lines(question.verb) || tcq::oracle::reads_stream(question.verb))
    return refused(fmt::format("'{}' reads its own lines from stdin: expected tcq {} ...",
                               question.verb, question.verb));
  if (is_page(question.verb) && question.options.style != Style::Json)
    return refused(fmt::format(
        "the answer of '{}' has many lines: expected --json with it on stdin", question.verb));
  return tcq::oracle::answer(question);
}

// Answers every line of stdin; the status is the worst one.
template <class Reply>
int answer_lines(const Options& options, Reply&& reply) {
  Status worst = Status::Yes;
  LineReader reader(STDIN_FILENO, [] { std::fflush(stdout); });
  for (std::string_view line; std::ferror(stdout) == 0 && reader.next(line);) {
    const Answer answer = reader.too_long() == 0 ? reply(line) : line_too_long(reader.too_long());
    worst = std::max(worst, answer.status);
    print_line(answer, options);
  }
  if (reader.failed()) return complain(fmt::format("cannot read stdin: {}", std::strerror(errno)));
  return finished(static_cast<int>(worst));
}

// Statements of stdin, which may stand on several lines: an answer each.
int answer_statements(const Question& question) {
  CheckStream stream(question, [&](const Answer& answer) { print_line(answer, question.options); });
  LineReader reader(STDIN_FILENO, [&] {
    stream.pause();
    std::fflush(stdout);
  });
  for (std::string_view line; std::ferror(stdout) == 0 && reader.next(line);) {
    if (reader.too_long() == 0)
      stream.add_line(line);
    else
      stream.add_refused(line_too_long(reader.too_long()));
  }
  if (reader.failed()) return complain(fmt::format("cannot read stdin: {}", std::strerror(errno)));
  stream.end();
  return finished(static_cast<int>(stream.status()));
}

// ---- The three ways to run ----------------------------------------------------------------------

int run_queries(const CommandLine& line) {
  if (!line.words.empty())
    return complain(
        fmt::format("'-' and --stdin read questions from stdin: expected no other word, "
                    "but {} is one",
                    tcq::oracle::quoted(line.words[0])));
  if (!line.options.svg_path.empty())
    return complain("--svg writes one picture: expected a command line without '-' and --stdin");
  Question question{"", {}, line.options};
  return answer_lines(line.options,
                      [&](std::string_view text) { return answer_query(question, text); });
}

// All lines of stdin; the first that is too long is refused.
int answer_stream(const Question& question) {
  std::vector<std::string> lines;
  LineReader reader(STDIN_FILENO, [] {});
  for (std::string_view line; reader.next(line);) {
    if (reader.too_long() != 0)
      return complain(fmt::format("line {} has {} characters: expected at most {}",
                                  lines.size() + 1, reader.too_long(), LineReader::longest_line));
    lines.emplace_back(line);
  }
  if (reader.failed()) return complain(fmt::format("cannot read stdin: {}", std::strerror(errno)));
  const Answer answer = tcq::oracle::answer_stream(question, lines);
  if (!answer.text.empty()) print(answer.text + "\n");
  if (!answer.complaint.empty()) complain(answer.complaint);
  return finished(static_cast<int>(answer.status));
}

int run_question(const CommandLine& line) {
  const Question question{line.words[0], {line.words.begin() + 1, line.words.end()}, line.options};
  const Answer answer = tcq::oracle::answer(question);
  if (answer.status == Status::Yes && answer.text.empty() &&
      tcq::oracle::reads_lines(question.verb)) {
    if (!answer.complaint.empty()) complain(answer.complaint);
    if (question.verb == "check") return answer_statements(question);
    return answer_lines(line.options, [&](std::string_view text) {
      return tcq::oracle::answer_line(question, text);
    });
  }
  if (answer.status == Status::Yes && tcq::oracle::reads_stream(question.verb))
    return answer_stream(question);
  if (!answer.text.empty()) print(answer.text + "\n");
  if (!answer.complaint.empty()) complain(answer.complaint);
  return finished(static_cast<int>(answer.status));
}

int run_help(const CommandLine& line) {
  const bool by_word = !line.words.empty() && line.words[0] == "help";
  const std::size_t at = by_word ? 1 : 0;
  print(at < line.words.size() ? tcq::oracle::help(line.words[at]) : tcq::oracle::overview());
  return finished(0);
}

// Verbs with many options of their own, which read them themselves.
struct Program {
  const char* verb;
  int (*answer)(std::span<const std::string> words, std::FILE* out, std::FILE* err);
};
constexpr Program programs[] = {{"gemm", tcq::oracle::answer_gemm},
                                {"run", tcq::oracle::answer_run}};

const Program* program_of(std::span<const std::string> words) {
  const std::size_t at = !words.empty() && words[0] == "--json" ? 1 : 0;
  for (const Program& program : programs)
    if (at < words.size() && words[at] == program.verb) return &program;
  return nullptr;
}

int run_program(const Program& program, std::vector<std::string> words) {
  words.erase(std::find(words.begin(), words.end(), program.verb));
  const auto asks_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(words.begin(), words.end(), asks_help)) {
    print(tcq::oracle::help(program.verb));
    return finished(0);
  }
  return finished(program.answer(words, stdout, stderr));
}

int run(const CommandLine& line) {
  if (line.version) {
    print(version());
    return finished(0);
  }
  if (line.help || (!line.words.empty() && line.words[0] == "help")) return run_help(line);
  if (line.from_stdin) return run_queries(line);
  if (line.words.empty()) {
    const std::string_view verbs = "a verb is missing: expected tcq VERB ..., see tcq help";
    return complain(verbs);
  }
  if (line.words[0] != "verify") return run_question(line);
  const std::span<const std::string> files(line.words.begin() + 1, line.words.end());
  return finished(static_cast<int>(tcq::oracle::verify(files, line.options, stdout, stderr)));
}

// `run` copies global memory for each cluster: from the heap, not from fresh pages of the system each time.
void keep_large_blocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_large_blocks();
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (const Program* program = program_of(words)) return run_program(*program, words);
    return run(parse(words));
  } catch (const UsageError& error) {
    return complain(error.what());
  } catch (const std::exception& error) {
    complain(fmt::format("internal error, please report it with the question: {}", error.what()));
    return static_cast<int>(Status::Unmodelled);
  }
}
