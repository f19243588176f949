// Rows W: wgmma, its groups and the registers it owns.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

// Two tiles of A and B, by TMA; all warps wait for them.
void load_tiles(Program& p, std::uint32_t (&a)[2], std::uint32_t (&b)[2]) {
  const Address full = p.mbarrier("full");
  for (int tile = 0; tile < 2; ++tile) {
    a[tile] = p.shared("A" + std::to_string(tile), a_bytes, 1024);
    b[tile] = p.shared("B" + std::to_string(tile), b_bytes, 1024);
  }
  const int map_a = f16_tensor(p, 64, 128, 64);
  const int map_b = f16_tensor(p, mma_n, 128, mma_n);
  Role all = p.warps("load", 0, 4);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  all.barrier_sync();
  Role one = all.elect();
  one.mbarrier_arrive_expect_tx(full, 2 * (a_bytes + b_bytes));
  for (int tile = 0; tile < 2; ++tile) {
    one.tensor_load(map_a, {{64 * tile, 0}}, a[tile], full);
    one.tensor_load(map_b, {{64 * tile, 0}}, b[tile], full);
  }
  all.mbarrier_try_wait(full, 0);
}

Program with_tiles(void (*body)(Role& math, const std::uint32_t (&a)[2],
                                const std::uint32_t (&b)[2], std::uint64_t out, bool mutant),
                   bool mutant) {
  Program p({.threads = 128});
  std::uint32_t a[2];
  std::uint32_t b[2];
  load_tiles(p, a, b);
  const std::uint64_t out = result_buffer(p, 2 * 128 * 16);
  Role math = p.warps("math", 0, 4);
  body(math, a, b, out, mutant);
  return p;
}

using Tiles = const std::uint32_t (&)[2];

void w1_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  math.wgmma_fence();
  math.move(d_registers, 0);
  if (!mutant) math.wgmma_fence();
  math.wgmma(mma(descriptor(a[0]), descriptor(b[0]), true), d_registers);
  math.wgmma_commit().wgmma_wait(0);
  store_result(math, out);
}

void w2_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  math.wgmma_fence();
  math.wgmma(mma(descriptor(a[0]), descriptor(b[0]), false), d_registers);
  if (!mutant) math.wgmma_commit();
  math.wgmma_wait(0);
  store_result(math, out);
}

// Two groups with accumulators of their own; the second is read behind wait_group 0 or 1.
void w3a_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  constexpr RegisterRange second{4, 4};
  math.wgmma_fence();
  math.wgmma(mma(descriptor(a[0]), descriptor(b[0]), false), d_registers).wgmma_commit();
  math.wgmma(mma(descriptor(a[1]), descriptor(b[1]), false), second).wgmma_commit();
  math.wgmma_wait(mutant ? 1 : 0);
  math.store_global(out, 16, second);
  math.wgmma_wait(0);
  store_result(math, out + 128 * 16);
}

// Fragments of A in registers 8 to 11 are loaded anew while the wgmma may still read them.
void w4_body(Role& math, Tiles, Tiles b, std::uint64_t out, bool mutant) {
  constexpr RegisterRange fragment{8, 4};
  math.move(fragment, 0x3c003c00).wgmma_fence();
  math.wgmma(mma_rs(descriptor(b[0]), false), d_registers, fragment).wgmma_commit();
  if (!mutant) math.wgmma_wait(0);
  math.move(fragment, 0x40004000).wgmma_fence();
  math.wgmma(mma_rs(descriptor(b[1]), true), d_registers, fragment).wgmma_commit().wgmma_wait(0);
  store_result(math, out);
}

// K 16, then K 32: the automatic order is that of one shape only.
void w6_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  wgmma::Instruction half = mma(descriptor(a[0]), descriptor(b[0]), false);
  wgmma::Instruction other = half;
  other.form = {Type::f32, Type::e4m3, Type::e4m3, mma_n};  // m64n8k32: another K
  other.accumulate = true;
  math.wgmma_fence();
  math.wgmma(half, d_registers);
  if (!mutant) math.wgmma_fence();
  math.wgmma(other, d_registers).wgmma_commit().wgmma_wait(0);
  store_result(math, out);
}

void w7_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  math.wgmma_fence();
  Role some = mutant ? math.in_warps(0b0111) : math;
  some.wgmma(mma(descriptor(a[0]), descriptor(b[0]), false), d_registers);
  math.wgmma_commit().wgmma_wait(0);
  store_result(math, out);
}

// The first step of a tile must not accumulate.
void w8_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  math.wgmma_fence();
  for (int k = 0; k < 4; ++k) {
    const auto at = 32 * static_cast<std::uint32_t>(k);
    math.wgmma(mma(descriptor(a[0] + at), descriptor(b[0] + at), mutant || k > 0), d_registers);
  }
  math.wgmma_commit().wgmma_wait(0);
  store_result(math, out);
}

// The accumulators of one wgmma are the fragments of A of the next.
void w9_body(Role& math, Tiles a, Tiles b, std::uint64_t out, bool mutant) {
  wgmma::Instruction first = mma(descriptor(a[0]), descriptor(b[0]), false);
  math.wgmma_fence();
  math.wgmma(first, d_registers).wgmma_commit();
  if (!mutant) math.wgmma_wait(0);
  math.wgmma(mma_rs(descriptor(b[1]), false), {4, 4}, d_registers).wgmma_commit().wgmma_wait(0);
  math.store_global(out, 16, {4, 4});
}

template <auto Body>
Program make(bool mutant) {
  return with_tiles(Body, mutant);
}

// A pipeline of one slot: when the consumer hands it back, its wgmma must have read it.
enum class Handover { AfterWait, AfterCommit, AfterWaitOne };
Program pipeline(Handover handover) {
  constexpr int blocks = 3;
  Program p({.threads = 160});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t a = p.shared("A", a_bytes, 1024);
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64 * blocks, 64);
  const int map_b = f16_tensor(p, mma_n, 64 * blocks, mma_n);
  const std::uint64_t out = result_buffer(p);
  Role all = p.warps("all", 0, 5);
  all.elect().mbarrier_init(full, 1).mbarrier_init(empty, 1).fence_mbarrier_init();
  all.barrier_sync();
  Role producer = p.warps("producer", 4, 1).elect();
  Role math = p.warps("math", 0, 4);
  for (int k = 0; k < blocks; ++k) {
    producer.mbarrier_try_wait(empty, k + 1).mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
    producer.tensor_load(map_a, {{64 * k, 0}}, a, full).tensor_load(map_b, {{64 * k, 0}}, b, full);
    math.mbarrier_try_wait(full, k).wgmma_fence();
    math.wgmma(mma(descriptor(a), descriptor(b), k > 0), d_registers).wgmma_commit();
    if (handover == Handover::AfterWait) math.wgmma_wait(0);
    if (handover == Handover::AfterWaitOne) math.wgmma_wait(1);
    math.elect().mbarrier_arrive(empty);
  }
  math.wgmma_wait(0);
  store_result(math, out);
  return p;
}

Program w3b(bool mutant) { return pipeline(mutant ? Handover::AfterWaitOne : Handover::AfterWait); }
Program w5(bool mutant) { return pipeline(mutant ? Handover::AfterCommit : Handover::AfterWait); }

constexpr Entry entries[] = {
    {"W1", "no wgmma.fence behind the zeroing of the accumulators", Fault::WgmmaFenceMissing,
     make<w1_body>, "with no wgmma.fence in between"},
    {"W2", "no commit_group", Fault::WgmmaUncommitted, make<w2_body>, "commit_group"},
    {"W3a", "wait_group 1 instead of 0 before the second group is read", Fault::AccumulatorInFlight,
     make<w3a_body>, "in flight in group 2"},
    {"W3b", "wait_group 1 instead of 0 before the slot is handed back", Fault::SourceInFlight, w3b,
     "may still be reading"},
    {"W4", "fragments of A overwritten before the wait", Fault::FragmentInFlight, make<w4_body>,
     "register 8"},
    {"W5", "the slot is handed back right behind the commit", Fault::SourceInFlight, w5,
     "before it hands the bytes to"},
    {"W6", "no wgmma.fence between two shapes", Fault::WgmmaShapeChange, make<w6_body>,
     "whose shape is another"},
    {"W7", "wgmma executed by three warps", Fault::WarpgroupDivergent, make<w7_body>,
     "all four warps"},
    {"W8", "the first step accumulates", Fault::RegisterUninitialized, make<w8_body>, "scale-d 0"},
    {"W9", "fragments of A taken from accumulators in flight", Fault::AccumulatorInFlight,
     make<w9_body>, "wait_group"},
};

}  // namespace

std::span<const Entry> wgmma_entries() { return entries; }

}  // namespace tcq::catalogue
