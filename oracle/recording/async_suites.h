// The suites of asynchronous copies and matrix moves that are recorded on hardware and drawn anew
// by the live test.
//
// Each suite is a pure function of its seed. What a case is: async_case.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/recording/async_case.h"

namespace tcq::oracle {

// tma_load: every swizzle, element size, rank, box class and out-of-bounds side, both fills,
// element strides, every phase of the destination. tma_convert: every element type on special
// values, both directions. tma_store, tma_reduce: the same outwards. tma_multicast: clusters of 2
// and 4. matrix: ldmatrix and stmatrix. encode: does the driver accept a tensor map. interleave:
// the same of interleaved ones, at every limit. bulk: copies
// and integer reductions without a tensor map, every direction, clusters of 2 and 4. reduce_float:
// every reduction of floats on every pair of special values and on drawn pairs. mbarrier:
// random sequences of operations on one mbarrier, from its own CTA and from another. groups: wgmmas
// in groups and every wait_group N, empty groups among them.
std::vector<std::string_view> async_suite_names();
// Cases that trap or may, each to run in a process of its own; maps at open limits; sequences of
// mbarrier operations beyond what PTX allows.
std::vector<std::string_view> async_edge_suite_names();
// Throws UsageError for an unknown name.
std::vector<AsyncCase> async_suite(std::string_view name, std::uint64_t seed);

}  // namespace tcq::oracle
