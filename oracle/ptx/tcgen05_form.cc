// Reading and spelling opcodes of tcgen05; see tcgen05_form.h.
#include "oracle/ptx/tcgen05_form.h"

#include <variant>

#include "sim/isa/tcgen05/syntax.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

// ---- Every form ---------------------------------------------------------------------------------

template <class Form>
void add_if_legal(std::vector<Tcgen05Form>& forms, const Form& form) {
  if (check(form) == Fault::None) forms.push_back(form);
}

void add_mma(std::vector<Tcgen05Form>& forms) {
  for (const bool ws : {false, true})
    for (const bool sparse : {false, true})
      for (int kind = 0; kind < kind_count; ++kind)
        for (const int cta_group : {1, 2})
          for (int vec = 0; vec < scale_vec_count; ++vec)
            for (const bool ashift : {false, true})
              add_if_legal(forms, MmaForm{{static_cast<Kind>(kind), cta_group, ws, sparse,
                                           static_cast<ScaleVec>(vec),
                                           ashift ? Place::Tmem : Place::Smem, ashift}});
}

void add_ld_st(std::vector<Tcgen05Form>& forms) {
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const bool pack : {false, true})
        add_if_legal(forms, LdForm{static_cast<LdShape>(shape), num, pack});
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const bool unpack : {false, true})
        add_if_legal(forms, StForm{static_cast<LdShape>(shape), num, unpack});
}

void add_ld_red(std::vector<Tcgen05Form>& forms) {
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const RedOp op : {RedOp::Min, RedOp::Max})
        for (int type = 0; type < red_type_count; ++type)
          for (const bool abs : {false, true})
            for (const bool nan : {false, true})
              add_if_legal(forms, LdRedForm{static_cast<LdShape>(shape), num, op, abs, nan,
                                            static_cast<RedType>(type)});
}

void add_cp(std::vector<Tcgen05Form>& forms) {
  for (const int cta_group : {1, 2})
    for (int size = 0; size < cp_size_count; ++size)
      for (int multicast = 0; multicast < cp_multicast_count; ++multicast)
        for (int source = 0; source < cp_source_count; ++source)
          add_if_legal(forms, CpForm{static_cast<CpSize>(size), static_cast<CpMulticast>(multicast),
                                     static_cast<CpSource>(source), cta_group});
}

void add_others(std::vector<Tcgen05Form>& forms) {
  for (const int cta_group : {1, 2}) forms.push_back(ShiftForm{cta_group});
  for (const int cta_group : {1, 2})
    for (const bool shared : {true, false}) forms.push_back(AllocForm{cta_group, shared});
  for (const int cta_group : {1, 2}) forms.push_back(DeallocForm{cta_group});
  for (const int cta_group : {1, 2}) forms.push_back(RelinquishForm{cta_group});
  for (const int cta_group : {1, 2})
    for (const bool multicast : {false, true})
      for (const bool shared : {true, false})
        forms.push_back(CommitForm{cta_group, multicast, shared});
  for (const bool st : {false, true}) forms.push_back(WaitForm{st});
  for (const bool after : {false, true}) forms.push_back(FenceForm{after});
}

}  // namespace

Fault check_form(const Tcgen05Form& form) {
  return std::visit([](const auto& f) { return check(f); }, form);
}

Fault check_form(const Tcgen05Form& form, Target target) {
  return std::visit([&](const auto& f) { return check(f, target); }, form);
}

std::string full_opcode(const Tcgen05Form& form) {
  return std::visit([](const auto& f) { return std::string(opcode(f).chars); }, form);
}

std::string short_opcode(const Tcgen05Form& form) { return ptx::shortened(full_opcode(form)); }

std::string_view instruction_name(const Tcgen05Form& form) {
  const std::string_view name = ptx::syntax_name(form);
  return name.substr(0, name.find("::"));
}

std::vector<Tcgen05Form> all_tcgen05_forms() {
  std::vector<Tcgen05Form> forms;
  add_mma(forms);
  add_ld_st(forms);
  add_ld_red(forms);
  add_cp(forms);
  add_others(forms);
  return forms;
}

}  // namespace tcq::oracle
