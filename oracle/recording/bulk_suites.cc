// The suites of bulk copies without a tensor map, and of floating-point reductions.
#include <algorithm>
#include <array>

#include "oracle/recording/case_draw.h"
#include "oracle/recording/suites.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/copy/bulk_copy.h"
#include "sim/num/inputs/float_pairs.h"

namespace tcq::oracle {
namespace {

using tma::DataType;
using tma::Reduction;
using Kind = BulkCopy::Kind;

constexpr std::uint32_t unit = bulk::unit_bytes;
constexpr std::uint32_t max_kept_bytes = 4096;
constexpr std::array sizes = {16u,  32u,   48u,   64u,   112u,   128u,   240u,
                              496u, 1008u, 1024u, 4096u, 16384u, 32768u, 65536u};

BulkCopy& copy_of(Case& c) { return std::get<BulkCopy>(c.experiment); }

class Suite : public CaseDraw {
 public:
  using CaseDraw::CaseDraw;

  Case& add(Kind kind, std::uint32_t bytes) {
    BulkCopy e{.kind = kind};
    e.range.bytes = bytes;
    e.range.global = unit * below(32);
    e.range.shared = shared_base_sm90 + unit * below(32);
    e.destination = shared_base_sm90 + unit * below(32);
    Case& c = CaseDraw::add(e);
    size_memories(c);
    return c;
  }
  // Room for the ranges, and something behind them.
  static void size_memories(Case& c) {
    const BulkCopy& b = copy_of(c);
    const std::uint32_t last = std::max(b.range.shared, b.destination) - shared_base_sm90;
    c.shared_bytes = (last + b.range.bytes + 2 * 1024 - 1) / 1024 * 1024;
    c.global_bytes =
        (static_cast<std::uint32_t>(b.range.global) + b.range.bytes + 4 * unit) / unit * unit;
    const bool small = std::max(c.shared_bytes, c.global_bytes) <= max_kept_bytes;
    c.keep = small && c.seed % 8 == 0;
  }

  BulkCopy& add_send(Kind kind, std::uint32_t bytes, int cluster, int from, int to) {
    BulkCopy& e = copy_of(add(kind, bytes));
    e.how.cluster = cluster;
    e.how.issuer = from;
    e.destination_rank = static_cast<std::uint32_t>(to);
    return e;
  }

  std::uint32_t size() { return sizes[below(sizes.size())]; }
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
        copy_of(suite.add(Kind::Multicast, suite.size())).how = {cluster, issuer,
                                                                 static_cast<std::uint16_t>(mask)};
      }
    }
  }
}

void add_sends(Suite& suite) {
  for (const int cluster : {2, 4})
    for (int from = 0; from < cluster; ++from)
      for (int to = 0; to < cluster; ++to)
        for (int i = 0; from != to && i < 4; ++i)
          suite.add_send(Kind::Send, suite.size(), cluster, from, to);
}

void add_integer_reductions(Suite& suite) {
  for_each_reduction([&suite](Reduction op, DataType type) {
    if (!tma::is_float(type) && bulk::check_global(op, type) == Fault::None) {
      for (int i = 0; i < 3; ++i) {
        BulkCopy& e = copy_of(suite.add(Kind::Reduce, suite.size()));
        e.reduction = op;
        e.type = type;
      }
    }
    if (bulk::check_shared(op, type) != Fault::None) return;
    for (const int cluster : {2, 4}) {
      BulkCopy& e =
          suite.add_send(Kind::SendReduce, suite.size(), cluster, cluster - 1, cluster / 2 - 1);
      e.reduction = op;
      e.type = type;
    }
  });
}

// ---- Floating point -----------------------------------------------------------------------------

constexpr std::uint32_t pair_rows = special_float_count;

// All pairs of special values, or as many drawn ones, in place of the case's memories.
void fill_with_pairs(Case& c, DataType type, MemoryContent content) {
  c.content = content;
  c.shared_bytes = pair_rows * pair_rows * tma::element_bytes(type);
  c.global_bytes = c.shared_bytes;
  c.keep = true;
}

void add_bulk_pairs(Suite& suite, Reduction op, DataType type, MemoryContent content) {
  Case& c = suite.add(Kind::Reduce, unit);
  fill_with_pairs(c, type, content);
  copy_of(c) = {
      Kind::Reduce, {0, shared_base_sm90, c.shared_bytes}, shared_base_sm90, 0, type, op, {}};
}

void add_tile_pairs(Suite& suite, Reduction op, DataType type) {
  (void)suite.add(Kind::Load, unit);  // what it draws keeps its place in the sequence
  const std::uint32_t row = pair_rows * tma::element_bytes(type);
  TileCopy e{.kind = TileCopy::Kind::Reduce, .reduction = op};
  e.tile.map = {type, 2, 0, {pair_rows, pair_rows}, {row}, {pair_rows, pair_rows}};
  e.tile.shared_address = shared_base_sm90;
  suite.last().experiment = e;
  fill_with_pairs(suite.last(), type, MemoryContent::FloatPairs);
}

// ---- Cases that may end the process on a GPU ----------------------------------------------------

// Small ranges at the start of both memories.
Case& add_plain(Suite& suite, Kind kind, std::uint32_t bytes) {
  Case& c = suite.add(kind, bytes);
  BulkCopy& e = copy_of(c);
  e.range.global = 0;
  e.range.shared = shared_base_sm90;
  e.destination = shared_base_sm90 + 512;
  if (sends(kind)) {
    e.how.cluster = 2;
    e.destination_rank = 1;
  }
  Suite::size_memories(c);
  return c;
}

constexpr std::array kinds = {Kind::Load, Kind::Store, Kind::Reduce, Kind::Send, Kind::SendReduce};

void add_edge_addresses(Suite& suite) {
  for (const Kind kind : kinds) {
    for (const std::uint32_t offset : {1u, 4u, 8u}) {
      copy_of(add_plain(suite, kind, 64)).range.shared += offset;
      if (sends(kind))
        copy_of(add_plain(suite, kind, 64)).destination += offset;
      else
        copy_of(add_plain(suite, kind, 64)).range.global += offset;
    }
  }
  for (const Kind kind : {Kind::Load, Kind::Store})
    copy_of(add_plain(suite, kind, 64)).range.shared = 240 * 1024;  // of no CTA
}

void add_edge_sizes(Suite& suite) {
  for (const Kind kind : kinds) {
    for (const std::uint32_t bytes : {0u, 1u, 4u, 8u, 17u, 24u, 40u}) add_plain(suite, kind, bytes);
    for (const std::uint32_t bytes : {bulk::max_bytes, bulk::max_bytes + unit}) {
      Case& c = add_plain(suite, kind, bytes);
      c.shared_bytes = 64 * 1024;  // the range ends outside
    }
  }
  add_plain(suite, Kind::Load, 200 * 1024);
  add_plain(suite, Kind::Store, 200 * 1024);
}

void add_edge_clusters(Suite& suite) {
  for (const Kind kind : {Kind::Send, Kind::SendReduce}) {
    copy_of(add_plain(suite, kind, 64)).destination_rank = 0;  // the own CTA
    copy_of(add_plain(suite, kind, 64)).destination_rank = 3;  // none
  }
  for (const std::uint16_t mask : {std::uint16_t{0}, std::uint16_t{4}, std::uint16_t{7}}) {
    Case& c = add_plain(suite, Kind::Multicast, 64);
    copy_of(c).how = {2, 0, mask};
    Suite::size_memories(c);
  }
}

// Sizes of which only the lower 20 bits may count.
void add_edge_wraps(Suite& suite) {
  for (const Kind kind : {Kind::Store, Kind::Reduce}) {
    for (const std::uint32_t bytes : {64u, 72u}) {
      Case& c = add_plain(suite, kind, bulk::max_bytes + unit + bytes);
      c.shared_bytes = 64 * 1024;
    }
  }
}

// Tensors of types that PTX does not list; on small tiles, if they exist after all.
void add_edge_reductions(Suite& suite) {
  for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float32Ftz,
                              DataType::TFloat32, DataType::TFloat32Ftz}) {
    const bool has_add = type == DataType::Float32 || type == DataType::Float64;
    if (!has_add) add_tile_pairs(suite, Reduction::Add, type);
    for (const Reduction op : {Reduction::Min, Reduction::Max}) add_tile_pairs(suite, op, type);
  }
}

}  // namespace

std::vector<Case> bulk_copies(std::uint64_t seed) {
  Suite suite(seed);
  for (const Kind kind : {Kind::Load, Kind::Store})
    for (const std::uint32_t bytes : sizes)
      for (int i = 0; i < 4; ++i) suite.add(kind, bytes);
  add_multicasts(suite);
  add_sends(suite);
  add_integer_reductions(suite);
  return suite.take();
}

std::vector<Case> float_reductions(std::uint64_t seed) {
  Suite suite(seed);
  for_each_reduction([&suite](Reduction op, DataType type) {
    if (!tma::is_float(type) || bulk::check_global(op, type) != Fault::None) return;
    add_tile_pairs(suite, op, type);
    add_bulk_pairs(suite, op, type, MemoryContent::FloatPairs);
    add_bulk_pairs(suite, op, type, MemoryContent::FloatDraws);
  });
  return suite.take();
}

std::vector<Case> bulk_edges(std::uint64_t seed) {
  Suite suite(seed);
  add_edge_addresses(suite);
  add_edge_sizes(suite);
  add_edge_clusters(suite);
  add_edge_reductions(suite);
  add_edge_wraps(suite);
  return suite.take();
}

}  // namespace tcq::oracle
