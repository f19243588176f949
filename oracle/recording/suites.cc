#include "oracle/recording/suites.h"

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

template <std::vector<Case> (*Draw)(std::uint64_t)>
std::vector<Case> hopper(std::uint64_t seed, Target) {
  return Draw(seed);
}

constexpr bool traps = true;

constexpr SuiteInfo all[] = {
    {"slots", hopper<wgmma_slots>, "every type combination, place and every legal N, all outputs"},
    {"numeric", hopper<wgmma_numeric>,
     "every combination of types, place, major-ness, negation, scale-d, mixture class"},
    {"descriptors", hopper<wgmma_descriptors>, "random descriptors for both operands and majors"},
    {"sparse", hopper<wgmma_sparse>, "every sparse form and selector, random metadata"},
    {"range", hopper<wgmma_range>, "descriptors that reach beyond the CTA's shared memory", traps},
    {"tma_load", hopper<tile_loads>,
     "every swizzle, element size, rank, box class and out-of-bounds side, fill, element stride, "
     "phase"},
    {"tma_convert", hopper<tile_conversions>, "every element type on special values, both ways"},
    {"tma_store", hopper<tile_stores>, "as tma_load, outwards"},
    {"tma_reduce", hopper<tile_reductions>, "integer reductions of tiles"},
    {"tma_multicast", hopper<tile_multicasts>, "clusters of 2 and 4, every mask and issuer"},
    {"matrix", hopper<matrix_moves>, "ldmatrix and stmatrix"},
    {"encode", hopper<map_encodings>, "does the driver accept a tensor map"},
    {"interleave", hopper<interleaved_maps>, "the same of interleaved ones, at every limit"},
    {"bulk", hopper<bulk_copies>,
     "copies and integer reductions without a tensor map, every direction, clusters of 2 and 4"},
    {"reduce_float", hopper<float_reductions>,
     "every reduction of floats on every pair of special values and on drawn pairs"},
    {"mbarrier", hopper<mbarriers>,
     "random sequences of operations, from one CTA and from another"},
    {"groups", hopper<wgmma_groups>,
     "wgmmas in groups and every wait_group N, empty groups among them"},
    {"scalar", hopper<scalar_forms>,
     "every form of an instruction on registers that is correctly rounded, on 4096 rows of "
     "sources"},
    {"scalar_approx", hopper<scalar_approximations>,
     "those that the chip approximates: 4096 rows, every f16 and bf16, a million f32"},
    {"warp_mma", hopper<matrix_products>,
     "every mma.sync and movmatrix, the fragments of 128 warps each, weighted and directed"},
    {"statements", hopper<statements>,
     "atomics, counted stores and reductions, barriers, lanes, fragments: PTX on two CTAs", traps},
    {"launch", hopper<launches>,
     "instructions of the cluster on one CTA, launched with and without naming a cluster", traps},
    {"edge", hopper<tile_edges>, "tiles, rows and maps that are forbidden, or at open limits",
     traps},
    {"bulk_edge", hopper<bulk_edges>, "sizes, addresses and masks that are forbidden", traps},
    {"mbarrier_edge", hopper<mbarrier_edges>, "sequences beyond what PTX allows", traps},
    {"tcgen05_mma", tcgen05_mmas,
     "every opcode of the target, each with several descriptors, tiles and options; also what is "
     "legal "
     "but unmodelled"},
    {"tcgen05_ldst", tcgen05_registers, "every shape, count and packing of ld, st and ld.red"},
    {"tcgen05_cp", tcgen05_copies, "every form, every swizzle"},
    {"tcgen05_shift", tcgen05_shifts, "every lane group"},
    {"tcgen05_alloc", tcgen05_allocations,
     "sequences of allocations, some of which ask for more than there is"},
};

}  // namespace

std::span<const SuiteInfo> suites() { return all; }

std::vector<Case> draw_suite(std::string_view name, std::uint64_t seed, Target target) {
  std::vector<std::string_view> names;
  for (const SuiteInfo& suite : all) {
    if (suite.name == name) return suite.draw(seed, target);
    names.push_back(suite.name);
  }
  throw_unknown("suite", name, names);
}

}  // namespace tcq::oracle
