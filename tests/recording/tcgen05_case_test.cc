// Recordings of tcgen05 before there is one: drawing is a pure function, what is drawn is legal and
// stays inside its memory, files round trip, damage is found.
#include "oracle/recording/tcgen05_case.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "oracle/answer/answer.h"
#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::string_view suite_names[] = {"tcgen05_mma", "tcgen05_ldst", "tcgen05_cp",
                                            "tcgen05_shift", "tcgen05_alloc"};

const Tcgen05Case& tcgen05_of(const Case& c) { return std::get<Tcgen05Case>(c.experiment); }
Tcgen05State state_of(const Case& c) { return state(tcgen05_of(c), c); }

bool same_inputs(const Case& x, const Case& y) {
  return x.experiment == y.experiment && x.seed == y.seed && x.keep == y.keep;
}

bool same(const Case& x, const Case& y) {
  return same_inputs(x, y) && x.input_hash == y.input_hash && x.outcome == y.outcome &&
         x.error == y.error && x.output == y.output && x.hashes == y.hashes;
}

TEST(Tcgen05_Suite, IsAPureFunctionOfItsSeed) {
  for (const std::string_view name : suite_names) {
    const auto first = draw_suite(name, 7, Target::sm_100a);
    const auto second = draw_suite(name, 7, Target::sm_100a);
    const auto other = draw_suite(name, 8, Target::sm_100a);
    ASSERT_EQ(first.size(), second.size());
    ASSERT_FALSE(first.empty());
    int different = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(same_inputs(first[i], second[i])) << name << " " << i;
      different += i < other.size() && same_inputs(first[i], other[i]) ? 0 : 1;
    }
    EXPECT_GT(different, 0) << name;
    std::printf("%s: %zu cases\n", std::string(name).c_str(), first.size());
  }
}

// Golden hashes would tie the test to the generator; two builds of one state must agree instead.
TEST(Tcgen05_Suite, StateIsAPureFunctionOfTheCase) {
  for (const std::string_view name : suite_names) {
    const auto cases = draw_suite(name, 3, Target::sm_103a);
    std::set<std::uint64_t> hashes;
    for (std::size_t i = 0; i < cases.size(); i += 101) {
      const std::uint64_t hash = hash_of_inputs(cases[i]);
      EXPECT_EQ(hash, hash_of_inputs(cases[i]));
      EXPECT_TRUE(hashes.insert(hash).second || name == "tcgen05_alloc")
          << "two cases of one state";
    }
  }
}

TEST(Tcgen05_Suite, TheCtasOfAPairDiffer) {
  for (const std::string_view suite : {"tcgen05_mma", "tcgen05_cp", "tcgen05_shift"})
    for (const Case& c : draw_suite(suite, 4, Target::sm_100a)) {
      if (cta_group(tcgen05_of(c).form) != 2) continue;
      const Tcgen05State state = state_of(c);
      EXPECT_NE(state.tmem[0], state.tmem[1]) << describe(c);
      EXPECT_TRUE(suite == "tcgen05_shift" || state.shared[0] != state.shared[1]);
      break;
    }
}

TEST(Tcgen05_Suite, MetadataAreCodesThatTheManualDefines) {
  for (const Case& c : draw_suite("tcgen05_mma", 4, Target::sm_100a)) {
    const MmaOpcode& op = std::get<MmaForm>(tcgen05_of(c).form).opcode;
    if (!op.sparse || op.cta_group != 1) continue;
    const bool tf32 = op.kind == Kind::tf32;
    const Tcgen05State state = state_of(c);
    for (int column = tmem_metadata_column; column < tmem_scale_a_column; ++column)
      for (std::uint32_t word = state.tmem[0][static_cast<std::size_t>(column)]; word != 0;
           word /= 16)
        ASSERT_NE(
            (tf32 ? std::string("4E") : std::string("489CDE")).find("0123456789ABCDEF"[word % 16]),
            std::string::npos)
            << describe(c);
  }
}

TEST(Tcgen05_Suite, UnknownNameNamesTheNearest) {
  try {
    draw_suite("tcgen05_ldts", 1);
    FAIL() << "no such suite";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'tcgen05_ldst'"), std::string::npos) << error.what();
  }
}

bool may_run(Fault fault) {
  return fault == Fault::None || info(fault).kind == FaultKind::Unmodelled;
}

// Of every byte that the operand reads, relative to its area.
void expect_inside(std::uint64_t desc, Kind kind, Type type, Major major, int mn, int k,
                   std::uint32_t first, std::uint32_t end) {
  ASSERT_EQ(check_word(desc), Fault::None);
  const SmemDescriptor d = tcgen05::decode(desc);
  ASSERT_TRUE(may_run(check_operand(d, kind, type, major)));
  for (int i = 0; i < mn; ++i)
    for (int j = 0; j < k; ++j) {
      const OperandElement e{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
      const std::uint32_t byte = element_place(d, major, kind, type, e).byte;
      ASSERT_GE(byte, first);
      ASSERT_LT(byte + static_cast<std::uint32_t>(bits(type) - 1) / 8, end);
    }
}

void expect_legal(const Case& any, Target target) {
  const Tcgen05Case& c = tcgen05_of(any);
  const auto& form = std::get<MmaForm>(c.form);
  const MmaOpcode& op = form.opcode;
  EXPECT_EQ(check(form, target), Fault::None);
  EXPECT_EQ(check_word(c.operands.idesc, op.kind), Fault::None);
  const InstructionDescriptor d = tcgen05::decode(c.operands.idesc, op.kind);
  EXPECT_TRUE(may_run(check(op, d, target))) << info(check(op, d, target)).name;
  const int k = stored_k(op, d);
  const std::uint32_t a_end = tcgen05_shared_base + tcgen05_a_bytes;
  if (op.a_place == Place::Smem)
    expect_inside(c.operands.desc_a, op.kind, d.a, d.major_a, m_per_cta(op, d), k,
                  tcgen05_shared_base, a_end);
  expect_inside(c.operands.desc_b, op.kind, d.b, d.major_b, d.n, op.sparse ? 2 * k : k, a_end,
                tcgen05_shared_base + tcgen05_shared_bytes);
  EXPECT_LE(decode_tmem_address(c.operands.d).tmem_column + d.n, tmem_a_column);
}

TEST(Tcgen05_Suite, EveryMmaIsLegalAndReadsItsOwnSharedMemoryOnly) {
  for (const Target target : {Target::sm_100a, Target::sm_103a}) {
    std::map<std::string, int> kinds;
    for (const Case& c : draw_suite("tcgen05_mma", 11, target)) {
      expect_legal(c, target);
      ++kinds[name(std::get<MmaForm>(tcgen05_of(c).form).opcode.kind)];
      if (HasFatalFailure()) FAIL() << describe(c);
    }
    EXPECT_EQ(kinds.size(), target == Target::sm_100a ? 7u : 6u) << "sm_103a has no kind i8";
  }
}

// Columns of PTX ISA 9.2, 9.7.16.2.3, by hand: of one repetition, and twice as many packed.
int footprint(const Tcgen05Case& c) {
  return std::visit(
      [&c](const auto& f) {
        int columns = 0;
        if constexpr (requires { f.shape; }) {
          constexpr int of_one[] = {1, 2, 4, 8, 1};
          columns = of_one[static_cast<int>(f.shape)] * f.num;
          if constexpr (requires { f.pack; }) columns *= f.pack ? 2 : 1;
          if constexpr (requires { f.unpack; }) columns *= f.unpack ? 2 : 1;
          EXPECT_TRUE(c.immediate == 0 || c.immediate >= columns) << "two threads share a cell";
        }
        return columns + c.immediate;
      },
      c.form);
}

TEST(Tcgen05_Suite, LdAndStStayInTensorMemoryAndEachWarpAtItsLanes) {
  for (const Case& c : draw_suite("tcgen05_ldst", 5, Target::sm_103a))
    for (int warp = 0; warp < 4; ++warp) {
      const TmemAddress a =
          decode_tmem_address(tcgen05_of(c).operands.taddr[static_cast<std::size_t>(warp)]);
      EXPECT_EQ(check(a), Fault::None);
      EXPECT_EQ(a.tmem_lane / 32, warp);
      EXPECT_EQ(a.tmem_lane % 16, 0);
      EXPECT_LE(a.tmem_column + footprint(tcgen05_of(c)), TmemAddress::columns) << describe(c);
    }
}

// A dealloc frees a live allocation once; sizes are legal and never grow.
TEST(Tcgen05_Suite, AllocationsFollowTheManual) {
  int overcommitted = 0;
  for (const Case& c : draw_suite("tcgen05_alloc", 9, Target::sm_100a)) {
    const auto& steps = std::get<AllocSequence>(tcgen05_of(c).form).steps;
    std::set<std::uint32_t> live;
    std::uint32_t last = tmem_columns;
    std::uint32_t used = 0;
    bool over = false;
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].action == AllocStep::Action::Alloc) {
        EXPECT_TRUE(is_allocation_size(steps[i].columns));
        EXPECT_LE(steps[i].columns, last);
        last = steps[i].columns;
        live.insert(i);
        used += last;
        over = over || used > tmem_columns;
      }
      if (steps[i].action == AllocStep::Action::Dealloc) {
        EXPECT_EQ(live.erase(steps[i].allocation), 1u);
        used -= steps[steps[i].allocation].columns;
      }
      EXPECT_EQ(steps[i].action == AllocStep::Action::Relinquish, i + 1 == steps.size());
    }
    overcommitted += over ? 1 : 0;
  }
  EXPECT_GT(overcommitted, 0);
}

// Every suite as a recording with made-up outputs.
Recording made_up() {
  Recording recording;
  recording.header = {{"device", "none"}, {"suite", "all"}};
  Draw draw(1);
  for (const std::string_view name : suite_names) {
    const auto cases = draw_suite(name, 2, Target::sm_103a);
    for (std::size_t i = 0; i < cases.size(); i += 37) {
      Case c = cases[i];
      c.keep = draw.one_in(2);
      c.input_hash = mix(i);
      c.outcome = static_cast<Outcome>(draw.below(outcome_count));
      c.error = c.outcome == Outcome::Trap ? 719 : 0;
      c.output.resize(static_cast<std::size_t>(draw.below(8000)));
      for (std::uint8_t& byte : c.output) byte = static_cast<std::uint8_t>(draw.word());
      c.hashes = hash_blocks(c.output);
      if (!c.keep) c.output.clear();
      recording.cases.push_back(c);
    }
  }
  return recording;
}

TEST(Tcgen05_File, RoundTripsEveryKindOfCase) {
  const Recording written = made_up();
  const std::string bytes = serialize(written);
  const Recording read = parse_recording(bytes);
  ASSERT_EQ(read.cases.size(), written.cases.size());
  for (std::size_t i = 0; i < read.cases.size(); ++i)
    EXPECT_TRUE(same(read.cases[i], written.cases[i])) << describe(written.cases[i]);
  EXPECT_EQ(read.header.at("device"), "none");
  EXPECT_EQ(serialize(read), bytes);
}

TEST(Tcgen05_File, DamageIsFound) {
  Recording small = made_up();
  small.cases.resize(3);
  const std::string bytes = serialize(small);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] + 1);
    if (bytes.find("device") <= i && i < bytes.find("suite") + 10) continue;  // free text
    EXPECT_THROW(parse_recording(damaged), BadFile) << i;
    EXPECT_THROW(parse_recording(bytes.substr(0, i)), BadFile) << i;
  }
}

TEST(Tcgen05_File, FormsThatDoNotExistAreRefused) {
  Recording recording = made_up();
  recording.cases.resize(1);
  recording.cases[0].experiment = Tcgen05Case{LdForm{LdShape::S32x32b, 3}, 0, {}};
  EXPECT_THROW(parse_recording(serialize(recording)), BadFile);
}

TEST(Tcgen05_File, AnOutputMustHaveItsHashes) {
  Recording recording = made_up();
  recording.cases.resize(1);
  recording.cases[0].keep = true;
  recording.cases[0].output = {1, 2, 3};
  recording.cases[0].hashes = {4};
  EXPECT_THROW(parse_recording(serialize(recording)), BadFile);
}

}  // namespace
}  // namespace tcq::oracle
