// Rows B within one CTA: mbarriers, bulk copies, named barriers.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_kit.h"

namespace tcq::catalogue {
namespace {

// --- a ring of two slots, filled by bulk copies, read by ld.shared ---------------------------------

struct RingOptions {
  int tiles = 1;                   // of 4 blocks each
  std::uint32_t expected = 256;    // bytes
  std::uint32_t empty_count = 64;  // arrivals, one per consumer thread
  bool elected_arrival = false;    // one lane per consumer warp arrives
  bool flip_parity = true;         // when the ring wraps
  bool keep_parity = true;         // from tile to tile
  bool elect_producer = true;
  bool barrier_behind_init = true;
  bool init_twice = false;
};

Program ring(const RingOptions& o) {
  constexpr int stages = 2;
  constexpr int blocks = 3;  // odd: the parity differs from tile to tile
  Program p({.threads = 96});
  const auto full = p.mbarriers("full", stages);
  const auto empty = p.mbarriers("empty", stages);
  std::uint32_t slot[stages];
  for (int s = 0; s < stages; ++s) slot[s] = p.shared("slot" + std::to_string(s), 256);
  const std::uint64_t in = p.global(small_numbers(256 * 16));
  const std::uint64_t out = result_buffer(p, 256 * 16);
  Role all = p.warps("all", 0, 3);
  for (int round = 0; round < (o.init_twice ? 2 : 1); ++round)
    for (int s = 0; s < stages; ++s)
      all.elect()
          .mbarrier_init(full[static_cast<std::size_t>(s)], 1)
          .mbarrier_init(empty[static_cast<std::size_t>(s)], o.empty_count);
  all.elect().fence_mbarrier_init();
  if (o.barrier_behind_init) all.barrier_sync();
  Role producer = p.warps("producer", 2, 1);
  Role one = o.elect_producer ? producer.elect() : producer;
  Role consumer = p.warps("consumer", 0, 2);
  int round = 0;
  for (int tile = 0; tile < o.tiles; ++tile) {
    for (int k = 0; k < blocks; ++k, ++round) {
      const auto s = static_cast<std::size_t>(round % stages);
      const int turn = round / stages;
      producer.elect().mbarrier_try_wait(empty[s], turn + 1);
      producer.elect().mbarrier_arrive_expect_tx(full[s], o.expected);
      one.bulk_load(in + 256 * static_cast<unsigned>(round), slot[s], 256, full[s]);
      int parity = o.flip_parity ? turn : 0;
      if (!o.keep_parity) parity = k / stages;  // begins anew with every tile
      consumer.mbarrier_try_wait(full[s], parity).load_shared({slot[s], 4}, 0);
      consumer.fence_proxy_async();
      (o.elected_arrival ? consumer.elect_per_warp() : consumer).mbarrier_arrive(empty[s]);
      consumer.store_global(out + 256 * static_cast<unsigned>(round), 4, {0, 1});
    }
  }
  return p;
}

Program right_ring() { return ring({}); }

Program with(RingOptions options, bool mutant) { return mutant ? ring(options) : right_ring(); }

Program b1a(bool mutant) { return with({.expected = 384}, mutant); }
Program b2a(bool mutant) { return with({.elected_arrival = true}, mutant); }
Program b2b(bool mutant) { return with({.empty_count = 1}, mutant); }
Program b3a(bool mutant) { return with({.flip_parity = false}, mutant); }
Program b3b(bool mutant) { return ring({.tiles = 2, .keep_parity = !mutant}); }
Program b4a(bool mutant) { return with({.barrier_behind_init = false}, mutant); }
Program b4b(bool mutant) { return with({.init_twice = true}, mutant); }
Program b5(bool mutant) { return with({.elect_producer = false}, mutant); }

// --- expect_tx of two copies -----------------------------------------------------------------------

Program two_copies(std::uint32_t expected, bool wait) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t a = p.shared("A", 128);
  const std::uint32_t b = p.shared("B", 128);
  const std::uint64_t in = p.global(small_numbers(256));
  const std::uint64_t out = result_buffer(p, 128);
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  all.barrier_sync();
  Role producer = p.warps("producer", 0, 1).elect();
  producer.mbarrier_arrive_expect_tx(full, expected);
  producer.bulk_load(in, a, 128, full).bulk_load(in + 128, b, 128, full);
  Role consumer = p.warps("consumer", 1, 1);
  if (wait) consumer.mbarrier_try_wait(full, 0);
  consumer.load_shared({a, 4}, 0).load_shared({b, 4}, 1).store_global(out, 4, {1, 1});
  return p;
}

Program b1b(bool mutant) { return two_copies(mutant ? 128 : 256, true); }
Program b12(bool mutant) { return two_copies(256, !mutant); }

// --- data and barriers side by side ----------------------------------------------------------------

// A row of 32 words; the mutant's row is one word too long for its place.
Program b4c(bool mutant) {
  Program p({.threads = 64});
  const std::uint32_t row = p.shared("row", 128);
  const Address done = p.mbarrier("done");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(done, 32);
  all.barrier_sync();
  Role writer = p.warps("writer", 0, 1);
  writer.move({0, 1}, 7).store_shared({row + (mutant ? 4u : 0u), 4}, 0).mbarrier_arrive(done);
  Role reader = p.warps("reader", 1, 1);
  reader.mbarrier_try_wait(done, 0);
  if (!mutant) reader.load_shared({row, 4}, 0);
  return p;
}

// --- bulk stores -----------------------------------------------------------------------------------

enum class StoreBug {
  None,
  NoCommit,
  NoWait,
  WaitOne,
  OtherThreadWaits,
  ExitWithoutWait,
  ExitUncommitted,
  ExitUncommittedWithoutWait
};

// Two tiles leave through one buffer.
Program stores(StoreBug bug) {
  Program p({.threads = 64});
  const std::uint32_t buffer = p.shared("buffer", 256);
  const std::uint64_t out = result_buffer(p, 512);
  Role all = p.warps("epilogue", 0, 2);
  for (unsigned tile = 0; tile < 2; ++tile) {
    all.move({0, 1}, 11 + tile).store_shared({buffer, 4}, 0).fence_proxy_async();
    all.barrier_sync();
    Role one = all.elect();
    one.bulk_store(buffer, out + 256 * tile, 256);
    const bool last = tile == 1;
    const bool is_left = bug == StoreBug::ExitUncommittedWithoutWait;
    const bool forgets = last && (is_left || bug == StoreBug::ExitUncommitted);
    if (bug != StoreBug::NoCommit && !forgets) one.bulk_commit();
    Role waiter = bug == StoreBug::OtherThreadWaits ? all.lanes(2u).in_warps(1u) : one;
    if (bug == StoreBug::NoWait && !last) {
    } else if (last) {
      if (bug != StoreBug::ExitWithoutWait && !is_left) one.bulk_wait(0);
    } else {
      waiter.bulk_wait_read(bug == StoreBug::WaitOne ? 1 : 0);
    }
    all.barrier_sync();
  }
  return p;
}

Program b6a(bool mutant) { return stores(mutant ? StoreBug::NoCommit : StoreBug::None); }
Program b6b(bool mutant) { return stores(mutant ? StoreBug::NoWait : StoreBug::None); }
Program b6c(bool mutant) { return stores(mutant ? StoreBug::OtherThreadWaits : StoreBug::None); }
Program b6d(bool mutant) { return stores(mutant ? StoreBug::ExitWithoutWait : StoreBug::None); }
Program b6f(bool mutant) { return stores(mutant ? StoreBug::ExitUncommitted : StoreBug::None); }
Program b6g(bool mutant) {
  return stores(mutant ? StoreBug::ExitUncommittedWithoutWait : StoreBug::None);
}
Program b6e(bool mutant) { return stores(mutant ? StoreBug::WaitOne : StoreBug::None); }

// --- named barriers --------------------------------------------------------------------------------

// Four consumer warps meet at a barrier of their own; the mutant takes the CTA's.
Program b10a(bool mutant) {
  Program p({.threads = 160});
  const std::uint32_t data = p.shared("data", 512);
  Role consumer = p.warps("consumer", 0, 4);
  consumer.move({0, 1}, 3).store_shared({data, 4}, 0);
  consumer.barrier_sync(mutant ? 0 : 1, mutant ? 0 : 128);
  consumer.load_shared({data + 508, -4}, 1);
  p.warps("producer", 4, 1).move({0, 1}, 1);
  return p;
}

// Two roles use one barrier, with the counts that each takes for right.
Program b10b(bool mutant) {
  Program p({.threads = 96});
  Role writers = p.warps("writers", 0, 1);
  Role readers = p.warps("readers", 1, 2);
  writers.barrier_arrive(1, 96);
  readers.barrier_sync(1, mutant ? 64 : 96);
  return p;
}

// The barrier between writers and readers is missing.
Program b11(bool mutant) {
  Program p({.threads = 64});
  const std::uint32_t data = p.shared("data", 256);
  Role all = p.warps("all", 0, 2);
  all.move({0, 1}, 3).store_shared({data, 4}, 0);
  if (!mutant) all.barrier_sync();
  all.load_shared({data + 252, -4}, 1);
  return p;
}

constexpr Entry entries[] = {
    {"B1a", "expect_tx of more bytes than are copied", Fault::Deadlock, b1a,
     "expects 128 bytes at catalogue_mbarrier.cc"},
    {"B1b", "expect_tx of the first copy's bytes only", Fault::ExpectTxTooSmall, b1b,
     "expect the bytes of all copies"},
    {"B2a", "one arrival per warp where 64 are expected", Fault::Deadlock, b2a,
     "62 of 64 arrivals missing"},
    {"B2b", "count 1 where 64 threads arrive", Fault::PhaseOverrun, b2b, "empty"},
    {"B3a", "the parity is not flipped when the ring wraps", Fault::PhaseStale, b3a,
     "must ask for the other parity"},
    {"B3b", "the parity begins anew with every tile", Fault::PhaseStale, b3b,
     "do not reset it per tile"},
    {"B4a", "no barrier behind mbarrier.init", Fault::MbarrierNotInitialized, b4a, "mbarrier.init"},
    {"B4b", "mbarriers are initialised twice", Fault::MbarrierReinitialized, b4b, "mbarrier.inval"},
    {"B4c", "data is written over a live mbarrier", Fault::MbarrierOverwritten, b4c,
     "a live mbarrier is no data"},
    {"B5", "all 32 lanes issue the copy", Fault::CopyRepeated, b5, "one elected thread"},
    {"B6a", "a bulk store is not committed", Fault::SourceInFlight, b6a, "cp.async.bulk"},
    {"B6b", "the source is rewritten without wait_group.read", Fault::SourceInFlight, b6b,
     "cp.async.bulk.wait_group.read"},
    {"B6c", "another thread waits for the group", Fault::SourceInFlight, b6c,
     "let the thread that issued"},
    {"B6d", "the CTA exits without waiting for its store", Fault::ExitReadAssumed, b6d,
     "before the CTA exits"},
    {"B6f", "the CTA waits for its last store, which it has not committed", Fault::ExitInFlight,
     b6f, "before the CTA exits"},
    {"B6g", "the CTA exits and has neither committed its store nor waited", Fault::ExitReadAssumed,
     b6g, "before the CTA exits"},
    {"B6e", "wait_group.read 1 instead of 0", Fault::SourceInFlight, b6e, "may still be reading"},
    {"B10a", "__syncthreads in a role branch", Fault::Deadlock, b10a, "128 of 160 threads"},
    {"B10b", "one barrier with two thread counts", Fault::BarrierMismatch, b10b,
     "in use for 96 threads"},
    {"B11", "no barrier between st.shared and ld.shared", Fault::DataRace, b11,
     "nothing orders the two"},
    {"B12", "the consumer does not wait for the copy", Fault::CopyInFlight, b12,
     "may still be writing"},
};

}  // namespace

std::span<const Entry> mbarrier_entries() { return entries; }

}  // namespace tcq::catalogue
