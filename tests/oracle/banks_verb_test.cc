// What banks suggests is what it then answers; and the addresses of fragments are those of their Maps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

using nlohmann::json;

json banks_of(const std::string& words) {
  const Answer reply = ask("banks " + words, styled(Style::Json));
  EXPECT_EQ(reply.status, Status::Yes) << words << ": " << reply.complaint;
  return json::parse(reply.text);
}

std::string replaced(const std::string& access, int pitch, const std::string& keys) {
  if (keys.starts_with("pitch=")) return access + " " + keys;
  return fmt::format("{} pitch={} {}", access, pitch, keys);
}

TEST(BanksVerb, SuggestionsKeepTheirPromise) {
  int kept = 0;
  for (const char* access : {"ldmatrix.x1", "ldmatrix.x4", "stmatrix.x2", "ld.shared.f32",
                             "ld.shared.b64", "st.shared.v4.b32", "st.shared.v2.b16"})
    for (const int pitch : {32, 64, 128, 256, 144}) {
      const json answer = banks_of(fmt::format("{} pitch={}", access, pitch));
      for (const json& better : answer["better"]) {
        EXPECT_LT(better["passes"], answer["passes"]);
        EXPECT_EQ(banks_of(replaced(access, pitch, better["keys"]))["passes"], better["passes"])
            << access << " " << better;
        ++kept;
      }
    }
  EXPECT_GE(kept, 40);
}

TEST(BanksVerb, WorkedAnswers) {
  EXPECT_EQ(banks_of("ldmatrix.x4 pitch=128")["passes"], 32);
  EXPECT_EQ(banks_of("ldmatrix.x4.trans pitch=128 swizzle=128B")["passes"], 4);
  EXPECT_EQ(banks_of("ld.shared.f32 pitch=128")["phases"][0]["lanes"].size(), 32u);
  EXPECT_EQ(banks_of("ld.shared.v4.f32 pitch=128 across=8")["passes"], 4);
  EXPECT_EQ(banks_of("ld.shared.f32 pitch=132")["better"].size(), 0u);
}

// Eight rows of a warp, four lanes to a row: rows of 256 bytes begin in one bank.
TEST(BanksVerb, LanesOfAFragmentAreWhereTheirElementsAre) {
  const std::string d = " wgmma.m64n64k16.f32.bf16.bf16 D";
  EXPECT_EQ(banks_of("st.shared.v2.b32 pitch=256" + d)["passes"], 8);
  EXPECT_EQ(banks_of("st.shared.v2.b32 pitch=256 swizzle=128B" + d)["passes"], 2);
  EXPECT_EQ(banks_of("st.shared.b32 pitch=256" + d + " register=1")["phases"][0]["lanes"].size(),
            8u);
  EXPECT_EQ(ask("banks st.shared.v2.b32 pitch=256" + d + " register=1").status, Status::No);
}

TEST(BanksVerb, WrongQuestionsAreRefused) {
  for (const char* words :
       {"", "pitch=4", "ld.shared.b32", "ld.shared.b256 pitch=4", "ldmatrix pitch=16",
        "ldmatrix.x4 pitch=128 swizzle=256B", "ld.shared.b32 pitch=4 across=33",
        "ld.shared.b32 pitch=4 x=3", "ld.shared.b32 pitch=4 tcgen05.ld.32x32b.x8 D",
        "ldmatrix.x4 pitch=128 wgmma.m64n64k16.f32.bf16.bf16 D", "ldmatrix.x4 pitch=128 across=4",
        "stmatrix.x2 pitch=128 across=1",
        "st.shared.v2.b32 pitch=256 across=8 wgmma.m64n64k16.f32.bf16.bf16 D",
        "ld.shared.b32 pitch=128 register=3"})
    EXPECT_EQ(ask(std::string("banks ") + words).status, Status::Usage) << words;
  EXPECT_EQ(ask("banks ld.shared.b64 pitch=12").status, Status::No);
  EXPECT_EQ(ask("banks ld.shared.v4 pitch=128").complaint,
            "'ld.shared.v4' has no type: expected one behind the vector, such as ld.shared.v4.b32");
}

}  // namespace
}  // namespace tcq::oracle
