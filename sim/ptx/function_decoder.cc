// Decoding statements; see function_decoder.h. Operands are in operand_decoder.cc.
#include "sim/ptx/function_decoder.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "sim/ptx/reader.h"
#include "sim/ptx/video.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

std::uint64_t key_of(std::uint32_t scope, Name name) { return (std::uint64_t{scope} << 32) + name; }

}  // namespace

FunctionDecoder::FunctionDecoder(Program& program, ScopeTable& scopes, Locations& locations,
                                 const ReadOptions& options)
    : program_(program),
      unit_(program.unit),
      scopes_(scopes),
      locations_(locations),
      options_(options),
      forms_(program.unit.names.size(), none) {}

void FunctionDecoder::note(Offset at, std::string message) {
  if (program_.diagnostics.size() / 2 < options_.most_diagnostics)
    program_.diagnostics.push_back({unit_.lines.at(at), std::move(message)});
}

void FunctionDecoder::make_unknown(Index at, std::string problem) {
  Instruction& instruction = program_.instructions[at];
  if (instruction.opcode == Opcode::Unknown) return;
  instruction.opcode = Opcode::Unknown;
  ++program_.unknown;
  note(instruction.at, std::move(problem));
}

// ---- Blocks and declarations --------------------------------------------------------------------

void FunctionDecoder::open() {
  scopes_.open();
  parents_.push_back(scope_);
  scope_ = index_of(parents_.size() - 1);
}

void FunctionDecoder::close() {
  scopes_.close();
  scope_ = parents_[scope_];
}

void FunctionDecoder::declare_variable(Index variable) {
  const Variable& v = unit_.variables[variable];
  if (!scopes_.declare(v.name, ScopeTable::Kind::Variable, variable))
    note(v.at, quoted(unit_.names.text(v.name)) + " is declared twice in this block");
}

void FunctionDecoder::declare_parameters(Range variables) {
  for (Index i = variables.first; i < variables.end(); ++i) {
    const Variable& v = unit_.variables[i];
    if (v.space == Space::Reg)
      scopes_.declare_registers({.name = v.name, .type = v.type, .vector = v.vector});
    else
      declare_variable(i);
  }
}

void FunctionDecoder::declare_table(const Statement& statement) {
  const Range table{index_of(program_.table_targets.size()), statement.items.count};
  for (Index i = statement.items.first; i < statement.items.end(); ++i) {
    const Operand& operand = unit_.operands[i];
    later_.push_back(
        {true, index_of(program_.table_targets.size()), scope_, operand.name, operand.at});
    program_.table_targets.push_back(none);
  }
  tables_[key_of(scope_, statement.name)] = index_of(program_.tables.size());
  program_.tables.push_back(table);
}

void FunctionDecoder::statement(const Statement& s) {
  using enum StatementKind;
  switch (s.kind) {
    case Instruction: return instruction(s);
    case Open: return open();
    case Close: return close();
    case Pragma: return;
    case Malformed: return malformed(s);
    case Variable: return declare_variable(s.items.first);
    case Targets: return declare_table(s);
    case Location: location_ = locations_.add(unit_.locations[s.items.first]); return;
    case Callees: tables_[key_of(scope_, s.name)] = none; return;
    case Prototype: tables_[key_of(scope_, s.name)] = s.items.first; return;
    case Registers:
      for (Index i = s.items.first; i < s.items.end(); ++i)
        if (!scopes_.declare_registers(unit_.registers[i]))
          note(s.at, quoted(unit_.names.text(unit_.registers[i].name)) +
                         " is declared twice in this block");
      return;
    case Label:
      if (!labels_.emplace(key_of(scope_, s.name), index_of(program_.instructions.size())).second)
        note(s.at, "label " + quoted(unit_.names.text(s.name)) + " stands twice in this block");
      return;
  }
}

// ---- Instructions -------------------------------------------------------------------------------

// The nearest declaration. Of a loose text a name without any is a register, the same one everywhere in its function.
ScopeTable::Meaning FunctionDecoder::meaning_of(Name name) {
  const ScopeTable::Meaning found = scopes_.find(name, program_.registers, first_register_);
  if (!options_.loose || found.kind != ScopeTable::Kind::None) return found;
  if (special_of(unit_.names.text(name))) return found;
  const Index next = index_of(program_.registers.size()) - first_register_;
  const auto [at, is_new] = undeclared_.emplace(name, next);
  if (is_new) program_.registers.push_back({name, Type::None, 1});
  return {ScopeTable::Kind::Register, at->second};
}

Index FunctionDecoder::form_of(Name opcode) {
  Index& known = forms_[opcode];
  if (known != none) return known;
  Form form = read_form(unit_.names.text(opcode));
  form.text = opcode;
  known = index_of(program_.forms.size());
  program_.forms.push_back(std::move(form));
  return known;
}

Index FunctionDecoder::guard_of(const Statement& statement) {
  const ScopeTable::Meaning meaning = meaning_of(statement.guard);
  const bool is_register = meaning.kind == ScopeTable::Kind::Register;
  const Type type =
      is_register ? program_.registers[first_register_ + meaning.index].type : Type::None;
  if (!is_register || (type != Type::Pred && !(options_.loose && type == Type::None)))
    fail("has as its guard " + quoted(unit_.names.text(statement.guard)) +
         ", which is no predicate that is declared");
  return meaning.index;
}

void FunctionDecoder::instruction(const Statement& s) {
  Instruction made;
  made.at = s.at;
  made.location = location_;
  made.guard_negated = s.guard_negated;
  made.form = form_of(s.name);
  made.opcode = program_.forms[made.form].opcode;
  const std::size_t values = program_.values.size();
  const std::size_t later = later_.size();
  try {
    if (made.opcode == Opcode::Unknown) fail(program_.forms[made.form].problem);
    if (s.guard != 0) made.guard = guard_of(s);
    if (made.opcode == Opcode::Call)
      decode_call(s, made);
    else
      decode_operands(s, made);
  } catch (const Problem& problem) {
    program_.values.resize(values);
    later_.resize(later);
    made.opcode = Opcode::Unknown;
    made.values = {};
    ++program_.unknown;
    note(s.at, quoted(unit_.names.text(s.name)) + " " + problem.text);
  }
  program_.instructions.push_back(made);
}

// Reading complained about it: only its place is kept.
void FunctionDecoder::malformed(const Statement& s) {
  Instruction made;
  made.at = s.at;
  made.location = location_;
  made.form = form_of(0);
  ++program_.unknown;
  program_.instructions.push_back(made);
}

void FunctionDecoder::decode_operands(const Statement& s, Instruction& made) {
  std::string problem;
  const std::span operands = std::span(unit_.operands).subspan(s.items.first, s.items.count);
  if (!match(program_.forms[made.form], operands, roles_, problem)) fail(std::move(problem));
  const Form& form = program_.forms[made.form];
  if (is_video(form.opcode)) return decode_video(operands, made);
  made.values = {index_of(program_.values.size()), s.items.count};
  program_.values.resize(program_.values.size() + s.items.count);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value value = value_of(operands[i], roles_[i], form);
    if (value.kind == ValueKind::Label) later_.back().at = made.values.first + index_of(i);
    program_.values[made.values.first + i] = value;
  }
}

// Selectors and signs of the operands stand in a word behind them.
void FunctionDecoder::decode_video(std::span<const Operand> operands, Instruction& made) {
  const Form& form = program_.forms[made.form];
  std::string problem;
  Value word;
  word.kind = ValueKind::Immediate;
  word.type = Type::B64;
  word.value = std::bit_cast<std::int64_t>(video_of(form, operands, unit_.names, problem));
  if (!problem.empty()) fail(std::move(problem));
  made.values = {index_of(program_.values.size()), index_of(operands.size() + 1)};
  program_.values.resize(program_.values.size() + made.values.count);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Operand whole = operands[i];
    whole.selector = 0;
    whole.minus = false;
    const Value value = value_of(whole, roles_[i], form);
    program_.values[made.values.first + i] = value;
  }
  program_.values[made.values.end() - 1] = word;
}

// call (results), callee, (arguments), prototype;
void FunctionDecoder::decode_call(const Statement& s, Instruction& made) {
  const Form& form = program_.forms[made.form];
  made.values = {index_of(program_.values.size()), s.items.count};
  program_.values.resize(program_.values.size() + s.items.count);
  bool has_callee = false;
  for (std::uint32_t i = 0; i < s.items.count; ++i) {
    const Operand& operand = unit_.operands[s.items.first + i];
    Value value;
    if (operand.kind == OperandKind::List) {
      const Role role{Role::Place::Value, has_callee ? Access::Read : Access::Write};
      value = with_items(ValueKind::List, operand.items, role, form);
    } else if (!has_callee) {
      value = name_value(operand);
      has_callee = true;
    } else {
      Index found = none;
      if (!find_label(tables_, scope_, operand.name, found))
        fail("names no .callprototype or .calltargets: " + quoted(unit_.names.text(operand.name)));
      value.kind = ValueKind::Prototype;
      value.index = found;
    }
    program_.values[made.values.first + i] = value;
  }
  if (!has_callee) fail("names no function");
}

// ---- The function -------------------------------------------------------------------------------

bool FunctionDecoder::find_label(const std::unordered_map<std::uint64_t, Index>& labels,
                                 std::uint32_t scope, Name name, Index& found) const {
  while (true) {
    if (const auto at = labels.find(key_of(scope, name)); at != labels.end()) {
      found = at->second;
      return true;
    }
    if (scope == 0) return false;
    scope = parents_[scope];
  }
}

void FunctionDecoder::resolve() {
  for (const Later& one : later_) {
    Index found = none;
    const std::string name = quoted(unit_.names.text(one.name));
    if (one.is_table) {
      if (!find_label(labels_, one.scope, one.name, found))
        note(one.offset, "no label " + name + " in reach of this table");
      program_.table_targets[one.at] = found;
      continue;
    }
    const bool by_table = program_.instructions[one.instruction].opcode == Opcode::BrxIdx;
    if (find_label(by_table ? tables_ : labels_, one.scope, one.name, found) && found != none) {
      if (by_table) program_.values[one.at].kind = ValueKind::Table;
      program_.values[one.at].index = found;
    } else {
      const std::string what = by_table ? "no table " : "no label ";
      make_unknown(one.instruction, what + name + " in reach of this branch");
    }
  }
  for (const Later& one : later_)  // when every label of every table is known
    if (!one.is_table) demand_whole_table(one);
}

void FunctionDecoder::demand_whole_table(const Later& branch) {
  const Value& value = program_.values[branch.at];
  if (value.kind != ValueKind::Table) return;
  const Range table = program_.tables[value.index];
  const std::span<const Index> targets(program_.table_targets.data() + table.first, table.count);
  if (std::ranges::find(targets, none) != targets.end())
    make_unknown(branch.instruction, "a label of " + quoted(unit_.names.text(branch.name)) +
                                         " is not in reach of the table");
}

// Behind the last statement a function returns.
void FunctionDecoder::end_of(Code& code, const Function& function) {
  Instruction ret;
  ret.opcode = Opcode::Ret;
  ret.at = function.end == 0 ? 0 : function.end - 1;
  ret.location = location_;
  ret.form = form_of(unit_.names.find("ret"));
  program_.instructions.push_back(ret);
  code.instructions.count = index_of(program_.instructions.size()) - code.instructions.first;
  code.registers.count = index_of(program_.registers.size()) - code.registers.first;
}

void FunctionDecoder::decode(Index index) {
  const Function& function = unit_.functions[index];
  Code code;
  code.declaration = index;
  code.name = function.name;
  code.instructions.first = index_of(program_.instructions.size());
  code.registers.first = first_register_ = index_of(program_.registers.size());
  parents_.assign(1, 0);
  scope_ = 0;
  labels_.clear();
  tables_.clear();
  undeclared_.clear();
  later_.clear();
  location_ = none;
  locations_.begin_function();
  scopes_.open();
  declare_parameters(function.returns);
  declare_parameters(function.parameters);
  for (Index i = function.body.first; i < function.body.end(); ++i) statement(unit_.statements[i]);
  while (scope_ != 0) close();
  scopes_.close();
  end_of(code, function);
  resolve();
  program_.functions.push_back(code);
}

}  // namespace tcq::ptx
