#include "tools/bench_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cuda/gemm/check.h"
#include "oracle/answer/answer.h"

namespace tcq::tools {
namespace {

constexpr std::int64_t max_extent = 1 << 20;
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
    case Type::e4m3:
    case Type::e5m2:
    case Type::e2m1: return Type::bf16;
    default: return Type::s32;
  }
}

namespace {

constexpr std::array<const char*, gemm::scaling_count> scalings = {"none", "tensor", "row-column",
                                                                   "block", "vector"};
// Behind the first, which is "none", too.
constexpr std::array<const char*, gemm::block_scaling_count - 1> block_scalings = {"mx", "nv"};

void set_scaling(gemm::Problem& p, const std::string& word) {
  for (std::size_t i = 0; i < scalings.size(); ++i)
    if (word == scalings[i]) p.scaling = static_cast<gemm::Scaling>(i);
  for (std::size_t i = 0; i < block_scalings.size(); ++i)
    if (word == block_scalings[i]) p.block_scaling = static_cast<gemm::BlockScaling>(i + 1);
  const bool none = p.scaling == gemm::Scaling::None && !gemm::is_block_scaled(p);
  if (none && word != scalings[0])
    throw oracle::UsageError(fmt::format("'{}' is no scaling: {}", word, scaling_words()));
}

}  // namespace

std::string scaling_words() {
  return fmt::format("{}, {}", fmt::join(scalings, ", "), fmt::join(block_scalings, ", "));
}

std::string Variant::name() const {
  std::string text = epilogue;
  if (scaling != "none") text += " " + scaling;
  if (factor_majors != "KK") text += " factors " + factor_majors;
  if (promotes) text += " promoted";
  if (groups > 0) text += fmt::format(" {} groups{}", groups, along_k ? " along K" : "");
  if (!out.empty()) text += " " + out;
  if (batch_invariant) text += " batch-invariant";
  return majors == "KK" ? text : text + " " + majors;
}

std::string epilogue_words() {
  std::string words = "bias, c";
  for (int i = 0; i < activation_count; ++i)
    words += fmt::format(", {}", tcq::name(static_cast<Activation>(i)));
  return words;
}

gemm::Problem Variant::problem(const Shape& s, Type in) const {
  const auto major = [](char c) { return c == 'K' ? Major::K : Major::MN; };
  gemm::Problem p{.m = s.m, .n = s.n, .k = s.k, .in = in, .out = result_of(in)};
  p.major_a = major(majors[0]);
  p.major_b = major(majors[1]);
  set_scaling(p, scaling);
  if (factor_majors != "KK" && !scales_blocks(p.scaling))
    throw oracle::UsageError("only the factors of --scaling block and vector have majors");
  p.major_scale_a = major(factor_majors[0]);
  p.major_scale_b = major(factor_majors[1]);
  p.promotes = promotes;
  p.batch_invariant = batch_invariant;
  if (groups > 0) {
    p.grouping = along_k ? gemm::Grouping::KEnds : gemm::Grouping::Ends;
    p.batch = groups;
  }
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::s32})
    if (out == tcq::name(type)) p.out = type;
  for (const Type type : {Type::e4m3, Type::e5m2})
    if (out == tcq::name(type)) p.quantized = type;
  if (!out.empty() && out != tcq::name(type_d(p)))
    throw oracle::UsageError(
        fmt::format("'{}' is no type of D: f16, bf16, f32, s32, e4m3, e5m2", out));
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
      throw oracle::UsageError(
          fmt::format("'{}' is no part of an epilogue: {}", word, epilogue_words()));
  }
  if (is_gated(p.activation)) p.n += p.n % 2;
  if (const gemm::Status status = gemm::check(p); status != gemm::Status::Ok)
    throw oracle::UsageError(fmt::format("{}: {}", name(), gemm::sentence(status)));
  return p;
}

double operations(const gemm::Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

}  // namespace tcq::tools
