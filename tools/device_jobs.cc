#include "tools/device_jobs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <numeric>

#include "cuda/probe/wgmma_sm90.h"
#include "cuda/runtime/launch.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/sparse.h"

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

void record_cases(std::span<oracle::Case> cases, void (*progress)(std::size_t done)) {
  constexpr std::size_t batch = 512;  // bounds host memory: at most 227 KiB per case
  for (std::size_t first = 0; first < cases.size(); first += batch) {
    const std::span<oracle::Case> part =
        cases.subspan(first, std::min(batch, cases.size() - first));
    std::vector<Job> jobs;
    for (oracle::Case& c : part) {
      jobs.push_back({c.instruction, oracle::build_state(c)});
      c.input_hash = oracle::hash_inputs(jobs.back().state);
    }
    run_on_device(jobs);
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i].outputs = oracle::kept_outputs(part[i], jobs[i].state);
    progress(first + part.size());
  }
}

void record_trapping_cases(std::span<oracle::Case> cases, void (*progress)(std::size_t done)) {
  const auto run = [cases](std::size_t index) {
    std::array<Job, 1> jobs{Job{cases[index].instruction, oracle::build_state(cases[index])}};
    return attempt_to([&] {
      run_on_device(jobs);
      const std::vector<std::uint32_t> outputs = oracle::kept_outputs(cases[index], jobs[0].state);
      return std::string(reinterpret_cast<const char*>(outputs.data()),
                         outputs.size() * sizeof outputs[0]);
    });
  };
  run_alone(cases.size(), run, [&](std::size_t index, const Attempt& a) {
    oracle::Case& c = cases[index];
    c.input_hash = oracle::hash_inputs(oracle::build_state(c));
    c.outputs.resize(a.answer.size() / sizeof c.outputs[0]);
    if (!c.outputs.empty()) std::memcpy(c.outputs.data(), a.answer.data(), a.answer.size());
    if (a.ending == Ending::Trapped) c.keep = oracle::Keep::Trap;
    progress(index + 1);
  });
}

Attempt attempt_to(const std::function<std::string()>& work) {
  try {
    return {Ending::Answered, 0, "", work()};
  } catch (const std::exception& error) {
    return {is_trap(error.what()) ? Ending::Trapped : Ending::Failed, 0, error.what(), ""};
  }
}

void run_alone(std::size_t cases, const std::function<Attempt(std::size_t)>& run,
               const std::function<void(std::size_t, const Attempt&)>& keep) {
  std::vector<std::size_t> all(cases);
  std::iota(all.begin(), all.end(), std::size_t{0});
  CaseRunner runner({[] {}, run, {}}, Limits{});
  const std::string why = runner.run(all, false, [&](std::size_t index, Attempt a) {
    if (a.ending != Ending::Answered && a.ending != Ending::Trapped)
      throw std::runtime_error(fmt::format("case {} failed: {}", index, a.sentence));
    keep(index, a);
    return true;
  });
  if (!why.empty()) throw std::runtime_error(why);
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

void show_progress(std::size_t done) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{} cases done", done);
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
