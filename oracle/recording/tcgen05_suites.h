// The suites of tcgen05 cases that tools/record_tcgen05 runs on a device.
//
// mma: every opcode of the target, each with several instruction descriptors, tiles and optional
// operands; what is legal but unmodelled is drawn too, as a recording is what would settle it.
// ldst: every shape, count and packing of ld, st and ld.red. cp: every form, every swizzle. shift:
// every lane group. alloc: sequences of allocations, some of which ask for more than there is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "oracle/recording/tcgen05_case.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

std::vector<std::string_view> tcgen05_suite_names();

// A pure function of its arguments. Throws UsageError for an unknown name.
std::vector<Tcgen05Case> tcgen05_suite(std::string_view name, std::uint64_t seed, Target target);

}  // namespace tcq::oracle
