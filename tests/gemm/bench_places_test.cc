// Batches, pads and groups of bench_gemm: what problems they are, where their operands lie, and which rows are checked: no device.
#include "tools/bench_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "tools/bench_problem.h"

namespace tcq::tools {
namespace {

using Sizes = std::vector<std::int32_t>;

constexpr Shape small = {10, 6, 5};

gemm::Problem grouped(const char* rows_by, std::int64_t rows, int groups) {
  return Variant{.groups = groups, .rows_by = rows_by}.problem({rows, 64, 64}, Type::bf16);
}

std::int64_t rows_of(const std::vector<Part>& parts) {
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.count;
  return rows;
}

TEST(BenchPlaces, ABatchOfPaddedMatrices) {
  Variant v{.majors = "KM", .epilogue = "c", .batch = 4, .pad = 3};
  EXPECT_EQ(v.name(), "c batch 4 KM pad 3");
  const gemm::Problem p = gemm::resolved(v.problem(small, Type::bf16));
  EXPECT_EQ(p.m, 3);  // 10 rows
  EXPECT_EQ(p.batch, 4);
  EXPECT_EQ(p.a, (gemm::Strides{5 + 3, 3 * 8}));
  EXPECT_EQ(p.b, (gemm::Strides{6 + 3, 5 * 9}));
  EXPECT_EQ(p.d, (gemm::Strides{6 + 3, 3 * 9}));
  EXPECT_EQ(p.c, p.d);
  EXPECT_EQ(elements_of(view_a(p), p.a, p.batch), 4 * 3 * 8);
  EXPECT_EQ(elements_of(view_b(p), p.b, p.batch), 4 * 5 * 9);
  EXPECT_EQ(operand_bytes(p), 2 * (4 * 3 * 8 + 4 * 5 * 9 + 2 * 4 * 3 * 9));
  EXPECT_EQ(operations(p), 2.0 * 4 * 3 * 6 * 5);
  v.shared_b = true;
  EXPECT_EQ(v.name(), "c batch 4 of one B KM pad 3");
  EXPECT_EQ(operand_bytes(v.problem(small, Type::bf16)), 2 * (4 * 3 * 8 + 5 * 9 + 2 * 4 * 3 * 9));
}

TEST(BenchPlaces, APadIsOfTheColumnsThatDHas) {
  const Variant v{.epilogue = "swiglu", .pad = 8};
  const gemm::Problem p = v.problem({4, 64, 32}, Type::e4m3);
  EXPECT_EQ(p.a.ld, 32 + 8);
  EXPECT_EQ(p.d.ld, 32 + 8);
}

TEST(BenchPlaces, ProductsOfABatch) {
  const Variant v{.scaling = "mx", .batch = 3};
  const gemm::Problem p = v.problem({900, 200, 64}, Type::e4m3);
  const std::vector<Part> parts = parts_of(p, drawn_sizes(p, 1));
  EXPECT_EQ(parts,
            (std::vector<Part>{{0, 0, 0, 300, 0}, {1, 1, 0, 300, 384}, {2, 2, 0, 300, 768}}));
  EXPECT_EQ(checked_parts(parts), (std::vector<Part>{parts[0], parts[2]}));
  EXPECT_EQ(lines_of_codes_a(p), 3 * 384);
  EXPECT_EQ(lines_of_codes_b(p), 3 * 256);
  EXPECT_EQ(one_product(p, parts), gemm::resolved(p));
  EXPECT_TRUE(rows_of_nobody(p, {}).empty());
  const Variant shared{.scaling = "mx", .batch = 3, .shared_b = true};
  EXPECT_EQ(lines_of_codes_b(shared.problem({900, 200, 64}, Type::e4m3)), 256);
}

TEST(BenchPlaces, GroupsByEndsHaveAllRows) {
  const gemm::Problem p = grouped("ends", 1000, 8);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Sizes ends = drawn_sizes(p, seed);
    EXPECT_TRUE(std::ranges::is_sorted(ends));
    const std::vector<Part> parts = parts_of(p, ends);
    ASSERT_EQ(parts.size(), 8u);
    EXPECT_EQ(rows_of(parts), 1000);
    EXPECT_EQ(one_product(p, parts).m, 1000);
  }
  const std::vector<Part> parts = parts_of(p, {0, 130, 130, 900, 1000, 1000, 1000, 1000});
  EXPECT_EQ(parts[3], (Part{0, 3, 130, 770, 256}));
  EXPECT_EQ(checked_parts(parts), (std::vector<Part>{parts[3], parts[1], parts[4]}));
}

TEST(BenchPlaces, GroupsByCountsHaveRoomForTwiceTheMean) {
  const gemm::Problem p = grouped("counts", 1000, 8);
  EXPECT_EQ(p.m, 250);
  EXPECT_EQ(p.expected_rows, 125);
  EXPECT_EQ(p.grouping, gemm::Grouping::Counts);
  int full = 0, empty = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Sizes counts = drawn_sizes(p, seed);
    ASSERT_EQ(counts.size(), 8u);
    for (const std::int32_t count : counts) {
      ASSERT_TRUE(count >= 0 && count <= 250);
      full += count == 250;
      empty += count < 12;
    }
    const std::vector<Part> parts = parts_of(p, counts);
    const gemm::Problem one = one_product(p, parts);
    EXPECT_EQ(one.m, rows_of(parts));
    EXPECT_LE(one.m, 1000);
    EXPECT_EQ(one.batch, 1);
    EXPECT_EQ(one.grouping, gemm::Grouping::None);
    EXPECT_EQ(gemm::check(one), gemm::Status::Ok);
    const std::vector<Row> nobodys = rows_of_nobody(p, counts);
    EXPECT_EQ(static_cast<std::int64_t>(nobodys.size()),
              std::ranges::count_if(counts, [](std::int32_t count) { return count < 250; }));
    for (const Row& row : nobodys) EXPECT_EQ(row.row, counts[static_cast<std::size_t>(row.matrix)]);
  }
  EXPECT_GT(full, 10);
  EXPECT_GT(empty, 10);
  EXPECT_EQ(parts_of(p, {1, 2, 3, 4, 5, 6, 7, 8})[2], (Part{2, 2, 0, 3, 2 * 256}));
  EXPECT_EQ(grouped("counts", 3, 2).m, 3);  // no more than all
}

TEST(BenchPlaces, GroupsByNumbersHaveSomeOf128Rows) {
  const gemm::Problem p = grouped("numbers", 2100, 5);
  EXPECT_EQ(p.grouping, gemm::Grouping::RowIds);
  std::set<std::int32_t> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Sizes numbers = drawn_sizes(p, seed);
    ASSERT_EQ(numbers.size(), 2100u);
    first.insert(numbers[0]);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      const std::int32_t of_block = numbers[row / 128 * 128];
      ASSERT_TRUE(numbers[row] == of_block || numbers[row] == -1) << row;
      ASSERT_TRUE(numbers[row] >= -1 && numbers[row] < 5) << row;
      ASSERT_TRUE(row % 128 == 0 || numbers[row - 1] != -1 || numbers[row] == -1) << row;
    }
    EXPECT_EQ(rows_of_nobody(p, numbers).size(), 2u);  // of 17 blocks
    const std::vector<Part> parts = parts_of(p, numbers);
    EXPECT_EQ(rows_of(parts),
              std::ranges::count_if(numbers, [](std::int32_t number) { return number >= 0; }));
    std::set<std::int64_t> of;
    for (const Part& part : parts) {
      EXPECT_TRUE(of.insert(part.matrix_b).second);
      EXPECT_EQ(part.first % 128, 0);
      EXPECT_EQ(numbers[static_cast<std::size_t>(part.first + part.count - 1)], part.matrix_b);
    }
  }
  EXPECT_EQ(first.size(), 6u);  // groups come in any order
  EXPECT_EQ(drawn_sizes(grouped("numbers", 1, 5), 3).size(), 1u);
}

TEST(BenchPlaces, GroupsAlongKAreOneProductOfAllK) {
  const Variant v{.groups = 3, .along_k = true};
  const gemm::Problem p = v.problem({10, 8, 100}, Type::bf16);
  const std::vector<Part> parts = parts_of(p, {20, 20, 100});
  EXPECT_EQ(parts[2].matrix, 2);
  EXPECT_EQ(parts[2].first, 20);
  EXPECT_EQ(parts[2].count, 80);
  const gemm::Problem one = one_product(p, parts);
  EXPECT_EQ(one.m, 10);
  EXPECT_EQ(one.k, 100);
  EXPECT_EQ(operations(one), 2.0 * 10 * 8 * 100);
  EXPECT_EQ(operand_bytes(p), 2 * (10 * 100 + 8 * 100 + 3 * 10 * 8));
}

TEST(BenchPlaces, WordsOfGroupsAndWhatIsNone) {
  EXPECT_EQ((Variant{.groups = 4, .rows_by = "counts", .has_workspace = false}.name()),
            "none 4 groups by counts no workspace");
  EXPECT_EQ((Variant{.groups = 4, .rows_by = "numbers"}.name()), "none 4 groups by numbers");
  EXPECT_EQ((Variant{.groups = 4}.name()), "none 4 groups");
  for (const Variant& v : {Variant{.rows_by = "counts"}, Variant{.groups = 2, .rows_by = "rows"},
                           Variant{.groups = 2, .along_k = true, .rows_by = "counts"},
                           Variant{.groups = 2, .batch = 2}, Variant{.shared_b = true}})
    EXPECT_THROW(v.problem(small, Type::bf16), oracle::UsageError) << v.name();
  const Variant odd{.scaling = "nv", .pad = 1};
  EXPECT_THROW(odd.problem({16, 16, 16}, Type::e2m1), oracle::UsageError);
}

}  // namespace
}  // namespace tcq::tools
