#include "cuda/probe/scalar_text_sm90.h"

#include <algorithm>
#include <vector>

#include "cuda/probe/kernel_text.h"

namespace tcq::cuda {
namespace {

using alu::ScalarForm;
using ptx::Type;

constexpr bool is_wide(Type type) { return ptx::bits(type) == 128; }
constexpr int words_of(Type type) { return is_wide(type) ? 2 : 1; }

// The register that holds a type: bits alone, which every instruction takes.
std::string register_type(Type type) {
  const int bits = ptx::bits(type);
  if (type == Type::Pred) return "pred";
  return "b" + std::to_string(bits < 16 ? 16 : bits);
}

std::string statement(const std::string& text) { return "  " + text + ";\n"; }

std::string declarations(const ScalarForm& s) {
  std::string text;
  const auto declare = [&text](const std::vector<Type>& types, const std::string& name) {
    for (std::size_t i = 0; i < types.size(); ++i)
      text += statement(".reg ." + register_type(types[i]) + " " + name + std::to_string(i));
  };
  declare(s.out, "d");
  declare(s.in, "s");
  return text;
}

std::string load(Type type, const std::string& name, int offset) {
  const std::string place = "[at+" + std::to_string(offset) + "]";
  if (type == Type::Pred)
    return statement("ld.global.b32 word, " + place) +
           statement("setp.ne.b32 " + name + ", word, 0");
  if (is_wide(type))
    return statement("ld.global.v2.b64 {low, high}, " + place) +
           statement("mov.b128 " + name + ", {low, high}");
  return statement("ld.global." + register_type(type) + " " + name + ", " + place);
}

std::string load_sources(const ScalarForm& s) {
  std::string text;
  int word = 0;
  for (std::size_t i = 0; i < s.in.size(); ++i) {
    text += load(s.in[i], "s" + std::to_string(i), 8 * word);
    word += words_of(s.in[i]);
  }
  if (s.reads_carry) text += load(Type::B32, "carry", 8 * word);
  return text;
}

// The condition code is what a sum or a difference of 32 bits leaves: of carry and 2^32 - 1, or of 0 and carry.
std::string set_carry(const ScalarForm& s) {
  return statement(s.chain == alu::Chain::Carry ? "add.cc.u32 word, carry, 0xffffffff"
                                                : "sub.cc.u32 word, 0, carry");
}

std::string get_carry(const ScalarForm& s) {
  if (s.chain == alu::Chain::Carry) return statement("addc.u32 carry, 0, 0");
  return statement("subc.u32 carry, 0, 0") + statement("and.b32 carry, carry, 1");
}

// D, A, B and C of mma.sync.
std::string vectors(const ScalarForm& s) {
  std::string text = register_list("d", 0, s.vectors[0]);
  int first = 0;
  for (std::size_t i = 1; i < s.vectors.size(); ++i) {
    text += ", " + register_list("s", first, s.vectors[i]);
    first += s.vectors[i];
  }
  return text;
}

std::string instruction(std::string_view spelling, const ScalarForm& s) {
  std::string text(spelling.substr(0, spelling.find(' ')));
  if (!s.vectors.empty()) return statement(text + " " + vectors(s));
  text += " d0";
  if (s.out.size() > 1) text += "|d1";
  for (std::size_t i = 0; i < s.in.size(); ++i) {
    if (i == 3 && s.immediate) text += ", " + std::to_string(*s.immediate);
    text += ", s" + std::to_string(i);
  }
  if (s.in.size() == 3 && s.immediate) text += ", " + std::to_string(*s.immediate);
  return statement(text);
}

std::string store(Type type, const std::string& name, int offset, int width) {
  const std::string bits = "b" + std::to_string(8 * width);
  const std::string place = "[at+" + std::to_string(offset) + "], ";
  if (type == Type::Pred)
    return statement("selp.b32 word, 1, 0, " + name) + store(Type::B32, "word", offset, width);
  if (is_wide(type))
    return statement("mov.b128 {low, high}, " + name) +
           statement("st.global.v2.b64 " + place + "{low, high}");
  const int own = std::max(ptx::bits(type), 16);
  if (own == 8 * width) return statement("st.global." + bits + " " + place + name);
  const std::string same = own > 8 * width ? "narrow" : "wide";
  return statement("cvt.u" + bits.substr(1) + ".u" + std::to_string(own) + " " + same + ", " +
                   name) +
         statement("st.global." + bits + " " + place + same);
}

std::string store_results(const ScalarForm& s) {
  std::string text;
  const int width = alu::result_bytes(s);
  int offset = 0;
  for (std::size_t i = 0; i < s.out.size(); ++i) {
    text += store(s.out[i], "d" + std::to_string(i), offset, width);
    offset += width * words_of(s.out[i]);
  }
  if (s.sets_carry) text += store(Type::B32, "carry", offset, width);
  return text;
}

constexpr std::string_view header = ".version 9.0\n.target sm_90a\n.address_size 64\n";

}  // namespace

std::string scalar_kernel_name(std::string_view spelling) {
  std::string name(spelling);
  std::ranges::replace(name, '.', '_');
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string scalar_kernel_text(std::string_view spelling) {
  const ScalarForm s = *alu::read_scalar_form(spelling);
  const int width = alu::result_bytes(s);
  std::string text = ".visible .entry " + scalar_kernel_name(spelling) +
                     "(.param .u64 in_parameter, .param .u64 out_parameter)\n{\n";
  text += declarations(s);
  text += statement(".reg .b32 row, thread, word, carry");
  text += statement(".reg .b64 at, step, low, high");
  text += statement(".reg .b16 narrow");
  text += statement(".reg .b" + std::to_string(8 * width) + " wide");
  text += statement("mov.u32 row, %ctaid.x") + statement("mov.u32 thread, %tid.x");
  text += statement("mad.lo.u32 row, row, " + std::to_string(scalar_threads) + ", thread");
  text += address_text("in", "row", std::to_string(8 * alu::source_words(s)));
  text += load_sources(s);
  if (s.reads_carry) text += set_carry(s);
  text += instruction(spelling, s);
  if (s.sets_carry) text += get_carry(s);
  text += address_text("out", "row", std::to_string(alu::result_bytes(s) * alu::result_count(s)));
  text += store_results(s);
  return text + "  ret;\n}\n";
}

std::string scalar_module_text() {
  std::string text(header);
  for (const auto* forms : {&alu::scalar_forms(), &alu::matrix_forms()})
    for (const std::string& spelling : *forms) text += scalar_kernel_text(spelling);
  return text;
}

}  // namespace tcq::cuda
