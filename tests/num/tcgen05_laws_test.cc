// Laws of the arithmetic of tcgen05.mma that hold for every input, tried on weighted random tiles of
// every form. They need no second implementation; worked examples: tcgen05_num_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/tcgen05_inputs.h"

namespace tcq::tcgen05 {
namespace {

constexpr int rows = 6;
constexpr int cols = 6;
constexpr int tiles = 66;

// One output's operands, owned, so that a law can change them.
struct Output {
  Words a, b;
  std::uint32_t c = 0;
  Bytes scales_a, scales_b;

  DotOperands view() const { return {a.data(), b.data(), c, scales_a.data(), scales_b.data()}; }
};

Output output_of(const Tile& tile, int row, int col) {
  const DotOperands in = tile.operands(row, col);
  return {Words(in.a, in.a + tile.k), Words(in.b, in.b + tile.k), in.c,
          Bytes(in.scales_a, in.scales_a + tile.scales),
          Bytes(in.scales_b, in.scales_b + tile.scales)};
}

std::uint32_t dot_of(const DotForm& form, const Output& x) { return dot(form, x.view()); }

// Calls visit(form, output, D) for tiles of every class in turn, up to the first failure.
template <class Visit>
void for_each_output(const std::vector<DotForm>& forms, Visit visit) {
  for (const DotForm& form : forms) {
    for (int i = 0; i < tiles; ++i) {
      const auto c = static_cast<MixtureClass>(i % mixture_class_count);
      const Tile tile = draw_tile(form, c, static_cast<std::uint64_t>(i) + 5, rows, cols);
      for (int at = 0; at < rows * cols; ++at) {
        const Output x = output_of(tile, at / cols, at % cols);
        visit(form, x, dot_of(form, x));
        ASSERT_FALSE(testing::Test::HasFailure()) << text(form) << " tile " << i << " " << at;
      }
    }
  }
}

std::vector<DotForm> float_forms() {
  std::vector<DotForm> forms = all_forms();
  std::erase_if(forms, [](const DotForm& form) { return form.opcode.kind == Kind::i8; });
  return forms;
}

std::vector<DotForm> scaled_forms() {
  std::vector<DotForm> forms = all_forms();
  std::erase_if(forms, [](const DotForm& form) { return !is_block_scaled(form.opcode.kind); });
  return forms;
}

// Products that may change places with each other.
int exchangeable(const DotForm& form) {
  return is_packed_4bit(form.opcode.kind) ? group_products : products(form.opcode.kind);
}

TEST(Tcgen05Law, PermutingProductsInsideAGroupChangesNothing) {
  std::mt19937 random(1);
  for_each_output(all_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    Output y = x;
    const auto group = static_cast<std::size_t>(exchangeable(form));
    std::vector<std::size_t> order(group);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t k = 0; k < x.a.size(); ++k) {
      const std::size_t from = k / group * group + order[k % group];
      y.a[k] = x.a[from];
      y.b[k] = x.b[from];
    }
    EXPECT_EQ(dot_of(form, y), d);
  });
}

TEST(Tcgen05Law, PermutingBlocksWithTheirScalesChangesNothing) {
  for_each_output(packed_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    Output y = x;
    std::rotate(y.scales_a.begin(), y.scales_a.begin() + 1, y.scales_a.end());
    std::rotate(y.scales_b.begin(), y.scales_b.begin() + 1, y.scales_b.end());
    const int block = scale_block(form.opcode);
    std::rotate(y.a.begin(), y.a.begin() + block, y.a.end());
    std::rotate(y.b.begin(), y.b.begin() + block, y.b.end());
    EXPECT_EQ(dot_of(form, y), d);
  });
}

TEST(Tcgen05Law, NegatingAnOperandAndCNegatesD) {
  for_each_output(float_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    const std::uint32_t sign = sign_bit(form.idesc.d);
    const std::uint32_t nan = form.idesc.d == Type::f16 ? canonical_nan_f16 : canonical_nan_f32;
    const std::uint32_t want = d == 0 || d == nan ? d : d ^ sign;
    Output y = x;
    y.c ^= sign;
    DotForm negated = form;
    negated.idesc.negate_a = true;
    EXPECT_EQ(dot_of(negated, y), want);
    negated.idesc.negate_b = true;
    EXPECT_EQ(dot_of(negated, x), d) << "both negated";
    negated.idesc.negate_a = false;
    EXPECT_EQ(dot_of(negated, y), want);
    for (std::uint32_t& word : y.b) word ^= sign_bit(form.idesc.b);
    EXPECT_EQ(dot_of(form, y), want);
  });
}

TEST(Tcgen05Law, NoNegativeZeroLeavesTheUnit) {
  for_each_output(float_forms(), [&](const DotForm& form, const Output&, std::uint32_t d) {
    EXPECT_NE(d, sign_bit(form.idesc.d));
  });
}

TEST(Tcgen05Law, WithoutAccumulateCIsPlusZeroWhateverItHolds) {
  for_each_output(all_forms(), [&](DotForm form, const Output& x, std::uint32_t) {
    Output y = x;
    y.c = 0;
    const std::uint32_t want = dot_of(form, y);
    form.accumulate = false;
    EXPECT_EQ(dot_of(form, x), want);
    y.c = 0x7fffffffu >> (32 - bits(form.idesc.d));
    EXPECT_EQ(dot_of(form, y), want) << "NaN";
  });
}

TEST(Tcgen05Law, CAloneReturnsUnchanged) {
  std::mt19937 random(2);
  for (const DotForm& form : float_forms()) {
    Output x = output_of(draw_tile(form, MixtureClass::Normal, 1, 1, 1), 0, 0);
    std::fill(x.a.begin(), x.a.end(), 0);
    std::fill(x.scales_a.begin(), x.scales_a.end(), 0x7e);
    std::fill(x.scales_b.begin(), x.scales_b.end(), 0x7e);
    for (int i = 0; i < 2000; ++i) {
      x.c = static_cast<std::uint32_t>(random()) >> (32 - bits(form.idesc.d));
      const Decoded c = decode_float(form.idesc.d, x.c);
      std::uint32_t want = c.kind == Class::Zero ? 0 : x.c;
      if (c.kind == Class::Nan)
        want = form.idesc.d == Type::f16 ? canonical_nan_f16 : canonical_nan_f32;
      ASSERT_EQ(dot_of(form, x), want) << text(form) << std::hex << " c " << x.c;
    }
  }
}

// --- options and neighbouring kinds --------------------------------------------------------------

TEST(Tcgen05Law, OptionsThatMoveDataChangeNoNumber) {
  for_each_output(all_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    DotForm other = form;
    other.opcode.sparse = true;
    other.opcode.cta_group = 2;
    other.opcode.a_place = Place::Tmem;
    EXPECT_EQ(dot_of(other, x), d) << "the stored products are summed as dense ones";
  });
}

TEST(Tcgen05Law, ScaleInputDOfAPowerOfTwoIsThatPowerInC) {
  std::mt19937 random(3);
  std::vector<DotForm> forms = {plain_form(Kind::f16, Type::f32, Type::bf16, Type::bf16),
                                plain_form(Kind::tf32, Type::f32, Type::tf32, Type::tf32)};
  int tried = 0;
  for_each_output(forms, [&](DotForm form, const Output& x, std::uint32_t) {
    const std::uint32_t field = x.c << 1 >> 24;
    if (field < 16 || field == 255) return;
    form.scale_input_d = static_cast<int>(random() % 16);
    Output y = x;
    y.c -= static_cast<std::uint32_t>(form.scale_input_d) << 23;
    const std::uint32_t scaled_d = dot_of(form, x);
    form.scale_input_d = 0;
    EXPECT_EQ(scaled_d, dot_of(form, y));
    ++tried;
  });
  EXPECT_GT(tried, 1000);
}

TEST(Tcgen05Law, ScalesOfOneMakeMxf8f6f4F8f6f4) {
  for (const Type a : narrow_types()) {
    for (const Type b : narrow_types()) {
      const DotForm plain = plain_form(Kind::f8f6f4, Type::f32, a, b);
      const DotForm scaled = plain_form(Kind::mxf8f6f4, Type::f32, a, b);
      for_each_output({plain}, [&](const DotForm&, Output x, std::uint32_t d) {
        x.scales_a = {0x7f};
        x.scales_b = {0x7f};
        EXPECT_EQ(dot_of(scaled, x), d);
      });
    }
  }
}

TEST(Tcgen05Law, ScaleVectorSizesAgreeWhereTheirScalesDo) {
  const DotForm by_32 = packed_form(Kind::mxf4nvf4, ScaleVec::X2, ScaleType::ue8m0);
  const DotForm by_16 = packed_form(Kind::mxf4nvf4, ScaleVec::X4, ScaleType::ue8m0);
  const DotForm mxf4 = packed_form(Kind::mxf4, ScaleVec::Default, ScaleType::ue8m0);
  for_each_output({by_32}, [&](const DotForm&, const Output& x, std::uint32_t d) {
    EXPECT_EQ(dot_of(mxf4, x), d);
    Output y = x;
    y.scales_a = {x.scales_a[0], x.scales_a[0], x.scales_a[1], x.scales_a[1]};
    y.scales_b = {x.scales_b[0], x.scales_b[0], x.scales_b[1], x.scales_b[1]};
    EXPECT_EQ(dot_of(by_16, y), d);
  });
}

// --- scale factors -------------------------------------------------------------------------------

TEST(Tcgen05Law, OnlyTheSumOfScaleExponentsCounts) {
  int tried = 0;
  for_each_output(scaled_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    if (form.idesc.scale_type == ScaleType::ue4m3) return;
    Output y = x;
    for (std::size_t i = 0; i < y.scales_a.size(); ++i) {
      if (x.scales_a[i] >= 0xfe || x.scales_b[i] == 0 || x.scales_b[i] == 0xff) return;
      ++y.scales_a[i];
      --y.scales_b[i];
    }
    EXPECT_EQ(dot_of(form, y), d);
    ++tried;
  });
  EXPECT_GT(tried, 20000);
}

// In the middle of the range: no floor, no subnormal and no infinity on the way.
bool is_in_the_middle(std::uint32_t f32) {
  const std::uint32_t field = f32 << 1 >> 24;
  return field > 60 && field < 200;
}

TEST(Tcgen05Law, DoublingAScaleAndCDoublesD) {
  int tried = 0;
  for_each_output(scaled_forms(), [&](const DotForm& form, const Output& x, std::uint32_t d) {
    const bool is_ue8m0 = form.idesc.scale_type == ScaleType::ue8m0;
    Output y = x;
    for (std::uint8_t& byte : y.scales_a) {
      const bool doubles = is_ue8m0 ? byte < 0xfe : byte % 0x80 >= 8 && byte % 0x80 < 0x70;
      if (!doubles) return;
      byte = static_cast<std::uint8_t>(byte + (is_ue8m0 ? 1 : 8));
    }
    const bool c_is_zero = x.c << 1 == 0;
    if (!is_in_the_middle(d) || !(c_is_zero || is_in_the_middle(x.c))) return;
    if (!c_is_zero) y.c += 1u << 23;
    EXPECT_EQ(dot_of(form, y), d + (1u << 23));
    ++tried;
  });
  EXPECT_GT(tried, 5000);
}

TEST(Tcgen05Law, ANanScaleMakesDNanWhateverTheData) {
  for_each_output(scaled_forms(), [&](const DotForm& form, const Output& x, std::uint32_t) {
    const std::uint8_t nan = form.idesc.scale_type == ScaleType::ue8m0 ? 0xff : 0x7f;
    for (std::size_t i = 0; i < x.scales_a.size(); ++i) {
      Output y = x;
      y.scales_a[i] = nan;
      EXPECT_EQ(dot_of(form, y), canonical_nan_f32);
      y = x;
      y.scales_b[i] = nan;
      EXPECT_EQ(dot_of(form, y), canonical_nan_f32);
    }
  });
}

TEST(Tcgen05Law, TheSignOfUe4m3IsIgnored) {
  const DotForm nvf4 = packed_form(Kind::mxf4nvf4, ScaleVec::X4, ScaleType::ue4m3);
  for_each_output({nvf4}, [&](const DotForm& form, const Output& x, std::uint32_t d) {
    Output y = x;
    for (std::uint8_t& byte : y.scales_a) byte ^= 0x80;
    EXPECT_EQ(dot_of(form, y), d);
  });
}

}  // namespace
}  // namespace tcq::tcgen05
