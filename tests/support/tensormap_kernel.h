// A kernel that makes a tensor map itself, for the machine and for a device: the map is copied from a parameter, patched
// in shared memory, copied to global memory and used. Both must see the same tensor: tests/run, tests/live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/isa/copy/tensor_map.h"

namespace tcq::tests {

// The map's bytes go to shared memory, every lane four; one lane patches them; the warp copies them to global memory.
inline constexpr const char* tensormap_kernel = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry tcq_probe(.param .align 64 .b8 map[128], .param .u64 place, .param .u64 data)
{
  .shared .align 128 .b8 object[128];
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [place];
  ld.param.u64 %rd2, [data];
  mov.b64 %rd3, map;
  cvta.param.u64 %rd4, %rd3;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.u32 %r2, [%rd6];
  mov.u32 %r3, object;
  mov.u32 %r4, tile;
  mov.u32 %r5, full;
  shl.b32 %r6, %r1, 2;
  add.s32 %r7, %r3, %r6;
  st.shared.u32 [%r7], %r2;
  bar.warp.sync -1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra COPY;
  mbarrier.init.shared::cta.b64 [%r5], 1;
  fence.mbarrier_init.release.cluster;
  add.s64 %rd7, %rd2, 1024;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %rd7;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r3], 1;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r3], 0, 16;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r3], 1, 3;
  tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r3], 0, 96;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r3], 1, 4;
  tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r3], 1, 1;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r3], 2;
  tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r3], 0;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r3], 0;
  tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r3], 0;
COPY:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r3], 128;
  @%p1 bra DONE;
  fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {0, 1}], [%r5];
waiting:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], 0;
  @!%p4 bra waiting;
  ld.shared.u32 %r8, [%r4];
  ld.shared.u32 %r9, [%r4+64];
  ld.shared.u32 %r10, [%r4+128];
  st.global.u32 [%rd2], %r8;
  st.global.u32 [%rd2+4], %r9;
  st.global.u32 [%rd2+8], %r10;
DONE:
  ret;
}
)";

// 128 bytes for the map at 0, results from `data` on, tensormap_word(0), (1), ... from `source` behind that.
inline constexpr std::size_t tensormap_data = 256;
inline constexpr std::size_t tensormap_source = 1024;
inline constexpr std::size_t tensormap_bytes = 4096;

// A number that every type of 32 bits keeps, tf32 too.
constexpr std::uint32_t tensormap_word(std::uint32_t i) { return 0x40000000u + i * 8192; }

// What the parameter holds before it is patched.
inline tma::TensorMap map_to_be_patched() { return {tma::DataType::UInt16, 1, 0, {64}, {}, {16}}; }

inline std::string with(std::string text, std::string_view old_text, std::string_view now) {
  return text.replace(text.find(old_text), old_text.size(), now);
}

// With this element type's number; rows of the tile are 16 elements. Words of rows 1, 2 and 3 are stored, the last of which
// is outside.
inline std::string tensormap_kernel_of(std::uint32_t code, std::uint32_t bytes) {
  std::string text = with(tensormap_kernel, "elemtype.shared::cta.b1024.b32 [%r3], 2",
                          "elemtype.shared::cta.b1024.b32 [%r3], " + std::to_string(code));
  text = with(text, "_, [%r5], 256", "_, [%r5], " + std::to_string(64 * bytes));
  const auto row = [&](std::uint32_t i) { return "[%r4+" + std::to_string(16 * bytes * i) + "]"; };
  return with(text, "ld.shared.u32 %r9, [%r4+64];\n  ld.shared.u32 %r10, [%r4+128];",
              "ld.shared.u32 %r9, " + row(1) + ";\n  ld.shared.u32 %r10, " + row(2) + ";");
}

}  // namespace tcq::tests
