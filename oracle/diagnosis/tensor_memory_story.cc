#include "oracle/diagnosis/tensor_memory_story.h"

#include <fmt/format.h>

#include <string_view>

#include "oracle/diagnosis/instruction_text.h"

namespace tcq::oracle {

using namespace machine;

namespace {

std::string range_text(const char* what, int first, int count) {
  return count == 1 ? fmt::format("{} {}", what, first)
                    : fmt::format("{}s {}-{}", what, first, first + count - 1);
}

std::string cells_text(const Program& program, const Finding& f) {
  const std::string lanes = range_text("lane", f.tmem.first_lane, f.tmem.lanes);
  const std::string columns = range_text("column", f.tmem.first_column, f.tmem.columns);
  const std::string cells = f.tmem.lanes == tcgen05::tmem_lanes ? columns : lanes + ", " + columns;
  return program.launch().cluster > 1 ? fmt::format("{} of CTA {}", cells, f.cta) : cells;
}

const Instruction& instruction(const Program& program, const Place& place) {
  return program.statement(static_cast<std::size_t>(place.statement)).what;
}

// An instruction of a program that is written here, or the text of a compiled kernel's, whose opcode says what it is.
template <class What>
bool is(const Program& program, const Place& place, std::string_view opcode) {
  if (place.statement < 0) return false;
  const Instruction& what = instruction(program, place);
  const auto* text = std::get_if<KernelText>(&what);
  if (text == nullptr) return std::holds_alternative<What>(what);
  return text->words != nullptr && text->words->find(opcode) != std::string::npos;
}

const char* wait_for(const Program& program, const Place& transfer) {
  return is<Tcgen05Ld>(program, transfer, "tcgen05.ld.") ? "tcgen05.wait::ld" : "tcgen05.wait::st";
}

// The word for the pair, `mma -> ld`.
const char* action_text(const Program& program, const Place& place) {
  if (is<Tcgen05Mma>(program, place, "tcgen05.mma.")) return "mma";
  if (is<Tcgen05Cp>(program, place, "tcgen05.cp.")) return "cp";
  if (is<Tcgen05Shift>(program, place, "tcgen05.shift.")) return "shift";
  if (is<Tcgen05Ld>(program, place, "tcgen05.ld.")) return "ld";
  return is<Tcgen05St>(program, place, "tcgen05.st.") ? "st" : "dealloc";
}

std::string not_complete(const Program& program, const Finding& f) {
  if (f.hint.statement >= 0)
    return fmt::format("; {} does not track it: a commit tracks its own thread and cta_group only",
                       place_text(program, f.hint));
  return fmt::format(
      "; {} -> {} is not an ordered pair, and nothing says that the first is complete",
      action_text(program, f.earlier), action_text(program, f.at));
}

std::string lacking(const Program& program, const Finding& f) {
  switch (f.fault) {
    case Fault::TmemRace: return ", and nothing orders the two";
    case Fault::TmemWaitMissing:
      return fmt::format(
          " and may still be under way: no {} stands between. A use of its registers orders "
          "the value, not the release",
          wait_for(program, f.earlier));
    case Fault::TmemNotComplete: return not_complete(program, f);
    case Fault::TmemFenceBeforeMissing:
      return ", and its thread synchronised with no tcgen05.fence::before_thread_sync in front";
    case Fault::TmemFenceAfterMissing:
      return ", and no tcgen05.fence::after_thread_sync stands behind the synchronisation of the "
             "two";
    case Fault::TmemFenceOmitted:
      return ", and not both tcgen05 fences stand at the release and the acquire between them: "
             "CUTLASS's pipelines do without";
    case Fault::TmemWaitOmitted:
      return ", and no tcgen05.wait::ld stands between: every value was used, which CUTLASS's "
             "attention example relies on";
    case Fault::TmemOrderAssumed:
      return fmt::format(
          "; {} -> {} is not an ordered pair, and the first may still be under way. CUTLASS, "
          "DeepGEMM and FlashAttention-4 rely on the order of one thread or warp",
          action_text(program, f.earlier), action_text(program, f.at));
    case Fault::ScopeAssumed:
      return fmt::format("; {} has scope .cta, which does not reach another CTA",
                         place_text(program, f.hint));
    default: return "";
  }
}

std::string allocation_story(const Program& program, const Finding& f) {
  const std::string at = place_text(program, f.at);
  const std::string cells = cells_text(program, f);
  const std::string earlier =
      f.earlier.statement >= 0 ? place_text(program, f.earlier) : std::string();
  switch (f.fault) {
    case Fault::TmemFreed: return fmt::format("{} uses {}, which {} freed", at, cells, earlier);
    case Fault::TmemNotAllocated:
      return earlier.empty()
                 ? fmt::format("{} uses {}, which no alloc covers", at, cells)
                 : fmt::format("{} uses {}, and nothing orders it behind {}", at, cells, earlier);
    case Fault::TmemAllocAssumed:
      return fmt::format("{} uses {}; its warp knows of the alloc of its own CTA, not of {}", at,
                         cells, earlier);
    case Fault::TmemDeallocAddress:
      return earlier.empty()
                 ? fmt::format("{} frees {}, which no alloc has returned", at, cells)
                 : fmt::format("{} frees {}; what lies there was allocated otherwise by {}", at,
                               cells, earlier);
    case Fault::TmemLeaked: return fmt::format("{}: {} still allocated at exit", at, cells);
    case Fault::TmemAllocAfterRelinquish:
      return fmt::format("{} comes behind {}: no allocation may follow", at, earlier);
    default: return at + ": " + info(f.fault).sentence;
  }
}

}  // namespace

bool is_about_tensor_memory(const Finding& f) {
  if (f.fault == Fault::ScopeAssumed) return f.tmem.columns != 0;
  switch (f.fault) {
    case Fault::TmemFreed:
    case Fault::TmemNotAllocated:
    case Fault::TmemDeallocAddress:
    case Fault::TmemLeaked:
    case Fault::TmemAllocAfterRelinquish:
    case Fault::TmemAllocSize:
    case Fault::TmemAllocGrows:
    case Fault::TmemOverlap:
    case Fault::TmemLaneNotOwned:
    case Fault::TmemLaneAlignment:
    case Fault::TmemUninitialized:
    case Fault::UnmodelledShiftEdge:
    case Fault::TmemRace:
    case Fault::TmemWaitMissing:
    case Fault::TmemNotComplete:
    case Fault::TmemFenceBeforeMissing:
    case Fault::TmemFenceAfterMissing:
    case Fault::TmemAllocAssumed:
    case Fault::TmemFenceOmitted:
    case Fault::TmemWaitOmitted:
    case Fault::TmemOrderAssumed:
    case Fault::TmemLaneIgnored:
    case Fault::CommitOrderAssumed:
    case Fault::CtaNotStarted:
    case Fault::Tcgen05Repeated: return f.at.statement >= 0;
    default: return false;
  }
}

std::string tensor_memory_story(const Program& program, const Finding& f) {
  const std::string at = place_text(program, f.at);
  switch (f.fault) {
    case Fault::TmemLaneNotOwned: {
      const int first = tcgen05::first_tmem_lane(static_cast<int>(f.number));
      return fmt::format("{} names lane {}; warp {} reaches lanes {}-{} only (warp % 4 = {})", at,
                         f.tmem.first_lane, f.number, first, first + tcgen05::lanes_per_warp - 1,
                         f.number % 4);
    }
    case Fault::TmemLaneIgnored: {
      const int own = tcgen05::first_tmem_lane(static_cast<int>(f.number));
      if (f.tmem.first_lane >= tcgen05::tmem_lanes)
        return fmt::format(
            "{} names lane {}, as if the lanes of the pair's CTAs were counted on: the manual has "
            "{} of them, a "
            "published kernel relies on hardware that takes lane {}, as it is done here",
            at, f.tmem.first_lane, tcgen05::tmem_lanes, f.tmem.first_lane - tcgen05::tmem_lanes);
      return fmt::format(
          "{} names lane {}, which is warp 0's: the manual leaves that open, DeepGEMM relies on "
          "hardware that takes lane {}, as it is done here",
          at, f.tmem.first_lane, f.tmem.first_lane + own);
    }
    case Fault::CommitOrderAssumed:
      if (f.number == 1)
        return fmt::format(
            "{} arrives in CTA {}, which has seen that it was issued and that its operations are "
            "over, and exits: FlashAttention-4 relies on a commit arriving at once",
            at, f.cta);
      return fmt::format(
          "{} arrives in CTA {}, which has seen a later commit of that thread and exits: DeepGEMM "
          "relies on commits arriving in order",
          at, f.cta);
    case Fault::CtaNotStarted:
      return fmt::format(
          "{} reaches CTA {}, which may not have started: its warp has seen nothing that CTA {} "
          "did",
          at, f.cta, f.cta);
    case Fault::TmemLaneAlignment:
      return fmt::format("{}: lane {} does not suit it", at, f.tmem.first_lane);
    case Fault::TmemUninitialized:
    case Fault::UnmodelledShiftEdge:
      if (f.earlier.statement < 0)
        return fmt::format("{} reads {}: nothing has written them since their alloc", at,
                           cells_text(program, f));
      return fmt::format("{} uses what {} read from {}: {}", at, place_text(program, f.earlier),
                         cells_text(program, f), info(f.fault).sentence);
    case Fault::TmemOverlap:
      return fmt::format("{}: {} belong to D and to another operand", at, cells_text(program, f));
    case Fault::TmemAllocSize: return fmt::format("{}: {}", at, info(f.fault).sentence);
    case Fault::TmemAllocGrows:
      return fmt::format("{}: an earlier alloc of the CTA asked for {} columns only", at, f.number);
    case Fault::Tcgen05Repeated: return fmt::format("{}: {} lanes issue it", at, f.number);
    case Fault::TmemRace:
    case Fault::TmemWaitMissing:
    case Fault::TmemNotComplete:
    case Fault::TmemFenceBeforeMissing:
    case Fault::TmemFenceAfterMissing:
    case Fault::TmemFenceOmitted:
    case Fault::TmemWaitOmitted:
    case Fault::TmemOrderAssumed:
    case Fault::ScopeAssumed:
      return fmt::format("{} touches {} behind {}{}", at, cells_text(program, f),
                         place_text(program, f.earlier), lacking(program, f));
    default: return allocation_story(program, f);
  }
}

std::string tensor_memory_of_deadlock(const Program& program, const Finding& f) {
  std::string text;
  for (const TmemHolding& h : f.holdings)
    text +=
        fmt::format("\n  CTA {} holds {}: {}", h.cta,
                    range_text("column", h.first_column, h.columns), place_text(program, h.alloc));
  if (f.hint.statement >= 0 && is<Tcgen05Commit>(program, f.hint, "tcgen05.commit."))
    text += fmt::format("\n  {} arrives on it in other CTAs only", place_text(program, f.hint));
  for (const Place& place : f.uncommitted)
    text += fmt::format("\n  no commit of its thread and cta_group stands behind {}",
                        place_text(program, place));
  return text;
}

std::string fix_of_commit(const Program& program, const Finding& f) {
  if (f.hint.statement >= 0 && is<Tcgen05Commit>(program, f.hint, "tcgen05.commit."))
    return fmt::format("let {} arrive in all CTAs that wait: .multicast::cluster with their ranks",
                       line_text(program, f.hint));
  if (f.uncommitted.empty()) return "";
  return fmt::format("put tcgen05.commit with the same cta_group behind {}, in its thread",
                     line_text(program, f.uncommitted.front()));
}

std::string missing_wait(const Program& program, const Finding& f) {
  return f.fault == Fault::TmemWaitMissing ? wait_for(program, f.earlier) : "";
}

}  // namespace tcq::oracle
