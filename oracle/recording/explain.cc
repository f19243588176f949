#include "oracle/recording/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "sim/isa/base/shared_limits.h"

namespace tcq::oracle {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t chunk = 16;  // bytes that TMA and ldmatrix never tear apart

// ---- One differing case, byte by byte -----------------------------------------------------------

std::string hex(Bytes bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

// Where 16 bytes of the output come from.
std::string origin(Bytes bytes, const Memories& inputs, std::size_t at, bool output_is_shared) {
  const Bytes shared(inputs.shared.data(), inputs.shared.size());
  const Bytes global(inputs.global);
  const Bytes before = output_is_shared ? shared : global;
  if (at + chunk <= before.size() && std::ranges::equal(bytes, before.subspan(at, bytes.size())))
    return "unchanged";
  if (std::ranges::all_of(bytes, [](std::uint8_t b) { return b == 0; })) return "zero";
  const Bytes source = output_is_shared ? global : shared;
  const auto found = std::search(source.begin(), source.end(), bytes.begin(), bytes.end());
  if (found == source.end()) return "mixed " + hex(bytes);
  const auto offset = static_cast<std::size_t>(found - source.begin());
  return output_is_shared ? fmt::format("global {:#x}", offset)
                          : fmt::format("shared {:#x}", shared_base_sm90 + offset);
}

// At most 12 differing chunks of an experiment between memories.
std::string chunks_text(const Case& c, const Memories& inputs, const Prediction& p,
                        bool in_shared) {
  int limit = 12;
  std::string text;
  for (std::size_t at = 0; at + chunk <= std::min(c.output.size(), p.output.size()); at += chunk) {
    const Bytes got = Bytes(c.output).subspan(at, chunk);
    const Bytes want = Bytes(p.output).subspan(at, chunk);
    if (std::ranges::equal(got, want)) continue;
    if (limit-- == 0) return text + "    ...\n";
    const std::size_t in_image = c.shared_bytes != 0 && in_shared ? at % c.shared_bytes : at;
    text += fmt::format("    {}: device {}, simulator {}\n", place(c, at),
                        origin(got, inputs, in_image, in_shared),
                        origin(want, inputs, in_image, in_shared));
  }
  return text;
}

// What the output held before: the expectation where the simulator refuses the case.
std::vector<std::uint8_t> output_before(const Case& c, const Memories& inputs, bool in_shared) {
  if (!in_shared) return inputs.global;
  const std::size_t image = std::max<std::size_t>(inputs.shared.size(), 1);
  return bytes_of(std::vector<SharedMemory>(c.output.size() / image, inputs.shared));
}

struct Details {
  const Case& c;

  // Between memories.
  template <class E>
  requires requires(const E& e) { returns_shared(e); }
  std::string operator()(const E& e, const Inputs& in) const {
    const Memories before = state(e, in);
    Prediction p = predict(e, in, before);
    if (p.outcome == Outcome::Trap) p.output = output_before(c, before, returns_shared(e));
    std::string text;
    if constexpr (requires { differing_elements(e, in, c, p); })
      text = differing_elements(e, in, c, p);
    return text + chunks_text(c, before, p, returns_shared(e));
  }
  std::string operator()(const MbarrierScript& e, const Inputs& in) const {
    return mbarrier_table(e, in, c);
  }
  template <class E>
  std::string operator()(const E&, const Inputs&) const {
    return "";  // the first difference says it
  }
};

std::string details(const Case& c, const Comparison& difference) {
  std::string text = fmt::format("  {}\n    {} outputs differ\n", difference.first_mismatch,
                                 difference.differing_outputs);
  const bool always = std::holds_alternative<MbarrierScript>(c.experiment);
  return c.output.empty() && !always ? text : text + on(c, Details{c});
}

// ---- What differing cases have in common --------------------------------------------------------

struct Count {
  std::size_t cases = 0;
  std::size_t differing = 0;
};

std::string table_text(const std::map<std::string, Count>& counts) {
  std::string text;
  for (const auto& [property, count] : counts)
    if (count.differing != 0)
      text += fmt::format("  {:>5} of {:>5} cases differ: {}\n", count.differing, count.cases,
                          property);
  return text;
}

}  // namespace

std::string explain_differences(const Recording& recording) {
  constexpr int detailed = 16;
  std::map<std::string, Count> counts;
  std::set<std::string> explained;  // properties of cases already shown
  std::string cases;
  int shown = 0;
  for (std::size_t i = 0; i < recording.cases.size(); ++i) {
    const Case& c = recording.cases[i];
    Comparison difference;
    compare(c, i, difference);
    const bool differs = difference.differing_outputs != 0;
    const Properties all = on(c, [](const auto& e, const Inputs& in) { return properties(e, in); });
    for (const std::string& property : all) {
      ++counts[property].cases;
      counts[property].differing += differs ? 1 : 0;
    }
    if (!differs || shown == detailed) continue;
    bool is_new = false;  // shows something no earlier differing case has
    for (const std::string& property : all) is_new = explained.insert(property).second || is_new;
    if (!is_new) continue;
    ++shown;
    cases += details(c, difference);
  }
  return shown == 0 ? "" : table_text(counts) + cases;
}

std::string explain_open_mbarriers(const Recording& recording) {
  std::string text;
  for (std::size_t i = 0; i < recording.cases.size(); ++i) {
    const Case& c = recording.cases[i];
    const auto* script = std::get_if<MbarrierScript>(&c.experiment);
    if (script == nullptr) continue;
    const Prediction prediction = predict(c);
    if (prediction.outcome) continue;
    text += fmt::format("  case {}: {}\n    at the end: {}{}\n{}", i, describe(c),
                        info(prediction.fault).name, c.outcome == Outcome::Trap ? ", trapped" : "",
                        mbarrier_table(*script, c, c));
  }
  return text;
}

}  // namespace tcq::oracle
