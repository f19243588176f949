#include "tools/bench_operands.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/gemm/bench.h"
#include "cuda/gemm/check.h"
#include "cuda/gemm/tensor_scales.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/num/inputs/draw.h"
#include "tools/bench_codes.h"

namespace tcq::tools {
namespace {

constexpr int most_lines = 8;  // rows, and columns
constexpr std::size_t max_sets = 64;

std::size_t bytes_of(Type type, std::int64_t elements) {
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(bits(type)) / 8;
}

// `count` of `extent` lines, spread evenly, the first and the last among them.
std::vector<std::int64_t> spread(std::int64_t extent) {
  const auto count = std::min<std::int64_t>(extent, most_lines);
  std::vector<std::int64_t> lines;
  for (std::int64_t i = 0; i < count; ++i)
    lines.push_back(count == 1 ? 0 : i * (extent - 1) / (count - 1));
  return lines;
}

// Columns of D that are quantized together.
std::vector<std::int64_t> first_and_last_block(std::int64_t columns) {
  constexpr std::int64_t block = gemm::scale_block;
  std::vector<std::int64_t> lines;
  for (std::int64_t i = 0; i < columns; ++i)
    if (i < block || i >= (columns - 1) / block * block) lines.push_back(i);
  return lines;
}

// The chosen rows of A or columns of B as a small K-major matrix.
std::vector<std::uint8_t> gather(Type type, Major major, const void* data, std::int64_t extent,
                                 std::int64_t k, const std::vector<std::int64_t>& lines) {
  const std::size_t element = bytes_of(type, 1);
  const std::size_t line_bytes = bytes_of(type, k);
  std::vector<std::uint8_t> out(line_bytes * lines.size());
  const auto* from = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint8_t* to = out.data() + i * line_bytes;
    if (major == Major::K)
      CUDA_CHECK(
          cudaMemcpy(to, from + bytes_of(type, lines[i] * k), line_bytes, cudaMemcpyDeviceToHost));
    else
      CUDA_CHECK(cudaMemcpy2D(to, element, from + bytes_of(type, lines[i]), bytes_of(type, extent),
                              element, static_cast<std::size_t>(k), cudaMemcpyDeviceToHost));
  }
  return out;
}

// Ends of groups whose rows were dealt by chance: shares fall off exponentially, so that a few are large and some empty.
std::vector<std::int32_t> drawn_ends(std::int64_t rows, std::int64_t groups, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<double> shares;
  for (std::int64_t g = 0; g < groups; ++g)
    shares.push_back(-std::log((draw.word() + 1.0) / 4294967297.0));
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int32_t> ends;
  double behind = 0;
  for (const double share : shares) {
    behind += share;
    ends.push_back(
        static_cast<std::int32_t>(std::llround(behind / all * static_cast<double>(rows))));
  }
  return ends;
}

std::int64_t matrices_of_b(const gemm::Problem& p) { return is_grouped(p) ? p.batch : 1; }
std::int64_t matrices_of_d(const gemm::Problem& p) { return groups_k(p) ? p.batch : 1; }

// Of factors that each group along K has, if they are not of blocks of K.
std::int64_t matrices_of_factors(const gemm::Problem& p) {
  return scales_blocks(p.scaling) ? 1 : matrices_of_d(p);
}

std::int64_t results_of(const gemm::Problem& p) {
  return matrices_of_d(p) * p.m * gemm::d_columns(p);
}

// Every operand once, and so many B.
double bytes_of(const gemm::Problem& p, std::int64_t matrices) {
  return static_cast<double>(bytes_of(p.in, p.m * p.k) + bytes_of(p.in, matrices * p.n * p.k) +
                             bytes_of(type_d(p), results_of(p)) +
                             (p.beta != 0 ? bytes_of(p.out, results_of(p)) : 0));
}

struct OfGroup {
  std::int64_t number = 0;
  std::int64_t first = 0;
  std::int64_t rows = 0;            // or K
  std::int64_t first_of_codes = 0;  // its first row among those of A's factors of blocks
};

// Without groups: all rows.
OfGroup largest_group(std::int64_t rows, const std::vector<std::int32_t>& ends) {
  if (ends.empty()) return {0, 0, rows, 0};
  OfGroup largest;
  std::int64_t first = 0;
  std::int64_t first_of_codes = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const std::int64_t own = ends[g] - first;
    if (own > largest.rows) largest = {static_cast<std::int64_t>(g), first, own, first_of_codes};
    first = ends[g];
    first_of_codes += tcgen05::whole_scale_atoms(own);
  }
  return largest;
}

}  // namespace

OperandSets::OperandSets(const gemm::Problem& problem, std::uint64_t seed, cudaStream_t stream)
    : problem_(problem) {
  const int l2 = cuda::device_attribute(cudaDevAttrL2CacheSize, cuda::current_device());
  const auto wanted =
      static_cast<std::size_t>(2.0 * l2 / bytes_of(problem, matrices_of_b(problem))) + 1;
  const std::size_t sets = std::clamp<std::size_t>(wanted, 2, max_sets);
  for (std::size_t i = 0; i < sets; ++i) {
    a_.emplace_back(bytes_of(problem.in, problem.m * problem.k));
    const std::int64_t columns = matrices_of_b(problem) * problem.n;
    b_.emplace_back(bytes_of(problem.in, columns * problem.k));
    const std::int64_t results = results_of(problem);
    d_.emplace_back(bytes_of(type_d(problem), results));
    if (problem.beta != 0) {
      c_.emplace_back(bytes_of(problem.out, results));
      cuda::fill_normal(problem.out, c_[i].data(), static_cast<std::size_t>(results),
                        seed + 1000 + i, stream);
    }
    const auto elements = [&](std::int64_t mn) { return static_cast<std::size_t>(mn * problem.k); };
    cuda::fill_normal(problem.in, a_[i].data(), elements(problem.m), seed + 2 * i, stream);
    cuda::fill_normal(problem.in, b_[i].data(), elements(columns), seed + 2 * i + 1, stream);
  }
  if (problem.grouping != gemm::Grouping::None) {
    ends_ = drawn_ends(groups_k(problem) ? problem.k : problem.m, problem.batch, seed);
    if (groups_k(problem) && scales_blocks(problem.scaling))
      for (std::int32_t& end : ends_) end = end / gemm::scale_block * gemm::scale_block;
    sizes_ = cuda::DeviceBuffer<std::int32_t>(ends_);
  }
  if (problem.has_bias) {
    bias_ = cuda::DeviceBuffer<std::uint8_t>(bytes_of(problem.out, problem.n));
    cuda::fill_normal(problem.out, bias_.data(), static_cast<std::size_t>(problem.n), seed + 999,
                      stream);
  }
  if (problem.scaling != gemm::Scaling::None) {
    const auto factors = [&](const gemm::View& view, std::int64_t matrices, std::uint64_t of) {
      cuda::DeviceBuffer<float> out(static_cast<std::size_t>(view.inner * view.outer * matrices));
      cuda::fill_normal(Type::tf32, out.data(), out.size(), of, stream);
      return out;
    };
    const std::int64_t of_k = matrices_of_factors(problem);
    scale_a_ = factors(view_scale_a(problem), of_k, seed + 997);
    scale_b_ = factors(view_scale_b(problem), of_k * matrices_of_b(problem), seed + 998);
  }
  if (problem.quantized) {
    const gemm::View factors = view_scale_d(problem);
    scale_d_ = cuda::DeviceBuffer<float>(static_cast<std::size_t>(factors.inner * factors.outer));
  }
  if (is_block_scaled(problem)) {
    const gemm::Groups groups = {.by = problem.grouping, .count = static_cast<int>(problem.batch)};
    codes_a_ = drawn_codes(problem, gemm::lines_of_codes(problem.m, groups), seed + 995);
    codes_b_ = drawn_codes(problem, matrices_of_b(problem) * tcgen05::whole_scale_atoms(problem.n),
                           seed + 996);
    atoms_a_ = cuda::DeviceBuffer<std::uint8_t>(codes_a_);
    atoms_b_ = cuda::DeviceBuffer<std::uint8_t>(codes_b_);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

gemm::Pointers OperandSets::at(std::size_t set) const {
  return {a_[set].data(),
          b_[set].data(),
          c_.empty() ? nullptr : c_[set].data(),
          d_[set].data(),
          problem_.has_bias ? bias_.data() : nullptr,
          scale_a_.data(),
          scale_b_.data(),
          sizes_.data(),
          atoms_a_.data(),
          atoms_b_.data(),
          scale_d_.data()};
}

void OperandSets::poison_result() const {
  CUDA_CHECK(cudaMemset(d_[0].data(), 0xff, d_[0].size()));
}

double OperandSets::bytes() const {
  if (groups_k(problem_)) return bytes_of(problem_, 1);
  std::int64_t filled = ends_.empty() ? 1 : 0;
  std::int32_t begin = 0;
  for (const std::int32_t end : ends_) {
    filled += end > begin;
    begin = end;
  }
  return bytes_of(problem_, filled) + static_cast<double>(codes_a_.size() + codes_b_.size());
}

OperandSets::Lines OperandSets::checked_lines() const {
  const int halves = is_gated(problem_.activation) ? 2 : 1;
  const bool of_k = groups_k(problem_);
  const OfGroup group = largest_group(problem_.m, ends_);
  const std::int64_t columns = gemm::d_columns(problem_);
  Lines lines{group.number,
              spread(of_k ? problem_.m : group.rows),
              problem_.quantized ? first_and_last_block(columns) : spread(columns),
              {}};
  for (const std::int64_t row : lines.rows) lines.codes_a.push_back(group.first_of_codes + row);
  lines.k_first = of_k ? group.first : 0;
  lines.k = of_k ? group.rows : problem_.k;
  for (std::int64_t& row : lines.rows) row += of_k ? 0 : group.first;
  for (const std::int64_t col : lines.results)
    for (int half = 0; half < halves; ++half) lines.cols.push_back(halves * col + half);
  return lines;
}

std::vector<float> OperandSets::factors(const cuda::DeviceBuffer<float>& all,
                                        const gemm::View& view, Major major,
                                        const std::vector<std::int64_t>& lines, std::int64_t per,
                                        std::int64_t first) const {
  if (all.size() == 0) return {};
  const bool along_k = major == Major::K;
  const std::int64_t blocks = along_k ? view.inner : view.outer;
  const bool one = problem_.scaling == gemm::Scaling::Tensor;
  std::vector<float> host(all.size());
  all.download(host);
  std::vector<float> out;
  for (const std::int64_t line : lines) {
    const std::int64_t its = one ? 0 : line / per;
    for (std::int64_t block = 0; block < blocks; ++block)
      out.push_back(host[static_cast<std::size_t>(
          first + (along_k ? its * blocks + block : block * view.inner + its))]);
  }
  return out;
}

std::vector<std::uint8_t> OperandSets::crossings(Type type,
                                                 const cuda::DeviceBuffer<std::uint8_t>& matrix,
                                                 const Lines& lines) const {
  const std::size_t width = bytes_of(type, 1);
  std::vector<std::uint8_t> out(width * lines.rows.size() * lines.results.size());
  std::uint8_t* to = out.data();
  for (const std::int64_t row : lines.rows) {
    for (const std::int64_t col : lines.results) {
      const std::int64_t before = groups_k(problem_) ? lines.group * problem_.m : 0;
      const std::int64_t element = (before + row) * gemm::d_columns(problem_) + col;
      CUDA_CHECK(
          cudaMemcpy(to, matrix.data() + bytes_of(type, element), width, cudaMemcpyDeviceToHost));
      to += width;
    }
  }
  return out;
}

std::vector<std::uint8_t> OperandSets::bias_of(const Lines& lines) const {
  const std::size_t width = bytes_of(problem_.out, 1);
  std::vector<std::uint8_t> out(problem_.has_bias ? width * lines.cols.size() : 0);
  for (std::size_t j = 0; j < out.size() / width; ++j)
    CUDA_CHECK(cudaMemcpy(out.data() + j * width,
                          bias_.data() + bytes_of(problem_.out, lines.cols[j]), width,
                          cudaMemcpyDeviceToHost));
  return out;
}

std::vector<std::uint8_t> OperandSets::predicted(const gemm::Plan& plan, gemm::Path path,
                                                 const Lines& lines) const {
  const gemm::Problem& p = problem_;
  oracle::Gemm g;
  g.m = static_cast<std::int64_t>(lines.rows.size());
  g.n = static_cast<std::int64_t>(lines.cols.size());
  g.k = lines.k + lines.k_first % gemm::k_unit(p.in);
  g.in = p.in;
  g.out = p.out;
  g.a.ld = p.k;
  g.b.ld = p.k;
  g.c.ld = g.n;
  g.d.ld = static_cast<std::int64_t>(lines.results.size());
  g.beta = p.beta;
  g.activation = p.activation;
  if (!groups_k(p))
    for (const gemm::KSegment& s : k_segments(plan, path)) g.segments.push_back({s.first, s.count});
  g.promotes = is_promoted(p);
  g.quantized = p.quantized;
  g.factors_d = {.line_step = 2, .block_step = 1};  // of two blocks of columns
  g.scales_blocks = scales_blocks(p.scaling);
  if (is_on_tcgen05(plan)) {
    g.chain.kind = tcgen05::kind_with_factors(p.in, scale_vec_of(p));
    g.chain.scale_vec = scale_vec_of(p);
    g.chain.scale_type = tcgen05::scale_type_of(scale_vec_of(p));
  }
  const std::int64_t of_b_first = is_grouped(p) ? lines.group * p.n * p.k : 0;
  const std::size_t group_b = bytes_of(p.in, of_b_first);
  auto a = gather(p.in, p.major_a, a_[0].data(), p.m, p.k, lines.rows);
  auto b = gather(p.in, p.major_b, b_[0].data() + group_b, p.n, p.k, lines.cols);
  const std::int64_t k_from = lines.k_first / gemm::k_unit(p.in) * gemm::k_unit(p.in);
  for (auto* operand : {&a, &b})  // zeros, where a group along K begins behind its first block
    for (std::size_t line = 0; line < operand->size(); line += bytes_of(p.in, p.k))
      std::fill_n(&(*operand)[line] + bytes_of(p.in, k_from),
                  bytes_of(p.in, lines.k_first - k_from), std::uint8_t{0});
  if (p.in == Type::e2m1) {
    a = unpacked(a);
    b = unpacked(b);
  }
  std::vector<std::uint8_t> sfa, sfb;
  if (is_block_scaled(p)) {
    g.codes_a = g.codes_b = {.line_step = codes_along_k(p), .block_step = 1};
    sfa = codes_of(p, codes_a_, lines.codes_a);
    std::vector<std::int64_t> codes_b = lines.cols;
    for (std::int64_t& col : codes_b) col += lines.group * tcgen05::whole_scale_atoms(p.n);
    sfb = codes_of(p, codes_b_, codes_b);
  }
  const std::vector<std::uint8_t> c =
      c_.empty() ? std::vector<std::uint8_t>() : crossings(p.out, c_[0], lines);
  const std::vector<std::uint8_t> bias = bias_of(lines);
  const gemm::View view_of_b = view_scale_b(p);
  const bool by_blocks = p.scaling == gemm::Scaling::Block128;
  // Of groups along K the blocks that their parts begin with, or their own.
  const std::int64_t block = scales_blocks(p.scaling) ? lines.k_first / gemm::scale_block : 0;
  const gemm::View view_of_a = view_scale_a(p);
  g.factors_a =
      g.factors_b = {.line_step = p.major_scale_a == Major::K ? view_of_a.inner : view_of_a.outer,
                     .block_step = 1};
  const std::int64_t of_a_group = matrices_of_factors(p) > 1 ? lines.group : 0;
  const std::int64_t of_b_group = is_grouped(p) ? lines.group : of_a_group;
  const std::vector<float> of_a = factors(scale_a_, view_of_a, p.major_scale_a, lines.rows, 1,
                                          of_a_group * view_of_a.inner * view_of_a.outer);
  const std::vector<float> of_b =
      factors(scale_b_, view_of_b, p.major_scale_b, lines.cols, by_blocks ? gemm::scale_block : 1,
              of_b_group * view_of_b.inner * view_of_b.outer);
  const auto data = [](const auto& bytes) { return bytes.empty() ? nullptr : bytes.data(); };
  const auto from = [&](const std::vector<float>& of) {
    return of.empty() ? nullptr : of.data() + block;
  };
  std::vector<std::uint8_t> out(bytes_of(type_d(p), g.m * g.d.ld));
  std::vector<float> factors_of_d(static_cast<std::size_t>(2 * g.m));
  oracle::compute_gemm(g,
                       {a.data() + bytes_of(p.in, k_from), b.data() + bytes_of(p.in, k_from),
                        data(c), data(bias), from(of_a), from(of_b), data(sfa), data(sfb)},
                       {out.data(), factors_of_d.data()});
  return out;
}

std::pair<int, int> OperandSets::check(const gemm::Plan& plan, gemm::Path path) const {
  const Lines lines = checked_lines();
  const std::vector<std::uint8_t> want = predicted(plan, path, lines);
  const std::vector<std::uint8_t> got = crossings(type_d(problem_), d_[0], lines);
  const std::size_t width = bytes_of(type_d(problem_), 1);
  int differing = 0;
  for (std::size_t at = 0; at < got.size(); at += width)
    differing += !std::equal(&got[at], &got[at] + width, &want[at]);
  return {differing, static_cast<int>(got.size() / width)};
}

}  // namespace tcq::tools
