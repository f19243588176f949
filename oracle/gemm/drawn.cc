// One entry of the batch after the other, one line or one tile of it after the other.
#include "oracle/gemm/drawn.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/answer/words.h"
#include "oracle/gemm/elements.h"
#include "oracle/sum/gemm_epilogue.h"
#include "oracle/answer/in_parallel.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/inputs/mixture.h"
#include "sim/num/inputs/packed_mixture.h"
#include "sim/num/inputs/scaled_mixture.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::string_view bell_word = "bell";

MixtureClass class_of(const std::string& word, std::uint64_t tile_seed) {
  std::vector<std::string_view> names = {bell_word, "weighted"};
  if (word == names[1]) return mixture_class(tile_seed);
  for (int i = 0; i < mixture_class_count; ++i) {
    names.emplace_back(tcq::name(static_cast<MixtureClass>(i)));
    if (word == names.back()) return static_cast<MixtureClass>(i);
  }
  throw_unknown("mixture", word, names);
}

struct Part {  // of every line of an entry
  Matrix& of;
  std::int64_t entry, first, count;
};

// Lines are dealt to threads: elements_of(line) makes a function that is called for i below `count` in turn, and what it
// returns goes to [entry][line][first + i].
template <class ElementsOf>
void fill_lines(Type type, const Part& part, int threads, ElementsOf elements_of) {
  Matrix& matrix = part.of;
  char* to = matrix.array.bytes.data() + matrix.array.first;
  if (part.count == 0) return;
  in_parallel(matrix.rows, thread_count(threads), [&](std::int64_t line) {
    auto element = elements_of(static_cast<int>(line));
    for (std::int64_t i = 0; i < part.count; ++i)
      store_element(type, to, matrix.index(part.entry, line, part.first + i),
                    element(static_cast<int>(i)));
  });
}

// One entry of a batch. B and its factors lie as N x K.
struct Entry {
  const Request& request;
  DrawnProduct& to;
  std::int64_t entry;
  std::uint64_t seed;

  std::uint64_t tile_seed(std::int64_t tile) const {
    return mix(seed) + static_cast<std::uint64_t>(tile);
  }

  template <class Element>
  void fill(Type type, const Part& part, Element element) {
    fill_lines(type, part, request.threads,
               [&](int line) { return [&, line](int i) { return element(line, i); }; });
  }

  // Tiles of inputs that find wrong sums, of so many of K: make(class, seed) is one.
  template <class Make>
  void draw_tiles(std::int64_t tile_k, Make make) {
    for (std::int64_t k = 0; k < to.a.cols; k += tile_k) {
      const std::uint64_t of_tile = tile_seed(k / tile_k);
      const auto tile = make(class_of(request.mixture, of_tile), of_tile);
      const std::int64_t count = std::min(tile_k, to.a.cols - k);
      fill(request.a, {to.a, entry, k, count}, [&](int i, int j) { return tile.a(i, j); });
      fill(request.b, {to.b, entry, k, count}, [&](int i, int j) { return tile.b(i, j); });
      draw_tile_factors(tile, k, count);
    }
  }

  template <class Tile>
  void draw_tile_factors(const Tile& tile, std::int64_t k, std::int64_t count) {
    if constexpr (requires { tile.scale_a(0, 0); }) {
      const int block = scale_block(request.scaling);
      const std::int64_t blocks = (count + block - 1) / block;
      fill(Type::u8, {to.factors->a, entry, k / block, blocks},
           [&](int i, int j) { return std::uint32_t{tile.scale_a(i, j)}; });
      fill(Type::u8, {to.factors->b, entry, k / block, blocks},
           [&](int i, int j) { return std::uint32_t{tile.scale_b(i, j)}; });
    }
  }

  void draw_mixture() {
    constexpr int plain_k = 64;
    const DotTypes types{wgmma::widest_d(request.a), request.a, request.b};
    if (!to.factors)
      draw_tiles(plain_k,
                 [&](MixtureClass c, std::uint64_t s) { return Mixture(types, plain_k, c, s); });
    else if (request.a == Type::e2m1 && request.b == Type::e2m1)
      draw_tiles(tcgen05::packed_products, [&](MixtureClass c, std::uint64_t s) {
        return tcgen05::PackedMixture(scale_type(request.scaling), scale_block(request.scaling), c,
                                      s);
      });
    else
      draw_tiles(tcgen05::products(tcgen05::Kind::mxf8f6f4),
                 [&](MixtureClass c, std::uint64_t s) { return OneFactor(types, c, s); });
  }

  // A tile of one instruction of mxf8f6f4 has one factor for each line.
  struct OneFactor : tcgen05::ScaledMixture {
    OneFactor(const DotTypes& types, MixtureClass c, std::uint64_t s)
        : ScaledMixture(types, tcgen05::products(tcgen05::Kind::mxf8f6f4), c, s) {}
    std::uint8_t scale_a(int row, int) const { return ScaledMixture::scale_a(row); }
    std::uint8_t scale_b(int col, int) const { return ScaledMixture::scale_b(col); }
  };

  // Inputs as users have them; a line's are a stream of their own.
  template <class Make>
  void draw_streams(Type type, Matrix& matrix, std::uint64_t of_matrix, Make make) {
    fill_lines(type, {matrix, entry, 0, matrix.cols}, request.threads, [&](int line) {
      Draw stream(mix(of_matrix) ^ static_cast<std::uint64_t>(line));
      return [stream, make](int) mutable { return make(stream); };
    });
  }

  // A factor is a few powers of two from 1.
  std::uint32_t bell_factor(Draw& stream) const {
    constexpr int one = 127;  // ue8m0
    if (scale_type(request.scaling) == tcgen05::ScaleType::ue8m0)
      return static_cast<std::uint32_t>(one + stream.in(-3, 3));
    return make_float(Type::e4m3, stream.in(-3, 3), Fraction::Uniform, false, stream);
  }

  void draw_bell() {
    draw_streams(request.a, to.a, 2 * seed, [&](Draw& s) { return bell(request.a, s); });
    draw_streams(request.b, to.b, 2 * seed + 1, [&](Draw& s) { return bell(request.b, s); });
    if (!to.factors) return;
    const auto factor = [&](Draw& s) { return bell_factor(s); };
    draw_streams(Type::u8, to.factors->a, mix(2 * seed), factor);
    draw_streams(Type::u8, to.factors->b, mix(2 * seed + 1), factor);
  }
};

Matrix zeros_of(const Sizes& s, Type type, std::int64_t lines, std::int64_t k) {
  return s.batch ? batch_of_zeros(type, *s.batch, lines, k) : zeros(type, lines, k);
}

}  // namespace

DrawnProduct draw_product(const Request& request) {
  const Sizes& s = request.sizes;
  DrawnProduct drawn{zeros_of(s, request.a, s.m, s.k), zeros_of(s, request.b, s.n, s.k), {}};
  if (request.draws_factors()) {
    const int block = scale_block(request.scaling);
    const std::int64_t blocks = (s.k + block - 1) / block;
    drawn.factors = {zeros_of(s, Type::u8, s.m, blocks), zeros_of(s, Type::u8, s.n, blocks)};
  }
  if (request.mixture != bell_word)
    class_of(request.mixture, 0);  // named if there is no such class
  const bool is_empty = s.k == 0 || (s.m == 0 && s.n == 0);
  for (std::int64_t e = 0; e < drawn.a.batch && !is_empty; ++e) {
    const std::uint64_t seed =
        e == 0 ? request.seed : mix(request.seed ^ mix(static_cast<std::uint64_t>(e)));
    Entry entry{request, drawn, e, seed};
    if (request.mixture == bell_word)
      entry.draw_bell();
    else
      entry.draw_mixture();
  }
  drawn.b = transposed(std::move(drawn.b));
  return drawn;
}

}  // namespace tcq::oracle::gemm
