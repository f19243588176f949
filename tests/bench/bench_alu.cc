// How many warp-instructions of sim/alu one core computes in a second: all 32 lanes, and half of them.
//
// Wanted of the common ones on one core: 30 M per second. Nothing here gates a change.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>

#include "sim/alu/alu.h"

namespace tcq::alu {
namespace {

struct Cells {
  alignas(64) std::array<std::uint64_t, 32> words;
};

void operation_rate(benchmark::State& state, const char* text, std::uint32_t lanes) {
  const Operation operation = alu::operation(ptx::read_form(text));
  std::array<Cells, 5> in;
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::size_t lane = 0; lane < 32; ++lane)
      in[i].words[lane] = 0x3f80'0000'3f81'0000 + 77 * lane + i;
  std::array<Cells, 2> out = {};
  const void* const sources[] = {&in[0], &in[1], &in[2], &in[3], &in[4]};
  void* const targets[] = {&out[0], &out[1]};
  std::uint32_t carry = 0;
  for (auto _ : state) {
    operation.evaluate({targets, sources, lanes, &carry, 1, 2});
    benchmark::ClobberMemory();
  }
  state.counters["instructions"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

constexpr std::uint32_t every_other = 0x55555555;
constexpr const char* forms[] = {
    "add.s32",           "mad.lo.s32",   "shl.b32",    "lop3.b32",      "setp.lt.s32",
    "selp.b32",          "add.s64",      "add.f32",    "fma.rn.f32",    "fma.rm.f32",
    "mul.ftz.f32",       "max.f32",      "div.rn.f32", "prmt.b32",      "cvt.u64.u32",
    "cvt.rn.bf16x2.f32", "cvt.f32.bf16", "add.f16x2",  "fma.rn.bf16x2", "ex2.approx.ftz.f32",
    "shfl.sync.bfly.b32"};

const int registered = [] {
  for (const char* text : forms) {
    benchmark::RegisterBenchmark(text, operation_rate, text, 0xffffffff);
    benchmark::RegisterBenchmark((std::string(text) + "/half").c_str(), operation_rate, text,
                                 every_other);
  }
  return 0;
}();

}  // namespace
}  // namespace tcq::alu

BENCHMARK_MAIN();
