// clusterlaunchcontrol.query_cancel: what an answer of try_cancel says. Who is handed which cluster: pending_clusters.h.
//
// The first CTA that a failed answer names, and the fourth number of a vector, are values that nothing defines: they are
// followed (undefined.h), and their use is FirstCtaUndefined. Kernels of the CuTe DSL ask for them before they look whether
// the answer says yes, and drop them.
//
// Source: PTX ISA 9.2, 9.7.13.18 "clusterlaunchcontrol.query_cancel"
#include "sim/run/undefined.h"

namespace tcq::run {
namespace {

using ptx::CancelQuery;
using ptx::Value;
using ptx::ValueKind;

machine::LaunchAnswer answer_in(const Executor& x, const Value& reg, int lane) {
  machine::LaunchAnswer answer;
  std::memcpy(answer.data(), x.cells(reg).words + answer.size() * static_cast<std::size_t>(lane),
              sizeof answer);
  return answer;
}

// A CTA of which a thread has seen it may not ask again.
void note_refusal(Executor& x, int lane) {
  machine::Place& seen = x.c.cta(x.warp.cta).seen_refusal;
  if (seen.statement < 0) seen = {x.number(), x.warp.number, lane};
}

void query_success(Executor& x) {
  std::uint32_t canceled = 0;
  x.for_each_lane(x.group.active, [&](int lane) {
    if (machine::is_canceled(answer_in(x, x.value(1), lane)))
      canceled |= 1u << lane;
    else
      note_refusal(x, lane);
  });
  x.set_mask(x.slot(x.value(0)), x.group.active, canceled);
}

// As a load of what nothing has written, whose values somebody follows.
std::uint32_t add_undefined_read(Executor& x, std::uint32_t lanes) {
  machine::UnwrittenRead read;
  read.finding = {.fault = Fault::FirstCtaUndefined,
                  .at = {x.number(), x.warp.number, std::countr_zero(lanes)}};
  read.is_followed = true;
  read.by_warp = x.warp.number;
  read.by_statement = x.number();
  read.racing = lanes;
  x.c.unwritten_reads.push_back(std::move(read));
  return static_cast<std::uint32_t>(x.c.unwritten_reads.size() - 1);
}

// One number of the first CTA; the fourth is none.
void query_number(Executor& x, const Value& to, std::size_t which) {
  if (to.kind == ValueKind::Sink) return;
  std::uint32_t undefined = 0;
  std::uint32_t* const cells = x.words(x.slot(to));
  x.for_each_lane(x.group.active, [&](int lane) {
    const machine::LaunchAnswer answer = answer_in(x, x.value(1), lane);
    const bool is_known = machine::is_canceled(answer) && which < 3;
    if (!is_known) undefined |= 1u << lane;
    cells[lane] = is_known ? answer[which] : 0;
  });
  if (undefined != 0)
    set_undefined(x, to, {undefined, add_undefined_read(x, undefined)}, undefined);
}

}  // namespace

void query_cancel(Executor& x) {
  const Value& to = x.value(0);
  switch (x.form().get<CancelQuery>()) {
    case CancelQuery::IsCanceled: return query_success(x);
    case CancelQuery::FirstY: return query_number(x, to, 1);
    case CancelQuery::FirstZ: return query_number(x, to, 2);
    default: break;
  }
  if (to.kind != ValueKind::Vector) return query_number(x, to, 0);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(to.value); ++i)
    query_number(x, x.item(to, i), i);
}

}  // namespace tcq::run
