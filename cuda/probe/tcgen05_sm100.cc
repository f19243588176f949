// Launches of the kernels of cuda/probe/tcgen05_text_sm100.h. What they are for: cuda/probe/tcgen05_sm100.h.
#include "cuda/probe/tcgen05_sm100.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cuda/probe/tcgen05_text_sm100.h"
#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/launch.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/syntax.h"

namespace tcq::cuda {
namespace {

using detail::LoadedProbe;

constexpr std::uint32_t kCopyBytes = 16;  // per thread and step, when the image is copied
constexpr std::size_t kBatchCtas = 512;   // bounds memory: an image of Tensor Memory is 256 KiB
constexpr std::uint64_t kPatience = 200'000'000;          // clock cycles, about a tenth of a second
constexpr std::uint32_t kWindowBytes = 16 * 1024 * 1024;  // of one CTA in a cluster
constexpr std::uint32_t kUnreported = 0xffffffff;

void demand(bool condition, const std::string& sentence) {
  if (!condition) throw std::runtime_error(sentence);
}

std::string fault_text(Fault fault) {
  return std::string(info(fault).sentence) + " (" + info(fault).source + ")";
}

template <class Form>
LoadedProbe load(const Form& form, int immediate, Probed probed) {
  LoadedProbe probe;
  probe.opcode = tcgen05::opcode(form).chars;
  explain(probe.opcode, nullptr, [&] {
    const Target target = sm100_target();
    const Fault fault = check(form, target);
    demand(fault == Fault::None, fault_text(fault));
    demand(ptx::immediate_exists(form, immediate),
           "the immediate " + std::to_string(immediate) + " does not exist");
    probe.registers = tcgen05::vector_registers(form);
    const int device = current_device();
    // Dynamic shared memory follows what the driver reserves; run() verifies it.
    probe.shared_base = static_cast<std::uint32_t>(
        device_attribute(cudaDevAttrReservedSharedMemoryPerBlock, device));
    probe.max_shared_bytes = static_cast<std::uint32_t>(device_attribute(
                                 cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) -
                             probe_tail_bytes;
  });
  if (probed == Probed::Nothing) probe.opcode = "the probe without " + probe.opcode;
  probe.kernel = jit_kernel(probe.opcode, probe_ptx(form, immediate, sm100_target(), probed));
  return probe;
}

// The memory of one launch.
struct Launch {
  std::vector<std::uint8_t> records;
  std::vector<std::uint8_t> images;
  std::vector<std::uint32_t> tmem;  // in, then out
  std::vector<std::uint32_t> registers;
  std::vector<std::uint32_t> reduced;
  std::vector<ProbeReport> reports;
  std::uint32_t shared_bytes = 0;

  template <class Record>
  void add_record(const Record& record) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
    records.insert(records.end(), bytes, bytes + sizeof record);
  }
  void add_cta(const CtaMemory& cta) {
    if (shared_bytes != 0) images.insert(images.end(), cta.shared, cta.shared + shared_bytes);
    tmem.insert(tmem.end(), cta.tmem_in, cta.tmem_in + tmem_image_words);
    reports.push_back({kUnreported, 0, 0, 0});
  }
  void copy_tmem(const CtaMemory& cta, std::size_t index) const {
    const auto from = tmem.begin() + static_cast<std::ptrdiff_t>(index) * tmem_image_words;
    std::copy(from, from + tmem_image_words, cta.tmem_out);
  }
};

void run_launch(const LoadedProbe& probe, Launch& launch) {
  const DeviceBuffer<std::uint8_t> records{std::span<const std::uint8_t>(launch.records)};
  const DeviceBuffer<std::uint8_t> images{std::span<const std::uint8_t>(launch.images)};
  const DeviceBuffer<std::uint32_t> tmem_in{std::span<const std::uint32_t>(launch.tmem)};
  const DeviceBuffer<std::uint32_t> tmem_out(launch.tmem.size());
  const DeviceBuffer<std::uint32_t> registers{std::span<const std::uint32_t>(launch.registers)};
  const DeviceBuffer<std::uint32_t> reduced{std::span<const std::uint32_t>(launch.reduced)};
  const DeviceBuffer<ProbeReport> reports{std::span<const ProbeReport>(launch.reports)};

  void* pointers[] = {records.data(),   images.data(),  tmem_in.data(), tmem_out.data(),
                      registers.data(), reduced.data(), reports.data()};
  std::uint64_t patience = kPatience;
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2],         &pointers[3], &pointers[4],
                       &pointers[5], &pointers[6], &launch.shared_bytes, &patience};
  // More than half of an SM's: a second CTA there would wait for Tensor Memory.
  const std::uint32_t dynamic =
      std::max(launch.shared_bytes, probe.max_shared_bytes / 2 + kCopyBytes) + probe_tail_bytes;
  allow_shared_bytes(*probe.kernel, dynamic);
  CUDA_CHECK(cudaLaunchKernel(static_cast<const void*>(probe.kernel->kernel),
                              dim3(static_cast<unsigned>(launch.reports.size())),
                              dim3(probe_threads), arguments, dynamic, nullptr));
  wait_for_kernel();

  reports.download(launch.reports);
  tmem_out.download(launch.tmem);
  registers.download(launch.registers);
  reduced.download(launch.reduced);
  for (const ProbeReport& report : launch.reports) {
    demand(report.shared_base != kUnreported, "a CTA of the probe did not run");
    // In a cluster the bits above a CTA's window hold its rank.
    demand(report.shared_base % kWindowBytes == probe.shared_base,
           "dynamic shared memory starts at address " + std::to_string(report.shared_base) +
               ", but " + std::to_string(probe.shared_base) + " was expected");
    demand(report.tmem_base == 0, "all of Tensor Memory was allocated at address " +
                                      std::to_string(report.tmem_base) + ", not at 0");
  }
}

IssueRecord record_of(const IssueCase& c) {
  const ptx::Tcgen05MmaOperands& o = c.mma;
  IssueRecord record{
      o.desc_a,  o.desc_b, o.zero_column_mask,     c.desc, o.d, o.a, o.metadata, o.idesc, o.scale_a,
      o.scale_b, c.taddr,  o.accumulate ? 1u : 0u, {}};
  std::copy(std::begin(o.disable_output_lane), std::end(o.disable_output_lane), record.lanes);
  return record;
}

void demand_memory(const CtaMemory& cta, bool shared) {
  demand(cta.tmem_in != nullptr && cta.tmem_out != nullptr, "a case has no Tensor Memory");
  demand(cta.shared != nullptr || !shared, "a case has no shared image");
}

void run_issue_batch(const LoadedProbe& probe, std::span<const IssueCase> cases,
                     std::uint32_t shared_bytes) {
  Launch launch;
  launch.shared_bytes = shared_bytes;
  for (const IssueCase& c : cases) {
    launch.add_record(record_of(c));
    for (int rank = 0; rank < probe.cta_group; ++rank) launch.add_cta(c.cta[rank]);
  }
  run_launch(probe, launch);
  std::size_t index = 0;
  for (const IssueCase& c : cases) {
    bool completed = true;
    for (int rank = 0; rank < probe.cta_group; ++rank, ++index) {
      completed = completed && launch.reports[index].completed != 0;
      launch.copy_tmem(c.cta[rank], index);
    }
    if (c.completed != nullptr) *c.completed = completed;
  }
}

void run_register_batch(const LoadedProbe& probe, std::span<const RegisterCase> cases) {
  const int count = probe_threads * probe.registers;
  Launch launch;
  for (const RegisterCase& c : cases) {
    launch.add_record(c.taddr);
    launch.add_cta(c.cta);
    launch.registers.insert(launch.registers.end(), c.registers_in, c.registers_in + count);
  }
  launch.reduced.resize(cases.size() * probe_threads);
  run_launch(probe, launch);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    launch.copy_tmem(cases[i].cta, i);
    const auto registers = launch.registers.begin() + static_cast<std::ptrdiff_t>(i) * count;
    std::copy(registers, registers + count, cases[i].registers_out);
    const auto reduced = launch.reduced.begin() + static_cast<std::ptrdiff_t>(i) * probe_threads;
    if (probe.reduces) std::copy(reduced, reduced + probe_threads, cases[i].reduced);
  }
}

// Calls run(part) for parts of at most `size` cases.
template <class Case, class Run>
void in_batches(std::span<const Case> cases, std::size_t size, Run run) {
  while (!cases.empty()) {
    const std::size_t count = std::min(size, cases.size());
    run(cases.first(count));
    cases = cases.subspan(count);
  }
}

}  // namespace

bool sm100_present() { return sm100_absence().empty(); }

std::string sm100_absence() {
  if (device_count() == 0) return "no CUDA device was found; this needs compute capability 10.x";
  const int device = current_device();
  const int major = device_attribute(cudaDevAttrComputeCapabilityMajor, device);
  if (major == 10) return "";
  return describe(identity(device)) + ": this needs compute capability 10.x";
}

Target sm100_target() {
  const std::string absence = sm100_absence();
  demand(absence.empty(), absence);
  const int minor = device_attribute(cudaDevAttrComputeCapabilityMinor, current_device());
  demand(minor == 0 || minor == 3,
         "compute capability 10." + std::to_string(minor) + " is neither sm_100a nor sm_103a");
  return minor == 0 ? Target::sm_100a : Target::sm_103a;
}

IssueProbe::IssueProbe(const tcgen05::MmaForm& form, int scale_input_d, Probed probed)
    : probe_(load(form, scale_input_d, probed)) {
  probe_.cta_group = form.opcode.cta_group;
}

IssueProbe::IssueProbe(const tcgen05::CpForm& form, Probed probed) : probe_(load(form, 0, probed)) {
  probe_.cta_group = form.cta_group;
}

IssueProbe::IssueProbe(const tcgen05::ShiftForm& form, Probed probed)
    : probe_(load(form, 0, probed)) {
  probe_.cta_group = form.cta_group;
}

void IssueProbe::run(std::span<const IssueCase> cases, std::uint32_t shared_bytes) const {
  explain(probe_.opcode, probe_.kernel, [&] {
    demand(shared_bytes % kCopyBytes == 0, "the size of a shared image is no multiple of 16");
    demand(shared_bytes <= probe_.max_shared_bytes, "a shared image is too large for one CTA");
    for (const IssueCase& c : cases)
      for (int rank = 0; rank < probe_.cta_group; ++rank)
        demand_memory(c.cta[rank], shared_bytes != 0);
    in_batches(cases, kBatchCtas / 2, [&](std::span<const IssueCase> part) {
      run_issue_batch(probe_, part, shared_bytes);
    });
  });
}

RegisterProbe::RegisterProbe(const tcgen05::LdForm& form, int half_split, Probed probed)
    : probe_(load(form, half_split, probed)) {}

RegisterProbe::RegisterProbe(const tcgen05::StForm& form, int half_split, Probed probed)
    : probe_(load(form, half_split, probed)) {}

RegisterProbe::RegisterProbe(const tcgen05::LdRedForm& form, int half_split, Probed probed)
    : probe_(load(form, half_split, probed)) {
  probe_.reduces = true;
}

void RegisterProbe::run(std::span<const RegisterCase> cases) const {
  explain(probe_.opcode, probe_.kernel, [&] {
    for (const RegisterCase& c : cases) {
      demand_memory(c.cta, false);
      demand(c.registers_in != nullptr && c.registers_out != nullptr, "a case has no registers");
      demand(c.reduced != nullptr || !probe_.reduces, "a case has no place for the reduced words");
    }
    in_batches(cases, kBatchCtas,
               [&](std::span<const RegisterCase> part) { run_register_batch(probe_, part); });
  });
}

}  // namespace tcq::cuda
