// Names of CuTe's atoms, layouts of Triton and prefixes of compilers answer as the PTX that they issue.
#include "oracle/ptx/cute_atoms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/pasted.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

// "" if it is none.
std::string read(std::string_view text) {
  const std::vector<std::string_view> words = {text};
  const auto pasted = read_pasted(words);
  return pasted ? fmt::format("{}", fmt::join(pasted->words, " ")) : "";
}

TEST(CuteAtoms, AreTheInstructionsThatTheyIssue) {
  const std::pair<const char*, const char*> atoms[] = {
      {"SM90_64x128x16_F32BF16BF16_SS", "wgmma.m64n128k16.f32.bf16.bf16"},
      {"cute::SM90::GMMA::MMA_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN> B",
       "wgmma.m64n128k16.f32.bf16.bf16 B major_b=MN"},
      {"SM90_64x8x32_S32S8U8_RS_TN_SATURATE D", "wgmma.m64n8k32.s32.s8.u8.satfinite D a=regs"},
      {"MMA_64x8x8_F32TF32TF32_SS_TN<GMMA::ScaleIn::Neg>",
       "wgmma.m64n8k8.f32.tf32.tf32 negate_a=1"},
      {"GMMA_64x8x64_F32E4M3E5M2_SS_TN<ScaleIn::One, ScaleIn::One, SparseSel::One>",
       "wgmma.sp.m64n8k64.f32.e4m3.e5m2 selector=1"},
      {"MMA_Atom<SM80_16x8x16_F32BF16BF16F32_TN>{} A", "mma.m16n8k16.row.col.f32.bf16.bf16.f32 A"},
      {"SM90_64x16x32_F32E4M3E4M3_SS_TN<>{} B", "wgmma.m64n16k32.f32.e4m3.e4m3 B"},
      {"SM70_8x8x4_F32F16F16F32_NT", "mma.m8n8k4.col.row.f32.f16.f16.f32"},
      {"SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "mma.m16n8k256.row.col.s32.b1.b1.s32.xor.popc"},
      {"SM120_16x8x32_TN<float_e4m3_t, cutlass::float_e2m1_t, float>",
       "mma.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32"},
      {"SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 16> SFA",
       "mma.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 SFA"},
      {"SM100_MMA_F16BF16_2x1SM_TS<bfloat16_t, bfloat16_t, float, 256, 64, UMMA::Major::K, "
       "UMMA::Major::MN> D",
       "tcgen05.mma.cta_group::2.kind::f16 D a=tmem m=256 n=64 type_a=bf16 type_b=bf16 type_d=f32 "
       "major_b=MN"},
      {"SM100_MMA_MXF4_SS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 128, 64, 16, "
       "UMMA::Major::K, UMMA::Major::K>",
       "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X m=128 n=64 type_a=e2m1 "
       "type_b=e2m1 type_d=f32 scale_type=ue4m3"},
      {"SM100_MMA_S8_SS_SPARSE", "tcgen05.mma.sp.cta_group::1.kind::i8"},
      {"SM100_TMEM_LOAD_16dp32b2x_16b", "tcgen05.ld.16x32bx2.x2.pack::16b"},
      {"SM100_TMEM_STORE_32dp32b128x", "tcgen05.st.32x32b.x128"},
      {"SM100_UTCCP_2x64dp128bitlw0213_2cta", "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13"},
      {"Copy_Atom<SM75_U32x4_LDSM_N, half_t> D", "ldmatrix.x4 D"},
      {"SM90_U16x8_STSM_T", "stmatrix.x4.trans"},
      {"SM100_U8x8_LDSM_T", "ldmatrix.m16n16.x1.trans.b8"},
      {"SM90_TMA_LOAD_MULTICAST_3D",
       "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
       "cluster"},
      {"SM90_TMA_REDUCE_ADD_2D",
       "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"}};
  for (const auto& [name, mnemonic] : atoms) EXPECT_EQ(read(name), mnemonic) << name;
}

// Every dense wgmma under the name of its atom is described as itself.
TEST(CuteAtoms, EveryWgmmaHasItsName) {
  int compared = 0;
  for (const wgmma::Form& form : all_forms()) {
    const std::string k = std::to_string(wgmma::k(form));
    if (form.a == Type::b1 || form.satfinite) continue;
    std::string types = fmt::format("{}{}{}", name(form.d), name(form.a), name(form.b));
    std::transform(types.begin(), types.end(), types.begin(), ::toupper);
    const std::string atom =
        fmt::format("{}_64x{}x{}_{}_SS", form.sparse ? "GMMA" : "MMA", form.n, k, types);
    EXPECT_EQ(read((form.sparse ? "" : "SM90::GMMA::") + atom), short_mnemonic(form)) << atom;
    ++compared;
  }
  EXPECT_GT(compared, 700);
}

TEST(CuteAtoms, AnythingElseIsNoAtom) {
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "MMA_Atom<";
  for (const std::string& text :
       {deep, deep + std::string(20000, '>'), std::string("MMA_Atom<>"), std::string("<SM80_"),
        std::string("SM_90"), std::string("SM80"), std::string("::::"),
        std::string("MMA_Atom<MMA_Traits<SM80"), std::string("wgmma.m64n8k16.f32.f16.f16")})
    EXPECT_FALSE(read_cute_atom(text)) << text.substr(0, 40);
  for (const char* text :
       {"SM80_", "SM100_MMA_", "SM100_MMA_X_SS", "SM100_TMEM_LOAD_", "SM100_UTCCP_1_2",
        "SM90_64x8x16_F32", "SM90_64xx16_F32F16F16_SS", "SM100_TMEM_LOAD_dpbx"})
    EXPECT_THROW(read_cute_atom(text), UsageError) << text;
}

TEST(CuteAtoms, KeysOfTheQuestionCount) {
  EXPECT_EQ(read("SM90_64x64x16_F32F16F16_SS<GMMA::Major::MN, GMMA::Major::K> A major_a=K"),
            "wgmma.m64n64k16.f32.f16.f16 A major_a=K");
  const Answer open = ask("describe SM100_MMA_F16BF16_SS");
  EXPECT_NE(open.complaint.find("the text leaves open: M, N and the types"), std::string::npos);
  EXPECT_EQ(ask("describe SM100_MMA_F16BF16_SS m=128 n=64").complaint.find("leaves open"),
            std::string::npos);
}

TEST(CuteDsl, OperationsAreTheInstructionsThatTheyIssue) {
  const std::pair<const char*, const char*> operations[] = {
      {"tcgen05.Ld32x32bOp(tcgen05.Repetition.x32, tcgen05.Pack.NONE) D",
       "tcgen05.ld.32x32b.x32 D"},
      {"cute.nvgpu.tcgen05.copy.Ld16x256bOp(tcgen05.copy.Repetition(8))", "tcgen05.ld.16x256b.x8"},
      {"Ld16x128bOp(Repetition.x4, Pack.PACK_16b_IN_32b)", "tcgen05.ld.16x128b.x4.pack::16b"},
      {"St32x32bOp(Repetition(2), Unpack.UNPACK_16b_IN_32b)", "tcgen05.st.32x32b.x2.unpack::16b"},
      {"warp.LdMatrix8x8x16bOp(transpose=True, num_matrices=4) D", "ldmatrix.x4.trans D"},
      {"StMatrix8x8x16bOp(False, 2)", "stmatrix.x2"},
      {"StMatrix16x8x8bOp(4)", "stmatrix.m16n8.x4.trans.b8"}};
  for (const auto& [text, mnemonic] : operations) EXPECT_EQ(read(text), mnemonic) << text;
  EXPECT_EQ(read("SomethingElseOp(4"), "");
  EXPECT_EQ(read("LdMatrix8x8x16bOp("), "ldmatrix.x1");
}

TEST(TritonLayouts, OfAccumulatorsAreTheirInstructions) {
  const std::string begin = "#ttg.nvidia_mma<{versionMajor = ";
  EXPECT_EQ(
      read(begin + "3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}> D"),
      "wgmma.m64n64k16.f32.bf16.bf16 D");
  EXPECT_EQ(
      read(begin + "3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 32]}> D"),
      "wgmma.m64n128k32.f32.e4m3.e4m3 D bM=128 bN=128 atoms=2x1x1");
  EXPECT_EQ(read(begin + "2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}> D"),
            "mma.m16n8k16.f32.f16.f16 D");
  EXPECT_EQ(read("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, twoCTAs = "
                 "true> D"),
            "tcgen05.mma.cta_group::2.kind::f16 D m=256 n=64");
  for (const char* other :
       {"3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>",
        "2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
        "1, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16]}>",
        "3, warpsPerCTA = [99999999999, 1], instrShape = [16, 64, 999999999999]}>"})
    EXPECT_THROW(read(begin + other), UnmodelledError) << other;
}

TEST(Prefixes, OfCompilersAreLeftOut) {
  EXPECT_EQ(read("llvm.nvvm.tcgen05.ld.16x256b.x4"), "tcgen05.ld.16x256b.x4");
  EXPECT_EQ(text_of("describe cuda::ptx::mbarrier_try_wait_parity"),
            text_of("describe mbarrier.try_wait"));
  EXPECT_EQ(text_of("describe nvvm.cp.async.bulk.commit_group"),
            text_of("describe cp.async.bulk.commit_group"));
}

}  // namespace
}  // namespace tcq::oracle
