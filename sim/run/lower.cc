// From decoded PTX to ops; see kernel.h.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/run/address_map.h"
#include "sim/run/kernel.h"
#include "sim/run/moved_copies.h"
#include "sim/run/place_variables.h"
#include "sim/run/register_plan.h"
#include "sim/run/unwritten_registers.h"

namespace tcq::run {
namespace {

using ptx::Access;
using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Special;
using ptx::Value;
using ptx::ValueKind;

// Instructions of tensor cores say it in forms of their own, and all do.
bool is_sync(const ptx::Form& form) {
  using enum Opcode;
  switch (form.opcode) {
    case WgmmaMmaAsync:
    case WgmmaFence:
    case WgmmaCommitGroup:
    case WgmmaWaitGroup:
    case Tcgen05Ld:
    case Tcgen05St:
    case Tcgen05Alloc:
    case Tcgen05Dealloc:
    case Tcgen05Relinquish:
    case Tcgen05Wait: return true;
    default: return form.has(ptx::Flag::Sync) || form.has(ptx::Flag::Aligned);
  }
}

// clang-format off
Action action_of(Opcode opcode) {
  using enum Opcode;
  switch (opcode) {
    case Unknown: case Call: case Tcgen05LdRed:
      return Action::Unmodelled;
    case Prefetch: case Prefetchu: case Discard: case Applypriority: case Nanosleep: case Pmevent: case Brkpt:
    case Griddepcontrol: case CpAsyncBulkPrefetch: case CpAsyncBulkPrefetchTensor: case Createpolicy:
      return Action::Nothing;
    case Bra: return Action::Branch;
    case BrxIdx: return Action::Table;
    case Ret: case Exit: return Action::Exit;
    case Trap: return Action::Trap;
    case Ld: case Ldu: case MultimemLdReduce: return Action::Load;
    case St: case MultimemSt: return Action::Store;
    case Cvta: case Isspacep: case Mapa: case Getctarank: return Action::Address;
    case Alloca: case Stacksave: case Stackrestore: return Action::Stack;
    case ClusterlaunchcontrolQueryCancel: return Action::CancelQuery;
    case MbarrierPendingCount: return Action::PendingQuery;
    case Shfl: return Action::Shuffle;
    case ShflSync: case VoteSync: case MatchSync: case ReduxSync: case ElectSync: return Action::Converge;
    case Atom: case Red: case MultimemRed: case BarWarpSync: case BarSync: case BarArrive: case BarrierClusterArrive:
    case BarrierClusterWait: case Fence: case FenceProxy: case FenceMbarrierInit: case Membar: case MbarrierInit:
    case MbarrierInval: case MbarrierArrive: case MbarrierArriveDrop: case MbarrierExpectTx:
    case MbarrierCompleteTx: case MbarrierTestWait: case MbarrierTryWait: case CpAsyncBulk: case CpAsyncBulkTensor:
    case CpAsyncBulkCommitGroup: case CpAsyncBulkWaitGroup: case CpReduceAsyncBulk: case CpReduceAsyncBulkTensor:
    case Ldmatrix: case Stmatrix: case WgmmaMmaAsync: case WgmmaFence: case WgmmaCommitGroup: case WgmmaWaitGroup:
    case Setmaxnreg: case Tcgen05Mma: case Tcgen05Ld: case Tcgen05St: case Tcgen05Cp: case Tcgen05Shift:
    case Tcgen05Alloc: case Tcgen05Dealloc: case Tcgen05Relinquish: case Tcgen05Commit: case Tcgen05Wait:
    case Tcgen05Fence: case CpAsync: case CpAsyncCommitGroup: case CpAsyncWaitGroup: case CpAsyncWaitAll:
    case CpAsyncMbarrierArrive: case StAsync: case RedAsync: case StBulk: case MembarProxy: case BarRed: case ClusterlaunchcontrolTryCancel:
    case TensormapReplace: case TensormapCpFenceproxy: case WmmaLoad: case WmmaStore:
      return Action::Machine;
    default: return Action::Alu;
  }
}
// clang-format on

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
    kernel_.carry = kernel_.slot_count++;
    place_variables(kernel_);
    kernel_.slot_of_value.assign(program_.values.size(), no_slot);
    const Index count = kernel_.code->instructions.count;
    kernel_.problems.resize(count);
    for (Index i = 0; i < count; ++i) {
      kernel_.ops.push_back(lower(i));
      kernel_.texts.push_back(text_of(i));
    }
    kernel_.slot_count += 4;  // behind the last one: a value that is read wider than it is
    mark_moved_copies(kernel_);
    drop_unread_fragments();
    add_joins();
    list_unwritten(kernel_);
    name_files();
    return std::move(kernel_);
  }

 private:
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

  static std::uint8_t words(ptx::Type type) {
    if (type == ptx::Type::Pred) return 0;
    const int bits = ptx::bits(type);
    return static_cast<std::uint8_t>(bits <= 32 ? 1 : bits / 32);
  }

  Slot variable(const Value& value, std::uint8_t wide, bool is_generic = false) {
    const Region& region = kernel_.variables[value.index];
    Constant c{.words = wide};
    c.bits = region.address +
             static_cast<std::uint64_t>(value.kind == ValueKind::Variable ? value.value : 0);
    c.is_shared_address = is_own_shared(program_.unit.variables[value.index].space);
    if (is_generic && c.is_shared_address) c.bits += shared_window;
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
        const bool is_predicate = special == Special::IsExplicitCluster;
        return constant({.words = static_cast<std::uint8_t>(is_predicate       ? 0
                                                            : is_wide(special) ? 2
                                                                               : 1),
                         .is_special = true,
                         .special = special,
                         .element = value.element});
      }
      case ValueKind::Variable: return variable(value, words(value.type));
      case ValueKind::Function:
        return constant({.words = words(value.type), .bits = function_address(value.index)});
      case ValueKind::AtVariable: return variable(value, 2, is_generic_);
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

  // Of a variable by its name alone, whose generic address ptxas takes.
  bool names_no_space(const Instruction& instruction) const {
    const Opcode of = instruction.opcode;
    const bool accesses =
        of == Opcode::Ld || of == Opcode::St || of == Opcode::Atom || of == Opcode::Red;
    return accesses && !program_.form_of(instruction).has(ptx::Slot::Space);
  }

  // --- instructions ----------------------------------------------------------------------------

  void note_registers(const Instruction& instruction) {
    kernel_.has_setmaxnreg = true;
    const Value& count = program_.values[instruction.values.first];
    const bool increases =
        program_.form_of(instruction).get<ptx::Operation>() == ptx::Operation::Inc;
    if (increases && count.kind == ValueKind::Immediate)
      kernel_.most_registers =
          std::max(kernel_.most_registers, static_cast<std::uint32_t>(count.value));
  }

  Op lower(Index at) {
    const Instruction& instruction = kernel_.instruction(at);
    Op op;
    op.action = action_of(instruction.opcode);
    if (instruction.guard != ptx::none) op.guard = kernel_.slot_of_register[instruction.guard];
    op.guard_negated = instruction.guard_negated;
    is_generic_ = names_no_space(instruction);
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) number(v);
    if (instruction.opcode == Opcode::Call) op.action = action_of_call(instruction);
    if (op.action == Action::Branch)
      op.target = program_.values[instruction.values.first].index - kernel_.first();
    if (op.action == Action::Alu || op.action == Action::Converge || op.action == Action::Shuffle) {
      const alu::Operation operation = alu::operation(program_.form_of(instruction));
      op.evaluate = operation.evaluate;
      op.check = operation.check;
      if (op.evaluate == nullptr) op.action = Action::Unmodelled;
      if (operation.approximate) note_approximation(instruction, operation.bound);
      if (program_.form_of(instruction).has(ptx::Slot::Precision) &&
          !ptx::is_for_sm90(program_.unit))
        note_approximation(instruction, "as an sm_90 approximates; no other chip was asked");
      if (!fits(instruction)) op.action = Action::Unmodelled;
    }
    if (is_multimem(instruction.opcode))
      note_approximation(instruction, "as where one device alone is bound to the multicast object");
    op.chops = instruction.opcode == Opcode::Cvt && reads_wider(instruction);
    op.extends = instruction.opcode == Opcode::Cvt && writes_wider(instruction);
    if (instruction.opcode == Opcode::BarWarpSync) op.action = Action::Converge;
    op.gathers = gathers_warp(op, instruction);
    list_operands(op, instruction);
    if (instruction.opcode == Opcode::Mov && has_vector(instruction)) op.action = Action::Repack;
    if (instruction.opcode == Opcode::Mov && op.action == Action::Alu && is_one_register(op))
      op.action = Action::Nothing;
    if (!has_its_operands(op, instruction)) op.action = Action::Unmodelled;
    op.is_of_warp = alu::is_of_all_lanes(program_.form_of(instruction));
    op.meets = is_sync(program_.form_of(instruction));
    if (instruction.opcode == Opcode::Tcgen05St) op.gathered = place_to_gather(instruction);
    if (reads_driver(instruction)) op.action = Action::Unmodelled;
    if (instruction.opcode == Opcode::Setmaxnreg) note_registers(instruction);
    if (op.action == Action::Unmodelled) {
      const std::string_view word = program_.unit.names.text(program_.form_of(instruction).text);
      kernel_.problems[at] = word.empty() ? "could not be read" : std::string(word);
    }
    op.is_watched = is_watched(op);
    return op;
  }

  // What only a driver fills in, but for where the barrier of a grid is.
  bool reads_driver(const Instruction& instruction) const {
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) {
      if (program_.values[v].kind != ValueKind::Special) continue;
      const auto special = static_cast<Special>(program_.values[v].index);
      if (is_grid_workspace(program_.values[v])) continue;
      if (special == Special::Envreg0 || special == Special::Pm0) return true;
    }
    return false;
  }

  // tcgen05.st of one register many times, or in another order than something else has them.
  Slot place_to_gather(const Instruction& instruction) {
    const Value& vector = program_.values[instruction.values.end() - 1];
    if (vector.kind != ValueKind::Vector || first_of(kernel_, vector) != no_slot) return no_slot;
    const Slot first = kernel_.slot_count;
    kernel_.slot_count += static_cast<Slot>(vector.value);
    return first;
  }

  // barrier.sync of a number of threads that it names may be that of some lanes; bar is the whole warp's, and so is every barrier of
  // all threads; .sync.aligned instructions are the warp's. Source: PTX ISA 9.2, 9.7.13.1 "bar, barrier", 9.7.16.7.1 "tcgen05.alloc"
  bool gathers_warp(const Op& op, const Instruction& instruction) const {
    using enum Opcode;
    const Opcode opcode = instruction.opcode;
    if (opcode != BarSync && opcode != BarArrive && opcode != BarRed)
      return op.action == Action::Machine && is_sync(program_.form_of(instruction));
    const std::uint32_t all_threads = opcode == BarSync ? 1 : opcode == BarRed ? 3 : 0;
    return program_.form_of(instruction).has(ptx::Flag::Aligned) ||
           instruction.values.count == all_threads;
  }

  bool is_list(const Value& value, Index items) const {
    return value.kind == ValueKind::List && static_cast<Index>(value.value) == items;
  }
  // As CUDA's device library declares them, whose variables place_variables() has seen.
  bool is_of_heap(const Instruction& instruction) const {
    if (!kernel_.heap) return false;
    const Index first = instruction.values.first, count = instruction.values.count;
    return (count == 3 && is_list(program_.values[first], 1) &&
            is_list(program_.values[first + 2], 1)) ||
           (count == 2 && is_list(program_.values[first + 1], 1));
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
      if (is_of_heap(instruction)) return Action::Heap;
    }
    return Action::Unmodelled;
  }

  bool is_one_register(const Op& op) const {
    return op.outs == 1 && op.ins == 1 && op.negated == 0 &&
           kernel_.outs(op)[0] == kernel_.ins(op)[0];
  }

  bool has_vector(const Instruction& instruction) const {
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
      if (program_.values[v].kind == ValueKind::Vector) return true;
    return false;
  }

  static bool rounds_four_at_random(const Op& op, const ptx::Form& form) {
    return form.opcode == Opcode::Cvt && form.get<ptx::Rounding>() == ptx::Rounding::Rs &&
           op.ins == 5;
  }

  // `source`: how many stand before these values.
  bool takes_sources(const ptx::Form& form, ptx::Range values, std::size_t& source) const {
    for (Index v = values.first; v < values.end(); ++v) {
      const Value& value = program_.values[v];
      std::optional<std::uint64_t> constant;
      if (value.kind == ValueKind::Immediate) constant = static_cast<std::uint64_t>(value.value);
      const bool fine =
          value.kind == ValueKind::Vector || value.kind == ValueKind::Pair
              ? takes_sources(form, {value.index, static_cast<Index>(value.value)}, source)
              : value.access != Access::Read || alu::takes_source(form, source++, constant);
      if (!fine) return false;
    }
    return true;
  }

  // What is computed takes registers as the form has them, vectors mma.sync and cvt.rs to four elements alone. !p is read by
  // what computes; bar.red sees to it itself.
  bool has_its_operands(const Op& op, const Instruction& instruction) const {
    const bool computes = op.evaluate != nullptr && op.action != Action::Nothing;
    if (computes && op.action != Action::Repack) {
      const ptx::Form& form = program_.form_of(instruction);
      const bool may_have_vectors = instruction.opcode == Opcode::Mma ||
                                    instruction.opcode == Opcode::WmmaMma ||
                                    rounds_four_at_random(op, form);
      if (has_vector(instruction) && !may_have_vectors) return false;
      std::size_t source = 0;
      return alu::takes(form, op.outs, op.ins) &&
             (instruction.opcode != Opcode::Mma || takes_sources(form, instruction.values, source));
    }
    return op.negated == 0 || instruction.opcode == Opcode::BarRed;
  }

  void list_operands(Op& op, const Instruction& instruction) {
    op.lists = static_cast<std::uint32_t>(kernel_.slots.size());
    std::vector<Slot> outs, ins;
    const bool owns = names_owned_registers(instruction.opcode);  // then the rest is listed
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
      if (!owns || is_not_owned(v)) list_operand(op, v, outs, ins);
    if (std::max(outs.size(), ins.size()) > most_operands) {
      op.action = Action::Unmodelled;
      return;
    }
    op.sets_carry = program_.form_of(instruction).has(ptx::Flag::Cc);
    op.reads_carry = reads_carry(instruction.opcode);
    op.outs = static_cast<std::uint8_t>(outs.size());
    op.ins = static_cast<std::uint8_t>(ins.size());
    kernel_.slots.insert(kernel_.slots.end(), outs.begin(), outs.end());
    kernel_.slots.insert(kernel_.slots.end(), ins.begin(), ins.end());
  }
  bool is_not_owned(Index v) const {
    const Slot slot = kernel_.slot_of_value[v];
    return slot != no_slot && slot >= kernel_.owned_slots;
  }
  void list_operand(Op& op, Index v, std::vector<Slot>& outs, std::vector<Slot>& ins) {
    const Value& value = program_.values[v];
    if (value.kind == ValueKind::Vector || value.kind == ValueKind::Pair) {
      for (Index i = 0; i < static_cast<Index>(value.value); ++i)
        list_operand(op, value.index + i, outs, ins);
      return;
    }
    if (value.kind == ValueKind::Special)
      op.reads_clock |= static_cast<Special>(value.index) >= Special::Clock &&
                        static_cast<Special>(value.index) <= Special::GlobaltimerHi;
    const Slot slot =
        kernel_.slot_of_value[v] == no_slot ? kernel_.scratch : kernel_.slot_of_value[v];
    if (value.access != Access::Read) return outs.push_back(slot);
    if (value.kind == ValueKind::Register && value.negated) note_negated(op, value, ins.size());
    // ptxas adds the number of "%r1 + 4", which PTX has in addresses alone.
    if (value.kind == ValueKind::Register && value.value != 0 && op.action != Action::Address)
      op.action = Action::Unmodelled;
    ins.push_back(slot);
  }
  static bool reads_carry(Opcode opcode) {
    return opcode == Opcode::Addc || opcode == Opcode::Subc || opcode == Opcode::Madc;
  }
  static void note_negated(Op& op, const Value& value, std::size_t place) {
    if (value.type == ptx::Type::Pred && place < 8)
      op.negated |= static_cast<std::uint8_t>(1u << place);
    else
      op.action = Action::Unmodelled;
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

  // A fragment of wmma that no instruction reads is not loaded: nvcc leaves the load, ptxas 13.0 drops it (the machine code is that
  // without it). tiny-cuda-nn's backward pass has such ones of a null pointer.
  void drop_unread_fragments() {
    std::vector<bool> is_read(kernel_.slot_count, false);
    for (const Op& op : kernel_.ops) {
      for (const Slot slot : kernel_.ins(op)) is_read[slot] = true;
      if (op.guard != no_slot) is_read[op.guard] = true;
    }
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) {
      Op& op = kernel_.ops[i];
      const auto outs = kernel_.outs(op);
      const bool loads = kernel_.instruction(i).opcode == Opcode::WmmaLoad && !outs.empty();
      const bool is_used = std::ranges::any_of(
          outs, [&](Slot slot) { return slot < kernel_.owned_slots || is_read[slot]; });
      if (loads && !is_used && op.action != Action::Unmodelled) op.action = Action::Nothing;
    }
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

  // Do registers have the width of the operands' types? ptxas demands it of all that only compute, but for what cvt reads,
  // of which the low bits count: of no vector and no random bits; and for the one that cvt writes, whose high bits it fills.
  // Source: PTX ISA 9.2, 9.4.1 "Operand size exceeding instruction-type size".
  bool fits(const Instruction& instruction) const {
    const bool is_cvt = instruction.opcode == Opcode::Cvt;
    const ptx::Form& form = program_.form_of(instruction);
    const bool is_random = is_cvt && form.get<ptx::Rounding>() == ptx::Rounding::Rs;
    const Index first = instruction.values.first, end = instruction.values.end();
    for (Index v = first; v < end; ++v) {
      const Value& value = program_.values[v];
      const bool chops = !(is_random && v + 1 == end) && is_wider(value);
      const bool may_differ = is_cvt && (v == first ? writes_wider(instruction) : chops);
      if (!fits(value) && !may_differ) return false;
      if (is_cvt && value.kind == ValueKind::Vector && !all_fit(value)) return false;
    }
    return true;
  }
  bool reads_wider(const Instruction& instruction) const {
    return instruction.values.count > 1 && is_wider(program_.operand(instruction, 1));
  }
  // A register of 16 bits is filled by what computes the 8 of its type.
  bool writes_wider(const Instruction& instruction) const {
    const Value& value = program_.operand(instruction, 0);
    if (value.kind != ValueKind::Register) return false;
    const int bits =
        ptx::bits(program_.registers[kernel_.code->registers.first + value.index].type);
    return bits > std::max(16, ptx::bits(value.type));
  }
  bool is_wider(const Value& value) const {
    return value.kind == ValueKind::Register &&
           kernel_.words_of_register[value.index] > words(value.type);
  }
  bool fits(const Value& value) const {
    if (value.kind == ValueKind::Register)
      return value.type == ptx::Type::None ||
             kernel_.words_of_register[value.index] == words(value.type);
    return value.kind != ValueKind::Pair || all_fit(value);
  }
  bool all_fit(const Value& list) const {
    for (Index i = 0; i < static_cast<Index>(list.value); ++i)
      if (!fits(program_.values[list.index + i])) return false;
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
    name_places();
  }

  void name_places() {
    kernel_.places.resize(program_.locations.size());
    for (std::size_t i = 0; i < kernel_.places.size(); ++i) {
      const ptx::SourceLocation& at = program_.locations[i];
      if (at.file >= kernel_.files.size()) continue;
      kernel_.places[i] = {kernel_.files[at.file].c_str(), at.line,
                           at.caller == ptx::none ? nullptr : &kernel_.places[at.caller]};
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
  bool is_generic_ = false;  // the instruction whose values are numbered names no space
};

}  // namespace

Kernel lower(const ptx::Program& program, std::string_view entry, std::string path) {
  const auto found =
      std::find_if(program.functions.begin(), program.functions.end(), [&](const ptx::Code& code) {
        return program.unit.functions[code.declaration].kind == ptx::FunctionKind::Entry &&
               program.unit.names.text(code.name) == entry;
      });
  return Lowering(program, *found, std::move(path)).lower();
}

}  // namespace tcq::run
