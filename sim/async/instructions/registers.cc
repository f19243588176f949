#include "sim/async/instructions/registers.h"

#include "sim/async/register_file.h"
#include "sim/async/warpgroups.h"

namespace tcq::machine {

// --- mov -------------------------------------------------------------------------------------------

std::string Move::text(const Names&) const {
  const std::string what = from < 0 ? hex(immediate) : text_of(source());
  return joined("mov.b32 ", text_of(to), ", ", what);
}

void Move::execute(Step& s) const {
  if (from >= 0 && !reads(s, {from, to.count})) return;
  if (!writes(s, to)) return;
  for (int r = 0; r < to.count; ++r)
    s.for_each_lane([&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      s.reg(to.first + r)[l] = from < 0 ? immediate : s.reg(from + r)[l];
    });
}

// --- setmaxnreg ------------------------------------------------------------------------------------

Fault SetMaxRegisters::check(const Bounds&) const {
  return count % 8 != 0 || count < 24 || count > 256 ? Fault::SetmaxnregCount : Fault::None;
}

std::int64_t SetMaxRegisters::taken(const Standing& at) const {
  return std::int64_t{count - at.warp.max_registers} * warp_threads;
}

std::vector<Touch> SetMaxRegisters::touches(const Standing& at) const {
  return {{.object = pool_object(at.warp.cta),
           .kind = TouchKind::Take,
           .free_before = at.cta().free_registers,
           .taken = taken(at)}};
}

bool SetMaxRegisters::is_blocked(const Standing& at) const {
  return increase && at.warp.max_registers != 0 && taken(at) > at.cta().free_registers;
}

Waiting SetMaxRegisters::waiting(const Standing& at) const {
  Waiting w = at.waits_for(WaitFor::Registers);
  w.expected = taken(at);
  w.missing = w.expected - at.cta().free_registers;
  return w;
}

std::string SetMaxRegisters::text(const Names&) const {
  return joined("setmaxnreg.", increase ? "inc" : "dec", " ", count);
}

void SetMaxRegisters::execute(Step& s) const {
  if (!aligned_in_warpgroup(s, increase ? count : -count)) return;
  if (s.warp.max_registers == 0) return s.fail(Fault::SetmaxnregIgnored);
  const bool right_way = increase ? count >= s.warp.max_registers : count <= s.warp.max_registers;
  if (!right_way) return s.fail(Fault::SetmaxnregDirection, -1, s.warp.max_registers);
  const Touch touch = touches(s.standing()).front();
  s.c.touches.push_back(touch);
  s.cta().free_registers -= touch.taken;
  s.warp.max_registers = count;
}

// --- bra -------------------------------------------------------------------------------------------

Fault Branch::check(const Bounds& bounds) const {
  if (target < 0 || target > bounds.role_statements) return Fault::ProgramMalformed;
  return predicate < 0 ? Fault::None : check_predicate(predicate);
}

std::string Branch::text(const Names&) const {
  return predicate < 0 ? joined("bra ", target)
                       : joined("@", when ? "" : "!", "p", predicate, " bra ", target);
}

void Branch::execute(Step& s) const {
  const bool taken =
      predicate < 0 || s.warp.predicates[static_cast<std::size_t>(predicate)] == when;
  if (taken) s.warp.pc = static_cast<std::size_t>(target);
}

}  // namespace tcq::machine
