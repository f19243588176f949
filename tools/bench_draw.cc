#include "tools/bench_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/config.h"
#include "oracle/answer/answer.h"
#include "sim/num/activation.h"
#include "tools/bench_places.h"

namespace tcq::tools {
namespace {

// What tensor parallelism divides: the outputs of a layer, or what it sums over.
enum class Splits : std::uint8_t { N, K };

struct Layer {
  std::int64_t n;
  std::int64_t k;
  Splits splits;
};

// QKV or latent projections, attention output, gate and up, down. Source: the models' published
// configurations (hidden, intermediate and head sizes).
constexpr std::array layers = {
    // Llama 3 8B, 70B
    Layer{6144, 4096, Splits::N}, Layer{4096, 4096, Splits::K}, Layer{28672, 4096, Splits::N},
    Layer{4096, 14336, Splits::K}, Layer{10240, 8192, Splits::N}, Layer{8192, 8192, Splits::K},
    Layer{57344, 8192, Splits::N}, Layer{8192, 28672, Splits::K},
    // Qwen2.5 7B, 32B
    Layer{4608, 3584, Splits::N}, Layer{3584, 3584, Splits::K}, Layer{37888, 3584, Splits::N},
    Layer{3584, 18944, Splits::K}, Layer{7168, 5120, Splits::N}, Layer{5120, 5120, Splits::K},
    Layer{55296, 5120, Splits::N}, Layer{5120, 27648, Splits::K},
    // DeepSeek-V3
    Layer{2112, 7168, Splits::N}, Layer{24576, 1536, Splits::N}, Layer{32768, 512, Splits::N},
    Layer{7168, 16384, Splits::K}, Layer{4096, 7168, Splits::N}, Layer{7168, 2048, Splits::K},
    Layer{36864, 7168, Splits::N}, Layer{7168, 18432, Splits::K},
    // Gemma 2 9B, GPT-2 XL
    Layer{8192, 3584, Splits::N}, Layer{3584, 4096, Splits::K}, Layer{28672, 3584, Splits::N},
    Layer{3584, 14336, Splits::K}, Layer{4800, 1600, Splits::N}, Layer{6400, 1600, Splits::N},
    Layer{1600, 6400, Splits::K}};

Shape drawn(Draw draw) {
  const std::int64_t m = log_uniform(draw, 1, 16384);
  if (draw.one_in(5)) {
    const std::int64_t n = log_uniform(draw, 64, 16384);
    return {m, n, log_uniform(draw, 64, 16384)};
  }
  const Layer& layer =
      layers[static_cast<std::size_t>(draw.below(static_cast<int>(layers.size())))];
  const std::int64_t gpus =
      std::array<std::int64_t, 4>{1, 2, 4, 8}[static_cast<std::size_t>(draw.below(4))];
  const bool of_n = layer.splits == Splits::N;
  return {m, of_n ? layer.n / gpus : layer.n, of_n ? layer.k : layer.k / gpus};
}

template <class T>
T one_of(const std::vector<T>& all, Draw& draw) {
  return all[static_cast<std::size_t>(draw.below(static_cast<int>(all.size())))];
}

std::string drawn_majors(Draw& draw) {
  return draw.one_in(2) ? "KK" : one_of<std::string>({"KK", "KM", "MK", "MM"}, draw);
}

std::string drawn_epilogue(Draw& draw) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : "+") + word; };
  if (draw.one_in(2)) add("bias");
  if (draw.one_in(4)) add("c");
  if (draw.one_in(2)) add(tcq::name(static_cast<Activation>(draw.in(1, activation_count - 1))));
  return words.empty() ? "none" : words;
}

std::string drawn_out(Type in, Draw& draw) {
  if (in == Type::tf32 || draw.one_in(2)) return "";
  if (!is_float(in)) return one_of<std::string>({"s32", "f32", "bf16"}, draw);
  if (bits(in) == 16) return one_of<std::string>({tcq::name(in), "f32"}, draw);
  return one_of<std::string>({"bf16", "f16", "f32", "e4m3"}, draw);
}

void draw_groups(Variant& v, Draw& draw) {
  v.groups = static_cast<int>(log_uniform(draw, 2, 64));
  v.along_k = draw.one_in(4);
  if (!v.along_k) v.rows_by = one_of<std::string>({"ends", "counts", "numbers"}, draw);
}

void draw_batch(Variant& v, Draw& draw) {
  v.batch = static_cast<int>(log_uniform(draw, 2, 32));
  v.shared_b = draw.one_in(4);
}

// Half of them a multiple of 16 bytes of A and B, the others none; of e2m1 whole bytes.
int drawn_pad(Type in, Draw& draw) {
  const int together = static_cast<int>(gemm::elements_together(in));
  const int unit = 16 * 8 / bits(in);
  return draw.one_in(2) ? unit * draw.in(1, 4) : together * draw.in(1, unit / together - 1);
}

DrawnBatch drawn_batch(Draw draw) {
  constexpr std::int64_t least = 8;
  constexpr std::int64_t most_elements = std::int64_t{1} << 28;
  const bool even = !draw.one_in(4);
  const auto size = [&] {
    const std::int64_t any = log_uniform(draw, least, 512);
    return even ? (any + least / 2) / least * least : any;
  };
  const Shape one = {size(), size(), size()};
  std::int64_t products = log_uniform(draw, 16, 16384);
  const std::int64_t elements = one.m * one.k + one.n * one.k + one.m * one.n;
  while (products * elements >= most_elements) products /= 2;
  return {{one.m * products, one.n, one.k}, static_cast<int>(products)};
}

Variant drawn(Type in, Draw& draw, int products) {
  Variant v{
      .majors = drawn_majors(draw), .epilogue = drawn_epilogue(draw), .out = drawn_out(in, draw)};
  if (is_fp8(in)) {
    v.scaling =
        one_of<std::string>({"none", "tensor", "row-column", "block", "block", "vector"}, draw);
    if (v.scaling == "block" || v.scaling == "vector") v.factor_majors = drawn_majors(draw);
    v.promotes = draw.one_in(4);
  }
  if (in == Type::e2m1) v.scaling = one_of<std::string>({"mx", "nv"}, draw);
  v.batch_invariant = draw.one_in(6);
  if (products > 0)
    v.batch = products;
  else if (draw.one_in(5))
    draw_batch(v, draw);
  else if (draw.one_in(4))
    draw_groups(v, draw);
  if (draw.one_in(6)) v.pad = drawn_pad(in, draw);
  v.has_workspace = !draw.one_in(10);
  return v;
}

bool exists(const Variant& variant, const Shape& shape, Type in) {
  try {
    (void)variant.problem(shape, in);
    return true;
  } catch (const oracle::UsageError&) {
    return false;
  }
}

// Requires: there is such a problem.
void halve_large(Variant& v, const Shape& shape, Type in) {
  constexpr double most_bytes = 8.0 * 1024 * 1024 * 1024;
  while ((v.batch > 1 || v.groups > 1) && operand_bytes(v.problem(shape, in)) >= most_bytes) {
    v.batch = std::max(v.batch / 2, 1);
    v.groups /= 2;
    v.shared_b &= v.batch > 1;
  }
}

}  // namespace

std::int64_t log_uniform(Draw& draw, std::int64_t low, std::int64_t high) {
  const double share = draw.word() / 4294967296.0;
  const double ratio = static_cast<double>(high) / static_cast<double>(low);
  return std::llround(static_cast<double>(low) * std::pow(ratio, share));
}

Variant drawn_variant(std::uint64_t seed, int index, const Shape& shape, Type in, int products) {
  Draw draw(mix(mix(seed) + static_cast<std::uint64_t>(index)) + static_cast<std::uint64_t>(in));
  constexpr int tries = 1000;  // three in four are problems
  Variant variant = drawn(in, draw, products);
  for (int i = 0; i < tries && !exists(variant, shape, in); ++i)
    variant = drawn(in, draw, products);
  if (exists(variant, shape, in)) halve_large(variant, shape, in);
  return variant;
}

std::vector<Shape> drawn_shapes(std::uint64_t seed, int count) {
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i)
    shapes.push_back(drawn(Draw(mix(seed) + static_cast<std::uint64_t>(i))));
  return shapes;
}

std::vector<DrawnBatch> drawn_batches(std::uint64_t seed, int count) {
  std::vector<DrawnBatch> batches;
  for (int i = 0; i < count; ++i)
    batches.push_back(drawn_batch(Draw(mix(seed) + static_cast<std::uint64_t>(i))));
  return batches;
}

}  // namespace tcq::tools
