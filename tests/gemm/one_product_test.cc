// Which batches are one product of all rows. Needs no CUDA.
#include <gtest/gtest.h>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"

namespace tcq::gemm {
namespace {

std::int64_t rows(const Problem& p) {
  EXPECT_EQ(check(p), Status::Ok);
  const Problem one = as_one_product(resolved(p));
  EXPECT_EQ(one.m * one.batch, p.m * p.batch);
  return one.m;
}

Problem batch(Type in = Type::bf16) {
  return {.m = 8, .n = 4096, .k = 1024, .batch = 25, .in = in, .b = {1024, 0}};
}

TEST(Gemm_Batch, OfOneBIsOneProductWhereRowsFollowEachOther) {
  Problem p = batch();
  EXPECT_EQ(rows(p), 200);
  p.beta = 1;
  EXPECT_EQ(rows(p), 200);
  const Strides apart = {4096, 4096 * 4096};  // others between the products' rows, or several Bs
  for (Strides Problem::*operand : {&Problem::a, &Problem::b, &Problem::c, &Problem::d}) {
    Problem other = p;
    other.*operand = apart;
    EXPECT_EQ(rows(other), 8);
  }
  p.beta = 0;
  p.c = apart;  // not read
  EXPECT_EQ(rows(p), 200);
}

TEST(Gemm_Batch, RowsOfATurnedAAreBesideEachOther) {
  Problem p = batch();
  p.major_a = Major::MN;
  EXPECT_EQ(rows(p), 8);
  p.a = {200, 8};
  EXPECT_EQ(rows(p), 200);
  p.a = {100, 8};  // matrices that overlap
  EXPECT_EQ(rows(p), 8);
}

TEST(Gemm_Batch, FactorsAreOneProductsToo) {
  Problem p = batch(Type::e4m3);
  p.scaling = Scaling::RowColumn;
  EXPECT_EQ(rows(p), 8);  // B's are 25 times as many
  p.scale_b.batch = 0;
  EXPECT_EQ(rows(p), 200);
  p.scaling = Scaling::Tensor;
  EXPECT_EQ(rows(p), 8);
  p.scale_a.batch = 0;
  EXPECT_EQ(rows(p), 200);
  p.scaling = Scaling::Vector128;
  p.scale_a = {};
  EXPECT_EQ(rows(p), 200);
  p.major_scale_a = Major::MN;
  EXPECT_EQ(rows(p), 8);
  p.scale_a = {200, 8};
  EXPECT_EQ(rows(p), 200);
  p.quantized = Type::e4m3;
  EXPECT_EQ(rows(p), 200);
  p.major_scale_d = Major::MN;
  EXPECT_EQ(rows(p), 8);
}

// Atoms of factors have 128 rows of one matrix.
TEST(Gemm_Batch, FactorsInAtomsAreOneProductsWhereTheseAreWhole) {
  Problem p = batch(Type::e2m1);
  p.block_scaling = BlockScaling::Ue4m3Block16;
  EXPECT_EQ(rows(p), 8);
  p.m = 128;
  EXPECT_EQ(rows(p), 128 * 25);
}

TEST(Gemm_Batch, GroupsAreNone) {
  Problem p = batch();
  p.grouping = Grouping::Counts;
  EXPECT_EQ(rows(p), 8);
}

}  // namespace
}  // namespace tcq::gemm
