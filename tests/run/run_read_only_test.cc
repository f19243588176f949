// ld.global.nc and ldu of bytes that the kernel itself has written, and of others.
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

// Bytes that are loaded as read-only, and that the kernel itself has written.
Fault read_only(const std::string& rest, const Shape& shape = {},
                std::vector<Fault>* suspicions = nullptr) {
  PtxRun run(
      kernel("mov.u32 %r9, %ctaid.x; xor.b32 %r3, %r1, 1; mul.wide.u32 %rd3, %r3, 4; "
             "add.u64 %rd3, %rd1, %rd3;\n" +
             rest));
  run.pass(run.array<std::uint32_t>(256));
  const Fault fault = run.go(shape);
  if (suspicions != nullptr)
    for (const machine::Finding& f : run.report().suspicions) suspicions->push_back(f.fault);
  return fault;
}

TEST(RunReadOnly, WhatTheKernelWroteIsNotReadOnly) {
  const std::string use = "st.global.u32 [%rd2+512], %r5;";
  for (const std::string& rest :
       {std::string("st.global.u32 [%rd2], %r1; bar.sync 0; ld.global.nc.u32 %r5, [%rd3];"),
        std::string("st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r5, [%rd2];"),
        std::string("st.global.u8 [%rd2+3], %r1; ld.global.nc.u32 %r5, [%rd2];"),
        std::string("st.global.u32 [%rd2+12], %r1; bar.sync 0; "
                    "ld.global.nc.v2.u32 {%r6, %r5}, [%rd1+8];"),
        std::string("setp.eq.u32 %p1, %r1, 31; @%p1 st.global.u8 [%rd2+3], %r1; "
                    "ld.global.nc.u32 %r5, [%rd2];"),
        std::string("setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u8 [%rd2], %r1; "
                    "ld.global.nc.u32 %r5, [%rd2];"),
        std::string("red.global.add.u32 [%rd2], %r1; ld.global.nc.u32 %r5, [%rd2];"),
        std::string("st.global.u32 [%rd2], %r1; ldu.global.u32 %r5, [%rd2];"),
        std::string("st.global.u32 [%rd2], %r1; ld.global.nc.L1::evict_last.u32 %r5, [%rd2];")})
    EXPECT_EQ(read_only(rest + use), Fault::ReadOnlyWritten) << rest;
  for (const std::string& rest :
       {std::string("st.global.u32 [%rd2], %r1; ld.global.u32 %r5, [%rd2];"),
        std::string("ld.global.nc.u32 %r5, [%rd2]; st.global.u32 [%rd2], %r1;"),
        std::string("st.global.u32 [%rd2+256], %r1; bar.sync 0; ld.global.nc.u32 %r5, [%rd3];"),
        std::string("st.global.u16 [%rd2], %r1; ld.global.nc.u16 %r5, [%rd2+2];")})
    EXPECT_EQ(read_only(rest + use), Fault::None) << rest;
}

TEST(RunReadOnly, WithoutAPlaceInTheCacheItIsDisputed) {
  std::vector<Fault> said;
  EXPECT_EQ(read_only("st.global.u32 [%rd2], %r1; ld.global.nc.L1::no_allocate.u32 %r5, [%rd2];",
                      {}, &said),
            Fault::None);
  EXPECT_EQ(said, std::vector<Fault>{Fault::ReadOnlyWrittenUncached});
}

// An earlier cluster counts, where it has left other bytes; one that only reads them does not.
TEST(RunReadOnly, WhatAnotherClusterWroteIsNotReadOnly) {
  const std::string first = "setp.ne.u32 %p1, %r9, 0; ";
  const Shape two{.grid = {2}};
  EXPECT_EQ(
      read_only(first + "@%p1 ld.global.nc.u32 %r5, [%rd3]; @!%p1 st.global.u32 [%rd2], 7;", two),
      Fault::ReadOnlyWritten);
  EXPECT_EQ(
      read_only(first + "@%p1 ld.global.nc.u32 %r5, [%rd3+128]; @!%p1 st.global.u32 [%rd2], 7;",
                two),
      Fault::None);
  EXPECT_EQ(read_only("ld.global.nc.u32 %r5, [%rd3];", two), Fault::None);
}

}  // namespace
}  // namespace tcq::tests
