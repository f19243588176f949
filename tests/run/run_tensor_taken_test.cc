// Drawn problems: whatever Hopper's kernels or factors of blocks allow, tcgen05 takes, but kinds that a chip does not have and groups
// of rows beside a row-major B.
//
// Types, majors, factors, groups, epilogues, a quantized D, strides, sizes from 0 on, limits of SMs and whether bits may depend on
// M are drawn; TCQ_PROBLEMS=1000000 draws so many, TCQ_SEED=N others. No device and no CUDA.
#include <cstdint>
#include <map>
#include <string>

#include "sim/num/inputs/draw.h"
#include "tests/run/tensor_rows.h"
#include "tests/support/effort.h"

namespace tcq::tests {
namespace {

using gemm::Problem;
using gemm::Status;

template <class T, std::size_t Count>
T one_of(const T (&values)[Count], Draw& draw) {
  return values[draw.below(static_cast<int>(Count))];
}

std::int64_t size_from(Draw& draw) {
  if (draw.one_in(20)) return 0;
  const std::int64_t size = draw.in(1, 1 << draw.in(0, 14));
  return draw.one_in(2) ? (size + 127) / 128 * 128 : size;
}

Problem drawn(Draw& draw) {
  using enum Type;
  Problem p{.m = size_from(draw), .n = size_from(draw), .k = size_from(draw)};
  p.in = one_of({bf16, f16, tf32, e4m3, e5m2, e2m1, s8, u8}, draw);
  p.out = one_of({bf16, f16, f32, s32}, draw);
  if (is_fp8(p.in) && draw.one_in(2)) p.in_b = one_of({e4m3, e5m2}, draw);
  if (draw.one_in(2)) p.major_a = Major::MN;
  if (draw.one_in(2)) p.major_b = Major::MN;
  if (draw.one_in(3)) p.batch = draw.in(0, 4);
  p.scaling = static_cast<gemm::Scaling>(draw.below(gemm::scaling_count));
  if (draw.one_in(2)) p.scaling = gemm::Scaling::None;
  p.promotes = draw.one_in(4);
  p.grouping = static_cast<gemm::Grouping>(draw.below(gemm::grouping_count));
  if (draw.one_in(2)) p.grouping = gemm::Grouping::None;
  p.activation = static_cast<Activation>(draw.below(activation_count));
  if (draw.one_in(3)) p.beta = 0.5f;
  p.has_bias = draw.one_in(3);
  if (draw.one_in(2)) p.block_scaling = static_cast<gemm::BlockScaling>(draw.below(3));
  if (draw.one_in(2)) p.quantized = one_of({e4m3, e5m2, e2m1}, draw);
  if (p.quantized && draw.one_in(2))
    p.block_scaling_d = static_cast<gemm::BlockScaling>(draw.below(3));
  if (draw.one_in(3)) p.sm_limit = draw.in(1, 160);
  p.batch_invariant = draw.one_in(3);
  const gemm::View views[] = {view_a(p), view_b(p), view_d(p)};
  gemm::Strides* const strides[] = {&p.a, &p.b, &p.d};
  for (int i = 0; i < 3; ++i)
    if (draw.one_in(4)) strides[i]->ld = views[i].inner + draw.in(0, 17);
  return p;
}

TEST(TensorTaken, EveryProblemButOfKindsThatAChipDoesNotHave) {
  const std::uint64_t wanted = number_or("TCQ_PROBLEMS", effort(20000));
  const std::uint64_t seed = number_or("TCQ_SEED", 18);
  const gemm::Device gb300 = {.id = 0, .major = 10, .minor = 3, .sm_count = 148};
  std::uint64_t problems = 0, integers = 0, row_major_groups = 0;
  std::map<std::string, std::uint64_t> refused;
  for (std::uint64_t i = 0; problems < wanted; ++i) {
    Draw draw(mix(seed) + i);
    const Problem p = drawn(draw);
    if (gemm::check(p) != Status::Ok || p.m == 0 || p.n == 0 || p.batch == 0) continue;
    ++problems;
    gemm::Plan plan;
    const gemm::Device device = draw.one_in(2) ? b200 : gb300;
    const Status status = tensor_plan(p, plan, device);
    if (device.minor == 3 && !is_float(p.in)) {
      EXPECT_EQ(status, Status::NotOnTcgen05) << i;
      ++integers;
      continue;
    }
    if (is_grouped(p) && p.major_b == Major::MN) {
      EXPECT_EQ(status, Status::NotOnTcgen05) << i;
      ++row_major_groups;
      continue;
    }
    if (status == Status::Ok) continue;
    std::string text = std::string(name(status)) + ": " + name(p.in) + " -> " + name(p.out) +
                       (p.quantized ? " -> " + std::string(name(*p.quantized)) : "") +
                       (is_gated(p.activation) ? " gated" : "");
    ++refused[text + ", scaling " + std::to_string(static_cast<int>(p.scaling)) + ", grouping " +
              std::to_string(static_cast<int>(p.grouping)) +
              (p.sm_limit == 1  ? ", one SM"
               : p.sm_limit > 0 ? ", limited"
                                : "")];
  }
  for (const auto& [what, count] : refused) ADD_FAILURE() << what << ": " << count;
  EXPECT_GT(integers, wanted / 1000);
  EXPECT_GT(row_major_groups, 0u);
}

}  // namespace
}  // namespace tcq::tests
