// Words and targets of the warp's mma; see warp_mma_words.h.
#include "oracle/ptx/warp_mma_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

// A place in the manual's syntax and the words that may stand there.
struct Place {
  std::vector<std::string> words;
  bool mandatory = true;
  Fault missing = Fault::QualifierMissing;
};

bool takes(const Place& place, std::string_view word) {
  return std::find(place.words.begin(), place.words.end(), word) != place.words.end();
}

void add_scales(std::vector<Place>& places, const WarpMma& mma) {
  places.push_back({{fmt::format("kind::{}", mma.kind)}});
  places.push_back({{"block_scale"}});
  places.push_back({{fmt::format("scale_vec::{}X", mma.factors)}, mma.kind == "mxf4nvf4"});
}

std::vector<Place> places_of(const WarpMma& mma) {
  std::vector<Place> places = {{{"sync"}, true, Fault::SyncMissing},
                               {{"aligned"}, true, Fault::AlignedMissing},
                               {{fmt::format("m{}n8k{}", mma.m, mma.k)}},
                               {{mma.a_col ? "col" : "row"}},
                               {{mma.b_row ? "row" : "col"}}};
  if (!mma.kind.empty()) add_scales(places, mma);
  if (mma.f8f6f4) places.push_back({{"kind::f8f6f4"}});
  if (mma.saturates) places.push_back({{"satfinite"}});
  if (!mma.rounding.empty()) places.push_back({{mma.rounding}});
  for (const std::string& type : {mma.d, mma.a, mma.b, mma.c}) places.push_back({{type}});
  if (!mma.kind.empty()) places.push_back({{mma.scale_type}});
  if (mma.a == "b1") {
    places.push_back({{"and", "xor"}});
    places.push_back({{"popc"}});
  }
  return places;
}

// Of the first place, from the manual's order on, whose word is not there.
Verdict missing(const WarpMma& mma, const Place& place) {
  std::string names;
  for (const std::string& word : place.words)
    names += fmt::format("{}.{}", names.empty() ? "" : " or ", word);
  return illegal(
      place.missing,
      fmt::format(
          "{} is missing: expected {}{}", names, full_mnemonic(mma),
          place.missing == Fault::AlignedMissing ? "; of mma ptxas insists on .aligned, too" : ""));
}

bool is_any_of(std::optional<Target> target, std::initializer_list<Target> those) {
  return !target || std::find(those.begin(), those.end(), *target) != those.end();
}

bool has_mx_kinds(std::optional<Target> target) {
  return is_any_of(target, {Target::sm_120a, Target::sm_120f, Target::sm_121a});
}

}  // namespace

Verdict check_words(const WarpMma& mma, std::span<const std::string_view> words) {
  const std::vector<Place> places = places_of(mma);
  std::vector<std::size_t> order;  // places of the words, as they are given
  std::vector<bool> taken(places.size());
  const std::string expected = fmt::format("expected {}", full_mnemonic(mma));
  for (const std::string_view word : words) {
    std::size_t at = 0;
    while (at < places.size() && (taken[at] || !takes(places[at], word))) ++at;
    const bool known = std::any_of(places.begin(), places.end(),
                                   [&](const Place& place) { return takes(place, word); });
    if (!known)
      return illegal(Fault::QualifierUnknown, fmt::format("got {}, {}", quoted(word), expected));
    if (at == places.size())
      return illegal(Fault::QualifierOrder, fmt::format("got {} twice", quoted(word)));
    taken[at] = true;
    order.push_back(at);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].mandatory && !taken[i]) return missing(mma, places[i]);
  return std::is_sorted(order.begin(), order.end()) ? legal()
                                                    : illegal(Fault::QualifierOrder, expected);
}

Verdict check_target(const WarpMma& mma, std::optional<Target> target) {
  if ((mma.kind.empty() && !mma.f8f6f4) || has_mx_kinds(target)) return legal();
  const std::string where =
      fmt::format("on sm_120a, sm_120f and sm_121a only; got {}", tcq::name(*target));
  if (!mma.kind.empty())
    return illegal(Fault::QualifierUnknown,
                   fmt::format("mma with .kind and .block_scale exists {}", where));
  if (is_narrow(mma.a) || is_narrow(mma.b))
    return illegal(Fault::QualifierUnknown,
                   fmt::format("mma of types of 6 and 4 bits exists {}", where));
  if (is_any_of(target, {Target::sm_90, Target::sm_90a, Target::sm_100}))
    return illegal(Fault::QualifierUnknown,
                   fmt::format("mma with .kind::f8f6f4 exists {}; without it e4m3 and e5m2 are "
                               "mma's there, too",
                               where));
  return unmodelled(
      fmt::format("the manual has mma with .kind::f8f6f4 {}: ptxas 13.0 takes it, what it computes "
                  "is not measured; without .kind e4m3 and e5m2 are legal there",
                  where));
}

}  // namespace tcq::oracle
