// Rows R: setmaxnreg.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

// Two warpgroups give registers back, the others take them.
Program pool(int warpgroups, int launch_registers, int low, int high) {
  Program p({.threads = 128 * warpgroups, .registers = launch_registers});
  const int givers = warpgroups / 2;
  p.warps("producer", 0, 4 * givers).setmaxnreg_dec(low);
  p.warps("consumer", 4 * givers, 4 * (warpgroups - givers)).setmaxnreg_inc(high);
  return p;
}

Program r1(bool mutant) { return pool(4, 128, 24, mutant ? 240 : 232); }

Program r2a(bool mutant) {
  Program p({.threads = 256, .registers = 128});
  Role producer = p.warps("producer", 0, 4);
  (mutant ? producer.in_warps(1u) : producer).setmaxnreg_dec(40);
  producer.warp_sync();
  if (mutant) producer.setmaxnreg_dec(40);
  p.warps("consumer", 4, 4).setmaxnreg_inc(200);
  return p;
}

// As Triton's partitions: each has one of its own.
Program r2d(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  if (!mutant) p.warps("all", 0, 4).setmaxnreg_dec(40);
  if (mutant) p.warps("first", 0, 1).setmaxnreg_dec(40);
  if (mutant) p.warps("others", 1, 3).setmaxnreg_dec(40);
  return p;
}

// As CUTLASS's idle warp.
Program r2e(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  if (!mutant) p.warps("all", 0, 4).setmaxnreg_dec(40);
  if (mutant) p.warps("first", 0, 1).setmaxnreg_dec(24);
  if (mutant) p.warps("others", 1, 3).setmaxnreg_dec(40);
  return p;
}

// As CUTLASS's decoding attention: one warp works, its neighbours idle.
Program r2f(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  if (!mutant) p.warps("all", 0, 4).setmaxnreg_dec(40);
  if (mutant) p.warps("first", 0, 1).setmaxnreg_inc(136);
  if (mutant) p.warps("others", 1, 3).setmaxnreg_dec(40);
  return p;
}

// As FlashAttention-4's backward pass: one warp has nothing to do and ends.
Program r2g(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  p.warps("all", 0, 4).in_warps(mutant ? 0b1011u : 0b1111u).setmaxnreg_dec(40);
  return p;
}

Program r2b(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  p.warps("all", 0, 4).setmaxnreg_inc(mutant ? 96 : 128);
  return p;
}

Program r2c(bool mutant) {
  Program p({.threads = 256, .registers = mutant ? 0 : 128});
  p.warps("producer", 0, 4).setmaxnreg_dec(40);
  p.warps("consumer", 4, 4).setmaxnreg_inc(200);
  return p;
}

// A register that the warpgroup has given back.
Program r3(bool mutant) {
  Program p({.threads = 128, .registers = 128});
  Role all = p.warps("all", 0, 4);
  all.setmaxnreg_dec(40).move({mutant ? 40 : 39, 1}, 1);
  return p;
}

constexpr Entry entries[] = {
    {"R1", "240 instead of 232 registers for the consumers", Fault::RegisterPoolExhausted, r1,
     "the pool lacks"},
    {"R2a", "setmaxnreg executed by one warp", Fault::WarpgroupDivergent, r2a, "all four warps"},
    {"R2d", "setmaxnreg of one count at two places", Fault::SetmaxnregApart, r2d,
     "put one setmaxnreg before the branch"},
    {"R2e", "setmaxnreg of two counts at two places", Fault::SetmaxnregApart, r2e,
     "put one setmaxnreg before the branch"},
    {"R2f", "setmaxnreg.inc in one warp, .dec in the others", Fault::SetmaxnregApart, r2f,
     "put one setmaxnreg before the branch"},
    {"R2g", "setmaxnreg in three warps, the fourth ends without one", Fault::SetmaxnregApart, r2g,
     "one that ends has executed none"},
    {"R2b", "setmaxnreg.inc below the present count", Fault::SetmaxnregDirection, r2b,
     "holds 128 registers"},
    {"R2c", "no bound on the registers at launch", Fault::SetmaxnregIgnored, r2c, "C7508"},
    {"R3", "a register is used that setmaxnreg.dec gave back", Fault::RegisterOutOfRange, r3,
     "register"},
};

}  // namespace

std::span<const Entry> register_entries() { return entries; }

}  // namespace tcq::catalogue
