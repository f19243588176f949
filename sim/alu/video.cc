// Several small integers of a register at once: vabsdiff4 and cvt.pack.
//
// vabsdiff4: the distance of each byte of a from that of b; .add sums the four and c. cvt.pack: two numbers clamped, the
// first above the second, below what is left of c.
//
// Source: PTX ISA 9.2, 9.7.18.2 "vabsdiff4", 9.7.9.23 "cvt.pack"
#include <algorithm>
#include <cstdlib>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Type;
using U32 = std::uint32_t;

// ---- vabsdiff4 ------------------------------------------------------------------------------------

template <bool is_signed>
int byte_of(U32 word, int i) {
  const auto byte = static_cast<std::uint8_t>(word >> (8 * i));
  return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

template <bool a_signed, bool b_signed, bool adds>
void distances(const Arguments& arguments) {
  each_lane(arguments.lanes, [&](int lane) {
    const U32 a = cells<U32>(arguments.in[0])[lane];
    const U32 b = cells<U32>(arguments.in[1])[lane];
    U32 sum = cells<U32>(arguments.in[2])[lane];
    U32 bytes = 0;
    for (int i = 0; i < 4; ++i) {
      const auto distance =
          static_cast<U32>(std::abs(byte_of<a_signed>(a, i) - byte_of<b_signed>(b, i)));
      sum += distance;
      bytes |= (distance & 0xff) << (8 * i);
    }
    cells<U32>(arguments.out[0])[lane] = adds ? sum : bytes;
  });
}

template <bool a_signed, bool b_signed>
Evaluate distances_of(const ptx::Form& form) {
  if (form.has(ptx::Slot::Saturate)) return nullptr;
  switch (form.get<ptx::Operation>()) {
    case ptx::Operation::None: return distances<a_signed, b_signed, false>;
    case ptx::Operation::Add: return distances<a_signed, b_signed, true>;
    default: return nullptr;
  }
}

Evaluate vabsdiff4(const ptx::Form& form) {
  for (int i = 0; i < 3; ++i) {
    const Type type = form.types[static_cast<std::size_t>(i)];
    if (type != Type::U32 && type != Type::S32) return nullptr;
  }
  const bool b_signed = form.types[2] == Type::S32;
  if (form.types[1] == Type::S32)
    return b_signed ? distances_of<true, true>(form) : distances_of<true, false>(form);
  return b_signed ? distances_of<false, true>(form) : distances_of<false, false>(form);
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
  return form.opcode == ptx::Opcode::CvtPack ? packed(form) : vabsdiff4(form);
}

}  // namespace tcq::alu
