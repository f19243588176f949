#include "tools/bench_operands.h"

#include <algorithm>

#include "cuda/gemm/bench.h"
#include "cuda/gemm/check.h"
#include "cuda/gemm/path.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tmem/scale_layout.h"
#include "tools/bench_codes.h"

namespace tcq::tools {
namespace {

constexpr int most_lines = 8;  // rows, and columns
constexpr std::size_t max_sets = 64;
constexpr std::uint8_t poison = 0xff;  // each byte of D

// Each byte between the lines of an operand: a NaN, or what is large among integers and e2m1.
std::uint8_t poison_of(Type type) { return is_float(type) ? 0xff : 0x80; }

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

// The chosen rows of a matrix of A or columns of one of B, which begins at `data`, as a small K-major matrix.
std::vector<std::uint8_t> gather(Type type, Major major, const std::uint8_t* data, std::int64_t ld,
                                 std::int64_t k, const std::vector<std::int64_t>& lines) {
  const std::size_t element = bytes_of(type, 1);
  const std::size_t line_bytes = bytes_of(type, k);
  std::vector<std::uint8_t> out(line_bytes * lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint8_t* to = out.data() + i * line_bytes;
    if (major == Major::K)
      CUDA_CHECK(
          cudaMemcpy(to, data + bytes_of(type, lines[i] * ld), line_bytes, cudaMemcpyDeviceToHost));
    else
      CUDA_CHECK(cudaMemcpy2D(to, element, data + bytes_of(type, lines[i]), bytes_of(type, ld),
                              element, static_cast<std::size_t>(k), cudaMemcpyDeviceToHost));
  }
  return out;
}

// Matrices of normal random elements, and poison between their lines.
cuda::DeviceBuffer<std::uint8_t> drawn_matrices(const gemm::View& view, const gemm::Strides& s,
                                                std::int64_t batch, std::uint64_t seed,
                                                cudaStream_t stream) {
  const std::int64_t elements = elements_of(view, s, batch);
  cuda::DeviceBuffer<std::uint8_t> out(bytes_of(view.type, elements));
  cuda::fill_normal(view.type, out.data(), static_cast<std::size_t>(elements), seed, stream);
  const std::size_t pitch = bytes_of(view.type, s.ld);
  const std::size_t line = bytes_of(view.type, view.inner);
  if (pitch > line)
    CUDA_CHECK(cudaMemset2DAsync(out.data() + line, pitch, poison_of(view.type), pitch - line,
                                 out.size() / pitch, stream));
  return out;
}

cuda::DeviceBuffer<float> drawn_factors(const gemm::View& view, const gemm::Strides& s,
                                        std::int64_t batch, std::uint64_t seed,
                                        cudaStream_t stream) {
  cuda::DeviceBuffer<float> out(static_cast<std::size_t>(elements_of(view, s, batch)));
  cuda::fill_normal(Type::tf32, out.data(), out.size(), seed, stream);
  return out;
}

}  // namespace

OperandSets::OperandSets(const gemm::Problem& problem, std::uint64_t seed, cudaStream_t stream)
    : problem_(resolved(problem)),
      sizes_(drawn_sizes(problem, seed)),
      parts_(parts_of(problem, sizes_)),
      sizes_on_device_(sizes_) {
  const gemm::Problem& p = problem_;
  const int l2 = cuda::device_attribute(cudaDevAttrL2CacheSize, cuda::current_device());
  const auto wanted = static_cast<std::size_t>(2.0 * l2 / operand_bytes(p)) + 1;
  const std::size_t sets = std::clamp<std::size_t>(wanted, 2, max_sets);
  const std::int64_t matrices = matrices_of_a(p);
  for (std::size_t i = 0; i < sets; ++i) {
    a_.push_back(drawn_matrices(view_a(p), p.a, matrices, seed + 2 * i, stream));
    b_.push_back(drawn_matrices(view_b(p), p.b, p.batch, seed + 2 * i + 1, stream));
    d_.emplace_back(bytes_of(type_d(p), elements_of(view_d(p), p.d, matrices)));
    if (p.beta != 0)
      c_.push_back(drawn_matrices(view_c(p), p.c, matrices, seed + 1000 + i, stream));
  }
  if (p.has_bias) {
    bias_ = cuda::DeviceBuffer<std::uint8_t>(bytes_of(p.out, p.n));
    cuda::fill_normal(p.out, bias_.data(), static_cast<std::size_t>(p.n), seed + 999, stream);
  }
  if (p.scaling != gemm::Scaling::None) {
    scale_a_ = drawn_factors(view_scale_a(p), p.scale_a, matrices, seed + 997, stream);
    scale_b_ = drawn_factors(view_scale_b(p), p.scale_b, p.batch, seed + 998, stream);
  }
  if (p.quantized)
    scale_d_ = cuda::DeviceBuffer<float>(
        static_cast<std::size_t>(elements_of(view_scale_d(p), p.scale_d, matrices)));
  if (is_block_scaled(p)) {
    codes_a_ = drawn_codes(p, lines_of_codes_a(p), seed + 995);
    codes_b_ = drawn_codes(p, lines_of_codes_b(p), seed + 996);
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
          sizes_on_device_.data(),
          atoms_a_.data(),
          atoms_b_.data(),
          scale_d_.data()};
}

void OperandSets::poison_result() const {
  CUDA_CHECK(cudaMemset(d_[0].data(), poison, d_[0].size()));
}

gemm::Problem OperandSets::one_product() const { return tools::one_product(problem_, parts_); }

double OperandSets::bytes() const {
  const gemm::Problem p = one_product();
  const auto filled = [](const Part& part) { return part.count > 0; };
  const std::int64_t matrices = is_grouped(problem_) ? std::ranges::count_if(parts_, filled)
                                                     : gemm::matrices_of(p.b, p.batch);
  const std::int64_t rows = p.m * (groups_k(problem_) ? problem_.batch : p.batch);
  const std::int64_t results = rows * gemm::d_columns(p);
  return static_cast<double>(bytes_of(p.in, p.batch * p.m * p.k) +
                             bytes_of(p.in, matrices * p.n * p.k) + bytes_of(type_d(p), results) +
                             (p.beta != 0 ? bytes_of(p.out, results) : 0) + codes_a_.size() +
                             codes_b_.size());
}

OperandSets::Lines OperandSets::lines_of(const Part& part) const {
  const int halves = is_gated(problem_.activation) ? 2 : 1;
  const bool of_k = groups_k(problem_);
  const std::int64_t columns = gemm::d_columns(problem_);
  Lines lines{part,
              spread(of_k ? problem_.m : part.count),
              problem_.quantized ? first_and_last_block(columns) : spread(columns),
              {}};
  for (const std::int64_t row : lines.rows) lines.codes_a.push_back(part.first_of_codes + row);
  lines.k_first = of_k ? part.first : 0;
  lines.k = of_k ? part.count : problem_.k;
  for (std::int64_t& row : lines.rows) row += of_k ? 0 : part.first;
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
                                                 const cuda::DeviceBuffer<std::uint8_t>& matrices,
                                                 const gemm::Strides& s, const Lines& lines) {
  const std::size_t width = bytes_of(type, 1);
  std::vector<std::uint8_t> out(width * lines.rows.size() * lines.results.size());
  std::uint8_t* to = out.data();
  for (const std::int64_t row : lines.rows) {
    for (const std::int64_t col : lines.results) {
      const std::int64_t element = lines.part.matrix * s.batch + row * s.ld + col;
      CUDA_CHECK(
          cudaMemcpy(to, matrices.data() + bytes_of(type, element), width, cudaMemcpyDeviceToHost));
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
  const Part& part = lines.part;
  const std::size_t first_a = bytes_of(p.in, part.matrix * p.a.batch);
  const std::size_t first_b = bytes_of(p.in, part.matrix_b * p.b.batch);
  auto a = gather(p.in, p.major_a, a_[0].data() + first_a, p.a.ld, p.k, lines.rows);
  auto b = gather(p.in, p.major_b, b_[0].data() + first_b, p.b.ld, p.k, lines.cols);
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
    const std::int64_t matrix_b = gemm::matrices_of(p.b, p.batch) == 1 ? 0 : part.matrix_b;
    for (std::int64_t& col : codes_b) col += matrix_b * tcgen05::whole_scale_atoms(p.n);
    sfb = codes_of(p, codes_b_, codes_b);
  }
  const std::vector<std::uint8_t> c =
      c_.empty() ? std::vector<std::uint8_t>() : crossings(p.out, c_[0], p.c, lines);
  const std::vector<std::uint8_t> bias = bias_of(lines);
  const gemm::View view_of_b = view_scale_b(p);
  const bool by_blocks = p.scaling == gemm::Scaling::Block128;
  // Of groups along K the blocks that their parts begin with, or their own.
  const std::int64_t block = scales_blocks(p.scaling) ? lines.k_first / gemm::scale_block : 0;
  const gemm::View view_of_a = view_scale_a(p);
  g.factors_a =
      g.factors_b = {.line_step = p.major_scale_a == Major::K ? view_of_a.inner : view_of_a.outer,
                     .block_step = 1};
  const std::vector<float> of_a =
      factors(scale_a_, view_of_a, p.major_scale_a, lines.rows, 1, part.matrix * p.scale_a.batch);
  const std::vector<float> of_b =
      factors(scale_b_, view_of_b, p.major_scale_b, lines.cols, by_blocks ? gemm::scale_block : 1,
              part.matrix_b * p.scale_b.batch);
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

std::pair<int, int> OperandSets::check_part(const Lines& lines,
                                            const std::vector<std::uint8_t>& want) const {
  const std::vector<std::uint8_t> got = crossings(type_d(problem_), d_[0], problem_.d, lines);
  const std::size_t width = bytes_of(type_d(problem_), 1);
  int differing = 0;
  for (std::size_t at = 0; at < got.size(); at += width)
    differing += !std::equal(&got[at], &got[at] + width, &want[at]);
  return {differing, static_cast<int>(got.size() / width)};
}

std::pair<int, int> OperandSets::check_poison(std::int64_t element, std::int64_t count) const {
  const std::size_t width = bytes_of(type_d(problem_), 1);
  std::vector<std::uint8_t> got(width * static_cast<std::size_t>(count));
  CUDA_CHECK(cudaMemcpy(got.data(), d_[0].data() + bytes_of(type_d(problem_), element), got.size(),
                        cudaMemcpyDeviceToHost));
  int differing = 0;
  for (std::size_t at = 0; at < got.size(); at += width)
    differing +=
        std::any_of(&got[at], &got[at] + width, [](std::uint8_t byte) { return byte != poison; });
  return {differing, static_cast<int>(count)};
}

std::pair<int, int> OperandSets::check(const gemm::Plan& plan, gemm::Path path) const {
  std::pair<int, int> all = {0, 0};
  const auto add = [&](std::pair<int, int> some) {
    all = {all.first + some.first, all.second + some.second};
  };
  const gemm::Strides& d = problem_.d;
  const std::int64_t columns = gemm::d_columns(problem_);
  for (const Part& part : checked_parts(parts_)) {
    const Lines lines = lines_of(part);
    add(check_part(lines, predicted(plan, path, lines)));
    for (const std::int64_t row : d.ld > columns ? lines.rows : std::vector<std::int64_t>())
      add(check_poison(part.matrix * d.batch + row * d.ld + columns, d.ld - columns));
  }
  for (const Row& row : rows_of_nobody(problem_, sizes_))
    for (const std::int64_t col : spread(columns))
      add(check_poison(row.matrix * d.batch + row.row * d.ld + col, 1));
  return all;
}

}  // namespace tcq::tools
