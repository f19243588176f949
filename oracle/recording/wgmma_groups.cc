#include "oracle/recording/wgmma_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "oracle/recording/case_draw.h"
#include "oracle/recording/suites.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/machine/wgmma.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

constexpr int n = 8;
constexpr int max_chain = 3;
constexpr int max_accumulators = max_groups + 1;
constexpr std::uint32_t max_tiles = max_accumulators * max_chain;
constexpr std::uint32_t row_bytes = wgmma::stored_k_bytes;

constexpr Tile tile_of(std::uint32_t rows) {
  return {Major::K, pitch_bytes(Swizzle::None), AtomOrder::KFirst, row_bytes, rows};
}
constexpr Tile tile_a = tile_of(wgmma::m);
constexpr Tile tile_b = tile_of(n);

std::uint64_t descriptor(const Tile& tile, std::uint32_t start) {
  const CanonicalLayout layout = tcq::canonical_layout(tile, row_bytes);
  return wgmma::encode({start, layout.lbo_bytes, layout.sbo_bytes, 0, Swizzle::None});
}

std::size_t accumulator_words(const WgmmaGroups& e) {
  const wgmma::Form form = groups_form(e);
  return static_cast<std::size_t>(wgmma::threads_per_warpgroup *
                                  wgmma::accumulator_registers(form.d, form.n));
}

class GroupsBuilder {
 public:
  GroupsBuilder(const WgmmaGroups& e, std::uint64_t seed) : groups_(e), draw_(seed) {}

  GroupsSequence build() {
    const Between between = groups_.between;
    if (between == Between::EmptyFirst) commit();
    for (int group = 0; group < groups_.groups; ++group) {
      const bool last = group + 1 == groups_.groups;
      if (last && between == Between::Uncommitted) chain();
      chain();
      commit();
      if (group == 0 && between == Between::EmptyMiddle) commit();
    }
    if (between == Between::EmptyLast) commit();
    for (std::size_t i = 0; i < group_of_.size(); ++i)
      if (group_of_[i] < sequence_.committed - groups_.pending)
        sequence_.covered.push_back(static_cast<int>(i));
    return std::move(sequence_);
  }

 private:
  void commit() {
    sequence_.statements.push_back({.commit = true});
    ++sequence_.committed;
  }

  // wgmmas on an accumulator that no other group uses.
  void chain() {
    const int length = draw_.in(1, max_chain);
    for (int i = 0; i < length; ++i) {
      const std::uint32_t a = shared_base_sm90 + tiles_ * tile_a.bytes();
      const std::uint32_t b =
          shared_base_sm90 + max_tiles * tile_a.bytes() + tiles_ * tile_b.bytes();
      sequence_.statements.push_back({false, sequence_.accumulators, i != 0 || draw_.one_in(2),
                                      descriptor(tile_a, a), descriptor(tile_b, b)});
      ++tiles_;
    }
    group_of_.push_back(sequence_.committed);
    ++sequence_.accumulators;
  }

  const WgmmaGroups& groups_;
  Draw draw_;
  GroupsSequence sequence_;
  std::vector<int> group_of_;  // of each accumulator
  std::uint32_t tiles_ = 0;
};

const char* name(Between between) {
  switch (between) {
    case Between::Nothing: return "";
    case Between::EmptyFirst: return ", an empty group first";
    case Between::EmptyMiddle: return ", an empty group behind the first";
    case Between::EmptyLast: return ", an empty group last";
    case Between::Uncommitted: return ", uncommitted wgmmas before the last";
  }
  return "?";
}

// Numbers that change every sum.
void fill_floats(Type type, std::uint64_t seed, std::uint8_t* bytes, std::size_t size) {
  const auto width = static_cast<std::size_t>(bits(type)) / 8;
  for (std::size_t i = 0; i < size / width; ++i) {
    Draw draw(mix(seed) ^ i);
    const bool negative = draw.one_in(2);  // before the exponent: recorded inputs were drawn so
    const int exponent = draw.in(-4, 4);
    const std::uint32_t element = make_float(type, exponent, Fraction::Uniform, negative, draw);
    std::memcpy(bytes + i * width, &element, width);
  }
}

// As numbers, for the hash.
std::vector<std::uint64_t> numbers_of(const GroupsSequence& sequence) {
  std::vector<std::uint64_t> numbers;
  for (const wgmma::GroupsStatement& s : sequence.statements)
    numbers.insert(numbers.end(),
                   {std::uint64_t{s.commit}, static_cast<std::uint64_t>(s.accumulator),
                    std::uint64_t{s.accumulate}, s.desc_a, s.desc_b});
  return numbers;
}

}  // namespace

wgmma::Form groups_form(const WgmmaGroups& e) { return {Type::f32, e.type, e.type, n}; }

GroupsSequence groups_sequence(const WgmmaGroups& e, const Inputs& inputs) {
  return GroupsBuilder(e, inputs.seed).build();
}

void fields(Fields& io, WgmmaGroups& e) {
  bool bf16 = e.type == Type::bf16;
  io.flag(bf16);
  e.type = bf16 ? Type::bf16 : Type::f16;
  io.below(e.groups, max_groups + 1, "number of groups");
  io.number(e.pending, 1);
  io.below(e.between, between_count, "sequence of groups");
}

Memories state(const WgmmaGroups& e, const Inputs& inputs) {
  Memories memories = draw_memories(inputs);
  if (inputs.content == MemoryContent::Operands) {
    fill_floats(e.type, inputs.seed + 1, memories.shared.data(), memories.shared.size());
    fill_floats(Type::f32, inputs.seed + 2, memories.global.data(), memories.global.size());
  }
  memories.sequence = numbers_of(groups_sequence(e, inputs));
  return memories;
}

Prediction predict(const WgmmaGroups& e, const Inputs& inputs, Memories before) {
  const std::size_t words = accumulator_words(e);
  const GroupsSequence sequence = groups_sequence(e, inputs);
  std::vector<WarpgroupRegisters> accumulators(static_cast<std::size_t>(sequence.accumulators));
  const std::size_t bytes = words * sizeof(std::uint32_t);
  if (before.global.size() != accumulators.size() * bytes)
    throw BadFile("a case's memory is not the size of its accumulators");
  for (std::size_t i = 0; i < accumulators.size(); ++i) {
    accumulators[i].d.resize(words);
    std::memcpy(accumulators[i].d.data(), before.global.data() + i * bytes, bytes);
  }
  for (const wgmma::GroupsStatement& s : sequence.statements) {
    if (s.commit) continue;
    WarpgroupRegisters& registers = accumulators[static_cast<std::size_t>(s.accumulator)];
    const wgmma::Instruction in{groups_form(e), 0, s.desc_a, s.desc_b, s.accumulate};
    if (const Fault fault = execute(before.shared, registers, in); fault != Fault::None)
      return trap(fault);
  }
  for (std::size_t i = 0; i < accumulators.size(); ++i)
    std::memcpy(before.global.data() + i * bytes, accumulators[i].d.data(), bytes);
  return {Fault::None, std::move(before.global)};
}

std::string describe(const WgmmaGroups& e, const Inputs& inputs) {
  const GroupsSequence sequence = groups_sequence(e, inputs);
  return fmt::format(
      "{}: groups {}{}; wgmmas {}; wait_group {} covers accumulators [{}] of {}",
      wgmma::opcode(groups_form(e)).chars, e.groups, name(e.between),
      std::ranges::count(sequence.statements, false, &wgmma::GroupsStatement::commit), e.pending,
      fmt::join(sequence.covered, ","), sequence.accumulators);
}

std::string place(const WgmmaGroups& e, const Inputs&, std::size_t at) {
  const std::size_t bytes = accumulator_words(e) * sizeof(std::uint32_t);
  const std::size_t thread_bytes = bytes / wgmma::threads_per_warpgroup;
  return fmt::format("accumulator {} thread {} register {} byte {}", at / bytes,
                     at % bytes / thread_bytes, at % thread_bytes / sizeof(std::uint32_t),
                     at % sizeof(std::uint32_t));
}

Properties properties(const WgmmaGroups& e, const Inputs&) {
  return {"groups", fmt::format("{} groups", e.groups), fmt::format("wait_group {}", e.pending),
          fmt::format("between {}", static_cast<int>(e.between))};
}

std::vector<Case> wgmma_groups(std::uint64_t seed) {
  CaseDraw suite(seed);
  for (const Type type : {Type::f16, Type::bf16}) {
    for (int groups = 1; groups <= max_groups; ++groups) {
      for (int between = 0; between < between_count; ++between) {
        WgmmaGroups e{type, groups, 0, static_cast<Between>(between)};
        const GroupsSequence sequence = groups_sequence(e, {});
        for (; e.pending <= sequence.committed; ++e.pending) {
          Case& c = suite.add(e);
          c.content = MemoryContent::Operands;
          c.shared_bytes = max_tiles * (tile_a.bytes() + tile_b.bytes());
          c.global_bytes =
              static_cast<std::uint32_t>(static_cast<std::size_t>(sequence.accumulators) *
                                         accumulator_words(e) * sizeof(std::uint32_t));
          c.keep = groups == 2 && e.pending == 1;
        }
      }
    }
  }
  return suite.take();
}

}  // namespace tcq::oracle
