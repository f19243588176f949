// bench_gemm: the GEMM library beside cuBLASLt on one GPU, shape by shape.
//
// Both sides run in turns, in one process, on the same normal random operands, of which there are
// more than L2 holds. The figures are medians of the rounds; a ratio is taken within a round. Before
// a shape is timed, some of its outputs are compared with oracle/gemm_reference, bit for bit. The
// ceiling is wgmma alone (bench_ceiling.h), on Hopper. With --ceiling it and the GEMM run one after the other,
// each at its own clock: the share that is worth quoting. On compute capability 10.x (where it has not run) plans are
// those of tcgen05, and MXFP8 and NVFP4 stand beside cuBLASLt's.
// Examples: bench_gemm 4096x4096x4096 --regime both --json gemm.json; bench_gemm --draw 1 --count 60;
// bench_gemm --type e2m1 --scaling nv
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>

#include "cuda/gemm/check.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/plan_tensor.h"
#include "cuda/gemm/tune.h"
#include "oracle/answer/svg.h"
#include "tools/bench_ceiling.h"
#include "tools/bench_cublas.h"
#include "tools/bench_draw.h"
#include "tools/bench_operands.h"
#include "tools/bench_report.h"
#include "tools/device_jobs.h"
#include "tools/tool_main.h"

namespace {

using namespace tcq;
using namespace tcq::tools;

constexpr int offers = 8;  // of cuBLASLt's heuristic

struct Arguments {
  std::vector<std::string> shapes;
  std::vector<std::string> types = {"bf16"};
  std::string regime = "sustained";
  std::string majors = "KK";
  std::string factor_majors = "KK";
  std::vector<std::string> epilogues = {"none"};
  std::string out;
  std::string scaling = "none";
  bool promotes = false;
  int groups = 0;
  bool along_k = false;
  std::string rows_by = "ends";
  int batch = 1;
  bool shared_b = false;
  int pad = 0;
  bool batch_invariant = false;
  std::string cublas;
  std::string json;
  std::string svg;
  std::string tune_cache;
  double seconds = 0.6;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> draw;
  bool draw_options = false;
  bool draw_batches = false;
  int count = 40;
  bool every_kernel = false;
  bool tune = false;
  bool no_workspace = false;
  bool no_cublas = false;
  bool ceiling = false;
};

volatile std::sig_atomic_t interrupted = 0;

class Bench {
 public:
  Bench(const Arguments& args, bool on_tcgen05) : args_(args), on_tcgen05_(on_tcgen05) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    const int device = cuda::current_device();
    sm_count_ = cuda::device_attribute(cudaDevAttrMultiProcessorCount, device);
    char bus[32] = {};
    CUDA_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    clocks_ = Clocks::open(bus);
    if (!args.no_cublas) cublas_ = CublasLt::open(args.cublas, run_.cublas);
    if (args.no_cublas) run_.cublas = "not asked for";
    if (cublas_ != nullptr) run_.cublas = cublas_->version();
    const auto facts = provenance();
    run_.device = facts.at("device");
    run_.driver = facts.at("driver");
    run_.runtime = facts.at("cuda");
    run_.tuned = args.tune;
    load_choices();
  }

  Run& result() { return run_; }

  // Of wgmma alone. Once for each type and regime: it takes some seconds.
  const Ceiling& ceiling(Type in, bool burst) {
    const auto [at, is_new] = ceilings_.try_emplace({in, burst});
    if (is_new) {
      Regime r = regime(burst);
      r.warm_seconds = settling_seconds;
      at->second = ceiling_bench(in).measure(r, block_microseconds);
      fmt::print("{}", line(at->second, in, burst));
    }
    return at->second;
  }

  void control(Type in, const Variant& variant) {
    Variant plain;
    if (in == Type::e2m1) plain.scaling = variant.scaling;  // it is nothing without its factors
    const gemm::Problem p = plain.problem({4096, 4096, 4096}, in);
    const OperandSets sets(p, args_.seed, stream_);
    const Launcher ours = launcher(plan(p), sets);
    const auto times = take_turns({ours, ours}, sets.count(), regime(false), stream_);
    run_.control = ratios(times[0], times[1]);
  }

  void measure(const Shape& shape, Type in, bool burst, const Variant& variant) {
    variant_ = variant;
    const std::optional<gemm::Problem> p = planned(shape, in, variant);
    if (!p) return;
    workspaces_.clear();
    const OperandSets sets(*p, args_.seed, stream_);
    if (args_.every_kernel) return measure_kernels(*p, sets, burst);
    measure_plan(*p, sets, args_.tune ? tuned(*p, sets) : plan(*p), burst);
  }

  // Wgmma alone, our GEMM alone, and wgmma alone again, in turns of many seconds: each at the clock
  // that its own heat allows. The ceiling is the mean of the two, so that a drift does not count.
  void measure_beside_ceiling(const Shape& shape, Type in, bool burst, const Variant& variant) {
    variant_ = variant;
    const gemm::Problem p = variant.problem(shape, in);
    const OperandSets sets(p, args_.seed, stream_);
    const gemm::Plan made = plan(p);
    Measured m = describe(made, sets, burst);
    check(made, sets, m);
    const Launcher ours = launcher(made, sets);
    Regime r = regime(burst);
    r.warm_seconds = settling_seconds;
    r.block_seconds = block_microseconds * 1e-6;
    const double once = Block(ours, sets.count(), 3, stream_).microseconds();
    const double microseconds =
        burst ? std::max(once * r.burst_launches, least_microseconds) : block_microseconds;
    CeilingBench alone = ceiling_bench(in);
    m.ceiling = alone.measure(r, microseconds);
    fmt::print("{}", line(*m.ceiling, in, burst));
    const auto times = timed({ours}, sets, r, m);
    m.sm_mhz_behind = alone.sm_mhz();
    m.ours = quartiles(times[0]);
    const Ceiling again = alone.measure(r, microseconds);
    fmt::print("{}", line(again, in, burst));
    m.ceiling->operations_per_second =
        (m.ceiling->operations_per_second + again.operations_per_second) / 2;
    add(m);
    fmt::print("right behind it the SMs ran at {:.0f} MHz\n", *m.sm_mhz_behind);
  }

 private:
  // What power and clocks need to settle, and a block that is long beside the gap behind it.
  static constexpr double settling_seconds = 3;
  static constexpr double block_microseconds = 50000;
  static constexpr double least_microseconds = 5000;  // in which CTAs do not all begin at once

  CeilingBench ceiling_bench(Type in) {
    return {in, sm_count_, args_.seed, stream_, clocks_.get()};
  }

  static void require(gemm::Status status) {
    if (status != gemm::Status::Ok)
      throw std::runtime_error(
          fmt::format("{} ({})", gemm::sentence(status), cudaGetErrorString(cudaGetLastError())));
  }

  // On tcgen05 K may be odd for the factors, and no kernel copies operands that TMA cannot address, nor does one run without a
  // workspace for their copies: that is said, and the other shapes are measured.
  std::optional<gemm::Problem> planned(const Shape& shape, Type in, const Variant& variant) const {
    try {
      const gemm::Problem p = variant.problem(shape, in);
      gemm::Plan plan;
      gemm::Status status = gemm::make_plan(p, plan);
      if (on_tcgen05_ && status == gemm::Status::Ok && !variant.has_workspace &&
          plan.workspace_bytes > 0)
        status = gemm::Status::NotOnTcgen05;
      if (status != gemm::Status::NotOnTcgen05) {
        require(status);
        return p;
      }
      fmt::print("{:<18} not measured: {}\n", name(shape), gemm::sentence(status));
    } catch (const oracle::UsageError& error) {
      if (!on_tcgen05_) throw;
      fmt::print("{:<18} not measured: {}\n", name(shape), error.what());
    }
    return std::nullopt;
  }

  static gemm::Plan plan(const gemm::Problem& p) {
    gemm::Plan plan;
    require(gemm::make_plan(p, plan));
    return plan;
  }

  void load_choices() {
    if (args_.tune_cache.empty()) return;
    const gemm::Status status = choices_.load(args_.tune_cache);
    if (status != gemm::Status::TuneFileMissing) require_file(status);
  }

  void require_file(gemm::Status status) const {
    if (status != gemm::Status::Ok)
      throw std::runtime_error(fmt::format("{}: {}", args_.tune_cache, gemm::sentence(status)));
  }

  // Choices are saved at once: what was measured outlives an interruption.
  gemm::Plan tuned(const gemm::Problem& p, const OperandSets& sets) {
    gemm::Plan plan;
    require(gemm::tune(p, sets.at(0), workspace(Bench::plan(p)), stream_, {}, choices_, plan));
    if (!args_.tune_cache.empty()) require_file(choices_.save(args_.tune_cache));
    return plan;
  }

  // What the plan asks for.
  gemm::Workspace workspace(const gemm::Plan& plan) {
    const std::size_t bytes = gemm::workspace_bytes(plan);
    if (bytes == 0 || !variant_.has_workspace) return {};
    if (workspaces_.empty() || workspaces_.back().size() < bytes) workspaces_.emplace_back(bytes);
    return {workspaces_.back().data(), bytes};
  }

  Launcher launcher(const gemm::Plan& plan, const OperandSets& sets) {
    const gemm::Workspace space = workspace(plan);
    return [plan, space, &sets](std::size_t set, cudaStream_t stream) {
      require(gemm::run(plan, sets.at(set), space, stream));
    };
  }

  Regime regime(bool burst) const { return {.burst = burst, .seconds = args_.seconds}; }

  static Quartiles ratios(const std::vector<double>& theirs, const std::vector<double>& ours) {
    std::vector<double> values;
    for (std::size_t i = 0; i < ours.size(); ++i) values.push_back(theirs[i] / ours[i]);
    return quartiles(values);
  }

  std::vector<Launcher> their_launchers(const OperandSets& sets) const {
    if (cublas_ == nullptr) return {};
    return cublas_->algorithms(
        sets.one_product(), [&sets](std::size_t set) { return sets.at(set); }, offers);
  }

  // The fastest of the offers, found in short turns; the default if it is the only one.
  Launcher best_of(const std::vector<Launcher>& theirs, const OperandSets& sets, bool burst) const {
    Regime brief = regime(false);
    brief.warm_seconds = burst ? 0 : 0.02;
    brief.seconds = 0.02;
    const auto times = take_turns(theirs, sets.count(), brief, stream_);
    std::size_t best = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
      if (quartiles(times[i]).median < quartiles(times[best]).median) best = i;
    return theirs[best];
  }

  gemm::Path path(const gemm::Plan& plan, const OperandSets& sets) {
    return gemm::path_of(plan, sets.at(0), workspace(plan));
  }

  Measured describe(const gemm::Plan& plan, const OperandSets& sets, bool burst) {
    const gemm::Path taken = path(plan, sets);
    const gemm::Problem& p = sets.problem();
    Measured m;
    m.shape = {p.m, p.n, p.k};
    m.in = p.in;
    m.burst = burst;
    m.variant = variant_;
    m.realigned = taken == gemm::Path::Realigned;
    m.kernel = gemm::name(*gemm::launch_of(plan, taken).kernel);
    m.operations = operations(sets.one_product());
    m.bytes = sets.bytes();
    return m;
  }

  void check(const gemm::Plan& plan, const OperandSets& sets, Measured& m) {
    sets.poison_result();
    require(gemm::run(plan, sets.at(0), workspace(plan), stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::tie(m.differing, m.checked) = sets.check(plan, path(plan, sets));
  }

  // Between bursts the device idles, and so would a reading.
  std::vector<std::vector<double>> timed(const std::vector<Launcher>& contenders,
                                         const OperandSets& sets, const Regime& r, Measured& m) {
    const bool reads = clocks_ != nullptr && !r.burst;
    if (reads) clocks_->start();
    auto times = take_turns(contenders, sets.count(), r, stream_);
    if (reads) m.reading = clocks_->stop();
    return times;
  }

  void add(const Measured& m) {
    fmt::print("{}", line(m));
    std::fflush(stdout);
    run_.rows.push_back(m);
  }

  void measure_plan(const gemm::Problem& p, const OperandSets& sets, const gemm::Plan& plan,
                    bool burst) {
    Measured m = describe(plan, sets, burst);
    check(plan, sets, m);
    if (!on_tcgen05_) m.ceiling = ceiling(p.in, burst);
    std::vector<Launcher> contenders = {launcher(plan, sets)};
    const std::vector<Launcher> theirs = their_launchers(sets);
    if (!theirs.empty()) {
      contenders.push_back(theirs[0]);
      contenders.push_back(best_of(theirs, sets, burst));
    }
    const auto times = timed(contenders, sets, regime(burst), m);
    m.ours = quartiles(times[0]);
    if (!theirs.empty()) {
      m.theirs = quartiles(times[1]);
      m.best = quartiles(times[2]);
      m.ratio = ratios(times[1], times[0]);
      m.best_ratio = ratios(times[2], times[0]);
    }
    add(m);
  }

  // All kernels in turns with the default, but those that a first look finds too slow by far.
  void measure_kernels(const gemm::Problem& p, const OperandSets& sets, bool burst) {
    std::vector<Measured> rows;
    std::vector<Launcher> contenders;
    double fastest = std::numeric_limits<double>::max();
    for (const gemm::Kernel& kernel : on_tcgen05_ ? gemm::tensor_kernels() : gemm::kernels()) {
      gemm::Plan plan;
      if (gemm::make_plan_with(p, kernel, plan) != gemm::Status::Ok) continue;
      const gemm::Path taken = path(plan, sets);
      if (gemm::launch_of(plan, taken).kernel != &kernel) continue;
      const double us = Block(launcher(plan, sets), sets.count(), 3, stream_).microseconds();
      fastest = std::min(fastest, us);
      if (us > 2 * fastest) continue;
      rows.push_back(describe(plan, sets, burst));
      check(plan, sets, rows.back());
      contenders.push_back(launcher(plan, sets));
    }
    const std::vector<Launcher> theirs = their_launchers(sets);
    if (!theirs.empty()) contenders.push_back(theirs[0]);
    const auto times = take_turns(contenders, sets.count(), regime(burst), stream_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].ours = quartiles(times[i]);
      if (!theirs.empty()) {
        rows[i].theirs = quartiles(times.back());
        rows[i].ratio = ratios(times.back(), times[i]);
      }
      add(rows[i]);
    }
  }

  const Arguments& args_;
  bool on_tcgen05_;
  cudaStream_t stream_ = nullptr;
  int sm_count_ = 0;
  std::unique_ptr<Clocks> clocks_;
  std::shared_ptr<CublasLt> cublas_;
  std::map<std::pair<Type, bool>, Ceiling> ceilings_;
  gemm::TuneCache choices_;
  std::vector<cuda::DeviceBuffer<std::uint8_t>> workspaces_;  // of a shape, as launchers have them
  Variant variant_;                                           // of what is being measured
  Run run_;
};

Type parse_type(const std::string& word) {
  for (const Type type :
       {Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8, Type::e4m3, Type::e5m2, Type::e2m1})
    if (word == name(type)) return type;
  throw oracle::UsageError(fmt::format(
      "'{}' is no type of the library: f16, bf16, tf32, s8, u8, e4m3, e5m2, e2m1", word));
}

// A shape, and of how many products if that is drawn; else 0.
struct Asked {
  Shape shape;
  int products = 0;
};

// What every shape is measured as, one after the other; or what the `index`-th draws.
std::vector<Variant> variants(const Arguments& args, int index, const Asked& asked, Type in) {
  const auto& [shape, products] = asked;
  if (args.draw_options) return {drawn_variant(*args.draw, index, shape, in, products)};
  std::vector<Variant> all;
  for (const std::string& epilogue : args.epilogues) {
    all.push_back({.majors = args.majors,
                   .epilogue = epilogue,
                   .out = args.out,
                   .scaling = args.scaling,
                   .promotes = args.promotes,
                   .groups = args.groups,
                   .along_k = args.along_k,
                   .factor_majors = args.factor_majors,
                   .rows_by = args.rows_by,
                   .batch = products > 0 ? products : args.batch,
                   .shared_b = args.shared_b,
                   .pad = args.pad,
                   .has_workspace = !args.no_workspace});
    if (!args.batch_invariant) continue;
    all.push_back(all.back());
    all.back().batch_invariant = true;
  }
  return all;
}

std::vector<bool> regimes(const std::string& word) {
  if (word == "both") return {false, true};
  return {word == "burst"};
}

void write_results(const Arguments& args, const Run& run) {
  if (!args.json.empty()) oracle::write_whole_file(args.json, json(run));
  if (!args.svg.empty()) oracle::write_whole_file(args.svg, picture(run));
}

void measure(Bench& bench, const Arguments& args, const Shape& shape, Type type, bool burst,
             const Variant& variant) {
  if (args.ceiling) return bench.measure_beside_ceiling(shape, type, burst, variant);
  bench.measure(shape, type, burst, variant);
}

// Is the device one for tcgen05? Throws UsageError if it is for neither.
bool has_tcgen05() {
  if (cuda::device_count() == 0) throw oracle::UsageError("no CUDA device was found");
  const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
  const bool tcgen05 = gemm::has_tcgen05({.major = id.major, .minor = id.minor});
  if (!tcgen05 && (id.major != 9 || id.minor != 0))
    throw oracle::UsageError(
        fmt::format("{} has compute capability {}.{}; this needs 9.0, 10.0 or 10.3", id.name,
                    id.major, id.minor));
  return tcgen05;
}

int run(const Arguments& args) {
  if (!args.tune_cache.empty() && !args.tune)
    throw oracle::UsageError("--tune-cache says where the choices of --tune are: give both");
  if (args.tune && args.every_kernel)
    throw oracle::UsageError("--tune measures one kernel, --every-kernel all: give one of them");
  std::vector<Asked> shapes;
  const auto ask = [&](const std::vector<Shape>& all) {
    for (const Shape& shape : all) shapes.push_back({shape});
  };
  for (const std::string& text : args.shapes) ask({parse_shape(text)});
  if (args.along_k && args.groups == 0)
    throw oracle::UsageError("--along-k deals K to groups: give their number by --groups");
  if (args.draw && !shapes.empty())
    throw oracle::UsageError("--draw draws the shapes: give none beside it");
  if (args.draw && args.draw_batches)
    for (const DrawnBatch& batch : drawn_batches(*args.draw, args.count))
      shapes.push_back({batch.shape, batch.products});
  else if (args.draw)
    ask(drawn_shapes(*args.draw, args.count));
  if (shapes.empty()) ask(suite());
  std::vector<Type> types;
  for (const std::string& word : args.types) types.push_back(parse_type(word));
  if (args.ceiling && (args.tune || args.every_kernel))
    throw oracle::UsageError(
        "--ceiling measures the planned kernel: give no --tune, --every-kernel");
  constexpr Asked any = {{16, 16, 16}};
  for (const Type type : types)
    for (const Variant& variant : variants(args, 0, any, type))
      (void)variant.problem(any.shape, type);
  const bool on_tcgen05 = has_tcgen05();
  if (on_tcgen05 && (args.ceiling || args.tune))
    throw oracle::UsageError("--ceiling is wgmma's and --tune Hopper's: not on this device");
  Bench bench(args, on_tcgen05);
  const Run& result = bench.result();
  fmt::print("{}, driver {}, CUDA {}, cuBLASLt: {}\n", result.device, result.driver, result.runtime,
             result.cublas);
  if (!args.every_kernel && !args.ceiling) {
    bench.control(types[0], variants(args, 0, any, types[0])[0]);
    fmt::print("control, ours by ours at 4096x4096x4096: {:.4f} ({:.4f} to {:.4f})\n",
               result.control->median, result.control->first, result.control->third);
  }
  fmt::print("{}", header_line());
  for (const bool burst : regimes(args.regime))
    for (const Type type : types)
      for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
        const Asked& asked = shapes[static_cast<std::size_t>(i)];
        for (const Variant& variant : variants(args, i, asked, type))
          if (interrupted == 0) measure(bench, args, asked.shape, type, burst, variant);
      }
  if (!args.every_kernel) fmt::print("{}", summary(result));
  write_results(args, result);
  if (interrupted != 0) {
    fmt::print(stderr, "bench_gemm: interrupted; what was measured is written\n");
    return 130;
  }
  return std::ranges::any_of(result.rows, [](const Measured& m) { return m.differing != 0; })
             ? exit_mismatch
             : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments args;
  CLI::App app(
      "The GEMM library beside cuBLASLt on one GPU: sm_90; sm_100 or sm_103, where it has not "
      "run.");
  app.add_option("shapes", args.shapes, "MxNxK ...; none: the suite of 40");
  CLI::Option* draw = app.add_option("--draw", args.draw, "draw the shapes with this seed instead");
  app.add_option("--count", args.count, "how many are drawn (default 40)")
      ->needs(draw)
      ->check(CLI::Range(1, 10000));
  app.add_option("--type", args.types,
                 "f16, bf16 (default), tf32, s8, u8, e4m3, e5m2, e2m1; several are allowed");
  app.add_option("--regime", args.regime, "sustained (default), burst, both")
      ->check(CLI::IsMember({"sustained", "burst", "both"}));
  app.add_option("--majors", args.majors, "of A and B, K or M for MN: KK (default), KM, MK, MM")
      ->check(CLI::IsMember({"KK", "KM", "MK", "MM"}));
  app.add_option("--epilogue", args.epilogues,
                 "none (default), or words joined by +; several: " + epilogue_words());
  app.add_option(
      "--out", args.out,
      "the type of D: f16, bf16, f32, s32; e4m3, e5m2: with factors for 128 columns of a "
      "row, which cuBLASLt's get from a kernel behind it; default: 16-bit types themselves");
  app.add_option(
      "--scaling", args.scaling,
      "of e4m3 and e5m2: " + scaling_words() +
          "; cuBLASLt's has one factor for each operand, but the same as ours with mx (e4m3, e5m2: "
          "MXFP8) and nv (e2m1: NVFP4), for sm_100 and sm_103");
  app.add_option("--factor-majors", args.factor_majors,
                 "of the factors of A and B that block and vector have, as --majors")
      ->check(CLI::IsMember({"KK", "KM", "MK", "MM"}));
  app.add_flag("--promote", args.promotes,
               "FP8: sums of 128 of K are added in f32 without such factors, too");
  app.add_option("--groups", args.groups,
                 "deal the rows to so many products of one launch, by chance, each with a B of its "
                 "own; beside "
                 "cuBLASLt's one product of all rows")
      ->check(CLI::Range(1, 4096));
  app.add_flag(
      "--along-k", args.along_k,
      "deal K to the groups instead, each with a result of its own (gradients of weights)");
  app.add_option("--rows-by", args.rows_by,
                 "how groups of rows are told: " + rows_by_words() +
                     "; ends (default): rows one behind the other; counts: a matrix for each, of "
                     "twice the rows of the mean, cuBLASLt has those that count; numbers: each row "
                     "has one")
      ->check(CLI::IsMember({"ends", "counts", "numbers"}));
  app.add_option("--batch", args.batch,
                 "deal the rows evenly to so many products of one launch, each with a B of its "
                 "own; cuBLASLt's are as many, but those with factors of mx and nv, which it is "
                 "not asked for")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--shared-b", args.shared_b, "one B for all products of the batch");
  app.add_option("--pad", args.pad,
                 "so many elements between the lines of A, B, C and D, for cuBLASLt too")
      ->check(CLI::Range(0, 4096));
  app.add_flag("--batch-invariant", args.batch_invariant,
               "every shape a second time, with bits of a row of D that do not depend on M");
  app.add_flag("--no-workspace", args.no_workspace,
               "operands that TMA cannot address are not copied first, and all tiles are whole; "
               "cuBLASLt keeps its own");
  CLI::Option* draw_options = app.add_flag(
      "--draw-options", args.draw_options,
      "draw also what each shape is besides: epilogue, type of D, majors, scaling, batches, "
      "groups, pads, no workspace");
  draw_options->needs(draw);
  app.add_flag("--draw-batches", args.draw_batches,
               "draw batches of small products, 8 to 512 a side")
      ->needs(draw)
      ->excludes(app.get_option("--groups"))
      ->excludes(app.get_option("--batch"));
  for (const char* given : {"--majors", "--epilogue", "--out", "--scaling", "--factor-majors",
                            "--promote", "--groups", "--along-k", "--rows-by", "--batch",
                            "--shared-b", "--pad", "--batch-invariant", "--no-workspace"})
    draw_options->excludes(app.get_option(given));
  app.add_option("--seconds", args.seconds, "sustained: measuring time of each side (default 0.6)")
      ->check(CLI::Range(0.001, 3600.0));
  app.add_option("--seed", args.seed, "of the operands (default 1)");
  app.add_flag("--every-kernel", args.every_kernel,
               "each kernel that can compute the shape, not only the planned one");
  app.add_flag("--ceiling", args.ceiling,
               "our GEMM alone beside wgmma alone, each settled: its share of what power allows");
  app.add_flag("--tune", args.tune, "the plan of the tuner instead of the estimated one");
  app.add_option("--tune-cache", args.tune_cache,
                 "load and save the tuner's choices; the file need not be there");
  app.add_option("--cublaslt", args.cublas, "the library's file, if it is not found");
  app.add_flag("--no-cublaslt", args.no_cublas, "ours alone");
  app.add_option("--json", args.json, "write the results as JSON");
  app.add_option("--svg", args.svg, "write a picture of the ratios");
  std::signal(SIGINT, [](int) { interrupted = 1; });
  return tool_main(app, "bench_gemm", argc, argv, [&] { return run(args); });
}
