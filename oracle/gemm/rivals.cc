// Rivals that compute the same are asked once: their arithmetic is compared, not their names.
#include "oracle/gemm/rivals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::array<std::int64_t, 8> lengths = {16, 32, 64, 128, 256, 512, 1024, 2048};
constexpr std::int64_t most_splits = 16;

// K cut into whole instructions, all parts but the last as long as the first.
std::vector<GemmSegment> even_parts(std::int64_t k, std::int64_t parts, std::int64_t unit) {
  const std::int64_t length = (k + parts * unit - 1) / (parts * unit) * unit;
  return parts_of(k, std::max(length, unit));
}

std::vector<std::vector<GemmSegment>> all_parts(const Product& product, int unit) {
  std::vector<std::vector<GemmSegment>> all = {{}};
  if (!is_float(product.a)) return all;
  for (const std::int64_t length : lengths)
    if (length % unit == 0) all.push_back(parts_of(product.k, length));
  for (std::int64_t parts = 2; parts <= most_splits; ++parts) {
    if (parts <= most_parts(product)) all.push_back(split_parts(product, parts));
    all.push_back(even_parts(product.k, parts, unit));
  }
  return all;
}

// Promotion is FP8's, or that of factors of 128 of K; its parts begin where chains of 128 do.
bool can_promote(const Order& order, const Product& product) {
  const bool is_promoted_type = is_float(product.a) && bits(product.a) <= 8;
  return (is_promoted_type || scales_blocks(product.scaling)) && order.accumulator == Type::f32 &&
         std::ranges::all_of(order.segments,
                             [](const GemmSegment& part) { return part.first % promoted_k == 0; });
}

class Collection {
 public:
  Collection(const Order& order, const Product& product) : order_(order), product_(product) {}

  void add(Order rival) {
    if (!exists(rival, product_)) return;
    if (scales_blocks(product_.scaling) && !rival.promotes)
      return;  // its factors would meet nothing
    rival = simplified(std::move(rival), product_);
    const auto same = [&](const Order& other) { return computes_the_same(rival, other, product_); };
    if (same(order_) || std::ranges::any_of(all_, same)) return;
    rival.spec = canonical_spec(rival, product_);
    all_.push_back(std::move(rival));
  }
  std::vector<Order> all() && { return std::move(all_); }

 private:
  const Order& order_;
  const Product& product_;
  std::vector<Order> all_;
};

int explained(const Problem& problem, const Order& rival, const std::vector<Difference>& outputs) {
  int count = 0;
  for (const Difference& d : outputs)
    if (predict_one(problem, rival, d.row, d.col) == d.other) ++count;
  return count;
}

// Every accumulator, part of K and promotion of one instruction.
void add_orders(Engine engine, std::optional<tcgen05::Kind> kind, const Product& product,
                Collection& found) {
  for (const Type accumulator : {wgmma::widest_d(product.a), Type::f16}) {
    Order rival{"", engine, accumulator};
    rival.kind = kind;
    if (!exists(rival, product)) continue;
    if (!is_float(product.a)) {
      rival.saturate = true;
      found.add(rival);
      rival.saturate = false;
    }
    for (const auto& parts : all_parts(product, step(rival, product))) {
      rival.segments = parts;
      found.add(rival);
      if (can_promote(rival, product)) {
        rival.promotes = true;
        found.add(rival);
        rival.promotes = false;
      }
    }
  }
}

}  // namespace

std::vector<Order> rivals(const Order& order, const Product& product) {
  Collection found(order, product);
  // The order's own instruction first, so that the nearest explanation is the first one.
  if (is_block_scaled(product.scaling)) {
    add_orders(Engine::Tcgen05, order.kind, product, found);
    for (const tcgen05::Kind kind : block_scaled_kinds(product))
      if (kind != order.kind) add_orders(Engine::Tcgen05, kind, product, found);
    return std::move(found).all();
  }
  std::array<Engine, 2> engines = {Engine::Wgmma, Engine::Tcgen05};
  if (order.engine == Engine::Tcgen05) std::swap(engines[0], engines[1]);
  for (const Engine engine : engines) add_orders(engine, {}, product, found);
  for (const Engine engine : {Engine::Float64, Engine::Fma}) found.add(Order{"", engine});
  return std::move(found).all();
}

Explanation explain(const Problem& problem, const Order& order, const Sample& sample,
                    const Pulse& go_on) {
  Explanation e;
  e.outputs = static_cast<int>(sample.differing.size() + sample.equal.size());
  for (const Order& rival : rivals(order, problem.product)) {
    if (!go_on(e.asked)) break;
    ++e.asked;
    const int differing = explained(problem, rival, sample.differing);
    const int all = differing + explained(problem, rival, sample.equal);
    if (all == e.outputs) e.by.push_back(rival.spec);
    if (differing == 0 || all <= e.nearest_outputs) continue;
    e.nearest = rival.spec;
    e.nearest_outputs = all;
  }
  return e;
}

}  // namespace tcq::oracle::gemm
