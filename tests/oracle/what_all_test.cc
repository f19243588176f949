// what without register= is all of a thread, with warp= all of a warp: every element once, and no other; a
// range of bytes is what its bytes are one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

using nlohmann::json;

json what_of(const std::string& words) {
  const Answer reply = ask("what " + words, styled(Style::Json));
  EXPECT_EQ(reply.status, Status::Yes) << words << ": " << reply.complaint;
  return json::parse(reply.text);
}

// Of a matrix with this many elements: four warps, or one.
void expect_whole(const std::string& layout, std::size_t elements, int threads) {
  std::set<std::string> seen;
  for (int warp = 0; warp < threads / 32; ++warp) {
    std::set<std::string> of_warp, of_threads;
    for (const json& one : what_of(fmt::format("{} warp={}", layout, warp)))
      EXPECT_TRUE(of_warp.insert(one.dump()).second) << layout;
    for (int lane = 0; lane < 32; ++lane)
      for (const json& one : what_of(fmt::format("{} thread={}", layout, 32 * warp + lane))) {
        EXPECT_EQ(one["places"][0]["thread"], 32 * warp + lane);
        of_threads.insert(one.dump());
      }
    EXPECT_EQ(of_warp, of_threads) << layout;
    seen.insert(of_warp.begin(), of_warp.end());
  }
  EXPECT_EQ(seen.size(), elements) << layout;
}

TEST(WhatAll, OfThreadsAndWarpsIsEveryElementOnce) {
  expect_whole("wgmma.m64n24k16.f32.bf16.bf16 D", 64 * 24, 128);
  expect_whole("wgmma.m64n24k16.f16.f16.f16 D", 64 * 24, 128);
  expect_whole("wgmma.m64n8k32.f32.e4m3.e4m3 A a=regs", 64 * 32, 128);
  expect_whole("mma.m16n8k16.f32.f16.f16 B", 16 * 8, 32);
  expect_whole("ldmatrix.x4 D", 4 * 64, 32);
  expect_whole("tcgen05.ld.32x32b.x8 D", 128 * 8, 128);
}

TEST(WhatAll, HasALineForEachRegister) {
  EXPECT_EQ(text_of("what wgmma.m64n8k16.f16.f16.f16 D thread=6"),
            "thread 6, register 0 = D[1][4], D[1][5]\nthread 6, register 1 = D[9][4], D[9][5]");
  EXPECT_EQ(ask("what wgmma.m64n8k16.f16.f16.f16 D warp=1 thread=3").status, Status::Usage);
  EXPECT_EQ(ask("what wgmma.m64n8k16.f16.f16.f16 D warp=4").status, Status::Usage);
  EXPECT_EQ(ask("what wgmma.m64n8k16.f16.f16.f16 D register=1").status, Status::Usage);
}

TEST(WhatAll, ARangeIsItsBytesOneByOne) {
  const std::string a = "wgmma.m64n128k16.f32.bf16.bf16 A desc=0x4000004000010040 ";
  json each = json::array();
  for (int byte = 0x890; byte < 0x8d0; byte += 2)
    for (const json& one : what_of(fmt::format("{}byte={}", a, byte))) each.push_back(one);
  EXPECT_EQ(what_of(a + "byte=0x890 bytes=64"), each);
  EXPECT_EQ(each.size(), 32u);
  EXPECT_EQ(ask("what " + a + "byte=0 bytes=64").status, Status::No);
  EXPECT_EQ(ask("what " + a + "byte=0 bytes=0").status, Status::Usage);
  EXPECT_EQ(ask("what wgmma.m64n8k16.f32.f16.f16 D thread=3 bytes=4").status, Status::Usage);
}

}  // namespace
}  // namespace tcq::oracle
