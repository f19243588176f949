// How fast sim/num/fast is: whole blocks of every kind on every set of vector instructions, the
// reference GEMM on one and two threads, and one simulated wgmma and tcgen05.mma. mac counts
// multiply-accumulates per second of CPU time (of one thread), or of wall time where it says threads.
// Of blocks also: cycles of the core per multiply-accumulate (cycles), and which part of them the ports for vectors would
// need for the operations of the inner loop alone (port_share). Cycles are CPU time times the clock, which a
// chain of multiplications measures meanwhile: no counters are read, which virtual machines lack.
//
// Wanted on one core with AVX-512, in 10^9: f16, bf16 5, tf32 3, fp8 5, integers 20, mxf8f6f4 4,
// mxf4 6; with AVX2 half of that. Nothing here gates a change.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>

#include "oracle/sum/gemm_reference.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/machine/tcgen05_mma.h"
#include "sim/machine/wgmma.h"
#include "sim/num/fast/packed.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::fast {
namespace {

constexpr int rows = 128;
constexpr int columns = 256;
constexpr int depth = 512;

void choose(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void count_macs(benchmark::State& state, double each) {
  state.counters["mac"] = benchmark::Counter(each * static_cast<double>(state.iterations()),
                                             benchmark::Counter::kIsRate);
}

// --- cycles ----------------------------------------------------------------------------------------

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Cycles a second of CPU time; 0 where nobody knows. A product waits for the one before it: three cycles on every x86
// since 2008 (Intel's and AMD's optimization manuals, imul r64, r64).
double clock_rate() {
#if defined(__x86_64__)
  constexpr int count = 1 << 20;
  std::uint64_t x = 3;
  const double begin = cpu_seconds();
  for (int i = 0; i < count; ++i)
    asm volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0" : "+r"(x));
  return 3.0 * 4 * count / (cpu_seconds() - begin);
#else
  return 0;
#endif
}

// Operations on whole vectors of a target for as many products as a vector has lanes, and how many of them can begin in one
// cycle. Sums of floats: two multiplications, a conversion, an addition, and of exponents, twice as many to a vector, half an
// addition and half a maximum. Integers and groups of 4-bit elements: a fused multiplication and addition.
struct PortLimit {
  double operations;
  double ports;
  double lanes;

  double cycles() const { return operations / (ports * lanes); }
};

PortLimit port_limit(bool is_fused, std::int64_t target) {
  const double lanes = target == HWY_AVX3 ? 16 : target == HWY_AVX2 ? 8 : 4;
  if (is_fused) return {1, 2, lanes};
  double ports = 4;  // AMD since Zen
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel")) ports = target == HWY_AVX3 ? 2 : 3;
#endif
  return {5, ports, lanes};
}

// Runs `once` as often as the benchmark wants, each time `macs` multiply-accumulates.
template <class Once>
void measure(benchmark::State& state, double macs, const PortLimit& limit, Once once) {
  double seconds = 0;
  for (auto _ : state) {
    const double begin = cpu_seconds();
    once();
    seconds += cpu_seconds() - begin;
  }
  const double cycles = seconds * clock_rate() / (macs * static_cast<double>(state.iterations()));
  count_macs(state, macs);
  if (cycles == 0) return;
  state.counters["cycles"] = cycles;
  state.counters["port_share"] = limit.cycles() / cycles;
}

// Values near 1.
Lines lines(const Instruction& in, Side side, int count, bool is_scaled) {
  Lines out(in, side, count, depth);
  const Type type = side == Side::Rows ? in.types.a : in.types.b;
  Draw draw(static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < depth; ++k)
      out.words(i)[k] =
          is_float(type) ? make_float(type, draw.in(-3, 3), Fraction::Uniform, draw.one_in(2), draw)
                         : draw.word() >> 24;
  if (is_scaled) out.scales.assign(static_cast<std::size_t>(count * depth / in.products), 0x80);
  out.pack();
  return out;
}

void block(benchmark::State& state, Instruction in, bool is_scaled, std::int64_t target) {
  choose(target);
  const Lines a = lines(in, Side::Rows, rows, is_scaled);
  const Lines b = lines(in, Side::Columns, columns, is_scaled);
  std::vector<std::uint32_t> d(static_cast<std::size_t>(rows * columns));
  measure(state, 1.0 * rows * columns * depth, port_limit(!is_float(in.types.a), target), [&] {
    std::fill(d.begin(), d.end(), 0);
    advance(in, a, b, {d.data(), columns});
    benchmark::DoNotOptimize(d.data());
  });
  choose(0);
}

void packed_block(benchmark::State& state, tcgen05::DotForm form, std::int64_t target) {
  choose(target);
  const tcgen05::Tile tile = draw_tile(form, MixtureClass::Normal, 3, rows, columns);
  const std::vector<std::uint8_t> scales(
      4, form.idesc.scale_type == tcgen05::ScaleType::ue4m3 ? 0x3b : 0x80);
  PackedLines a(Side::Rows, rows);
  PackedLines b(Side::Columns, columns);
  for (int i = 0; i < rows; ++i)
    a.set(i, decode_packed_row(&tile.a[static_cast<std::size_t>(i * 64)], false,
                               form.idesc.scale_type, scales.data(), scale_block(form.opcode)));
  for (int i = 0; i < columns; ++i)
    b.set(i, decode_packed_row(&tile.b[static_cast<std::size_t>(i * 64)], false,
                               form.idesc.scale_type, scales.data(), scale_block(form.opcode)));
  std::vector<std::uint32_t> d(static_cast<std::size_t>(rows * columns));
  measure(state, 64.0 * rows * columns, port_limit(true, target), [&] {
    advance_packed(form, a, b, {d.data(), columns});
    benchmark::DoNotOptimize(d.data());
  });
  choose(0);
}

void gemm(benchmark::State& state, Type in, int size, int threads) {
  const Type out = wgmma::widest_d(in);
  oracle::Gemm g{.m = size, .n = size, .k = size, .in = in, .out = out};
  g.a.ld = g.b.ld = g.d.ld = size;
  const auto elements = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<std::uint32_t> a(elements);
  std::vector<std::uint32_t> d(elements);
  Draw draw(7);
  for (std::uint32_t& word : a) word = tame(in, draw.word());
  for (auto _ : state) oracle::compute_gemm(g, {a.data(), a.data()}, d.data(), threads);
  count_macs(state, 1.0 * size * size * size);
}

void wgmma_m64n256k16(benchmark::State& state) {
  const wgmma::Form form{Type::f32, Type::bf16, Type::bf16, 256};
  const wgmma::MatrixDescriptor desc_a{1024, 0, 256, 0, Swizzle::B32};
  const wgmma::MatrixDescriptor desc_b{8192, 0, 256, 0, Swizzle::B32};
  wgmma::State machine;
  machine.shared = SharedMemory(shared_base_sm90, 65536);
  machine.registers.d.resize(
      static_cast<std::size_t>(128 * wgmma::accumulator_registers(form.d, form.n)));
  Draw draw(9);
  for (std::size_t i = 0; i < 32768; i += 4) {
    const std::uint32_t word = tame(Type::bf16, draw.word());
    std::memcpy(machine.shared.data() + i, &word, sizeof word);
  }
  const wgmma::Instruction mma{form, 0, encode(desc_a), encode(desc_b), false};
  for (auto _ : state) {
    const Fault fault = wgmma::execute(machine.shared, machine.registers, mma);
    if (fault != Fault::None) state.SkipWithError("the instruction faults");
  }
  count_macs(state, 64.0 * 256 * 16);
}
BENCHMARK(wgmma_m64n256k16)->Unit(benchmark::kMicrosecond);

void register_blocks(const std::string& target_name, std::int64_t target) {
  using tcgen05::Kind;
  const auto add = [&](const std::string& name, const Instruction& in, bool is_scaled = false) {
    benchmark::RegisterBenchmark((target_name + "/" + name).c_str(), block, in, is_scaled, target)
        ->Unit(benchmark::kMillisecond);
  };
  for (const Type type : {Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::s8})
    add(std::string("wgmma/") + name(type), wgmma_instruction({wgmma::widest_d(type), type, type}));
  add("wgmma/f16_to_f16", wgmma_instruction({Type::f16, Type::f16, Type::f16}));
  add("wgmma/e4m3_to_f16", wgmma_instruction({Type::f16, Type::e4m3, Type::e4m3}));
  add("tcgen05/f8f6f4", tcgen05_instruction(Kind::f8f6f4, {Type::f32, Type::e4m3, Type::e4m3}));
  add("tcgen05/mxf8f6f4", tcgen05_instruction(Kind::mxf8f6f4, {Type::f32, Type::e4m3, Type::e4m3}),
      true);
  for (const tcgen05::DotForm& form : {tcgen05::mxf4(), tcgen05::nvf4()})
    benchmark::RegisterBenchmark((target_name + "/tcgen05/" + name(form.opcode.kind)).c_str(),
                                 packed_block, form, target)
        ->Unit(benchmark::kMillisecond);
}

void register_gemms() {
  for (const Type in : {Type::bf16, Type::e4m3, Type::s8})
    for (const int size : {512, 2048})
      for (const int threads : {1, 2})
        benchmark::RegisterBenchmark(("gemm/" + std::string(name(in)) + "/" + std::to_string(size) +
                                      "/threads:" + std::to_string(threads))
                                         .c_str(),
                                     gemm, in, size, threads)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
}

}  // namespace
}  // namespace tcq::fast

int main(int argc, char** argv) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    if (target == HWY_AVX3 || target == HWY_AVX2 || target == HWY_SSE4 || target == HWY_NEON)
      tcq::fast::register_blocks(hwy::TargetName(target), target);
  tcq::fast::register_gemms();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
