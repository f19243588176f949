// Tries opcodes and near descriptors; see tcgen05_idesc_use.h.
#include "oracle/ptx/tcgen05_idesc_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/syntax.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

bool is_unmodelled(Fault fault) { return info(fault).kind == FaultKind::Unmodelled; }

// How far the checks of sim/isa got, in their order: the furthest verdict is the one to tell.
int progress(Fault fault) {
  constexpr std::array order = {
      Fault::SparseBit,       Fault::TypesOfKind,    Fault::Tcgen05ShapeM,    Fault::AshiftM,
      Fault::Tcgen05ShapeN,   Fault::K96Form,        Fault::TransposeOfType,  Fault::TransposedN,
      Fault::NegateOfKind,    Fault::SaturateOfKind, Fault::MetadataSelector, Fault::MaxShiftB,
      Fault::ScaleTypeOfKind, Fault::ScaleId};
  const int last = static_cast<int>(order.size());
  if (fault == Fault::None) return last + 2;
  if (is_unmodelled(fault)) return last + 1;
  const auto found = std::find(order.begin(), order.end(), fault);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

template <class T>
bool allows(const std::optional<T>& known, T value) {
  return !known || *known == value;
}

// Every opcode that exists and fits the choice; those that match the sparse bit first.
std::vector<MmaOpcode> opcodes(Kind kind, bool sparse_first, const OpcodeChoice& choice) {
  std::vector<MmaOpcode> found;
  for (const bool sparse : {sparse_first, !sparse_first})
    for (const bool ws : {false, true})
      for (const int cta_group : {1, 2})
        for (int i = 0; i < scale_vec_count; ++i) {
          const MmaOpcode op = {kind,           cta_group, ws, sparse, static_cast<ScaleVec>(i),
                                choice.a_place, false};
          if (allows(choice.cta_group, cta_group) && allows(choice.ws, ws) &&
              allows(choice.sparse, sparse) && allows(choice.scale_vec, op.scale_vec) &&
              check(op) == Fault::None)
            found.push_back(op);
        }
  return found;
}

// The opcode of a choice that may contradict itself.
MmaOpcode chosen_opcode(const InstructionDescriptor& d, Kind kind, const OpcodeChoice& choice) {
  return {kind,
          choice.cta_group.value_or(1),
          choice.ws.value_or(false),
          choice.sparse.value_or(d.sparse),
          choice.scale_vec.value_or(kind == Kind::mxf4nvf4 ? ScaleVec::X4 : ScaleVec::Default),
          choice.a_place,
          false};
}

// ---- Near descriptors ---------------------------------------------------------------------------

struct Near {
  std::string key;  // "n=16"
  InstructionDescriptor descriptor;
};

// Values of one key, nearest first.
using Nearby = std::vector<Near>;

template <class Value, class Text>
void add(Nearby& list, const InstructionDescriptor& d, Value InstructionDescriptor::*member,
         Value value, const char* key, Text text) {
  if (d.*member == value) return;
  list.push_back({fmt::format("{}={}", key, text), d});
  list.back().descriptor.*member = value;
}

Nearby near_numbers(const InstructionDescriptor& d, int InstructionDescriptor::*member,
                    const char* key, std::vector<int> values) {
  const auto distance = [&](int value) { return std::abs(std::int64_t{value} - d.*member); };
  std::stable_sort(values.begin(), values.end(),
                   [&](int a, int b) { return distance(a) < distance(b); });
  Nearby list;
  for (const int value : values) add(list, d, member, value, key, value);
  return list;
}

std::vector<int> all_n() {
  std::vector<int> values;
  for (int n = 8; n <= max_n; n += 8) values.push_back(n);
  return values;
}

const std::vector<int> all_m = {32, 64, 128, 256};
const std::vector<int> small = {0, 1, 2, 3};

Nearby near_types(const InstructionDescriptor& d, Type InstructionDescriptor::*member,
                  const char* key) {
  Nearby list;
  for (int i = 0; i < type_count; ++i)
    add(list, d, member, static_cast<Type>(i), key, name(static_cast<Type>(i)));
  return list;
}

Nearby near_flag(const InstructionDescriptor& d, bool InstructionDescriptor::*member,
                 const char* key) {
  Nearby list;
  add(list, d, member, !(d.*member), key, d.*member ? 0 : 1);
  return list;
}

Nearby near_major(const InstructionDescriptor& d, Major InstructionDescriptor::*member,
                  const char* key) {
  Nearby list;
  add(list, d, member, Major::K, key, "K");
  return list;
}

Nearby near_scale_type(const InstructionDescriptor& d) {
  Nearby list;
  for (const ScaleType type : {ScaleType::ue8m0, ScaleType::ue4m3})
    add(list, d, &InstructionDescriptor::scale_type, type, idesc::ScaleFormat::name, name(type));
  return list;
}

std::vector<Nearby> neighbours(const InstructionDescriptor& d) {
  using D = InstructionDescriptor;
  return {near_numbers(d, &D::n, idesc::N::name, all_n()),
          near_numbers(d, &D::m, idesc::M::name, all_m),
          near_types(d, &D::d, idesc::TypeD::name),
          near_types(d, &D::a, idesc::TypeA::name),
          near_types(d, &D::b, idesc::TypeB::name),
          near_major(d, &D::major_a, idesc::MajorA::name),
          near_major(d, &D::major_b, idesc::MajorB::name),
          near_flag(d, &D::sparse, idesc::Sparse::name),
          near_numbers(d, &D::selector, idesc::Selector::name, small),
          near_flag(d, &D::saturate, idesc::Saturate::name),
          near_flag(d, &D::negate_a, idesc::NegateA::name),
          near_flag(d, &D::negate_b, idesc::NegateB::name),
          near_numbers(d, &D::max_shift_b, idesc::MaxShiftB::name, {0, 8, 16, 32}),
          near_scale_type(d),
          near_numbers(d, &D::scale_a_id, idesc::ScaleAId::name, small),
          near_numbers(d, &D::scale_b_id, idesc::ScaleBId::name, small),
          near_flag(d, &D::k96, idesc::K96::name)};
}

const Near* first_legal(const Nearby& list, const IdescIsLegal& is_legal) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Near& near) { return is_legal(near.descriptor); });
  return found == list.end() ? nullptr : &*found;
}

// Two changes: every key with every other one.
std::string two_changes(const InstructionDescriptor& d, const IdescIsLegal& is_legal) {
  for (const Nearby& list : neighbours(d))
    for (const Near& one : list)
      for (const Nearby& others : neighbours(one.descriptor))
        if (const Near* two = first_legal(others, is_legal))
          return fmt::format("; nearest legal: {} {}", one.key, two->key);
  return "";
}

}  // namespace

IdescVerdict verdict_on(const InstructionDescriptor& d, Kind kind, const OpcodeChoice& choice) {
  IdescVerdict best = {Fault::None, chosen_opcode(d, kind, choice)};
  best.fault = check(best.opcode);  // if no opcode fits the choice
  int furthest = -2;
  for (const MmaOpcode& op : opcodes(kind, d.sparse, choice)) {
    const Fault fault = check(op, d);
    if (progress(fault) <= furthest) continue;
    furthest = progress(fault);
    best = {fault, op};
  }
  return best;
}

std::string nearest_legal(const InstructionDescriptor& d, const IdescIsLegal& is_legal) {
  constexpr int most = 3;
  std::string text;
  int told = 0;
  for (const Nearby& list : neighbours(d)) {
    const Near* near = told < most ? first_legal(list, is_legal) : nullptr;
    if (near == nullptr) continue;
    text += fmt::format("{}{}", told++ == 0 ? "; nearest legal: " : " or ", near->key);
  }
  return text.empty() ? two_changes(d, is_legal) : text;
}

std::string subject_text(const IdescVerdict& verdict, const InstructionDescriptor& d) {
  return fmt::format("{} with M {}, N {}", opcode(verdict.opcode).chars, d.m, d.n);
}

std::string verdict_text(const IdescVerdict& verdict, const InstructionDescriptor& d) {
  const FaultInfo about = info(verdict.fault);
  return fmt::format("{}, {}: {}", subject_text(verdict, d), name(about.kind), about.sentence);
}

}  // namespace tcq::oracle
