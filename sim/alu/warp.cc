// What lanes of a warp tell each other: shfl, vote, match, redux, elect.
//
// Arguments::lanes are those that meet at the instruction, of all groups of the warp; each counts the ones that its
// own member mask names. Example: "vote.sync.ballot.b32 d, p, -1" gives the lanes where p holds.
//
// Source: PTX ISA 9.2, 9.7.9.6 "shfl.sync" (pseudocode), 9.7.13.9 to 9.7.13.15 "vote.sync" to "elect.sync"
// Inferred: elect.sync names the lowest lane of the mask that is there; PTX leaves the choice open.
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Operation;
using ptx::Shuffle;
using ptx::Type;
using ptx::Vote;
using U32 = std::uint32_t;

// The mask operand of each lane, of those that are here.
U32 members(const Arguments& a, int operand, int lane) {
  return cells<U32>(a.in[operand])[lane] & a.lanes;
}

struct Source {
  U32 lane;
  bool in_range;
};

template <Shuffle mode>
Source shuffle_source(U32 lane, U32 b, U32 c) {
  const U32 by = b % 32;
  const U32 clamp = c % 32;
  const U32 segment = c >> 8 & 31;
  const U32 first = lane & segment;
  const U32 last = first | (clamp & ~segment);
  if constexpr (mode == Shuffle::Up)
    return {lane - by, static_cast<int>(lane - by) >= static_cast<int>(last)};
  if constexpr (mode == Shuffle::Down) return {lane + by, lane + by <= last};
  if constexpr (mode == Shuffle::Bfly) return {lane ^ by, (lane ^ by) <= last};
  const U32 from = first | (by & ~segment);
  return {from, from <= last};
}

template <Shuffle mode>
void shfl(const Arguments& a) {
  const U32* const values = cells<U32>(a.in[0]);
  U32 result[warp_size] = {};
  U32 in_range = 0;
  each_lane(a.lanes, [&](int lane) {
    const Source from = shuffle_source<mode>(static_cast<U32>(lane), cells<U32>(a.in[1])[lane],
                                             cells<U32>(a.in[2])[lane]);
    result[lane] = values[from.in_range ? from.lane % 32 : static_cast<U32>(lane)];
    in_range |= U32{from.in_range} << lane;
  });
  write(a.out[0], result, a.lanes);
  if (a.outs > 1) write_mask(a.out[1], in_range, a.lanes);
}

Evaluate shuffle(Shuffle mode) {
  switch (mode) {
    case Shuffle::Up: return shfl<Shuffle::Up>;
    case Shuffle::Down: return shfl<Shuffle::Down>;
    case Shuffle::Bfly: return shfl<Shuffle::Bfly>;
    case Shuffle::Idx: return shfl<Shuffle::Idx>;
    default: return nullptr;
  }
}

template <Vote mode, bool has_mask>
void vote(const Arguments& a) {
  const U32 p = mask_at(a.in[0]);
  U32 result = 0;
  U32 ballots[warp_size] = {};
  each_lane(a.lanes, [&](int lane) {
    const U32 asked = has_mask ? members(a, 1, lane) : a.lanes;
    const U32 yes = p & asked;
    ballots[lane] = yes;
    const bool holds = mode == Vote::All   ? yes == asked
                       : mode == Vote::Any ? yes != 0
                                           : yes == 0 || yes == asked;
    result |= U32{holds} << lane;
  });
  if constexpr (mode == Vote::Ballot)
    write(a.out[0], ballots, a.lanes);
  else
    write_mask(a.out[0], result, a.lanes);
}

template <bool has_mask>
Evaluate vote_of(const ptx::Form& form) {
  const Vote mode = form.get<Vote>();
  if (form.types[0] != (mode == Vote::Ballot ? Type::B32 : Type::Pred)) return nullptr;
  switch (mode) {
    case Vote::All: return vote<Vote::All, has_mask>;
    case Vote::Any: return vote<Vote::Any, has_mask>;
    case Vote::Uni: return vote<Vote::Uni, has_mask>;
    case Vote::Ballot: return vote<Vote::Ballot, has_mask>;
    default: return nullptr;
  }
}

template <class T, bool all>
void match(const Arguments& a) {
  const auto* const values = cells<T>(a.in[0]);
  U32 result[warp_size] = {};
  U32 equal = 0;
  each_lane(a.lanes, [&](int lane) {
    const U32 asked = members(a, 1, lane);
    U32 same = 0;
    each_lane(asked, [&](int other) { same |= U32{values[other] == values[lane]} << other; });
    if (all && same != asked) same = 0;
    result[lane] = same;
    equal |= U32{same != 0} << lane;
  });
  write(a.out[0], result, a.lanes);
  if (a.outs > 1) write_mask(a.out[1], equal, a.lanes);
}

Evaluate match_of(const ptx::Form& form) {
  const bool all = form.get<Vote>() == Vote::All;
  if (!all && form.get<Vote>() != Vote::Any) return nullptr;
  if (form.types[0] == Type::B32) return all ? match<U32, true> : match<U32, false>;
  using U64 = std::uint64_t;
  if (form.types[0] == Type::B64) return all ? match<U64, true> : match<U64, false>;
  return nullptr;
}

// The first element meets itself where f makes something of a single one, such as its magnitude.
template <auto f, class T, bool is_idempotent = false>
void redux(const Arguments& a) {
  U32 result[warp_size] = {};
  each_lane(a.lanes, [&](int lane) {
    U32 asked = members(a, 1, lane);
    if (asked == 0) return;
    T sum = value_at<T>(a.in[0], std::countr_zero(asked));
    each_lane(is_idempotent ? asked : asked & (asked - 1),
              [&](int other) { sum = static_cast<T>(f(sum, value_at<T>(a.in[0], other))); });
    result[lane] = to_cell<T>(sum);
  });
  write(a.out[0], result, a.lanes);
}

constexpr auto least = [](auto x, auto y) { return y < x ? y : x; };
constexpr auto greatest = [](auto x, auto y) { return x < y ? y : x; };

// Floats as integers of the same order, -0 below +0.
constexpr std::int32_t order(U32 x) {
  const auto bits = static_cast<std::int32_t>(x);
  return bits ^ static_cast<std::int32_t>(static_cast<U32>(bits >> 31) >> 1);
}
template <bool is_min, bool absolute, bool keeps_nan>
constexpr auto extreme_word = [](U32 x, U32 y) {
  constexpr U32 magnitude = 0x7fffffff;
  constexpr U32 infinity = 0x7f800000;
  if (absolute) x &= magnitude, y &= magnitude;
  const bool x_nan = (x & magnitude) > infinity;
  const bool y_nan = (y & magnitude) > infinity;
  if (x_nan || y_nan) return keeps_nan || x_nan == y_nan ? canonical_nan_f32 : x_nan ? y : x;
  return (order(x) < order(y)) == is_min ? x : y;
};

template <bool is_min>
Evaluate redux_f32(const ptx::Form& form) {
  const bool absolute = form.has(ptx::Flag::Abs);
  if (form.has(ptx::Flag::NaN))
    return absolute ? redux<extreme_word<is_min, true, true>, U32, true>
                    : redux<extreme_word<is_min, false, true>, U32, true>;
  return absolute ? redux<extreme_word<is_min, true, false>, U32, true>
                  : redux<extreme_word<is_min, false, false>, U32, true>;
}

Evaluate redux_of(const ptx::Form& form) {
  const Type type = form.types[0];
  const bool is_signed = type == Type::S32;
  const auto operation = form.get<Operation>();
  if (type == Type::F32) {
    if (operation == Operation::Min) return redux_f32<true>(form);
    return operation == Operation::Max ? redux_f32<false>(form) : nullptr;
  }
  if (type == Type::B32) {
    switch (operation) {
      case Operation::And: return redux<[](U32 x, U32 y) { return x & y; }, U32>;
      case Operation::Or: return redux<[](U32 x, U32 y) { return x | y; }, U32>;
      case Operation::Xor: return redux<[](U32 x, U32 y) { return x ^ y; }, U32>;
      default: return nullptr;
    }
  }
  if (!is_signed && type != Type::U32) return nullptr;
  switch (operation) {
    case Operation::Add: return redux<[](U32 x, U32 y) { return x + y; }, U32>;
    case Operation::Min: return is_signed ? redux<least, std::int32_t> : redux<least, U32>;
    case Operation::Max: return is_signed ? redux<greatest, std::int32_t> : redux<greatest, U32>;
    default: return nullptr;
  }
}

void activemask(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) { cells<U32>(a.out[0])[lane] = a.lanes; });
}

void elect(const Arguments& a) {
  U32 elected[warp_size] = {};
  U32 is_elected = 0;
  each_lane(a.lanes, [&](int lane) {
    const int leader = std::countr_zero(members(a, 0, lane));
    elected[lane] = static_cast<U32>(leader);
    is_elected |= U32{leader == lane} << lane;
  });
  write(a.out[0], elected, a.lanes);
  if (a.outs > 1) write_mask(a.out[1], is_elected, a.lanes);
}

}  // namespace

Evaluate warp_operation(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::ShflSync:
    case Opcode::Shfl: return form.types[0] == Type::B32 ? shuffle(form.get<Shuffle>()) : nullptr;
    case Opcode::VoteSync: return vote_of<true>(form);
    case Opcode::Vote: return vote_of<false>(form);
    case Opcode::MatchSync: return match_of(form);
    case Opcode::ReduxSync: return redux_of(form);
    case Opcode::Activemask: return activemask;
    case Opcode::ElectSync: return elect;
    default: return nullptr;
  }
}

}  // namespace tcq::alu
