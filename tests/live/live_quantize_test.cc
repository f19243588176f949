// The quantiser of FP8 operands on a real GPU: elements and factors are the host's, and what lies between lines stays. Skips
// loudly without a GPU.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "cuda/gemm/quantize.h"
#include "oracle/sum/gemm_epilogue.h"
#include "tests/live/live_device.h"
#include "tests/support/gemm_case.h"

namespace tcq {
namespace {

using gemm::Quantize;
using DeviceBytes = cuda::DeviceBuffer<std::uint8_t>;

class LiveQuantize : public Live {
 protected:
  bool suits(const cuda::DeviceIdentity& id) const override { return id.major >= 9; }
  const char* wanted() const override { return "sm_90 or newer"; }
};

// Of every type, block and alignment; sizes about the edges of blocks, runs and teams.
Quantize drawn(Draw& draw) {
  constexpr std::array in = {Type::bf16, Type::f16, Type::f32};
  Quantize q{.rows = draw.in(1, 300), .columns = draw.in(1, draw.one_in(4) ? 20000 : 700)};
  if (!draw.one_in(3)) q.columns = (q.columns + 7) / 8 * 8;
  q.in = in[static_cast<std::size_t>(draw.below(3))];
  q.out = draw.one_in(2) ? Type::e4m3 : Type::e5m2;
  q.block = static_cast<gemm::QuantizeBlock>(draw.below(gemm::quantize_block_count));
  q.power_of_two = draw.one_in(2);
  q.ld_source = q.columns + (draw.one_in(2) ? 8 * draw.below(3) : draw.below(20));
  q.ld_target = q.columns + (draw.one_in(2) ? 8 * draw.below(3) : draw.below(20));
  if (draw.one_in(2)) q.major_factors = Major::MN;
  q.ld_factors = (q.major_factors == Major::K ? factor_blocks(q) : factor_lines(q)) + draw.below(3);
  return q;
}

void expect_hosts_bits(const Quantize& q, Draw& draw) {
  const std::int64_t lead = draw.one_in(4) ? 1 : 0;  // an element
  std::vector<std::uint8_t> source(
      static_cast<std::size_t>((lead + q.rows * q.ld_source) * bits(q.in) / 8));
  for (std::int64_t i = 0; i < lead + q.rows * q.ld_source; ++i)
    oracle::store_element(
        q.in, source.data(), i,
        random_element(q.in, draw.one_in(20) ? Values::Specials : Values::Wide, draw));
  std::vector<std::uint8_t> target(static_cast<std::size_t>(lead + q.rows * q.ld_target), 0xaa);
  const std::int64_t lines = q.major_factors == Major::K ? factor_lines(q) : factor_blocks(q);
  std::vector<float> factors(static_cast<std::size_t>(lines * q.ld_factors), -1);
  const DeviceBytes from(source), to(target);
  const cuda::DeviceBuffer<float> made(factors);
  const std::int64_t first = lead * bits(q.in) / 8;
  ASSERT_EQ(quantize(q, from.data() + first, to.data() + lead, made.data(), nullptr),
            gemm::Status::Ok);
  ASSERT_EQ(quantize_on_host(q, source.data() + first, target.data() + lead, factors.data()),
            gemm::Status::Ok);
  std::vector<std::uint8_t> got(target.size());
  std::vector<float> got_factors(factors.size());
  to.download(got);
  made.download(got_factors);
  EXPECT_EQ(got, target);
  EXPECT_EQ(std::memcmp(got_factors.data(), factors.data(), factors.size() * sizeof(float)), 0);
}

TEST_F(LiveQuantize, TheHostsBitsOfDrawnMatrices) {
  Draw draw(chosen_seed());
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    const Quantize q = drawn(draw);
    SCOPED_TRACE(fmt::format("{}: {} x {}, {} to {}, block {}", i, q.rows, q.columns, name(q.in),
                             name(q.out), static_cast<int>(q.block)));
    expect_hosts_bits(q, draw);
  }
}

}  // namespace
}  // namespace tcq
