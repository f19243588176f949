// The recordings: the simulator equals them bit for bit, they cover what they must, and damaged
// files are refused with a sentence.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "oracle/recording/directed.h"
#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "oracle/recording/suites.h"
#include "sim/isa/wgmma/descriptor.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

std::string vector_file(const std::string& name) {
  return source_file("tests/vectors/" + name).string();
}

std::string path_of(std::string_view suite) {
  return vector_file("wgmma_" + std::string(suite) + ".tcqv");
}
Recording load(std::string_view suite) { return parse_recording(read_file(path_of(suite))); }
DirectedFile load_directed() {
  return parse_directed(read_file(vector_file("wgmma_directed.txt")));
}

const WgmmaCase& wgmma_of(const Case& c) { return std::get<WgmmaCase>(c.experiment); }

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("tests/vectors")))
    if (entry.path().extension() == ".tcqv") all.push_back(entry.path().stem().string());
  std::ranges::sort(all);
  return all;
}

class Vectors : public testing::TestWithParam<std::string> {
 protected:
  static std::string bytes() { return read_file(vector_file(GetParam() + ".tcqv")); }
};

TEST_P(Vectors, SimulatorEqualsTheDeviceBitForBit) {
  const Comparison c = compare(parse_recording(bytes()));
  EXPECT_GT(c.cases, 0u);
  EXPECT_EQ(c.differing_bits, 0u) << c.first_mismatch;
}

TEST_P(Vectors, CarryTheirProvenance) {
  const Recording recording = parse_recording(bytes());
  for (const char* key :
       {"device", "driver", "cuda", "date", "compute capability", "seed", "suite"})
    EXPECT_TRUE(recording.header.contains(key)) << key;
}

TEST_P(Vectors, AreTheCasesOfTheirSuite) {
  const Recording recording = parse_recording(bytes());
  const std::vector<Case> cases =
      draw_suite(recording.header.at("suite"), std::stoull(recording.header.at("seed")));
  ASSERT_EQ(cases.size(), recording.cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& drawn = cases[i];
    Case recorded = recording.cases[i];
    if (recorded.outcome == Outcome::Trap)  // a wgmma's file says so in place of the selection
      if (auto* wgmma = std::get_if<WgmmaCase>(&recorded.experiment))
        wgmma->keep = wgmma_of(drawn).keep;
    EXPECT_EQ(drawn.experiment, recorded.experiment) << describe(drawn);
    EXPECT_EQ(drawn.seed, recorded.seed) << i;
    EXPECT_EQ(drawn.keep, recorded.keep) << i;
    EXPECT_EQ(drawn.content, recorded.content) << i;
    EXPECT_EQ(drawn.shared_bytes, recorded.shared_bytes) << i;
    EXPECT_EQ(drawn.global_bytes, recorded.global_bytes) << i;
  }
}

TEST_P(Vectors, SerializeIsTheInverseOfParse) {
  const std::string file = bytes();
  EXPECT_EQ(serialize(parse_recording(file)), file);
}

TEST_P(Vectors, DamagedOnesAreRefused) {
  std::string file = bytes();
  for (std::size_t size = 0; size < file.size(); size += file.size() / 40 + 1)
    EXPECT_THROW(parse_recording(std::string_view(file).substr(0, size)), BadFile) << size;
  const std::size_t payload = file.find("\n\n") + 2;
  for (std::size_t i = payload; i < file.size(); i += (file.size() - payload) / 40 + 1) {
    file[i] = static_cast<char>(file[i] ^ 4);
    EXPECT_THROW(parse_recording(file), BadFile) << i;
    file[i] = static_cast<char>(file[i] ^ 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Hopper, Vectors, testing::ValuesIn(names()),
                         [](const auto& param_info) { return param_info.param; });

TEST(Directed, SimulatorEqualsTheDeviceBitForBit) {
  const DirectedFile file = load_directed();
  const Comparison c = compare(file);
  EXPECT_EQ(c.cases, file.probes.size()) << "every probe is recorded";
  EXPECT_EQ(c.differing_bits, 0u) << c.first_mismatch;
}

TEST(Directed, SerializeIsTheInverseOfParse) {
  const std::string bytes = read_file(vector_file("wgmma_directed.txt"));
  EXPECT_EQ(serialize(parse_directed(bytes)), bytes);
}

TEST(Coverage, AllRecordingsTogetherStayBelow10MiB) {
  std::uintmax_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("tests/vectors")))
    total += entry.file_size();
  EXPECT_LE(total, std::uintmax_t{10} << 20);
}

using Types = std::tuple<Type, Type, Type, bool>;
Types types_of(const wgmma::Form& f) { return {f.d, f.a, f.b, f.sparse}; }

TEST(Coverage, NumericHasEveryTypeCombinationPlaceModifierAndClass) {
  std::set<Types> types;
  std::set<std::tuple<Types, wgmma::Place, MixtureClass>> classes;
  std::set<std::tuple<Types, wgmma::Place, Major, Major, bool, bool, bool>> modifiers;
  std::set<std::pair<Types, bool>> accumulates;
  for (const Case& any : load("numeric").cases) {
    const WgmmaCase& c = wgmma_of(any);
    const wgmma::Form& f = c.instruction.form;
    types.insert(types_of(f));
    classes.insert({types_of(f), wgmma::Place::Smem, c.mixture});
    modifiers.insert(
        {types_of(f), f.a_place, f.major_a, f.major_b, f.negate_a, f.negate_b, f.satfinite});
    accumulates.insert({types_of(f), c.instruction.accumulate});
  }
  EXPECT_EQ(types.size(), 33u);
  EXPECT_EQ(classes.size(), 33u * mixture_class_count);
  EXPECT_EQ(accumulates.size(), 66u);
  // f16 (2), bf16: (4 + 2 places and majors) x 4 negations; tf32 and 8 fp8: 2 x 4; int8 (4): 2 x 2;
  // b1: 2. All but b1 are sparse as well.
  EXPECT_EQ(modifiers.size(), 2u * (3 * 24 + 9 * 8 + 4 * 4) + 2u);
}

TEST(Coverage, SlotsHaveEveryNWithAllOutputsForBothWidthsOfD) {
  std::set<std::pair<int, int>> seen;  // n, bits of d
  std::set<int> integer_n;
  for (const Case& any : load("slots").cases) {
    const WgmmaCase& c = wgmma_of(any);
    const wgmma::Form& f = c.instruction.form;
    if (c.keep != Keep::All || f.sparse) continue;
    if (is_float(f.a))
      seen.insert({f.n, bits(f.d)});
    else
      integer_n.insert(f.n);
  }
  EXPECT_EQ(seen.size(), 2u * 32u);
  EXPECT_EQ(integer_n.size(), 18u);
}

TEST(Coverage, AtLeast1000RandomDescriptorsPerOperandAndMajor) {
  std::map<std::pair<bool, Major>, std::set<std::uint64_t>> words;
  std::set<std::uint32_t> base_offsets;
  std::uint64_t ignored_bits = 0;
  bool unaligned = false;
  bool zero_stride = false;
  bool largest_stride = false;
  for (const Case& any : load("descriptors").cases) {
    const WgmmaCase& c = wgmma_of(any);
    const wgmma::Form& f = c.instruction.form;
    for (const bool is_b : {false, true}) {
      const std::uint64_t word = is_b ? c.instruction.desc_b : c.instruction.desc_a;
      words[{is_b, is_b ? f.major_b : f.major_a}].insert(word);
      const wgmma::MatrixDescriptor d = wgmma::decode(word);
      base_offsets.insert(d.base_offset);
      ignored_bits |= word & wgmma::MatrixDescriptorFormat::unused;
      unaligned |= d.start_bytes % 128 != 0;
      zero_stride |= d.sbo_bytes == 0 && d.lbo_bytes == 0;
      largest_stride |= d.lbo_bytes == LeadingByteOffset::max_value;
    }
  }
  EXPECT_EQ(words.size(), 4u);
  for (const auto& [key, set] : words) EXPECT_GE(set.size(), 1000u);
  EXPECT_EQ(base_offsets.size(), 8u);
  EXPECT_EQ(ignored_bits, wgmma::MatrixDescriptorFormat::unused);
  EXPECT_TRUE(unaligned && zero_stride && largest_stride);
}

TEST(Coverage, SomeRangeCasesTrapAndSomeDoNot) {
  std::size_t traps = 0;
  const Recording recording = load("range");
  for (const Case& c : recording.cases) traps += c.outcome == Outcome::Trap ? 1 : 0;
  EXPECT_GT(traps, 5u);
  EXPECT_LT(traps, recording.cases.size() - 5);
}

TEST(BadFiles, EveryTruncationIsRefused) {
  const std::string bytes = read_file(path_of("range"));
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_THROW(parse_recording(std::string_view(bytes).substr(0, size)), BadFile) << size;
}

TEST(BadFiles, EveryFlippedPayloadByteIsRefused) {
  std::string bytes = read_file(path_of("range"));
  const std::size_t payload = bytes.find("\n\n") + 2;
  for (std::size_t i = payload; i < bytes.size(); i += 5) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    EXPECT_THROW(parse_recording(bytes), BadFile) << i;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
  }
}

TEST(BadFiles, AChangedOutputWithAMatchingChecksumIsAMismatch) {
  Recording recording = load("sparse");
  recording.cases.resize(3);
  recording.cases[1].output[5 * output_width(recording.cases[1])] ^=
      0xff;  // bits that were 0 and bits that were 1
  const Comparison c = compare(parse_recording(serialize(recording)));
  EXPECT_EQ(c.differing_outputs, 1u);
  EXPECT_EQ(c.differing_bits, 8u);
  EXPECT_EQ(c.first_case, 1u);
  EXPECT_NE(c.first_mismatch.find("case 1: wgmma."), std::string::npos);
}

TEST(BadFiles, AChangedSeedIsAnInputMismatchNotAnOutputMismatch) {
  Recording recording = load("sparse");
  recording.cases.resize(1);
  recording.cases[0].seed ^= 1;
  EXPECT_THROW(compare(recording), BadFile);
}

TEST(BadFiles, AChangedHexDigitOfADirectedProbeIsRefused) {
  std::string bytes = read_file(vector_file("wgmma_directed.txt"));
  const std::size_t digit = bytes.find("A=0:5800") + 4;
  bytes[digit] = '4';
  EXPECT_THROW(parse_directed(bytes), BadFile);
}

// Without checksums a file may ask, and not answer.
TEST(BadFiles, ARecordedProbeWithoutAChecksumIsRefused) {
  const std::string probe = "id wgmma.m64n8k16.f32.f16.f16 A=0:3c00 B= C=00000000 D=";
  EXPECT_FALSE(parse_directed("# tcq directed 2\n" + probe + "?\n").probes.at(0).recorded);
  EXPECT_THROW(parse_directed("# tcq directed 2\n" + probe + "00000000\n"), BadFile);
}

TEST(BadFiles, DirectedLinesNameTheirLine) {
  for (const char* line : {"x", "id wgmma.m64n8k16.f32.f16.f16", "id nonsense A= B= C=00000000 D=?",
                           "id wgmma.m64n8k16.f32.f16.f16 A=16:3c00 B= C=00000000 D=?",
                           "id wgmma.m64n8k16.f32.f16.f16 A=0:3c0 B= C=00000000 D=?",
                           "id wgmma.m64n8k16.f32.f16.f16 A=0:3c00 B= C=0 D=?",
                           "id wgmma.m64n8k16.f32.f16.f16 A=5-3:3c00 B= C=00000000 D=?"}) {
    try {
      parse_directed(std::string("# tcq directed 2\n") + line + "\n");
      ADD_FAILURE() << line;
    } catch (const BadFile& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
  }
}

TEST(WriteFile, LeavesNothingBehindWhenItFails) {
  const std::string missing = (source_tree() / "no such folder" / "x").string();
  EXPECT_THROW(write_file(missing, "x"), BadFile);
  EXPECT_FALSE(std::filesystem::exists(missing + ".partial"));
}

// As root a rename onto a device would succeed, and the machine would have lost the device.
TEST(WriteFile, ReplacesNothingButRegularFiles) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(write_file(pipe.string(), "x"), BadFile);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_FALSE(std::filesystem::exists(pipe.string() + ".partial"));
}

}  // namespace
}  // namespace tcq::oracle
