// The suites of cases that are recorded on hardware and drawn anew by the live test.
//
// Each suite is a pure function of its seed: the same seed gives the same instructions and inputs, on
// any machine. What a case is: experiment.h. Suites whose names begin with tcgen05_ are for a device of
// compute capability 10.0 or 10.3, the others for 9.0. Example: draw_suite("slots", 1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracle/recording/experiment.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

struct SuiteInfo {
  std::string_view name;
  std::vector<Case> (*draw)(std::uint64_t seed, Target target);
  const char* about;
  bool traps = false;  // some cases do: no part of the live tests
};

std::span<const SuiteInfo> suites();

// May the suite run on a chip of compute capability 10 only?
constexpr bool is_tcgen05_suite(std::string_view suite) { return suite.starts_with("tcgen05_"); }

// Throws UsageError for an unknown name. `target` is for the suites of tcgen05.
std::vector<Case> draw_suite(std::string_view name, std::uint64_t seed,
                             Target target = Target::sm_100a);

// ---- The functions behind the names, in the file of their experiment ------------------------------

std::vector<Case> wgmma_slots(std::uint64_t seed);
std::vector<Case> wgmma_numeric(std::uint64_t seed);
std::vector<Case> wgmma_descriptors(std::uint64_t seed);
std::vector<Case> wgmma_sparse(std::uint64_t seed);
std::vector<Case> wgmma_range(std::uint64_t seed);
std::vector<Case> tile_loads(std::uint64_t seed);
std::vector<Case> tile_conversions(std::uint64_t seed);
std::vector<Case> tile_stores(std::uint64_t seed);
std::vector<Case> tile_reductions(std::uint64_t seed);
std::vector<Case> tile_multicasts(std::uint64_t seed);
std::vector<Case> tile_edges(std::uint64_t seed);
std::vector<Case> matrix_moves(std::uint64_t seed);
std::vector<Case> map_encodings(std::uint64_t seed);
std::vector<Case> interleaved_maps(std::uint64_t seed);
std::vector<Case> bulk_copies(std::uint64_t seed);
std::vector<Case> bulk_edges(std::uint64_t seed);
std::vector<Case> float_reductions(std::uint64_t seed);
std::vector<Case> mbarriers(std::uint64_t seed);
std::vector<Case> mbarrier_edges(std::uint64_t seed);
std::vector<Case> wgmma_groups(std::uint64_t seed);
std::vector<Case> scalar_forms(std::uint64_t seed);
std::vector<Case> scalar_approximations(std::uint64_t seed);
std::vector<Case> matrix_products(std::uint64_t seed);
std::vector<Case> statements(std::uint64_t seed);
std::vector<Case> launches(std::uint64_t seed);
std::vector<Case> tcgen05_mmas(std::uint64_t seed, Target target);
std::vector<Case> tcgen05_registers(std::uint64_t seed, Target target);
std::vector<Case> tcgen05_copies(std::uint64_t seed, Target target);
std::vector<Case> tcgen05_shifts(std::uint64_t seed, Target target);
std::vector<Case> tcgen05_allocations(std::uint64_t seed, Target target);

}  // namespace tcq::oracle
