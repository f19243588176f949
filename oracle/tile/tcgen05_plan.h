// A plan for one GEMM tile by tcgen05: shared memory, descriptors, Tensor Memory, scale factors and
// the tcgen05.cp that bring them there, K step by K step.
//
// The tile is M x N of one instruction (over both CTAs of a pair) and any multiple of its K. Regions
// of shared memory follow each other from `start` on, those of Tensor Memory from column 0 on; where
// the hardware allocates, all columns move by the same. Scale factors lie in memory as atoms of 512
// bytes (scale_layout.h): atom of mn after atom of mn, each with all groups of K; for a split SFB
// both halves of a group of K side by side, as one cp of 64 rows needs. Example: mxf8f6f4, 128 x 128
// x 128: D in columns [0, 128), SFA [128, 132), SFB [132, 136), ids 0 to 3.
//
// Everything follows from sim/isa; tests/oracle/tcgen05_plan_test.cc executes the copies and compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/tile/tcgen05_tiling.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {

struct SmemRegion {
  std::string name;
  std::uint32_t start;
  std::uint32_t bytes;
};

struct TmemRegion {
  std::string name;
  int column;
  int columns;
};

// One tcgen05.cp: 512 bytes, or 1024 for a split buffer, of scale factors.
struct ScaleCopy {
  std::string name;  // "SFA"
  tcgen05::CpShape shape;
  tcgen05::SmemDescriptor source;
  int tmem_column;
};

// Scale factors of one operand in one CTA.
struct ScalePlan {
  tcgen05::ScaleBuffer buffer;
  int factors;  // along K, of the whole tile
  std::uint32_t start;
  int tmem_column;
};

struct PlanStep {
  int k;
  std::optional<tcgen05::SmemDescriptor> a;  // none: in Tensor Memory
  tcgen05::SmemDescriptor b;
  tcgen05::InstructionDescriptor idesc;
  int a_column = 0;  // of A in Tensor Memory
  int metadata_column = 0;
  int scale_a_column = 0;
  int scale_b_column = 0;
};

struct TilePlan {
  Tcgen05Instruction instruction;
  int k;  // of the tile
  std::optional<Tcgen05Tile> a;
  Tcgen05Tile b;
  std::vector<SmemRegion> shared;
  std::vector<TmemRegion> tmem;
  int columns;     // used
  int allocation;  // the power of two that tcgen05.alloc needs
  std::optional<ScalePlan> sfa;
  std::optional<ScalePlan> sfb;
  std::vector<ScaleCopy> copies;
  std::vector<PlanStep> steps;
};

// Reads swizzle= (swizzle_a=, swizzle_b=), order= and start=. Throws FaultError if the tile does not
// fit, UnmodelledError for K = 96 and for operands whose place in Tensor Memory nobody describes.
TilePlan plan_tile(const Tcgen05Instruction& instruction, int k, const Keys& keys);

// Where a factor of the tile lies in the shared memory of its CTA, as the copies expect it.
std::uint32_t scale_source_byte(const ScalePlan& plan, tcgen05::ScaleFactor factor);

}  // namespace tcq::oracle
