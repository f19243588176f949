// Statement after statement; see check_stream.h.
#include "oracle/ptx/check_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/verdict.h"

namespace tcq::oracle {
namespace {

using PieceKind = PtxPiece::Kind;

// Illegal wins, so that the status can gate a build; what could not be read comes next.
int rank(Status status) {
  switch (status) {
    case Status::Yes: return 0;
    case Status::Unmodelled: return 1;
    case Status::Usage: return 2;
    case Status::No: return 3;
  }
  return 0;
}

Status status_of(const Verdict& verdict) {
  return is_legal(verdict)                       ? Status::Yes
         : verdict.kind == FaultKind::Unmodelled ? Status::Unmodelled
                                                 : Status::No;
}

// `line`: 0 where it need not be named.
Answer answer_of(const Verdict& verdict, Style style, std::size_t line) {
  const std::string word = is_legal(verdict) ? "legal" : name(verdict.kind);
  std::string reason = reason_of(verdict);
  if (style == Style::Json) {
    Value::Members members = {{"verdict", word}};
    if (!is_legal(verdict)) {
      members.push_back({"fault", info(verdict.fault).name});
      members.push_back({"reason", reason});
    }
    if (is_legal(verdict) && !reason.empty()) members.push_back({"if", reason});
    if (line != 0) members.push_back({"line", line});
    return {status_of(verdict), json_text(members), ""};
  }
  if (is_legal(verdict))
    return {Status::Yes, reason.empty() ? word : fmt::format("{}\tif {}", word, reason), ""};
  if (line != 0) reason += fmt::format("; line {}", line);
  return {status_of(verdict), word + "\t" + reason, ""};
}

}  // namespace

CheckStream::CheckStream(const Question& question, Reply reply)
    : style_(question.options.style), reply_(std::move(reply)) {
  target_.is_asked = !question.options.arch.empty();
  if (target_.is_asked) target_.target = parse_target(question.options.arch);
}

Verdict CheckStream::judge(std::string_view text) const {
  std::optional<PtxStatement> statement;
  return check_text(text, target_, {&scopes_, scope_}, statement);
}

void CheckStream::answer(const Verdict& verdict, std::size_t line) {
  ++answers_;
  const bool in_step = answers_ == line;  // one answer per line so far
  const Answer answer = answer_of(verdict, style_, in_step ? 0 : line);
  if (rank(answer.status) > rank(status_)) status_ = answer.status;
  reply_(answer);
}

// Inline assembly has declarations and setp round the statement that is asked about.
void CheckStream::answer_or_pass(const Verdict& verdict, std::size_t line) {
  const bool passes = source_.is_quoted() && verdict.kind == FaultKind::Unmodelled &&
                      verdict.specifics.find(" are modelled") != std::string::npos;
  if (!passes) return answer(verdict, line);
  if (!passed_) passed_ = {verdict, line};
}

void CheckStream::answer_pieces() {
  for (const PtxPiece& piece : source_.take()) {
    switch (piece.kind) {
      case PieceKind::Label: break;
      case PieceKind::Open: scope_ = scopes_.open(scope_); break;
      case PieceKind::Close: scope_ = std::max(scopes_.parent(scope_), 0); break;
      case PieceKind::Directive:
        scopes_.declare(scope_, piece.text);
        target_.read_directive(piece.text);
        answer_or_pass(unmodelled(fmt::format(
                           "directive {}: only statements of wgmma, tcgen05 and mma are modelled",
                           quoted(piece.text.substr(0, piece.text.find_first_of(" \t"))))),
                       piece.line);
        break;
      case PieceKind::Statement: answer_or_pass(judge(piece.text), piece.line); break;
    }
  }
}

void CheckStream::add_line(std::string_view line) {
  source_.add_line(line);
  answer_pieces();
}

void CheckStream::add_refused(const Answer& answer) {
  source_.add_line("");
  ++answers_;
  if (rank(answer.status) > rank(status_)) status_ = answer.status;
  reply_(answer);
}

void CheckStream::pause() {
  if (!source_.is_open() || !is_legal(judge(source_.open_text()))) return;
  source_.end_open();
  answer_pieces();
}

void CheckStream::end() {
  source_.end();
  answer_pieces();
  if (answers_ > 0) return;
  if (passed_) return answer(passed_->first, passed_->second);
  answer(unmodelled("there is no statement"), 1);
}

Answer check_line(const Question& question, std::string_view line) {
  std::vector<Answer> answers;
  CheckStream stream(question, [&](const Answer& answer) { answers.push_back(answer); });
  stream.add_line(line);
  stream.end();
  if (answers.size() == 1) return answers.front();
  return answer_of(illegal(Fault::StatementMalformed,
                           "something follows the semicolon: expected one statement per line"),
                   question.options.style, 0);
}

}  // namespace tcq::oracle
