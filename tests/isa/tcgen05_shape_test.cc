// Laws of sim/isa/tcgen05/shape.h, sim/isa/tcgen05/instruction.h, sim/isa/tcgen05/syntax.h and sim/isa/tcgen05/operands.h:
// which instructions exist. Expectations are table 39 and the syntax lines of the manual written out
// here a second time; that ptxas agrees is tests/silicon/tcgen05_ptxas_test.cc.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tcgen05/operands.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/tmem/allocation.h"

namespace tcq::tcgen05 {
namespace {

constexpr Place kPlaces[] = {Place::Smem, Place::Tmem};

std::vector<MmaOpcode> all_opcodes() {
  std::vector<MmaOpcode> opcodes;
  for (int kind = 0; kind < kind_count; ++kind)
    for (int cta_group = 0; cta_group <= 3; ++cta_group)
      for (int vec = 0; vec < scale_vec_count; ++vec)
        for (const Place place : kPlaces)
          for (int flags = 0; flags < 8; ++flags)
            opcodes.push_back({static_cast<Kind>(kind), cta_group, flags % 2 != 0,
                               flags / 2 % 2 != 0, static_cast<ScaleVec>(vec), place,
                               flags / 4 != 0});
  return opcodes;
}

std::vector<MmaOpcode> legal_opcodes() {
  std::vector<MmaOpcode> opcodes;
  for (const MmaOpcode& op : all_opcodes())
    if (check(op) == Fault::None) opcodes.push_back(op);
  return opcodes;
}

// A descriptor that suits the kind, with M and N of its smallest shape.
InstructionDescriptor plain(const MmaOpcode& op) {
  InstructionDescriptor d;
  switch (op.kind) {
    case Kind::f16: d.a = d.b = Type::f16; break;
    case Kind::tf32: d.a = d.b = Type::tf32; break;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4: d.a = d.b = Type::e4m3; break;
    case Kind::i8: d.a = d.b = Type::s8; break;
    case Kind::mxf4:
    case Kind::mxf4nvf4: d.a = d.b = Type::e2m1; break;
  }
  d.d = op.kind == Kind::i8 ? Type::s32 : Type::f32;
  d.m = 128 * op.cta_group;
  d.n = 64;
  d.sparse = op.sparse;
  return d;
}

std::string name_of(const MmaOpcode& op) { return opcode(op).chars; }

// ---- Opcodes ------------------------------------------------------------------------------------

// Counted by hand: (3 kinds f16, tf32, f8f6f4, and i8) x 2 cta_groups x 2 (.sp) x (A smem, A tmem, A
// tmem with ashift) = 48; .ws: 4 x 2 x 2 = 16; mx: (3 + 3 + 4 scale vectors) x 2 x 2 x 2 = 80.
TEST(Tcgen05_Opcode, HasExactlyTheFormsOfTheSyntax) {
  EXPECT_EQ(legal_opcodes().size(), 48u + 16u + 80u);
}

TEST(Tcgen05_Opcode, CheckNamesTheReason) {
  MmaOpcode op;
  op.cta_group = 3;
  EXPECT_EQ(check(op), Fault::CtaGroupValue);
  op = {Kind::f16, 2, true};
  EXPECT_EQ(check(op), Fault::WsCtaGroup);
  op = {Kind::mxf4, 1, true};
  EXPECT_EQ(check(op), Fault::WsBlockScale);
  op = {Kind::mxf4nvf4, 1};
  EXPECT_EQ(check(op), Fault::ScaleVecOfKind);
  op = {Kind::i8, 1, false, false, ScaleVec::Block32};
  EXPECT_EQ(check(op), Fault::ScaleVecOfKind);
  op = {Kind::tf32, 1, false, false, ScaleVec::Default, Place::Smem, true};
  EXPECT_EQ(check(op), Fault::AshiftForm);
}

// Rows: feature. Columns: 100a 100f 103a 103f 110a 110f, as the target notes say.
TEST(Tcgen05_Target, FeaturesAreOnTheTargetsOfTheNotes) {
  constexpr Target targets[] = {Target::sm_100a, Target::sm_100f, Target::sm_103a,
                                Target::sm_103f, Target::sm_110a, Target::sm_110f};
  const auto on = [&](const auto& form) {
    std::string text;
    for (const Target target : targets) text += check(form, target) == Fault::None ? 'y' : '-';
    return text;
  };
  EXPECT_EQ(on(MmaOpcode{Kind::f16, 2, false, true}), "yyyyyy");
  EXPECT_EQ(on(MmaOpcode{Kind::f8f6f4, 1, true, true}), "yyyyyy");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf8f6f4, 1, false, true}), "yyyyyy");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf4, 1}), "yyyyyy");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf4nvf4, 1, false, false, ScaleVec::Block16}), "yyyyyy");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf4, 1, false, true}), "y-y-y-");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf4nvf4, 2, false, true, ScaleVec::Block32}), "y-y-y-");
  EXPECT_EQ(on(MmaOpcode{Kind::i8, 1, true}), "y---y-");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf8f6f4, 1, false, false, ScaleVec::X1}), "y-y-y-");
  EXPECT_EQ(on(MmaOpcode{Kind::mxf4nvf4, 1, false, false, ScaleVec::X4}), "y-y-y-");
  EXPECT_EQ(on(MmaForm{{Kind::tf32, 1}, {}, false, true}), "yyyy--");
  EXPECT_EQ(on(LdRedForm{}), "--yyyy");
  EXPECT_EQ(on(ShiftForm{}), "y-y-y-");
  EXPECT_EQ(on(LdForm{}), "yyyyyy");
  EXPECT_EQ(on(CommitForm{2, true}), "yyyyyy");
  EXPECT_EQ(on(AllocForm{}), "yyyyyy");
}

TEST(Tcgen05_Target, NoOtherTargetHasAnyOfIt) {
  for (const Target target : {Target::sm_90, Target::sm_90a, Target::sm_100, Target::sm_120a,
                              Target::sm_120f, Target::sm_121a}) {
    EXPECT_EQ(check(MmaOpcode{}, target), Fault::TargetLacksTcgen05);
    EXPECT_EQ(check(MmaOpcode{}, InstructionDescriptor{}, target), Fault::TargetLacksTcgen05);
    EXPECT_EQ(check(LdForm{}, target), Fault::TargetLacksTcgen05);
    EXPECT_EQ(check(LdRedForm{}, target), Fault::TargetLacksTcgen05);
    EXPECT_EQ(check(ShiftForm{}, target), Fault::TargetLacksTcgen05);
    EXPECT_EQ(check(FenceForm{}, target), Fault::TargetLacksTcgen05);
  }
}

// ---- Shapes -------------------------------------------------------------------------------------

std::set<int> steps(int first, int last, int step) {
  std::set<int> values;
  for (int value = first; value <= last; value += step) values.insert(value);
  return values;
}

struct Row {
  std::set<int> m;
  std::set<int> n;
};

// Table 39 once more, by kind, cta_group, .ws and .sp.
Row table_39(const MmaOpcode& op) {
  if (op.ws) {
    if (op.sparse) return {{32, 64, 128}, {64, 128}};
    return {{32, 64, 128}, {64, 128, 256}};
  }
  const bool pair = op.cta_group == 2;
  if (is_block_scaled(op.kind)) {
    if (!pair) return {{128}, steps(8, 256, 8)};
    if (op.sparse) return {{256}, steps(16, 256, 16)};
    return {{128, 256}, steps(16, 256, 16)};
  }
  Row row{pair ? std::set<int>{128, 256} : std::set<int>{64, 128}, {}};
  if (op.kind == Kind::i8) {
    row.n = pair ? steps(32, 256, 32) : steps(48, 256, 16);
    if (!pair) row.n.insert({8, 16, 24, 32});
  } else {
    row.n = pair ? steps(16, 256, 16) : steps(8, 256, 8);
  }
  return row;
}

TEST(Tcgen05_Shape, MAndNAreThoseOfTable39) {
  for (const MmaOpcode& op : legal_opcodes()) {
    const Row row = table_39(op);
    for (int m = 0; m <= 300; m += 4) EXPECT_EQ(m_exists(op, m), row.m.contains(m)) << name_of(op);
    for (int n = -8; n <= 520; ++n)
      EXPECT_EQ(n_exists(op, n), row.n.contains(n)) << name_of(op) << " n=" << n;
  }
}

TEST(Tcgen05_Shape, KIsThatOfTable39) {
  const std::map<Kind, int> dense = {{Kind::f16, 16},     {Kind::tf32, 8},      {Kind::f8f6f4, 32},
                                     {Kind::i8, 32},      {Kind::mxf8f6f4, 32}, {Kind::mxf4, 64},
                                     {Kind::mxf4nvf4, 64}};
  for (const MmaOpcode& op : legal_opcodes()) {
    InstructionDescriptor d = plain(op);
    EXPECT_EQ(stored_k(op, d), dense.at(op.kind));
    EXPECT_EQ(k(op, d), dense.at(op.kind) * (op.sparse ? 2 : 1));
    EXPECT_EQ(m_per_cta(op, d), 128);
    d.k96 = true;
    if (is_packed_4bit(op.kind)) {
      EXPECT_EQ(stored_k(op, d), 96);
    }
  }
}

// 32 bytes of stored K in every kind, as long as elements lie in their containers.
TEST(Tcgen05_Shape, StoredKIs32Bytes) {
  for (const MmaOpcode& op : legal_opcodes()) {
    const int container_bits = is_packed_4bit(op.kind) ? 4
                               : op.kind == Kind::f8f6f4 || op.kind == Kind::mxf8f6f4
                                   ? 8
                                   : bits(plain(op).a);
    EXPECT_EQ(stored_k(op, plain(op)) * container_bits / 8, 32) << name_of(op);
  }
}

TEST(Tcgen05_Shape, ScaleFactorsFollowTheScaleVector) {
  const std::map<ScaleVec, int> factors = {
      {ScaleVec::X1, 1}, {ScaleVec::X2, 2}, {ScaleVec::X4, 4}, {ScaleVec::Block16, 4}};
  for (const MmaOpcode& op : legal_opcodes()) {
    InstructionDescriptor d = plain(op);
    int expected = is_block_scaled(op.kind) ? (op.kind == Kind::mxf8f6f4 ? 1 : 2) : 0;
    if (factors.contains(op.scale_vec)) expected = factors.at(op.scale_vec);
    EXPECT_EQ(scale_factors(op, d), expected) << name_of(op);
    d.k96 = true;
    if (op.scale_vec == ScaleVec::Block32 && op.kind != Kind::mxf8f6f4) {
      EXPECT_EQ(scale_factors(op, d), 3);
    }
    if (op.scale_vec == ScaleVec::Block16) {
      EXPECT_EQ(scale_factors(op, d), 6);
    }
  }
}

// ---- Instruction descriptors --------------------------------------------------------------------

TEST(Tcgen05_Descriptor, EveryLegalOpcodeHasALegalDescriptor) {
  for (const MmaOpcode& op : legal_opcodes())
    EXPECT_EQ(check(op, plain(op)), Fault::None) << name_of(op);
}

TEST(Tcgen05_Descriptor, TypesAreThoseOfTheKind) {
  const std::set<Type> narrow = {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2, Type::e2m1};
  const std::map<Kind, std::pair<std::set<Type>, std::set<Type>>> rows = {
      {Kind::f16, {{Type::f32}, {Type::f16, Type::bf16}}},
      {Kind::tf32, {{Type::f32}, {Type::tf32}}},
      {Kind::f8f6f4, {{Type::f16, Type::f32}, narrow}},
      {Kind::i8, {{Type::s32}, {Type::s8, Type::u8}}},
      {Kind::mxf8f6f4, {{Type::f32}, narrow}},
      {Kind::mxf4, {{Type::f32}, {Type::e2m1}}},
      {Kind::mxf4nvf4, {{Type::f32}, {Type::e2m1}}}};
  for (const MmaOpcode& op : legal_opcodes())
    for (int t = 0; t < type_count * type_count * type_count; ++t) {
      InstructionDescriptor d = plain(op);
      d.d = static_cast<Type>(t % type_count);
      d.a = static_cast<Type>(t / type_count % type_count);
      d.b = static_cast<Type>(t / type_count / type_count);
      const auto& [outputs, inputs] = rows.at(op.kind);
      const bool halves =
          op.kind == Kind::f16 && d.d == Type::f16 && d.a == Type::f16 && d.b == Type::f16;
      const bool legal =
          halves || (outputs.contains(d.d) && inputs.contains(d.a) && inputs.contains(d.b));
      EXPECT_EQ(check(op, d), legal ? Fault::None : Fault::TypesOfKind)
          << name_of(op) << " " << name(d.d) << name(d.a) << name(d.b);
    }
}

using Change = void (*)(InstructionDescriptor&);

Fault changed(const MmaOpcode& op, Change change) {
  InstructionDescriptor d = plain(op);
  change(d);
  return check(op, d);
}

constexpr MmaOpcode kF16 = {Kind::f16, 1};
constexpr MmaOpcode kF16Sparse = {Kind::f16, 1, false, true};
constexpr MmaOpcode kWs = {Kind::tf32, 1, true};
constexpr MmaOpcode kI8 = {Kind::i8, 1};
constexpr MmaOpcode kF8 = {Kind::f8f6f4, 1};
constexpr MmaOpcode kMx8 = {Kind::mxf8f6f4, 1};
constexpr MmaOpcode kMx4 = {Kind::mxf4, 1};
constexpr MmaOpcode kMx4Pair = {Kind::mxf4, 2};
constexpr MmaOpcode kNv16 = {Kind::mxf4nvf4, 1, false, false, ScaleVec::Block16};
constexpr MmaOpcode kNv32 = {Kind::mxf4nvf4, 1, false, false, ScaleVec::Block32};

TEST(Tcgen05_Descriptor, CheckNamesTheShape) {
  EXPECT_EQ(changed(kF16, [](auto& d) { d.sparse = true; }), Fault::SparseBit);
  EXPECT_EQ(changed(kF16Sparse, [](auto& d) { d.sparse = false; }), Fault::SparseBit);
  EXPECT_EQ(changed(kF16, [](auto& d) { d.m = 256; }), Fault::Tcgen05ShapeM);
  EXPECT_EQ(changed(kF16, [](auto& d) { d.n = 264; }), Fault::Tcgen05ShapeN);
  EXPECT_EQ(changed(kF16, [](auto& d) { d.k96 = true; }), Fault::K96Form);
  constexpr MmaOpcode shifted = {Kind::f16, 1, false, false, ScaleVec::Default, Place::Tmem, true};
  EXPECT_EQ(changed(shifted, [](auto& d) { d.m = 64; }), Fault::AshiftM);
  EXPECT_EQ(changed(shifted, [](auto& d) { d.m = 128; }), Fault::None);
}

TEST(Tcgen05_Descriptor, OnlyElementsOf8BitsAndMoreCanBeMnMajor) {
  const auto mn_b = [](auto& d) { d.major_b = Major::MN; };
  for (const MmaOpcode& op : {kF16, kWs, kI8, kF8, kMx8}) EXPECT_EQ(changed(op, mn_b), Fault::None);
  EXPECT_EQ(changed(kMx4, mn_b), Fault::TransposeOfType);
  for (const Change narrow : {Change{[](auto& d) { d.b = Type::e2m3, d.major_b = Major::MN; }},
                              Change{[](auto& d) { d.b = Type::e2m1, d.major_b = Major::MN; }},
                              Change{[](auto& d) { d.a = Type::e3m2, d.major_a = Major::MN; }}})
    EXPECT_EQ(changed(kF8, narrow), Fault::TransposeOfType);
  EXPECT_EQ(changed(kF8, [](auto& d) { d.a = Type::e3m2, d.major_b = Major::MN; }), Fault::None);
}

TEST(Tcgen05_Descriptor, AnMnMajorBOf8BitsNeedsTwiceTheStepOfN) {
  for (const int cta_group : {1, 2})
    for (const Kind kind : {Kind::f8f6f4, Kind::mxf8f6f4, Kind::i8, Kind::f16}) {
      const MmaOpcode op{kind, cta_group};
      InstructionDescriptor d = plain(op);
      d.major_b = Major::MN;
      for (d.n = 8; d.n <= 256; d.n += 8) {
        if (!n_exists(op, d.n)) continue;
        const bool legal = kind == Kind::f16 || d.n % (16 * cta_group) == 0;
        EXPECT_EQ(check(op, d), legal ? Fault::None : Fault::TransposedN) << d.n;
      }
    }
}

TEST(Tcgen05_Descriptor, ModifiersBelongToTheirKinds) {
  const auto negated = [](auto& d) { d.negate_a = true; };
  const auto saturated = [](auto& d) { d.saturate = true; };
  for (const MmaOpcode& op : legal_opcodes()) {
    const bool i8 = op.kind == Kind::i8;
    EXPECT_EQ(changed(op, negated), i8 ? Fault::NegateOfKind : Fault::None);
    EXPECT_EQ(changed(op, saturated), i8 ? Fault::None : Fault::SaturateOfKind);
    for (int selector = -1; selector <= 4; ++selector) {
      InstructionDescriptor d = plain(op);
      d.selector = selector;
      const bool chooses = op.sparse && (op.kind == Kind::f16 || op.kind == Kind::tf32);
      const bool legal = selector == 0 || (chooses && selector >= 1 && selector <= 3);
      EXPECT_EQ(check(op, d), legal ? Fault::None : Fault::MetadataSelector) << name_of(op);
    }
    for (const int shift : {0, 4, 8, 16, 24, 32, 64}) {
      InstructionDescriptor d = plain(op);
      d.max_shift_b = shift;
      const bool legal = shift == 0 || (op.ws && std::set<int>{8, 16, 32}.contains(shift));
      EXPECT_EQ(check(op, d), legal ? Fault::None : Fault::MaxShiftB) << name_of(op);
    }
  }
}

TEST(Tcgen05_Descriptor, Ue4m3IsForBlocksOf16Only) {
  const auto ue4m3 = [](auto& d) { d.scale_type = ScaleType::ue4m3; };
  EXPECT_EQ(changed(kNv16, ue4m3), Fault::None);
  EXPECT_EQ(changed({Kind::mxf4nvf4, 1, false, false, ScaleVec::X4}, ue4m3), Fault::None);
  for (const MmaOpcode& op : {kNv32, kMx4, kMx8})
    EXPECT_EQ(changed(op, ue4m3), Fault::ScaleTypeOfKind);
}

// Allowed ids as text, by opcode and K = 96.
std::string ids(const MmaOpcode& op, bool k96) {
  std::string text;
  for (int id = -1; id <= 4; ++id) {
    InstructionDescriptor a = plain(op);
    a.k96 = k96;
    a.m = 128 * op.cta_group;
    InstructionDescriptor b = a;
    a.scale_a_id = b.scale_b_id = id;
    EXPECT_EQ(check(op, a), check(op, b));
    if (check(op, a) == Fault::None) text += std::to_string(id);
  }
  return text;
}

TEST(Tcgen05_Descriptor, ScaleIdsFollowTheNumberOfFactors) {
  EXPECT_EQ(ids(kF16, false), "0");
  EXPECT_EQ(ids(kMx8, false), "0123");
  EXPECT_EQ(ids(kMx4, false), "02");
  EXPECT_EQ(ids(kNv32, false), "02");
  EXPECT_EQ(ids(kNv16, false), "0");
  EXPECT_EQ(ids(kMx4Pair, true), "0123");
  EXPECT_EQ(ids({Kind::mxf4nvf4, 2, false, false, ScaleVec::Block16}, true), "02");
}

TEST(Tcgen05_Descriptor, K96IsOfSm103aWhereTheManualOrCutlassHasIt) {
  InstructionDescriptor d = plain(kMx4Pair);
  d.k96 = true;
  EXPECT_EQ(check(kMx4Pair, d), Fault::None);
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    const Fault expected = target == Target::sm_103a ? Fault::None
                           : has_tcgen05(target)     ? Fault::TargetLacksK96
                                                     : Fault::TargetLacksTcgen05;
    EXPECT_EQ(check(kMx4Pair, d, target), expected) << name(target);
  }
  d.m = 128;
  EXPECT_EQ(check(kMx4Pair, d), Fault::UnmodelledK96);
  EXPECT_EQ(check(kMx4Pair, d, Target::sm_100a), Fault::TargetLacksK96) << "illegal goes first";
  EXPECT_EQ(check(kMx4, d), Fault::UnmodelledK96);
  // CUTLASS: 128 rows for one CTA, 128 or 256 for two, kind mxf4nvf4 only, N % 16 == 0.
  for (int i = 0; i < 2 * 3 * 2 * 32; ++i) {
    const auto scale_vec = static_cast<ScaleVec>(static_cast<int>(ScaleVec::X4) + i / 2 % 3);
    const MmaOpcode op = {Kind::mxf4nvf4, i % 2 + 1, false, false, scale_vec};
    d.m = i / 6 % 2 == 0 ? 128 : 256;
    d.n = 8 * (i / 12 + 1);
    const bool exists = d.m <= 128 * op.cta_group && d.n % (8 * op.cta_group) == 0;
    const bool known = d.n % 16 == 0 && scale_vec != ScaleVec::X4;
    const Fault fault = check(op, d, Target::sm_103a);
    EXPECT_EQ(fault == Fault::None, exists && known) << name_of(op) << d.m << "x" << d.n;
    EXPECT_EQ(fault == Fault::UnmodelledK96, exists && !known) << name_of(op) << d.m << "x" << d.n;
    EXPECT_EQ(is_disputed(Dispute::K96M128, op, d), !(op.cta_group == 2 && d.m == 256));
  }
  d.m = 128;
  d.n = 128;
  d.sparse = true;
  EXPECT_EQ(check({Kind::mxf4, 2, false, true}, d), Fault::Tcgen05ShapeM);
  d.m = 256;
  EXPECT_EQ(check({Kind::mxf4, 2, false, true}, d), Fault::K96Form);
}

TEST(Tcgen05_Descriptor, ATransposedInTensorMemoryIsUnmodelledNotIllegal) {
  MmaOpcode op = kF16;
  op.a_place = Place::Tmem;
  EXPECT_EQ(changed(op, [](auto& d) { d.major_a = Major::MN; }), Fault::UnmodelledTransposedTmemA);
  EXPECT_EQ(info(Fault::UnmodelledTransposedTmemA).kind, FaultKind::Unmodelled);
  EXPECT_EQ(info(Fault::UnmodelledK96).kind, FaultKind::Unmodelled);
  EXPECT_EQ(changed(op, [](auto& d) { d.major_b = Major::MN; }), Fault::None);
}

TEST(Tcgen05_Descriptor, DisputesAreNamedAndLegal) {
  const auto disputes = [](const MmaOpcode& op, int m, int n) {
    InstructionDescriptor d = plain(op);
    d.m = m;
    d.n = n;
    EXPECT_EQ(check(op, d), Fault::None);
    std::string text;
    for (int i = 0; i < dispute_count; ++i)
      if (is_disputed(static_cast<Dispute>(i), op, d)) text += std::to_string(i);
    return text;
  };
  EXPECT_EQ(disputes({Kind::f16, 2, false, true}, 128, 32), "0");
  EXPECT_EQ(disputes({Kind::f16, 2, false, true}, 256, 32), "");
  EXPECT_EQ(disputes({Kind::mxf8f6f4, 2}, 128, 32), "1");
  EXPECT_EQ(disputes(kI8, 128, 24), "2");
  EXPECT_EQ(disputes(kI8, 128, 16), "");
  MmaOpcode from_tmem = kF16;
  from_tmem.a_place = Place::Tmem;
  EXPECT_EQ(disputes(from_tmem, 128, 24), "3");
  EXPECT_EQ(disputes(from_tmem, 64, 24), "");
}

// ---- Other forms --------------------------------------------------------------------------------

TEST(Tcgen05_Form, RegistersOfLdAreAtMost128AndAllNumsArePowersOfTwo) {
  std::string found;
  for (int s = 0; s < ld_shape_count; ++s) {
    const auto shape = static_cast<LdShape>(s);
    found += name(shape);
    for (int num = -1; num <= 257; ++num) {
      EXPECT_EQ(check(LdForm{shape, num}), check(StForm{shape, num, true}));
      if (check(LdForm{shape, num}) == Fault::None)
        found += " " + std::to_string(registers(shape, num));
    }
    found += "\n";
  }
  EXPECT_EQ(found,
            "32x32b 1 2 4 8 16 32 64 128\n16x64b 1 2 4 8 16 32 64 128\n16x128b 2 4 8 16 32 64 128\n"
            "16x256b 4 8 16 32 64 128\n16x32bx2 1 2 4 8 16 32 64 128\n");
}

TEST(Tcgen05_Form, LdRedHasTwoShapesAndFloatModifiers) {
  EXPECT_EQ(check(LdRedForm{LdShape::S32x32b, 1}), Fault::LdRedForm);
  EXPECT_EQ(check(LdRedForm{LdShape::S16x64b, 2}), Fault::LdRedForm);
  EXPECT_EQ(check(LdRedForm{LdShape::S16x32bx2, 128}), Fault::None);
  EXPECT_EQ(check(LdRedForm{LdShape::S32x32b, 6}), Fault::LdNum);
  EXPECT_EQ(check(LdRedForm{LdShape::S32x32b, 2, RedOp::Max, true, false, RedType::S32}),
            Fault::LdRedForm);
  EXPECT_EQ(check(LdRedForm{LdShape::S32x32b, 2, RedOp::Max, true, true, RedType::F32}),
            Fault::None);
}

TEST(Tcgen05_Form, CpShapesHaveTheirMulticast) {
  std::string found;
  for (int s = 0; s < cp_size_count; ++s)
    for (int m = 0; m < cp_multicast_count; ++m) {
      const CpForm form{static_cast<CpSize>(s), static_cast<CpMulticast>(m)};
      if (check(form) == Fault::None) found += std::string(opcode(form).chars).substr(24) + " ";
      if (check(form) != Fault::None) {
        EXPECT_EQ(check(form), Fault::CpMulticastForm);
      }
    }
  EXPECT_EQ(found,
            "128x256b 4x256b 128x128b 64x128b.warpx2::02_13 64x128b.warpx2::01_23 32x128b.warpx4 ");
}

TEST(Tcgen05_Form, CollectorsBelongToAOrWithWsToB) {
  for (int buffer = 1; buffer < collector_buffer_count; ++buffer)
    for (int use = 0; use < collector_use_count; ++use) {
      const Collector collector{static_cast<CollectorBuffer>(buffer),
                                static_cast<CollectorUse>(use)};
      const bool of_a = collector.buffer == CollectorBuffer::A;
      EXPECT_EQ(check(MmaForm{kF16, collector}) == Fault::None, of_a);
      EXPECT_EQ(check(MmaForm{kWs, collector}) == Fault::None, !of_a);
      const MmaOpcode shifted{Kind::f16, 1, false, false, ScaleVec::Default, Place::Tmem, true};
      const bool last =
          collector.use == CollectorUse::LastUse || collector.use == CollectorUse::Discard;
      EXPECT_EQ(check(MmaForm{shifted, collector}) == Fault::None, of_a && last);
    }
}

TEST(Tcgen05_Form, OptionalOperandsBelongToTheirForms) {
  for (const MmaOpcode& op : legal_opcodes()) {
    const bool plain_kind = !op.ws && !is_block_scaled(op.kind);
    EXPECT_EQ(check(MmaForm{op, {}, true}) == Fault::None, plain_kind);
    EXPECT_EQ(check(MmaForm{op, {}, false, true}) == Fault::None,
              !op.ws && (op.kind == Kind::f16 || op.kind == Kind::tf32));
    EXPECT_EQ(check(MmaForm{op, {}, false, false, true}) == Fault::None, op.ws);
  }
}

TEST(Tcgen05_Form, AllocationsArePowersOfTwoFrom32To512) {
  std::set<int> found;
  for (int columns = -64; columns <= 2048; ++columns)
    if (is_allocation_size(columns)) found.insert(columns);
  EXPECT_EQ(found, (std::set<int>{32, 64, 128, 256, 512}));
}

// ---- Text and operands --------------------------------------------------------------------------

TEST(Tcgen05_Text, OpcodesAreThoseOfTheSyntaxLines) {
  EXPECT_STREQ(opcode(kF16).chars, "tcgen05.mma.cta_group::1.kind::f16");
  EXPECT_STREQ(
      opcode(MmaForm{{Kind::i8, 1, true, true}, {CollectorBuffer::B2, CollectorUse::LastUse}})
          .chars,
      "tcgen05.mma.ws.sp.cta_group::1.kind::i8.collector::b2::lastuse");
  EXPECT_STREQ(opcode(MmaForm{{Kind::mxf4nvf4, 2, false, true, ScaleVec::X4},
                              {CollectorBuffer::A, CollectorUse::LastUse}})
                   .chars,
               "tcgen05.mma.sp.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X.collector::a::"
               "lastuse");
  EXPECT_STREQ(
      opcode(MmaOpcode{Kind::f16, 1, false, false, ScaleVec::Default, Place::Tmem, true}).chars,
      "tcgen05.mma.cta_group::1.kind::f16.ashift");
  EXPECT_STREQ(opcode(LdForm{LdShape::S16x256b, 32, true}).chars,
               "tcgen05.ld.sync.aligned.16x256b.x32.pack::16b.b32");
  EXPECT_STREQ(opcode(StForm{LdShape::S16x32bx2, 1, true}).chars,
               "tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32");
  EXPECT_STREQ(opcode(LdRedForm{LdShape::S32x32b, 8, RedOp::Max, true, true, RedType::F32}).chars,
               "tcgen05.ld.red.sync.aligned.32x32b.x8.max.abs.NaN.f32");
  EXPECT_STREQ(opcode(CpForm{CpSize::S32x128b, CpMulticast::Warpx4, CpSource::B6x16_p32, 2}).chars,
               "tcgen05.cp.cta_group::2.32x128b.warpx4.b8x16.b6x16_p32");
  EXPECT_STREQ(opcode(ShiftForm{2}).chars, "tcgen05.shift.cta_group::2.down");
  EXPECT_STREQ(opcode(AllocForm{}).chars,
               "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32");
  EXPECT_STREQ(opcode(DeallocForm{2}).chars, "tcgen05.dealloc.cta_group::2.sync.aligned.b32");
  EXPECT_STREQ(opcode(RelinquishForm{}).chars,
               "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned");
  EXPECT_STREQ(opcode(CommitForm{2, true}).chars,
               "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::"
               "cluster.b64");
  EXPECT_STREQ(opcode(WaitForm{true}).chars, "tcgen05.wait::st.sync.aligned");
  EXPECT_STREQ(opcode(FenceForm{true}).chars, "tcgen05.fence::after_thread_sync");
}

TEST(Tcgen05_Text, NoOpcodeIsCutShort) {
  for (const MmaOpcode& op : legal_opcodes())
    EXPECT_LT(
        opcode(
            MmaForm{op, {op.ws ? CollectorBuffer::B0 : CollectorBuffer::A, CollectorUse::Discard}})
            .size,
        PtxText::capacity - 1);
}

template <class Form>
std::string operands_text(const Form& form) {
  const OperandList list = operands(form);
  std::string text;
  for (int i = 0; i < list.size; ++i)
    text += (i > 0 ? ", " : "") + std::string(name(list.items[i]));
  return text;
}

TEST(Tcgen05_Operands, StandInTheOrderOfTheSyntaxLines) {
  EXPECT_EQ(operands_text(MmaForm{kF16}), "[d], a-desc, b-desc, idesc, enable-input-d");
  EXPECT_EQ(operands_text(MmaForm{kF16Sparse, {}, true, true}),
            "[d], a-desc, b-desc, [sp-meta], idesc, disable-output-lane, enable-input-d, "
            "scale-input-d");
  EXPECT_EQ(operands_text(MmaForm{kWs, {}, false, false, true}),
            "[d], a-desc, b-desc, idesc, enable-input-d, zero-column-mask-desc");
  MmaOpcode scaled = {Kind::mxf4, 1, false, true};
  scaled.a_place = Place::Tmem;
  EXPECT_EQ(operands_text(MmaForm{scaled}),
            "[d], [a], b-desc, [sp-meta], idesc, [scale-A], [scale-B], enable-input-d");
  EXPECT_EQ(operands_text(LdForm{LdShape::S16x32bx2}), "r, [taddr], immHalfSplitoff");
  EXPECT_EQ(operands_text(StForm{LdShape::S16x32bx2}), "[taddr], immHalfSplitoff, r");
  EXPECT_EQ(operands_text(LdRedForm{}), "r, redval, [taddr]");
  EXPECT_EQ(operands_text(CpForm{}), "[taddr], s-desc");
  EXPECT_EQ(operands_text(ShiftForm{}), "[taddr]");
  EXPECT_EQ(operands_text(AllocForm{}), "[dst], nCols");
  EXPECT_EQ(operands_text(DeallocForm{}), "taddr, nCols");
  EXPECT_EQ(operands_text(CommitForm{1, true}), "[mbar], ctaMask");
  EXPECT_EQ(operands_text(CommitForm{}), "[mbar]");
  EXPECT_EQ(operands_text(FenceForm{}), "");
}

TEST(Tcgen05_Operands, VectorsHaveTheLengthsOfTheForms) {
  EXPECT_EQ(vector_registers(MmaForm{kF16, {}, true}), 4);
  EXPECT_EQ(vector_registers(MmaForm{{Kind::f16, 2}, {}, true}), 8);
  EXPECT_EQ(vector_registers(LdForm{LdShape::S16x256b, 8}), 32);
  EXPECT_EQ(vector_registers(StForm{LdShape::S16x128b, 8}), 16);
  EXPECT_EQ(vector_registers(LdRedForm{LdShape::S32x32b, 8}), 8);
  EXPECT_EQ(vector_registers(ShiftForm{}), 0);
}

}  // namespace
}  // namespace tcq::tcgen05
