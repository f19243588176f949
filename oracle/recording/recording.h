// Recordings of real hardware: the files that cases live in, and their comparison with the
// simulator.
//
// One case is one experiment (experiment.h). Two kinds of file hold them: wgmmas ("tcq recording"),
// and everything else ("tcq async recording"), where each case begins with the number of its kind.
// Framing, checksums: container.h. Only tools/record writes them. Directed dot products are a textual
// kind of file (directed.h), litmus counts another (provoked.h). The format of a .tcqv, byte by byte:
// tests/vectors/README.md.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/recording/container.h"
#include "oracle/recording/experiment.h"

namespace tcq::oracle {

struct Recording {
  Header header;
  std::vector<Case> cases;  // all wgmmas, or none
};

// A file of wgmmas knows outputs and traps, no other outcome.
bool can_hold(const Case& c, Outcome outcome);
// Requires: can_hold() each case and its outcome.
std::string serialize(const Recording& recording);
// Throws BadFile.
Recording parse_recording(std::string_view bytes);

struct Comparison {
  std::size_t cases = 0;
  std::size_t outputs = 0;
  std::size_t differing_outputs = 0;  // where only a hash is kept, all of its KiB
  std::size_t differing_bits = 0;
  std::size_t first_case = 0;         // the first that differs; meaningless if none does
  std::string first_mismatch = {};    // instruction, place, what both say; empty if none
  std::size_t unmodelled = 0;         // cases that were not compared, beside `cases`
  std::string first_unmodelled = {};  // and why the first was not

  // A difference in `outputs` outputs; `sentence` is called for the first only: there may be millions.
  template <class Sentence>
  void add(std::size_t which, std::size_t count, std::size_t bits, Sentence&& sentence) {
    differing_outputs += count;
    differing_bits += bits;
    if (!first_mismatch.empty()) return;
    first_case = which;
    first_mismatch = sentence();
  }
};

// Adds one case, the `index`th of its file. Throws BadFile if its inputs do not have the recorded
// hash, or its output another size than the experiment's.
void compare(const Case& c, std::size_t index, Comparison& total);

// Runs the simulator on every case, or on case `only` if that is not negative.
Comparison compare(const Recording& recording, std::int64_t only = -1);

// `tcq verify FILES...`: one row per file, first mismatch with a rerun command, and what was not
// compared. `words` are paths and possibly case=N. Unmodelled if no case of a file was compared.
Status verify(std::span<const std::string> words, const Options& options, std::FILE* out,
              std::FILE* err);

}  // namespace tcq::oracle
