// What a step does to an object that other steps may use: all that the explorer knows of it.
//
// Objects are mbarriers, barriers of a CTA, the cluster's barrier, pools of registers and of Tensor
// Memory, words by which threads synchronise, the clusters that have not begun; each has a number. Whether two steps commute is judged from their touches alone
// (touch_order.h), so that an instruction which forgets one makes the exploration unsound. Before a
// step is taken its touches say the object, the kind and what the statement itself says; afterwards
// the rest as well.
#pragma once

#include <cstdint>

namespace tcq::machine {

enum class TouchKind : std::uint8_t { Count, Wait, Take, Word };
struct Touch {
  std::uint64_t object = 0;
  TouchKind kind = TouchKind::Count;
  std::uint32_t phase = 0;  // before the step; of a wait: the phase it saw
  bool completes = false;   // the step completed the phase
  bool arrives = false;     // of a count: what it does to an mbarrier
  bool expects = false;
  std::int64_t copied = 0;  // bytes completed
  std::uint32_t pending_after = 1;
  std::int64_t tx_after = 0;
  int parity = -1;               // of a wait on an mbarrier
  std::int64_t free_before = 0;  // Take: registers in the pool
  std::int64_t taken = 0;        // Take: positive if taken
  bool writes = false;           // Word: an access by which threads synchronise
};

// --- numbers of objects ----------------------------------------------------------------------------

constexpr std::uint64_t mbarrier_object(int cta, std::uint32_t address) {
  return static_cast<std::uint64_t>(cta) << 32 | address;
}
constexpr std::uint64_t barrier_object(int cta, int id) {
  return std::uint64_t{1} << 60 | static_cast<std::uint64_t>(cta) << 32 |
         static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t pool_object(int cta) {
  return std::uint64_t{2} << 60 | static_cast<std::uint64_t>(cta);
}
inline constexpr std::uint64_t cluster_object = std::uint64_t{3} << 60;
// A word of memory that is not an mbarrier.
constexpr std::uint64_t shared_word_object(int cta, std::uint32_t address) {
  return std::uint64_t{5} << 60 | mbarrier_object(cta, address);
}
constexpr std::uint64_t global_word_object(std::uint32_t offset) {
  return std::uint64_t{6} << 60 | offset;
}
constexpr std::uint64_t tmem_object(int cta) {
  return std::uint64_t{4} << 60 | static_cast<std::uint64_t>(cta);
}
// An answer of try_cancel lands: it takes what the next one would have taken.
inline constexpr Touch launch_touch = {
    .object = std::uint64_t{7} << 60, .kind = TouchKind::Word, .writes = true};

}  // namespace tcq::machine
