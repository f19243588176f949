#include "oracle/emission.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "oracle/json.h"
#include "oracle/mnemonic.h"
#include "oracle/ptx_statement.h"
#include "oracle/verbs.h"
#include "oracle/words.h"
#include "sim/machine/wgmma_order.h"

namespace tcq::oracle {
namespace {

using Kind = PtxOperand::Kind;
using wgmma::RegisterRange;

// --- registers -------------------------------------------------------------------------------------

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

// Every register named in an operand; "{%f0..%f3}" stands for four.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  bool range = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "..") range = true;
    if (text[i] != '%') {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string name(text.substr(i, end - i));
    if (range && !names.empty()) {
      const auto [prefix, first] = split_number(names.back());
      const int last = split_number(name).second;
      for (int n = first + 1; n <= last && n - first < 1024; ++n)
        names.push_back(prefix + std::to_string(n));
    } else {
      names.push_back(name);
    }
    range = false;
    i = end;
  }
  return names;
}

// --- statements ------------------------------------------------------------------------------------

struct Step {
  std::size_t line = 0;
  std::string text;  // outlives the statement
  PtxStatement statement;
  std::string_view which;  // of wgmma: mma_async, fence, ...
};

bool is_wgmma(const Step& step, std::string_view which) {
  return step.statement.opcode == "wgmma" && step.which == which;
}

// The form of an mma_async that check found legal.
wgmma::Form form_of(const Step& step) {
  wgmma::Form form{};
  std::vector<Type> types;
  for (const std::string_view word : step.statement.qualifiers) {
    if (word == "sp") form.sparse = true;
    if (const auto shape = parse_shape(word)) form.n = shape->n;
    if (const auto type = parse_type(word)) types.push_back(*type);
  }
  form.d = types[0];
  form.a = types[1];
  form.b = types[2];
  if (step.statement.operands[1].kind == Kind::Vector) form.a_place = wgmma::Place::Registers;
  return form;
}

// Registers of wgmmas get consecutive numbers in the order of their names.
class Numbering {
 public:
  explicit Numbering(const std::vector<Step>& steps) {
    std::map<std::pair<std::string, int>, int> sorted;
    for (const Step& step : steps) {
      if (!is_wgmma(step, "mma_async")) continue;
      for (const PtxOperand& operand : step.statement.operands)
        if (operand.kind == Kind::Vector)
          for (const std::string& name : names_in(operand.text)) sorted[split_number(name)] = 0;
    }
    if (sorted.size() > 256)
      throw UnmodelledError(fmt::format(
          "the wgmmas of this stream use {} registers: only 256 are modelled", sorted.size()));
    int next = 0;
    for (auto& [key, number] : sorted) {
      number = next++;
      const std::string digits = key.second < 0 ? "" : std::to_string(key.second);
      numbers_[key.first + digits] = number;
      names_.push_back(key.first + digits);
    }
  }

  // The range of a vector; nothing if its registers are not numbered one after the other.
  std::optional<RegisterRange> range(const PtxOperand& vector) const {
    RegisterRange range;
    for (const std::string& name : names_in(vector.text)) {
      const int number = numbers_.at(name);
      if (range.count == 0) range.first = number;
      if (number != range.first + range.count) return std::nullopt;
      ++range.count;
    }
    return range;
  }
  int number(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
  }
  const std::string& name(int number) const { return names_[static_cast<std::size_t>(number)]; }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> names_;
};

// --- the run ---------------------------------------------------------------------------------------

const char* cure(Fault fault) {
  switch (fault) {
    case Fault::WgmmaFenceMissing:
    case Fault::WgmmaShapeChange: return "put wgmma.fence.sync.aligned before this line";
    case Fault::WgmmaUncommitted:
      return "put wgmma.commit_group.sync.aligned behind the wgmma and a wait before this line";
    case Fault::AccumulatorInFlight:
    case Fault::FragmentInFlight:
      return "put a wgmma.wait_group.sync.aligned that covers it before this line";
    case Fault::RegisterUninitialized: return "take scale-d 0 on the first step, or zero it first";
    case Fault::WgmmaSerialized: return "give it registers of its own";
    case Fault::WaitForNothing: return "delete the wait";
    case Fault::FenceUnneeded: return "delete the fence";
    case Fault::WaitTooStrong: return "wait for one group less";
    default: return "";
  }
}

class Run {
 public:
  Run(const std::vector<Step>& steps, const Numbering& numbers)
      : steps_(steps), numbers_(numbers) {}

  // `skip` leaves a fence out, `weaker` lets a wait leave one group more in flight.
  std::vector<EmissionFinding> run(std::size_t skip = none, std::size_t weaker = none) {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (i != skip) step(i, i == weaker ? 1 : 0);
    end();
    return std::move(findings_);
  }
  static constexpr std::size_t none = ~std::size_t{0};

 private:
  void step(std::size_t i, int more_pending) {
    const Step& s = steps_[i];
    const auto at = static_cast<std::uint32_t>(i);
    if (is_wgmma(s, "fence")) return note(i, order_.fence(at));
    if (is_wgmma(s, "commit_group")) return note(i, order_.commit(at));
    if (is_wgmma(s, "wait_group"))
      return note(i, order_.wait(static_cast<int>(std::min<std::int64_t>(
                                     s.statement.operands[0].value, 1 << 20)) +
                                     more_pending,
                                 at));
    if (is_wgmma(s, "mma_async")) return mma(i);
    other(i);
  }

  void mma(std::size_t i) {
    const PtxStatement& statement = steps_[i].statement;
    wgmma::MmaRegisters registers{form_of(steps_[i]), {}, {}, {}, true};
    const auto d = numbers_.range(statement.operands[0]);
    const bool a_in_registers = statement.operands[1].kind == Kind::Vector;
    const auto a = a_in_registers ? numbers_.range(statement.operands[1])
                                  : std::optional<RegisterRange>(RegisterRange{});
    if (!d || !a) {
      add(i, Fault::None, "registers of a vector that are not numbered upwards are not followed");
      return;
    }
    registers.d = *d;
    registers.a = *a;
    const PtxOperand& scale_d = statement.operands[registers.form.sparse ? 5 : 3];
    // An unknown predicate may well be false: nothing is said about the first step then.
    registers.accumulate = scale_d.kind == Kind::Immediate && scale_d.value != 0;
    note(i, order_.mma(registers, static_cast<std::uint32_t>(i)));
  }

  // First operand written, the others read; stores and the like only read.
  void other(std::size_t i) {
    const PtxStatement& statement = steps_[i].statement;
    static constexpr std::string_view readers[] = {
        "st", "red", "bar", "barrier", "cp", "bra", "mbarrier", "fence", "ret", "stmatrix"};
    const bool only_reads =
        std::find(std::begin(readers), std::end(readers), statement.opcode) != std::end(readers);
    for (std::size_t k = statement.operands.size(); k-- > 0;) {
      const bool writes = k == 0 && !only_reads && statement.operands[0].text.front() != '[';
      for (const std::string& name : names_in(statement.operands[k].text)) {
        const int number = numbers_.number(name);
        if (number < 0) continue;
        const RegisterRange range{number, 1};
        const auto at = static_cast<std::uint32_t>(i);
        note(i, writes ? order_.write(range, at) : order_.read(range, at));
      }
    }
  }

  void end() {
    if (steps_.empty() || !order_.uncommitted()) {
      if (!steps_.empty() && order_.completed() < order_.committed())
        add(steps_.size() - 1, Fault::None, "the stream ends with groups in flight");
      return;
    }
    add(steps_.size() - 1, Fault::None, "the stream ends with wgmmas that are in no group");
  }

  void note(std::size_t i, const wgmma::OrderFault& found) {
    if (found.fault == Fault::None) return;
    std::string text = info(found.fault).sentence;
    if (found.reg >= 0) text += fmt::format("; {}", numbers_.name(found.reg));
    if (found.has_earlier) text += fmt::format("; line {}", steps_[found.earlier].line);
    add(i, found.fault, text + "; " + cure(found.fault));
  }

  void add(std::size_t i, Fault fault, std::string text) {
    const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const auto& f) {
      return f.line == steps_[i].line && f.fault == fault;
    });
    if (!known) findings_.push_back({steps_[i].line, fault, std::move(text)});
  }

  const std::vector<Step>& steps_;
  const Numbering& numbers_;
  wgmma::Order order_;
  std::vector<EmissionFinding> findings_;
};

// --- what could go ---------------------------------------------------------------------------------

bool touches_memory(const Step& step) {
  const std::string_view opcode = step.statement.opcode;
  return opcode == "mbarrier" || opcode == "st" || opcode == "cp" || opcode == "bar" ||
         opcode == "barrier" || opcode == "stmatrix";
}

// Only where registers alone decide: shared memory may be what a wait protects.
void find_slow(const std::vector<Step>& steps, const Numbering& numbers,
               std::vector<EmissionFinding>& findings) {
  constexpr std::size_t most_tries = 200;
  if (!findings.empty() || std::any_of(steps.begin(), steps.end(), touches_memory)) return;
  std::size_t tries = 0;
  for (std::size_t i = 0; i < steps.size() && tries < most_tries; ++i) {
    const bool fence = is_wgmma(steps[i], "fence");
    if (!fence && !is_wgmma(steps[i], "wait_group")) continue;
    ++tries;
    Run run(steps, numbers);
    const bool right = fence ? run.run(i).empty() : run.run(Run::none, i).empty();
    const Fault fault = fence ? Fault::FenceUnneeded : Fault::WaitTooStrong;
    if (right)
      findings.push_back(
          {steps[i].line, fault, fmt::format("{}; {}", info(fault).sentence, cure(fault))});
  }
}

bool is_directive(std::string_view text) {
  return text.starts_with('.') || text == "{" || text == "}" || text.ends_with(':');
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::vector<EmissionFinding> check_emission(std::span<const std::string> lines, Target target) {
  if (lines.size() > max_emission_lines)
    throw UsageError(fmt::format("the stream has {} lines: expected at most {}", lines.size(),
                                 max_emission_lines));
  std::vector<EmissionFinding> findings;
  std::vector<Step> steps;
  steps.reserve(lines.size());
  bool branched = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    steps.push_back({i + 1, std::string(trimmed(without_comments(lines[i]))), {}, {}});
    Step& step = steps.back();
    std::string why;
    const bool skipped = step.text.empty() || is_directive(step.text);
    const auto statement = skipped ? std::nullopt : parse_statement(step.text, why);
    const bool legal = statement && (statement->opcode != "wgmma" || [&] {
                         const Refusal found = check_statement(step.text, target);
                         if (found.refused) findings.push_back({i + 1, found.fault, found.text});
                         return !found.refused;
                       }());
    if (!skipped && !statement) findings.push_back({i + 1, Fault::StatementMalformed, why});
    if (!legal || statement->opcode.empty()) {
      branched = branched || (skipped && step.text.ends_with(':'));
      steps.pop_back();
      continue;
    }
    branched = branched || statement->opcode == "bra";
    step.statement = *statement;
    if (!step.statement.qualifiers.empty()) step.which = step.statement.qualifiers[0];
  }
  const Numbering numbers(steps);
  std::vector<EmissionFinding> order = Run(steps, numbers).run();
  if (!branched && findings.empty()) find_slow(steps, numbers, order);
  findings.insert(findings.end(), order.begin(), order.end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& x, const auto& y) { return x.line < y.line; });
  if (branched)
    findings.push_back({lines.size(), Fault::None, "branches were read as straight-line code"});
  return findings;
}

namespace {

std::string kind_of(const EmissionFinding& f) {
  return f.fault == Fault::None ? "note" : name(info(f.fault).kind);
}

std::string name_of(const EmissionFinding& f) {
  return f.fault == Fault::None ? "" : fmt::format("{}: ", info(f.fault).name);
}

}  // namespace

Answer emission_stream(const Question& question, std::span<const std::string> lines) {
  const auto findings = check_emission(lines, target_of(question));
  Answer answer;
  std::vector<std::string> parts;
  for (const EmissionFinding& f : findings) {
    const FaultKind kind = info(f.fault).kind;
    if (kind == FaultKind::Illegal || kind == FaultKind::Undefined) answer.status = Status::No;
    parts.push_back(
        json_object({{"line", std::to_string(f.line)},
                     {"kind", json_string(kind_of(f))},
                     {"fault", json_string(f.fault == Fault::None ? "" : info(f.fault).name)},
                     {"text", json_string(f.text)}}));
    if (!answer.text.empty()) answer.text += "\n";
    answer.text += fmt::format("{}\t{}\t{}{}", f.line, kind_of(f), name_of(f), f.text);
  }
  if (question.options.style == Style::Json) answer.text = json_array(parts);
  return answer;
}

}  // namespace tcq::oracle
