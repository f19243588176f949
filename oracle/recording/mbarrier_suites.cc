// Sequences of operations on one mbarrier: drawn ones that keep to what PTX allows, and directed ones,
// each of which asks a question; and the suites of both.
#include "oracle/recording/case_draw.h"
#include "oracle/recording/mbarrier_script.h"
#include "oracle/recording/suites.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using mbarrier::Mbarrier;
using mbarrier::Operation;
using mbarrier::Step;

constexpr auto max_tx = static_cast<std::uint32_t>(mbarrier::max_tx);

class Script {
 public:
  explicit Script(std::uint64_t seed) : draw_(seed) {}

  std::vector<Step> draw() {
    const auto length = static_cast<std::size_t>(draw_.in(4, 40));
    add({Operation::Init, first_count()});
    while (steps_.size() < length) add(next());
    return std::move(steps_);
  }

 private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(draw_.below(static_cast<int>(n)));
  }

  std::uint32_t first_count() {
    if (draw_.one_in(16)) return mbarrier::max_count - below(3);
    return draw_.one_in(2) ? 1 + below(3) : 1 + below(300);
  }

  // Mostly the size of a copy.
  std::uint32_t bytes() {
    switch (draw_.below(8)) {
      case 0: return below(2);
      case 1: return below(max_tx + 1);
      case 2: return 1 + below(255);
      default: return 16 * (1 + below(1024));
    }
  }

  // Mostly all that are pending.
  std::uint32_t arrivals() {
    if (barrier_.pending < 2 || !draw_.one_in(3)) return barrier_.pending;
    return draw_.one_in(2) ? 1 : 1 + below(barrier_.pending);
  }

  // Mostly what brings the tx-count to zero.
  std::uint32_t settling() {
    const auto missing = static_cast<std::uint32_t>(barrier_.tx < 0 ? -barrier_.tx : barrier_.tx);
    return draw_.one_in(5) ? bytes() : missing;
  }

  Step next() {
    const bool settle = barrier_.tx != 0 && !draw_.one_in(3);
    if (settle && barrier_.tx > 0) return {Operation::CompleteTx, settling()};
    if (settle && barrier_.pending == 1 && draw_.one_in(2))
      return {Operation::ArriveExpectTx, settling()};
    if (settle) return {Operation::ExpectTx, settling()};
    switch (draw_.below(12)) {
      case 0: return {Operation::ArriveDrop, draw_.one_in(2) ? 1 : arrivals()};
      case 1:
      case 2:
      case 3: return {Operation::ArriveExpectTx, bytes()};
      case 4: return {Operation::ExpectTx, bytes()};
      case 5: return {Operation::CompleteTx, bytes()};
      default: return {Operation::Arrive, arrivals()};
    }
  }

  // Steps that this file promises not to take are left out.
  void add(const Step& step) {
    Mbarrier after = barrier_;
    if (apply(after, step.operation, step.number) != Fault::None) return;
    if (after.expected == 0) return;
    barrier_ = after;
    steps_.push_back(step);
  }

  Draw draw_;
  Mbarrier barrier_;
  std::vector<Step> steps_;
};

std::vector<std::vector<Step>> directed() {
  using enum Operation;
  constexpr std::uint32_t many = mbarrier::max_count + 1;  // one too many
  return {
      // Does expect_tx complete a phase that lacks no arrival? If not, does the next operation?
      {{Init, 1}, {CompleteTx, 16}, {Arrive, 1}, {ExpectTx, 16}, {CompleteTx, 0}, {Arrive, 1}},
      {{Init, 1}, {CompleteTx, 16}, {Arrive, 1}, {ExpectTx, 16}, {ExpectTx, 32}, {CompleteTx, 32}},
      {{Init, 2}, {CompleteTx, 16}, {Arrive, 1}, {ArriveExpectTx, 16}, {Arrive, 2}},
      // With no arrival pending the tx-count goes up, down and below zero.
      {{Init, 1}, {ExpectTx, 16}, {Arrive, 1}, {ExpectTx, 16}, {CompleteTx, 16}, {CompleteTx, 16}},
      {{Init, 1}, {ExpectTx, 16}, {Arrive, 1}, {CompleteTx, 32}, {ExpectTx, 48}, {CompleteTx, 32}},
      // Zero operands.
      {{Init, 1}, {ExpectTx, 0}, {CompleteTx, 0}, {ArriveExpectTx, 0}, {CompleteTx, 0}},
      {{Init, 2}, {Arrive, 0}, {Arrive, 1}, {Arrive, 0}, {Arrive, 1}},
      {{Init, 1}, {ExpectTx, 16}, {Arrive, 1}, {Arrive, 0}, {CompleteTx, 16}, {Arrive, 1}},
      {{Init, 2}, {ArriveDrop, 0}, {Arrive, 2}, {Arrive, 2}},
      // The phase is kept open by arrivals while the tx-count returns to zero.
      {{Init, 2}, {ExpectTx, 32}, {CompleteTx, 16}, {CompleteTx, 16}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 2}, {CompleteTx, 64}, {ArriveExpectTx, 64}, {Arrive, 1}, {Arrive, 2}},
      // Down to no expected arrival at all.
      {{Init, 2}, {ArriveDrop, 1}, {Arrive, 1}, {ArriveDrop, 1}, {CompleteTx, 0}, {CompleteTx, 0}},
      {{Init, 1}, {ArriveDrop, 1}, {ExpectTx, 0}, {ExpectTx, 16}, {CompleteTx, 16}, {Arrive, 1}},
      {{Init, 3}, {ArriveDrop, 3}, {Arrive, 1}, {Arrive, 1}, {CompleteTx, 0}},
      // More arrivals than are pending; with and without bytes outstanding.
      {{Init, 2}, {Arrive, 3}, {Arrive, 1}, {Arrive, 1}, {Arrive, 2}},
      {{Init, 2}, {Arrive, 1}, {Arrive, 2}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 1}, {ExpectTx, 16}, {Arrive, 1}, {Arrive, 1}, {CompleteTx, 16}, {Arrive, 1}},
      {{Init, 2}, {ArriveDrop, 3}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 2}, {Arrive, mbarrier::max_count}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 2}, {Arrive, many}, {Arrive, 1}, {Arrive, 1}},
      // The limits of the tx-count, and beyond.
      {{Init, 1}, {ExpectTx, max_tx}, {CompleteTx, max_tx}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 1}, {CompleteTx, max_tx}, {ExpectTx, max_tx}, {Arrive, 1}, {Arrive, 1}},
      {{Init, 1},
       {ExpectTx, max_tx},
       {ExpectTx, 1},
       {CompleteTx, 1},
       {CompleteTx, max_tx},
       {Arrive, 1}},
      {{Init, 1},
       {CompleteTx, max_tx},
       {CompleteTx, 1},
       {CompleteTx, 1},
       {ExpectTx, 2},
       {ExpectTx, max_tx},
       {Arrive, 1}},
      {{Init, 1}, {ExpectTx, max_tx + 1}, {CompleteTx, max_tx + 1}, {Arrive, 1}},
      {{Init, 1}, {CompleteTx, max_tx + 1}, {ExpectTx, max_tx + 1}, {Arrive, 1}},
      {{Init, 1}, {ExpectTx, 2 * (max_tx + 1)}, {Arrive, 1}},
      {{Init, 1}, {ExpectTx, 0xffffffff}, {Arrive, 1}},
      {{Init, 1}, {ArriveExpectTx, max_tx + 1}, {CompleteTx, max_tx + 1}},
      // The limits of the count, and beyond.
      {{Init, mbarrier::max_count}, {Arrive, mbarrier::max_count}, {ArriveDrop, 1}, {Arrive, 1}},
      {{Init, 0}, {Arrive, 1}, {CompleteTx, 0}, {Arrive, 1}},
      {{Init, many}, {Arrive, 1}, {CompleteTx, 0}, {Arrive, 1}},
      {{Init, 0xffffffff}, {Arrive, 1}, {Arrive, 1}},
      // A live mbarrier begins anew.
      {{Init, 2}, {Arrive, 1}, {ExpectTx, 16}, {Init, 3}, {Arrive, 2}, {Arrive, 1}},
  };
}

}  // namespace

std::vector<Step> drawn_mbarrier_script(std::uint64_t seed) { return Script(seed).draw(); }

const std::vector<std::vector<Step>>& directed_mbarrier_scripts() {
  static const std::vector<std::vector<Step>> scripts = directed();
  return scripts;
}

std::vector<Case> mbarriers(std::uint64_t seed) {
  constexpr std::size_t count = 4000;
  constexpr std::size_t kept = 64;  // one in so many with all bytes
  CaseDraw suite(seed);
  for (std::size_t i = 0; i < count; ++i)
    suite.add(MbarrierScript{.cluster = i % 2 == 0 ? 1 : 2}).keep = i / 2 % kept == 0;
  return suite.take();
}

std::vector<Case> mbarrier_edges(std::uint64_t seed) {
  CaseDraw suite(seed);
  const auto add = [&suite](const MbarrierScript& script) { suite.add(script).keep = true; };
  const auto scripts = static_cast<int>(directed_mbarrier_scripts().size());
  for (int script = 1; script <= scripts; ++script)
    for (const int cluster : {1, 2}) add({cluster, script, 0});
  for (const std::uint32_t misplaced_by : {1u, 4u}) add({1, 1, misplaced_by});
  return suite.take();
}

}  // namespace tcq::oracle
