// cvt between integers: of every width, cut or with .sat clamped.
//
// A result narrower than its register is extended by its sign. Floats: convert_float.cc.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt"
#include <limits>

#include "sim/alu/conversion.h"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

template <class D, bool clamps>
constexpr auto between_integers = []<class S>(S x) {
  if constexpr (clamps) {
    if (std::cmp_less(x, std::numeric_limits<D>::min()))
      return Widened<D>{std::numeric_limits<D>::min()};
    if (std::cmp_greater(x, std::numeric_limits<D>::max()))
      return Widened<D>{std::numeric_limits<D>::max()};
  }
  return static_cast<Widened<D>>(static_cast<D>(x));
};

}  // namespace

Evaluate convert_operation(const ptx::Form& form) {
  const bool clamps = form.has(ptx::Slot::Saturate);
  if (form.type_count != 2) return nullptr;
  return with_bytes(form.types[0], [&](auto d) {
    return with_bytes(form.types[1], [&](auto s) -> Evaluate {
      using D = decltype(d);
      using S = decltype(s);
      return clamps ? lanewise<between_integers<D, true>, Widened<D>, S>
                    : lanewise<between_integers<D, false>, Widened<D>, S>;
    });
  });
}

}  // namespace tcq::alu
