// A plan for Tensor Memory: allocations, parts of them and deallocations in the order of time ->
// where everything lies, what is free, and every Fault.
//
// Columns only: each allocation has all lanes. A step with a Fault changes nothing, and the plan goes
// on. Where the hardware places an allocation is not documented: without a start the first free
// columns are taken. Example: allocations of 256 and 128 columns, then the first is freed: 384 are
// free in two pieces of 256 and 128.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"

namespace tcq::tcgen05 {

struct TmemStep {
  enum class Action { Allocate, Part, Free };
  Action action;
  std::string allocation;         // a name that lives until it is freed
  std::string part = {};          // Part
  std::optional<int> start = {};  // Allocate: what the program was given; Part: from its allocation
  int columns = 0;                // Allocate, Part
};

// Columns [start, start + columns).
struct TmemColumns {
  int start;
  int columns;
  int end() const { return start + columns; }
  friend bool operator==(const TmemColumns&, const TmemColumns&) = default;
};

struct TmemPart {
  std::string name;
  TmemColumns at;  // counted from column 0 of Tensor Memory
};

struct TmemAllocation {
  std::string name;
  TmemColumns at;
  std::vector<TmemPart> parts;
  bool freed = false;
};

struct TmemFinding {
  std::size_t step;
  Fault fault;
};

struct TmemPlan {
  std::vector<TmemAllocation> allocations;  // in the order of time, freed ones included
  std::vector<TmemFinding> findings;
  int peak_columns = 0;
  int next_at_most = 0;  // columns that the next allocation may ask for and get; 0: none
};

TmemPlan run_plan(std::span<const TmemStep> steps);

// Runs of free columns, lowest first.
std::vector<TmemColumns> free_columns(const TmemPlan& plan);

}  // namespace tcq::tcgen05
