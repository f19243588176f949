// Fields and positions of bits, and bytes picked out of words.
//
// Source: PTX ISA 9.2, 9.7.1 (bfe to szext), 9.7.9 "prmt"; their pseudocode
// Measured: tests/vectors/scalar.tcqv: bfe and bfi of 64 bits do not cut position and length to 8 bits, which PTX says
// of every width; those of 32 bits do
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Clamp;
using ptx::Opcode;
using ptx::PrmtMode;
using ptx::Type;
using U32 = std::uint32_t;

constexpr U32 byte_of(U32 word, U32 index) { return word >> (8 * index) & 0xff; }

// The low `count` bits set. Requires: count <= 64.
constexpr std::uint64_t low_bits(U32 count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// A position or a length as a field of `width` bits reads it.
template <U32 width>
constexpr U32 place_of(U32 word) {
  if constexpr (width == 32) return byte_of(word, 0);
  return word < width ? word : width;
}

// Bits from `position` on, extended with the field's own highest bit, which is that of the word where the field
// reaches beyond it.
constexpr auto extract = []<class T>(T x, U32 position, U32 length) {
  using U = std::make_unsigned_t<T>;
  constexpr U32 width = 8 * sizeof(T);
  position = place_of<width>(position);
  length = place_of<width>(length);
  const U bits = static_cast<U>(position >= width ? 0 : static_cast<U>(x) >> (position % width));
  const U kept = static_cast<U>(low_bits(length < width ? length : width));
  if constexpr (std::is_signed_v<T>) {
    const U32 last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    const bool sign = length != 0 && (static_cast<U>(x) >> last & 1) != 0;
    // Beyond the end of the word the field itself holds the sign.
    const U32 present = position >= width ? 0 : width - position;
    const U filled = static_cast<U>(low_bits(length < present ? length : present));
    return static_cast<T>((bits & filled) | (sign ? static_cast<U>(~filled) : U{0}));
  }
  return static_cast<T>(bits & kept);
};

constexpr auto insert = []<class T>(T field, T into, U32 position, U32 length) {
  constexpr U32 width = 8 * sizeof(T);
  position = place_of<width>(position);
  length = place_of<width>(length);
  if (position >= width) return into;
  const T mask = static_cast<T>(low_bits(length < width ? length : width)) << position;
  return static_cast<T>((into & ~mask) | (field << position & mask));
};

constexpr U32 no_position = 0xffffffff;

template <bool as_shift>
constexpr auto find_highest = []<class T>(T x) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(std::is_signed_v<T> && x < 0 ? ~x : x);
  if (bits == 0) return no_position;
  const auto zeros = static_cast<U32>(std::countl_zero(bits));
  return as_shift ? zeros : 8 * static_cast<U32>(sizeof(T)) - 1 - zeros;
};

template <bool clamps>
constexpr U32 reduced(U32 x) {
  return clamps ? (x < 32 ? x : 32) : x % 32;
}
template <bool clamps>
constexpr auto mask_of = [](U32 position, U32 length) {
  return static_cast<U32>(low_bits(reduced<clamps>(length)) << reduced<clamps>(position));
};
template <bool clamps>
constexpr auto extend = []<class T>(T x, U32 count) {
  const U32 n = reduced<clamps>(count);
  const U32 kept = static_cast<U32>(low_bits(n));
  const bool sign =
      std::is_signed_v<T> && n != 0 && (static_cast<U32>(x) >> ((n - 1) % 32) & 1) != 0;
  return static_cast<T>((static_cast<U32>(x) & kept) | (sign ? ~kept : 0));
};

constexpr auto population = [](auto x) { return static_cast<U32>(std::popcount(x)); };
constexpr auto leading_zeros = [](auto x) { return static_cast<U32>(std::countl_zero(x)); };
constexpr auto reverse = []<class T>(T x) {
  T result = 0;
  for (U32 i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (x >> i & 1));
  return result;
};

// The position of the nth set bit from `base` on, downwards if n is negative.
constexpr auto find_nth = [](U32 mask, U32 base, std::int32_t n) {
  const bool is_base_set = base < 32 && (mask >> (base % 32) & 1) != 0;
  if (n == 0) return is_base_set ? base : no_position;
  std::int64_t left = n < 0 ? -std::int64_t{n} : n;
  const int step = n < 0 ? -1 : 1;
  for (std::int64_t at = base; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<U32>(at);
  return no_position;
};

// ---- prmt ---------------------------------------------------------------------------------------
// Which of 8 bytes {b, a} goes to byte i under a selector, in the modes that have a rule.
constexpr U32 source_byte(PrmtMode mode, U32 selector, U32 i) {
  const U32 s = selector % 4;
  switch (mode) {
    case PrmtMode::F4e: return s + i;
    case PrmtMode::B4e: return (s + 8 - i) % 8;
    case PrmtMode::Rc8: return s;
    case PrmtMode::Ecl: return i < s ? s : i;
    case PrmtMode::Ecr: return i < s ? i : s;
    case PrmtMode::Rc16: return s % 2 * 2 + i % 2;
    default: return 0;
  }
}

template <PrmtMode mode>
constexpr auto permute = [](U32 a, U32 b, U32 selector) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i) {
    const U32 nibble = selector >> (4 * i) & 15;
    const U32 from = mode == PrmtMode::None ? nibble % 8 : source_byte(mode, selector, i);
    U32 byte = static_cast<U32>(bytes >> (8 * from)) & 0xff;
    if (mode == PrmtMode::None && nibble >= 8)
      byte = byte >= 0x80 ? 0xff : 0;  // copies of its sign
    result |= byte << (8 * i);
  }
  return result;
};

Evaluate prmt(const ptx::Form& form) {
  if (form.types[0] != Type::B32) return nullptr;
  switch (form.get<PrmtMode>()) {
    case PrmtMode::None: return lanewise<permute<PrmtMode::None>, U32, U32, U32, U32>;
    case PrmtMode::F4e: return lanewise<permute<PrmtMode::F4e>, U32, U32, U32, U32>;
    case PrmtMode::B4e: return lanewise<permute<PrmtMode::B4e>, U32, U32, U32, U32>;
    case PrmtMode::Rc8: return lanewise<permute<PrmtMode::Rc8>, U32, U32, U32, U32>;
    case PrmtMode::Ecl: return lanewise<permute<PrmtMode::Ecl>, U32, U32, U32, U32>;
    case PrmtMode::Ecr: return lanewise<permute<PrmtMode::Ecr>, U32, U32, U32, U32>;
    case PrmtMode::Rc16: return lanewise<permute<PrmtMode::Rc16>, U32, U32, U32, U32>;
  }
  return nullptr;
}

// ---- by type: all of these exist for 32 bits, most for 64 ----------------------------------------

template <class Make>
Evaluate of_word(Type type, Make make) {
  if (ptx::bits(type) < 32) return nullptr;
  return for_integer(type, [&](auto zero) -> Evaluate {
    if constexpr (sizeof zero < 4)
      return nullptr;
    else
      return make(zero);
  });
}

template <auto f>
Evaluate count(Type type) {
  return of_word(type, [](auto zero) -> Evaluate {
    return lanewise<f, U32, std::make_unsigned_t<decltype(zero)>>;
  });
}

template <bool as_shift>
Evaluate bfind(Type type) {
  return of_word(type, [](auto zero) -> Evaluate {
    return lanewise<find_highest<as_shift>, U32, decltype(zero)>;
  });
}

Evaluate bfe(Type type) {
  return of_word(type, [](auto zero) -> Evaluate {
    using T = decltype(zero);
    return lanewise<extract, T, T, U32, U32>;
  });
}

Evaluate bfi(Type type) {
  if (type == Type::B32) return lanewise<insert, U32, U32, U32, U32, U32>;
  using U64 = std::uint64_t;
  return type == Type::B64 ? lanewise<insert, U64, U64, U64, U32, U32> : nullptr;
}

Evaluate brev(Type type) {
  if (type == Type::B32) return lanewise<reverse, U32, U32>;
  return type == Type::B64 ? lanewise<reverse, std::uint64_t, std::uint64_t> : nullptr;
}

template <bool clamps>
Evaluate szext(Type type) {
  using S32 = std::int32_t;
  if (type == Type::U32) return lanewise<extend<clamps>, U32, U32, U32>;
  return type == Type::S32 ? lanewise<extend<clamps>, S32, S32, U32> : nullptr;
}

}  // namespace

Evaluate bit_operation(const ptx::Form& form) {
  const Type type = form.types[0];
  const bool clamps = form.get<Clamp>() == Clamp::Clamp;
  switch (form.opcode) {
    case Opcode::Bfe: return bfe(type);
    case Opcode::Bfi: return bfi(type);
    case Opcode::Bfind:
      return form.has(ptx::Flag::Shiftamt) ? bfind<true>(type) : bfind<false>(type);
    case Opcode::Popc: return count<population>(type);
    case Opcode::Clz: return count<leading_zeros>(type);
    case Opcode::Brev: return brev(type);
    case Opcode::Bmsk:
      if (type != Type::B32) return nullptr;
      return clamps ? lanewise<mask_of<true>, U32, U32, U32>
                    : lanewise<mask_of<false>, U32, U32, U32>;
    case Opcode::Szext: return clamps ? szext<true>(type) : szext<false>(type);
    case Opcode::Fns:
      return type == Type::B32 ? lanewise<find_nth, U32, U32, U32, std::int32_t> : nullptr;
    case Opcode::Prmt: return prmt(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
