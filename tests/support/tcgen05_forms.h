// Every form of every tcgen05 instruction that a target has, as lists made at compile time.
//
// tcgen05_instances.cu compiles the wrapper of each; tcgen05_text_test.cc assembles the probes'
// text of each. Which forms exist is asked of check(form, target); nothing here decides it.
#pragma once

#include <initializer_list>

#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::tests {

// A form and the immediate of its one numeric operand; 0 where it has none.
template <class Form>
struct Instance {
  Form form = {};
  int immediate = 0;
};

template <class Form, int Capacity>
struct FormList {
  Instance<Form> list[Capacity] = {};
  int size = 0;

  constexpr void add(Target target, const Form& form, int immediate = 0) {
    if (check(form, target) == Fault::None) list[size++] = {form, immediate};
  }
};

// The Size elements from `first` on, fewer at the end of the list. A small list is what a template
// should look its form up in: a compiler copies the whole list for each look-up.
template <int Size, class Form, int Capacity>
constexpr FormList<Form, Size> part(const FormList<Form, Capacity>& all, int first) {
  FormList<Form, Size> some{};
  while (some.size < Size && first + some.size < all.size) {
    some.list[some.size] = all.list[first + some.size];
    ++some.size;
  }
  return some;
}

using MmaForms = FormList<tcgen05::MmaForm, 1100>;
using LdForms = FormList<tcgen05::LdForm, 128>;
using StForms = FormList<tcgen05::StForm, 128>;
using LdRedForms = FormList<tcgen05::LdRedForm, 256>;
using CpForms = FormList<tcgen05::CpForm, 64>;

inline constexpr int half_splits[] = {0, 16, 64};  // the assembler takes any number

// ---- mma ----------------------------------------------------------------------------------------

// The optional operands that opcode and collector allow.
constexpr void add_operands(MmaForms& all, Target target, const tcgen05::MmaOpcode& op,
                            const tcgen05::Collector& collector) {
  for (const bool lanes : {false, true})
    for (const bool scale : {false, true})
      for (const bool zero : {false, true})
        all.add(target, {op, collector, lanes, scale, zero},
                scale ? tcgen05::max_scale_input_d : 0);
}

constexpr void add_collectors(MmaForms& all, Target target, const tcgen05::MmaOpcode& op) {
  add_operands(all, target, op, {});
  for (int buffer = 1; buffer < tcgen05::collector_buffer_count; ++buffer)
    for (int use = 0; use < tcgen05::collector_use_count; ++use) {
      const tcgen05::Collector collector{static_cast<tcgen05::CollectorBuffer>(buffer),
                                         static_cast<tcgen05::CollectorUse>(use)};
      if (check(tcgen05::MmaForm{op, collector}) == Fault::None)
        add_operands(all, target, op, collector);
    }
}

constexpr void add_opcodes(MmaForms& all, Target target, tcgen05::Kind kind, int cta_group) {
  for (int scale_vec = 0; scale_vec < tcgen05::scale_vec_count; ++scale_vec)
    for (const bool ws : {false, true})
      for (const bool sparse : {false, true})
        for (const tcgen05::Place place : {tcgen05::Place::Smem, tcgen05::Place::Tmem})
          for (const bool ashift : {false, true}) {
            const tcgen05::MmaOpcode op{
                kind,  cta_group, ws, sparse, static_cast<tcgen05::ScaleVec>(scale_vec),
                place, ashift};
            if (check(op, target) == Fault::None) add_collectors(all, target, op);
          }
}

constexpr MmaForms mma_forms(Target target, int cta_group) {
  MmaForms all{};
  for (int kind = 0; kind < tcgen05::kind_count; ++kind)
    add_opcodes(all, target, static_cast<tcgen05::Kind>(kind), cta_group);
  return all;
}

// ---- ld, st, ld.red, cp -------------------------------------------------------------------------

// Visits shape, num and immediate of every form that may exist; add() drops the rest.
template <class Visit>
constexpr void for_each_ld_shape(Visit visit) {
  for (int shape = 0; shape < tcgen05::ld_shape_count; ++shape)
    for (int num = 1; num <= tcgen05::max_ld_registers; num *= 2) {
      const auto s = static_cast<tcgen05::LdShape>(shape);
      if (!tcgen05::has_half_split(s)) {
        visit(s, num, 0);
        continue;
      }
      for (const int half_split : half_splits) visit(s, num, half_split);
    }
}

constexpr LdForms ld_forms(Target target) {
  LdForms all{};
  for_each_ld_shape([&](tcgen05::LdShape shape, int num, int half_split) {
    for (const bool pack : {false, true}) all.add(target, {shape, num, pack}, half_split);
  });
  return all;
}

constexpr StForms st_forms(Target target) {
  StForms all{};
  for_each_ld_shape([&](tcgen05::LdShape shape, int num, int half_split) {
    for (const bool unpack : {false, true}) all.add(target, {shape, num, unpack}, half_split);
  });
  return all;
}

constexpr LdRedForms ld_red_forms(Target target) {
  LdRedForms all{};
  for_each_ld_shape([&](tcgen05::LdShape shape, int num, int half_split) {
    if (half_split != 0 && half_split != half_splits[1]) return;
    for (int op = 0; op < tcgen05::red_op_count; ++op)
      for (int type = 0; type < tcgen05::red_type_count; ++type)
        for (const bool abs : {false, true})
          for (const bool nan : {false, true})
            all.add(target,
                    {shape, num, static_cast<tcgen05::RedOp>(op), abs, nan,
                     static_cast<tcgen05::RedType>(type)},
                    half_split);
  });
  return all;
}

constexpr CpForms cp_forms(Target target, int cta_group) {
  CpForms all{};
  for (int size = 0; size < tcgen05::cp_size_count; ++size)
    for (int multicast = 0; multicast < tcgen05::cp_multicast_count; ++multicast)
      for (int source = 0; source < tcgen05::cp_source_count; ++source)
        all.add(target,
                {static_cast<tcgen05::CpSize>(size), static_cast<tcgen05::CpMulticast>(multicast),
                 static_cast<tcgen05::CpSource>(source), cta_group});
  return all;
}

}  // namespace tcq::tests
