// bench_quantize: the quantiser of FP8 operands beside a copy of as many bytes, on one GPU.
//
// Both run in turns, on more matrices than L2 holds. A copy reads as many bytes as it writes; it is given half of what the quantiser
// reads and writes together. Before a matrix is timed, its elements and factors are compared with the host's, bit for bit. Alone, the
// quantiser's launches wait for each other's end. With --then the product that reads what it makes follows each, on weights that L2
// does not hold, with launches that overlap and with launches that do not. Examples:
// bench_quantize 4096x7168; bench_quantize --block block --type f32 --draw 1 --count 20; bench_quantize 16x7168 --then 4096
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cuda/gemm/bench.h"
#include "cuda/gemm/quantize.h"
#include "cuda/runtime/launch.h"
#include "tools/bench_draw.h"
#include "tools/bench_timing.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;
using namespace tcq::tools;
using gemm::Quantize;

struct Arguments {
  std::vector<std::string> shapes;
  std::string block = "vector";
  std::string type = "bf16";
  int pad = 0;
  double seconds = 0.1;
  std::int64_t then = 0;  // columns of the product behind; 0: none
  std::optional<std::uint64_t> draw;
  int count = 20;
};

using Bytes = cuda::DeviceBuffer<std::uint8_t>;

std::size_t matrix_elements(const Quantize& q, std::int64_t ld) {
  return static_cast<std::size_t>((q.rows - 1) * ld + q.columns);
}

std::size_t element_bytes(const Quantize& q) { return q.in == Type::f32 ? 4 : 2; }

struct Matrix {
  explicit Matrix(const Quantize& q)
      : source(element_bytes(q) * matrix_elements(q, q.ld_source)),
        target(matrix_elements(q, q.ld_target)),
        factors(static_cast<std::size_t>(factor_lines(q) * factor_blocks(q))) {
    cuda::fill_normal(q.in, source.data(), matrix_elements(q, q.ld_source), 1, nullptr);
  }

  Bytes source;
  Bytes target;
  cuda::DeviceBuffer<float> factors;
};

void require(gemm::Status status) {
  if (status != gemm::Status::Ok) throw std::runtime_error(gemm::sentence(status));
}

template <class T>
std::vector<T> downloaded(const cuda::DeviceBuffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  buffer.download(host);
  return host;
}

bool is_right(const Quantize& q, const Matrix& x) {
  CUDA_CHECK(cudaMemset(x.target.data(), 0xaa, x.target.size()));
  require(quantize(q, x.source.data(), x.target.data(), x.factors.data(), nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto source = downloaded(x.source);
  std::vector<std::uint8_t> target(x.target.size(), 0xaa);
  std::vector<float> factors(x.factors.size());
  require(quantize_on_host(q, source.data(), target.data(), factors.data()));
  const auto got = downloaded(x.factors);
  return downloaded(x.target) == target &&
         std::memcmp(got.data(), factors.data(), factors.size() * sizeof(float)) == 0;
}

// The product of what is quantized, by rows or vectors, with `n` weights of each of so many sets.
class Product {
 public:
  Product(const Quantize& q, std::int64_t n, std::size_t sets)
      : factors_(std::vector<float>(static_cast<std::size_t>(n * factor_blocks(q)), 1)) {
    gemm::Problem p = {
        .m = q.rows, .n = n, .k = q.columns, .in = Type::e4m3, .a = {.ld = q.ld_target}};
    p.scaling =
        q.block == gemm::QuantizeBlock::Row ? gemm::Scaling::RowColumn : gemm::Scaling::Block128;
    require(make_plan(p, early_));
    p.programmatic_launch = false;
    require(make_plan(p, late_));
    const auto elements = static_cast<std::size_t>(n * q.columns);
    for (std::size_t i = 0; i < sets; ++i) {
      weights_.emplace_back(elements);
      cuda::fill_normal(Type::e4m3, weights_.back().data(), elements, 1, nullptr);
      results_.emplace_back(2 * static_cast<std::size_t>(n * q.rows));
    }
    workspace_ = Bytes(std::max(workspace_bytes(early_), workspace_bytes(late_)));
  }

  void run(std::size_t set, const Matrix& x, bool early, cudaStream_t stream) const {
    require(gemm::run(early ? early_ : late_,
                      {.a = x.target.data(),
                       .b = weights_[set].data(),
                       .d = results_[set].data(),
                       .scale_a = x.factors.data(),
                       .scale_b = factors_.data()},
                      {workspace_.data(), workspace_.size()}, stream));
  }

 private:
  gemm::Plan early_, late_;
  std::vector<Bytes> weights_, results_;
  cuda::DeviceBuffer<float> factors_;  // as many as there are at most
  Bytes workspace_;
};

// Of a matrix and the product behind it: as quartiles' medians, launches that overlap and launches that do not.
std::string together(const Arguments& args, const Quantize& q, const std::vector<Matrix>& all,
                     cudaStream_t stream) {
  const Product product(q, args.then, all.size());
  const auto pair = [&](bool early) {
    Quantize own = q;
    own.programmatic_launch = early;
    return [&, own, early](std::size_t set, cudaStream_t s) {
      const Matrix& x = all[set];
      require(quantize(own, x.source.data(), x.target.data(), x.factors.data(), s));
      product.run(set, x, early, s);
    };
  };
  const auto times =
      take_turns({pair(true), pair(false)}, all.size(), {.seconds = args.seconds}, stream);
  const double early = quartiles(times[0]).median, late = quartiles(times[1]).median;
  return fmt::format(" {:>10.2f} {:>10.2f} {:>7.3f}", early, late, late / early);
}

// Returns whether its bits are the host's.
bool measure(const Arguments& args, const Quantize& q, cudaStream_t stream) {
  const double bytes = static_cast<double>(q.rows) * static_cast<double>(q.columns) *
                       static_cast<double>(element_bytes(q) + 1);
  const double with_weights = bytes + static_cast<double>(q.columns * args.then);
  constexpr double beyond_l2 = 2e8;
  const int sets = std::clamp(static_cast<int>(beyond_l2 / with_weights) + 1, 2, 64);
  std::vector<Matrix> all;
  for (int i = 0; i < sets; ++i) all.emplace_back(q);
  const bool right = is_right(q, all[0]);
  const auto half = static_cast<std::size_t>(bytes / 2);
  const Bytes from(half * static_cast<std::size_t>(sets)), to(from.size());
  Quantize alone = q;
  alone.programmatic_launch = false;
  const Launcher ours = [&](std::size_t set, cudaStream_t s) {
    const Matrix& x = all[set];
    require(quantize(alone, x.source.data(), x.target.data(), x.factors.data(), s));
  };
  const Launcher copy = [&](std::size_t set, cudaStream_t s) {
    CUDA_CHECK(cudaMemcpyAsync(to.data() + set * half, from.data() + set * half, half,
                               cudaMemcpyDeviceToDevice, s));
  };
  const auto times = take_turns({ours, copy}, all.size(), {.seconds = args.seconds}, stream);
  const double mine = quartiles(times[0]).median, copied = quartiles(times[1]).median;
  fmt::print("{:<14} {:<7} {:<5} {:>4} {:>10.2f} {:>10.2f} {:>7.3f} {:>6.2f}{}  {}\n",
             fmt::format("{}x{}", q.rows, q.columns), args.block, args.type, args.pad, mine, copied,
             copied / mine, bytes / mine * 1e-6,
             args.then > 0 ? together(args, q, all, stream) : "",
             right ? "the host's bits" : "WRONG");
  std::fflush(stdout);
  return right;
}

Quantize parsed(const Arguments& args, const std::string& shape) {
  long long rows = 0, columns = 0;
  char rest = 0;
  if (std::sscanf(shape.c_str(), "%9lldx%9lld%c", &rows, &columns, &rest) != 2 || rows < 1 ||
      columns < 1)
    throw oracle::UsageError("shape '" + shape + "': expected ROWSxCOLUMNS, for example 4096x7168");
  Quantize q{.rows = rows, .columns = columns};
  q.in = args.type == "f32" ? Type::f32 : args.type == "f16" ? Type::f16 : Type::bf16;
  using enum gemm::QuantizeBlock;
  q.block = args.block == "row" ? Row : args.block == "block" ? Block128 : Vector128;
  q.ld_source = q.ld_target = columns + args.pad;
  return q;
}

// Log-uniform rows and columns, which are a multiple of 128 three times in four.
std::vector<std::string> drawn(std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<std::string> shapes;
  for (int i = 0; i < count; ++i) {
    const std::int64_t rows = log_uniform(draw, 1, 16384), columns = log_uniform(draw, 128, 32768);
    shapes.push_back(fmt::format("{}x{}", rows, draw.one_in(4) ? columns : columns / 128 * 128));
  }
  return shapes;
}

int run(const Arguments& args) {
  if (args.draw && !args.shapes.empty())
    throw oracle::UsageError("--draw draws the shapes: give none beside it");
  if (args.then > 0 && args.block == "block")
    throw oracle::UsageError("--then wants a product's rows: --block row or vector");
  auto shapes = args.draw ? drawn(*args.draw, args.count) : args.shapes;
  if (shapes.empty()) shapes = {"64x7168", "4096x2048", "4096x7168", "16384x7168"};
  std::vector<Quantize> all;
  for (const std::string& shape : shapes) all.push_back(parsed(args, shape));
  if (cuda::device_count() == 0) throw std::runtime_error("no CUDA device");
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  fmt::print("{}\n{:<14} {:<7} {:<5} {:>4} {:>10} {:>10} {:>7} {:>6}{}\n",
             cuda::describe(cuda::identity(cuda::current_device())), "matrix", "factors", "type",
             "pad", "us", "copy us", "ratio", "TB/s",
             args.then > 0 ? "  with prod. one by one   ratio" : "");
  bool right = true;
  for (const Quantize& q : all) right = measure(args, q, stream) && right;
  return right ? 0 : exit_mismatch;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app("The quantiser of FP8 operands beside a copy of as many bytes, on one GPU.");
  app.add_option("shapes", args.shapes, "ROWSxCOLUMNS ...; none: four");
  app.add_option("--block", args.block, "what shares a factor: row, vector (128 of a row), block")
      ->check(CLI::IsMember({"row", "vector", "block"}));
  app.add_option("--type", args.type, "of the source: bf16 (default), f16, f32")
      ->check(CLI::IsMember({"bf16", "f16", "f32"}));
  app.add_option("--pad", args.pad, "so many elements between the lines of both matrices")
      ->check(CLI::Range(0, 4096));
  app.add_option(
         "--then", args.then,
         "time it with the product of so many columns behind it, too: launches that overlap, "
         "launches that wait for each other, and their ratio")
      ->check(CLI::Range(1, 1 << 20));
  CLI::Option* draw = app.add_option("--draw", args.draw, "draw the shapes with this seed instead");
  app.add_option("--count", args.count, "how many are drawn (default 20)")
      ->needs(draw)
      ->check(CLI::Range(1, 10000));
  app.add_option("--seconds", args.seconds, "measuring time of each side (default 0.1)")
      ->check(CLI::Range(0.001, 3600.0));
  return tool_main(app, "bench_quantize", argc, argv, [&] { return run(args); });
}
