// Generates PTX statements of tcgen05: the whole cross product of opcode words and places of A, every
// form of the other instructions, and operands with one thing wrong at a time.
//
// For comparing `check` with ptxas; legal or not is none of its business. Statements never have a
// syntax error, as that would hide all later ones. Registers have the conventional names (see
// ptxas.h). Start at generate_tcgen05().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/operands.h"
#include "sim/isa/tcgen05/syntax.h"
#include "tests/silicon/statements.h"

namespace tcq::oracle {

using Operands = std::vector<std::string>;

inline std::string legal_operand(tcgen05::Operand operand, int vector_registers) {
  using enum tcgen05::Operand;
  switch (operand) {
    case D: return "[%r0]";
    case ATmem: return "[%r1+8]";
    case SpMeta: return "[%r2]";
    case ScaleA: return "[%r3]";
    case ScaleB: return "[%r4+4]";
    case Taddr: return "[%r9]";
    case ADesc: return "%rd0";
    case BDesc: return "%rd1";
    case SourceDesc: return "%rd2";
    case ZeroColumnMask: return "%rd3";
    case Idesc: return "%r5";
    case DisableOutputLane:
    case Loaded:
    case Stored: return vector_of("%r", vector_registers);
    case EnableInputD: return "%p0";
    case ScaleInputD: return "3";
    case Reduced: return "%r400";  // no register of the vector: ptxas fails on one
    case HalfSplit: return "16";
    case AllocDst:
    case Mbar: return "[%rd4]";
    case AllocTaddr: return "%r7";
    case Columns: return "64";
    case CtaMask: return "%rs1";
  }
  return "?";
}

// Values that fit an operand, and ones that do not; with the name of a difference where ptxas is lax.
inline std::vector<std::pair<std::string, std::string>> alternatives(tcgen05::Operand operand,
                                                                     int vector_registers) {
  using enum tcgen05::Operand;
  const int n = vector_registers;
  switch (operand) {
    case D:
    case ATmem:
    case SpMeta:
    case ScaleA:
    case ScaleB:
      return {{"[%r8]", ""}, {"[%r8+16]", ""}, {"[%r8+-16]", ""}, {"[%rd0]", ""},
              {"[%f0]", ""}, {"[64]", ""},     {"%r8", ""},       {"7", ""},
              {"%rd8", ""},  {"%p0", ""},      {"{%r0,%r1}", ""}};
    case Taddr:
      return {{"[%r8]", ""}, {"[%r8+16]", ""},      {"[%r8+-16]", ""},    {"%r8", ""},
              {"7", ""},     {"[%rd0]", "address"}, {"[%f0]", "address"}, {"[64]", "address"}};
    case ADesc:
    case BDesc:
    case SourceDesc:
    case ZeroColumnMask:
      return {{"%rd7", ""},     {"0x4000404000010040", ""},
              {"5", ""},        {"-5", ""},
              {"%r0", ""},      {"%fd0", ""},
              {"%p0", ""},      {"!%rd0", ""},
              {"{%r0,%r1}", ""}};
    case Idesc:
      return {{"%r8", ""},
              {"0x8100490", "idesc value"},
              {"0", "idesc value"},
              {"-1", "idesc value"},
              {"4294967295", "idesc value"},
              {"%rd0", ""},
              {"%f0", ""},
              {"%p0", ""},
              {"!%r0", ""},
              {"%rs0", ""},
              {"4294967296", "idesc"},
              {"-2147483649", "idesc"}};
    case DisableOutputLane:
      return {{vector_of("%f", n), ""},      {vector_of("%r", 4), ""},  {vector_of("%r", 8), ""},
              {vector_of("%r", 2), ""},      {vector_of("%r", 16), ""}, {vector_of("%rd", n), ""},
              {vector_of("%rs", n), ""},     {"%r8", "mask"},           {"5", ""},
              {"{%r0,1,%r2,%r3}", "vector"}, {"{%r0,_,%r2,%r3}", ""},   {"{1,2,3,4}", ""}};
    case Loaded:
    case Stored:
      return {{vector_of("%f", n), ""},
              {vector_of("%r", 1), ""},
              {vector_of("%r", 2), ""},
              {vector_of("%r", n + 1), ""},
              {vector_of("%r", 2 * n), ""},
              {vector_of("%rd", n), ""},
              {vector_of("%rs", n), ""},
              {"{%r0,_}", ""},
              {"{%r0,%f1}", ""},
              {"{%r0,%p1}", "vector"},
              {"{%r0,%rd1}", "vector"},
              {"%r8", ""},
              {"5", ""}};
    case EnableInputD:
      return {{"%p1", ""},     {"!%p1", ""},     {"0", ""},
              {"1", ""},       {"%r0", ""},      {"%rd0", ""},
              {"2", "enable"}, {"-1", "enable"}, {"4294967296", "enable"}};
    case ScaleInputD:
      return {{"0", ""}, {"15", ""}, {"16", ""}, {"-1", ""}, {"%r0", ""}, {"%p0", ""}};
    case Reduced: return {{"%f0", ""}, {"%rd0", ""}, {"%rs0", ""}, {"%p0", "predicate"}, {"5", ""}};
    case HalfSplit:
      return {{"0", ""}, {"1", ""}, {"512", ""}, {"-1", ""}, {"%r0", ""}, {"%p0", ""}};
    case AllocDst:
    case Mbar:
      return {{"[%r8]", ""}, {"[%rd8+8]", ""}, {"[%r8+8]", ""}, {"%rd8", ""},
              {"[64]", ""},  {"[%f0]", ""},    {"[%fd0]", ""},  {"[%rs0]", "address"}};
    case AllocTaddr: return {{"5", ""}, {"[%r0]", ""}, {"%rd0", ""}, {"%f0", ""}, {"%p0", ""}};
    case Columns:
      return {{"32", ""},          {"128", ""},       {"256", ""},       {"512", ""},
              {"48", ""},          {"16", ""},        {"1", ""},         {"%r0", ""},
              {"%rd0", ""},        {"%f0", ""},       {"96", "columns"}, {"0", "columns"},
              {"1024", "columns"}, {"-32", "columns"}};
    case CtaMask: return {{"%rs2", ""}, {"3", ""}, {"%r0", ""}, {"%rd0", ""}, {"%p0", ""}};
  }
  return {};
}

template <class Form>
Operands legal_operands(const Form& form) {
  const tcgen05::OperandList list = operands(form);
  Operands texts;
  for (int i = 0; i < list.size; ++i)
    texts.push_back(legal_operand(list.items[i], vector_registers(form)));
  return texts;
}

template <class Form>
void add_plain(const Form& form, Generator& out) {
  out.add(joined(opcode(form).chars, legal_operands(form)));
}

// Each operand exchanged, one more, one fewer.
template <class Form>
void add_operand_errors(const Form& form, Generator& out) {
  const tcgen05::OperandList list = operands(form);
  const Operands good = legal_operands(form);
  const std::string text = opcode(form).chars;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const auto& [other, difference] : alternatives(list.items[i], vector_registers(form))) {
      Operands bad = good;
      bad[i] = other;
      out.add(joined(text, bad), difference);
    }
  for (const char* more : {"0", "%r0", "%rd0", "[%r0]"}) {
    Operands bad = good;
    bad.push_back(more);
    out.add(joined(text, bad));
  }
  if (good.empty()) return;
  Operands fewer = good;
  fewer.pop_back();
  out.add(joined(text, fewer));
}

// ---- mma ----------------------------------------------------------------------------------------

inline std::vector<std::string> collector_words() {
  std::vector<std::string> words = {""};
  for (const char* buffer : {"a", "b0", "b1", "b2", "b3"})
    for (const char* use : {"fill", "use", "lastuse", "discard"})
      words.push_back(std::string(".collector::") + buffer + "::" + use);
  return words;
}

// One statement of the cross product, whether it exists or not.
struct MmaWords {
  tcgen05::MmaOpcode op;
  bool block_scale = false;
  std::string collector;
  bool mask = false;
  std::string extra;  // behind enable-input-d
};

inline std::string text_of(const MmaWords& w) {
  std::string text = "tcgen05.mma";
  text += w.op.ws ? ".ws" : "";
  text += w.op.sparse ? ".sp" : "";
  text += ".cta_group::" + std::to_string(w.op.cta_group) + ".kind::" + name(w.op.kind);
  text += w.block_scale ? ".block_scale" : "";
  const std::string scale_vec = name(w.op.scale_vec);
  text += scale_vec.empty() ? "" : "." + scale_vec;
  text += w.op.ashift ? ".ashift" : "";
  text += w.collector;
  Operands operands = {"[%r0]", w.op.a_place == tcgen05::Place::Tmem ? "[%r1]" : "%rd0", "%rd1"};
  if (w.op.sparse) operands.push_back("[%r2]");
  operands.push_back("%r5");
  if (w.mask) operands.push_back(vector_of("%r", 4 * w.op.cta_group));
  if (w.block_scale) operands.insert(operands.end(), {"[%r3]", "[%r4]"});
  operands.push_back("%p0");
  if (!w.extra.empty()) operands.push_back(w.extra);
  return joined(text, operands);
}

inline std::string difference_of(const MmaWords& w) {
  const bool lax = w.op.kind == tcgen05::Kind::i8 && !w.op.ws && !w.extra.empty();
  return lax ? "scale-input-d of i8" : "";
}

// Kind x cta_group x ws x sp x block_scale x scale vector x A x ashift x collector.
inline void add_mma_cross(const std::vector<std::string>& collectors, Generator& out) {
  for (int kind = 0; kind < tcgen05::kind_count; ++kind)
    for (int flags = 0; flags < 64; ++flags)
      for (int vec = 0; vec < tcgen05::scale_vec_count; ++vec)
        for (const std::string& collector : collectors) {
          MmaWords w;
          w.op.kind = static_cast<tcgen05::Kind>(kind);
          w.op.cta_group = 1 + flags % 2;
          w.op.ws = flags / 2 % 2 != 0;
          w.op.sparse = flags / 4 % 2 != 0;
          w.op.a_place = flags / 8 % 2 != 0 ? tcgen05::Place::Tmem : tcgen05::Place::Smem;
          w.op.ashift = flags / 16 % 2 != 0;
          w.op.scale_vec = static_cast<tcgen05::ScaleVec>(vec);
          w.collector = collector;
          w.block_scale = is_block_scaled(w.op.kind) != (flags / 32 != 0);
          if (flags / 32 != 0 && vec > 1) continue;
          out.add(text_of(w), difference_of(w));
        }
}

// The optional operands, where they exist and where not.
inline void add_mma_options(Generator& out) {
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    const auto* form = std::get_if<tcgen05::MmaForm>(&any);
    if (form == nullptr) continue;
    for (const auto place : {tcgen05::Place::Smem, tcgen05::Place::Tmem})
      for (const bool mask : {false, true})
        for (const char* extra : {"", "0", "15", "16", "%rd3", "%r5", "%p1"}) {
          MmaWords w{form->opcode, is_block_scaled(form->opcode.kind), "", mask, extra};
          w.op.a_place = place;
          out.add(text_of(w), difference_of(w));
        }
  }
}

inline void add_mma_operand_errors(Generator& out) {
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    const auto* found = std::get_if<tcgen05::MmaForm>(&any);
    if (found == nullptr) continue;
    tcgen05::MmaForm form = *found;
    form.disable_output_lane = !form.opcode.ws && !is_block_scaled(form.opcode.kind);
    form.scale_input_d = check(tcgen05::MmaForm{form.opcode, {}, false, true}) == Fault::None;
    form.zero_column_mask = form.opcode.ws;
    // One more operand behind the mask of i8 would be its scale-input-d.
    if (form.opcode.kind == tcgen05::Kind::i8 && !form.opcode.ws) continue;
    add_operand_errors(form, out);
  }
}

// ---- Qualifiers ---------------------------------------------------------------------------------

inline std::vector<std::string> words_of(const std::string& opcode) {
  std::vector<std::string> words(1);
  for (const char c : opcode) {
    if (c == '.')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

inline std::string opcode_of(const std::vector<std::string>& words) {
  std::string text = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) text += "." + words[i];
  return text;
}

// Each word left out, given twice, or moved one place; foreign words put in. `fixed` words name the
// instruction.
template <class Form>
void add_qualifier_errors(const Form& form, std::size_t fixed, Generator& out) {
  const std::vector<std::string> good = words_of(opcode(form).chars);
  const Operands operands = legal_operands(form);
  const auto add = [&](const std::vector<std::string>& words, const std::string& difference) {
    out.add(joined(opcode_of(words), operands), difference);
  };
  for (std::size_t i = fixed; i < good.size(); ++i) {
    std::vector<std::string> words = good;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    add(words, good[i] == "aligned" ? "aligned" : "");
    words = good;
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), good[i]);
    add(words, good[i] == "sync" || good[i] == "NaN" ? "order" : "");
    if (i + 1 == good.size()) continue;
    words = good;
    std::swap(words[i], words[i + 1]);
    add(words, "order");
  }
  for (const char* foreign : {"foo",
                              "sync",
                              "aligned",
                              "cta_group::1",
                              "b32",
                              "f32",
                              "sp",
                              "ws",
                              "x2",
                              "pack::16b",
                              "unpack::16b",
                              "down",
                              "multicast::cluster",
                              "shared::cta",
                              "shared::cluster",
                              "block_scale",
                              "ashift",
                              "red",
                              "min",
                              "kind::f16",
                              "warpx4",
                              "collector::a::fill"}) {
    std::vector<std::string> words = good;
    words.push_back(foreign);
    add(words, "order");
  }
}

// ---- All ----------------------------------------------------------------------------------------

// Instructions whose optional words the forms do not list.
inline void add_by_hand(Generator& out) {
  for (const char* text :
       {"tcgen05.foo;",
        "tcgen05.mma;",
        "tcgen05.ld;",
        "tcgen05.wait.sync.aligned;",
        "tcgen05.fence;",
        "tcgen05.wait.ld.sync.aligned;",
        "tcgen05.ld.sync.aligned.32x32b.x3.b32 {%r0,%r1,%r2}, [%r9];",
        "tcgen05.cp.cta_group::3.128x256b [%r0], %rd0;",
        "tcgen05.mma.cta_group::1.kind::bf16 [%r0], %rd0, %rd1, %r1, 1;",
        "tcgen05.mma.cta_group::1.kind::f16.collector::a::keep [%r0], %rd0, %rd1, %r1, 1;",
        "tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16 [%r0], %rd0;",
        "tcgen05.cp.cta_group::1.32x128b.warpx4.b6x16_p32 [%r0], %rd0;",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::two.b64 [%rd0];",
        "tcgen05.shift.cta_group::1.up [%r0];",
        "tcgen05.shift.down.cta_group::2 [%r0];",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.add.s32 {%r0,%r1}, %r5, [%r9];",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.f32.max {%r0,%r1}, %r5, [%r9];",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.max.NaN.abs.f32 {%r0,%r1}, %r5, [%r9];",
        "@%p0 tcgen05.fence::after_thread_sync;",
        "@!%p0 tcgen05.wait::ld.sync.aligned;",
        "@%r0 tcgen05.fence::after_thread_sync;"})
    out.add(text);
}

// Shape x num x pack of ld and st, and shape x num x op x modifiers x type of ld.red.
inline void add_ld_st_cross(Generator& out) {
  for (int s = 0; s < tcgen05::ld_shape_count; ++s)
    for (int num = 1; num <= 128; num *= 2) {
      const auto shape = static_cast<tcgen05::LdShape>(s);
      for (const bool pack : {false, true}) {
        add_plain(tcgen05::LdForm{shape, num, pack}, out);
        add_plain(tcgen05::StForm{shape, num, pack}, out);
      }
      for (int i = 0; i < 24; ++i)
        add_plain(tcgen05::LdRedForm{shape, num, static_cast<tcgen05::RedOp>(i % 2), i / 2 % 2 != 0,
                                     i / 4 % 2 != 0, static_cast<tcgen05::RedType>(i / 8)},
                  out);
    }
}

inline void add_cp_cross(Generator& out) {
  for (const int cta_group : {1, 2})
    for (int size = 0; size < tcgen05::cp_size_count; ++size)
      for (int multicast = 0; multicast < tcgen05::cp_multicast_count; ++multicast)
        for (int source = 0; source < tcgen05::cp_source_count; ++source)
          add_plain(tcgen05::CpForm{static_cast<tcgen05::CpSize>(size),
                                    static_cast<tcgen05::CpMulticast>(multicast),
                                    static_cast<tcgen05::CpSource>(source), cta_group},
                    out);
}

inline void add_other_errors(Generator& out) {
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    if (std::holds_alternative<tcgen05::MmaForm>(any)) continue;
    std::visit(
        [&](const auto& form) {
          add_plain(form, out);
          const tcgen05::OperandList list = operands(form);
          if (vector_registers(form) > 8 && list.size > 0) return;
          add_operand_errors(form, out);
          const std::string text = opcode(form).chars;
          add_qualifier_errors(form, text.starts_with("tcgen05.ld.red") ? 3 : 2, out);
        },
        any);
  }
}

inline std::vector<Statement> generate_tcgen05() {
  Generator out;
  add_by_hand(out);
  add_mma_cross(collector_words(), out);
  for (const Tcgen05Form& any : all_tcgen05_forms()) {
    const auto* form = std::get_if<tcgen05::MmaForm>(&any);
    if (form == nullptr) continue;
    add_qualifier_errors(*form, 2, out);
  }
  add_mma_options(out);
  add_mma_operand_errors(out);
  add_ld_st_cross(out);
  add_cp_cross(out);
  add_other_errors(out);
  return out.statements;
}

}  // namespace tcq::oracle
