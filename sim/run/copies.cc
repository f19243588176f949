#include "sim/run/copies.h"

#include <algorithm>
#include <bit>

#include "sim/run/tensor_memory.h"

namespace tcq::run {
namespace {

using ptx::Flag;
using ptx::Opcode;
using ptx::Space;
using ptx::Value;
using ptx::ValueKind;

bool is_shared(Space space) {
  return space == Space::Shared || space == Space::SharedCta || space == Space::SharedCluster;
}

// Every lane issues a copy of its own.
template <class Make>
bool for_each_issuer(Executor& x, Make make) {
  bool fine = true;
  x.for_each_lane(x.group.active, [&](int lane) {
    machine::Instruction what;
    if (!fine || x.c.finding) return;
    fine = make(lane, what);
    if (fine && !x.c.finding) x.add(std::move(what), 1u << lane);
  });
  return fine;
}

std::uint16_t mask_at(const Executor& x, std::uint32_t operand, int lane) {
  return x.form().get<ptx::Multicast>() == ptx::Multicast::None
             ? std::uint16_t{0}
             : static_cast<std::uint16_t>(x.number(x.value(operand), lane));
}

bool global_at(Executor& x, const Value& address, int lane, std::uint64_t& offset) {
  const std::uint64_t a = x.address(address, lane);
  if (in_window(a, global_window)) {
    offset = a - global_window;
    return true;
  }
  x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(a));
  return false;
}

// --- with a tensor map -----------------------------------------------------------------------------

// The map at an address; -1: none.
int map_at(const Executor& x, const Value& address, int lane) {
  const std::uint64_t a = x.address(address, lane);
  for (const MapPlace& place : x.feeder.launch().map_places)
    if (a == place.address) return place.map;
  return -1;
}

struct TensorOperand {
  int map = -1;
  tma::Coordinates start;
};

// [map, {c0, c1}]
bool read_tensor(Executor& x, const Value& value, int lane, TensorOperand& operand) {
  if (value.kind != ValueKind::AtTensor || value.value < 2) return false;
  operand.map = map_at(x, x.item(value, 0), lane);
  if (operand.map < 0) {
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
  for (std::uint32_t i = 0; i < count && i < tma::max_rank; ++i)
    operand.start.at[i] = static_cast<std::int32_t>(x.number(at(i), lane));
  return true;
}

bool is_tiled(const ptx::Form& form) {
  const auto mode = form.get<ptx::LoadMode>();
  return mode == ptx::LoadMode::None || mode == ptx::LoadMode::Tile;
}

// One load for each CTA that gets the box. With cta_group::2 its bytes count in that CTA of the destination's pair
// which the mbarrier's parity in the cluster says.
bool add_tensor_loads(Executor& x, int lane, const TensorOperand& tensor) {
  const std::uint32_t to = shared_at(x, x.value(0), lane);
  const std::uint32_t barrier = shared_at(x, x.value(2), lane);
  const std::uint16_t mask = mask_at(x, 3, lane);
  if (x.form().get<ptx::CtaGroup>() != ptx::CtaGroup::Two) {
    if (mask == 0 && rank_of(to) != rank_of(barrier)) return false;
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

// dst [shared], [map, {}], [mbar]{, mask} or [map, {}], [shared]
bool make_tensor(Executor& x) {
  if (!is_tiled(x.form())) return false;
  const bool loads = is_shared(x.form().space());
  bool fine = true;
  x.for_each_lane(x.group.active, [&](int lane) {
    TensorOperand tensor;
    if (!fine || x.c.finding) return;
    fine = read_tensor(x, x.value(loads ? 1 : 0), lane, tensor);
    if (!fine || x.c.finding) return;
    if (loads)
      fine = add_tensor_loads(x, lane, tensor);
    else
      x.add(machine::TensorStore{tensor.map, tensor.start,
                                 shared_address(x, shared_at(x, x.value(1), lane))},
            1u << lane);
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
  if (!is_tiled(x.form()) || !reduction_of(x.form(), op)) return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    TensorOperand tensor;
    if (!read_tensor(x, x.value(0), lane, tensor)) return false;
    what = machine::TensorReduce{tensor.map, tensor.start,
                                 shared_address(x, shared_at(x, x.value(1), lane)), op};
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

// [dst], [src], size{, [mbar]{, mask}}
bool make_bulk(Executor& x) {
  const ptx::Form& form = x.form();
  if (form.has(Flag::CpMask)) return false;
  const bool to_shared = is_shared(form.space());
  const bool from_shared = is_shared(form.space(ptx::Slot::Space2));
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    const auto bytes = static_cast<std::uint32_t>(x.number(x.value(2), lane));
    const auto shared = [&](std::uint32_t operand) {
      return shared_address(x, shared_at(x, x.value(operand), lane));
    };
    std::uint64_t global = 0;
    if (to_shared && from_shared) {
      what = machine::BulkSend{shared(1), shared(0), bytes, shared(3)};
      return true;
    }
    if (!global_at(x, x.value(to_shared ? 1 : 0), lane, global)) return true;
    if (to_shared)
      what = machine::BulkLoad{global, shared(0), bytes, shared(3), mask_at(x, 4, lane)};
    else
      what = machine::BulkStore{shared(1), global, bytes};
    return true;
  });
}

bool make_bulk_reduction(Executor& x) {
  tma::Reduction op = {};
  tma::DataType type = {};
  if (is_shared(x.form().space()) || !reduction_of(x.form(), op) || !data_type_of(x.form(), type))
    return false;
  return for_each_issuer(x, [&](int lane, machine::Instruction& what) {
    std::uint64_t global = 0;
    if (!global_at(x, x.value(0), lane, global)) return true;
    what = machine::BulkReduce{shared_address(x, shared_at(x, x.value(1), lane)), global,
                               static_cast<std::uint32_t>(x.number(x.value(2), lane)), op, type};
    return true;
  });
}

}  // namespace

bool make_copy(Executor& x) {
  const std::uint32_t active = x.group.active;
  switch (x.form().opcode) {
    case Opcode::CpAsyncBulk: return make_bulk(x);
    case Opcode::CpAsyncBulkTensor: return make_tensor(x);
    case Opcode::CpReduceAsyncBulk: return make_bulk_reduction(x);
    case Opcode::CpReduceAsyncBulkTensor: return make_tensor_reduction(x);
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
