// Lints of tcgen05's shared memory descriptor; see tcgen05_lint.h. First those of the word alone,
// then those of its use.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/descriptor/tcgen05_lint.h"
#include "sim/isa/base/field_gaps.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
#include "sim/isa/tcgen05/smem_descriptor_mistakes.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

using Sentences = std::vector<std::string>;

const char* word_for(Major major) { return major == Major::K ? "K-major" : "MN-major"; }

// ---- The shared memory descriptor alone ---------------------------------------------------------

constexpr int smem_word_bits = 64;
constexpr std::uint32_t unit_bytes = 1u << StartAddress::unit_log2;

// "0 none, 1 128B_ATOM_32B, 2 128B, 4 64B, 6 32B".
std::string swizzle_codes() {
  std::string text;
  for (std::uint64_t code = 0; code <= SwizzleMode::max_code; ++code) {
    const auto swizzle = static_cast<Swizzle>(code);
    if (exists(swizzle))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", code, name(swizzle));
  }
  return text;
}

bool lint_published(std::uint64_t word, Sentences& out) {
  if (!looks_published(word)) return false;
  const SmemDescriptor meant = decode_published(word);
  std::string text = fmt::format(
      "{} are set and the swizzle field is 0: the word looks packed with lbo at bit {}, sbo at bit "
      "{}, base offset at bit {} and swizzle at bit {}, in bytes (tcq errata 004.1)",
      bits_text(wgmma::PublishedSwizzle{}), wgmma::PublishedLeading::low,
      wgmma::PublishedStride::low, wgmma::PublishedBase::low, wgmma::PublishedSwizzle::low);
  if (check(meant) == Fault::None)
    text +=
        fmt::format("; lbo {}, sbo {}, swizzle {} packed right is {}", meant.lbo_bytes,
                    meant.sbo_bytes, name(meant.swizzle), hex_word(encode(meant), smem_word_bits));
  out.push_back(text);
  return true;
}

void lint_constant(std::uint64_t word, Sentences& out) {
  using Constant = DescriptorConstant;
  if (Constant::holds(word)) return;
  std::string text = fmt::format("{} must be {:0{}b}: they are {:0{}b}", bits_text(Constant{}),
                                 Constant::code(Constant::bits), Constant::width,
                                 Constant::code(word), Constant::width);
  if (looks_like_wgmma(word))
    text += fmt::format(
        ", as in a wgmma descriptor; the other fields mean the same here, so the word is {}",
        hex_word(from_wgmma(word), smem_word_bits));
  out.push_back(text);
}

// A gap just above a field is where the field's carry goes.
template <class Gap>
std::string reserved_text(Gap gap) {
  std::string text = bits_text(gap) + " are reserved and must be 0";
  SmemDescriptorFormat::for_each([&](auto field) {
    using F = decltype(field);
    if constexpr (F::unit_log2 != 0)
      if (F::low + F::width == Gap::low)
        text += fmt::format(
            ": something larger than {} was packed into {}, the next field was packed without the "
            "gap, or an addition carried",
            F::max_value, F::name);
  });
  return text;
}

void lint_reserved(std::uint64_t word, Sentences& out) {
  for_each_gap(SmemDescriptorFormat{}, [&](auto gap) {
    if (decltype(gap)::code(word) != 0) out.push_back(reserved_text(gap));
  });
}

template <class F>
void lint_unit(std::uint64_t word, Sentences& out) {
  out.push_back(fmt::format(
      "{} field {} means {} bytes: looks like bytes not divided by 16; for {} bytes the field is "
      "{}",
      F::name, F::code(word), F::decode(word), F::code(word), F::code(word) / unit_bytes));
}

// 1024 written into the fields instead of 1024 / 16. An LBO of 16 atoms is common, an SBO is not,
// unless the atoms are small.
void lint_units(std::uint64_t word, Sentences& out) {
  const Swizzle swizzle = decode(word).swizzle;
  const std::uint32_t atom = atom_bytes(swizzle);
  if (pitch_bytes(swizzle) < 64 || StrideByteOffset::code(word) != atom) return;
  lint_unit<StrideByteOffset>(word, out);
  if (LeadingByteOffset::code(word) == atom) lint_unit<LeadingByteOffset>(word, out);
}

// "; wgmma's code 1 is 128B, which is code 2 here"; empty for codes that wgmma does not have.
std::string code_of_wgmma(Swizzle swizzle) {
  if (!is_wgmma_code(swizzle)) return "";
  const Swizzle meant = meant_by_wgmma(swizzle);
  return fmt::format("; wgmma's code {} is {}, which is code {} here", static_cast<int>(swizzle),
                     name(meant), static_cast<int>(meant));
}

// Code 1 is right for one kind of operand and wgmma's code for another mode.
void remark_on_swizzle_code(const SmemDescriptor& d, const std::optional<SmemUse>& use,
                            DescriptorRemarks& out) {
  const auto code = static_cast<int>(d.swizzle);
  if (!exists(d.swizzle)) {
    out.lints.push_back(fmt::format("swizzle code {} does not exist: {}{}", code, swizzle_codes(),
                                    code_of_wgmma(d.swizzle)));
    return;
  }
  const bool is_meant = use && check_swizzle(d.swizzle, use->type, use->major) == Fault::None;
  if (d.swizzle != Swizzle::B128Atom32 || is_meant) return;
  (use ? out.lints : out.notes)
      .push_back(fmt::format("swizzle code {} is {}, for MN-major tf32 only{}", code,
                             name(d.swizzle), code_of_wgmma(d.swizzle)));
}

void lint_phase(const SmemDescriptor& d, Sentences& out) {
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

void lint_lbo_mode(const SmemDescriptor& d, Sentences& out) {
  if (!d.lbo_absolute || check(d) != Fault::DescriptorLboMode) return;
  out.push_back(
      fmt::format("{} is absolute: {}", LboMode::name, info(Fault::DescriptorLboMode).sentence));
}

// ---- The shared memory descriptor in its use ----------------------------------------------------

constexpr std::uint32_t unit_elements_bytes = 16;  // the swizzle keeps these together

std::uint32_t bytes_along_k(const SmemDescriptor& d) { return d.lbo_absolute ? 48 : 32; }

// The element that begins a 16-byte unit of the contiguous direction.
std::uint32_t first_element(const SmemUse& use, std::uint32_t unit) {
  if (is_padded(use.kind, use.type)) return unit * unit_elements_bytes;
  return unit *
         static_cast<std::uint32_t>(elements_in(use.type, static_cast<int>(unit_elements_bytes)));
}

struct Unit {
  OperandByte at;
  OperandElement first;
};

// Every 16-byte unit that one instruction reads.
std::vector<Unit> units_read(const SmemDescriptor& d, const SmemUse& use) {
  std::vector<Unit> units;
  const bool k_major = use.major == Major::K;
  const auto width = static_cast<std::uint32_t>(bits(use.type));
  const std::uint32_t rows = k_major ? *use.mn : bytes_along_k(d) * 8 / width;
  const std::uint32_t bytes = k_major ? bytes_along_k(d) : *use.mn * width / 8;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t unit = 0; unit * unit_elements_bytes < bytes; ++unit) {
      const std::uint32_t byte = unit * unit_elements_bytes;
      const std::uint32_t element = first_element(use, unit);
      units.push_back(k_major ? Unit{{row, byte}, {row, element}}
                              : Unit{{byte, row}, {element, row}});
    }
  return units;
}

// Whether the value of an offset changes any address of the operand.
bool is_read(const SmemDescriptor& d, const SmemUse& use, std::uint32_t SmemDescriptor::*offset) {
  SmemDescriptor other = d;
  other.*offset += unit_elements_bytes;
  const std::vector<Unit> units = units_read(d, use);
  return std::any_of(units.begin(), units.end(), [&](const Unit& unit) {
    return linear_address(d, use.major, unit.at) != linear_address(other, use.major, unit.at);
  });
}

// Offsets that are read and smaller than the atom that they should step over.
std::string why_overlapping(const SmemDescriptor& d, const SmemUse& use) {
  std::string text;
  for (const auto& [field, offset] :
       {std::pair{LeadingByteOffset::name, &SmemDescriptor::lbo_bytes},
        std::pair{StrideByteOffset::name, &SmemDescriptor::sbo_bytes}}) {
    if (d.*offset >= atom_bytes(d.swizzle) || !is_read(d, use, offset)) continue;
    text += fmt::format("; {} {} is less than the {}-byte atom", field, d.*offset,
                        atom_bytes(d.swizzle));
  }
  return text;
}

void lint_overlap(const SmemDescriptor& d, const SmemUse& use, Sentences& out) {
  std::unordered_map<std::uint32_t, OperandElement> seen;
  for (const Unit& unit : units_read(d, use)) {
    const std::uint32_t at = byte_address(d, use.major, unit.at);
    const auto [other, fresh] = seen.try_emplace(at, unit.first);
    if (fresh) continue;
    out.push_back(fmt::format(
        "element (mn {}, k {}) is read from byte 0x{:x}, which is (mn {}, k {}) as well{}",
        unit.first.mn, unit.first.k, at, other->second.mn, other->second.k,
        why_overlapping(d, use)));
    return;
  }
}

void lint_reach(const SmemDescriptor& d, const SmemUse& use, Sentences& out) {
  std::uint32_t end = 0;
  for (const Unit& unit : units_read(d, use))
    end = std::max(end, linear_address(d, use.major, unit.at) + unit_elements_bytes);
  if (end > address_space_bytes)
    out.push_back(fmt::format("the operand ends at byte {}, beyond the {} bytes of {} address bits",
                              end, address_space_bytes, address_bits));
}

void lint_use(const SmemDescriptor& d, const SmemUse& use, Sentences& out) {
  if (const Fault fault = check_operand(d, use.kind, use.type, use.major);
      fault == Fault::SwizzleOfOperand || fault == Fault::UnmodelledSwizzle ||
      (fault == Fault::DescriptorLboMode && check(d) == Fault::None))
    out.push_back(fmt::format("{}, {} {} operand of kind {}, {}: {}",
                              d.lbo_absolute ? "lbo_mode absolute" : name(d.swizzle),
                              word_for(use.major), name(use.type), name(use.kind),
                              name(info(fault).kind), info(fault).sentence));
  if (!use.mn || !exists(d.swizzle)) return;
  lint_overlap(d, use, out);
  lint_reach(d, use, out);
}

void lint_without_use(const SmemDescriptor& d, Sentences& out) {
  if (d.swizzle == Swizzle::None || !exists(d.swizzle) || d.sbo_bytes >= atom_bytes(d.swizzle))
    return;
  out.push_back(d.sbo_bytes == 0
                    ? std::string("sbo_bytes 0 repeats the first group of rows")
                    : fmt::format("sbo_bytes {} lies inside the {}-byte atom: groups of {} rows "
                                  "overlap",
                                  d.sbo_bytes, atom_bytes(d.swizzle), atom_rows(d.swizzle)));
}

void note_lbo(const SmemDescriptor& d, const std::optional<SmemUse>& use, Sentences& out) {
  const bool swizzled = exists(d.swizzle) && d.swizzle != Swizzle::None;
  if (d.lbo_absolute)
    out.push_back(fmt::format("lbo_bytes 0x{:x} is the address where a row goes on after 128 bytes",
                              d.lbo_bytes));
  else if (swizzled && use && use->major == Major::K)
    out.push_back(
        fmt::format("lbo_bytes {} is ignored: a dense K-major operand with swizzle {} "
                    "steps by sbo_bytes only",
                    d.lbo_bytes, name(d.swizzle)));
  else if (swizzled && !use && d.swizzle != Swizzle::B128Atom32)
    out.push_back(
        fmt::format("lbo_bytes {} is ignored if the operand is dense and K-major (swizzle {})",
                    d.lbo_bytes, name(d.swizzle)));
}

}  // namespace

DescriptorRemarks remarks_on_smem(std::uint64_t word, const std::optional<SmemUse>& use) {
  DescriptorRemarks out;
  if (lint_published(word, out.lints)) return out;  // every other field is wrong likewise
  const SmemDescriptor d = decode(word);
  lint_constant(word, out.lints);
  lint_reserved(word, out.lints);
  remark_on_swizzle_code(d, use, out);
  lint_units(word, out.lints);
  lint_phase(d, out.lints);
  lint_lbo_mode(d, out.lints);
  if (use)
    lint_use(d, *use, out.lints);
  else
    lint_without_use(d, out.lints);
  note_lbo(d, use, out.notes);
  return out;
}

}  // namespace tcq::oracle
