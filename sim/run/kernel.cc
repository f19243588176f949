#include "sim/run/kernel.h"

#include "sim/run/address_map.h"

namespace tcq::run {

int Kernel::words_of(const ptx::Value& value) const {
  if (value.kind == ptx::ValueKind::Register || value.kind == ptx::ValueKind::AtRegister)
    return words_of_register[value.index];
  if (value.kind == ptx::ValueKind::AtVariable || value.kind == ptx::ValueKind::AtAddress) return 2;
  if (value.type == ptx::Type::Pred) return 0;
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
  for (ptx::Index i = range.first; i < range.end(); ++i) {
    const ptx::Variable& v = kernel.program->unit.variables[i];
    const Region& region = kernel.variables[i];
    parameters.push_back({kernel.program->unit.names.text(v.name), v.type,
                          static_cast<std::uint32_t>(region.address - param_window),
                          static_cast<std::uint32_t>(region.bytes), v.is_pointer});
  }
  return parameters;
}

}  // namespace tcq::run
