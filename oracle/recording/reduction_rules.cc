#include "oracle/recording/reduction_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/num/inputs/float_pairs.h"
#include "sim/num/reduce_float.h"

namespace tcq::oracle {
namespace {

struct Element {
  std::uint64_t old;
  std::uint64_t tile;
  std::uint64_t got;
};

struct Group {
  bool bulk;
  tma::Reduction op;
  tma::DataType type;
  friend auto operator<=>(const Group&, const Group&) = default;
};

// That of a case; empty if it is no reduction of floats.
std::optional<Group> group_of(const Case& c) {
  if (c.content != MemoryContent::FloatPairs && c.content != MemoryContent::FloatDraws) return {};
  if (const auto* tile = std::get_if<TileCopy>(&c.experiment))
    return Group{false, tile->reduction, tile->tile.map.type};
  if (const auto* copy = std::get_if<BulkCopy>(&c.experiment))
    return Group{true, copy->reduction, copy->type};
  return {};
}

std::uint64_t element_at(const std::uint8_t* bytes, std::size_t at, std::uint32_t width) {
  std::uint64_t element = 0;
  std::memcpy(&element, bytes + at, width);
  return element;
}

// These cases begin at offset 0 on both sides and have dense rows.
void add_elements(const Case& c, tma::DataType type, std::vector<Element>& elements) {
  const Memories inputs = draw_memories(c, type);
  const std::uint32_t width = tma::element_bytes(type);
  const std::size_t end =
      std::min({inputs.global.size(), std::size_t{inputs.shared.size()}, c.output.size()});
  for (std::size_t at = 0; at + width <= end; at += width)
    elements.push_back({element_at(inputs.global.data(), at, width),
                        element_at(inputs.shared.data(), at, width),
                        element_at(c.output.data(), at, width)});
}

const char* name(NanRule rule) {
  switch (rule) {
    case NanRule::AllOnes: return "7ff..f";
    case NanRule::Quiet: return "+quiet";
    case NanRule::NegativeQuiet: return "-quiet";
    case NanRule::OldQuieted: return "old's quieted";
    case NanRule::TileQuieted: return "tile's quieted";
    case NanRule::Old: return "old's";
    case NanRule::Tile: return "tile's";
  }
  return "?";
}

const char* name(ZeroRule rule) {
  switch (rule) {
    case ZeroRule::NegativeIsLess: return "-0 < +0";
    case ZeroRule::KeepsOld: return "equal zeros keep the old";
    case ZeroRule::TakesTile: return "equal zeros take the tile's";
  }
  return "?";
}

std::string text(tma::Reduction op, const FloatRules& rules) {
  std::string text = fmt::format("subnormal operands {}, results {}; NaN {}",
                                 rules.flush_operands ? "flushed" : "kept",
                                 rules.flush_result ? "flushed" : "kept", name(rules.nan));
  if (op == tma::Reduction::Add)
    return text +
           fmt::format(", inf - inf {}; {}", name(rules.invalid),
                       rules.rounding == Rounding::NearestEven ? "nearest even" : "toward zero");
  return text +
         fmt::format(", {} wins; {}", rules.number_wins ? "a number" : "NaN", name(rules.zeros));
}

constexpr NanRule nan_rules[] = {NanRule::AllOnes,    NanRule::Quiet,       NanRule::NegativeQuiet,
                                 NanRule::OldQuieted, NanRule::TileQuieted, NanRule::Old,
                                 NanRule::Tile};

// Every way to combine what the operation asks for.
std::vector<FloatRules> all_rules(tma::Reduction op) {
  std::vector<FloatRules> all;
  for (const bool operands : {false, true}) {
    for (const bool result : {false, true}) {
      for (const NanRule nan : nan_rules) {
        FloatRules rules;
        rules.flush_operands = operands;
        rules.flush_result = result;
        rules.nan = nan;
        if (op == tma::Reduction::Add) {
          for (const Rounding rounding : {Rounding::NearestEven, Rounding::TowardZero}) {
            for (const NanRule invalid :
                 {NanRule::AllOnes, NanRule::Quiet, NanRule::NegativeQuiet}) {
              rules.rounding = rounding;
              rules.invalid = invalid;
              all.push_back(rules);
            }
          }
          continue;
        }
        for (const bool number_wins : {false, true}) {
          for (const ZeroRule zeros :
               {ZeroRule::NegativeIsLess, ZeroRule::KeepsOld, ZeroRule::TakesTile}) {
            rules.number_wins = number_wins;
            rules.zeros = zeros;
            all.push_back(rules);
          }
        }
      }
    }
  }
  return all;
}

std::size_t count_differing(const Group& g, const FloatRules& rules,
                            const std::vector<Element>& elements) {
  const FloatLayout layout = float_layout(g.type);
  return static_cast<std::size_t>(std::ranges::count_if(elements, [&](const Element& e) {
    return reduce_float(g.op, layout, rules, e.old, e.tile) != e.got;
  }));
}

// The rules with the fewest differing elements, at most eight.
std::string best_rules(const Group& g, const std::vector<Element>& elements) {
  std::vector<std::pair<std::size_t, FloatRules>> ranking;
  for (const FloatRules& rules : all_rules(g.op))
    ranking.emplace_back(count_differing(g, rules, elements), rules);
  std::ranges::stable_sort(ranking, {}, [](const auto& entry) { return entry.first; });
  std::string lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(ranking.size(), 8); ++i) {
    if (i > 2 && ranking[i].first != 0) break;
    lines += fmt::format("    {:>6} differ: {}\n", ranking[i].first, text(g.op, ranking[i].second));
  }
  return lines;
}

// At most 40, and three of the same classes of operands.
std::string first_differing(const Group& g, const std::vector<Element>& elements) {
  const FloatLayout layout = float_layout(g.type);
  const int digits = static_cast<int>(2 * tma::element_bytes(g.type));
  std::string lines;
  int left = 40;
  std::map<std::pair<FloatClass, FloatClass>, int> shown;
  for (const Element& e : elements) {
    const std::uint64_t want = reduce_float(g.op, layout, float_rules(g.type), e.old, e.tile);
    if (want == e.got) continue;
    if (++shown[{float_class(layout, e.old), float_class(layout, e.tile)}] > 3) continue;
    if (left-- == 0) break;
    lines += fmt::format("    old {0:0{4}x} tile {1:0{4}x} got {2:0{4}x} want {3:0{4}x}\n", e.old,
                         e.tile, e.got, want, digits);
  }
  return lines;
}

}  // namespace

std::string explain_float_reductions(const Recording& recording) {
  std::map<Group, std::vector<Element>> groups;
  for (const Case& c : recording.cases)
    if (const std::optional<Group> g = group_of(c); g && !c.output.empty())
      add_elements(c, g->type, groups[*g]);
  std::string lines;
  for (const auto& [g, elements] : groups) {
    const std::size_t differing = count_differing(g, float_rules(g.type), elements);
    lines += fmt::format("  {} {} {}: {} of {} elements differ; rules that come closest:\n",
                         g.bulk ? "bulk" : "tensor", tma::name(g.op), tma::name(g.type), differing,
                         elements.size());
    lines += best_rules(g, elements) + first_differing(g, elements);
  }
  return lines;
}

}  // namespace tcq::oracle
