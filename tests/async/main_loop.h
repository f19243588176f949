// The main loop of a GEMM as a program: one producer warp copies tiles of A and B into a ring of
// stages, consumer warpgroups multiply them. D is 64 * consumers x n, K is 64 * blocks. The first 8 columns of D are stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {

struct MainLoop {
  int blocks = 5;
  int stages = 2;
  int consumers = 1;          // warpgroups, the first ones
  int producer_threads = 32;  // behind them; one copies
  int in_flight = 0;          // wgmma-groups while the next block is multiplied
  int n = mma_n;
  std::uint64_t out = 0;  // below: what program() made
  int map_a = 0;
  int map_b = 0;
  std::vector<Address> full = {};
  std::vector<Address> empty = {};
  std::vector<std::uint32_t> a = {};
  std::vector<std::uint32_t> b = {};

  Program program() {
    Program p({.threads = 128 * consumers + producer_threads, .registers = n <= mma_n ? 128 : 240});
    full = p.mbarriers("full", stages);
    empty = p.mbarriers("empty", stages);
    for (int s = 0; s < stages; ++s) {
      const std::string index = "[" + std::to_string(s) + "]";
      a.push_back(p.shared("A" + index, rows() / 64 * a_bytes, 1024));
      b.push_back(p.shared("B" + index, n_rows() * row_bytes, 1024));
    }
    const auto columns = static_cast<std::uint64_t>(64 * blocks);
    map_a = f16_tensor(p, rows(), columns, 64);
    map_b = f16_tensor(p, n_rows(), columns, n_rows());
    out = result_buffer(p, rows() * mma_n * 4);
    Role all = p.warps("all", 0, p.warps_per_cta());
    for (std::size_t s = 0; s < full.size(); ++s)
      all.elect().mbarrier_init(full[s], 1).mbarrier_init(empty[s], rows() / 16);
    all.elect().fence_mbarrier_init();
    all.barrier_sync();
    Role producer = p.warps("producer", 4 * consumers, 1).elect();
    for (int k = 0; k < blocks; ++k) produce(producer, k);
    for (int c = 0; c < consumers; ++c) consume(p.warps("consumer", 4 * c, 4), c);
    return p;
  }

  std::uint32_t n_rows() const { return static_cast<std::uint32_t>(n); }
  std::uint32_t rows() const { return 64 * static_cast<std::uint32_t>(consumers); }
  std::size_t stage(int k) const { return static_cast<std::size_t>(k % stages); }
  std::uint32_t a_at(int k, int consumer) const {
    return a[stage(k)] + a_bytes * static_cast<std::uint32_t>(consumer);
  }

  void produce(Role& producer, int k) const {
    const Address& landed = full[stage(k)];
    producer.mbarrier_try_wait(empty[stage(k)], k / stages + 1);
    producer.mbarrier_arrive_expect_tx(landed, rows() / 64 * a_bytes + n_rows() * row_bytes);
    for (int c = 0; c < consumers; ++c)
      producer.tensor_load(map_a, {{64 * k, 64 * c}}, a_at(k, c), landed);
    producer.tensor_load(map_b, {{64 * k, 0}}, b[stage(k)], landed);
  }

  void consume(Role consumer, int c) const {
    for (int k = 0; k < blocks; ++k) {
      consumer.mbarrier_try_wait(full[stage(k)], k / stages).wgmma_fence();
      for (std::uint32_t step = 0; step < 4; ++step) {
        wgmma::Instruction op = mma(descriptor(a_at(k, c) + 32 * step),
                                    descriptor(b[stage(k)] + 32 * step), k > 0 || step > 0);
        op.form.n = n;
        consumer.wgmma(op, {0, wgmma::accumulator_registers(Type::f32, n)});
      }
      consumer.wgmma_commit().wgmma_wait(in_flight);
      if (k >= in_flight) consumer.elect_per_warp().mbarrier_arrive(empty[stage(k - in_flight)]);
    }
    if (in_flight > 0) consumer.wgmma_wait(0);
    store_result(consumer, out + 128 * 16 * static_cast<std::uint64_t>(c));
  }
};

}  // namespace tcq::catalogue
