// Maps of the warp's mma: A, B, C, D and scale factors, the registers of a warp.
//
// All arithmetic is sim/isa/base/mma_fragment.h, mma_scales.h and quad_pair_fragment.h, the words are oracle/ptx/warp_mma.h.
// Example: mma.m16n8k16.f32.bf16.bf16 has A[9][3] in thread 5, register 1, part 1.
#include <fmt/format.h>

#include "oracle/map/asked.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/warp_mma.h"
#include "sim/isa/base/mma_fragment.h"
#include "sim/isa/base/mma_scales.h"
#include "sim/isa/base/quad_pair_fragment.h"

namespace tcq::oracle {
namespace {

using warp_mma::Element;
using warp_mma::Slot;

constexpr std::array<std::string_view, 6> matrices = {"A", "B", "C", "D", "SFA", "SFB"};
constexpr std::size_t without_scales = 4;

bool is_scales(std::string_view matrix) { return matrix.starts_with("SF"); }

std::string_view mma_matrix_from(const Question& question, const WarpMma& mma) {
  const std::string_view word = word_at(question, 1, "a matrix, A, B, C or D, after the mnemonic");
  const std::span known =
      std::span(matrices).first(mma.factors > 0 ? matrices.size() : without_scales);
  for (const std::string_view matrix : known)
    if (same_word(word, matrix)) return matrix;
  throw_unknown("matrix", word, known);
}

// The axes, and both directions of the law.
struct Fragment {
  int rows, cols, registers, bits;
  std::function<Slot(Element)> slot;
  std::function<Element(Slot)> element;
};

// Elements of 4 and 6 bits that have a byte each.
void add_payload(Map& map, const std::string& type) {
  const std::optional<Type> narrow = narrow_type(type);
  if (!narrow || map.bits != 8) return;
  map.payload_bits = bits(*narrow);
  map.payload_low_bit = warp_mma::payload_low_bit(map.payload_bits);
  map.notes.push_back(fmt::format("{} is bits [{},{}) of its byte", type, map.payload_low_bit,
                                  map.payload_low_bit + map.payload_bits));
}

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
  if (matrix == "A" || matrix == "B") add_payload(map, matrix == "A" ? mma.a : mma.b);
  return map;
}

// Values of a member of a quad pair <-> elements; rows of B are along K.
struct QuadPairFragment {
  int rows, cols, bits, values;
  std::function<quad_pair::Held(Element)> value;
  std::function<Element(quad_pair::Held)> element;
};

QuadPairFragment quad_pair_fragment(const WarpMma& mma, std::string_view matrix) {
  using namespace quad_pair;
  if (matrix == "C" || matrix == "D") {
    const int bits = matrix == "C" ? mma.c_bits : mma.d_bits;
    return {side,
            side,
            bits,
            side,
            [bits](Element e) { return d_value(bits, e); },
            [bits](Held v) { return d_element(bits, v); }};
  }
  const bool is_b = matrix == "B";
  const bool along_k = is_b ? !mma.b_row : !mma.a_col;
  const auto turned = [is_b](Element e) { return is_b ? Element{e.col, e.row} : e; };
  return {is_b ? depth : side,
          is_b ? side : depth,
          mma.a_bits,
          depth,
          [=](Element e) { return operand_value(along_k, turned(e)); },
          [=](Held v) { return turned(operand_element(along_k, v.member, v.index)); }};
}

Map quad_pair_map(const WarpMma& mma, std::string_view matrix) {
  const QuadPairFragment f = quad_pair_fragment(mma, matrix);
  const int parts = warp_mma::parts(f.bits);
  Map map;
  map.matrix = matrix;
  map.title = fmt::format("{} of {}", matrix, short_mnemonic(mma));
  map.bits = f.bits;
  map.element = {{.name = "product", .extent = quad_pair::products, .missing = Missing::Zero},
                 {.name = "row", .extent = f.rows},
                 {.name = "col", .extent = f.cols}};
  map.place = {
      {.name = "thread", .extent = warp_mma::lanes},
      {.name = "register", .extent = f.values / parts, .alias = "reg", .missing = Missing::All},
      {.name = "part", .extent = parts, .missing = Missing::All}};
  map.places = [f, parts](const Coords& e) {
    const quad_pair::Held v = f.value({e[1], e[2]});
    return std::vector<Coords>{
        {quad_pair::lane_of(e[0], v.member), v.index / parts, v.index % parts}};
  };
  map.element_at = [f, parts](const Coords& at) {
    const Element e = f.element({quad_pair::member_of(at[0]), parts * at[1] + at[2]});
    return Coords{quad_pair::product_of(at[0]), e.row, e.col};
  };
  map.notes.push_back(
      "four products of one warp: product p is that of lanes 4 p to 4 p + 3 and 16 + 4 p to "
      "19 + 4 p; product= says which");
  return map;
}

// byte_id= and thread_id= are the selectors of the matrix that is asked about.
constexpr std::array<std::string_view, 2> selector_keys = {"byte_id", "thread_id"};

warp_mma::ScaleSelector selector_from(const WarpMma& mma, bool is_a, const Keys& keys) {
  const int threads = is_a ? warp_mma::a_scale_threads : warp_mma::b_scale_threads;
  const int byte_id = static_cast<int>(keys.number_or("byte_id", 0, warp_mma::scale_bytes - 1, 0));
  if (byte_id % mma.factors != 0)
    throw UsageError(fmt::format("byte_id={}: {} factors begin at byte {}", byte_id, mma.factors,
                                 mma.factors == 2 ? "0 or 2" : "0"));
  return {byte_id, static_cast<int>(
                       keys.number_or("thread_id", 0, static_cast<std::uint64_t>(threads) - 1, 0))};
}

Map scales_map(const WarpMma& mma, std::string_view matrix, const Keys& keys) {
  using namespace warp_mma;
  const bool is_a = matrix == "SFA";
  const ScaleSelector at = selector_from(mma, is_a, keys);
  Map map;
  map.matrix = matrix;
  map.title = fmt::format("{} of {}", matrix, short_mnemonic(mma));
  map.bits = 8;
  map.element = {
      {.name = "row", .extent = is_a ? mma.m : n},
      {.name = "col", .extent = mma.factors, .elements_key = "k", .elements = mma.k / mma.factors}};
  map.place = {{.name = "thread", .extent = lanes},
               {.name = "register", .extent = 1, .alias = "reg", .missing = Missing::All},
               {.name = "part",
                .extent = mma.factors,
                .missing = Missing::All,
                .first = at.byte_id,
                .largest = warp_mma::scale_bytes}};
  map.places = [is_a, at](const Coords& e) {
    const Slot s = is_a ? a_scale_slot({e[0], e[1]}, at) : b_scale_slot({e[0], e[1]}, at);
    return std::vector<Coords>{{s.lane, s.reg, s.part - at.byte_id}};
  };
  map.element_at = [is_a, at](const Coords& p) {
    const Slot s = {p[0], p[1], p[2] + at.byte_id};
    const Element e = is_a ? a_scale_element(s, at) : b_scale_element(s, at);
    return Coords{e.row, e.col};
  };
  map.nothing = fmt::format("holds nothing of {}", matrix);
  map.notes.push_back(
      fmt::format("part is the byte of scale-{}-data; byte-id {} and thread-id {} choose it and "
                  "the lanes: byte_id= "
                  "and thread_id= say others",
                  is_a ? 'a' : 'b', at.byte_id, at.thread_id));
  return map;
}

Keys mma_keys_from(const Question& question, const WarpMma& mma, std::string_view matrix, Ask ask) {
  const std::span<const std::string_view> words = words_from(question, 2);
  if (is_scales(matrix)) {
    if (ask == Ask::Element) return Keys(words, selector_keys, {"row", "col", "k"});
    if (ask == Ask::Place)
      return Keys(words, selector_keys, {"thread", "warp", "lane", "register", "reg", "part"});
    return Keys(words, selector_keys);
  }
  if (ask == Ask::Element && mma.quad_pairs) return Keys(words, {}, {"product", "row", "col"});
  if (ask == Ask::Element) return Keys(words, {}, {"row", "col"});
  if (ask == Ask::Place)
    return Keys(words, {}, {"thread", "warp", "lane", "register", "reg", "part"});
  if (!words.empty())
    throw UsageError(
        fmt::format("unexpected word {}: a fragment of mma has no keys", quoted(words[0])));
  return Keys(words, {});
}

Asked read_warp_mma(const Question& question, Ask ask) {
  if (ask == Ask::Bytes)
    throw UsageError("mma takes its operands from registers: expected where, what or table");
  if (question.options.inputs)
    throw UsageError("--inputs explains outputs of wgmma and tcgen05.mma: expected one of them");
  const WarpMma mma = parse_warp_mma(question.words[0]);
  const std::string_view matrix = mma_matrix_from(question, mma);
  const Keys keys = mma_keys_from(question, mma, matrix, ask);
  if (is_scales(matrix)) return {keys, scales_map(mma, matrix, keys)};
  return {keys, mma.quad_pairs ? quad_pair_map(mma, matrix) : map_of(mma, matrix)};
}

}  // namespace

const Family warp_mma_family = {is_warp_mma, read_warp_mma};

}  // namespace tcq::oracle
