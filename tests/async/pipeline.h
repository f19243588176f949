// Draws producer-consumer pipelines that are right: rings of stages, filled by bulk copies, tensor
// copies or plain stores, read by wgmma or plain loads; what seeded_bugs.h puts bugs into.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/async/catalogue_kit.h"

namespace tcq::seeded {

using namespace machine;

enum class Fill { Bulk, Tensor, Stores };

struct Pipeline {
  int stages = 2;
  int blocks = 5;
  int consumers = 1;  // warpgroups that multiply; or warps that load
  Fill fill = Fill::Tensor;
  bool multiplies = true;
  bool late_release = false;  // one group stays in flight
  bool stores_by_copy = false;
};

inline Pipeline draw_pipeline(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Pipeline p;
  p.stages = 1 + below(4);
  p.multiplies = below(3) != 0;
  p.blocks = p.stages + 1 + below(static_cast<unsigned>(p.stages) + 2);
  p.consumers = 1 + below(2);
  p.fill = static_cast<Fill>(below(3));
  p.late_release = p.stages > 1 && below(2) == 0;
  p.stores_by_copy = below(2) == 0;
  return p;
}

// Roles: "all" initialises, "producer" fills, "consumer" reads, writes its sum and leaves.
class PipelineProgram {
 public:
  explicit PipelineProgram(const Pipeline& p)
      : p_(p),
        consumer_warps_(p.consumers * (p.multiplies ? 4 : 1)),
        program_({.threads = 32 * (consumer_warps_ + 1)}) {
    full_ = program_.mbarriers("full", p.stages);
    empty_ = program_.mbarriers("empty", p.stages);
    for (int s = 0; s < p.stages; ++s) {
      const std::string index = "[" + std::to_string(s) + "]";
      a_.push_back(program_.shared("A" + index, catalogue::a_bytes, 1024));
      b_.push_back(program_.shared("B" + index, catalogue::b_bytes, 1024));
    }
    staging_ = program_.shared("D", static_cast<std::uint32_t>(consumer_warps_) * 512, 128);
    const auto columns = static_cast<std::uint64_t>(64 * p.blocks);
    if (p.fill == Fill::Tensor) {
      map_a_ = catalogue::f16_tensor(program_, 64, columns, 64);
      map_b_ = catalogue::f16_tensor(program_, catalogue::mma_n, columns, catalogue::mma_n);
    }
    in_ = program_.global(catalogue::small_numbers(catalogue::a_bytes));
    out_ = catalogue::result_buffer(program_, static_cast<std::size_t>(consumer_warps_) * 512);
    start();
    for (int k = 0; k < p.blocks; ++k) {
      produce(k);
      consume(k);
    }
    leave();
  }

  const Program& program() const { return program_; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  Role consumer() { return program_.warps("consumer", 0, consumer_warps_); }

  void start() {
    Role all = program_.warps("all", 0, consumer_warps_ + 1);
    for (int s = 0; s < p_.stages; ++s) {
      all.elect().mbarrier_init(full_[index(s)], p_.fill == Fill::Stores ? 32 : 1);
      all.elect().mbarrier_init(empty_[index(s)], static_cast<std::uint32_t>(consumer_warps_));
    }
    all.elect().fence_mbarrier_init();
    all.barrier_sync();
  }

  void produce(int k) {
    const std::size_t s = index(k % p_.stages);
    Role producer = program_.warps("producer", consumer_warps_, 1);
    Role one = producer.elect();
    (p_.fill == Fill::Stores ? producer : one).mbarrier_try_wait(empty_[s], k / p_.stages + 1);
    if (p_.fill == Fill::Stores) {
      producer.move({0, 4}, 0x3c003c00);
      for (std::uint32_t at = 0; at < catalogue::b_bytes; at += 512)
        producer.store_shared({b_[s] + at, 16}, 0, 16);
      for (std::uint32_t at = 0; at < catalogue::a_bytes; at += 512)
        producer.store_shared({a_[s] + at, 16}, 0, 16);
      producer.fence_proxy_async();
      producer.mbarrier_arrive(full_[s]);
      return;
    }
    one.mbarrier_arrive_expect_tx(full_[s], catalogue::a_bytes + catalogue::b_bytes);
    if (p_.fill == Fill::Tensor) {
      one.tensor_load(map_a_, {{64 * k, 0}}, a_[s], full_[s]);
      one.tensor_load(map_b_, {{64 * k, 0}}, b_[s], full_[s]);
    } else {
      one.bulk_load(in_, a_[s], catalogue::a_bytes, full_[s]);
      one.bulk_load(in_, b_[s], catalogue::b_bytes, full_[s]);
    }
  }

  void consume(int k) {
    const std::size_t s = index(k % p_.stages);
    Role warps = consumer();
    warps.mbarrier_try_wait(full_[s], k / p_.stages);
    if (!p_.multiplies) {
      warps.load_shared({a_[s], 4}, 0);
      warps.load_shared({b_[s], 4}, 1);
      warps.move({2, 1}, 0);
      warps.copy({2, 1}, 0);
      warps.fence_proxy_async();
      release(static_cast<int>(s));
      return;
    }
    warps.wgmma_fence();
    for (std::uint32_t step = 0; step < 4; ++step)
      warps.wgmma(catalogue::mma(catalogue::descriptor(a_[s] + 32 * step),
                                 catalogue::descriptor(b_[s] + 32 * step), k > 0 || step > 0),
                  catalogue::d_registers);
    warps.wgmma_commit();
    if (!p_.late_release) {
      warps.wgmma_wait(0);
      release(static_cast<int>(s));
      return;
    }
    warps.wgmma_wait(1);
    if (k > 0) release((k - 1) % p_.stages);
  }

  void release(int stage) { consumer().elect_per_warp().mbarrier_arrive(empty_[index(stage)]); }

  void leave() {
    Role warps = consumer();
    if (p_.multiplies && p_.late_release) warps.wgmma_wait(0);
    if (!p_.stores_by_copy) {
      warps.store_global(out_, 16, {0, p_.multiplies ? 4 : 2});
      return;
    }
    warps.store_shared({staging_, 16}, 0, p_.multiplies ? 16 : 8);
    if (!p_.multiplies) warps.store_shared({staging_ + 8, 16}, 0, 8);
    warps.fence_proxy_async();
    warps.barrier_sync(1, 32 * consumer_warps_);
    warps.elect().bulk_store(staging_, out_, static_cast<std::uint32_t>(consumer_warps_) * 512);
    warps.elect().bulk_commit();
    warps.elect().bulk_wait(0);
  }

  Pipeline p_;
  int consumer_warps_;
  Program program_;
  std::vector<Address> full_, empty_;
  std::vector<std::uint32_t> a_, b_;
  std::uint32_t staging_ = 0;
  int map_a_ = 0, map_b_ = 0;
  std::uint64_t in_ = 0, out_ = 0;
};

}  // namespace tcq::seeded
