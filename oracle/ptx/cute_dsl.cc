// From names of the DSL to opcodes; see cute_dsl.h.
#include "oracle/ptx/cute_dsl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tcq::oracle {
namespace {

struct Operation {
  std::string_view name;    // before "Op("
  std::string_view opcode;  // before .xN
  std::string_view type;    // behind it
};

constexpr std::array<Operation, 14> operations = {
    {{"Ld32x32b", "tcgen05.ld.32x32b", ""},
     {"Ld16x64b", "tcgen05.ld.16x64b", ""},
     {"Ld16x128b", "tcgen05.ld.16x128b", ""},
     {"Ld16x256b", "tcgen05.ld.16x256b", ""},
     {"Ld16x32bx2", "tcgen05.ld.16x32bx2", ""},
     {"St32x32b", "tcgen05.st.32x32b", ""},
     {"St16x64b", "tcgen05.st.16x64b", ""},
     {"St16x128b", "tcgen05.st.16x128b", ""},
     {"St16x256b", "tcgen05.st.16x256b", ""},
     {"St16x32bx2", "tcgen05.st.16x32bx2", ""},
     {"LdMatrix8x8x16b", "ldmatrix", ""},
     {"StMatrix8x8x16b", "stmatrix", ""},
     {"LdMatrix16x16x8b", "ldmatrix.m16n16", ".trans.b8"},
     {"StMatrix16x8x8b", "stmatrix.m16n8", ".trans.b8"}}};

// 32 of Repetition.x32 and Repetition(32), else the last number, as of num_matrices=4. "1" if there is none.
std::string_view repeats(std::string_view arguments) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t named = arguments.find("Repetition");
  std::size_t begin = arguments.find_first_of(digits, named == arguments.npos ? 0 : named);
  if (named == arguments.npos && begin != arguments.npos) {
    const std::size_t before = arguments.find_last_not_of(digits, arguments.find_last_of(digits));
    begin = before == arguments.npos ? 0 : before + 1;
  }
  if (begin == arguments.npos) return "1";
  const std::size_t end = std::min(arguments.find_first_not_of(digits, begin), arguments.size());
  return arguments.substr(begin, end - begin);
}

// What stands between the first bracket and its partner; all of it if that lacks.
std::string_view in_brackets(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(1, i - 1);
  }
  return text.substr(1);
}

}  // namespace

std::optional<CuteAtom> read_dsl_copy(std::string_view text) {
  const std::size_t opens = text.find("Op(");
  const bool is_bare = opens == text.npos && text.ends_with("Op");  // without its arguments
  const std::size_t end = is_bare ? text.size() - 2 : opens;
  if (end == text.npos) return std::nullopt;
  std::string_view name = text.substr(0, end);
  name.remove_prefix(std::min(name.rfind('.') + 1, name.size()));
  const auto* found = std::find_if(operations.begin(), operations.end(),
                                   [&](const Operation& one) { return one.name == name; });
  if (found == operations.end()) return std::nullopt;
  const std::string_view arguments = is_bare ? "" : in_brackets(text.substr(end + 2));
  const auto says = [&](std::string_view word) { return arguments.find(word) != arguments.npos; };
  const bool load = found->opcode.find(".ld") != std::string_view::npos;
  CuteAtom atom;
  atom.mnemonic = fmt::format("{}.x{}{}{}{}", found->opcode, repeats(arguments),
                              says("True") ? ".trans" : "", found->type,
                              !says("PACK_16b") ? ""
                              : load            ? ".pack::16b"
                                                : ".unpack::16b");
  atom.size = std::min(end + 2 + arguments.size() + 2, text.size());
  return atom;
}

}  // namespace tcq::oracle
