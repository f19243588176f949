// What LBO and SBO step, and what one instruction reads; see word_lint.h.
#include "oracle/descriptor/word_lint.h"

namespace tcq::oracle {

OffsetRoles roles_of(Major major, Swizzle swizzle) {
  constexpr std::uint32_t lbo = 1u << 20, sbo = 1u << 21;  // larger than any constant stride
  const std::uint32_t pitch = pitch_bytes(swizzle), rows = atom_rows(swizzle);
  const CanonicalLayout marked = {major, pitch, lbo, sbo, rows};
  const std::array<std::pair<OperandByte, std::string>, 2> steps =
      major == Major::K
          ? std::array<std::pair<OperandByte, std::string>,
                       2>{{{{8, 0}, "8 rows"}, {{0, pitch}, fmt::format("{} bytes of K", pitch)}}}
          : std::array<std::pair<OperandByte, std::string>, 2>{
                {{{0, rows}, fmt::format("{} k", rows)},
                 {{pitch, 0}, fmt::format("{} bytes of MN", pitch)}}};
  OffsetRoles roles;
  for (const auto& [step, words] : steps) {
    const std::uint32_t moved = offset_bytes(marked, step);
    if (moved == lbo) roles.lbo = words;
    if (moved == sbo) roles.sbo = words;
  }
  return roles;
}

std::string inside_atom_text(std::string_view field, std::uint32_t value, const std::string& group,
                             Swizzle swizzle) {
  if (group.empty() || value >= atom_bytes(swizzle)) return {};
  return value == 0 ? fmt::format("; {} 0 repeats the first {}", field, group)
                    : fmt::format("; {} {} lies inside the {}-byte atom", field, value,
                                  atom_bytes(swizzle));
}

void lint_sbo(Swizzle swizzle, std::uint32_t sbo_bytes, Sentences& out) {
  if (swizzle == Swizzle::None || swizzle == no_swizzle || sbo_bytes >= atom_bytes(swizzle)) return;
  const std::string groups =
      fmt::format("groups of {} (K-major) or {} (MN-major)", roles_of(Major::K, swizzle).sbo,
                  roles_of(Major::MN, swizzle).sbo);
  out.push_back(sbo_bytes == 0
                    ? fmt::format("sbo_bytes 0 repeats the first of all {}", groups)
                    : fmt::format("sbo_bytes {} lies inside the {}-byte atom: {} overlap",
                                  sbo_bytes, atom_bytes(swizzle), groups));
}

OperandRead operand_read(Major major, std::uint32_t mn, std::uint32_t k, std::uint32_t per_unit) {
  const bool k_major = major == Major::K;
  OperandRead read{major, {}};
  for (std::uint32_t row = 0; row < mn; row += k_major ? 1 : per_unit)
    for (std::uint32_t along = 0; along < k; along += k_major ? per_unit : 1)
      read.units.push_back({k_major ? OperandByte{row, along / per_unit * descriptor_unit_bytes}
                                    : OperandByte{row / per_unit * descriptor_unit_bytes, along},
                            row, along});
  return read;
}

}  // namespace tcq::oracle
