// What an order computes, apart from how it is spelled: which instructions exist, their K, the parts of K.
#include <algorithm>
#include <optional>

#include "oracle/gemm/order.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot_traits.h"

namespace tcq::oracle::gemm {
namespace {

using tcgen05::Kind;

// The kind without scale factors that multiplies these.
std::optional<Kind> kind_of(Type a, Type b) {
  for (const Kind kind : {Kind::f16, Kind::tf32, Kind::f8f6f4, Kind::i8})
    if (tcgen05::multiplicand_exists(kind, a) && tcgen05::multiplicand_exists(kind, b)) return kind;
  return std::nullopt;
}

// Elements of the blocks that a kernel of the GEMM cuts K into.
std::int64_t block_k(const Product& product) {
  constexpr int block_bytes = 128;
  return elements_in(product.a, block_bytes);
}

}  // namespace

bool exists(Engine engine, Type accumulator, const Product& product) {
  if (engine == Engine::Wgmma) return wgmma::types_exist(accumulator, product.a, product.b);
  if (engine != Engine::Tcgen05) return is_float(product.a) && is_float(product.b);
  const std::optional<Kind> kind = kind_of(product.a, product.b);
  return kind && tcgen05::types_exist(*kind, accumulator, product.a, product.b);
}

int step(const Order& order, const Product& product) {
  if (order.engine == Engine::Wgmma) return wgmma::stored_k(product.a);
  if (order.engine != Engine::Tcgen05) return 1;
  return tcgen05::stored_k({kind_of(product.a, product.b).value_or(Kind::f16)}, {});
}

tcgen05::DotForm tcgen05_form_of(const Order& order, const Product& product) {
  tcgen05::DotForm form;
  form.opcode.kind = kind_of(product.a, product.b).value_or(Kind::f16);
  form.idesc = default_types(form.opcode.kind);
  form.idesc.a = product.a;
  form.idesc.b = product.b;
  form.idesc.d = order.accumulator;
  return form;
}

bool computes_the_same(const Order& a, const Order& b, const Product& product) {
  const auto is_instruction = [](const Order& order) {
    return order.engine == Engine::Wgmma || order.engine == Engine::Tcgen05;
  };
  if (!is_instruction(a) || !is_instruction(b)) return a.engine == b.engine;
  if (a.accumulator != b.accumulator || a.saturate != b.saturate || a.segments != b.segments)
    return false;
  if (a.engine == b.engine || !is_float(product.a)) return true;
  const auto traits = [&](const Order& order) {
    if (order.engine == Engine::Wgmma) return wgmma_dot_traits(order.accumulator, product.a);
    return tcgen05_dot_traits(*kind_of(product.a, product.b), order.accumulator);
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
