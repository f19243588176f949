// How fast compiled kernels run on the machine, with everything followed that it follows: warp-instructions per second
// of scalar code, and a whole CTA of our own GEMM as nvcc compiles it (without nvcc that one is left out).
//
// Wanted on one core: 20 M per second of scalar code, 2 M of a GEMM whose wgmmas are known; 128 x 256 x 8192 of bf16 in one
// CTA in less than 1 s. Counters:
// bookkeeping bytes per byte of global memory that the kernel has. Nothing here gates a change.
#include <benchmark/benchmark.h>

#include <string>

#include "tests/bench/run_to_end.h"
#include "tests/run/gemm_kernel_run.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

void explore_once(benchmark::State& state, const machine::Program& program) {
  std::uint64_t instructions = 0;
  std::size_t bookkeeping = 0;
  for (auto _ : state) {
    const machine::Report report = machine::explore(program, {.max_executions = 1,
                                                              .eager = false,
                                                              .random_executions = 0,
                                                              .max_instructions = 100'000'000});
    if (report.outcome != machine::Outcome::Right) state.SkipWithError("the kernel is wrong");
    instructions += report.instructions;
    bookkeeping = report.bookkeeping_bytes;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["bookkeeping_per_global_byte"] =
      static_cast<double>(bookkeeping) / static_cast<double>(program.initial_global().size());
}

// A thousand rounds of what index arithmetic, an epilogue and a reduction are made of; `memory` once a round.
void scalar(benchmark::State& state, const char* memory) {
  PtxRun run(kernel(std::string(R"(
    mov.u32 %r2, 0; mov.u32 %r3, %r1; mov.f32 %f1, 0f3f800000;
    LOOP:
    mad.lo.s32 %r4, %r3, 5, %r2; shl.b32 %r5, %r4, 2; and.b32 %r6, %r5, 127; xor.b32 %r3, %r3, %r6;
    cvt.rn.f32.u32 %f2, %r6; fma.rn.f32 %f1, %f2, %f1, %f1; add.f32 %f3, %f1, %f2; max.f32 %f4, %f3, %f2;
    add.s64 %rd3, %rd2, 16; shr.u32 %r7, %r5, 3; or.b32 %r8, %r7, 1; selp.b32 %r9, %r8, %r7, %p1;
    )") + memory + R"(
    add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 1000; @%p1 bra LOOP;
    st.global.u32 [%rd2], %r9;)",
                    ".shared .align 16 .b8 buffer[4096];\n"));
  run.pass(run.array<int>(128));
  if (run.go({.block = {128}}) != Fault::None) return state.SkipWithError("the kernel is wrong");
  explore_once(state, run.program());
}
BENCHMARK_CAPTURE(scalar, registers, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scalar, shared_memory,
                  "mov.u32 %r10, buffer; mad.lo.s32 %r11, %r1, 4, %r10; st.shared.u32 [%r11], %r9; "
                  "ld.shared.u32 %r12, [%r11];")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scalar, global_memory, "ld.global.u32 %r12, [%rd2]; st.global.u32 [%rd2], %r12;")
    ->Unit(benchmark::kMillisecond);

// Every wgmma was executed on the same bits before, as in all executions of an exploration but the first.
void run_cached(benchmark::State& state, const machine::Program& program) {
  machine::MmaCache cache;
  if (machine::Cluster first(program, cache, machine::Timing::Latest); !run_to_end(first))
    return state.SkipWithError("the kernel is wrong");
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    machine::Cluster cluster(program, cache, machine::Timing::Latest);
    if (!run_to_end(cluster)) state.SkipWithError("the kernel is wrong");
    instructions += cluster.instructions();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}

void gemm_cta(benchmark::State& state,
              void (*execute)(benchmark::State&, const machine::Program&)) {
  if (std::string(TCQ_NVCC).empty()) return state.SkipWithError("no nvcc");
  const TestKernel kernel =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 256, gemm::Turns::Together, 1, 1, 3);
  const oracle::Gemm g = with_strides({.m = 128,
                                       .n = 256,
                                       .k = static_cast<int>(state.range(0)),
                                       .in = Type::bf16,
                                       .out = Type::bf16},
                                      0, 0, 0);
  GemmKernelRun run(kernel.ptx(), kernel.row, make_case(g, false, Values::Near, 17),
                    problem_of(g, false), 1);
  if (run.go() != Fault::None || run.differing() != 0)
    return state.SkipWithError("the kernel is wrong");
  execute(state, run.run().program());
}
BENCHMARK_CAPTURE(gemm_cta, computed, explore_once)
    ->Arg(1024)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gemm_cta, cached, run_cached)
    ->Arg(1024)
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tcq::tests

BENCHMARK_MAIN();
