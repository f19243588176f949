// Building blocks of the catalogue's tcgen05 programs: one warp that allocates, copies and issues
// mma, one warp that reads the accumulator.
//
// Tiles are 128 x 16 f16 (A) and 16 x 16 (B), K-major without swizzle, one K step of 32 bytes each.
#pragma once

#include <cstdint>

#include "sim/async/program.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {

inline constexpr int tmem_n = 16;  // columns of D
inline constexpr std::uint32_t tcgen05_a_bytes = 128 * 32;
inline constexpr std::uint32_t tcgen05_b_bytes = tmem_n * 32;
inline constexpr int address_register = 40;
inline constexpr TmemOperand tmem_base{address_register, 0, 0};
inline constexpr tcgen05::Fragment all_of_d{tcgen05::LdShape::S32x32b, tmem_n};

inline TmemOperand at_column(int column, int lane = 0) { return {address_register, lane, column}; }

// Core matrices of 8 rows x 16 bytes: two along K, then the next 8 rows.
inline SmemOperand smem_operand(std::uint32_t start) {
  return {start, {Major::K, 16, 128, 256}, {0, 4, 3}, 0};
}

inline Tcgen05Mma f16_mma(std::uint32_t a, std::uint32_t b, bool accumulate,
                          TmemOperand d = tmem_base) {
  Tcgen05Mma mma;
  mma.idesc.m = 128;
  mma.idesc.n = tmem_n;
  mma.d = d;
  mma.a = smem_operand(a);
  mma.b = smem_operand(b);
  mma.accumulate = accumulate;
  return mma;
}

// What the programs have in common: 64 threads, warp 0 issues, warp 1 reads lanes 32-63 of D.
struct Tcgen05Tile {
  Program p;
  Address full, done, empty;
  std::uint32_t a, b, slot;
  std::uint64_t in, out;
  Role everybody, mma_warp, mma, epilogue;

  explicit Tcgen05Tile(Launch launch = {.threads = 64})
      : p(launch),
        full(p.mbarrier("full")),
        done(p.mbarrier("done")),
        empty(p.mbarrier("empty")),
        a(p.shared("A", tcgen05_a_bytes)),
        b(p.shared("B", tcgen05_b_bytes)),
        slot(p.shared("tmem_address", 4)),
        in(p.global(small_numbers(tcgen05_a_bytes))),
        out(result_buffer(p, 2 * 32 * 4 * tmem_n)),
        everybody(p.warps("all", 0, 2)),
        mma_warp(p.warps("mma", 0, 1)),
        mma(mma_warp.elect()),
        epilogue(p.warps("epilogue", 1, 1)) {}
  Tcgen05Tile(const Tcgen05Tile&) = delete;
  Tcgen05Tile& operator=(const Tcgen05Tile&) = delete;

  void init_barriers() {
    everybody.elect().mbarrier_init(full, 1).mbarrier_init(done, 1).mbarrier_init(empty, 32);
    everybody.elect().fence_mbarrier_init();
  }
  void start(int columns = 32) {
    init_barriers();
    everybody.in_warps(1).tcgen05_alloc(slot, columns);
    everybody.barrier_sync().load_shared({slot, 0}, address_register);
  }
  void load_operands() {
    mma.mbarrier_arrive_expect_tx(full, tcgen05_a_bytes + tcgen05_b_bytes);
    mma.bulk_load(in, a, tcgen05_a_bytes, full).bulk_load(in, b, tcgen05_b_bytes, full);
    mma.mbarrier_try_wait(full, 0);
  }
  void store_tile(int tile = 0) {
    epilogue.store_global(out + static_cast<unsigned>(tile * 32 * 4 * tmem_n), 4 * tmem_n,
                          {0, tmem_n});
  }
  // The accumulator of one mma goes to global memory.
  void read_tile(int parity = 0) {
    epilogue.mbarrier_try_wait(done, parity).tcgen05_fence_after();
    epilogue.tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld().tcgen05_fence_before();
    epilogue.mbarrier_arrive(empty);
    store_tile();
  }
  void finish(int columns = 32) {
    mma_warp.mbarrier_try_wait(empty, 0).tcgen05_dealloc(tmem_base, columns);
  }
};

}  // namespace tcq::catalogue
