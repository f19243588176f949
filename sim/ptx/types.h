// Types and state spaces of PTX, by name.
//
// A table and two functions for each: name() and the reader of a word. Example: type_of("f16x2") is
// Type::F16x2, 32 bits.
//
// Source: PTX ISA 9.2, 5.1 (state spaces), 5.2 (types)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tcq::ptx {

// clang-format off
enum class Type : std::uint8_t {
  None, Pred, U8, U16, U32, U64, S8, S16, S32, S64, B8, B16, B32, B64, B128, B1024, U4, S4, B1,
  B4, B6, F16, F16x2, BF16, BF16x2, TF32, F32, F32x2, F64, E4M3, E5M2, E2M1, E2M3, E3M2, UE8M0,
  UE4M3, E4M3x2, E5M2x2, E2M1x2, E2M3x2, E3M2x2, UE8M0x2, E4M3x4, E5M2x4, E2M1x4, E2M3x4, E3M2x4,
  U16x2, S16x2, U8x4, S8x4, B4x16, B8x16, B6x16P32, B4x16P64, B6p2x16, TexRef, SamplerRef,
  SurfRef,
};
// clang-format on

struct TypeInfo {
  std::string_view name;
  std::uint16_t bits;
};

// clang-format off
inline constexpr std::array type_table = {
    TypeInfo{"", 0}, TypeInfo{"pred", 1}, TypeInfo{"u8", 8}, TypeInfo{"u16", 16}, TypeInfo{"u32",
    32}, TypeInfo{"u64", 64}, TypeInfo{"s8", 8}, TypeInfo{"s16", 16}, TypeInfo{"s32", 32},
    TypeInfo{"s64", 64}, TypeInfo{"b8", 8}, TypeInfo{"b16", 16}, TypeInfo{"b32", 32},
    TypeInfo{"b64", 64}, TypeInfo{"b128", 128}, TypeInfo{"b1024", 1024}, TypeInfo{"u4", 4},
    TypeInfo{"s4", 4}, TypeInfo{"b1", 1}, TypeInfo{"b4", 4}, TypeInfo{"b6", 6}, TypeInfo{"f16",
    16}, TypeInfo{"f16x2", 32}, TypeInfo{"bf16", 16}, TypeInfo{"bf16x2", 32}, TypeInfo{"tf32",
    32}, TypeInfo{"f32", 32}, TypeInfo{"f32x2", 64}, TypeInfo{"f64", 64}, TypeInfo{"e4m3", 8},
    TypeInfo{"e5m2", 8}, TypeInfo{"e2m1", 4}, TypeInfo{"e2m3", 6}, TypeInfo{"e3m2", 6},
    TypeInfo{"ue8m0", 8}, TypeInfo{"ue4m3", 8}, TypeInfo{"e4m3x2", 16}, TypeInfo{"e5m2x2", 16},
    TypeInfo{"e2m1x2", 8}, TypeInfo{"e2m3x2", 16}, TypeInfo{"e3m2x2", 16}, TypeInfo{"ue8m0x2",
    16}, TypeInfo{"e4m3x4", 32}, TypeInfo{"e5m2x4", 32}, TypeInfo{"e2m1x4", 16},
    TypeInfo{"e2m3x4", 32}, TypeInfo{"e3m2x4", 32}, TypeInfo{"u16x2", 32}, TypeInfo{"s16x2", 32},
    TypeInfo{"u8x4", 32}, TypeInfo{"s8x4", 32}, TypeInfo{"b4x16", 64}, TypeInfo{"b8x16", 128},
    TypeInfo{"b6x16_p32", 128}, TypeInfo{"b4x16_p64", 128}, TypeInfo{"b6p2x16", 128},
    TypeInfo{"texref", 64}, TypeInfo{"samplerref", 64}, TypeInfo{"surfref", 64}};
// clang-format on
static_assert(type_table.size() == static_cast<std::size_t>(Type::SurfRef) + 1);

constexpr std::string_view name(Type type) {
  return type_table[static_cast<std::size_t>(type)].name;
}
constexpr int bits(Type type) { return type_table[static_cast<std::size_t>(type)].bits; }

// Type::None for another word.
constexpr Type type_of(std::string_view word) {
  for (std::size_t i = 1; i < type_table.size(); ++i)
    if (type_table[i].name == word) return static_cast<Type>(i);
  return Type::None;
}

// Shared is what the word .shared says, where ::cta and ::cluster differ; Generic: no word.
// clang-format off
enum class Space : std::uint8_t {
  Generic, Reg, Global, Const, Local, Shared, SharedCta, SharedCluster, Param, ParamEntry,
  ParamFunc, Sreg, Tex,
};
// clang-format on

// clang-format off
inline constexpr std::array<std::string_view, 13> space_names = {
    "", "reg", "global", "const", "local", "shared", "shared::cta", "shared::cluster", "param",
    "param::entry", "param::func", "sreg", "tex"};
// clang-format on

// Of the thread's own CTA.
constexpr bool is_own_shared(Space space) {
  return space == Space::Shared || space == Space::SharedCta;
}
constexpr bool is_shared(Space space) {
  return is_own_shared(space) || space == Space::SharedCluster;
}

constexpr std::string_view name(Space space) {
  return space_names[static_cast<std::size_t>(space)];
}

// Space::Generic for another word.
constexpr Space space_of(std::string_view word) {
  for (std::size_t i = 1; i < space_names.size(); ++i)
    if (space_names[i] == word) return static_cast<Space>(i);
  return Space::Generic;
}

}  // namespace tcq::ptx
