// The suites of ld and st, cp, shift, and allocations.

#include <algorithm>
#include <initializer_list>

#include "oracle/recording/case_draw.h"
#include "oracle/recording/suites.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/allocation.h"

namespace tcq::oracle {

namespace {

using namespace tcgen05;

class Suite : public CaseDraw {
 public:
  Suite(std::uint64_t seed, Target target) : CaseDraw(seed), target_(target) {}

  // Adds a case if the target has the form.
  template <class Form>
  Tcgen05Case* add(const Form& form) {
    return check(form, target_) == Fault::None ? &add_any(form) : nullptr;
  }
  Tcgen05Case& add_any(const Tcgen05CaseForm& form) {
    return std::get<Tcgen05Case>(CaseDraw::add(Tcgen05Case{form, 0, {}}).experiment);
  }

 private:
  Target target_;
};

// ---- ld, st -------------------------------------------------------------------------------------

// Each warp at its own lanes, now and then 16 above if the shape has 16 lanes.
void place_registers(Tcgen05Case& c, const Fragment& fragment, Draw& draw) {
  const int column = draw.below(tmem_columns - footprint_columns(fragment) + 1);
  for (int warp = 0; warp < 4; ++warp) {
    const int lane = first_tmem_lane(warp);
    const int upper = draw.one_in(2) && is_lane_base(fragment.shape, warp, lane + 16) ? 16 : 0;
    c.operands.taddr[static_cast<std::size_t>(warp)] = encode(TmemAddress{lane + upper, column});
  }
}

// A split that gives every thread cells of its own; what stays where two store is left open.
int draw_half_split(const Fragment& fragment, Draw& draw) {
  const int run = run_columns(fragment);
  return run + draw.below(std::min(32, tmem_columns - 2 * run) + 1);
}

template <class Form>
void add_register_case(Suite& suite, const Form& form, bool packed) {
  Tcgen05Case* c = suite.add(form);
  if (c == nullptr) return;
  Fragment fragment{form.shape, form.num, packed};
  if (has_half_split(form.shape)) {
    fragment.half_split = draw_half_split(fragment, suite.draw());
    c->immediate = fragment.half_split;
  }
  place_registers(*c, fragment, suite.draw());
}

void add_reductions(Suite& suite, LdShape shape, int num) {
  for (int op = 0; op < red_op_count; ++op)
    for (int type = 0; type < red_type_count; ++type)
      for (const bool abs : {false, true})
        for (const bool nan : {false, true})
          add_register_case(
              suite,
              LdRedForm{shape, num, static_cast<RedOp>(op), abs, nan, static_cast<RedType>(type)},
              false);
}

// ---- cp, shift ----------------------------------------------------------------------------------

// Room for 128 rows of 128 bytes behind every start.
constexpr int source_starts = 64;

std::uint64_t source_descriptor(Draw& draw) {
  constexpr std::uint32_t rows = 128;
  constexpr std::uint32_t row_bytes = 32;
  for (;;) {
    const Swizzle swizzle = tcgen05::SwizzleMode::mode(static_cast<std::uint64_t>(draw.below(8)));
    if (swizzle == no_swizzle) continue;
    const std::uint32_t pitch = pitch_bytes(swizzle);
    const Tile tile{Major::K,          pitch, AtomOrder::MnFirst, std::max(row_bytes, pitch), rows,
                    atom_rows(swizzle)};
    const auto start =
        tcgen05_shared_base + 1024 * static_cast<std::uint32_t>(draw.below(source_starts));
    return encode(tile_descriptor(tile, swizzle, start, row_bytes));
  }
}

// ---- alloc --------------------------------------------------------------------------------------

using Action = AllocStep::Action;

// Sizes never grow within a CTA, as the manual asks. One sequence in four asks for more columns
// than there are: its alloc blocks until the probe frees an older allocation.
AllocSequence draw_sequence(int group, Draw& draw) {
  AllocSequence sequence{group, {}};
  const bool overcommits = draw.one_in(4);
  const int steps = draw.in(2, 12);
  auto columns = static_cast<std::uint32_t>(tmem_columns);
  std::uint32_t used = 0;
  std::vector<std::uint32_t> live;
  while (static_cast<int>(sequence.steps.size()) < steps) {
    while (columns > tmem_allocation_unit && draw.one_in(2)) columns /= 2;
    const auto index = static_cast<std::uint32_t>(sequence.steps.size());
    const bool fits = used + columns <= tmem_columns;
    if (!live.empty() && ((!fits && !overcommits) || draw.one_in(3))) {
      const auto which = live.begin() + draw.below(static_cast<int>(live.size()));
      const AllocStep& freed = sequence.steps[*which];
      used -= std::min(used, freed.columns);
      sequence.steps.push_back({Action::Dealloc, 0, *which});
      live.erase(which);
    } else {
      sequence.steps.push_back({Action::Alloc, columns, 0});
      live.push_back(index);
      used += columns;
    }
  }
  sequence.steps.push_back({Action::Relinquish, 0, 0});
  return sequence;
}

}  // namespace

std::vector<Case> tcgen05_registers(std::uint64_t seed, Target target) {
  constexpr int cases_per_form = 2;
  Suite suite(seed, target);
  for (int index = 0; index < ld_shape_count; ++index) {
    const auto shape = static_cast<LdShape>(index);
    for (int num = 1; num <= max_ld_registers; num *= 2) {
      for (const bool packed : {false, true})
        for (int i = 0; i < cases_per_form; ++i) {
          add_register_case(suite, StForm{shape, num, packed}, packed);
          add_register_case(suite, LdForm{shape, num, packed}, packed);
        }
      add_reductions(suite, shape, num);
    }
  }
  return suite.take();
}

std::vector<Case> tcgen05_copies(std::uint64_t seed, Target target) {
  constexpr int cases_per_form = 8;
  Suite suite(seed, target);
  for (int form = 0; form < 2 * cp_size_count * cp_multicast_count * cp_source_count; ++form)
    for (int i = 0; i < cases_per_form; ++i) {
      const int kind = form / 2;
      const CpForm f{static_cast<CpSize>(kind % cp_size_count),
                     static_cast<CpMulticast>(kind / cp_size_count % cp_multicast_count),
                     static_cast<CpSource>(kind / cp_size_count / cp_multicast_count),
                     1 + form % 2};
      Tcgen05Case* c = suite.add(f);
      if (c == nullptr) continue;
      c->operands.taddr[0] = encode(TmemAddress{0, 4 * suite.draw().below(126)});
      c->operands.desc = source_descriptor(suite.draw());
    }
  return suite.take();
}

std::vector<Case> tcgen05_shifts(std::uint64_t seed, Target target) {
  constexpr int columns = 8;  // cases per lane group and cta_group
  Suite suite(seed, target);
  for (const int group : {1, 2})
    for (int lane = 0; lane < tmem_lanes; lane += 32)
      for (int i = 0; i < columns; ++i)
        if (Tcgen05Case* c = suite.add(ShiftForm{group}))
          c->operands.taddr[0] = encode(TmemAddress{lane, 8 * suite.draw().below(64)});
  return suite.take();
}

std::vector<Case> tcgen05_allocations(std::uint64_t seed, Target target) {
  constexpr int cases = 64;
  Suite suite(seed, target);
  for (int i = 0; i < cases; ++i) suite.add_any(draw_sequence(1 + i % 2, suite.draw()));
  return suite.take();
}

}  // namespace tcq::oracle
