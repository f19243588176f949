// Comparing recordings of tcgen05 with predictions; see tcgen05_compare.h.
#include "oracle/recording/tcgen05_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "oracle/recording/tcgen05_predict.h"

namespace tcq::oracle {
namespace {

constexpr std::size_t block_words = tcgen05::tmem_columns;  // under one hash
constexpr std::uint32_t whole_word = 0xffffffff;

// `sentence` is called for the first difference only: there may be millions.
void add_difference(Comparison& total, std::size_t bits, auto&& sentence) {
  ++total.differing_outputs;
  total.differing_bits += bits;
  if (total.first_mismatch.empty()) total.first_mismatch = sentence();
}

std::string beginning(const Tcgen05Case& c, std::size_t index) {
  return fmt::format("case {}: {}", index, describe(c));
}

void compare_words(const Tcgen05Case& c, std::size_t index, const Tcgen05Prediction& p,
                   Comparison& total) {
  for (std::size_t i = 0; i < p.output.size(); ++i) {
    if (p.known[i] == 0) continue;
    ++total.outputs;
    const std::uint32_t wrong = (p.output[i] ^ c.output[i]) & p.known[i];
    if (wrong == 0) continue;
    add_difference(total, static_cast<std::size_t>(std::popcount(wrong)), [&] {
      return fmt::format("{}: {}: got {:08x}, want {:08x} in the bits {:08x}", beginning(c, index),
                         output_name(c, i), p.output[i], c.output[i], p.known[i]);
    });
  }
}

// Words [first, end) of which a file keeps one hash.
struct Block {
  std::size_t first;
  std::size_t end;
};

// Those of which every bit is known.
std::vector<Block> known_blocks(const Tcgen05Prediction& p) {
  std::vector<Block> blocks;
  for (std::size_t first = 0; first < p.known.size(); first += block_words) {
    const std::size_t end = std::min(first + block_words, p.known.size());
    const auto begin = p.known.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = static_cast<std::ptrdiff_t>(end - first);
    if (std::all_of(begin, begin + count, [](std::uint32_t known) { return known == whole_word; }))
      blocks.push_back({first, end});
  }
  return blocks;
}

void compare_hashes(const Tcgen05Case& c, std::size_t index, const Tcgen05Prediction& p,
                    Comparison& total) {
  const std::vector<std::uint64_t> hashes = hash_lanes(p.output);
  for (const Block& block : known_blocks(p)) {
    total.outputs += block.end - block.first;
    const std::size_t which = block.first / block_words;
    if (hashes[which] == c.hashes[which]) continue;
    add_difference(total, 1, [&] {
      return fmt::format(
          "{}: the {} words from {} on have another hash; record with --all-words to see the words",
          beginning(c, index), block.end - block.first, output_name(c, block.first));
    });
  }
}

void leave_out(const Tcgen05Case& c, std::size_t index, const std::string& why, Comparison& total) {
  ++total.unmodelled;
  if (total.first_unmodelled.empty())
    total.first_unmodelled = fmt::format("{}: {}", beginning(c, index), why);
}

bool has_size(const Tcgen05Case& c, const Tcgen05Prediction& p) {
  const std::size_t blocks = (p.output.size() + block_words - 1) / block_words;
  return c.output.empty() ? c.hashes.size() == blocks : c.output.size() == p.output.size();
}

void compare_case(const Tcgen05Case& c, std::size_t index, Comparison& total) {
  if (!is_answer(c.outcome)) {
    leave_out(c, index, std::string(name(c.outcome)) + ": it says nothing about the device", total);
    return;
  }
  const Tcgen05State before = build_state(c);
  if (hash_inputs(before) != c.input_hash)
    throw BadFile(fmt::format(
        "case {}: the inputs drawn from its seed are not the recorded ones; the generator has "
        "changed",
        index));
  const Tcgen05Prediction p = predict(c, before);
  if (!p.unmodelled.empty()) {
    leave_out(c, index, p.unmodelled, total);
    return;
  }
  const bool completed = c.outcome == Tcgen05Outcome::Completed;
  if (completed && c.output.empty() && known_blocks(p).empty()) {
    leave_out(c, index, "no lane of it is wholly known; record with --all-words", total);
    return;
  }
  ++total.cases;
  if (!completed) {
    const std::string error = c.error == 0 ? "" : fmt::format(" with CUDA's error {}", c.error);
    add_difference(total, 1, [&] {
      return fmt::format("{}: the device {}{}, the simulator executes it", beginning(c, index),
                         name(c.outcome), error);
    });
    return;
  }
  if (!has_size(c, p))
    throw BadFile(fmt::format("case {}: an output of another size than its form has", index));
  if (c.output.empty())
    compare_hashes(c, index, p, total);
  else
    compare_words(c, index, p, total);
}

}  // namespace

Comparison compare(const Tcgen05Recording& recording, std::int64_t only) {
  Comparison total;
  for (std::size_t i = 0; i < recording.cases.size(); ++i)
    if (only < 0 || static_cast<std::size_t>(only) == i) compare_case(recording.cases[i], i, total);
  return total;
}

}  // namespace tcq::oracle
