// Any bytes as a file of PTX: see bodies.h.
#include <memory>
#include <string>
#include <string_view>

#include "sim/async/explore.h"
#include "sim/async/replay.h"
#include "sim/ptx/decode.h"
#include "sim/ptx/printer.h"
#include "sim/run/inline_calls.h"
#include "sim/run/launch.h"
#include "tests/fuzz/bodies.h"

namespace tcq::fuzz {
namespace {

using namespace ptx;

void demand(bool holds, std::string_view law, std::string_view of) {
  if (!holds) throw Broken(std::string(law) + ": " + std::string(of));
}

void demand_sentences(const std::vector<Diagnostic>& diagnostics, std::string_view bytes) {
  demand(diagnostics.size() <= 2 * most_diagnostics, "too many complaints", bytes);
  for (const Diagnostic& one : diagnostics) {
    demand(one.at.line > 0 && one.at.column > 0, "a complaint about no place", bytes);
    demand(one.message.size() > 5 && one.message.size() < 1000, "no sentence", bytes);
    for (const char c : one.message)
      demand(c >= ' ' && c <= '~', "a byte no terminal shows", bytes);
  }
}

// Every number of a value is one of something.
void demand_in_range(const Program& p, const Code& code, const Value& v, std::string_view bytes) {
  const auto below = [&](std::size_t size) {
    demand(v.index < size, "an index beyond the end", bytes);
  };
  switch (v.kind) {
    case ValueKind::Register:
    case ValueKind::AtRegister: return below(code.registers.count);
    case ValueKind::Variable:
    case ValueKind::AtVariable: return below(p.unit.variables.size());
    case ValueKind::Function: return below(p.unit.functions.size());
    case ValueKind::Label:
      return demand(v.index >= code.instructions.first && v.index < code.instructions.end(),
                    "a label elsewhere", bytes);
    case ValueKind::Table: return below(p.tables.size());
    case ValueKind::Vector:
    case ValueKind::Pair:
    case ValueKind::List:
    case ValueKind::AtTensor:
      demand(v.index + static_cast<std::uint64_t>(v.value) <= p.values.size(),
             "items beyond the end", bytes);
      for (Index i = v.index; i < v.index + v.value; ++i)
        demand_in_range(p, code, p.values[i], bytes);
      return;
    default: return;
  }
}

void demand_whole(const Program& p, std::string_view bytes) {
  for (const Code& code : p.functions) {
    for (Index i = code.instructions.first; i < code.instructions.end(); ++i) {
      const Instruction& one = p.instructions[i];
      demand(one.guard == none || one.guard < code.registers.count, "a guard beyond the end",
             bytes);
      demand(one.form < p.forms.size(), "no form", bytes);
      if (one.opcode == Opcode::Unknown) continue;
      for (Index k = one.values.first; k < one.values.end(); ++k)
        demand_in_range(p, code, p.values[k], bytes);
    }
    Index next = code.instructions.first;
    for (Index b = code.blocks.first; b < code.blocks.end(); ++b) {
      demand(p.blocks[b].first == next && p.blocks[b].last > next, "blocks with gaps", bytes);
      next = p.blocks[b].last;
      for (Index k = p.blocks[b].next.first; k < p.blocks[b].next.end(); ++k)
        demand(p.edges[k] >= code.blocks.first && p.edges[k] < code.blocks.end(),
               "an edge elsewhere", bytes);
    }
    demand(next == code.instructions.end(), "blocks that end early", bytes);
  }
}

}  // namespace

// A launch of every kernel ends, however little its text means.
void demand_runs(const Program& program, std::string_view bytes) {
  constexpr std::uint64_t few = 2000;  // instructions
  for (const std::string_view name : run::entry_names(program)) {
    const auto kernel = std::make_shared<const run::Kernel>(run::lower(program, name, "fuzz.ptx"));
    demand(kernel->texts.size() == kernel->ops.size(), "an instruction without words", bytes);
    if (!kernel->refused.empty()) continue;
    run::Launch launch;
    launch.block = {64};
    launch.dynamic_shared = 1024;
    launch.parameters.assign(kernel->parameter_bytes, 0x70);
    std::vector<std::uint8_t> global = kernel->global_bytes;
    if (global.size() > 1 << 16) continue;
    global.resize(global.size() + 4096);
    const machine::Program cluster = run::make_program(kernel, launch, 0, std::move(global));
    const machine::Report report = machine::explore(
        cluster, {.max_executions = 2, .random_executions = 1, .max_instructions = few});
    demand(report.instructions <= 8 * few, "it does not end", bytes);
    if (report.outcome == machine::Outcome::Refused) continue;
    const machine::Replay again = machine::replay(cluster, report.schedule);
    demand(again.misfit == machine::Misfit::None && again.finding == report.finding,
           "its schedule does not repeat it", bytes);
  }
}

// What is understood reads back as it is printed; the rest has its sentence, and decoding never goes astray.
void kernel(std::string_view bytes) {
  for (const bool loose : {false, true}) {
    const Program program = decode(read(bytes, {.loose = loose}));
    demand_sentences(program.diagnostics, bytes);
    demand_whole(program, bytes);
    const Program called = decode(run::inline_calls(read(bytes, {.loose = loose})));
    demand_whole(called, bytes);
    demand_runs(called, bytes);
    if (!program.unit.diagnostics.empty()) continue;
    const std::string printed = print(program.unit);
    const Unit again = read(printed, {.loose = loose});
    demand(again.diagnostics.empty(), "what is printed is refused", printed);
    demand(print(again) == printed, "what is printed reads as something else", printed);
  }
}

}  // namespace tcq::fuzz
