// Comparing recorded copies with the simulator, in sentences from which a wrong rule can be read
// (async_case.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "oracle/recording/async_case.h"
#include "oracle/recording/async_groups.h"
#include "oracle/recording/async_mbarrier.h"

namespace tcq::oracle {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t chunk = 16;  // bytes that TMA and ldmatrix never tear apart
constexpr std::size_t block_bytes = 1024;

const char* name(Move move) {
  switch (move) {
    case Move::Load: return "load";
    case Move::Store: return "store";
    case Move::Reduce: return "reduce";
    case Move::Multicast: return "multicast";
    case Move::LoadMatrix: return "ldmatrix";
    case Move::StoreMatrix: return "stmatrix";
    case Move::Encode: return "encode";
    case Move::BulkLoad: return "bulk load";
    case Move::BulkStore: return "bulk store";
    case Move::BulkReduce: return "bulk reduce";
    case Move::BulkMulticast: return "bulk multicast";
    case Move::BulkSend: return "bulk send";
    case Move::BulkSendReduce: return "bulk send reduce";
    case Move::Mbarrier: return "mbarrier";
    case Move::WgmmaGroups: return "groups";
  }
  return "?";
}

bool reduces(const AsyncCase& c) {
  return c.move == Move::Reduce || c.move == Move::BulkReduce || c.move == Move::BulkSendReduce;
}

bool is_matrix(const AsyncCase& c) {
  return c.move == Move::LoadMatrix || c.move == Move::StoreMatrix;
}

template <class T>
std::string list(const T& values, int count) {
  return fmt::format("({})", fmt::join(std::begin(values), std::begin(values) + count, ","));
}

std::string map_text(const tma::TensorMap& map) {
  const int rank = std::clamp(map.rank, 1, tma::max_rank);
  std::string text =
      fmt::format("{} rank {} dims {} strides {} box {}", tma::name(map.type), map.rank,
                  list(map.dims, rank), list(map.stride_bytes, rank - 1), list(map.box, rank));
  text += fmt::format(" element strides {} swizzle {} fill {} address {:#x}",
                      list(map.element_strides, rank), name(map.swizzle),
                      map.fill == tma::Fill::NaN ? "NaN" : "zero", map.address);
  if (map.interleave != tma::Interleave::None)
    text += fmt::format(" interleave {}", map.interleave == tma::Interleave::B16 ? "16B" : "32B");
  return text;
}

// A wrong output of one case, or a wrong outcome.
struct Difference {
  std::size_t bytes = 0;
  std::size_t bits = 0;
  std::string what;  // the first one; empty if there is none
};

std::string where(const AsyncCase& c, std::size_t at) {
  if (writes_global(c.move)) return fmt::format("global byte {:#x}", at);
  switch (c.move) {
    case Move::LoadMatrix:
      return fmt::format("lane {} register {} byte {}", at / 16, at / 4 % 4, at % 4);
    case Move::Encode: return "accepted";
    case Move::Mbarrier:
      return fmt::format("step {} byte {}", at / mbarrier_answer_bytes, at % mbarrier_answer_bytes);
    case Move::WgmmaGroups: return groups_output(c, at);
    default:
      return fmt::format("CTA {} shared address {:#x}", at / std::max(c.shared_bytes, 1u),
                         shared_base_sm90 + at % std::max(c.shared_bytes, 1u));
  }
}

Difference compare_bytes(const AsyncCase& c, const std::vector<std::uint8_t>& want) {
  Difference difference;
  for (std::size_t i = 0; i < std::max(want.size(), c.output.size()); ++i) {
    const bool both = i < want.size() && i < c.output.size();
    const auto wrong = static_cast<std::uint8_t>(both ? want[i] ^ c.output[i] : 0xff);
    if (wrong == 0) continue;
    if (difference.bytes++ == 0)
      difference.what =
          fmt::format("{}: device {:02x}, simulator {:02x}", where(c, i),
                      i < c.output.size() ? c.output[i] : 0, i < want.size() ? want[i] : 0);
    difference.bits += static_cast<std::size_t>(std::popcount(wrong));
  }
  return difference;
}

Difference compare_hashes(const AsyncCase& c, const std::vector<std::uint8_t>& want) {
  Difference difference;
  const std::vector<std::uint64_t> hashes = hash_blocks(want);
  for (std::size_t i = 0; i < std::max(hashes.size(), c.hashes.size()); ++i) {
    if (i < hashes.size() && i < c.hashes.size() && hashes[i] == c.hashes[i]) continue;
    if (difference.bytes == 0)
      difference.what =
          fmt::format("{}: one of the next 1024 bytes differs", where(c, i * block_bytes));
    difference.bytes += block_bytes;
    difference.bits += block_bytes;
  }
  return difference;
}

// What follows the expected bytes is not compared, and neither is a case that trapped.
Difference compare_beginning(const AsyncCase& c, const std::vector<std::uint8_t>& want) {
  AsyncCase beginning = c;
  beginning.output.resize(std::min(c.output.size(), want.size()));
  return beginning.output.empty() ? Difference{} : compare_bytes(beginning, want);
}

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Completed: return "completed it";
    case Outcome::Timeout: return "did not complete it: the mbarrier's phase stays open";
    case Outcome::Trap: return "trapped";
    case Outcome::Refused: return "did not see it: the driver refuses the tensor map";
  }
  return "?";
}

Difference compare_case(const AsyncCase& c) {
  if (c.move != Move::Encode && hash_inputs(build_state(c)) != c.input_hash)
    throw BadFile("the inputs drawn from a case's seed are not the recorded ones");
  const Prediction prediction = predict(c);
  if (prediction.open) return compare_beginning(c, prediction.output);
  const Outcome outcome = c.outcome == Outcome::Refused ? Outcome::Trap : c.outcome;
  if (outcome != prediction.outcome) {
    return {1, 8,
            fmt::format("the device {}, the simulator says: {}", name(c.outcome),
                        info(prediction.fault).sentence)};
  }
  if (outcome == Outcome::Trap) return {};
  return c.output.empty() ? compare_hashes(c, prediction.output)
                          : compare_bytes(c, prediction.output);
}

// ---- What differing cases have in common --------------------------------------------------------

using Properties = std::vector<std::string>;

bool box_reaches_out(const AsyncCase& c, int dim, bool low) {
  const tma::TensorMap& map = c.tile.map;
  tma::BoxElement last;
  for (int d = 0; d < map.rank; ++d) last.at[d] = tma::extent(map, d) - 1;
  const std::int64_t first_at = c.tile.start.at[dim];
  const std::int64_t last_at = tma::tensor_coordinate(map, c.tile.start, last, dim);
  return low ? first_at < 0 : last_at >= static_cast<std::int64_t>(map.dims[dim]);
}

void add_encode_properties(const tma::TensorMap& map, Properties& p) {
  p.push_back(fmt::format("check() says {}", info(check(map)).name));
  if (map.rank < 1 || map.rank > tma::max_rank) return;
  p.push_back(fmt::format("interleave {}", static_cast<int>(map.interleave)));
  p.push_back(fmt::format("element stride 0 is {}", map.element_strides[0]));
  for (int d = 0; d + 1 < map.rank; ++d) {
    if (map.stride_bytes[d] == 0) p.push_back("a stride of zero");
    const std::uint64_t below = d == 0 ? tma::element_bytes(map.type) : map.stride_bytes[d - 1];
    if (map.stride_bytes[d] < map.dims[d] * below) p.push_back("rows overlap");
  }
}

void add_bulk_properties(const AsyncCase& c, Properties& p) {
  const BulkOperands& b = c.bulk;
  p.push_back(fmt::format("cluster {}", c.cluster));
  p.push_back(fmt::format("{} bytes", b.bytes));
  p.push_back(fmt::format("global at {} mod 128", b.global % 128));
  p.push_back(fmt::format("shared at {} mod 128", b.shared % 128));
  if (reduces(c)) p.push_back(fmt::format("{} {}", tma::name(c.reduction), tma::name(b.type)));
}

void add_sequence_properties(const AsyncCase& c, Properties& p) {
  if (c.move == Move::Mbarrier) {
    p.push_back(fmt::format("cluster {}", c.cluster));
    p.push_back(c.mbarrier.script == 0 ? "drawn" : fmt::format("script {}", c.mbarrier.script));
    return;
  }
  p.push_back(fmt::format("{} groups", c.groups.groups));
  p.push_back(fmt::format("wait_group {}", c.groups.pending));
  p.push_back(fmt::format("between {}", static_cast<int>(c.groups.between)));
}

Properties properties(const AsyncCase& c) {
  Properties p = {name(c.move)};
  if (is_matrix(c)) {
    p.push_back(fmt::format("x{}{}", c.operand.count, c.operand.transposed ? ".trans" : ""));
    return p;
  }
  if (is_bulk(c.move)) {
    add_bulk_properties(c, p);
    return p;
  }
  if (is_sequence(c.move)) {
    add_sequence_properties(c, p);
    return p;
  }
  const tma::TensorMap& map = c.tile.map;
  p.push_back(fmt::format("swizzle {}", name(map.swizzle)));
  p.push_back(fmt::format("type {}", tma::name(map.type)));
  p.push_back(fmt::format("rank {}", map.rank));
  p.push_back(map.fill == tma::Fill::NaN ? "fill NaN" : "fill zero");
  if (c.move == Move::Encode) {
    add_encode_properties(map, p);
    return p;
  }
  const std::uint32_t span = tma::span_bytes(map.swizzle);
  const bool narrow = span != 0 && tma::inner_box_bytes(map) != span;
  p.push_back(narrow ? fmt::format("inner box {} of {}", tma::inner_box_bytes(map), span)
                     : "inner box not narrower than the span");
  if (span != 0) p.push_back(fmt::format("tile at {} mod 1024", c.tile.shared_address % 1024));
  p.push_back(fmt::format("tensor at {} mod 128", map.address % 128));
  p.push_back(c.content == MemoryContent::Random ? "random values" : "special values");
  bool strided = false;
  bool out = false;
  for (int d = 0; d < map.rank; ++d) {
    strided = strided || (tma::extent(map, d) > 1 && tma::element_stride(map, d) > 1);
    for (const bool low : {true, false}) {
      if (!box_reaches_out(c, d, low)) continue;
      out = true;
      p.push_back(fmt::format("out of bounds {} dimension {}", low ? "below" : "above", d));
    }
  }
  p.push_back(strided ? "element strides" : "no element strides");
  p.push_back(out ? "out of bounds somewhere" : "inside");
  if (c.move == Move::Reduce) p.push_back(fmt::format("op {}", tma::name(c.reduction)));
  return p;
}

// ---- One differing case, byte by byte -----------------------------------------------------------

std::string hex(Bytes bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

// Where 16 bytes of the output come from.
std::string origin(Bytes bytes, const AsyncState& inputs, std::size_t at, bool output_is_shared) {
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

std::string chunks_text(const AsyncCase& c, const Prediction& prediction, int limit) {
  const AsyncState inputs = build_state(c);
  const bool shared_out = !writes_global(c.move) && c.move != Move::LoadMatrix;
  std::string text;
  for (std::size_t at = 0; at + chunk <= std::min(c.output.size(), prediction.output.size());
       at += chunk) {
    const Bytes got = Bytes(c.output).subspan(at, chunk);
    const Bytes want = Bytes(prediction.output).subspan(at, chunk);
    if (std::ranges::equal(got, want)) continue;
    if (limit-- == 0) return text + "    ...\n";
    const std::size_t in_image = c.shared_bytes != 0 && shared_out ? at % c.shared_bytes : at;
    text += fmt::format("    {}: device {}, simulator {}\n", where(c, at),
                        origin(got, inputs, in_image, shared_out),
                        origin(want, inputs, in_image, shared_out));
  }
  return text;
}

std::uint64_t element_at(Bytes bytes, std::size_t at, std::uint32_t width) {
  std::uint64_t element = 0;
  if (at + width <= bytes.size()) std::memcpy(&element, bytes.data() + at, width);
  return element;
}

std::string coordinates_text(const AsyncCase& c, const tma::BoxElement& e) {
  std::vector<std::int64_t> at;
  for (int d = 0; d < c.tile.map.rank; ++d)
    at.push_back(tma::tensor_coordinate(c.tile.map, c.tile.start, e, d));
  return fmt::format("({})", fmt::join(at, ","));
}

// The first differing elements where the simulator expects them, with the element they came from.
std::string elements_text(const AsyncCase& c, const Prediction& prediction, int limit) {
  const tma::TensorMap& map = c.tile.map;
  const AsyncState inputs = build_state(c);
  const Bytes shared(inputs.shared.data(), inputs.shared.size());
  const bool load = c.move == Move::Load || c.move == Move::Multicast;
  const std::uint32_t width = tma::element_bytes(map.type);
  const int digits = static_cast<int>(2 * width);
  std::string text;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (std::uint32_t i = 0; i < tma::box_elements(map) && limit > 0; ++i) {
    const tma::BoxElement e = tma::box_element(map, i);
    const bool inside =
        load ? tma::in_bounds(map, c.tile.start, e) : tma::is_written(map, c.tile.start, e);
    const std::size_t in_shared =
        tma::shared_address(map, c.tile.shared_address, e) - shared_base_sm90;
    const std::size_t in_global = inside ? tma::global_address(map, c.tile.start, e) : 0;
    if (!load && !inside) continue;
    const std::size_t at = load ? in_shared : in_global;
    const std::uint64_t got = element_at(c.output, at, width);
    const std::uint64_t want = element_at(prediction.output, at, width);
    if (got == want) continue;
    const std::uint64_t source =
        load ? element_at(inputs.global, in_global, width) : element_at(shared, in_shared, width);
    if (!seen.insert({inside ? source : 0, got}).second) continue;
    --limit;
    text += fmt::format("    element {} at tensor {}: source {}, device {:0{}x}, simulator {:0{}x}",
                        list(e.at, map.rank), coordinates_text(c, e),
                        inside ? fmt::format("{:0{}x}", source, digits) : "out of bounds", got,
                        digits, want, digits);
    if (c.move == Move::Reduce)
      text +=
          fmt::format(", tensor had {:0{}x}", element_at(inputs.global, in_global, width), digits);
    text += "\n";
  }
  return text;
}

// What the output held before: the expectation where the simulator refuses the case.
std::vector<std::uint8_t> output_before(const AsyncCase& c) {
  AsyncState inputs = build_state(c);
  if (writes_global(c.move)) return inputs.global;
  std::vector<std::uint8_t> images;
  for (int rank = 0; rank < c.cluster; ++rank)
    images.insert(images.end(), inputs.shared.data(), inputs.shared.data() + inputs.shared.size());
  return images;
}

std::string details(const AsyncCase& c, std::size_t index, const Difference& difference) {
  std::string text = fmt::format("  case {}: {}\n    {} bytes differ, {}\n", index, describe(c),
                                 difference.bytes, difference.what);
  if (c.move == Move::Mbarrier) return text + mbarrier_table(c);
  if (c.move == Move::Encode || c.move == Move::WgmmaGroups || c.output.empty()) return text;
  Prediction prediction = predict(c);
  if (prediction.outcome == Outcome::Trap) prediction.output = output_before(c);
  if (!is_matrix(c) && !is_bulk(c.move))
    text += elements_text(c, prediction, c.content == MemoryContent::SpecialWords ? 40 : 6);
  return text + chunks_text(c, prediction, 12);
}

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

std::string bulk_text(const AsyncCase& c) {
  const BulkOperands& b = c.bulk;
  std::string text = fmt::format("{}: {} bytes, global {:#x}, shared {:#x}", name(c.move), b.bytes,
                                 b.global, b.shared);
  if (reduces(c)) text += fmt::format(" op {} type {}", tma::name(c.reduction), tma::name(b.type));
  if (c.move == Move::BulkMulticast)
    text += fmt::format(" cluster {} mask {:#x} issuer {}", c.cluster, c.mask, c.issuer);
  if (c.move == Move::BulkSend || c.move == Move::BulkSendReduce)
    text += fmt::format(" cluster {} from CTA {} to {:#x} of CTA {}", c.cluster, c.issuer,
                        b.destination, b.destination_rank);
  return text;
}

// How many bytes the device returned; a file without them knows whole KiB only.
std::size_t recorded_bytes(const AsyncCase& c) {
  if (!c.output.empty()) return c.output.size();
  if (c.move == Move::Mbarrier && c.outcome == Outcome::Completed)
    return mbarrier_steps(c).size() * mbarrier_answer_bytes;
  return c.hashes.size() * block_bytes;
}

}  // namespace

std::string describe(const AsyncCase& c) {
  if (is_matrix(c))
    return fmt::format("{}.x{}{} addresses {:#x}", name(c.move), c.operand.count,
                       c.operand.transposed ? ".trans" : "", fmt::join(c.operand.addresses, ","));
  if (is_bulk(c.move)) return bulk_text(c);
  if (c.move == Move::Mbarrier) return describe_mbarrier(c);
  if (c.move == Move::WgmmaGroups) return describe_groups(c);
  std::string text = fmt::format("{}: {}", name(c.move), map_text(c.tile.map));
  if (c.move == Move::Encode) return text;
  text += fmt::format(" start {} tile {:#x}", list(c.tile.start.at, c.tile.map.rank),
                      c.tile.shared_address);
  if (c.move == Move::Reduce) text += fmt::format(" op {}", tma::name(c.reduction));
  if (c.move == Move::Multicast)
    text += fmt::format(" cluster {} mask {:#x} issuer {}", c.cluster, c.mask, c.issuer);
  return text;
}

Comparison compare(const AsyncRecording& recording, std::int64_t only) {
  Comparison total;
  for (std::size_t i = 0; i < recording.cases.size(); ++i) {
    if (only >= 0 && static_cast<std::size_t>(only) != i) continue;
    const AsyncCase& c = recording.cases[i];
    const Difference difference = compare_case(c);
    ++total.cases;
    total.outputs += recorded_bytes(c);
    total.differing_outputs += difference.bytes;
    total.differing_bits += difference.bits;
    if (total.first_mismatch.empty() && difference.bytes != 0)
      total.first_mismatch = fmt::format("case {}: {}: {}", i, describe(c), difference.what);
  }
  return total;
}

std::string explain_differences(const AsyncRecording& recording) {
  constexpr int detailed = 16;
  std::map<std::string, Count> counts;
  std::set<std::string> explained;  // properties of cases already shown
  std::string cases;
  int shown = 0;
  for (std::size_t i = 0; i < recording.cases.size(); ++i) {
    const AsyncCase& c = recording.cases[i];
    const Difference difference = compare_case(c);
    const Properties all = properties(c);
    for (const std::string& property : all) {
      ++counts[property].cases;
      counts[property].differing += difference.bytes != 0 ? 1 : 0;
    }
    if (difference.bytes == 0 || shown == detailed) continue;
    bool is_new = false;  // shows something no earlier differing case has
    for (const std::string& property : all) is_new = explained.insert(property).second || is_new;
    if (!is_new) continue;
    ++shown;
    cases += details(c, i, difference);
  }
  return shown == 0 ? "" : table_text(counts) + cases;
}

}  // namespace tcq::oracle
