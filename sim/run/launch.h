// A launch of a kernel as a program of the machine: one cluster of its grid.
//
// Requires of the caller: parameters as wide as the kernel's, pointers among them into global_window, a tensor map
// for every parameter that is used as one. What explore() says of the program is said of the kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/async/program.h"
#include "sim/run/kernel.h"

namespace tcq::run {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct MapPlace {
  std::uint64_t address = 0;  // generic: of a parameter, or of global memory
  int map = 0;                // of the machine's program
};

struct Launch {
  Dim3 grid, block, cluster;
  // It names one, be it of one CTA; make_program() adds those that need not be named.
  bool has_cluster = false;
  std::uint32_t dynamic_shared = 0;
  bool whole_grid = false;      // all CTAs at once: may_run_whole()
  std::uint32_t registers = 0;  // per thread; 0: as many as fit, where the kernel has a setmaxnreg
  std::vector<std::uint8_t> parameters;
  // Of global memory, ascending: bytes between arrays, which are nobody's.
  std::vector<machine::ByteRange> gaps;
  std::vector<MapPlace> map_places;
  std::vector<tma::TensorMap> maps;  // addresses are offsets into global memory
  std::vector<std::string> map_names;
  // Clusters that the one which is run may be handed by try_cancel, in this order: pending_clusters.h.
  std::vector<std::uint64_t> pending;
  // Of each instruction of the kernel whether some thread has executed it; null: nobody asks.
  std::shared_ptr<std::vector<bool>> executed;
};

// As the kernel's .reqnctapercluster demands it; none: whatever the launch says.
// Source: PTX ISA 9.2, 11.4.2 ".maxntid", 11.4.3 ".reqntid", 11.7 (.reqnctapercluster, .explicitcluster, .maxclusterrank)
std::optional<Dim3> required_cluster(const Kernel& kernel);

// Why a device refuses the launch, by the kernel's directives; empty: it does not.
std::string refusal_of(const Kernel& kernel, const Launch& launch);

// Do so many bytes of global memory from `offset` on meet none of the launch's gaps?
bool are_somebodys(const Launch& launch, std::uint64_t offset, std::uint64_t bytes);

// Of the devices that the kernel is for.
tma::Capability capability_of(const Kernel& kernel);

// Grids that wait as a whole (cooperative launches) run as one program, whose CTAs are the grid's: without clusters, and of
// no more CTAs than a cluster may have. Others of them are not modelled.
bool may_run_whole(const Kernel& kernel, const Launch& launch);

// Whether the CTAs of an ordinary grid can be run at once, so that what they do to one another's bytes is seen: several of
// them, no more than a cluster may have, none of whose instructions names its own cluster (in the program it is the grid).
bool may_run_together(const Kernel& kernel, const Launch& launch);

// The first CTA of a cluster of the grid, by its number in [0, clusters()).
std::uint64_t clusters(const Launch& launch);

// Global memory begins with the kernel's own variables.
machine::Program make_program(std::shared_ptr<const Kernel> kernel, Launch launch,
                              std::uint64_t cluster, std::vector<std::uint8_t> global);
// The clusters of a grid, one after the other, on one memory: none costs by its size.
machine::Program make_program(std::shared_ptr<const Kernel> kernel, Launch launch,
                              std::uint64_t cluster, std::shared_ptr<machine::LaunchMemory> memory);

}  // namespace tcq::run
