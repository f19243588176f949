// Descriptor lints; see lint.h. First those of the word alone, then those of its use.
#include "oracle/descriptor/lint.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/tile/tiling.h"
#include "sim/isa/base/field_gaps.h"
#include "sim/isa/wgmma/descriptor_mistakes.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;
using wgmma::Swizzle;

using Sentences = std::vector<std::string>;

// What start, LBO and SBO count; PTX gives all three one unit.
constexpr std::uint32_t unit_bytes = 1u << wgmma::StartAddress::unit_log2;

std::uint32_t atom_bytes(Swizzle swizzle) { return 8 * wgmma::pitch_bytes(swizzle); }

// ---- The word alone -----------------------------------------------------------------------------

void lint_published(std::uint64_t word, Sentences& out) {
  if (!wgmma::looks_published(word)) return;
  const MatrixDescriptor meant = wgmma::decode_published(word);
  std::string text = fmt::format(
      "{} are set and the swizzle field is 0: the word looks packed with lbo at bit {}, sbo at bit "
      "{}, "
      "base offset at bit {} and swizzle at bit {}, in bytes (tcq errata 004.1)",
      bits_text(wgmma::PublishedSwizzle{}), wgmma::PublishedLeading::low,
      wgmma::PublishedStride::low, wgmma::PublishedBase::low, wgmma::PublishedSwizzle::low);
  if (check(meant) == Fault::None)
    text += fmt::format("; lbo {}, sbo {}, swizzle {} packed right is 0x{:016x}", meant.lbo_bytes,
                        meant.sbo_bytes, name(meant.swizzle), encode(meant));
  out.push_back(text);
}

void lint_tcgen05(std::uint64_t word, Sentences& out) {
  if (wgmma::looks_published(word) || !wgmma::Tcgen05Version::holds(word)) return;
  out.push_back(fmt::format(
      "{} hold 1, the constant of a tcgen05 shared memory descriptor: wgmma has no field there; "
      "write 0",
      bits_text(wgmma::Tcgen05Version{})));
}

// A gap just above a field is where the field's carry goes.
template <class F>
void lint_carry(std::uint64_t word, Sentences& out) {
  for_each_gap(wgmma::MatrixDescriptorFormat{}, [&](auto gap) {
    using Gap = decltype(gap);
    if (Gap::low != F::low + F::width || Gap::code(word) == 0) return;
    out.push_back(
        fmt::format("{} are set: something larger than {} was packed into {}, or an addition "
                    "carried out of it; the "
                    "bits are ignored",
                    bits_text(gap), F::max_value, F::name));
  });
}

// 1024 written into the field instead of 1024 / 16.
template <class F>
void lint_unit(std::uint64_t word, Sentences& out) {
  const Swizzle swizzle = wgmma::decode(word).swizzle;
  if (swizzle == Swizzle::None || F::code(word) != atom_bytes(swizzle)) return;
  out.push_back(fmt::format(
      "{} field {} means {} bytes: looks like bytes not divided by 16; for {} bytes "
      "the field is {}",
      F::name, F::code(word), F::decode(word), F::code(word), F::code(word) / unit_bytes));
}

void lint_phase(const MatrixDescriptor& d, Sentences& out) {
  const SwizzleFunction f = wgmma::swizzle_function(d.swizzle);
  if (f.apply(d.start_bytes, d.base_offset) == d.start_bytes) return;
  std::uint32_t right = 0;
  while (f.apply(d.start_bytes, right) != d.start_bytes) ++right;
  out.push_back(fmt::format(
      "start_bytes 0x{:x} is not where a pattern of {} bytes starts (swizzle {}, base_offset {}): "
      "if the "
      "tile's pattern starts there, base_offset must be {}; if TMA wrote it, move the tile to a "
      "multiple of {} bytes",
      d.start_bytes, atom_bytes(d.swizzle), name(d.swizzle), d.base_offset, right,
      atom_bytes(d.swizzle)));
}

void lint_word(std::uint64_t word, Sentences& out) {
  lint_published(word, out);
  if (wgmma::looks_published(word)) return;  // every other field is wrong for the same reason
  lint_tcgen05(word, out);
  lint_carry<wgmma::StartAddress>(word, out);
  lint_carry<wgmma::LeadingByteOffset>(word, out);
  lint_unit<wgmma::LeadingByteOffset>(word, out);
  lint_unit<wgmma::StrideByteOffset>(word, out);
  lint_phase(wgmma::decode(word), out);
}

// ---- What LBO and SBO step ----------------------------------------------------------------------

enum class Offset { Neither, Lbo, Sbo };

struct Roles {
  std::string lbo;  // "128 bytes of MN"; empty: not read
  std::string sbo;
};

// Found by asking offset_bytes() which of two marked offsets a step adds.
Offset offset_added(Major major, Swizzle swizzle, OperandByte step) {
  constexpr std::uint32_t lbo = 1u << 20, sbo = 1u << 21;
  const std::uint32_t moved = offset_bytes({major, wgmma::pitch_bytes(swizzle), lbo, sbo}, step);
  return moved == lbo ? Offset::Lbo : moved == sbo ? Offset::Sbo : Offset::Neither;
}

Roles roles_of(Major major, Swizzle swizzle) {
  const std::uint32_t pitch = wgmma::pitch_bytes(swizzle);
  struct Step {
    OperandByte by;
    std::string words;
  };
  const std::array<Step, 2> steps =
      major == Major::K ? std::array<Step, 2>{{{{8, 0}, "8 rows"},
                                               {{0, pitch}, fmt::format("{} bytes of K", pitch)}}}
                        : std::array<Step, 2>{{{{0, 8}, "8 k"},
                                               {{pitch, 0}, fmt::format("{} bytes of MN", pitch)}}};
  Roles roles;
  for (const Step& step : steps) {
    const Offset added = offset_added(major, swizzle, step.by);
    if (added == Offset::Lbo) roles.lbo = step.words;
    if (added == Offset::Sbo) roles.sbo = step.words;
  }
  return roles;
}

// ---- The word in its use ------------------------------------------------------------------------

struct Known {
  wgmma::Form form;
  wgmma::Multiplicand operand;
  Major major;
  Extent instruction;
};

wgmma::OffsetsRead offsets_read(const Known& known, Swizzle swizzle) {
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
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
  return (!read.lbo || d.lbo_bytes == expected.lbo_bytes) &&
         (!read.sbo || d.sbo_bytes == expected.sbo_bytes);
}

std::string why_overlapping(const Known& known, const MatrixDescriptor& d) {
  const Roles roles = roles_of(known.major, d.swizzle);
  std::string text;
  const auto blame = [&](const char* field, std::uint32_t value, const std::string& group) {
    if (group.empty() || value >= atom_bytes(d.swizzle)) return;
    text += value == 0 ? fmt::format("; {} 0 repeats the first {}", field, group)
                       : fmt::format("; {} {} lies inside the {}-byte atom", field, value,
                                     atom_bytes(d.swizzle));
  };
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
  if (read.lbo) blame(wgmma::LeadingByteOffset::name, d.lbo_bytes, roles.lbo);
  if (read.sbo) blame(wgmma::StrideByteOffset::name, d.sbo_bytes, roles.sbo);
  return text;
}

// Two elements of the operand that come from one byte. 16 bytes at a time: the swizzle keeps them.
void lint_overlap(const Known& known, const MatrixDescriptor& d, const std::string& expected,
                  Sentences& out) {
  const Type type = wgmma::operand_type(known.form, known.operand);
  const auto chunk = static_cast<std::uint32_t>(elements_in(type, 16));
  const Extent step = known.major == Major::K ? Extent{1, chunk} : Extent{chunk, 1};
  std::unordered_map<std::uint32_t, Extent> seen;
  for (std::uint32_t mn = 0; mn < known.instruction.mn; mn += step.mn) {
    for (std::uint32_t k = 0; k < known.instruction.k; k += step.k) {
      const std::uint32_t at = wgmma::element_address(d, known.major, type, {mn, k});
      const auto [other, fresh] = seen.try_emplace(at, Extent{mn, k});
      if (fresh) continue;
      out.push_back(fmt::format(
          "element (mn {}, k {}) is read from byte 0x{:x}, which is (mn {}, k {}) "
          "as well{}{}",
          mn, k, at, other->second.mn, other->second.k, why_overlapping(known, d), expected));
      return;
    }
  }
}

// Without a tile only the SBO of K-major atoms below each other can be told.
std::string expected_text(const Known& known, const MatrixDescriptor& d,
                          std::optional<Extent> tile) {
  if (!tile && (known.major == Major::MN || d.swizzle == Swizzle::None)) return {};
  const Type type = wgmma::operand_type(known.form, known.operand);
  const auto row = static_cast<std::uint32_t>(
      elements_in(type, static_cast<int>(wgmma::pitch_bytes(d.swizzle))));
  const Extent extent = tile.value_or(Extent{known.instruction.mn, row});
  if (!misfits(tile_of(known, d.swizzle, AtomOrder::MnFirst, extent)).empty()) return {};
  const MatrixDescriptor e = compact_descriptor(known, d, d.swizzle, AtomOrder::MnFirst, extent);
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
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
      static_cast<int>(Swizzle::B64), d.lbo_bytes, d.sbo_bytes, static_cast<int>(Swizzle::B128)));
}

bool lint_exchanged(const Known& known, const MatrixDescriptor& d, Extent extent, Sentences& out) {
  MatrixDescriptor exchanged = d;
  std::swap(exchanged.lbo_bytes, exchanged.sbo_bytes);
  if (!fits_compact(known, exchanged, d.swizzle, extent)) return false;
  const Roles roles = roles_of(known.major, d.swizzle);
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
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
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
  const std::uint32_t bytes =
      compact(tile_of(known, d.swizzle, AtomOrder::MnFirst, extent)).bytes();
  for (const auto& [field, value, is_read] :
       {std::tuple{wgmma::LeadingByteOffset::name, d.lbo_bytes, read.lbo},
        std::tuple{wgmma::StrideByteOffset::name, d.sbo_bytes, read.sbo}}) {
    if (!is_read || value < bytes) continue;
    out.push_back(
        fmt::format("{} field {} means {} bytes, beyond the {}-byte tile: looks like bytes not "
                    "divided by 16{}",
                    field, value / unit_bytes, value, bytes, expected_text(known, d, extent)));
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
  const std::uint32_t pitch = wgmma::pitch_bytes(from.swizzle);
  const bool leaves_atom = known.major == Major::K && from.swizzle != Swizzle::None &&
                           from.start_bytes % pitch + one.k >= pitch;
  const std::int64_t right = offset_bytes(canonical_layout(from, known.major), one);
  const std::int64_t step = std::int64_t{to.start_bytes} - from.start_bytes;
  if (step == right || leaves_atom) return;
  const char* why = "";
  if (step == right * unit_bytes)
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

void lint_reach(const Known& known, const MatrixDescriptor& d, Sentences& out) {
  const OperandByte last =
      wgmma::operand_byte(known.major, wgmma::operand_type(known.form, known.operand),
                          {known.instruction.mn - 1, known.instruction.k - 1});
  const std::uint32_t end = d.start_bytes + offset_bytes(canonical_layout(d, known.major), last);
  if (end >= wgmma::address_space_bytes)
    out.push_back(fmt::format("the operand ends at byte {}, beyond the {} bytes of {} address bits",
                              end, wgmma::address_space_bytes, wgmma::address_bits));
}

void note_unread(const Known& known, const MatrixDescriptor& d, Sentences& out) {
  const wgmma::OffsetsRead read = offsets_read(known, d.swizzle);
  if (known.major == Major::MN || read.lbo) return;
  out.push_back(fmt::format(
      "lbo_bytes {} is ignored: a K-major operand with swizzle {} steps by sbo_bytes only",
      d.lbo_bytes, name(d.swizzle)));
}

void lint_use(std::uint64_t word, const DescriptorUse& use, const Known& known, Sentences& out) {
  const MatrixDescriptor d = wgmma::decode(word);
  if (known.major == Major::MN && !wgmma::has_major(known.form.a))
    out.push_back(fmt::format("{} operands cannot be MN-major: {}", tcq::name(known.form.a),
                              info(Fault::MnMajorNeeds16Bit).sentence));
  if (use.operand == wgmma::Multiplicand::A && known.form.a_place == wgmma::Place::Registers)
    out.push_back("A is in registers: this instruction has no descriptor of A");
  const std::size_t before = out.size();
  lint_overlap(known, d, expected_text(known, d, use.tile), out);
  if (use.tile && out.size() == before) lint_compact(known, d, *use.tile, out);
  lint_reach(known, d, out);
  if (use.advanced_from) lint_advance(known, *use.advanced_from, word, out);
}

void note_without_use(const MatrixDescriptor& d, Sentences& out) {
  if (d.swizzle == Swizzle::None) return;
  out.push_back(
      fmt::format("lbo_bytes {} is ignored if the operand is dense and K-major (swizzle {})",
                  d.lbo_bytes, name(d.swizzle)));
}

void lint_without_use(const MatrixDescriptor& d, Sentences& out) {
  if (d.swizzle == Swizzle::None || d.sbo_bytes >= atom_bytes(d.swizzle)) return;
  const std::string groups =
      fmt::format("groups of {} (K-major) or {} (MN-major)", roles_of(Major::K, d.swizzle).sbo,
                  roles_of(Major::MN, d.swizzle).sbo);
  out.push_back(d.sbo_bytes == 0
                    ? fmt::format("sbo_bytes 0 repeats the first of all {}", groups)
                    : fmt::format("sbo_bytes {} lies inside the {}-byte atom: {} overlap",
                                  d.sbo_bytes, atom_bytes(d.swizzle), groups));
}

}  // namespace

DescriptorRemarks remarks_on(std::uint64_t word, const DescriptorUse& use) {
  DescriptorRemarks out;
  lint_word(word, out.lints);
  if (wgmma::looks_published(word)) return out;
  const MatrixDescriptor d = wgmma::decode(word);
  if (use.form && use.major) {
    const Known known{*use.form, use.operand, *use.major,
                      wgmma::operand_extent(*use.form, use.operand)};
    lint_use(word, use, known, out.lints);
    note_unread(known, d, out.notes);
  } else {
    lint_without_use(d, out.lints);
    note_without_use(d, out.notes);
  }
  return out;
}

}  // namespace tcq::oracle
