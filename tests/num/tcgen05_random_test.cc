// The arithmetic of tcgen05.mma against the second implementation on random tiles: 0 differing bits
// in a million weighted outputs of every kind. How much that proves: tcgen05_mixture_test.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/num/tcgen05_reference_form.h"
#include "tests/support/effort.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::tcgen05 {
namespace {

constexpr int outputs_per_kind = tests::effort(1'000'000);
constexpr int side = 32;

std::vector<DotForm> forms_of(Kind kind) {
  std::vector<DotForm> forms = all_forms();
  std::erase_if(forms, [&](const DotForm& form) { return form.opcode.kind != kind; });
  return forms;
}

reference::BlackwellInputs reference_inputs(const Tile& tile, const DotOperands& in) {
  const auto k = static_cast<std::size_t>(tile.k);
  const auto scales = static_cast<std::size_t>(tile.scales);
  return {std::span(in.a, k), std::span(in.b, k), in.c, std::span(in.scales_a, scales),
          std::span(in.scales_b, scales)};
}

void expect_equal_tile(const DotForm& form, std::uint64_t seed) {
  const Tile tile = draw_tile(form, mixture_class(seed), seed, side, side);
  const reference::BlackwellSpec spec = reference_spec(form);
  const reference::BlackwellOptions options = reference_options(form);
  for (int row = 0; row < side; ++row) {
    for (int col = 0; col < side; ++col) {
      const DotOperands in = tile.operands(row, col);
      ASSERT_EQ(dot(form, in), reference::dot(spec, reference_inputs(tile, in), options))
          << text(form) << " seed " << seed << " D[" << row << "][" << col << "] "
          << name(mixture_class(seed)) << std::hex << " C " << in.c;
    }
  }
}

class Tcgen05Random : public testing::TestWithParam<Kind> {};

TEST_P(Tcgen05Random, AMillionOutputsEqualTheReference) {
  const std::vector<DotForm> forms = forms_of(GetParam());
  std::mt19937 random(7);
  int outputs = 0;
  for (std::uint64_t seed = 0; outputs < outputs_per_kind && !HasFatalFailure(); ++seed) {
    const DotForm& form = forms[static_cast<std::size_t>(seed) % forms.size()];
    expect_equal_tile(with_random_options(form, random), seed);
    outputs += side * side;
  }
  EXPECT_TRUE(outputs >= outputs_per_kind || HasFailure());
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Tcgen05Random,
                         testing::Values(Kind::f16, Kind::tf32, Kind::f8f6f4, Kind::i8,
                                         Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4),
                         [](const testing::TestParamInfo<Kind>& info) {
                           return std::string(name(info.param));
                         });

}  // namespace
}  // namespace tcq::tcgen05
