// The bits of a word that belong to no field: every maximal run of them, as a Field.
//
// The printer names ignored bits that are set, the fuzzer sets them. Example: the wgmma matrix
// descriptor (sim/isa/wgmma/descriptor.h) has a start address in its low bits and LBO further up; the run between
// the two is the first gap.
//
// Inferred: from the Format alone; no bit position is written here.
#pragma once

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"

namespace tcq {

// Calls visit(Field<low, width>{}) for every gap of fields First, Rest... above bit End of a word of
// Bits bits.
template <int Bits, int End, class Visit>
constexpr void visit_gaps(Visit& visit) {
  if constexpr (End < Bits) visit(Field<End, Bits - End>{});
}

template <int Bits, int End, class First, class... Rest, class Visit>
constexpr void visit_gaps(Visit& visit) {
  if constexpr (End < First::low) visit(Field<End, First::low - End>{});
  visit_gaps<Bits, First::low + First::width, Rest...>(visit);
}

// Lowest bits first. Example: for_each_gap(wgmma::MatrixDescriptorFormat{}, print).
template <int Bits = 64, class... Fields, class Visit>
constexpr void for_each_gap(Format<Fields...>, Visit&& visit) {
  visit_gaps<Bits, 0, Fields...>(visit);
}

}  // namespace tcq
