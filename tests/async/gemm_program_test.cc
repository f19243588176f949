// The protocol of the GEMM kernel as a program of the simulator, in many orders that hardware may
// choose: the ring of stages, a cluster that multicasts, the staging of D.
//
// Small sizes, the cooperative kernel's structure (cuda/gemm/kernel.cuh, cuda/gemm/epilogue.cuh); D leaves
// in the order of its registers. Each step that a kernel could forget is left out once, and has to be
// missed. The kernel itself has two of them otherwise (struct Steps): cuda/NOTES.md.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/machine/tma.h"
#include "tests/async/catalogue_kit.h"
#include "tests/async/some_orders.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::a_bytes;
using catalogue::b_bytes;
using catalogue::d_registers;
using catalogue::descriptor;
using catalogue::f16_tensor;
using catalogue::mma;
using catalogue::mma_n;

constexpr int ctas = 2;  // of the cluster: one below the other, they share B
constexpr int consumers = 2;
constexpr int warps = 4 * (consumers + 1);
constexpr std::uint32_t staged_bytes = 128 * 16;  // 64 x 8 f32

// What may be left out or done otherwise.
struct Steps {
  bool releases = true;      // .release.cluster: cuda/gemm/kernel.cuh has .relaxed.cluster
  bool cluster_wait = true;  // .acquire.cluster for empty: cuda/gemm/ring.cuh has .acquire.cta
  bool fences_staging = true;
  bool waits_for_staging = true;
  bool drains_ring = true;
  bool counts_peer = true;
  bool waits_one_group = true;
  bool meets_at_start = true;
};

// Two tiles beside each other of each of two CTAs: D is 256 x 16, K is 64 * blocks.
class ClusterGemm {
 public:
  static constexpr int tiles = 2;
  static constexpr int stages = 2;

  explicit ClusterGemm(int k_blocks, Steps steps = {})
      : blocks_(k_blocks), steps_(steps), program_({ctas, 32 * warps, 168}) {
    const auto columns = static_cast<std::uint64_t>(64 * blocks_);
    map_a_ = f16_tensor(program_, 64 * ctas * consumers, columns, 64);
    map_b_ = f16_tensor(program_, tiles * 2 * mma_n, columns, mma_n);
    map_d_ = d_tensor();
    full_ = program_.mbarriers("full", stages);
    empty_ = program_.mbarriers("empty", stages);
    for (int s = 0; s < stages; ++s) {
      const std::string index = "[" + std::to_string(s) + "]";
      a_.push_back(program_.shared("A" + index, consumers * a_bytes, 1024));
      b_.push_back(program_.shared("B" + index, 2 * b_bytes, 1024));
    }
    for (int c = 0; c < consumers; ++c)
      staging_.push_back(program_.shared("D" + std::to_string(c), 2 * staged_bytes, 1024));
    start();
    for (int cta = 0; cta < ctas; ++cta) {
      produce(cta);
      for (int c = 0; c < consumers; ++c) consume(cta, c);
    }
  }

  const Program& program() const { return program_; }
  std::uint64_t out() const { return out_; }
  int map_a() const { return map_a_; }
  int map_b() const { return map_b_; }

 private:
  // One row of 4 f32 for each thread of each m64 x n8 result.
  int d_tensor() {
    tma::TensorMap map;
    map.type = tma::DataType::Float32;
    map.rank = 2;
    map.dims[0] = 4;
    map.dims[1] = 128 * 2 * tiles * ctas * consumers;
    map.stride_bytes[0] = 16;
    map.box[0] = 4;
    map.box[1] = 128;
    out_ = map.address = catalogue::result_buffer(program_, 16 * map.dims[1]);
    return program_.tensor(map);
  }

  void start() {
    Role all = program_.warps("all", 0, warps);
    const auto arrivals = static_cast<std::uint32_t>(4 * consumers * (steps_.counts_peer ? 2 : 1));
    for (int s = 0; s < stages; ++s) {
      all.elect().mbarrier_init(full_[index(s)], 1);
      all.elect().mbarrier_init(empty_[index(s)], arrivals);
    }
    all.elect().fence_mbarrier_init();
    if (steps_.meets_at_start)
      all.add(ClusterArrive{true}).cluster_wait();
    else
      all.barrier_sync();
    program_.warps("producers", 0, 4).setmaxnreg_dec(40);
    for (int c = 0; c < consumers; ++c)
      program_.warps("consumers", 4 + 4 * c, 4).setmaxnreg_inc(232);
  }

  // Brings both blocks of A, and one of the two of B to both CTAs.
  void produce(int cta) {
    Role producer = program_.warps("producer", 0, 1, cta).elect();
    int turn = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      for (int k = 0; k < blocks_; ++k, ++turn) {
        const int s = turn % stages;
        wait_for_empty(producer, turn);
        producer.mbarrier_arrive_expect_tx(full_[index(s)], consumers * a_bytes + 2 * b_bytes);
        for (int c = 0; c < consumers; ++c)
          producer.tensor_load(map_a_, {{64 * k, 64 * (cta * consumers + c)}}, a_at(s, c),
                               full_[index(s)]);
        producer.tensor_load(map_b_, {{64 * k, mma_n * (2 * tile + cta)}},
                             b_[index(s)] + b_bytes * static_cast<std::uint32_t>(cta),
                             full_[index(s)], 0b11);
      }
    }
    for (int i = 0; steps_.drains_ring && i < stages; ++i, ++turn) wait_for_empty(producer, turn);
  }

  void wait_for_empty(Role& producer, int turn) const {
    producer.mbarrier_try_wait(empty_[index(turn % stages)], turn / stages + 1,
                               steps_.cluster_wait ? Scope::Cluster : Scope::Cta);
  }

  void consume(int cta, int c) {
    Role consumer = program_.warps("consumer", 4 + 4 * c, 4, cta);
    int turn = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      for (int k = 0; k < blocks_; ++k, ++turn) {
        multiply(consumer, turn, c, k == 0);
        if (k > 0) release(consumer, (turn - 1) % stages);
      }
      consumer.wgmma_wait(0);
      release(consumer, (turn - 1) % stages);
      for (int half = 0; half < 2; ++half) store(consumer, cta, c, tile, half);
    }
    consumer.elect().bulk_wait_read(0);
  }

  void multiply(Role& consumer, int turn, int c, bool first) {
    const int s = turn % stages;
    consumer.mbarrier_try_wait(full_[index(s)], turn / stages).wgmma_fence();
    for (std::uint32_t step = 0; step < 4; ++step) {
      for (std::uint32_t half = 0; half < 2; ++half)
        consumer.wgmma(
            mma(descriptor(a_at(s, c) + 32 * step),
                descriptor(b_[index(s)] + half * b_bytes + 32 * step), !first || step > 0),
            half == 0 ? d_registers : RegisterRange{4, 4});
    }
    consumer.wgmma_commit().wgmma_wait(steps_.waits_one_group ? 1 : 2);
  }

  void release(Role& consumer, int stage) {
    for (int peer = 0; peer < (steps_.counts_peer ? ctas : 1); ++peer) {
      Role lane = consumer.elect_per_warp();
      lane.add(MbarrierArrive{empty_[index(stage)].in(peer), 1, Scope::Cluster, !steps_.releases,
                              false});
    }
  }

  // One block of D through its buffer: acquire, write, send.
  void store(Role& consumer, int cta, int c, int tile, int half) {
    const std::uint32_t buffer =
        staging_[index(c)] + staged_bytes * static_cast<std::uint32_t>(half);
    if (steps_.waits_for_staging) consumer.elect().bulk_wait_read(1);
    consumer.barrier_sync(1 + c, 128);
    consumer.store_shared({buffer, 16}, 4 * half, 16);
    if (steps_.fences_staging) consumer.fence_proxy_async();
    consumer.barrier_sync(1 + c, 128);
    const int block = ((cta * consumers + c) * tiles + tile) * 2 + half;
    consumer.elect().tensor_store(map_d_, {{0, 128 * block}}, buffer).bulk_commit();
  }

  std::uint32_t a_at(int stage, int c) const {
    return a_[index(stage)] + a_bytes * static_cast<std::uint32_t>(c);
  }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  int blocks_;
  Steps steps_;
  Program program_;
  std::vector<Address> full_;
  std::vector<Address> empty_;
  std::vector<std::uint32_t> a_;
  std::vector<std::uint32_t> b_;
  std::vector<std::uint32_t> staging_;
  int map_a_ = 0;
  int map_b_ = 0;
  int map_d_ = 0;
  std::uint64_t out_ = 0;
};

// The registers of one m64 x n8 block: the same chain, each instruction executed at once.
std::vector<std::uint32_t> chain(const Program& program, int map_a, int map_b, int row, int col,
                                 int blocks) {
  wgmma::State state;
  state.shared = SharedMemory(shared_base_sm90, a_bytes + b_bytes);
  state.registers.d.resize(128 * 4);
  for (int k = 0; k < blocks; ++k) {
    const auto load = [&](int map, int first, std::uint32_t to) {
      const tma::Tile tile{program.maps()[static_cast<std::size_t>(map)], {{64 * k, first}}, to};
      tma::execute(tma::Load{tile}, state.shared, program.initial_global());
    };
    load(map_a, row, 1024);
    load(map_b, col, 1024 + a_bytes);
    for (std::uint32_t step = 0; step < 4; ++step)
      wgmma::execute(state, mma(descriptor(1024 + 32 * step),
                                descriptor(1024 + a_bytes + 32 * step), k > 0 || step > 0));
  }
  return state.registers.d;
}

Fault fault_of(const Steps& steps, int blocks = 3) {
  const ClusterGemm gemm(blocks, steps);
  return fault_in(gemm.program());
}

TEST(Gemm_Program, AClusterThatMulticastsIsRightToTheBit) {
  for (const int blocks : {1, 2, 3}) {
    const ClusterGemm gemm(blocks);
    const Report report = explore_some(gemm.program());
    ASSERT_EQ(report.outcome, Outcome::Right)
        << blocks << ": " << oracle::report_text(gemm.program(), report);
    for (int cta = 0; cta < ctas; ++cta) {
      for (int c = 0; c < consumers; ++c) {
        for (int column = 0; column < 2 * ClusterGemm::tiles; ++column) {
          const int row = cta * consumers + c;
          const auto want =
              chain(gemm.program(), gemm.map_a(), gemm.map_b(), 64 * row, mma_n * column, blocks);
          std::vector<std::uint32_t> got(want.size());
          const auto block = static_cast<std::size_t>(row * 2 * ClusterGemm::tiles + column);
          std::memcpy(got.data(), &report.global[gemm.out() + block * staged_bytes], staged_bytes);
          ASSERT_EQ(got, want) << row << " " << column;
        }
      }
    }
  }
}

TEST(Gemm_Program, WhatIsLeftOutIsMissed) {
  EXPECT_NE(fault_of({.fences_staging = false}), Fault::None);
  EXPECT_NE(fault_of({.waits_for_staging = false}), Fault::None);
  EXPECT_NE(fault_of({.drains_ring = false}), Fault::None);
  EXPECT_NE(fault_of({.counts_peer = false}), Fault::None);
  EXPECT_NE(fault_of({.waits_one_group = false}), Fault::None);
  EXPECT_NE(fault_of({.meets_at_start = false}), Fault::None);
}

// With arrivals that release nothing, or waits of the CTA only, PTX's memory model orders neither the
// next copy into a stage nor the end of a CTA.
TEST(Gemm_Program, WhatTheKernelLeavesToTheHardwareIsNamed) {
  EXPECT_EQ(fault_of({.releases = false}), Fault::ReleaseMissing);
  EXPECT_EQ(fault_of({.releases = false}, 1), Fault::ReleaseMissing);
  EXPECT_EQ(fault_of({.cluster_wait = false}), Fault::ScopeAssumed);
  EXPECT_EQ(fault_of({.cluster_wait = false}, 1), Fault::ScopeAssumed);
}

}  // namespace
}  // namespace tcq
