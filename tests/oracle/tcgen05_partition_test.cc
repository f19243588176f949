// Laws of `partition` for tcgen05: what CuTe's own host code printed for the same tiles, and that
// every printed layout, evaluated as text, agrees with the address law at the descriptors that it
// prints and with the cells of the accumulators.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/layout.h"
#include "tests/support/ask.h"
#include "tests/support/cute_string.h"

namespace tcq::oracle {
namespace {

using tcgen05::Kind;

std::string fact(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n'))
    if (line.starts_with(key + ": ")) return line.substr(key.size() + 2);
  ADD_FAILURE() << "no " << key << " in\n" << text;
  return {};
}

// ---- CuTe's own words ---------------------------------------------------------------------------

struct Printed {
  std::string question;
  std::string s_a, s_b, r_a, r_b, t_c;
};

// Source: partition_shape_A/B, tile_to_mma_shape, make_fragment_A/B, partition_fragment_C of CuTe
// (cute/atom/mma_atom.hpp, mma_traits_sm100.hpp), compiled for the host and printed, two stages.
const std::vector<Printed> printed = {
    {"tcgen05.mma.cta_group::1.kind::f16 m=128 n=256 bM=128 bN=256 bK=64",
     "Sw<3,4,3> o smem_ptr o ((_128,_16),_1,_4,_2):((_64,_1),_0,_16,_8192)",
     "Sw<3,4,3> o smem_ptr o ((_256,_16),_1,_4,_2):((_64,_1),_0,_16,_16384)",
     "(_1,_1,_4,_2):(_0,_0,_2,_1024)", "(_1,_1,_4,_2):(_0,_0,_2,_2048)",
     "tmem_[32b] o ((_128,_256),_1,_1):((_65536,_1),_0,_0)"},
    {"tcgen05.mma.cta_group::1.kind::f16 m=128 n=64 major_a=MN major_b=MN bM=256 bN=128 bK=64",
     "Sw<3,4,3> o smem_ptr o "
     "(((_64,_2),(_8,_2)),_2,_4,_2):(((_1,_512),(_64,_2048)),_1024,_4096,_16384)",
     "Sw<3,4,3> o smem_ptr o ((_64,(_8,_2)),_2,_4,_2):((_1,(_64,_1024)),_512,_2048,_8192)",
     "(_1,_2,_4,_2):(_0,_128,_512,_2048)", "(_1,_2,_4,_2):(_0,_64,_256,_1024)",
     "tmem_[32b] o ((_128,_64),_2,_2):((_65536,_1),_64,_128)"},
    {"tcgen05.mma.cta_group::1.kind::f16 m=64 n=64 major_b=MN bM=128 bN=128 bK=64",
     "Sw<3,4,3> o smem_ptr o ((_64,_16),_2,_4,_2):((_64,_1),_4096,_16,_8192)",
     "Sw<3,4,3> o smem_ptr o ((_64,(_8,_2)),_2,_4,_2):((_1,(_64,_1024)),_512,_2048,_8192)",
     "(_1,_2,_4,_2):(_0,_512,_2,_1024)", "(_1,_2,_4,_2):(_0,_64,_256,_1024)",
     "tmem_[32b] o (((_16,_4),_64),_2,_2):(((_65536,_2097152),_1),_1048576,_64)"},
    {"tcgen05.mma.cta_group::1.kind::f16 m=128 n=64 type_d=f16 bM=256 bN=64 bK=128",
     "Sw<3,4,3> o smem_ptr o ((_128,_16),_2,(_4,_2),_2):((_64,_1),_8192,(_16,_16384),_32768)",
     "Sw<3,4,3> o smem_ptr o ((_64,_16),_1,(_4,_2),_2):((_64,_1),_0,(_16,_4096),_8192)",
     "(_1,_2,(_4,_2),_2):(_0,_1024,(_2,_2048),_4096)", "(_1,_1,(_4,_2),_2):(_0,_0,(_2,_512),_1024)",
     "tmem_[16b] o ((_128,_64),_2,_1):((_131072,_2),_128,_0)"},
    {"tcgen05.mma.cta_group::2.kind::f16 m=256 n=128 major_b=MN bM=512 bN=128 bK=64",
     "Sw<3,4,3> o smem_ptr o ((_128,_16),_2,_4,_2):((_64,_1),_8192,_16,_16384)",
     "Sw<3,4,3> o smem_ptr o ((_64,_16),_1,_4,_2):((_1,_64),_0,_1024,_4096)",
     "(_1,_2,_4,_2):(_0,_1024,_2,_2048)", "(_1,_1,_4,_2):(_0,_0,_128,_512)",
     "tmem_[32b] o ((_128,_128),_2,_1):((_65536,_1),_128,_0)"},
    {"tcgen05.mma.cta_group::2.kind::f16 m=128 n=128 bM=256 bN=256 bK=64",
     "Sw<3,4,3> o smem_ptr o ((_64,_16),_2,_4,_2):((_64,_1),_4096,_16,_8192)",
     "Sw<3,4,3> o smem_ptr o ((_64,_16),_2,_4,_2):((_64,_1),_4096,_16,_8192)",
     "(_1,_2,_4,_2):(_0,_512,_2,_1024)", "(_1,_2,_4,_2):(_0,_512,_2,_1024)",
     "tmem_[32b] o ((_64,(_64,_2)),_2,_2):((_65536,(_1,_4194304)),_64,_128)"},
    {"tcgen05.mma.cta_group::1.kind::tf32 m=128 n=64 major_a=MN bM=128 bN=64 bK=32 swizzle_b=64B",
     "Sw<2,5,2> o smem_ptr o "
     "(((_32,_4),(_4,_2)),_1,_4,_2):(((_1,_128),(_32,_512)),_0,_1024,_4096)",
     "Sw<2,4,3> o smem_ptr o ((_64,_8),_1,(_2,_2),_2):((_16,_1),_0,(_8,_1024),_2048)",
     "(_1,_1,_4,_2):(_0,_0,_256,_1024)", "(_1,_1,(_2,_2),_2):(_0,_0,(_2,_256),_512)",
     "tmem_[32b] o ((_128,_64),_1,_1):((_65536,_1),_0,_0)"}};

TEST(Tcgen05_Partition, PrintsWhatCutePrints) {
  const std::string iterator = "UMMA::DescriptorIterator o ";
  for (const Printed& p : printed) {
    const std::string text = text_of("partition " + p.question + " stages=2");
    EXPECT_EQ(fact(text, "sA"), p.s_a) << p.question;
    EXPECT_EQ(fact(text, "sB"), p.s_b) << p.question;
    EXPECT_EQ(fact(text, "tCrA"), iterator + p.r_a) << p.question;
    EXPECT_EQ(fact(text, "tCrB"), iterator + p.r_b) << p.question;
    EXPECT_EQ(fact(text, "tCtC"), p.t_c) << p.question;
  }
}

// ---- The address law ----------------------------------------------------------------------------

cute::Layout layout_of(const std::string& text, const std::string& key) {
  const std::string value = fact(text, key);
  return cute::Layout(value.substr(value.rfind(" o ") + 3));
}

struct Tile {
  std::string question;
  Kind kind;
  Type type;
  int container_bits;
  Major major;
};

// Every element of every instruction and stage: sA as text, and the address law at the descriptor
// that tCrA gives.
void expect_descriptors_read_the_tile(const Tile& t, const std::string& text,
                                      const std::string& operand) {
  const cute::Layout tile = layout_of(text, "s" + operand);
  const cute::Layout descriptors = layout_of(text, "tCr" + operand);
  auto d =
      tcgen05::decode(std::stoull(fact(text, "descriptor " + operand).substr(0, 18), nullptr, 16));
  const int k = 256 / t.container_bits;
  const int mn = tile.size(0) / k;
  const bool padded = is_padded(t.kind, t.type);  // CuTe counts containers: 16 elements, 16 bytes
  for (int stage = 0; stage < tile.size(3); ++stage)
    for (int i = 0; i < tile.size(1); ++i)
      for (int j = 0; j < tile.size(2); ++j) {
        d.start_bytes = static_cast<std::uint32_t>(4096 + 16 * descriptors({0, i, j, stage}));
        ASSERT_EQ(tcgen05::check_operand(d, t.kind, t.type, t.major), Fault::None) << t.question;
        for (int row = 0; row < mn; row += 7)
          for (int e = 0; e < k; e += padded ? 16 : 1) {
            const int at = tile({row + mn * e, i, j, stage});
            const auto linear = static_cast<std::uint32_t>(4096 + at * t.container_bits / 8);
            ASSERT_EQ(tcgen05::element_place(
                          d, t.major, t.kind, t.type,
                          {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(e)})
                          .byte,
                      swizzle_function(d.swizzle).apply(linear))
                << t.question << "\n"
                << text;
          }
      }
}

// tCtC as text against the cells of D; accumulators share no cell.
void expect_accumulators_are_cells(const std::string& text, tcgen05::Datapath datapath, int n,
                                   Type d) {
  const cute::Layout c = layout_of(text, "tCtC");
  const int per_cell = 32 / bits(d);
  const int columns = std::stoi(fact(text, "accumulator columns"));
  std::set<int> seen;
  for (int i = 0; i < c.size(1); ++i)
    for (int j = 0; j < c.size(2); ++j) {
      const int origin = c({0, i, j}) / per_cell;
      const tcgen05::Accumulator at = {datapath, n, origin / 65536};
      for (int row = 0; row < rows(datapath); ++row)
        for (int col = 0; col < n; ++col) {
          const tcgen05::Cell cell = d_cell(at, {row, col});
          const int address = 65536 * cell.tmem_lane + cell.tmem_column + origin % 65536;
          ASSERT_EQ(c({row + rows(datapath) * col, i, j}), address * per_cell) << text;
          ASSERT_TRUE(seen.insert(address).second) << text;
          ASSERT_LT(address % 65536, columns);
        }
    }
}

TEST(Tcgen05_Partition, PrintedLayoutsAreWhatTheDescriptorsReadAndWhereDLies) {
  struct Types {
    Kind kind;
    Type type;
    const char* d;
    int container_bits;
  };
  int tiles = 0;
  for (const Types& c :
       {Types{Kind::f16, Type::bf16, "f32", 16}, Types{Kind::f16, Type::f16, "f16", 16},
        Types{Kind::tf32, Type::tf32, "f32", 32}, Types{Kind::i8, Type::u8, "s32", 8},
        Types{Kind::f8f6f4, Type::e5m2, "f16", 8}, Types{Kind::f8f6f4, Type::e2m1, "f32", 8}})
    for (const int cta_group : {1, 2})
      for (const int m : {64 * cta_group, 128 * cta_group})
        for (const int n : {32, 128})
          for (const Major major : {Major::K, Major::MN})
            for (const std::string order : {"mn-first", "k-first"})
              for (const std::string swizzle : {"none", "32B", "64B", "128B", "128B_ATOM_32B"}) {
                const std::string type = name(c.type);
                const int k = 256 / c.container_bits;
                const std::string question =
                    "partition tcgen05.mma.cta_group::" + std::to_string(cta_group) +
                    ".kind::" + name(c.kind) + " m=" + std::to_string(m) +
                    " n=" + std::to_string(n) + " type_a=" + type + " type_b=" + type +
                    " type_d=" + c.d + (major == Major::MN ? " major_a=MN major_b=MN" : "") +
                    " bM=" + std::to_string(2 * m) + " bN=" + std::to_string(2 * n) +
                    " bK=" + std::to_string(4 * k) + " stages=2 order=" + order +
                    " swizzle=" + swizzle;
                const Answer reply = ask(question);
                if (reply.status != Status::Yes) continue;
                ++tiles;
                const Tile t = {question, c.kind, c.type, c.container_bits, major};
                expect_descriptors_read_the_tile(t, reply.text, "A");
                expect_descriptors_read_the_tile(t, reply.text, "B");
                if (order == "k-first" || swizzle != "none") continue;
                const tcgen05::MmaOpcode op = {c.kind, cta_group};
                expect_accumulators_are_cells(reply.text, tcgen05::datapath(op, m), n,
                                              std::string(c.d) == "f16" ? Type::f16 : Type::f32);
                if (HasFatalFailure()) return;
              }
  EXPECT_GE(tiles, 400);
  RecordProperty("tiles", tiles);
}

// ---- Order, refusals ----------------------------------------------------------------------------

TEST(Tcgen05_Partition, SameOrderSameDescriptorsAsLayout) {
  const std::string form = "tcgen05.mma.cta_group::1.kind::f16";
  for (const std::string order : {"mn-first", "k-first"}) {
    const std::string keys = " major_a=MN m=128 n=64 order=" + order;
    const std::string cut = text_of("partition " + form + keys + " bM=256 bN=64 bK=64");
    const std::string laid = text_of("layout " + form + " A rows=256 k=64" + keys);
    EXPECT_EQ(fact(cut, "order"), order);
    EXPECT_EQ(fact(laid, "order"), order);
    EXPECT_EQ(fact(cut, "descriptor A").substr(0, 18), fact(laid, "descriptor"));
  }
}

TEST(Tcgen05_Partition, WhatIsNotModelledIsNamed) {
  struct Refusal {
    std::string words;
    Status status;
    std::string part;
  };
  const std::string tile = " bM=128 bN=128 bK=64";
  for (const Refusal& r : std::vector<Refusal>{
           {"tcgen05.mma.sp.cta_group::1.kind::f16" + tile, Status::Unmodelled, "tCtE"},
           {"tcgen05.mma.ws.cta_group::1.kind::f16" + tile, Status::Unmodelled, ".ws"},
           {"tcgen05.mma.cta_group::1.kind::f16 a=tmem" + tile, Status::Unmodelled, "tCrA"},
           {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale" + tile, Status::Unmodelled,
            "tCtSFA"},
           {"tcgen05.mma.cta_group::1.kind::f16 m=64 n=64 bM=192 bN=64 bK=64", Status::Unmodelled,
            "two share columns"},
           {"tcgen05.mma.cta_group::1.kind::f16 bM=100 bN=128 bK=64", Status::No, "bM is 100"},
           {"tcgen05.mma.cta_group::1.kind::f16 n=256 bM=512 bN=256 bK=16", Status::No,
            "1024 columns"},
           {"tcgen05.mma.cta_group::1.kind::f16 bM=128 bN=128 bK=64 stages=16", Status::No,
            "bytes of shared memory"},
           {"tcgen05.mma.cta_group::1.kind::f16 n=24 bM=128 bN=24 bK=64 major_b=MN swizzle=128B",
            Status::No, "N of B takes 48 bytes"},
           {"tcgen05.mma.cta_group::1.kind::f16 bM=128 bN=128", Status::Usage, "bK="},
           {"tcgen05.ld.32x32b.x1" + tile, Status::Usage, "multiplies nothing"}}) {
    const Answer reply = ask("partition " + r.words);
    EXPECT_EQ(reply.status, r.status) << r.words << ": " << reply.complaint;
    EXPECT_NE(reply.complaint.find(r.part), std::string::npos) << reply.complaint;
    EXPECT_EQ(ask("partition " + r.words, styled(Style::Json)).status, r.status);
  }
}

}  // namespace
}  // namespace tcq::oracle
