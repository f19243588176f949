// Laws of `partition`: worked printouts of a published CuTe walk-through, and that every printed
// layout, evaluated as text, agrees with the address law at the descriptors that it prints.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/tile.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

std::string fact(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(key + ": ")) return line.substr(key.size() + 2);
  ADD_FAILURE() << "no " << key << " in\n" << text;
  return {};
}

const std::string kHalf = "partition wgmma.m64n64k16.f16.f16.f16 bM=128 bN=128 bK=64 stages=3";

// ---- Worked printouts ---------------------------------------------------------------------------

TEST(Partition, MnMajorHalfTileOf128x64x3) {
  const std::string text = text_of(kHalf + " major_a=MN major_b=MN swizzle=128B ldC=512");
  for (const std::string operand : {"A", "B"}) {
    EXPECT_EQ(fact(text, "s" + operand),
              "Sw<3,4,3> o smem_ptr o ((_64,_2),(_8,_8),_3):((_1,_512),(_64,_1024),_8192)");
    EXPECT_EQ(fact(text, "tCs" + operand),
              "Sw<3,4,3> o smem_ptr o "
              "((_64,(_8,_2)),_2,_4,_3):((_1,(_64,_1024)),_512,_2048,_8192)");
    EXPECT_EQ(fact(text, "tCr" + operand),
              "GMMA::DescriptorIterator o (_1,_2,_4,_3):(_0,_64,_256,_1024)");
  }
  EXPECT_EQ(fact(text, "tCgC"), "((_2,_2,_8),_2,_2):((512,_8,4096),_64,32768)");
  EXPECT_EQ(fact(text, "tCrC"), "((_2,_2,_8),_2,_2):((_1,_2,_4),_32,_64)");
  EXPECT_EQ(fact(text, "threads"), "128");
  EXPECT_EQ(fact(text, "instructions per warpgroup and stage"), "16 = M 2 x N 2 x K 4");
}

TEST(Partition, KMajorTileCoalesces) {
  const std::string text = text_of(kHalf);
  EXPECT_EQ(fact(text, "sA"), "Sw<3,4,3> o smem_ptr o (_128,_64,_3):(_64,_1,_8192)");
  EXPECT_EQ(fact(text, "tCrA"), "GMMA::DescriptorIterator o (_1,_2,_4,_3):(_0,_512,_2,_1024)");
}

TEST(Partition, AccumulatorRegistersCountPackedHalves) {
  EXPECT_EQ(fact(text_of(kHalf), "accumulator registers per thread"), "64");
  EXPECT_EQ(fact(text_of("partition wgmma.m64n64k16.f32.f16.f16 bM=128 bN=128 bK=64"),
                 "accumulator registers per thread"),
            "128");
}

TEST(Partition, TwoWarpgroupsAlongMHalveTheInstructionsOfEach) {
  const std::string text =
      text_of("partition wgmma.m64n128k16.f32.bf16.bf16 bM=256 bN=128 bK=64 atoms=2x1x1 ldC=1024");
  EXPECT_EQ(fact(text, "threads"), "256");
  EXPECT_EQ(fact(text, "tCsA"),
            "Sw<3,4,3> o smem_ptr o ((_64,_16),_2,_4,_1):((_64,_1),_8192,_16,_0)");
  EXPECT_EQ(fact(text, "tCrC"), "((_2,_2,_16),_2,_1):((_1,_2,_4),_64,_0)");
  EXPECT_EQ(fact(text, "tCgC"), "((_2,_2,_16),_2,_1):((1024,_8,8192),_128,_0)");
}

TEST(Partition, AInRegistersHasAFragmentInsteadOfDescriptors) {
  const std::string text =
      text_of("partition wgmma.m64n64k16.f32.f16.f16 a=regs bM=128 bN=64 bK=64 stages=2");
  EXPECT_EQ(fact(text, "tCrA"), "((_2,_2,_2),_2,_4):((_1,_2,_4),_8,_16)");
  EXPECT_EQ(text.find("sA:"), std::string::npos);
  EXPECT_EQ(text.find("tCsA:"), std::string::npos);
}

// layout and partition have different defaults on MN-major tiles, say so, and agree when told.
TEST(Partition, TheOrderIsSaidAndChosenByTheSameKeyAsInLayout) {
  const std::string form = "wgmma.m64n64k16.f16.f16.f16 major_a=MN major_b=MN";
  const std::string tile = " bM=128 bN=128 bK=64 swizzle=128B";
  const auto laid = [&](const std::string& keys) {
    return text_of("layout wgmma.m64n64k16.f16.f16.f16 A rows=128 k=64 swizzle=128B major_a=MN" +
                   keys);
  };
  EXPECT_EQ(fact(text_of("partition " + form + tile), "order"), "mn-first");
  EXPECT_EQ(fact(laid(""), "order"), "k-first");
  EXPECT_NE(fact(text_of("partition " + form + tile), "order note").find("layout takes k-first"),
            std::string::npos);
  EXPECT_NE(fact(laid(""), "order note").find("partition takes mn-first"), std::string::npos);
  for (const std::string order : {"mn-first", "k-first"}) {
    const std::string cut = text_of("partition " + form + tile + " order=" + order);
    EXPECT_EQ(fact(cut, "order"), order);
    EXPECT_EQ(fact(laid(" order=" + order), "order"), order);
    EXPECT_EQ(fact(cut, "descriptor A").substr(0, 18), fact(laid(" order=" + order), "descriptor"));
  }
  for (const std::string& question : std::vector<std::string>{
           "partition " + form + tile, "layout wgmma.m64n64k16.f16.f16.f16 A rows=128 k=64",
           "layout tcgen05.mma.cta_group::1.kind::f16 B k=64"})
    EXPECT_NE(text_of(question, styled(Style::Json)).find("\"order\":\"mn-first\""),
              std::string::npos);
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST(Partition, InstructionAndSwizzleAtomAreCheckedIndependently) {
  const auto complaint = [](const std::string& keys) {
    const Answer reply = ask("partition wgmma." + keys);
    EXPECT_EQ(reply.status, Status::No) << keys;
    return reply.complaint;
  };
  // Fits the swizzle atom of 16 elements, not the instruction.
  const std::string small =
      complaint("m64n64k16.f16.f16.f16 bM=32 bN=64 bK=64 major_a=MN major_b=MN swizzle=32B");
  EXPECT_NE(small.find("MMA atom: M of A is 32, not a multiple of 64"), std::string::npos) << small;
  EXPECT_EQ(small.find("swizzle atom"), std::string::npos) << small;
  // Fits the instruction, not the swizzle atom of 64 elements.
  const std::string narrow =
      complaint("m64n32k16.f16.f16.f16 bM=64 bN=32 bK=64 major_b=MN swizzle_b=128B");
  EXPECT_NE(narrow.find("swizzle atom: N of B is 64 bytes, not a multiple of the 128"),
            std::string::npos)
      << narrow;
  EXPECT_EQ(narrow.find("MMA atom"), std::string::npos) << narrow;
  // Neither.
  const std::string both = complaint("m64n64k16.f16.f16.f16 bM=64 bN=64 bK=24 swizzle=128B");
  EXPECT_NE(both.find("MMA atom: K of A is 24"), std::string::npos) << both;
  EXPECT_NE(both.find("swizzle atom: K of A is 48 bytes"), std::string::npos) << both;
  EXPECT_NE(both.find("K of B"), std::string::npos) << both;
  EXPECT_NE(complaint("m64n64k16.f16.f16.f16 bM=64 bN=64 bK=64 atoms=2x1x1").find("2 warpgroups"),
            std::string::npos);
}

TEST(Partition, MoreThanTheAddressSpaceIsRefused) {
  const Answer reply = ask("partition wgmma.m64n256k16.f32.f16.f16 bM=128 bN=256 bK=64 stages=6");
  EXPECT_EQ(reply.status, Status::No);
  EXPECT_NE(reply.complaint.find("294912 bytes of shared memory"), std::string::npos)
      << reply.complaint;
}

TEST(Partition, BadInputIsAUsageError) {
  for (const char* keys :
       {"", " bM=64", " bM=64 bN=64 bK=64 atoms=2y1", " bM=64 bN=64 bK=64 atoms=2x0x1",
        " bM=64 bN=64 bK=64 atoms=2x1x1x1", " bM=64 bN=64 bK=64 stages=0", " bM=0 bN=64 bK=64",
        " bM=64 bN=64 bK=64 swizzle_a=17B", " bM=64 bN=64 bK=64 ldC=1", " bm=64"})
    EXPECT_EQ(ask(std::string("partition wgmma.m64n64k16.f16.f16.f16") + keys).status,
              Status::Usage)
        << keys;
  EXPECT_EQ(ask("partition wgmma.sp.m64n64k32.f16.f16.f16 bM=64 bN=64 bK=64").status,
            Status::Unmodelled);
}

// ---- Second formulation -------------------------------------------------------------------------

cute::Layout layout_of(const std::string& text, const std::string& key) {
  const std::string value = fact(text, key);
  const std::size_t at = value.rfind(" o ");
  return cute::Layout(at == std::string::npos ? value : value.substr(at + 3));
}

struct Case {
  std::string mnemonic;
  Type type;
  int mn;  // of one instruction
  Major major;
  Swizzle swizzle;
  int stages;
  std::string keys;
};

// Every element of every instruction, three ways: tCs as text, s as text, and the address law at
// the descriptor that tCr gives.
void expect_agreement(const Case& c, const std::string& text, const std::string& operand) {
  const cute::Layout tile = layout_of(text, "s" + operand);
  const cute::Layout cut = layout_of(text, "tCs" + operand);
  const cute::Layout descriptors = layout_of(text, "tCr" + operand);
  auto d =
      wgmma::decode(std::stoull(fact(text, "descriptor " + operand).substr(0, 18), nullptr, 16));
  const int k = wgmma::stored_k(c.type);
  for (int stage = 0; stage < c.stages; ++stage) {
    for (int i = 0; i < cut.size(1); ++i) {
      for (int j = 0; j < cut.size(2); ++j) {
        d.start_bytes = static_cast<std::uint32_t>(4096 + 16 * descriptors({0, i, j, stage}));
        for (int mn = 0; mn < c.mn; mn += 3) {
          for (int e = 0; e < k; e += bits(c.type) == 1 ? 7 : 1) {
            const int element = cut({mn + c.mn * e, i, j, stage});
            ASSERT_EQ(element, tile({i * c.mn + mn, j * k + e, stage})) << c.mnemonic << c.keys;
            const auto linear = static_cast<std::uint32_t>(4096 + element * bits(c.type) / 8);
            ASSERT_EQ(wgmma::element_address(
                          d, c.major, c.type,
                          {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(e)}),
                      swizzle_function(c.swizzle).apply(linear))
                << c.mnemonic << c.keys << "\n"
                << text;
          }
        }
      }
    }
  }
}

TEST(Partition, PrintedLayoutsAreWhatTheDescriptorsRead) {
  struct Kind {
    const char* d;
    Type type;
    const char* suffix;
  };
  int tiles = 0;
  for (const Kind& kind : {Kind{"f32", Type::bf16, ""}, Kind{"f32", Type::tf32, ""},
                           Kind{"s32", Type::s8, ""}, Kind{"s32", Type::b1, ".and.popc"}}) {
    for (const int n : {8, 16, 32, 64}) {
      for (const Major major : {Major::K, Major::MN}) {
        for (const char* order : {"mn-first", "k-first"}) {
          for (const auto swizzle : {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
            if (major == Major::MN && !wgmma::has_major(kind.type)) continue;
            const int k = wgmma::stored_k(kind.type);
            const std::string type = name(kind.type);
            Case c{"partition wgmma.m64n" + std::to_string(n) + "k" + std::to_string(k) + "." +
                       kind.d + "." + type + "." + type + kind.suffix,
                   kind.type,
                   64,
                   major,
                   swizzle,
                   2,
                   ""};
            c.keys = " bM=128 bN=" + std::to_string(2 * n) + " bK=" + std::to_string(8 * k) +
                     " stages=2 order=" + order + " swizzle=" + name(swizzle);
            if (major == Major::MN) c.keys += " major_a=MN major_b=MN";
            const Answer reply = ask(c.mnemonic + c.keys);
            if (reply.status != Status::Yes) continue;
            ++tiles;
            expect_agreement(c, reply.text, "A");
            c.mn = n;
            expect_agreement(c, reply.text, "B");
          }
        }
      }
    }
  }
  EXPECT_GE(tiles, 130);
}

// Thread 0's registers in tCrC hold the elements of C that tCgC points at.
TEST(Partition, TCgCIsTheAccumulatorFragmentOfThread0) {
  for (const int n : {8, 24, 64, 256}) {
    for (const char* d : {"f32", "f16"}) {
      const std::string text =
          text_of("partition wgmma.m64n" + std::to_string(n) + "k16." + d +
                  ".f16.f16 bM=128 bN=" + std::to_string(2 * n) + " bK=64 ldC=1000");
      const cute::Layout global = layout_of(text, "tCgC");
      const cute::Layout registers = layout_of(text, "tCrC");
      const Type type = std::string(d) == "f32" ? Type::f32 : Type::f16;
      const int parts = parts_per_register(type);
      for (int v = 0; v < n / 2; ++v) {
        const wgmma::Element e = wgmma::accumulator_element(type, {0, v / parts, v % parts});
        EXPECT_EQ(registers({v, 0, 0}), v);
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j)
            EXPECT_EQ(global({v, i, j}), e.row + 64 * i + 1000 * (e.col + n * j));
      }
    }
  }
}

}  // namespace
}  // namespace tcq::oracle
