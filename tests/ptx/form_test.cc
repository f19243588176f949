// Laws of opcodes: every row reads what it writes, in any order of its words, and names what it does not know.
#include "sim/ptx/form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/ptx/roles.h"
#include "tests/ptx/ptx_kit.h"

namespace tcq::ptx {
namespace {

bool same(const Form& a, const Form& b) {
  return a.opcode == b.opcode && a.slots == b.slots && a.flags == b.flags && a.types == b.types &&
         a.shape == b.shape && a.tensor == b.tensor;
}

TEST(PtxForm, EveryFormOfRealKernelsIsRead) {
  const std::string text = text_of_file("forms.ptx");
  const Program program = load(text);
  EXPECT_EQ(complaints(program.diagnostics), "");
  EXPECT_EQ(program.unknown, 0U);
  EXPECT_EQ(program.forms.size(), 680U);
  for (const Form& form : program.forms) {
    const std::string_view written = program.unit.names.text(form.text);
    const std::string printed = print(form);
    EXPECT_TRUE(same(read_form(printed), form)) << written << " as " << printed;
    EXPECT_EQ(print(read_form(printed)), printed);
  }
}

TEST(PtxForm, WordsMayComeInAnyOrder) {
  std::mt19937 random(15);
  const std::string text = text_of_file("forms.ptx");
  const Program program = load(text);
  for (const Form& form : program.forms) {
    if (form.tensor.index() != 0 || form.type_count > 1) continue;
    const std::string printed = print(form);
    const std::size_t name = row_of(form.opcode).name.size();
    if (!printed.starts_with(row_of(form.opcode).name) || printed.size() <= name) continue;
    std::vector<std::string_view> words = split_opcode(std::string_view(printed).substr(name + 1));
    // Spaces, evictions and majors come twice and mean their places.
    if (form.has(Slot::Space2) || form.has(Slot::L2Second) || form.has(Slot::MajorB)) continue;
    if (form.opcode == Opcode::BarRed) continue;
    std::shuffle(words.begin(), words.end(), random);
    std::string shuffled(row_of(form.opcode).name);
    for (const std::string_view word : words) shuffled.append(".").append(word);
    // Some rows are told apart by what follows their name: cp.async.bulk and cp.async.bulk.tensor.
    const Form read = read_form(shuffled);
    if (read.opcode != form.opcode && read.opcode != Opcode::Unknown) continue;
    EXPECT_TRUE(same(read, form)) << shuffled << ": " << read.problem;
  }
}

// ptxas 13.0 takes .sync of these behind their other words; CUB writes vote.ballot.sync.
TEST(PtxForm, SyncMayStandBehindWhatAWarpDoes) {
  for (const auto& [written, meant] : {std::pair{"vote.ballot.sync.b32", "vote.sync.ballot.b32"},
                                       {"vote.any.sync.pred", "vote.sync.any.pred"},
                                       {"shfl.up.sync.b32", "shfl.sync.up.b32"},
                                       {"redux.add.sync.s32", "redux.sync.add.s32"}})
    EXPECT_EQ(print(read_form(written)), meant);
  EXPECT_EQ(read_form("vote.ballot.synced.b32").opcode, Opcode::Unknown);
  EXPECT_EQ(read_form("shfl.up.b32").opcode, Opcode::Shfl);
}

TEST(PtxForm, WordsMeanWhatTheirOpcodeSays) {
  const Form setp = read_form("setp.lt.and.ftz.f32");
  EXPECT_EQ(setp.get<Compare>(), Compare::Lt);
  EXPECT_EQ(setp.get<BoolOp>(), BoolOp::And);
  EXPECT_TRUE(setp.has(Flag::Ftz));
  EXPECT_EQ(setp.types[0], Type::F32);
  EXPECT_EQ(read_form("setp.lo.u32").get<Compare>(), Compare::Lo);
  EXPECT_EQ(read_form("mul.lo.u32").get<Part>(), Part::Lo);
  EXPECT_EQ(read_form("atom.global.gpu.acq_rel.and.b32").get<Operation>(), Operation::And);
  EXPECT_EQ(read_form("vote.sync.uni.pred").get<Vote>(), Vote::Uni);
  EXPECT_TRUE(read_form("bra.uni").has(Flag::Uni));
  const Form cvt = read_form("cvt.rn.satfinite.e4m3x2.f32");
  EXPECT_EQ(cvt.types[0], Type::E4M3x2);
  EXPECT_EQ(cvt.types[1], Type::F32);
  EXPECT_EQ(cvt.get<Saturate>(), Saturate::Satfinite);
  const Form mma = read_form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  EXPECT_EQ(mma.shape, (std::array<std::uint16_t, 3>{16, 8, 16}));
  EXPECT_EQ(mma.get<MajorA>(), MajorA::Row);
  EXPECT_EQ(mma.get<MajorB>(), MajorB::Col);
  EXPECT_EQ(mma.type_count, 4);
  const Form ld = read_form("ld.global.nc.L1::no_allocate.L2::256B.v4.s32");
  EXPECT_EQ(ld.space(), Space::Global);
  EXPECT_EQ(ld.get<L1Evict>(), L1Evict::NoAllocate);
  EXPECT_EQ(ld.get<L2Prefetch>(), L2Prefetch::B256);
  EXPECT_EQ(ld.get<VectorWidth>(), VectorWidth::V4);
  const Form copy = read_form(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::"
      "bytes.multicast::cluster.L2::cache_hint");
  EXPECT_EQ(copy.opcode, Opcode::CpAsyncBulkTensor);
  EXPECT_EQ(copy.get<Dimensions>(), Dimensions::D3);
  EXPECT_EQ(copy.space(), Space::SharedCluster);
  EXPECT_EQ(copy.space(Slot::Space2), Space::Global);
  EXPECT_EQ(copy.get<LoadMode>(), LoadMode::Tile);
  EXPECT_EQ(copy.get<Completion>(), Completion::MbarrierBytes);
  EXPECT_EQ(copy.get<CtaGroup>(), CtaGroup::Two);
  EXPECT_TRUE(copy.has(Flag::CacheHint));
  EXPECT_TRUE(read_form("bar.sync").has(Flag::Aligned));
  EXPECT_FALSE(read_form("barrier.sync").has(Flag::Aligned));
  EXPECT_TRUE(read_form("barrier.sync.aligned").has(Flag::Aligned));
}

TEST(PtxForm, OpcodesOfTensorCoresAreThoseOfTheirGrammar) {
  const Form wgmma = read_form("wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16");
  ASSERT_TRUE(std::holds_alternative<wgmma::Form>(wgmma.tensor));
  EXPECT_EQ(std::get<wgmma::Form>(wgmma.tensor).n, 24);
  const Form ld = read_form("tcgen05.ld.sync.aligned.32x32b.x16.b32");
  EXPECT_EQ(ld.opcode, Opcode::Tcgen05Ld);
  EXPECT_EQ(read_form("tcgen05.cp.cta_group::1.warpx4.32x128b").opcode, Opcode::Tcgen05Cp);
  EXPECT_EQ(read_form("tcgen05.wait::st.sync.aligned").opcode, Opcode::Tcgen05Wait);
  EXPECT_EQ(read_form("wgmma.frob").problem, "is no instruction");
}

TEST(PtxForm, WhatIsUnknownIsNamed) {
  EXPECT_EQ(read_form("frob.b32").problem, "is no opcode that is known");
  EXPECT_EQ(read_form("add.frob.s32").problem, "has no modifier '.frob' here");
  EXPECT_EQ(read_form("add").problem, "lacks a type: expected 1");
  EXPECT_EQ(read_form("add.s32.s32.s32").problem, "has no modifier '.s32' here");
  EXPECT_EQ(read_form("setp.s32").problem, "lacks its modifier 'compare'");
  EXPECT_EQ(read_form("elect").opcode, Opcode::Unknown);
}

TEST(PtxForm, EveryRowIsWellFormed) {
  std::set<std::string_view> slots, flags, names;
  for (const SlotRow& row : slot_table) slots.insert(row.name);
  for (const std::string_view word : flag_words) flags.insert(word);
  for (const OpcodeRow& row : opcode_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    std::string text(row.modifiers);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      std::string word = text.substr(begin, end - begin);
      begin = end + 1;
      if (word.ends_with('!')) word.pop_back();
      const bool count = word[0] == 't' && word[1] >= '1' && word[1] <= '5';
      EXPECT_TRUE(count || word == "shape" ||
                  (word[0] == '.' ? flags.contains(word.substr(1)) : slots.contains(word)))
          << row.name << ": " << word;
    }
    for (const Role& role : roles_of(row.opcode))
      EXPECT_TRUE(role.type == 0 ||
                  std::string_view("01234Xphwlq").find(role.type) != std::string_view::npos)
          << row.name;
  }
}

TEST(PtxForm, WordsOfSlotsAreThoseOfTheirEnumerators) {
  EXPECT_EQ(read_form("cvt.rpi.f32.f32").get<Rounding>(), Rounding::Rpi);
  EXPECT_EQ(read_form("setp.nan.f32").get<Compare>(), Compare::Nan);
  EXPECT_EQ(read_form("atom.exch.b32").get<Operation>(), Operation::Exch);
  EXPECT_EQ(read_form("bar.red.popc.u32").get<Operation>(), Operation::Popc);
  EXPECT_EQ(read_form("ld.param::func.b32").space(), Space::ParamFunc);
  EXPECT_TRUE(read_form("ld.mmio.relaxed.sys.global.b32").has(Flag::Mmio));
  EXPECT_EQ(read_form("ld.relaxed.acquire.sys.b32").opcode, Opcode::Unknown);  // two of one slot
  EXPECT_EQ(read_form("fence.sc.sys").get<Semantics>(), Semantics::Sc);
  EXPECT_EQ(read_form("fence.sc.sys").get<Scope>(), Scope::Sys);
  EXPECT_EQ(read_form("ld.wt.b32").get<CacheOp>(), CacheOp::Wt);
  EXPECT_EQ(read_form("tensormap.replace.tile.fill_mode.b1024.b32").get<MapField>(),
            MapField::FillMode);
  EXPECT_EQ(read_form("griddepcontrol.wait").get<GridStep>(), GridStep::Wait);
  EXPECT_EQ(read_form("prmt.b32.rc16").get<PrmtMode>(), PrmtMode::Rc16);
  EXPECT_EQ(read_form("testp.subnormal.f32").get<FloatTest>(), FloatTest::Subnormal);
}

}  // namespace
}  // namespace tcq::ptx
