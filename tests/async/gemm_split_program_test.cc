// The protocol of the GEMM kernel for few rows as a program of the simulator, in many orders that
// hardware may choose: K split among the CTAs of a cluster, peers that multicast the rows of D.
//
// Small sizes, the steps of cuda/gemm/skinny.cuh. A warp of the machine cannot add, so an owner
// stores the parts of its slice that the kernel would sum, in the order in which it would. Each step
// that a kernel could forget is left out once, and has to be missed. The kernel has three of them
// otherwise (struct Steps): by PTX's memory model nothing then orders the next copy into a stage that
// peers share behind the copy before, nor the end of a CTA behind the reading of what it sent. In
// time both are ordered: whoever arrives has seen the end of the copy, and of its own reading.
//
// What the machine does not see: the cluster barrier at the end of peers that do not split. Without
// it nothing is found, for each CTA waits for all copies and arrivals that come to it, and a multicast
// in flight uses nothing of the CTA that issued it. Whether hardware needs it was not asked.
// griddepcontrol and prefetches are not in the program, and all CTAs have equally many blocks of K.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sim/isa/base/cluster.h"
#include "sim/isa/fault/fault.h"
#include "sim/machine/tma.h"
#include "tests/async/catalogue_kit.h"
#include "tests/async/some_orders.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::a_bytes;
using catalogue::descriptor;
using catalogue::row_bytes;

constexpr int tokens = 16;
constexpr int weights = 64;  // of a consumer
constexpr int registers = 8;
constexpr std::uint32_t register_bytes = 128 * 4;  // of a warpgroup
constexpr std::uint32_t tokens_bytes = tokens * row_bytes;
constexpr int stages = 2;

// m64n16k16.
wgmma::Instruction mma(std::uint64_t a, std::uint64_t b, bool accumulate) {
  wgmma::Instruction op = catalogue::mma(a, b, accumulate);
  op.form.n = tokens;
  return op;
}

// f16 of many sizes, whose sums are rounded.
std::vector<std::uint8_t> many_numbers(std::size_t count) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(count));
  std::vector<std::uint8_t> data(2 * count);
  for (std::size_t i = 0; i < data.size(); i += 2) {
    data[i] = static_cast<std::uint8_t>(random());
    data[i + 1] = static_cast<std::uint8_t>(0x38 + random() % 12);
  }
  return data;
}

// Of a problem and its cluster. Every CTA has `blocks` blocks of K.
struct Cut {
  int split = 1;
  int peers = 1;
  int blocks = 3;
  int consumers = 1;

  int ctas() const { return split * peers; }
  // CTAs of a tile that complete a slice of 8 tokens, or all of them: the first ones.
  int owners() const { return split == 1 ? 1 : tokens / 8; }
  bool owns(int cta) const { return cta % split < owners(); }
};

constexpr Cut splits = {.split = 2};
constexpr Cut peers = {.peers = 2};

// What may be left out or done otherwise.
struct Steps {
  bool releases = true;      // .release.cluster: cuda/gemm/skinny.cuh has .relaxed.cluster
  bool cluster_wait = true;  // .acquire.cluster for empty: cuda/gemm/ring.cuh has .acquire.cta
  bool releases_end = true;  // the last cluster arrival releases: cuda/gemm/skinny.cuh has .relaxed
  bool keeps_last = true;    // the last blocks are not released
  bool fences_inits = true;
  bool meets_before_sending = true;  // else behind it
  bool meets_before_loading = true;  // likewise
  bool expects_parts = true;
  bool leaves_stages = true;  // both consumers have, before one writes there
  bool fences_parts = true;
  bool gathers_parts = true;  // all warps have written before one thread sends
  bool waits_for_parts = true;
  bool fences_store = true;
  bool waits_for_store = true;
  bool meets_at_end = true;
};

class SkinnyGemm {
 public:
  explicit SkinnyGemm(const Cut& cut, const Steps& steps = {})
      : cut_(cut), steps_(steps), program_({cut.ctas(), 32 * (4 * cut.consumers + 1)}) {
    const std::size_t columns = index(64 * cut_.blocks * cut_.split);
    const std::size_t rows = index(weights * cut_.consumers * cut_.peers);
    map_w_ = catalogue::f16_tensor_of(program_, many_numbers(rows * columns), columns, weights);
    map_x_ = catalogue::f16_tensor_of(program_, many_numbers(tokens * columns), columns, share());
    out_ = catalogue::result_buffer(program_, bytes(cut_.ctas() * cut_.consumers, stored_bytes()));
    full_ = program_.mbarriers("full", stages);
    empty_ = program_.mbarriers("empty", stages);
    received_ = program_.mbarriers("received", cut_.consumers);
    stages_ = program_.shared("stages", stages * stage_bytes(), 1024);
    receive_ = program_.shared("receive", bytes(cut_.consumers * cut_.split, slice_bytes()));
    start();
    for (int cta = 0; cta < cut_.ctas(); ++cta) {
      for (int c = 0; c < cut_.consumers; ++c) consume(cta, c);
      produce(cta);
    }
    if (steps_.meets_at_end) program_.warps("all", 0, warps()).cluster_wait();
  }

  const Program& program() const { return program_; }

  // What the owner `cta` stored for a consumer: its slice of the part of K of each CTA.
  std::vector<std::uint32_t> stored(const Report& report, int cta, int c) const {
    std::vector<std::uint32_t> words(stored_bytes() / 4);
    std::memcpy(words.data(), &report.global[out_of(cta, c)], stored_bytes());
    return words;
  }

  // The same from each chain, its instructions executed at once.
  std::vector<std::uint32_t> chains(int cta, int c) const {
    std::vector<std::uint32_t> words;
    for (int part = 0; part < cut_.split; ++part) {
      const std::vector<std::uint32_t> d = chain(cta / cut_.split, c, part);
      for (int r = 0; r < slice_registers(); ++r)
        for (std::size_t thread = 0; thread < 128; ++thread)
          words.push_back(d[thread * registers + index(first_register(cta) + r)]);
    }
    return words;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static std::uint32_t bytes(int count, std::uint32_t each) {
    return static_cast<std::uint32_t>(count) * each;
  }
  int warps() const { return 4 * cut_.consumers + 1; }
  int part_of(int cta) const { return cta % cut_.split; }
  int peer_of(int cta) const { return cta / cut_.split; }
  int rank(int part, int peer) const { return part + peer * cut_.split; }
  std::uint32_t share() const { return static_cast<std::uint32_t>(tokens / cut_.peers); }
  int slice_registers() const { return registers / cut_.owners(); }
  int first_register(int cta) const { return part_of(cta) * slice_registers(); }
  std::uint32_t slice_bytes() const { return bytes(slice_registers(), register_bytes); }
  std::uint32_t stored_bytes() const { return bytes(cut_.split, slice_bytes()); }
  std::uint32_t stage_bytes() const { return bytes(cut_.consumers, a_bytes) + tokens_bytes; }
  std::uint64_t out_of(int cta, int c) const {
    return out_ + bytes(cta * cut_.consumers + c, stored_bytes());
  }
  std::uint32_t weights_at(int stage, int c) const {
    return stages_ + bytes(stage, stage_bytes()) + bytes(c, a_bytes);
  }
  std::uint32_t tokens_at(int stage) const { return weights_at(stage, cut_.consumers); }
  // In place of the stages.
  std::uint32_t send_at(int c, int owner) const {
    return stages_ + bytes(c * cut_.owners() + owner, slice_bytes());
  }
  std::uint32_t store_at(int c) const {
    const std::uint32_t behind = cut_.split > 1 ? send_at(cut_.consumers, 0) : stages_;
    return behind + bytes(c, stored_bytes());
  }
  // Parts of other CTAs, in ascending order.
  std::uint32_t receive_at(int c, int owner, int from) const {
    return receive_ + bytes(c * (cut_.split - 1) + (from < owner ? from : from - 1), slice_bytes());
  }

  void start() {
    Role all = program_.warps("all", 0, warps());
    Role first = all.elect();
    for (int s = 0; s < stages; ++s) {
      first.mbarrier_init(full_[index(s)], 1);
      first.mbarrier_init(empty_[index(s)],
                          static_cast<std::uint32_t>(4 * cut_.consumers * cut_.peers));
    }
    for (int c = 0; cut_.split > 1 && c < cut_.consumers; ++c) {
      first.mbarrier_init(received_[index(c)], 1);
      if (steps_.expects_parts)
        first.mbarrier_arrive_expect_tx(received_[index(c)], bytes(cut_.split - 1, slice_bytes()));
      else
        first.mbarrier_arrive(received_[index(c)]);
    }
    if (steps_.fences_inits) first.fence_mbarrier_init();
    all.barrier_sync();
    arrive(all, false);
  }

  static void arrive(Role& role, bool releases) { role.add(ClusterArrive{!releases}); }

  // --- the producer --------------------------------------------------------------------------------

  void produce(int cta) {
    Role warp = program_.warps("producer", 4 * cut_.consumers, 1, cta);
    const bool meets_first = cut_.peers > 1 && steps_.meets_before_loading;
    if (meets_first) warp.cluster_wait();
    for (int turn = 0; turn < cut_.blocks; ++turn) load(warp.elect(), cta, turn);
    warp.warp_sync();
    if (!meets_first) warp.cluster_wait();
    arrive(warp, steps_.releases_end);
  }

  // A block of the own weights, and a share of the tokens for all peers.
  void load(Role producer, int cta, int turn) {
    const int s = turn % stages;
    const int k = 64 * (part_of(cta) * cut_.blocks + turn);
    producer.mbarrier_try_wait(empty_[index(s)], turn / stages + 1,
                               steps_.cluster_wait ? Scope::Cluster : Scope::Cta);
    producer.mbarrier_arrive_expect_tx(full_[index(s)], stage_bytes());
    for (int c = 0; c < cut_.consumers; ++c)
      producer.tensor_load(map_w_, {{k, weights * (peer_of(cta) * cut_.consumers + c)}},
                           weights_at(s, c), full_[index(s)]);
    const std::uint32_t row = static_cast<std::uint32_t>(peer_of(cta)) * share();
    const std::uint16_t mask =
        cut_.peers == 1 ? std::uint16_t{0} : multicast_mask(part_of(cta), cut_.split, cut_.peers);
    producer.tensor_load(map_x_, {{k, static_cast<int>(row)}}, tokens_at(s) + row * row_bytes,
                         full_[index(s)], mask);
  }

  // --- the consumers -------------------------------------------------------------------------------

  void consume(int cta, int c) {
    Role consumer = program_.warps("consumer", 4 * c, 4, cta);
    for (int turn = 0; turn < cut_.blocks; ++turn) {
      multiply(consumer, turn, c);
      const bool loaded_again = turn + stages <= cut_.blocks;
      if (turn > 0 && (loaded_again || !steps_.keeps_last)) release(consumer, cta, turn - 1);
    }
    consumer.wgmma_wait(0);
    if (!steps_.keeps_last) release(consumer, cta, cut_.blocks - 1);
    if (cut_.split > 1) {
      exchange(consumer, cta, c);
    } else {
      consumer.cluster_wait();
      arrive(consumer, steps_.releases_end);
      leave_stages(consumer);
    }
    if (cut_.owns(cta)) store(consumer, cta, c);
  }

  void multiply(Role& consumer, int turn, int c) {
    const int s = turn % stages;
    consumer.mbarrier_try_wait(full_[index(s)], turn / stages).wgmma_fence();
    for (std::uint32_t step = 0; step < 4; ++step)
      consumer.wgmma(mma(descriptor(weights_at(s, c) + 32 * step),
                         descriptor(tokens_at(s) + 32 * step), turn > 0 || step > 0),
                     {0, registers});
    consumer.wgmma_commit().wgmma_wait(1);
  }

  void release(Role& consumer, int cta, int turn) {
    for (int peer = 0; peer < cut_.peers; ++peer) {
      Role lane = consumer.elect_per_warp();
      const Address empty = empty_[index(turn % stages)];
      if (cut_.peers == 1)
        lane.mbarrier_arrive(empty);
      else
        lane.add(MbarrierArrive{empty.in(rank(part_of(cta), peer)), 1, Scope::Cluster,
                                !steps_.releases, false});
    }
  }

  void leave_stages(Role& consumer) const {
    if (steps_.leaves_stages) consumer.barrier_sync(1, 128 * cut_.consumers);
  }

  static Address word(std::uint32_t block, int r) { return {block + bytes(r, register_bytes), 4}; }

  // Afterwards the registers hold the parts of the own slice.
  void exchange(Role& consumer, int cta, int c) {
    leave_stages(consumer);
    for (int r = 0; r < registers; ++r) consumer.store_shared(word(send_at(c, 0), r), r);
    if (steps_.fences_parts) consumer.fence_proxy_async();
    if (steps_.meets_before_sending) consumer.cluster_wait();
    if (steps_.gathers_parts) consumer.barrier_sync(2 + c, 128);
    const int own = part_of(cta);
    const Address received = received_[index(c)];
    for (int owner = 0; owner < cut_.owners(); ++owner) {
      if (owner == own) continue;
      const int to = rank(owner, peer_of(cta));
      consumer.in_warps(1)
          .lanes(1u << owner)
          .bulk_send(send_at(c, owner), Address(receive_at(c, owner, own)).in(to), slice_bytes(),
                     received.in(to));
    }
    if (!steps_.meets_before_sending) consumer.cluster_wait();
    const bool owns = cut_.owns(cta);
    if (owns && steps_.waits_for_parts) consumer.mbarrier_try_wait(received, 0);
    arrive(consumer, steps_.releases_end);
    if (!owns) return;
    for (int from = 0; from < cut_.split; ++from)
      for (int r = 0; r < slice_registers(); ++r)
        consumer.load_shared(word(from == own ? send_at(c, own) : receive_at(c, own, from), r),
                             from * slice_registers() + r);
  }

  void store(Role& consumer, int cta, int c) {
    for (int r = 0; r < cut_.split * slice_registers(); ++r)
      consumer.store_shared(word(store_at(c), r), r);
    if (steps_.fences_store) consumer.fence_proxy_async();
    consumer.barrier_sync(2 + c, 128);
    Role lane = consumer.elect();
    lane.bulk_store(store_at(c), out_of(cta, c), stored_bytes()).bulk_commit();
    if (steps_.waits_for_store) lane.bulk_wait_read(0);
  }

  // The sums of one part of K.
  std::vector<std::uint32_t> chain(int peer, int c, int part) const {
    wgmma::State state;
    state.shared = SharedMemory(shared_base_sm90, a_bytes + tokens_bytes);
    state.registers.d.resize(128 * registers);
    const auto load = [&](int map, int k, int row, std::uint32_t to) {
      const tma::Tile tile{program_.maps()[index(map)], {{k, row}}, to};
      tma::execute(tma::Load{tile}, state.shared, program_.initial_global());
    };
    for (int block = 0; block < cut_.blocks; ++block) {
      const int k = 64 * (part * cut_.blocks + block);
      load(map_w_, k, weights * (peer * cut_.consumers + c), 1024);
      for (std::uint32_t row = 0; row < tokens; row += share())
        load(map_x_, k, static_cast<int>(row), 1024 + a_bytes + row * row_bytes);
      for (std::uint32_t step = 0; step < 4; ++step)
        wgmma::execute(state, mma(descriptor(1024 + 32 * step),
                                  descriptor(1024 + a_bytes + 32 * step), block > 0 || step > 0));
    }
    return state.registers.d;
  }

  Cut cut_;
  Steps steps_;
  Program program_;
  std::vector<Address> full_;
  std::vector<Address> empty_;
  std::vector<Address> received_;
  std::uint32_t stages_ = 0;
  std::uint32_t receive_ = 0;
  int map_w_ = 0;
  int map_x_ = 0;
  std::uint64_t out_ = 0;
};

Fault fault_of(const Cut& cut, const Steps& steps) {
  const SkinnyGemm gemm(cut, steps);
  return fault_in(gemm.program());
}

void expect_right(const Cut& cut, const Steps& steps = {}) {
  const SkinnyGemm gemm(cut, steps);
  const Report report = explore_some(gemm.program());
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(gemm.program(), report);
  for (int cta = 0; cta < cut.ctas(); ++cta)
    for (int c = 0; cut.owns(cta) && c < cut.consumers; ++c)
      ASSERT_EQ(gemm.stored(report, cta, c), gemm.chains(cta, c)) << cta << " " << c;
}

TEST(Gemm_SplitProgram, ASplitClusterIsRightToTheBit) {
  for (const int blocks : {1, 2, 3, 5}) expect_right({.split = 2, .blocks = blocks});
  expect_right({.split = 2, .consumers = 2});
  for (const int split : {3, 4}) expect_right({.split = split, .blocks = 1});  // 2 of them own
}

// As the kernel ends: their last arrivals release nothing.
TEST(Gemm_SplitProgram, PeersThatMulticastAreRightToTheBit) {
  for (const int blocks : {1, 2, 3, 5})
    expect_right({.peers = 2, .blocks = blocks}, {.releases_end = false});
  expect_right({.peers = 2, .consumers = 2}, {.releases_end = false});
}

TEST(Gemm_SplitProgram, PeersThatSplitAreRightToTheBit) { expect_right({.split = 2, .peers = 2}); }

TEST(Gemm_SplitProgram, WhatASplitClusterLeavesOutIsMissed) {
  EXPECT_EQ(fault_of(splits, {.fences_inits = false}), Fault::MbarrierNotInitialized);
  EXPECT_EQ(fault_of(splits, {.meets_before_sending = false}), Fault::MbarrierNotInitialized);
  EXPECT_EQ(fault_of(splits, {.expects_parts = false}), Fault::CopyInFlight);
  EXPECT_EQ(fault_of(splits, {.fences_parts = false}), Fault::ProxyFenceMissing);
  EXPECT_EQ(fault_of(splits, {.gathers_parts = false}), Fault::DataRace);
  EXPECT_NE(fault_of(splits, {.waits_for_parts = false}), Fault::None);
  EXPECT_EQ(fault_of(splits, {.fences_store = false}), Fault::ProxyFenceMissing);
  EXPECT_EQ(fault_of(splits, {.waits_for_store = false}), Fault::ExitReadAssumed);
  EXPECT_EQ(fault_of(splits, {.meets_at_end = false}), Fault::ExitInFlight);
  EXPECT_EQ(fault_of({.split = 2, .consumers = 2}, {.leaves_stages = false}),
            Fault::SourceInFlight);
}

TEST(Gemm_SplitProgram, WhatPeersLeaveOutIsMissed) {
  EXPECT_EQ(fault_of(peers, {.fences_inits = false}), Fault::MbarrierNotInitialized);
  EXPECT_EQ(fault_of(peers, {.meets_before_loading = false}), Fault::MbarrierNotInitialized);
  EXPECT_EQ(fault_of(peers, {.fences_store = false}), Fault::ProxyFenceMissing);
  EXPECT_EQ(fault_of(peers, {.waits_for_store = false}), Fault::ExitReadAssumed);
  EXPECT_EQ(fault_of(peers, {.meets_at_end = false}), Fault::None);  // see the head
  EXPECT_EQ(fault_of({.peers = 2, .consumers = 2}, {.leaves_stages = false}),
            Fault::SourceInFlight);
}

// An arrival that nobody waits for may come after the end of the CTA, unless something behind it
// releases.
TEST(Gemm_SplitProgram, TheLastBlocksAreNotReleased) {
  for (const int blocks : {1, 3}) {
    const Cut cut = {.peers = 2, .blocks = blocks};
    EXPECT_EQ(fault_of(cut, {.releases_end = false, .keeps_last = false}), Fault::ReleaseAssumed);
    EXPECT_EQ(fault_of(cut, {.keeps_last = false}), Fault::None);
  }
  const Steps relaxed = {.releases = false, .releases_end = false, .keeps_last = false};
  EXPECT_EQ(fault_of({.peers = 2, .blocks = 1}, relaxed), Fault::ReleaseAssumed);
}

TEST(Gemm_SplitProgram, WhatTheKernelLeavesToTheHardwareIsNamed) {
  EXPECT_EQ(fault_of(peers, {.releases = false}), Fault::ReleaseMissing);
  EXPECT_EQ(fault_of(peers, {.cluster_wait = false}), Fault::ScopeAssumed);
  EXPECT_EQ(fault_of(splits, {.releases_end = false}), Fault::ReleaseAssumed);
}

// Else the kernel needs nothing that PTX does not promise: not while no stage is loaded again, nor
// without peers.
TEST(Gemm_SplitProgram, NothingElseIsLeftToTheHardware) {
  const Steps kernel = {.releases = false, .cluster_wait = false, .releases_end = false};
  expect_right({.peers = 2, .blocks = stages}, kernel);
  expect_right(splits, {.releases = false, .cluster_wait = false});
}

}  // namespace
}  // namespace tcq
