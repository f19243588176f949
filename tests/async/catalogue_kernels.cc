#include "tests/async/catalogue_kernels.h"

#include "tests/async/catalogue_tcgen05_kit.h"

namespace tcq::catalogue {
namespace {

constexpr int stages = 2;   // of A and B
constexpr int buffers = 2;  // accumulators
constexpr int tiles = 3;
constexpr int blocks = 2;  // along K, of each tile
constexpr std::uint32_t stage_bytes = tcgen05_a_bytes + tcgen05_b_bytes;

Address element(const std::vector<Address>& ring, int use) {
  return ring[static_cast<std::size_t>(use) % ring.size()];
}
std::size_t slot_of(int use) { return static_cast<std::size_t>(use % stages); }
int parity(int use, int ring) { return use / ring & 1; }

void relaxed_cluster_sync(Role role) { role.add(ClusterArrive{true}).cluster_wait(); }

// What the kernels have in common: rings of operands and accumulators, and how roles meet.
struct Pipeline {
  Program p;
  bool strict;
  std::vector<Address> full, empty, tmem_full, tmem_empty;
  std::vector<std::uint32_t> a, b;
  std::uint32_t slot;
  std::uint64_t in, out;

  Pipeline(Launch launch, bool is_strict)
      : p(launch),
        strict(is_strict),
        full(p.mbarriers("full", stages)),
        empty(p.mbarriers("empty", stages)),
        tmem_full(p.mbarriers("tmem_full", buffers)),
        tmem_empty(p.mbarriers("tmem_empty", buffers)),
        slot(p.shared("tmem_address", 4)),
        in(p.global(small_numbers(tcgen05_a_bytes))),
        out(result_buffer(p, 2 * 128 * 4 * tmem_n)) {
    for (int s = 0; s < stages; ++s) {
      a.push_back(p.shared("A" + std::to_string(s), tcgen05_a_bytes));
      b.push_back(p.shared("B" + std::to_string(s), tcgen05_b_bytes));
    }
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void init(Role one, std::uint32_t tmem_readers) const {
    for (const Address& barrier : full) one.mbarrier_init(barrier, 1);
    for (const Address& barrier : empty) one.mbarrier_init(barrier, 1);
    for (const Address& barrier : tmem_full) one.mbarrier_init(barrier, 1);
    for (const Address& barrier : tmem_empty) one.mbarrier_init(barrier, tmem_readers);
    one.fence_mbarrier_init();
  }
  void before(Role& role) const {
    if (strict) role.tcgen05_fence_before();
  }
  void after(Role& role) const {
    if (strict) role.tcgen05_fence_after();
  }

  // All K blocks of all tiles; `tail`: and then until every stage is empty.
  void load(Role load, bool tail, std::uint32_t scales = 0) const {
    for (int use = 0; use < tiles * blocks; ++use) {
      if (use >= stages) load.mbarrier_try_wait(element(empty, use), parity(use, stages) ^ 1);
      const Address barrier = element(full, use);
      load.mbarrier_arrive_expect_tx(barrier, stage_bytes + (scales == 0 ? 0 : 512));
      load.bulk_load(in, a[slot_of(use)], tcgen05_a_bytes, barrier);
      load.bulk_load(in, b[slot_of(use)], tcgen05_b_bytes, barrier);
      if (scales != 0) load.bulk_load(in, scales + 512 * (use % stages), 512, barrier);
    }
    for (int use = tiles * blocks; tail && use < tiles * blocks + stages; ++use)
      load.mbarrier_try_wait(element(empty, use), parity(use, stages) ^ 1);
  }
  Tcgen05Mma multiply(int use, TmemOperand base) const {
    Tcgen05Mma mma = f16_mma(a[slot_of(use)], b[slot_of(use)], use % blocks != 0);
    mma.d = base;
    mma.d.tmem_column += tmem_n * (use / blocks % buffers);
    return mma;
  }
  void read(Role& epilogue, int tile, TmemOperand base, Address hand_back, Scope scope,
            int cta = 0) const {
    epilogue.mbarrier_try_wait(element(tmem_full, tile), parity(tile, buffers));
    after(epilogue);
    base.tmem_column += tmem_n * (tile % buffers);
    epilogue.tcgen05_ld({tcgen05::LdShape::S32x32b, tmem_n / 2}, base, 0);
    base.tmem_column += tmem_n / 2;
    epilogue.tcgen05_ld({tcgen05::LdShape::S32x32b, tmem_n / 2}, base, tmem_n / 2);
    epilogue.tcgen05_wait_ld();
    before(epilogue);
    epilogue.mbarrier_arrive(hand_back, scope);
    epilogue.store_global(out + static_cast<unsigned>((cta * tiles + tile) * 32 * 4 * tmem_n),
                          4 * tmem_n, {0, tmem_n});
  }
};

// --- CUTLASS, one CTA ----------------------------------------------------------------------------

// The warp of the mma allocates, tells the epilogue by a named barrier, and frees.
Program warp_specialised(bool strict) {
  Pipeline t({.threads = 96}, strict);
  Role start = t.p.warps("start", 0, 3);
  Role load = t.p.warps("load", 0, 1);
  Role mma_warp = t.p.warps("mma", 1, 1);
  Role epilogue = t.p.warps("epilogue", 2, 1);
  t.init(start.elect(), 32);
  start.barrier_sync();
  t.load(load.elect(), true);
  mma_warp.tcgen05_alloc(t.slot, 32).warp_sync().barrier_arrive(1, 64);
  mma_warp.load_shared({t.slot, 0}, address_register);
  epilogue.barrier_sync(1, 64).load_shared({t.slot, 0}, address_register);
  Role mma = mma_warp.elect();
  for (int use = 0; use < tiles * blocks; ++use) {
    const int tile = use / blocks;
    mma_warp.mbarrier_try_wait(element(t.full, use), parity(use, stages));
    if (use % blocks == 0 && tile >= buffers) {
      mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1);
      t.after(mma_warp);
    }
    mma.tcgen05_mma(t.multiply(use, tmem_base)).tcgen05_commit(element(t.empty, use));
    if (use % blocks == blocks - 1) mma.tcgen05_commit(element(t.tmem_full, tile));
  }
  for (int tile = 0; tile < tiles; ++tile)
    t.read(epilogue, tile, at_column(0, 64), element(t.tmem_empty, tile), Scope::Cta);
  mma_warp.tcgen05_relinquish();
  for (int tile = tiles; tile < tiles + buffers; ++tile)
    mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1);
  mma_warp.tcgen05_dealloc(tmem_base, 32);
  return t.p;
}

// --- block scaling -------------------------------------------------------------------------------

constexpr int scale_column = buffers * tmem_n;

Tcgen05Mma scaled(Tcgen05Mma mma, TmemOperand base) {
  mma.opcode.kind = tcgen05::Kind::mxf8f6f4;
  mma.idesc.a = mma.idesc.b = Type::e4m3;
  mma.scale_a = mma.scale_b = base;
  mma.scale_a.tmem_column = scale_column;
  mma.scale_b.tmem_column = scale_column + 4;
  return mma;
}

// Scale factors of the next K block over those of the last one. Strict: once its mma is complete.
void scale_and_multiply(const Pipeline& t, Role& mma, int use, TmemOperand base,
                        std::uint32_t scales, Address multiplied) {
  const Tcgen05Mma what = scaled(t.multiply(use, base), base);
  const SmemOperand rows = {
      scales + 512u * static_cast<unsigned>(use % stages), {Major::K, 16, 16, 128}, {0, 4, 3}, 0};
  if (t.strict && use > 0) mma.mbarrier_try_wait(multiplied, (use - 1) & 1).tcgen05_fence_after();
  mma.tcgen05_cp(tcgen05::CpShape::S32x128b, what.scale_a, rows);
  mma.tcgen05_cp(tcgen05::CpShape::S32x128b, what.scale_b, rows);
  mma.tcgen05_mma(what);
  if (t.strict) mma.tcgen05_commit(multiplied);
}

// Nothing of theirs arrives behind the end of the CTA.
void wait_for_last(const Pipeline& t, Role& mma, Address multiplied) {
  if (t.strict) mma.mbarrier_try_wait(multiplied, (tiles * blocks - 1) & 1);
}

Program block_scaled(bool strict) {
  Pipeline t({.threads = 96}, strict);
  const std::uint32_t scales = t.p.shared("scales", 512 * stages);
  const Address multiplied = t.p.mbarrier("multiplied");
  Role start = t.p.warps("start", 0, 3);
  Role load = t.p.warps("load", 0, 1);
  Role mma_warp = t.p.warps("mma", 1, 1);
  Role epilogue = t.p.warps("epilogue", 2, 1);
  start.elect().mbarrier_init(multiplied, 1);
  t.init(start.elect(), 32);
  start.barrier_sync();
  t.load(load.elect(), true, scales);
  mma_warp.tcgen05_alloc(t.slot, 64).warp_sync().barrier_arrive(1, 64);
  mma_warp.load_shared({t.slot, 0}, address_register);
  epilogue.barrier_sync(1, 64).load_shared({t.slot, 0}, address_register);
  Role mma = mma_warp.elect();
  for (int use = 0; use < tiles * blocks; ++use) {
    const int tile = use / blocks;
    mma_warp.mbarrier_try_wait(element(t.full, use), parity(use, stages));
    if (use % blocks == 0 && tile >= buffers) {
      mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1);
      t.after(mma_warp);
    }
    scale_and_multiply(t, mma, use, tmem_base, scales, multiplied);
    mma.tcgen05_commit(element(t.empty, use));
    if (use % blocks == blocks - 1) mma.tcgen05_commit(element(t.tmem_full, tile));
  }
  for (int tile = 0; tile < tiles; ++tile)
    t.read(epilogue, tile, at_column(0, 64), element(t.tmem_empty, tile), Scope::Cta);
  mma_warp.tcgen05_relinquish();
  for (int tile = tiles; tile < tiles + buffers; ++tile)
    mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1);
  wait_for_last(t, mma, multiplied);
  mma_warp.tcgen05_dealloc(tmem_base, 64);
  return t.p;
}

// --- DeepGEMM ------------------------------------------------------------------------------------

// Columns from 0 on without a look at what alloc returned; ld with the lane bits of warp 0.
constexpr TmemOperand column_zero{-1, 0, 0};

void transpose(const Pipeline& t, Role& transposer, std::uint32_t scales,
               const std::vector<Address>& with_scales) {
  for (int use = 0; use < tiles * blocks; ++use) {
    const std::uint32_t at = scales + 512u * static_cast<unsigned>(use % stages);
    transposer.mbarrier_try_wait(element(t.full, use), parity(use, stages));
    for (unsigned i = 0; i < 4; ++i) transposer.load_shared({at + 128 * i, 4}, static_cast<int>(i));
    transposer.warp_sync().store_shared({at, 16}, 0, 16).fence_proxy_async();
    transposer.mbarrier_arrive(element(with_scales, use));
  }
}

// Warp 2 allocates, and transposes scale factors in shared memory; warp 0 frees.
Program transposed_scales(bool strict) {
  Pipeline t({.threads = 128}, strict);
  const std::uint32_t scales = t.p.shared("scales", 512 * stages);
  const std::vector<Address> with_scales = t.p.mbarriers("with_scales", stages);
  const Address multiplied = t.p.mbarrier("multiplied");
  Role start = t.p.warps("start", 0, 4);
  Role load = t.p.warps("load", 0, 1);
  Role mma_warp = t.p.warps("mma", 1, 1);
  Role transposer = t.p.warps("transposer", 2, 1);
  Role epilogue = t.p.warps("epilogue", 3, 1);
  Role last = t.p.warps("last", 0, 4);
  for (const Address& barrier : with_scales) start.elect().mbarrier_init(barrier, 32);
  start.elect().mbarrier_init(multiplied, 1);
  t.init(start.elect(), 32);
  start.in_warps(4).tcgen05_alloc(t.slot, 64);
  start.barrier_sync();
  t.load(load.elect(), strict, scales);
  Role mma = mma_warp.elect();
  for (int use = 0; use < tiles * blocks; ++use) {
    const int tile = use / blocks;
    if (use % blocks == 0 && tile >= buffers)
      mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1);
    if (use % blocks == 0) mma_warp.tcgen05_fence_after();
    mma_warp.mbarrier_try_wait(element(with_scales, use), parity(use, stages));
    mma_warp.tcgen05_fence_after();
    scale_and_multiply(t, mma, use, column_zero, scales, multiplied);
    mma.tcgen05_commit(element(t.empty, use));
    if (use % blocks == blocks - 1) mma.tcgen05_commit(element(t.tmem_full, tile));
  }
  wait_for_last(t, mma, multiplied);
  transpose(t, transposer, scales, with_scales);
  t.strict = true;  // its fences are there
  for (int tile = 0; tile < tiles; ++tile)
    t.read(epilogue, tile, {-1, strict ? 96 : 0, 0}, element(t.tmem_empty, tile), Scope::Cta);
  last.barrier_sync();
  last.in_warps(1).tcgen05_dealloc(column_zero, 64);
  return t.p;
}

// --- pairs of CTAs -------------------------------------------------------------------------------

Tcgen05Mma paired(Tcgen05Mma mma) {
  mma.opcode.cta_group = 2;
  mma.idesc.m = 256;
  return mma;
}

// CTA 0 multiplies for both when both have said that their operands are there.
void multiply_paired(const Pipeline& t, Role& mma_warp, const std::vector<Address>& ready,
                     TmemOperand base) {
  Role mma = mma_warp.elect();
  for (int use = 0; use < tiles * blocks; ++use) {
    const int tile = use / blocks;
    if (use % blocks == 0 && tile >= buffers)
      mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1,
                                 Scope::Cluster);
    if (use % blocks == 0) t.after(mma_warp);
    mma_warp.mbarrier_try_wait(element(ready, use), parity(use, stages), Scope::Cluster);
    mma.tcgen05_mma(paired(t.multiply(use, base)));
    mma.tcgen05_commit(element(t.empty, use), 2, 3);
    if (use % blocks == blocks - 1) mma.tcgen05_commit(element(t.tmem_full, tile), 2, 3);
  }
}

void relay(const Pipeline& t, Role role, const std::vector<Address>& ready) {
  for (int use = 0; use < tiles * blocks; ++use)
    role.mbarrier_try_wait(element(t.full, use), parity(use, stages))
        .mbarrier_arrive(element(ready, use).in(0), Scope::Cluster);
}

// DeepGEMM: all cluster barriers relaxed, one of them before alloc.
Program relaxed_pair(bool strict) {
  Pipeline t({.cluster = 2, .threads = 128}, strict);
  const std::vector<Address> ready = t.p.mbarriers("ready", stages);
  const auto meet = [&](Role role) {
    strict ? void(role.cluster_arrive().cluster_wait()) : relaxed_cluster_sync(role);
  };
  Role start = t.p.warps("start", 0, 4);
  Role load = t.p.warps("load", 0, 1);
  Role mma_warp = t.p.warps("mma", 1, 1, 0);
  Role relaying = t.p.warps("relay", 2, 1);
  Role epilogues[] = {t.p.warps("epilogue", 3, 1, 0), t.p.warps("epilogue", 3, 1, 1)};
  Role last = t.p.warps("last", 0, 4);
  meet(start);
  for (const Address& barrier : ready) start.elect().mbarrier_init(barrier, 64);
  t.init(start.elect(), 64);
  start.in_warps(4).tcgen05_alloc(t.slot, 32, 2);
  meet(start);
  t.strict = true;  // its fences are there
  t.load(load.elect(), strict);
  multiply_paired(t, mma_warp, ready, column_zero);
  for (int tile = tiles; tile < tiles + buffers; ++tile)
    mma_warp.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1,
                               Scope::Cluster);
  relay(t, relaying, ready);
  for (int cta = 0; cta < 2; ++cta)
    for (int tile = 0; tile < tiles; ++tile)
      t.read(epilogues[cta], tile, {-1, strict ? 96 : 0, 0}, element(t.tmem_empty, tile).in(0),
             Scope::Cluster, cta);
  meet(last);
  last.in_warps(1).tcgen05_dealloc(column_zero, 32, 2);
  return t.p;
}

// CUTLASS: the two mma warps allocate and tell each other when all accumulators were read.
Program handshaking_pair(bool strict) {
  Pipeline t({.cluster = 2, .threads = 128}, strict);
  const std::vector<Address> ready = t.p.mbarriers("ready", stages);
  const Address freed = t.p.mbarrier("freed");
  const Address allocated = t.p.mbarrier("allocated");
  Role start = t.p.warps("start", 0, 4);
  Role load = t.p.warps("load", 0, 1);
  Role relaying = t.p.warps("relay", 2, 1);
  Role epilogues[] = {t.p.warps("epilogue", 3, 1, 0), t.p.warps("epilogue", 3, 1, 1)};
  Role both = t.p.warps("mma", 1, 1);
  Role leader = t.p.warps("leader", 1, 1, 0);
  Role follower = t.p.warps("follower", 1, 1, 1);
  Role end = t.p.warps("mma end", 1, 1);
  start.elect().mbarrier_init(freed, 32).mbarrier_init(allocated, 32);
  for (const Address& barrier : ready) start.elect().mbarrier_init(barrier, 64);
  t.init(start.elect(), 64);
  relaxed_cluster_sync(start);
  t.load(load.elect(), true);
  relay(t, relaying, ready);
  both.tcgen05_alloc(t.slot, 32, 2).warp_sync().barrier_arrive(1, 64);
  both.load_shared({t.slot, 0}, address_register);
  if (strict) follower.mbarrier_arrive(allocated.in(0), Scope::Cluster);
  if (strict) leader.mbarrier_try_wait(allocated, 0, Scope::Cluster);
  for (Role& epilogue : epilogues)
    epilogue.barrier_sync(1, 64).load_shared({t.slot, 0}, address_register);
  multiply_paired(t, leader, ready, tmem_base);
  for (int cta = 0; cta < 2; ++cta)
    for (int tile = 0; tile < tiles; ++tile)
      t.read(epilogues[cta], tile, at_column(0, 96), element(t.tmem_empty, tile).in(0),
             Scope::Cluster, cta);
  leader.tcgen05_relinquish(2);
  follower.tcgen05_relinquish(2);
  for (int tile = tiles; tile < tiles + buffers; ++tile)
    leader.mbarrier_try_wait(element(t.tmem_empty, tile), parity(tile, buffers) ^ 1,
                             Scope::Cluster);
  leader.mbarrier_try_wait(freed, 0, Scope::Cluster).mbarrier_arrive(freed.in(1), Scope::Cluster);
  follower.mbarrier_arrive(freed.in(0), Scope::Cluster).mbarrier_try_wait(freed, 0, Scope::Cluster);
  end.tcgen05_dealloc(tmem_base, 32, 2);
  return t.p;
}

// --- attention -----------------------------------------------------------------------------------

constexpr int p_column = 8;  // P lies in S
constexpr int o_column = tmem_n;

void softmax(Role& role, const Pipeline& t, Address s_full, Address p_full, int step) {
  role.mbarrier_try_wait(s_full, step & 1);
  t.after(role);
  for (int warp = 0; warp < 4; ++warp)
    role.in_warps(1u << warp).tcgen05_ld(all_of_d, at_column(0, 32 * warp), 0);
  if (t.strict) role.tcgen05_wait_ld();
  role.copy({tmem_n, tmem_n}, 0);
  for (int warp = 0; warp < 4; ++warp)
    role.in_warps(1u << warp)
        .tcgen05_st({tcgen05::LdShape::S32x32b, 8}, at_column(p_column, 32 * warp), tmem_n);
  role.tcgen05_wait_st();
  t.before(role);
  role.mbarrier_arrive(p_full);
}

void output_and_scores(const Pipeline& t, Role& mma, int step, Address p_full, Address s_full,
                       Address multiplied) {
  mma.mbarrier_try_wait(p_full, step & 1);
  t.after(mma);
  Tcgen05Mma output = f16_mma(0, t.b[0], step > 0, at_column(o_column));
  output.opcode.a_place = tcgen05::Place::Tmem;
  output.a_tmem = at_column(p_column);
  mma.tcgen05_mma(output);
  if (step == tiles - 1) return;
  if (t.strict)
    mma.tcgen05_commit(multiplied).mbarrier_try_wait(multiplied, step & 1).tcgen05_fence_after();
  mma.tcgen05_mma(f16_mma(t.a[0], t.b[0], false)).tcgen05_commit(s_full);
}

// S = Q K, P over S, O += P V; the next S over P with no wait for the mma that reads it.
Program attention(bool strict) {
  Pipeline t({.threads = 160}, strict);
  const Address s_full = t.p.mbarrier("s_full");
  const Address p_full = t.p.mbarrier("p_full");
  const Address multiplied = t.p.mbarrier("multiplied");
  Role start = t.p.warps("start", 0, 5);
  Role rows = t.p.warps("softmax", 0, 4);
  Role mma_warp = t.p.warps("mma", 4, 1);
  Role mma = mma_warp.elect();
  start.elect().mbarrier_init(s_full, 1).mbarrier_init(p_full, 128).mbarrier_init(multiplied, 1);
  t.init(start.elect(), 128);
  start.in_warps(16).tcgen05_alloc(t.slot, 32);
  start.barrier_sync().load_shared({t.slot, 0}, address_register);
  mma.mbarrier_arrive_expect_tx(t.full[0], stage_bytes);
  mma.bulk_load(t.in, t.a[0], tcgen05_a_bytes, t.full[0]);
  mma.bulk_load(t.in, t.b[0], tcgen05_b_bytes, t.full[0]).mbarrier_try_wait(t.full[0], 0);
  mma.tcgen05_mma(f16_mma(t.a[0], t.b[0], false)).tcgen05_commit(s_full);
  for (int step = 0; step < tiles; ++step) {
    softmax(rows, t, s_full, p_full, step);
    output_and_scores(t, mma, step, p_full, s_full, multiplied);
  }
  mma.tcgen05_commit(t.tmem_full[0]);
  rows.mbarrier_try_wait(t.tmem_full[0], 0);
  t.after(rows);
  for (int warp = 0; warp < 4; ++warp)
    rows.in_warps(1u << warp).tcgen05_ld(all_of_d, at_column(o_column, 32 * warp), 0);
  rows.tcgen05_wait_ld().store_global(t.out, 4 * tmem_n, {0, tmem_n});
  t.before(rows);
  rows.mbarrier_arrive(t.tmem_empty[0]);
  mma_warp.mbarrier_try_wait(t.tmem_empty[0], 0).tcgen05_dealloc(tmem_base, 32);
  return t.p;
}

}  // namespace

std::span<const Kernel> published_kernels() {
  using enum Fault;
  static const Kernel kernels[] = {
      {"WarpSpecialised",
       "NVIDIA/cutlass sm100_gemm_tma_warpspecialized.hpp",
       warp_specialised,
       {TmemFenceOmitted}},
      {"BlockScaled",
       "NVIDIA/cutlass sm100_blockscaled_mma_warpspecialized.hpp",
       block_scaled,
       {TmemFenceOmitted, TmemOrderAssumed}},
      {"TransposedScales",
       "deepseek-ai/DeepGEMM sm100_fp8_fp4_gemm_1d1d.cuh",
       transposed_scales,
       {TmemLaneIgnored, TmemOrderAssumed, CommitOrderAssumed}},
      {"RelaxedPair",
       "deepseek-ai/DeepGEMM sm100_bf16_gemm.cuh",
       relaxed_pair,
       {TmemLaneIgnored, CommitOrderAssumed}},
      {"HandshakingPair",
       "NVIDIA/cutlass sm100_gemm_tma_warpspecialized.hpp, two CTAs",
       handshaking_pair,
       {TmemAllocAssumed, TmemFenceOmitted}},
      {"Attention",
       "NVIDIA/cutlass examples/77_blackwell_fmha; Dao-AILab/flash-attention",
       attention,  // S over P as well, but each statement shows its first dispute only
       {TmemFenceOmitted, TmemWaitOmitted}},
  };
  return kernels;
}

}  // namespace tcq::catalogue
