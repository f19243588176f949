// Words of the warp's mma; see warp_mma.h.
#include "oracle/ptx/warp_mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "sim/ptx/tensor_form.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view mma_example = "mma.m16n8k16.f32.bf16.bf16";

struct TypeBits {
  std::string_view name;
  int bits;
};

// Bits that an element has in a register: types of 4 and 6 bits are padded to a byte where .kind says so.
constexpr std::array<TypeBits, 16> types = {{{"f16", 16},
                                             {"bf16", 16},
                                             {"tf32", 32},
                                             {"f32", 32},
                                             {"f64", 64},
                                             {"s8", 8},
                                             {"u8", 8},
                                             {"s4", 4},
                                             {"u4", 4},
                                             {"b1", 1},
                                             {"s32", 32},
                                             {"e4m3", 8},
                                             {"e5m2", 8},
                                             {"e3m2", 8},
                                             {"e2m3", 8},
                                             {"e2m1", 8}}};

struct Shape {
  int m, k, bits;
};

// Of A's elements; every type of so many bits has the shape.
constexpr std::array<Shape, 17> shapes = {{{16, 8, 16},
                                           {16, 16, 16},
                                           {16, 4, 32},
                                           {16, 8, 32},
                                           {8, 4, 64},
                                           {16, 4, 64},
                                           {16, 8, 64},
                                           {16, 16, 64},
                                           {8, 16, 8},
                                           {16, 16, 8},
                                           {16, 32, 8},
                                           {8, 32, 4},
                                           {16, 32, 4},
                                           {16, 64, 4},
                                           {8, 128, 1},
                                           {16, 128, 1},
                                           {16, 256, 1}}};

// What says nothing about the fragments, or is read elsewhere.
constexpr std::array<std::string_view, 21> passed = {
    "mma",           "sync",          "aligned",       "row", "col",         "satfinite", "xor",
    "and",           "popc",          "kind::f8f6f4",  "",    "block_scale", "ue8m0",     "ue4m3",
    "scale_vec::1x", "scale_vec::2x", "scale_vec::4x", "rn",  "rz",          "rm",        "rp"};
constexpr std::array<std::string_view, 4> roundings = {"rn", "rz", "rm", "rp"};
constexpr std::array<std::string_view, 2> bit_ops = {"and", "xor"};

// With .block_scale: what may be left out is in brackets in the manual.
// Measured: ptxas 13.0.88 takes these; mxf4nvf4 with 4X and ue8m0, or 2X and ue4m3, it refuses.
struct Scaled {
  std::string_view kind, vector, scale_type;
  int factors, k;
  bool is_default;  // the words that are left out are these
};
constexpr std::array<Scaled, 4> scaled_forms = {
    {{"mxf8f6f4", "scale_vec::1x", "ue8m0", 1, 32, true},
     {"mxf4", "scale_vec::2x", "ue8m0", 2, 64, true},
     {"mxf4nvf4", "scale_vec::2x", "ue8m0", 2, 64, false},
     {"mxf4nvf4", "scale_vec::4x", "ue4m3", 4, 64, true}}};

bool is_among(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

int bits_of(std::string_view type) {
  for (const TypeBits& known : types)
    if (known.name == type) return known.bits;
  return 0;
}

// Measured: ptxas 13.0.88 refuses .m16n8k16 of types of 4 and 6 bits, but only behind its first pass.
bool has_shape(const WarpMma& mma) {
  if (mma.f8f6f4 && mma.k == 16 && (is_narrow(mma.a) || is_narrow(mma.b))) return false;
  const auto is_it = [&](const Shape& s) {
    return s.m == mma.m && s.k == mma.k && s.bits == mma.a_bits;
  };
  const bool integer = mma.a == "s8" || mma.a == "u8";
  if (mma.m == 8 && mma.a_bits == 8 && !integer) return false;
  return std::any_of(shapes.begin(), shapes.end(), is_it);
}

// Of 8 bits and fewer, in any pair; ptxas 13.0 wants C and D alike.
bool is_small_float(std::string_view type) { return type.starts_with('e'); }

// What goes together: the types of A and B, and with them of D and C; the quad pairs also add products to C of f16 in
// f32.
bool types_fit(const WarpMma& mma) {
  const auto sums_are = [&](std::string_view type) { return mma.d == type && mma.c == type; };
  if (mma.a == "f64" || mma.b == "f64") return mma.a == mma.b && sums_are("f64");
  if (is_small_float(mma.a)) return is_small_float(mma.b) && (sums_are("f32") || sums_are("f16"));
  const bool integer = mma.a[0] == 's' || mma.a[0] == 'u' || mma.a == "b1";
  if (integer)
    return sums_are("s32") && mma.a_bits == mma.b_bits && !is_small_float(mma.b) && mma.a != "s32";
  if (mma.a != mma.b) return false;
  if (mma.a == "f16" && mma.m == 8 && mma.k == 4 && mma.d == "f32" && mma.c == "f16") return true;
  return sums_are("f32") ? mma.a != "f32" : mma.a == "f16" && sums_are("f16");
}

void refuse_others(std::string_view mnemonic, const std::vector<std::string_view>& words) {
  for (const std::string_view word : words)
    if (word.starts_with("sp"))
      throw UnmodelledError(fmt::format("{} is not modelled: only dense mma is", quoted(mnemonic)));
}

// The first of them is A's.
void read_majors(WarpMma& mma, const std::vector<std::string_view>& words) {
  const auto is_major = [](std::string_view word) { return word == "row" || word == "col"; };
  const auto a = std::find_if(words.begin(), words.end(), is_major);
  if (a == words.end()) return;
  mma.a_col = *a == "col";
  const auto b = std::find_if(a + 1, words.end(), is_major);
  mma.b_row = b != words.end() && *b == "row";
}

[[noreturn]] void throw_bad(std::string_view mnemonic, const std::string& why) {
  throw UsageError(fmt::format("unknown mnemonic {}: {}; expected a PTX opcode such as {}",
                               quoted(mnemonic), why, mma_example));
}

int number_behind(std::string_view word, char letter) {
  const std::size_t at = word.find(letter);
  int value = 0;
  for (std::size_t i = at + 1; at != word.npos && i < word.size(); ++i) {
    if (word[i] < '0' || word[i] > '9') break;
    value = std::min(10 * value + (word[i] - '0'), 10000);
  }
  return value;
}

std::string_view word_behind(const std::vector<std::string_view>& words, std::string_view begin) {
  for (const std::string_view word : words)
    if (word.starts_with(begin)) return word;
  return "";
}

// The form that has the words which are there; nullptr if none has.
const Scaled* scaled_form(const std::vector<std::string_view>& words) {
  const std::string_view kind = word_behind(words, "kind::mx");
  const std::string_view vector = word_behind(words, "scale_vec::");
  const std::string_view type = word_behind(words, "ue");
  const Scaled* found = nullptr;
  for (const Scaled& form : scaled_forms) {
    const bool fits = kind.substr(std::min<std::size_t>(kind.size(), 6)) == form.kind &&
                      (vector.empty() || vector == form.vector) &&
                      (type.empty() || type == form.scale_type);
    if (fits && (found == nullptr || form.is_default)) found = &form;
  }
  return found;
}

// Four bits to an element of mxf4 and mxf4nvf4, which have e2m1 only; D and C are f32.
void read_scales(WarpMma& mma, std::string_view mnemonic,
                 const std::vector<std::string_view>& words) {
  const bool scaled = is_among("block_scale", words);
  const auto lacks = [&](std::string_view begin) { return word_behind(words, begin).empty(); };
  if (!scaled && lacks("kind::mx") && lacks("scale_vec::") && lacks("ue")) return;
  const Scaled* form = scaled ? scaled_form(words) : nullptr;
  if (form == nullptr)
    throw_bad(mnemonic,
              "scale factors are kind::mxf8f6f4.block_scale.scale_vec::1X and ue8m0, "
              "kind::mxf4 with 2X and ue8m0, kind::mxf4nvf4 with 2X and ue8m0 or 4X and ue4m3");
  mma.kind = form->kind, mma.factors = form->factors, mma.scale_type = form->scale_type;
  mma.f8f6f4 = false;
  const bool four_bits = form->k == 64;
  if (mma.m != 16 || mma.k != form->k)
    throw_bad(mnemonic, fmt::format("kind::{} has shape m16n8k{}", form->kind, form->k));
  const bool types = four_bits ? mma.a == "e2m1" && mma.b == "e2m1" : is_small_float(mma.a);
  if (!types || mma.d != "f32" || mma.c != "f32")
    throw_bad(mnemonic, "these types do not go together");
  if (four_bits) mma.a_bits = mma.b_bits = 4;
}

// ".kind::mxf4.block_scale.scale_vec::2X", ".kind::f8f6f4" where ptxas wants it.
std::string kind_words(const WarpMma& mma) {
  if (!mma.kind.empty())
    return fmt::format(".kind::{}.block_scale.scale_vec::{}X", mma.kind, mma.factors);
  return mma.f8f6f4 ? ".kind::f8f6f4" : "";
}

// Words that some types have and others have not.
void read_options(WarpMma& mma, std::string_view mnemonic,
                  const std::vector<std::string_view>& words) {
  const bool integer = (mma.a[0] == 's' || mma.a[0] == 'u') && mma.a_bits <= 8;
  const auto refuse_unless = [&](bool has, std::string_view word) {
    if (!has && is_among(word, words))
      throw_bad(mnemonic, fmt::format("{} has no .{}", mma.a, word));
  };
  refuse_unless(integer, "satfinite");
  for (const std::string_view word : roundings) {
    refuse_unless(mma.a == "f64", word);
    if (is_among(word, words)) mma.rounding = word;
  }
  for (const std::string_view word : bit_ops) {
    refuse_unless(mma.a == "b1", word);
    if (is_among(word, words)) mma.bit_op = word;
  }
  refuse_unless(mma.a == "b1", "popc");
  refuse_unless(is_small_float(mma.a), "kind::f8f6f4");
  mma.saturates = is_among("satfinite", words);
  mma.f8f6f4 =
      mma.kind.empty() && (is_among("kind::f8f6f4", words) || is_narrow(mma.a) || is_narrow(mma.b));
}

}  // namespace

std::optional<Type> narrow_type(std::string_view type) {
  for (const Type known : {Type::e3m2, Type::e2m3, Type::e2m1})
    if (name(known) == type) return known;
  return std::nullopt;
}

bool is_narrow(std::string_view type) { return narrow_type(type).has_value(); }

bool is_warp_mma(std::string_view mnemonic) {
  return same_word(mnemonic.substr(0, mnemonic.find('.')), "mma");
}

WarpMma parse_warp_mma(std::string_view mnemonic) {
  const std::string text = lowered(mnemonic);
  const std::vector<std::string_view> words = ptx::split_opcode(text);
  refuse_others(mnemonic, words);
  WarpMma mma{};
  std::vector<std::string> of_types;
  for (const std::string_view word : words) {
    const bool is_shape = word.starts_with('m') && number_behind(word, 'm') > 0;
    if (is_shape) {
      mma.m = number_behind(word, 'm');
      mma.k = number_behind(word, 'k');
      if (number_behind(word, 'n') != 8 || word != fmt::format("m{}n8k{}", mma.m, mma.k))
        throw_bad(mnemonic, fmt::format("{} is no shape", quoted(word)));
    } else if (bits_of(word) != 0) {
      of_types.emplace_back(word);
    } else if (!is_among(word, passed) && !word.starts_with("kind::mx")) {
      throw_bad(mnemonic, fmt::format("{} is no word of it", quoted(word)));
    }
  }
  if (mma.m == 0) throw_bad(mnemonic, "the shape is missing");
  if (of_types.size() != 3 && of_types.size() != 4)
    throw_bad(mnemonic, "the types of D, A and B are mandatory, that of C may follow");
  mma.d = of_types[0], mma.a = of_types[1], mma.b = of_types[2];
  mma.c = of_types.size() == 4 ? of_types[3] : mma.d;
  mma.d_bits = bits_of(mma.d), mma.a_bits = bits_of(mma.a);
  mma.b_bits = bits_of(mma.b), mma.c_bits = bits_of(mma.c);
  if (mma.a == "bf16" && mma.b == "bf16" && (mma.d != "f32" || mma.c != "f32"))
    throw FaultError(
        "illegal: mma of bf16 sums in f32 only, D and C are f32; convert D with cvt.rn.bf16x2.f32");
  const auto is_integer = [](const std::string& type) { return type[0] == 's' || type[0] == 'u'; };
  if (is_integer(mma.a) && is_integer(mma.b) && mma.a_bits != mma.b_bits)
    throw FaultError(
        "illegal: mma of integers has A and B both of 8 bits or both of 4; widen 4 bits to 8 in "
        "registers");
  if (!types_fit(mma)) throw_bad(mnemonic, "these types do not go together");
  read_majors(mma, words);
  read_options(mma, mnemonic, words);
  mma.quad_pairs = mma.m == 8 && mma.k == 4 && mma.a == "f16";
  if (mma.quad_pairs) return mma;
  if (mma.a_col || mma.b_row)
    throw FaultError(
        "illegal: A is .row and B .col in every mma but m8n8k4 of f16: both lie with k contiguous "
        "in a "
        "register. Load 16-bit elements that lie otherwise with ldmatrix and .trans, store others "
        "so");
  read_scales(mma, mnemonic, words);
  if (!has_shape(mma)) throw_bad(mnemonic, fmt::format("{} has no such shape", mma.a));
  return mma;
}

namespace {

std::string majors_of(const WarpMma& mma) {
  return fmt::format(".{}.{}", mma.a_col ? "col" : "row", mma.b_row ? "row" : "col");
}

}  // namespace

std::string short_mnemonic(const WarpMma& mma) {
  return fmt::format("mma.m{}n8k{}{}{}.{}.{}.{}.{}{}{}", mma.m, mma.k,
                     mma.quad_pairs ? majors_of(mma) : "", mma.kind.empty() ? "" : kind_words(mma),
                     mma.d, mma.a, mma.b, mma.c, mma.kind.empty() ? "" : ".", mma.scale_type);
}

std::string full_mnemonic(const WarpMma& mma) {
  const std::string rounding = mma.rounding.empty() ? "" : "." + mma.rounding;
  const std::string bit_op =
      mma.a != "b1" ? "" : fmt::format(".{}.popc", mma.bit_op.empty() ? "and" : mma.bit_op);
  return fmt::format("mma.sync.aligned.m{}n8k{}{}{}{}{}.{}.{}.{}.{}{}{}{}", mma.m, mma.k,
                     majors_of(mma), kind_words(mma), mma.saturates ? ".satfinite" : "", rounding,
                     mma.d, mma.a, mma.b, mma.c, mma.kind.empty() ? "" : ".", mma.scale_type,
                     bit_op);
}

}  // namespace tcq::oracle
