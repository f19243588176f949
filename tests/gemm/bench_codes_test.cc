// Scale factors of bench_gemm's block-scaled problems, and what those problems are: no device.
#include "tools/bench_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "cuda/gemm/check.h"
#include "oracle/answer/answer.h"
#include "sim/isa/tcgen05/shape.h"
#include "tests/support/scale_codes.h"
#include "tools/bench_problem.h"

namespace tcq::tools {
namespace {

gemm::Problem problem(Type in, const char* scaling, const Shape& shape = {300, 200, 416}) {
  Variant v;
  v.scaling = scaling;
  return v.problem(shape, in);
}

TEST(BenchProblem, FactorsOfBlocksLieEitherWay) {
  Variant v;
  v.scaling = "vector";
  v.factor_majors = "MK";
  const gemm::Problem p = v.problem({300, 200, 416}, Type::e4m3);
  EXPECT_EQ(p.major_scale_a, Major::MN);
  EXPECT_EQ(p.major_scale_b, Major::K);
  EXPECT_EQ(v.name(), "none vector factors MK");
  v.scaling = "tensor";
  EXPECT_THROW(v.problem({300, 200, 416}, Type::e4m3), oracle::UsageError);
}

oracle::Gemm reference_of(const gemm::Problem& p) {
  oracle::Gemm g{.m = p.m, .n = p.n, .k = p.k, .in = p.in};
  g.chain.scale_vec = scale_vec_of(p);
  g.chain.kind = tcgen05::kind_with_factors(p.in, g.chain.scale_vec);
  return g;
}

std::vector<gemm::Problem> problems() {
  return {problem(Type::e4m3, "mx"), problem(Type::e5m2, "mx"), problem(Type::e2m1, "mx"),
          problem(Type::e2m1, "nv")};
}

std::vector<std::int64_t> first_lines(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(BenchCodes, AreReadFromTheAtomsThatTheTestsOfTheKernelsMake) {
  for (const gemm::Problem& p : problems()) {
    const oracle::Gemm g = reference_of(p);
    EXPECT_EQ(codes_along_k(p), tcq::codes_along_k(g));
    const Buffer rows = random_codes(g, p.m, true, 5);
    const std::vector<std::uint8_t> got = codes_of(p, atoms_of(g, rows, p.m), first_lines(p.m));
    ASSERT_EQ(got.size(), static_cast<std::size_t>(p.m * codes_along_k(p)));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), static_cast<const std::uint8_t*>(rows.data())));
  }
}

// Source: cuBLAS, "1D Block Scaling Factors Layout": tiles of 128 x 4 in 512 bytes, one behind the other along K.
TEST(BenchCodes, LieAsCublasDescribesThem) {
  const gemm::Problem p = problem(Type::e2m1, "nv");
  const std::int64_t across = (codes_along_k(p) + 3) / 4;
  std::vector<std::uint8_t> atoms(static_cast<std::size_t>(3 * across * 512));
  for (std::int64_t outer = 0; outer < p.m; ++outer)
    for (std::int64_t inner = 0; inner < codes_along_k(p); ++inner) {
      const std::int64_t tile = outer / 128 * across + inner / 4;
      const std::int64_t within = outer % 32 * 16 + outer % 128 / 32 * 4 + inner % 4;
      atoms[static_cast<std::size_t>(tile * 512 + within)] =
          static_cast<std::uint8_t>(outer * 7 + inner);
    }
  const std::vector<std::uint8_t> row = codes_of(p, atoms, {299});
  for (std::size_t inner = 0; inner < row.size(); ++inner)
    EXPECT_EQ(row[inner], static_cast<std::uint8_t>(299 * 7 + inner));
}

TEST(BenchCodes, FillWholeAtomsWithoutNanOrZero) {
  for (const gemm::Problem& p : problems()) {
    const std::vector<std::uint8_t> atoms = drawn_codes(p, p.n, 3);
    EXPECT_EQ(static_cast<std::int64_t>(atoms.size()), atoms_step(reference_of(p), p.n));
    EXPECT_NE(atoms, drawn_codes(p, p.n, 4));
    for (const std::uint8_t code : atoms) EXPECT_TRUE(code > 0 && code < 0x7f + 8) << int{code};
  }
  const std::vector<std::uint8_t> nv = drawn_codes(problem(Type::e2m1, "nv"), 200, 3);
  EXPECT_LT(*std::ranges::max_element(nv), 0x7f);  // ue4m3's NaN
}

TEST(BenchCodes, PairsOfElementsAreTakenApartAsTheTestsPackThem) {
  Buffer elements;
  for (std::uint8_t i = 0; i < 16; ++i) elements.bytes.push_back(i);
  EXPECT_EQ(unpacked(packed_by_two(elements).bytes), elements.bytes);
}

TEST(BenchProblem, BlockScaledKindsAndWhatIsNone) {
  const gemm::Problem mx = problem(Type::e4m3, "mx");
  EXPECT_EQ(mx.block_scaling, gemm::BlockScaling::Ue8m0Block32);
  EXPECT_EQ(mx.scaling, gemm::Scaling::None);
  EXPECT_EQ(mx.out, Type::bf16);
  const gemm::Problem nv = problem(Type::e2m1, "nv");
  EXPECT_EQ(nv.block_scaling, gemm::BlockScaling::Ue4m3Block16);
  EXPECT_EQ(problem(Type::e4m3, "tensor").scaling, gemm::Scaling::Tensor);
  for (const auto& [in, scaling] : {std::pair{Type::bf16, "mx"}, std::pair{Type::e4m3, "nv"},
                                    std::pair{Type::e2m1, "none"}, std::pair{Type::e4m3, "ue8m0"}})
    EXPECT_THROW(problem(in, scaling), oracle::UsageError) << scaling;
  EXPECT_NE(scaling_words().find("none, tensor, row-column, block, vector, mx, nv"),
            std::string::npos);
}

}  // namespace
}  // namespace tcq::tools
