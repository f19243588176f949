// Registers of tcgen05.ld and tcgen05.st as the fragment verbs see them: cell of Tensor Memory <->
// thread and register.
//
// A load here is one by a warp of each quarter of the lanes, as a warpgroup does it; the map of one
// warp is sim/isa/tcgen05/fragment.h. Example: .16x256b.x8 at address 0: tmem_lane 66, tmem_column
// 23 is thread 75, register 9.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/table.h"
#include "oracle/map/equation_text.h"
#include "sim/isa/tcgen05/fragment.h"

namespace tcq::oracle {

// `at` is the address of warp 0's load; the others add their lanes.
struct TmemLoad {
  tcgen05::Fragment fragment;
  tcgen05::Cell at = {0, 0};
};

// A place in the registers of a warpgroup.
struct RegisterSlot {
  int thread;
  int reg;
  int half;  // 1 only if the load packs
};

// Every slot that holds the cell: one, or two where the runs of .16x32bx2 overlap.
std::vector<RegisterSlot> slots_of(const TmemLoad& load, tcgen05::Cell cell);

// The cell of a slot, lanes and columns from (0, 0).
tcgen05::Cell cell_of(const TmemLoad& load, RegisterSlot slot);

// "thread 77, register 10" or "thread 77, register 10, half 1".
std::string slot_name(const TmemLoad& load, RegisterSlot slot);

// The names of all slots that hold the cell, or "" if no warp of the load reads it.
std::string register_text(const TmemLoad& load, tcgen05::Cell cell);
std::string register_json(const TmemLoad& load, tcgen05::Cell cell);

// "thread 69, register 10 = tmem_lane 69, tmem_column 10"; thread counts in the warpgroup.
std::string cell_text(const TmemLoad& load, int thread, int reg);
std::string cell_json(const TmemLoad& load, int thread, int reg);

// thread,register,half,tmem_lane,tmem_column, by threads or by registers.
Table list_of(const TmemLoad& load, bool by_registers);

// Threads and registers, cells "lane:column"; or lanes and columns, cells "thread:register", "-"
// where nothing is read.
Table slot_grid(const TmemLoad& load);
Table cell_grid(const TmemLoad& load);

// Lane expressions of one warp, relative to the address.
EquationLines equation_of(const tcgen05::Fragment& fragment);

}  // namespace tcq::oracle
