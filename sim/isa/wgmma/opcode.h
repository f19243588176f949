// PTX spelling of wgmma opcodes.
//
// The CUDA wrappers paste the text into inline assembly, the probe and the command line print it:
// one spelling for all. Example: opcode({f32, bf16, bf16, n = 24}) is
// "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16".
//
// Source: PTX ISA 9.2, 9.7.15.5.2 and 9.7.15.6.3, "Syntax".
#pragma once

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

// The opcode in the manual's order of qualifiers. Requires: check(f) == Fault::None.
HOST_DEVICE constexpr PtxText opcode(const Form& f) {
  PtxText text;
  text += "wgmma.mma_async";
  text += f.sparse ? ".sp" : "";
  text += ".sync.aligned.m";
  text += m;
  text += "n";
  text += f.n;
  text += "k";
  text += k(f);
  text += f.satfinite ? ".satfinite." : ".";
  text += name(f.d);
  text += ".";
  text += name(f.a);
  text += ".";
  text += name(f.b);
  text += f.a == Type::b1 ? ".and.popc" : "";
  return text;
}

}  // namespace tcq::wgmma
