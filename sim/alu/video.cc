// Several small integers of a register at once: vabsdiff4, vabsdiff2 and cvt.pack.
//
// vabsdiff4: the distance of each byte of a from that of b, vabsdiff2 of each half; .add sums them and c. cvt.pack: two numbers clamped, the
// first above the second, below what is left of c.
//
// Source: PTX ISA 9.2, 9.7.18.1 "vabsdiff2", 9.7.18.2 "vabsdiff4", 9.7.9.23 "cvt.pack"
#include <algorithm>
#include <cstdlib>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Type;
using U32 = std::uint32_t;

// ---- vabsdiff4, vabsdiff2 -------------------------------------------------------------------------

// One of 32 / width integers.
template <int width, bool is_signed>
int part_of(U32 word, int i) {
  const U32 part = word >> (width * i) & ((U32{1} << width) - 1);
  constexpr U32 sign = U32{1} << (width - 1);
  return is_signed ? static_cast<int>(part ^ sign) - static_cast<int>(sign)
                   : static_cast<int>(part);
}

template <int width, bool a_signed, bool b_signed, bool adds>
void distances(const Arguments& arguments) {
  each_lane(arguments.lanes, [&](int lane) {
    const U32 a = cells<U32>(arguments.in[0])[lane];
    const U32 b = cells<U32>(arguments.in[1])[lane];
    U32 sum = cells<U32>(arguments.in[2])[lane];
    U32 parts = 0;
    for (int i = 0; i < 32 / width; ++i) {
      const auto distance = static_cast<U32>(
          std::abs(part_of<width, a_signed>(a, i) - part_of<width, b_signed>(b, i)));
      sum += distance;
      parts |= (distance & ((U32{1} << width) - 1)) << (width * i);
    }
    cells<U32>(arguments.out[0])[lane] = adds ? sum : parts;
  });
}

template <int width, bool a_signed, bool b_signed>
Evaluate distances_of(const ptx::Form& form) {
  if (form.has(ptx::Slot::Saturate)) return nullptr;
  switch (form.get<ptx::Operation>()) {
    case ptx::Operation::None: return distances<width, a_signed, b_signed, false>;
    case ptx::Operation::Add: return distances<width, a_signed, b_signed, true>;
    default: return nullptr;
  }
}

template <int width>
Evaluate distances_with_signs(const ptx::Form& form) {
  for (int i = 0; i < 3; ++i) {
    const Type type = form.types[static_cast<std::size_t>(i)];
    if (type != Type::U32 && type != Type::S32) return nullptr;
  }
  const bool b_signed = form.types[2] == Type::S32;
  if (form.types[1] == Type::S32)
    return b_signed ? distances_of<width, true, true>(form)
                    : distances_of<width, true, false>(form);
  return b_signed ? distances_of<width, false, true>(form)
                  : distances_of<width, false, false>(form);
}

// ---- cvt.pack -------------------------------------------------------------------------------------

template <int width, bool is_signed, bool has_c>
void pack(const Arguments& a) {
  constexpr std::int32_t least = is_signed ? -(1 << (width - 1)) : 0;
  constexpr std::int32_t most = (1 << (is_signed ? width - 1 : width)) - 1;
  constexpr U32 mask = (U32{1} << width) - 1;
  const auto clamped = [&](int operand, int lane) {
    const auto x = value_at<std::int32_t>(a.in[operand], lane);
    return static_cast<U32>(std::clamp(x, least, most)) & mask;
  };
  each_lane(a.lanes, [&](int lane) {
    U32 word = clamped(0, lane) << width | clamped(1, lane);
    if constexpr (has_c) word |= cells<U32>(a.in[2])[lane] << (2 * width);
    cells<U32>(a.out[0])[lane] = word;
  });
}

Evaluate packed(const ptx::Form& form) {
  const bool has_c = form.type_count == 3;
  if (form.types[1] != Type::S32 || form.get<ptx::Saturate>() != ptx::Saturate::Sat ||
      (has_c && form.types[2] != Type::B32))
    return nullptr;
  switch (form.types[0]) {
    case Type::S16: return has_c ? nullptr : pack<16, true, false>;
    case Type::U16: return has_c ? nullptr : pack<16, false, false>;
    case Type::S8: return has_c ? pack<8, true, true> : nullptr;
    case Type::U8: return has_c ? pack<8, false, true> : nullptr;
    case Type::S4: return has_c ? pack<4, true, true> : nullptr;
    case Type::U4: return has_c ? pack<4, false, true> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

Evaluate video_operation(const ptx::Form& form) {
  switch (form.opcode) {
    case ptx::Opcode::CvtPack: return packed(form);
    case ptx::Opcode::Vabsdiff4: return distances_with_signs<8>(form);
    default: return distances_with_signs<16>(form);
  }
}

}  // namespace tcq::alu
