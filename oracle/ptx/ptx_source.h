// A PTX text taken apart into its pieces, line by line: statements, directives, labels, braces.
//
// Decides where a piece begins and ends; what a statement says is ptx_statement.h. A statement ends
// at its semicolon, on whatever line. One without a semicolon ends where the next line begins a
// statement: with a guard, a directive, a label or a word like `wgmma.fence`. Inline assembly is read, too
// (quoted_asm.h). Example: the lines
// "@p" and "wgmma.fence" and ".sync.aligned; L:" are one statement at line 1 and the label L.
//
// Source: PTX ISA 9.2, 4.2 and 4.3 (comments, statements)
// Measured against ptxas 13.0.88: blanks and line ends are allowed between an opcode and its
// qualifiers, before each dot, and behind @ and !.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/ptx/quoted_asm.h"

namespace tcq::oracle {

struct PtxPiece {
  enum class Kind { Statement, Directive, Label, Open, Close };
  Kind kind = Kind::Statement;
  std::string text;      // without comments and semicolon, line ends as blanks; a label's name
  std::size_t line = 0;  // where it begins, from 1
};

class PtxSource {
 public:
  void add_line(std::string_view line);
  // Behind the last line.
  void end();
  // The pieces that have ended since the last call.
  std::vector<PtxPiece> take();

  // Some line was C++.
  bool is_quoted() const { return quoted_.is_any(); }

  // A statement has begun and has not ended; its text so far.
  bool is_open() const { return !text_.empty() && !is_directive_; }
  std::string_view open_text() const { return text_; }
  std::size_t open_line() const { return line_; }
  // Takes that text as a whole statement; a semicolon that comes next belongs to it.
  void end_open();

 private:
  void add_text(std::string_view text);
  void begin(char first);
  void finish();
  void end_of_line();
  std::size_t add_statement(std::string_view text);
  std::size_t add_directive(std::string_view text);
  std::string without_comments(std::string_view line);

  QuotedAsm quoted_;
  std::vector<PtxPiece> pieces_;
  std::string text_;  // of the piece that has begun
  std::size_t line_ = 0;
  std::size_t number_ = 0;  // of the present line
  int depth_ = 0;           // of braces inside the piece
  bool is_directive_ = false;
  bool in_string_ = false;
  bool in_comment_ = false;
  bool skip_semicolon_ = false;
};

}  // namespace tcq::oracle
