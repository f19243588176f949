#include "sim/run/place_variables.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/async/program.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/run/address_map.h"
#include "sim/run/heap.h"
#include "sim/run/variable_size.h"

namespace tcq::run {
namespace {

using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using ptx::Value;
using ptx::ValueKind;

constexpr std::uint64_t most_local_bytes = 512 * 1024;  // of a thread
// What alloca takes from, of a thread: sixteen times a device's own limit, unless that is set. Source: CUDA's
// cudaLimitStackSize, 1024 bytes
constexpr std::uint64_t most_stack_bytes = 16 * 1024;
constexpr std::uint64_t stack_alignment = 256;
constexpr std::uint64_t most_const_bytes = 64 * 1024;
constexpr std::uint64_t most_parameter_bytes = 32764;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

class Placing {
 public:
  explicit Placing(Kernel& kernel) : kernel_(kernel), program_(*kernel.program) {}

  void place_variables() {
    const auto& variables = program_.unit.variables;
    kernel_.variables.resize(variables.size());
    std::vector<bool> used(variables.size());
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) mark(used, i);
    std::uint64_t shared = reserved_shared_bytes;
    std::uint64_t local = 0;
    for (const bool dynamic : {false, true})
      for (std::size_t i = 0; i < variables.size(); ++i)
        if (used[i] && is_own_shared(variables[i].space) && is_dynamic(variables[i]) == dynamic)
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
    if (waits_as_grid()) {
      kernel_.grid_workspace = round_up(global, grid_workspace_bytes);
      global = kernel_.grid_workspace + grid_workspace_bytes;
    }
    if (calls_heap()) {
      kernel_.heap = round_up(global, heap_granule);
      global = *kernel_.heap + heap_bytes;
    }
    kernel_.stack_begin = static_cast<std::uint32_t>(round_up(local, stack_alignment));
    if (allocates()) local = kernel_.stack_begin + most_stack_bytes;
    kernel_.local_bytes = sized(local, most_local_bytes, "local");
    fill(kernel_.const_bytes, sized(constant, most_const_bytes, "constant"), Space::Const);
    fill(kernel_.global_bytes, sized(global, machine::max_global_bytes, "global"), Space::Global);
    place_parameters();
  }

 private:
  bool allocates() const {
    for (Index i = 0; i < kernel_.code->instructions.count; ++i)
      if (kernel_.instruction(i).opcode == Opcode::Alloca) return true;
    return false;
  }
  bool calls_heap() const {
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) {
      const ptx::Instruction& instruction = kernel_.instruction(i);
      for (Index v = instruction.values.first; v < instruction.values.end(); ++v) {
        const Value& value = program_.values[v];
        if (value.kind != ValueKind::Function) continue;
        const ptx::Function& function = program_.unit.functions[value.index];
        const std::string_view name = program_.unit.names.text(function.name);
        if (!function.has_body && (name == "malloc" || name == "free")) return true;
      }
    }
    return false;
  }
  // Notes where, too.
  bool waits_as_grid() {
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) {
      const ptx::Instruction& instruction = kernel_.instruction(i);
      for (Index v = instruction.values.first; v < instruction.values.end(); ++v)
        if (is_grid_workspace(program_.values[v])) kernel_.grid_barrier = i;
    }
    return kernel_.grid_barrier != ptx::none;
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
      const Region& region = kernel_.variables[i];
      const std::uint64_t begin = region.address - window;
      if (bytes.size() < begin + region.bytes) continue;  // refused
      const Initialised to{v, std::span(bytes).subspan(begin, region.bytes)};
      std::size_t at = 0;
      initialise(to, at, program_.unit.operands[v.values.first]);
    }
  }

  struct Initialised {
    const ptx::Variable& variable;
    std::span<std::uint8_t> bytes;
  };

  void refuse(const Initialised& to, const std::string& why) {
    kernel_.refused = "the initial value of " +
                      std::string(program_.unit.names.text(to.variable.name)) + " " + why;
  }

  // A number, or the address of what is named; of 0xff00(name) the bits that the mask names, moved down.
  std::uint64_t initial_bits(const Initialised& to, const ptx::Operand& value) {
    const auto number = static_cast<std::uint64_t>(value.value);
    const bool names = value.kind == OperandKind::Name || value.kind == OperandKind::Generic ||
                       value.kind == OperandKind::Masked;
    if (!names) return number;
    const std::optional<std::uint64_t> named = address_of(value.name);
    if (!named)
      refuse(to, "names " + std::string(program_.unit.names.text(value.name)) +
                     ", which is no function and no variable of global or constant memory");
    const std::uint64_t address = number + named.value_or(0);
    if (value.kind != OperandKind::Masked) return address;
    const auto mask = static_cast<std::uint64_t>(program_.unit.operands[value.items.first].value);
    return mask == 0 ? 0 : (address & mask) >> std::countr_zero(mask);
  }

  // Source: PTX ISA 9.2, 5.4.5 "Initializers": names of functions and of variables in .global and .const
  std::optional<std::uint64_t> address_of(ptx::Name name) const {
    const auto symbol = program_.symbols.find(name);
    if (symbol == program_.symbols.end()) return {};
    const Index index = symbol->second.index;
    if (symbol->second.kind == ValueKind::Function) return function_address(index);
    if (symbol->second.kind != ValueKind::Variable) return {};
    const Space space = program_.unit.variables[index].space;
    if (space != Space::Global && space != Space::Const) return {};
    return kernel_.variables[index].address;
  }

  void initialise(const Initialised& to, std::size_t& at, const ptx::Operand& value) {
    if (value.kind == OperandKind::List || value.kind == OperandKind::Vector) {
      for (Index i = value.items.first; i < value.items.end(); ++i)
        initialise(to, at, program_.unit.operands[i]);
      return;
    }
    const ptx::Type type = to.variable.type;
    std::uint64_t bits = initial_bits(to, value);
    if (value.kind == OperandKind::Float64 && type == ptx::Type::F32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    const auto width = static_cast<std::size_t>(std::max(1, ptx::bits(type) / 8));
    if (to.bytes.size() - at < width) return refuse(to, "has more elements than it");
    for (std::size_t b = 0; b < width; ++b, ++at)
      to.bytes[at] = b < sizeof bits ? static_cast<std::uint8_t>(bits >> (8 * b)) : 0;
  }

  Kernel& kernel_;
  const ptx::Program& program_;
};

}  // namespace

void place_variables(Kernel& kernel) { Placing(kernel).place_variables(); }

}  // namespace tcq::run
