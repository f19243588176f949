// A case against the simulator (recording.h): bit by bit where all bytes were kept, else block by
// block, and nothing of what the simulator does not know.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "oracle/recording/recording.h"

namespace tcq::oracle {
namespace {

struct Compared {
  const Case& c;
  std::size_t index;
  std::size_t width;  // bytes of an output

  std::string beginning() const { return fmt::format("case {}: {}", index, describe(c)); }
};

std::uint64_t value_at(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);
  return value;
}

std::uint64_t known_at(const Prediction& p, std::size_t at, std::size_t width) {
  return p.known.empty() ? ~std::uint64_t{0} >> (64 - 8 * width) : value_at(p.known, at, width);
}

bool is_known(const Prediction& p, std::size_t first, std::size_t end) {
  return p.known.empty() || std::all_of(p.known.begin() + static_cast<std::ptrdiff_t>(first),
                                        p.known.begin() + static_cast<std::ptrdiff_t>(end),
                                        [](std::uint8_t known) { return known == 0xff; });
}

// Calls visit(first, end) for the bytes under each hash, if the simulator knows all of them.
template <class Visit>
void each_known_block(const Prediction& p, Visit visit) {
  for (std::size_t first = 0; first < p.output.size(); first += block_bytes) {
    const std::size_t end = std::min(first + block_bytes, p.output.size());
    if (is_known(p, first, end)) visit(first, end);
  }
}

void compare_outputs(const Compared& x, const Prediction& p, Comparison& total) {
  const int digits = static_cast<int>(2 * x.width);
  for (std::size_t at = 0; at + x.width <= p.output.size(); at += x.width) {
    const std::uint64_t known = known_at(p, at, x.width);
    const std::uint64_t got = value_at(x.c.output, at, x.width);
    const std::uint64_t want = value_at(p.output, at, x.width);
    const std::uint64_t wrong = (got ^ want) & known;
    if (wrong == 0) continue;
    total.add(x.index, 1, static_cast<std::size_t>(std::popcount(wrong)), [&] {
      const bool all = is_known(p, at, at + x.width);
      return fmt::format("{}: {}: device {:0{}x}, simulator {:0{}x}{}", x.beginning(),
                         place(x.c, at), got, digits, want, digits,
                         all ? "" : fmt::format(" in the bits {:0{}x}", known, digits));
    });
  }
}

void compare_hashes(const Compared& x, const Prediction& p, Comparison& total) {
  const std::vector<std::uint64_t> hashes = hash_blocks(p.output);
  each_known_block(p, [&](std::size_t first, std::size_t) {
    const std::size_t which = first / block_bytes;
    if (hashes[which] == x.c.hashes[which]) return;
    const std::size_t outputs = block_bytes / x.width;
    total.add(x.index, outputs, outputs, [&] {
      return fmt::format("{}: {}: one of the next {} bytes differs", x.beginning(),
                         place(x.c, first), block_bytes);
    });
  });
}

// Of what the device returned; a file without the bytes knows whole KiB only.
std::size_t recorded_outputs(const Compared& x) {
  if (!x.c.output.empty()) return x.c.output.size() / x.width;
  if (x.c.hashes.empty()) return 0;
  return output_bytes(x.c).value_or(x.c.hashes.size() * block_bytes) / x.width;
}

std::size_t compared_outputs(const Compared& x, const Prediction& p) {
  if (p.known.empty() || !p.outcome) return recorded_outputs(x);
  std::size_t outputs = 0;
  if (x.c.output.empty())
    each_known_block(p, [&](std::size_t first, std::size_t end) { outputs += end - first; });
  else
    for (std::size_t at = 0; at + x.width <= p.known.size(); at += x.width)
      outputs += known_at(p, at, x.width) != 0 ? x.width : 0;
  return outputs / x.width;
}

bool has_size(const Case& c, const Prediction& p) {
  const std::size_t blocks = (p.output.size() + block_bytes - 1) / block_bytes;
  return c.output.empty() ? c.hashes.size() == blocks : c.output.size() == p.output.size();
}

// Checks the inputs first.
Prediction prediction_of(const Case& c, std::size_t index) {
  return on(c, [&](const auto& e, const Inputs& in) {
    auto before = state(e, in);
    if (hash_inputs(before) != c.input_hash)
      throw BadFile(fmt::format(
          "case {}: the inputs drawn from its seed are not the recorded ones; the generator, or a "
          "layout that it uses to place operands, has changed",
          index));
    return predict(e, in, std::move(before));
  });
}

// Why a case says nothing for or against the simulator; "" if it does.
std::string silence(const Case& c, const Prediction& p) {
  if (!p.unmodelled.empty()) return p.unmodelled;
  bool knows_a_block = !c.output.empty() || c.hashes.empty();
  each_known_block(p, [&](std::size_t, std::size_t) { knows_a_block = true; });
  return knows_a_block ? "" : "no KiB of it is wholly known; record with --all-bytes";
}

void compare_ending(const Compared& x, const Prediction& p, Comparison& total) {
  const std::string error = x.c.error == 0 ? "" : fmt::format(" with CUDA's error {}", x.c.error);
  total.add(x.index, 1, 1, [&] {
    return fmt::format(
        "{}: the device {}{}, the simulator {}", x.beginning(), name(x.c.outcome), error,
        p.fault == Fault::None ? "executes it" : fmt::format("says: {}", info(p.fault).sentence));
  });
}

}  // namespace

void compare(const Case& c, std::size_t index, Comparison& total) {
  const Compared x{c, index, output_width(c)};
  const auto leave_out = [&](const std::string& why) {
    if (total.unmodelled++ == 0) total.first_unmodelled = x.beginning() + ": " + why;
  };
  if (!is_answer(c.outcome))
    return leave_out(fmt::format("{}: it says nothing about the device", name(c.outcome)));
  const Prediction p = prediction_of(c, index);
  if (const std::string why = silence(c, p); !why.empty()) return leave_out(why);
  ++total.cases;
  total.outputs += compared_outputs(x, p);
  const Outcome outcome = c.outcome == Outcome::Refused ? Outcome::Trap : c.outcome;
  if (p.outcome && *p.outcome != outcome) return compare_ending(x, p, total);
  if (c.output.empty() && c.hashes.empty() && (outcome == Outcome::Trap || !p.outcome)) return;
  if (!has_size(c, p))
    throw BadFile(fmt::format("case {}: an output of another size than its experiment has", index));
  if (c.output.empty())
    compare_hashes(x, p, total);
  else
    compare_outputs(x, p, total);
}

Comparison compare(const Recording& recording, std::int64_t only) {
  Comparison total;
  for (std::size_t i = 0; i < recording.cases.size(); ++i)
    if (only < 0 || static_cast<std::size_t>(only) == i) compare(recording.cases[i], i, total);
  return total;
}

}  // namespace tcq::oracle
