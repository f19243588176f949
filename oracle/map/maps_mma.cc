// Maps of the warp's mma: A, B, C and D, the registers of a warp.
//
// All arithmetic is sim/isa/base/mma_fragment.h, the words are oracle/ptx/warp_mma.h. Example:
// mma.m16n8k16.f32.bf16.bf16 has A[9][3] in thread 5, register 1, part 1.
#include <fmt/format.h>

#include "oracle/map/asked.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/warp_mma.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::oracle {
namespace {

using warp_mma::Element;
using warp_mma::Slot;

constexpr std::array<std::string_view, 4> matrices = {"A", "B", "C", "D"};

std::string_view mma_matrix_from(const Question& question) {
  const std::string_view word = word_at(question, 1, "a matrix, A, B, C or D, after the mnemonic");
  for (const std::string_view matrix : matrices)
    if (same_word(word, matrix)) return matrix;
  throw_unknown("matrix", word, matrices);
}

// The axes, and both directions of the law.
struct Fragment {
  int rows, cols, registers, bits;
  std::function<Slot(Element)> slot;
  std::function<Element(Slot)> element;
};

Fragment fragment_of(const WarpMma& mma, std::string_view matrix) {
  using namespace warp_mma;
  const int m = mma.m;
  if (matrix == "A")
    return {m,
            mma.k,
            a_registers(m, mma.k, mma.a_bits),
            mma.a_bits,
            [m, bits = mma.a_bits](Element e) { return a_slot(m, bits, e); },
            [m, bits = mma.a_bits](Slot s) { return a_element(m, bits, s); }};
  if (matrix == "B")
    return {mma.k,
            n,
            b_registers(mma.k, mma.b_bits),
            mma.b_bits,
            [bits = mma.b_bits](Element e) { return b_slot(bits, e); },
            [bits = mma.b_bits](Slot s) { return b_element(bits, s); }};
  const int bits = matrix == "C" ? mma.c_bits : mma.d_bits;
  return {m,
          n,
          d_registers(m, bits),
          bits,
          [bits](Element e) { return d_slot(bits, e); },
          [bits](Slot s) { return d_element(bits, s); }};
}

Map map_of(const WarpMma& mma, std::string_view matrix) {
  const Fragment f = fragment_of(mma, matrix);
  Map map;
  map.matrix = matrix;
  map.title = fmt::format("{} of {}", matrix, short_mnemonic(mma));
  map.bits = f.bits;
  map.element = {{.name = "row", .extent = f.rows}, {.name = "col", .extent = f.cols}};
  map.place = {{.name = "thread", .extent = warp_mma::lanes},
               {.name = "register", .extent = f.registers, .alias = "reg", .missing = Missing::All},
               {.name = "part", .extent = warp_mma::parts(f.bits), .missing = Missing::All}};
  map.places = [f](const Coords& e) {
    const Slot s = f.slot({e[0], e[1]});
    return std::vector<Coords>{{s.lane, s.reg, s.part}};
  };
  map.element_at = [f](const Coords& at) {
    const Element e = f.element({at[0], at[1], at[2]});
    return Coords{e.row, e.col};
  };
  return map;
}

Keys mma_keys_from(const Question& question, Ask ask) {
  const std::span<const std::string_view> words = words_from(question, 2);
  if (ask == Ask::Element) return Keys(words, {}, {"row", "col"});
  if (ask == Ask::Place)
    return Keys(words, {}, {"thread", "warp", "lane", "register", "reg", "part"});
  if (!words.empty())
    throw UsageError(
        fmt::format("unexpected word {}: a fragment of mma has no keys", quoted(words[0])));
  return Keys(words, {});
}

Asked read_warp_mma(const Question& question, Ask ask) {
  const std::string_view matrix = mma_matrix_from(question);
  if (ask == Ask::Bytes)
    throw UsageError("mma takes its operands from registers: expected where, what or table");
  if (question.options.inputs)
    throw UsageError("--inputs explains outputs of wgmma and tcgen05.mma: expected one of them");
  const WarpMma mma = parse_warp_mma(question.words[0]);
  return {mma_keys_from(question, ask), map_of(mma, matrix)};
}

}  // namespace

const Family warp_mma_family = {is_warp_mma, read_warp_mma};

}  // namespace tcq::oracle
