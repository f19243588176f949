// What follows the operands in the text of a wgmma instruction: selector, scale-d and immediates.
//
// The inline assembly of wgmma.cuh and the kernel text of cuda/probe/wgmma_sm90.cc both end their instruction
// with this tail, as both begin it with wgmma::opcode() (sim/isa/base/ptx_text.h). The predicate that is
// scale-d is a PTX register named `accumulate`. Example: the dense form {f32, f16, f16, n = 8} with
// negate_b set has the tail ", accumulate, 1, -1, 0, 0;". Read next: wgmma.cuh.
#pragma once

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::ptx {

// The selector (sp-sel) of a sparse form is at most max_selector; a dense form has none: write 0.
HOST_DEVICE constexpr bool selector_exists(const wgmma::Form& form, int selector) {
  return selector >= 0 && selector <= (form.sparse ? wgmma::max_selector(form.a) : 0);
}

// Everything after b-desc (dense) or sp-meta (sparse), with the closing semicolon.
// Requires: check(form) == Fault::None, selector_exists(form, selector).
// Source: PTX ISA 9.2, 9.7.15.5.2 and 9.7.15.6.3, "Syntax".
HOST_DEVICE constexpr PtxText wgmma_tail(const wgmma::Form& form, int selector) {
  PtxText text;
  if (form.sparse) {
    text += ", ";
    text += selector;
  }
  text += ", accumulate";
  if (wgmma::has_negate(form.a)) {
    text += form.negate_a ? ", -1" : ", 1";
    text += form.negate_b ? ", -1" : ", 1";
  }
  if (wgmma::has_major(form.a)) {
    if (form.a_place == wgmma::Place::Smem) text += form.major_a == Major::MN ? ", 1" : ", 0";
    text += form.major_b == Major::MN ? ", 1" : ", 0";
  }
  return text += ";";
}

}  // namespace tcq::ptx
