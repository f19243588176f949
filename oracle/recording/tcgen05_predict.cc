// Predictions for ld, st, cp and shift; see tcgen05_predict.h.
#include "oracle/recording/tcgen05_predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/address.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr int warps = tmem_lanes / lanes_per_warp;
constexpr std::uint32_t whole_word = 0xffffffff;
constexpr int half_bits = 16;
constexpr int byte_bits = 8;

std::size_t index_of(Cell cell) {
  return static_cast<std::size_t>(cell.tmem_lane * tmem_columns + cell.tmem_column);
}

bool exists(Cell cell) {
  return cell.tmem_lane >= 0 && cell.tmem_lane < tmem_lanes && cell.tmem_column >= 0 &&
         cell.tmem_column < tmem_columns;
}

Tcgen05Prediction unknown(std::string why) { return {std::move(why)}; }

// ---- ld, st -------------------------------------------------------------------------------------

template <class Form>
Fragment fragment_of(const Form& form, int half_split) {
  bool packed = false;
  if constexpr (requires { form.pack; }) packed = form.pack;
  if constexpr (requires { form.unpack; }) packed = form.unpack;
  return {form.shape, form.num, packed, half_split};
}

// Calls visit(cell, index of the register in the case, half) for every slot of 128 threads.
template <class Visit>
bool for_each_slot(const Tcgen05Case& c, const Fragment& f, Visit&& visit) {
  for (int warp = 0; warp < warps; ++warp) {
    const TmemAddress at = decode_tmem_address(c.operands.taddr[static_cast<std::size_t>(warp)]);
    if (!is_lane_base(f.shape, warp, at.tmem_lane)) return false;
    for (int lane = 0; lane < lanes_per_warp; ++lane)
      for (int reg = 0; reg < registers(f); ++reg)
        for (int half = 0; half < halves(f); ++half) {
          const Cell relative = fragment_cell(f, {lane, reg, half});
          const Cell cell = {at.tmem_lane + relative.tmem_lane,
                             at.tmem_column + relative.tmem_column};
          if (!exists(cell)) return false;
          const int thread = lanes_per_warp * warp + lane;
          visit(cell, static_cast<std::size_t>(thread * registers(f) + reg), half);
        }
  }
  return true;
}

constexpr const char* beyond =
    "an address reaches beyond Tensor Memory, or names a lane that its warp cannot";

// Registers, then for ld.red 128 reduced words that nobody models, then Tensor Memory.
Tcgen05Prediction predict_load(const Tcgen05Case& c, const Tcgen05State& before, const Fragment& f,
                               bool reduces) {
  Tcgen05Prediction p;
  p.output.resize(static_cast<std::size_t>(warps * lanes_per_warp * registers(f)));
  const std::vector<std::uint32_t>& tmem = before.tmem[0];
  const bool fits = for_each_slot(c, f, [&](Cell cell, std::size_t reg, int half) {
    const std::uint32_t word = tmem[index_of(cell)];
    if (f.packed)
      p.output[reg] |= (word & low_half) << (half_bits * half);
    else
      p.output[reg] = word;
  });
  if (!fits) return unknown(beyond);
  p.known.assign(p.output.size(), whole_word);
  if (reduces) {
    p.output.resize(p.output.size() + warps * lanes_per_warp);
    p.known.resize(p.output.size());
  }
  p.output.insert(p.output.end(), tmem.begin(), tmem.end());
  p.known.resize(p.output.size(), whole_word);
  return p;
}

// .unpack::16b leaves open what the high half of a cell becomes.
Tcgen05Prediction predict_store(const Tcgen05Case& c, const Tcgen05State& before,
                                const Fragment& f) {
  if (!is_one_to_one(f)) return unknown("two threads store to one cell");
  Tcgen05Prediction p = unchanged(before);
  const bool fits = for_each_slot(c, f, [&](Cell cell, std::size_t reg, int half) {
    const std::uint32_t word = before.registers[reg];
    p.output[index_of(cell)] = f.packed ? word >> (half_bits * half) & low_half : word;
    if (f.packed) p.known[index_of(cell)] = low_half;
  });
  return fits ? p : unknown(beyond);
}

// ---- cp -----------------------------------------------------------------------------------------

constexpr int unit_bytes = cp_unit_elements;  // of a row as it arrives

// The bits that go into byte `byte` of a row, and which bits of it they are.
struct CopiedByte {
  std::uint32_t value;
  std::uint32_t known;
};

CopiedByte copied_byte(const std::vector<std::uint8_t>& shared, const CpOperand& source, CpByte to,
                       int element_bits) {
  const auto read = [&](int byte) -> std::uint32_t {
    return shared[cp_address(source, {to.row, byte}) - tcgen05_shared_base];
  };
  if (element_bits == byte_bits) return {read(to.byte), 0xff};
  const int unit = to.byte / unit_bytes * unit_bytes;
  const Unpacked at = decompressed(element_bits, to.byte % unit_bytes);
  const int first = unit + at.source_low_bit / byte_bits;
  const int last = std::min(first + 1, unit + unit_bytes - 1);
  const std::uint32_t two = read(first) | read(last) << byte_bits;
  const std::uint32_t mask = (1u << element_bits) - 1;
  const std::uint32_t element = two >> at.source_low_bit % byte_bits & mask;
  return {element << at.low_bit, mask << at.low_bit};
}

bool reads_inside(const CpOperand& source, CpShape shape) {
  for (int row = 0; row < cp_rows(shape); ++row)
    for (int byte = 0; byte < cp_row_bytes(shape); ++byte) {
      const std::uint32_t address = cp_address(source, {row, byte});
      if (address < tcgen05_shared_base || address - tcgen05_shared_base >= tcgen05_shared_bytes)
        return false;
    }
  return true;
}

void set_byte(Tcgen05Prediction& p, std::size_t word, int byte, CopiedByte from) {
  const int shift = byte_bits * byte;
  p.output[word] = (p.output[word] & ~(0xffu << shift)) | from.value << shift;
  p.known[word] = (p.known[word] & ~(0xffu << shift)) | from.known << shift;
}

Tcgen05Prediction predict_copy(const Tcgen05Case& c, const Tcgen05State& before,
                               const CpForm& form) {
  const CpShape shape = cp_shape(form);
  const SmemDescriptor desc = decode(c.operands.desc);
  if (const Fault fault = check_word(c.operands.desc); fault != Fault::None)
    return unknown(info(fault).sentence);
  if (const Fault fault = check_cp_source(desc); fault != Fault::None)
    return unknown(info(fault).sentence);
  const CpOperand source = cp_operand(desc);
  if (!reads_inside(source, shape)) return unknown("the copy reads outside the recorded memory");
  const TmemAddress at = decode_tmem_address(c.operands.taddr[0]);
  Tcgen05Prediction p = unchanged(before);
  for (std::size_t cta = 0; cta < before.tmem.size(); ++cta)
    for (int row = 0; row < cp_rows(shape); ++row)
      for (int byte = 0; byte < cp_row_bytes(shape); ++byte)
        for (int copy = 0; copy < cp_copies(shape); ++copy) {
          const CellByte to = cp_place(shape, {row, byte}, copy);
          const Cell cell = {at.tmem_lane + to.tmem_lane, at.tmem_column + to.tmem_column};
          if (!exists(cell)) return unknown(beyond);
          set_byte(
              p, cta * tmem_words + index_of(cell), to.byte,
              copied_byte(before.shared[cta], source, {row, byte}, cp_element_bits(form.source)));
        }
  return p;
}

// ---- shift --------------------------------------------------------------------------------------

// Known are the columns of one shift in the 32 lanes of the address, and all columns before them.
Tcgen05Prediction predict_shift(const Tcgen05Case& c, const Tcgen05State& before) {
  const TmemAddress at = decode_tmem_address(c.operands.taddr[0]);
  if (check(at) != Fault::None || at.tmem_lane % lanes_per_warp != 0) return unknown(beyond);
  Tcgen05Prediction p = unchanged(before);
  for (std::size_t cta = 0; cta < before.tmem.size(); ++cta)
    for (int lane = 0; lane < tmem_lanes; ++lane) {
      const ShiftSource from = shift_source(lane);
      const bool moves = lane / lanes_per_warp == at.tmem_lane / lanes_per_warp;
      for (int column = at.tmem_column; column < tmem_columns; ++column) {
        const std::size_t word = cta * tmem_words + index_of({lane, column});
        const bool known =
            moves && from.fault == Fault::None && column < at.tmem_column + shift_columns;
        p.known[word] = known ? whole_word : 0;
        if (known) p.output[word] = before.tmem[cta][index_of({from.tmem_lane, column})];
      }
    }
  return p;
}

struct Predict {
  const Tcgen05Case& c;
  const Tcgen05State& before;

  Tcgen05Prediction operator()(const MmaForm&) const { return predict_mma(c, before); }
  Tcgen05Prediction operator()(const CpForm& f) const { return predict_copy(c, before, f); }
  Tcgen05Prediction operator()(const ShiftForm&) const { return predict_shift(c, before); }
  Tcgen05Prediction operator()(const LdForm& f) const {
    return predict_load(c, before, fragment_of(f, c.immediate), false);
  }
  Tcgen05Prediction operator()(const LdRedForm& f) const {
    return predict_load(c, before, fragment_of(f, c.immediate), true);
  }
  Tcgen05Prediction operator()(const StForm& f) const {
    return predict_store(c, before, fragment_of(f, c.immediate));
  }
  Tcgen05Prediction operator()(const AllocSequence&) const {
    return unknown("where the hardware places an allocation is not documented");
  }
};

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint8_t> bytes(words.size() * sizeof words[0]);
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::string cell_text(std::size_t word) {
  return fmt::format("CTA {}, tmem_lane {}, tmem_column {}", word / tmem_words,
                     word % tmem_words / tmem_columns, word % tmem_columns);
}

}  // namespace

Tcgen05Prediction unchanged(const Tcgen05State& before) {
  Tcgen05Prediction p;
  for (const std::vector<std::uint32_t>& tmem : before.tmem)
    p.output.insert(p.output.end(), tmem.begin(), tmem.end());
  p.known.assign(p.output.size(), whole_word);
  return p;
}

Tcgen05Prediction predict_words(const Tcgen05Case& c, const Tcgen05State& before) {
  return std::visit(Predict{c, before}, c.form);
}

Prediction predict(const Tcgen05Case& c, const Inputs&, const Tcgen05State& before) {
  Tcgen05Prediction words = predict_words(c, before);
  Prediction p;
  p.output = bytes_of(words.output);
  p.known = bytes_of(words.known);
  p.unmodelled = std::move(words.unmodelled);
  return p;
}

std::string place(const Tcgen05Case& c, const Inputs&, std::size_t at) {
  std::size_t word = at / sizeof(std::uint32_t);
  const bool reduces = std::holds_alternative<LdRedForm>(c.form);
  if (!reduces && !std::holds_alternative<LdForm>(c.form)) return cell_text(word);
  const auto count = static_cast<std::size_t>(register_count(c.form));
  constexpr std::size_t threads = warps * lanes_per_warp;
  if (word < threads * count)
    return fmt::format("thread {}, register {}", word / count, word % count);
  word -= threads * count;
  if (!reduces) return cell_text(word);
  return word < threads ? fmt::format("reduced word of thread {}", word)
                        : cell_text(word - threads);
}

}  // namespace tcq::oracle
