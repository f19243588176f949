#include "oracle/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <cstdlib>

#include "oracle/answer/value.h"
#include "oracle/diagnosis/barrier_story.h"
#include "oracle/diagnosis/instruction_text.h"
#include "oracle/diagnosis/tensor_memory_story.h"
#include "oracle/explain/explain.h"

namespace tcq::oracle {

using namespace machine;

namespace {

const char* verb_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::Load: return "reads";
    case AccessKind::Store: return "writes";
    case AccessKind::BarrierInit: return "initialises";
    case AccessKind::CopyRead: return "reads";
    case AccessKind::CopyWrite: return "writes";
    case AccessKind::CopyReduce: return "reduces";
    case AccessKind::WgmmaRead: return "reads";
    case AccessKind::Tcgen05Read: return "reads";
  }
  return "?";
}

const char* past_of(AccessKind kind) {
  return is_write(kind) ? (kind == AccessKind::BarrierInit ? "initialised" : "wrote") : "read";
}

const char* proxy_of(AccessKind kind) { return is_async(kind) ? "async" : "generic"; }

std::string registers_text(wgmma::RegisterRange r) {
  return r.count == 1 ? fmt::format("register {}", r.first)
                      : fmt::format("registers {} to {}", r.first, r.first + r.count - 1);
}

// What the wgmma that found a scrambled operand says of it.
Major major_of(const Program& program, const Finding& f) {
  const Statement& statement = program.statement(static_cast<std::size_t>(f.at.statement));
  const wgmma::Form& form = std::get<WgmmaMma>(statement.what).op.form;
  return f.number == 0 ? form.major_a : form.major_b;
}

// --- what happened ---------------------------------------------------------------------------------

class Story {
 public:
  Story(const Program& program, const Finding& finding) : p_(program), f_(finding) {}

  std::string text() const {
    if (!f_.waiting.empty()) return waiting();
    if (f_.fault == Fault::ResultsDiffer)
      return fmt::format(
          "two executions leave different bytes in global memory, the first at {:#x}", f_.number);
    if (f_.at.statement < 0) return info(f_.fault).sentence;
    if (f_.map >= 0) return tensor_map();
    if (f_.fault == Fault::OperandScrambled) return scrambled();
    if (is_about_tensor_memory(f_)) return tensor_memory_story(p_, f_);
    if (f_.earlier.statement >= 0 && f_.bytes.end != 0) return conflict();
    if (f_.registers.count > 0) return registers();
    std::string text = at() + ": " + info(f_.fault).sentence;
    if (f_.bytes.end != 0) text += "; " + bytes();
    return text + number() + why();
  }

 private:
  std::string at() const { return place_text(p_, f_.at); }
  std::string earlier() const { return place_text(p_, f_.earlier); }

  std::string bytes() const {
    if (f_.cta == global_memory)
      return fmt::format("global memory [{:#x},{:#x})", f_.bytes.begin, f_.bytes.end);
    const std::string text = bytes_text(p_, f_.bytes);
    return p_.launch().cluster > 1 ? fmt::format("{} of CTA {}", text, f_.cta) : text;
  }

  std::string number() const {
    switch (f_.fault) {
      case Fault::MbarrierArrivals: return fmt::format("; a phase expects {}", f_.number);
      case Fault::CopyRepeated: return fmt::format("; {} lanes issue it", f_.number);
      case Fault::BarrierMismatch: return fmt::format("; it is in use for {} threads", f_.number);
      case Fault::SetmaxnregDirection:
        return fmt::format("; the warp holds {} registers", f_.number);
      case Fault::MbarrierTxCount: return fmt::format("; tx-count was {}", f_.number);
      case Fault::WarpgroupDivergent:
        return f_.number > 0 ? fmt::format("; warp {} does not", f_.number) : "";
      case Fault::CancelAfterRefusal:
        return fmt::format("; {} found that one failed", place_text(p_, f_.hint));
      case Fault::FirstCtaUndefined:
      case Fault::ShuffleSourceInactive:
      case Fault::LocalUninitialized:
      case Fault::SharedUninitialized:
      case Fault::UninitializedAssumed:
        return f_.hint.statement >= 0
                   ? fmt::format("; {} depends on what it found", place_text(p_, f_.hint))
                   : "";
      default: return "";
    }
  }

  std::string conflict() const {
    const std::string what = bytes();
    switch (f_.fault) {
      case Fault::MbarrierNotInitialized:
        return fmt::format("{} uses mbarrier {}, and nothing orders it behind {}", at(), what,
                           earlier());
      case Fault::MbarrierNotVisible:
        return fmt::format(
            "{} uses mbarrier {} of another CTA; {} was followed by no "
            "fence.mbarrier_init before its thread synchronised with this one",
            at(), what, earlier());
      case Fault::MbarrierInitUnfenced:
        return fmt::format(
            "{} completes on mbarrier {} through the async proxy; {} initialised it through the "
            "generic proxy, and neither fence.mbarrier_init nor fence.proxy.async follows in its "
            "thread",
            at(), what, earlier());
      default: break;
    }
    std::string text = fmt::format("{} {} {} through the {} proxy; {} {} it through the {} proxy",
                                   at(), verb_of(f_.at_kind), what, proxy_of(f_.at_kind), earlier(),
                                   past_of(f_.earlier_kind), proxy_of(f_.earlier_kind));
    return text + why();
  }

  std::string why() const {
    switch (f_.fault) {
      case Fault::ProxyFenceMissing:
        return " and its thread has executed no fence.proxy.async since";
      case Fault::ProxyFenceMissingAfterRead:
        return ", and no fence.proxy.async stands between the two";
      case Fault::ProxyFenceMissingCopied:
        return ", and it was waited for as copies of cp.async are, but no fence.proxy.async stands "
               "between the two";
      case Fault::ProxyFenceMissingAcquired:
        return " and released it, and no fence.proxy.async stands between the two";
      case Fault::ProxyFenceMissingUsed:
        return " and has used the values, but no fence.proxy.async stands between the two";
      case Fault::ProxyFenceMissingPerformed:
        return " before a barrier of its CTA, and no fence.proxy.async stands between the two";
      case Fault::ProxyFenceByReader:
        return ", and only the thread that accesses the bytes has executed a fence.proxy.async "
               "since";
      case Fault::ReductionOrder: return ", and the result depends on which comes first";
      case Fault::ReadOnlyWritten:
      case Fault::ReadOnlyWrittenUncached:
        return ", and .nc says that nobody writes it while the kernel runs";
      case Fault::DataRace:
      case Fault::VectorPollAssumed:
      case Fault::UnchangedStoreRace:
      case Fault::AtomicRace: return ", and nothing orders the two";
      case Fault::SharedUninitialized:
        return f_.earlier.statement < 0
                   ? ""
                   : ", and nothing orders the two: the first may find what nothing has written";
      case Fault::WarpgroupOrderAssumed:
        return "; the writer executes a fence.proxy.async before its part of the wgmma, and no "
               "barrier "
               "orders the two warps";
      case Fault::UnreadStoresRace:
        return ", nothing orders the two, and nobody uses what they leave";
      case Fault::LaneRace: return ", and no bar.warp.sync orders the two lanes";
      case Fault::LaneOrderAssumed:
        return "; their lanes met in between at an instruction that orders no memory, or are "
               "volatile";
      case Fault::LaneReleaseMissing:
        return fmt::format("; {} releases for its own lane, and not for that one",
                           place_text(p_, f_.hint));
      case Fault::LaneAcquireMissing:
        return fmt::format("; {} waits in another lane, and nothing orders the two",
                           place_text(p_, f_.hint));
      case Fault::LaneStoresDiffer: return ", in one store and with another value";
      case Fault::CopyInFlight: return " and may still be writing";
      case Fault::SourceInFlight: return " and may still be reading";
      case Fault::ExpectTxTooSmall:
        return "; the phase its bytes belong to completed before they had landed";
      case Fault::PhaseStale:
        return fmt::format("; {} passed, but on a phase that tells nothing of it",
                           place_text(p_, f_.hint));
      case Fault::ScopeTooNarrow:
      case Fault::ScopeAssumed:
        return fmt::format("; {} has scope .cta, which does not reach another CTA",
                           place_text(p_, f_.hint));
      case Fault::ReleaseMissing:
      case Fault::ReleaseAssumed:
        return fmt::format("; {} counts, but releases nothing", place_text(p_, f_.hint));
      case Fault::AcquireAssumed:
        return fmt::format(
            "; before {} a relaxed load or atomic has seen that, and no fence follows it",
            place_text(p_, f_.hint));
      case Fault::MemoryFenceMissing:
        return fmt::format(
            "; another word told of that, and no fence or {}: the load may find what was there "
            "before",
            f_.number != 0 ? ".acquire stands behind the look that found it"
                           : ".release stands between the two writes");
      case Fault::PerformedAssumed:
        return " before a barrier of its CTA, and only a relaxed write behind that tells of it";
      case Fault::AcquireMissing:
        return fmt::format("; {} waits, but acquires nothing", place_text(p_, f_.hint));
      case Fault::MbarrierOverwritten: return ": a live mbarrier is no data";
      default: return "";
    }
  }

  std::string tensor_map() const {
    const Statement& statement = p_.statement(static_cast<std::size_t>(f_.at.statement));
    const bool patches = std::holds_alternative<TensormapReplace>(statement.what);
    const std::string& map = p_.map_name(f_.map);
    if (f_.fault == Fault::TensormapInUse || f_.fault == Fault::TensormapDrainAssumed)
      return fmt::format("{} patches {}, and {} may still read it: the patching thread knows of {}",
                         at(), map, earlier(),
                         f_.fault == Fault::TensormapInUse
                             ? "no wait for that copy"
                             : "a wait for bulk groups, in which that copy is not");
    return fmt::format("{} {} {}; {} patched it{}", at(), patches ? "patches" : "uses", map,
                       earlier(), why_not_patched(map));
  }

  std::string why_not_patched(const std::string& map) const {
    if (f_.fault == Fault::DataRace) return ", and nothing orders the two";
    if (f_.fault == Fault::ScopeTooNarrow)
      return f_.hint.statement >= 0
                 ? fmt::format("; {} has scope .cta, which does not reach another CTA",
                               place_text(p_, f_.hint))
                 : std::string("; the wait between them acquires at scope .cta only");
    if (f_.missing == TensormapFence::Release)
      return " and its thread has executed no fence.proxy.tensormap::generic.release since";
    return fmt::format(
        ", and the thread that copies has executed no fence.proxy.tensormap::generic.acquire [{}] "
        "since it was ordered behind the release",
        map);
  }

  std::string scrambled() const {
    const Scrambled& s = f_.scrambled;
    return fmt::format(
               "{}: element ({}, {}) of {} is read from byte {:#x}, which holds row {}, column {} "
               "of the "
               "tensor; its neighbours say row {}, column {}",
               at(), s.mn, s.k, f_.number == 0 ? 'A' : 'B', s.address, s.found.row, s.found.col,
               s.expected.row, s.expected.col) +
           major();
  }

  std::string major() const {
    if (!f_.scrambled.other_major_fits) return "";
    const bool says_k = major_of(p_, f_) == Major::K;
    return fmt::format("; operand is stored {}-major but the immediate says {}-major",
                       says_k ? "MN" : "K", says_k ? "K" : "MN");
  }

  std::string registers() const {
    const std::string which = registers_text(f_.registers);
    if (f_.earlier.statement < 0)
      return fmt::format("{}: {} ({})", at(), info(f_.fault).sentence, which);
    const char* relation = f_.fault == Fault::WgmmaFenceMissing  ? "was touched by"
                           : f_.fault == Fault::WgmmaShapeChange ? "is the accumulator of"
                                                                 : "belongs to";
    std::string text = fmt::format("{}: {} {} {}", at(), which, relation, earlier());
    switch (f_.fault) {
      case Fault::WgmmaFenceMissing: return text + ", with no wgmma.fence in between";
      case Fault::WgmmaShapeChange:
        return text + ", whose shape is another, with no wgmma.fence in between";
      case Fault::WgmmaUncommitted:
        return text + ", which no wgmma.commit_group has put into a group: no wait covers it";
      case Fault::WgmmaSerialized:
        return text + ", which overlaps it in part: ptxas serialises them (C7511)";
      default:
        return text +
               fmt::format(", in flight in group {}: no wait_group has covered it", f_.number + 1);
    }
  }

  std::string waiting() const {
    return info(f_.fault).sentence + waiting_text(p_, f_) + tensor_memory_of_deadlock(p_, f_);
  }

  const Program& p_;
  const Finding& f_;
};

// --- what to do ------------------------------------------------------------------------------------

// Empty: the finding has no such place.
std::string known_line(const Program& program, const Place& place) {
  if (place.statement < 0) return "";
  return line_text(program.statement(static_cast<std::size_t>(place.statement)));
}

std::string line_of(const Program& program, const Place& place) {
  return place.statement < 0 ? "it" : known_line(program, place);
}

std::string fix_of_tensor_map(const Program& program, const Finding& f) {
  const std::string at = line_of(program, f.at);
  const std::string earlier = line_of(program, f.earlier);
  if (f.fault == Fault::ScopeTooNarrow)
    return "give both tensormap fences, and what orders them, a scope that reaches both CTAs";
  if (f.missing == TensormapFence::Release)
    return fmt::format(
        "put fence.proxy.tensormap::generic.release.gpu behind {}, in every thread that patches, "
        "before what orders it before {}",
        earlier, at);
  return fmt::format(
      "put fence.proxy.tensormap::generic.acquire.gpu [{}], 128 before {}, in its thread, behind "
      "what orders it behind {}",
      program.map_name(f.map), at, earlier);
}

// cp.async and st.async are in flight in the generic proxy.
bool is_lane_copy(const Finding& f) {
  return f.earlier_kind == AccessKind::Store || f.earlier_kind == AccessKind::Load;
}
std::string fix_of_lane_copy(const std::string& earlier, const std::string& at) {
  return fmt::format(
      "let the threads that issued {} wait for it, with cp.async.wait_group or for the mbarrier "
      "that it completes, and "
      "order {} behind that wait",
      earlier, at);
}

bool is_between_ctas(const Program& program, const Finding& f) {
  const int warps = program.warps_per_cta();
  return f.cta == global_memory && f.at.warp / warps != f.earlier.warp / warps;
}

// What this program shows beyond the Fix of explain.h: which of its fences, waits and mbarriers it is
// about. Empty: nothing.
std::string fix_in_program(const Program& program, const Finding& f) {
  const std::string at = line_of(program, f.at);
  const std::string earlier = line_of(program, f.earlier);
  switch (f.fault) {
    case Fault::ProxyFenceMissing:
    case Fault::ProxyFenceMissingCopied:
    case Fault::ProxyFenceMissingUsed:
    case Fault::ProxyFenceMissingPerformed:
    case Fault::ProxyFenceMissingAcquired:
    case Fault::ProxyFenceByReader:
    case Fault::ProxyFenceMissingAfterRead:
      if (const std::string fence = narrow_fence(program, f.earlier); !fence.empty())
        return fmt::format("let every lane that executes {} execute the fence.proxy.async at {}",
                           earlier, fence);
      return "";
    case Fault::DataRace:
      if (!is_between_ctas(program, f)) return "";
      return fmt::format(
          "order {} behind {} in another CTA: behind that, __syncthreads() if several threads did "
          "it, a fence (__threadfence()) and an atomic; the thread whose atomic or load sees it "
          "executes a fence, and __syncthreads() lets the others go on",
          at, earlier);
    case Fault::AccumulatorInFlight:
    case Fault::FragmentInFlight:
      if (const std::string wait = weak_wait_before(program, f.earlier, f.at); !wait.empty())
        return fmt::format("{} leaves {} in flight: wait for a group fewer there, before {}", wait,
                           earlier, at);
      return "";
    case Fault::ExitInFlight:
    case Fault::ExitReadAssumed:
      if (const std::string wait = weak_wait_behind(program, f.at); !wait.empty())
        return fmt::format("{} leaves {} in flight: wait for it before the CTA exits", wait, at);
      return "";
    case Fault::CopyInFlight:
      if (is_lane_copy(f)) return fix_of_lane_copy(earlier, at);
      if (f.cta == global_memory)
        return fmt::format(
            "let the thread that issued {} wait for it with cp.async.bulk.wait_group, without "
            ".read, and order {} behind that wait",
            earlier, at);
      return fix_of_hand_over(program, f);
    case Fault::SourceInFlight:
      if (is_lane_copy(f)) return fix_of_lane_copy(earlier, at);
      if (f.cta == global_memory)
        return fmt::format("wait for the mbarrier that {} completes, and order {} behind that wait",
                           earlier, at);
      if (f.earlier_kind == AccessKind::Tcgen05Read)
        return fmt::format(
            "put tcgen05.commit behind {}, and wait on its mbarrier before the bytes are handed to "
            "{}",
            earlier, at);
      return fix_of_hand_over(program, f);
    case Fault::PhaseStale:
    case Fault::PhaseOverrun:
    case Fault::ExpectTxTooSmall: return fix_of_hand_over(program, f);
    case Fault::TensormapFenceMissing: return fix_of_tensor_map(program, f);
    case Fault::ScopeTooNarrow: return f.map >= 0 ? fix_of_tensor_map(program, f) : "";
    case Fault::MbarrierArrivals:
    case Fault::MbarrierNotInitialized: return fix_of_barrier(program, f);
    case Fault::Deadlock: {
      const std::string commit = fix_of_commit(program, f);
      return commit.empty() ? fix_of_deadlock(program, f) : commit;
    }
    case Fault::OperandScrambled:
      if (!f.scrambled.other_major_fits) return "";
      return fmt::format("write {} for imm-trans-{} of {}",
                         major_of(program, f) == Major::K ? 1 : 0, f.number == 0 ? 'a' : 'b', at);
    default: return "";
  }
}

}  // namespace

std::string what_happened(const Program& program, const Finding& finding) {
  return Story(program, finding).text();
}

std::string what_to_do(const Program& program, const Finding& f) {
  if (const std::string fix = fix_in_program(program, f); !fix.empty()) return fix;
  return fix_at(f.fault, {known_line(program, f.at), known_line(program, f.earlier),
                          known_line(program, f.hint), missing_wait(program, f)});
}

std::string diagnosis(const Program& program, const Finding& finding) {
  const FaultInfo about = info(finding.fault);
  std::string text =
      fmt::format("{} {}\n{}\n", name(about.kind), about.name, what_happened(program, finding));
  for (const std::string& line : barrier_lines(program, finding))
    text += fmt::format("mbarrier {}\n", line);
  if (const std::string fix = what_to_do(program, finding); !fix.empty())
    text += fmt::format("fix: {}\n", fix);
  return text + fmt::format("source: {}", about.source);
}

namespace {

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Right: return "right";
    case Outcome::Wrong: return "wrong";
    case Outcome::Refused: return "refused";
  }
  return "?";
}

std::string coverage(const Report& report) {
  const std::string counts =
      fmt::format("{} executions, {} instructions", report.executions, report.instructions);
  return report.exhaustive ? counts + ", every order that matters" : counts;
}

std::string refusal(const Report& report) {
  return fmt::format("{}: {}", info(report.refused.fault).sentence, report.refused.what);
}

Value value_of(const Program& program, const Finding& finding) {
  const FaultInfo about = info(finding.fault);
  Value::Members members = {{"fault", about.name},
                            {"kind", name(about.kind)},
                            {"what", what_happened(program, finding)},
                            {"fix", what_to_do(program, finding)},
                            {"source", about.source}};
  const auto add_place = [&](const char* key, const Place& place) {
    if (place.statement >= 0) members.push_back({key, place_text(program, place)});
  };
  add_place("at", finding.at);
  add_place("earlier", finding.earlier);
  add_place("hint", finding.hint);
  members.push_back({"mbarriers", list_of(barrier_lines(program, finding))});
  return members;
}

}  // namespace

std::string report_text(const Program& program, const Report& report) {
  if (report.outcome == Outcome::Refused) return "refused: " + refusal(report);
  std::string text = fmt::format("{}: {}", outcome_name(report.outcome), coverage(report));
  if (report.finding) text += "\n" + diagnosis(program, *report.finding);
  for (const Finding& f : report.suspicions) text += "\n" + diagnosis(program, f);
  return text;
}

std::string report_json(const Program& program, const Report& report) {
  Value::Members members = {{"outcome", outcome_name(report.outcome)},
                            {"executions", report.executions},
                            {"instructions", report.instructions},
                            {"exhaustive", report.exhaustive}};
  if (report.outcome == Outcome::Refused) members.push_back({"refused", refusal(report)});
  if (report.finding) members.push_back({"finding", value_of(program, *report.finding)});
  members.push_back({"suspicions", list_of(report.suspicions, [&](const Finding& f) {
                       return value_of(program, f);
                     })});
  return json_text(members);
}

}  // namespace tcq::oracle
