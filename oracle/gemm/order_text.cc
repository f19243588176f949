// An order as it can be typed back, and in words.
#include <fmt/format.h>

#include "oracle/gemm/order.h"

namespace tcq::oracle::gemm {
namespace {

std::string parts_text(const Order& order, const Product& product) {
  if (order.segments.empty()) return "chain";
  const std::int64_t first = order.segments[0].count;
  if (order.segments == parts_of(product.k, first) && first % step(order, product) == 0)
    return fmt::format("every={}", first);
  if (order.segments == split_parts(product, static_cast<std::int64_t>(order.segments.size())))
    return fmt::format("split={}", order.segments.size());
  std::string text = "segments=";
  for (const GemmSegment& part : order.segments)
    text +=
        fmt::format("{}{}-{}", text.back() == '=' ? "" : ",", part.first, part.first + part.count);
  return text;
}

std::string instruction_text(const Order& order, const Product& product) {
  if (order.engine == Engine::Wgmma) return "wgmma";
  if (!order.kind) return "tcgen05.mma";
  return fmt::format("tcgen05.mma.kind::{}.block_scale.{}", tcgen05::name(*order.kind),
                     tcgen05::name(scale_vec(product.scaling)));
}

}  // namespace

std::string canonical_spec(const Order& order, const Product& product) {
  if (order.engine == Engine::Float64) return "float64";
  if (order.engine == Engine::Fma) return "fma";
  std::string text = parts_text(order, product);
  text += order.engine == Engine::Wgmma ? ":wgmma" : ":tcgen05";
  if (order.accumulator == Type::f16) text += ",d=f16";
  if (order.kind) text += fmt::format(",kind={}", tcgen05::name(*order.kind));
  if (order.saturate) text += ",satfinite";
  if (order.promotes) text += ",promoted";
  return text;
}

std::string sentence(const Order& order, const Product& product) {
  if (order.engine == Engine::Float64)
    return "sums of float64 over ascending k, rounded once to f32";
  if (order.engine == Engine::Fma) return "one f32 fused multiply-add for each k, ascending";
  const std::string chain =
      fmt::format("{} {}.{}.{} over ascending k, {} at a time", instruction_text(order, product),
                  name(order.accumulator), name(product.a), name(product.b), step(order, product));
  if (order.saturate) return "one chain of " + chain + ", each clamped to s32";
  if (!is_float(product.a)) return chain + ", modulo 2^32: no order changes it";
  if (order.promotes) {
    const std::string sum =
        fmt::format("chains of 128 of K of {}, fma(factors, chain, sum)", chain);
    if (order.segments.empty()) return sum;
    return fmt::format("{} sums of {}, added in f32", order.segments.size(), sum);
  }
  if (order.segments.empty()) return "one chain of " + chain;
  return fmt::format("{} chains of {}, added in f32", order.segments.size(), chain);
}

}  // namespace tcq::oracle::gemm
