// The members of a tcgen05 case in a file.
#include <algorithm>

#include "oracle/recording/tcgen05_case.h"

namespace tcq::oracle {
namespace {

constexpr int max_steps = static_cast<int>(tcgen05::max_alloc_steps);
constexpr const char* member = "member of a form";

// Writes or reads the members of a form in one order: `io.below(member, limit)` for each.
void members(Fields& io, auto& f) requires requires { f.opcode; }
{
  io.below(f.opcode.kind, tcgen05::kind_count, member);
  io.below(f.opcode.cta_group, 3, member);
  io.below(f.opcode.ws, 2, member);
  io.below(f.opcode.sparse, 2, member);
  io.below(f.opcode.scale_vec, tcgen05::scale_vec_count, member);
  io.below(f.opcode.a_place, 2, member);
  io.below(f.opcode.ashift, 2, member);
  io.below(f.collector.buffer, tcgen05::collector_buffer_count, member);
  io.below(f.collector.use, tcgen05::collector_use_count, member);
  io.below(f.disable_output_lane, 2, member);
  io.below(f.scale_input_d, 2, member);
  io.below(f.zero_column_mask, 2, member);
}

void members(Fields& io, auto& f) requires requires { f.multicast; }
{
  io.below(f.size, tcgen05::cp_size_count, member);
  io.below(f.multicast, tcgen05::cp_multicast_count, member);
  io.below(f.source, tcgen05::cp_source_count, member);
  io.below(f.cta_group, 3, member);
}

// ld, st, ld.red.
void members(Fields& io, auto& f) requires requires { f.shape; }
{
  io.below(f.shape, tcgen05::ld_shape_count, member);
  io.below(f.num, tcgen05::max_ld_registers + 1, member);
  if constexpr (requires { f.pack; }) io.below(f.pack, 2, member);
  if constexpr (requires { f.unpack; }) io.below(f.unpack, 2, member);
  if constexpr (requires { f.op; }) {
    io.below(f.op, tcgen05::red_op_count, member);
    io.below(f.abs, 2, member);
    io.below(f.nan, 2, member);
    io.below(f.type, tcgen05::red_type_count, member);
  }
}

// shift.
void members(Fields& io, tcgen05::ShiftForm& f) { io.below(f.cta_group, 3, "cta_group"); }

template <class Form>
void form_fields(Fields& io, Form& f) {
  members(io, f);
  io.demand(check(f) == Fault::None, "recording holds a form that does not exist");
}

void form_fields(Fields& io, AllocSequence& sequence) {
  io.below(sequence.cta_group, 3, "cta_group");
  std::size_t steps = sequence.steps.size();
  io.below(steps, max_steps + 1, "number of steps");
  sequence.steps.resize(steps);
  for (AllocStep& step : sequence.steps) {
    io.below(step.action, tcgen05::alloc_action_count, "action of a step");
    io.number(step.columns, 2);
    io.below(step.allocation, max_steps, "step");
  }
}

template <std::size_t... I>
Tcgen05CaseForm form_of(std::size_t kind, std::index_sequence<I...>) {
  Tcgen05CaseForm form;
  (void)((kind == I && (form.emplace<I>(), true)) || ...);
  return form;
}

}  // namespace

Tcgen05CaseForm form_of_kind(int kind) {
  return form_of(static_cast<std::size_t>(kind),
                 std::make_index_sequence<std::variant_size_v<Tcgen05CaseForm>>());
}

void fields(Fields& io, Tcgen05Case& e) {
  std::visit([&io](auto& form) { form_fields(io, form); }, e.form);
  io.below(e.immediate, 2, 1024, "immediate");
  Tcgen05Operands& o = e.operands;
  for (std::uint64_t* word : {&o.desc_a, &o.desc_b, &o.zero_column_mask, &o.desc})
    io.number(*word, 8);
  for (std::uint32_t* word : {&o.d, &o.a, &o.metadata, &o.idesc, &o.scale_a, &o.scale_b})
    io.number(*word, 4);
  io.numbers(o.disable_output_lane, 4);
  io.numbers(o.taddr, 4);
  io.flag(o.accumulate);
}

}  // namespace tcq::oracle
