// How fast: queries of sim/isa, the scalar dot model per kind, one whole wgmma, the oracle's
// answers. items_per_second counts queries, or multiply-accumulates where the name says mac.
//
// Wanted on one core: queries under 20 ns, dot at least 20 M MAC/s, 2 * 10^5 oracle answers per
// second. Nothing here gates a change.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/machine/wgmma.h"
#include "sim/num/dot.h"
#include "sim/num/inputs/mixture.h"

namespace tcq {
namespace {

// --- queries of sim/isa --------------------------------------------------------------------------

void fragment_element(benchmark::State& state) {
  int thread = 0;
  int reg = 0;
  for (auto _ : state) {
    wgmma::Element e = wgmma::accumulator_element(Type::f32, {thread, reg});
    benchmark::DoNotOptimize(e);
    thread = (thread + 1) % 128;
    reg = (reg + 3) % 128;
    benchmark::DoNotOptimize(thread);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(fragment_element);

void fragment_slot(benchmark::State& state) {
  int row = 0;
  int col = 0;
  for (auto _ : state) {
    wgmma::Slot s = wgmma::accumulator_slot(Type::f16, {row, col});
    benchmark::DoNotOptimize(s);
    row = (row + 1) % 64;
    col = (col + 3) % 256;
    benchmark::DoNotOptimize(row);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(fragment_slot);

void descriptor_decode_and_address(benchmark::State& state) {
  std::uint64_t word = 0x4000004000010040;
  std::uint32_t mn = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(word);
    std::uint32_t address = element_address(wgmma::decode(word), Major::K, Type::bf16, {mn, 5});
    benchmark::DoNotOptimize(address);
    mn = (mn + 1) % 64;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(descriptor_decode_and_address);

// --- the scalar dot model ------------------------------------------------------------------------

struct Operands {
  std::vector<std::uint32_t> a, b, c;
};

constexpr int outputs = 256;

Operands draw_operands(const DotTypes& types, int k) {
  Operands drawn;
  const Mixture mixture(types, k, MixtureClass::Cluster, 1);
  for (int i = 0; i < outputs; ++i) {
    for (int j = 0; j < k; ++j) {
      drawn.a.push_back(mixture.a(i, j));
      drawn.b.push_back(mixture.b(i, j));
    }
    drawn.c.push_back(mixture.c(i, i));
  }
  return drawn;
}

void dot_mac(benchmark::State& state, DotTypes types) {
  const int k = wgmma::stored_k(types.a);
  const Operands in = draw_operands(types, k);
  for (auto _ : state) {
    for (int i = 0; i < outputs; ++i) {
      const auto at = static_cast<std::size_t>(i * k);
      std::uint32_t d = dot(types, &in.a[at], &in.b[at], k, in.c[static_cast<std::size_t>(i)]);
      benchmark::DoNotOptimize(d);
    }
  }
  state.SetItemsProcessed(state.iterations() * outputs * k);
}

void register_dots() {
  for (int d = 0; d < type_count; ++d)
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b) {
        const DotTypes t{static_cast<Type>(d), static_cast<Type>(a), static_cast<Type>(b)};
        if (!wgmma::types_exist(t.d, t.a, t.b)) continue;
        const std::string title =
            std::string("dot_mac/") + name(t.d) + "." + name(t.a) + "." + name(t.b);
        benchmark::RegisterBenchmark(title.c_str(), dot_mac, t);
      }
}

// --- one instruction -----------------------------------------------------------------------------

void execute_mac(benchmark::State& state, wgmma::Form form) {
  wgmma::State machine{SharedMemory(1024, 65536), {}};
  std::mt19937 random(1);
  // Bits of moderate exponents for bf16, and plain random bits for everything else.
  for (std::uint32_t i = 0; i < machine.shared.size(); i += 4)
    machine.shared.store(1024 + i, static_cast<std::uint32_t>(random()) & 0xbfffbfff);
  machine.registers.d.resize(static_cast<std::size_t>(
      wgmma::threads_per_warpgroup * wgmma::accumulator_registers(form.d, form.n)));
  const wgmma::Instruction in{form, 0, 0x4000004000010040, 0x4000004000010240, false};
  for (auto _ : state) {
    Fault fault = execute(machine, in);
    benchmark::DoNotOptimize(fault);
  }
  state.SetItemsProcessed(state.iterations() * wgmma::m * form.n * wgmma::stored_k(form.a));
}
BENCHMARK_CAPTURE(execute_mac, m64n256k16_bf16, wgmma::Form{Type::f32, Type::bf16, Type::bf16, 256})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(execute_mac, m64n256k32_s8, wgmma::Form{Type::s32, Type::s8, Type::s8, 256})
    ->Unit(benchmark::kMillisecond);

// --- the oracle ----------------------------------------------------------------------------------

void ask(benchmark::State& state, std::vector<std::string_view> words) {
  const oracle::Question question{words[0], {words.begin() + 1, words.end()}, {}};
  for (auto _ : state) {
    oracle::Answer reply = oracle::answer(question);
    if (reply.status != oracle::Status::Yes) state.SkipWithError(reply.complaint.c_str());
    benchmark::DoNotOptimize(reply);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(ask, where, {"where", "wgmma.m64n24k16.f32.bf16.bf16", "D", "row=9", "col=13"});
BENCHMARK_CAPTURE(ask, what, {"what", "wgmma.m64n24k16.f32.bf16.bf16", "D", "thread=6", "reg=7"});
BENCHMARK_CAPTURE(ask, decode, {"decode", "wgmma.desc", "0x4000004000010040"});

}  // namespace
}  // namespace tcq

int main(int argc, char** argv) {
  tcq::register_dots();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
