// The statements of one function, decoded one after another.
//
// Decides what operands are: registers, addresses, labels that come later. What the function declares is
// forgotten behind it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/ptx/locations.h"
#include "sim/ptx/program.h"
#include "sim/ptx/reader.h"
#include "sim/ptx/roles.h"
#include "sim/ptx/scope_table.h"

namespace tcq::ptx {

class FunctionDecoder {
 public:
  FunctionDecoder(Program& program, ScopeTable& scopes, Locations& locations,
                  const ReadOptions& options);

  // Onto Program::functions; without blocks.
  void decode(Index function);

 private:
  // What makes an instruction Unknown.
  struct Problem {
    std::string text;
  };
  struct Later {  // a label that may come yet
    bool is_table = false;
    Index at = 0;  // of Program::values or table_targets
    std::uint32_t scope = 0;
    Name name = 0;
    Offset offset = 0;
    Index instruction = none;
  };

  void statement(const Statement& statement);
  void open();
  void close();
  void declare_parameters(Range variables);
  void declare_variable(Index variable);
  void declare_table(const Statement& statement);
  void instruction(const Statement& statement);
  void malformed(const Statement& statement);
  void decode_operands(const Statement& statement, Instruction& instruction);
  void decode_video(std::span<const Operand> operands, Instruction& instruction);
  void decode_call(const Statement& statement, Instruction& instruction);
  Index form_of(Name opcode);
  Index guard_of(const Statement& statement);
  ScopeTable::Meaning meaning_of(Name name);

  Value value_of(const Operand& operand, const Role& role, const Form& form);
  Value name_value(const Operand& operand);
  Value register_value(Value value, const Operand& operand);
  Value whole_vector(Value first, const Role& role, Type type);
  bool is_whole_vector(const Value& value, const Operand& operand) const;
  Value address(const Operand& operand, const Role& role, const Form& form);
  Value base(const Operand& operand);
  Value immediate(const Operand& operand, Type type);
  Value with_items(ValueKind kind, Range items, const Role& role, const Form& form);
  Value label(Name name, Offset at);
  std::uint8_t element_of(const Operand& operand);

  bool find_label(const std::unordered_map<std::uint64_t, Index>& labels, std::uint32_t scope,
                  Name name, Index& found) const;
  void resolve();
  void demand_whole_table(const Later& branch);
  void end_of(Code& code, const Function& function);
  void note(Offset at, std::string message);
  void make_unknown(Index instruction, std::string problem);
  [[noreturn]] void fail(std::string text) const { throw Problem{std::move(text)}; }

  Program& program_;
  Unit& unit_;
  ScopeTable& scopes_;
  Locations& locations_;
  const ReadOptions& options_;
  std::vector<Index> forms_;  // by Name
  std::vector<Role> roles_;
  std::vector<std::uint32_t> parents_;  // of scopes
  std::uint32_t scope_ = 0;
  std::unordered_map<std::uint64_t, Index> labels_, tables_;  // by scope and Name
  std::unordered_map<Name, Index> undeclared_;                // registers of a loose text
  std::vector<Later> later_;
  Index location_ = none;
  Index first_register_ = 0;
};

}  // namespace tcq::ptx
