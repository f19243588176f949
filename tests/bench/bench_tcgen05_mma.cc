// Speed of multiplying one tcgen05 tile; prints, never gates. The demand: a block-scaled
// m128n256k64 in less than 20 ms on one core.
#include <benchmark/benchmark.h>

#include <string>

#include "sim/machine/tcgen05_mma.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::tcgen05 {
namespace {

constexpr int m = 128;
constexpr int n = 256;

void multiply_tile(benchmark::State& state, DotForm form) {
  form.idesc.m = m;
  form.idesc.n = n;
  form.accumulate = false;  // else D runs away to infinity, which is quickly multiplied
  Tile drawn = draw_tile(form, MixtureClass::Cluster, 1, m, n);
  // The mixture's special scale factors would cut the work short.
  const std::uint8_t near_one = form.idesc.scale_type == ScaleType::ue4m3 ? 0x3b : 0x80;
  for (std::uint8_t& byte : drawn.scales_a) byte = near_one;
  for (std::uint8_t& byte : drawn.scales_b) byte = near_one;
  const int k = drawn.k;
  const MmaTile tile{form, drawn.a, drawn.b, drawn.scales_a, drawn.scales_b, {}};
  std::vector<std::uint32_t> d = drawn.c;
  for (auto _ : state) {
    Fault fault = multiply(tile, d);
    benchmark::DoNotOptimize(fault);
  }
  state.SetItemsProcessed(state.iterations() * m * n * k);
}

void register_forms() {
  for (const DotForm& form : all_forms()) {
    if (form.idesc.a != form.idesc.b) continue;
    benchmark::RegisterBenchmark(("multiply_tile/" + text(form)).c_str(), multiply_tile, form)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace tcq::tcgen05

int main(int argc, char** argv) {
  tcq::tcgen05::register_forms();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
