// Damaged recordings, as the readers of files see them: each is refused with a sentence.
//
// Time and seed: fuzz_kit.h.
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "oracle/diagnosis/schedule_text.h"
#include "oracle/recording/directed.h"
#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"
#include "oracle/recording/tcgen05_predict.h"
#include "oracle/run/schedule.h"
#include "sim/async/explore.h"
#include "tests/fuzz/fuzz_kit.h"
#include "tests/support/sealed_file.h"
#include "tests/support/source_tree.h"

namespace tcq {
namespace {

constexpr std::string_view probes[] = {
    "A1 wgmma.m64n64k16.f32.f16.f16 A=0:5800,1:d800 B=0-1:5800 C=00000000 D=00000000\n",
    "T2 wgmma.m64n8k8.f32.tf32.tf32 A=0-7:3f801fff B=0:3f800000 C=7f7fffff D=?\n",
    "M3 wgmma.sp.m64n8k32.f32.f16.f16 selector=1 A=0-15:3c00 B=0-31:3c00 C=00000000 codes=4c8e9d4e "
    "D=41800000\n",
    "I4 wgmma.m64n8k256.s32.b1.b1 A=0-255:1 B=0-255:1 C=7fffffff D=800000ff\n", "# probes: 2\n"};

class FuzzFiles : public Fuzz {};

// What the mutations start from must be understood, or they would all die at the first word.
TEST_F(FuzzFiles, DirectedSeedsAreUnderstood) {
  std::string lines;
  for (const std::string_view probe : probes) lines += probe;
  const std::size_t count = std::size(probes) - 1;
  EXPECT_EQ(oracle::parse_directed(sealed("# tcq directed 2\n", lines, count)).probes.size(),
            count);
}

// --- recordings ----------------------------------------------------------------------------------

std::string with_checksum(std::string_view payload, std::size_t cases) {
  return sealed("tcq recording 2\n", payload, cases);
}

oracle::Case random_case(Random& random) {
  oracle::WgmmaCase e;
  wgmma::Form& form = e.instruction.form;
  do {
    form = random_form(random);
    form.n = 8 + 8 * below(random, 3);
  } while (check(form) != Fault::None);
  const bool two_selectors = form.sparse && wgmma::max_selector(form.a) == 1;
  e.instruction.selector = two_selectors ? below(random, 2) : 0;
  e.instruction.accumulate = random() % 2 == 0;
  e.instruction.desc_a = random_descriptor(random);
  e.instruction.desc_b = random_descriptor(random);
  e.content = random() % 2 == 0 ? oracle::Content::Mixture : oracle::Content::RandomImage;
  e.mixture = static_cast<MixtureClass>(below(random, mixture_class_count));
  e.keep = random() % 2 == 0 ? oracle::Keep::All : oracle::Keep::Diagonal;
  oracle::Case c(e);
  c.shared_bytes = 8 * static_cast<std::uint32_t>(below(random, 4096));
  c.seed = random();
  c.input_hash = random();
  c.output.resize(*output_bytes(c));
  for (std::uint8_t& byte : c.output) byte = static_cast<std::uint8_t>(random());
  return c;
}

std::string_view payload_of(std::string_view bytes) { return bytes.substr(bytes.find("\n\n") + 2); }

TEST_F(FuzzFiles, DamagedRecordingsAreRefusedWithASentence) {
  while (another_round()) {
    oracle::Recording recording;
    const std::size_t cases = 1 + random_() % 2;
    for (std::size_t i = 0; i < cases; ++i) recording.cases.push_back(random_case(random_));
    const std::string bytes = oracle::serialize(recording);
    const oracle::Recording again = oracle::parse_recording(bytes);
    ASSERT_EQ(oracle::serialize(again), bytes) << "reading and writing is not the identity";
    try_on(fuzz::recording, "0" + bytes);
    try_on(fuzz::recording, "0" + mutated(random_, bytes));
    try_on(fuzz::recording,
           "0" + with_checksum(mutated(random_, std::string(payload_of(bytes))), cases));
    for (int i = 0; i < 8; ++i) {  // the first case's fields: impossible values
      std::string payload(payload_of(bytes));
      payload[random_() % 56] = static_cast<char>(random_() % 8);
      try_on(fuzz::recording, "0" + with_checksum(payload, cases));
    }
    const std::size_t cut = random_() % 8;
    try_on(fuzz::recording,
           "0" + with_checksum(payload_of(bytes.substr(0, bytes.size() - cut)), cases));
    if (HasFatalFailure()) return;
  }
}

TEST_F(FuzzFiles, DamagedCopiesOfTheRecordedFilesAreRefusedWithASentence) {
  std::vector<std::string> files;
  const std::filesystem::path folder = source_file("tests/vectors");
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(oracle::read_file(entry.path().string()));
  ASSERT_FALSE(files.empty()) << "no recordings in " << folder;
  while (another_round()) {
    std::string bytes = pick(random_, files);
    mutate(random_, bytes);
    remember("a damaged copy of a recorded file");
    try {
      // Undamaged cases are the vector tests' business: only the reader matters here.
      if (oracle::is_directed(bytes))
        oracle::parse_directed(bytes);
      else
        oracle::parse_recording(bytes);
    } catch (const oracle::BadFile& error) {
      EXPECT_NE(std::string_view(error.what()), "");
    }
  }
}

// --- files of PTX --------------------------------------------------------------------------------

TEST_F(FuzzFiles, DamagedKernelsAreDecodedAsFarAsTheyGo) {
  std::vector<std::string> files;
  for (const std::string name : {"forms.ptx", "idioms.ptx", "mbarrier_sm90.ptx", "alloc_sm100.ptx"})
    files.push_back(oracle::read_file(source_file("tests/ptx/data/" + name).string()));
  while (another_round()) {
    const std::string& file = pick(random_, files);
    // A piece of a file, so that the damage is not lost in it.
    const std::size_t at = random_() % 2 == 0 ? 0 : random_() % file.size();
    std::string bytes =
        file.substr(0, at == 0 ? file.size() : 700) + file.substr(at, 1 + random_() % 4000);
    for (std::uint64_t left = 1 + random_() % 4; left != 0; --left) mutate(random_, bytes);
    try_on(fuzz::kernel, bytes);
    if (HasFatalFailure()) return;
  }
}

// --- schedules -------------------------------------------------------------------------------------

std::vector<std::string> followed_schedules() {
  std::vector<std::string> texts;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const machine::Report report = machine::explore(
        fuzz::schedule_program(), {.max_executions = 1, .random_executions = 20, .seed = seed});
    texts.push_back(oracle::steps_text(report.schedule.execution.steps));
    if (report.schedule.against)
      texts.push_back(oracle::steps_text(report.schedule.against->steps));
    texts.push_back(oracle::json_text(
        value_of(oracle::run::StoredSchedule{{"k", "", "", ""}, 0, 0, report.schedule})));
  }
  return texts;
}

TEST_F(FuzzFiles, DamagedSchedulesAreFollowedOrRefusedWithASentence) {
  const std::vector<std::string> texts = followed_schedules();
  for (const std::string& text : texts) {
    try_on(fuzz::schedule, text);
    ASSERT_NE(text.find("w0@"), text.npos);
  }
  while (another_round()) {
    std::string bytes = pick(random_, texts);
    const std::size_t steps = bytes.find("w0@");
    // A step moved, a step twice, a digit, or anything.
    for (std::uint64_t left = random_() % 3; left != 0; --left) {
      const std::size_t at = bytes.find_last_of(' ', steps + random_() % bytes.size());
      if (at == bytes.npos) continue;
      const std::size_t end = std::min(bytes.find(' ', at + 1), bytes.size());
      const std::string step = bytes.substr(at, end - at);
      if (random_() % 2 == 0) bytes.erase(at, end - at);
      if (const std::size_t to = bytes.rfind(' ', random_() % bytes.size()); to != bytes.npos)
        bytes.insert(to, step);
    }
    if (random_() % 2 == 0)
      bytes[random_() % bytes.size()] = pick(random_, std::string("0123=@>.wckd"));
    if (random_() % 4 == 0) mutate(random_, bytes);
    try_on(fuzz::schedule, bytes);
    if (HasFatalFailure()) return;
  }
}

// --- tcgen05 -------------------------------------------------------------------------------------

std::vector<oracle::Case> tcgen05_cases() {
  std::vector<oracle::Case> cases;
  for (const oracle::SuiteInfo& suite : oracle::suites())
    if (oracle::is_tcgen05_suite(suite.name))
      for (const oracle::Case& c : suite.draw(1, Target::sm_103a)) cases.push_back(c);
  return cases;
}

// Flips a bit of one operand, or draws one.
void damage(Random& random, oracle::Tcgen05Operands& o) {
  std::uint32_t* const words[] = {&o.d,       &o.a,       &o.metadata, &o.idesc,
                                  &o.scale_a, &o.scale_b, &o.taddr[0], &o.taddr[3]};
  std::uint64_t* const descriptors[] = {&o.desc_a, &o.desc_b, &o.desc, &o.zero_column_mask};
  if (random() % 2 == 0)
    *pick(random, words) ^= 1u << random() % 32;
  else
    *pick(random, descriptors) ^= std::uint64_t{1} << random() % 64;
  if (random() % 8 == 0) *pick(random, words) = static_cast<std::uint32_t>(random());
}

TEST_F(FuzzFiles, Tcgen05CasesOfAnyOperandsArePredictedOrLeftOut) {
  const std::vector<oracle::Case> cases = tcgen05_cases();
  while (another_round()) {
    oracle::Case any = pick(random_, cases);
    auto& c = std::get<oracle::Tcgen05Case>(any.experiment);
    for (std::uint64_t left = random_() % 3; left != 0; --left) damage(random_, c.operands);
    if (random_() % 8 == 0) c.immediate = static_cast<int>(random_() % 1024);
    remember(describe(any));
    const oracle::Tcgen05Prediction p = predict_words(c, state(c, any));
    ASSERT_EQ(p.output.empty(), !p.unmodelled.empty());
    ASSERT_EQ(p.output.size(), p.known.size());
  }
}

TEST_F(FuzzFiles, DamagedDirectedFilesAreRefusedWithASentence) {
  while (another_round()) {
    std::string lines;
    for (std::uint64_t left = random_() % 3 + 1; left != 0; --left)
      lines += mutated(random_, std::string(pick(random_, probes)));
    const std::string header = "# tcq directed 2\n# device: none\n";
    const std::size_t cases = 1 + random_() % 3;
    const std::string bytes = random_() % 4 == 0 ? header + lines : sealed(header, lines, cases);
    try_on(fuzz::recording, "1" + bytes);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tcq
