// Stores to shared memory and the async proxy: what is certain, what is right, what is said not to be followed.
#include "oracle/ptx/emission_proxy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/oracle/emission_kit.h"

namespace tcq::oracle {
namespace {

using namespace emission_kit;

constexpr const char* proxy = "fence.proxy.async.shared::cta;";
constexpr const char* sync = "bar.sync 0;";
constexpr const char* store = "st.shared.b32 [%r2], %r1;";
constexpr const char* copy_out = "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r3], 128;";

// A kernel with a tile whose address is in %r3, and some byte of it in %r2; what copies out reads the tile.
Lines with_tile(const Lines& body) {
  Lines lines = {
      ".version 8.0",
      ".target sm_90a",
      ".address_size 64",
      ".shared .align 128 .b8 tile[4096]; .shared .align 128 .b8 other[4096];",
      ".visible .entry k(.param .u64 p) {",
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>; .reg .f32 %f<9>;",
      "mov.u32 %r1, %tid.x; mov.u32 %r3, tile; shl.b32 %r4, %r1, 2; ld.param.u64 %rd3, [p];",
      "ld.global.b32 %r6, [%rd3]; add.s32 %r2, %r3, %r4; add.s32 %r2, %r2, %r6;"};
  lines.insert(lines.end(), body.begin(), body.end());
  lines.insert(lines.end(), {"ret;", "}"});
  return lines;
}

std::size_t unfollowed_bytes(const Lines& lines) {
  std::size_t count = 0;
  for (const EmissionFinding& f : check(lines))
    if (f.text.find("bytes that line") != std::string::npos) ++count;
  return count;
}

TEST(EmissionProxy, StoresBecomeVisibleToTheAsyncProxyByAFence) {
  const Lines lacks = with_tile({store, sync, copy_out});
  EXPECT_EQ(faults(lacks), (Found{{11, Fault::ProxyFenceMissing}}));
  EXPECT_NE(first_text(lacks).find("; line 9; put fence.proxy.async behind line 9"),
            std::string::npos)
      << first_text(lacks);
  EXPECT_EQ(faults(with_tile({store, proxy, sync, copy_out})), Found{});
  EXPECT_EQ(unfollowed_bytes(with_tile({store, proxy, sync, copy_out})), 0U);
  // Of global memory, of tensor maps: other fences.
  EXPECT_EQ(faults(with_tile({store, "fence.proxy.async.global;", sync, copy_out})).size(), 1U);
  // On one path of two; a loop brings what its last round stored.
  EXPECT_EQ(faults(with_tile({store, "@%p1 bra on;", proxy, "on:", sync, copy_out})).size(), 1U);
  EXPECT_EQ(faults(with_tile({"on:", copy_out, store, sync, "@%p1 bra on;"})),
            (Found{{10, Fault::ProxyFenceMissing}}));
  // A descriptor keeps the address.
  const Lines of_wgmma = {
      store,  sync,          "shr.u32 %r5, %r3, 4; cvt.u64.u32 %rd1, %r5; or.b64 %rd2, %rd1, 64;",
      fence,  mma(0, false), commit,
      wait(0)};
  EXPECT_EQ(faults(with_tile(of_wgmma)), (Found{{13, Fault::ProxyFenceMissing}}));
}

TEST(EmissionProxy, WhatNeedsNoProxyFenceIsNoFinding) {
  for (const Lines& body : std::vector<Lines>{{"st.global.b32 [%rd3], %r1;", sync, copy_out},
                                              {sync, copy_out, store, sync}}) {
    EXPECT_EQ(faults(with_tile(body)), Found{});
    EXPECT_EQ(unfollowed_bytes(with_tile(body)), 0U);
  }
  // Another variable than the one that is read.
  Lines other = with_tile({store, sync, copy_out});
  other[7] = "mov.u32 %r2, other;";
  EXPECT_EQ(faults(other), Found{});
  EXPECT_EQ(unfollowed_bytes(other), 0U);
}

TEST(EmissionProxy, WhereBytesAreNotToldApartItIsSaid) {
  const std::string fill =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r3], [%rd3], 128, [other];";
  for (
      const Lines& body : std::vector<Lines>{
          {fill, store, sync, copy_out},  // which of both is read?
          {store, copy_out},              // no thread may rely on another one's store
          // What is read may be what was fenced, or counted, and the store behind it at other bytes.
          {store, proxy, sync, copy_out, "st.shared.b32 [%r3+2048], %r1;", sync, copy_out},
          {"st.shared.b32 [%r3+2048], %r1;", sync, copy_out, store, proxy, sync, copy_out},
          {"atom.shared.add.u32 %r5, [%r3], 1;", store, sync, copy_out},
          {"cp.async.cg.shared.global [%r3], [%rd3], 16;", "cp.async.wait_all;", sync, copy_out},
          {"ld.global.u32 %r5, [%rd3]; st.shared.b32 [%r5], %r1;", sync, copy_out},
          {"ld.global.u32 %r3, [%rd3];", store, sync, copy_out}}) {
    EXPECT_EQ(faults(with_tile(body)), Found{}) << body[0];
    EXPECT_EQ(unfollowed_bytes(with_tile(body)), 1U) << body[0];
    EXPECT_EQ(status_of(with_tile(body)), Status::Unmodelled) << body[0];
  }
  // A fragment has registers for addresses: the same one is the same address.
  EXPECT_EQ(faults({"st.shared.b32 [%r3], %r1;", sync, copy_out}),
            (Found{{3, Fault::ProxyFenceMissing}}));
  EXPECT_EQ(unfollowed_bytes({"st.shared.b32 [%r4], %r1;", sync, copy_out}), 1U);
  // A call may have fenced.
  EXPECT_EQ(faults({"st.shared.b32 [%r3], %r1;", "call.uni f, ();", sync, copy_out}), Found{});
}

// A chain against the order of the text, and more variables than are told apart.
TEST(EmissionProxy, LongTextsTakeNoLongTime) {
  Lines chain, many;
  for (int i = 1; i < 30'000; ++i)
    chain.push_back("mov.u32 %x" + std::to_string(i) + ", %x" + std::to_string(i + 1) + ";");
  chain.insert(chain.end(),
               {"mov.u32 %x30000, tile;", "st.shared.b32 [%x1], %r1;", sync, copy_out});
  EXPECT_EQ(unfollowed_bytes(with_tile(chain)), 1U);
  for (int i = 0; i < 3'000; ++i) {
    const std::string v = "v" + std::to_string(i);
    many.push_back(".shared .b32 " + v + "; L" + v + ": st.shared.b32 [" + v + "], 1; @%p1 bra L" +
                   v + ";");
  }
  many.insert(many.end(), {sync, copy_out});
  EXPECT_EQ(faults(with_tile(many)), Found{});
  EXPECT_EQ(unfollowed_bytes(with_tile(many)), 1U);
}

TEST(EmissionProxy, AFenceUnderAGuardIsNotSure) {
  const Lines guarded = with_tile({store, std::string("@%p1 ") + proxy, sync, copy_out});
  EXPECT_EQ(faults(guarded), Found{});
  EXPECT_EQ(unfollowed_bytes(guarded), 1U);
  // An acquire publishes nothing that its own thread stored.
  const char* acquire =
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;";
  EXPECT_EQ(faults(with_tile({store, acquire, sync, copy_out})),
            (Found{{12, Fault::ProxyFenceMissing}}));
}

}  // namespace
}  // namespace tcq::oracle
