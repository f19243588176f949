#include "sim/ptx/video.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "sim/ptx/opcode_table.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

constexpr std::array<std::string_view, 10> ops = {"vadd",  "vsub", "vabsdiff", "vmin", "vmax",
                                                  "vavrg", "vshl", "vshr",     "vmad", "vset"};

// Of "vadd4": 4.
unsigned parts_of(std::string_view name) {
  const char last = name.back();
  return last == '2' || last == '4' ? static_cast<unsigned>(last - '0') : 1;
}

// b0 to b3, h0, h1.
std::optional<unsigned> part(std::string_view word) {
  constexpr std::array<std::string_view, 7> words = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<unsigned>(found - words.begin());
}

// "h10", "b3210": the digits behind the letter, the last one first.
std::optional<std::array<unsigned, 4>> digits(std::string_view word, unsigned parts,
                                              std::size_t count, unsigned end) {
  if (word.size() != count + 1 || word[0] != (parts == 2 ? 'h' : 'b')) return std::nullopt;
  std::array<unsigned, 4> all = {};
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = static_cast<unsigned>(word[count - i] - '0');
    if (all[i] >= end) return std::nullopt;
  }
  return all;
}

std::optional<unsigned> parts_from(std::string_view word, unsigned parts, unsigned first) {
  std::array<unsigned, 4> all = {first, first + 1, first + 2, first + 3};
  if (!word.empty()) {
    const auto found = digits(word, parts, parts, 2 * parts);
    if (!found) return std::nullopt;
    all = *found;
  }
  unsigned bits = 0;
  for (unsigned i = 0; i < parts; ++i) bits |= all[i] << (3 * i);
  return bits;
}

// Each digit once, in falling order.
std::optional<unsigned> mask_from(std::string_view word, unsigned parts) {
  if (word.empty()) return (1U << parts) - 1;
  if (word.size() > parts + 1) return std::nullopt;
  const auto found = digits(word, parts, word.size() - 1, parts);
  if (!found || word.size() < 2) return std::nullopt;
  unsigned mask = 0;
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const unsigned bit = 1U << (*found)[i];
    if (bit <= mask) return std::nullopt;
    mask |= bit;
  }
  return mask;
}

bool read_parts(Video& v, std::span<const Operand> operands, const Names& names) {
  const auto word = [&](std::size_t i) {
    return i < operands.size() ? names.text(operands[i].selector) : std::string_view();
  };
  const auto parts = static_cast<unsigned>(v.parts);
  const auto d = parts == 1 ? part(word(0)) : mask_from(word(0), parts);
  const auto a = parts == 1 ? part(word(1)) : parts_from(word(1), parts, 0);
  const auto b = parts == 1 ? part(word(2)) : parts_from(word(2), parts, parts);
  if (!d || !a || !b || !word(3).empty()) return false;
  v.mask = *d & 15;
  v.a = *a & 4095;
  v.b = *b & 4095;
  return true;
}

bool read_signs(Video& v, const Form& form) {
  const std::size_t first = v.op == std::uint64_t(VideoOp::Set) ? 1 : 0;  // vset says none of d
  const std::size_t count = 3 - first;
  std::array<bool, 3> is_signed = {};
  for (std::size_t i = 0; i < count; ++i) {
    if (form.types[i] != Type::U32 && form.types[i] != Type::S32) return false;
    is_signed[i + first] = form.types[i] == Type::S32;
  }
  v.signed_d = is_signed[0];
  v.signed_a = is_signed[1];
  v.signed_b = is_signed[2];
  const bool shifts = form.opcode == Opcode::Vshl || form.opcode == Opcode::Vshr;
  return form.type_count == count && !(shifts && v.signed_b != 0);
}

// What cannot stand beside what.
std::string_view contradiction(const Video& v, std::size_t operands) {
  constexpr unsigned product = 3, summand = 4;  // of minus
  const bool has_c = operands > 3;
  const bool is_mad = v.op == std::uint64_t(VideoOp::Mad);
  if (v.parts == 1 && !is_mad && has_c == (v.second == 0 && v.mask == 0))
    return has_c ? "has a third source and neither a second operation nor a part of d"
                 : "has no third source";
  if (v.parts == 1 && v.second != 0 && v.mask != 0) return "has a second operation and a part of d";
  if (v.minus != 0 && !is_mad) return "negates an operand";
  if (v.minus != 0 && v.plus_one != 0) return "negates an operand and adds one";
  if ((v.minus & product) != 0 && (v.minus & product) != product && (v.minus & summand) != 0)
    return "negates the product and the summand";
  if (is_mad && v.mask != 0) return "has a part of d";
  if (v.parts != 1 && v.saturates != 0 && v.second != 0) return "has .sat and .add";
  return "";
}

}  // namespace

bool is_video(Opcode opcode) { return opcode >= Opcode::Vabsdiff4 && opcode <= Opcode::Vset4; }

Video video_of(const Form& form, std::span<const Operand> operands, const Names& names,
               std::string& problem) {
  Video v;
  std::string_view name = row_of(form.opcode).name;
  v.parts = parts_of(name) & 7;
  if (v.parts != 1) name.remove_suffix(1);
  v.op = static_cast<std::uint64_t>(std::find(ops.begin(), ops.end(), name) - ops.begin()) & 15;
  v.saturates = form.has(Slot::Saturate);
  v.wraps = form.get<Clamp>() == Clamp::Wrap;
  v.plus_one = form.has(Flag::Po);
  v.shift = (form.has(Flag::Shr7) ? 7 : form.has(Flag::Shr15) ? 15 : 0) & 15;
  v.second = static_cast<std::uint64_t>(form.get<Operation>()) & 15;
  v.compare = static_cast<std::uint64_t>(form.get<Compare>()) & 31;
  for (std::size_t i = 1; i < operands.size(); ++i)
    if (operands[i].minus) v.minus = (v.minus | 1U << (i - 1)) & 7;
  if (!read_signs(v, form))
    problem = "has other types than .u32 and .s32";
  else if (!read_parts(v, operands, names))
    problem = "selects parts that its operands do not have";
  else
    problem = contradiction(v, operands.size());
  return v;
}

}  // namespace tcq::ptx
