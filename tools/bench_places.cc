#include "tools/bench_places.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "cuda/gemm/path.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/num/inputs/draw.h"

namespace tcq::tools {
namespace {

using Sizes = std::vector<std::int32_t>;

constexpr std::int64_t rows_of_number = 128;  // which have one together

Sizes drawn_ends(std::int64_t rows, std::int64_t groups, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<double> shares;
  for (std::int64_t g = 0; g < groups; ++g)
    shares.push_back(-std::log((draw.word() + 1.0) / 4294967297.0));
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  Sizes ends;
  double behind = 0;
  for (const double share : shares) {
    behind += share;
    ends.push_back(
        static_cast<std::int32_t>(std::llround(behind / all * static_cast<double>(rows))));
  }
  return ends;
}

Sizes drawn_counts(const gemm::Problem& p, std::uint64_t seed) {
  Sizes counts = drawn_ends(p.expected_rows * p.batch, p.batch, seed);
  std::adjacent_difference(counts.begin(), counts.end(), counts.begin());
  for (std::int32_t& count : counts) count = std::min(count, static_cast<std::int32_t>(p.m));
  return counts;
}

// Whose blocks of 128 rows come one after the other: {number, blocks}, below 0 nobody's.
std::vector<std::pair<std::int32_t, std::int64_t>> drawn_runs(const gemm::Problem& p,
                                                              std::uint64_t seed) {
  const std::int64_t blocks = gemm::round_up_quotient(p.m, rows_of_number);
  const std::int64_t nobodys = blocks / 8;
  const Sizes ends = drawn_ends(blocks - nobodys, p.batch, seed);
  std::vector<std::pair<std::int32_t, std::int64_t>> runs = {{-1, nobodys}};
  for (std::size_t g = 0; g < ends.size(); ++g)
    runs.emplace_back(static_cast<std::int32_t>(g), ends[g] - (g == 0 ? 0 : ends[g - 1]));
  Draw draw(mix(seed));
  for (std::size_t left = runs.size(); left > 1; --left)
    std::swap(runs[left - 1], runs[static_cast<std::size_t>(draw.below(static_cast<int>(left)))]);
  return runs;
}

Sizes drawn_numbers(const gemm::Problem& p, std::uint64_t seed) {
  Draw draw(seed + 1);
  Sizes numbers;
  const auto add = [&](std::int64_t rows, std::int32_t number) {
    numbers.insert(numbers.end(), static_cast<std::size_t>(rows), number);
  };
  for (const auto& [number, blocks] : drawn_runs(p, seed)) {
    if (blocks == 0) continue;
    const auto left = p.m - static_cast<std::int64_t>(numbers.size());
    const std::int64_t rows = std::min(blocks * rows_of_number, left);
    const std::int64_t last = rows - (blocks - 1) * rows_of_number;
    const std::int64_t spare = draw.below(static_cast<int>(last));
    add(rows - spare, number);
    add(spare, -1);
  }
  return numbers;
}

std::vector<Part> parts_by_numbers(const Sizes& numbers) {
  std::vector<Part> parts;
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (numbers[row] < 0) continue;
    if (row == 0 || numbers[row] != numbers[row - 1]) parts.push_back({0, numbers[row], at, 0, at});
    ++parts.back().count;
  }
  return parts;
}

std::vector<Part> parts_by_ends(const gemm::Problem& p, const Sizes& ends) {
  std::vector<Part> parts;
  std::int64_t first = 0;
  std::int64_t of_codes = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const auto number = static_cast<std::int64_t>(g);
    const std::int64_t count = ends[g] - first;
    parts.push_back({groups_k(p) ? number : 0, number, first, count, of_codes});
    first = ends[g];
    of_codes += tcgen05::whole_scale_atoms(count);
  }
  return parts;
}

}  // namespace

std::size_t bytes_of(Type type, std::int64_t elements) {
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(bits(type)) / 8;
}

std::int64_t elements_of(const gemm::View& v, const gemm::Strides& s, std::int64_t batch) {
  return (batch - 1) * s.batch + v.outer * s.ld;
}

double operand_bytes(const gemm::Problem& problem) {
  const gemm::Problem p = resolved(problem);
  const std::int64_t matrices = matrices_of_a(p);
  const auto bytes = [](const gemm::View& view, const gemm::Strides& s, std::int64_t batch) {
    return static_cast<double>(bytes_of(view.type, elements_of(view, s, batch)));
  };
  return bytes(view_a(p), p.a, matrices) + bytes(view_b(p), p.b, p.batch) +
         bytes(view_d(p), p.d, matrices) + (p.beta != 0 ? bytes(view_c(p), p.c, matrices) : 0);
}

std::vector<std::int32_t> drawn_sizes(const gemm::Problem& p, std::uint64_t seed) {
  switch (p.grouping) {
    case gemm::Grouping::None: return {};
    case gemm::Grouping::Ends: return drawn_ends(p.m, p.batch, seed);
    case gemm::Grouping::Counts: return drawn_counts(p, seed);
    case gemm::Grouping::RowIds: return drawn_numbers(p, seed);
    case gemm::Grouping::KEnds: break;
  }
  Sizes ends = drawn_ends(p.k, p.batch, seed);
  if (scales_blocks(p.scaling))
    for (std::int32_t& end : ends) end = end / gemm::scale_block * gemm::scale_block;
  return ends;
}

std::vector<Part> parts_of(const gemm::Problem& p, const std::vector<std::int32_t>& sizes) {
  if (p.grouping == gemm::Grouping::RowIds) return parts_by_numbers(sizes);
  if (has_sizes(p) && p.grouping != gemm::Grouping::Counts) return parts_by_ends(p, sizes);
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const std::int64_t count = sizes.empty() ? p.m : sizes[static_cast<std::size_t>(i)];
    parts.push_back({i, i, 0, count, i * tcgen05::whole_scale_atoms(p.m)});
  }
  return parts;
}

std::vector<Part> checked_parts(const std::vector<Part>& parts) {
  const auto fewer = [](const Part& x, const Part& y) { return x.count < y.count; };
  const auto has_any = [](const Part& part) { return part.count > 0; };
  std::vector<Part> checked = {*std::ranges::max_element(parts, fewer)};
  const auto add = [&](const auto& found, const auto& end) {
    if (found != end && std::ranges::find(checked, *found) == checked.end())
      checked.push_back(*found);
  };
  add(std::find_if(parts.begin(), parts.end(), has_any), parts.end());
  add(std::find_if(parts.rbegin(), parts.rend(), has_any), parts.rend());
  return checked;
}

std::vector<Row> rows_of_nobody(const gemm::Problem& p, const std::vector<std::int32_t>& sizes) {
  std::vector<Row> rows;
  if (p.grouping == gemm::Grouping::Counts) {
    for (std::int64_t g = 0; g < p.batch; ++g)
      if (const std::int64_t row = sizes[static_cast<std::size_t>(g)]; row < p.m)
        rows.push_back({g, row});
  }
  if (p.grouping == gemm::Grouping::RowIds) {
    for (std::int64_t row = 0; row < p.m; row += rows_of_number)
      if (sizes[static_cast<std::size_t>(row)] < 0) rows.push_back({0, row});
  }
  return rows;
}

std::int64_t lines_of_codes_a(const gemm::Problem& p) {
  const gemm::Groups groups = {.by = p.grouping, .count = static_cast<int>(p.batch)};
  const std::int64_t matrices = matrices_of_a(p);
  return matrices == 1 ? gemm::lines_of_codes(p.m, groups)
                       : matrices * tcgen05::whole_scale_atoms(p.m);
}

std::int64_t lines_of_codes_b(const gemm::Problem& p) {
  return gemm::matrices_of(p.b, p.batch) * tcgen05::whole_scale_atoms(p.n);
}

gemm::Problem one_product(const gemm::Problem& problem, const std::vector<Part>& parts) {
  gemm::Problem p = resolved(problem);
  if (!has_sizes(p)) return p;
  if (is_grouped(p)) {
    p.m = 0;
    for (const Part& part : parts) p.m += part.count;
  }
  p.grouping = gemm::Grouping::None;
  p.expected_rows = 0;
  p.batch = 1;
  return p;
}

}  // namespace tcq::tools
