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
// From Grouping::Ends on.
constexpr std::array<const char*, 3> rows_by_all = {"ends", "counts", "numbers"};

void set_scaling(gemm::Problem& p, const std::string& word) {
  for (std::size_t i = 0; i < scalings.size(); ++i)
    if (word == scalings[i]) p.scaling = static_cast<gemm::Scaling>(i);
  for (std::size_t i = 0; i < block_scalings.size(); ++i)
    if (word == block_scalings[i]) p.block_scaling = static_cast<gemm::BlockScaling>(i + 1);
  const bool none = p.scaling == gemm::Scaling::None && !gemm::is_block_scaled(p);
  if (none && word != scalings[0])
    throw oracle::UsageError(fmt::format("'{}' is no scaling: {}", word, scaling_words()));
}

gemm::Grouping grouping_of(const Variant& v) {
  if (v.along_k) return gemm::Grouping::KEnds;
  for (std::size_t i = 0; i < rows_by_all.size(); ++i)
    if (v.rows_by == rows_by_all[i])
      return static_cast<gemm::Grouping>(i + static_cast<std::size_t>(gemm::Grouping::Ends));
  throw oracle::UsageError(
      fmt::format("groups have no rows by '{}': {}", v.rows_by, rows_by_words()));
}

void set_products(gemm::Problem& p, const Variant& v) {
  if (v.rows_by != rows_by_all[0] && (v.groups == 0 || v.along_k))
    throw oracle::UsageError("only groups have rows by counts or numbers, and not along K");
  if (v.batch > 1 && v.groups > 0)
    throw oracle::UsageError("groups are what a batch would be: give one of them");
  if (v.shared_b && v.batch == 1) throw oracle::UsageError("only the products of a batch share B");
  if (v.groups > 0) {
    p.batch = v.groups;
    p.grouping = grouping_of(v);
  } else {
    p.batch = v.batch;
    p.m = gemm::round_up_quotient(p.m, v.batch);
    if (v.shared_b) p.b.batch = p.scale_b.batch = 0;
  }
  if (p.grouping == gemm::Grouping::Counts) {
    p.expected_rows = gemm::round_up_quotient(p.m, p.batch);
    p.m = std::min(p.m, 2 * p.expected_rows);
  }
}

void set_out(gemm::Problem& p, const std::string& word) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::s32})
    if (word == tcq::name(type)) p.out = type;
  for (const Type type : {Type::e4m3, Type::e5m2})
    if (word == tcq::name(type)) p.quantized = type;
  if (!word.empty() && word != tcq::name(type_d(p)))
    throw oracle::UsageError(
        fmt::format("'{}' is no type of D: f16, bf16, f32, s32, e4m3, e5m2", word));
}

void set_epilogue(gemm::Problem& p, const std::string& words) {
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = words.find('+', begin);
    const std::string word = words.substr(begin, end - begin);
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
}

void set_pitches(gemm::Problem& p, int pad) {
  if (pad == 0) return;
  p.a.ld = view_a(p).inner + pad;
  p.b.ld = view_b(p).inner + pad;
  p.c.ld = view_c(p).inner + pad;
  p.d.ld = view_d(p).inner + pad;
}

}  // namespace

std::string scaling_words() {
  return fmt::format("{}, {}", fmt::join(scalings, ", "), fmt::join(block_scalings, ", "));
}

std::string rows_by_words() { return fmt::format("{}", fmt::join(rows_by_all, ", ")); }

std::string Variant::name() const {
  std::string text = epilogue;
  if (scaling != "none") text += " " + scaling;
  if (factor_majors != "KK") text += " factors " + factor_majors;
  if (promotes) text += " promoted";
  if (batch > 1) text += fmt::format(" batch {}{}", batch, shared_b ? " of one B" : "");
  if (groups > 0) text += fmt::format(" {} groups{}", groups, along_k ? " along K" : "");
  if (rows_by != rows_by_all[0]) text += " by " + rows_by;
  if (!out.empty()) text += " " + out;
  if (batch_invariant) text += " batch-invariant";
  if (majors != "KK") text += " " + majors;
  if (pad > 0) text += fmt::format(" pad {}", pad);
  return has_workspace ? text : text + " no workspace";
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
  set_products(p, *this);
  set_out(p, out);
  set_epilogue(p, epilogue);
  set_pitches(p, pad);
  if (const gemm::Status status = gemm::check(p); status != gemm::Status::Ok)
    throw oracle::UsageError(fmt::format("{}: {}", name(), gemm::sentence(status)));
  return p;
}

double operations(const gemm::Problem& p) {
  return 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.k);
}

}  // namespace tcq::tools
