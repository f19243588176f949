// Maps of ldmatrix and stmatrix: D, the registers of a warp.
//
// The mnemonic is the PTX opcode; .sync, .aligned, .m8n8, .shared and .b16 may be left out, and .b8 where the
// shape says so. The 8 x 8 matrices of 16 bits are sim/isa/base/matrix_fragment.h, those of bytes
// sim/isa/base/matrix_bytes.h; rows are those of memory. Example: ldmatrix.x4 has D[2][3][4], row 3 and
// column 4 of matrix 2, in thread 14, register 2, part 0.
#include <fmt/format.h>

#include <array>

#include "oracle/map/asked.h"
#include "oracle/map/matrix_move.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/base/matrix_bytes.h"
#include "sim/isa/base/matrix_fragment.h"

namespace tcq::oracle {
namespace {

using matrix::ByteShape;

constexpr int matrix_extent = 8;
constexpr int register_bits = 32;
constexpr int lanes = 32;
constexpr std::array<std::string_view, 14> spellings = {"ldmatrix.x1",
                                                        "ldmatrix.x2",
                                                        "ldmatrix.x4",
                                                        "stmatrix.x1",
                                                        "stmatrix.x2",
                                                        "stmatrix.x4",
                                                        "ldmatrix.m16n16.x1.trans.b8",
                                                        "ldmatrix.m16n16.x2.trans.b8",
                                                        "ldmatrix.m8n16.x1.b8x16.b4x16_p64",
                                                        "ldmatrix.m8n16.x2.b8x16.b4x16_p64",
                                                        "ldmatrix.m8n16.x4.b8x16.b4x16_p64",
                                                        "stmatrix.m16n8.x1.trans.b8",
                                                        "stmatrix.m16n8.x2.trans.b8",
                                                        "stmatrix.m16n8.x4.trans.b8"};

// The words of an opcode, taken one by one: behind the name ptxas takes them in any order.
class OpcodeWords {
 public:
  explicit OpcodeWords(std::string_view text) {
    for (std::size_t dot = 0; dot != text.npos && !text.empty();) {
      dot = text.find('.');
      rest_.push_back(text.substr(0, dot));
      text.remove_prefix(std::min(rest_.back().size() + 1, text.size()));
    }
  }

  bool begin(std::string_view name) { return !rest_.empty() && rest_[0] == name && take(name); }
  bool take(std::string_view word) {
    const auto at = std::find(rest_.begin(), rest_.end(), word);
    if (at == rest_.end()) return false;
    rest_.erase(at);
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
      if (take(word)) return true;
    return false;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::vector<std::string_view> rest_;
};

std::optional<ByteShape> shape_from(OpcodeWords& words) {
  if (words.take("m16n16")) return ByteShape::M16n16;
  if (words.take("m8n16")) return ByteShape::M8n16;
  if (words.take("m16n8")) return ByteShape::M16n8;
  words.take("m8n8");
  return std::nullopt;
}

// .b16, .b8, or how 4- and 6-bit elements are widened; the shape says which.
bool takes_type(OpcodeWords& words, std::optional<ByteShape> shape, matrix::Packing& packing) {
  if (!shape) return words.take("b16") || words.empty();
  if (words.take("b8x16")) {
    const bool four = words.take("b4x16_p64");
    packing = four ? matrix::Packing::B4x16_p64 : matrix::Packing::B6x16_p32;
    return four || words.take("b6x16_p32");
  }
  return shape != ByteShape::M8n16 && (words.take("b8") || words.empty());
}

bool exists(const MatrixMove& move, bool loads) {
  if (!move.bytes) return move.count != 0;
  return loads == (move.bytes != ByteShape::M16n8) && count_exists(*move.bytes, move.count) &&
         move.transposed == (move.bytes != ByteShape::M8n16);
}

}  // namespace

int MatrixMove::rows() const { return bytes ? matrix::rows(*bytes) : matrix_extent; }

MatrixMove matrix_move_from(std::string_view mnemonic) {
  const std::string text = lowered(mnemonic);
  OpcodeWords words(text);
  const bool loads = words.begin("ldmatrix");
  const bool stores = words.begin("stmatrix");
  words.take("sync");
  words.take("aligned");
  MatrixMove move;
  for (const int count : {1, 2, 4})
    if (words.take(fmt::format("x{}", count))) move.count = count;
  move.bytes = shape_from(words);
  move.transposed = words.take("trans");
  words.take_any({"shared", "shared::cta"});
  const bool typed = takes_type(words, move.bytes, move.packing);
  if (loads == stores || !typed || !words.empty() || !exists(move, loads))
    throw UsageError(fmt::format(
        "unknown mnemonic {}: expected .sync.aligned and .m8n8, .x1, .x2 or .x4, .trans or not, "
        ".shared.b16; or ldmatrix with .m16n16, .x1 or .x2, .trans, .b8; ldmatrix with .m8n16 and "
        ".b8x16.b6x16_p32 or .b8x16.b4x16_p64; stmatrix with .m16n8, .trans, .b8; did you mean "
        "'{}'?",
        quoted(mnemonic), nearest(mnemonic, spellings)));
  return move;
}

namespace {

Map map_of(const MatrixMove& move) {
  const int registers = move.count * (move.bytes ? matrix::registers(*move.bytes) : 1);
  Map map;
  map.matrix = "D";
  map.bits = move.bytes ? 8 : 16;
  map.element = {
      {.name = "index", .extent = move.count, .alias = "matrix", .missing = Missing::Zero},
      {.name = "row", .extent = move.rows()},
      {.name = "col", .extent = move.bytes ? matrix::byte_columns : matrix_extent}};
  map.place = {{.name = "thread", .extent = lanes},
               {.name = "register",
                .extent = registers,
                .alias = "reg",
                .missing = Missing::All,
                .largest = 4},
               {.name = "part", .extent = register_bits / map.bits, .missing = Missing::All}};
  map.places = [=](const Coords& e) {
    const matrix::Element at = {e[0], e[1], e[2]};
    const matrix::Slot s =
        move.bytes ? matrix::slot(*move.bytes, at) : matrix::slot(move.transposed, at);
    return std::vector<Coords>{{s.lane, s.reg, s.part}};
  };
  map.element_at = [=](const Coords& at) {
    const matrix::Slot s = {at[0], at[1], at[2]};
    const matrix::Element e =
        move.bytes ? matrix::element(*move.bytes, s) : matrix::element(move.transposed, s);
    return Coords{e.matrix, e.row, e.col};
  };
  if (move.packing == matrix::Packing::Bytes) return map;
  map.payload_bits = matrix::element_bits(move.packing);
  map.notes.push_back(
      fmt::format("inferred: an element of {0} bits is bits [0,{0}) of its byte, with zeros above",
                  map.payload_bits));
  return map;
}

Keys keys_from(const Question& question, Ask ask) {
  const std::span<const std::string_view> words = words_from(question, 2);
  if (ask == Ask::Element) return Keys(words, {}, {"row", "col", "matrix", "index"});
  if (ask == Ask::Place)
    return Keys(words, {}, {"thread", "warp", "lane", "register", "reg", "part"});
  return Keys(words, {});
}

Asked read_matrix_move(const Question& question, Ask ask) {
  const std::string_view mnemonic = question.words[0];
  if (!same_word(word_at(question, 1, "the matrix D after the mnemonic"), "D"))
    throw UsageError(fmt::format("unknown matrix {}: expected D, the registers of {}",
                                 quoted(question.words[1]), quoted(mnemonic)));
  if (ask == Ask::Bytes)
    throw UsageError("D does not lie in shared memory: every row is where its address says");
  if (question.options.inputs)
    throw UsageError("--inputs explains outputs of a product: expected D of a matrix product");
  const MatrixMove move = matrix_move_from(mnemonic);
  Asked asked{keys_from(question, ask), map_of(move)};
  asked.map.title = fmt::format("D of {}", printable(mnemonic));
  return asked;
}

bool is_matrix_move(std::string_view mnemonic) {
  const std::string_view first = mnemonic.substr(0, mnemonic.find('.'));
  return same_word(first, "ldmatrix") || same_word(first, "stmatrix");
}

}  // namespace

const Family matrix_move_family = {is_matrix_move, read_matrix_move};

}  // namespace tcq::oracle
