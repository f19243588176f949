// Facts about instructions of one warp; see warp_describe.h.
#include "oracle/sum/warp_describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/answer/facts.h"
#include "oracle/answer/words.h"
#include "oracle/explain/instructions.h"
#include "oracle/map/asked.h"
#include "oracle/map/matrix_move.h"
#include "oracle/ptx/warp_mma.h"
#include "oracle/ptx/warp_mma_words.h"
#include "sim/alu/forms.h"

namespace tcq::oracle {
namespace {

Map map_of(const Question& question, std::string_view matrix) {
  Question part{question.verb, {question.words[0], matrix}, question.options};
  return read_map(part, Ask::Whole).map;
}

std::string matrix_text(const Map& map) {
  std::string extents;
  for (const Axis& axis : map.element)
    extents += fmt::format("{}{}", extents.empty() ? "" : " x ", axis.extent);
  const int registers = map.place[1].extent;
  const int parts = map.place[2].extent;
  return fmt::format(
      "{} elements of {} bits: {} register{} of each of {} threads, {} to a register", extents,
      map.bits, registers, registers == 1 ? "" : "s", map.place[0].extent, parts);
}

constexpr std::string_view scale_operands =
    ", scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b}";

void add_scales(Facts& facts, const WarpMma& mma) {
  if (mma.factors == 0) return;
  facts.push_back(
      {"SFA", fmt::format("16 x {} factors of type {}, each for {} elements along K: lane "
                          "4*(row%8) + row/8 + 2*thread-id-a, byte factor + byte-id-a",
                          mma.factors, mma.scale_type, mma.k / mma.factors)});
  facts.push_back(
      {"SFB", fmt::format("8 x {} factors: lane 4*n + thread-id-b, byte factor + byte-id-b",
                          mma.factors)});
  facts.push_back(
      {"selectors", mma.factors == 1   ? "byte-id 0 to 3; thread-id-a 0 or 1, thread-id-b 0 to 3"
                    : mma.factors == 2 ? "byte-id 0 or 2; thread-id-a 0 or 1, thread-id-b 0 to 3"
                                       : "byte-id 0; thread-id-a 0 or 1, thread-id-b 0 to 3"});
}

// Of the targets that are known here.
std::string targets_text(const WarpMma& mma) {
  std::vector<std::string_view> targets;
  for (int i = 0; i < target_count; ++i)
    if (const auto target = static_cast<Target>(i); is_legal(check_target(mma, target)))
      targets.push_back(tcq::name(target));
  return fmt::format("{}", fmt::join(targets, ", "));
}

// tests/vectors/warp_mma.tcqv has a case of each of alu::matrix_forms(), which tests/recording holds it to.
bool is_recorded(const WarpMma& mma) {
  const std::vector<std::string>& forms = alu::matrix_forms();
  return std::find(forms.begin(), forms.end(), full_mnemonic(mma)) != forms.end();
}

std::string evidence_text(const WarpMma& mma) {
  if (mma.factors > 0)
    return "Documented PTX ISA 9.2, 9.7.14.3 and 9.7.14.5; the words: ptxas 13.0.88; its "
           "arithmetic: Inferred, not recorded";
  const std::string fragments = "Documented PTX ISA 9.2, 9.7.14.5; its arithmetic: ";
  return fragments +
         (is_recorded(mma) ? "Measured tests/vectors/warp_mma.tcqv" : "Inferred, not recorded");
}

Facts facts_of_mma(const Question& question) {
  const WarpMma mma = parse_warp_mma(question.words[0]);
  if (mma.quad_pairs)
    throw UnmodelledError(
        fmt::format("{} is not described: its quad pairs compute four products; 'tcq where', "
                    "'what' and 'table' "
                    "know its fragments",
                    quoted(question.words[0])));
  Facts facts = {{"instruction", short_mnemonic(mma)},
                 {"PTX", fmt::format("{} D, A, B, C{}", full_mnemonic(mma),
                                     mma.factors > 0 ? scale_operands : "")},
                 {"product", fmt::format("D[{}][8] = A[{}][{}] * B[{}][8] + C[{}][8]", mma.m, mma.m,
                                         mma.k, mma.k, mma.m)}};
  for (const std::string_view matrix : {"A", "B", "C", "D"})
    facts.push_back({std::string(matrix), matrix_text(map_of(question, matrix))});
  add_scales(facts, mma);
  if (mma.a == "b1" && mma.bit_op.empty())
    facts.push_back({"operation", ".and.popc or .xor.popc, one of them mandatory"});
  facts.push_back({"executed by", "one warp; all operands in registers"});
  facts.push_back({"legal on", targets_text(mma)});
  facts.push_back({"evidence, fragments", evidence_text(mma)});
  return facts;
}

// As the opcode says it in full.
std::string type_text(std::string_view opcode, const MatrixMove& move) {
  if (!move.bytes) return "b16";
  for (const std::string_view packed : {"b8x16.b6x16_p32", "b8x16.b4x16_p64"})
    if (opcode.find(packed) != opcode.npos) return std::string(packed);
  return "b8";
}

std::string_view shape_text(const MatrixMove& move) {
  if (!move.bytes) return "m8n8";
  switch (*move.bytes) {
    case matrix::ByteShape::M16n16: return "m16n16";
    case matrix::ByteShape::M8n16: return "m8n16";
    case matrix::ByteShape::M16n8: break;
  }
  return "m16n8";
}

Facts facts_of_move(const Question& question) {
  const std::string text = lowered(question.words[0]);
  const Map map = map_of(question, "D");
  const MatrixMove move = matrix_move_from(text);
  const std::string name = text.substr(0, text.find('.'));
  const std::string shape = move.bytes ? fmt::format(".{}", shape_text(move)) : std::string();
  const std::string trans = move.transposed ? ".trans" : "";
  const std::string type = type_text(text, move);
  const bool load = name == "ldmatrix";
  return {
      {"instruction",
       fmt::format("{}{}.x{}{}{}", name, shape, move.count, trans, move.bytes ? "." + type : "")},
      {"PTX", fmt::format("{}.sync.aligned.{}.x{}{}.shared.{} {}", name, shape_text(move),
                          move.count, trans, type, load ? "D, [address]" : "[address], D")},
      {"D", matrix_text(map)},
      {"addresses",
       fmt::format("thread {}*matrix + row has that of a row: 16 bytes, a multiple of 16",
                   move.rows())},
      {"executed by", "one warp"},
      {"evidence, fragments",
       move.bytes ? "Documented PTX ISA 9.2, 9.7.14.5.15 and .16; Inferred: what its figures leave "
                    "to the eye, from CUTLASS's layouts"
                  : "Documented PTX ISA 9.2, 9.7.14.5.15 and .16"}};
}

}  // namespace

bool is_warp_instruction(std::string_view mnemonic) {
  const std::string_view first = mnemonic.substr(0, mnemonic.find('.'));
  return is_warp_mma(mnemonic) || same_word(first, "ldmatrix") || same_word(first, "stmatrix");
}

Answer describe_warp_instruction(const Question& question) {
  if (question.words.size() > 1)
    throw UsageError(fmt::format("unexpected word {}: {} has no keys", quoted(question.words[1]),
                                 quoted(question.words[0])));
  Facts facts = is_warp_mma(question.words[0]) ? facts_of_mma(question) : facts_of_move(question);
  add_page_facts(facts, question.words[0]);
  return facts_answer(facts, facts_members(facts), question.options.style);
}

}  // namespace tcq::oracle
