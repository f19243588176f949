// Recordings of real hardware: the cases, the files they live in, and their comparison with the
// simulator.
//
// A case is one wgmma: the instruction, how its inputs are drawn (a pure function of a seed) and
// the D bits a device returned. Inputs are not stored but their hash is, so a change of the
// generator cannot pass for a change of the hardware. Files: container.h; only tools/record writes
// them. Directed dot products are a second, textual kind of file (directed.h), asynchronous copies
// a third (async_case.h), tcgen05 a fourth (tcgen05_case.h). What the suites of cases are: suites.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/recording/container.h"
#include "sim/machine/wgmma.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::oracle {

// How a case's shared memory and registers are filled.
enum class Content : std::uint8_t {
  Mixture,      // operands drawn by sim/num/inputs/mixture.h, stored where the descriptors say
  RandomImage,  // all memory and registers random, in a range where every element counts
};

// Which outputs a case keeps.
enum class Keep : std::uint8_t {
  All,
  Diagonal,  // one per row of A and per column of B: D[i % 64][i % n] for i in [0, max(64, n))
  Trap,      // none: the device refused to execute the case (illegal address)
};

struct Case {
  wgmma::Instruction instruction;
  Content content = Content::Mixture;
  MixtureClass mixture = MixtureClass::Cluster;
  Keep keep = Keep::All;
  std::uint32_t shared_bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t input_hash = 0;
  std::vector<std::uint32_t> outputs;  // kept_outputs() words, one per element
};

// The inputs of a case. Faults of the simulator never arise here; descriptors may point anywhere.
wgmma::State build_state(const Case& c);
std::uint64_t hash_inputs(const wgmma::State& state);

// The elements a case keeps, in the order of its outputs.
std::vector<wgmma::Element> kept_elements(const Case& c);
// The kept elements of D out of the registers.
std::vector<std::uint32_t> kept_outputs(const Case& c, const wgmma::State& state);

struct Recording {
  Header header;
  std::vector<Case> cases;
};

std::string serialize(const Recording& recording);
Recording parse_recording(std::string_view bytes);

// The whole file, or BadFile.
std::string read_file(const std::string& path);
// Through a temporary file beside it, renamed at the end: nobody ever sees half a file.
void write_file(const std::string& path, std::string_view bytes);

struct Comparison {
  std::size_t cases = 0;
  std::size_t outputs = 0;
  std::size_t differing_outputs = 0;
  std::size_t differing_bits = 0;
  std::string first_mismatch;  // empty if none: instruction, element, thread, register, got, want
  std::size_t unmodelled = 0;  // cases that were not compared, beside `cases`
  std::string first_unmodelled = {};  // and why the first was not
};

// Runs the simulator on every case (or only on case `only`, if not negative). Throws BadFile if a
// case's inputs do not have the recorded hash.
Comparison compare(const Recording& recording, std::int64_t only = -1);

// `tcq verify FILES...`: one row per file, first mismatch with a rerun command, and what was not
// compared. `words` are paths and possibly case=N. Unmodelled if no case of a file was compared.
Status verify(std::span<const std::string> words, const Options& options, std::FILE* out,
              std::FILE* err);

}  // namespace tcq::oracle
