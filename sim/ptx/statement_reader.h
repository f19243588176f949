// The statements of a body, up to its closing brace.
//
// Decides what a statement is and where it ends. After an error the rest of the statement is left out:
// up to its semicolon, its line's end if it has none, or the brace that closes its block.
#pragma once

#include <cstddef>

#include "sim/ptx/declaration_reader.h"
#include "sim/ptx/reader.h"

namespace tcq::ptx {

// More was wrong than is told.
struct TooMany {};

class StatementReader {
 public:
  StatementReader(Cursor& cursor, OperandReader& operands, DeclarationReader& declarations,
                  const ReadOptions& options)
      : cursor_(cursor),
        unit_(cursor.unit()),
        operands_(operands),
        declarations_(declarations),
        loose_(options.loose),
        most_(options.most_diagnostics) {}

  // Statements up to the brace that closes the body, which is taken, or the end of the text.
  void read_body();
  // One statement of a block; an error is noted. False at what ends the block.
  bool read_one();
  // Notes an error. Throws TooMany.
  void note(Offset at, std::string message);
  // The same, and skips what it spoiled: up to its semicolon, which stays. True where that may have been a second statement.
  bool recover(const Refused& refused, Offset begin);

  std::size_t depth() const { return depth_; }

 private:
  void read_statement();
  void read_directive();
  void read_location();
  void read_label_directive(StatementKind kind);
  void read_prototype();
  void read_variables();
  void read_instruction(Statement statement);
  void take_guard(Statement& statement);
  Name take_opcode(Statement& statement);
  void end_statement(Statement statement);
  void add(StatementKind kind, Offset at, Name name = 0, Range items = {});

  Cursor& cursor_;
  Unit& unit_;
  OperandReader& operands_;
  DeclarationReader& declarations_;
  bool loose_;
  std::size_t most_;       // complaints
  std::size_t depth_ = 0;  // of blocks in the body
};

}  // namespace tcq::ptx
