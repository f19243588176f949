// Random statements of the warp's mma: a form of the manual's, with nothing or one thing changed.
//
// For comparing `check` with ptxas on statements that nobody wrote. Where ptxas takes more than the manual, or goes by
// what `check` does not model, the change says so. Start at random_mma().
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "tests/silicon/ptx_random.h"

namespace tcq::oracle {

struct MmaForm {
  int m, k;
  std::string d, a, b, c;
  std::string kind = "", option = "", behind = "";  // ".kind::f8f6f4", ".satfinite", ".and.popc"
  int factors = 0;
  std::string majors = ".row.col";
  int operand_bits = 0;  // if not those of the type
  bool quad_pairs() const { return m == 8 && k == 4 && a == "f16"; }
};

inline int mma_bits(const std::string& type) {
  static const std::vector<std::pair<std::string, int>> bits = {
      {"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"f64", 64},
      {"s32", 32}, {"s4", 4},    {"u4", 4},    {"b1", 1}};
  for (const auto& [name, count] : bits)
    if (name == type) return count;
  return 8;
}

inline void add_small_floats(std::vector<MmaForm>& forms) {
  const std::vector<std::string> types = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  for (const std::string& a : types)
    for (const std::string& b : types) {
      const bool narrow = (a != "e4m3" && a != "e5m2") || (b != "e4m3" && b != "e5m2");
      for (const std::string d : {"f32", "f16"}) {
        forms.push_back({16, 32, d, a, b, d, ".kind::f8f6f4"});
        if (narrow) continue;
        for (const int k : {16, 32}) forms.push_back({16, k, d, a, b, d});
        forms.push_back({16, 16, d, a, b, d, ".kind::f8f6f4"});
      }
      for (const std::string vector : {"", ".scale_vec::1X"})
        forms.push_back(
            {16, 32, "f32", a, b, "f32", ".kind::mxf8f6f4.block_scale" + vector, "", ".ue8m0", 1});
    }
  const auto add = [&](const std::string& kind, const std::string& type, int factors) {
    forms.push_back({16, 64, "f32", "e2m1", "e2m1", "f32", kind, "", type, factors, ".row.col", 4});
  };
  add(".kind::mxf4.block_scale", ".ue8m0", 2);
  add(".kind::mxf4.block_scale.scale_vec::2X", ".ue8m0", 2);
  add(".kind::mxf4nvf4.block_scale.scale_vec::2X", ".ue8m0", 2);
  add(".kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue4m3", 4);
}

inline void add_integers(std::vector<MmaForm>& forms) {
  for (const std::string option : {"", ".satfinite"})
    for (const std::string a : {"s", "u"})
      for (const std::string b : {"s", "u"})
        for (const auto& [m, k] : {std::pair{8, 16}, {16, 16}, {16, 32}}) {
          forms.push_back({m, k, "s32", a + "8", b + "8", "s32", "", option});
          forms.push_back({m, 2 * k, "s32", a + "4", b + "4", "s32", "", option});
        }
  for (const std::string operation : {".and.popc", ".xor.popc"})
    for (const auto& [m, k] : {std::pair{8, 128}, {16, 128}, {16, 256}})
      forms.push_back({m, k, "s32", "b1", "b1", "s32", "", "", operation});
}

inline std::vector<MmaForm> mma_forms() {
  std::vector<MmaForm> forms = {{16, 4, "f32", "tf32", "tf32", "f32"},
                                {16, 8, "f32", "tf32", "tf32", "f32"}};
  for (const int k : {8, 16}) {
    forms.push_back({16, k, "f32", "bf16", "bf16", "f32"});
    forms.push_back({16, k, "f32", "f16", "f16", "f32"});
    forms.push_back({16, k, "f16", "f16", "f16", "f16"});
  }
  for (const std::string majors : {".row.col", ".col.row", ".row.row", ".col.col"})
    for (const auto& [d, c] : {std::pair{"f32", "f32"}, {"f32", "f16"}, {"f16", "f16"}})
      forms.push_back({8, 4, d, "f16", "f16", c, "", "", "", 0, majors});
  for (const std::string rounding : {"", ".rn", ".rz", ".rm", ".rp"})
    for (const auto& [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}})
      forms.push_back({m, k, "f64", "f64", "f64", "f64", "", rounding});
  add_integers(forms);
  add_small_floats(forms);
  return forms;
}

// ---- A statement in pieces ----------------------------------------------------------------------

struct DrawnMma {
  std::vector<std::string> words;
  std::vector<std::string> operands;
  std::set<Fault> lenient = {};  // by which `check` may refuse what ptxas takes
  bool may_be_unmodelled = false;

  std::string text() const {
    std::string opcode = "mma";
    for (const std::string& word : words) opcode += "." + word;
    return joined(opcode, operands);
  }
};

inline std::vector<std::string> mma_words(const MmaForm& form) {
  const std::string opcode =
      fmt::format("sync.aligned.m{}n8k{}{}{}{}.{}.{}.{}.{}{}", form.m, form.k, form.majors,
                  form.kind, form.option, form.d, form.a, form.b, form.c, form.behind);
  std::vector<std::string> words;
  std::string::size_type begin = 0;
  for (auto dot = opcode.find('.'); dot != opcode.npos; dot = opcode.find('.', begin)) {
    words.push_back(opcode.substr(begin, dot - begin));
    begin = dot + 1;
  }
  words.push_back(opcode.substr(begin));
  return words;
}

inline std::string mma_vector(Random& random, const std::string& prefix, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}{}", i > 0 ? "," : "", prefix, below(random, 4));
  return "{" + text + "}";
}

inline std::string prefix_of(const std::string& type) {
  return type == "f64" ? "%fd" : type == "f32" ? "%f" : "%r";
}

struct MmaVector {
  std::string prefix;
  int count;
};

inline std::vector<MmaVector> mma_vectors(const MmaForm& form) {
  const auto count = [](int elements, int bits) {
    return std::max(1, elements * bits / (32 * std::max(32, bits)));
  };
  const auto sums = [&](const std::string& type) {
    return form.quad_pairs() ? mma_bits(type) / 4 : count(form.m * 8, mma_bits(type));
  };
  const auto bits = [&](const std::string& type) {
    return form.operand_bits != 0 ? form.operand_bits : mma_bits(type);
  };
  return {{prefix_of(form.d), sums(form.d)},
          {form.a == "f64" ? "%fd" : "%r",
           form.quad_pairs() ? 2 : count(form.m * form.k, bits(form.a))},
          {form.b == "f64" ? "%fd" : "%r", form.quad_pairs() ? 2 : count(8 * form.k, bits(form.b))},
          {prefix_of(form.c), sums(form.c)}};
}

inline DrawnMma drawn(Random& random, const MmaForm& form) {
  DrawnMma mma{mma_words(form), {}};
  for (const MmaVector& vector : mma_vectors(form))
    mma.operands.push_back(mma_vector(random, vector.prefix, vector.count));
  if (form.factors == 0) return mma;
  for (const std::size_t threads : {2u, 4u}) {
    const auto step = static_cast<std::size_t>(form.factors);
    mma.operands.push_back("%r9");
    mma.operands.push_back(
        fmt::format("{{{},{}}}", step * below(random, 4 / step), below(random, threads)));
  }
  return mma;
}

// ---- One thing changed --------------------------------------------------------------------------

inline void change_words(Random& random, DrawnMma& mma) {
  static const std::vector<std::string> words = {"sync",
                                                 "aligned",
                                                 "row",
                                                 "col",
                                                 "satfinite",
                                                 "xor",
                                                 "and",
                                                 "popc",
                                                 "kind::f8f6f4",
                                                 "kind::mxf4",
                                                 "kind::mxf8f6f4",
                                                 "block_scale",
                                                 "scale_vec::2X",
                                                 "scale_vec::4X",
                                                 "ue8m0",
                                                 "ue4m3",
                                                 "rn",
                                                 "rz",
                                                 "f32",
                                                 "f16",
                                                 "bf16",
                                                 "tf32",
                                                 "f64",
                                                 "s32",
                                                 "e2m1",
                                                 "e4m3",
                                                 "u8",
                                                 "s4",
                                                 "m16n8k16",
                                                 "m16n8k8",
                                                 "m16n8k32",
                                                 "kind::i8",
                                                 "ftz"};
  const std::size_t at = below(random, mma.words.size());
  const auto here = mma.words.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t change = below(random, 5);
  mma.lenient = {Fault::QualifierOrder};
  // ptxas 13.0 passes some words that the manual has not: .and of s4, a fifth type of f64, .kind::mxf8f6f4 of e4m3.
  if (change == 1 || change == 2) mma.lenient.insert(Fault::QualifierUnknown);
  switch (change) {
    case 0: mma.words.erase(here); break;
    case 1: mma.words.insert(here, any_of(random, words)); break;
    case 2: *here = any_of(random, words); break;
    case 3: std::swap(*here, mma.words[below(random, mma.words.size())]); break;
    default: mma.words.insert(here, mma.words[at]);
  }
}

inline void change_element(Random& random, std::string& vector, const std::string& element) {
  const auto count = 1 + static_cast<std::size_t>(std::count(vector.begin(), vector.end(), ','));
  std::size_t begin = 1;
  for (std::size_t i = below(random, count); i > 0; --i) begin = vector.find(',', begin) + 1;
  vector.replace(begin, vector.find_first_of(",}", begin) - begin, element);
}

inline void change_fragment(Random& random, const MmaForm& form, DrawnMma& mma) {
  static const std::vector<std::string> prefixes = {"%f", "%r", "%rd", "%fd", "%rs", "%p"};
  const std::size_t at = below(random, 4);
  const MmaVector vector = mma_vectors(form)[at];
  std::string& operand = mma.operands[at];
  mma.lenient = {Fault::OperandKind};  // predicates as A and B; special registers inside braces
  // ptxas 13.0 does not count A's and B's registers of m16n8k16 of e4m3 and e5m2.
  if (form.k == 16 && form.a[0] == 'e') mma.lenient.insert(Fault::OperandCount);
  switch (below(random, 6)) {
    case 0: operand = mma_vector(random, any_of(random, prefixes), vector.count); break;
    case 1: operand = mma_vector(random, vector.prefix, 1 << below(random, 4)); break;
    case 2:
      operand = any_of<std::string>(random, {"%r1", "%f1", "%fd1", "%laneid", "_", "0"});
      break;
    case 3:
      change_element(random, operand, any_of<std::string>(random, {"0", "0f00000000", "-1"}));
      mma.may_be_unmodelled = true;
      break;
    case 4:
      operand = "{";
      for (int i = 0; i < vector.count; ++i)
        operand += (i > 0 ? "," : "") + std::string(form.c == "f64"   ? "0d0000000000000000"
                                                    : form.c == "s32" ? "0"
                                                                      : "0f00000000");
      operand += "}";
      mma.may_be_unmodelled = true;
      break;
    default:
      change_element(random, operand, any_of<std::string>(random, {"_", "_", "%laneid"}));
      mma.may_be_unmodelled = at == 0;
  }
}

inline void change_scales(Random& random, DrawnMma& mma) {
  mma.lenient = {Fault::OperandKind};  // predicates, and a vector of one
  if (mma.operands.size() == 4) {
    mma.operands.insert(mma.operands.end(), {"%r9", "{0,0}", "%r9", "{0,0}"});
    return;
  }
  const std::size_t at = 4 + below(random, 4);
  if (at % 2 == 0) {
    static const std::vector<std::string> data = {"%f1", "%rd1", "5", "%p1", "%laneid", "%rs1"};
    mma.operands[at] = any_of(random, data);
    return;
  }
  const auto number = [&] { return static_cast<int>(below(random, 6)) - 1; };
  static const std::vector<std::string> selectors = {"0",     "{0}",      "{%r1,0}",    "{_,0}",
                                                     "{0,_}", "{0,%rs1}", "{%rs0,%rs1}"};
  mma.operands[at] = below(random, 3) == 0 ? any_of(random, selectors)
                                           : fmt::format("{{{},{}}}", number(), number());
}

inline DrawnMma random_mma(Random& random, const std::vector<MmaForm>& forms) {
  const MmaForm& form = any_of(random, forms);
  DrawnMma mma = drawn(random, form);
  switch (below(random, 8)) {
    case 0:
    case 1: break;
    case 2:
    case 3: change_words(random, mma); break;
    case 4:
    case 5: change_fragment(random, form, mma); break;
    case 6: change_scales(random, mma); break;
    default:
      if (below(random, 2) == 0)
        mma.operands.push_back("%r1");
      else
        mma.operands.pop_back();
  }
  return mma;
}

}  // namespace tcq::oracle
