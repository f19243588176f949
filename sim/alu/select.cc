// Values that are copied as they are: mov, selp, slct.
//
// mov between a register and a vector of narrower ones is the executor's. slct takes its first operand where the
// last is 0 or more, which -0 is and NaN is not.
//
// Source: PTX ISA 9.2, 9.7.6.3 "selp", 9.7.6.4 "slct", 9.7.9.3 "mov"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/small_float.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Type;

constexpr auto copy = [](auto x) { return x; };

void mov_predicate(const Arguments& a) { write_mask(a.out[0], mask_at(a.in[0]), a.lanes); }

void mov_128(const Arguments& a) {
  const auto* const from = cells<std::uint64_t>(a.in[0]);
  auto* const to = cells<std::uint64_t>(a.out[0]);
  each_lane(a.lanes, [&](int lane) {
    to[2 * lane] = from[2 * lane];
    to[2 * lane + 1] = from[2 * lane + 1];
  });
}

Evaluate mov(Type type) {
  if (type == Type::Pred) return mov_predicate;
  if (ptx::bits(type) == 128) return mov_128;
  return for_width(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<copy, T, T>;
  });
}

template <class T>
void selp(const Arguments& a) {
  const std::uint32_t p = mask_at(a.in[2]);
  const auto* const yes = cells<T>(a.in[0]);
  const auto* const no = cells<T>(a.in[1]);
  Cell<T> result[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) {
    const Cell<T> keep = static_cast<Cell<T>>(p >> lane & 1) - 1;
    result[lane] = to_cell<T>(static_cast<T>((yes[lane] & ~keep) | (no[lane] & keep)));
  }
  write(a.out[0], result, a.lanes);
}

template <auto is_first, class T, class C>
T chosen(T x, T y, C c) {
  return is_first(c) ? x : y;
}

template <auto is_first, class C>
Evaluate slct_by(Type type) {
  return for_width(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<chosen<is_first, T, C>, T, T, T, C>;
  });
}

Evaluate slct(const ptx::Form& form) {
  constexpr auto is_natural = [](auto c) { return c >= 0; };
  constexpr auto is_natural_flushed = [](float c) { return flush(c) >= 0; };
  if (form.types[1] == Type::S32) return slct_by<is_natural, std::int32_t>(form.types[0]);
  if (form.types[1] != Type::F32) return nullptr;
  return form.has(ptx::Flag::Ftz) ? slct_by<is_natural_flushed, float>(form.types[0])
                                  : slct_by<is_natural, float>(form.types[0]);
}

}  // namespace

Evaluate select_operation(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Mov: return mov(form.types[0]);
    case Opcode::Selp:
      return for_width(form.types[0], [](auto zero) -> Evaluate { return selp<decltype(zero)>; });
    case Opcode::Slct: return slct(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
