#include "tools/device_jobs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>

#include "cuda/probe/wgmma_sm90.h"
#include "cuda/runtime/launch.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/sparse.h"
#include "tools/case_runner.h"

namespace tcq::tools {
namespace {

bool same_kernel(const Job& x, const Job& y) {
  return x.instruction.form == y.instruction.form &&
         x.instruction.selector == y.instruction.selector &&
         x.state.shared.size() == y.state.shared.size();
}

// All of one form, selector and size of shared memory.
void run_group(std::span<Job* const> jobs) {
  const cuda::Probe probe(jobs.front()->instruction.form, jobs.front()->instruction.selector);
  if (probe.shared_base() != shared_base_sm90)
    throw std::runtime_error(fmt::format("dynamic shared memory starts at {}, not at {}",
                                         probe.shared_base(), shared_base_sm90));
  std::vector<std::vector<std::uint32_t>> results;
  std::vector<cuda::ProbeCase> cases;
  for (const Job* job : jobs) {
    const WarpgroupRegisters& r = job->state.registers;
    results.emplace_back(r.d.size());
    cases.push_back({job->instruction.desc_a, job->instruction.desc_b, job->instruction.accumulate,
                     job->state.shared.data(), r.a.data(), r.metadata.data(), r.d.data(),
                     results.back().data()});
  }
  probe.run(cases, jobs.front()->state.shared.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i]->state.registers.d = std::move(results[i]);
}

std::uint32_t element_of(const oracle::Probe& p, bool is_b, int k) {
  return (is_b ? p.b : p.a)[static_cast<std::size_t>(k)];
}

// Row 0 of an operand in the canonical layout without swizzle.
std::uint64_t store_row(wgmma::State& state, const oracle::Probe& p, bool is_b, Type type,
                        Major major, int count, std::uint32_t start) {
  const wgmma::MatrixDescriptor d{start, 2048, 256, 0, Swizzle::None};
  for (int k = 0; k < count; ++k) {
    const std::uint32_t address =
        wgmma::element_address(d, major, type, {0, static_cast<std::uint32_t>(k)});
    const std::uint32_t element = element_of(p, is_b, k);
    const int width = bits(type);
    if (width == 1) {
      const auto old = state.shared.load<std::uint8_t>(address);
      state.shared.store(address,
                         static_cast<std::uint8_t>(old | element << wgmma::bit_in_byte(type, k)));
    } else if (width == 8) {
      state.shared.store(address, static_cast<std::uint8_t>(element));
    } else if (width == 16) {
      state.shared.store(address, static_cast<std::uint16_t>(element));
    } else {
      state.shared.store(address, element);
    }
  }
  return wgmma::encode(d);
}

void store_codes(wgmma::State& state, const oracle::Probe& p) {
  const Type a = p.instruction.form.a;
  for (int chunk = 0; chunk < wgmma::chunks_per_row(a); ++chunk) {
    for (int row = 0; row < wgmma::m; ++row) {
      const wgmma::MetadataSlot s = wgmma::metadata_slot(a, p.instruction.selector, {row, chunk});
      const std::uint32_t code = p.codes[static_cast<std::size_t>(chunk)];
      state.registers.metadata[static_cast<std::size_t>(s.thread)] |=
          code << wgmma::metadata_low_bit(s.nibble);
    }
  }
}

}  // namespace

void run_on_device(std::span<Job> jobs) {
  std::vector<Job*> open;
  for (Job& job : jobs) open.push_back(&job);
  while (!open.empty()) {
    const auto rest = std::stable_partition(
        open.begin(), open.end(), [&](const Job* job) { return same_kernel(*job, *open.front()); });
    run_group({open.begin(), rest});
    open.erase(open.begin(), rest);
  }
}

Job job_of(const oracle::Probe& p) {
  Job job;
  const wgmma::Form& f = p.instruction.form;
  job.instruction = {f, p.instruction.selector, 0, 0, p.instruction.accumulate};
  wgmma::State& state = job.state;
  state.shared = SharedMemory(shared_base_sm90, 64 * 1024);
  const int registers = wgmma::accumulator_registers(f.d, f.n);
  state.registers.d.resize(static_cast<std::size_t>(wgmma::threads_per_warpgroup * registers));
  state.registers.d[0] = p.c;  // D[0][0] is thread 0, register 0, part 0 in every format
  if (f.a_place == wgmma::Place::Registers) {
    for (int k = 0; k < wgmma::stored_k(f.a); ++k) {
      const wgmma::Slot s = wgmma::a_slot(f.a, {0, k});
      const auto index = static_cast<std::size_t>(s.thread * wgmma::a_registers + s.reg);
      state.registers.a[index] |= in_register_part(f.a, element_of(p, false, k), s.part);
    }
  } else {
    job.instruction.desc_a =
        store_row(state, p, false, f.a, f.major_a, wgmma::stored_k(f.a), shared_base_sm90);
  }
  job.instruction.desc_b =
      store_row(state, p, true, f.b, f.major_b, wgmma::k(f), shared_base_sm90 + 32 * 1024);
  if (f.sparse) store_codes(state, p);
  return job;
}

void record_probes(std::span<oracle::Probe> probes) {
  std::vector<Job> jobs;
  for (const oracle::Probe& probe : probes) jobs.push_back(job_of(probe));
  run_on_device(jobs);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const std::uint32_t word = jobs[i].state.registers.d[0];
    probes[i].d = register_part(probes[i].instruction.form.d, word, 0);
    probes[i].recorded = true;
  }
}

bool is_trap(std::string_view sentence) {
  constexpr std::array<std::string_view, 6> traps = {
      "cudaErrorIllegalAddress",      "cudaErrorMisalignedAddress", "cudaErrorIllegalInstruction",
      "cudaErrorInvalidAddressSpace", "cudaErrorLaunchFailure",     "cudaErrorHardwareStackError"};
  return std::ranges::any_of(
      traps, [&](std::string_view name) { return sentence.find(name) != sentence.npos; });
}

std::optional<FoundDevice> find_device(const std::function<Target()>& target_of) {
  // The target, then the header as lines of a file.
  const auto identify = [&target_of] {
    std::string text = fmt::format("{}\n", static_cast<int>(target_of()));
    for (const auto& [key, value] : provenance()) text += fmt::format("{}: {}\n", key, value);
    return text;
  };
  try {
    const std::string text = ask_child(identify, Limits{}.open);
    const std::size_t end = text.find('\n');
    return FoundDevice{static_cast<Target>(std::stoi(text.substr(0, end))),
                       oracle::parse_header(std::string_view(text).substr(end + 1))};
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    fmt::print(stderr, "record: {}\n", error.what());
    return std::nullopt;
  }
}

void require_sm90() {
  if (cuda::device_count() == 0) throw oracle::UsageError("no CUDA device was found");
  const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
  if (id.major != 9 || id.minor != 0)
    throw oracle::UsageError(fmt::format("{} has compute capability {}.{}; this needs 9.0", id.name,
                                         id.major, id.minor));
}

std::map<std::string, std::string> provenance() {
  const cuda::DeviceIdentity id = cuda::identity(cuda::current_device());
  return {{"device", id.name},
          {"compute capability", fmt::format("{}.{}", id.major, id.minor)},
          {"driver", id.driver.empty() ? "unknown" : id.driver},
          {"cuda", fmt::format("{}.{}", id.runtime_cuda / 1000, id.runtime_cuda % 1000 / 10)},
          {"shared_base", std::to_string(shared_base_sm90)},
          {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))}};
}

}  // namespace tcq::tools
