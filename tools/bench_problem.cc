#include "tools/bench_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cuda/gemm/bench_sm90.h"
#include "cuda/gemm/check.h"
#include "oracle/answer/answer.h"
#include "oracle/sum/gemm_reference.h"

namespace tcq::tools {
namespace {

constexpr std::int64_t max_extent = 1 << 20;
constexpr int checked_lines = 8;  // rows, and columns
constexpr std::size_t max_sets = 64;

std::size_t bytes_of(Type type, std::int64_t elements) {
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(bits(type) / 8);
}

// `count` of `extent` lines, spread evenly, the first and the last among them.
std::vector<std::int64_t> spread(std::int64_t extent) {
  const auto count = std::min<std::int64_t>(extent, checked_lines);
  std::vector<std::int64_t> lines;
  for (std::int64_t i = 0; i < count; ++i)
    lines.push_back(count == 1 ? 0 : i * (extent - 1) / (count - 1));
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

}  // namespace

std::string name(const Shape& s) { return fmt::format("{}x{}x{}", s.m, s.n, s.k); }

Shape parse_shape(std::string_view text) {
  std::int64_t extents[3];
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, extents[i]);
    const bool separated = i == 2 ? next == end : next != end && *next == 'x';
    if (error != std::errc{} || !separated || extents[i] < 1 || extents[i] > max_extent)
      throw oracle::UsageError(
          fmt::format("'{}' is not a shape: MxNxK, each from 1 to {}", text, max_extent));
    at = next + 1;
  }
  return {extents[0], extents[1], extents[2]};
}

const std::vector<Shape>& suite() {
  static const std::vector<Shape> all = {
      // squares
      {512, 512, 512},
      {1024, 1024, 1024},
      {1536, 1536, 1536},
      {2048, 2048, 2048},
      {3072, 3072, 3072},
      {4096, 4096, 4096},
      {6144, 6144, 6144},
      {8192, 8192, 8192},
      {16384, 16384, 16384},
      // layers of language models
      {4096, 2112, 7168},
      {4096, 576, 7168},
      {4096, 24576, 1536},
      {4096, 32768, 512},
      {4096, 7168, 16384},
      {4096, 4096, 7168},
      {4096, 7168, 2048},
      // small K
      {8192, 8192, 256},
      {8192, 8192, 512},
      {8192, 8192, 1024},
      {4096, 4096, 512},
      {16384, 4096, 256},
      // few rows
      {1, 4096, 7168},
      {1, 7168, 16384},
      {1, 24576, 1536},
      {16, 2112, 7168},
      {16, 4096, 7168},
      {16, 7168, 2048},
      {16, 7168, 16384},
      {32, 576, 7168},
      {32, 32768, 512},
      {64, 2112, 7168},
      {64, 7168, 2048},
      {64, 24576, 1536},
      {128, 576, 7168},
      {128, 2112, 7168},
      {128, 4096, 7168},
      {128, 7168, 16384},
      // ragged
      {1000, 3000, 5000},
      {3333, 4000, 2200},
      {5000, 5000, 520},
  };
  return all;
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"all", [](const Shape&) { return true; }},
      {"K <= 512, M and N >= 4096",
       [](const Shape& s) { return s.k <= 512 && s.m >= 4096 && s.n >= 4096; }},
      {"M <= 128", [](const Shape& s) { return s.m <= 128; }},
      {"M, N, K >= 2048", [](const Shape& s) { return s.m >= 2048 && s.n >= 2048 && s.k >= 2048; }},
      {"K a multiple of 8", [](const Shape& s) { return s.k % 8 == 0; }},
      {"of these M <= 64", [](const Shape& s) { return s.k % 8 == 0 && s.m <= 64; }},
      {"of these 64 < M <= 1024",
       [](const Shape& s) { return s.k % 8 == 0 && s.m > 64 && s.m <= 1024; }},
      {"of these M > 1024", [](const Shape& s) { return s.k % 8 == 0 && s.m > 1024; }},
  };
  return all;
}

Type result_of(Type in) {
  switch (in) {
    case Type::f16:
    case Type::bf16: return in;
    case Type::tf32: return Type::f32;
    default: return Type::s32;
  }
}

std::string Variant::name() const {
  std::string text = epilogue;
  if (!out.empty()) text += " " + out;
  return majors == "KK" ? text : text + " " + majors;
}

gemm::Problem Variant::problem(const Shape& s, Type in) const {
  const auto major = [](char c) { return c == 'K' ? Major::K : Major::MN; };
  gemm::Problem p{.m = s.m, .n = s.n, .k = s.k, .in = in, .out = result_of(in)};
  p.major_a = major(majors[0]);
  p.major_b = major(majors[1]);
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::s32})
    if (out == tcq::name(type)) p.out = type;
  if (!out.empty() && out != tcq::name(p.out))
    throw oracle::UsageError(fmt::format("'{}' is no type of D: f16, bf16, f32, s32", out));
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = epilogue.find('+', begin);
    const std::string word = epilogue.substr(begin, end - begin);
    bool known = word == "bias" || word == "c";
    p.has_bias |= word == "bias";
    if (word == "c") p.beta = 1;
    for (int i = 0; i < activation_count; ++i) {
      const auto activation = static_cast<Activation>(i);
      if (word != tcq::name(activation)) continue;
      p.activation = activation;
      known = true;
    }
    if (!known)
      throw oracle::UsageError(fmt::format(
          "'{}' is no part of an epilogue: bias, c, relu, gelu, silu, gelu_erf, swiglu, none",
          word));
  }
  if (const gemm::Status status = gemm::check(p); status != gemm::Status::Ok)
    throw oracle::UsageError(fmt::format("{}: {}", name(), gemm::sentence(status)));
  return p;
}

double operations(const gemm::Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

double bytes(const gemm::Problem& p) {
  return static_cast<double>(bytes_of(p.in, p.m * p.k) + bytes_of(p.in, p.n * p.k) +
                             bytes_of(p.out, p.m * gemm::d_columns(p)) * (p.beta != 0 ? 2 : 1));
}

OperandSets::OperandSets(const gemm::Problem& problem, std::uint64_t seed, cudaStream_t stream)
    : problem_(problem) {
  const int l2 = cuda::device_attribute(cudaDevAttrL2CacheSize, cuda::current_device());
  const auto wanted = static_cast<std::size_t>(2.0 * l2 / bytes(problem)) + 1;
  const std::size_t sets = std::clamp<std::size_t>(wanted, 2, max_sets);
  for (std::size_t i = 0; i < sets; ++i) {
    a_.emplace_back(bytes_of(problem.in, problem.m * problem.k));
    b_.emplace_back(bytes_of(problem.in, problem.n * problem.k));
    const std::int64_t results = problem.m * gemm::d_columns(problem);
    d_.emplace_back(bytes_of(problem.out, results));
    if (problem.beta != 0) {
      c_.emplace_back(bytes_of(problem.out, results));
      cuda::fill_normal(problem.out, c_[i].data(), static_cast<std::size_t>(results),
                        seed + 1000 + i, stream);
    }
    const auto elements = [&](std::int64_t mn) { return static_cast<std::size_t>(mn * problem.k); };
    cuda::fill_normal(problem.in, a_[i].data(), elements(problem.m), seed + 2 * i, stream);
    cuda::fill_normal(problem.in, b_[i].data(), elements(problem.n), seed + 2 * i + 1, stream);
  }
  if (problem.has_bias) {
    bias_ = cuda::DeviceBuffer<std::uint8_t>(bytes_of(problem.out, problem.n));
    cuda::fill_normal(problem.out, bias_.data(), static_cast<std::size_t>(problem.n), seed + 999,
                      stream);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

gemm::Pointers OperandSets::at(std::size_t set) const {
  return {a_[set].data(), b_[set].data(), c_.empty() ? nullptr : c_[set].data(), d_[set].data(),
          problem_.has_bias ? bias_.data() : nullptr};
}

void OperandSets::poison_result() const {
  CUDA_CHECK(cudaMemset(d_[0].data(), 0xff, d_[0].size()));
}

std::pair<int, int> OperandSets::check(const std::vector<gemm::KSegment>& segments) const {
  const gemm::Problem& p = problem_;
  const int halves = is_gated(p.activation) ? 2 : 1;
  const std::vector<std::int64_t> rows = spread(p.m);
  const std::vector<std::int64_t> results = spread(gemm::d_columns(p));
  std::vector<std::int64_t> cols;  // of the product
  for (const std::int64_t col : results)
    for (int half = 0; half < halves; ++half) cols.push_back(halves * col + half);
  const auto a = gather(p.in, p.major_a, a_[0].data(), p.m, p.k, rows);
  const auto b = gather(p.in, p.major_b, b_[0].data(), p.n, p.k, cols);
  oracle::Gemm g;
  g.m = static_cast<std::int64_t>(rows.size());
  g.n = static_cast<std::int64_t>(cols.size());
  g.k = p.k;
  g.in = p.in;
  g.out = p.out;
  g.a.ld = p.k;
  g.b.ld = p.k;
  g.c.ld = g.n;
  g.d.ld = g.n / halves;
  g.beta = p.beta;
  g.activation = p.activation;
  for (const gemm::KSegment& s : segments) g.segments.push_back({s.first, s.count});
  const std::size_t width = bytes_of(p.out, 1);
  // Elements of a matrix like D where the chosen rows and columns cross.
  const auto crossings = [&](const cuda::DeviceBuffer<std::uint8_t>& matrix) {
    std::vector<std::uint8_t> out;
    for (const std::int64_t row : rows) {
      for (const std::int64_t col : results) {
        out.resize(out.size() + width);
        CUDA_CHECK(cudaMemcpy(out.data() + out.size() - width,
                              matrix.data() + bytes_of(p.out, row * gemm::d_columns(p) + col),
                              width, cudaMemcpyDeviceToHost));
      }
    }
    return out;
  };
  const std::vector<std::uint8_t> c = c_.empty() ? std::vector<std::uint8_t>() : crossings(c_[0]);
  std::vector<std::uint8_t> bias(p.has_bias ? width * cols.size() : 0);
  for (std::size_t j = 0; j < cols.size() && p.has_bias; ++j)
    CUDA_CHECK(cudaMemcpy(bias.data() + j * width, bias_.data() + bytes_of(p.out, cols[j]), width,
                          cudaMemcpyDeviceToHost));
  std::vector<std::uint8_t> predicted(width * rows.size() * results.size());
  oracle::compute_gemm(
      g, {a.data(), b.data(), c.empty() ? nullptr : c.data(), bias.empty() ? nullptr : bias.data()},
      predicted.data());
  const std::vector<std::uint8_t> actual = crossings(d_[0]);
  int differing = 0;
  for (std::size_t at = 0; at < actual.size(); at += width)
    differing += !std::equal(&actual[at], &actual[at] + width, &predicted[at]);
  return {differing, static_cast<int>(rows.size() * results.size())};
}

}  // namespace tcq::tools
