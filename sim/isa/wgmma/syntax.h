// The syntax of wgmma opcodes: which words, in which order, for which members of a Form.
//
// One row per word, read by whoever writes or reads an opcode (sim/isa/base/opcode_writer.h): the CUDA
// wrappers paste the text into inline assembly, the probe and the command line print it, `check` and
// every mnemonic read it. Example: opcode({f32, bf16, bf16, n = 24}) is
// "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16".
//
// Source: PTX ISA 9.2, 9.7.15.5.2 and 9.7.15.6.3, "Syntax"; the manual's syntax and its examples
// have .satfinite in two places. 9.7.15.7 for the instructions that have no form.
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/opcode_writer.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, Form& f) {
  const bool b1 = f.a == Type::b1;
  const Fault fault = b1 ? Fault::B1OperationMissing : Fault::QualifierUnknown;
  const char* const why = b1 ? "" : ".and.popc exists for b1 only";
  io.instruction("wgmma", "mma_async");
  io.flag("sp", f.sparse);
  io.fixed("sync", Need::Sync);
  io.fixed("aligned", Need::Aligned);
  io.shape(".shape", m, f.n, k(f));
  io.flag("satfinite", f.satfinite);
  io.choice(".d", "", f.d, type_count);
  io.choice(".a", "", f.a, type_count);
  io.choice(".b", "", f.b, type_count);
  io.also_here("satfinite", f.satfinite);
  io.derived("and", b1, Need::Implied, fault, why, "");
  io.derived("popc", b1, Need::Implied, fault, why, "");
}

// The instructions that order groups of mma_async.
enum class GroupStep : std::uint8_t { Fence, Commit, Wait };
inline constexpr int group_step_count = 3;

HOST_DEVICE constexpr const char* name(GroupStep step) {
  switch (step) {
    case GroupStep::Fence: return "fence";
    case GroupStep::Commit: return "commit_group";
    case GroupStep::Wait: return "wait_group";
  }
  return "?";
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, const GroupStep& step) {
  io.instruction("wgmma", name(step));
  io.fixed("sync", Need::Sync);
  io.fixed("aligned", Need::Aligned);
}

// The opcode in the manual's order of qualifiers. Requires: check(f) == Fault::None.
HOST_DEVICE constexpr PtxText opcode(Form f) {
  OpcodeWriter io;
  syntax(io, f);
  return io.text;
}

HOST_DEVICE constexpr PtxText opcode(GroupStep step) {
  OpcodeWriter io;
  syntax(io, step);
  return io.text;
}

}  // namespace tcq::wgmma
