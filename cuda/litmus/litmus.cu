// The list of provocations and their launches; the kernels are in cluster.cu, mbarrier.cu and so on.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/litmus/device.cuh"
#include "cuda/litmus/litmus.h"
#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

using provoke::Arguments;
using provoke::Counters;
using provoke::Program;

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto family :
       {provoke::proxy_programs, provoke::wgmma_programs, provoke::mbarrier_programs,
        provoke::refill_programs, provoke::cluster_programs, provoke::hanging_programs})
    for (const Program& program : family()) all.push_back(program);
  return all;
}

Program find(const Provocation& wanted) {
  for (const Program& program : programs())
    if (std::strcmp(program.about.row, wanted.row) == 0 &&
        std::strcmp(program.about.name, wanted.name) == 0)
      return program;
  throw std::runtime_error(std::string("no provocation ") + wanted.row + " " + wanted.name);
}

// One block fills the tile of one value.
__global__ void source_kernel(std::uint32_t* source) {
  for (std::uint32_t i = threadIdx.x; i < provoke::tile_words; i += blockDim.x)
    source[blockIdx.x * provoke::tile_words + i] = provoke::word_of(blockIdx.x);
}

void launch(const Program& program, provoke::Kernel kernel, std::uint32_t ctas,
            Arguments arguments) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = program.cluster;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(ctas);
  config.blockDim = dim3(program.threads);
  config.attrs = &cluster;
  config.numAttrs = 1;
  void* parameters[] = {&arguments};
  CUDA_CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), parameters));
  CUDA_CHECK(cudaDeviceSynchronize());
}

std::uint32_t in_whole_clusters(std::uint64_t ctas, std::uint32_t cluster) {
  return static_cast<std::uint32_t>((ctas + cluster - 1) / cluster * cluster);
}

}  // namespace

std::vector<Provocation> provocations() {
  std::vector<Provocation> all;
  for (const Program& program : programs()) all.push_back(program.about);
  return all;
}

ProvokeCounts run(const Provocation& provocation, Version version, std::uint64_t runs) {
  const Program program = find(provocation);
  runs = std::min(runs, program.most_runs);
  const provoke::Kernel kernel = version == Version::Correct ? program.correct : program.mutant;
  const auto sms = static_cast<std::uint64_t>(identity(current_device()).sm_count);
  const std::uint32_t ctas = in_whole_clusters(program.one_round ? runs : sms, program.cluster);
  const std::uint32_t rounds = program.one_round ? 1 : provoke::max_rounds;
  const std::uint64_t runs_of_launch = std::uint64_t{ctas} * rounds;

  const DeviceBuffer<std::uint32_t> source(provoke::values * provoke::tile_words);
  const DeviceBuffer<std::uint32_t> sink(program.one_round ? 0 : ctas * provoke::tile_words);
  const std::array<Counters, 1> zero{};
  const DeviceBuffer<Counters> counters{std::span<const Counters>(zero)};
  source_kernel<<<provoke::values, 256>>>(source.data());
  CUDA_CHECK(cudaGetLastError());
  for (std::uint64_t launched = 0; launched < runs; launched += runs_of_launch)
    launch(program, kernel, ctas, {rounds, source.data(), sink.data(), counters.data()});

  std::array<Counters, 1> host{};
  counters.download(host);
  return {host[0].runs, host[0].wrong, host[0].timeouts};
}

}  // namespace tcq::cuda
