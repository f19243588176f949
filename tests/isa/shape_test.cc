// Which wgmma forms exist, what their parts are called, and what is said about those that do not:
// shape.h, element.h, fault.h, ptx_text.h.
#include "sim/isa/wgmma/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/base/element.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/syntax.h"

namespace tcq {
namespace {

using wgmma::Form;
using wgmma::Place;

Type type_at(int index) { return static_cast<Type>(index); }

std::vector<Form> type_tuples(bool sparse) {
  std::vector<Form> forms;
  for (int d = 0; d < type_count; ++d)
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b) {
        const Form form{type_at(d), type_at(a), type_at(b), 8, sparse};
        if (check(form) == Fault::None) forms.push_back(form);
      }
  return forms;
}

std::vector<Form> variants(bool sparse) {
  std::vector<Form> forms;
  for (Form form : type_tuples(sparse)) {
    for (form.n = -8; form.n <= 264; ++form.n) {
      for (const Place place : {Place::Smem, Place::Registers}) {
        form.a_place = place;
        if (check(form) == Fault::None) forms.push_back(form);
      }
    }
  }
  return forms;
}

// --- legality ------------------------------------------------------------------------------------

TEST(Wgmma_Shape, Has17DenseAnd16SparseTypeTuples) {
  EXPECT_EQ(type_tuples(false).size(), 17u);
  EXPECT_EQ(type_tuples(true).size(), 16u);
}

TEST(Wgmma_Shape, Has948DenseAnd912SparseVariantsCountingBothPlacesOfA) {
  EXPECT_EQ(variants(false).size(), 948u);
  EXPECT_EQ(variants(true).size(), 912u);
}

TEST(Wgmma_Shape, TypeTuplesAreThoseOfTheManual) {
  std::set<std::string> found;
  for (const Form& f : type_tuples(false))
    found.insert(std::string(name(f.d)) + "." + name(f.a) + "." + name(f.b));
  const std::set<std::string> want = {
      "f32.f16.f16",   "f16.f16.f16",   "f32.bf16.bf16", "f32.tf32.tf32", "f32.e4m3.e4m3",
      "f32.e4m3.e5m2", "f32.e5m2.e4m3", "f32.e5m2.e5m2", "f16.e4m3.e4m3", "f16.e4m3.e5m2",
      "f16.e5m2.e4m3", "f16.e5m2.e5m2", "s32.s8.s8",     "s32.s8.u8",     "s32.u8.s8",
      "s32.u8.u8",     "s32.b1.b1"};
  EXPECT_EQ(found, want);
}

TEST(Wgmma_Shape, NoDIsWiderThanTheWidest) {
  for (const Form& f : type_tuples(false)) {
    EXPECT_TRUE(wgmma::types_exist(wgmma::widest_d(f.a), f.a, f.b));
    EXPECT_LE(bits(f.d), bits(wgmma::widest_d(f.a)));
  }
}

TEST(Wgmma_Shape, NStepsBy8ForFloatsAndBy16AboveThirtyTwoOtherwise) {
  std::set<int> coarse = {8, 16, 24, 32};
  for (int n = 48; n <= 256; n += 16) coarse.insert(n);
  for (int n = -300; n <= 300; ++n) {
    EXPECT_EQ(wgmma::n_exists(Type::bf16, n), n >= 8 && n <= 256 && n % 8 == 0) << n;
    for (const Type type : {Type::s8, Type::u8, Type::b1})
      EXPECT_EQ(wgmma::n_exists(type, n), coarse.count(n) != 0) << n;
  }
}

TEST(Wgmma_Shape, KIs32BytesOfStoredA) {
  EXPECT_EQ(wgmma::stored_k(Type::f16), 16);
  EXPECT_EQ(wgmma::stored_k(Type::tf32), 8);
  EXPECT_EQ(wgmma::stored_k(Type::u8), 32);
  EXPECT_EQ(wgmma::stored_k(Type::b1), 256);
  EXPECT_EQ(wgmma::k({Type::f32, Type::bf16, Type::bf16, 8}), 16);
  EXPECT_EQ(wgmma::k({Type::f32, Type::bf16, Type::bf16, 8, true}), 32);
  EXPECT_EQ(wgmma::k({Type::s32, Type::s8, Type::s8, 8, true}), 64);
}

struct Verdict {
  Form form;
  Fault fault;
};

TEST(Wgmma_Shape, CheckNamesTheRuleThatIsBroken) {
  const Form bf16{Type::f32, Type::bf16, Type::bf16, 64};
  const Form s8{Type::s32, Type::s8, Type::s8, 64};
  const Form b1{Type::s32, Type::b1, Type::b1, 64};
  const Form tf32{Type::f32, Type::tf32, Type::tf32, 64};
  const auto with = [](Form form, auto change) {
    change(form);
    return form;
  };
  const std::vector<Verdict> verdicts = {
      {bf16, Fault::None},
      {with(bf16, [](Form& f) { f.d = Type::f16; }), Fault::TypesDoNotExist},
      {with(bf16, [](Form& f) { f.b = Type::f16; }), Fault::TypesDoNotExist},
      {with(s8, [](Form& f) { f.d = Type::f32; }), Fault::TypesDoNotExist},
      {with(bf16, [](Form& f) { f.n = 12; }), Fault::ShapeN8},
      {with(bf16, [](Form& f) { f.n = 264; }), Fault::ShapeN8},
      {with(bf16, [](Form& f) { f.n = 40; }), Fault::None},
      {with(s8, [](Form& f) { f.n = 40; }), Fault::ShapeN16},
      {with(b1, [](Form& f) { f.n = 0; }), Fault::ShapeN16},
      {with(b1, [](Form& f) { f.sparse = true; }), Fault::SparseB1},
      {with(bf16, [](Form& f) { f.major_a = Major::MN; }), Fault::None},
      {with(bf16, [](Form& f) { f.major_b = Major::MN; }), Fault::None},
      {with(bf16,
            [](Form& f) {
              f.a_place = Place::Registers;
              f.major_b = Major::MN;
            }),
       Fault::None},
      {with(bf16,
            [](Form& f) {
              f.a_place = Place::Registers;
              f.major_a = Major::MN;
            }),
       Fault::RegisterAIsKMajor},
      {with(tf32, [](Form& f) { f.major_a = Major::MN; }), Fault::MnMajorNeeds16Bit},
      {with(s8, [](Form& f) { f.major_b = Major::MN; }), Fault::MnMajorNeeds16Bit},
      {with(tf32, [](Form& f) { f.negate_a = f.negate_b = true; }), Fault::None},
      {with(s8, [](Form& f) { f.negate_a = true; }), Fault::NegateNeedsFloat},
      {with(b1, [](Form& f) { f.negate_b = true; }), Fault::NegateNeedsFloat},
      {with(s8, [](Form& f) { f.satfinite = true; }), Fault::None},
      {with(b1, [](Form& f) { f.satfinite = true; }), Fault::SatfiniteNeedsInt8},
      {with(bf16, [](Form& f) { f.satfinite = true; }), Fault::SatfiniteNeedsInt8},
  };
  for (const Verdict& v : verdicts)
    EXPECT_EQ(check(v.form), v.fault) << info(v.fault).name << " wanted, n " << v.form.n;
}

TEST(Wgmma_Shape, ExistsOnSm90aOnly) {
  const Form form{Type::f32, Type::bf16, Type::bf16, 64};
  const Form bad{Type::f32, Type::bf16, Type::bf16, 65};
  std::set<std::string_view> names;
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    names.insert(name(target));
    const bool has = target == Target::sm_90a;
    EXPECT_EQ(check(form, target), has ? Fault::None : Fault::TargetLacksWgmma) << name(target);
    if (has) {
      EXPECT_EQ(check(bad, target), Fault::ShapeN8);
    }
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(target_count));
  EXPECT_EQ(names.count("sm_90a"), 1u);
  EXPECT_EQ(names.count("?"), 0u);
}

TEST(Wgmma_Shape, ModifiersBelongToTheirTypes) {
  for (int i = 0; i < type_count; ++i) {
    const Type t = type_at(i);
    EXPECT_EQ(wgmma::has_satfinite(t), t == Type::s8 || t == Type::u8) << name(t);
    EXPECT_EQ(wgmma::has_major(t), t == Type::f16 || t == Type::bf16) << name(t);
    const bool integer = t == Type::s8 || t == Type::u8 || t == Type::b1 || t == Type::s32;
    EXPECT_EQ(wgmma::has_negate(t), !integer) << name(t);
  }
}

// --- element types -------------------------------------------------------------------------------

TEST(Element, FormatsAreThoseOfTheManual) {
  struct Row {
    Type type;
    std::string_view text;
    int width, exponent_bits, fraction_bits, bias, ignored;
    Specials specials;
  };
  const Row rows[] = {{Type::f16, "f16", 16, 5, 10, 15, 0, Specials::Ieee},
                      {Type::bf16, "bf16", 16, 8, 7, 127, 0, Specials::Ieee},
                      {Type::tf32, "tf32", 32, 8, 10, 127, 13, Specials::Ieee},
                      {Type::f32, "f32", 32, 8, 23, 127, 0, Specials::Ieee},
                      {Type::e5m2, "e5m2", 8, 5, 2, 15, 0, Specials::Ieee},
                      {Type::e4m3, "e4m3", 8, 4, 3, 7, 0, Specials::NanOnly},
                      {Type::e2m3, "e2m3", 6, 2, 3, 1, 0, Specials::Finite},
                      {Type::e3m2, "e3m2", 6, 3, 2, 3, 0, Specials::Finite},
                      {Type::e2m1, "e2m1", 4, 2, 1, 1, 0, Specials::Finite}};
  for (const Row& row : rows) {
    EXPECT_TRUE(is_float(row.type));
    EXPECT_EQ(name(row.type), row.text);
    EXPECT_EQ(bits(row.type), row.width);
    const FloatFormat f = float_format(row.type);
    EXPECT_EQ(f.exponent_bits, row.exponent_bits) << row.text;
    EXPECT_EQ(f.fraction_bits, row.fraction_bits) << row.text;
    EXPECT_EQ(f.bias, row.bias) << row.text;
    EXPECT_EQ(f.ignored_low_bits, row.ignored) << row.text;
    EXPECT_EQ(f.specials, row.specials) << row.text;
    EXPECT_EQ(1 + f.exponent_bits + f.fraction_bits + f.ignored_low_bits, bits(row.type));
  }
  for (const Type type : {Type::s8, Type::u8, Type::b1, Type::s32}) EXPECT_FALSE(is_float(type));
  EXPECT_EQ(bits(Type::s8), 8);
  EXPECT_EQ(bits(Type::u8), 8);
  EXPECT_EQ(bits(Type::b1), 1);
  EXPECT_EQ(bits(Type::s32), 32);
}

TEST(Element, NamesAreUnique) {
  std::set<std::string_view> names;
  for (int i = 0; i < type_count; ++i) names.insert(name(type_at(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(type_count));
  EXPECT_EQ(names.count("?"), 0u);
}

TEST(Element, CountsFillBytes) {
  EXPECT_EQ(elements_in(Type::b1, 32), 256);
  EXPECT_EQ(elements_in(Type::e4m3, 32), 32);
  EXPECT_EQ(elements_in(Type::tf32, 32), 8);
}

TEST(Element, RegisterPartsAreTakenAndPutLowestFirst) {
  for (int i = 0; i < type_count; ++i) {
    const Type type = type_at(i);
    if (is_fp6(type)) continue;  // no whole number of them fills a register
    std::uint32_t all = 0;
    for (int part = 0; part < parts_per_register(type); ++part) {
      const std::uint32_t element = register_part(type, 0x89abcdef, part);
      EXPECT_EQ(std::uint64_t{element} >> bits(type), 0u) << name(type);
      EXPECT_EQ(all & in_register_part(type, element, part), 0u) << name(type);
      all |= in_register_part(type, element, part);
    }
    EXPECT_EQ(all, 0x89abcdefu) << name(type);
  }
  EXPECT_EQ(register_part(Type::f16, 0x89abcdef, 1), 0x89abu);
  EXPECT_EQ(register_part(Type::e4m3, 0x89abcdef, 1), 0xcdu);
  EXPECT_EQ(register_part(Type::b1, 0x89abcdef, 4), 0u);
}

// --- faults --------------------------------------------------------------------------------------

TEST(Fault, EveryOneHasAUniqueNameASentenceAndASource) {
  std::set<std::string_view> names;
  std::set<std::string_view> sentences;
  for (int i = 1; i < fault_count; ++i) {
    const FaultInfo f = info(static_cast<Fault>(i));
    EXPECT_NE(f.kind, FaultKind::None) << f.name;
    EXPECT_GT(std::string_view(f.sentence).size(), 10u) << f.name;
    const std::string_view source = f.source;
    const std::string_view ptx = "PTX ISA 9.2, ";
    const bool is_section =
        source.starts_with(ptx) && source.find('.', ptx.size()) == ptx.size() + 1;
    EXPECT_TRUE(is_section || source.starts_with("none: a ") ||
                source.starts_with("CUDA C++ Programming Guide, "))
        << f.name << ": no section";
    names.insert(f.name);
    sentences.insert(f.sentence);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(fault_count - 1));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(fault_count - 1));
  EXPECT_EQ(info(Fault::None).kind, FaultKind::None);
}

TEST(Fault, KindsAreNotMixed) {
  for (int i = 1; i <= static_cast<int>(Fault::MatrixRowUnaligned); ++i) {
    const auto fault = static_cast<Fault>(i);
    const bool undefined = fault == Fault::UndefinedMetadata ||
                           fault == Fault::SharedMemoryOutOfRange ||
                           fault == Fault::TileOutOfTensorMemory;
    if (info(fault).kind == FaultKind::Unmodelled) continue;
    EXPECT_EQ(info(fault).kind, undefined ? FaultKind::Undefined : FaultKind::Illegal)
        << info(fault).name;
  }
  for (int i = static_cast<int>(Fault::OperandScrambled); i < fault_count; ++i) {
    const FaultKind kind = info(static_cast<Fault>(i)).kind;
    EXPECT_TRUE(kind == FaultKind::Suspect || kind == FaultKind::Slow) << i;
  }
  EXPECT_EQ(std::string_view(name(FaultKind::Illegal)), "illegal");
  EXPECT_EQ(std::string_view(name(FaultKind::Undefined)), "undefined");
  EXPECT_EQ(std::string_view(name(FaultKind::Disputed)), "disputed");
  EXPECT_EQ(std::string_view(name(FaultKind::Unmodelled)), "unmodelled");
  EXPECT_EQ(std::string_view(name(FaultKind::Suspect)), "suspect");
  EXPECT_EQ(std::string_view(name(FaultKind::Slow)), "slow");
}

// --- opcodes -------------------------------------------------------------------------------------

std::string spelled(const Form& form) { return wgmma::opcode(form).chars; }

TEST(Wgmma_Opcode, SpellsTheManualsOrder) {
  EXPECT_EQ(spelled({Type::f32, Type::bf16, Type::bf16, 24}),
            "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16");
  EXPECT_EQ(spelled({Type::f16, Type::e4m3, Type::e5m2, 256, true}),
            "wgmma.mma_async.sp.sync.aligned.m64n256k64.f16.e4m3.e5m2");
  EXPECT_EQ(spelled({Type::s32, Type::b1, Type::b1, 8}),
            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc");
  Form saturating{Type::s32, Type::s8, Type::u8, 96};
  saturating.satfinite = true;
  EXPECT_EQ(spelled(saturating), "wgmma.mma_async.sync.aligned.m64n96k32.satfinite.s32.s8.u8");
}

TEST(Wgmma_Opcode, IsUniquePerShapeAndFitsItsBuffer) {
  std::set<std::string> opcodes;
  std::size_t forms = 0;
  for (const bool sparse : {false, true}) {
    for (const Form& form : variants(sparse)) {
      if (form.a_place != Place::Smem) continue;
      const PtxText text = wgmma::opcode(form);
      EXPECT_LT(text.size, PtxText::capacity - 1);
      opcodes.insert(text.chars);
      ++forms;
    }
  }
  EXPECT_EQ(opcodes.size(), forms);
}

static_assert(check(Form{Type::f32, Type::bf16, Type::bf16, 24}) == Fault::None);
static_assert(check(Form{Type::s32, Type::s8, Type::s8, 40}) == Fault::ShapeN16);
static_assert(wgmma::k({Type::s32, Type::b1, Type::b1, 8}) == 256);
static_assert(info(Fault::UndefinedMetadata).kind == FaultKind::Undefined);

}  // namespace
}  // namespace tcq
