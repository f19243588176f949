// The verb banks: bank conflicts of a warp's access to rows in shared memory, and what avoids them.
//
// An access is ld.shared or st.shared of up to 16 bytes a lane, ldmatrix or stmatrix; rows lie `pitch` bytes
// apart, swizzled or padded. Lanes take rows one by one, across= of them side by side, or they are where a
// fragment in registers has its elements: banks st.shared.v2.b32 pitch=256 wgmma... D. The counting is
// sim/isa/base/banks.h. Example: banks ldmatrix.x4 pitch=128 takes 32 passes, with swizzle=128B 4.
#include "sim/isa/base/banks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "oracle/answer/verbs.h"
#include "oracle/map/asked.h"
#include "oracle/map/matrix_move.h"
#include "oracle/ptx/mnemonic.h"

namespace tcq::oracle {
namespace {

constexpr int row_bytes = 16;  // of a matrix of ldmatrix
constexpr int most_bytes = 16;
constexpr std::uint64_t most_pitch = 1 << 16;

constexpr std::string_view access_expected =
    "ld.shared or st.shared with .b32, .b64, .b128 or a vector and its type (.v4.b32), or ldmatrix "
    "and stmatrix with "
    ".x1, .x2 or .x4";

// ---- Accesses -----------------------------------------------------------------------------------

struct Access {
  std::string name;
  int bytes;         // of a lane
  int lanes;         // of the whole access
  bool of_matrices;  // rows of 16 bytes, whose addresses the lanes supply
  int matrix_rows = 0;
};

int number_in(std::string_view word) {
  int value = 0;
  for (const char c : word)
    if (c >= '0' && c <= '9') value = std::min(10 * value + (c - '0'), 1000);
  return value;
}

[[noreturn]] void throw_bad(std::string_view word) {
  throw UsageError(fmt::format("unknown access {}: expected {}", quoted(word), access_expected));
}

// SASS's LDS.128 in PTX.
std::string in_ptx(const std::string& text) {
  const std::string_view opcode = std::string_view(text).substr(0, text.find('.'));
  if (opcode != "lds" && opcode != "sts") return text;
  const std::string_view size = text.size() > opcode.size()
                                    ? std::string_view(text).substr(opcode.size() + 1)
                                    : std::string_view("32");
  const bool is_number = size.find_first_not_of("0123456789") == size.npos;
  return fmt::format("{}.shared.{}{}", opcode == "lds" ? "ld" : "st", is_number ? "b" : "", size);
}

void refuse_other_spaces(std::string_view word, const std::vector<std::string_view>& words) {
  for (const std::string_view space : {"global", "local", "const", "param"})
    if (std::find(words.begin(), words.end(), space) != words.end())
      throw UsageError(
          fmt::format("{} goes to no shared memory: expected {}", quoted(word), access_expected));
}

// A type such as b32 or f16, a vector such as v2; everything else of the opcode says nothing here.
Access access_from(std::string_view word) {
  const std::string text = in_ptx(lowered(word));
  const std::vector<std::string_view> words = ptx::split_opcode(text);
  const bool of_matrices = words[0] == "ldmatrix" || words[0] == "stmatrix";
  if (!of_matrices && words[0] != "ld" && words[0] != "st") throw_bad(word);
  refuse_other_spaces(word, words);
  int type = 0, vector = 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const char first = words[i].empty() ? ' ' : words[i][0];
    const int number = number_in(words[i]);
    const bool is_type = std::string_view("bsuf").find(first) != std::string_view::npos;
    if (is_type && number >= 8 && words[i].size() <= 4) type = number / 8;
    if (first == 'v' && words[i].size() == 2) vector = number;
  }
  if (of_matrices) {
    const MatrixMove move = matrix_move_from(text);
    return {text, row_bytes, move.rows() * move.count, true, move.rows()};
  }
  if (type == 0 && vector > 1)
    throw UsageError(fmt::format("{} has no type: expected one behind the vector, such as {}.b32",
                                 quoted(word), text));
  const int bytes = type * vector;
  if (bytes < 1 || bytes > most_bytes || (bytes & (bytes - 1)) != 0) throw_bad(word);
  return {text, bytes, shared::warp_lanes, false};
}

// ---- Rows ---------------------------------------------------------------------------------------

struct Rows {
  int pitch;
  Swizzle swizzle;
  std::uint32_t start;
  int across;                   // lanes side by side
  std::optional<Map> fragment;  // or where the lanes have their elements
  int reg = 0;
};

// Row and byte in the row.
std::pair<int, int> place_of(const Access& access, const Rows& rows, int lane) {
  if (rows.fragment) {
    const Coords e = rows.fragment->element_at({lane, rows.reg, 0});
    return {e[0], e[1] * rows.fragment->bits / 8};
  }
  if (access.of_matrices)  // down the rows first, two matrices high
  {
    const int rows_of_one = access.matrix_rows;
    const int matrix = lane / rows_of_one;
    const int down = std::min(access.lanes / rows_of_one, 2);
    return {rows_of_one * (matrix % down) + lane % rows_of_one, row_bytes * (matrix / down)};
  }
  return {lane / rows.across, lane % rows.across * access.bytes};
}

std::vector<std::uint32_t> addresses_of(const Access& access, const Rows& rows) {
  std::vector<std::uint32_t> all;
  for (int lane = 0; lane < access.lanes; ++lane) {
    const auto [row, byte] = place_of(access, rows, lane);
    const auto linear = rows.start + static_cast<std::uint32_t>(row * rows.pitch + byte);
    all.push_back(swizzle_function(rows.swizzle).apply(linear));
  }
  return all;
}

struct Phase {
  int first_lane;
  int passes;
  int worst_bank;
  std::vector<int> lanes;  // that meet in the worst bank, if more than one pass is taken
};

std::vector<Phase> phases_of(const Access& access, const Rows& rows) {
  const std::vector<std::uint32_t> addresses = addresses_of(access, rows);
  const int size = shared::phase_lanes(access.bytes);
  std::vector<Phase> phases;
  for (int first = 0; first < access.lanes; first += size) {
    const std::uint32_t* of_phase = addresses.data() + first;
    Phase phase{first, shared::passes(of_phase, size, access.bytes), 0, {}};
    for (int bank = 0; bank < shared::banks; ++bank)
      if (shared::words_in_bank(of_phase, size, access.bytes, bank) == phase.passes) {
        phase.worst_bank = bank;
        break;
      }
    for (int lane = 0; lane < size && phase.passes > 1; ++lane)
      for (int i = 0; i < shared::words_of(access.bytes); ++i)
        if (shared::bank_of(of_phase[lane] + static_cast<std::uint32_t>(4 * i)) == phase.worst_bank)
          phase.lanes.push_back(first + lane);
    phases.push_back(std::move(phase));
  }
  return phases;
}

int total(const std::vector<Phase>& phases) {
  int sum = 0;
  for (const Phase& phase : phases) sum += phase.passes;
  return sum;
}

// ---- What avoids conflicts ----------------------------------------------------------------------

struct Better {
  std::string keys;
  int passes;
};

// Swizzles move units of 16 bytes: only what keeps inside one is still one access.
std::vector<Better> better_than(const Access& access, const Rows& rows, int now) {
  std::vector<Better> found;
  Rows other = rows;
  for (const Swizzle swizzle : {Swizzle::B32, Swizzle::B64, Swizzle::B128}) {
    other.swizzle = swizzle;
    const int passes = total(phases_of(access, other));
    if (passes < now) found.push_back({fmt::format("swizzle={}", name(swizzle)), passes});
  }
  other = rows;
  const int step = std::max(access.bytes, shared::bank_bytes);
  std::optional<Better> padded;
  for (int pad = step; pad <= shared::phase_bytes; pad += step) {
    other.pitch = rows.pitch + pad;
    const int passes = total(phases_of(access, other));
    if (passes < now && (!padded || passes < padded->passes))
      padded = Better{fmt::format("pitch={}", other.pitch), passes};
  }
  if (padded) found.push_back(*padded);
  std::stable_sort(found.begin(), found.end(),
                   [](const Better& x, const Better& y) { return x.passes < y.passes; });
  return found;
}

// ---- Questions ----------------------------------------------------------------------------------

// Keys that would say nothing.
void refuse_unused(const Keys& keys, const Access& access, bool has_fragment) {
  if (keys.has("across") && (access.of_matrices || has_fragment))
    throw UsageError(fmt::format(
        "across= says how many lanes of ld.shared and st.shared lie side by side: expected none {}",
        has_fragment ? "beside a fragment, which says where lanes are"
                     : "with ldmatrix and stmatrix, whose lanes have a row each"));
  if (keys.has("register") && !has_fragment)
    throw UsageError(
        "register= says which register of a fragment is moved: expected a matrix in registers with "
        "it, such as "
        "'wgmma... D'");
}

Rows rows_from(const Question& question, const Access& access) {
  std::vector<std::string_view> own, of_layout;
  for (const std::string_view word : words_from(question, 1)) {
    const std::string_view key = word.substr(0, word.find('='));
    constexpr std::array<std::string_view, 5> known = {"pitch", "swizzle", "start", "across",
                                                       "register"};
    const bool is_own = std::find(known.begin(), known.end(), key) != known.end();
    const bool has_value = word.find('=') != word.npos;
    (is_own && has_value ? own : has_value && of_layout.empty() ? own : of_layout).push_back(word);
  }
  const Keys keys(own, {}, {"pitch", "swizzle", "start", "across", "register"});
  const auto step = static_cast<std::uint64_t>(access.bytes);
  Rows rows{static_cast<int>(keys.number("pitch", 1, most_pitch)),
            static_cast<Swizzle>(keys.choice("swizzle", {"none", "32B", "64B", "128B"}, 0)),
            static_cast<std::uint32_t>(keys.number_or("start", 0, most_pitch, 0)),
            static_cast<int>(keys.number_or("across", 1, shared::warp_lanes, 1)),
            {}};
  refuse_unused(keys, access, !of_layout.empty());
  if (!of_layout.empty()) {
    Question part{question.verb, of_layout, question.options};
    rows.fragment = read_map(part, Ask::Whole).map;
    if (!is_of_registers(*rows.fragment) || is_of_cells(*rows.fragment) || access.of_matrices ||
        rows.fragment->element.size() != 2)
      throw UsageError(
          "a fragment says where the lanes of ld.shared and st.shared have their "
          "elements: expected a matrix in registers, such as 'wgmma... D'");
    const auto registers = static_cast<std::uint64_t>(rows.fragment->place[1].extent);
    rows.reg = static_cast<int>(keys.number_or("register", 0, registers - 1, 0));
  }
  for (const std::uint32_t address : addresses_of(access, rows))
    if (address % step != 0)
      throw FaultError(fmt::format(
          "an access of {} bytes a lane goes to byte {:#x}: expected rows, start and columns in "
          "multiples of {}",
          access.bytes, address, access.bytes));
  return rows;
}

std::string phase_text(const Phase& phase, int index) {
  if (phase.passes == 1) return fmt::format("\nphase {}: no conflict", index);
  return fmt::format("\nphase {}: {} passes, in bank {} meet lanes {}", index, phase.passes,
                     phase.worst_bank, fmt::join(phase.lanes, " "));
}

std::string text_of(const Access& access, const std::vector<Phase>& phases,
                    const std::vector<Better>& better) {
  const int now = total(phases);
  const auto best = static_cast<int>(phases.size());
  std::string text = fmt::format("{}: {} pass{} of shared memory, the fewest are {}", access.name,
                                 now, now == 1 ? "" : "es", best);
  for (std::size_t i = 0; i < phases.size(); ++i)
    text += phase_text(phases[i], static_cast<int>(i));
  for (const Better& one : better) text += fmt::format("\nwith {}: {}", one.keys, one.passes);
  return text;
}

constexpr std::string_view phases_note =
    "inferred: that 8 bytes a lane go in two halves of a warp and 16 in four quarters is known "
    "from "
    "profiles, NVIDIA's manuals do not say it";

}  // namespace

Answer banks(const Question& question) {
  const Access access = access_from(word_at(question, 0, access_expected));
  const Rows rows = rows_from(question, access);
  const std::vector<Phase> phases = phases_of(access, rows);
  const std::vector<Better> better = better_than(access, rows, total(phases));
  const bool inferred = phases.size() > 1 && !access.of_matrices;
  if (question.options.style != Style::Json)
    return {Status::Yes,
            text_of(access, phases, better) +
                (inferred ? fmt::format("\nnote: {}", phases_note) : std::string()),
            ""};
  const auto phase_value = [](const Phase& phase) {
    return Value::Members{{"first_lane", phase.first_lane},
                          {"passes", phase.passes},
                          {"bank", phase.worst_bank},
                          {"lanes", list_of(phase.lanes)}};
  };
  return {
      Status::Yes,
      json_text(Value::Members{
          {"access", access.name},
          {"passes", total(phases)},
          {"fewest", phases.size()},
          {"phases", list_of(phases, phase_value)},
          {"better", list_of(better,
                             [](const Better& one) {
                               return Value::Members{{"keys", one.keys}, {"passes", one.passes}};
                             })},
          {"notes", inferred ? Value::List{phases_note} : Value::List{}}}),
      ""};
}

}  // namespace tcq::oracle
