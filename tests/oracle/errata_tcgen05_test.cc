// What refutes the wrong claims about tcgen05 in oracle/explain/errata.md: one assertion per claim
// that the model can refute. That every test named there exists, errata_test.cc checks.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/layout.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

std::string verdict(const std::string& statement) {
  return answer_line({"check", {}, {}}, statement).text;
}

TEST(Errata, ALoadOf32x32bGivesEachThreadOneLane) {
  const Fragment f = {LdShape::S32x32b, 128};
  EXPECT_EQ(registers(f), 128);
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    for (int reg = 0; reg < registers(f); ++reg)
      EXPECT_EQ(fragment_cell(f, {lane, reg}), (Cell{lane, reg}));
  // wgmma's fragment is that of 16x256b: two columns of every eight, and the row 8 below.
  const Fragment wgmma_like = {LdShape::S16x256b, 1};
  EXPECT_EQ(fragment_cell(wgmma_like, {5, 1}), (Cell{1, 3}));
  EXPECT_EQ(fragment_cell(wgmma_like, {5, 2}), (Cell{9, 2}));
}

TEST(Errata, TheMaskKeepsTheWarpAndLetsLanesBeyond127Through) {
  for (std::uint32_t tid = 0; tid < 256; ++tid) {
    const std::uint32_t published = (tid << 16) & 0x3E00000;
    const auto address = decode_tmem_address(published);
    const auto right = decode_tmem_address((tid & 0x60) << 16);
    const int warp = static_cast<int>(tid) / 32;
    EXPECT_EQ(address.tmem_lane, 32 * warp) << tid;
    EXPECT_EQ(address.tmem_column, 0);
    EXPECT_EQ(right, (TmemAddress{first_tmem_lane(warp), 0})) << tid;
    EXPECT_EQ(check(address), warp < 4 ? Fault::None : Fault::TmemAddressRange) << tid;
  }
}

TEST(Errata, AnAddressIsLaneAndColumnOnly) {
  for (int lane = 0; lane < tmem_lanes; ++lane) {
    EXPECT_EQ(encode(TmemAddress{lane, 5}), static_cast<std::uint32_t>(lane) << 16 | 5u);
    EXPECT_EQ(decode_tmem_address(static_cast<std::uint32_t>(lane) << 16).tmem_lane, lane);
  }
  // A warp's load names its first lane; others are none that a 32-lane shape may begin at.
  for (int lane = 0; lane < tmem_lanes; ++lane)
    EXPECT_EQ(is_lane_base(LdShape::S32x32b, lane / 32, lane), lane % 32 == 0);
}

TEST(Errata, LanesAreRowsOnlyWith128RowsPerCta) {
  for (int i = 0; i < datapath_count; ++i) {
    const auto d = static_cast<Datapath>(i);
    bool is_row = true;
    for (int row = 0; row < rows(d); ++row)
      is_row = is_row && d_cell({d, 64}, {row, 0}).tmem_lane == row;
    const bool every_lane = is_row && rows(d) == tmem_lanes;
    EXPECT_EQ(every_lane, d == Datapath::A || d == Datapath::D) << name(d);
  }
  EXPECT_EQ(d_element({Datapath::F, 64}, {69, 10}), (Element{37, 10}));
  EXPECT_EQ(first_tmem_lane(5), 32);
}

TEST(Errata, ScaleFactorsAreBytes) {
  for (const Kind kind : {Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4})
    EXPECT_TRUE(is_block_scaled(kind));
  EXPECT_STREQ(name(ScaleType::ue8m0), "ue8m0");
  EXPECT_STREQ(name(ScaleType::ue4m3), "ue4m3");
  EXPECT_EQ(scale_block({.kind = Kind::mxf8f6f4}), 32);
  EXPECT_EQ(scale_block({.kind = Kind::mxf4nvf4, .scale_vec = ScaleVec::Block16}), 16);
}

TEST(Errata, BlocksOf16ExistForE2m1Only) {
  for (int i = 0; i < kind_count; ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(scale_vec_exists(kind, ScaleVec::Block16), kind == Kind::mxf4nvf4) << name(kind);
  }
  for (int i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_EQ(multiplicand_exists(Kind::mxf4nvf4, type), type == Type::e2m1) << name(type);
  }
}

TEST(Errata, Fp8OfTcgen05MayBeMnMajor) {
  const std::string opcode = "describe tcgen05.mma.cta_group::1.kind::";
  for (const std::string kind : {"f8f6f4", "mxf8f6f4.block_scale.scale_vec::1X"}) {
    const std::string words = opcode + kind + " major_a=MN major_b=MN type_a=";
    EXPECT_EQ(ask(words + "e4m3 type_b=e5m2").status, Status::Yes) << kind;
    EXPECT_EQ(ask(words + "e2m1 type_b=e5m2").status, Status::No) << kind;
    EXPECT_EQ(ask(words + "e3m2 type_b=e5m2").status, Status::No) << kind;
  }
}

TEST(Errata, Sm110HasTcgen05) {
  EXPECT_TRUE(has_tcgen05(Target::sm_110a));
  EXPECT_TRUE(has_tcgen05(Target::sm_110f));
}

TEST(Errata, TheSkipSpanIsZeroed) {
  const ZeroColumnMask mask = {{}, {}, true, 3, 4, 0};  // skip 3, use 4
  std::string text;
  for (int column = 0; column < 14; ++column)
    text += column_is_zeroed(mask, 128, 64, column) ? '0' : '1';
  EXPECT_EQ(text, "11110001111000");
}

TEST(Errata, ReservedBitsOfADescriptorAre0) {
  const std::uint64_t word =
      encode(SmemDescriptor{0x3ffe0 & ~31u, 16, 1024, 0, false, Swizzle::B128});
  EXPECT_EQ(word >> 53 & 0xff, 0u);
  EXPECT_EQ(word >> 46 & 7, 1u);
  EXPECT_EQ(check_word(word), Fault::None);
  for (int bit = 53; bit <= 60; ++bit)
    EXPECT_EQ(check_word(word | std::uint64_t{1} << bit), Fault::WordReserved) << bit;
}

TEST(Errata, ThereIsNoKindF8f8f4) {
  const std::string tail = " [d], %rd1, %rd2, idesc, p;";
  EXPECT_TRUE(verdict("tcgen05.mma.cta_group::1.kind::f8f8f4" + tail).starts_with("illegal"));
  EXPECT_EQ(verdict("tcgen05.mma.cta_group::1.kind::f8f6f4" + tail), "legal");
}

TEST(Errata, ExamplesOfTheManualThatAreNotPtx) {
  const std::string scaled = " [d], %rd1, %rd2, idesc, [sa], [sb], p;";
  const std::string plain = " [d], %rd1, %rd2, idesc, p;";
  const std::string f16 = "tcgen05.mma.cta_group::1.kind::f16.collector::a";
  for (const auto& [wrong, right] :
       {std::pair{"tcgen05.mma.cta_group::1.kind::mxf8f6f4" + scaled,
                  "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale" + scaled},
        std::pair{f16 + ":fill" + plain, f16 + "::fill" + plain},
        std::pair{std::string("tcgen05.dealloc.2cta.sync.aligned.b32 taddr, 64;"),
                  std::string("tcgen05.dealloc.cta_group::2.sync.aligned.b32 taddr, 64;")}}) {
    EXPECT_TRUE(verdict(wrong).starts_with("illegal")) << wrong << ": " << verdict(wrong);
    EXPECT_EQ(verdict(right), "legal") << right;
  }
}

}  // namespace
}  // namespace tcq::oracle
