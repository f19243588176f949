// Rows of statement_rows.h that copy a column of pixels: cp.async.bulk.tensor in im2col mode, on small tensors in g of CTA 0.
//
// Decides which maps and coordinates are tried, drawn from a seed of its own: ranks, types, corners on either side of the
// tensor, strides between pixels, offsets, channels that end outside, fill, swizzle; loads, stores and additions. Example: a
// row "im2col 7, load" is a column of rank 3 + 7 % 3.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "oracle/recording/statement_rows.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using tma::DataType;

constexpr int drawn_rows = 160;
constexpr int most_tries = 1000;

enum class Move : std::uint8_t { Load, Store, Add };

struct Column {
  tma::TensorMap map;
  std::array<int, 5> start = {};
  std::array<int, 3> offset = {};
};

constexpr std::array types = {DataType::UInt8,   DataType::UInt16,  DataType::UInt32,
                              DataType::Int32,   DataType::Float16, DataType::BFloat16,
                              DataType::Float32, DataType::UInt64,  DataType::TFloat32};

std::uint32_t unsigned_of(int x) { return static_cast<std::uint32_t>(x); }

// Of an even share of g for each pixel: 16 or 32 bytes of it.
Column drawn(int rank, Move move, Draw& draw) {
  Column c;
  tma::TensorMap& map = c.map;
  map.type = move == Move::Add ? DataType::UInt32
                               : types[static_cast<std::size_t>(draw.below(types.size()))];
  map.rank = rank;
  map.address = 2 * statement_shared_bytes;
  const std::uint32_t bytes = tma::element_bytes(map.type);
  const std::uint32_t row = draw.one_in(3) ? 32 : 16, pitch = draw.one_in(4) ? 48 : row;
  const std::uint32_t channels = row / bytes;
  map.dims[0] = draw.one_in(4) ? channels - 1 : channels;
  map.box[0] = channels;
  std::uint64_t size = pitch;
  for (int d = 1; d < rank; ++d) {
    map.dims[d] = unsigned_of(rank == 3   ? draw.in(1, 6)
                              : rank == 4 ? draw.in(1, 4)
                                          : draw.in(1, 3));
    map.stride_bytes[d - 1] = size;
    size *= map.dims[d];
    if (d + 1 < rank && draw.one_in(3)) map.element_strides[d] = unsigned_of(draw.in(1, 3));
  }
  if (size > statement_shared_bytes) map.rank = 0;  // refused by the caller
  map.im2col.is_on = true;
  for (int d = 1; d + 1 < rank; ++d) {
    map.im2col.lower[d - 1] = draw.in(-2, 2);
    map.im2col.upper[d - 1] = draw.in(-2, 2);
  }
  if (draw.one_in(4)) map.swizzle = row == 32 ? Swizzle::B32 : Swizzle::B128;
  const std::uint32_t line = std::max(row, tma::span_bytes(map.swizzle));
  map.box[1] = unsigned_of(draw.in(1, static_cast<int>(statement_shared_bytes / line)));
  if (tma::is_float(map.type) && draw.one_in(2)) map.fill = tma::Fill::NaN;
  c.start[0] =
      draw.one_in(3) ? draw.in(-1, 1) * static_cast<int>(tma::global_unit_bytes / bytes) : 0;
  for (int d = 1; d + 1 < rank; ++d) {
    const auto last = static_cast<int>(map.dims[d]) - 1 + map.im2col.upper[d - 1];
    const auto first = map.im2col.lower[d - 1];
    c.start[static_cast<std::size_t>(d)] = draw.in(std::min(first, last), std::max(first, last));
    if (move == Move::Load) c.offset[static_cast<std::size_t>(d - 1)] = draw.below(4);
  }
  c.start[static_cast<std::size_t>(rank - 1)] = draw.below(static_cast<int>(map.dims[rank - 1]));
  if (move != Move::Load)  // a store that begins before the tensor traps
    for (int& start : c.start) start = std::max(start, 0);
  return c;
}

Column legal(int rank, Move move, Draw& draw) {
  for (int i = 0; i < most_tries; ++i)
    if (Column c = drawn(rank, move, draw); tma::check(c.map) == Fault::None) return c;
  return {};
}

std::string body_of(const Column& c, Move move) {
  const int rank = c.map.rank;
  std::string text =
      "  mov.b64 %rd18, map;\n  cvta.param.u64 %rd18, %rd18;\n"
      "  setp.eq.u32 %p3, %r5, 0;\n  and.pred %p4, %p3, %p1;\n";
  std::vector<std::string> start, offset;
  for (int d = 0; d < rank; ++d) {
    text += fmt::format("  mov.b32 %r{}, {};\n", 30 + d, c.start[static_cast<std::size_t>(d)]);
    start.push_back(fmt::format("%r{}", 30 + d));
  }
  for (int d = 0; d + 2 < rank; ++d) {
    text += fmt::format("  mov.b16 %h{}, {};\n", 10 + d, c.offset[static_cast<std::size_t>(d)]);
    offset.push_back(fmt::format("%h{}", 10 + d));
  }
  const std::string where = fmt::format("[%rd18, {{{}}}]", fmt::join(start, ", "));
  if (move == Move::Load) {
    const std::uint32_t bytes = tma::inner_box_bytes(c.map) * c.map.box[1];
    return text + fmt::format(
                      "  @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], {};\n"
                      "  @%p4 "
                      "cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_"
                      "tx::bytes "
                      "[%r2], {}, [%r4], {{{}}};\n"
                      "  @!%p3 bra elsewhere;\narrives:\n"
                      "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r4], 0;\n"
                      "  @!%p7 bra arrives;\nelsewhere:\n",
                      bytes, rank, where, fmt::join(offset, ", "));
  }
  const char* const opcode =
      move == Move::Store ? "cp.async.bulk.tensor" : "cp.reduce.async.bulk.tensor";
  return text + fmt::format(
                    "  @%p4 {}.{}d.global.shared::cta{}.im2col_no_offs.bulk_group {}, [%r2];\n"
                    "  @%p4 cp.async.bulk.commit_group;\n  @%p4 cp.async.bulk.wait_group 0;\n",
                    opcode, rank, move == Move::Add ? ".add" : "", where);
}

}  // namespace

std::vector<StatementRow> im2col_rows() {
  constexpr std::uint64_t seed = 15;
  std::vector<StatementRow> rows;
  for (int i = 0; i < drawn_rows; ++i) {
    Draw draw(mix(seed + static_cast<std::uint64_t>(i)));
    const Move move = i % 8 == 6 ? Move::Store : i % 8 == 7 ? Move::Add : Move::Load;
    const char* const name = move == Move::Load ? "load" : move == Move::Store ? "store" : "add";
    const Column c = legal(3 + i % 3, move, draw);
    rows.push_back({fmt::format("im2col {}, {}", i, name), body_of(c, move), Elements::Bits32,
                    false, 0, c.map});
  }
  return rows;
}

}  // namespace tcq::oracle
