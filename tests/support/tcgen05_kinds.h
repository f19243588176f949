// The forms of tcgen05.mma that the numeric tests go through, and operands written as lists: shared
// by the tests of sim/num and of the machine.
//
// Example: operands("0:38 1-3:b8", 32) is 32 words, 38 at k = 0, b8 at k = 1, 2 and 3, else 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "sim/num/tcgen05_dot.h"

namespace tcq::tcgen05 {

using Words = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

inline DotForm plain_form(Kind kind, Type d, Type a, Type b) {
  return {{.kind = kind}, {.d = d, .a = a, .b = b}};
}

inline DotForm packed_form(Kind kind, ScaleVec scale_vec, ScaleType scale_type) {
  return {{.kind = kind, .scale_vec = scale_vec},
          {.a = Type::e2m1, .b = Type::e2m1, .scale_type = scale_type}};
}

inline DotForm f16_form() { return plain_form(Kind::f16, Type::f32, Type::f16, Type::f16); }
inline DotForm bf16_form() { return plain_form(Kind::f16, Type::f32, Type::bf16, Type::bf16); }
inline DotForm f16_to_f16() { return plain_form(Kind::f16, Type::f16, Type::f16, Type::f16); }
inline DotForm f8_form(Type a, Type b) { return plain_form(Kind::f8f6f4, Type::f32, a, b); }
inline DotForm mxf8_form(Type a, Type b) { return plain_form(Kind::mxf8f6f4, Type::f32, a, b); }
inline DotForm nvf4_16() { return packed_form(Kind::mxf4nvf4, ScaleVec::X4, ScaleType::ue8m0); }
inline DotForm nvf4() { return packed_form(Kind::mxf4nvf4, ScaleVec::Block16, ScaleType::ue4m3); }
inline DotForm mxf4() { return packed_form(Kind::mxf4, ScaleVec::Default, ScaleType::ue8m0); }

inline const std::vector<Type>& narrow_types() {
  static const std::vector<Type> types = {Type::e4m3, Type::e5m2, Type::e2m3, Type::e3m2,
                                          Type::e2m1};
  return types;
}

inline std::vector<DotForm> packed_forms() {
  return {packed_form(Kind::mxf4, ScaleVec::Block32, ScaleType::ue8m0),
          packed_form(Kind::mxf4nvf4, ScaleVec::Block32, ScaleType::ue8m0),
          packed_form(Kind::mxf4nvf4, ScaleVec::Block16, ScaleType::ue8m0),
          packed_form(Kind::mxf4nvf4, ScaleVec::Block16, ScaleType::ue4m3)};
}

// Every combination of types of every kind.
inline std::vector<DotForm> all_forms() {
  std::vector<DotForm> forms = {plain_form(Kind::f16, Type::f32, Type::f16, Type::f16),
                                plain_form(Kind::f16, Type::f32, Type::bf16, Type::bf16),
                                plain_form(Kind::f16, Type::f16, Type::f16, Type::f16),
                                plain_form(Kind::tf32, Type::f32, Type::tf32, Type::tf32)};
  for (const Type a : narrow_types()) {
    for (const Type b : narrow_types()) {
      forms.push_back(plain_form(Kind::f8f6f4, Type::f32, a, b));
      forms.push_back(plain_form(Kind::f8f6f4, Type::f16, a, b));
      forms.push_back(plain_form(Kind::mxf8f6f4, Type::f32, a, b));
    }
  }
  for (const Type a : {Type::s8, Type::u8})
    for (const Type b : {Type::s8, Type::u8})
      forms.push_back(plain_form(Kind::i8, Type::s32, a, b));
  for (const DotForm& form : packed_forms()) forms.push_back(form);
  return forms;
}

inline std::string text(const DotForm& form) {
  const InstructionDescriptor& idesc = form.idesc;
  std::string text = std::string(name(form.opcode.kind)) + " " + name(idesc.d) + "." +
                     name(idesc.a) + "." + name(idesc.b);
  if (is_packed_4bit(form.opcode.kind))
    text += std::string(" ") + name(form.opcode.scale_vec) + " " + name(idesc.scale_type);
  return text;
}

inline std::uint32_t hex(const std::string& digits) {
  return static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
}

inline Words operands(const std::string& list, int count) {
  Words words(static_cast<std::size_t>(count), 0);
  std::istringstream items(list);
  for (std::string item; items >> item;) {
    const std::size_t colon = item.find(':');
    const std::string range = item.substr(0, colon);
    const std::size_t dash = range.find('-');
    const std::size_t first = std::stoul(range);
    const std::size_t last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
    for (std::size_t i = first; i <= last; ++i) words.at(i) = hex(item.substr(colon + 1));
  }
  return words;
}

// "7f 80": one byte per scale factor; the last one stands for all that follow.
inline Bytes scale_bytes(const std::string& list, int count) {
  Bytes bytes;
  std::istringstream items(list);
  for (std::string item; items >> item;) bytes.push_back(static_cast<std::uint8_t>(hex(item)));
  while (!bytes.empty() && bytes.size() < static_cast<std::size_t>(count))
    bytes.push_back(bytes.back());
  return bytes;
}

}  // namespace tcq::tcgen05
