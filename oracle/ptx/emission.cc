#include "oracle/ptx/emission.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/explain/explain.h"
#include "oracle/ptx/emission_program.h"
#include "oracle/ptx/emission_proxy.h"
#include "oracle/ptx/emission_statements.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/quoted_asm.h"
#include "sim/async/wgmma_order.h"
#include "sim/ptx/decode.h"

namespace tcq::oracle {
namespace {

using Kind = EmissionStep::Kind;
using Steps = std::vector<EmissionStep>;
using Block = EmissionBlock;
using wgmma::ListOrder;

// --- what ptxas says ---------------------------------------------------------------------------------

// Its messages about this Fault. Straight code it repairs where it can, which is what C7517 and C7519
// say (explain/errata.md); with branches any of them may come.
std::string ptxas_part(Fault fault, bool is_straight) {
  std::string repairs, all;
  for (const PtxasMessage& message : ptxas_messages()) {
    if (std::ranges::find(message.faults, fault) == message.faults.end()) continue;
    std::string& codes = message.effect.starts_with("injects") ? repairs : all;
    codes += (codes.empty() ? "" : ", ") + message.code;
  }
  if (!repairs.empty() && !all.empty() && !is_straight) all += ", ";
  const std::string codes = is_straight && !repairs.empty() ? repairs : all + repairs;
  return codes.empty() ? "" : "; ptxas may say " + codes;
}

// --- the run ---------------------------------------------------------------------------------------

class Run {
 public:
  explicit Run(const EmissionProgram& program)
      : program_(program), steps_(program.steps), blocks_(program.blocks) {
    for (const EmissionStep& step : steps_) oldest_ = std::max(oldest_, step.pending + 1);
  }
  static constexpr std::size_t none = ~std::size_t{0};

  // `skip` leaves a fence out, `weaker` lets a wait leave one group more in flight.
  std::vector<EmissionFinding> run(std::size_t skip = none, std::size_t weaker = none) {
    skip_ = skip;
    weaker_ = weaker;
    if (too_large())
      return {{program_.last_line, Fault::None, FaultKind::Unmodelled,
               "too many paths for so many registers: not followed"}};
    arrive(0, program_.is_called ? unknown() : begin());
    if (program_.goes_anywhere)
      for (std::size_t block = 0; block < blocks_.size(); ++block) arrive(block, unknown());
    while (!pending_.empty()) {
      auto next = pending_.extract(pending_.begin());
      follow(next.key(), std::move(next.mapped()));
    }
    return std::move(findings_);
  }

 private:
  ListOrder begin() const {
    ListOrder order(std::vector<wgmma::RegisterState>(program_.registers.size()));
    if (!program_.is_straight) order.normalise(oldest_);
    return order;
  }
  // Anything may have happened: nothing is concluded until the next wgmma.
  ListOrder unknown() const {
    std::vector<wgmma::RegisterState> registers(program_.registers.size());
    for (wgmma::RegisterState& r : registers) r.written = true;
    ListOrder order(std::move(registers));
    order.fence(0);
    order.normalise(oldest_);
    return order;
  }

  bool too_large() const {
    constexpr std::size_t most_states = 8'000'000;  // of registers, at the blocks where paths meet
    const auto meet = static_cast<std::size_t>(std::count_if(
        blocks_.begin(), blocks_.end(), [](const Block& block) { return block.arrivals > 1; }));
    return meet > most_states / std::max<std::size_t>(program_.registers.size(), 1);
  }

  // Where paths meet, the state allows for all of them.
  void arrive(std::size_t block, ListOrder order) {
    if (blocks_[block].arrivals > 1 || program_.goes_anywhere) {
      const auto met = met_.find(block);
      if (met == met_.end()) {
        met_.emplace(block, order);
      } else {
        if (!met->second.join(order)) return;
        order = met->second;
      }
    }
    pending_.insert_or_assign(block, std::move(order));
  }

  void follow(std::size_t index, ListOrder order) {
    const Block& block = blocks_[index];
    for (std::size_t i = block.first; i < block.last; ++i)
      if (i != skip_) step(order, i);
    const bool at_end = block.first != block.last && steps_[block.last - 1].kind == Kind::End;
    if (at_end) end(order, steps_[block.last - 1]);
    if (block.next.empty()) return;
    if (!program_.is_straight) order.normalise(oldest_);
    for (std::size_t i = 0; i + 1 < block.next.size(); ++i) arrive(block.next[i], order);
    arrive(block.next.back(), std::move(order));
  }

  void step(ListOrder& order, std::size_t i) {
    const EmissionStep& s = steps_[i];
    const auto at = static_cast<std::uint32_t>(i);
    switch (s.kind) {
      case Kind::Fence: note(i, order.fence(at)); return;
      case Kind::Commit: note(i, order.commit(at)); return;
      case Kind::Wait: note(i, order.wait(s.pending + (i == weaker_ ? 1 : 0), at)); return;
      case Kind::Mma: return mma(order, i);
      case Kind::Access: return s.guarded ? maybe_access(order, i) : access(order, i);
      case Kind::Unknown: order = unknown(); return;
      default: return;
    }
  }

  // Behind a fault the cure is taken as done, so that each is told once.
  void mma(ListOrder& order, std::size_t i) {
    const EmissionStep& s = steps_[i];
    wgmma::MmaLists lists{s.form, s.d, s.a, s.metadata, s.accumulate};
    for (int tries = 0; tries < 4; ++tries) {
      const wgmma::OrderFault found = order.mma(lists, static_cast<std::uint32_t>(i));
      note(i, found);
      if (found.fault == Fault::None || found.fault == Fault::WgmmaSerialized) return;
      if (is_metadata(found)) {
        lists.metadata = {};
        continue;
      }
      if (found.fault == Fault::RegisterUninitialized) lists.accumulate = false;
      cure_state(order, found.fault);
    }
  }

  static void cure_state(ListOrder& order, Fault fault) {
    if (fault == Fault::WgmmaUncommitted) order.commit(0);
    if (fault == Fault::WgmmaFenceMissing || fault == Fault::WgmmaShapeChange)
      order.fence(0);
    else if (fault != Fault::RegisterUninitialized)
      order.wait(0, 0);
  }

  void access(ListOrder& order, std::size_t i) {
    const EmissionStep& s = steps_[i];
    const auto at = static_cast<std::uint32_t>(i);
    for (const bool writes : {false, true}) {
      for (int tries = 0; tries < 3; ++tries) {
        const auto& registers = writes ? s.writes : s.reads;
        const auto found = writes ? order.write(registers, at) : order.read(registers, at);
        note(i, found);
        const bool stays = found.fault == Fault::RegisterUninitialized || is_metadata(found);
        if (found.fault == Fault::None || stays) break;
        cure_state(order, found.fault);
      }
    }
    if (s.releases && order.owns_registers())
      add(i, Fault::None,
          "shared memory that a wgmma in flight may still read: not followed, here it may be "
          "written or handed on");
  }

  // Of what fence and wait promise the manual speaks of accumulators and fragments of A only.
  bool is_metadata(const wgmma::OrderFault& found) const {
    return found.reg >= 0 && found.fault != Fault::RegisterUninitialized &&
           program_.is_metadata[static_cast<std::size_t>(found.reg)];
  }

  void maybe_access(ListOrder& order, std::size_t i) {
    order.normalise(oldest_);
    ListOrder other = order;
    access(other, i);
    other.normalise(oldest_);
    order.join(other);
  }

  void end(const ListOrder& order, const EmissionStep& step) {
    if (!order.owns_registers() || step.aborts) return;
    const char* text = order.uncommitted()
                           ? "the stream ends with wgmmas that are in no group: not followed"
                           : "the stream ends with groups in flight: not followed";
    if (seen_.emplace(step.line, Fault::None).second)
      findings_.push_back({step.line, Fault::None, FaultKind::Unmodelled, text});
  }

  void note(std::size_t i, const wgmma::OrderFault& found) {
    if (found.fault == Fault::None) return;
    if (is_metadata(found))
      return add(i, Fault::None,
                 fmt::format("whether wgmma.fence and wait_group order sp-meta ({}): not followed",
                             program_.registers[static_cast<std::size_t>(found.reg)]));
    std::string text = info(found.fault).sentence;
    if (found.reg >= 0)
      text += fmt::format("; {}", program_.registers[static_cast<std::size_t>(found.reg)]);
    FixPlaces places = {.at = "this line"};
    if (found.has_earlier) places.earlier = fmt::format("line {}", steps_[found.earlier].line);
    if (found.has_earlier) text += "; " + places.earlier;
    text += "; " + fix_at(found.fault, places);
    if (!program_.is_loose) text += ptxas_part(found.fault, program_.is_straight);
    add(i, found.fault, std::move(text));
  }

  void add(std::size_t i, Fault fault, std::string text) {
    const FaultKind kind = fault == Fault::None ? FaultKind::Unmodelled : info(fault).kind;
    if (seen_.emplace(steps_[i].line, fault).second)
      findings_.push_back({steps_[i].line, fault, kind, std::move(text)});
  }

  const EmissionProgram& program_;
  const Steps& steps_;
  const std::vector<Block>& blocks_;
  int oldest_ = 1;
  std::size_t skip_ = none;
  std::size_t weaker_ = none;
  std::map<std::size_t, ListOrder> met_;
  std::map<std::size_t, ListOrder> pending_;
  std::set<std::pair<std::size_t, Fault>> seen_;
  std::vector<EmissionFinding> findings_;
};

// --- what could go ---------------------------------------------------------------------------------

// Only where registers alone decide: shared memory may be what a wait protects.
void find_slow(const EmissionProgram& program, std::vector<EmissionFinding>& findings) {
  constexpr std::size_t most_tries = 200;
  constexpr std::size_t most_steps = 20'000'000;
  const Steps& steps = program.steps;
  if (!program.has_wgmma || !program.is_straight ||
      std::any_of(steps.begin(), steps.end(),
                  [](const EmissionStep& s) { return s.releases || s.guarded; }))
    return;
  std::size_t tries = 0;
  for (std::size_t i = 0; i < steps.size() && tries < most_tries; ++i) {
    const bool fence = steps[i].kind == Kind::Fence;
    if (!fence && steps[i].kind != Kind::Wait) continue;
    if (++tries * steps.size() > most_steps) return;
    Run run(program);
    const bool right = fence ? run.run(i).empty() : run.run(Run::none, i).empty();
    const Fault fault = fence ? Fault::FenceUnneeded : Fault::WaitTooStrong;
    if (right)
      findings.push_back(
          {steps[i].line, fault, info(fault).kind,
           fmt::format("{}; {}", info(fault).sentence, fix_at(fault, {.at = "this line"}))});
  }
}

void check_program(const EmissionProgram& program, bool whole,
                   std::vector<EmissionFinding>& findings) {
  if (program.is_called && program.has_wgmma)
    findings.push_back({program.steps.front().line, Fault::None, FaultKind::Unmodelled,
                        "wgmma in a .func, behind what its callers did: not followed"});
  std::vector<EmissionFinding> order = Run(program).run();
  if (whole && order.empty()) find_slow(program, order);
  findings.insert(findings.end(), order.begin(), order.end());
}

void add_source(EmissionFinding& finding, const SourceLines& sources) {
  const auto behind = sources.upper_bound(finding.line);
  if (behind == sources.begin()) return;
  const std::string& place = std::prev(behind)->second;
  if (!place.empty()) finding.text += "; source " + place;
}

}  // namespace

std::vector<EmissionFinding> check_emission(std::span<const std::string> lines,
                                            std::optional<Target> target) {
  if (lines.size() > max_emission_lines)
    throw UsageError(fmt::format("the stream has {} lines: expected at most {}", lines.size(),
                                 max_emission_lines));
  QuotedAsm quoted;
  std::string text;
  for (const std::string& line : lines) text += quoted.line(line) + "\n";
  const ptx::Program decoded =
      ptx::load(text, {.loose = true, .most_diagnostics = ~std::size_t{0}});
  std::vector<EmissionFinding> findings;
  const EmissionStatements statements = judge_statements(decoded, target, findings);
  std::vector<EmissionProgram> programs;
  for (const ptx::Code& code : decoded.functions)
    programs.push_back(emission_program(decoded, code, statements, findings));
  const bool whole = findings.empty();
  for (const EmissionProgram& program : programs) check_program(program, whole, findings);
  for (const ptx::Code& code : decoded.functions) find_proxy(decoded, code, findings);
  const bool any = std::any_of(programs.begin(), programs.end(),
                               [](const EmissionProgram& p) { return p.has_wgmma; });
  if (!any)
    findings.push_back({std::max<std::size_t>(lines.size(), 1), Fault::None, FaultKind::Unmodelled,
                        "there is no wgmma.mma_async that could be followed"});
  for (EmissionFinding& finding : findings) add_source(finding, statements.sources);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& x, const auto& y) { return x.line < y.line; });
  return findings;
}

namespace {

std::string name_of(const EmissionFinding& f) {
  return f.fault == Fault::None ? "" : fmt::format("{}: ", info(f.fault).name);
}

Value value_of(const EmissionFinding& f) {
  return Value::Members{{"line", f.line},
                        {"kind", name(f.kind)},
                        {"fault", f.fault == Fault::None ? "" : info(f.fault).name},
                        {"text", f.text}};
}

// A fault wins over what is not followed.
Status status_of(const std::vector<EmissionFinding>& findings) {
  Status status = Status::Yes;
  for (const EmissionFinding& f : findings) {
    if (f.kind == FaultKind::Illegal || f.kind == FaultKind::Undefined) return Status::No;
    if (f.kind == FaultKind::Unmodelled) status = Status::Unmodelled;
  }
  return status;
}

}  // namespace

Answer emission_stream(const Question& question, std::span<const std::string> lines) {
  const std::string& arch = question.options.arch;
  const auto findings =
      check_emission(lines, arch.empty() ? std::nullopt : std::optional(parse_target(arch)));
  Answer answer;
  answer.status = status_of(findings);
  if (question.options.style == Style::Json) {
    answer.text =
        json_text(list_of(findings, [](const EmissionFinding& f) { return value_of(f); }));
    return answer;
  }
  for (const EmissionFinding& f : findings)
    answer.text += fmt::format("{}{}\t{}\t{}{}", answer.text.empty() ? "" : "\n", f.line,
                               name(f.kind), name_of(f), f.text);
  return answer;
}

}  // namespace tcq::oracle
