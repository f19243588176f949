#include "cuda/probe/tcgen05_text_sm100.h"

#include <cstddef>

#include "cuda/probe/kernel_text.h"
#include "cuda/ptx/tcgen05_text.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/tmem/address.h"

namespace tcq::cuda {
namespace {

using tcgen05::TmemAddress;

constexpr int kRowBytes = TmemAddress::columns * 4;  // of one tmem_lane in an image
constexpr int kBlockColumns = 32;                    // of one st or ld that moves an image

// Registers of the kernel that belong to the instruction, and the statement itself.
struct Instruction {
  std::string statement;
  int registers = 0;     // of its vector
  bool loads = false;    // writes the vector
  bool reduces = false;  // and the register `reduced`
  int cta_group = 1;
};

template <class Form>
Instruction instruction(const Form& form, int immediate, Probed probed = Probed::Instruction) {
  Instruction i;
  i.statement = std::string("  ") + tcgen05::opcode(form).chars +
                ptx::operands_before_vector(form, immediate).chars;
  if constexpr (requires { form.shape; }) {
    i.registers = tcgen05::vector_registers(form);
    i.statement +=
        register_list("v", 0, i.registers) + ptx::operands_after_vector(form, immediate).chars;
  }
  i.statement += "\n";
  if (probed == Probed::Nothing) i.statement.clear();
  return i;
}

template <class Form>
std::string simple_statement(const Form& form) {
  return instruction(form, 0).statement;
}

// ---- Pieces that every kernel has ---------------------------------------------------------------

std::string entry(Target target, int cta_group) {
  const std::string pair = cta_group == 2 ? ".explicitcluster\n.reqnctapercluster 2, 1, 1\n" : "";
  return std::string(".version 8.8\n.target ") + name(target) + R"(
.address_size 64
.extern .shared .align 1024 .b8 image[];

.visible .entry tcq_probe(
  .param .u64 records_parameter, .param .u64 images_parameter, .param .u64 tmem_in_parameter,
  .param .u64 tmem_out_parameter, .param .u64 registers_parameter, .param .u64 reduced_parameter,
  .param .u64 reports_parameter, .param .u32 bytes_parameter, .param .u64 patience_parameter)
.reqntid 128, 1, 1
)" + pair +
         R"({
  .reg .pred accumulate, skip, more, done, late;
  .reg .b16 mask;
  .reg .b32 thread, warp, cta, rank, case, row, bytes, base, offset, to, dst, columns, mbar;
  .reg .b32 tmem_base, lanes, column, cell, completed, cycles, flag;
  .reg .b32 d, a, metadata, idesc, scale_a, scale_b, taddr, reduced;
  .reg .b32 l<8>, t<32>, v<128>;
  .reg .b64 desc_a, desc_b, zero_mask, desc, at, step, from, start, now, patience;

  mov.u32 thread, %tid.x;
  mov.u32 cta, %ctaid.x;
  div.u32 warp, thread, 32;
)" + "  div.u32 case, cta, " +
         std::to_string(cta_group) + ";\n  rem.u32 rank, cta, " + std::to_string(cta_group) + R"(;
  mad.lo.u32 row, cta, 128, thread;
  mov.u32 base, image;
  ld.param.u32 bytes, [bytes_parameter];
  add.u32 mbar, base, bytes;
  add.u32 dst, mbar, 8;
  mov.u32 columns, )" +
         std::to_string(TmemAddress::columns) + ";\n";
}

// Behind it everything that the threads of the CTA, or of the pair, did before is ordered.
std::string barrier(int cta_group) {
  return simple_statement(tcgen05::FenceForm{false}) + "  bar.warp.sync 0xffffffff;\n" +
         (cta_group == 2 ? "  barrier.cluster.arrive.release.aligned;\n"
                           "  barrier.cluster.wait.acquire.aligned;\n"
                         : "  bar.sync 0;\n") +
         simple_statement(tcgen05::FenceForm{true});
}

// Statements of the first warp of each CTA.
std::string by_first_warp(const std::string& label, const std::string& statements) {
  return "  setp.ge.u32 skip, thread, 32;\n  @skip bra " + label + ";\n" + statements + label +
         ":\n";
}

// The peer must run before a statement of cta_group::2: only this barrier says that it does.
std::string meet_peer(int cta_group) { return cta_group == 2 ? "\n" + barrier(cta_group) : ""; }

// Between what both CTAs of a pair do together stands a barrier of both.
std::string allocate(int cta_group) {
  return meet_peer(cta_group) +
         by_first_warp("allocated", simple_statement(tcgen05::AllocForm{cta_group})) +
         R"(  setp.ne.u32 skip, thread, 0;
  @skip bra initialised;
  mbarrier.init.shared::cta.b64 [mbar], 1;
  fence.mbarrier_init.release.cluster;
initialised:
)";
}

std::string relinquish(int cta_group) {
  return by_first_warp("relinquished", simple_statement(tcgen05::RelinquishForm{cta_group}));
}

std::string copy_image() {
  return "\n" + address_text("images", "cta", "bytes") + copy_image_text();
}

// tmem_base, and `lanes`, the address of the warp's own lanes.
std::string find_lanes() {
  const std::uint32_t warp_step = encode(TmemAddress{32, 0});
  return "  ld.shared.u32 tmem_base, [dst];\n  mad.lo.u32 lanes, warp, " +
         std::to_string(warp_step) + ", tmem_base;\n";
}

// Calls piece(columns of a block as a vector, text of its address in an image) for 4 columns each.
template <class Piece>
std::string each_piece(Piece piece) {
  std::string text;
  for (int i = 0; i < kBlockColumns; i += 4)
    text += piece(register_list("t", i, 4), "[at+" + std::to_string(4 * i) + "]");
  return text;
}

std::string loop_over_columns(const std::string& label, const std::string& image,
                              const std::string& body) {
  return "\n" + address_text(image, "row", std::to_string(kRowBytes)) + "  mov.u32 column, 0;\n" +
         label + ":\n  add.u32 cell, lanes, column;\n" + body + "  add.u64 at, at, " +
         std::to_string(4 * kBlockColumns) + ";\n  add.u32 column, column, " +
         std::to_string(kBlockColumns) + ";\n  setp.lt.u32 more, column, " +
         std::to_string(TmemAddress::columns) + ";\n  @more bra " + label + ";\n";
}

// `taddr` is the case's own operand, so the cell has a name of its own.
std::string block_opcode(const PtxText& opcode, const std::string& operands) {
  return std::string("  ") + opcode.chars + " " + operands + ";\n";
}

std::string fill_tmem() {
  const std::string loads = each_piece([](const std::string& vector, const std::string& at) {
    return "  ld.global.v4.b32 " + vector + ", " + at + ";\n";
  });
  const tcgen05::StForm form{tcgen05::LdShape::S32x32b, kBlockColumns};
  return loop_over_columns(
             "fill", "tmem_in",
             loads + block_opcode(tcgen05::opcode(form),
                                  "[cell], " + register_list("t", 0, kBlockColumns))) +
         simple_statement(tcgen05::WaitForm{true});
}

std::string drain_tmem() {
  const std::string stores = each_piece([](const std::string& vector, const std::string& at) {
    return "  st.global.v4.b32 " + at + ", " + vector + ";\n";
  });
  const tcgen05::LdForm form{tcgen05::LdShape::S32x32b, kBlockColumns};
  return loop_over_columns(
      "drain", "tmem_out",
      block_opcode(tcgen05::opcode(form), register_list("t", 0, kBlockColumns) + ", [cell]") +
          simple_statement(tcgen05::WaitForm{false}) + stores);
}

std::string finish(int cta_group) {
  return barrier(cta_group) +
         by_first_warp("freed", "  mov.b32 taddr, tmem_base;\n" +
                                    simple_statement(tcgen05::DeallocForm{cta_group})) +
         barrier(cta_group) + address_text("reports", "cta", std::to_string(sizeof(ProbeReport))) +
         R"(  setp.ne.u32 skip, thread, 0;
  @skip bra finished;
  st.global.v4.b32 [at], {base, tmem_base, completed, cycles};
finished:
  ret;
}
)";
}

// ---- mma, cp, shift -----------------------------------------------------------------------------

std::string load_record() {
  static_assert(offsetof(IssueRecord, d) == 32 && offsetof(IssueRecord, accumulate) == 60 &&
                    offsetof(IssueRecord, lanes) == 64,
                "the text below says so");
  return "\n" + address_text("records", "case", std::to_string(sizeof(IssueRecord))) +
         R"(  ld.global.v2.b64 {desc_a, desc_b}, [at];
  ld.global.v2.b64 {zero_mask, desc}, [at+16];
  ld.global.v4.b32 {d, a, metadata, idesc}, [at+32];
  ld.global.v4.b32 {scale_a, scale_b, taddr, flag}, [at+48];
  ld.global.v4.b32 {l0, l1, l2, l3}, [at+64];
  ld.global.v4.b32 {l4, l5, l6, l7}, [at+80];
  setp.ne.b32 accumulate, flag, 0;
)";
}

// Every thread waits: each reads Tensor Memory afterwards.
std::string issue_and_wait(const Instruction& i) {
  const bool pair = i.cta_group == 2;
  return R"(
  mov.b16 mask, 3;
  mov.u32 completed, 1;
  ld.param.u64 patience, [patience_parameter];
  mov.u64 start, %clock64;
  or.b32 flag, thread, rank;
  setp.ne.u32 skip, flag, 0;
  @skip bra issued;
)" + i.statement +
         simple_statement(tcgen05::CommitForm{i.cta_group, pair}) + R"(issued:
wait:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [mbar], 0;
  mov.u64 now, %clock64;
  sub.u64 now, now, start;
  cvt.u32.u64 cycles, now;
  @done bra waited;
  setp.lt.u64 more, now, patience;
  @more bra wait;
  mov.u32 completed, 0;
waited:
)";
}

std::string issue_kernel(const Instruction& i, Target target) {
  return entry(target, i.cta_group) + allocate(i.cta_group) + copy_image() + barrier(i.cta_group) +
         relinquish(i.cta_group) + find_lanes() + fill_tmem() + barrier(i.cta_group) +
         load_record() + issue_and_wait(i) + barrier(i.cta_group) + drain_tmem() +
         finish(i.cta_group);
}

// ---- ld, st -------------------------------------------------------------------------------------

// The record of a case is the address for each of the four warps.
std::string load_address() {
  return "\n  mad.lo.u32 flag, case, 4, warp;\n" + address_text("records", "flag", "4") +
         "  ld.global.b32 taddr, [at];\n";
}

std::string move_registers(const Instruction& i, bool in) {
  std::string text = "\n" + address_text("registers", "row", std::to_string(4 * i.registers));
  for (int r = 0; r < i.registers; ++r) {
    const std::string at = "[at+" + std::to_string(4 * r) + "]";
    const std::string v = "v" + std::to_string(r);
    text += in ? "  ld.global.b32 " + v + ", " + at + ";\n"
               : "  st.global.b32 " + at + ", " + v + ";\n";
  }
  if (in || !i.reduces) return text;
  return text + address_text("reduced", "row", "4") + "  st.global.b32 [at], reduced;\n";
}

std::string register_kernel(const Instruction& i, Target target) {
  return entry(target, 1) + allocate(1) + copy_image() + barrier(1) + relinquish(1) + find_lanes() +
         fill_tmem() + barrier(1) + load_address() + move_registers(i, true) +
         "\n  mov.u32 completed, 1;\n  mov.u32 cycles, 0;\n  mov.b32 reduced, 0;\n" + i.statement +
         simple_statement(tcgen05::WaitForm{!i.loads}) + move_registers(i, false) + barrier(1) +
         drain_tmem() + finish(1);
}

}  // namespace

std::string probe_ptx(const tcgen05::MmaForm& form, int immediate, Target target, Probed probed) {
  Instruction i = instruction(form, immediate, probed);
  i.cta_group = form.opcode.cta_group;
  return issue_kernel(i, target);
}

std::string probe_ptx(const tcgen05::CpForm& form, int immediate, Target target, Probed probed) {
  Instruction i = instruction(form, immediate, probed);
  i.cta_group = form.cta_group;
  return issue_kernel(i, target);
}

std::string probe_ptx(const tcgen05::ShiftForm& form, int immediate, Target target, Probed probed) {
  Instruction i = instruction(form, immediate, probed);
  i.cta_group = form.cta_group;
  return issue_kernel(i, target);
}

std::string probe_ptx(const tcgen05::LdForm& form, int immediate, Target target, Probed probed) {
  Instruction i = instruction(form, immediate, probed);
  i.loads = true;
  return register_kernel(i, target);
}

std::string probe_ptx(const tcgen05::StForm& form, int immediate, Target target, Probed probed) {
  return register_kernel(instruction(form, immediate, probed), target);
}

std::string probe_ptx(const tcgen05::LdRedForm& form, int immediate, Target target, Probed probed) {
  Instruction i = instruction(form, immediate, probed);
  i.loads = i.reduces = true;
  return register_kernel(i, target);
}

}  // namespace tcq::cuda
