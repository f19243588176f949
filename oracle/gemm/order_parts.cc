// What an order computes, apart from how it is spelled: which instructions exist, their K, the parts of K.
#include <algorithm>
#include <optional>
#include <utility>

#include "oracle/gemm/order.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot_traits.h"

namespace tcq::oracle::gemm {
namespace {

using tcgen05::Kind;

// The kind that multiplies these: the order's, else the one without scale factors.
std::optional<Kind> kind_of(const Order& order, const Product& product) {
  if (order.kind) return order.kind;
  for (const Kind kind : {Kind::f16, Kind::tf32, Kind::f8f6f4, Kind::i8})
    if (tcgen05::multiplicand_exists(kind, product.a) &&
        tcgen05::multiplicand_exists(kind, product.b))
      return kind;
  return std::nullopt;
}

// Elements of the blocks that a kernel of the GEMM cuts K into.
std::int64_t block_k(const Product& product) {
  constexpr int block_bytes = 128;
  return elements_in(product.a, block_bytes);
}

}  // namespace

std::vector<Kind> block_scaled_kinds(const Product& product) {
  std::vector<Kind> kinds;
  if (!is_block_scaled(product.scaling)) return kinds;
  for (const Kind kind : {Kind::mxf4, Kind::mxf8f6f4, Kind::mxf4nvf4}) {
    const tcgen05::MmaOpcode opcode = {.kind = kind, .scale_vec = scale_vec(product.scaling)};
    if (tcgen05::scale_vec_exists(kind, opcode.scale_vec) &&
        tcgen05::scale_type_exists(opcode, scale_type(product.scaling)) &&
        tcgen05::types_exist(kind, Type::f32, product.a, product.b))
      kinds.push_back(kind);
  }
  return kinds;
}

bool exists(const Order& order, const Product& product) {
  const bool scaled = is_block_scaled(product.scaling);
  if (order.engine == Engine::Wgmma)
    return !scaled && wgmma::types_exist(order.accumulator, product.a, product.b);
  if (order.engine != Engine::Tcgen05) return is_float(product.a) && is_float(product.b);
  const std::optional<Kind> kind = kind_of(order, product);
  if (!kind || !tcgen05::types_exist(*kind, order.accumulator, product.a, product.b)) return false;
  const std::vector<Kind> kinds = block_scaled_kinds(product);
  return scaled ? std::ranges::find(kinds, *kind) != kinds.end() : !tcgen05::is_block_scaled(*kind);
}

int step(const Order& order, const Product& product) {
  if (order.engine == Engine::Wgmma) return wgmma::stored_k(product.a);
  if (order.engine != Engine::Tcgen05) return 1;
  return tcgen05::stored_k({kind_of(order, product).value_or(Kind::f16)}, {});
}

tcgen05::DotForm tcgen05_form_of(const Order& order, const Product& product) {
  tcgen05::DotForm form;
  form.opcode.kind = kind_of(order, product).value_or(Kind::f16);
  form.idesc = default_types(form.opcode.kind);
  form.idesc.a = product.a;
  form.idesc.b = product.b;
  form.idesc.d = order.accumulator;
  if (!is_block_scaled(product.scaling)) return form;
  form.opcode.scale_vec = scale_vec(product.scaling);
  form.idesc.scale_type = scale_type(product.scaling);
  return form;
}

bool computes_the_same(const Order& a, const Order& b, const Product& product) {
  const auto is_instruction = [](const Order& order) {
    return order.engine == Engine::Wgmma || order.engine == Engine::Tcgen05;
  };
  if (!is_instruction(a) || !is_instruction(b)) return a.engine == b.engine;
  if (a.accumulator != b.accumulator || a.saturate != b.saturate || a.segments != b.segments ||
      a.promotes != b.promotes)
    return false;
  if ((a.engine == b.engine && a.kind == b.kind) || !is_float(product.a)) return true;
  const auto traits = [&](const Order& order) {
    if (order.engine == Engine::Wgmma) return wgmma_dot_traits(order.accumulator, product.a);
    return tcgen05_dot_traits(*kind_of(order, product), order.accumulator);
  };
  return step(a, product) == step(b, product) && traits(a) == traits(b);
}

std::vector<GemmSegment> parts_of(std::int64_t k, std::int64_t length) {
  std::vector<GemmSegment> parts;
  for (std::int64_t first = 0; first < k; first += length)
    parts.push_back({first, std::min(length, k - first)});
  if (parts.size() <= 1) parts.clear();
  return parts;
}

// Chains of later parts of one chain each are added to the first part's as its own are.
Order simplified(Order order, const Product& product) {
  if (!is_float(product.a) || order.segments.size() == 1) order.segments.clear();
  if (!order.promotes || scales_blocks(product.scaling)) return order;
  if (order.segments.empty()) order.segments = {{0, product.k}};
  std::vector<GemmSegment> chains;
  for (const GemmSegment& part : order.segments) {
    if (&part != &order.segments[0] && part.count > promoted_k) return order;
    for (std::int64_t k = 0; k < part.count; k += promoted_k)
      chains.push_back({part.first + k, std::min(promoted_k, part.count - k)});
  }
  order.promotes = false;
  order.segments = std::move(chains);
  if (order.segments.size() <= 1) order.segments.clear();
  return order;
}

std::int64_t most_parts(const Product& product) {
  return std::max<std::int64_t>(1, (product.k + block_k(product) - 1) / block_k(product));
}

std::vector<GemmSegment> split_parts(const Product& product, std::int64_t parts) {
  std::vector<GemmSegment> split;
  const std::int64_t blocks = most_parts(product);
  for (std::int64_t i = 0; parts > 1 && i < parts; ++i) {
    const std::int64_t first = blocks * i / parts * block_k(product);
    const std::int64_t end = std::min(product.k, blocks * (i + 1) / parts * block_k(product));
    split.push_back({first, end - first});
  }
  return split;
}

}  // namespace tcq::oracle::gemm
