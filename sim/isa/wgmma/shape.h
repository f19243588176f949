// Which wgmma instructions exist: types, N, K, operand places, major-ness and modifiers per target.
//
// A Form is one PTX instruction without its run-time operands. check() answers whether ptxas and
// the manual accept it, and if not, why. Example: {f32, bf16, bf16, n = 24} is legal and has k =
// 16; with s8 operands n = 40 is not, because above 32 the step is 16.
//
// Source: PTX ISA 9.2, 9.7.15.2 "Matrix shape", 9.7.15.5.2 and 9.7.15.6.3 (dense and sparse
// syntax).
// Source: ptxas 13.0 agrees over the whole cross product (tests/silicon/ptxas_test.cc asks it).
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"

namespace tcq {

enum class Target : std::uint8_t {
  sm_90,
  sm_90a,
  sm_100,
  sm_100a,
  sm_100f,
  sm_103a,
  sm_103f,
  sm_110a,
  sm_110f,
  sm_120a,
  sm_120f,
  sm_121a
};

HOST_DEVICE constexpr const char* name(Target target) {
  switch (target) {
    case Target::sm_90: return "sm_90";
    case Target::sm_90a: return "sm_90a";
    case Target::sm_100: return "sm_100";
    case Target::sm_100a: return "sm_100a";
    case Target::sm_100f: return "sm_100f";
    case Target::sm_103a: return "sm_103a";
    case Target::sm_103f: return "sm_103f";
    case Target::sm_110a: return "sm_110a";
    case Target::sm_110f: return "sm_110f";
    case Target::sm_120a: return "sm_120a";
    case Target::sm_120f: return "sm_120f";
    case Target::sm_121a: return "sm_121a";
  }
  return "?";
}
inline constexpr int target_count = 12;

namespace wgmma {

inline constexpr int m = 64;

// Where A comes from; B always comes from shared memory.
enum class Place : std::uint8_t { Smem, Registers };

struct Form {
  Type d;
  Type a;
  Type b;
  int n;
  bool sparse = false;
  Place a_place = Place::Smem;
  Major major_a = Major::K;
  Major major_b = Major::K;
  bool negate_a = false;
  bool negate_b = false;
  bool satfinite = false;

  friend constexpr bool operator==(const Form&, const Form&) = default;
};

// Bytes of stored K that one instruction reads of A (A.sp: of the compressed row).
inline constexpr int stored_k_bytes = 32;

// Products per output: K of the dense instruction, and stored elements per row of a sparse A.
HOST_DEVICE constexpr int stored_k(Type a) { return elements_in(a, stored_k_bytes); }

// K in the PTX opcode: logical elements along K.
HOST_DEVICE constexpr int k(const Form& f) { return stored_k(f.a) * (f.sparse ? 2 : 1); }

// MN-major operands and their immediates exist for f16 and bf16 from shared memory only.
HOST_DEVICE constexpr bool has_major(Type type) { return bits(type) == 16; }
HOST_DEVICE constexpr bool has_negate(Type type) { return is_float(type); }
HOST_DEVICE constexpr bool has_satfinite(Type type) { return is_int8(type); }

HOST_DEVICE constexpr bool types_exist(Type d, Type a, Type b) {
  switch (a) {
    case Type::f16: return b == a && (d == Type::f16 || d == Type::f32);
    case Type::bf16:
    case Type::tf32: return b == a && d == Type::f32;
    case Type::e4m3:
    case Type::e5m2: return is_fp8(b) && (d == Type::f16 || d == Type::f32);
    case Type::s8:
    case Type::u8: return is_int8(b) && d == Type::s32;
    case Type::b1: return b == a && d == Type::s32;
    default: return false;
  }
}

// The widest D that products of this type go to.
HOST_DEVICE constexpr Type widest_d(Type a) { return is_float(a) ? Type::f32 : Type::s32; }

// Floating types: multiples of 8 up to 256. Integers and b1: above 32, multiples of 16.
HOST_DEVICE constexpr bool n_exists(Type a, int n) {
  if (n < 8 || n > 256 || n % 8 != 0) return false;
  return is_float(a) || n <= 24 || n % 16 == 0;
}

HOST_DEVICE constexpr Fault check(const Form& f) {
  if (!types_exist(f.d, f.a, f.b)) return Fault::TypesDoNotExist;
  if (f.sparse && f.a == Type::b1) return Fault::SparseB1;
  if (!n_exists(f.a, f.n)) return is_float(f.a) ? Fault::ShapeN8 : Fault::ShapeN16;
  if (f.major_a == Major::MN && f.a_place == Place::Registers) return Fault::RegisterAIsKMajor;
  if ((f.major_a == Major::MN || f.major_b == Major::MN) && !has_major(f.a))
    return Fault::MnMajorNeeds16Bit;
  if ((f.negate_a || f.negate_b) && !has_negate(f.a)) return Fault::NegateNeedsFloat;
  if (f.satfinite && !has_satfinite(f.a)) return Fault::SatfiniteNeedsInt8;
  return Fault::None;
}

HOST_DEVICE constexpr Fault check(const Form& f, Target target) {
  return target == Target::sm_90a ? check(f) : Fault::TargetLacksWgmma;
}

// The largest sparsity selector (sp-sel) of a sparse form.
HOST_DEVICE constexpr int max_selector(Type a) { return bits(a) == 8 ? 0 : 1; }

}  // namespace wgmma
}  // namespace tcq
