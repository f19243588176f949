// The quantiser's kernel, as nvcc compiles it: the host's bits, of every type and block. Skipped without nvcc.
#include <cstring>
#include <vector>

#include "cuda/gemm/quantize.h"
#include "cuda/gemm/quantize_blocks.h"
#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {
namespace {

using gemm::Quantize;
using gemm::QuantizeBlock;

class QuantizePtx : public CompiledKernels {};

std::string kernel_of(Type in, Type out, int team) {
  const auto type = [](Type t) { return "Type::" + std::string(name(t)); };
  return compiled_ptx(
      "#include \"cuda/gemm/quantize.cuh\"\nusing namespace tcq;\n"
      "template __global__ void gemm::quantize_kernel<" +
      type(in) + ", " + type(out) + ", " + std::to_string(team) +
      ">(const __grid_constant__ gemm::Quantize, const void*, "
      "std::uint8_t*, float*);\n");
}

std::vector<std::uint8_t> drawn(const Quantize& q, std::int64_t elements) {
  Draw draw(11);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(elements * bits(q.in) / 8));
  for (std::int64_t i = 0; i < elements; ++i)
    oracle::store_element(
        q.in, bytes.data(), i,
        random_element(q.in, draw.one_in(2) ? Values::Wide : Values::Specials, draw));
  return bytes;
}

void expect_hosts_bits(const Quantize& q) {
  const bool by_warps = q.block == QuantizeBlock::Vector128;
  const auto source = drawn(q, q.rows * (q.columns + 3));
  std::vector<std::uint8_t> want(static_cast<std::size_t>(q.rows * (q.columns + 5)), 0xaa);
  std::vector<float> factors(static_cast<std::size_t>(factor_lines(q) * factor_blocks(q)), -1);
  Quantize strided = q;
  strided.ld_source = q.columns + 3;
  strided.ld_target = q.columns + 5;
  ASSERT_EQ(quantize_on_host(strided, source.data(), want.data(), factors.data()),
            gemm::Status::Ok);
  const std::string text = kernel_of(q.in, q.out, by_warps ? 32 : 256);
  PtxRun run(text, entry_of(text));
  const Pointer from = run.array(source);
  const Pointer to = run.array(std::vector<std::uint8_t>(want.size(), 0xaa));
  const Pointer at = run.array<float>(factors.size());
  run.pass(strided);
  run.pass(from);
  run.pass(to);
  run.pass(at);
  ASSERT_EQ(run.go({.grid = {3}, .block = {256}, .executions = 1}), Fault::None) << run.place();
  EXPECT_EQ(run.read<std::uint8_t>(to, want.size()), want);
  const auto got = run.read<float>(at, factors.size());
  EXPECT_EQ(std::memcmp(got.data(), factors.data(), factors.size() * sizeof(float)), 0);
}

TEST_F(QuantizePtx, TheHostsBitsOfEveryTypeAndBlock) {
  expect_hosts_bits({.rows = 9, .columns = 300, .in = Type::bf16});
  expect_hosts_bits(
      {.rows = 9, .columns = 300, .in = Type::f16, .out = Type::e5m2, .power_of_two = true});
  expect_hosts_bits({.rows = 5, .columns = 700, .in = Type::f32, .block = QuantizeBlock::Row});
  expect_hosts_bits({.rows = 130,
                     .columns = 140,
                     .in = Type::bf16,
                     .block = QuantizeBlock::Block128,
                     .power_of_two = true});
}

}  // namespace
}  // namespace tcq::tests
