// Maps of ldmatrix and stmatrix, .m8n8.b16: D, the registers of a warp.
//
// The mnemonic is the PTX opcode; .sync, .aligned, .m8n8, .shared and .b16 may be left out, as nothing
// else is modelled. All arithmetic is sim/isa/base/matrix_fragment.h. Example: ldmatrix.x4 has
// D[2][3][4], row 3 and column 4 of matrix 2, in thread 14, register 2, part 0.
#include <fmt/format.h>

#include <optional>

#include "oracle/map/asked.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/base/matrix_fragment.h"

namespace tcq::oracle {
namespace {

constexpr int matrix_extent = 8;
constexpr int element_bits = 16;
constexpr int lanes = 32;
constexpr int parts = 32 / element_bits;
constexpr std::array<std::string_view, 6> spellings = {"ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4",
                                                       "stmatrix.x1", "stmatrix.x2", "stmatrix.x4"};

struct Move {
  int count = 0;
  bool transposed = false;
};

// The words of an opcode, taken one by one.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (rest_.substr(0, rest_.find('.')) != word) return false;
    rest_.remove_prefix(std::min(word.size() + 1, rest_.size()));
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
      if (take(word)) return true;
    return false;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

Move move_from(std::string_view mnemonic) {
  const std::string text = lowered(mnemonic);
  Words words(text);
  words.take_any({"ldmatrix", "stmatrix"});
  words.take("sync");
  words.take("aligned");
  if (words.take_any({"m16n16", "m8n16", "m16n8"}))
    throw UnmodelledError(
        fmt::format("{} is not modelled: only .m8n8 with .b16 is", quoted(mnemonic)));
  words.take("m8n8");
  Move move;
  for (const int count : {1, 2, 4})
    if (words.take(fmt::format("x{}", count))) move.count = count;
  move.transposed = words.take("trans");
  words.take_any({"shared", "shared::cta"});
  words.take("b16");
  if (move.count == 0 || !words.rest().empty())
    throw UsageError(fmt::format(
        "unknown mnemonic {}: expected ldmatrix or stmatrix, .sync.aligned.m8n8, .x1, .x2 or .x4, "
        ".trans or not, .shared.b16; did you mean '{}'?",
        quoted(mnemonic), nearest(mnemonic, spellings)));
  return move;
}

Map map_of(const Move& move) {
  const bool transposed = move.transposed;
  Map map;
  map.matrix = "D";
  map.bits = element_bits;
  map.element = {
      {.name = "index", .extent = move.count, .alias = "matrix", .missing = Missing::Zero},
      {.name = "row", .extent = matrix_extent},
      {.name = "col", .extent = matrix_extent}};
  map.place = {{.name = "thread", .extent = lanes},
               {.name = "register",
                .extent = move.count,
                .alias = "reg",
                .missing = Missing::All,
                .largest = 4},
               {.name = "part", .extent = parts, .missing = Missing::All}};
  map.places = [=](const Coords& e) {
    const matrix::Slot slot = matrix::slot(transposed, {e[0], e[1], e[2]});
    return std::vector<Coords>{{slot.lane, slot.reg, slot.part}};
  };
  map.element_at = [=](const Coords& at) {
    const matrix::Element e = matrix::element(transposed, {at[0], at[1], at[2]});
    return Coords{e.matrix, e.row, e.col};
  };
  return map;
}

Keys keys_from(const Question& question, Ask ask) {
  const std::span<const std::string_view> words = words_from(question, 2);
  if (ask == Ask::Element) return Keys(words, {}, {"row", "col", "matrix", "index"});
  if (ask == Ask::Place) return Keys(words, {}, {"thread", "warp", "register", "reg", "part"});
  return Keys(words, {});
}

Asked read(const Question& question, Ask ask) {
  const std::string_view mnemonic = question.words[0];
  if (!same_word(word_at(question, 1, "the matrix D after the mnemonic"), "D"))
    throw UsageError(fmt::format("unknown matrix {}: expected D, the registers of {}",
                                 quoted(question.words[1]), quoted(mnemonic)));
  if (ask == Ask::Bytes)
    throw UsageError("D does not lie in shared memory: every row is where its address says");
  if (question.options.inputs)
    throw UsageError("--inputs explains outputs of a product: expected D of a matrix product");
  const Move move = move_from(mnemonic);
  Asked asked{keys_from(question, ask), map_of(move)};
  asked.map.title = fmt::format("D of {}", printable(mnemonic));
  return asked;
}

bool has(std::string_view mnemonic) {
  const std::string_view first = mnemonic.substr(0, mnemonic.find('.'));
  return same_word(first, "ldmatrix") || same_word(first, "stmatrix");
}

}  // namespace

const Family matrix_move_family = {has, read};

}  // namespace tcq::oracle
