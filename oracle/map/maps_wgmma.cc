// Maps of wgmma: D, C, A and the metadata E in registers, A and B in shared memory.
//
// E counts as a matrix of 4-bit codes: its columns are chunks of K, and the part of its register is the
// nibble. All arithmetic is sim/isa's. Example: D[9][13] of m64n24k16 with f32 is thread 6, register 7.
#include <fmt/format.h>

#include "oracle/map/asked.h"
#include "oracle/map/metadata.h"
#include "oracle/ptx/atoms.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/cta_tile.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;
using wgmma::Form;
using wgmma::Slot;

constexpr int largest_n = 256;
constexpr int most_registers = 255;

// ---- Registers ----------------------------------------------------------------------------------

std::vector<Axis> register_axes(int registers, int largest, int parts) {
  return {{.name = "thread", .extent = wgmma::threads_per_warpgroup},
          {.name = "register",
           .extent = registers,
           .alias = "reg",
           .missing = Missing::All,
           .largest = largest},
          {.name = "part", .extent = parts, .missing = Missing::All}};
}

Map register_map(Type type, int rows, int cols, int registers, int largest,
                 Slot (*slot_of)(Type, Element), Element (*element_of)(Type, Slot)) {
  Map map;
  map.bits = bits(type);
  map.element = {{.name = "row", .extent = rows}, {.name = "col", .extent = cols}};
  map.place = register_axes(registers, largest, parts_per_register(type));
  map.places = [=](const Coords& e) {
    const Slot slot = slot_of(type, {e[0], e[1]});
    return std::vector<Coords>{{slot.thread, slot.reg, slot.part}};
  };
  map.element_at = [=](const Coords& at) {
    const Element e = element_of(type, {at[0], at[1], at[2]});
    return Coords{e.row, e.col};
  };
  return map;
}

Map accumulator_map(const Form& f) {
  return register_map(f.d, wgmma::m, f.n, wgmma::accumulator_registers(f.d, f.n),
                      wgmma::accumulator_registers(f.d, largest_n), wgmma::accumulator_slot,
                      wgmma::accumulator_element);
}

// ---- A tile of several warpgroups ---------------------------------------------------------------

bool is_of_tile(const Keys& keys) { return keys.has("bM") || keys.has("bN") || keys.has("atoms"); }

wgmma::CtaTile cta_tile_from(const Form& f, const Keys& keys) {
  constexpr std::uint64_t longest = 4096;
  const Atoms atoms = parse_atoms(keys.text("atoms", "1x1x1"));
  if (atoms.k != 1)
    throw UsageError(
        "warpgroups along K have a D each, which is added later: expected atoms=MxNx1");
  const wgmma::CtaTile tile = {
      f.d,
      f.n,
      static_cast<int>(keys.number_or("bM", 1, longest, std::uint64_t{wgmma::m} * atoms.m)),
      static_cast<int>(keys.number_or("bN", 1, longest, static_cast<std::uint64_t>(f.n) * atoms.n)),
      static_cast<int>(atoms.m),
      static_cast<int>(atoms.n)};
  if (!exists(tile))
    throw FaultError(
        fmt::format("a tile of {} x {} is not made of {} x {} warpgroups with instructions of 64 x "
                    "{}: expected bM in multiples of {}, bN in multiples of {}",
                    tile.rows, tile.cols, tile.groups_m, tile.groups_n, f.n,
                    wgmma::m * tile.groups_m, f.n * tile.groups_n));
  return tile;
}

Map tile_map(const wgmma::CtaTile& tile) {
  Map map;
  map.bits = bits(tile.d);
  map.element = {{.name = "row", .extent = tile.rows}, {.name = "col", .extent = tile.cols}};
  map.place = register_axes(registers(tile), 0, parts_per_register(tile.d));
  map.place[0].extent = threads(tile);
  map.places = [=](const Coords& e) {
    const Slot s = slot(tile, {e[0], e[1]});
    return std::vector<Coords>{{s.thread, s.reg, s.part}};
  };
  map.element_at = [=](const Coords& at) {
    const Element e = element(tile, {at[0], at[1], at[2]});
    return Coords{e.row, e.col};
  };
  map.blocks = true;
  if (registers(tile) > most_registers)
    map.notes.push_back(fmt::format("{} registers of each thread: a thread has {} at most",
                                    registers(tile), most_registers));
  return map;
}

Map a_register_map(const Form& f) {
  const int stored = wgmma::stored_k(f.a);
  Map map =
      register_map(f.a, wgmma::m, stored, wgmma::a_registers, 0, wgmma::a_slot, wgmma::a_element);
  map.spread = k(f) / stored;
  return map;
}

Map metadata_map(const Instruction& instruction) {
  const Type type = instruction.form.a;
  const int selector = instruction.selector;
  Map map;
  map.space = Space::Metadata;
  map.bits = wgmma::metadata_code_bits;
  map.spread = wgmma::chunk_elements(type);
  map.element = {{.name = "row", .extent = wgmma::m},
                 {.name = "k", .extent = wgmma::chunks_per_row(type), .step = map.spread}};
  map.place = register_axes(1, 0, wgmma::metadata_nibbles);
  map.place[1].missing = Missing::Zero;
  map.place[2].alias = "nibble";
  map.places = [=](const Coords& e) {
    const auto [thread, nibble] = wgmma::metadata_slot(type, selector, {e[0], e[1]});
    return std::vector<Coords>{{thread, 0, nibble}};
  };
  map.element_at = [=](const Coords& at) {
    const auto [row, chunk] = wgmma::metadata_chunk(type, {at[0], at[2]});
    return Coords{row, chunk};
  };
  map.nothing = fmt::format("holds nothing: its metadata is not read with selector={}", selector);
  return map;
}

// ---- Shared memory ------------------------------------------------------------------------------

struct Operand {
  Type type;
  Major major;
  bool is_b;

  wgmma::OperandElement element(const Coords& e) const {
    const auto row = static_cast<std::uint32_t>(e[0]);
    const auto col = static_cast<std::uint32_t>(e[1]);
    return is_b ? wgmma::OperandElement{col, row} : wgmma::OperandElement{row, col};
  }
  int k(const Coords& e) const { return is_b ? e[0] : e[1]; }
};

// A place of its own only once a descriptor is known.
Map operand_map(const Form& f, bool is_b) {
  Map map;
  map.matrix = is_b ? "B" : "A";
  map.space = Space::SharedMemory;
  map.window_end = sm_shared_bytes;
  map.bits = bits(is_b ? f.b : f.a);
  map.element = {{.name = "row", .extent = is_b ? k(f) : wgmma::m},
                 {.name = "col", .extent = is_b ? f.n : wgmma::stored_k(f.a)}};
  map.place = {{.name = "cta", .extent = 1},
               {.name = "byte", .extent = 0},
               {.name = "low_bit", .extent = 8}};
  return map;
}

void set_descriptor(Map& map, const Form& f, std::uint64_t word) {
  const wgmma::MatrixDescriptor d = wgmma::decode(word);
  const bool is_b = map.matrix == "B";
  const Operand operand{is_b ? f.b : f.a, is_b ? f.major_b : f.major_a, is_b};
  const auto bit = [=](const Coords& e) { return wgmma::bit_in_byte(operand.type, operand.k(e)); };
  map.places = [=](const Coords& e) {
    const std::uint32_t byte = element_address(d, operand.major, operand.type, operand.element(e));
    return std::vector<Coords>{{0, static_cast<int>(byte), bit(e)}};
  };
  map.addressing = {
      [=](const Coords& e) {
        const OperandByte at = operand_byte(operand.major, operand.type, operand.element(e));
        return static_cast<int>(8 * offset_bytes(canonical_layout(d, operand.major), at)) + bit(e);
      },
      d.start_bytes,
      d.base_offset,
      swizzle_function(d.swizzle),
      true,
      operand.major};
}

// ---- Questions ----------------------------------------------------------------------------------

constexpr std::array<std::string_view, 5> matrix_names = {"A", "B", "C", "D", "E"};

std::string_view matrix_from(const Question& question, Ask ask) {
  const std::string_view word = word_at(
      question, 1, ask == Ask::Bytes ? "A or B" : "a matrix, A, B, C, D or E, after the mnemonic");
  const std::span<const std::string_view> known(matrix_names.data(), ask == Ask::Bytes ? 2 : 5);
  for (const std::string_view name : known)
    if (same_word(word, name)) return name;
  throw_unknown(ask == Ask::Bytes ? "matrix in shared memory" : "matrix", word, known);
}

// The keys of the coordinates that a verb asks for, and those of a tile where the matrix may be one's.
Keys keys_from(const Question& question, Ask ask, std::string_view matrix) {
  const std::span<const std::string_view> words = words_from(question, 2);
  std::vector<std::string_view> allowed(std::begin(instruction_keys), std::end(instruction_keys));
  const auto add = [&](std::initializer_list<std::string_view> keys) {
    allowed.insert(allowed.begin(), keys);
  };
  const bool metadata = matrix == "E";
  const bool tiled = matrix == "D" || matrix == "C";
  if (tiled) add({"bM", "bN", "atoms"});
  if (ask == Ask::Place && metadata) return Keys(words, allowed, {"thread", "nibble", "part"});
  if (ask == Ask::Place)
    return Keys(words, allowed,
                {"thread", "warp", "lane", "register", "reg", "part", "desc", "byte", "bytes"});
  if (ask != Ask::Element) return Keys(words, allowed, {"desc"});
  if (metadata) return Keys(words, allowed, {"row", "k"});
  if (matrix == "D") add({input_keys[0], input_keys[1], input_keys[2], input_keys[3]});
  return Keys(words, allowed, {"row", "col", "desc"});
}

bool is_in_registers(const Form& f, std::string_view matrix) {
  return matrix != "B" && (matrix != "A" || f.a_place == wgmma::Place::Registers);
}

[[noreturn]] void throw_no_place(std::string_view matrix, Ask ask) {
  if (ask == Ask::Place)
    throw UsageError(fmt::format(
        "{} is not in registers: expected C, D, {}, or desc= and byte= for what lies in shared "
        "memory",
        matrix, matrix == "A" ? "a=regs for A" : "A with a=regs"));
  if (ask == Ask::Bytes)
    throw UsageError("desc= is missing: expected desc= with a 64-bit descriptor word");
  if (matrix == "B")
    throw UsageError(
        "desc= is missing: B always lies in shared memory, expected desc=WORD with its "
        "matrix descriptor (tcq layout finds one)");
  throw UsageError(
      "A has no place yet: expected a=regs for its register fragment, or desc=WORD with "
      "its matrix descriptor for byte addresses in shared memory");
}

void refuse_keys(const Keys& keys, std::initializer_list<std::string_view> others,
                 std::string_view matrix, std::string_view where) {
  for (const std::string_view key : others)
    if (keys.has(key))
      throw UsageError(fmt::format("{}= does not apply to {} in {}: expected {}", key, matrix,
                                   where,
                                   key.starts_with("byte") ? "thread= and register=" : "byte="));
}

Map in_registers(const Instruction& instruction, std::string_view matrix, const Keys& keys) {
  const Form& f = instruction.form;
  if (matrix == "E" && !f.sparse)
    throw UsageError(
        fmt::format("matrix E is the metadata of sparse forms: expected A, B, C or D of "
                    "'{}', or a wgmma.sp mnemonic",
                    short_mnemonic(f)));
  if (matrix == "E") return metadata_map(instruction);
  if (is_of_tile(keys)) return tile_map(cta_tile_from(f, keys));
  return matrix == "A" ? a_register_map(f) : accumulator_map(f);
}

Map map_of(const Instruction& instruction, std::string_view matrix, const Keys& keys, Ask ask) {
  const Form& f = instruction.form;
  Map map;
  if (is_in_registers(f, matrix)) {
    if (ask == Ask::Bytes)
      throw UsageError("a=regs: A in registers has no descriptor; expected B, or a=smem");
    map = in_registers(instruction, matrix, keys);
    if (ask == Ask::Place) refuse_keys(keys, {"byte", "bytes"}, matrix, "registers");
    if (keys.has("desc"))
      throw UsageError(
          fmt::format("desc= is for operands in shared memory, but {} is in registers: "
                      "expected no desc=",
                      matrix));
  } else {
    map = operand_map(f, matrix == "B");
    if (!keys.has("desc")) throw_no_place(matrix, ask);
    if (ask == Ask::Place)
      refuse_keys(keys, {"thread", "warp", "lane", "register", "reg", "part"}, matrix,
                  "shared memory");
    set_descriptor(map, f, parse_number(keys.text("desc", ""), "desc="));
  }
  map.matrix = matrix;
  return map;
}

// ---- Inputs -------------------------------------------------------------------------------------

void read_descriptor(Map& map, const Form& f, const Keys& keys, std::string_view key) {
  if (!keys.has(key)) return;
  if (is_of_registers(map))
    throw UsageError(
        fmt::format("{}= is for shared memory, but A is in registers: expected no {}=", key, key));
  set_descriptor(map, f, parse_number(keys.text(key, ""), std::string(key) + "="));
}

std::vector<std::uint32_t> codes_from(const Form& form, const Keys& keys) {
  if (!keys.has("codes")) return {};
  if (!form.sparse) throw UsageError("codes= is for wgmma.sp only: expected no codes=");
  const std::vector<std::uint32_t> codes = parse_codes(keys.text("codes", ""), form.a);
  check_codes(codes, form.a);
  return codes;
}

Sum sum_of(const Instruction& instruction, const Keys& keys, const Coords& d) {
  const Form& form = instruction.form;
  const bool registers = is_in_registers(form, "A");
  Sum sum{registers ? a_register_map(form) : operand_map(form, false),
          operand_map(form, true),
          {},
          {},
          form.negate_a,
          form.negate_b,
          instruction.accumulate,
          {},
          0};
  sum.a.matrix = "A";
  read_descriptor(sum.a, form, keys, "desc_a");
  read_descriptor(sum.b, form, keys, "desc_b");
  const std::vector<std::uint32_t> codes = codes_from(form, keys);
  for (int col = 0; col < sum.a.element[1].extent; ++col) {
    Product product{{d[0], col}, {}};
    const std::vector<int> rows =
        form.sparse ? logical_ks(form.a, col, codes) : std::vector<int>{col};
    for (const int row : rows) product.b.push_back({row, d[1]});
    sum.products.push_back(std::move(product));
  }
  sum.written = keys.number_or("terms", 1, sum.products.size(), sum.products.size());
  return sum;
}

// " bM=128 bN=256 atoms=2x1x1" as far as they are given.
std::string tile_words(const Keys& keys) {
  std::string text;
  for (const std::string_view key : {"bM", "bN", "atoms"})
    if (keys.has(key)) text += fmt::format(" {}={}", key, printable(keys.text(key, "")));
  return text;
}

Asked read_warpgroup(const Question& question, Ask ask) {
  const std::string_view matrix = matrix_from(question, ask);
  Asked asked{keys_from(question, ask, matrix), {}};
  const bool inputs = question.options.inputs;
  if (ask == Ask::Element) refuse_input_keys(question, asked.keys);
  if (inputs && is_of_tile(asked.keys))
    throw UsageError("--inputs explains one instruction: expected it without bM=, bN= and atoms=");
  if (inputs && matrix != "D")
    throw UsageError(fmt::format("--inputs explains outputs: expected matrix D, not {}", matrix));
  const Instruction instruction = instruction_of(question, asked.keys);
  asked.map = map_of(instruction, matrix, asked.keys, ask);
  if (ask == Ask::Whole)
    asked.map.title =
        fmt::format("{} of {}{}", matrix, mnemonic_with_keys(instruction), tile_words(asked.keys));
  if (inputs)
    asked.sum = [instruction, keys = asked.keys](const Coords& d) {
      return sum_of(instruction, keys, d);
    };
  return asked;
}

}  // namespace

const Family warpgroup_family = {[](std::string_view) { return true; }, read_warpgroup};

}  // namespace tcq::oracle
