// cvta, isspacep, mapa and getctarank of compiled kernels, alloca and what gives its room back; see executor.h.
#include <algorithm>
#include <bit>

#include "sim/run/executor.h"

namespace tcq::run {

using ptx::Opcode;
using ptx::Space;
using ptx::Value;
using ptx::ValueKind;

namespace {

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::Shared:
    case Space::SharedCta:
    case Space::SharedCluster: return shared_window;
    case Space::Local: return local_window;
    case Space::Const: return const_window;
    case Space::Param:
    case Space::ParamEntry: return param_window;
    default: return global_window;
  }
}

// Addresses of variables other than shared ones are generic already, but where a kernel has taken their lower 32 bits.
std::uint64_t converted(const Executor& x, std::uint64_t address) {
  const Space space = x.form().space();
  const std::uint64_t window = window_of(space);
  if (x.form().has(ptx::Flag::To)) return window == shared_window ? address - window : address;
  const bool is_short =
      window == shared_window || (window != global_window && in_window(address, 0));
  return is_short ? window + static_cast<std::uint32_t>(address) : address;
}

void set_number(Executor& x, const Value& to, int lane, std::uint64_t value) {
  if (x.kernel().words_of(to) == 2)
    x.set_wide(x.slot(to), lane, value);
  else
    x.words(x.slot(to))[lane] = static_cast<std::uint32_t>(value);
}

// An address that is nowhere counts as global. Measured: tests/vectors/statements.tcqv, isspacep
bool is_inside(const Executor& x, Space space, std::uint64_t address) {
  if (space == Space::Global)
    return !in_window(address, shared_window) && !in_window(address, local_window) &&
           !in_window(address, const_window) && !in_window(address, param_window);
  if (!in_window(address, window_of(space))) return false;
  return !is_own_shared(space) ||
         rank_of(static_cast<std::uint32_t>(address - shared_window)) == x.warp.cta;
}

}  // namespace

void convert_address(Executor& x) {
  const Value& to = x.value(0);
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t a =
        x.number(x.value(1), lane) +
        (x.value(1).kind == ValueKind::Register ? static_cast<std::uint64_t>(x.value(1).value) : 0);
    switch (x.form().opcode) {
      case Opcode::Cvta: return set_number(x, to, lane, converted(x, a));
      case Opcode::Mapa: {
        const auto rank = static_cast<std::uint32_t>(x.number(x.value(2), lane));
        const bool generic = x.form().space() == Space::Generic;
        const std::uint64_t window = generic ? shared_window : 0;
        return set_number(x, to, lane,
                          window + at_rank(static_cast<std::uint32_t>(a - window), rank));
      }
      case Opcode::Getctarank: {
        const bool generic = x.form().space() == Space::Generic;
        const auto shared = static_cast<std::uint32_t>(generic ? a - shared_window : a);
        return set_number(x, to, lane, static_cast<std::uint64_t>(rank_of(shared)));
      }
      default: {
        const Space space = x.form().space();
        return x.set_mask(x.slot(to), 1u << lane, is_inside(x, space, a) ? ~0u : 0);
      }
    }
  });
}

// alloca d, size{, alignment}; stacksave d; stackrestore a. What a function takes it keeps when it returns. Beyond the space that
// is kept for it, with an alignment that is none, and of a stackrestore of more than was taken: not modelled.
void move_stack(Executor& x) {
  const std::uint64_t begin = x.kernel().stack_begin, room = x.kernel().local_bytes - begin;
  x.for_each_lane(x.group.active, [&](int lane) {
    std::uint32_t& taken = x.state.stack[static_cast<std::size_t>(lane)];
    std::uint64_t at = taken, end = taken;
    switch (x.form().opcode) {
      case Opcode::Alloca: {
        constexpr std::uint64_t least = 8, most = 1u << 23;  // alignments, as PTX has them
        const std::uint64_t given = x.operand_count() > 2 ? x.number(x.value(2), lane) : least;
        if (!std::has_single_bit(given) || given > most)
          return x.fail(Fault::UnmodelledInstruction, lane);
        const std::uint64_t alignment = std::max(given, least);
        at = (begin + taken + alignment - 1) / alignment * alignment - begin;
        const std::uint64_t size = x.number(x.value(1), lane);
        end = size <= room ? at + size : room + 1;
        break;
      }
      case Opcode::Stackrestore: end = x.number(x.value(0), lane) - local_window - begin; break;
      default: break;
    }
    const bool is_given_back = x.form().opcode == Opcode::Stackrestore;
    if (end > (is_given_back ? taken : room)) return x.fail(Fault::UnmodelledInstruction, lane);
    taken = static_cast<std::uint32_t>(end);
    if (!is_given_back) set_number(x, x.value(0), lane, local_window + begin + at);
  });
}

}  // namespace tcq::run
