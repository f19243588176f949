// What a kernel of lanes that meet is found to be: what ended it, and what is remembered beside.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/run/ptx_run.h"

namespace tcq::tests {

struct Found {
  Fault fault = Fault::None;
  std::vector<Fault> beside;  // what is remembered, not what ends it
  machine::Finding finding;
  friend bool operator==(const Found& found, Fault fault) {
    return found.fault == fault && found.beside.empty();
  }
};
inline void PrintTo(const Found& found, std::ostream* out) {
  *out << info(found.fault).name;
  for (const Fault f : found.beside) *out << ", beside it " << info(f).name;
}

inline Found run_of(const std::string& text, const Shape& shape) {
  PtxRun run(text);
  run.pass(run.array<std::uint32_t>(1024));
  Found found;
  found.fault = run.go(shape);
  for (const machine::Finding& f : run.report().suspicions) found.beside.push_back(f.fault);
  if (run.report().finding) found.finding = *run.report().finding;
  return found;
}
// What %r6 holds at the end is used: a load whose value nobody uses races with nobody (run_unused_load_test.cc).
inline Found found_in(const std::string& body, const Shape& shape = {}) {
  return run_of(kernel("mov.u32 %r6, 0;\n" + body + "\nst.global.u32 [%rd2+1024], %r6;"), shape);
}
inline bool operator==(const Found& a, const Found& b) {
  return a.fault == b.fault && a.beside == b.beside;
}

}  // namespace tcq::tests
