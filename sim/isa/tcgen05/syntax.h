// The syntax of the opcodes of tcgen05: which words, in which order, for which members of a form of
// sim/isa/tcgen05/instruction.h.
//
// One row per word, read by whoever writes or reads an opcode (sim/isa/base/opcode_writer.h); operands
// are sim/isa/tcgen05/operands.h. Example: opcode(LdForm{LdShape::S32x32b, 16}) is
// "tcgen05.ld.sync.aligned.32x32b.x16.b32".
//
// Source: PTX ISA 9.2, 9.7.16.7 to 9.7.16.12, "Syntax" of each instruction. Where syntax and
// example differ (shift, ld.red) the syntax is written and both are read.
#pragma once

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/opcode_writer.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction.h"

namespace tcq::tcgen05 {

namespace detail {

template <class Io>
HOST_DEVICE constexpr void cta_group(Io& io, int& value) {
  io.power(".cta_group", "cta_group::", value, 2);
}

template <class Io>
HOST_DEVICE constexpr void sync_aligned(Io& io) {
  io.fixed("sync", Need::Sync);
  io.fixed("aligned", Need::Aligned);
}

// The beginning of ld, ld.red and st.
template <class Io>
HOST_DEVICE constexpr void warp_copy(Io& io, const char* name, LdShape& shape, int& num) {
  io.instruction("tcgen05", name);
  sync_aligned(io);
  io.choice(".shape", "", shape, ld_shape_count);
  io.power(".num", "x", num, max_ld_registers);
}

}  // namespace detail

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, MmaForm& f) {
  MmaOpcode& op = f.opcode;
  io.instruction("tcgen05", "mma");
  io.flag("ws", op.ws);
  io.flag("sp", op.sparse);
  detail::cta_group(io, op.cta_group);
  io.choice(".kind", "kind::", op.kind, kind_count);
  io.derived("block_scale", is_block_scaled(op.kind), Need::Mandatory, Fault::BlockScaleOfKind,
             "got kind ", name(op.kind));
  io.optional_choice(".scale_vectorsize", op.scale_vec, scale_vec_count);
  io.flag("ashift", op.ashift);
  io.optional_pair(".collector", "collector::", f.collector.buffer, collector_buffer_count,
                   f.collector.use, collector_use_count);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, LdForm& f) {
  detail::warp_copy(io, "ld", f.shape, f.num);
  io.flag("pack::16b", f.pack);
  io.fixed("b32", Need::Implied);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, StForm& f) {
  detail::warp_copy(io, "st", f.shape, f.num);
  io.flag("unpack::16b", f.unpack);
  io.fixed("b32", Need::Implied);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, LdRedForm& f) {
  detail::warp_copy(io, "ld.red", f.shape, f.num);
  io.any_order();
  io.choice(".redOp", "", f.op, red_op_count);
  io.flag("abs", f.abs);
  io.flag("NaN", f.nan);
  io.choice(".type", "", f.type, red_type_count);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, CpForm& f) {
  io.instruction("tcgen05", "cp");
  detail::cta_group(io, f.cta_group);
  io.choice(".shape", "", f.size, cp_size_count);
  io.optional_choice(".multicast", f.multicast, cp_multicast_count);
  io.derived("b8x16", f.source != CpSource::Same, Need::Mandatory, Fault::Tcgen05QualifierMissing,
             "expected .b8x16 and .b4x16_p64 or .b6x16_p32 together", "");
  io.optional_choice(".src_fmt", f.source, cp_source_count);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, ShiftForm& f) {
  io.instruction("tcgen05", "shift");
  io.any_order();
  detail::cta_group(io, f.cta_group);
  io.fixed("down", Need::Mandatory);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, AllocForm& f) {
  io.instruction("tcgen05", "alloc");
  detail::cta_group(io, f.cta_group);
  detail::sync_aligned(io);
  io.flag("shared::cta", f.shared_cta);
  io.fixed("b32", Need::Implied);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, DeallocForm& f) {
  io.instruction("tcgen05", "dealloc");
  detail::cta_group(io, f.cta_group);
  detail::sync_aligned(io);
  io.fixed("b32", Need::Implied);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, RelinquishForm& f) {
  io.instruction("tcgen05", "relinquish_alloc_permit");
  detail::cta_group(io, f.cta_group);
  detail::sync_aligned(io);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, CommitForm& f) {
  io.instruction("tcgen05", "commit");
  detail::cta_group(io, f.cta_group);
  io.fixed("mbarrier::arrive::one", Need::Implied);
  io.flag("shared::cluster", f.shared_cluster);
  io.flag("multicast::cluster", f.multicast);
  io.fixed("b64", Need::Implied);
}

// What wait waits for and what a fence comes before or after is part of the instruction's name.
template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, WaitForm& f) {
  io.instruction("tcgen05", f.st ? "wait::st" : "wait::ld");
  detail::sync_aligned(io);
}

template <class Io>
HOST_DEVICE constexpr void syntax(Io& io, FenceForm& f) {
  io.instruction("tcgen05", f.after ? "fence::after_thread_sync" : "fence::before_thread_sync");
}

// The opcode in the manual's order of qualifiers. Requires: check(f) == Fault::None.
template <class Form>
HOST_DEVICE constexpr PtxText opcode(Form f) {
  OpcodeWriter io;
  syntax(io, f);
  return io.text;
}

HOST_DEVICE constexpr PtxText opcode(const MmaOpcode& op) { return opcode(MmaForm{op}); }

}  // namespace tcq::tcgen05
