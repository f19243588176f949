// Tensor Memory as a step meets it: who issues for which CTAs, where an operand lies, whether the columns
// are allocated and the access is ordered; and the registers that a ld in flight fills.
//
// Which pairs are ordered is tcgen05_order.h, who touched what tensor_memory.h; the instructions are
// instructions/tcgen05.h and instructions/tmem.h, their data tmem_data.h.
//
// Source: PTX ISA 9.2, 9.7.16.6, 9.7.16.7.1.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/async/step.h"
#include "sim/async/tmem_data.h"

namespace tcq::machine {

// --- who -------------------------------------------------------------------------------------------

bool one_lane_issues_tcgen05(Step& s);
// The CTAs of an operation, and those of what two CTAs do together; empty: a Fault.
std::vector<int> ctas_of(Step& s, int cta_group);
std::vector<int> ctas_that_meet(Step& s, int cta_group);
Tcgen05Thread& tcgen05_thread(Step& s, int cta_group);

// --- where -----------------------------------------------------------------------------------------

// The same in all lanes that take part.
bool resolve(Step& s, const TmemOperand& operand, tcgen05::TmemAddress& address);
// An alloc is synchronous: whoever has seen an arrival behind it, also a relaxed one, knows of it.
bool knows_alloc(const Step& s, const TmemAllocated& allocated);
void fail_at_cells(Step& s, Fault fault, int cta, const TmemCells& cells, const Place& earlier = {},
                   const Place& hint = {}, std::int64_t number = 0);
TmemCells cells_of(const TmemRegion& region);

template <class Visit>
void for_each_cell(const TmemRegion& region, Visit visit) {
  for (int column = region.first_column; column < region.first_column + region.columns; ++column)
    for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
      if ((region.groups >> (lane / tmem_group_lanes) & 1) != 0) visit(tcgen05::Cell{lane, column});
}

// --- accesses and their order ----------------------------------------------------------------------

TmemAccess tmem_access(const Step& s, TmemAction action, bool writes);
TmemAccess thread_access(const Step& s, TmemAction action, bool writes,
                         const Tcgen05Thread& thread);
TmemAccess transfer_access(Step& s, TmemAction action, TmemTransfers& transfers);
// False: a Fault. `before`: the operations whose data moves first.
bool touch_tmem(Step& s, int cta, const TmemRegion& region, const TmemAccess& access,
                std::vector<std::uint32_t>& before);
// A read of a region in which a cell is unwritten: the finding names the region.
void note_unwritten(Step& s, int cta, const TmemRegion& region);
template <class IsIgnored>
void check_written(Step& s, int cta, const TmemRegion& region, IsIgnored is_ignored) {
  const TensorMemory& memory = s.c.memory(cta);
  bool written = true;
  for_each_cell(region, [&](tcgen05::Cell cell) {
    written = written && (memory.is_written(cell) || is_ignored(cell));
  });
  if (!written) note_unwritten(s, cta, region);
}
inline void check_written(Step& s, int cta, const TmemRegion& region) {
  check_written(s, cta, region, [](tcgen05::Cell) { return false; });
}

// Before anything else touches registers: what a ld in flight fills must be there.
void use_registers(Step& s, RegisterRange range, bool reads);

// The data of the instruction is to move from now on.
void start_operation(Step& s, Tcgen05Operation operation, MoveTmem* move);
template <class I>
void start_operation(Step& s, const I&, Tcgen05Operation operation) {
  start_operation(s, std::move(operation), move_tmem_of<I>);
}

}  // namespace tcq::machine
