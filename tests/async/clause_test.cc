// What every instruction of the machine has to say of itself: nothing can be left out, and what a step
// touches was said before it was taken.
#include "sim/async/instructions/clause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <variant>

#include "sim/async/cluster.h"
#include "sim/async/instruction.h"
#include "tests/async/catalogue.h"
#include "tests/async/random_programs.h"

namespace tcq {
namespace {

using namespace machine;

// --- a fact that is left out does not compile ------------------------------------------------------

struct Registers {
  static constexpr None registers{};
};
struct Check {
  static constexpr None check{};
};
struct Touches {
  static constexpr None touches{};
};
struct Blocked {
  static constexpr None is_blocked{};
};
struct Waits {
  static constexpr None waiting{};
};
struct Global {
  static constexpr None writes_global{};
};
struct Text {
  std::string text(const Names&) const { return "nop"; }
};
struct Executes {
  void execute(Step&) const {}
};
template <class... Facts>
struct With : Facts... {};

static_assert(
    MachineInstruction<With<Registers, Check, Touches, Blocked, Waits, Global, Text, Executes>>);
static_assert(!MachineInstruction<With<Check, Touches, Blocked, Waits, Global, Text, Executes>>);
static_assert(
    !MachineInstruction<With<Registers, Touches, Blocked, Waits, Global, Text, Executes>>);
static_assert(!MachineInstruction<With<Registers, Check, Blocked, Waits, Global, Text, Executes>>);
static_assert(!MachineInstruction<With<Registers, Check, Touches, Waits, Global, Text, Executes>>);
static_assert(
    !MachineInstruction<With<Registers, Check, Touches, Blocked, Global, Text, Executes>>);
static_assert(!MachineInstruction<With<Registers, Check, Touches, Blocked, Waits, Text, Executes>>);
static_assert(
    !MachineInstruction<With<Registers, Check, Touches, Blocked, Waits, Global, Executes>>);
static_assert(!MachineInstruction<With<Registers, Check, Touches, Blocked, Waits, Global, Text>>);

// A function of the right name that answers something else is no fact either.
struct WrongTouches {
  bool touches(const Standing&) const { return false; }
};
static_assert(!MachineInstruction<
              With<Registers, Check, WrongTouches, Blocked, Waits, Global, Text, Executes>>);

// --- what the facts say ----------------------------------------------------------------------------

template <class... I>
constexpr int synchronising(const std::variant<I...>*) {
  return (int{synchronises<I>} + ...);
}

TEST(Clause, AnInstructionEndsAStepExactlyIfItTouchesSomething) {
  static_assert(synchronising(static_cast<Instruction*>(nullptr)) == 15);
  static_assert(synchronises<MbarrierArrive> && synchronises<MbarrierArriveExpectTx>);
  static_assert(synchronises<MbarrierExpectTx> && synchronises<MbarrierCompleteTx>);
  static_assert(synchronises<MbarrierTryWait> && synchronises<MbarrierTestWait>);
  static_assert(synchronises<BarrierSync> && synchronises<BarrierArrive>);
  static_assert(synchronises<ClusterArrive> && synchronises<ClusterWait>);
  static_assert(synchronises<SetMaxRegisters> && synchronises<Tcgen05Alloc>);
  static_assert(synchronises<Tcgen05Dealloc> && synchronises<Tcgen05Relinquish>);
  static_assert(synchronises<LaneAtomic> && !synchronises<LaneAccess>);
}

TEST(Clause, ARegisterThatHoldsAnAddressIsOneOfTheInstructions) {
  const TmemOperand outside = {.reg = max_registers};
  const tcgen05::Fragment fragment{.shape = tcgen05::LdShape::S32x32b, .num = 1};
  for (const Instruction& what :
       {Instruction(Tcgen05Dealloc{.from = outside}), Instruction(Tcgen05Ld{fragment, outside, 0}),
        Instruction(Tcgen05St{fragment, outside, 0}),
        Instruction(Tcgen05Cp{.to = outside, .from = {}}),
        Instruction(Tcgen05Shift{.at = outside})}) {
    Program p({.threads = 32});
    p.warps("all", 0, 1).add(what);
    EXPECT_EQ(check(p).fault, Fault::RegisterOutOfRange) << what.index();
  }
}

std::vector<std::uint64_t> objects(const std::vector<Touch>& touches) {
  std::vector<std::uint64_t> objects;
  for (const Touch& touch : touches) objects.push_back(touch.object);
  std::sort(objects.begin(), objects.end());
  return objects;
}

// Takes steps in one order and holds each against what was said of it. Returns how many touched.
int follow(const Program& program, std::mt19937& random) {
  MmaCache cache;
  Cluster cluster(program, cache, Timing::Latest);
  int touching = 0;
  for (;;) {
    const std::vector<AgentId> agents = cluster.runnable();
    if (agents.empty()) return touching;
    const AgentId agent = agents[random() % agents.size()];
    const std::vector<Touch> said = cluster.next_touches(agent);
    const std::vector<Touch>& done = cluster.step(agent);
    if (cluster.finding()) return touching;
    const auto before = objects(said);
    const auto after = objects(done);
    EXPECT_TRUE(std::includes(before.begin(), before.end(), after.begin(), after.end()));
    touching += done.empty() ? 0 : 1;
    for (std::size_t n = 0; n < done.size() && done.size() == said.size(); ++n) {
      EXPECT_EQ(done[n].kind, said[n].kind);
      EXPECT_EQ(done[n].parity, said[n].parity);
      EXPECT_EQ(done[n].arrives, said[n].arrives);
      EXPECT_EQ(done[n].expects, said[n].expects);
      EXPECT_EQ(done[n].copied, said[n].copied);
      EXPECT_EQ(done[n].taken, said[n].taken);
    }
  }
}

// Two lanes that count on two mbarriers.
Program lanes_on_two_barriers() {
  Program p({.threads = 64});
  const auto done = p.mbarriers("done", 2);
  Role all = p.warps("all", 0, 2);
  for (const Address& barrier : done) all.elect().mbarrier_init(barrier, 1);
  all.barrier_sync();
  p.warps("a", 0, 1).lanes(0b11).mbarrier_arrive({done[0].base, 8});
  return p;
}

// The explorer puts steps to sleep by what is said of them: one that touches more would be lost.
TEST(Clause, AStepTouchesWhatWasSaidOfIt) {
  std::mt19937 random(1);
  int touching = 0;
  for (const catalogue::Entry& entry : catalogue::all_entries())
    for (const bool mutant : {false, true}) {
      SCOPED_TRACE(entry.row);
      touching += follow(entry.make(mutant), random);
    }
  for (int i = 0; i < 300; ++i) touching += follow(random_program(random), random);
  touching += follow(lanes_on_two_barriers(), random);
  EXPECT_GT(touching, 1000);
}

}  // namespace
}  // namespace tcq
