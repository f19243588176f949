#include "oracle/recording/async_bulk_suites.h"

#include <algorithm>
#include <array>

#include "sim/num/inputs/draw.h"
#include "sim/num/inputs/float_pairs.h"

namespace tcq::oracle {
namespace {

using tma::DataType;
using tma::Reduction;

constexpr std::uint32_t unit = bulk::unit_bytes;
constexpr std::uint32_t max_kept_bytes = 4096;
constexpr std::array sizes = {16u,  32u,   48u,   64u,   112u,   128u,   240u,
                              496u, 1008u, 1024u, 4096u, 16384u, 32768u, 65536u};

class Suite {
 public:
  explicit Suite(std::uint64_t seed) : seed_(seed), draw_(seed) {}

  AsyncCase& add(Move move, std::uint32_t bytes) {
    AsyncCase c;
    c.move = move;
    c.seed = mix(seed_ + cases_.size());
    c.bulk.bytes = bytes;
    c.bulk.global = unit * below(32);
    c.bulk.shared = shared_base_sm90 + unit * below(32);
    c.bulk.destination = shared_base_sm90 + unit * below(32);
    cases_.push_back(c);
    size_memories(cases_.back());
    return cases_.back();
  }

  // Room for the ranges, and something behind them.
  static void size_memories(AsyncCase& c) {
    const BulkOperands& b = c.bulk;
    const std::uint32_t last = std::max(b.shared, b.destination) - shared_base_sm90;
    c.shared_bytes = (last + b.bytes + 2 * 1024 - 1) / 1024 * 1024;
    c.global_bytes = (static_cast<std::uint32_t>(b.global) + b.bytes + 4 * unit) / unit * unit;
    const bool small = std::max(c.shared_bytes, c.global_bytes) <= max_kept_bytes;
    c.keep_bytes = small && c.seed % 8 == 0;
  }

  AsyncCase& add_send(Move move, std::uint32_t bytes, int cluster, int from, int to) {
    AsyncCase& c = add(move, bytes);
    c.cluster = cluster;
    c.issuer = from;
    c.bulk.destination_rank = static_cast<std::uint32_t>(to);
    return c;
  }

  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(draw_.below(static_cast<int>(n)));
  }
  std::uint32_t size() { return sizes[below(sizes.size())]; }
  std::vector<AsyncCase> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  Draw draw_;
  std::vector<AsyncCase> cases_;
};

template <class Visit>
void for_each_reduction(Visit visit) {
  for (int op = 0; op < tma::reduction_count; ++op)
    for (int type = 0; type < tma::data_type_count; ++type)
      visit(static_cast<Reduction>(op), static_cast<DataType>(type));
}

void add_multicasts(Suite& suite) {
  for (const int cluster : {2, 4}) {
    for (int mask = 1; mask < (cluster == 2 ? 4 : 16); ++mask) {
      for (int issuer = 0; issuer < cluster; ++issuer) {
        AsyncCase& c = suite.add(Move::BulkMulticast, suite.size());
        c.cluster = cluster;
        c.mask = static_cast<std::uint16_t>(mask);
        c.issuer = issuer;
      }
    }
  }
}

void add_sends(Suite& suite) {
  for (const int cluster : {2, 4})
    for (int from = 0; from < cluster; ++from)
      for (int to = 0; to < cluster; ++to)
        for (int i = 0; from != to && i < 4; ++i)
          suite.add_send(Move::BulkSend, suite.size(), cluster, from, to);
}

void add_integer_reductions(Suite& suite) {
  for_each_reduction([&suite](Reduction op, DataType type) {
    if (!tma::is_float(type) && bulk::check_global(op, type) == Fault::None) {
      for (int i = 0; i < 3; ++i) {
        AsyncCase& c = suite.add(Move::BulkReduce, suite.size());
        c.reduction = op;
        c.bulk.type = type;
      }
    }
    if (bulk::check_shared(op, type) != Fault::None) return;
    for (const int cluster : {2, 4}) {
      AsyncCase& c =
          suite.add_send(Move::BulkSendReduce, suite.size(), cluster, cluster - 1, cluster / 2 - 1);
      c.reduction = op;
      c.bulk.type = type;
    }
  });
}

// ---- Floating point -----------------------------------------------------------------------------

constexpr std::uint32_t pair_rows = special_float_count;

// All pairs of special values, or as many drawn ones, in place of the case's memories.
void fill_with_pairs(AsyncCase& c, Reduction op, DataType type, MemoryContent content) {
  const std::uint32_t row = pair_rows * tma::element_bytes(type);
  c.reduction = op;
  c.content = content;
  c.shared_bytes = pair_rows * row;
  c.global_bytes = pair_rows * row;
  c.keep_bytes = true;
  if (is_bulk(c.move)) {
    c.bulk = {0, shared_base_sm90, pair_rows * row, shared_base_sm90, 0, type};
    return;
  }
  c.bulk = {};
  c.tile.map = {type, 2, 0, {pair_rows, pair_rows}, {row}, {pair_rows, pair_rows}};
  c.tile.shared_address = shared_base_sm90;
}

// ---- Cases that may end the process on a GPU ----------------------------------------------------

// Small ranges at the start of both memories.
AsyncCase& add_plain(Suite& suite, Move move, std::uint32_t bytes) {
  AsyncCase& c = suite.add(move, bytes);
  c.bulk.global = 0;
  c.bulk.shared = shared_base_sm90;
  c.bulk.destination = shared_base_sm90 + 512;
  if (move == Move::BulkSend || move == Move::BulkSendReduce) {
    c.cluster = 2;
    c.bulk.destination_rank = 1;
  }
  Suite::size_memories(c);
  return c;
}

constexpr std::array moves = {Move::BulkLoad, Move::BulkStore, Move::BulkReduce, Move::BulkSend,
                              Move::BulkSendReduce};

void add_edge_addresses(Suite& suite) {
  for (const Move move : moves) {
    for (const std::uint32_t offset : {1u, 4u, 8u}) {
      add_plain(suite, move, 64).bulk.shared += offset;
      if (move == Move::BulkSend || move == Move::BulkSendReduce)
        add_plain(suite, move, 64).bulk.destination += offset;
      else
        add_plain(suite, move, 64).bulk.global += offset;
    }
  }
  for (const Move move : {Move::BulkLoad, Move::BulkStore})
    add_plain(suite, move, 64).bulk.shared = 240 * 1024;  // of no CTA
}

void add_edge_sizes(Suite& suite) {
  for (const Move move : moves) {
    for (const std::uint32_t bytes : {0u, 1u, 4u, 8u, 17u, 24u, 40u}) add_plain(suite, move, bytes);
    for (const std::uint32_t bytes : {bulk::max_bytes, bulk::max_bytes + unit}) {
      AsyncCase& c = add_plain(suite, move, bytes);
      c.shared_bytes = 64 * 1024;  // the range ends outside
    }
  }
  add_plain(suite, Move::BulkLoad, 200 * 1024);
  add_plain(suite, Move::BulkStore, 200 * 1024);
}

void add_edge_clusters(Suite& suite) {
  for (const Move move : {Move::BulkSend, Move::BulkSendReduce}) {
    add_plain(suite, move, 64).bulk.destination_rank = 0;  // the own CTA
    add_plain(suite, move, 64).bulk.destination_rank = 3;  // none
  }
  for (const std::uint16_t mask : {std::uint16_t{0}, std::uint16_t{4}, std::uint16_t{7}}) {
    AsyncCase& c = add_plain(suite, Move::BulkMulticast, 64);
    c.cluster = 2;
    c.mask = mask;
    Suite::size_memories(c);
  }
}

// Sizes of which only the lower 20 bits may count.
void add_edge_wraps(Suite& suite) {
  for (const Move move : {Move::BulkStore, Move::BulkReduce}) {
    for (const std::uint32_t bytes : {64u, 72u}) {
      AsyncCase& c = add_plain(suite, move, bulk::max_bytes + unit + bytes);
      c.shared_bytes = 64 * 1024;
    }
  }
}

// Tensors of types that PTX does not list; on small tiles, if they exist after all.
void add_edge_reductions(Suite& suite) {
  for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float32Ftz,
                              DataType::TFloat32, DataType::TFloat32Ftz}) {
    const bool has_add = type == DataType::Float32 || type == DataType::Float64;
    if (!has_add)
      fill_with_pairs(suite.add(Move::Reduce, 16), Reduction::Add, type, MemoryContent::FloatPairs);
    for (const Reduction op : {Reduction::Min, Reduction::Max})
      fill_with_pairs(suite.add(Move::Reduce, 16), op, type, MemoryContent::FloatPairs);
  }
}

}  // namespace

std::vector<AsyncCase> bulk_copies(std::uint64_t seed) {
  Suite suite(seed);
  for (const Move move : {Move::BulkLoad, Move::BulkStore})
    for (const std::uint32_t bytes : sizes)
      for (int i = 0; i < 4; ++i) suite.add(move, bytes);
  add_multicasts(suite);
  add_sends(suite);
  add_integer_reductions(suite);
  return suite.take();
}

std::vector<AsyncCase> float_reductions(std::uint64_t seed) {
  Suite suite(seed);
  for_each_reduction([&suite](Reduction op, DataType type) {
    if (!tma::is_float(type) || bulk::check_global(op, type) != Fault::None) return;
    for (const Move move : {Move::Reduce, Move::BulkReduce})
      fill_with_pairs(suite.add(move, unit), op, type, MemoryContent::FloatPairs);
    fill_with_pairs(suite.add(Move::BulkReduce, unit), op, type, MemoryContent::FloatDraws);
  });
  return suite.take();
}

std::vector<AsyncCase> bulk_edges(std::uint64_t seed) {
  Suite suite(seed);
  add_edge_addresses(suite);
  add_edge_sizes(suite);
  add_edge_clusters(suite);
  add_edge_reductions(suite);
  add_edge_wraps(suite);
  return suite.take();
}

}  // namespace tcq::oracle
