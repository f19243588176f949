// How fast: map queries of tcgen05 in sim/isa. Wanted: under 20 ns each on one core. Nothing here
// gates a change.
#include <benchmark/benchmark.h>

#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tmem/layout.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::tcgen05 {
namespace {

// Runs `query(a, b)` with a in [0, a_count) and b in [0, b_count), both unknown to the compiler.
template <class Query>
void run(benchmark::State& state, int a_count, int b_count, Query&& query) {
  int a = 0;
  int b = 0;
  for (auto _ : state) {
    auto result = query(a, b);
    benchmark::DoNotOptimize(result);
    a = a + 1 < a_count ? a + 1 : 0;
    b = b + 3 < b_count ? b + 3 : 0;
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
  }
  state.SetItemsProcessed(state.iterations());
}

// The parameters of a map as a caller has them: run-time values.
template <class T>
T opaque(T value) {
  benchmark::DoNotOptimize(value);
  return value;
}

void d_of_element(benchmark::State& state) {
  const Accumulator d = opaque(Accumulator{static_cast<Datapath>(state.range(0)), 256});
  run(state, rows(d.datapath), 256, [&](int row, int col) { return d_cell(d, {row, col}); });
}
BENCHMARK(d_of_element)->DenseRange(0, datapath_count - 1);

void element_of_d(benchmark::State& state) {
  const Accumulator d = opaque(Accumulator{static_cast<Datapath>(state.range(0)), 256});
  run(state, tmem_lanes, columns(d), [&](int lane, int column) {
    return d_element(d, {lane, column});
  });
}
BENCHMARK(element_of_d)->DenseRange(0, datapath_count - 1);

void a_of_element(benchmark::State& state) {
  const TmemA a = opaque(TmemA{Datapath::B, Kind::f8f6f4});
  run(state, 64, 32, [&](int row, int k) { return a_place(a, {row, k}, 1); });
}
BENCHMARK(a_of_element);

void metadata_of_chunk(benchmark::State& state) {
  const TmemMetadata e = opaque(TmemMetadata{Datapath::G, Kind::f16});
  run(state, 32, 8, [&](int row, int chunk) { return metadata_place(e, {row, chunk}, 2); });
}
BENCHMARK(metadata_of_chunk);

void chunk_of_metadata(benchmark::State& state) {
  const TmemMetadata e = opaque(TmemMetadata{Datapath::G, Kind::f16});
  run(state, tmem_lanes, 8, [&](int lane, int nibble) {
    return metadata_chunk(e, {lane, 0, 4 * nibble});
  });
}
BENCHMARK(chunk_of_metadata);

void scale_in_memory(benchmark::State& state) {
  const int factors = opaque(16);
  run(state, 256, 16, [&](int mn, int s) { return scale_byte({mn, s}, factors); });
}
BENCHMARK(scale_in_memory);

void scale_in_tmem(benchmark::State& state) {
  const ScaleBuffer buffer = opaque(scale_buffer(256, true));
  run(state, 256, 16, [&](int mn, int s) { return scale_place(buffer, {mn, s}, 1); });
}
BENCHMARK(scale_in_tmem);

void factor_of_cell(benchmark::State& state) {
  const ScaleBuffer buffer = opaque(scale_buffer(256, true));
  run(state, tmem_lanes, 32, [&](int lane, int column) {
    return scale_factor(buffer, {lane, column, 2});
  });
}
BENCHMARK(factor_of_cell);

void cell_of_slot(benchmark::State& state) {
  const Fragment f = opaque(Fragment{static_cast<LdShape>(state.range(0)), 16, true, 32});
  run(state, 32, registers(f), [&](int lane, int reg) { return fragment_cell(f, {lane, reg, 1}); });
}
BENCHMARK(cell_of_slot)->DenseRange(0, ld_shape_count - 1);

void slot_of_cell(benchmark::State& state) {
  const Fragment f = opaque(Fragment{static_cast<LdShape>(state.range(0)), 16, true, 32});
  run(state, fragment_lanes(f.shape), footprint_columns(f), [&](int lane, int column) {
    return fragment_slot(f, {lane, column});
  });
}
BENCHMARK(slot_of_cell)->DenseRange(0, ld_shape_count - 1);

void cells_of_copied_byte(benchmark::State& state) {
  const auto shape = opaque(static_cast<CpShape>(state.range(0)));
  run(state, cp_rows(shape), 16, [&](int row, int byte) {
    return cp_place(shape, {row, byte}, 0);
  });
}
BENCHMARK(cells_of_copied_byte)->DenseRange(0, cp_shape_count - 1);

void address_of_copied_cell(benchmark::State& state) {
  const auto shape = opaque(static_cast<CpShape>(state.range(0)));
  const CpOperand source = opaque(CpOperand{1024, {Major::K, 16, 2048, 128}, {0, 4, 3}});
  run(state, tmem_lanes, 4, [&](int lane, int column) {
    return cp_address(source, cp_source(shape, {lane, column, 0}));
  });
}
BENCHMARK(address_of_copied_cell)->DenseRange(0, cp_shape_count - 1);

}  // namespace
}  // namespace tcq::tcgen05

BENCHMARK_MAIN();
