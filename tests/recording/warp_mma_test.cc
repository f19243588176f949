// The suite warp_mma: every form once, small as a recording, and drawn so that another order of the same sum is seen.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"
#include "tests/support/source_tree.h"

namespace tcq::oracle {
namespace {

using Word = std::uint64_t;
using Cells = std::array<std::uint32_t, 32>;

constexpr std::size_t warps = 128;

const ScalarCase& scalar_of(const Case& c) { return std::get<ScalarCase>(c.experiment); }

TEST(WarpMma, ARecordingOfEveryFormIsSmallAndVerified) {
  std::vector<Case> cases = draw_suite("warp_mma", 3);
  std::set<std::string> spellings;
  for (Case& c : cases) {
    spellings.insert(scalar_of(c).spelling);
    set_answer(c, Outcome::Completed, scalar_results(scalar_of(c), state(scalar_of(c), c)));
    c.output.clear();
  }
  EXPECT_EQ(spellings.size(), alu::matrix_forms().size());
  EXPECT_EQ(spellings.size(), cases.size());
  const std::string bytes = serialize({{}, cases});
  EXPECT_LT(bytes.size(), std::size_t{160} << 10);
  const Comparison c = compare(parse_recording(bytes));
  EXPECT_EQ(c.cases, cases.size());
  EXPECT_EQ(c.unmodelled, 0u) << c.first_unmodelled;
  EXPECT_EQ(c.differing_bits, 0u) << c.first_mismatch;
}

TEST(WarpMma, EveryFormIsRecorded) {
  std::set<std::string> recorded;
  const std::string file = (source_file("tests/vectors") / "warp_mma.tcqv").string();
  for (const Case& c : parse_recording(read_file(file)).cases)
    recorded.insert(scalar_of(c).spelling);
  for (const std::string& spelling : alu::matrix_forms())
    EXPECT_TRUE(recorded.contains(spelling)) << spelling;
}

// The words of one register of all lanes of a warp.
Cells register_of(const ScalarSources& sources, std::size_t stride, std::size_t warp,
                  std::size_t at) {
  Cells cells;
  for (std::size_t lane = 0; lane < 32; ++lane)
    cells[lane] = static_cast<std::uint32_t>(sources.words[(32 * warp + lane) * stride + at]);
  return cells;
}

// How many results of a sum over K differ from those of two sums over its halves, one on top of the other.
int differing_by_halves(const std::string& whole, const std::string& half) {
  const alu::ScalarForm form = *alu::read_scalar_form(whole);
  const alu::Evaluate once = alu::operation(form.form).evaluate;
  const alu::Evaluate twice = alu::operation(alu::read_scalar_form(half)->form).evaluate;
  for (const Case& c : draw_suite("warp_mma", 1)) {
    if (scalar_of(c).spelling != whole) continue;
    const ScalarSources sources = state(scalar_of(c), c);
    const auto a = static_cast<std::size_t>(form.vectors[1]);
    const auto b = static_cast<std::size_t>(form.vectors[2]);
    const auto d = static_cast<std::size_t>(form.vectors[3]);
    int differing = 0;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      std::vector<Cells> in(a + b + d), want(d), got(d);
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = register_of(sources, form.in.size(), warp, i);
      const auto run = [&](alu::Evaluate evaluate, std::vector<const void*> from,
                           std::vector<Cells>& to) {
        std::vector<void*> out;
        for (Cells& cells : to) out.push_back(cells.data());
        std::uint32_t carry = 0;
        evaluate({out.data(), from.data(), ~0u, &carry, static_cast<int>(out.size()),
                  static_cast<int>(from.size())});
      };
      const auto from = [&](std::size_t part, std::size_t parts, const std::vector<Cells>& sums,
                            std::size_t first_sum) {
        std::vector<const void*> list;
        for (std::size_t i = 0; i < a / parts; ++i) list.push_back(&in[part * a / parts + i]);
        for (std::size_t i = 0; i < b / parts; ++i) list.push_back(&in[a + part * b / parts + i]);
        for (std::size_t i = 0; i < d; ++i) list.push_back(&sums[first_sum + i]);
        return list;
      };
      run(once, from(0, 1, in, a + b), want);
      run(twice, from(0, 2, in, a + b), got);
      run(twice, from(1, 2, std::vector<Cells>(got), 0), got);
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t lane = 0; lane < 32; ++lane) differing += got[i][lane] != want[i][lane];
    }
    return differing;
  }
  ADD_FAILURE() << "no " << whole;
  return 0;
}

TEST(WarpMma, TwoSumsForOneAreSeen) {
  const std::string mma = "mma.sync.aligned.";
  for (const char* types :
       {".row.col.f32.f16.f16.f32", ".row.col.f16.f16.f16.f16", ".row.col.f32.bf16.bf16.f32"})
    EXPECT_GT(differing_by_halves(mma + "m16n8k16" + types, mma + "m16n8k8" + types), 1000)
        << types;
  EXPECT_GT(differing_by_halves(mma + "m16n8k8.row.col.f32.tf32.tf32.f32",
                                mma + "m16n8k4.row.col.f32.tf32.tf32.f32"),
            1000);
}

}  // namespace
}  // namespace tcq::oracle
