// From decoded PTX to ops; see kernel.h.
#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "sim/async/program.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/run/address_map.h"
#include "sim/run/kernel.h"
#include "sim/run/register_plan.h"

namespace tcq::run {
namespace {

using ptx::Access;
using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Special;
using ptx::Type;
using ptx::Value;
using ptx::ValueKind;

// clang-format off
Action action_of(Opcode opcode) {
  using enum Opcode;
  switch (opcode) {
    case Unknown: case Call: case Alloca: case Stacksave: case Stackrestore: case WmmaLoad: case WmmaStore:
    case WmmaMma: case TensormapReplace: case TensormapCpFenceproxy: case MultimemLdReduce: case MultimemSt:
    case MultimemRed: case ClusterlaunchcontrolTryCancel: case ClusterlaunchcontrolQueryCancel: case StBulk:
    case CpAsync: case CpAsyncCommitGroup: case CpAsyncWaitGroup: case CpAsyncWaitAll: case CpAsyncMbarrierArrive:
    case RedAsync: case StAsync: case BarRed: case MbarrierPendingCount: case Tcgen05LdRed: case MembarProxy:
      return Action::Unmodelled;
    case Prefetch: case Prefetchu: case Discard: case Applypriority: case Nanosleep: case Pmevent: case Brkpt:
    case Griddepcontrol: case CpAsyncBulkPrefetch: case CpAsyncBulkPrefetchTensor: case Createpolicy:
      return Action::Nothing;
    case Bra: return Action::Branch;
    case BrxIdx: return Action::Table;
    case Ret: case Exit: return Action::Exit;
    case Trap: return Action::Trap;
    case Ld: case Ldu: return Action::Load;
    case St: return Action::Store;
    case Cvta: case Isspacep: case Mapa: case Getctarank: return Action::Address;
    case ShflSync: case VoteSync: case MatchSync: case ReduxSync: case ElectSync: return Action::Converge;
    case Atom: case Red: case BarWarpSync: case BarSync: case BarArrive: case BarrierClusterArrive:
    case BarrierClusterWait: case Fence: case FenceProxy: case FenceMbarrierInit: case Membar: case MbarrierInit:
    case MbarrierInval: case MbarrierArrive: case MbarrierArriveDrop: case MbarrierExpectTx:
    case MbarrierCompleteTx: case MbarrierTestWait: case MbarrierTryWait: case CpAsyncBulk: case CpAsyncBulkTensor:
    case CpAsyncBulkCommitGroup: case CpAsyncBulkWaitGroup: case CpReduceAsyncBulk: case CpReduceAsyncBulkTensor:
    case Ldmatrix: case Stmatrix: case WgmmaMmaAsync: case WgmmaFence: case WgmmaCommitGroup: case WgmmaWaitGroup:
    case Setmaxnreg: case Tcgen05Mma: case Tcgen05Ld: case Tcgen05St: case Tcgen05Cp: case Tcgen05Shift:
    case Tcgen05Alloc: case Tcgen05Dealloc: case Tcgen05Relinquish: case Tcgen05Commit: case Tcgen05Wait:
    case Tcgen05Fence:
      return Action::Machine;
    default: return Action::Alu;
  }
}
// clang-format on

constexpr std::uint64_t most_local_bytes = 512 * 1024;  // of a thread
constexpr std::uint64_t most_const_bytes = 64 * 1024;
constexpr std::uint64_t most_parameter_bytes = 32764;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t bytes_of(const ptx::Variable& v) {
  const auto bits = static_cast<std::uint64_t>(ptx::bits(v.type));
  return v.elements * v.vector * std::max<std::uint64_t>(1, bits / 8);
}
std::uint64_t alignment_of(const ptx::Variable& v) {
  if (v.align != 0) return v.align;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ptx::bits(v.type)) / 8 * v.vector);
}

bool is_shared(Space space) { return space == Space::Shared || space == Space::SharedCta; }

class Lowering {
 public:
  Lowering(const ptx::Program& program, const ptx::Code& code, std::string path)
      : program_(program), path_(std::move(path)) {
    kernel_.program = &program;
    kernel_.code = &code;
    kernel_.declaration = &program.unit.functions[code.declaration];
  }

  Kernel lower() {
    plan_registers(kernel_);
    mark_loaded();
    kernel_.scratch = kernel_.slot_count;
    kernel_.slot_count += 4;
    place_variables();
    kernel_.slot_of_value.assign(program_.values.size(), no_slot);
    const Index count = kernel_.code->instructions.count;
    kernel_.problems.resize(count);
    for (Index i = 0; i < count; ++i) {
      kernel_.ops.push_back(lower(i));
      kernel_.texts.push_back(text_of(i));
    }
    kernel_.slot_count += 4;  // behind the last one: a value that is read wider than it is
    add_joins();
    name_files();
    return std::move(kernel_);
  }

 private:
  // --- variables -------------------------------------------------------------------------------

  void place_variables() {
    const auto& variables = program_.unit.variables;
    kernel_.variables.resize(variables.size());
    std::vector<bool> used(variables.size());
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) mark(used, i);
    std::uint64_t shared = reserved_shared_bytes;
    std::uint64_t local = 0;
    for (const bool dynamic : {false, true})
      for (std::size_t i = 0; i < variables.size(); ++i)
        if (used[i] && is_shared(variables[i].space) && is_dynamic(variables[i]) == dynamic)
          place(i, shared, 0, dynamic);
    kernel_.shared_begin = reserved_shared_bytes;
    kernel_.shared_end = sized(shared, max_cta_shared_bytes + reserved_shared_bytes, "shared");
    std::uint64_t constant = 0;
    std::uint64_t global = 0;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const ptx::Variable& v = variables[i];
      if (v.space == Space::Const) place(i, constant, const_window, false);
      if (v.space == Space::Global) place(i, global, global_window, false);
      if (used[i] && v.space == Space::Local) place(i, local, local_window, false);
      if (used[i] && v.space == Space::Param && !is_parameter(i))
        place(i, local, local_window, false);
    }
    kernel_.local_bytes = sized(local, most_local_bytes, "local");
    fill(kernel_.const_bytes, sized(constant, most_const_bytes, "constant"), Space::Const);
    fill(kernel_.global_bytes, sized(global, machine::max_global_bytes, "global"), Space::Global);
    place_parameters();
  }

  // The bytes of a memory, if it may have so many; else none, and the kernel cannot be launched.
  std::uint32_t sized(std::uint64_t bytes, std::uint64_t most, const char* memory) {
    if (bytes <= most) return static_cast<std::uint32_t>(bytes);
    kernel_.refused = "its variables take " + std::to_string(bytes) + " bytes of " + memory +
                      " memory, of which there are " + std::to_string(most);
    return 0;
  }

  void mark(std::vector<bool>& used, Index at) const {
    const Instruction& instruction = kernel_.instruction(at);
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
      mark(used, program_.values[v]);
  }
  void mark(std::vector<bool>& used, const Value& value) const {
    switch (value.kind) {
      case ValueKind::Variable:
      case ValueKind::AtVariable: used[value.index] = true; return;
      case ValueKind::Vector:
      case ValueKind::Pair:
      case ValueKind::List:
      case ValueKind::AtTensor:
        for (Index i = 0; i < static_cast<Index>(value.value); ++i)
          mark(used, program_.values[value.index + i]);
        return;
      default: return;
    }
  }

  // Dynamic shared memory: all such variables begin at the same place, behind the others.
  static bool is_dynamic(const ptx::Variable& v) {
    return v.linkage == ptx::Linkage::Extern && v.is_array && v.elements == 0;
  }
  bool is_parameter(std::size_t variable) const {
    const ptx::Range p = kernel_.declaration->parameters;
    return variable >= p.first && variable < p.end();
  }

  void place(std::size_t variable, std::uint64_t& end, std::uint64_t window, bool dynamic) {
    const ptx::Variable& v = program_.unit.variables[variable];
    constexpr std::uint64_t beyond = std::uint64_t{1} << 40;  // of all memories
    const std::uint64_t begin = std::min(round_up(end, alignment_of(v)), beyond);
    const std::uint64_t bytes = dynamic ? 0 : std::min(bytes_of(v), beyond);
    kernel_.variables[variable] = {window + begin, bytes};
    end = std::min(begin + bytes, beyond);
  }

  void place_parameters() {
    std::uint64_t end = 0;
    const ptx::Range parameters = kernel_.declaration->parameters;
    for (Index i = parameters.first; i < parameters.end(); ++i) place(i, end, param_window, false);
    kernel_.parameter_bytes = sized(end, most_parameter_bytes, "parameter");
  }

  void fill(std::vector<std::uint8_t>& bytes, std::uint64_t size, Space space) {
    bytes.assign(size, 0);
    const std::uint64_t window = space == Space::Const ? const_window : global_window;
    for (std::size_t i = 0; i < kernel_.variables.size(); ++i) {
      const ptx::Variable& v = program_.unit.variables[i];
      if (v.space != space || v.values.count == 0) continue;
      std::uint64_t at = kernel_.variables[i].address - window;
      initialise(bytes, at, program_.unit.operands[v.values.first], v.type);
    }
  }

  void initialise(std::vector<std::uint8_t>& bytes, std::uint64_t& at, const ptx::Operand& value,
                  Type type) {
    if (value.kind == ptx::OperandKind::List || value.kind == ptx::OperandKind::Vector) {
      for (Index i = value.items.first; i < value.items.end(); ++i)
        initialise(bytes, at, program_.unit.operands[i], type);
      return;
    }
    auto bits = static_cast<std::uint64_t>(value.value);
    if (value.kind == ptx::OperandKind::Float64 && type == Type::F32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    const auto width = static_cast<std::uint64_t>(std::max(1, ptx::bits(type) / 8));
    for (std::uint64_t b = 0; b < width && at < bytes.size(); ++b, ++at)
      bytes[at] = static_cast<std::uint8_t>(bits >> (8 * (b % 8)));
  }

  // --- slots of values -------------------------------------------------------------------------

  Slot constant(Constant c) {
    const auto key =
        std::tuple{c.words, c.is_special, c.special, c.element, c.bits, c.is_shared_address};
    const auto [known, fresh] = constants_.try_emplace(key, kernel_.slot_count);
    if (!fresh) return known->second;
    c.slot = kernel_.slot_count;
    kernel_.slot_count += std::max<Slot>(1, c.words);
    kernel_.constants.push_back(c);
    return c.slot;
  }

  static std::uint8_t words(Type type) {
    if (type == Type::Pred) return 0;
    const int bits = ptx::bits(type);
    return static_cast<std::uint8_t>(bits <= 32 ? 1 : bits / 32);
  }

  Slot variable(const Value& value, std::uint8_t wide) {
    const Region& region = kernel_.variables[value.index];
    Constant c{.words = wide};
    c.bits = region.address +
             static_cast<std::uint64_t>(value.kind == ValueKind::Variable ? value.value : 0);
    c.is_shared_address = is_shared(program_.unit.variables[value.index].space);
    return constant(c);
  }

  static bool is_wide(Special special) {
    using enum Special;
    return special == Clock64 || special == Globaltimer || special == Gridid ||
           special == CurrentGraphExec;
  }

  Slot slot_of(const Value& value) {
    switch (value.kind) {
      case ValueKind::Register:
      case ValueKind::AtRegister: return kernel_.slot_of_register[value.index];
      case ValueKind::Immediate: {
        Constant c{.words = words(value.type), .bits = static_cast<std::uint64_t>(value.value)};
        if (value.negated) c.bits = c.bits == 0;
        return constant(c);
      }
      case ValueKind::Special: {
        const auto special = static_cast<Special>(value.index);
        return constant({.words = static_cast<std::uint8_t>(is_wide(special) ? 2 : 1),
                         .is_special = true,
                         .special = special,
                         .element = value.element});
      }
      case ValueKind::Variable: return variable(value, words(value.type));
      case ValueKind::AtVariable: return variable(value, 2);
      case ValueKind::AtAddress: return constant({.words = 2, .bits = 0});
      case ValueKind::Sink: return kernel_.scratch;
      default: return no_slot;
    }
  }

  void number(Index v) {
    const Value value = program_.values[v];
    kernel_.slot_of_value[v] = slot_of(value);
    const bool holds = value.kind == ValueKind::Vector || value.kind == ValueKind::Pair ||
                       value.kind == ValueKind::List || value.kind == ValueKind::AtTensor;
    if (!holds) return;
    for (Index i = 0; i < static_cast<Index>(value.value); ++i) number(value.index + i);
  }

  // --- instructions ----------------------------------------------------------------------------

  Op lower(Index at) {
    const Instruction& instruction = kernel_.instruction(at);
    Op op;
    op.action = action_of(instruction.opcode);
    if (instruction.guard != ptx::none) op.guard = kernel_.slot_of_register[instruction.guard];
    op.guard_negated = instruction.guard_negated;
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) number(v);
    if (instruction.opcode == Opcode::Call) op.action = action_of_call(instruction);
    if (op.action == Action::Branch)
      op.target = program_.values[instruction.values.first].index - kernel_.first();
    if (op.action == Action::Alu || op.action == Action::Converge) {
      const alu::Operation operation = alu::operation(program_.form_of(instruction));
      op.evaluate = operation.evaluate;
      if (op.evaluate == nullptr) op.action = Action::Unmodelled;
      if (operation.approximate) note_approximation(instruction, operation.bound);
      if (!fits(instruction)) op.action = Action::Unmodelled;
    }
    if (instruction.opcode == Opcode::BarWarpSync) op.action = Action::Converge;
    list_operands(op, instruction);
    if (instruction.opcode == Opcode::Mov && has_vector(instruction)) op.action = Action::Repack;
    if (instruction.opcode == Opcode::Mov && op.action == Action::Alu && is_one_register(op))
      op.action = Action::Nothing;
    kernel_.has_setmaxnreg |= instruction.opcode == Opcode::Setmaxnreg;
    if (op.action == Action::Unmodelled)
      kernel_.problems[at] =
          std::string(program_.unit.names.text(program_.form_of(instruction).text));
    op.is_watched = is_watched(op);
    return op;
  }

  // Of the functions that no module has: assertions stop the kernel, what is printed is not shown.
  Action action_of_call(const Instruction& instruction) const {
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) {
      if (program_.values[v].kind != ValueKind::Function) continue;
      const Index function = program_.values[v].index;
      const std::string_view name =
          program_.unit.names.text(program_.unit.functions[function].name);
      if (name == "__assertfail") return Action::Trap;
      if (name == "vprintf") return Action::Nothing;
    }
    return Action::Unmodelled;
  }

  bool is_one_register(const Op& op) const {
    return op.outs == 1 && op.ins == 1 && kernel_.outs(op)[0] == kernel_.ins(op)[0];
  }

  bool has_vector(const Instruction& instruction) const {
    return program_.values[instruction.values.first].kind == ValueKind::Vector ||
           program_.values[instruction.values.first + 1].kind == ValueKind::Vector;
  }

  void list_operands(Op& op, const Instruction& instruction) {
    op.lists = static_cast<std::uint32_t>(kernel_.slots.size());
    std::vector<Slot> ins;
    const bool owns = names_owned_registers(instruction.opcode);  // then the rest is listed
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
      if (!owns || is_not_owned(v)) list_operand(op, v, ins);
    op.ins = static_cast<std::uint8_t>(ins.size());
    kernel_.slots.insert(kernel_.slots.end(), ins.begin(), ins.end());
  }
  bool is_not_owned(Index v) const {
    const Slot slot = kernel_.slot_of_value[v];
    return slot != no_slot && slot >= kernel_.owned_slots;
  }
  void list_operand(Op& op, Index v, std::vector<Slot>& ins) {
    const Value& value = program_.values[v];
    if (value.kind == ValueKind::Vector || value.kind == ValueKind::Pair) {
      for (Index i = 0; i < static_cast<Index>(value.value); ++i)
        list_operand(op, value.index + i, ins);
      return;
    }
    if (value.kind == ValueKind::Special)
      op.reads_clock |= static_cast<Special>(value.index) >= Special::Clock &&
                        static_cast<Special>(value.index) <= Special::GlobaltimerHi;
    const Slot slot =
        kernel_.slot_of_value[v] == no_slot ? kernel_.scratch : kernel_.slot_of_value[v];
    if (value.access == Access::Read) return ins.push_back(slot);
    kernel_.slots.push_back(slot);
    ++op.outs;
  }

  bool is_watched(const Op& op) const {
    const auto watched = [&](Slot slot) {
      return slot < kernel_.owned_slots || (slot < is_loaded_.size() && is_loaded_[slot]);
    };
    const auto ins = kernel_.ins(op);
    const auto outs = kernel_.outs(op);
    return std::any_of(ins.begin(), ins.end(), watched) ||
           std::any_of(outs.begin(), outs.end(),
                       [&](Slot slot) { return slot < kernel_.owned_slots; });
  }

  // Registers that loads of shared memory fill: whether their values were used matters.
  void mark_loaded() {
    is_loaded_.assign(kernel_.slot_count, false);
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) {
      const Instruction& instruction = kernel_.instruction(i);
      const bool loads = instruction.opcode == Opcode::Ld || instruction.opcode == Opcode::Ldmatrix;
      if (loads && instruction.values.count > 0)
        mark_loaded(program_.values[instruction.values.first]);
    }
  }
  void mark_loaded(const Value& value) {
    if (value.kind == ValueKind::Register) is_loaded_[kernel_.slot_of_register[value.index]] = true;
    if (value.kind != ValueKind::Vector) return;
    for (Index i = 0; i < static_cast<Index>(value.value); ++i)
      mark_loaded(program_.values[value.index + i]);
  }

  // --- for people --------------------------------------------------------------------------------

  std::string text_of(Index at) const {
    const Instruction& instruction = kernel_.instruction(at);
    std::string_view text = program_.unit.text.substr(instruction.at);
    text = text.substr(0, text.find(';'));
    std::string words;
    for (const char c : text) {
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!blank) words += c;
      if (blank && !words.empty() && words.back() != ' ') words += ' ';
    }
    constexpr std::size_t longest_vector = 40;
    const std::size_t open = words.find('{');
    const std::size_t close = words.find('}');
    if (open != words.npos && close != words.npos && close - open > longest_vector) {
      const std::size_t first = words.find(',', open);
      const std::size_t last = words.rfind(',', close);
      words = words.substr(0, first) + ".." + words.substr(last + 1);
    }
    return words + " (PTX line " + std::to_string(program_.unit.lines.at(instruction.at).line) +
           ")";
  }

  // Do registers have the width of the operands' types? ptxas demands it of all that only compute.
  bool fits(const Instruction& instruction) const {
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
      if (!fits(program_.values[v])) return false;
    return true;
  }
  bool fits(const Value& value) const {
    if (value.kind == ValueKind::Register)
      return value.type == Type::None ||
             kernel_.words_of_register[value.index] == words(value.type);
    if (value.kind == ValueKind::Pair) {
      for (Index i = 0; i < static_cast<Index>(value.value); ++i)
        if (!fits(program_.values[value.index + i])) return false;
    }
    return true;
  }

  void note_approximation(const Instruction& instruction, const char* bound) {
    const auto words = program_.unit.names.text(program_.form_of(instruction).text);
    const std::string line = std::string(words) + ": " + bound;
    auto& known = kernel_.approximations;
    if (std::find(known.begin(), known.end(), line) == known.end()) known.push_back(line);
  }

  void name_files() {
    kernel_.files.push_back(std::move(path_));
    for (const ptx::FileDirective& file : program_.unit.files) {
      if (file.index >= kernel_.files.size()) kernel_.files.resize(file.index + 1);
      std::string_view name = program_.unit.names.text(file.path);
      if (name.starts_with('"')) name = name.substr(1, name.size() - 2);
      kernel_.files[file.index] = name;
    }
  }

  // Where the lanes of each branch meet again.
  void add_joins() {
    const ptx::Range blocks = kernel_.code->blocks;
    for (Index b = blocks.first; b < blocks.end(); ++b) {
      const ptx::Block& block = program_.blocks[b];
      if (block.post_dominator == ptx::none || block.last == block.first) continue;
      const Index last = block.last - 1 - kernel_.first();
      kernel_.ops[last].join = program_.blocks[block.post_dominator].first - kernel_.first();
    }
  }

  const ptx::Program& program_;
  Kernel kernel_;
  using Key = std::tuple<std::uint8_t, bool, Special, std::uint8_t, std::uint64_t, bool>;
  std::map<Key, Slot> constants_;
  std::string path_;
  std::vector<bool> is_loaded_;
};

}  // namespace

int Kernel::words_of(const Value& value) const {
  if (value.kind == ValueKind::Register || value.kind == ValueKind::AtRegister)
    return words_of_register[value.index];
  if (value.kind == ValueKind::AtVariable || value.kind == ValueKind::AtAddress) return 2;
  if (value.type == Type::Pred) return 0;
  const int bits = ptx::bits(value.type);
  return bits <= 32 ? 1 : bits / 32;
}

std::vector<std::string_view> entry_names(const ptx::Program& program) {
  std::vector<std::string_view> names;
  for (const ptx::Code& code : program.functions)
    if (program.unit.functions[code.declaration].kind == ptx::FunctionKind::Entry)
      names.push_back(program.unit.names.text(code.name));
  return names;
}

std::vector<Parameter> parameters_of(const Kernel& kernel) {
  std::vector<Parameter> parameters;
  const ptx::Range range = kernel.declaration->parameters;
  for (Index i = range.first; i < range.end(); ++i) {
    const ptx::Variable& v = kernel.program->unit.variables[i];
    const Region& region = kernel.variables[i];
    parameters.push_back({kernel.program->unit.names.text(v.name), v.type,
                          static_cast<std::uint32_t>(region.address - param_window),
                          static_cast<std::uint32_t>(region.bytes), v.is_pointer});
  }
  return parameters;
}

Kernel lower(const ptx::Program& program, std::string_view entry, std::string path) {
  const auto found =
      std::find_if(program.functions.begin(), program.functions.end(), [&](const ptx::Code& code) {
        return program.unit.functions[code.declaration].kind == ptx::FunctionKind::Entry &&
               program.unit.names.text(code.name) == entry;
      });
  return Lowering(program, *found, std::move(path)).lower();
}

}  // namespace tcq::run
