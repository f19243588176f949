// Lints of tcgen05's shared memory descriptor: what only tcgen05 has; see tcgen05_lint.h. What both
// architectures have in common is word_lint.h.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "oracle/descriptor/tcgen05_lint.h"
#include "oracle/descriptor/word_lint.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/descriptor_mistakes.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/smem_descriptor.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

struct Tcgen05Word {
  using Format = SmemDescriptorFormat;
  using SwizzleMode = tcgen05::SwizzleMode;
  static constexpr std::string_view rest_rule = "are reserved and must be 0";
  static constexpr std::string_view rest_effect = "";
  static bool looks_published(std::uint64_t word) { return tcgen05::looks_published(word); }
  static SmemDescriptor published(std::uint64_t word) {
    return tcgen05::decode(from_wgmma(wgmma::encode(published::decode(word))));
  }
};

// ---- The word alone -----------------------------------------------------------------------------

void lint_constant(std::uint64_t word, Sentences& out) {
  using Constant = DescriptorConstant;
  if (Constant::holds(word)) return;
  std::string text = fmt::format("{} must be {:0{}b}: they are {:0{}b}", bits_text(Constant{}),
                                 Constant::code(Constant::bits), Constant::width,
                                 Constant::code(word), Constant::width);
  if (looks_like_wgmma(word))
    text += fmt::format(
        ", as in a wgmma descriptor; the other fields mean the same here, so the word is {}",
        hex_word(from_wgmma(word), descriptor_bits));
  out.push_back(text);
}

// "0 none, 1 128B_ATOM_32B, 2 128B, 4 64B, 6 32B".
std::string swizzle_codes() {
  std::string text;
  for (std::uint64_t code = 0; code <= SwizzleMode::max_code; ++code)
    if (const Swizzle swizzle = SwizzleMode::mode(code); swizzle != no_swizzle)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", code, name(swizzle));
  return text;
}

// "; wgmma's code 1 is 128B, which is code 2 here"; empty for codes that wgmma does not have.
std::string code_of_wgmma(std::uint64_t code) {
  const Swizzle meant = meant_by_wgmma(code);
  if (meant == no_swizzle) return "";
  return fmt::format("; wgmma's code {} is {}, which is code {} here", code, name(meant),
                     swizzle_code<SwizzleMode>(meant));
}

// Code 1 is right for one kind of operand and wgmma's code for another mode.
void remark_on_swizzle_code(std::uint64_t word, const std::optional<SmemUse>& use,
                            DescriptorRemarks& out) {
  const std::uint64_t code = SwizzleMode::code(word);
  const Swizzle swizzle = SwizzleMode::mode(code);
  if (swizzle == no_swizzle) {
    out.lints.push_back(fmt::format("swizzle code {} does not exist: {}{}", code, swizzle_codes(),
                                    code_of_wgmma(code)));
    return;
  }
  const bool is_meant = use && check_swizzle(swizzle, use->type, use->major) == Fault::None;
  if (swizzle != Swizzle::B128Atom32 || is_meant) return;
  (use ? out.lints : out.notes)
      .push_back(fmt::format("swizzle code {} is {}, for MN-major tf32 only{}", code, name(swizzle),
                             code_of_wgmma(code)));
}

void lint_lbo_mode(const SmemDescriptor& d, Sentences& out) {
  if (!d.lbo_absolute || check(d) != Fault::DescriptorLboMode) return;
  out.push_back(
      fmt::format("{} is absolute: {}", LboMode::name, info(Fault::DescriptorLboMode).sentence));
}

// ---- The word in its use ------------------------------------------------------------------------

OperandRead read_by(const SmemDescriptor& d, const SmemUse& use) {
  const int bytes_along_k = d.lbo_absolute ? 48 : 32;
  const int unit = static_cast<int>(descriptor_unit_bytes);
  const int per_unit = is_padded(use.kind, use.type) ? unit : elements_in(use.type, unit);
  return operand_read(use.major, *use.mn,
                      static_cast<std::uint32_t>(bytes_along_k / unit * per_unit),
                      static_cast<std::uint32_t>(per_unit));
}

void lint_use(const SmemDescriptor& d, const SmemUse& use, Sentences& out) {
  if (const Fault fault = check_operand(d, use.kind, use.type, use.major);
      fault == Fault::SwizzleOfOperand || fault == Fault::UnmodelledSwizzle ||
      (fault == Fault::DescriptorLboMode && check(d) == Fault::None))
    out.push_back(fmt::format("{}, {}-major {} operand of kind {}, {}: {}",
                              d.lbo_absolute ? "lbo_mode absolute" : name(d.swizzle),
                              name(use.major), name(use.type), name(use.kind),
                              name(info(fault).kind), info(fault).sentence));
  if (!use.mn || d.swizzle == no_swizzle) return;
  const OperandRead read = read_by(d, use);
  lint_overlap(d, read, "", out);
  lint_reach(d, read, out);
}

void note_lbo(const SmemDescriptor& d, const std::optional<SmemUse>& use, Sentences& out) {
  if (d.lbo_absolute)
    out.push_back(fmt::format("lbo_bytes 0x{:x} is the address where a row goes on after 128 bytes",
                              d.lbo_bytes));
  else if (!use)
    note_lbo_without_use(d, out);
  else if (use->major == Major::K && d.swizzle != Swizzle::None && d.swizzle != no_swizzle)
    out.push_back(ignored_lbo(d, "dense K-major"));
}

}  // namespace

DescriptorRemarks remarks_on_smem(std::uint64_t word, const std::optional<SmemUse>& use) {
  DescriptorRemarks out;
  if (lint_published<Tcgen05Word>(word, out.lints))
    return out;  // every other field is wrong likewise
  const SmemDescriptor d = tcgen05::decode(word);
  lint_constant(word, out.lints);
  lint_gaps<Tcgen05Word>(word, out.lints);
  remark_on_swizzle_code(word, use, out);
  lint_units<Tcgen05Word>(word, out.lints);
  lint_phase(d, out.lints);
  lint_lbo_mode(d, out.lints);
  if (use)
    lint_use(d, *use, out.lints);
  else
    lint_sbo(d.swizzle, d.sbo_bytes, out.lints);
  note_lbo(d, use, out.notes);
  return out;
}

}  // namespace tcq::oracle
