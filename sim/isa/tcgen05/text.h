// PTX spelling of the opcodes of tcgen05, built without allocation so that kernels can use it at
// compile time.
//
// opcode(form) is the whole opcode in the manual's order of qualifiers, for every form of
// sim/isa/tcgen05/instruction.h; operands are sim/isa/tcgen05/operands.h. Example: opcode(LdForm{LdShape::S32x32b,
// 16}) is "tcgen05.ld.sync.aligned.32x32b.x16.b32".
//
// Source: PTX ISA 9.2, 9.7.16.7 to 9.7.16.12, "Syntax" of each instruction. Where syntax and
// example differ (shift, ld.red) the syntax is followed.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/instruction.h"

namespace tcq::tcgen05 {

// ".NAME", or nothing if the name is empty.
HOST_DEVICE constexpr void add_qualifier(PtxText& text, const char* name) {
  if (*name == 0) return;
  text += ".";
  text += name;
}

HOST_DEVICE constexpr void add_cta_group(PtxText& text, int cta_group) {
  text += ".cta_group::";
  text += cta_group;
}

HOST_DEVICE constexpr void add_shape(PtxText& text, LdShape shape, int num) {
  add_qualifier(text, name(shape));
  text += ".x";
  text += num;
}

// Requires here and below: check(f) == Fault::None.
HOST_DEVICE constexpr PtxText opcode(const MmaForm& f) {
  PtxText text;
  text += "tcgen05.mma";
  text += f.opcode.ws ? ".ws" : "";
  text += f.opcode.sparse ? ".sp" : "";
  add_cta_group(text, f.opcode.cta_group);
  text += ".kind::";
  text += name(f.opcode.kind);
  text += is_block_scaled(f.opcode.kind) ? ".block_scale" : "";
  add_qualifier(text, name(f.opcode.scale_vec));
  text += f.opcode.ashift ? ".ashift" : "";
  if (f.collector.buffer == CollectorBuffer::None) return text;
  text += ".collector::";
  text += name(f.collector.buffer);
  text += "::";
  text += name(f.collector.use);
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const MmaOpcode& op) { return opcode(MmaForm{op}); }

HOST_DEVICE constexpr PtxText opcode(const LdForm& f) {
  PtxText text;
  text += "tcgen05.ld.sync.aligned";
  add_shape(text, f.shape, f.num);
  text += f.pack ? ".pack::16b" : "";
  text += ".b32";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const StForm& f) {
  PtxText text;
  text += "tcgen05.st.sync.aligned";
  add_shape(text, f.shape, f.num);
  text += f.unpack ? ".unpack::16b" : "";
  text += ".b32";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const LdRedForm& f) {
  PtxText text;
  text += "tcgen05.ld.red.sync.aligned";
  add_shape(text, f.shape, f.num);
  add_qualifier(text, name(f.op));
  text += f.abs ? ".abs" : "";
  text += f.nan ? ".NaN" : "";
  add_qualifier(text, name(f.type));
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const CpForm& f) {
  PtxText text;
  text += "tcgen05.cp";
  add_cta_group(text, f.cta_group);
  add_qualifier(text, name(f.size));
  add_qualifier(text, name(f.multicast));
  text += f.source == CpSource::Same ? "" : ".b8x16";
  add_qualifier(text, name(f.source));
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const ShiftForm& f) {
  PtxText text;
  text += "tcgen05.shift";
  add_cta_group(text, f.cta_group);
  text += ".down";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const AllocForm& f) {
  PtxText text;
  text += "tcgen05.alloc";
  add_cta_group(text, f.cta_group);
  text += ".sync.aligned";
  text += f.shared_cta ? ".shared::cta" : "";
  text += ".b32";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const DeallocForm& f) {
  PtxText text;
  text += "tcgen05.dealloc";
  add_cta_group(text, f.cta_group);
  text += ".sync.aligned.b32";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const RelinquishForm& f) {
  PtxText text;
  text += "tcgen05.relinquish_alloc_permit";
  add_cta_group(text, f.cta_group);
  text += ".sync.aligned";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const CommitForm& f) {
  PtxText text;
  text += "tcgen05.commit";
  add_cta_group(text, f.cta_group);
  text += ".mbarrier::arrive::one";
  text += f.shared_cluster ? ".shared::cluster" : "";
  text += f.multicast ? ".multicast::cluster" : "";
  text += ".b64";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const WaitForm& f) {
  PtxText text;
  text += "tcgen05.wait::";
  text += f.st ? "st" : "ld";
  text += ".sync.aligned";
  return text;
}

HOST_DEVICE constexpr PtxText opcode(const FenceForm& f) {
  PtxText text;
  text += "tcgen05.fence::";
  text += f.after ? "after" : "before";
  text += "_thread_sync";
  return text;
}

}  // namespace tcq::tcgen05
