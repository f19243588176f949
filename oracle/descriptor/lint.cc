// Lints of a wgmma descriptor: what only wgmma has, and the word against the tile in which its operand
// lies; see lint.h. What both architectures have in common is word_lint.h.
#include "oracle/descriptor/lint.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "oracle/descriptor/word_lint.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;

struct WgmmaWord {
  using Format = wgmma::MatrixDescriptorFormat;
  using SwizzleMode = wgmma::SwizzleMode;
  static constexpr std::string_view rest_rule = "are set";
  static constexpr std::string_view rest_effect = "; the bits are ignored";
  static bool looks_published(std::uint64_t word) { return wgmma::looks_published(word); }
  static MatrixDescriptor published(std::uint64_t word) { return published::decode(word); }
};

void lint_tcgen05(std::uint64_t word, Sentences& out) {
  using Constant = tcgen05::DescriptorConstant;
  if (!Constant::holds(word)) return;
  out.push_back(fmt::format(
      "{} hold 1, the constant of a tcgen05 shared memory descriptor: wgmma has no field there; "
      "write 0",
      bits_text(Constant{})));
}

void lint_word(std::uint64_t word, Sentences& out) {
  using Constant = tcgen05::DescriptorConstant;
  lint_tcgen05(word, out);
  lint_gaps<WgmmaWord>(Constant::holds(word) ? word & ~Constant::mask : word, out);
  lint_units<WgmmaWord>(word, out);
  lint_phase(wgmma::decode(word), out);
}

// ---- The word in its use ------------------------------------------------------------------------

struct Known {
  wgmma::Form form;
  wgmma::Multiplicand operand;
  Major major;
  Extent instruction;
};

OperandRead read_by(const Known& known) {
  const Type type = wgmma::operand_type(known.form, known.operand);
  return operand_read(known.major, known.instruction.mn, known.instruction.k,
                      static_cast<std::uint32_t>(elements_in(type, 1 << StartAddress::unit_log2)));
}

OffsetsRead offsets_read(const Known& known, Swizzle swizzle) {
  return wgmma::offsets_read(wgmma::operand_type(known.form, known.operand), known.major, swizzle,
                             known.instruction);
}

OperandTile tile_of(const Known& known, Swizzle swizzle, AtomOrder order, Extent extent) {
  return {known.form, known.operand, known.major, swizzle, order, extent};
}

MatrixDescriptor compact_descriptor(const Known& known, const MatrixDescriptor& d, Swizzle swizzle,
                                    AtomOrder order, Extent extent) {
  return first_descriptor(tile_of(known, swizzle, order, extent), d.start_bytes);
}

// True if both words read the same bytes of a tile: offsets that are not read do not count.
bool same_offsets(const Known& known, const MatrixDescriptor& d, const MatrixDescriptor& expected) {
  const OffsetsRead read = offsets_read(known, d.swizzle);
  return (!read.lbo || d.lbo_bytes == expected.lbo_bytes) &&
         (!read.sbo || d.sbo_bytes == expected.sbo_bytes);
}

// Without a tile only the SBO of K-major atoms below each other can be told.
std::string expected_text(const Known& known, const MatrixDescriptor& d,
                          std::optional<Extent> tile) {
  if (!tile && (known.major == Major::MN || d.swizzle == Swizzle::None)) return {};
  const Type type = wgmma::operand_type(known.form, known.operand);
  const auto row =
      static_cast<std::uint32_t>(elements_in(type, static_cast<int>(pitch_bytes(d.swizzle))));
  const Extent extent = tile.value_or(Extent{known.instruction.mn, row});
  if (!misfits(tile_of(known, d.swizzle, AtomOrder::MnFirst, extent)).empty()) return {};
  const MatrixDescriptor e = compact_descriptor(known, d, d.swizzle, AtomOrder::MnFirst, extent);
  const OffsetsRead read = offsets_read(known, d.swizzle);
  if (read.lbo && read.sbo)
    return fmt::format("; expected lbo_bytes {} and sbo_bytes {}", e.lbo_bytes, e.sbo_bytes);
  if (read.sbo) return fmt::format("; expected sbo_bytes {}", e.sbo_bytes);
  return read.lbo ? fmt::format("; expected lbo_bytes {}", e.lbo_bytes) : std::string();
}

bool fits_compact(const Known& known, const MatrixDescriptor& d, Swizzle swizzle, Extent extent) {
  if (!misfits(tile_of(known, swizzle, AtomOrder::MnFirst, extent)).empty()) return false;
  for (const AtomOrder order : {AtomOrder::MnFirst, AtomOrder::KFirst})
    if (same_offsets(known, d, compact_descriptor(known, d, swizzle, order, extent))) return true;
  return false;
}

// tcgen05 writes 2 for 128B; here that is 64B.
void lint_swizzle_code(const Known& known, const MatrixDescriptor& d, Extent extent,
                       Sentences& out) {
  if (d.swizzle != Swizzle::B64 || !fits_compact(known, d, Swizzle::B128, extent)) return;
  out.push_back(fmt::format(
      "swizzle code {} means 64B here and 128B in a tcgen05 descriptor: lbo_bytes {} and sbo_bytes "
      "{} "
      "fit this tile with 128B, whose code is {}",
      swizzle_code<wgmma::SwizzleMode>(Swizzle::B64), d.lbo_bytes, d.sbo_bytes,
      swizzle_code<wgmma::SwizzleMode>(Swizzle::B128)));
}

bool lint_exchanged(const Known& known, const MatrixDescriptor& d, Extent extent, Sentences& out) {
  MatrixDescriptor exchanged = d;
  std::swap(exchanged.lbo_bytes, exchanged.sbo_bytes);
  if (!fits_compact(known, exchanged, d.swizzle, extent)) return false;
  const OffsetRoles roles = roles_of(known.major, d.swizzle);
  const OffsetsRead read = offsets_read(known, d.swizzle);
  out.push_back(fmt::format(
      "lbo_bytes {} and sbo_bytes {} look exchanged: with swizzle {} LBO {} and SBO steps {}{}",
      d.lbo_bytes, d.sbo_bytes, name(d.swizzle),
      read.lbo ? "steps " + roles.lbo : std::string("is not read"), roles.sbo,
      known.major == Major::K      ? ""
      : d.swizzle == Swizzle::None ? "; with swizzle it is the other way round"
                                   : "; without swizzle it is the other way round"));
  return true;
}

// The tile as it would lie with the other major-ness. Only for a K-major reading, which ignores LBO
// in the swizzled modes: the other way round too much fits.
bool lint_stored_mn_major(const Known& known, const MatrixDescriptor& d, Extent extent,
                          Sentences& out) {
  Known other = known;
  other.major = Major::MN;
  if (known.major == Major::MN || !wgmma::has_major(known.form.a) ||
      !fits_compact(other, d, d.swizzle, extent))
    return false;
  out.push_back(
      fmt::format("lbo_bytes {} and sbo_bytes {} fit this tile if it is stored MN-major, but the "
                  "instruction reads it K-major: if it is MN-major, set the transpose immediate",
                  d.lbo_bytes, d.sbo_bytes));
  return true;
}

bool lint_beyond(const Known& known, const MatrixDescriptor& d, Extent extent, Sentences& out) {
  const OffsetsRead read = offsets_read(known, d.swizzle);
  const std::uint32_t bytes =
      compact(tile_of(known, d.swizzle, AtomOrder::MnFirst, extent)).bytes();
  for (const auto& [field, value, is_read] :
       {std::tuple{LeadingByteOffset::name, d.lbo_bytes, read.lbo},
        std::tuple{StrideByteOffset::name, d.sbo_bytes, read.sbo}}) {
    if (!is_read || value < bytes) continue;
    out.push_back(fmt::format(
        "{} field {} means {} bytes, beyond the {}-byte tile: looks like bytes not "
        "divided by 16{}",
        field, value / descriptor_unit_bytes, value, bytes, expected_text(known, d, extent)));
    return true;
  }
  return false;
}

// LBO and SBO against the dense tile in both orders of its atoms.
void lint_compact(const Known& known, const MatrixDescriptor& d, Extent extent, Sentences& out) {
  lint_swizzle_code(known, d, extent, out);
  if (!misfits(tile_of(known, d.swizzle, AtomOrder::MnFirst, extent)).empty() ||
      fits_compact(known, d, d.swizzle, extent))
    return;
  if (lint_stored_mn_major(known, d, extent, out) || lint_exchanged(known, d, extent, out) ||
      lint_beyond(known, d, extent, out))
    return;
  out.push_back(fmt::format("lbo_bytes {} and sbo_bytes {} belong to no dense {} x {} tile{}",
                            d.lbo_bytes, d.sbo_bytes, extent.mn, extent.k,
                            expected_text(known, d, extent)));
}

// How far the start moved since the instruction before, and how far one step along K is.
void lint_advance(const Known& known, std::uint64_t before, std::uint64_t word, Sentences& out) {
  const MatrixDescriptor from = wgmma::decode(before);
  const MatrixDescriptor to = wgmma::decode(word);
  MatrixDescriptor moved = from;
  moved.start_bytes = to.start_bytes;
  if (moved != to)
    out.push_back(
        "the step changed more than start_bytes: it carried out of the start field, or this is "
        "another operand");
  const OperandByte one = wgmma::operand_byte(
      known.major, wgmma::operand_type(known.form, known.operand), {0, known.instruction.k});
  const std::uint32_t pitch = pitch_bytes(from.swizzle);
  const bool leaves_atom = known.major == Major::K && from.swizzle != Swizzle::None &&
                           from.start_bytes % pitch + one.k >= pitch;
  const std::int64_t right = offset_bytes(canonical_layout(from, known.major), one);
  const std::int64_t step = std::int64_t{to.start_bytes} - from.start_bytes;
  if (step == right || leaves_atom) return;
  const char* why = "";
  if (step == right * descriptor_unit_bytes)
    why = ": looks like bytes added to the field, which counts 16-byte units";
  else if (known.major == Major::MN && step == wgmma::stored_k_bytes)
    why =
        ": that is the step of a K-major operand; here it moves along MN and reads the same k "
        "again";
  out.push_back(
      fmt::format("start_bytes moved by {} bytes, but one step of {} k with this descriptor is {} "
                  "bytes{}",
                  step, known.instruction.k, right, why));
}

void lint_use(std::uint64_t word, const DescriptorUse& use, const Known& known, Sentences& out) {
  const MatrixDescriptor d = wgmma::decode(word);
  if (known.major == Major::MN && !wgmma::has_major(known.form.a))
    out.push_back(fmt::format("{} operands cannot be MN-major: {}", tcq::name(known.form.a),
                              info(Fault::MnMajorNeeds16Bit).sentence));
  if (use.operand == wgmma::Multiplicand::A && known.form.a_place == wgmma::Place::Registers)
    out.push_back("A is in registers: this instruction has no descriptor of A");
  const std::size_t before = out.size();
  const OperandRead read = read_by(known);
  lint_overlap(d, read, expected_text(known, d, use.tile), out);
  if (use.tile && out.size() == before) lint_compact(known, d, *use.tile, out);
  lint_reach(d, read, out);
  if (use.advanced_from) lint_advance(known, *use.advanced_from, word, out);
}

}  // namespace

DescriptorRemarks remarks_on(std::uint64_t word, const DescriptorUse& use) {
  DescriptorRemarks out;
  if (lint_published<WgmmaWord>(word, out.lints))
    return out;  // every other field is wrong likewise
  lint_word(word, out.lints);
  const MatrixDescriptor d = wgmma::decode(word);
  if (!use.form || !use.major) {
    lint_sbo(d.swizzle, d.sbo_bytes, out.lints);
    note_lbo_without_use(d, out.notes);
    return out;
  }
  const Known known{*use.form, use.operand, *use.major,
                    wgmma::operand_extent(*use.form, use.operand)};
  lint_use(word, use, known, out.lints);
  if (known.major == Major::K && !is_read(d, read_by(known), &MatrixDescriptor::lbo_bytes))
    out.notes.push_back(ignored_lbo(d, "K-major"));
  return out;
}

}  // namespace tcq::oracle
