#include "oracle/recording/async_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/syntax.h"
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

std::size_t accumulator_words(const AsyncCase& c) {
  const wgmma::Form form = groups_form(c);
  return static_cast<std::size_t>(wgmma::threads_per_warpgroup *
                                  wgmma::accumulator_registers(form.d, form.n));
}

class Builder {
 public:
  explicit Builder(const AsyncCase& c) : case_(c), draw_(c.seed) {}

  GroupsSequence build() {
    const Between between = case_.groups.between;
    if (between == Between::EmptyFirst) commit();
    for (int group = 0; group < case_.groups.groups; ++group) {
      const bool last = group + 1 == case_.groups.groups;
      if (last && between == Between::Uncommitted) chain();
      chain();
      commit();
      if (group == 0 && between == Between::EmptyMiddle) commit();
    }
    if (between == Between::EmptyLast) commit();
    for (std::size_t i = 0; i < group_of_.size(); ++i)
      if (group_of_[i] < sequence_.committed - case_.groups.pending)
        sequence_.covered.push_back(static_cast<int>(i));
    return std::move(sequence_);
  }

 private:
  void commit() {
    sequence_.statements.push_back({true, 0, {}});
    ++sequence_.committed;
  }

  // wgmmas on an accumulator that no other group uses.
  void chain() {
    const int length = draw_.in(1, max_chain);
    for (int i = 0; i < length; ++i) {
      GroupsStatement statement{false, sequence_.accumulators, {}};
      wgmma::Instruction& in = statement.instruction;
      in.form = groups_form(case_);
      in.desc_a = descriptor(tile_a, shared_base_sm90 + tiles_ * tile_a.bytes());
      in.desc_b = descriptor(
          tile_b, shared_base_sm90 + max_tiles * tile_a.bytes() + tiles_ * tile_b.bytes());
      in.accumulate = i != 0 || draw_.one_in(2);
      ++tiles_;
      sequence_.statements.push_back(statement);
    }
    group_of_.push_back(sequence_.committed);
    ++sequence_.accumulators;
  }

  const AsyncCase& case_;
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

}  // namespace

wgmma::Form groups_form(const AsyncCase& c) { return {Type::f32, c.groups.type, c.groups.type, n}; }

GroupsSequence groups_sequence(const AsyncCase& c) { return Builder(c).build(); }

void fill_groups_operands(const AsyncCase& c, AsyncState& state) {
  const auto fill = [&c](Type type, int stream, std::uint8_t* bytes, std::size_t size) {
    const auto width = static_cast<std::size_t>(bits(type)) / 8;
    for (std::size_t i = 0; i < size / width; ++i) {
      Draw draw(mix(c.seed + static_cast<std::uint64_t>(stream)) ^ i);
      const std::uint32_t element =
          make_float(type, draw.in(-4, 4), Fraction::Uniform, draw.one_in(2), draw);
      std::memcpy(bytes + i * width, &element, width);
    }
  };
  fill(c.groups.type, 1, state.shared.data(), state.shared.size());
  fill(Type::f32, 2, state.global.data(), state.global.size());
}

Prediction predict_groups(const AsyncCase& c, AsyncState&& inputs) {
  const std::size_t words = accumulator_words(c);
  const GroupsSequence sequence = groups_sequence(c);
  std::vector<WarpgroupRegisters> accumulators(static_cast<std::size_t>(sequence.accumulators));
  const std::size_t bytes = words * sizeof(std::uint32_t);
  if (inputs.global.size() != accumulators.size() * bytes)
    throw BadFile("a case's memory is not the size of its accumulators");
  for (std::size_t i = 0; i < accumulators.size(); ++i) {
    accumulators[i].d.resize(words);
    std::memcpy(accumulators[i].d.data(), inputs.global.data() + i * bytes, bytes);
  }
  for (const GroupsStatement& s : sequence.statements) {
    if (s.commit) continue;
    WarpgroupRegisters& registers = accumulators[static_cast<std::size_t>(s.accumulator)];
    if (const Fault fault = execute(inputs.shared, registers, s.instruction); fault != Fault::None)
      return {fault, {}, Outcome::Trap};
  }
  for (std::size_t i = 0; i < accumulators.size(); ++i)
    std::memcpy(inputs.global.data() + i * bytes, accumulators[i].d.data(), bytes);
  return {Fault::None, std::move(inputs.global), Outcome::Completed};
}

std::string describe_groups(const AsyncCase& c) {
  const GroupsSequence sequence = groups_sequence(c);
  return fmt::format("{}: groups {}{}; wgmmas {}; wait_group {} covers accumulators [{}] of {}",
                     wgmma::opcode(groups_form(c)).chars, c.groups.groups, name(c.groups.between),
                     std::ranges::count(sequence.statements, false, &GroupsStatement::commit),
                     c.groups.pending, fmt::join(sequence.covered, ","), sequence.accumulators);
}

std::string groups_output(const AsyncCase& c, std::size_t at) {
  const std::size_t bytes = accumulator_words(c) * sizeof(std::uint32_t);
  const std::size_t thread_bytes = bytes / wgmma::threads_per_warpgroup;
  return fmt::format("accumulator {} thread {} register {} byte {}", at / bytes,
                     at % bytes / thread_bytes, at % thread_bytes / sizeof(std::uint32_t),
                     at % sizeof(std::uint32_t));
}

std::vector<AsyncCase> wgmma_groups(std::uint64_t seed) {
  std::vector<AsyncCase> cases;
  for (const Type type : {Type::f16, Type::bf16}) {
    for (int groups = 1; groups <= max_groups; ++groups) {
      for (int between = 0; between < between_count; ++between) {
        AsyncCase c;
        c.move = Move::WgmmaGroups;
        c.content = MemoryContent::Operands;
        c.groups = {type, groups, 0, static_cast<Between>(between)};
        const GroupsSequence sequence = groups_sequence(c);
        c.shared_bytes = max_tiles * (tile_a.bytes() + tile_b.bytes());
        c.global_bytes =
            static_cast<std::uint32_t>(static_cast<std::size_t>(sequence.accumulators) *
                                       accumulator_words(c) * sizeof(std::uint32_t));
        for (int pending = 0; pending <= sequence.committed; ++pending) {
          c.groups.pending = pending;
          c.seed = mix(seed + cases.size());
          c.keep_bytes = groups == 2 && pending == 1;
          cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

}  // namespace tcq::oracle
