// The 32-bit instruction descriptor of tcgen05.mma: what its opcode leaves to run time.
//
// Decides bit positions, codes, and what each kind's format can hold. There are three formats, of
// which the opcode's kind chooses one; whether M, N and the rest exist for an opcode is
// sim/isa/tcgen05/shape.h. Example: kind f16 with f32 D, 128 x 256, is encode({.m = 128, .n = 256},
// Kind::f16) == 0x08400010.
//
// decode() takes any word; check_word() says what is wrong with one. It is Fault::None exactly if
// encode(decode(word)) == word and check(decode(word)) == Fault::None.
//
// Source: PTX ISA 9.2, 9.7.16.4.2 "Instruction descriptor", tables 42 to 44.
// Source: CuTe's cute::UMMA::InstrDescriptor and InstrDescriptorBlockScaled encode 32 words alike.
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"

namespace tcq::tcgen05 {

struct InstructionDescriptor {
  Type d = Type::f32;
  Type a = Type::f16;
  Type b = Type::f16;
  int m = 128;  // of the whole instruction: cta_group::2 splits it over two CTAs
  int n = 8;
  Major major_a = Major::K;
  Major major_b = Major::K;
  bool negate_a = false;
  bool negate_b = false;
  bool sparse = false;
  int selector = 0;       // sparsity selector, dense and sparse kinds without scale factors
  bool saturate = false;  // kind i8
  int max_shift_b = 0;    // .ws: columns, one of 0, 8, 16, 32
  ScaleType scale_type = ScaleType::ue8m0;
  int scale_a_id = 0;
  int scale_b_id = 0;
  bool k96 = false;  // mxf4, mxf4nvf4: K = 96 instead of 64

  friend constexpr bool operator==(const InstructionDescriptor&,
                                   const InstructionDescriptor&) = default;
};

// ---- Codes --------------------------------------------------------------------------------------

inline constexpr int no_code = -1;

// Of A and B.
HOST_DEVICE constexpr int type_code(Kind kind, Type type) {
  switch (kind) {
    case Kind::f16: return type == Type::f16 ? 0 : type == Type::bf16 ? 1 : no_code;
    case Kind::tf32: return type == Type::tf32 ? 2 : no_code;
    case Kind::i8: return type == Type::u8 ? 0 : type == Type::s8 ? 1 : no_code;
    case Kind::mxf4:
    case Kind::mxf4nvf4: return type == Type::e2m1 ? 1 : no_code;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4: break;
  }
  switch (type) {
    case Type::e4m3: return 0;
    case Type::e5m2: return 1;
    case Type::e2m3: return 3;
    case Type::e3m2: return 4;
    case Type::e2m1: return 5;
    default: return no_code;
  }
}

// The kind that multiplies elements of a type without scale factors. Requires: a type that some kind has.
HOST_DEVICE constexpr Kind kind_without_factors(Type type) {
  for (int i = 0; i < kind_count; ++i)
    if (type_code(static_cast<Kind>(i), type) != no_code) return static_cast<Kind>(i);
  return Kind::f16;
}

// The kind that multiplies such elements by scale factors of 32 or 16 of K, Block32 and Block16, or by none.
// Requires: it exists (sim/isa/tcgen05/shape.h).
HOST_DEVICE constexpr Kind kind_with_factors(Type type, ScaleVec scale_vec) {
  if (scale_vec == ScaleVec::Default) return kind_without_factors(type);
  if (type_code(Kind::mxf4, type) == no_code) return Kind::mxf8f6f4;
  return scale_vec == ScaleVec::Block16 ? Kind::mxf4nvf4 : Kind::mxf4;
}

// Of D. Kinds with scale factors have no field: their D is f32.
HOST_DEVICE constexpr int type_d_code(Kind kind, Type type) {
  switch (kind) {
    case Kind::i8: return type == Type::s32 ? 2 : no_code;
    case Kind::f16:
    case Kind::f8f6f4: return type == Type::f16 ? 0 : type == Type::f32 ? 1 : no_code;
    default: return type == Type::f32 ? 1 : no_code;
  }
}

// What a code that stands for nothing is decoded as: no kind has b1 operands.
inline constexpr Type no_type = Type::b1;

HOST_DEVICE constexpr Type type_of_code(Kind kind, std::uint64_t code) {
  for (int i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    if (type_code(kind, type) == static_cast<int>(code)) return type;
  }
  return no_type;
}

HOST_DEVICE constexpr Type type_d_of_code(Kind kind, std::uint64_t code) {
  for (int i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    if (type_d_code(kind, type) == static_cast<int>(code)) return type;
  }
  return no_type;
}

// Unit: columns.
HOST_DEVICE constexpr int max_shift_of_code(std::uint64_t code) {
  return code == 0 ? 0 : 4 << static_cast<int>(code);
}

HOST_DEVICE constexpr int max_shift_code(int columns) {
  return columns == 0 ? 0 : columns == 8 ? 1 : columns == 16 ? 2 : columns == 32 ? 3 : no_code;
}

// ---- Fields -------------------------------------------------------------------------------------

namespace idesc {

struct Selector : Field<0, 2> {
  static constexpr const char* name = "selector";
};
struct Sparse : Field<2, 1> {
  static constexpr const char* name = "sparse";
};
struct Saturate : Field<3, 1> {
  static constexpr const char* name = "saturate";
};
struct TypeD : Field<4, 2> {
  static constexpr const char* name = "type_d";
};
struct ScaleBId : Field<4, 2> {
  static constexpr const char* name = "scale_b_id";
};
struct TypeA : Field<7, 3> {
  static constexpr const char* name = "type_a";
};
struct TypeB : Field<10, 3> {
  static constexpr const char* name = "type_b";
};
struct PackedTypeB : Field<10, 2> {
  static constexpr const char* name = "type_b";
};
struct NegateA : Field<13, 1> {
  static constexpr const char* name = "negate_a";
};
struct NegateB : Field<14, 1> {
  static constexpr const char* name = "negate_b";
};
struct MajorA : Field<15, 1> {
  static constexpr const char* name = "major_a";
};
struct MajorB : Field<16, 1> {
  static constexpr const char* name = "major_b";
};
struct N : Field<17, 6, 3> {
  static constexpr const char* name = "n";
};
struct ScaleFormat : Field<23, 1> {
  static constexpr const char* name = "scale_type";
};
struct M : Field<24, 5, 4> {
  static constexpr const char* name = "m";
};
struct ScaledM : Field<27, 2, 7> {
  static constexpr const char* name = "m";
};
struct ScaleAId : Field<29, 2> {
  static constexpr const char* name = "scale_a_id";
};
struct MaxShiftB : Field<30, 2> {
  static constexpr const char* name = "max_shift_b";
};
struct K96 : Field<31, 1> {
  static constexpr const char* name = "k96";
};

// Kinds f16, tf32, f8f6f4, i8.
using PlainFormat = Format<Selector, Sparse, Saturate, TypeD, TypeA, TypeB, NegateA, NegateB,
                           MajorA, MajorB, N, M, MaxShiftB>;
// Kind mxf8f6f4.
using ScaledFormat = Format<Sparse, ScaleBId, TypeA, TypeB, NegateA, NegateB, MajorA, MajorB, N,
                            ScaleFormat, ScaledM, ScaleAId>;
// Kinds mxf4, mxf4nvf4.
using PackedFormat = Format<Sparse, ScaleBId, TypeA, PackedTypeB, NegateA, NegateB, N, ScaleFormat,
                            ScaledM, ScaleAId, K96>;

inline constexpr int word_bits = 32;

}  // namespace idesc

// Calls visit(Format) with the format of a kind.
template <class Visit>
constexpr auto with_idesc_format(Kind kind, Visit&& visit) {
  if (is_packed_4bit(kind)) return visit(idesc::PackedFormat{});
  return is_block_scaled(kind) ? visit(idesc::ScaledFormat{}) : visit(idesc::PlainFormat{});
}

// The bits that a kind's format gives a meaning.
HOST_DEVICE constexpr std::uint64_t idesc_mask(Kind kind) {
  return is_packed_4bit(kind)    ? idesc::PackedFormat::mask
         : is_block_scaled(kind) ? idesc::ScaledFormat::mask
                                 : idesc::PlainFormat::mask;
}

// ---- What a kind's format can hold --------------------------------------------------------------

namespace idesc {
inline constexpr int largest_m = 256;
inline constexpr int largest_n = 256;
}  // namespace idesc

HOST_DEVICE constexpr bool has_saturate(Kind kind) { return kind == Kind::i8; }
HOST_DEVICE constexpr bool has_negate(Kind kind) { return kind != Kind::i8; }
HOST_DEVICE constexpr bool has_transpose(Kind kind) { return !is_packed_4bit(kind); }
HOST_DEVICE constexpr bool has_scale_ue4m3(Kind kind) { return kind == Kind::mxf4nvf4; }

HOST_DEVICE constexpr bool fits_types(const InstructionDescriptor& d, Kind kind) {
  return type_d_code(kind, d.d) != no_code && type_code(kind, d.a) != no_code &&
         type_code(kind, d.b) != no_code;
}

HOST_DEVICE constexpr bool fits_m(int m, Kind kind) {
  return m > 0 && m <= idesc::largest_m && m % (is_block_scaled(kind) ? 128 : 16) == 0;
}

HOST_DEVICE constexpr bool fits_n(int n) { return n > 0 && n <= idesc::largest_n && n % 8 == 0; }

// Members that only some formats have: the others need the value that decode() gives them.
HOST_DEVICE constexpr bool fits_members(const InstructionDescriptor& d, Kind kind) {
  const bool plain = !is_block_scaled(kind);
  const bool transposed = d.major_a == Major::MN || d.major_b == Major::MN;
  return (d.selector == 0 || (plain && d.selector > 0 && d.selector < 4)) &&
         (d.max_shift_b == 0 || (plain && max_shift_code(d.max_shift_b) != no_code)) &&
         (!d.saturate || has_saturate(kind)) &&
         ((!d.negate_a && !d.negate_b) || has_negate(kind)) &&
         (!transposed || has_transpose(kind)) &&
         (d.scale_type == ScaleType::ue8m0 || has_scale_ue4m3(kind)) &&
         (!d.k96 || is_packed_4bit(kind));
}

// Source: PTX ISA 9.2, 9.7.16.10.7.2.4: ids 0 to 3 with K = 96, which table 44 leaves out.
HOST_DEVICE constexpr bool fits_scale_id(const InstructionDescriptor& d, Kind kind, int id) {
  if (!is_block_scaled(kind)) return id == 0;
  return id >= 0 && id < 4 && (id % 2 == 0 || kind == Kind::mxf8f6f4 || d.k96);
}

// Whether the format holds every member. Faults: IdescType, IdescM, IdescN, IdescField,
// IdescScaleId.
HOST_DEVICE constexpr Fault check(const InstructionDescriptor& d, Kind kind) {
  if (!fits_types(d, kind)) return Fault::IdescType;
  if (!fits_m(d.m, kind)) return Fault::IdescM;
  if (!fits_n(d.n)) return Fault::IdescN;
  if (!fits_members(d, kind)) return Fault::IdescField;
  if (!fits_scale_id(d, kind, d.scale_a_id) || !fits_scale_id(d, kind, d.scale_b_id))
    return Fault::IdescScaleId;
  return Fault::None;
}

// ---- Words --------------------------------------------------------------------------------------

namespace idesc {

HOST_DEVICE constexpr std::uint64_t code_of(bool flag) { return flag ? 1 : 0; }
HOST_DEVICE constexpr std::uint64_t code_of(int value) { return static_cast<std::uint64_t>(value); }
HOST_DEVICE constexpr std::uint64_t code_of(Major major) { return major == Major::MN ? 1 : 0; }

// The bits of d that kind f16 and its likes have, A, B, majors, signs and N left out.
HOST_DEVICE constexpr std::uint64_t plain_bits(const InstructionDescriptor& d, Kind kind) {
  return Selector::encode(code_of(d.selector)) | Saturate::encode(code_of(d.saturate)) |
         TypeD::encode(code_of(type_d_code(kind, d.d))) | M::encode(code_of(d.m)) |
         MaxShiftB::encode(code_of(max_shift_code(d.max_shift_b)));
}

HOST_DEVICE constexpr std::uint64_t scaled_bits(const InstructionDescriptor& d) {
  return ScaleBId::encode(code_of(d.scale_b_id)) | ScaleAId::encode(code_of(d.scale_a_id)) |
         ScaleFormat::encode(static_cast<std::uint64_t>(d.scale_type)) |
         ScaledM::encode(code_of(d.m)) | K96::encode(code_of(d.k96));
}

HOST_DEVICE constexpr Major major_of(std::uint64_t code) {
  return code != 0 ? Major::MN : Major::K;
}

}  // namespace idesc

// Requires: check(d, kind) == Fault::None.
HOST_DEVICE constexpr std::uint32_t encode(const InstructionDescriptor& d, Kind kind) {
  using namespace idesc;
  const std::uint64_t common =
      Sparse::encode(code_of(d.sparse)) | TypeA::encode(code_of(type_code(kind, d.a))) |
      TypeB::encode(code_of(type_code(kind, d.b))) | NegateA::encode(code_of(d.negate_a)) |
      NegateB::encode(code_of(d.negate_b)) | MajorA::encode(code_of(d.major_a)) |
      MajorB::encode(code_of(d.major_b)) | N::encode(code_of(d.n));
  return static_cast<std::uint32_t>(common |
                                    (is_block_scaled(kind) ? scaled_bits(d) : plain_bits(d, kind)));
}

// The fields of any word, read as this kind's format. Codes that stand for no type are no_type.
HOST_DEVICE constexpr InstructionDescriptor decode(std::uint32_t word, Kind kind) {
  using namespace idesc;
  const bool packed = is_packed_4bit(kind);
  InstructionDescriptor d;
  d.a = type_of_code(kind, TypeA::code(word));
  d.b = type_of_code(kind, packed ? PackedTypeB::code(word) : TypeB::code(word));
  d.sparse = Sparse::code(word) != 0;
  d.negate_a = NegateA::code(word) != 0;
  d.negate_b = NegateB::code(word) != 0;
  d.n = static_cast<int>(N::decode(word));
  if (!packed) {
    d.major_a = major_of(MajorA::code(word));
    d.major_b = major_of(MajorB::code(word));
  }
  if (is_block_scaled(kind)) {
    d.m = static_cast<int>(ScaledM::decode(word));
    d.scale_type = static_cast<ScaleType>(ScaleFormat::code(word));
    d.scale_a_id = static_cast<int>(ScaleAId::code(word));
    d.scale_b_id = static_cast<int>(ScaleBId::code(word));
    d.k96 = packed && K96::code(word) != 0;
  } else {
    d.d = type_d_of_code(kind, TypeD::code(word));
    d.m = static_cast<int>(M::decode(word));
    d.selector = static_cast<int>(Selector::code(word));
    d.saturate = Saturate::code(word) != 0;
    d.max_shift_b = max_shift_of_code(MaxShiftB::code(word));
  }
  return d;
}

// Faults: WordReserved, and those of check().
HOST_DEVICE constexpr Fault check_word(std::uint32_t word, Kind kind) {
  if ((word & ~idesc_mask(kind)) != 0) return Fault::WordReserved;
  return check(decode(word, kind), kind);
}

}  // namespace tcq::tcgen05
