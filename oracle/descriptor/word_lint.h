// The lints that shared-memory descriptors of both architectures have in common: published packing,
// bits above a field, bytes not divided by 16, the phase of the start, overlap, reach, offsets that
// are not read.
//
// Decides the sentences; the architecture decides what a right word is. Arch says what differs:
//   Format, SwizzleMode, decode(word), looks_published(word), published(word) (what was meant),
//   rest_rule and rest_effect (what bits of no field are).
// A descriptor brings check(), encode(), linear_address() and byte_address(). lint.cc and
// tcgen05_smem_lint.cc add the rest.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/answer/decoded_word.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/field_gaps.h"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"

namespace tcq::oracle {

using Sentences = std::vector<std::string>;

inline constexpr int descriptor_bits = 64;

// ---- The word alone -----------------------------------------------------------------------------

// True if the word is packed by the published table: every other field is wrong for that reason.
template <class Arch>
bool lint_published(std::uint64_t word, Sentences& out) {
  if (!Arch::looks_published(word)) return false;
  const auto meant = Arch::published(word);
  std::string text = fmt::format(
      "{} are set and the swizzle field is 0: the word looks packed with lbo at bit {}, sbo at bit "
      "{}, base offset at bit {} and swizzle at bit {}, in bytes (tcq errata 004.1)",
      bits_text(published::Mode{}), published::Leading::low, published::Stride::low,
      published::Base::low, published::Mode::low);
  if (check(meant) == Fault::None)
    text +=
        fmt::format("; lbo {}, sbo {}, swizzle {} packed right is {}", meant.lbo_bytes,
                    meant.sbo_bytes, name(meant.swizzle), hex_word(encode(meant), descriptor_bits));
  out.push_back(text);
  return true;
}

// ": something larger than 262128 was packed into lbo_bytes ..."; a gap just above a field of 16-byte
// units is where the field's carry goes.
template <class Format, class Gap>
std::string carry_text(Gap) {
  std::string text;
  Format::for_each([&](auto field) {
    using F = decltype(field);
    if constexpr (F::unit_log2 != 0)
      if (F::low + F::width == Gap::low)
        text = fmt::format(
            ": something larger than {} was packed into {}, or an addition carried out of it",
            F::max_value, F::name);
  });
  return text;
}

// Bits of no field: always a lint where they must be 0, else only if a carry may have set them.
template <class Arch>
void lint_gaps(std::uint64_t word, Sentences& out) {
  for_each_gap(typename Arch::Format{}, [&](auto gap) {
    if (decltype(gap)::code(word) == 0) return;
    const std::string carry = carry_text<typename Arch::Format>(gap);
    if (carry.empty() && !Arch::rest_effect.empty()) return;
    out.push_back(
        fmt::format("{} {}{}{}", bits_text(gap), Arch::rest_rule, carry, Arch::rest_effect));
  });
}

template <class F>
void lint_unit(std::uint64_t word, Sentences& out) {
  out.push_back(fmt::format(
      "{} field {} means {} bytes: looks like bytes not divided by 16; for {} bytes the field is "
      "{}",
      F::name, F::code(word), F::decode(word), F::code(word),
      F::code(word) / descriptor_unit_bytes));
}

// 1024 written into the fields instead of 1024 / 16. An LBO of 16 atoms is common, an SBO is not,
// unless the atoms are small.
template <class Arch>
void lint_units(std::uint64_t word, Sentences& out) {
  const Swizzle swizzle = decode_swizzle<typename Arch::SwizzleMode>(word);
  const std::uint32_t atom = atom_bytes(swizzle);
  if (pitch_bytes(swizzle) < 64 || StrideByteOffset::code(word) != atom) return;
  lint_unit<StrideByteOffset>(word, out);
  if (LeadingByteOffset::code(word) == atom) lint_unit<LeadingByteOffset>(word, out);
}

template <class Descriptor>
void lint_phase(const Descriptor& d, Sentences& out) {
  const SwizzleFunction f = swizzle_function(d.swizzle);
  if (f.apply(d.start_bytes, d.base_offset) == d.start_bytes) return;
  std::uint32_t right = 0;
  while (f.apply(d.start_bytes, right) != d.start_bytes) ++right;
  out.push_back(fmt::format(
      "start_bytes 0x{:x} is not where a pattern of {} bytes starts (swizzle {}, base_offset {}): "
      "if the tile's pattern starts there, base_offset must be {}; if TMA wrote it, move the tile "
      "to a multiple of {} bytes",
      d.start_bytes, atom_bytes(d.swizzle), name(d.swizzle), d.base_offset, right,
      atom_bytes(d.swizzle)));
}

// ---- What LBO and SBO step ----------------------------------------------------------------------

struct OffsetRoles {
  std::string lbo;  // "128 bytes of MN"; empty: one instruction does not step that far
  std::string sbo;
};

// Found by asking offset_bytes() which of two marked offsets a step adds.
OffsetRoles roles_of(Major major, Swizzle swizzle);

// "; sbo_bytes 0 repeats the first 8 rows"; empty if the offset steps over an atom.
std::string inside_atom_text(std::string_view field, std::uint32_t value, const std::string& group,
                             Swizzle swizzle);

// Whatever the instruction: swizzled groups that follow each other by less than an atom.
void lint_sbo(Swizzle swizzle, std::uint32_t sbo_bytes, Sentences& out);

// ---- The word in its use ------------------------------------------------------------------------

// 16 bytes along the contiguous direction, which the swizzle keeps together, and their first element.
struct OperandUnit {
  OperandByte at;
  std::uint32_t mn;
  std::uint32_t k;
};

// Everything that one instruction reads of an operand, K fastest.
struct OperandRead {
  Major major;
  std::vector<OperandUnit> units;
};

// `mn` x `k` elements, `per_unit` of them in 16 bytes.
OperandRead operand_read(Major major, std::uint32_t mn, std::uint32_t k, std::uint32_t per_unit);

// Whether the value of an offset changes any address of the operand.
template <class Descriptor>
bool is_read(const Descriptor& d, const OperandRead& read, std::uint32_t Descriptor::*offset) {
  Descriptor other = d;
  other.*offset += descriptor_unit_bytes;
  return std::any_of(read.units.begin(), read.units.end(), [&](const OperandUnit& unit) {
    return linear_address(d, read.major, unit.at) != linear_address(other, read.major, unit.at);
  });
}

template <class Descriptor>
std::string why_overlapping(const Descriptor& d, const OperandRead& read) {
  const OffsetRoles roles = roles_of(read.major, d.swizzle);
  std::string text;
  if (is_read(d, read, &Descriptor::lbo_bytes))
    text += inside_atom_text(LeadingByteOffset::name, d.lbo_bytes, roles.lbo, d.swizzle);
  if (is_read(d, read, &Descriptor::sbo_bytes))
    text += inside_atom_text(StrideByteOffset::name, d.sbo_bytes, roles.sbo, d.swizzle);
  return text;
}

// Two elements of the operand that come from one byte.
template <class Descriptor>
void lint_overlap(const Descriptor& d, const OperandRead& read, std::string_view expected,
                  Sentences& out) {
  std::unordered_map<std::uint32_t, OperandUnit> seen;
  for (const OperandUnit& unit : read.units) {
    const std::uint32_t at = byte_address(d, read.major, unit.at);
    const auto [other, fresh] = seen.try_emplace(at, unit);
    if (fresh) continue;
    out.push_back(fmt::format(
        "element (mn {}, k {}) is read from byte 0x{:x}, which is (mn {}, k {}) as well{}{}",
        unit.mn, unit.k, at, other->second.mn, other->second.k, why_overlapping(d, read),
        expected));
    return;
  }
}

template <class Descriptor>
void lint_reach(const Descriptor& d, const OperandRead& read, Sentences& out) {
  std::uint32_t end = 0;
  for (const OperandUnit& unit : read.units)
    end = std::max(end, linear_address(d, read.major, unit.at) + descriptor_unit_bytes);
  if (end > address_space_bytes)
    out.push_back(fmt::format("the operand ends at byte {}, beyond the {} bytes of {} address bits",
                              end, address_space_bytes, address_bits));
  else if (end > sm_shared_bytes)
    out.push_back(
        fmt::format("the operand ends at byte {}, beyond the window of a CTA: {} bytes, and the {} "
                    "before them that the system keeps",
                    end, max_cta_shared_bytes, reserved_shared_bytes));
}

// `operand` is "K-major", or "dense K-major" where nothing says whether it is sparse.
template <class Descriptor>
std::string ignored_lbo(const Descriptor& d, std::string_view operand) {
  return fmt::format(
      "lbo_bytes {} is ignored: a {} operand with swizzle {} steps by sbo_bytes only", d.lbo_bytes,
      operand, name(d.swizzle));
}

template <class Descriptor>
void note_lbo_without_use(const Descriptor& d, Sentences& out) {
  const bool has_a_dense_mode =
      d.swizzle == Swizzle::B32 || d.swizzle == Swizzle::B64 || d.swizzle == Swizzle::B128;
  if (has_a_dense_mode)
    out.push_back(
        fmt::format("lbo_bytes {} is ignored if the operand is dense and K-major (swizzle {})",
                    d.lbo_bytes, name(d.swizzle)));
}

}  // namespace tcq::oracle
