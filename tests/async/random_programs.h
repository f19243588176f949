// Programs of a few warps that arrive, wait, copy, load and store at random; most are wrong, many
// subtly.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/async/program.h"

namespace tcq {

// Three warps, few enough steps for every order (every_order.h).
inline machine::Program random_program(std::mt19937& random) {
  using namespace machine;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Program p({.threads = 96});
  const auto barriers = p.mbarriers("b", 2);
  const std::uint32_t data = p.shared("data", 16);
  const std::uint64_t in = p.global(std::vector<std::uint8_t>(16, 9));
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(64));
  Role all = p.warps("all", 0, 3);
  all.elect().mbarrier_init(barriers[0], 1 + below(2)).mbarrier_init(barriers[1], 1 + below(2));
  all.elect().move({0, 1}, 1).store_shared(data, 0);
  all.barrier_sync();
  for (int warp = 0; warp < 3; ++warp) {
    Role one = p.warps("w" + std::to_string(warp), warp, 1).elect();
    const unsigned steps = 1 + below(3);
    for (unsigned i = 0; i < steps; ++i) {
      const Address barrier = barriers[below(2)];
      switch (below(6)) {
        case 0:
        case 1: one.mbarrier_arrive(barrier); break;
        case 2:
        case 3: one.mbarrier_try_wait(barrier, static_cast<int>(below(2))); break;
        case 4:
          one.load_shared(data, 1).store_global(out + 16 * static_cast<unsigned>(warp), 4, {1, 1});
          break;
        default:
          if (below(2) == 0)
            one.move({0, 1}, 10 + static_cast<unsigned>(warp)).store_shared(data, 0);
          else
            one.mbarrier_arrive_expect_tx(barrier, 16)
                .fence_proxy_async()
                .bulk_load(in, data, 16, barrier);
      }
    }
  }
  return p;
}

// One step of a warp of random_larger_program(), which has `own` bytes of data for itself.
struct LargerStep {
  bool tame = false;  // no data that several warps use, and few waits that may never end
  std::uint32_t own = 0;
  std::uint32_t shared = 0;
  std::uint64_t in = 0;
  std::uint64_t out = 0;

  void add(machine::Role warp, const machine::Address& barrier, std::mt19937& random) const {
    using namespace machine;
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Role one = warp.elect();
    switch (below(tame ? 10 : 14)) {
      case 0:
      case 1:
      case 2: one.mbarrier_arrive(barrier); break;
      case 3:
      case 4: one.mbarrier_try_wait(barrier, below(tame ? 8 : 2) == 0 ? 0 : 1); break;
      case 5:
        one.mbarrier_test_wait(barrier, static_cast<int>(below(2)), static_cast<int>(below(4)));
        break;
      case 6:
      case 7:
        one.mbarrier_arrive_expect_tx(barrier, 16)
            .fence_proxy_async()
            .bulk_load(in, own, 16, barrier);
        break;
      case 8: one.bulk_store(own + 32, out, 16).bulk_commit(); break;
      case 9:
        one.move({0, 1}, below(9)).store_shared(own + 16, 0).fence_proxy_async();
        one.bulk_store(own + 16, out, 16).bulk_commit().bulk_wait(0);
        break;
      case 10: one.load_shared(shared, 1).store_global(out, 4, {1, 1}); break;
      case 11: one.move({0, 1}, 10).store_shared(shared, 0); break;
      case 12: warp.barrier_sync(1, 64); break;
      default: one.add(MbarrierExpectTx{barrier, 16}).bulk_load(in, own, 16, barrier);
    }
  }
};

// Two to five warps, up to four mbarriers, six steps of a warp: copies both ways, test_waits, a named
// barrier, mbarriers that begin again.
inline machine::Program random_larger_program(std::mt19937& random) {
  using namespace machine;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const int warps = 2 + static_cast<int>(below(4));
  Program p({.threads = 32 * warps});
  const auto barriers = p.mbarriers("b", 1 + static_cast<int>(below(4)));
  const std::uint32_t data = p.shared("data", 512);
  const std::uint64_t in = p.global(std::vector<std::uint8_t>(16, 9));
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(512));
  Role all = p.warps("all", 0, warps);
  for (const Address& barrier : barriers) all.elect().mbarrier_init(barrier, 1 + below(3));
  all.elect().move({0, 1}, 1).store_shared(data, 0);
  all.barrier_sync();
  const bool tame = below(2) == 0;
  for (int number = 0; number < warps; ++number) {
    Role warp = p.warps("w" + std::to_string(number), number, 1);
    const auto own = static_cast<std::uint32_t>(64 + 64 * number);
    warp.elect()
        .move({0, 4}, 5)
        .store_shared(data + own + 16, 0, 16)
        .store_shared(data + own + 32, 0, 16);
    warp.elect().fence_proxy_async();
    const LargerStep step{tame, data + own, data, in, out + own};
    for (unsigned steps = 1 + below(6); steps > 0; --steps) {
      const Address& barrier = barriers[below(static_cast<unsigned>(barriers.size()))];
      if (!tame && below(24) == 0)
        warp.elect().add(MbarrierInval{barrier}).mbarrier_init(barrier, 1 + below(2));
      else
        step.add(warp, barrier, random);
    }
    if (tame)
      warp.elect().bulk_store(data + own + 32, out + own + 16, 16).bulk_commit().bulk_wait(0);
  }
  return p;
}

// Right unless another warp, which is busy first, arrives before the writer or ahead of the reader:
// in turns nothing is found, at random it is, while stores are in flight.
inline machine::Program rarely_wrong_program(std::mt19937& random) {
  using namespace machine;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Program p({.threads = 96});
  const Address turn = p.mbarrier("turn");
  const Address idle = p.mbarrier("idle");
  const std::uint32_t data = p.shared("data", 64);
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(64));
  Role all = p.warps("all", 0, 3);
  all.elect().mbarrier_init(turn, 1).mbarrier_init(idle, 1);
  all.elect().move({0, 4}, below(9)).store_shared(data + 16, 0, 16).fence_proxy_async();
  all.barrier_sync();
  Role writer = p.warps("writer", 0, 1).elect();
  writer.bulk_store(data + 16, out, 16).bulk_commit();
  writer.move({0, 1}, 1).store_shared(data, 0).mbarrier_arrive(turn).bulk_wait(0);
  p.warps("reader", 1, 1).elect().mbarrier_try_wait(turn, 0).load_shared(data, 0);
  Role busy = p.warps("busy", 2, 1).elect();
  busy.bulk_store(data + 16, out + 32, 16).bulk_commit();
  for (unsigned tests = 2 + below(6); tests > 0; --tests) busy.mbarrier_test_wait(idle, 0, 0);
  busy.mbarrier_arrive(turn).bulk_wait(0);
  return p;
}

}  // namespace tcq
