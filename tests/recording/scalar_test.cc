// Scalar forms recorded from a made-up device that answers as the simulator: such a recording is small, is verified with
// no difference, and one wrong bit of the device is told with the form and the sources of its row.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "oracle/recording/digest.h"
#include "oracle/recording/explain.h"
#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"
#include "tests/support/effort.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tools/recorder.h"

namespace tcq::oracle {
namespace {

using Bytes = std::vector<std::uint8_t>;

const ScalarCase& scalar_of(const Case& c) { return std::get<ScalarCase>(c.experiment); }

Bytes model_answer(const Case& c) {
  const ScalarSources sources = state(scalar_of(c), c);
  return scalar_results(scalar_of(c), sources);
}

// As tools/recorder.cc answers where nothing differs.
Recording recorded(std::vector<Case> cases) {
  for (Case& c : cases) {
    set_answer(c, Outcome::Completed, model_answer(c));
    if (!c.keep) c.output.clear();
  }
  return {{}, std::move(cases)};
}

Case case_named(std::string_view suite, std::string_view spelling,
                ScalarRows rows = ScalarRows::Drawn) {
  for (const Case& c : draw_suite(suite, 1))
    if (scalar_of(c).spelling == spelling && scalar_of(c).kind == rows) return c;
  ADD_FAILURE() << "no " << spelling << " in " << suite;
  return {};
}

TEST(Scalar, ARecordingOfEveryFormIsSmallAndVerified) {
  for (const char* suite : {"scalar", "scalar_approx"}) {
    std::vector<Case> cases;
    for (const Case& c : draw_suite(suite, 3))  // under sanitizers vectors_test has the others
      if (c.seed % tests::effort_share == 0) cases.push_back(c);
    const std::string bytes = serialize(recorded(std::move(cases)));
    EXPECT_LT(bytes.size(), std::size_t{1} << 20);
    const Recording read = parse_recording(bytes);
    EXPECT_EQ(serialize(read), bytes);
    const Comparison c = compare(read);
    EXPECT_EQ(c.cases, read.cases.size());
    EXPECT_EQ(c.unmodelled, 0u) << c.first_unmodelled;
    EXPECT_EQ(c.differing_bits, 0u) << c.first_mismatch;
    EXPECT_GT(c.outputs, std::size_t{4096} * read.cases.size() - 1);
  }
}

TEST(Scalar, VerifyTakesItsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.file("scalar.tcqv");
  Recording recording =
      recorded({case_named("scalar", "add.s32"), case_named("scalar", "shl.b64")});
  recording.header["device"] = "none";
  write_file(path, serialize(recording));
  const auto status = [&path] {
    std::FILE* const sink = std::tmpfile();
    const std::vector<std::string> words = {path};
    const Status found = verify(words, {}, sink, sink);
    std::fclose(sink);
    return found;
  };
  EXPECT_EQ(status(), Status::Yes);
  recording.cases[1].hashes[3] ^= 1;
  write_file(path, serialize(recording));
  EXPECT_EQ(status(), Status::No);
}

TEST(Scalar, EveryFormIsInOneSuiteOnce) {
  std::map<std::string, int> seen;
  std::set<std::uint64_t> seeds;
  for (const char* suite : {"scalar", "scalar_approx"})
    for (const Case& c : draw_suite(suite, 1)) {
      if (scalar_of(c).kind == ScalarRows::Drawn) ++seen[scalar_of(c).spelling];
      EXPECT_TRUE(seeds.insert(c.seed).second) << describe(c);
    }
  for (const std::string& spelling : alu::scalar_forms()) EXPECT_EQ(seen[spelling], 1) << spelling;
  EXPECT_EQ(seen.size(), alu::scalar_forms().size());
}

TEST(Scalar, EveryFormIsRecorded) {
  std::set<std::string> recorded;
  for (const char* file : {"scalar.tcqv", "scalar_approx.tcqv"})
    for (const Case& c :
         parse_recording(read_file((source_file("tests/vectors") / file).string())).cases)
      recorded.insert(scalar_of(c).spelling);
  for (const std::string& spelling : alu::scalar_forms())
    EXPECT_TRUE(recorded.contains(spelling)) << spelling;
}

TEST(Scalar, AWrongBitIsToldWithItsSources) {
  Case c = case_named("scalar", "sub.rn.f32");
  Bytes answer = model_answer(c);
  answer[4 * 1000 + 2] ^= 8;
  c.keep = true;
  set_answer(c, Outcome::Completed, answer);
  Comparison found;
  compare(c, 7, found);
  EXPECT_EQ(found.differing_outputs, 1u);
  EXPECT_EQ(found.differing_bits, 1u);
  EXPECT_NE(found.first_mismatch.find("case 7: sub.rn.f32, 4096 rows: row 1000 (0x"),
            std::string::npos)
      << found.first_mismatch;
  const std::string told = explain_scalar_forms({{}, {c}});
  EXPECT_NE(told.find("sub.rn.f32, 4096 rows: 1 of 4096 results differ\n    row 1000 (0x"),
            std::string::npos)
      << told;
  c.output.clear();  // with hashes alone the block is told
  Comparison block;
  compare(c, 0, block);
  EXPECT_NE(block.first_mismatch.find("row 768 (0x"), std::string::npos) << block.first_mismatch;
}

TEST(Scalar, WhatDiffersIsKept) {
  std::vector<tools::SuiteRun> suites = {
      {"scalar", {case_named("scalar", "add.s32"), case_named("scalar", "sub.s32")}}};
  const auto answer = [](const Case& c) {
    Bytes bytes = model_answer(c);
    if (scalar_of(c).spelling == "sub.s32") bytes[0] ^= 1;
    return tools::Attempt{tools::Ending::Answered, 0, "", {bytes.begin(), bytes.end()}};
  };
  tools::Recorder recorder(suites, {[] {}, answer, {}}, {});
  const auto results = recorder.run();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].comparison.differing_outputs, 1u);
  EXPECT_TRUE(suites[0].cases[0].output.empty());
  EXPECT_EQ(suites[0].cases[1].output.size(), 4 * 4096u);
  const Comparison c = compare(parse_recording(serialize({{}, suites[0].cases})));
  EXPECT_EQ(c.differing_bits, 1u);
  EXPECT_NE(c.first_mismatch.find("sub.s32, 4096 rows: row 0 ("), std::string::npos)
      << c.first_mismatch;
}

// Outputs that no longer differ are dropped, those that do stay, and so does all else of the file.
TEST(Scalar, ADigestDropsWhatAgrees) {
  Recording recording = recorded(draw_suite("scalar", 3));
  recording.header["suite"] = "scalar";
  recording.header["seed"] = "3";
  const std::string small = serialize(recording);
  for (const std::size_t i : {10u, 20u}) {
    Case& c = recording.cases[i];
    c.keep = true;
    set_answer(c, Outcome::Completed, model_answer(c));
  }
  EXPECT_GT(serialize(recording).size(), small.size());
  EXPECT_EQ(drop_agreeing_outputs(recording), 2u);
  EXPECT_EQ(serialize(recording), small);
  Case& wrong = recording.cases[10];
  wrong.keep = true;
  Bytes answer = model_answer(wrong);
  answer[5] ^= 1;
  set_answer(wrong, Outcome::Completed, answer);
  EXPECT_EQ(drop_agreeing_outputs(recording), 0u);
  EXPECT_EQ(recording.cases[10].output, answer);
  recording.cases.pop_back();
  EXPECT_THROW(drop_agreeing_outputs(recording), BadFile);
  recording.header.erase("seed");
  EXPECT_THROW(drop_agreeing_outputs(recording), BadFile);
}

// Sums that read a carry, from their sources themselves.
TEST(Scalar, CarriesAreRead) {
  const Case c = case_named("scalar", "addc.cc.u32");
  const ScalarSources sources = state(scalar_of(c), c);
  const Bytes answer = model_answer(c);
  int carries = 0;
  for (std::size_t row = 0; row < 4096; ++row) {
    const std::uint64_t* const in = &sources.words[3 * row];
    const std::uint64_t sum = std::uint64_t{static_cast<std::uint32_t>(in[0])} +
                              static_cast<std::uint32_t>(in[1]) + in[2];
    std::uint32_t got[2];
    std::memcpy(got, &answer[8 * row], sizeof got);
    EXPECT_EQ(got[0], static_cast<std::uint32_t>(sum)) << row;
    EXPECT_EQ(got[1], sum >> 32) << row;
    carries += static_cast<int>(got[1]);
  }
  EXPECT_GT(carries, 500);
}

// A borrow is told as one, and read as a carry that is missing. Rows of a recording.
TEST(Scalar, BorrowsAreTold) {
  const auto results = [](const char* spelling, std::vector<std::uint64_t> words) {
    const ScalarCase e{ScalarRows::Drawn, spelling};
    words.resize(4096 * words.size());
    const Bytes all = scalar_results(e, {std::move(words)});
    std::array<std::uint32_t, 2> first = {};
    std::memcpy(first.data(), all.data(), sizeof first);
    return first;
  };
  EXPECT_EQ(results("sub.cc.u32", {3, 5})[1], 1u);
  EXPECT_EQ(results("sub.cc.u32 carry", {3, 5})[1], 0u);
  EXPECT_EQ(results("add.cc.u32 borrow", {0, 0x80000000})[1], 1u);
  EXPECT_EQ(results("addc.u32 borrow", {0x4000000, 0x200, 1})[0], 0x4000200u);
  EXPECT_EQ(results("subc.u32 carry", {0xfffffffc, 3, 1})[0], 0xfffffff9u);
}

TEST(Scalar, DrawnSourcesMeetWhatTellsReadingsApart) {
  const Case c = case_named("scalar", "fma.rn.f32");
  const ScalarSources sources = state(scalar_of(c), c);
  int nans = 0, subnormals = 0, cancelling = 0;
  for (std::size_t i = 0; i < sources.words.size(); i += 3) {
    const auto value = [&](std::size_t at) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(sources.words[at]));
    };
    nans += std::isnan(value(i));
    subnormals += std::fpclassify(value(i + 1)) == FP_SUBNORMAL;
    const double product = double{value(i)} * value(i + 1);
    const double sum = product + value(i + 2);
    cancelling += std::isfinite(sum) && std::fabs(sum) < std::fabs(product) * 1e-6;
  }
  EXPECT_GT(nans, 100);
  EXPECT_GT(subnormals, 100);
  EXPECT_GT(cancelling, 300);
}

TEST(Scalar, AFormThatIsNotKnownIsRefused) {
  Recording recording = recorded({case_named("scalar", "add.s32")});
  auto& e = std::get<ScalarCase>(recording.cases[0].experiment);
  for (const char* wrong : {"add.s33", "ld.global.b32", "lop3.b32", "lop3.b32 256", "add.s32 1",
                            "add.s32 carry", "", "addc.cc.u32 carry"}) {
    e.spelling = wrong;
    EXPECT_THROW(parse_recording(serialize(recording)), BadFile) << wrong;
  }
  e = {ScalarRows::Survey, "add.rn.f32"};
  EXPECT_THROW(parse_recording(serialize(recording)), BadFile);
}

}  // namespace
}  // namespace tcq::oracle
