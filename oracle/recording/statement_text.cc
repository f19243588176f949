// The kernel round a statement; see statement_rows.h.
#include "oracle/recording/kernel_frame.h"
#include "oracle/recording/statement_rows.h"

namespace tcq::oracle {
namespace {

// What the text below says in figures.
static_assert(statement_threads == 64 && statement_ctas == 2 && statement_shared_bytes == 1024);
static_assert(statement_cta_bytes == 5120 && 3 * statement_shared_bytes == 3072);

constexpr std::string_view statement_registers = R"(  .reg .pred %p<8>;
  .reg .b16 %h<20>;
  .reg .b32 %r<48>;
  .reg .b64 %rd<24>;
  .reg .b128 %rq<4>;
)";

constexpr std::string_view statement_opening = R"(  mov.u32 %r5, %cluster_ctarank;
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
)";

constexpr std::string_view statement_meeting = R"(  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

constexpr std::string_view statement_end = R"(
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

constexpr KernelFrame statement_frame = {".param .u64 memory, .param .align 64 .b8 map[128]",
                                         ".reqntid 64, 1, 1\n.reqnctapercluster 2, 1, 1\n",
                                         statement_shared_bytes,
                                         statement_registers,
                                         statement_opening,
                                         statement_meeting,
                                         "%p7",
                                         statement_end};

}  // namespace

std::string statement_text(const StatementRow& row) {
  return kernel_text(statement_frame, {row.body, row.expected});
}

}  // namespace tcq::oracle
