#include "oracle/diagnosis/barrier_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "oracle/diagnosis/barrier_users.h"
#include "oracle/diagnosis/instruction_text.h"

namespace tcq::oracle {

using namespace machine;

namespace {

const Statement& statement_of(const Program& program, const Place& place) {
  return program.statement(static_cast<std::size_t>(place.statement));
}

std::string line_at(const Program& program, const Place& place) {
  return place.statement < 0 ? "it" : line_text(program, place);
}

int cta_of(const Program& program, const Place& place) {
  return place.warp / program.warps_per_cta();
}

// --- who waits -------------------------------------------------------------------------------------

bool waits_alike(const Program& program, const Waiting& a, const Waiting& b) {
  return a.at.statement == b.at.statement && cta_of(program, a.at) == cta_of(program, b.at) &&
         a.what == b.what && a.object == b.object && a.phase == b.phase && a.parity == b.parity &&
         a.missing == b.missing && a.tx_bytes == b.tx_bytes;
}

std::string mbarrier_text(const Program& program, const Waiting& w) {
  std::string text = fmt::format(": {} is in phase {}, the wait is for parity {}",
                                 address_text(program, w.object), w.phase, w.parity);
  if (w.missing > 0) text += fmt::format("; {} of {} arrivals missing", w.missing, w.expected);
  if (w.tx_bytes > 0)
    text += fmt::format("; short of {} bytes, {} copies in flight", w.tx_bytes, w.copies_in_flight);
  if (w.tx_bytes < 0) text += fmt::format("; {} bytes more were copied than expected", -w.tx_bytes);
  return text;
}

std::string wait_text(const Program& program, const Waiting& w) {
  switch (w.what) {
    case WaitFor::Mbarrier: return mbarrier_text(program, w);
    case WaitFor::Barrier:
      return fmt::format(": barrier {} has {} of {} threads; {} never arrive", w.object,
                         w.expected - w.missing, w.expected, w.missing);
    case WaitFor::ClusterBarrier:
      return fmt::format(": {} warps of the cluster have not arrived", w.missing);
    case WaitFor::Registers:
      return fmt::format(": asks for {} registers, the pool lacks {}", w.expected, w.missing);
    case WaitFor::Warpgroup:
      return ": its wgmmas wait for warps of the warpgroup that do not issue them";
    case WaitFor::TensorMemory:
      return fmt::format(": asks for {} columns of Tensor Memory, {} are free", w.expected,
                         w.missing);
    case WaitFor::PairedCta: return ": the other CTA of the pair does not execute it";
    case WaitFor::Memory: return ": what it polls does not change";
  }
  return "";
}

// `warp 3`, `warps 0 to 3`, `warps 0, 2 and 5`: of one CTA, in order.
std::string warps_text(const Program& program, const std::vector<int>& warps) {
  const int per_cta = program.warps_per_cta();
  const std::string cta =
      program.launch().cluster > 1 ? fmt::format("CTA {} ", warps.front() / per_cta) : "";
  if (warps.size() == 1) return fmt::format("{}warp {}", cta, warps.front() % per_cta);
  const bool adjacent =
      warps.size() > 2 && warps.back() - warps.front() + 1 == static_cast<int>(warps.size());
  if (adjacent)
    return fmt::format("{}warps {} to {}", cta, warps.front() % per_cta, warps.back() % per_cta);
  std::string text = cta + "warps ";
  for (std::size_t i = 0; i < warps.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                  ? ""
                        : i + 1 == warps.size() ? " and "
                                                : ", ",
                        warps[i] % per_cta);
  return text;
}

// --- the root of a deadlock ------------------------------------------------------------------------

// Smaller: nearer to the cause. Arrivals that nothing makes and bytes that nothing brings do not
// depend on the other waits; a barrier with half of its arrivals is nearer than one with none.
int depth(const Program& program, const Waiting& w) {
  if (w.what == WaitFor::Barrier) return 1;
  if (w.what != WaitFor::Mbarrier) return 9;
  if (w.tx_bytes != 0 && w.copies_in_flight == 0) return 0;
  const BarrierUsers users = users_of_barrier(program, w.cta, w.object);
  if (users.arrivals.empty() && users.expects.empty()) return 2;
  if (w.missing > 0 && w.missing < w.expected) return 3;
  return 5;
}

const Waiting* root_of(const Program& program, const Finding& f) {
  const auto root = std::min_element(
      f.waiting.begin(), f.waiting.end(),
      [&](const Waiting& a, const Waiting& b) { return depth(program, a) < depth(program, b); });
  return root == f.waiting.end() ? nullptr : &*root;
}

std::string or_nothing(const std::string& lines, const char* otherwise) {
  return lines.empty() ? otherwise : lines;
}

std::string fix_of_bytes(const Program& program, const Waiting& w, const BarrierUsers& users) {
  const std::string name = address_text(program, w.object);
  const std::string copies = or_nothing(lines_text(users.copies), "no copy");
  if (users.expects.empty())
    return fmt::format(
        "{} gets {} bytes from {} that nothing expects: put mbarrier.arrive.expect_tx "
        "of these bytes before {}",
        name, -w.tx_bytes, copies, copies);
  return w.tx_bytes > 0
             ? fmt::format(
                   "{} expects {} bytes at {} that no copy brings ({} brings the others): "
                   "expect what is copied",
                   name, w.tx_bytes, lines_text(users.expects), copies)
             : fmt::format(
                   "{} gets {} bytes from {} that nothing expects: expect what is copied, "
                   "at {}",
                   name, -w.tx_bytes, copies, lines_text(users.expects));
}

std::string fix_of_arrivals(const Program& program, const Waiting& w, const BarrierUsers& users) {
  const std::string name = address_text(program, w.object);
  std::vector<BarrierUse> arrivals = users.arrivals;
  arrivals.insert(arrivals.end(), users.expects.begin(), users.expects.end());
  const std::string inits = or_nothing(lines_text(users.inits), "nowhere");
  if (arrivals.empty())
    return fmt::format(
        "nothing arrives on {} (count {} from {}; {} waits): put an arrival behind the "
        "last use of what it guards, in the role that the others wait for",
        name, w.expected, inits, line_at(program, w.at));
  if (w.missing < w.expected)
    return fmt::format(
        "{} gets {} of the {} arrivals that {} counts, from {}: initialise it with the "
        "number that arrives, or add the missing",
        name, w.expected - w.missing, w.expected, inits, lines_text(arrivals));
  return fmt::format(
      "{} more {} of {} would release the waiting warps: {} must be reached, on this "
      "mbarrier, before its role waits (count {} from {})",
      w.missing, w.missing == 1 ? "arrival" : "arrivals", name, lines_text(arrivals), w.expected,
      inits);
}

// Of a compiled kernel, of which only the mbarrier's state is known.
std::string fix_by_state(const Program& program, const Waiting& w) {
  const std::string name = address_text(program, w.object);
  const std::string at = line_at(program, w.at);
  if (w.tx_bytes != 0 && w.copies_in_flight == 0)
    return w.tx_bytes > 0 ? fmt::format(
                                "{} bytes that are expected on mbarrier {} never come: expect what "
                                "is copied, or "
                                "let a copy bring them before {} is reached",
                                w.tx_bytes, name, at)
                          : fmt::format(
                                "{} bytes came to mbarrier {} that nothing expects: let "
                                "mbarrier.arrive.expect_tx "
                                "count all that is copied for {}",
                                -w.tx_bytes, name, at);
  return fmt::format(
      "{} of the {} arrivals of a phase never come to mbarrier {}, for which {} waits: initialise "
      "it with "
      "the number that arrives, or let the missing arrive",
      w.missing, w.expected, name, at);
}

// --- the hand-over of a stage ----------------------------------------------------------------------

bool same_role(const Segment& a, const Segment& b) {
  return a.name == b.name && a.first_warp == b.first_warp && a.warps == b.warps && a.cta == b.cta;
}

using Question = std::function<bool(const Statement&)>;

// In the role of `number`, behind it: the first statement that `is` so; -1 if one that `ends` comes
// first, or the role's end.
std::int64_t next_in_role(const Program& program, std::int64_t number, const Question& is,
                          const Question& ends) {
  const Segment& role = program.segment_of(static_cast<std::size_t>(number));
  std::int64_t n = 0;
  for (const Segment& segment : program.segments())
    for (const Statement& statement : segment.statements) {
      const bool behind = n++ > number && same_role(segment, role);
      if (!behind) continue;
      if (is(statement)) return n - 1;
      if (ends(statement)) return -1;
    }
  return -1;
}

bool hands_on(const Statement& s) {
  return std::holds_alternative<MbarrierArrive>(s.what) ||
         std::holds_alternative<BarrierSync>(s.what) ||
         std::holds_alternative<BarrierArrive>(s.what);
}

// In the role of `number`: the last statement before `end` that `is` so; -1: none.
std::int64_t last_in_role(const Program& program, std::int64_t number, std::int64_t end,
                          const Question& is) {
  std::int64_t last = -1;
  const Question is_end = [&, n = &program.statement(static_cast<std::size_t>(end))](
                              const Statement& s) { return &s == n; };
  for (std::int64_t at = next_in_role(program, number, is, is_end); at >= 0;
       at = next_in_role(program, at, is, is_end))
    last = at;
  return last;
}

std::string text_at(const Program& program, std::int64_t number) {
  if (number < 0) return "";
  const Statement& statement = program.statement(static_cast<std::size_t>(number));
  return fmt::format("{} at {}", instruction_text(program, statement.what), line_text(statement));
}

bool is_wgmma_wait(const Statement& s) { return std::holds_alternative<WgmmaWait>(s.what); }
bool is_bulk_wait(const Statement& s) { return std::holds_alternative<BulkWait>(s.what); }
bool never_ends(const Statement&) { return false; }

// Is it a wait_group that can cover what was issued: of wgmmas, or of the issuing thread's copies?
Question waits_for(const Program& program, const Place& issued) {
  const Statement& issue = statement_of(program, issued);
  if (std::holds_alternative<WgmmaMma>(issue.what)) return is_wgmma_wait;
  return [guard = issue.guard](const Statement& s) {
    return is_bulk_wait(s) && s.guard.lanes == guard.lanes && s.guard.warps == guard.warps;
  };
}

// The wait_group that stands behind a wgmma or a store and leaves it in flight, if one does.
std::string weak_wait(const Program& program, const Place& issued) {
  return text_at(program,
                 next_in_role(program, issued.statement, waits_for(program, issued), hands_on));
}

std::string hand_on_line(const Program& program, const Place& issued) {
  const std::int64_t found = next_in_role(program, issued.statement, hands_on, never_ends);
  return found < 0 ? "" : line_text(program.statement(static_cast<std::size_t>(found)));
}

std::string fix_of_source(const Program& program, const Finding& f) {
  const std::string at = line_at(program, f.at);
  const std::string earlier = line_at(program, f.earlier);
  if (const std::string wait = weak_wait(program, f.earlier); !wait.empty())
    return fmt::format(
        "{} leaves {} in flight: wait for one group fewer there, or hand the bytes to "
        "{} a step later",
        wait, earlier, at);
  const std::string handed = hand_on_line(program, f.earlier);
  return fmt::format(
      "let the thread that issued {} wait for it (wgmma.wait_group, or "
      "cp.async.bulk.wait_group.read) before it hands the bytes to {}{}",
      earlier, at, handed.empty() ? "" : fmt::format(", that is before {}", handed));
}

std::string fix_of_copy(const Program& program, const Finding& f) {
  const std::string at = line_at(program, f.at);
  const std::string earlier = line_at(program, f.earlier);
  const std::int64_t barrier = barrier_of(statement_of(program, f.earlier));
  std::string fix = fmt::format("wait before {} on the mbarrier that {} completes", at, earlier);
  if (barrier < 0) return fix;
  const auto address = static_cast<std::uint32_t>(barrier);
  fix += ", " + address_text(program, address);
  if (f.wait.statement < 0) return fix + ": it has waited for no mbarrier at all";
  const std::int64_t waited = barrier_of(statement_of(program, f.wait));
  if (waited >= 0 && waited != barrier)
    return fix + fmt::format(
                     ": its last wait, {}, is for {}; or {} fills the wrong stage or names "
                     "the wrong mbarrier",
                     line_at(program, f.wait),
                     address_text(program, static_cast<std::uint32_t>(waited)), earlier);
  return fix +
         fmt::format(": its last wait, {}, was for an earlier phase", line_at(program, f.wait));
}

std::string fix_of_phase(const Program& program, const Finding& f) {
  const std::string line = line_at(program, f.hint);
  const std::int64_t barrier = barrier_of(statement_of(program, f.hint));
  std::string fix = fmt::format(
      "{} must ask for the other parity: flip it each time the ring wraps, and do not reset it per "
      "tile",
      line);
  if (barrier < 0) return fix;
  const BarrierUsers users =
      users_of_barrier(program, cta_of(program, f.hint), static_cast<std::uint32_t>(barrier));
  std::vector<BarrierUse> arrivals = users.arrivals;
  arrivals.insert(arrivals.end(), users.expects.begin(), users.expects.end());
  if (arrivals.empty()) return fix;
  return fix + fmt::format("; if it is right, {} arrives on the wrong mbarrier or too often",
                           lines_text(arrivals));
}

// A phase that was over before its bytes had landed.
std::string fix_of_expected(const Program& program, const Finding& f) {
  if (!f.waiting.empty()) return fix_of_deadlock(program, f);
  const std::string generally = "expect the bytes of all copies that complete on this mbarrier";
  const std::int64_t barrier =
      f.earlier.statement < 0 ? -1 : barrier_of(statement_of(program, f.earlier));
  if (barrier < 0) return generally;
  const BarrierUsers users =
      users_of_barrier(program, cta_of(program, f.earlier), static_cast<std::uint32_t>(barrier));
  if (users.expects.empty())
    return fmt::format("{}: put mbarrier.arrive.expect_tx before {}", generally,
                       lines_text(users.copies));
  return fmt::format("{}: {} expects, {} copies", generally, lines_text(users.expects),
                     lines_text(users.copies));
}

std::string fix_of_overrun(const Program& program, const Finding& f) {
  const std::int64_t barrier = barrier_of(statement_of(program, f.hint));
  if (barrier < 0) return "";
  const auto address = static_cast<std::uint32_t>(barrier);
  const BarrierUsers users = users_of_barrier(program, cta_of(program, f.hint), address);
  std::vector<BarrierUse> arrivals = users.arrivals;
  arrivals.insert(arrivals.end(), users.expects.begin(), users.expects.end());
  return fmt::format(
      "{} arrives oftener than the count that {} gives {}, or without the wait that "
      "keeps it in step: elect one lane, correct the count, or wait before it",
      or_nothing(lines_text(arrivals), "something"), lines_text(users.inits),
      address_text(program, address));
}

std::string other_inits(const Program& program) {
  std::vector<BarrierUse> inits;
  for (const Allocation& a : program.allocations())
    for (BarrierUse& init :
         users_of_barrier(program, 0, static_cast<std::uint32_t>(a.address)).inits)
      if (inits.empty() || inits.back().line != init.line) inits.push_back(std::move(init));
  if (inits.size() > 2) inits.resize(2);
  return inits.empty() ? "" : "mbarrier.init at " + lines_text(inits);
}

}  // namespace

// Fences by some lanes only, between an access and what hands its bytes on.
std::string narrow_fence(const Program& program, const Place& access) {
  const std::int64_t found = next_in_role(
      program, access.statement,
      [](const Statement& s) {
        return std::holds_alternative<FenceProxyAsync>(s.what) && s.guard.lanes != all_lanes;
      },
      hands_on);
  return found < 0 ? "" : line_text(program.statement(static_cast<std::size_t>(found)));
}

std::string weak_wait_before(const Program& program, const Place& issued, const Place& use) {
  return text_at(program, last_in_role(program, issued.statement, use.statement, is_wgmma_wait));
}

std::string weak_wait_behind(const Program& program, const Place& issued) {
  return text_at(program,
                 next_in_role(program, issued.statement, waits_for(program, issued), never_ends));
}

std::string waiting_text(const Program& program, const Finding& f) {
  std::string text;
  std::vector<bool> told(f.waiting.size());
  for (std::size_t i = 0; i < f.waiting.size(); ++i) {
    if (told[i]) continue;
    const Waiting& w = f.waiting[i];
    std::vector<int> warps;
    for (std::size_t j = i; j < f.waiting.size(); ++j) {
      if (told[j] || !waits_alike(program, w, f.waiting[j])) continue;
      told[j] = true;
      warps.push_back(f.waiting[j].at.warp);
    }
    const Statement& statement = statement_of(program, w.at);
    text += fmt::format("\n  {} at {} ({}, {}){}", instruction_text(program, statement.what),
                        line_text(statement),
                        program.segment_of(static_cast<std::size_t>(w.at.statement)).name,
                        warps_text(program, warps), wait_text(program, w));
  }
  return text;
}

std::string fix_of_deadlock(const Program& program, const Finding& f) {
  const Waiting* root = root_of(program, f);
  if (root == nullptr) return "";
  if (root->what == WaitFor::Barrier)
    return fmt::format("let all {} threads execute barrier {} ({}), or give it the count that does",
                       root->expected, root->object, line_at(program, root->at));
  if (root->what != WaitFor::Mbarrier)
    return "break the circle: one of the waits above must not depend on the others";
  const BarrierUsers users = users_of_barrier(program, root->cta, root->object);
  if (users.unknown()) return fix_by_state(program, *root);
  if (root->tx_bytes != 0 && root->copies_in_flight == 0)
    return fix_of_bytes(program, *root, users);
  if (root->missing > 0) return fix_of_arrivals(program, *root, users);
  return "break the circle: one of the waits above must not depend on the others";
}

std::string fix_of_barrier(const Program& program, const Finding& f) {
  const BarrierUsers users = users_of_barrier(program, f.cta, f.bytes.begin);
  if (users.unknown()) return "";
  const std::string name = address_text(program, f.bytes.begin);
  if (f.fault == Fault::MbarrierArrivals)
    return fmt::format(
        "initialise {} with the number of arrivals per phase: {} counts {}, {} arrives", name,
        lines_text(users.inits), users.inits.empty() ? 0 : users.inits.front().number,
        line_at(program, f.at));
  if (f.fault == Fault::MbarrierNotInitialized && users.inits.empty())
    return fmt::format(
        "no statement initialises {}: put mbarrier.init beside {}, before the barrier that starts "
        "the roles",
        name, or_nothing(other_inits(program), "the first statements of one thread"));
  return fmt::format("put a barrier behind mbarrier.init{}, before {}",
                     users.inits.empty() ? "" : " at " + lines_text(users.inits),
                     line_at(program, f.at));
}

std::string fix_of_hand_over(const Program& program, const Finding& f) {
  switch (f.fault) {
    case Fault::SourceInFlight: return fix_of_source(program, f);
    case Fault::CopyInFlight: return fix_of_copy(program, f);
    case Fault::ExpectTxTooSmall: return fix_of_expected(program, f);
    case Fault::PhaseStale: return fix_of_phase(program, f);
    case Fault::PhaseOverrun: return fix_of_overrun(program, f);
    default: return "";
  }
}

std::vector<std::string> barrier_lines(const Program& program, const Finding& f) {
  std::vector<std::string> lines;
  const auto tell = [&](int cta, std::int64_t address) {
    if (address < 0) return;
    std::string line = users_text(program, cta, static_cast<std::uint32_t>(address));
    if (line.empty()) return;
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  for (const Waiting& w : f.waiting)
    if (w.what == WaitFor::Mbarrier) tell(w.cta, w.object);
  switch (f.fault) {
    case Fault::MbarrierArrivals:
    case Fault::MbarrierTxCount:
    case Fault::MbarrierNotInitialized: tell(f.cta, f.bytes.begin); break;
    case Fault::CopyInFlight:
    case Fault::SourceInFlight:
    case Fault::PhaseStale:
    case Fault::ExpectTxTooSmall:
    case Fault::DataRace:
      for (const Place& place : {f.earlier, f.at, f.wait, f.hint})
        if (place.statement >= 0)
          tell(cta_of(program, place), barrier_of(statement_of(program, place)));
      break;
    default: break;
  }
  return lines;
}

}  // namespace tcq::oracle
