// The stages of the GEMM on tcgen05, each in a process of its own: stages.cmake. Skipped loudly without such a chip.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/blackwell/tensor_gemm.h"

namespace tcq::tests {
namespace {

TEST_F(Blackwell, OneTile) { run(Stage::OneTile); }
TEST_F(Blackwell, OneCta) { run(Stage::OneCta); }
TEST_F(Blackwell, Pair) { run(Stage::Pair); }
TEST_F(Blackwell, Factors) { run(Stage::Factors); }
TEST_F(Blackwell, FactorsOfPairs) { run(Stage::FactorsOfPairs); }
TEST_F(Blackwell, Promotion) { run(Stage::Promotion); }
TEST_F(Blackwell, SharedK) { run(Stage::SharedK); }
TEST_F(Blackwell, FewRows) { run(Stage::FewRows); }
TEST_F(Blackwell, Dynamic) { run(Stage::Dynamic); }

// Of each row's types and epilogues, by whichever kernel the library plans. TCQ_PROBLEMS=N draws so many, TCQ_SEED=N
// others.
TEST_F(Blackwell, Library) {
  const char* const text = std::getenv("TCQ_PROBLEMS");
  const std::uint64_t problems = text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
  const int minor = cuda::identity(cuda::current_device()).minor;
  for (std::uint64_t i = 0; i < problems; ++i) {
    const std::size_t number = i % gemm::tensor_kernels().size();
    const gemm::Kernel& row = gemm::tensor_kernels()[number];
    if (!exists_on(row, minor)) continue;
    const std::uint64_t seed = mix(chosen_seed() + i);
    TensorCase made = library_case(row, seed);
    const gemm::Problem& p = made.problem;
    say(fmt::format("problem {} of TCQ_SEED={}: {}x{}x{}", i, chosen_seed(), p.m, p.n, p.k));
    Plan plan;
    const Status status = make_plan(p, plan);
    ASSERT_EQ(status, Status::Ok) << sentence(status);
    compare(made.x, plan, {}, seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tcq::tests
