// Special registers, by name.
//
// Source: PTX ISA 9.2, 10 "Special Registers"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tcq::ptx {

// clang-format off
enum class Special : std::uint8_t {
  Tid, Ntid, Laneid, Warpid, Nwarpid, Ctaid, Nctaid, Smid, Nsmid, Gridid, IsExplicitCluster,
  Clusterid, Nclusterid, ClusterCtaid, ClusterNctaid, ClusterCtarank, ClusterNctarank, LanemaskEq,
  LanemaskLe, LanemaskLt, LanemaskGe, LanemaskGt, Clock, ClockHi, Clock64, Globaltimer,
  GlobaltimerLo, GlobaltimerHi, ReservedSmemBegin, ReservedSmemEnd, ReservedSmemCap,
  ReservedSmem0, ReservedSmem1, TotalSmemSize, AggrSmemSize, DynamicSmemSize, CurrentGraphExec,
  Pm0, Envreg0,
};
// clang-format on

// clang-format off
inline constexpr std::array<std::string_view, 39> special_names = {
    "%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid",
    "%gridid", "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid",
    "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le",
    "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%reserved_smem_offset_0",
    "%reserved_smem_offset_1", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
    "%current_graph_exec", "%pm0", "%envreg0"};
// clang-format on
static_assert(special_names.size() == static_cast<std::size_t>(Special::Envreg0) + 1);

constexpr std::string_view name(Special special) {
  return special_names[static_cast<std::size_t>(special)];
}

struct SpecialWord {
  Special special;
  std::uint8_t number;  // of %envreg0 to %envreg31 and %pm0 to %pm7, else 0
};

constexpr std::optional<SpecialWord> special_of(std::string_view word) {
  for (std::size_t i = 0; i < special_names.size(); ++i)
    if (special_names[i] == word) return SpecialWord{static_cast<Special>(i), 0};
  for (const auto& [special, count] :
       {std::pair{Special::Pm0, 8}, std::pair{Special::Envreg0, 32}}) {
    std::string_view prefix = name(special);
    prefix.remove_suffix(1);
    if (!word.starts_with(prefix)) continue;
    int number = 0;
    for (const char digit : word.substr(prefix.size())) {
      if (digit < '0' || digit > '9' || number > count) return std::nullopt;
      number = number * 10 + (digit - '0');
    }
    if (number < count) return SpecialWord{special, static_cast<std::uint8_t>(number)};
  }
  return std::nullopt;
}

}  // namespace tcq::ptx
