// The kernel round a statement; see statement_rows.h. The recording names the text by its hash: a letter of it changed is
// another suite.
#include <fmt/format.h>

#include "oracle/recording/statement_rows.h"

namespace tcq::oracle {
namespace {

// What the text below says in figures.
static_assert(statement_threads == 64 && statement_ctas == 2 && statement_shared_bytes == 1024);
static_assert(statement_cta_bytes == 5120 && 3 * statement_shared_bytes == 3072);

constexpr std::string_view beginning = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry tcq_probe(.param .u64 memory, .param .align 64 .b8 map[128])
.reqntid 64, 1, 1
.reqnctapercluster 2, 1, 1
{
  .shared .align 128 .b8 x[1024];
  .shared .align 128 .b8 y[1024];
  .shared .align 8 .b64 full;
  .reg .pred %p<8>;
  .reg .b16 %h<20>;
  .reg .b32 %r<48>;
  .reg .b64 %rd<24>;
  .reg .b128 %rq<4>;
  ld.param.u64 %rd1, [memory];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, x;
  mov.u32 %r3, y;
  mov.u32 %r4, full;
  mov.u32 %r5, %cluster_ctarank;
  xor.b32 %r6, %r5, 1;
  mad.wide.u32 %rd1, %r5, 5120, %rd1;
  shl.b32 %r11, %r1, 4;
  add.u32 %r7, %r2, %r11;
  add.u32 %r8, %r3, %r11;
  mapa.shared::cluster.u32 %r9, %r7, %r6;
  mapa.shared::cluster.u32 %r10, %r4, %r6;
  cvt.u64.u32 %rd3, %r11;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd2, %rd4, 2048;
  add.u64 %rd5, %rd4, %rd3;
  setp.eq.u32 %p1, %r1, 0;
  and.b32 %r12, %r1, 1;
  setp.ne.u32 %p2, %r12, 0;
  ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%rd4];
  st.shared.v4.b32 [%r7], {%r20, %r21, %r22, %r23};
  ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%rd4+1024];
  st.shared.v4.b32 [%r8], {%r20, %r21, %r22, %r23};
  ld.global.v2.b64 {%rd10, %rd11}, [%rd5+3072];
  ld.global.v2.b64 {%rd12, %rd13}, [%rd5+3088];
  mov.b64 {%r20, %r21}, %rd10;
  mov.b64 {%r22, %r23}, %rd11;
  mov.b64 {%r24, %r25}, %rd12;
  mov.b64 {%r26, %r27}, %rd13;
  @%p1 mbarrier.init.shared.b64 [%r4], 1;
)";

constexpr std::string_view meeting = R"(  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

constexpr std::string_view waiting = R"(
waiting:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [%r4], 0;
  @!%p7 bra waiting;
)";

constexpr std::string_view end = R"(
  fence.proxy.async;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ld.shared.v4.b32 {%r40, %r41, %r42, %r43}, [%r7];
  st.global.v4.b32 [%rd4], {%r40, %r41, %r42, %r43};
  ld.shared.v4.b32 {%r40, %r41, %r42, %r43}, [%r8];
  st.global.v4.b32 [%rd4+1024], {%r40, %r41, %r42, %r43};
  st.global.v2.b64 [%rd5+3072], {%rd10, %rd11};
  st.global.v2.b64 [%rd5+3088], {%rd12, %rd13};
  ret;
}
)";

}  // namespace

std::string statement_text(const StatementRow& row) {
  std::string text(beginning);
  if (row.expected != 0)
    text +=
        fmt::format("  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], {};\n", row.expected);
  text.append(meeting).append(row.body);
  if (row.expected != 0) text += waiting;
  return text.append(end);
}

}  // namespace tcq::oracle
