// Do the matrices of a batch share elements? Of D they may not: which one is left would be chance.
//
// Matrix b has rows of n elements at b * batch + r * ld, r in [0, m), ld >= n. Matrices one behind
// the other are apart, and so are those side by side (rows of all matrices in turn); what lies
// between is a question of remainders: matrices x apart overlap if x * batch is nearer than n to a
// multiple of ld, within the matrix. Example: 3 rows of 2 elements 10 apart: a batch stride of 25 is
// right, 21 is not.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tcq::gemm {

__extension__ using Wide = __int128;

// The least x >= 0 with low <= a * x mod m <= high; -1 if there is none. The remainders of m by a
// decide, as in Euclid's algorithm. Requires: 0 <= a < m, 0 <= low <= high < m; m below 2^62.
constexpr Wide first_remainder_in(Wide a, Wide m, Wide low, Wide high) {
  if (low == 0) return 0;
  if (a == 0) return -1;
  if (2 * a > m) return first_remainder_in(m - a, m, m - high, m - low);
  const Wide x = (low + a - 1) / a;
  if (a * x <= high) return x;
  const Wide turns = first_remainder_in((a - m % a) % a, a, low % a, high % a);
  return turns < 0 ? -1 : (low + m * turns + a - 1) / a;
}

struct Rows {
  std::int64_t m;  // above 0
  std::int64_t n;  // above 0
  std::int64_t ld;
  std::int64_t batch_stride;
};

// Requires: check() admits the strides.
constexpr bool matrices_overlap(const Rows& d, std::int64_t batch) {
  if (batch < 2) return false;
  if (d.batch_stride == 0) return true;
  const std::int64_t reach = (d.m - 1) * d.ld + d.n - 1;
  const std::int64_t apart = std::min(batch - 1, reach / d.batch_stride);  // at most, to meet
  if (apart == 0) return false;
  // x * stride + n - 1 has a remainder of at most 2 n - 2, for an x from 1 on.
  const Wide window = 2 * Wide{d.n} - 2;
  const Wide step = d.batch_stride % d.ld;
  const Wide begin = (step + d.n - 1) % d.ld;
  if (begin <= window) return true;
  const Wide more = first_remainder_in(step, d.ld, d.ld - begin, d.ld - begin + window);
  return more >= 0 && more + 1 <= apart;
}

}  // namespace tcq::gemm
