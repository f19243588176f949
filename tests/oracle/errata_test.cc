// What refutes the wrong claims of oracle/explain/errata.md: one assertion per claim that the model
// can refute, and that every test and recording named there exists.
#include "oracle/explain/errata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/isa/wgmma/tile.h"
#include "sim/num/dot.h"
#include "sim/num/float_bits.h"
#include "tests/support/ask.h"
#include "tests/support/source_tree.h"

namespace tcq::oracle {
namespace {

namespace fs = std::filesystem;
using wgmma::MatrixDescriptor;

constexpr Swizzle kSwizzles[] = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};

bool legal(const wgmma::Form& form) { return check(form) == Fault::None; }

std::string verdict(const std::string& line) { return answer_line({"check", {}, {}}, line).text; }

// ---- The list itself ----------------------------------------------------------------------------

std::set<std::string> existing_tests() {
  static const std::regex declared(R"(TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\))");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(source_tree() / "tests")) {
    if (entry.path().extension() != ".cc") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator it(text.begin(), text.end(), declared), end; it != end; ++it)
      names.insert((*it)[1].str() + "." + (*it)[2].str());
  }
  return names;
}

TEST(ErrataList, EveryNamedTestExists) {
  const std::set<std::string> tests = existing_tests();
  int named = 0;
  for (const Erratum& erratum : all_errata()) {
    for (const Evidence& evidence : erratum.evidence) {
      if (evidence.kind != Evidence::Kind::Test) continue;
      ++named;
      EXPECT_TRUE(tests.contains(evidence.name)) << erratum.key << ": " << evidence.name;
    }
  }
  EXPECT_GE(named, 60);
}

TEST(ErrataList, EveryNamedRecordingExists) {
  for (const Erratum& erratum : all_errata()) {
    for (const Evidence& evidence : erratum.evidence) {
      const bool is_recording = evidence.kind == Evidence::Kind::Recording;
      EXPECT_EQ(evidence.name.starts_with("tests/"), is_recording) << erratum.key;
      EXPECT_TRUE(!is_recording || fs::exists(source_tree() / evidence.name))
          << erratum.key << ": " << evidence.name;
    }
  }
}

TEST(ErrataList, KeysAscendAndEveryClaimHasEvidence) {
  const auto order = [](const std::string& key) {
    return std::pair{key.substr(0, 3), std::stoi(key.substr(4))};
  };
  for (std::size_t i = 0; i < all_errata().size(); ++i) {
    const Erratum& erratum = all_errata()[i];
    EXPECT_FALSE(erratum.evidence.empty()) << erratum.key;
    EXPECT_TRUE(i == 0 || order(all_errata()[i - 1].key) < order(erratum.key)) << erratum.key;
  }
}

TEST(ErrataList, AnswersListOneOrAll) {
  const std::string all = text_of("errata");
  EXPECT_EQ(split(all, '\n').size(), all_errata().size());
  EXPECT_NE(all.find("\n004.1  lbo at bits 14-29"), std::string::npos);
  const std::string one = text_of("errata 004.1");
  EXPECT_NE(one.find("\ncorrection: lbo 16-29, sbo 32-45, base offset 49-51, swizzle 62-63\n"),
            std::string::npos)
      << one;
  EXPECT_NE(one.find("\ntest: Errata.ThePublishedBitTableGivesAnotherWord\n"), std::string::npos);
  EXPECT_EQ(split(text_of("errata 002"), '\n').front(), "002.1  pyptx.wgmma_layout");
  EXPECT_EQ(text_of("errata 004.1", styled(Style::Json)).substr(0, 16), R"({"key":"004.1",")");
  EXPECT_EQ(text_of("errata", styled(Style::Csv)).substr(0, 10), "key,claim\n");
  EXPECT_EQ(ask("errata 004.99").status, Status::Usage);
  EXPECT_EQ(text_of("errata 004.1 004.2"),
            text_of("errata 004.1") + "\n\n" + text_of("errata 004.2"));
  EXPECT_TRUE(text_of("errata 14 bits").starts_with("003.14 "));
  EXPECT_EQ(ask("errata qwertzuiop").status, Status::Usage);
}

// ---- Fragments ----------------------------------------------------------------------------------

TEST(Errata, HalfOfTheAccumulatorsLieEightRowsBelow) {
  int first = 0;
  int below = 0;
  for (int reg = 0; reg < wgmma::accumulator_registers(Type::f32, 64); ++reg) {
    const int row = wgmma::accumulator_element(Type::f32, {0, reg}).row;
    (row == 0 ? first : below) += 1;
    EXPECT_TRUE(row == 0 || row == 8);
  }
  EXPECT_EQ(first, 16);
  EXPECT_EQ(below, 16);
}

TEST(Errata, F16AccumulatorsArePacked) {
  EXPECT_EQ(wgmma::accumulator_registers(Type::f32, 64), 32);
  EXPECT_EQ(wgmma::accumulator_registers(Type::f16, 64), 16);
}

TEST(Errata, AThreadHolds128thOfTheTile) {
  EXPECT_EQ(wgmma::accumulator_registers(Type::f32, 256), 64 * 256 / 128);
  EXPECT_EQ(wgmma::accumulator_registers(Type::f32, 256) * wgmma::threads_per_warpgroup, 16384);
}

TEST(Errata, TwoConsecutiveValuesAreAdjacentColumns) {
  for (int thread = 0; thread < wgmma::threads_per_warpgroup; ++thread) {
    const wgmma::Element a = wgmma::accumulator_element(Type::f32, {thread, 0});
    const wgmma::Element b = wgmma::accumulator_element(Type::f32, {thread, 1});
    const wgmma::Element c = wgmma::accumulator_element(Type::f32, {thread, 2});
    EXPECT_EQ(b, (wgmma::Element{a.row, a.col + 1}));
    EXPECT_EQ(c, (wgmma::Element{a.row + 8, a.col}));
  }
}

TEST(Errata, NoLaneOwnsFourAdjacentColumns) {
  for (int col = 0; col + 3 < 256; col += 4)
    EXPECT_NE(wgmma::accumulator_slot(Type::f32, {5, col}).thread,
              wgmma::accumulator_slot(Type::f32, {5, col + 2}).thread);
}

// The coordinate index is m + 64 n.
TEST(Errata, LanesStepTwoColumnsAndWarps16Rows) {
  const auto index = [](int thread) {
    const wgmma::Element e = wgmma::accumulator_element(Type::f32, {thread, 0});
    return e.row + 64 * e.col;
  };
  EXPECT_EQ(index(1) - index(0), 128);
  EXPECT_EQ(index(4) - index(0), 1);
  EXPECT_EQ(index(32) - index(0), 16);
}

TEST(Errata, TheWarpgroupIsTheWarpRankDividedBy4) {
  constexpr int warps = wgmma::threads_per_warpgroup / 32;
  const int rank = 6;
  EXPECT_EQ(rank / warps, 1);
  EXPECT_EQ(rank - rank % warps, 4) << "what masking the low two bits gives";
}

// ---- Forms --------------------------------------------------------------------------------------

TEST(Errata, NNeedNotBeAPowerOfTwo) {
  for (const int n : {24, 40, 96, 200, 248})
    EXPECT_TRUE(legal({Type::f32, Type::bf16, Type::bf16, n}));
}

TEST(Errata, IntegersStepNBy16Above32) {
  for (const int n : {8, 16, 24, 32, 48, 240, 256}) {
    EXPECT_TRUE(legal({Type::s32, Type::s8, Type::s8, n})) << n;
    EXPECT_TRUE(legal({Type::s32, Type::b1, Type::b1, n})) << n;
  }
  for (const int n : {40, 56, 248}) {
    EXPECT_FALSE(legal({Type::s32, Type::s8, Type::s8, n})) << n;
    EXPECT_FALSE(legal({Type::s32, Type::b1, Type::b1, n})) << n;
    EXPECT_TRUE(legal({Type::f32, Type::f16, Type::f16, n})) << n;
  }
}

TEST(Errata, EveryTypeReads32BytesOfK) {
  for (const wgmma::Form& form : all_forms())
    EXPECT_EQ(wgmma::stored_k(form.a) * bits(form.a), 8 * 32);
}

TEST(Errata, F32IsNoOperandType) {
  for (int d = 0; d < type_count; ++d)
    for (int b = 0; b < type_count; ++b)
      EXPECT_FALSE(wgmma::types_exist(static_cast<Type>(d), Type::f32, static_cast<Type>(b)));
}

TEST(Errata, Fp8HasF16AccumulatorsAndIntegersMix) {
  for (const Type a : {Type::e4m3, Type::e5m2})
    for (const Type b : {Type::e4m3, Type::e5m2}) EXPECT_TRUE(wgmma::types_exist(Type::f16, a, b));
  for (const Type a : {Type::s8, Type::u8})
    for (const Type b : {Type::s8, Type::u8}) EXPECT_TRUE(wgmma::types_exist(Type::s32, a, b));
}

TEST(Errata, OnlyF16AndBf16CanBeMnMajor) {
  std::set<Type> types;
  for (wgmma::Form form : all_forms()) {
    form.major_b = Major::MN;
    if (legal(form)) types.insert(form.a);
  }
  EXPECT_EQ(types, (std::set{Type::f16, Type::bf16}));
}

TEST(Errata, Fp8IsKMajorAndItsAtomHas8Rows) {
  wgmma::Form form{Type::f32, Type::e4m3, Type::e4m3, 64};
  form.major_a = Major::MN;
  EXPECT_EQ(check(form), Fault::MnMajorNeeds16Bit);
  const Tile atom =
      wgmma::compact_tile(Type::e4m3, Major::K, Swizzle::B128, AtomOrder::MnFirst, {8, 128});
  EXPECT_TRUE(atom.is_whole());
  EXPECT_EQ(atom.bytes(), atom.atom_bytes());
  EXPECT_EQ(ask("layout wgmma.m64n64k32.f32.e4m3.e4m3 A rows=64 k=128 swizzle=128B").status,
            Status::Yes);
}

TEST(Errata, TheOpcodeNamesDThenAThenB) {
  const PtxText text = wgmma::opcode({Type::f16, Type::e4m3, Type::e5m2, 64});
  EXPECT_NE(std::string(text.chars).find(".f16.e4m3.e5m2"), std::string::npos);
}

const std::string kStatement = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, ";

TEST(Errata, DescriptorsStandBeforeTheScales) {
  EXPECT_EQ(verdict(kStatement + "%rd1, %rd2, %p1, 1, 1, 0, 0;"), "legal");
  EXPECT_TRUE(verdict(kStatement + "%p1, 1, 1, 0, 0, %rd1, %rd2;").starts_with("illegal"));
}

TEST(Errata, TheFirstTwoImmediatesAreScales) {
  EXPECT_EQ(verdict(kStatement + "%rd1, %rd2, 1, -1, -1, 0, 0;"), "legal");
  EXPECT_TRUE(
      verdict(kStatement + "%rd1, %rd2, 1, 0, 0, 1, 1;").starts_with("illegal\tImmediateScale:"));
}

// ---- Arithmetic ---------------------------------------------------------------------------------

// 1.5 * 2 + 4 in f16 -> f32.
TEST(Errata, ScalesNegateAAndBAndDropC) {
  const std::uint32_t a[] = {0x3e00};
  const std::uint32_t b[] = {0x4000};
  const std::uint32_t four = 0x40800000;
  const auto d = [&](const DotOptions& options) {
    return dot({Type::f32, Type::f16, Type::f16}, a, b, 1, four, options);
  };
  DotOptions options;
  EXPECT_EQ(d(options), 0x40e00000u) << "4 + 3: added, not multiplied";
  options.negate_a = true;
  EXPECT_EQ(d(options), 0x3f800000u) << "4 - 3";
  options.negate_b = true;
  EXPECT_EQ(d(options), 0x40e00000u);
  options.accumulate = false;
  EXPECT_EQ(d(options), 0x40400000u) << "3";
}

// 1 + 2^-13 survives in e4m3 -> f32, 1 + 2^-14 does not.
TEST(Errata, Fp8SumsKeep13FractionBits) {
  EXPECT_EQ(wgmma_dot_traits(Type::f32, Type::e4m3).fraction_bits, 13);
  const std::uint32_t one = 0x38;    // 1
  const std::uint32_t small = 0x04;  // 2^-7 (subnormal)
  const std::uint32_t a[] = {one, small};
  const std::uint32_t b13[] = {one, 0x08};  // 2^-7 * 2^-6
  const std::uint32_t b14[] = {one, small};
  EXPECT_EQ(dot({Type::f32, Type::e4m3, Type::e4m3}, a, b13, 2, 0), 0x3f800000u + (1u << 10));
  EXPECT_EQ(dot({Type::f32, Type::e4m3, Type::e4m3}, a, b14, 2, 0), 0x3f800000u);
  const std::uint32_t half[] = {0x3c00, 0x1400};  // 1 and 2^-10 in f16: f32 keeps 2^-20
  EXPECT_EQ(dot({Type::f32, Type::f16, Type::f16}, half, half, 2, 0), 0x3f800000u + 8u);
}

// Whatever the lower 13 bits are, the product with one is the operand without them.
TEST(Errata, Tf32OperandsAreCutNotRounded) {
  const std::uint32_t one[] = {0x3f800000u};
  for (const std::uint32_t kept : {0x3f800000u, 0xbf802000u, 0x42fe6000u})
    for (const std::uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1fffu}) {
      const std::uint32_t a[] = {kept | low};
      EXPECT_EQ(dot({Type::f32, Type::tf32, Type::tf32}, a, one, 1, 0), kept);
    }
}

TEST(Errata, TheSmallestNIsEight) {
  const auto n_exists = [](int n) { return legal({Type::f32, Type::bf16, Type::bf16, n}); };
  EXPECT_TRUE(n_exists(8));
  EXPECT_TRUE(n_exists(24));
  EXPECT_FALSE(n_exists(4));
  const std::string f16 = "describe tcgen05.mma.cta_group::1.kind::f16 ";
  EXPECT_EQ(ask(f16 + "m=64 n=8").status, Status::Yes);
  EXPECT_EQ(ask(f16 + "m=128 n=8").status, Status::Yes);
  const std::string pair = "describe tcgen05.mma.cta_group::2.kind::f16 ";
  EXPECT_EQ(ask(pair + "m=256 n=8").status, Status::No);
  EXPECT_EQ(ask(pair + "m=256 n=16").status, Status::Yes);
}

// The largest magnitude of 32 products, counted in the smallest product, and a sign.
int bits_of_an_exact_sum(double largest, double smallest) {
  const double units = 32 * (largest / smallest) * (largest / smallest);
  return static_cast<int>(std::floor(std::log2(units))) + 1 + 1;
}

TEST(Errata, AnExactSumOf32Fp8ProductsTakes42Or70Bits) {
  const auto value = [](Type type, std::uint32_t bits) {
    const Decoded one = decode_float(type, bits);
    return std::ldexp(one.significand, one.exponent - float_format(type).fraction_bits);
  };
  EXPECT_EQ(bits_of_an_exact_sum(value(Type::e4m3, 0x7e), value(Type::e4m3, 1)), 42);
  EXPECT_EQ(bits_of_an_exact_sum(value(Type::e5m2, 0x7b), value(Type::e5m2, 1)), 70);
}

// 1 * 1 + C: C of 1 + 2^-10 is exact in f16; 16 products of 1 into C of 4098 are cut at 2^-1 in both.
TEST(Errata, Fp8IntoF16IsCutLikeF32AndThenRounded) {
  const auto d = [](const std::string& type, const std::string& terms) {
    return ask_line("mma wgmma.m64n8k32." + type + ".e4m3.e4m3", terms).text;
  };
  EXPECT_EQ(d("f32", "1.0 1.0 1.000244"), d("f32", "1.0 1.0 1.0"));  // cut at 2^-13
  EXPECT_EQ(d("f16", "1.0 1.0 0.00054931640625"), "3c00");  // cut at 2^-13, no tie that rounds up
  EXPECT_EQ(d("f16", "1.0 1.0 2048.0"), "6800");            // 2049 -> 2048: rounded to 10 bits
  EXPECT_EQ(d("f32", "1.0 1.0 2048.0"), "45001000");        // 2049 has 11
  EXPECT_EQ(d("f16", "448.0 448.0 1.0"), "7c00");           // 200705 > 65504
}

// ---- Descriptors --------------------------------------------------------------------------------

TEST(Errata, ASwizzleCountedInElementsHasASmallerBase) {
  const auto cute = [](int bits, int base, int shift, std::uint32_t index) {
    const std::uint32_t mask = ((1u << bits) - 1) << base;
    return index ^ (index >> shift & mask);
  };
  const std::pair<Swizzle, int> modes[] = {
      {Swizzle::B32, 1}, {Swizzle::B64, 2}, {Swizzle::B128, 3}};
  for (const auto& [mode, bits] : modes)
    for (std::uint32_t byte = 0; byte < 4096; ++byte) {
      const std::uint32_t at = swizzle_function(mode).apply(byte);
      ASSERT_EQ(at, cute(bits, 4, 3, byte));
      ASSERT_EQ(at / 2, cute(bits, 3, 3, byte / 2));
      ASSERT_EQ(at / 4, cute(bits, 2, 3, byte / 4));
    }
}

TEST(Errata, ThePublishedBitTableGivesAnotherWord) {
  const MatrixDescriptor d{0x10000, 2048, 0, 0, Swizzle::B128};
  EXPECT_EQ(published::encode(d), 0x0010000002001000u);
  EXPECT_EQ(wgmma::encode(d), 0x4000000000801000u);
  EXPECT_EQ(wgmma::decode(published::encode(d)),
            (MatrixDescriptor{0x10000, 8192, 0, 0, Swizzle::None}));
}

TEST(Errata, OffsetsAreStoredDividedBy16) {
  const std::uint64_t word = wgmma::encode({0, 2048, 1024, 0, Swizzle::None});
  EXPECT_EQ(LeadingByteOffset::code(word), 2048u / 16);
  EXPECT_EQ(StrideByteOffset::code(word), 1024u / 16);
}

TEST(Errata, Bits49To51AreTheBaseOffset) {
  EXPECT_EQ(BaseOffset::mask, std::uint64_t{7} << 49);
  const MatrixDescriptor zero{1024, 16, 1024, 0, Swizzle::B128};
  MatrixDescriptor two = zero;
  two.base_offset = 2;
  EXPECT_EQ(wgmma::byte_address(zero, Major::K, {1, 0}), 1024u + 128 + 16);
  EXPECT_EQ(wgmma::byte_address(two, Major::K, {2, 0}), 1024u + 256);
}

TEST(Errata, BitsOfNoFieldChangeNoAddress) {
  const std::uint64_t word = 0x4000004000010040;
  EXPECT_EQ(wgmma::decode(word | wgmma::MatrixDescriptorFormat::unused), wgmma::decode(word));
}

TEST(Errata, TheLowWordHoldsLboToo) {
  const std::uint64_t word = wgmma::encode({0, 2048, 0, 0, Swizzle::None});
  EXPECT_NE(static_cast<std::uint32_t>(word), 0u);
}

TEST(Errata, FourteenBitsCoverTheAddressSpace) {
  EXPECT_EQ(address_bits, 18);
  EXPECT_EQ(StartAddress::max_value + 16, 256u * 1024);
  EXPECT_GE(LeadingByteOffset::low, StartAddress::low + StartAddress::width + 2);
}

// ---- Addresses ----------------------------------------------------------------------------------

// What one step adds to the address: 1 for LBO, 2 for SBO, 0 for neither.
int adds(Major major, Swizzle swizzle, OperandByte step) {
  const std::uint32_t pitch = pitch_bytes(swizzle);
  const auto moved = [&](std::uint32_t lbo, std::uint32_t sbo) {
    return offset_bytes({major, pitch, lbo, sbo}, step);
  };
  if (moved(4096, 0) == moved(0, 0) + 4096) return 1;
  return moved(0, 4096) == moved(0, 0) + 4096 ? 2 : 0;
}

TEST(Errata, LboStepsWhatMajorAndSwizzleSay) {
  EXPECT_EQ(adds(Major::K, Swizzle::None, {0, 16}), 1);
  EXPECT_EQ(adds(Major::MN, Swizzle::None, {0, 8}), 1);
  for (const Swizzle swizzle : {Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
    EXPECT_EQ(adds(Major::K, swizzle, {0, 16}), 0);
    EXPECT_EQ(adds(Major::MN, swizzle, {pitch_bytes(swizzle), 0}), 1);
    EXPECT_FALSE(wgmma::offsets_read(Type::f16, Major::K, swizzle, {64, 16}).lbo);
  }
}

TEST(Errata, SboSteps8RowsOr8K) {
  for (const Swizzle swizzle : kSwizzles) {
    EXPECT_EQ(adds(Major::K, swizzle, {8, 0}), 2);
    EXPECT_EQ(adds(Major::MN, swizzle, {0, 8}), swizzle == Swizzle::None ? 1 : 2);
  }
  EXPECT_EQ(adds(Major::MN, Swizzle::None, {16, 0}), 2);
}

TEST(Errata, SboZeroRepeatsTheFirst8Rows) {
  const MatrixDescriptor published{0x10000, 2048, 0, 0, Swizzle::B128};
  const MatrixDescriptor right{0x10000, 16, 1024, 0, Swizzle::B128};
  EXPECT_EQ(wgmma::encode(right), 0x4000004000011000u);
  for (std::uint32_t row = 0; row < 8; ++row) {
    EXPECT_EQ(wgmma::byte_address(published, Major::K, {row + 8, 0}),
              wgmma::byte_address(published, Major::K, {row, 0}));
    EXPECT_EQ(wgmma::byte_address(right, Major::K, {row + 8, 0}),
              wgmma::byte_address(right, Major::K, {row, 0}) + 1024);
  }
}

TEST(Errata, CodeZeroReadsPlainCoreMatrices) {
  const MatrixDescriptor d{1024, 4096, 128, 5, Swizzle::None};
  for (std::uint32_t row = 0; row < 8; ++row)
    for (std::uint32_t byte = 0; byte < 16; ++byte)
      EXPECT_EQ(wgmma::byte_address(d, Major::K, {row, byte}), 1024 + 16 * row + byte)
          << "16 bytes of 8 rows, one after the other: neither permuted nor row-major";
  EXPECT_EQ(wgmma::byte_address(d, Major::K, {0, 16}), 1024u + 4096);
}

TEST(Errata, WithoutSwizzleLboLeadsToTheSecondColumnOfK) {
  const MatrixDescriptor d{0, 1024, 128, 0, Swizzle::None};
  EXPECT_EQ(wgmma::element_address(d, Major::K, Type::bf16, {3, 8}), 1024u + 3 * 16);
}

TEST(Errata, LboOf16ReadsTheNextRowAsSecondColumn) {
  const MatrixDescriptor d{0, 16, 128, 0, Swizzle::None};
  EXPECT_EQ(wgmma::element_address(d, Major::K, Type::bf16, {3, 8}),
            wgmma::element_address(d, Major::K, Type::bf16, {4, 0}));
}

TEST(Errata, ACoreMatrixTouchesEveryBankOnce) {
  const MatrixDescriptor d{0, 1024, 128, 0, Swizzle::None};
  std::set<std::uint32_t> banks;
  for (std::uint32_t row = 0; row < 8; ++row)
    for (std::uint32_t byte = 0; byte < 16; byte += 4)
      banks.insert(wgmma::byte_address(d, Major::K, {row, byte}) / 4 % 32);
  EXPECT_EQ(banks.size(), 32u);
}

// Element offsets of one row, 16 bytes at a time, belong to instructions 0 0 1 1 2 2 3 3.
TEST(Errata, ARowOfSw128HoldsFourInstructions) {
  const std::uint32_t chunks = pitch_bytes(Swizzle::B128) / 16;
  const std::uint32_t per_instruction = wgmma::stored_k_bytes / 16;
  EXPECT_EQ(chunks - per_instruction, 6u) << "core matrices of others between two rows";
  EXPECT_EQ(chunks / per_instruction - 1, 3u) << "instructions that they belong to";
}

TEST(Errata, TheSwizzleIsAFunctionOfTheAddressAlone) {
  for (const Swizzle swizzle : kSwizzles) {
    const MatrixDescriptor d{2048, 16, 8 * pitch_bytes(swizzle), 0, swizzle};
    for (std::uint32_t row = 0; row < 64; ++row) {
      const std::uint32_t linear = 2048 + offset_bytes(canonical_layout(d, Major::K), {row, 0});
      EXPECT_EQ(swizzle_function(swizzle).apply(linear),
                wgmma::byte_address(d, Major::K, {row, 0}));
    }
  }
}

TEST(Errata, TheXorTakesAddressBitsFrom7Up) {
  for (const Swizzle swizzle : kSwizzles) {
    const SwizzleFunction f = swizzle_function(swizzle);
    for (std::uint32_t address = 0; address < 128; address += 16)
      EXPECT_EQ(f.apply(address), address);
    EXPECT_EQ(f.apply(128), swizzle == Swizzle::None ? 128u : 128u + 16);
  }
}

TEST(Errata, StartsInsideAnAtomNeedNoBaseOffset) {
  const MatrixDescriptor atom{1024, 16, 1024, 0, Swizzle::B128};
  MatrixDescriptor inside = atom;
  inside.start_bytes += wgmma::stored_k_bytes;
  for (std::uint32_t row = 0; row < 64; ++row)
    for (std::uint32_t byte = 0; byte < wgmma::stored_k_bytes; ++byte)
      EXPECT_EQ(wgmma::byte_address(inside, Major::K, {row, byte}),
                wgmma::byte_address(atom, Major::K, {row, wgmma::stored_k_bytes + byte}));
}

// A pattern that starts at 0x4200 = 33 * 512: line 132 of 128 bytes, and 132 mod 8 is 4.
TEST(Errata, TheBaseOffsetIsThePatternsStartOver128) {
  const MatrixDescriptor d{0x4200, 16, 1024, 0x4200 / 128 % 8, Swizzle::B128};
  for (std::uint32_t row = 0; row < 8; ++row)
    EXPECT_EQ(wgmma::byte_address(d, Major::K, {row, 0}), 0x4200 + row * 128 + row * 16);
}

TEST(Errata, OneTileHasSeveralLegalLayouts) {
  for (const char* swizzle : {"none", "32B", "64B", "128B"})
    EXPECT_EQ(
        ask(std::string("layout wgmma.m64n64k16.f32.bf16.bf16 A rows=64 k=64 swizzle=") + swizzle)
            .status,
        Status::Yes);
}

}  // namespace
}  // namespace tcq::oracle
