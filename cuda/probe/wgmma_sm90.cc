// The probe's kernel text and the launches. What it is for: cuda/probe/wgmma_sm90.h.
//
// Order in the kernel: registers, image, proxy fence, barrier, wgmma with its fence and wait, D.
// The kernel also reports where its dynamic shared memory starts, which proves that every CTA ran.

#include "cuda/probe/wgmma_sm90.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/probe/kernel_text.h"
#include "cuda/ptx/wgmma_text.h"
#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/launch.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/syntax.h"

namespace tcq::cuda {
namespace {

constexpr int kThreads = wgmma::threads_per_warpgroup;
constexpr int kCopyBytes = 16;  // per thread and step, when the image is copied
constexpr std::size_t kBatchBytes = std::size_t{512} * 1024 * 1024;
constexpr std::uint32_t kUnreported = 0xffffffff;

// What the kernel reads of one case besides the arrays.
struct Record {
  std::uint64_t desc_a;
  std::uint64_t desc_b;
  std::uint32_t accumulate;
  std::uint32_t image;  // index
};
static_assert(sizeof(Record) == 24 && offsetof(Record, accumulate) == 16);

int registers_of_d(const wgmma::Form& form) { return wgmma::accumulator_registers(form.d, form.n); }

std::string wgmma_statement(const wgmma::Form& form, int selector) {
  std::string text = "  ";
  text += wgmma::opcode(form).chars;
  text += " " + register_list("d", 0, registers_of_d(form)) + ", ";
  text += form.a_place == wgmma::Place::Smem ? "desc_a" : register_list("a", 0, wgmma::a_registers);
  text += ", desc_b";
  text += form.sparse ? ", metadata" : "";
  text += ptx::wgmma_tail(form, selector).chars;
  return text + "\n";
}

std::string fault_text(Fault fault) {
  return std::string(info(fault).sentence) + " (" + info(fault).source + ")";
}

// The state of some cases in host memory, as the kernel reads it.
struct Batch {
  std::vector<Record> records;
  std::vector<std::uint8_t> images;
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> metadata;
  std::vector<std::uint32_t> d;
};

Batch gather(const wgmma::Form& form, std::span<const ProbeCase> cases,
             std::uint32_t shared_bytes) {
  Batch batch;
  std::unordered_map<const std::uint8_t*, std::uint32_t> image_index;
  for (const ProbeCase& c : cases) {
    const auto next = static_cast<std::uint32_t>(image_index.size());
    const auto [image, is_new] = image_index.try_emplace(c.shared, next);
    if (is_new) batch.images.insert(batch.images.end(), c.shared, c.shared + shared_bytes);
    batch.records.push_back({c.desc_a, c.desc_b, c.accumulate ? 1u : 0u, image->second});
    if (form.a_place == wgmma::Place::Registers)
      batch.a.insert(batch.a.end(), c.a, c.a + kThreads * wgmma::a_registers);
    if (form.sparse) batch.metadata.insert(batch.metadata.end(), c.metadata, c.metadata + kThreads);
    batch.d.insert(batch.d.end(), c.d_in, c.d_in + kThreads * registers_of_d(form));
  }
  return batch;
}

void demand(bool condition, const std::string& sentence) {
  if (!condition) throw std::runtime_error(sentence);
}

// Everything that run() can know to be wrong before it touches the device.
void demand_complete(const wgmma::Form& form, std::span<const ProbeCase> cases,
                     std::uint32_t shared_bytes, std::uint32_t max_shared_bytes) {
  demand(shared_bytes % kCopyBytes == 0, "an image of " + std::to_string(shared_bytes) +
                                             " bytes is no multiple of " +
                                             std::to_string(kCopyBytes));
  demand(shared_bytes <= max_shared_bytes,
         "an image of " + std::to_string(shared_bytes) + " bytes is larger than " +
             std::to_string(max_shared_bytes) + ", the most that one CTA of this device can have");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string who = "case " + std::to_string(i);
    demand(cases[i].shared != nullptr || shared_bytes == 0, who + " has no image");
    demand(cases[i].a != nullptr || form.a_place == wgmma::Place::Smem, who + " has no A");
    demand(cases[i].metadata != nullptr || !form.sparse, who + " has no metadata");
    demand(cases[i].d_in != nullptr && cases[i].d_out != nullptr, who + " has no D");
  }
}

void run_batch(const wgmma::Form& form, cudaKernel_t kernel, std::span<const ProbeCase> cases,
               std::uint32_t shared_bytes, std::uint32_t shared_base) {
  Batch batch = gather(form, cases, shared_bytes);
  const DeviceBuffer<Record> records{std::span<const Record>(batch.records)};
  const DeviceBuffer<std::uint8_t> images{std::span<const std::uint8_t>(batch.images)};
  const DeviceBuffer<std::uint32_t> a{std::span<const std::uint32_t>(batch.a)};
  const DeviceBuffer<std::uint32_t> metadata{std::span<const std::uint32_t>(batch.metadata)};
  const DeviceBuffer<std::uint32_t> d{std::span<const std::uint32_t>(batch.d)};
  std::vector<std::uint32_t> reported(cases.size(), kUnreported);
  const DeviceBuffer<std::uint32_t> bases{std::span<const std::uint32_t>(reported)};

  void* pointers[] = {records.data(),  images.data(), a.data(),
                      metadata.data(), d.data(),      bases.data()};
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3],
                       &pointers[4], &pointers[5], &shared_bytes};
  CUDA_CHECK(cudaLaunchKernel(static_cast<const void*>(kernel),
                              dim3(static_cast<unsigned>(cases.size())), dim3(kThreads), arguments,
                              shared_bytes, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());

  bases.download(reported);
  for (const std::uint32_t base : reported) {
    demand(base != kUnreported, "a CTA of the probe did not run");
    demand(base == shared_base, "dynamic shared memory starts at address " + std::to_string(base) +
                                    ", but " + std::to_string(shared_base) + " was expected");
  }
  d.download(batch.d);
  const int stride = kThreads * registers_of_d(form);
  auto from = batch.d.cbegin();
  for (const ProbeCase& c : cases) {
    std::copy(from, from + stride, c.d_out);
    from += stride;
  }
}

}  // namespace

std::string probe_ptx(const wgmma::Form& form, int selector) {
  static_assert(kThreads == 128 && kCopyBytes == 16, "the text below says so");
  const int registers = registers_of_d(form);
  // Two at a time: every count of D registers is even.
  const auto each_pair_of_d = [registers](const auto& statement) {
    std::string text;
    for (int i = 0; i < registers; i += 2) {
      text += statement(register_list("d", i, 2), "[at+" + std::to_string(4 * i) + "]");
    }
    return text;
  };

  std::string text = R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 image[];

.visible .entry tcq_probe(
  .param .u64 records_parameter, .param .u64 images_parameter, .param .u64 a_parameter,
  .param .u64 metadata_parameter, .param .u64 d_parameter, .param .u64 bases_parameter,
  .param .u32 bytes_parameter)
.reqntid 128, 1, 1
{
  .reg .pred accumulate, done;
  .reg .b32 thread, cta, row, flag, index, bytes, base, offset, to, metadata;
  .reg .b32 a<4>, v<4>, d<128>;
  .reg .b64 desc_a, desc_b, at, from, step;

  mov.u32 thread, %tid.x;
  mov.u32 cta, %ctaid.x;
  mad.lo.u32 row, cta, 128, thread;

)";
  text += address_text("records", "cta", std::to_string(sizeof(Record)));
  text += R"(  ld.global.b64 desc_a, [at];
  ld.global.b64 desc_b, [at+8];
  ld.global.v2.b32 {flag, index}, [at+16];
  setp.ne.b32 accumulate, flag, 0;

)";
  if (form.a_place == wgmma::Place::Registers)
    text += address_text("a", "row", "16") + "  ld.global.v4.b32 {a0, a1, a2, a3}, [at];\n";
  if (form.sparse)
    text += address_text("metadata", "row", "4") + "  ld.global.b32 metadata, [at];\n";
  text += address_text("d", "row", std::to_string(4 * registers));
  text += each_pair_of_d([](const std::string& pair, const std::string& at) {
    return "  ld.global.v2.b32 " + pair + ", " + at + ";\n";
  });
  text += "\n  ld.param.u32 bytes, [bytes_parameter];\n";
  text += address_text("images", "index", "bytes");
  text += copy_image_text() + "  bar.sync 0;\n";
  text += R"(
  wgmma.fence.sync.aligned;
)";
  text += wgmma_statement(form, selector);
  text += R"(  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;

)";
  text += address_text("d", "row", std::to_string(4 * registers));
  text += each_pair_of_d([](const std::string& pair, const std::string& at) {
    return "  st.global.v2.b32 " + at + ", " + pair + ";\n";
  });
  text += address_text("bases", "cta", "4");
  text += R"(  setp.ne.b32 done, thread, 0;
  @done bra finished;
  st.global.b32 [at], base;
finished:
  ret;
}
)";
  return text;
}

Probe::Probe(const wgmma::Form& form, int selector)
    : form_(form), opcode_(wgmma::opcode(form).chars) {
  explain(opcode_, nullptr, [&] {
    const Fault fault = check(form);
    demand(fault == Fault::None, fault_text(fault));
    demand(ptx::selector_exists(form, selector), fault_text(Fault::SelectorOutOfRange));
    demand(device_count() > 0, "there is no CUDA device here, or no driver for it");
    const int device = current_device();
    const DeviceIdentity id = identity(device);
    demand(id.major == 9 && id.minor == 0,
           "wgmma needs a device of compute capability 9.0; this is " + describe(id));
    // Dynamic shared memory follows what the driver reserves; run() verifies it.
    shared_base_ = static_cast<std::uint32_t>(
        device_attribute(cudaDevAttrReservedSharedMemoryPerBlock, device));
    max_shared_bytes_ = static_cast<std::uint32_t>(
        device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  });
  kernel_ = jit_kernel(opcode_, probe_ptx(form, selector));
}

void Probe::run(std::span<const ProbeCase> cases, std::uint32_t shared_bytes) const {
  explain(opcode_, kernel_, [&] {
    demand_complete(form_, cases, shared_bytes, max_shared_bytes_);
    allow_shared_bytes(*kernel_, max_shared_bytes_);
    const std::size_t registers = registers_of_d(form_) + wgmma::a_registers + 1;
    const std::size_t case_bytes =
        sizeof(Record) + shared_bytes + sizeof(std::uint32_t) * (kThreads * registers + 1);
    const std::size_t batch = std::max<std::size_t>(kBatchBytes / case_bytes, 1);
    while (!cases.empty()) {
      const std::size_t count = std::min(batch, cases.size());
      run_batch(form_, kernel_->kernel, cases.first(count), shared_bytes, shared_base_);
      cases = cases.subspan(count);
    }
  });
}

}  // namespace tcq::cuda
