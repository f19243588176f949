// From pasted text to a mnemonic and keys; see pasted.h.
#include "oracle/ptx/pasted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/check_tcgen05.h"
#include "oracle/ptx/cute_atoms.h"
#include "oracle/ptx/cute_dsl.h"
#include "oracle/ptx/letters.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/ptx_source.h"
#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/ptx/triton_layout.h"
#include "sim/isa/wgmma/ptx_operands.h"

namespace tcq::oracle {
namespace {

using OperandKind = PtxOperand::Kind;
using wgmma::Operand;

// ---- Where the statement ends -------------------------------------------------------------------

constexpr std::array<std::string_view, 9> matrices = {"A", "B",   "C",   "D", "E",
                                                      "S", "SFA", "SFB", "SF"};

// A matrix, key=value, or the mnemonic of a fragment (banks); "=f"(d) of inline assembly is neither.
bool goes_on(std::string_view word) {
  if (is_matrix(word)) return true;
  if (word.starts_with("wgmma.") || word.starts_with("mma.")) return word.find(';') == word.npos;
  const std::size_t equals = word.find('=');
  const auto is_key = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return equals != word.npos && equals > 0 && equals + 1 < word.size() &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_key);
}

// A blank alone makes no statement: "wgmma.m64n8k16.f32.f16.f16 x" is a mistake. A number may follow, as in wait_group 0.
bool looks_like_text(std::string_view word) {
  if (word.find_first_of("\n\"{}[];%@,") != word.npos) return true;
  const std::size_t blank = word.find_first_of(" \t");
  const std::size_t next = blank == word.npos ? word.npos : word.find_first_not_of(" \t", blank);
  return next != word.npos && word[next] >= '0' && word[next] <= '9';
}

bool looks_pasted(std::span<const std::string_view> words) {
  if (words.empty()) return false;
  if (looks_like_text(words[0])) return true;
  if (words[0] == "asm" || words[0] == "__asm__") return true;
  return words.size() > 1 && !words[1].empty() &&
         std::string_view("{[%@").find(words[1][0]) != std::string_view::npos;
}

struct Parts {
  std::string statement;
  std::vector<std::string> rest;
};

// The question goes on with the words at the end that no statement ends with: `B` of a comment is none of them.
// Words may be quoted in any way; line ends stay, as a comment ends there.
Parts parts_of(std::span<const std::string_view> words) {
  const std::string all = fmt::format("{}", fmt::join(words, " "));
  std::size_t end = all.size();
  Parts parts;
  while (true) {
    while (end > 0 && is_blank(all[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && !is_blank(all[begin - 1])) --begin;
    const std::string_view word = std::string_view(all).substr(begin, end - begin);
    if (begin == 0 || !goes_on(word)) break;
    parts.rest.emplace(parts.rest.begin(), word);
    end = begin;
  }
  parts.statement = all.substr(0, end);
  return parts;
}

// ---- Which statement ----------------------------------------------------------------------------

// Two: has matrices. One: is an instruction that is described. Zero: anything else, such as setp.
int rank(const PtxStatement& statement) {
  const std::string_view name = statement.opcode;
  const std::string_view next = statement.qualifiers.empty() ? "" : statement.qualifiers[0];
  const auto is_one_of = [&](std::initializer_list<std::string_view> words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (name == "wgmma") return is_one_of({"fence", "commit_group", "wait_group"}, next) ? 1 : 2;
  if (name == "tcgen05") return is_one_of({"mma", "ld", "st", "cp"}, next) ? 2 : 1;
  if (is_one_of({"ldmatrix", "stmatrix", "mma"}, name)) return 2;
  return is_one_of({"mbarrier", "cp", "fence", "ld", "st"}, name) ? 1 : 0;
}

std::string opcode_text(const PtxStatement& statement) {
  std::string text(statement.opcode);
  for (const std::string_view word : statement.qualifiers) text += fmt::format(".{}", word);
  return text;
}

// Of a statement whose operands cannot be read, such as "{...}", the opcode alone.
PtxStatement statement_of(std::string_view text) {
  std::string malformed;
  if (const auto whole = parse_statement(text, malformed)) return *whole;
  const auto opcode = text.substr(0, text.find_first_of("{[,;"));
  return parse_statement(opcode, malformed).value_or(PtxStatement{});
}

PtxStatement chosen(const std::vector<PtxPiece>& pieces, std::string_view text) {
  std::vector<PtxStatement> best;
  for (const PtxPiece& piece : pieces) {
    if (piece.kind != PtxPiece::Kind::Statement) continue;
    const PtxStatement statement = statement_of(piece.text);
    if (statement.opcode.empty()) continue;
    if (!best.empty() && rank(statement) < rank(best[0])) continue;
    if (!best.empty() && rank(statement) > rank(best[0])) best.clear();
    best.push_back(statement);
  }
  if (best.empty())
    throw UsageError(
        fmt::format("{} holds no statement of PTX: expected one, or a mnemonic such as "
                    "wgmma.m64n24k16.f32.bf16.bf16",
                    quoted(text)));
  std::vector<std::string> opcodes;
  for (const PtxStatement& statement : best) opcodes.push_back(opcode_text(statement));
  std::sort(opcodes.begin(), opcodes.end());
  opcodes.erase(std::unique(opcodes.begin(), opcodes.end()), opcodes.end());
  if (opcodes.size() > 1)
    throw UsageError(fmt::format("the text holds several instructions, {}: expected one of them",
                                 fmt::join(opcodes, ", ")));
  return best[0];
}

// ---- What its operands say ----------------------------------------------------------------------

struct Said {
  std::string keys;  // " a=regs major_b=MN"
  std::vector<std::string> open;
};

bool is_number(const PtxOperand& operand) {
  return operand.kind == OperandKind::Immediate && !operand.negated;
}

void read_operand(Instruction& instruction, Operand operand, const PtxOperand& given, Said& said) {
  wgmma::Form& form = instruction.form;
  const bool decides = operand == Operand::TransA || operand == Operand::TransB ||
                       operand == Operand::ScaleA || operand == Operand::ScaleB ||
                       operand == Operand::SpSelector;
  if (decides && !is_number(given))
    said.open.push_back(fmt::format("{} is {}", name(operand), quoted(given.text)));
  if (!is_number(given)) return;
  if (operand == Operand::TransA && given.value == 1) form.major_a = Major::MN;
  if (operand == Operand::TransB && given.value == 1) form.major_b = Major::MN;
  if (operand == Operand::ScaleA) form.negate_a = given.value == -1;
  if (operand == Operand::ScaleB) form.negate_b = given.value == -1;
  if (operand == Operand::ScaleD) instruction.accumulate = given.value != 0;
  if (operand == Operand::SpSelector) instruction.selector = static_cast<int>(given.value);
}

// "" for a text that begins with no blank.
std::string behind_mnemonic(const std::string& text) {
  const std::size_t blank = text.find(' ');
  return blank == text.npos ? "" : text.substr(blank);
}

Said said_by_wgmma(const PtxStatement& statement) {
  Said said;
  Instruction instruction{};
  wgmma::Form& form = instruction.form;
  const OpcodeReading reading = read_wgmma(form, statement.qualifiers, Spelling::Mnemonic);
  if (!reading.shape || statement.operands.empty()) return said;
  if (statement.operands.size() > 1 && statement.operands[1].kind == OperandKind::Vector)
    form.a_place = wgmma::Place::Registers;
  std::vector<Operand> operands;
  for (int i = 0; i < wgmma::operand_count; ++i)
    if (has_operand(form, static_cast<Operand>(i))) operands.push_back(static_cast<Operand>(i));
  if (operands.size() == statement.operands.size())
    for (std::size_t i = 0; i < operands.size(); ++i)
      read_operand(instruction, operands[i], statement.operands[i], said);
  else
    said.open.push_back(fmt::format("{} operands stand where {} belong", statement.operands.size(),
                                    operands.size()));
  said.keys = behind_mnemonic(mnemonic_with_keys(instruction));
  return said;
}

// The instruction descriptor says M, N and types; from a register it says nothing here.
Said said_by_mma(tcgen05::MmaForm form, const PtxStatement& statement) {
  Said said;
  complete(form, statement.operands);
  const std::size_t at = form.opcode.sparse ? 4 : 3;
  const bool has_idesc = at < statement.operands.size();
  if (!has_idesc || !is_number(statement.operands[at])) {
    if (form.opcode.a_place == tcgen05::Place::Tmem) said.keys = " a=tmem";
    if (has_idesc)
      said.open.push_back(fmt::format("idesc is {}", quoted(statement.operands[at].text)));
    return said;
  }
  Tcgen05Instruction instruction{form};
  instruction.idesc =
      tcgen05::decode(static_cast<std::uint32_t>(statement.operands[at].value), form.opcode.kind);
  const PtxOperand& last = statement.operands.back();
  if (form.scale_input_d && is_number(last))
    instruction.scale_input_d = static_cast<int>(last.value);
  const std::size_t behind = form.scale_input_d || form.zero_column_mask ? 2 : 1;
  const PtxOperand& enable = statement.operands[statement.operands.size() - behind];
  instruction.accumulate = !is_number(enable) || enable.value != 0;
  said.keys = behind_mnemonic(mnemonic_with_keys(instruction));
  return said;
}

Said said_by(const PtxStatement& statement) {
  if (statement.opcode == "wgmma") return said_by_wgmma(statement);
  if (statement.opcode != "tcgen05" || statement.operands.empty()) return {};
  const Tcgen05Reading reading = read_form(statement.qualifiers, Spelling::Mnemonic);
  if (!reading.form) return {};
  if (const auto* mma = std::get_if<tcgen05::MmaForm>(&*reading.form))
    return said_by_mma(*mma, statement);
  return {};
}

// ---- Words of the question ----------------------------------------------------------------------

std::string key_before(std::string_view pair) {
  return std::string(pair.substr(0, pair.find('=')));
}

bool is_given(const std::vector<std::string>& words, const std::string& key) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.starts_with(key + "="); });
}

// Keys that the verb takes and the question does not give itself.
std::vector<std::string> kept(std::vector<std::string> keys, const std::vector<std::string>& rest,
                              std::span<const std::string_view> takes) {
  std::erase_if(keys, [&](const std::string& pair) {
    const std::string key = key_before(pair);
    const bool taken = takes.empty() || std::find(takes.begin(), takes.end(), key) != takes.end();
    return !taken || is_given(rest, key);
  });
  return keys;
}

// The mnemonic, then a matrix, then keys.
std::vector<std::string> in_order(std::string mnemonic, std::vector<std::string> keys,
                                  std::vector<std::string> rest) {
  std::vector<std::string> words = {std::move(mnemonic)};
  if (!rest.empty() && rest[0].find('=') == std::string::npos) {
    words.push_back(rest[0]);
    rest.erase(rest.begin());
  }
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

std::string left_open(std::string_view what) {
  return fmt::format("the text leaves open: {}; the answer takes the default, keys say otherwise",
                     what);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Compilers and headers put these before PTX's name.
constexpr std::array<std::string_view, 5> prefixes = {"@llvm.nvvm.", "llvm.nvvm.", "nvvm.",
                                                      "cuda::ptx::", "ptx::"};

// "tcgen05.ld.16x256b.x4" of "llvm.nvvm.tcgen05.ld.16x256b.x4".
std::optional<Pasted> read_prefixed(std::span<const std::string_view> words) {
  for (const std::string_view prefix : prefixes) {
    if (!words[0].starts_with(prefix) || looks_like_text(words[0].substr(prefix.size()))) continue;
    Pasted pasted{{words.begin(), words.end()}, ""};
    pasted.words[0].erase(0, prefix.size());
    return pasted;
  }
  return std::nullopt;
}

std::optional<Pasted> read_atom(std::span<const std::string_view> words,
                                std::span<const std::string_view> takes) {
  const std::string all = joined(words);
  std::optional<CuteAtom> atom = read_cute_atom(all);
  if (!atom) atom = read_triton_layout(all);
  if (!atom) atom = read_dsl_copy(all);
  if (!atom) return std::nullopt;
  std::vector<std::string> rest = split(std::string_view(all).substr(atom->size));
  atom->keys = kept(std::move(atom->keys), rest, takes);
  const bool open = !atom->open.empty() && !is_given(rest, "m") && !is_given(rest, "type_a");
  return Pasted{in_order(std::move(atom->mnemonic), std::move(atom->keys), std::move(rest)),
                open ? left_open(atom->open) : ""};
}

}  // namespace

bool is_matrix(std::string_view word) {
  return std::find(matrices.begin(), matrices.end(), word) != matrices.end();
}

std::optional<Pasted> read_pasted(std::span<const std::string_view> words,
                                  std::span<const std::string_view> takes) {
  if (words.empty()) return std::nullopt;
  if (auto atom = read_atom(words, takes)) return atom;
  if (auto prefixed = read_prefixed(words)) return prefixed;
  if (!looks_pasted(words)) return std::nullopt;
  Parts parts = parts_of(words);
  PtxSource source;
  for (std::string_view rest = parts.statement; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    source.add_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  source.end();
  const std::vector<PtxPiece> pieces = source.take();
  const PtxStatement statement = chosen(pieces, parts.statement);
  const Said said = said_by(statement);
  const bool result = !parts.rest.empty() && (parts.rest[0] == "C" || parts.rest[0] == "D");
  const bool matters = statement.opcode != "wgmma" || !result;  // immediates do not move D
  std::vector<std::string> keys = kept(split(said.keys), parts.rest, takes);
  Pasted pasted{in_order(opcode_text(statement), std::move(keys), std::move(parts.rest)), ""};
  if (!said.open.empty() && matters)
    pasted.note = left_open(fmt::format("{}", fmt::join(said.open, ", ")));
  return pasted;
}

}  // namespace tcq::oracle
