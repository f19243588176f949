// Layouts that `tcq layout` gives for tcgen05, held against the maps: descriptors read the tile that
// TMA writes, the copies put every scale factor where each K step reads it, regions do not overlap.
#include "oracle/tile/tcgen05_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/isa/base/tile_offset.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/allocation.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

using tcgen05::ScaleFactor;

constexpr std::array<std::string_view, 5> tile_keys = {"swizzle", "swizzle_a", "swizzle_b", "order",
                                                       "start"};

TilePlan plan_of(const std::string& question, int k) {
  static std::vector<std::string> words;  // Keys look at them
  words = split(question);
  const std::vector<std::string_view> keys(words.begin() + 1, words.end());
  const Keys all(keys, tcgen05_keys,
                 {tile_keys[0], tile_keys[1], tile_keys[2], tile_keys[3], tile_keys[4]});
  return plan_tile(parse_tcgen05(words[0], all), k, all);
}

const std::string mxf8 = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale";
const std::string mxf4_pair = "tcgen05.mma.cta_group::2.kind::mxf4.block_scale";
const std::string nvf4_pair = "tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16";
const std::string f16 = "tcgen05.mma.cta_group::1.kind::f16";

std::string str(int value) { return std::to_string(value); }

struct PlanCase {
  std::string question;
  int k;
};

const std::vector<PlanCase> plan_cases = {
    {mxf8 + " n=128", 128},
    {mxf8 + " n=256 type_a=e2m3 type_b=e2m1 start=2048", 160},
    {mxf8 + " n=24 major_b=K order=k-first", 288},
    {mxf8 + " n=64 major_b=MN major_a=MN", 64},
    {"tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale m=128 n=96", 64},
    {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale n=200", 192},
    {mxf4_pair + " m=256 n=240", 256},
    {mxf4_pair + " m=128 n=256", 320},
    {nvf4_pair + " m=256 n=256", 256},
    {nvf4_pair + " m=128 n=160", 128},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale n=64", 128},
    {f16 + " n=256", 64},
    {f16 + " n=256 major_a=MN major_b=MN swizzle_a=64B", 64},
    {f16 + " n=8 a=tmem", 64},
    {f16 + " m=64 n=40 swizzle=none", 48},
    {"tcgen05.mma.cta_group::2.kind::tf32 m=256 n=64 major_a=MN", 32},
    {"tcgen05.mma.sp.cta_group::1.kind::f16 n=64", 64},
    {"tcgen05.mma.ws.cta_group::1.kind::i8 m=32 n=64", 64}};

// ---- Operands -----------------------------------------------------------------------------------

std::uint32_t tile_byte(const Tcgen05Tile& tile, std::uint32_t start, std::uint32_t mn,
                        std::uint32_t k) {
  const bool k_major = major_of(tile) == Major::K;
  const std::uint32_t bit = contiguous_bit(tile.opcode.kind, type_of(tile), k_major ? k : mn);
  const OperandByte at = k_major ? OperandByte{mn, bit / 8} : OperandByte{bit / 8, k};
  return swizzle_function(tile.swizzle).apply(start + tile_offset_bytes(compact(tile), at));
}

void expect_descriptors_read(const Tcgen05Tile& tile, std::uint32_t start, std::uint32_t k0,
                             const tcgen05::SmemDescriptor& d, const std::string& question) {
  ASSERT_EQ(check_operand(d, tile.opcode.kind, type_of(tile), major_of(tile)), Fault::None)
      << question;
  for (std::uint32_t mn = 0; mn < instruction_mn(tile); ++mn)
    for (std::uint32_t k = 0; k < instruction_k(tile); ++k)
      ASSERT_EQ(element_place(d, major_of(tile), tile.opcode.kind, type_of(tile), {mn, k}).byte,
                tile_byte(tile, start, mn, k0 + k))
          << question << " mn " << mn << " k " << k0 + k;
}

TEST(Tcgen05_Plan, DescriptorsReadTheTileThatTmaWrites) {
  for (const PlanCase& c : plan_cases) {
    const TilePlan plan = plan_of(c.question, c.k);
    for (const PlanStep& step : plan.steps) {
      const auto k = static_cast<std::uint32_t>(step.k);
      expect_descriptors_read(plan.b, plan.shared[plan.a ? 1 : 0].start, k, step.b, c.question);
      if (!plan.a) continue;
      const std::uint32_t stored = plan.b.opcode.sparse ? k / 2 : k;
      expect_descriptors_read(*plan.a, plan.shared[0].start, stored, *step.a, c.question);
    }
  }
}

// ---- Scale factors ------------------------------------------------------------------------------

using Bytes = std::map<std::uint32_t, ScaleFactor>;       // of shared memory
using Cells = std::map<std::array<int, 3>, ScaleFactor>;  // lane, column, byte

Bytes shared_factors(const ScalePlan& scales) {
  Bytes bytes;
  for (int mn = 0; mn < scales.buffer.mn; ++mn)
    for (int s = 0; s < scales.factors; ++s) {
      const bool fresh =
          bytes.emplace(scale_source_byte(scales, {mn, s}), ScaleFactor{mn, s}).second;
      EXPECT_TRUE(fresh) << mn << " " << s;
    }
  return bytes;
}

void copy(const ScaleCopy& cp, const Bytes& bytes, Cells& cells) {
  ASSERT_EQ(check_cp_source(cp.source), Fault::None);
  const tcgen05::CpOperand source = cp_operand(cp.source);
  for (int row = 0; row < cp_rows(cp.shape); ++row)
    for (int byte = 0; byte < cp_row_bytes(cp.shape); ++byte)
      for (int i = 0; i < cp_copies(cp.shape); ++i) {
        const auto found = bytes.find(cp_address(source, {row, byte}));
        if (found == bytes.end()) continue;  // padding
        const auto to = cp_place(cp.shape, {row, byte}, i);
        cells[{to.tmem_lane, cp.tmem_column + to.tmem_column, to.byte}] = found->second;
      }
}

void expect_step_reads(const ScalePlan& scales, const Cells& cells, int column, int id, int first,
                       int factors, const std::string& question) {
  for (int mn = 0; mn < scales.buffer.mn; ++mn)
    for (int j = 0; j < factors; ++j)
      for (int i = 0; i < scale_copies(scales.buffer); ++i) {
        const auto at = scale_place(scales.buffer, {mn, id + j}, i);
        const auto found = cells.find({at.tmem_lane, column + at.tmem_column, at.byte});
        ASSERT_NE(found, cells.end()) << question << " mn " << mn << " copy " << i;
        ASSERT_EQ(found->second, (ScaleFactor{mn, first + j})) << question;
      }
}

TEST(Tcgen05_Plan, CopiesPutEveryScaleFactorWhereItsStepReadsIt) {
  for (const PlanCase& c : plan_cases) {
    const TilePlan plan = plan_of(c.question, c.k);
    if (!plan.sfa) continue;
    Cells a;
    Cells b;
    for (const ScaleCopy& cp : plan.copies)
      cp.name == "SFA" ? copy(cp, shared_factors(*plan.sfa), a)
                       : copy(cp, shared_factors(*plan.sfb), b);
    const int factors = scale_factors(plan.b.opcode, plan.b.idesc);
    int first = 0;
    for (const PlanStep& step : plan.steps) {
      expect_step_reads(*plan.sfa, a, step.scale_a_column, step.idesc.scale_a_id, first, factors,
                        c.question);
      expect_step_reads(*plan.sfb, b, step.scale_b_column, step.idesc.scale_b_id, first, factors,
                        c.question);
      EXPECT_EQ(check(plan.b.opcode, step.idesc), Fault::None) << c.question;
      first += factors;
    }
  }
}

// ---- Regions ------------------------------------------------------------------------------------

TEST(Tcgen05_Plan, RegionsFollowEachOtherAndFitTheAllocation) {
  for (const PlanCase& c : plan_cases) {
    const TilePlan plan = plan_of(c.question, c.k);
    int column = 0;
    for (const TmemRegion& region : plan.tmem) {
      EXPECT_EQ(region.column, column) << c.question;
      column += region.columns;
    }
    EXPECT_EQ(plan.columns, column);
    EXPECT_TRUE(tcgen05::is_allocation_size(plan.allocation)) << c.question;
    EXPECT_TRUE(plan.allocation >= column && plan.allocation / 2 < std::max(column, 32));
    for (std::size_t i = 1; i < plan.shared.size(); ++i)
      EXPECT_GE(plan.shared[i].start, plan.shared[i - 1].start + plan.shared[i - 1].bytes);
    EXPECT_EQ(plan.steps.size(), static_cast<std::size_t>(c.k / k(plan.b.opcode, plan.b.idesc)));
  }
}

// ---- Metadata -----------------------------------------------------------------------------------

// CuTe's rule, spelt anew: the column of a block is split into the even one and its last bit.
TEST(Tcgen05_Plan, MetadataIsNamedByEvenColumnsAndSelectors) {
  int steps = 0;
  for (const std::string kind : {"f16", "tf32", "f8f6f4", "i8", "mxf8f6f4.block_scale",
                                 "mxf4.block_scale", "mxf4nvf4.block_scale.block16"}) {
    for (const int cta_group : {1, 2}) {
      for (const int n : {16, 48, 96, 128, 208}) {
        for (const int blocks : {1, 2, 3, 4, 5, 8}) {
          if (kind == "i8" && n % 32 != 0) continue;
          const std::string question = "tcgen05.mma.sp.cta_group::" + str(cta_group) +
                                       ".kind::" + kind + " m=" + str(128 * cta_group) +
                                       " n=" + str(n);
          const bool paired = kind == "f16" || kind == "tf32";
          const int k = kind == "tf32" ? 16 : paired ? 32 : kind.starts_with("mxf4") ? 128 : 64;
          const TilePlan plan = plan_of(question, k * blocks);
          const TmemRegion& e = plan.tmem[1];
          ASSERT_EQ(e.name, "E");
          ASSERT_EQ(e.column % 4, 0) << question;
          ASSERT_EQ(e.columns % 4, 0) << question << ": what follows is out of the copies' reach";
          for (int i = 0; i < blocks; ++i, ++steps) {
            const PlanStep& step = plan.steps[static_cast<std::size_t>(i)];
            const int column = e.column + i * (paired ? 1 : 2);
            ASSERT_LT(column, e.column + e.columns);
            ASSERT_EQ(step.metadata_column, paired ? column & ~1 : column) << question;
            ASSERT_EQ(step.idesc.selector, paired ? column & 1 : 0) << question;
            ASSERT_EQ(check(plan.b.opcode, step.idesc), Fault::None) << question;
          }
        }
      }
    }
  }
  EXPECT_EQ(steps, 23 * 2 * (6 * 5 + 2));
}

TEST(Tcgen05_Plan, BlockOneOfASparseTileIsSelectorOneOfTheSameColumn) {
  const std::string text =
      text_of("layout tcgen05.mma.sp.cta_group::1.kind::f16 m=128 n=128 k=128 swizzle=128B");
  for (const std::string line :
       {"idesc 0x08200014, metadata column 128 selector 0\n",
        "idesc 0x08200015, metadata column 128 selector 1\n",
        "idesc 0x08200014, metadata column 130 selector 0\n",
        "idesc 0x08200015, metadata column 130 selector 1\n", "as CuTe issues them"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  const std::string json =
      text_of("layout tcgen05.mma.sp.cta_group::2.kind::tf32 m=256 n=64 k=32", styled(Style::Json));
  EXPECT_NE(json.find("\"metadata_column\":64,\"selector\":1"), std::string::npos) << json;
}

TEST(Tcgen05_Plan, WhatNoSourceSaysOfMetadataIsUnmodelled) {
  for (const char* question : {"tcgen05.mma.sp.cta_group::1.kind::f16 m=64 n=64 k=32",
                               "tcgen05.mma.sp.cta_group::2.kind::f16 m=128 n=64 k=32",
                               "tcgen05.mma.sp.cta_group::2.kind::i8 m=128 n=64 k=64",
                               "tcgen05.mma.ws.sp.cta_group::1.kind::f16 m=64 n=64 k=64",
                               "tcgen05.mma.ws.sp.cta_group::1.kind::tf32 m=128 n=64 k=32"})
    EXPECT_EQ(ask(std::string("layout ") + question).status, Status::Unmodelled) << question;
  EXPECT_EQ(ask("layout tcgen05.mma.ws.sp.cta_group::1.kind::f16 m=64 n=64 k=32").status,
            Status::Yes);
  EXPECT_EQ(ask("layout tcgen05.mma.ws.sp.cta_group::1.kind::i8 m=64 n=64 k=256").status,
            Status::Yes);
}

// ---- The verb -----------------------------------------------------------------------------------

TEST(Tcgen05_Plan, ATileOfMxf8IsToldStepByStep) {
  const std::string text =
      text_of("layout " + mxf8 + " m=128 n=128 k=128 type_a=e4m3 type_b=e4m3 swizzle=128B");
  for (const std::string line :
       {"\ntensor memory: D [0,128), SFA [128,132), SFB [132,136): 136 columns, allocate 256\n",
        "\nSFA: tcgen05.cp.cta_group::1.32x128b.warpx4 [column 128], 0x0000400800010800\n",
        "\nk 32: desc_a 0x4000404000010002, desc_b 0x4000404000010402, idesc 0x28a00010, scale_a "
        "column 128 id 1, scale_b column 132 id 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Tcgen05_Plan, AnOperandIsToldAsForWgmma) {
  const std::string text = text_of("layout tcgen05.mma.cta_group::1.kind::tf32 B major=MN k=32");
  for (const std::string line :
       {"tile: B 128 x 32 tf32, MN-major, swizzle 128B_ATOM_32B, k-first\n",
        "\ndescriptor: 0x2000402001000000\n",
        "\ntma: 4 boxes {32, 32} of CU_TENSOR_MAP_DATA_TYPE_FLOAT32 along {MN, K}, "
        "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, next MN at +4096 bytes\n",
        "\nmn 0 k 8: start_bytes 1024, start field 0x40, descriptor 0x2000402001000040\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_NE(text_of("layout " + f16 + " A k=64", styled(Style::Json))
                .find("\"instructions\":[{\"mn\":0,\"k\":0,\"start_bytes\":0,"),
            std::string::npos);
}

struct Refusal {
  std::string question;
  Status status;
  std::string words;
};

TEST(Tcgen05_Plan, TilesThatDoNotExistAreRefused) {
  for (const Refusal& r : std::vector<Refusal>{
           {f16 + " k=24", Status::No, "not a multiple of the 16"},
           {f16 + " k=0", Status::Usage, "k="},
           {f16 + " n=24 major_b=MN swizzle_b=128B", Status::No, "N of B takes 48 bytes"},
           {f16 + " n=256 k=2048 a=tmem", Status::No, "beyond the 262144 bytes"},
           {f16 + " n=200 k=640 a=tmem", Status::No, "520 columns of Tensor Memory (D 200, A 320)"},
           {f16 + " start=100", Status::No, "multiple of"},
           {f16 + " A start=16 k=64", Status::No, "multiple of 1024 bytes"},
           {f16 + " A a=tmem", Status::Usage, "no shared-memory layout"},
           {f16 + " A rows=100", Status::No, "not a multiple of the 128"},
           {f16 + " A type=bf16", Status::Usage, "type_a="},
           {f16 + " D", Status::Usage, "expected A or B"},
           {f16 + " A swizzle=128B_ATOM_32B", Status::No, "this tile cannot be laid out"},
           {mxf8 + " A type_a=e2m1 major=MN", Status::No, "4- and 6-bit operands are K-major"},
           {nvf4_pair + " m=256 k96=1", Status::Unmodelled, "K = 96"},
           {"tcgen05.ld.32x32b.x1", Status::Usage, "multiplies nothing"},
           {"tcgen05.mma.ws.cta_group::1.kind::f16 m=64 a=tmem", Status::Unmodelled,
            "no source says"}}) {
    const Answer reply = ask("layout " + r.question);
    EXPECT_EQ(reply.status, r.status) << r.question << ": " << reply.complaint << reply.text;
    EXPECT_NE(reply.complaint.find(r.words), std::string::npos)
        << r.question << ": " << reply.complaint;
  }
}

TEST(Tcgen05_Plan, DoubtsAndPackingAreNotes) {
  const std::string text = text_of("layout " + nvf4_pair + " m=128 n=96 k=64");
  EXPECT_NE(text.find("\nnote: sources disagree: this is SFA with the 64 rows"), std::string::npos);
  EXPECT_NE(text.find("\nnote: inferred: no source says how SFB lies"), std::string::npos);
  EXPECT_NE(text.find("\nnote: e2m1 of kind mxf4nvf4 is packed"), std::string::npos);
  EXPECT_NE(text_of("layout " + f16 + " n=256 k=512 a=tmem").find("\nnote: a CTA has at most"),
            std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
