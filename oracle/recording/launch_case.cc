#include "oracle/recording/launch_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "oracle/recording/case_draw.h"
#include "oracle/recording/kernel_prediction.h"
#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

constexpr std::uint32_t launch_array_bytes = 4 * launch_threads;  // a word for each thread
constexpr std::size_t launch_memory_bytes = 4 * launch_array_bytes;
static_assert(launch_array_bytes == 128);  // as the texts below say

struct LaunchRow {
  const char* name;
  const char* body;
  std::uint32_t expected = 0;  // bytes that the mbarrier waits for
  bool waits = false;          // for an arrival of the body
};

// Registers of the text: %r1 thread, %r2 x, %r3 y, %r4 mbarrier, %r20 the thread's word, %rd1 memory, %p1 thread 0; of the
// thread %r7 in x, %r9 the same as mapa says it; %r10 the mbarrier and %r13 x, as mapa says them.
constexpr LaunchRow launch_rows[] = {
    {"cp.async.bulk to shared::cluster",
     "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r3], "
     "128, [%r10];",
     128},
    {"cp.reduce.async.bulk to shared::cluster",
     "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
     "[%r13], [%r3], 128, [%r10];",
     128},
    {"st.async", "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], %r20, [%r10];",
     128},
    {"red.async",
     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9], %r20, "
     "[%r10];",
     128},
    {"st.async without mapa",
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r20, [%r4];", 128},
    {"barrier.cluster", "barrier.cluster.arrive;\nbarrier.cluster.wait;"},
    {"mapa", "sub.u32 %r20, %r9, %r7;"},
    {"getctarank", "getctarank.shared::cluster.u32 %r20, %r9;"},
    {"ld.shared::cluster", "ld.shared::cluster.u32 %r20, [%r9];"},
    {"st.shared::cluster", "st.shared::cluster.u32 [%r9], %r20;"},
    {"atom.shared::cluster", "atom.shared::cluster.add.u32 %r20, [%r9], %r20;"},
    {"mbarrier.arrive at shared::cluster",
     "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];", 0, true},
    {"cp.async.bulk from global memory",
     "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 128, "
     "[%r10];",
     128},
    {"cp.async.bulk with multicast",
     "mov.b16 %h1, 1;\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
     ".multicast::cluster [%r2], [%rd1], 128, [%r4], %h1;",
     128},
};

const LaunchRow* find_launch_row(std::string_view name) {
  const std::span<const LaunchRow> rows = launch_rows;
  const auto found =
      std::ranges::find(rows, name, [](const LaunchRow& r) { return std::string_view(r.name); });
  return found == rows.end() ? nullptr : &*found;
}

// ---- the kernel ---------------------------------------------------------------------------------

const char* directives(NamedBy by) {
  switch (by) {
    case NamedBy::Required: return ".reqnctapercluster 1, 1, 1\n";
    case NamedBy::LaunchOfExplicit: return ".explicitcluster\n";
    default: return "";
  }
}

constexpr std::string_view launch_registers = R"(  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<8>;
)";

constexpr std::string_view launch_opening = R"(  mov.u32 %r5, 0;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  shl.b32 %r11, %r1, 2;
  add.u32 %r7, %r2, %r11;
  add.u32 %r8, %r3, %r11;
  mapa.shared::cluster.u32 %r9, %r7, %r5;
  mapa.shared::cluster.u32 %r10, %r4, %r5;
  mapa.shared::cluster.u32 %r13, %r2, %r5;
  setp.eq.u32 %p1, %r1, 0;
  ld.global.u32 %r20, [%rd2];
  st.shared.u32 [%r7], %r20;
  ld.global.u32 %r20, [%rd2+128];
  st.shared.u32 [%r8], %r20;
  ld.global.u32 %r20, [%rd2+256];
)";

constexpr std::string_view launch_end = R"(
  bar.sync 0;
  ld.shared.u32 %r21, [%r7];
  st.global.u32 [%rd2], %r21;
  ld.shared.u32 %r21, [%r8];
  st.global.u32 [%rd2+128], %r21;
  st.global.u32 [%rd2+256], %r20;
  mov.pred %p2, %is_explicit_cluster;
  selp.u32 %r21, 1, 0, %p2;
  st.global.u32 [%rd2+384], %r21;
  ret;
}
)";

std::string text_of(const LaunchCase& e) {
  const LaunchRow& row = *find_launch_row(e.name);
  const std::string with_threads = std::string(".reqntid 32, 1, 1\n") + directives(e.named_by);
  return kernel_text({".param .u64 memory", with_threads, launch_array_bytes, launch_registers,
                      launch_opening, "  bar.sync 0;\n", "%p3", launch_end},
                     {row.body, row.expected, row.waits});
}

const char* words_of(NamedBy by) {
  switch (by) {
    case NamedBy::Launch: return "with a cluster of 1";
    case NamedBy::Required: return "with .reqnctapercluster";
    case NamedBy::LaunchOfExplicit: return "with .explicitcluster and a cluster of 1";
    default: return "without a cluster";
  }
}

}  // namespace

void fields(Fields& io, LaunchCase& e) {
  name_field(io, e.name, "length of a launch's name");
  io.demand(!io.reads() || find_launch_row(e.name) != nullptr,
            "recording holds a launch that is not known");
  io.below(e.named_by, named_by_count, "way to name a cluster");
}

KernelMemory state(const LaunchCase& e, const Inputs& inputs) {
  KernelMemory memory{std::vector<std::uint8_t>(launch_memory_bytes), text_of(e)};
  for (std::size_t at = 0; at < launch_memory_bytes; at += 8) {
    const std::uint64_t word = mix(mix(inputs.seed) ^ at);
    std::memcpy(memory.bytes.data() + at, &word, sizeof word);
  }
  return memory;
}

Prediction predict(const LaunchCase& e, const Inputs&, const KernelMemory& before) {
  run::Launch launch;
  launch.block = {launch_threads};
  launch.has_cluster = has_attribute(e);
  return predict_kernel(before.text, e.name, std::move(launch), before.bytes);
}

std::string describe(const LaunchCase& e, const Inputs&) {
  return fmt::format("{}, launched {}", e.name, words_of(e.named_by));
}

std::string place(const LaunchCase&, const Inputs&, std::size_t at) {
  constexpr const char* names[] = {"x", "y", "register", "%is_explicit_cluster"};
  return fmt::format("thread {} {} byte {}", at % launch_array_bytes / 4,
                     names[at / launch_array_bytes], at % 4);
}

Properties properties(const LaunchCase& e, const Inputs&) { return {e.name, words_of(e.named_by)}; }

std::size_t output_bytes(const LaunchCase&, const Inputs&) { return launch_memory_bytes; }

std::vector<Case> launches(std::uint64_t seed) {
  std::vector<Case> cases;
  for (const LaunchRow& row : launch_rows)
    for (int by = 0; by < named_by_count; ++by) {
      Case& c = cases.emplace_back(LaunchCase{row.name, static_cast<NamedBy>(by)});
      c.seed = mix(seed + cases.size());
    }
  return cases;
}

}  // namespace tcq::oracle
