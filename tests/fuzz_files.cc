// Damaged recordings, as the readers of files see them: each is refused with a sentence.
//
// Time and seed: fuzz_kit.h.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "oracle/directed.h"
#include "oracle/vectors.h"
#include "tests/fuzz_kit.h"

namespace tcq {
namespace {

constexpr std::string_view probes[] = {
    "A1 wgmma.m64n64k16.f32.f16.f16 A=0:5800,1:d800 B=0-1:5800 C=00000000 D=00000000\n",
    "T2 wgmma.m64n8k8.f32.tf32.tf32 A=0-7:3f801fff B=0:3f800000 C=7f7fffff D=?\n",
    "M3 wgmma.sp.m64n8k32.f32.f16.f16 selector=1 A=0-15:3c00 B=0-31:3c00 C=00000000 codes=4c8e9d4e "
    "D=41800000\n",
    "I4 wgmma.m64n8k256.s32.b1.b1 A=0-255:1 B=0-255:1 C=7fffffff D=800000ff\n", "# probes: 2\n"};

// What the mutations start from must be understood, or they would all die at the first word.
TEST_F(Fuzz, DirectedSeedsAreUnderstood) {
  std::string bytes = "# tcq directed 1\n";
  for (const std::string_view probe : probes)
    if (!probe.starts_with("#")) bytes += probe;
  EXPECT_EQ(oracle::parse_directed(bytes).probes.size(), std::size(probes) - 1);
}

// --- recordings ----------------------------------------------------------------------------------

std::string with_checksum(std::string_view payload, std::size_t cases) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : payload) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return "tcq recording 1\ncases: " + std::to_string(cases) +
         "\npayload_bytes: " + std::to_string(payload.size()) + "\npayload_fnv1a64: " + digits +
         "\n\n" + std::string(payload);
}

oracle::Case random_case(Random& random) {
  oracle::Case c;
  wgmma::Form& form = c.instruction.form;
  do {
    form = random_form(random);
    form.n = 8 + 8 * below(random, 3);
  } while (check(form) != Fault::None);
  const bool two_selectors = form.sparse && wgmma::max_selector(form.a) == 1;
  c.instruction.selector = two_selectors ? below(random, 2) : 0;
  c.instruction.accumulate = random() % 2 == 0;
  c.instruction.desc_a = random_descriptor(random);
  c.instruction.desc_b = random_descriptor(random);
  c.content = random() % 2 == 0 ? oracle::Content::Mixture : oracle::Content::RandomImage;
  c.mixture = static_cast<MixtureClass>(below(random, mixture_class_count));
  c.keep = random() % 2 == 0 ? oracle::Keep::All : oracle::Keep::Diagonal;
  c.shared_bytes = 8 * static_cast<std::uint32_t>(below(random, 4096));
  c.seed = random();
  c.input_hash = random();
  c.outputs.resize(kept_elements(c).size());
  for (std::uint32_t& word : c.outputs)
    word = static_cast<std::uint32_t>(random()) >> (32 - bits(form.d));
  return c;
}

std::string_view payload_of(std::string_view bytes) { return bytes.substr(bytes.find("\n\n") + 2); }

// Reads and compares. Either the file is refused, or it holds what was read and nothing else.
void read_recording(std::string_view bytes) {
  remember("a damaged recording of " + std::to_string(bytes.size()) + " bytes");
  try {
    const oracle::Recording recording = oracle::parse_recording(bytes);
    const std::string again = oracle::serialize(recording);
    ASSERT_EQ(payload_of(again), payload_of(bytes)) << "what was accepted is not what was read";
    oracle::compare(recording);
  } catch (const oracle::BadFile& error) {
    EXPECT_NE(std::string_view(error.what()), "");
  }
}

TEST_F(Fuzz, DamagedRecordingsAreRefusedWithASentence) {
  while (another_round()) {
    oracle::Recording recording;
    const std::size_t cases = 1 + random_() % 2;
    for (std::size_t i = 0; i < cases; ++i) recording.cases.push_back(random_case(random_));
    const std::string bytes = oracle::serialize(recording);
    const oracle::Recording again = oracle::parse_recording(bytes);
    ASSERT_EQ(oracle::serialize(again), bytes) << "reading and writing is not the identity";
    read_recording(bytes);
    read_recording(mutated(random_, bytes));
    read_recording(with_checksum(mutated(random_, std::string(payload_of(bytes))), cases));
    for (int i = 0; i < 8; ++i) {  // the first case's fields: impossible values
      std::string payload(payload_of(bytes));
      payload[random_() % 56] = static_cast<char>(random_() % 8);
      read_recording(with_checksum(payload, cases));
    }
    const std::size_t cut = random_() % 8;
    read_recording(with_checksum(payload_of(bytes.substr(0, bytes.size() - cut)), cases));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Fuzz, DamagedCopiesOfTheRecordedFilesAreRefusedWithASentence) {
  std::vector<std::string> files;
  const std::filesystem::path folder = std::filesystem::path(TCQ_SOURCE_DIR) / "tests" / "vectors";
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
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

TEST_F(Fuzz, DamagedDirectedFilesAreRefusedWithASentence) {
  while (another_round()) {
    std::string bytes = "# tcq directed 1\n# device: none\n";
    for (std::uint64_t left = random_() % 3 + 1; left != 0; --left)
      bytes += mutated(random_, std::string(pick(random_, probes)));
    remember(bytes);
    try {
      const oracle::DirectedFile file = oracle::parse_directed(bytes);
      oracle::compare(file);
      const std::string text = oracle::serialize(file);
      ASSERT_EQ(oracle::serialize(oracle::parse_directed(text)), text) << bytes;
    } catch (const oracle::BadFile& error) {
      EXPECT_NE(std::string_view(error.what()), "");
    }
  }
}

}  // namespace
}  // namespace tcq
