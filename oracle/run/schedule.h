// One execution of a launch as a JSON object, for `tcq run --replay`: of which run it is, and all that was chosen in
// it.
//
//   {"version":2,"kernel":"k","text":"9ae0..","launch":"grid 2,1,1 ..","arguments":"77c1..","sample":0,"cluster":1,
//    "program":"7c1f..","limit":1000000000,"execution":{"timing":"latest","steps":"w0@0 w1@9=0 c3.2>0"},
//    "checksum":"29d8.."}
//
// Decides the keys (docs/run.md has their meanings), and what a file must say to be believed: its checksum is that of
// the object without it. The words of `steps`: oracle/diagnosis/schedule_text.h. Following one: clusters.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oracle/answer/value.h"
#include "oracle/run/memory.h"
#include "sim/async/schedule.h"
#include "sim/run/launch.h"

namespace tcq::oracle::run {

// What is run: equal for equal files, launches and arguments, wherever the files lie.
struct Identity {
  std::string kernel;
  std::string text;       // digest of the file of PTX
  std::string launch;     // in words
  std::string arguments;  // digest of parameters, tensor maps and all of global memory
  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity identity_of(std::string_view ptx, std::string_view kernel, const tcq::run::Launch& launch,
                     const Memory& memory);

struct StoredSchedule {
  Identity of;
  std::uint64_t sample = 0;  // of --sample: which clusters ran before this one
  std::uint64_t cluster = 0;
  machine::Schedule schedule;
  friend bool operator==(const StoredSchedule&, const StoredSchedule&) = default;
};

Value value_of(const StoredSchedule& stored);

// The schedule of a text: an answer of `tcq run --json`, of whose findings `number` counts from 1, or the schedule
// alone. Throws UsageError with a sentence that begins with `path`.
StoredSchedule parse_stored(std::string_view text, std::size_t number, const std::string& path);

// FILE or FILE:NUMBER, as it stands behind --replay.
StoredSchedule read_stored(const std::string& word);

// Throws UsageError if the schedule is of another run, and says in what they differ.
void demand_same(const Identity& asked, const StoredSchedule& stored);

}  // namespace tcq::oracle::run
