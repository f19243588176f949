#include "oracle/recording/kernel_frame.h"

#include <fmt/format.h>

#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

std::string frame_beginning(const KernelFrame& frame) {
  return fmt::format(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry tcq_probe({parameters})
{directives}{{
  .shared .align 128 .b8 x[{bytes}];
  .shared .align 128 .b8 y[{bytes}];
  .shared .align 8 .b64 full;
{registers}  ld.param.u64 %rd1, [memory];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, x;
  mov.u32 %r3, y;
  mov.u32 %r4, full;
{opening}  @%p1 mbarrier.init.shared.b64 [%r4], 1;
)",
                     fmt::arg("parameters", frame.parameters),
                     fmt::arg("directives", frame.directives),
                     fmt::arg("bytes", frame.shared_bytes), fmt::arg("registers", frame.registers),
                     fmt::arg("opening", frame.opening));
}

constexpr std::string_view frame_fences =
    "  fence.mbarrier_init.release.cluster;\n  fence.proxy.async;\n";

std::string frame_waiting(const KernelFrame& frame) {
  return fmt::format(R"(
waiting:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 {0}, [%r4], 0;
  @!{0} bra waiting;
)",
                     frame.passed);
}

}  // namespace

std::string kernel_text(const KernelFrame& frame, const FramedStatements& statements) {
  std::string text = frame_beginning(frame);
  if (statements.expected != 0)
    text += fmt::format("  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], {};\n",
                        statements.expected);
  text.append(frame_fences).append(frame.meeting).append(statements.body);
  if (statements.expected != 0 || statements.waits) text += frame_waiting(frame);
  return text.append(frame.end);
}

std::uint64_t hash_inputs(const KernelMemory& memory) {
  std::uint64_t hash = memory.bytes.size();
  for (const std::uint8_t byte : memory.bytes) hash = mix(hash ^ byte);
  for (const char letter : memory.text) hash = mix(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

void name_field(Fields& io, std::string& name, const char* what) {
  constexpr std::uint64_t longest = 128;
  std::vector<std::uint8_t> text(name.begin(), name.end());
  io.list(text, 1, longest, what, 1);
  name.assign(text.begin(), text.end());
}

}  // namespace tcq::oracle
