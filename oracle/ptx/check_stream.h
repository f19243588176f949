// `check` over a stream: one answer per statement, on however many lines it stands.
//
// Decides what is a statement of a PTX text and what becomes of the rest: instructions of other
// opcodes and directives are unmodelled, by name; labels, braces, comments and blank lines are no
// statements. Round inline assembly the rest is passed over. Registers are what .reg says in their block, the target is what --arch or else .target
// says. Example: "{", ".reg .pred p;" and "wgmma.fence.sync" and ".aligned;" give "unmodelled" for
// the directive and "legal". What is legal: check.cc.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/ptx/check.h"
#include "oracle/ptx/ptx_scopes.h"
#include "oracle/ptx/ptx_source.h"

namespace tcq::oracle {

class CheckStream {
 public:
  using Reply = std::function<void(const Answer&)>;

  // Throws UsageError for an unknown --arch.
  CheckStream(const Question& question, Reply reply);

  void add_line(std::string_view line);
  // In place of a line that could not be read.
  void add_refused(const Answer& answer);
  // The next line may take long: answers a statement that is legal as it stands, though its
  // semicolon has not come.
  void pause();
  // Behind the last line. A stream without a statement has an answer, too.
  void end();

  // Of the whole stream: 1 if anything is illegal, else 2, else 3, else 0.
  Status status() const { return status_; }

 private:
  void answer_pieces();
  void answer(const Verdict& verdict, std::size_t line);
  void answer_or_pass(const Verdict& verdict, std::size_t line);
  Verdict judge(std::string_view text) const;

  PtxSource source_;
  PtxScopes scopes_;
  int scope_ = 0;
  PtxTarget target_;
  Style style_;
  Reply reply_;
  Status status_ = Status::Yes;
  std::size_t answers_ = 0;
  std::optional<std::pair<Verdict, std::size_t>> passed_;  // the first, and its line
};

}  // namespace tcq::oracle
