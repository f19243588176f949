// One kernel of the GEMM library, compiled by nvcc to PTX and run on the machine with the arguments, tensor maps and
// schedule that the library itself makes of a problem.
//
// Example:
//   const TestKernel kernel = TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4);
//   GemmKernelRun run(kernel.ptx(), kernel.row, make_case(...), problem, 1);
//   EXPECT_EQ(run.go(), Fault::None);
//   EXPECT_EQ(run.differing(), 0u);
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/maps.h"
#include "cuda/gemm/run.h"
#include "cuda/gemm/skinny_config.h"
#include "cuda/gemm/stream_k.h"
#include "cuda/gemm/tensor_config.h"
#include "tests/run/ptx_run.h"
#include "tests/support/gemm_problem.h"
#include "tests/support/process.h"
#include "tests/support/scale_codes.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::tests {

// A source that a compiler cache knows by its name: one of this text, in the build. Processes beside each other write
// the same.
inline std::string kernel_source(const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(TCQ_BUILD_DIR) / "tests/kernels";
  const std::string name = fmt::format("{:016x}.cu", std::hash<std::string>()(text));
  const std::filesystem::path own = folder / fmt::format("{}.{}", name, getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(own) << text;
  std::filesystem::rename(own, folder / name);
  return folder / name;
}

inline std::string compiled_ptx(const std::string& text, const std::string& arch = "90a") {
  const TemporaryFolder folder;
  const std::string out = folder.file("kernel.ptx");
  const Finished nvcc =
      tests::run(TCQ_NVCC_CACHED,
                 {"-std=c++20", "-O3", "-DNDEBUG", "-lineinfo", "-gencode",
                  "arch=compute_" + arch + ",code=compute_" + arch, "-I" + source_tree().string(),
                  "-c", "-ptx", "-o", out, kernel_source(text)});
  EXPECT_EQ(nvcc.status, 0) << nvcc.err;
  std::ifstream in(out);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct TestKernel {
  std::string function;  // C++ of the template, and of its argument
  std::string config;
  gemm::Kernel row;
  std::string includes = "#include \"cuda/gemm/copy.cuh\"\n#include \"cuda/gemm/skinny.cuh\"\n";
  std::string arch = "90a";

  // Compiled once in a process.
  const std::string& ptx() const {
    static std::map<std::string, std::string> texts;
    std::string& text = texts[function + config];
    if (text.empty()) text = compiled();
    return text;
  }

 private:
  std::string compiled() const {
    const std::string operand = "const __grid_constant__ gemm::OperandMaps, ";
    const std::string map = "const __grid_constant__ CUtensorMap, ";
    const std::string operands = row.tensor_columns > 0 || row.stages_factors
                                     ? ", const __grid_constant__ gemm::TensorOperands"
                                     : "";
    return compiled_ptx(includes + "using namespace tcq;\nusing C = " + config +
                            ";\ntemplate __global__ void gemm::" + function + "<C>(" + operand +
                            operand + map + map + "const __grid_constant__ gemm::Arguments" +
                            operands + ");\n",
                        arch);
  }
};

#define TCQ_LARGE(...)                                      \
  ::tcq::tests::TestKernel {                                \
    "kernel", "gemm::Config<" #__VA_ARGS__ ">",             \
        gemm::kernel_of<gemm::Config<__VA_ARGS__>>(nullptr) \
  }
#define TCQ_TWO_OF_AN_SM(...)                                                \
  ::tcq::tests::TestKernel {                                                 \
    "kernel", "gemm::TwoOfAnSm<gemm::Config<" #__VA_ARGS__ ">>",             \
        gemm::kernel_of<gemm::TwoOfAnSm<gemm::Config<__VA_ARGS__>>>(nullptr) \
  }
#define TCQ_STAGED(...)                                                   \
  ::tcq::tests::TestKernel {                                              \
    "staged_kernel", "gemm::Staged<gemm::Config<" #__VA_ARGS__ ">>",      \
        gemm::kernel_of<gemm::Staged<gemm::Config<__VA_ARGS__>>>(nullptr) \
  }
#define TCQ_COPYING(...)                                                        \
  ::tcq::tests::TestKernel {                                                    \
    "copy_kernel", "gemm::Config<" #__VA_ARGS__ ">",                            \
        gemm::kernel_of<gemm::Config<__VA_ARGS__>>(nullptr, gemm::Loader::Copy) \
  }
// `PEERS` tiles of a cluster have the same tokens, `MATES` the same weights: one text for all.
#define TCQ_SKINNY(PEERS, MATES, ...)                                                  \
  ::tcq::tests::TestKernel {                                                           \
    "skinny_kernel", "gemm::SkinnyConfig<" #__VA_ARGS__ ">",                           \
        gemm::skinny_kernel_of<gemm::SkinnyConfig<__VA_ARGS__>>(nullptr, PEERS, MATES) \
  }

#define TCQ_TENSOR(...)                                            \
  ::tcq::tests::TestKernel {                                       \
    "tensor_kernel", "gemm::TensorConfig<" #__VA_ARGS__ ">",       \
        gemm::kernel_of<gemm::TensorConfig<__VA_ARGS__>>(nullptr), \
        "#include \"cuda/gemm/tensor_kernel.cuh\"\n", "100a"       \
  }

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// A cluster's arrivals as PTX's memory model wants them. cuda/NOTES.md says what it costs to be in the right there, and
// run_gemm_test.cc what the machine says of them as they are.
inline std::string with_releases(std::string text) {
  text = replaced(text, "barrier.cluster.arrive.relaxed", "barrier.cluster.arrive.release");
  text = replaced(text, "arrive.relaxed.cluster.shared::cluster",
                  "arrive.release.cluster.shared::cluster");
  return replaced(text, "try_wait.parity.shared::cta",
                  "try_wait.parity.acquire.cluster.shared::cta");
}

// The entry's name stands behind ".entry".
inline std::string entry_of(const std::string& text) {
  const std::size_t at = text.find(".entry ") + 7;
  return text.substr(at, text.find('(', at) - at);
}

// Launches of a text follow each other: it is read for the first of them.
inline std::shared_ptr<const PtxKernel> read_once(const std::string& text) {
  static std::shared_ptr<const PtxKernel> last;
  if (!last || last->text != text) last = std::make_shared<const PtxKernel>(text, entry_of(text));
  return last;
}

class GemmKernelRun {
 public:
  // `clusters` run one after the other, each with its share of the tiles, or begin and take over the others; where kernels are
  // not persistent one for each tile.
  // `sizes` are those of groups.
  GemmKernelRun(const std::string& ptx, const gemm::Kernel& row, GemmCase x, const gemm::Problem& p,
                int clusters, std::vector<std::int32_t> sizes = {})
      : row_(row), x_(std::move(x)), sizes_(std::move(sizes)), run_(read_once(ptx)) {
    EXPECT_EQ(gemm::check(p), gemm::Status::Ok);
    plan_.problem = gemm::resolved(p);
    plan_.made = true;
    gemm::Launch& launch = plan_.aligned;
    launch.kernel = &row_;
    launch.schedule = gemm::schedule_of(row_, plan_.problem);
    launch.k_blocks = gemm::k_blocks(row_, plan_.problem);
    const auto tiles = static_cast<int>(gemm::tiles_of(launch.schedule));
    launch.clusters = static_cast<int>(gemm::clusters_of_grid(row, tiles, clusters));
    launch.runs = gemm::runs_of(row_, tiles, launch.clusters, launch.k_blocks);
    if (row.dynamic) resident_ = static_cast<std::uint64_t>(clusters);
    plan_.unaligned = launch;
    for (const gemm::KSegment& s : k_segments(plan_, gemm::Path::Aligned))
      x_.gemm.segments.push_back({s.first, s.count});
    pass_arguments();
  }

  // CTAs that have parts of one tile are on the machine at once, where it can have them so. `instructions`: what does not end
  // has more.
  Fault go(std::uint64_t explore = 0, std::uint64_t instructions = 1'000'000) {
    run_.launch().whole_grid = runs_at_once();
    const auto ctas = static_cast<std::uint32_t>(gemm::cluster_size(row_));
    return run_.go({.grid = {ctas * static_cast<std::uint32_t>(plan_.aligned.clusters)},
                    .block = {static_cast<std::uint32_t>(row_.threads)},
                    .cluster = {ctas},
                    .shared = row_.shared_bytes,
                    .explore = explore,
                    .executions = 1,
                    .resident = resident_,
                    .instructions = instructions});
  }

  // Bytes of D, its factors, and what lies between and around the rows of both.
  std::size_t differing() const {
    const std::vector<std::uint8_t> want =
        sizes_.empty() ? stored_results(x_, 1) : expected_of_groups(x_, plan_.problem, sizes_);
    const auto got = GemmCase::joined(run_.read<std::uint8_t>(d_, d_bytes_), factors());
    std::size_t count = 0;
    for (std::size_t i = 0; i < want.size(); ++i) count += want[i] != got[i];
    return count;
  }

  bool runs_at_once() {
    run::Launch launch = run_.launch();
    launch.grid = {static_cast<std::uint32_t>(plan_.aligned.clusters)};
    return plan_.aligned.runs.tiles > 0 && run::may_run_together(run_.kernel(), launch);
  }

  int tiles_in_runs() const { return plan_.aligned.runs.tiles; }

  // Of warps that left sums which nobody has taken, or taken and not cleared.
  std::size_t flags_left() const {
    if (dealt_.flags == nullptr) return 0;
    const auto flags = reinterpret_cast<Pointer>(dealt_.flags);
    const auto bytes = reinterpret_cast<Pointer>(dealt_.sums) - flags;
    std::size_t count = 0;
    for (const auto flag : run_.read<std::uint64_t>(flags, bytes / sizeof(std::uint64_t)))
      count += flag == dealt_.left ? 1 : 0;
    return count;
  }

  const PtxRun& run() const { return run_; }
  // Of those that the kernel gets, in the order of its parameters.
  void forget_map(std::ptrdiff_t number) {
    auto& places = run_.launch().map_places;
    places.erase(places.begin() + number);
  }

 private:
  std::vector<std::uint8_t> factors() const {
    if (x_.scale_d.bytes.empty()) return {};
    return run_.read<std::uint8_t>(scale_d_, scale_d_bytes_);
  }

  Pointer put(const Buffer& buffer) { return run_.array(buffer.bytes) + buffer.first; }

  const std::uint8_t* put_bytes(const std::vector<std::uint8_t>& bytes) {
    return reinterpret_cast<const std::uint8_t*>(run_.array(bytes));
  }

  void pass_arguments() {
    const auto pointer = [](Pointer p) { return reinterpret_cast<void*>(p); };
    const auto optional = [&](const Buffer& b) {
      return b.bytes.empty() ? nullptr : pointer(put(b));
    };
    gemm::Pointers at;
    at.a = pointer(put(x_.gemm.in == Type::e2m1 ? packed_by_two(x_.a) : x_.a));
    at.b = pointer(put(x_.gemm.b_type() == Type::e2m1 ? packed_by_two(x_.b) : x_.b));
    at.c = pointer(put(x_.c));
    const Buffer d = stored_d(x_.gemm, x_.d);
    d_ = run_.array(d.bytes);
    d_bytes_ = d.bytes.size();
    at.d = pointer(d_ + d.first);
    if (!x_.scale_d.bytes.empty()) put_factors_of_d(at);
    at.bias = optional(x_.bias);
    at.scale_a = static_cast<const float*>(optional(x_.scale_a));
    at.scale_b = static_cast<const float*>(optional(x_.scale_b));
    if (!sizes_.empty()) at.sizes = reinterpret_cast<const std::int32_t*>(run_.array(sizes_));
    if (!x_.sfa.bytes.empty()) {
      const bool apart = plan_.problem.grouping == gemm::Grouping::Ends;
      at.scale_codes_a =
          put_bytes(apart ? atoms_of_lines(x_.gemm, x_.sfa, lines_of_groups(plan_.problem, sizes_))
                          : atoms_of(x_.gemm, x_.sfa, x_.gemm.m));
      at.scale_codes_b = put_bytes(atoms_of(x_.gemm, x_.sfb, x_.gemm.n));
    }
    EXPECT_EQ(gemm::check(plan_, at, {}), gemm::Status::Ok);
    const gemm::Work work = gemm::work_of(plan_, gemm::Path::Aligned, at, workspace());
    dealt_ = work.arguments.stream_k;
    const gemm::PlainMaps maps =
        gemm::plain_maps(row_, work.extents, work.a, work.b, work.d, work.arguments);
    for (const auto& map : {maps.a, maps.rest_a, maps.b, maps.rest_b}) pass_map(map);
    pass_map(maps.d);
    pass_map(maps.tail);
    run_.pass(work.arguments);
    if (row_.tensor_columns == 0 && !row_.stages_factors) return;
    pass_map(maps.scales_a);
    pass_map(maps.scales_b);
    run_.pass(work.differs);
    align_parameters();  // as the structure's size is
  }

  // Of poison, that begins anywhere.
  gemm::Workspace workspace() {
    const std::size_t bytes = gemm::stream_k_bytes(plan_.aligned);
    if (bytes == 0) return {};
    const Pointer at = run_.array(std::vector<std::uint8_t>(bytes + 3, 0xff)) + 3;
    return {reinterpret_cast<void*>(at), bytes};
  }

  void put_factors_of_d(gemm::Pointers& at) {
    const auto bytes = sizes_.empty()
                           ? stored_factors(x_.gemm, x_.scale_d, poison_of_d)
                           : stored_factors(x_.gemm, x_.scale_d, poison_of_d,
                                            coded_lines_of_groups(x_.gemm, plan_.problem, sizes_));
    scale_d_ = run_.array(bytes);
    scale_d_bytes_ = bytes.size();
    if (has_codes_d(plan_.problem))
      at.scale_codes_d = reinterpret_cast<std::uint8_t*>(scale_d_);
    else
      at.scale_d = reinterpret_cast<float*>(scale_d_ + x_.scale_d.first);
    if (x_.gemm.global_scale_d != 1)
      at.global_scale_d =
          reinterpret_cast<const float*>(run_.array(std::vector{x_.gemm.global_scale_d}));
  }

  void align_parameters() {
    auto& parameters = run_.launch().parameters;
    parameters.resize((parameters.size() + map_alignment - 1) / map_alignment * map_alignment);
  }

  static constexpr std::size_t map_bytes = 128;
  static constexpr std::size_t map_alignment = 128;  // of cuda.h's CUtensorMap

  void pass_map(std::optional<tma::TensorMap> map) {
    align_parameters();
    run::Launch& launch = run_.launch();
    const std::size_t at = launch.parameters.size();
    launch.parameters.resize(at + map_bytes);
    if (!map) return;
    map->address -= run::global_window;
    launch.map_places.push_back({run::param_window + at, static_cast<int>(launch.maps.size())});
    launch.maps.push_back(*map);
  }

  gemm::Kernel row_;
  GemmCase x_;
  std::vector<std::int32_t> sizes_;
  gemm::Plan plan_;
  PtxRun run_;
  Pointer d_ = 0;
  std::size_t d_bytes_ = 0;
  Pointer scale_d_ = 0;
  std::size_t scale_d_bytes_ = 0;
  std::uint64_t resident_ = 0;
  gemm::StreamK dealt_;
};

// Of what only nvcc can compile.
class CompiledKernels : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(TCQ_NVCC).empty()) GTEST_SKIP() << "no nvcc";
  }
};

}  // namespace tcq::tests
