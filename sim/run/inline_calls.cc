#include "sim/run/inline_calls.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/run/variable_size.h"

namespace tcq::run {
namespace {

using ptx::Function;
using ptx::Name;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Range;
using ptx::Space;
using ptx::Statement;
using ptx::StatementKind;
using ptx::Variable;

using Renamed = std::unordered_map<Name, Name>;

// Statements that a text may grow by, and an entry in which something calls itself.
constexpr std::size_t most_statements = 1 << 18;
constexpr std::size_t most_of_recursion = 1 << 15;
constexpr std::size_t deepest = 64;
constexpr std::size_t most_targets = 64;

// How often a function may stand within itself: the first one that does not take too many statements.
constexpr std::size_t recursions[] = {60, 30, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1, 0};

// call (results), callee, (arguments); by a register the callee is not known, and a prototype follows.
struct Call {
  const Function* callee = nullptr;
  Name by = 0;
  std::vector<Name> results, arguments;
  std::vector<std::uint32_t>
      values;  // of Unit::operands, one for each argument; a constant has no name
};

// Variables, registers and labels that a function declares, wherever in its body.
class DeclaredNames {
 public:
  DeclaredNames() = default;
  DeclaredNames(const ptx::Unit& unit, const Function& f) {
    for (const Range list : {f.returns, f.parameters})
      for (std::uint32_t i = list.first; i < list.end(); ++i) names_.insert(unit.variables[i].name);
    for (std::uint32_t i = f.body.first; i < f.body.end(); ++i) add(unit, unit.statements[i]);
  }

  bool contains(Name name, const ptx::Names& names) const {
    if (names_.contains(name)) return true;
    const std::string_view text = names.text(name);
    const std::size_t last = text.find_last_not_of("0123456789");
    const std::string_view digits = text.substr(last == text.npos ? 0 : last + 1);
    const auto range = ranges_.find(names.find(text.substr(0, text.size() - digits.size())));
    std::uint32_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return range != ranges_.end() && read.ec == std::errc{} && number < range->second;
  }

 private:
  void add(const ptx::Unit& unit, const Statement& s) {
    if (s.kind == StatementKind::Label) names_.insert(s.name);
    if (s.kind == StatementKind::Variable) names_.insert(unit.variables[s.items.first].name);
    if (s.kind != StatementKind::Registers) return;
    for (std::uint32_t i = s.items.first; i < s.items.end(); ++i) {
      const ptx::RegisterItem& item = unit.registers[i];
      if (item.count == 0)
        names_.insert(item.name);
      else
        ranges_[item.name] = std::max(ranges_[item.name], item.count);
    }
  }

  std::unordered_set<Name> names_;
  std::unordered_map<Name, std::uint32_t> ranges_;  // %r<9>: %r0 to %r8
};

struct Facts {
  bool can_stand_twice = true;
  const DeclaredNames* own = nullptr;
  std::vector<Name> foreign;  // that it does not declare
};

class Inliner {
 public:
  explicit Inliner(ptx::Unit& unit)
      : unit_(unit), branch_(unit.names.intern("bra")), end_(unit.names.intern("@end")) {
    for (const Function& f : unit_.functions)
      if (f.kind == ptx::FunctionKind::Func && f.has_body) functions_.try_emplace(f.name, &f);
    find_targets();
  }

  void rewrite(Function& entry) {
    const Sizes before = sizes();
    for (const std::size_t depth : recursions) {
      recursion_ = depth;
      if (rewrite_once(entry)) break;
      restore(before);
    }
    grown_ += made_.size();
    entry.body = {static_cast<std::uint32_t>(unit_.statements.size()),
                  static_cast<std::uint32_t>(made_.size())};
    unit_.statements.insert(unit_.statements.end(), made_.begin(), made_.end());
  }

 private:
  // False: functions that call themselves took too many statements.
  bool rewrite_once(const Function& entry) {
    made_.clear();
    is_too_much_ = false;
    variables_.clear();
    callers_.assign(1, names_of(entry));
    expand(entry.body, nullptr);
    return !is_too_much_;
  }

  // What an attempt adds to the text besides statements; names stay.
  struct Sizes {
    std::size_t operands, variables, registers;
  };
  Sizes sizes() const {
    return {unit_.operands.size(), unit_.variables.size(), unit_.registers.size()};
  }
  void restore(const Sizes& to) {
    unit_.operands.resize(to.operands);
    unit_.variables.resize(to.variables);
    unit_.registers.resize(to.registers);
  }

 public:
  bool calls(const Function& entry) const {
    const auto first = unit_.statements.begin() + entry.body.first;
    return std::any_of(first, first + entry.body.count,
                       [&](const Statement& s) { return is(s, "call"); });
  }

 private:
  // Is it an instruction of that opcode, with or without words behind it?
  bool is(const Statement& s, std::string_view opcode) const {
    if (s.kind != StatementKind::Instruction) return false;
    const std::string_view name = unit_.names.text(s.name);
    return name.starts_with(opcode) && (name.size() == opcode.size() || name[opcode.size()] == '.');
  }

  Name renamed(Name name, const Renamed* names) const {
    if (names == nullptr) return name;
    const auto found = names->find(name);
    return found == names->end() ? name : found->second;
  }

  // --- functions whose address something takes ---------------------------------------------------

  void find_targets() {
    for (const Statement& s : unit_.statements)
      if (s.kind == StatementKind::Instruction && !is(s, "call")) find_targets(s.items);
    for (const Variable& v : unit_.variables) find_targets(v.values);
  }
  void find_targets(Range operands) {
    for (std::uint32_t i = operands.first; i < operands.end(); ++i) {
      const Operand& operand = unit_.operands[i];
      const auto found = functions_.find(operand.name);
      const bool is_new = found != functions_.end() && std::find(targets_.begin(), targets_.end(),
                                                                 found->second) == targets_.end();
      if (is_new && targets_.size() < most_targets) targets_.push_back(found->second);
      find_targets(operand.items);
    }
  }

  // --- statements --------------------------------------------------------------------------------

  // Of an entry (no names) or of a function put into one.
  void expand(Range body, const Renamed* names) {
    std::optional<Statement> location;
    for (std::uint32_t i = body.first; i < body.end(); ++i) {
      Statement s = unit_.statements[i];
      s.guard = renamed(s.guard, names);
      if (s.kind == StatementKind::Location) location = s;
      if (s.kind == StatementKind::Variable) s.items.first = declare(s.items.first, names);
      if (is(s, "call") && put_in(s, names)) {
        if (location) made_.push_back(*location);
        continue;
      }
      if (names != nullptr && is(s, "ret"))
        s = branch_to_end(s);
      else if (names != nullptr && s.kind == StatementKind::Instruction)
        s.items = copied(s.items, *names);
      made_.push_back(s);
    }
  }

  std::uint32_t declare(std::uint32_t number, const Renamed* names) {
    const Name name = renamed(unit_.variables[number].name, names);
    if (name != unit_.variables[number].name) {
      Variable copy = unit_.variables[number];
      copy.name = name;
      number = static_cast<std::uint32_t>(unit_.variables.size());
      unit_.variables.push_back(copy);
    }
    variables_[name] = number;
    return number;
  }

  Statement branch_to_end(Statement s) {
    s.name = branch_;
    s.items = {static_cast<std::uint32_t>(unit_.operands.size()), 1};
    unit_.operands.push_back({.kind = OperandKind::Name, .name = end_, .at = s.at, .end = s.end});
    return s;
  }

  Range copied(Range operands, const Renamed& names) {
    const auto first = static_cast<std::uint32_t>(unit_.operands.size());
    for (std::uint32_t i = operands.first; i < operands.end(); ++i) {
      Operand copy = unit_.operands[i];
      copy.name = renamed(copy.name, &names);
      unit_.operands.push_back(copy);
    }
    for (std::uint32_t i = 0; i < operands.count; ++i) {
      const Range items = unit_.operands[first + i].items;
      if (items.count == 0) continue;
      const Range copies = copied(items, names);
      unit_.operands[first + i].items = copies;
    }
    return {first, operands.count};
  }

  // --- calls ---------------------------------------------------------------------------------------

  // False: it stays a call.
  bool put_in(const Statement& s, const Renamed* names) {
    const std::optional<Call> call = read_call(s, names);
    if (!call) return false;
    if (call->callee == nullptr) return put_in_targets(*call, s, names);
    if (!may_be_put_in(*call)) return false;
    put_in(*call, s);
    return true;
  }

  void put_in(const Call& call, const Statement& s) {
    const Function& f = *call.callee;
    Renamed inner = bound(call);
    rename_own(f, inner);
    callers_.push_back(facts_.at(&f).own);
    stack_.push_back(&f);
    const auto add = [&](StatementKind kind) {
      made_.push_back({.kind = kind, .name = end_, .at = s.at, .end = s.end});
    };
    const std::vector<Name> results = declare_own_registers(f.returns, s, inner);
    const std::vector<Name> parameters = declare_own_registers(f.parameters, s, inner);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] != 0) {
        Operand from = unit_.operands[call.values[i]];
        from.name = call.arguments[i];
        move(s, type_of(f.parameters, i), name_operand(s, parameters[i]), from);
      }
    add(StatementKind::Open);
    if (s.guard != 0) {  // the others go around it
      Statement around = branch_to_end(s);
      around.guard_negated = !around.guard_negated;
      made_.push_back(around);
    }
    const Range body = f.body;
    expand(body, &inner);
    add(StatementKind::Label);
    add(StatementKind::Close);
    stack_.pop_back();
    callers_.pop_back();
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i] != 0)
        move(s, type_of(f.returns, i), name_operand(s, call.results[i]),
             name_operand(s, results[i]));
  }

  // --- parameters in registers ---------------------------------------------------------------------

  ptx::Type type_of(Range parameters, std::size_t i) const {
    return unit_.variables[parameters.first + i].type;
  }
  static Operand name_operand(const Statement& s, Name name) {
    return {.kind = OperandKind::Name, .name = name, .at = s.at, .end = s.end};
  }

  // By new names, which nothing in the function or its caller hides; 0: that parameter is no register.
  std::vector<Name> declare_own_registers(Range parameters, const Statement& s, Renamed& names) {
    std::vector<Name> made(parameters.count);
    for (std::uint32_t i = 0; i < parameters.count; ++i) {
      const Variable& own = unit_.variables[parameters.first + i];
      if (own.space != Space::Reg) continue;
      const std::string text(unit_.names.text(own.name));
      made[i] = unit_.names.keep(text + "@" + std::to_string(++blocks_));
      names[own.name] = made[i];
      declare_register(s, made[i], own.type);
    }
    return made;
  }
  void declare_register(const Statement& s, Name name, ptx::Type type) {
    const Range items{static_cast<std::uint32_t>(unit_.registers.size()), 1};
    unit_.registers.push_back({.name = name, .type = type});
    made_.push_back({.kind = StatementKind::Registers, .at = s.at, .end = s.end, .items = items});
  }

  // For the lanes that call.
  void move(const Statement& s, ptx::Type type, Operand to, Operand from) {
    Statement made{.kind = StatementKind::Instruction,
                   .guard_negated = s.guard_negated,
                   .guard = s.guard,
                   .at = s.at,
                   .end = s.end};
    made.name = unit_.names.keep("mov." + std::string(ptx::name(type)));
    made.items = {static_cast<std::uint32_t>(unit_.operands.size()), 2};
    unit_.operands.push_back(to);
    unit_.operands.push_back(from);
    made_.push_back(made);
  }

  // By a register: one target after the other, each for the lanes whose register holds its address. Who is left calls
  // something else, which is not known.
  bool put_in_targets(Call call, const Statement& s, const Renamed* names) {
    std::vector<const Function*> fitting;
    for (const Function* target : targets_) {
      call.callee = target;
      if (may_be_put_in(call) && !is_taken(target->name)) fitting.push_back(target);
    }
    if (fitting.empty()) return false;
    const std::string suffix = "@" + std::to_string(++blocks_);
    const Name calls = unit_.names.keep("%calls" + suffix);
    const Name rest = unit_.names.keep("%rest" + suffix);
    made_.push_back({.kind = StatementKind::Open, .at = s.at, .end = s.end});
    declare_predicates(s, {calls, rest});
    compare(s, "setp.eq", rest, call.by, call.by, s.guard, s.guard_negated);
    for (const Function* target : fitting) {
      call.callee = target;
      compare(s, "setp.eq", calls, call.by, target->name, rest, false);
      Statement one = s;
      one.guard = calls;
      one.guard_negated = false;
      if (may_be_put_in(call)) {
        put_in(call, one);
        compare(s, "setp.ne", rest, call.by, target->name, rest, false);
      }
    }
    Statement other = s;
    other.guard = rest;
    other.guard_negated = false;
    if (names != nullptr) other.items = copied(other.items, *names);
    made_.push_back(other);
    made_.push_back({.kind = StatementKind::Close, .at = s.at, .end = s.end});
    return true;
  }

  void declare_predicates(const Statement& s, std::initializer_list<Name> predicates) {
    for (const Name name : predicates) declare_register(s, name, ptx::Type::Pred);
  }

  // opcode{.and}.u64 to, a, b{, {!}with}
  void compare(const Statement& s, const char* opcode, Name to, Name a, Name b, Name with,
               bool is_negated) {
    Statement made{.kind = StatementKind::Instruction, .at = s.at, .end = s.end};
    made.name = unit_.names.keep(std::string(opcode) + (with != 0 ? ".and.u64" : ".u64"));
    made.items.first = static_cast<std::uint32_t>(unit_.operands.size());
    for (const Name name : {to, a, b, with}) {
      if (name == 0) continue;
      unit_.operands.push_back({.kind = OperandKind::Name, .name = name, .at = s.at, .end = s.end});
      ++made.items.count;
    }
    unit_.operands.back().negated = with != 0 && is_negated;
    made_.push_back(made);
  }

  std::optional<Call> read_call(const Statement& s, const Renamed* names) const {
    Call call;
    for (std::uint32_t i = s.items.first; i < s.items.end(); ++i) {
      const Operand& operand = unit_.operands[i];
      const bool has_callee = call.callee != nullptr || call.by != 0;
      if (operand.kind == OperandKind::Name && !has_callee) {
        const auto found = functions_.find(operand.name);
        if (found != functions_.end())
          call.callee = found->second;
        else
          call.by = renamed(operand.name, names);
      } else if (operand.kind == OperandKind::Name && call.by != 0) {
        continue;  // the prototype
      } else if (operand.kind == OperandKind::List) {
        auto& list = !has_callee ? call.results : call.arguments;
        for (std::uint32_t k = operand.items.first; k < operand.items.end(); ++k) {
          const OperandKind kind = unit_.operands[k].kind;
          const bool is_constant = has_callee && kind == OperandKind::Integer;
          if (kind != OperandKind::Name && !is_constant) return std::nullopt;
          list.push_back(is_constant ? Name{0} : renamed(unit_.operands[k].name, names));
          if (has_callee) call.values.push_back(k);
        }
      } else {
        return std::nullopt;
      }
    }
    if (call.callee == nullptr && call.by == 0) return std::nullopt;
    return call;
  }

  bool may_be_put_in(const Call& call) {
    const Function& f = *call.callee;
    const auto within = static_cast<std::size_t>(std::count(stack_.begin(), stack_.end(), &f));
    const std::size_t made = made_.size() + f.body.count;
    if (within > recursion_ || is_too_much_ || stack_.size() == deepest ||
        grown_ + made > most_statements)
      return false;
    is_too_much_ = within > 0 && made > most_of_recursion;
    if (is_too_much_) return false;
    for (const Name result : call.results)
      if (variables_.contains(result) &&
          std::find(call.arguments.begin(), call.arguments.end(), result) != call.arguments.end())
        return false;
    return fit(f.returns, call.results) && fit(f.parameters, call.arguments) && is_its_own(f);
  }

  // Variables of the caller in the place of the function's; in a register's place a register or a constant.
  bool fit(Range parameters, const std::vector<Name>& passed) const {
    if (parameters.count != passed.size()) return false;
    for (std::uint32_t i = 0; i < parameters.count; ++i) {
      const Variable& own = unit_.variables[parameters.first + i];
      const auto found = variables_.find(passed[i]);
      if (own.space == Space::Reg && own.vector == 1 && found == variables_.end()) continue;
      if (found == variables_.end()) return false;
      const Variable& given = unit_.variables[found->second];
      if (own.space != Space::Param || given.space != Space::Param ||
          bytes_of(own) != bytes_of(given) || alignment_of(own) > alignment_of(given))
        return false;
    }
    return true;
  }

  // Does it mean in the callers what it means by itself?
  bool is_its_own(const Function& f) {
    const auto [known, fresh] = facts_.try_emplace(&f);
    if (fresh) known->second = facts_of(f);
    const Facts& facts = known->second;
    return facts.can_stand_twice && std::none_of(facts.foreign.begin(), facts.foreign.end(),
                                                 [&](Name name) { return is_taken(name); });
  }
  bool is_taken(Name name) const {
    return std::any_of(callers_.begin(), callers_.end(), [&](const DeclaredNames* names) {
      return names->contains(name, unit_.names);
    });
  }

  Facts facts_of(const Function& f) {
    Facts facts;
    facts.own = names_of(f);
    std::unordered_set<Name> seen;
    for (std::uint32_t i = f.body.first; i < f.body.end(); ++i) {
      const Statement& s = unit_.statements[i];
      if (s.kind == StatementKind::Malformed) facts.can_stand_twice = false;
      if (s.kind == StatementKind::Variable) {
        const Space space = unit_.variables[s.items.first].space;
        if (space != Space::Param && space != Space::Local) facts.can_stand_twice = false;
      }
      if (s.kind == StatementKind::Instruction) add_foreign(s.items, seen, facts);
    }
    return facts;
  }
  void add_foreign(Range operands, std::unordered_set<Name>& seen, Facts& facts) const {
    for (std::uint32_t i = operands.first; i < operands.end(); ++i) {
      const Operand& operand = unit_.operands[i];
      const bool is_new = operand.name != 0 && seen.insert(operand.name).second;
      if (is_new && !facts.own->contains(operand.name, unit_.names))
        facts.foreign.push_back(operand.name);
      add_foreign(operand.items, seen, facts);
    }
  }

  static void bind(const std::vector<Variable>& variables, Range own,
                   const std::vector<Name>& passed, Renamed& names) {
    for (std::uint32_t i = 0; i < own.count; ++i) {
      const Variable& parameter = variables[own.first + i];
      if (parameter.space != Space::Reg) names[parameter.name] = passed[i];
    }
  }
  Renamed bound(const Call& call) const {
    Renamed names;
    bind(unit_.variables, call.callee->returns, call.results, names);
    bind(unit_.variables, call.callee->parameters, call.arguments, names);
    return names;
  }

  // Its variables for calls would hide those of the caller, which are called the same; what it has in local memory is
  // another one each time that it stands within itself.
  void rename_own(const Function& f, Renamed& names) {
    const bool is_within = std::find(stack_.begin(), stack_.end(), &f) != stack_.end();
    const std::string suffix = "@" + std::to_string(++blocks_);
    for (std::uint32_t i = f.body.first; i < f.body.end(); ++i) {
      const Statement& s = unit_.statements[i];
      if (s.kind != StatementKind::Variable) continue;
      const Variable& v = unit_.variables[s.items.first];
      if (v.space == Space::Param || (is_within && v.space == Space::Local))
        names[v.name] = unit_.names.keep(std::string(unit_.names.text(v.name)) + suffix);
    }
  }

  // What the function declares means that in what it calls.
  const DeclaredNames* names_of(const Function& f) {
    const auto [known, fresh] = declared_.try_emplace(&f);
    if (fresh) known->second = DeclaredNames(unit_, f);
    return &known->second;
  }

  ptx::Unit& unit_;
  Name branch_;
  Name end_;  // no label of a text is called so
  std::unordered_map<Name, const Function*> functions_;
  std::vector<Statement> made_;
  std::unordered_map<Name, std::uint32_t> variables_;  // that were declared so far
  std::unordered_map<const Function*, DeclaredNames> declared_;
  std::vector<const DeclaredNames*> callers_;  // of the entry and of all that is being put in
  std::unordered_map<const Function*, Facts> facts_;
  std::vector<const Function*> stack_;
  std::vector<const Function*> targets_;
  std::size_t recursion_ = 0;
  bool is_too_much_ = false;
  std::size_t grown_ = 0;  // statements of the entries that are done
  std::uint64_t blocks_ = 0;
};

}  // namespace

ptx::Unit inline_calls(ptx::Unit unit) {
  Inliner inliner(unit);
  for (Function& f : unit.functions)
    if (f.kind == ptx::FunctionKind::Entry && f.has_body && inliner.calls(f)) inliner.rewrite(f);
  return unit;
}

ptx::Program load(std::string_view text) { return ptx::decode(inline_calls(ptx::read(text))); }

}  // namespace tcq::run
