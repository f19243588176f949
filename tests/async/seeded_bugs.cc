#include "tests/async/seeded_bugs.h"

#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "oracle/diagnosis/instruction_text.h"

namespace tcq::seeded {
namespace {

using namespace machine;
using enum Fault;

// All statements of one line of one role.
struct Line {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> at;  // segment, index
};

std::vector<Line> lines_of(const Program& program) {
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> known;
  std::vector<Line> lines;
  for (std::size_t s = 0; s < program.segments().size(); ++s) {
    const auto& statements = program.segments()[s].statements;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const std::string text = oracle::line_text(statements[i]);
      const auto key = std::tuple(program.segments()[s].name, text, statements[i].what.index());
      const auto [found, fresh] = known.try_emplace(key, lines.size());
      if (fresh) lines.push_back({text, {}});
      lines[found->second].at.emplace_back(s, i);
    }
  }
  return lines;
}

Statement& at(Program& program, std::pair<std::size_t, std::size_t> where) {
  return program.segments()[where.first].statements[where.second];
}
const Statement& at(const Program& program, std::pair<std::size_t, std::size_t> where) {
  return program.segments()[where.first].statements[where.second];
}

// Lines of the two statements before and behind each of the line, in its role.
std::set<std::string> neighbours(const Program& program, const Line& line) {
  const std::string& role = program.segments()[line.at.front().first].name;
  std::vector<std::string> path;
  for (const Segment& segment : program.segments())
    for (const Statement& statement : segment.statements)
      if (segment.name == role) path.push_back(oracle::line_text(statement));
  std::set<std::string> named;
  const auto note = [&](std::size_t from, std::size_t step) {
    std::set<std::string> found;
    for (std::size_t i = from + step; i < path.size() && found.size() < 2; i += step)
      if (path[i] != line.text) found.insert(path[i]);
    named.merge(found);
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != line.text) continue;
    note(i, 1);
    note(i, static_cast<std::size_t>(-1));
  }
  return named;
}

// Without the statements of the line.
Program without(const Program& right, const Line& line) {
  Program wrong = right;
  for (auto where = line.at.rbegin(); where != line.at.rend(); ++where) {
    auto& statements = wrong.segments()[where->first].statements;
    statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(where->second));
  }
  return wrong;
}

class Rules {
 public:
  explicit Rules(const Program& right) : right_(right) {}

  std::vector<Bug> run() {
    for (const Line& line : lines_of(right_)) {
      line_ = &line;
      std::visit([this](const auto& i) { change(i); }, at(right_, line.at.front()).what);
    }
    return std::move(bugs_);
  }

 private:
  template <class I>
  void edit(const std::string& rule, std::set<Fault> faults, const std::function<void(I&)>& how) {
    Program wrong = right_;
    for (const auto& where : line_->at) how(std::get<I>(at(wrong, where).what));
    bugs_.push_back({rule, line_->text, std::move(wrong), {line_->text}, std::move(faults)});
  }
  void leave_out(const std::string& what, std::set<Fault> faults) {
    bugs_.push_back({what + " left out", line_->text, without(right_, *line_),
                     neighbours(right_, *line_), std::move(faults)});
  }
  void by_all_lanes(std::set<Fault> faults) {
    if (at(right_, line_->at.front()).guard.lanes == all_lanes) return;
    Program wrong = right_;
    for (const auto& where : line_->at) at(wrong, where).guard.lanes = all_lanes;
    bugs_.push_back(
        {"elect left out", line_->text, std::move(wrong), {line_->text}, std::move(faults)});
  }
  // The barrier that another statement of the line names.
  template <class I>
  std::map<std::uint32_t, Address> next_barrier() const {
    return next<I>([](const I& i) { return i.barrier; });
  }
  template <class I>
  std::map<std::uint32_t, Address> next(const std::function<Address(const I&)>& which) const {
    std::vector<Address> all;
    for (const auto& where : line_->at) {
      const Address a = which(std::get<I>(at(right_, where).what));
      bool known = false;
      for (const Address& b : all) known = known || b.base == a.base;
      if (!known) all.push_back(a);
    }
    std::map<std::uint32_t, Address> to;
    for (std::size_t n = 0; all.size() > 1 && n < all.size(); ++n)
      to[all[n].base] = all[(n + 1) % all.size()];
    return to;
  }
  template <class I>
  void other_stage(const std::string& rule, std::set<Fault> faults) {
    const auto to = next_barrier<I>();
    if (to.empty()) return;
    edit<I>(rule, std::move(faults), [&](I& i) {
      const int cta = i.barrier.cta;
      i.barrier = to.at(i.barrier.base);
      i.barrier.cta = cta;
    });
  }
  template <class I>
  void change_copy(std::set<Fault> into) {
    by_all_lanes({CopyRepeated});
    leave_out("copy", {Deadlock, SharedUninitialized});
    other_stage<I>("copy on the mbarrier of the next stage", into);
    if (const auto to = next<I>([](const I& i) { return i.to; }); !to.empty())
      edit<I>("copy into the next stage", into, [&](I& i) { i.to = to.at(i.to.base); });
  }

  void change(const MbarrierInit& i) {
    leave_out("init", {MbarrierNotInitialized});
    edit<MbarrierInit>("count one more", {Deadlock}, [](auto& x) { ++x.count; });
    edit<MbarrierInit>("count doubled", {Deadlock}, [](auto& x) { x.count *= 2; });
    if (i.count > 1)
      edit<MbarrierInit>("count one less", {MbarrierArrivals, PhaseOverrun},
                         [](auto& x) { --x.count; });
  }
  void change(const MbarrierArrive& i) {
    leave_out("arrival", {Deadlock});
    if (i.scope == Scope::Cluster && i.barrier.cta != own_cta)
      edit<MbarrierArrive>("scope .cta", {ScopeTooNarrow, ScopeAssumed},
                           [](auto& x) { x.scope = Scope::Cta; });
    edit<MbarrierArrive>("arrival relaxed", {ReleaseMissing}, [](auto& x) { x.relaxed = true; });
    other_stage<MbarrierArrive>("arrival on the next stage", {});
    by_all_lanes({MbarrierArrivals, PhaseOverrun});
  }
  void change(const MbarrierArriveExpectTx& i) {
    leave_out("expect_tx", {Deadlock});
    using I = MbarrierArriveExpectTx;
    const std::uint32_t half = i.bytes / 2;
    edit<I>("half of the bytes expected", {ExpectTxTooSmall}, [&](auto& x) { x.bytes = half; });
    edit<I>("16 bytes less expected", {ExpectTxTooSmall}, [](auto& x) { x.bytes -= 16; });
    edit<I>("twice the bytes expected", {Deadlock}, [](auto& x) { x.bytes *= 2; });
    edit<I>("16 bytes more expected", {Deadlock}, [](auto& x) { x.bytes += 16; });
    other_stage<I>("expect_tx on the next stage", {});
    by_all_lanes({MbarrierArrivals, MbarrierTxCount, PhaseOverrun});
  }
  void change(const MbarrierTryWait&) {
    using I = MbarrierTryWait;
    leave_out("wait", {CopyInFlight, SourceInFlight, DataRace, CtaExited, SharedUninitialized,
                       ProxyFenceMissing, ProxyFenceMissingAfterRead, PhaseOverrun});
    edit<I>("wait relaxed", {AcquireMissing}, [](auto& x) { x.relaxed = true; });
    edit<I>("parity flipped", {PhaseStale, Deadlock}, [](auto& x) { x.parity ^= 1; });
    edit<I>("parity always 0", {PhaseStale, Deadlock}, [](auto& x) { x.parity = 0; });
    edit<I>("parity always 1", {PhaseStale, Deadlock}, [](auto& x) { x.parity = 1; });
    other_stage<I>("wait for the next stage", {});
  }
  void change(const FenceProxyAsync&) {
    leave_out("proxy fence", {ProxyFenceMissing, ProxyFenceMissingAfterRead});
    if (at(right_, line_->at.front()).guard.lanes == all_lanes) {
      Program wrong = right_;
      for (const auto& where : line_->at) at(wrong, where).guard.lanes = 1;
      bugs_.push_back({"proxy fence by one lane",
                       line_->text,
                       std::move(wrong),
                       {line_->text},
                       {ProxyFenceMissing, ProxyFenceMissingAfterRead}});
    }
  }
  void change(const WgmmaFence&) { leave_out("wgmma.fence", {WgmmaFenceMissing}); }
  void change(const WgmmaCommit&) { leave_out("wgmma.commit_group", {}); }
  void change(const WgmmaWait&) {
    leave_out("wgmma.wait_group", {AccumulatorInFlight, SourceInFlight, ExitInFlight});
    edit<WgmmaWait>("wait_group one more", {AccumulatorInFlight, SourceInFlight, ExitInFlight},
                    [](auto& x) { ++x.pending; });
  }
  void change(const BulkCommit&) { leave_out("bulk commit_group", {ExitInFlight, SourceInFlight}); }
  void change(const BulkWait&) {
    leave_out("bulk wait_group", {ExitInFlight, ExitReadAssumed, SourceInFlight});
    edit<BulkWait>("bulk wait_group one more", {ExitInFlight, ExitReadAssumed, SourceInFlight},
                   [](auto& x) { ++x.pending; });
  }
  void change(const BarrierSync&) { leave_out("barrier.sync", {}); }
  void change(const TensorLoad&) { change_copy<TensorLoad>({}); }
  void change(const BulkLoad&) { change_copy<BulkLoad>({}); }
  void change(const TryCancel&) { change_copy<TryCancel>({}); }
  void change(const auto&) {}

  const Program& right_;
  const Line* line_ = nullptr;
  std::vector<Bug> bugs_;
};

}  // namespace

std::vector<Bug> bugs_of(const Program& right) { return Rules(right).run(); }

}  // namespace tcq::seeded
