// The text of a sequence of wgmmas and its launch. What it is for: cuda/probe/groups_sm90.h.
//
// Order in the kernel: image, accumulators, wgmma.fence, the sequence, wait_group N, the covered
// accumulators to memory; then the others are waited for and stored. ptxas removes a wgmma whose
// result nobody reads, so all are stored; and without the membar it moves the stores of the covered
// ones behind the last wait. Descriptors are read from memory before the first wgmma, so that
// nothing stands between two of them.
#include "cuda/probe/groups_sm90.h"

#include <algorithm>
#include <stdexcept>

#include "cuda/probe/kernel_text.h"
#include "cuda/probe/tma_sm90.h"
#include "cuda/ptx/wgmma_text.h"
#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/launch.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/syntax.h"

namespace tcq::cuda {
namespace {

constexpr int kThreads = wgmma::threads_per_warpgroup;

int registers_of_d(const wgmma::Form& form) { return wgmma::accumulator_registers(form.d, form.n); }

// The registers of an accumulator are called "d<accumulator>_0" and so on.
std::string accumulator_name(int accumulator) { return "d" + std::to_string(accumulator) + "_"; }

std::string declarations(const GroupsProgram& program) {
  const std::string registers = "<" + std::to_string(registers_of_d(program.form)) + ">;\n";
  std::string text;
  for (int i = 0; i < program.accumulators; ++i)
    text += "  .reg .b32 " + accumulator_name(i) + registers;
  return text;
}

// Statement(registers, address) for all pairs of registers of an accumulator.
template <class Statement>
std::string each_pair(const GroupsProgram& program, int accumulator, Statement statement) {
  const int registers = registers_of_d(program.form);
  std::string text;
  for (int i = 0; i < registers; i += 2) {
    const int offset = 4 * (accumulator * registers * kThreads + i);
    text += statement(register_list(accumulator_name(accumulator), i, 2),
                      "[at+" + std::to_string(offset) + "]");
  }
  return text;
}

std::string store_accumulator(const GroupsProgram& program, int accumulator) {
  return each_pair(program, accumulator, [](const std::string& pair, const std::string& place) {
    return "  st.global.v2.b32 " + place + ", " + pair + ";\n";
  });
}

std::string load_descriptors(const GroupsProgram& program) {
  std::string text;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    if (program.statements[i].commit) continue;
    const std::string number = std::to_string(i);
    text += "  ld.global.v2.b64 {a" + number + ", b" + number + "}, [at+" + std::to_string(16 * i) +
            "];\n";
  }
  return text;
}

std::string mma_text(const GroupsProgram& program, std::size_t index) {
  const wgmma::GroupsStatement& s = program.statements[index];
  const std::string number = std::to_string(index);
  std::string text = std::string("  setp.eq.u32 accumulate, 1, ") + (s.accumulate ? "1" : "0");
  text += ";\n  ";
  text += wgmma::opcode(program.form).chars;
  text +=
      " " + register_list(accumulator_name(s.accumulator), 0, registers_of_d(program.form)) + ", ";
  text += "a" + number + ", b" + number;
  text += ptx::wgmma_tail(program.form, 0).chars;
  return text + "\n";
}

std::string sequence(const GroupsProgram& program) {
  std::string text = "  wgmma.fence.sync.aligned;\n";
  for (std::size_t i = 0; i < program.statements.size(); ++i)
    text += program.statements[i].commit ? "  wgmma.commit_group.sync.aligned;\n"
                                         : mma_text(program, i);
  return text + "  wgmma.wait_group.sync.aligned " + std::to_string(program.pending) + ";\n";
}

}  // namespace

std::string groups_ptx(const GroupsProgram& program) {
  std::string text = R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 image[];

.visible .entry tcq_probe(
  .param .u64 image_parameter, .param .u64 descriptors_parameter, .param .u64 d_parameter,
  .param .u64 base_parameter, .param .u32 bytes_parameter)
.reqntid 128, 1, 1
{
  .reg .pred accumulate, done;
  .reg .b32 thread, bytes, base, offset, to;
  .reg .b32 v<4>;
  .reg .b64 at, from, step;
)";
  const std::string count = std::to_string(program.statements.size());
  text += "  .reg .b64 a<" + count + ">, b<" + count + ">;\n";
  text += declarations(program);
  text += "\n  mov.u32 thread, %tid.x;\n  ld.param.u32 bytes, [bytes_parameter];\n";
  text += address_text("image", "0", "0");
  text += copy_image_text() + "  bar.sync 0;\n";
  text += address_text("descriptors", "0", "0");
  text += load_descriptors(program);
  text += address_text("d", "thread", std::to_string(4 * registers_of_d(program.form)));
  for (int i = 0; i < program.accumulators; ++i) {
    text += each_pair(program, i, [](const std::string& pair, const std::string& place) {
      return "  ld.global.v2.b32 " + pair + ", " + place + ";\n";
    });
  }
  text += "\n" + sequence(program) + "\n";
  for (const int i : program.covered) text += store_accumulator(program, i);
  text += "  membar.cta;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < program.accumulators; ++i)
    if (std::ranges::count(program.covered, i) == 0) text += store_accumulator(program, i);
  text += address_text("base", "0", "0");
  text += R"(  setp.ne.b32 done, thread, 0;
  @done bra finished;
  st.global.b32 [at], base;
finished:
  ret;
}
)";
  return text;
}

void probe_groups(const GroupsProgram& program, std::span<const std::uint8_t> shared,
                  std::span<std::uint32_t> d) {
  std::vector<std::uint64_t> descriptors;
  for (const wgmma::GroupsStatement& s : program.statements) {
    descriptors.push_back(s.desc_a);
    descriptors.push_back(s.desc_b);
  }
  const JitKernel* kernel = jit_kernel("a sequence of wgmmas", groups_ptx(program));
  const DeviceBuffer<std::uint8_t> device_image{shared};
  const DeviceBuffer<std::uint64_t> device_descriptors{std::span<const std::uint64_t>(descriptors)};
  const DeviceBuffer<std::uint32_t> device_d{std::span<const std::uint32_t>(d)};
  std::vector<std::uint32_t> base(1);
  const DeviceBuffer<std::uint32_t> device_base{std::span<const std::uint32_t>(base)};

  void* pointers[] = {device_image.data(), device_descriptors.data(), device_d.data(),
                      device_base.data()};
  auto bytes = static_cast<std::uint32_t>(shared.size());
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &bytes};
  explain("a sequence of wgmmas", kernel, [&] {
    allow_shared_bytes(*kernel, bytes);
    CUDA_CHECK(cudaLaunchKernel(static_cast<const void*>(kernel->kernel), dim3(1), dim3(kThreads),
                                arguments, bytes, nullptr));
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  device_d.download(d);
  device_base.download(base);
  if (base[0] != tile_shared_base)
    throw std::runtime_error("dynamic shared memory starts at address " + std::to_string(base[0]));
}

}  // namespace tcq::cuda
