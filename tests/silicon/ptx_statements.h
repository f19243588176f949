// Generates PTX statements of wgmma: every legal form, and forms with one thing wrong at a time.
//
// For comparing `check` with ptxas. Registers have the conventional names (%f: .f32, %r: .b32, %rd:
// .b64, %p: .pred, %rs: .b16, %fd: .f64). Start at generate().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/ptx_operands.h"
#include "sim/isa/wgmma/shape.h"
#include "tests/silicon/statements.h"

namespace tcq::oracle {

// The parts of one statement, so that one of them can be spoilt.
struct Parts {
  std::string sparse, order = ".sync.aligned", shape, satfinite, types, late_satfinite, operation;
  std::vector<std::string> operands;

  std::string text() const {
    return joined(
        "wgmma.mma_async" + sparse + order + shape + satfinite + types + late_satfinite + operation,
        operands);
  }
};

inline std::string shape(int m, int n, int k) {
  return ".m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
}

inline std::string legal_operand(const wgmma::Form& f, wgmma::Operand operand) {
  switch (operand) {
    case wgmma::Operand::D:
      return vector_of(f.d == Type::f32 ? "%f" : "%r", wgmma::accumulator_registers(f.d, f.n));
    case wgmma::Operand::ARegisters: return vector_of("%r", wgmma::a_registers);
    case wgmma::Operand::ADesc: return "%rd0";
    case wgmma::Operand::BDesc: return "%rd1";
    case wgmma::Operand::SpMeta: return "%r9";
    case wgmma::Operand::SpSelector: return "0";
    case wgmma::Operand::ScaleD: return "%p0";
    case wgmma::Operand::TransA:
    case wgmma::Operand::TransB: return "0";
    default: return "1";
  }
}

inline std::vector<wgmma::Operand> operands_of(const wgmma::Form& f) {
  std::vector<wgmma::Operand> operands;
  for (int i = 0; i < wgmma::operand_count; ++i)
    if (has_operand(f, static_cast<wgmma::Operand>(i)))
      operands.push_back(static_cast<wgmma::Operand>(i));
  return operands;
}

inline Parts parts_of(const wgmma::Form& f) {
  Parts parts;
  parts.sparse = f.sparse ? ".sp" : "";
  parts.shape = shape(wgmma::m, f.n, wgmma::k(f));
  parts.satfinite = f.satfinite ? ".satfinite" : "";
  parts.types = std::string(".") + name(f.d) + "." + name(f.a) + "." + name(f.b);
  parts.operation = f.a == Type::b1 ? ".and.popc" : "";
  for (const wgmma::Operand operand : operands_of(f))
    parts.operands.push_back(legal_operand(f, operand));
  return parts;
}

// `difference`: what ptxas tolerates; None: both must agree.
inline void add(Generator& out, const std::string& text, Fault difference = Fault::None) {
  out.add(text, difference == Fault::None ? "" : info(difference).name);
}
inline void add(Generator& out, const Parts& parts, Fault difference = Fault::None) {
  add(out, parts.text(), difference);
}

// Values that fit an operand, and ones that do not.
inline std::vector<std::string> alternatives(const wgmma::Form& f, wgmma::Operand operand) {
  const int d = wgmma::accumulator_registers(f.d, f.n);
  switch (operand) {
    case wgmma::Operand::D:
      return {vector_of("%f", d),
              vector_of("%r", d),
              vector_of("%f", d + 1),
              vector_of("%r", d - 1),
              vector_of("%r", 2 * d),
              vector_of("%rd", 2),
              "%f0",
              "%r0",
              "7"};
    case wgmma::Operand::ARegisters:
      return {vector_of("%r", 3), vector_of("%r", 5),  vector_of("%r", 2),
              vector_of("%f", 4), vector_of("%rd", 4), vector_of("%rs", 4)};
    case wgmma::Operand::ADesc:
    case wgmma::Operand::BDesc:
      return {"%rd7",
              "0x4000004000010040",
              "%r0",
              "%f0",
              "%p0",
              "%fd0",
              vector_of("%rd", 1),
              vector_of("%r", 2)};
    case wgmma::Operand::SpMeta: return {"%f0", "%rd0", "%rs0", "%p0", "5"};
    case wgmma::Operand::SpSelector: return {"1", "2", "3", "-1", "%r0"};
    case wgmma::Operand::ScaleD: return {"0", "1", "!%p1", "2", "-1", "%r0", "%rd0", "0x1"};
    case wgmma::Operand::ScaleA:
    case wgmma::Operand::ScaleB: return {"-1", "0", "2", "-2", "%r0", "%p0"};
    case wgmma::Operand::TransA:
    case wgmma::Operand::TransB: return {"1", "2", "-1", "%r0", "%p0"};
  }
  return {};
}

inline void add_operand_errors(const wgmma::Form& f, Generator& out) {
  const Parts good = parts_of(f);
  const std::vector<wgmma::Operand> operands = operands_of(f);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (const std::string& other : alternatives(f, operands[i])) {
      Parts bad = good;
      bad.operands[i] = other;
      const bool crash = operands[i] == wgmma::Operand::SpMeta && other == "%p0";
      add(out, bad, crash ? Fault::OperandKind : Fault::None);
    }
  }
  for (const std::string more : {"0", "1", "%p0"}) {
    Parts bad = good;
    bad.operands.push_back(more);
    add(out, bad);
  }
  Parts fewer = good;
  fewer.operands.pop_back();
  add(out, fewer);
}

inline void add_qualifier_errors(const wgmma::Form& f, Generator& out) {
  const Parts good = parts_of(f);
  const auto with = [&](auto change, Fault difference = Fault::None) {
    Parts bad = good;
    change(bad);
    add(out, bad, difference);
  };
  with([](Parts& p) { p.order = ".aligned"; });
  with([](Parts& p) { p.order = ""; });
  with([](Parts& p) { p.order = ".sync.aligned.aligned"; });
  with([](Parts& p) { p.order = ".sync"; }, Fault::AlignedMissing);
  with([](Parts& p) { p.order = ".aligned.sync"; }, Fault::QualifierOrder);
  with([](Parts& p) { p.order = ".sync.sync.aligned"; }, Fault::QualifierOrder);
  with([](Parts& p) { std::swap(p.shape, p.types); }, Fault::QualifierOrder);
  with([](Parts& p) { p.order = ".sync.aligned.row.col"; }, Fault::QualifierUnknown);
  with([](Parts& p) { p.satfinite = ".satfinite"; });
  with([](Parts& p) { p.late_satfinite = ".satfinite"; });
  with([](Parts& p) { p.operation = ""; });
  with([](Parts& p) { p.operation = ".and.popc"; });
  with([](Parts& p) { p.operation = ".and"; });
  with([](Parts& p) { p.operation = ".popc"; });
  with([](Parts& p) { p.operation = ".xor.popc"; });
  with([](Parts& p) { p.order += ".foo"; });
  with([](Parts& p) { p.shape = ""; });
  with([](Parts& p) { p.types = p.types.substr(0, p.types.rfind('.')); });
  with([](Parts& p) { p.types += p.types.substr(p.types.rfind('.')); });
  for (const int m : {8, 16, 32, 63, 128})
    with([&](Parts& p) { p.shape = shape(m, f.n, wgmma::k(f)); });
  for (const int k : {1, 4, 8, 16, 32, 64, 128, 256, 512})
    with([&](Parts& p) { p.shape = shape(wgmma::m, f.n, k); });
}

// D, A and B over all types, shapes as if they existed.
inline void add_type_combinations(Generator& out) {
  for (int d = 0; d < type_count; ++d) {
    for (int a = 0; a < type_count; ++a) {
      for (int b = 0; b < type_count; ++b) {
        const wgmma::Form form{static_cast<Type>(d), static_cast<Type>(a), static_cast<Type>(b),
                               16};
        for (const bool sparse : {false, true}) {
          wgmma::Form f = form;
          f.sparse = sparse;
          add(out, parts_of(f));
        }
      }
    }
  }
  for (const char* types : {".s32.s4.s4", ".s32.u4.u4", ".f32.e2m1.e2m1", ".f64.f64.f64",
                            ".bf16.bf16.bf16", ".f32.f32.f32", ".s32.s32.s32", ".s32.s16.s16"}) {
    Parts parts = parts_of({Type::f32, Type::f16, Type::f16, 16});
    parts.types = types;
    add(out, parts);
  }
}

// One form of every kind: types, dense and sparse, both places of A.
inline std::vector<wgmma::Form> kinds() {
  std::vector<wgmma::Form> result;
  for (wgmma::Form form : all_forms()) {
    if (form.n != 24) continue;
    form.a_place = wgmma::Place::Smem;
    result.push_back(form);
    form.a_place = wgmma::Place::Registers;
    result.push_back(form);
  }
  return result;
}

// Every legal form, A in both places: 1860 statements.
inline std::vector<Statement> legal_statements() {
  Generator out;
  for (wgmma::Form form : all_forms()) {
    for (const auto place : {wgmma::Place::Smem, wgmma::Place::Registers}) {
      form.a_place = place;
      add(out, parts_of(form));
    }
  }
  return out.statements;
}

inline std::vector<Statement> generate() {
  Generator out;
  for (const Statement& statement : legal_statements()) out.add(statement.text);
  for (wgmma::Form form : kinds()) {
    for (int n = 0; n <= 272; n += 4) {
      form.n = n == 0 ? 1 : n;
      if (form.n % 8 == 4 && form.n > 40) continue;
      Parts parts = parts_of(form);
      add(out, parts);
    }
  }
  for (const wgmma::Form& form : kinds()) {
    add_operand_errors(form, out);
    add_qualifier_errors(form, out);
  }
  add_type_combinations(out);
  for (const char* group : {"wgmma.fence.sync.aligned;",
                            "wgmma.fence.aligned;",
                            "wgmma.fence;",
                            "wgmma.fence.sync.aligned 0;",
                            "wgmma.fence.sync.aligned.foo;",
                            "wgmma.commit_group.sync.aligned;",
                            "wgmma.commit_group;",
                            "wgmma.commit_group.sync.aligned 1;",
                            "wgmma.wait_group.sync.aligned 0;",
                            "wgmma.wait_group.sync.aligned 7;",
                            "wgmma.wait_group.sync.aligned 4294967296;",
                            "wgmma.wait_group.sync.aligned -1;",
                            "wgmma.wait_group.sync.aligned %r0;",
                            "wgmma.wait_group.sync.aligned;",
                            "wgmma.wait_group.sync.aligned 0, 1;",
                            "wgmma.wait_group.aligned 0;",
                            "wgmma.foo.sync.aligned;",
                            "@%p0 wgmma.fence.sync.aligned;",
                            "@!%p0 wgmma.wait_group.sync.aligned 0;",
                            "@%r0 wgmma.fence.sync.aligned;"})
    out.add(group);
  add(out, "wgmma.fence.sync;", Fault::AlignedMissing);
  add(out, "wgmma.wait_group.sync 0;", Fault::AlignedMissing);
  add(out, "wgmma.commit_group.aligned.sync;", Fault::QualifierOrder);
  return out.statements;
}

}  // namespace tcq::oracle
