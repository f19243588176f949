// How fast PTX is read and decoded: bytes_per_second of a file of five megabytes made of the tests' own kernels.
//
// Wanted on one core: five megabytes in less than 0.3 s, that is 17 MB/s.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <string>

#include "sim/ptx/decode.h"
#include "tests/support/source_tree.h"

namespace tcq::ptx {
namespace {

// Copies of a file behind one another, as one file; names of functions may repeat.
const std::string& text() {
  static const std::string made = [] {
    std::ifstream in(source_tree() / "tests/ptx/data/idioms.ptx", std::ios::binary);
    std::stringstream one;
    one << in.rdbuf();
    std::string all;
    while (all.size() < 5'000'000) all += one.str();
    return all;
  }();
  return made;
}

void reading(benchmark::State& state) {
  for (auto _ : state) {
    const Unit unit = read(text());
    if (!unit.diagnostics.empty()) state.SkipWithError(sentence(unit.diagnostics[0]).c_str());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}
BENCHMARK(reading)->Unit(benchmark::kMillisecond);

void reading_and_decoding(benchmark::State& state) {
  for (auto _ : state) {
    const Program program = load(text());
    if (program.unknown != 0) state.SkipWithError("not understood");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text().size()));
}
BENCHMARK(reading_and_decoding)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tcq::ptx

BENCHMARK_MAIN();
