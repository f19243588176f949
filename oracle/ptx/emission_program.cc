// From PTX text to steps; see emission_program.h.
#include "oracle/ptx/emission_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "oracle/answer/words.h"
#include "oracle/ptx/check.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/ptx_opcode.h"
#include "oracle/ptx/ptx_scopes.h"
#include "oracle/ptx/quoted_asm.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/reader.h"

namespace tcq::oracle {
namespace {

using Kind = EmissionStep::Kind;

EmissionFinding not_followed(std::size_t line, const std::string& why) {
  return {line, Fault::None, FaultKind::Unmodelled, why + ": not followed"};
}

// --- names -----------------------------------------------------------------------------------------

bool is_name(char c) {
  return c == '%' || c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

// "%f12" -> {"%f", 12}; names without a number as people write it ("%f012", "%f99999999999") stay
// whole, with -1.
std::pair<std::string, int> split_number(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  int number = -1;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  const bool is_plain = number >= 0 && std::to_string(number) == name.substr(digits);
  return is_plain ? std::pair{std::string(name.substr(0, digits)), number}
                  : std::pair{std::string(name), -1};
}

// Every name in an operand; "{%f0..%f3}" stands for four.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  bool range = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "..") range = true;
    if (!is_name(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string name(text.substr(i, end - i));
    i = end;
    if (name[0] >= '0' && name[0] <= '9') continue;  // a number
    if (range && !names.empty()) {
      const auto [prefix, first] = split_number(names.back());
      const int last = split_number(name).second;
      for (int n = first + 1; n <= last && n - first < 1024; ++n)
        names.push_back(prefix + std::to_string(n));
    } else {
      names.push_back(name);
    }
    range = false;
  }
  return names;
}

// --- statements ------------------------------------------------------------------------------------

struct Item {
  std::size_t line = 0;
  int scope = 0;
  std::string text;   // outlives the statement
  std::string label;  // instead of a statement
  std::optional<PtxStatement> statement;
  bool is_legal = false;  // of wgmma
};

using Name = std::pair<int, std::string>;  // the scope of its declaration, -1: none

struct Body {
  std::deque<Item> items;  // which do not move
  std::map<Name, std::vector<std::string>> tables;  // .branchtargets: labels
  bool is_called = false;
  bool is_loose = false;
  std::size_t last_line = 0;
};

bool is_wgmma(const Item& item, std::string_view which) {
  return item.statement && item.is_legal && item.statement->opcode == "wgmma" &&
         item.statement->qualifiers[0] == which;
}

// The form of an mma_async that check found legal.
wgmma::Form form_of(const PtxStatement& statement) {
  wgmma::Form form{};
  read_wgmma(form, statement.qualifiers, Spelling::Statement);
  if (statement.operands[1].kind == PtxOperand::Kind::Vector)
    form.a_place = wgmma::Place::Registers;
  return form;
}

// --- the text --------------------------------------------------------------------------------------

// Statements sorted into bodies: 0 is what stands outside of kernels and functions.
class Reader {
 public:
  Reader(const ptx::Unit& unit, std::optional<Target> target,
         std::vector<EmissionFinding>& findings, SourceLines& sources)
      : unit_(unit), findings_(findings), sources_(sources) {
    for (const ptx::FileDirective& file : unit.files) files_[file.index] = file.path;
    target_.target = target;
    target_.is_asked = target.has_value();
    if (!unit.targets.empty())
      target_.read_directive(fmt::format(".target {}", unit.names.text(unit.targets[0])));
    bodies_.emplace_back().is_loose = true;
  }

  void read() {
    for (const ptx::Function& function : unit_.functions) {
      if (!function.has_body) continue;
      const bool is_loose = function.kind == ptx::FunctionKind::Loose;
      if (!is_loose) {
        bodies_.emplace_back();
        bodies_.back().is_called = function.kind == ptx::FunctionKind::Func;
        scope_ = scopes_.open(0);
      }
      body_ = is_loose ? 0 : bodies_.size() - 1;
      sources_[line_at(function.at)] = "";
      for (std::uint32_t i = function.body.first; i < function.body.end(); ++i)
        read(unit_.statements[i]);
      bodies_[body_].last_line = line_at(function.end == 0 ? 0 : function.end - 1);
      sources_.try_emplace(bodies_[body_].last_line + 1, "");
      scope_ = 0;
    }
    complain();
  }

  const std::deque<Body>& bodies() const { return bodies_; }
  const PtxScopes& scopes() const { return scopes_; }

 private:
  using Statement = ptx::Statement;

  std::size_t line_at(ptx::Offset at) const { return unit_.lines.at(at).line; }
  std::string text_of(const Statement& statement) const {
    return ptx::without_comments(unit_.text.substr(statement.at, statement.end - statement.at));
  }

  void read(const Statement& s) {
    using enum ptx::StatementKind;
    switch (s.kind) {
      case Open: scope_ = scopes_.open(scope_); return;
      case Close: scope_ = std::max(scopes_.parent(scope_), 0); return;
      case Registers: scopes_.declare(scope_, text_of(s)); return;
      case Location: sources_[line_at(s.at)] = place_of(unit_.locations[s.items.first]); return;
      case Targets: return table(s);
      case Label:
        add({line_at(s.at), scope_, {}, std::string(unit_.names.text(s.name)), {}, false});
        return;
      case Instruction: return statement(s);
      case Malformed: malformed_.insert(line_at(s.at)); return statement(s);
      default: return;
    }
  }

  void table(const Statement& s) {
    auto& labels = bodies_[body_].tables[{scope_, std::string(unit_.names.text(s.name))}];
    for (std::uint32_t i = s.items.first; i < s.items.end(); ++i)
      labels.emplace_back(unit_.names.text(unit_.operands[i].name));
  }

  std::string place_of(std::uint32_t file, std::uint32_t line) const {
    const auto path = files_.find(file);
    return fmt::format("{}:{}", path == files_.end() ? fmt::format("file {}", file)
                                                     : std::string(unit_.names.text(path->second)),
                       line);
  }
  std::string place_of(const ptx::LocationDirective& at) const {
    if (at.line == 0) return "";  // of no line, as a compiler says it
    std::string place = place_of(at.file, at.line);
    if (at.is_inlined) place += ", inlined at " + place_of(at.at_file, at.at_line);
    return place;
  }

  // Views of a statement are into the text of its item.
  void statement(const Statement& s) {
    Item& item = add({line_at(s.at), scope_, text_of(s), {}, {}, false});
    const Verdict verdict = check_text(item.text, target_, {&scopes_, scope_}, item.statement);
    const bool is_ours = item.statement &&
                         (item.statement->opcode == "wgmma" || item.statement->opcode == "tcgen05");
    item.is_legal = is_legal(verdict);
    if (item.is_legal || (item.statement && !is_ours && !item.statement->opcode.empty())) return;
    if (verdict.kind == FaultKind::Unmodelled)
      findings_.push_back(not_followed(item.line, sentence_of(verdict)));
    else
      findings_.push_back({item.line, verdict.fault, verdict.kind, sentence_of(verdict)});
  }

  // Of what is no statement, and so was not judged.
  void complain() {
    for (const ptx::Diagnostic& one : unit_.diagnostics)
      if (!malformed_.contains(one.at.line))
        findings_.push_back(not_followed(one.at.line, one.message));
  }

  Item& add(Item item) {
    std::deque<Item>& items = bodies_[body_].items;
    items.push_back(std::move(item));
    return items.back();
  }

  const ptx::Unit& unit_;
  std::vector<EmissionFinding>& findings_;
  SourceLines& sources_;
  std::map<std::uint32_t, ptx::Name> files_;
  std::deque<Body> bodies_;  // nor do these
  PtxScopes scopes_;
  PtxTarget target_;
  std::set<std::size_t> malformed_;  // lines
  std::size_t body_ = 0;
  int scope_ = 0;
};

// --- one body --------------------------------------------------------------------------------------

class Builder {
 public:
  Builder(const Body& body, const PtxScopes& scopes, std::vector<EmissionFinding>& findings)
      : body_(body), scopes_(scopes), findings_(findings) {}

  EmissionProgram build() {
    program_.is_called = body_.is_called;
    program_.is_loose = body_.is_loose;
    program_.last_line = body_.last_line;
    for (const Item& item : body_.items)
      if (is_wgmma(item, "mma_async")) {
        program_.has_wgmma = true;
        for (const PtxOperand& operand : item.statement->operands)
          if (holds_registers(*item.statement, operand)) add_numbers(item.scope, operand.text);
      }
    for (const Item& item : body_.items) {
      if (item.label.empty())
        add_statement(item);
      else
        labels_[{item.scope, item.label}] = program_.steps.size();
    }
    for (const auto& [step, item] : jumps_) resolve(program_.steps[step], *item);
    program_.is_metadata.assign(program_.registers.size(), true);
    for (const EmissionStep& step : program_.steps)
      for (const auto* list : {&step.d, &step.a})
        for (const int number : *list)
          program_.is_metadata[static_cast<std::size_t>(number)] = false;
    return std::move(program_);
  }

 private:
  Name name_of(int scope, const std::string& name) const {
    const auto declared = scopes_.find(scope, name);
    return {declared ? declared->scope : -1, name};
  }

  // D, A and the metadata of a sparse form.
  static bool holds_registers(const PtxStatement& statement, const PtxOperand& operand) {
    return operand.kind == PtxOperand::Kind::Vector ||
           (form_of(statement).sparse && &operand == &statement.operands[3]);
  }

  void add_numbers(int scope, std::string_view text) {
    for (const std::string& name : names_in(text)) {
      const int next = static_cast<int>(program_.registers.size());
      if (numbers_.emplace(name_of(scope, name), next).second) program_.registers.push_back(name);
    }
  }

  // Of the names that belong to a wgmma.
  std::vector<int> numbers(int scope, std::string_view text) const {
    std::vector<int> result;
    if (numbers_.empty()) return result;
    for (const std::string& name : names_in(text))
      if (const auto found = numbers_.find(name_of(scope, name)); found != numbers_.end())
        result.push_back(found->second);
    return result;
  }

  EmissionStep& add_step(Kind kind, const Item& item) {
    EmissionStep step;
    step.kind = kind;
    step.line = item.line;
    step.guarded = item.statement && item.statement->guard.has_value();
    program_.steps.push_back(std::move(step));
    return program_.steps.back();
  }

  void add_unknown(const Item& item, const std::string& why) {
    add_step(Kind::Unknown, item);
    if (!why.empty()) findings_.push_back(not_followed(item.line, why));
  }

  void add_statement(const Item& item) {
    if (!item.statement || item.statement->opcode.empty()) return add_unknown(item, "");
    const PtxStatement& statement = *item.statement;
    if (statement.opcode == "wgmma") return add_wgmma(item, statement);
    if (statement.opcode == "tcgen05") {
      if (item.is_legal) findings_.push_back(not_followed(item.line, "the order of tcgen05"));
      return;
    }
    const auto effect = effect_of(statement);
    if (!effect)
      return add_unknown(item, fmt::format("opcode {} is not known", quoted(statement.opcode)));
    switch (*effect) {
      case PtxEffect::Jumps: return add_jump(item);
      case PtxEffect::JumpsAnywhere: return add_any_jump(item);
      case PtxEffect::Calls: return add_unknown(item, "a call");
      case PtxEffect::Ends: return add_end(item);
      default: add_access(item, *effect == PtxEffect::Writes);
    }
  }

  void add_end(const Item& item) {
    add_step(Kind::End, item).aborts = item.statement->opcode == "trap";
    program_.is_straight = program_.is_straight && !item.statement->guard;
  }

  void add_wgmma(const Item& item, const PtxStatement& statement) {
    if (!item.is_legal) return add_unknown(item, "");
    if (statement.guard) return add_unknown(item, "wgmma with a guard");
    const std::string_view which = statement.qualifiers[0];
    if (which == "fence") add_step(Kind::Fence, item);
    if (which == "commit_group") add_step(Kind::Commit, item);
    if (which == "wait_group") {
      const std::int64_t pending = statement.operands[0].value;
      if (pending > max_pending)
        return add_unknown(item, fmt::format("a wait for all but {} groups", pending));
      add_step(Kind::Wait, item).pending = static_cast<int>(pending);
    }
    if (which == "mma_async") add_mma(item, statement);
  }

  void add_mma(const Item& item, const PtxStatement& statement) {
    EmissionStep& step = add_step(Kind::Mma, item);
    step.form = form_of(statement);
    step.d = numbers(item.scope, statement.operands[0].text);
    if (statement.operands[1].kind == PtxOperand::Kind::Vector)
      step.a = numbers(item.scope, statement.operands[1].text);
    if (step.form.sparse) step.metadata = numbers(item.scope, statement.operands[3].text);
    const PtxOperand& scale_d = statement.operands[step.form.sparse ? 5 : 3];
    // An unknown predicate may well be false: nothing is said about the first step then.
    step.accumulate = scale_d.kind == PtxOperand::Kind::Immediate && scale_d.value != 0;
  }

  void add_access(const Item& item, bool writes_first) {
    const PtxStatement& statement = *item.statement;
    EmissionStep step;
    for (std::size_t k = 0; k < statement.operands.size(); ++k) {
      const std::string_view text = statement.operands[k].text;
      const bool writes = k == 0 && writes_first && text.front() != '[';
      std::vector<int>& list = writes ? step.writes : step.reads;
      const std::vector<int> more = numbers(item.scope, text);
      list.insert(list.end(), more.begin(), more.end());
    }
    step.releases = releases_shared_memory(statement);
    if (step.reads.empty() && step.writes.empty() && !step.releases) return;
    EmissionStep& added = add_step(Kind::Access, item);
    added.reads = std::move(step.reads);
    added.writes = std::move(step.writes);
    added.releases = step.releases;
  }

  void add_jump(const Item& item) {
    program_.is_straight = false;
    add_step(Kind::Jump, item);
    jumps_.emplace_back(program_.steps.size() - 1, &item);
  }

  // By the labels of its table, where that is in reach.
  void add_any_jump(const Item& item) {
    program_.is_straight = false;
    if (table_of(item) != nullptr) return add_jump(item);
    add_unknown(item, "a branch by a table that is not in reach");
    jumps_.emplace_back(program_.steps.size() - 1, &item);
  }

  const std::vector<std::string>* table_of(const Item& item) const {
    if (item.statement->operands.size() != 2) return nullptr;
    const std::string name(item.statement->operands[1].text);
    for (int scope = item.scope; scope >= 0; scope = scopes_.parent(scope))
      if (const auto found = body_.tables.find({scope, name}); found != body_.tables.end())
        return &found->second;
    return nullptr;
  }

  void resolve(EmissionStep& step, const Item& item) {
    if (step.kind == Kind::Unknown) {
      for (const auto& [label, target] : labels_) step.targets.push_back(target);
      return;
    }
    const auto& operands = item.statement->operands;
    std::vector<std::string> labels(1, operands.empty() ? "" : std::string(operands[0].text));
    if (item.statement->opcode == "brx") labels = *table_of(item);
    for (const std::string& label : labels)
      if (!add_target(step, item.scope, label)) {
        step.kind = Kind::Unknown;
        findings_.push_back(not_followed(
            item.line, fmt::format("no label {} in reach of this branch", quoted(label))));
        return;
      }
  }

  bool add_target(EmissionStep& step, int scope, const std::string& label) const {
    for (; scope >= 0; scope = scopes_.parent(scope))
      if (const auto found = labels_.find({scope, label}); found != labels_.end()) {
        step.targets.push_back(found->second);
        return true;
      }
    return false;
  }

  const Body& body_;
  const PtxScopes& scopes_;
  std::vector<EmissionFinding>& findings_;
  EmissionProgram program_;
  std::map<Name, int> numbers_;
  std::map<Name, std::size_t> labels_;
  std::vector<std::pair<std::size_t, const Item*>> jumps_;
};

}  // namespace

std::vector<EmissionProgram> read_programs(std::span<const std::string> lines,
                                           std::optional<Target> target,
                                           std::vector<EmissionFinding>& findings,
                                           SourceLines& sources) {
  QuotedAsm quoted;
  std::string text;
  for (const std::string& line : lines) text += quoted.line(line) + "\n";
  const ptx::Unit unit = ptx::read(text, {.loose = true, .most_diagnostics = ~std::size_t{0}});
  Reader reader(unit, target, findings, sources);
  reader.read();
  std::vector<EmissionProgram> programs;
  for (const Body& body : reader.bodies())
    programs.push_back(Builder(body, reader.scopes(), findings).build());
  return programs;
}

}  // namespace tcq::oracle
