// Judging the statements of a text one by one; see emission_statements.h.
#include "oracle/ptx/emission_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "oracle/ptx/check.h"
#include "oracle/ptx/ptx_scopes.h"
#include "sim/ptx/lexer.h"

namespace tcq::oracle {
namespace {

bool is_tensor(std::string_view opcode) {
  const std::string_view family = opcode.substr(0, opcode.find('.'));
  return family == "wgmma" || family == "tcgen05";
}

class Judge {
 public:
  Judge(const ptx::Program& program, std::optional<Target> target,
        std::vector<EmissionFinding>& findings)
      : program_(program), unit_(program.unit), findings_(findings) {
    result_.illegal.assign(program.instructions.size(), false);
    for (const ptx::FileDirective& file : unit_.files) files_[file.index] = file.path;
    target_.target = target;
    target_.is_asked = target.has_value();
    if (!unit_.targets.empty())
      target_.read_directive(fmt::format(".target {}", unit_.names.text(unit_.targets[0])));
  }

  EmissionStatements judge() {
    for (const ptx::Code& code : program_.functions) judge(code);
    complain();
    return std::move(result_);
  }

 private:
  using Statement = ptx::Statement;
  using Place = std::pair<std::uint32_t, std::uint32_t>;

  std::size_t line_at(ptx::Offset at) const { return unit_.lines.at(at).line; }
  std::string text_of(const Statement& statement) const {
    return ptx::without_comments(unit_.text.substr(statement.at, statement.end - statement.at));
  }
  static Place place_of(ptx::Position at) { return {at.line, at.column}; }

  void judge(const ptx::Code& code) {
    const ptx::Function& function = unit_.functions[code.declaration];
    scope_ = function.kind == ptx::FunctionKind::Loose ? 0 : scopes_.open(0);
    next_ = code.instructions.first;
    result_.sources[line_at(function.at)] = "";
    for (ptx::Index i = function.body.first; i < function.body.end(); ++i)
      judge(unit_.statements[i]);
    const std::size_t last_line = line_at(function.end == 0 ? 0 : function.end - 1);
    result_.sources.try_emplace(last_line + 1, "");
  }

  void judge(const Statement& s) {
    using enum ptx::StatementKind;
    switch (s.kind) {
      case Open: scope_ = scopes_.open(scope_); return;
      case Close: scope_ = std::max(scopes_.parent(scope_), 0); return;
      case Registers: scopes_.declare(scope_, text_of(s)); return;
      case Location:
        result_.sources[line_at(s.at)] = place_of(unit_.locations[s.items.first]);
        return;
      case Instruction:
        if (is_tensor(unit_.names.text(s.name))) check(s, next_);
        ++next_;
        return;
      case Malformed: check(s, next_++); return;
      default: return;
    }
  }

  void check(const Statement& s, ptx::Index at) {
    std::optional<PtxStatement> statement;
    const std::string text = text_of(s);
    const Verdict verdict = check_text(text, target_, {&scopes_, scope_}, statement);
    if (is_legal(verdict)) return;
    result_.illegal[at] = true;
    // Of other opcodes check knows nothing: what reading them says will do.
    if (statement && !statement->opcode.empty() && !is_tensor(statement->opcode)) return;
    judged_.insert(unit_.lines.at(s.at).line);
    if (verdict.kind == FaultKind::Unmodelled)
      findings_.push_back(not_followed(line_at(s.at), sentence_of(verdict)));
    else
      findings_.push_back({line_at(s.at), verdict.fault, verdict.kind, sentence_of(verdict)});
  }

  // What reading and decoding said, where check had not said it.
  void complain() {
    for (const ptx::Diagnostic& one : program_.diagnostics)
      if (!judged_.contains(one.at.line))
        findings_.push_back(not_followed(one.at.line, one.message));
  }

  std::string place_of(std::uint32_t file, std::uint32_t line) const {
    const auto path = files_.find(file);
    return fmt::format("{}:{}",
                       path == files_.end() ? fmt::format("file {}", file)
                                            : std::string(unit_.names.text(path->second)),
                       line);
  }
  std::string place_of(const ptx::LocationDirective& at) const {
    if (at.line == 0) return "";  // of no line, as a compiler says it
    std::string place = place_of(at.file, at.line);
    if (at.is_inlined) place += ", inlined at " + place_of(at.at_file, at.at_line);
    return place;
  }

  const ptx::Program& program_;
  const ptx::Unit& unit_;
  std::vector<EmissionFinding>& findings_;
  EmissionStatements result_;
  std::map<std::uint32_t, ptx::Name> files_;
  PtxScopes scopes_;
  PtxTarget target_;
  std::set<std::size_t> judged_;  // lines
  ptx::Index next_ = 0;           // instruction
  int scope_ = 0;
};

}  // namespace

EmissionFinding not_followed(std::size_t line, const std::string& why) {
  return {line, Fault::None, FaultKind::Unmodelled, why + ": not followed"};
}

EmissionStatements judge_statements(const ptx::Program& program, std::optional<Target> target,
                                    std::vector<EmissionFinding>& findings) {
  return Judge(program, target, findings).judge();
}

}  // namespace tcq::oracle
