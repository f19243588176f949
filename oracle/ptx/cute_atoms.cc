// From CuTe's names to mnemonics; see cute_atoms.h.
#include "oracle/ptx/cute_atoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/cute_copies.h"
#include "oracle/ptx/cute_name.h"

namespace tcq::oracle {
namespace {

using AtomWords = std::vector<std::string>;
using NamedWord = std::pair<std::string_view, std::string_view>;

// Of an atom's name, and PTX's word.
constexpr std::array<NamedWord, 15> types_in_names = {{{"TF32", "tf32"},
                                                       {"BF16", "bf16"},
                                                       {"E4M3", "e4m3"},
                                                       {"E5M2", "e5m2"},
                                                       {"F64", "f64"},
                                                       {"F32", "f32"},
                                                       {"F16", "f16"},
                                                       {"S32", "s32"},
                                                       {"S8", "s8"},
                                                       {"U8", "u8"},
                                                       {"S4", "s4"},
                                                       {"U4", "u4"},
                                                       {"U1", "b1"},
                                                       {"GC64", ""},
                                                       {"C64", ""}}};

// Of CUTLASS and CUDA; float_e4m3_t and its like are read by their middle.
constexpr std::array<NamedWord, 12> types_in_arguments = {{{"half_t", "f16"},
                                                           {"half", "f16"},
                                                           {"__half", "f16"},
                                                           {"bfloat16_t", "bf16"},
                                                           {"__nv_bfloat16", "bf16"},
                                                           {"tfloat32_t", "tf32"},
                                                           {"float", "f32"},
                                                           {"double", "f64"},
                                                           {"int8_t", "s8"},
                                                           {"uint8_t", "u8"},
                                                           {"int32_t", "s32"},
                                                           {"int", "s32"}}};

constexpr std::array<NamedWord, 6> kinds_of_umma = {{{"TF32", "tf32"},
                                                     {"F16BF16", "f16"},
                                                     {"S8", "i8"},
                                                     {"F8F6F4", "f8f6f4"},
                                                     {"MXF8F6F4", "mxf8f6f4"},
                                                     {"MXF4", "mxf4"}}};

bool has_word(const AtomWords& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_decimal(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view word_in(std::span<const NamedWord> rows, std::string_view word) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const NamedWord& one) { return one.first == word; });
  return row == rows.end() ? std::string_view() : row->second;
}

[[noreturn]] void throw_no_atom(const CuteName& name, std::string_view why) {
  throw UsageError(fmt::format(
      "unknown atom {}: {}; expected a name of CuTe such as SM90_64x128x16_F32BF16BF16_SS, or a "
      "PTX opcode such as wgmma.m64n24k16.f32.bf16.bf16",
      quoted(name.written), why));
}

// ---- Arguments ----------------------------------------------------------------------------------

// "" for what is no type.
std::string type_of(std::string_view argument) {
  if (const std::string_view known = word_in(types_in_arguments, argument); !known.empty())
    return std::string(known);
  if (!argument.starts_with("float_")) return "";
  const std::string_view middle = argument.substr(6);
  return std::string(middle.substr(0, middle.find('_')));
}

struct Arguments {
  AtomWords types, numbers, majors;
  AtomWords flags;  // one, neg, zero, true, false, in their order
};

Arguments arguments_of(const CuteName& name) {
  Arguments sorted;
  for (const std::string& one : name.arguments) {
    if (const std::string type = type_of(one); !type.empty())
      sorted.types.push_back(type);
    else if (is_decimal(one))
      sorted.numbers.push_back(one);
    else if (one == "k" || one == "mn")
      sorted.majors.push_back(one == "k" ? "K" : "MN");
    else
      sorted.flags.push_back(one);
  }
  return sorted;
}

void add_majors_and_signs(AtomWords& keys, const Arguments& given) {
  for (std::size_t i = 0; i < std::min<std::size_t>(given.majors.size(), 2); ++i)
    if (given.majors[i] == "MN") keys.push_back(i == 0 ? "major_a=MN" : "major_b=MN");
  for (std::size_t i = 0; i < std::min<std::size_t>(given.flags.size(), 2); ++i)
    if (given.flags[i] == "neg") keys.push_back(i == 0 ? "negate_a=1" : "negate_b=1");
}

// ---- Shapes in the name: wgmma, mma -------------------------------------------------------------

struct AtomShape {
  std::string m, n, k;
};

// "64X128X16"; the numbers are empty for other words.
AtomShape shape_of(std::string_view word) {
  const std::size_t first = word.find('X'), second = word.find('X', first + 1);
  if (first == word.npos || second == word.npos) return {};
  AtomShape shape{std::string(word.substr(0, first)),
                  std::string(word.substr(first + 1, second - first - 1)),
                  std::string(word.substr(second + 1))};
  return is_decimal(shape.m) && is_decimal(shape.n) && is_decimal(shape.k) ? shape : AtomShape{};
}

// F32BF16BF16: f32, bf16, bf16. Empty for other words.
AtomWords types_of(const CuteName& name, std::string_view word) {
  AtomWords types;
  while (!word.empty()) {
    const auto row =
        std::find_if(types_in_names.begin(), types_in_names.end(),
                     [&](const NamedWord& one) { return word.starts_with(one.first); });
    if (row == types_in_names.end()) return {};
    if (row->second.empty())
      throw UnmodelledError(
          fmt::format("{} is not modelled: its numbers are complex", quoted(name.written)));
    types.emplace_back(row->second);
    word.remove_prefix(row->first.size());
  }
  return types;
}

CuteAtom wgmma_atom(const CuteName& name, const AtomShape& shape, const AtomWords& types) {
  if (types.size() != 3) throw_no_atom(name, "the types of D, A and B stand behind the shape");
  const bool sparse = has_word(name.parts, "GMMA") || has_word(name.parts, "SPARSE");
  CuteAtom atom;
  atom.mnemonic = fmt::format("wgmma{}.m{}n{}k{}.{}.{}.{}{}", sparse ? ".sp" : "", shape.m, shape.n,
                              shape.k, types[0], types[1], types[2],
                              has_word(name.parts, "SATURATE") ? ".satfinite" : "");
  const Arguments given = arguments_of(name);
  if (has_word(name.parts, "RS")) atom.keys.push_back("a=regs");
  add_majors_and_signs(atom.keys, given);
  if (sparse && given.flags.size() > 2 && given.flags[2] == "one")
    atom.keys.push_back("selector=1");
  return atom;
}

// T of A is row, N is col; of B the other way round. TN if the name says nothing.
std::string_view majors_of(const CuteName& name) {
  if (has_word(name.parts, "NT")) return "col.row";
  if (has_word(name.parts, "NN")) return "col.col";
  return has_word(name.parts, "TT") ? "row.row" : "row.col";
}

// SM120's names say their types in their arguments, and with VS they have scale factors.
CuteAtom scaled_warp_atom(const CuteName& name, const AtomShape& shape) {
  const Arguments given = arguments_of(name);
  if (given.types.size() < 3)
    throw_no_atom(name,
                  "its types are template arguments, as in "
                  "SM120_16x8x32_TN<float_e4m3_t, float_e4m3_t, float>");
  CuteAtom atom;
  std::string words = "kind::f8f6f4", scale_type;
  if (has_word(name.parts, "VS")) {
    if (given.types.size() < 4) throw_no_atom(name, "the type of its scale factors is missing");
    const bool eight = given.types[0] != "e2m1" || shape.k == "32";
    const bool small_blocks = !given.numbers.empty() && given.numbers[0] == "16";
    words = eight          ? "kind::mxf8f6f4.block_scale.scale_vec::1X"
            : small_blocks ? "kind::mxf4nvf4.block_scale.scale_vec::4X"
                           : "kind::mxf4nvf4.block_scale.scale_vec::2X";
    scale_type = "." + given.types[3];
  }
  atom.mnemonic = fmt::format("mma{}.m{}n{}k{}.row.col.{}.{}.{}.{}.{}{}",
                              has_word(name.parts, "SPARSE") ? ".sp::ordered_metadata" : "",
                              shape.m, shape.n, shape.k, words, given.types[2], given.types[0],
                              given.types[1], given.types[2], scale_type);
  return atom;
}

CuteAtom warp_atom(const CuteName& name, const AtomShape& shape, const AtomWords& types) {
  if (types.empty()) return scaled_warp_atom(name, shape);
  if (types.size() != 4) throw_no_atom(name, "the types of D, A, B and C stand behind the shape");
  CuteAtom atom;
  atom.mnemonic = fmt::format("mma.m{}n{}k{}.{}.{}.{}.{}.{}{}{}", shape.m, shape.n, shape.k,
                              majors_of(name), types[0], types[1], types[2], types[3],
                              has_word(name.parts, "SATURATE")  ? ".satfinite"
                              : has_word(name.parts, "XORPOPC") ? ".xor.popc"
                                                                : "",
                              has_word(name.parts, "ANDPOPC") ? ".and.popc" : "");
  return atom;
}

std::optional<CuteAtom> shaped_atom(const CuteName& name) {
  const auto shaped = std::find_if(name.parts.begin(), name.parts.end(),
                                   [](const std::string& w) { return !shape_of(w).m.empty(); });
  if (shaped == name.parts.end()) return std::nullopt;
  const AtomShape shape = shape_of(*shaped);
  const AtomWords types =
      shaped + 1 == name.parts.end() ? AtomWords() : types_of(name, *(shaped + 1));
  if (shape.m == "64") return wgmma_atom(name, shape, types);
  if (shape.m == "8" || shape.m == "16") return warp_atom(name, shape, types);
  throw_no_atom(name, "no instruction of tensor cores has this shape");
}

// ---- SM100_MMA ----------------------------------------------------------------------------------

// The elements that share a factor: VS of the name counts those of a sparse A twice.
std::string block_words(std::string_view kind, bool sparse, const Arguments& given) {
  if (!kind.starts_with("mx")) return "";
  if (kind == "mxf8f6f4") return ".block_scale.scale_vec::1X";
  const bool small = given.numbers.size() > 2 && given.numbers[2] == (sparse ? "32" : "16");
  return small ? ".block_scale.scale_vec::4X" : ".block_scale.scale_vec::2X";
}

void add_descriptor(CuteAtom& atom, const Arguments& given) {
  constexpr std::array<std::string_view, 4> types = {"type_a", "type_b", "type_d", "scale_type"};
  if (given.numbers.size() < 2 || given.types.size() < 3) {
    atom.open = "M, N and the types";
    return;
  }
  atom.keys.push_back("m=" + given.numbers[0]);
  atom.keys.push_back("n=" + given.numbers[1]);
  for (std::size_t i = 0; i < std::min(given.types.size(), types.size()); ++i)
    atom.keys.push_back(fmt::format("{}={}", types[i], given.types[i]));
}

// Behind "SM100_MMA_".
CuteAtom umma_atom(const CuteName& name) {
  std::string_view kind = word_in(kinds_of_umma, name.parts[2]);
  if (name.parts[2] == "MXF4NVF4") kind = "mxf4";
  if (kind.empty()) throw_no_atom(name, "tcgen05.mma has no such kind");
  const bool sparse = has_word(name.parts, "SPARSE");
  const Arguments given = arguments_of(name);
  const std::string blocks = block_words(kind, sparse, given);
  if (blocks.ends_with("4X")) kind = "mxf4nvf4";
  CuteAtom atom;
  atom.mnemonic = fmt::format("tcgen05.mma{}.cta_group::{}.kind::{}{}", sparse ? ".sp" : "",
                              has_word(name.parts, "2X1SM") ? 2 : 1, kind, blocks);
  if (has_word(name.parts, "TS")) atom.keys.push_back("a=tmem");
  add_descriptor(atom, given);
  add_majors_and_signs(atom.keys, given);
  if (given.flags.size() > 2 && given.flags[2] == "true") atom.keys.push_back("saturate=1");
  return atom;
}

// SM and a number, or the bare names inside the namespaces SM90::GMMA.
bool is_atom(const CuteName& name) {
  if (name.parts.size() < 2) return false;
  const std::string& first = name.parts[0];
  if (first == "MMA" || first == "GMMA") return !shape_of(name.parts[1]).m.empty();
  return first.size() > 3 && first.starts_with("SM") && is_decimal(first.substr(2));
}

CuteAtom atom_of(const CuteName& name) {
  if (name.parts.size() > 2 && name.parts[1] == "MMA" && shape_of(name.parts[2]).m.empty())
    return umma_atom(name);
  if (std::optional<CuteAtom> atom = shaped_atom(name)) return *atom;
  CuteAtom copy;
  std::string why = "no atom is called so";
  copy.mnemonic = copy_mnemonic(name.parts, why);
  if (copy.mnemonic.empty()) throw_no_atom(name, why);
  return copy;
}

}  // namespace

std::optional<CuteAtom> read_cute_atom(std::string_view text) {
  const CuteName name = read_cute_name(text);
  if (!is_atom(name)) return std::nullopt;
  CuteAtom atom = atom_of(name);
  atom.size = name.size;
  return atom;
}

}  // namespace tcq::oracle
