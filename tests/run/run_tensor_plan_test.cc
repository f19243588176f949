// Plans for compute capability 10.x: which row of the table a problem gets, what is refused, and in words. No device and
// no CUDA: cuda/gemm/plan_tensor.h plans with the table that the tests compile.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cuda/gemm/run.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

using gemm::BlockScaling;
using gemm::Device;
using gemm::Plan;
using gemm::Problem;
using gemm::Scaling;
using gemm::Status;

Problem product(std::int64_t m, std::int64_t n, std::int64_t k, Type in = Type::bf16) {
  Problem p{.m = m, .n = n, .k = k, .in = in};
  if (in == Type::f16) p.out = Type::f16;
  if (in == Type::tf32) p.out = Type::f32;
  if (!is_float(in)) p.out = Type::s32;
  return p;
}

Problem scaled(Type in, BlockScaling scaling) {
  Problem p = product(512, 512, 512, in);
  p.block_scaling = scaling;
  return p;
}

Problem scaled_of_k(std::int64_t k) {
  Problem p = scaled(Type::e2m1, BlockScaling::Ue4m3Block16);
  p.k = k;
  return p;
}

Plan planned(const Problem& p, const Device& device = b200) {
  EXPECT_EQ(gemm::check(p), Status::Ok);
  Plan plan;
  EXPECT_EQ(tensor_plan(p, plan, device), Status::Ok);
  return plan;
}

template <class T>
const T* at(std::uintptr_t address) {
  return reinterpret_cast<const T*>(address);
}

// Of the instruction's descriptor, by which the problem's types and majors are not the kernel's.
std::uint32_t types_of(const Plan& plan) {
  return gemm::work_of(plan, gemm::Path::Aligned, {}, {}).differs;
}

Status refused(const Problem& p, const Device& device = b200) {
  EXPECT_EQ(gemm::check(p), Status::Ok);
  Plan plan;
  return tensor_plan(p, plan, device);
}

// Of few rows: some tiles of them, by a few columns or many, a short K or a long one.
std::vector<Problem> few_rows_for(const gemm::Kernel& row) {
  std::vector<Problem> all;
  for (const std::int64_t rows : {1, 7})
    for (const std::int64_t cols : {1, 4, 18, 36, 160})
      for (const std::int64_t k : {512, 4096, 32768})
        all.push_back(product(row.block_m * rows, row.block_n * cols, k, row.in));
  return all;
}

TEST(TensorPlan, EveryRowIsWhatSomeProblemGets) {
  for (const gemm::Kernel& row : tensor_table()) {
    // Five rows of tiles that fill the device once; pairs of an odd number of rows do not.
    const int ctas = cluster_size(row);
    Problem p = product(5 * 128 * ctas, row.block_n * 32 / ctas, 512, row.in);
    if (row.split > 1) p = product(128, row.block_n * 160 / row.split, 16384, row.in);
    std::vector<Problem> problems = {p};
    if (row.skinny == gemm::Skinny::Rows) problems = few_rows_for(row);
    const auto with_options = [&](Problem p) {
      if (row.grouped) p.grouping = gemm::Grouping::Counts;
      if (row.groups_k) p.grouping = gemm::Grouping::KEnds;
      if (row.quantized_columns > 0) p.quantized = Type::e4m3;
      if (row.quantized_vec != tcgen05::ScaleVec::Default) p.quantized = Type::e2m1;
      p.block_scaling_d = block_scaling_of(row.quantized_vec);
      p.dynamic_schedule = row.dynamic;
      if (!is_float(row.in)) p.out = Type::bf16;
      if (row.scale_vec != tcgen05::ScaleVec::Default)
        p.block_scaling = block_scaling_of(row.scale_vec);
      if (row.promotion != gemm::Promotion::None)
        p.scaling =
            row.promotion == gemm::Promotion::EachColumn ? Scaling::Vector128 : Scaling::Block128;
      return p;
    };
    for (const int minor : {0, 3}) {
      if (minor == 3 && !is_float(row.in)) continue;  // it has no such instruction
      EXPECT_TRUE(std::ranges::any_of(problems, [&](const Problem& x) {
        return planned(with_options(x), {0, 10, minor, 160}).aligned.kernel == &row;
      })) << name(row);
    }
  }
}

// 8192 x 8192: as many waves of 128 x 256 as of pairs, which load less; 128 columns: one wave of either.
TEST(TensorPlan, TheLeastTimeOnPaper) {
  EXPECT_EQ(planned(product(8192, 8192, 512)).aligned.kernel->block_n, 256);
  EXPECT_EQ(cluster_size(*planned(product(8192, 8192, 512)).aligned.kernel), 2);
  EXPECT_EQ(planned(product(8192, 128, 512)).aligned.kernel->block_n, 128);
  // 32 tiles of 128 columns in one wave, 16 of 256 in one that is longer.
  EXPECT_EQ(planned(product(1024, 1024, 512)).aligned.kernel->block_n, 128);
  // 16 rows of pairs' tiles: 28 columns of 256 are 448 tiles in seven waves, 32 of 224 are 512, as many and shorter ones.
  EXPECT_EQ(planned(product(4096, 7168, 2048)).aligned.kernel->block_n, 224);
  // One row of tiles of 128 rows, whose K is not shared: of 64 columns 112 CTAs work, of 128 half as many and nearly twice
  // as long.
  const auto invariant = [](Problem few) {
    few.batch_invariant = true;
    return planned(few).aligned.kernel->block_n;
  };
  EXPECT_EQ(invariant(product(128, 7168, 16384, Type::e4m3)), 64);
  EXPECT_EQ(invariant(product(128, 4096, 7168, Type::e4m3)), 32);
  // 37 rows of tiles: 148 of 256 columns fill the device once, 296 of 128 twice; 19 of pairs come to 76 tiles, two too many.
  const Plan full = planned(product(37 * 128, 1024, 512));
  EXPECT_EQ(full.aligned.kernel->block_n, 256);
  EXPECT_EQ(full.aligned.clusters, 148);
  EXPECT_EQ(cluster_size(*full.aligned.kernel), 1);
}

TEST(TensorPlan, ALimitOfSmsIsKept) {
  Problem p = product(8192, 8192, 512);
  p.sm_limit = 20;
  EXPECT_EQ(planned(p).aligned.clusters * cluster_size(*planned(p).aligned.kernel), 20);
  EXPECT_EQ(refused(p, {.major = 10, .minor = 0, .sm_count = 0}), Status::NoDevice);
}

TEST(TensorPlan, OtherArchitecturesAreRefused) {
  const Problem p = product(512, 512, 512);
  for (const Device& d : {Device{0, 9, 0, 132}, Device{0, 10, 1, 148}, Device{0, 12, 0, 148}})
    EXPECT_EQ(refused(p, d), Status::WrongArchitecture) << d.major << "." << d.minor;
  Plan plan;
  plan.problem = gemm::resolved(p);
  EXPECT_EQ(gemm::plan_on_tcgen05(b200, {}, nullptr, clusters_by_size, plan),
            Status::WrongArchitecture);
}

TEST(TensorPlan, HopperRefusesFactorsOfBlocks) {
  const Device h200 = {0, 9, 0, 132};
  EXPECT_EQ(gemm::check_hopper(product(512, 512, 512), h200), Status::Ok);
  for (const auto& [in, scaling] : {std::pair{Type::e4m3, BlockScaling::Ue8m0Block32},
                                    {Type::e2m1, BlockScaling::Ue8m0Block32},
                                    {Type::e2m1, BlockScaling::Ue4m3Block16}}) {
    EXPECT_EQ(gemm::check_hopper(scaled(in, scaling), h200), Status::NeedsTcgen05);
    EXPECT_EQ(gemm::check_hopper(scaled(in, scaling), {0, 8, 0, 108}), Status::WrongArchitecture);
    EXPECT_EQ(refused(scaled(in, scaling)), Status::Ok);
  }
  EXPECT_EQ(gemm::check_hopper(product(512, 512, 512), {0, 9, 0, 0}), Status::NoDevice);
}

TEST(TensorPlan, WhatNoKernelDoesIsRefused) {
  EXPECT_EQ(refused(product(1 << 28, 1 << 28, 64)), Status::SizeTooLarge);
}

// The instruction descriptor says of which major an operand is, where its columns fill whole boxes.
TEST(TensorPlan, EveryMajor) {
  for (const Type in : {Type::bf16, Type::f16, Type::tf32, Type::e4m3, Type::s8}) {
    Problem turned = product(4096, 7168, 2048, in);
    const std::uint32_t types = types_of(planned(turned));
    turned.major_a = Major::MN;
    EXPECT_EQ(types_of(planned(turned)) ^ types, tcgen05::idesc::MajorA::mask) << name(in);
    turned.major_b = Major::MN;
    const Plan plan = planned(turned);
    EXPECT_EQ(types_of(plan) ^ types, tcgen05::idesc::MajorA::mask | tcgen05::idesc::MajorB::mask);
    EXPECT_EQ(plan.aligned.kernel->block_n, 256) << name(in);  // half of 224 columns are no box
    EXPECT_EQ(workspace_bytes(plan), 0u);
    if (!is_fp8(in)) continue;
    turned.promotes = true;
    EXPECT_EQ(refused(turned), Status::Ok);
    turned.quantized = Type::e4m3;
    EXPECT_EQ(refused(turned), Status::Ok);
  }
}

// No operand is read, and none is copied.
TEST(TensorPlan, NoK) {
  for (Problem p : {product(512, 512, 0), product(512, 512, 0, Type::e4m3), scaled_of_k(0)}) {
    for (const auto by : {gemm::Grouping::None, gemm::Grouping::Ends}) {
      p.grouping = by;
      const Plan plan = planned(p);
      EXPECT_EQ(plan.aligned.k_blocks, 0);
      EXPECT_GT(plan.aligned.microseconds, 0);
      EXPECT_EQ(workspace_bytes(plan), 0u);
      gemm::Pointers x{.d = const_cast<void*>(at<void>(8192)),
                       .sizes = at<std::int32_t>(4096),
                       .scale_codes_a = at<std::uint8_t>(4096),
                       .scale_codes_b = at<std::uint8_t>(4096)};
      EXPECT_EQ(gemm::check(plan, x, {}), Status::Ok);
      const gemm::Work work = gemm::work_of(plan, gemm::Path::Aligned, x, {});
      EXPECT_EQ(work.job_count, 0u);
      const gemm::PlainMaps maps = gemm::plain_maps(*plan.aligned.kernel, work.extents, work.a,
                                                    work.b, work.d, work.arguments);
      EXPECT_FALSE(maps.a || maps.b || maps.rest_a || maps.rest_b || maps.scales_a);
      EXPECT_NE(describe(plan).find("the sum is 0"), std::string::npos) << describe(plan);
    }
  }
  Problem promoted = product(512, 512, 0, Type::e4m3);
  promoted.scaling = Scaling::Block128;
  EXPECT_GT(planned(promoted).aligned.microseconds, 0);
  EXPECT_LT(planned(promoted).aligned.microseconds, 1000);
}

// 56 tiles of 128 columns by 112 CTAs, 32 by 128, each with a half or a quarter of K; a cluster for each, as many as fit.
TEST(TensorPlan, SharedK) {
  const auto split = [](Problem p) { return planned(p).aligned.kernel->split; };
  Problem p = product(128, 7168, 16384);
  EXPECT_EQ(split(p), 2);
  EXPECT_EQ(planned(p).aligned.clusters, 56);
  EXPECT_EQ(gemm::k_segments(planned(p), gemm::Path::Aligned).size(), 2u);
  const std::string text = describe(planned(p));
  for (const char* words :
       {"2 chains of tcgen05.mma over ascending k, 16 at a time, from k = 0 8192;",
        "bits: depend on the split", "128x128x64 split 2"})
    EXPECT_NE(text.find(words), text.npos) << words << "\n" << text;
  EXPECT_EQ(split(product(128, 4096, 7168)), 4);
  EXPECT_EQ(split(product(128, 4096, 64)), 1);  // one block of K
  EXPECT_EQ(split(product(4096, 4096, 7168)), 1);
  // With a limit as without one, or not at all.
  p.sm_limit = 120;
  EXPECT_EQ(split(p), 2);
  p.sm_limit = 111;
  EXPECT_EQ(split(p), 1);
  Problem fewer = product(128, 2112, 7168);  // by four; 17 tiles would have room by two
  fewer.sm_limit = 60;
  EXPECT_EQ(split(fewer), 1);
  p.sm_limit = 0;
  p.batch_invariant = true;
  EXPECT_EQ(split(p), 1);
  EXPECT_NE(describe(planned(p)).find("depend on neither M"), std::string::npos);
}

// Tiles are those of equal groups; with rows that have numbers a tile is no larger than 128 of them.
TEST(TensorPlan, Groups) {
  for (const Type in : {Type::bf16, Type::f16, Type::e4m3}) {
    Problem p = product(16384, 4096, 7168, in);
    p.batch = 4;
    p.grouping = gemm::Grouping::Ends;
    const Plan large = planned(p);
    EXPECT_TRUE(large.aligned.kernel->grouped);
    EXPECT_EQ(cluster_size(*large.aligned.kernel), 2);
    EXPECT_EQ(large.aligned.schedule.rows, 16384 / 256 + 4);  // at most
    const gemm::Arguments arguments = gemm::work_of(large, gemm::Path::Aligned, {}, {}).arguments;
    EXPECT_EQ(arguments.groups.tiles_across, 16);
    p.grouping = gemm::Grouping::RowIds;
    EXPECT_EQ(planned(p).aligned.kernel->block_m * planned(p).aligned.kernel->cluster_m, 128);
    p.expected_rows = 128;
    p.grouping = gemm::Grouping::Ends;
    EXPECT_EQ(cluster_size(*planned(p).aligned.kernel), 1);
    EXPECT_NE(describe(large).find("grouped"), std::string::npos);
    EXPECT_NE(describe(large).find("groups: 4, one behind the other"), std::string::npos);
  }
}

// Gradients of weights: every major of 16 bits and of FP8, promoted, too.
TEST(TensorPlan, GroupsAlongK) {
  for (const Type in : {Type::bf16, Type::f16, Type::e4m3, Type::e5m2}) {
    for (const Major a : {Major::K, Major::MN}) {
      for (const Major b : {Major::K, Major::MN}) {
        Problem p = product(4096, 4096, 65536, in);
        p.batch = 32;
        p.grouping = gemm::Grouping::KEnds;
        p.major_a = a;
        p.major_b = b;
        const Plan plan = planned(p);
        EXPECT_TRUE(plan.aligned.kernel->groups_k);
        EXPECT_EQ(cluster_size(*plan.aligned.kernel), 2);
        EXPECT_EQ(plan.aligned.schedule.batch, 32);
        EXPECT_NE(describe(plan).find("grouped along K"), std::string::npos);
        p.k = 16;  // less than a block, and than groups
        EXPECT_GT(planned(p).aligned.microseconds, 0);
        if (!is_fp8(in)) continue;
        for (const Scaling s : {Scaling::RowColumn, Scaling::Block128, Scaling::Vector128}) {
          p.scaling = s;
          EXPECT_EQ(refused(p), Status::Ok);
        }
      }
    }
  }
  EXPECT_FALSE(planned(product(4096, 4096, 4096)).aligned.kernel->groups_k);
}

// Only where it is asked for: a cluster of the grid for each tile.
TEST(TensorPlan, ADynamicSchedule) {
  const auto dynamic = [](Problem p) {
    p.dynamic_schedule = true;
    return p;
  };
  Problem blocks = product(8192, 8192, 8192, Type::e4m3);
  blocks.scaling = Scaling::Block128;
  const Problem large = product(8192, 8192, 8192), fp8 = product(8192, 8192, 8192, Type::e4m3);
  for (const Problem& p : {large, fp8, blocks}) {
    const Plan plan = planned(dynamic(p)), usual = planned(p);
    EXPECT_FALSE(usual.aligned.kernel->dynamic);
    EXPECT_EQ(usual.aligned.clusters, 74);
    EXPECT_TRUE(plan.aligned.kernel->dynamic);
    EXPECT_EQ(plan.aligned.clusters, gemm::tiles_of(plan.aligned.schedule));
    EXPECT_EQ(plan.aligned.microseconds, usual.aligned.microseconds);
    EXPECT_NE(describe(plan).find("schedule: dynamic"), std::string::npos) << describe(plan);
    EXPECT_NE(describe(plan).find(" dynamic tcgen05"), std::string::npos) << describe(plan);
    EXPECT_EQ(describe(usual).find("dynamic"), std::string::npos) << describe(usual);
  }
  EXPECT_EQ(gemm::cluster_size(*planned(dynamic(product(128, 4096, 512))).aligned.kernel), 1);
  EXPECT_EQ(refused(dynamic(product(512, 512, 512, Type::f16))), Status::Ok);
  EXPECT_EQ(refused(dynamic(product(512, 512, 512, Type::tf32))), Status::NotOnTcgen05);
  EXPECT_EQ(refused(dynamic(scaled(Type::e4m3, BlockScaling::Ue8m0Block32))), Status::NotOnTcgen05);
  EXPECT_NE(std::string(sentence(Status::NotOnTcgen05)).find("dynamic"), std::string::npos);
  EXPECT_EQ(gemm::check_hopper(dynamic(large), {}), Status::NeedsTcgen05);
  Problem limited = dynamic(large), grouped = dynamic(large);
  limited.sm_limit = 100;
  grouped.grouping = gemm::Grouping::Ends;
  EXPECT_EQ(gemm::check(limited), Status::UnsupportedSchedule);
  EXPECT_EQ(gemm::check(grouped), Status::UnsupportedSchedule);
}

// 10.3 has no instruction for them.
TEST(TensorPlan, IntegersOn100Alone) {
  for (const Type in : {Type::s8, Type::u8}) {
    const Plan plan = planned(product(8192, 8192, 512, in));
    EXPECT_EQ(plan.aligned.kernel->in, Type::s8);
    EXPECT_EQ(cluster_size(*plan.aligned.kernel), 2);
    EXPECT_EQ(types_of(plan) != 0, in == Type::u8);
    EXPECT_EQ(refused(product(512, 512, 512, in), {0, 10, 3, 148}), Status::NotOnTcgen05);
  }
  const std::string why = sentence(Status::NotOnTcgen05);
  EXPECT_NE(why.find("s8 and u8 only on 10.0"), why.npos);
}

// The operands' types of the instruction descriptor that the kernel executes for the plan.
std::pair<Type, Type> executed_types(const Plan& plan) {
  const gemm::Kernel& k = *plan.aligned.kernel;
  const tcgen05::Kind kind = tcgen05::kind_with_factors(k.in, k.scale_vec);
  const std::uint32_t compiled = tcgen05::encode({.d = Type::f32, .a = k.in, .b = k.in_b}, kind);
  const tcgen05::InstructionDescriptor d = tcgen05::decode(compiled ^ types_of(plan), kind);
  return {d.a, d.b};
}

// One kernel for all pairs of FP8 types, whatever it does with scale factors: the descriptor's bits say which.
TEST(TensorPlan, EveryPairOfFp8Types) {
  for (const auto& types : {std::pair{Type::e4m3, Type::e4m3}, std::pair{Type::e5m2, Type::e4m3},
                            std::pair{Type::e4m3, Type::e5m2}, std::pair{Type::e5m2, Type::e5m2}}) {
    const auto [in, in_b] = types;
    Problem p = product(8192, 8192, 512, in);
    p.in_b = in_b;
    EXPECT_EQ(executed_types(planned(p)), types);
    p.promotes = true;
    EXPECT_EQ(executed_types(planned(p)), types);
    EXPECT_NE(planned(p).aligned.kernel->promotion, gemm::Promotion::None);
    p.promotes = false;
    p.block_scaling = BlockScaling::Ue8m0Block32;
    EXPECT_EQ(executed_types(planned(p)), types);
    EXPECT_EQ(cluster_size(*planned(p).aligned.kernel), 2);
    EXPECT_EQ(planned(p).aligned.kernel->scale_vec, tcgen05::ScaleVec::Block32);
  }
}

// The kind decides what a number means.
TEST(TensorPlan, TypesOfOtherKindsHaveKernelsOfTheirOwn) {
  for (const Type in : {Type::bf16, Type::tf32, Type::s8, Type::e4m3})
    EXPECT_EQ(planned(product(8192, 8192, 512, in)).aligned.kernel->in, in);
}

// One kernel for both types of 16 bits; f16 of D is not what it stores of itself.
TEST(TensorPlan, BothTypesOf16Bits) {
  for (const Type in : {Type::bf16, Type::f16}) {
    for (const std::int64_t m : {16, 128, 8192}) {
      const Plan plan = planned(product(m, 8192, 512, in));
      EXPECT_EQ(plan.aligned.kernel->in, Type::bf16);
      EXPECT_EQ(executed_types(plan), (std::pair{in, in}));
      const gemm::Work work =
          gemm::work_of(plan, gemm::Path::Aligned, {.d = const_cast<void*>(at<void>(8192))}, {});
      EXPECT_EQ(work.arguments.sends_usual, in == Type::bf16);
    }
  }
}

// The instruction's A is B: of other types in either place the descriptor says the right one.
TEST(TensorPlan, FewRowsExchangeTypesAndMajors) {
  Problem p = product(32, 160 * 128, 512, Type::e5m2);
  p.in_b = Type::e4m3;
  p.major_b = Major::MN;
  const Plan plan = planned(p);
  ASSERT_EQ(plan.aligned.kernel->skinny, gemm::Skinny::Rows);
  EXPECT_EQ(executed_types(plan), (std::pair{Type::e4m3, Type::e5m2}));
  EXPECT_NE(types_of(plan) & tcgen05::idesc::MajorA::mask, 0u);
  EXPECT_EQ(types_of(plan) & tcgen05::idesc::MajorB::mask, 0u);
  EXPECT_EQ(plan.aligned.schedule.rows, 160);
  EXPECT_EQ(plan.aligned.schedule.cols, 1);
}

// Whoever promotes has a kernel that does, with factors that it knows, and nobody else.
TEST(TensorPlan, Fp8ThatPromotes) {
  Problem p = product(4096, 4096, 4096, Type::e4m3);
  EXPECT_EQ(planned(p).aligned.kernel->promotion, gemm::Promotion::None);
  p.promotes = true;
  for (const Scaling scaling :
       {Scaling::None, Scaling::Tensor, Scaling::RowColumn, Scaling::Block128}) {
    p.scaling = scaling;
    p.promotes = !gemm::scales_blocks(scaling);
    EXPECT_EQ(planned(p).aligned.kernel->promotion, gemm::Promotion::ColumnBlocks);
  }
  EXPECT_EQ(cluster_size(*planned(p).aligned.kernel), 2);
  const std::string text = describe(planned(p));
  for (const char* words : {"chains of 128 of tcgen05.mma over ascending k, 32 at a time",
                            "128x256x128 cluster 2x1", "promoting"})
    EXPECT_NE(text.find(words), text.npos) << words << "\n" << text;
  p.scaling = Scaling::Vector128;
  EXPECT_EQ(planned(p).aligned.kernel->promotion, gemm::Promotion::EachColumn);
}

TEST(TensorPlan, TheOneKernelAskedFor) {
  const Problem p = product(8192, 8192, 512);
  Plan plan;
  EXPECT_EQ(tensor_plan(p, plan, b200, &tensor_table()[1]), Status::Ok);
  EXPECT_EQ(plan.aligned.kernel, &tensor_table()[1]);
  const gemm::Kernel other = tensor_table()[1];
  EXPECT_EQ(tensor_plan(p, plan, b200, &other), Status::KernelDoesNotFit);
  EXPECT_EQ(tensor_plan(product(8192, 8192, 512, Type::tf32), plan, b200, &tensor_table()[1]),
            Status::KernelDoesNotFit);
}

TEST(TensorPlan, FactorsOfBlocksThatDoNotExist) {
  const auto status = [](Type in, BlockScaling scaling, auto change) {
    Problem p = scaled(in, scaling);
    change(p);
    return gemm::check(p);
  };
  const auto as_is = [](Problem&) {};
  EXPECT_EQ(status(Type::bf16, BlockScaling::Ue8m0Block32, as_is), Status::UnsupportedScaling);
  EXPECT_EQ(status(Type::e4m3, BlockScaling::Ue4m3Block16, as_is), Status::UnsupportedScaling);
  EXPECT_EQ(status(Type::e2m1, BlockScaling::None, as_is), Status::UnsupportedScaling);
  EXPECT_EQ(status(Type::e4m3, static_cast<BlockScaling>(3), as_is), Status::UnsupportedScaling);
  EXPECT_EQ(status(Type::e2m1, BlockScaling::Ue4m3Block16, [](Problem& p) { p.k = 511; }),
            Status::UnsupportedScaling);
  const auto mxfp8 = [&](auto change) {
    return status(Type::e4m3, BlockScaling::Ue8m0Block32, change);
  };
  EXPECT_EQ(mxfp8([](Problem& p) { p.major_a = Major::MN; }), Status::UnsupportedScaling);
  EXPECT_EQ(mxfp8([](Problem& p) { p.major_b = Major::MN; }), Status::UnsupportedScaling);
  EXPECT_EQ(mxfp8([](Problem& p) { p.promotes = true; }), Status::UnsupportedScaling);
  for (const auto besides : {gemm::Scaling::Block128, gemm::Scaling::Vector128})
    EXPECT_EQ(mxfp8([&](Problem& p) { p.scaling = besides; }), Status::UnsupportedScaling);
  for (const auto besides : {gemm::Scaling::Tensor, gemm::Scaling::RowColumn})
    EXPECT_EQ(mxfp8([&](Problem& p) { p.scaling = besides; }), Status::Ok);
  EXPECT_EQ(mxfp8([](Problem& p) { p.grouping = gemm::Grouping::Ends; }), Status::Ok);
  EXPECT_EQ(mxfp8([](Problem& p) { p.grouping = gemm::Grouping::KEnds; }),
            Status::UnsupportedGrouping);
  EXPECT_EQ(mxfp8([](Problem& p) {
              p.grouping = gemm::Grouping::Ends;
              p.in_b = Type::e5m2;
            }),
            Status::Ok);
  EXPECT_EQ(status(Type::e2m1, BlockScaling::Ue4m3Block16, [](Problem& p) { p.in_b = Type::e4m3; }),
            Status::UnsupportedTypes);
}

// Strides of 1022 bytes: A and B are copied to a pitch of 1024, and no run is without the copies.
TEST(TensorPlan, OperandsThatTmaCannotAddressAreCopied) {
  const auto d = const_cast<void*>(at<void>(8192));
  const auto memory = const_cast<void*>(at<void>(1 << 20));
  for (const Type in : {Type::bf16, Type::f16, Type::e4m3, Type::s8}) {
    const std::int64_t bytes = bits(in) / 8;
    const Plan plan = planned(product(300, 520, 511, in));
    const std::size_t wanted = workspace_bytes(plan);
    EXPECT_EQ(wanted, static_cast<std::size_t>((300 + 520) * 512 * bytes + 128));
    const gemm::Pointers x = {at<void>(4096), at<void>(4096 + bytes), nullptr, d};
    EXPECT_EQ(gemm::check(plan, x, {}), Status::NotOnTcgen05);
    EXPECT_EQ(gemm::check(plan, x, {memory, wanted - 1}), Status::WorkspaceTooSmall);
    EXPECT_EQ(gemm::check(plan, x, {memory, wanted}), Status::Ok);
    EXPECT_EQ(path_of(plan, x, {memory, wanted}), gemm::Path::Realigned);
    const gemm::Work work = work_of(plan, gemm::Path::Realigned, x, {memory, wanted});
    EXPECT_EQ(work.job_count, 2);
    EXPECT_EQ(work.a.data, memory);
    EXPECT_EQ(work.a.ld, 512);
    EXPECT_EQ(work.jobs[0].line_bytes, 511 * bytes);
    EXPECT_EQ(work.jobs[1].source, x.b);
    EXPECT_EQ(work.jobs[1].lines, 520);
    EXPECT_EQ(plan.realigned.kernel, planned(product(300, 520, 512, in)).aligned.kernel);
    const std::string text = describe(plan);
    EXPECT_NE(text.find("realigned, A and B are copied: "), text.npos) << text;
    EXPECT_NE(text.find(" bytes, without which it does not run"), text.npos) << text;
  }
  // Of e2m1 two elements to a byte: strides of 24 bytes; half bytes are no strides.
  Problem packed = scaled_of_k(48);
  EXPECT_EQ(workspace_bytes(planned(packed)), (512 + 512) * 128u + 128);
  packed.a.ld = 49;
  EXPECT_EQ(gemm::check(packed), Status::UnsupportedScaling);
  // By its pointer alone.
  const Plan plan = planned(product(300, 520, 512));
  EXPECT_EQ(workspace_bytes(plan), 0u);
  const gemm::Pointers x = {at<void>(4098), at<void>(4096), nullptr, d};
  EXPECT_EQ(workspace_bytes(plan, x), 300u * 1024 + 128);
  EXPECT_EQ(gemm::check(plan, x, {}), Status::NotOnTcgen05);
  EXPECT_EQ(gemm::check(plan, x, {memory, 300 * 1024 + 128}), Status::Ok);
}

TEST(TensorPlan, PointersThatTheKernelCannotTake) {
  const Plan plan = planned(scaled(Type::e2m1, BlockScaling::Ue4m3Block16));
  const auto with = [&](auto change) {
    gemm::Pointers x{at<void>(4096), at<void>(4096), nullptr, const_cast<void*>(at<void>(8192))};
    x.scale_codes_a = x.scale_codes_b = at<std::uint8_t>(4096);
    change(x);
    return gemm::check(plan, x, {});
  };
  EXPECT_EQ(with([](gemm::Pointers&) {}), Status::Ok);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.a = at<void>(4104); }), Status::NotOnTcgen05);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.b = at<void>(4097); }), Status::NotOnTcgen05);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.d = const_cast<void*>(at<void>(8194)); }), Status::Ok);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.scale_codes_a = nullptr; }), Status::NullPointer);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.scale_codes_b = nullptr; }), Status::NullPointer);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.scale_codes_a = at<std::uint8_t>(4104); }),
            Status::Misaligned);
  EXPECT_EQ(with([](gemm::Pointers& x) { x.scale_codes_b = at<std::uint8_t>(4104); }),
            Status::Misaligned);
}

TEST(TensorPlan, SaysThatNothingHasRunOnSilicon) {
  const std::string text = describe(planned(scaled(Type::e2m1, BlockScaling::Ue4m3Block16)));
  for (const char* words :
       {"this kernel has not run on silicon", "tcgen05", "columns of Tensor Memory", "64 at a time",
        "factors: ue4m3 of 16 of K"})
    EXPECT_NE(text.find(words), text.npos) << words << "\n" << text;
  EXPECT_EQ(text.find("wgmma"), text.npos) << text;
}

TEST(TensorPlan, SaysBothFactorsOfNvfp4) {
  Problem p = scaled(Type::e2m1, BlockScaling::Ue4m3Block16);
  p.scaling = gemm::Scaling::Tensor;
  const std::string text = describe(planned(p));
  EXPECT_NE(text.find("factors: ue4m3 of 16 of K"), text.npos) << text;
  EXPECT_NE(text.find("factors: one of A, one of B"), text.npos) << text;
}

}  // namespace
}  // namespace tcq::tests
