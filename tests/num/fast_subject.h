// sim/num/fast beside the definitions, dot() of sim/num: the instructions, drawn chains of them, and every set of
// vector instructions that this machine has. For the tests of sim/num/fast.
//
// TCQ_OUTPUTS=N: about N outputs of every instruction on every target, and a row of a table for each.
// TCQ_SEED=S draws others. TCQ_SHARD=i/n takes every n-th instruction, beginning with i: so a long
// run goes on where it stopped.
#pragma once

// Which targets the kernels are compiled for, and only then what lists them.
// clang-format off
#include "sim/num/fast/targets.h"
#include <hwy/targets.h>
// clang-format on

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/num/fast/chain.h"
#include "sim/num/fast/packed.h"
#include "tests/num/defined_lanes.h"
#include "tests/support/chosen_seed.h"
#include "tests/support/tcgen05_inputs.h"

namespace tcq::fast {

// One instruction as its definition knows it: kind i8 and others of tcgen05, or wgmma.
struct Subject {
  bool is_tcgen05 = false;
  tcgen05::DotForm form = {};  // of wgmma only types and signs
};

inline Instruction instruction(const Subject& s) {
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  const DotTypes types{x.d, x.a, x.b};
  Instruction out =
      s.is_tcgen05 ? tcgen05_instruction(s.form.opcode.kind, types) : wgmma_instruction(types);
  out.negate_a = x.negate_a;
  out.negate_b = x.negate_b;
  out.saturate = x.saturate;
  out.scale_c = s.form.scale_input_d;
  return out;
}

inline std::uint32_t defined(const Subject& s, const tcgen05::DotOperands& in) {
  if (s.is_tcgen05) return tcgen05::dot(s.form, in);
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  return dot({x.d, x.a, x.b}, in.a, in.b, wgmma::stored_k(x.a), in.c,
             {.negate_a = x.negate_a, .negate_b = x.negate_b, .satfinite = x.saturate});
}

inline std::vector<Subject> subjects() {
  std::vector<Subject> out;
  for (const tcgen05::DotForm& form : tcgen05::all_forms())
    if (!is_packed_4bit(form.opcode.kind)) out.push_back({true, form});
  for (const Type d : {Type::f16, Type::f32, Type::s32})
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b) {
        const auto type_a = static_cast<Type>(a);
        const auto type_b = static_cast<Type>(b);
        if (type_a != Type::b1 && wgmma::types_exist(d, type_a, type_b))
          out.push_back({false, {{}, {.d = d, .a = type_a, .b = type_b}}});
      }
  return out;
}

inline std::string text(const Subject& s) {
  return std::string(s.is_tcgen05 ? name(s.form.opcode.kind) : "wgmma") + " " +
         name(s.form.idesc.d) + " " + name(s.form.idesc.a) + " " + name(s.form.idesc.b);
}

// A tile of K = one or several instructions: the mixture's slots repeat, shifted by one row.
inline tcgen05::Tile drawn(const Subject& s, MixtureClass c, std::uint64_t seed, int rows,
                           int cols) {
  if (s.is_tcgen05) return draw_tile(s.form, c, seed, rows, cols);
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  tcgen05::Tile tile{rows, cols, wgmma::stored_k(x.a), 0, {}, {}, {}, {}, {}};
  draw_elements(Mixture({x.d, x.a, x.b}, tile.k, c, seed), tile);
  return tile;
}

// Tiles one behind the other along K.
struct Chain {
  Subject subject;
  std::vector<tcgen05::Tile> tiles;

  const tcgen05::Tile& first() const { return tiles.front(); }
  int k() const { return first().k * static_cast<int>(tiles.size()); }

  Lines lines(Side side) const {
    const bool is_row = side == Side::Rows;
    Lines out(instruction(subject), side, is_row ? first().rows : first().cols, k());
    if (first().scales > 0) out.scales.resize(static_cast<std::size_t>(out.count()) * tiles.size());
    for (int i = 0; i < out.count(); ++i) {
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        const auto& words = is_row ? tiles[t].a : tiles[t].b;
        std::copy_n(words.begin() + i * first().k, first().k,
                    out.words(i) + static_cast<int>(t) * first().k);
        if (first().scales > 0)
          out.scales[static_cast<std::size_t>(i) * tiles.size() + t] =
              (is_row ? tiles[t].scales_a : tiles[t].scales_b)[static_cast<std::size_t>(i)];
      }
    }
    out.pack();
    return out;
  }

  std::uint32_t expected(int row, int col) const {
    std::uint32_t c = first().operands(row, col).c;
    Subject step = subject;
    for (const tcgen05::Tile& tile : tiles) {
      tcgen05::DotOperands in = tile.operands(row, col);
      in.c = c;
      c = defined(step, in);
      step.form.scale_input_d = 0;
    }
    return c;
  }
};

// The same with options that the instruction has.
inline Subject with_options(Subject s, std::mt19937& random) {
  s.form = with_random_options(s.form, random);
  s.form.accumulate = true;
  if (!s.is_tcgen05) {
    s.form.scale_input_d = 0;
    s.form.idesc.negate_a = is_float(s.form.idesc.a) && random() % 4 == 0;
    s.form.idesc.saturate = is_int8(s.form.idesc.a) && random() % 2 == 0;
  }
  return s;
}

inline Chain draw_chain(Subject s, std::mt19937& random) {
  s = with_options(s, random);
  const int rows = 1 + static_cast<int>(random() % 5);
  const int cols = 1 + static_cast<int>(random() % 70);
  Chain chain{s, {}};
  const auto length = 1 + random() % 3 * (random() % 6);
  const auto one_class = static_cast<MixtureClass>(random() % mixture_class_count);
  for (std::uint64_t i = 0; i < length; ++i) {
    const auto any = static_cast<MixtureClass>(random() % mixture_class_count);
    chain.tiles.push_back(drawn(s, random() % 8 == 0 ? any : one_class, random(), rows, cols));
  }
  return chain;
}

// Its lines, packed once for all targets.
struct PackedChain {
  explicit PackedChain(const Chain& all)
      : chain(all), rows(all.lines(Side::Rows)), columns(all.lines(Side::Columns)) {}

  std::vector<std::uint32_t> outputs() const {
    std::vector<std::uint32_t> d = chain.first().c;
    advance(instruction(chain.subject), rows, columns, {d.data(), chain.first().cols});
    return d;
  }

  const Chain& chain;
  Lines rows;
  Lines columns;
};

inline std::vector<std::uint32_t> outputs(const Chain& chain) {
  return PackedChain(chain).outputs();
}

// What every sum with a line needs, decoded once.
struct DecodedLine {
  std::vector<Decoded> elements;
  bool nan = false;      // the scale factor
  bool special = false;  // that, or an element
};

inline std::vector<DecodedLine> decoded_lines(const Subject& s, const tcgen05::Tile& tile,
                                              Side side) {
  const tcgen05::InstructionDescriptor& x = s.form.idesc;
  const bool is_row = side == Side::Rows;
  std::vector<DecodedLine> out(static_cast<std::size_t>(is_row ? tile.rows : tile.cols));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t* const words =
        (is_row ? tile.a : tile.b).data() + i * static_cast<std::size_t>(tile.k);
    const std::vector<std::uint8_t>& all = is_row ? tile.scales_a : tile.scales_b;
    const std::uint8_t* const scales = all.empty() ? nullptr : all.data() + i;
    const tcgen05::Scale scale = tcgen05::row_scale(s.form, scales);
    out[i].nan = out[i].special = scale.nan;
    for (int k = 0; k < tile.k; ++k) {
      const Decoded e = is_row ? decode_float(x.a, words[k], x.negate_a)
                               : decode_float(x.b, words[k], x.negate_b);
      out[i].elements.push_back(scale.nan ? e : tcgen05::scaled(e, scale));
      out[i].special = out[i].special || is_special(e.kind);
    }
  }
  return out;
}

// One instruction for a tile of floats, by definition.
class DefinedTile {
 public:
  DefinedTile(const Subject& s, const tcgen05::Tile& tile)
      : s_(s),
        types_{s.form.idesc.d, s.form.idesc.a, s.form.idesc.b},
        traits_(s.is_tcgen05 ? tcgen05_dot_traits(s.form.opcode.kind, types_.d)
                             : wgmma_dot_traits(types_.d, types_.a)),
        rows_(decoded_lines(s, tile, Side::Rows)),
        columns_(decoded_lines(s, tile, Side::Columns)),
        c_(tile.c) {}

  // Each sum is one call of fused_sum().
  std::vector<std::uint32_t> sums() const {
    std::vector<std::uint32_t> d = c_;
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (std::size_t col = 0; col < columns_.size(); ++col) d[at(row, col)] = sum(row, col);
    return d;
  }

  // The same from defined_lanes.h.
  std::vector<std::uint32_t> sums_in_lanes() const {
    std::vector<std::uint32_t> d = c_;
    for (std::size_t first = 0; first < columns_.size(); first += lane_count) {
      LaneTerms terms = lane_terms(first);
      for (std::size_t row = 0; row < rows_.size(); ++row) sum_in_lanes(row, first, terms, d);
    }
    return d;
  }

 private:
  std::size_t at(std::size_t row, std::size_t col) const { return row * columns_.size() + col; }
  Decoded c(std::size_t row, std::size_t col) const {
    return tcgen05::decode_input_d(s_.form, c_[at(row, col)]);
  }

  std::uint32_t sum(std::size_t row, std::size_t col) const {
    const DecodedLine& a = rows_[row];
    const DecodedLine& b = columns_[col];
    if (a.nan || b.nan) return nan_bits(traits_.conversion);
    return fused_sum(traits_, types_.d, types_.a, types_.b, a.elements.data(), b.elements.data(),
                     static_cast<int>(a.elements.size()), c(row, col));
  }

  // Lanes without a column hold zeros.
  LaneTerms lane_terms(std::size_t first) const {
    const std::size_t k = columns_[0].elements.size();
    const Lanes zero = {};
    LaneTerms out{std::vector<Lanes>(k, zero), std::vector<Lanes>(k, zero + zero_exponent), zero,
                  zero + zero_exponent};
    for (std::size_t i = 0; i < lane_count && first + i < columns_.size(); ++i)
      for (std::size_t j = 0; j < k; ++j) {
        out.significands[j][i] = columns_[first + i].elements[j].significand;
        out.exponents[j][i] = columns_[first + i].elements[j].exponent;
      }
    return out;
  }

  void sum_in_lanes(std::size_t row, std::size_t first, LaneTerms& terms,
                    std::vector<std::uint32_t>& d) const {
    const std::size_t count = std::min<std::size_t>(lane_count, columns_.size() - first);
    bool special[lane_count] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const Decoded old = c(row, first + i);
      terms.c_significands[i] = old.significand;
      terms.c_exponents[i] = old.exponent;
      special[i] = rows_[row].special || columns_[first + i].special || is_special(old.kind);
    }
    LaneSums out;
    const int product_bits =
        float_format(types_.a).fraction_bits + float_format(types_.b).fraction_bits;
    sum_lanes(traits_, product_bits, float_format(types_.d).fraction_bits,
              rows_[row].elements.data(), terms, out);
    for (std::size_t i = 0; i < count; ++i)
      d[at(row, first + i)] = special[i] ? sum(row, first + i)
                                         : round_sum(traits_.conversion, out.sums[i],
                                                     out.max_exponents[i] - traits_.fraction_bits);
  }

  const Subject& s_;
  DotTypes types_;
  DotTraits traits_;
  std::vector<DecodedLine> rows_;
  std::vector<DecodedLine> columns_;
  std::vector<std::uint32_t> c_;
};

inline std::vector<std::uint32_t> defined_tile(const Subject& s, const tcgen05::Tile& tile) {
  if (is_float(s.form.idesc.a)) return DefinedTile(s, tile).sums_in_lanes();
  std::vector<std::uint32_t> out = tile.c;
  for (int row = 0; row < tile.rows; ++row)
    for (int col = 0; col < tile.cols; ++col)
      out[static_cast<std::size_t>(row * tile.cols + col)] = defined(s, tile.operands(row, col));
  return out;
}

// A chain of them.
inline std::vector<std::uint32_t> defined_chain(const Chain& chain) {
  Subject step = chain.subject;
  std::vector<std::uint32_t> d = chain.first().c;
  for (tcgen05::Tile tile : chain.tiles) {
    tile.c = d;
    d = defined_tile(step, tile);
    step.form.scale_input_d = 0;
  }
  return d;
}

inline bool is_long_run() { return std::getenv("TCQ_OUTPUTS") != nullptr; }

inline std::int64_t wanted_outputs() {
  return is_long_run() ? std::atoll(std::getenv("TCQ_OUTPUTS")) : 4000;
}

inline std::uint32_t drawing_seed() {
  const char* const text = std::getenv("TCQ_SEED");
  return text == nullptr ? 1 : static_cast<std::uint32_t>(parse_seed(text));
}

// Whether the instruction of this number is for this process.
inline bool in_shard(std::size_t number) {
  const char* const text = std::getenv("TCQ_SHARD");
  if (text == nullptr) return true;
  unsigned long shard = 0;
  unsigned long shards = 0;
  if (std::sscanf(text, "%lu/%lu", &shard, &shards) != 2 || shards == 0)
    throw std::runtime_error("TCQ_SHARD is '" + std::string(text) + "': expected i/n");
  return number % shards == shard;
}

// The lines of a tile of kind mxf4 or mxf4nvf4.
inline PackedLines packed(const tcgen05::DotForm& form, const tcgen05::Tile& tile, Side side) {
  const bool is_row = side == Side::Rows;
  PackedLines out(side, is_row ? tile.rows : tile.cols);
  for (int i = 0; i < out.count(); ++i)
    out.set(i, fast::packed_row((is_row ? tile.a : tile.b).data() + i * tile.k,
                                is_row ? form.idesc.negate_a : form.idesc.negate_b,
                                form.idesc.scale_type,
                                (is_row ? tile.scales_a : tile.scales_b).data() + i * tile.scales,
                                scale_block(form.opcode)));
  return out;
}

// One instruction of them, each sum one call of block_scaled_sum().
inline std::vector<std::uint32_t> defined_packed_tile(const tcgen05::DotForm& form,
                                                      const tcgen05::Tile& tile) {
  const tcgen05::InstructionDescriptor& x = form.idesc;
  const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, x.d);
  const auto line = [&](const tcgen05::Words& words, const tcgen05::Bytes& scales, int i,
                        bool negate) {
    return tcgen05::decode_packed_row(
        &words[static_cast<std::size_t>(i * tile.k)], negate, x.scale_type,
        &scales[static_cast<std::size_t>(i * tile.scales)], scale_block(form.opcode));
  };
  std::vector<tcgen05::PackedRow> columns;
  for (int i = 0; i < tile.cols; ++i) columns.push_back(line(tile.b, tile.scales_b, i, x.negate_b));
  std::vector<std::uint32_t> out = tile.c;
  std::uint32_t* d = out.data();
  for (int i = 0; i < tile.rows; ++i) {
    const tcgen05::PackedRow row = line(tile.a, tile.scales_a, i, x.negate_a);
    for (const tcgen05::PackedRow& column : columns) {
      *d = block_scaled_sum(traits, row, column, tcgen05::decode_input_d(form, *d));
      ++d;
    }
  }
  return out;
}

// Calls work(name) once for every target that this machine can run.
template <class Work>
void on_every_target(Work work) {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  for (const std::int64_t target : targets) {
    hwy::GetChosenTarget().Update(target);
    work(std::string(hwy::TargetName(target)));
  }
  static const std::int64_t all = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(all);
}

// A row of the table of a long run, in which nothing differed: also outputs per second of CPU time, to
// foretell longer runs.
inline void report(const std::string& instruction, std::int64_t outputs) {
  static std::clock_t before = 0;
  if (!is_long_run()) return;
  const std::clock_t now = std::clock();
  const double seconds = static_cast<double>(now - before) / CLOCKS_PER_SEC;
  before = now;
  std::string targets;
  on_every_target([&](const std::string& target) { targets += " " + target; });
  std::printf("%s | %lld | seed %u |%s | %.0f/s\n", instruction.c_str(),
              static_cast<long long>(outputs), drawing_seed(), targets.c_str(),
              static_cast<double>(outputs) / seconds);
  std::fflush(stdout);
}

}  // namespace tcq::fast
