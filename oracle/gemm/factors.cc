// A file's matrix becomes lines of factors; a single line may be a vector.
#include "oracle/gemm/factors.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <type_traits>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/elements.h"
#include "oracle/sum/gemm_epilogue.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::int64_t wide_block = 128;

std::int64_t blocks_of(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }

// What an operand's factors are of.
struct FactorShape {
  std::int64_t lines;
  std::int64_t blocks;  // of K
  bool across;          // the file has a column for each line: B's, or A's transpose
};

FactorShape shape_of(Scaling scaling, std::int64_t lines, std::int64_t k, bool across, bool is_b) {
  if (scaling == Scaling::Tensor) return {1, 1, across};
  if (scaling == Scaling::RowColumn) return {lines, 1, across};
  if (is_block_scaled(scaling)) return {lines, blocks_of(k, scale_block(scaling)), across};
  const bool shared = is_b && scaling == Scaling::Block128;
  return {shared ? blocks_of(lines, wide_block) : lines, blocks_of(k, wide_block), across};
}

void check_shape(const std::string& path, Scaling scaling, const FactorShape& want,
                 const Matrix& lines) {
  if (lines.rows == want.lines && lines.cols == want.blocks) return;
  const auto expected = want.across ? fmt::format("{} x {}", want.blocks, want.lines)
                                    : fmt::format("{} x {}", want.lines, want.blocks);
  throw UsageError(
      fmt::format("{}: has shape {}: expected {}, the factors of --scaling {}", shown_path(path),
                  shape_text(want.across ? transposed(lines) : lines), expected, name(scaling)));
}

Matrix read_lines(const Request& request, const std::string& path, const FactorShape& want) {
  Matrix m = is_block_scaled(request.scaling)
                 ? bytes_of(request.read(path), path, tcgen05::name(scale_type(request.scaling)))
                 : matrix_of(request.read(path), path, Type::f32);
  if (want.across) m = transposed(std::move(m));
  // A vector, or a column where a row is expected.
  if (want.blocks == 1 && m.cols == want.lines && m.rows == 1) m = transposed(std::move(m));
  check_shape(path, request.scaling, want, m);
  return m;
}

// Words of any type, those of a line one behind the other.
template <class Word>
std::vector<Word> words_of(Type type, const Matrix& m) {
  std::vector<Word> words;
  words.reserve(static_cast<std::size_t>(m.batch * m.rows * m.cols));
  for (std::int64_t e = 0; e < m.batch; ++e)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j) {
        const std::uint32_t word = load_element(type, m.array.data(), m.index(e, i, j));
        if constexpr (std::is_same_v<Word, float>)
          words.push_back(std::bit_cast<float>(word));
        else
          words.push_back(static_cast<Word>(word));
      }
  return words;
}

Factors lines_of(Scaling scaling, const Matrix& m) {
  Factors out;
  if (is_block_scaled(scaling))
    out.codes = words_of<std::uint8_t>(Type::u8, m);
  else
    out.values = words_of<float>(Type::f32, m);
  const bool is_one = scaling == Scaling::Tensor;
  out.layout = {.line_step = is_one ? 0 : m.cols, .block_step = is_one ? 0 : 1};
  out.layout.batch_step = m.batch == 1 ? 0 : m.rows * m.cols;
  return out;
}

}  // namespace

std::optional<FactorMatrices> read_factors(const Request& request, const Sizes& s) {
  if (request.scaling == Scaling::None || request.draws_factors()) return {};
  const FactorShape a = shape_of(request.scaling, s.m, s.k, request.transpose_a, false);
  const FactorShape b = shape_of(request.scaling, s.n, s.k, !request.transpose_b, true);
  return FactorMatrices{read_lines(request, request.scale_a, a),
                        read_lines(request, request.scale_b, b)};
}

BothFactors factors_of(Scaling scaling, const FactorMatrices& matrices) {
  BothFactors both{lines_of(scaling, matrices.a), lines_of(scaling, matrices.b)};
  if (scaling == Scaling::Block128) both.b.layout.per = static_cast<int>(wide_block);
  return both;
}

}  // namespace tcq::oracle::gemm
