#include "sim/run/copies.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "sim/isa/copy/bulk_copy.h"
#include "sim/run/tensor_maps.h"
#include "sim/run/tensor_memory.h"

namespace tcq::run {
namespace {

using ptx::Flag;
using ptx::Opcode;
using ptx::Space;
using ptx::Value;
using ptx::ValueKind;

// A store that several lanes issue is carried out once: again it would write the same.
bool is_repeated(Executor& x, const machine::Instruction& what, int lane) {
  const auto* tensor = std::get_if<machine::TensorStore>(&what);
  const auto* bulk = std::get_if<machine::BulkStore>(&what);
  const bool repeated = std::any_of(x.group.queue.begin(), x.group.queue.end(), [&](const auto& s) {
    const auto* tensor_before = std::get_if<machine::TensorStore>(&s.what);
    const auto* bulk_before = std::get_if<machine::BulkStore>(&s.what);
    return (tensor != nullptr && tensor_before != nullptr && *tensor == *tensor_before) ||
           (bulk != nullptr && bulk_before != nullptr && *bulk == *bulk_before);
  });
  if (repeated) x.fail(Fault::StoreRepeated, lane);
  return repeated;
}

// Every lane issues a copy of its own.
template <class Make>
bool for_each_issuer(Executor& x, Make make) {
  bool fine = true;
  x.for_each_lane(x.group.active, [&](int lane) {
    machine::Instruction what;
    if (!fine || x.c.finding) return;
    fine = make(lane, what);
    if (fine && !x.c.finding && !is_repeated(x, what, lane)) x.add(std::move(what), 1u << lane);
  });
  return fine;
}

std::uint16_t mask_at(const Executor& x, std::uint32_t operand, int lane) {
  return x.form().get<ptx::Multicast>() == ptx::Multicast::None
             ? std::uint16_t{0}
             : static_cast<std::uint16_t>(x.number(x.value(operand), lane));
}

// False: a Fault.
bool global_at(Executor& x, const Value& address, int lane, std::uint64_t bytes,
               std::uint64_t& offset) {
  const std::uint64_t a = x.address(address, lane);
  if (in_window(a, global_window)) {
    offset = a - global_window;
    if (are_somebodys(x.feeder.launch(), offset, bytes)) return true;
    x.fail(Fault::GlobalOutOfRange, lane, static_cast<std::int64_t>(offset));
    return false;
  }
  x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(a));
  return false;
}

// --- with a tensor map -----------------------------------------------------------------------------

struct TensorOperand {
  int map = -1;
  tma::Coordinates start;
};

bool is_im2col(const ptx::Form& form) {
  const auto mode = form.get<ptx::LoadMode>();
  return mode == ptx::LoadMode::Im2col || mode == ptx::LoadMode::Im2colNoOffs;
}

bool is_by_rows(const ptx::Form& form) {
  const auto mode = form.get<ptx::LoadMode>();
  return mode == ptx::LoadMode::TileGather4 || mode == ptx::LoadMode::TileScatter4;
}

// [map, {c0, c1}]
bool read_tensor(Executor& x, const Value& value, int lane, TensorOperand& operand) {
  if (value.kind != ValueKind::AtTensor || value.value < 2) return false;
  operand.map = map_at(x, x.item(value, 0), lane);
  if (operand.map == map_by_stores) return false;
  if (operand.map == no_map) {
    x.fail(Fault::TensorMapNowhere, lane,
           static_cast<std::int64_t>(x.address(x.item(value, 0), lane)));
    return true;
  }
  const Value& coordinates = x.item(value, 1);
  const auto at = [&](std::uint32_t i) -> const Value& {
    return coordinates.kind == ValueKind::Vector ? x.item(coordinates, i) : coordinates;
  };
  const auto count =
      coordinates.kind == ValueKind::Vector ? static_cast<std::uint32_t>(coordinates.value) : 1u;
  if (!is_by_rows(x.form()) && static_cast<int>(count) != map_value(x, operand.map).rank)
    x.fail(Fault::TensorMapRankDiffers, lane, static_cast<std::int64_t>(count));
  for (std::uint32_t i = 0; i < count && i < tma::max_rank; ++i)
    operand.start.at[i] = static_cast<std::int32_t>(x.number(at(i), lane));
  if (!x.c.finding && map_value(x, operand.map).im2col.is_on != is_im2col(x.form()))
    x.fail(Fault::TensorMapMode, lane);
  return true;
}

// {w}, {w, h} or {w, h, d}, behind the mbarrier of a load.
void read_offsets(Executor& x, const Value& value, int lane, TensorOperand& operand) {
  const bool is_vector = value.kind == ValueKind::Vector;
  const auto count = is_vector ? static_cast<std::uint32_t>(value.value) : 1u;
  for (std::uint32_t i = 0; i < count && i < tma::max_rank - 2; ++i)
    operand.start.offsets[i] =
        static_cast<std::uint16_t>(x.number(is_vector ? x.item(value, i) : value, lane));
}

bool is_tiled(const ptx::Form& form) {
  const auto mode = form.get<ptx::LoadMode>();
  return mode == ptx::LoadMode::None || mode == ptx::LoadMode::Tile;
}

constexpr std::uint32_t rows_of_four = 4;

// tile::gather4 and tile::scatter4: a column and four rows, each of them a box of the map, one behind the other.
// False where the rows would not lie as boxes do.
bool is_row_of_four(const Executor& x, const TensorOperand& tensor) {
  const tma::TensorMap& map = map_value(x, tensor.map);
  return map.rank == 2 && tma::box_rows(map) == 1 &&
         tma::row_pitch_bytes(map) % tma::tile_alignment_bytes == 0;
}
TensorOperand row_of_four(const TensorOperand& tensor, std::uint32_t row) {
  TensorOperand one = tensor;
  one.start = {};
  one.start.at[0] = tensor.start.at[0];
  one.start.at[1] = tensor.start.at[1 + row];
  return one;
}
std::uint32_t row_bytes(const Executor& x, const TensorOperand& tensor) {
  return tma::row_pitch_bytes(map_value(x, tensor.map));
}

// Of a copy to one CTA. False: a Fault.
bool is_beside(Executor& x, std::uint32_t to, std::uint32_t barrier, int lane) {
  if (rank_of(to) == rank_of(barrier)) return true;
  if (!x.c.finding) x.fail(Fault::MbarrierElsewhere, lane, barrier);
  return false;
}

// Where bytes go in shared memory, and the mbarrier that counts them.
struct Counted {
  machine::Address to, barrier;
};

// [dst] first; the mbarrier beside it, unless a mask says where. Nothing: a Fault.
std::optional<Counted> counted_at(Executor& x, std::uint32_t mbarrier, int lane,
                                  std::uint16_t mask = 0) {
  const std::uint32_t to = named_shared_at(x, x.value(0), lane);
  const std::uint32_t barrier = shared_at(x, x.value(mbarrier), lane);
  if (mask == 0 && !is_beside(x, to, barrier, lane)) return std::nullopt;
  return Counted{shared_address(x, to), shared_address(x, barrier)};
}

// One load for each CTA that gets the box. With cta_group::2 its bytes count in that CTA of the destination's pair
// which the mbarrier's parity in the cluster says.
bool add_tensor_loads(Executor& x, int lane, const TensorOperand& tensor, std::uint32_t to) {
  const std::uint32_t barrier = shared_at(x, x.value(2), lane);
  const std::uint16_t mask = mask_at(x, is_im2col(x.form()) ? 4 : 3, lane);
  if (x.form().get<ptx::CtaGroup>() != ptx::CtaGroup::Two) {
    if (mask == 0 && !is_beside(x, to, barrier, lane)) return true;
    x.add(machine::TensorLoad{tensor.map, tensor.start, shared_address(x, to),
                              shared_address(x, barrier), mask},
          1u << lane);
    return true;
  }
  const auto ctas = static_cast<int>(x.c.ctas.size());
  for (int cta = 0; cta < ctas; ++cta) {
    const bool takes = mask == 0 ? cta == rank_of(to) : (mask >> cta & 1) != 0;
    if (!takes) continue;
    const int counts = cta - cta % 2 + rank_of(barrier) % 2;
    x.add(machine::TensorLoad{tensor.map, tensor.start, machine::Address(offset_of(to)).in(cta),
                              machine::Address(offset_of(barrier)).in(counts)},
          1u << lane);
  }
  if (mask >> ctas != 0) x.fail(Fault::MulticastMask, lane, mask);
  return true;
}

// dst [shared], [map, {}], [mbar]{, {offsets}}{, mask} or [map, {}], [shared]
bool make_tensor(Executor& x) {
  const bool by_rows = is_by_rows(x.form());
  if (!is_tiled(x.form()) && !by_rows && !is_im2col(x.form())) return false;
  const bool loads = is_shared(x.form().space());
  bool fine = true;
  x.for_each_lane(x.group.active, [&](int lane) {
    TensorOperand tensor;
    if (!fine || x.c.finding) return;
    fine = read_tensor(x, x.value(loads ? 1 : 0), lane, tensor);
    if (!fine || x.c.finding) return;
    if (loads && is_im2col(x.form())) read_offsets(x, x.value(3), lane, tensor);
    fine = !by_rows || is_row_of_four(x, tensor);
    for (std::uint32_t row = 0; fine && row < (by_rows ? rows_of_four : 1); ++row) {
      const TensorOperand one = by_rows ? row_of_four(tensor, row) : tensor;
      const std::uint32_t begin =
          loads ? named_shared_at(x, x.value(0), lane) : own_shared_at(x, x.value(1), lane);
      if (x.c.finding) return;
      const std::uint32_t at = begin + (by_rows ? row * row_bytes(x, tensor) : 0);
      const machine::TensorStore store{one.map, one.start, shared_address(x, at)};
      if (loads)
        fine = add_tensor_loads(x, lane, one, at);
      else if (!is_repeated(x, store, lane))
        x.add(store, 1u << lane);
    }
  });
  return fine;
}

bool reduction_of(const ptx::Form& form, tma::Reduction& op) {
  using enum ptx::Operation;
  switch (form.get<ptx::Operation>()) {
    case Add: op = tma::Reduction::Add; return true;
    case Min: op = tma::Reduction::Min; return true;
    case Max: op = tma::Reduction::Max; return true;
    case Inc: op = tma::Reduction::Inc; return true;
    case Dec: op = tma::Reduction::Dec; return true;
    case And: op = tma::Reduction::And; return true;
    case Or: op = tma::Reduction::Or; return true;
    case Xor: op = tma::Reduction::Xor; return true;
    default: return false;
  }
}

bool make_tensor_reduction(Executor& x) {
  tma::Reduction op = {};
  if ((!is_tiled(x.form()) && !is_im2col(x.form())) || !reduction_of(x.form(), op)) return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    TensorOperand tensor;
    if (!read_tensor(x, x.value(0), lane, tensor)) return false;
    what = machine::TensorReduce{tensor.map, tensor.start,
                                 shared_address(x, own_shared_at(x, x.value(1), lane)), op};
    return true;
  });
}

// --- without ---------------------------------------------------------------------------------------

bool data_type_of(const ptx::Form& form, tma::DataType& type) {
  using enum ptx::Type;
  switch (form.types[0]) {
    case U32:
    case B32: type = tma::DataType::UInt32; return true;
    case S32: type = tma::DataType::Int32; return true;
    case U64:
    case B64: type = tma::DataType::UInt64; return true;
    case S64: type = tma::DataType::Int64; return true;
    case F16: type = tma::DataType::Float16; return true;
    case BF16: type = tma::DataType::BFloat16; return true;
    case F32: type = tma::DataType::Float32; return true;
    case F64: type = tma::DataType::Float64; return true;
    default: return false;
  }
}

// [dst], [src], size{, [mbar]{, mask}}; to global memory: {, policy}{, bytes}
bool make_bulk(Executor& x) {
  const ptx::Form& form = x.form();
  const std::uint32_t last = x.operand_count() - 1;
  const auto byte_mask = [&](int lane) {
    return form.has(Flag::CpMask) ? static_cast<std::uint16_t>(x.number(x.value(last), lane))
                                  : bulk::all_bytes;
  };
  const bool to_shared = is_shared(form.space());
  const bool from_shared = is_shared(form.space(ptx::Slot::Space2));
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    const auto bytes = static_cast<std::uint32_t>(x.number(x.value(2), lane));
    std::uint64_t global = 0;
    if (!(to_shared && from_shared) &&
        !global_at(x, x.value(to_shared ? 1 : 0), lane, bytes, global))
      return true;
    if (!to_shared) {
      const std::uint32_t from = own_shared_at(x, x.value(1), lane);
      what = machine::BulkStore{shared_address(x, from), global, bytes, byte_mask(lane)};
      return true;
    }
    const std::uint16_t mask = mask_at(x, 4, lane);
    const std::optional<Counted> at = counted_at(x, 3, lane, mask);
    if (!at) return true;
    if (from_shared)
      what = machine::BulkSend{shared_address(x, own_shared_at(x, x.value(1), lane)), at->to, bytes,
                               at->barrier};
    else
      what = machine::BulkLoad{global, at->to, bytes, at->barrier, mask};
    return true;
  });
}

// [dst], [src], size{, [mbar]}
bool make_bulk_reduction(Executor& x) {
  tma::Reduction op = {};
  tma::DataType type = {};
  if (!reduction_of(x.form(), op) || !data_type_of(x.form(), type)) return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    std::uint64_t global = 0;
    const auto bytes = static_cast<std::uint32_t>(x.number(x.value(2), lane));
    const machine::Address from = shared_address(x, own_shared_at(x, x.value(1), lane));
    if (is_shared(x.form().space())) {
      if (const std::optional<Counted> at = counted_at(x, 3, lane))
        what = machine::BulkSendReduce{from, at->to, bytes, at->barrier, op, type};
      return true;
    }
    if (!global_at(x, x.value(0), lane, bytes, global)) return true;
    what = machine::BulkReduce{from, global, bytes, op, type};
    return true;
  });
}

// [dst], [src], size{, source size or whether to ignore the source}{, policy}; as the lanes' sources are long.
bool make_cp_async(Executor& x) {
  const std::uint32_t operands = x.operand_count() - (x.form().has(Flag::CacheHint) ? 1 : 0);
  const auto bytes = static_cast<int>(x.number(x.value(2), first_lane(x)));
  const auto source_bytes = [&](int lane) {
    if (operands <= 3) return bytes;
    const auto given = static_cast<std::uint32_t>(x.number(x.value(3), lane));
    if (x.kernel().words_of(x.value(3)) == 0) return given != 0 ? 0 : bytes;
    return static_cast<int>(std::min(given, static_cast<std::uint32_t>(bytes)));
  };
  if (bytes != 4 && bytes != 8 && bytes != 16) return false;
  std::map<int, std::uint32_t> alike;
  x.for_each_lane(x.group.active, [&](int lane) { alike[source_bytes(lane)] |= 1u << lane; });
  for (const auto& [read, lanes] : alike) {
    machine::CpAsync copy;
    copy.to.bytes = bytes;
    copy.from.bytes = read;
    copy.from.global = true;
    x.for_each_lane(lanes, [&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      std::uint64_t global = 0;
      copy.to.at[l] = offset_of(own_shared_at(x, x.value(0), lane));
      const auto count = static_cast<std::uint64_t>(copy.from.bytes);
      if (count == 0 || x.c.finding || !global_at(x, x.value(1), lane, count, global)) return;
      copy.from.at[l] = static_cast<std::uint32_t>(global);
    });
    x.add(copy, lanes);
  }
  return true;
}

// [dst], b: into global memory, where nothing tells of its completion. Without .release, and into other memory, there is none.
// Inferred: as an ordinary store and red that release, made in the order of the thread.
bool is_without_mbarrier(const ptx::Form& form) {
  const bool global = form.space() == Space::Global || form.space() == Space::Generic;
  const auto scope = form.get<ptx::Scope>();
  const bool is_wide = scope == ptx::Scope::Gpu || scope == ptx::Scope::Sys;
  return global && is_wide && form.get<ptx::Semantics>() == ptx::Semantics::Release &&
         !form.has(ptx::Slot::Completion) && !form.has(ptx::Slot::VectorWidth);
}

// [dst], b or {b..}, [mbar]
bool make_st_async(Executor& x) {
  const Value& data = x.value(1);
  if (x.operand_count() < 3) {
    if (!is_without_mbarrier(x.form()) || data.kind == ValueKind::Vector) return false;
    access_memory(x, true);
    return true;
  }
  const auto each = static_cast<std::size_t>(ptx::bits(x.form().types[0]) / 8);
  const bool is_vector = data.kind == ValueKind::Vector;
  const auto count = is_vector ? static_cast<std::uint32_t>(data.value) : 1u;
  if (each * count > 16) return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    const std::optional<Counted> at = counted_at(x, 2, lane);
    if (!at) return true;
    machine::StoreAsync store;
    store.to = at->to;
    store.barrier = at->barrier;
    store.bytes = static_cast<std::uint32_t>(each * count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t bits = x.number(is_vector ? x.item(data, i) : data, lane);
      std::memcpy(store.value.data() + i * each, &bits, each);
    }
    what = store;
    return true;
  });
}

// [a], size, 0
bool make_st_bulk(Executor& x) {
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    const std::uint32_t at = shared_at(x, x.value(0), lane);
    if (x.c.finding) return true;
    what = machine::StoreZeros{offset_of(at), x.number(x.value(1), lane)};
    return x.number(x.value(2), lane) == 0 && rank_of(at) == x.warp.cta;
  });
}

// [dst], b, [mbar]
bool make_red_async(Executor& x) {
  if (x.operand_count() < 3) return is_without_mbarrier(x.form()) && make_atomic(x);
  machine::ReduceAsync reduction;
  const bool exists = reduction_of(x.form(), reduction.op) &&
                      data_type_of(x.form(), reduction.type) &&
                      bulk::check_shared(reduction.op, reduction.type) == Fault::None;
  if (!exists) return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    const std::optional<Counted> at = counted_at(x, 2, lane);
    if (!at) return true;
    reduction.to = at->to;
    reduction.barrier = at->barrier;
    reduction.value = x.number(x.value(1), lane);
    what = reduction;
    return true;
  });
}

// What an H100 does not execute unless the launch names a cluster. Asked of no other chip: kernels for other targets are not
// held to it. Measured: tests/vectors/launch.tcqv
bool needs_cluster(const Executor& x) {
  const ptx::Form& form = x.form();
  if (!ptx::is_for_sm90(x.kernel().program->unit)) return false;
  switch (form.opcode) {
    case Opcode::StAsync:
    case Opcode::RedAsync: return form.space() != Space::Global;
    case Opcode::CpAsyncBulk:
    case Opcode::CpReduceAsyncBulk:
      return is_shared(form.space()) && is_shared(form.space(ptx::Slot::Space2));
    default: return false;
  }
}

// [dst], [mbar]; to all CTAs with multicast::cluster::all.
bool make_try_cancel(Executor& x) {
  const bool to_all = x.form().get<ptx::Multicast>() != ptx::Multicast::None;
  const auto all = static_cast<std::uint16_t>((1u << x.c.ctas.size()) - 1);
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    what = machine::TryCancel{shared_address(x, shared_at(x, x.value(0), lane)),
                              shared_address(x, shared_at(x, x.value(1), lane)),
                              to_all ? all : std::uint16_t{0}};
    return true;
  });
}

}  // namespace

bool make_copy(Executor& x) {
  const std::uint32_t active = x.group.active;
  if (!x.feeder.launch().has_cluster && needs_cluster(x)) {
    x.fail(Fault::ClusterAttributeMissing, first_lane(x));
    return true;
  }
  switch (x.form().opcode) {
    case Opcode::CpAsync: return make_cp_async(x);
    case Opcode::CpAsyncCommitGroup: x.add(machine::CpAsyncCommit{}, active); return true;
    case Opcode::CpAsyncWaitGroup:
      x.add(machine::CpAsyncWait{static_cast<std::uint32_t>(
                x.number(x.value(0), std::countr_zero(active)))},
            active);
      return true;
    case Opcode::CpAsyncWaitAll: x.add(machine::CpAsyncWait{0, true}, active); return true;
    case Opcode::StAsync: return make_st_async(x);
    case Opcode::StBulk: return make_st_bulk(x);
    case Opcode::RedAsync: return make_red_async(x);
    case Opcode::ClusterlaunchcontrolTryCancel: return make_try_cancel(x);
    case Opcode::CpAsyncBulk: return make_bulk(x);
    case Opcode::CpAsyncBulkTensor: return make_tensor(x);
    case Opcode::CpReduceAsyncBulk: return make_bulk_reduction(x);
    case Opcode::CpReduceAsyncBulkTensor: return make_tensor_reduction(x);
    case Opcode::TensormapReplace: return make_tensormap_replace(x);
    case Opcode::TensormapCpFenceproxy: return make_tensormap_copy(x);
    case Opcode::CpAsyncBulkCommitGroup: x.add(machine::BulkCommit{}, active); return true;
    case Opcode::CpAsyncBulkWaitGroup: {
      const auto pending = x.number(x.value(0), std::countr_zero(active));
      x.add(machine::BulkWait{static_cast<int>(pending), x.form().has(Flag::Read)}, active);
      return true;
    }
    default: return make_tensor_memory(x);
  }
}

}  // namespace tcq::run
