// D of a CTA whose warpgroups share a tile: which register of which of its threads holds element (row, col).
//
// Decides how warpgroups and instructions tile D: as CuTe's TiledMMA does, warpgroups side by side first (along M,
// then along N), each with instructions of 64 x N; the tile repeats that, and a thread has the registers of its
// instructions one after the other, those along M first. Where an element lies inside one instruction is
// fragment.h. Example: 128 x 256 of m64n128 by two warpgroups along M has D[100][140] in warpgroup 1 (row 36 of its
// instruction) and the second instruction along N (column 12): thread 210, register 64 + 4.
//
// Source: CuTe, cute/atom/mma_atom.hpp (TiledMMA), partition_C and make_fragment_C.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

struct CtaTile {
  Type d;
  int n;                   // of an instruction
  int rows, cols;          // of the tile
  int groups_m, groups_n;  // warpgroups along each
};

HOST_DEVICE constexpr bool exists(const CtaTile& t) {
  return t.groups_m > 0 && t.groups_n > 0 && t.rows > 0 && t.cols > 0 &&
         t.rows % (m * t.groups_m) == 0 && t.cols % (t.n * t.groups_n) == 0;
}

HOST_DEVICE constexpr int threads(const CtaTile& t) {
  return threads_per_warpgroup * t.groups_m * t.groups_n;
}
// Instructions of each warpgroup.
HOST_DEVICE constexpr int repeats_m(const CtaTile& t) { return t.rows / (m * t.groups_m); }
HOST_DEVICE constexpr int repeats_n(const CtaTile& t) { return t.cols / (t.n * t.groups_n); }
HOST_DEVICE constexpr int registers(const CtaTile& t) {
  return accumulator_registers(t.d, t.n) * repeats_m(t) * repeats_n(t);
}

// Shape: row [0,rows), col [0,cols) <-> thread [0,threads), reg [0,registers), part.
HOST_DEVICE constexpr Slot slot(const CtaTile& t, Element e) {
  const int unit_m = e.row / m;
  const int unit_n = e.col / t.n;
  const Slot inside = accumulator_slot(t.d, {e.row % m, e.col % t.n});
  const int group = unit_m % t.groups_m + t.groups_m * (unit_n % t.groups_n);
  const int repeat = unit_m / t.groups_m + repeats_m(t) * (unit_n / t.groups_n);
  return {threads_per_warpgroup * group + inside.thread,
          accumulator_registers(t.d, t.n) * repeat + inside.reg, inside.part};
}

HOST_DEVICE constexpr Element element(const CtaTile& t, Slot s) {
  const int per_instruction = accumulator_registers(t.d, t.n);
  const int group = s.thread / threads_per_warpgroup;
  const int repeat = s.reg / per_instruction;
  const Element inside =
      accumulator_element(t.d, {s.thread % threads_per_warpgroup, s.reg % per_instruction, s.part});
  const int unit_m = group % t.groups_m + t.groups_m * (repeat % repeats_m(t));
  const int unit_n = group / t.groups_m + t.groups_n * (repeat / repeats_m(t));
  return {m * unit_m + inside.row, t.n * unit_n + inside.col};
}

}  // namespace tcq::wgmma
