// The quantiser's kernel, as nvcc compiles it: the host's bits, of every type and block. Skipped without nvcc.
#include <array>
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

std::string kernel_of(const Quantize& q, gemm::QuantizeTeams teams) {
  const auto type = [](Type t) { return "Type::" + std::string(name(t)); };
  const std::array<std::string, 3> blocks = {"Row", "Vector128", "Block128"};
  return compiled_ptx(
      "#include \"cuda/gemm/quantize.cuh\"\nusing namespace tcq;\n"
      "template __global__ void gemm::quantize_kernel<" +
      type(q.in) + ", " + type(q.out) +
      ", gemm::QuantizeBlock::" + blocks[static_cast<std::size_t>(q.block)] + ", " +
      std::to_string(teams.threads) + ", " + (teams.runs ? "true" : "false") +
      ">(const __grid_constant__ gemm::QuantizeShape, const void*, std::uint8_t*, float*);\n");
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

// ctas_beside: of the grid; 0: as many as a launch has.
void expect_hosts_bits(const Quantize& q, gemm::QuantizeTeams teams, unsigned ctas_beside = 0) {
  Quantize strided = q;
  strided.ld_source = q.columns + (teams.runs ? gemm::quantize_run : 3);
  strided.ld_target = q.columns + (teams.runs ? gemm::quantize_run : 5);
  const auto source = drawn(q, q.rows * strided.ld_source);
  std::vector<std::uint8_t> want(static_cast<std::size_t>(q.rows * strided.ld_target), 0xaa);
  std::vector<float> factors(static_cast<std::size_t>(factor_lines(q) * factor_blocks(q)), -1);
  ASSERT_EQ(quantize_on_host(strided, source.data(), want.data(), factors.data()),
            gemm::Status::Ok);
  const std::string text = kernel_of(q, teams);
  PtxRun run(text, entry_of(text));
  const Pointer from = run.array(source);
  const Pointer to = run.array(std::vector<std::uint8_t>(want.size(), 0xaa));
  const Pointer at = run.array<float>(factors.size());
  run.pass(shape_of(strided));
  run.pass(from);
  run.pass(to);
  run.pass(at);
  const gemm::QuantizeGrid grid = gemm::quantize_grid(q, teams);
  ASSERT_EQ(run.go({.grid = {grid.ctas_below, ctas_beside == 0 ? grid.ctas_beside : ctas_beside},
                    .block = {static_cast<unsigned>(teams.threads) * grid.beside, grid.below},
                    .executions = 1}),
            Fault::None)
      << run.place();
  EXPECT_EQ(run.read<std::uint8_t>(to, want.size()), want);
  const auto got = run.read<float>(at, factors.size());
  EXPECT_EQ(std::memcmp(got.data(), factors.data(), factors.size() * sizeof(float)), 0);
}

constexpr int of_vector = gemm::quantize_threads_of_vector,
              of_block = gemm::quantize_threads_of_block;

TEST_F(QuantizePtx, TheHostsBitsOfEveryTypeAndBlock) {
  using enum QuantizeBlock;
  expect_hosts_bits({.rows = 9, .columns = 300, .in = Type::bf16}, {of_vector, false});
  expect_hosts_bits(
      {.rows = 9, .columns = 300, .in = Type::f16, .out = Type::e5m2, .power_of_two = true},
      {of_vector, false});
  expect_hosts_bits({.rows = 5, .columns = 700, .in = Type::f32, .block = Row}, {256, false});
  expect_hosts_bits({.rows = 11, .columns = 77, .in = Type::f16, .block = Row}, {32, false});
  expect_hosts_bits(
      {.rows = 130, .columns = 140, .in = Type::bf16, .block = Block128, .power_of_two = true},
      {of_block, false});
}

TEST_F(QuantizePtx, TheHostsBitsByRuns) {
  using enum QuantizeBlock;
  expect_hosts_bits({.rows = 9, .columns = 392, .in = Type::bf16}, {of_vector, true});
  expect_hosts_bits({.rows = 5,
                     .columns = 200,
                     .in = Type::f16,
                     .out = Type::e5m2,
                     .power_of_two = true,
                     .major_factors = Major::MN},
                    {of_vector, true});
  expect_hosts_bits({.rows = 3, .columns = 136, .in = Type::f32}, {of_vector, true});
  expect_hosts_bits({.rows = 11, .columns = 520, .in = Type::f32, .block = Row}, {32, true});
  expect_hosts_bits({.rows = 3, .columns = 2056, .in = Type::f16, .block = Row}, {64, true});
  expect_hosts_bits({.rows = 3, .columns = 4104, .in = Type::bf16, .block = Row}, {128, true});
  expect_hosts_bits({.rows = 130, .columns = 264, .in = Type::bf16, .block = Block128},
                    {of_block, true});
  expect_hosts_bits({.rows = 70, .columns = 120, .in = Type::f32, .block = Block128},
                    {of_block, true});
}

// Of which a team holds what it can, and reads the others' rows a second time.
TEST_F(QuantizePtx, LongRows) {
  using enum QuantizeBlock;
  expect_hosts_bits({.rows = 1, .columns = 16384, .in = Type::bf16, .block = Row}, {256, true});
  expect_hosts_bits({.rows = 2, .columns = 16648, .in = Type::bf16, .block = Row}, {256, true});
  expect_hosts_bits({.rows = 2, .columns = 8456, .in = Type::f32, .block = Row}, {256, true});
}

// Which have several blocks each.
TEST_F(QuantizePtx, FewerCtasThanBlocks) {
  expect_hosts_bits({.rows = 3, .columns = 4480, .in = Type::bf16}, {of_vector, true}, 1);
  expect_hosts_bits({.rows = 40, .columns = 650, .in = Type::f16, .block = QuantizeBlock::Block128},
                    {of_block, false}, 2);
}

}  // namespace
}  // namespace tcq::tests
