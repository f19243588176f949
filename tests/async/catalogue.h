// The bug catalogue: programs that are right, each with a mutant in which one synchronising
// instruction is removed, moved or off by one.
//
// The simulator must report the named Fault for the mutant and nothing at all for the original
// (catalogue_test.cc). Rows P proxies, D descriptors, W wgmma order, B barriers and copies, R
// registers, G global memory, T tcgen05. What the mutants do on silicon: tests/vectors/provoked.txt, where it was tried.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/async/program.h"
#include "sim/isa/fault/fault.h"

namespace tcq::catalogue {

struct Entry {
  std::string_view row;     // "P1"; "B1a" and "B1b" are two mutants of one row
  std::string_view mutant;  // what was done to it
  Fault fault;              // of the mutant
  machine::Program (*make)(bool mutant);
  std::string_view says;  // a part of the diagnosis that a user needs
};

// catalogue_*.cc
std::span<const Entry> proxy_entries();
std::span<const Entry> tensormap_entries();
std::span<const Entry> descriptor_entries();
std::span<const Entry> wgmma_entries();
std::span<const Entry> mbarrier_entries();
std::span<const Entry> cluster_entries();
std::span<const Entry> register_entries();
std::span<const Entry> global_entries();
std::span<const Entry> tcgen05_entries();
std::span<const Entry> tcgen05_pair_entries();

std::vector<Entry> all_entries();

}  // namespace tcq::catalogue
