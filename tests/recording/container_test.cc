// The files of recordings: no byte of one can change unseen, old ones are refused and rewritten,
// and nothing of a header can act on a terminal.
#include "oracle/recording/container.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "tests/support/process.h"
#include "tests/support/sealed_file.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

using Random = std::mt19937_64;

constexpr std::string_view binary = "tcq async recording 2\n";
constexpr std::string_view text = "# tcq directed 2\n";

std::string small_file(std::string_view magic) {
  const Header header = {{"device", "NVIDIA H200"}, {"date", "2026-11-21"}, {"suite", "none"}};
  return pack(magic, header, 3, "first line\nsecond\n\n# a comment\n");
}

std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("tests/vectors")))
    if (entry.path().extension() != ".md") files.push_back(entry.path());
  EXPECT_GE(files.size(), 21u);
  return files;
}

// ---- Every byte counts --------------------------------------------------------------------------

TEST(Container, UnpackIsTheInverseOfPack) {
  for (const std::string_view magic : {binary, text}) {
    const std::string bytes = small_file(magic);
    const Container c = unpack(magic, bytes);
    EXPECT_EQ(c.header.at("device"), "NVIDIA H200");
    EXPECT_EQ(c.payload, "first line\nsecond\n\n# a comment\n");
    EXPECT_EQ(bytes.substr(0, bytes.find("first")).size() + c.payload.size(), bytes.size());
    EXPECT_EQ(pack(magic, c.header, 3, c.payload), bytes);
  }
}

TEST(Container, TheFormatIsTheOneThatTestsWrite) {
  for (const std::string prefix : {"", "# "})
    EXPECT_EQ(pack(prefix + "tcq any 2\n", {{"a", "b"}}, 7, "payload\n"),
              sealed(prefix + "tcq any 2\n" + prefix + "a: b\n", "payload\n", 7));
}

TEST(Container, NoByteCanBecomeAnotherOrGoOrBeDoubled) {
  for (const std::string_view magic : {binary, text}) {
    const std::string good = small_file(magic);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int value = 1; value < 256; ++value) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ value);
        EXPECT_THROW(unpack(magic, bytes), BadFile) << at << " ^ " << value;
      }
      EXPECT_THROW(unpack(magic, good.substr(0, at)), BadFile) << at;
      for (std::size_t count = 1; count < 40; ++count) {
        std::string shorter = good;
        std::string longer = good;
        EXPECT_THROW(unpack(magic, shorter.erase(at, count)), BadFile) << at << ' ' << count;
        longer.insert(at, good.substr(at, count));
        EXPECT_THROW(unpack(magic, longer), BadFile) << at << ' ' << count;
      }
    }
  }
}

TEST(Container, NoHeaderLineCanMoveOrGoOrStandTwice) {
  for (const std::string_view magic : {binary, text}) {
    const std::string good = small_file(magic);
    std::vector<std::size_t> starts = {0};
    while (starts.size() < 9) starts.push_back(good.find('\n', starts.back()) + 1);
    for (std::size_t from = 0; from + 1 < starts.size(); ++from) {
      const std::string line = good.substr(starts[from], starts[from + 1] - starts[from]);
      std::string without = good;
      EXPECT_THROW(unpack(magic, without.erase(starts[from], line.size())), BadFile) << line;
      for (const std::size_t to : starts) {
        std::string twice = good;
        EXPECT_THROW(unpack(magic, twice.insert(to, line)), BadFile) << line;
      }
    }
  }
}

// One change of `bytes` that the byte at `at`, or those behind it, take part in.
void damage(Random& random, std::string& bytes, std::size_t at) {
  const std::size_t count = 1 + random() % (random() % 8 == 0 ? 300 : 4);
  const std::size_t other = random() % bytes.size();
  switch (random() % 7) {
    case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
    case 1: bytes[at] = static_cast<char>(random()); break;
    case 2: bytes.erase(at, count); break;
    case 3: bytes.insert(at, count, static_cast<char>(random())); break;
    case 4: bytes.insert(at, bytes.substr(at, count)); break;
    case 5: bytes.resize(at); break;
    default: std::swap(bytes[at], bytes[other]); break;
  }
}

// What tcq verify says of the bytes; empty if it takes them.
std::string refusal(const std::string& path, const std::string& bytes) {
  write_file(path, bytes);
  std::FILE* out = tests::temporary_file();
  std::FILE* err = tests::temporary_file();
  std::string sentence;
  try {
    const std::string words[] = {path, "case=0"};
    verify(words, {}, out, err);
  } catch (const UsageError& error) {
    sentence = error.what();
  }
  std::fclose(out);
  std::fclose(err);
  return sentence;
}

// TCQ_DAMAGES: how many per recording and place.
TEST(Container, NoDamagedRecordingPassesVerify) {
  const char* chosen = std::getenv("TCQ_DAMAGES");
  const int count = chosen == nullptr ? 12 : std::atoi(chosen);
  const TemporaryFolder folder;
  Random random(11);
  int damaged = 0;
  for (const std::filesystem::path& path : recordings()) {
    const std::string good = read_file(path.string());
    const std::size_t payload = unpack(good.substr(0, good.find('\n') + 1), good).payload.size();
    for (int i = 0; i < 2 * count; ++i) {
      std::string bytes = good;
      damage(random, bytes, random() % (i % 2 == 0 ? good.size() : good.size() - payload));
      if (bytes == good) continue;
      ++damaged;
      EXPECT_NE(refusal(folder.file("damaged"), bytes), "") << path << " " << i;
    }
  }
  std::printf("%d damaged files\n", damaged);
  EXPECT_GT(damaged, 20 * count);
}

TEST(Container, NoByteOfTheHeaderOfARecordingCanChange) {
  int damaged = 0;
  for (const std::filesystem::path& path : recordings()) {
    std::string bytes = read_file(path.string());
    const std::string magic = bytes.substr(0, bytes.find('\n') + 1);
    const std::size_t header = bytes.size() - unpack(magic, bytes).payload.size();
    for (std::size_t at = 0; at < header; ++at) {
      for (int bit = 0; bit < 8; ++bit, ++damaged) {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        EXPECT_THROW(unpack(magic, bytes), BadFile) << path << " " << at << " " << bit;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      }
    }
  }
  EXPECT_GT(damaged, 21 * 8 * 200);
}

// ---- Format 1 -----------------------------------------------------------------------------------

TEST(OldFormat, IsRefusedWithWhatToDo) {
  const TemporaryFolder folder;
  for (const std::string kind :
       {"tcq recording", "tcq async recording", "# tcq directed", "# tcq provoked"}) {
    const std::string sentence = refusal(folder.file("old"), kind + " 1\ndevice: NVIDIA H200\n");
    EXPECT_NE(sentence.find("format 1"), std::string::npos) << kind << ": " << sentence;
    EXPECT_NE(sentence.find("expected format 2"), std::string::npos) << sentence;
  }
}

// ---- What a terminal is not shown ---------------------------------------------------------------

TEST(Container, AHeaderThatATerminalCannotPrintIsRefusedThoughItsChecksumIsRight) {
  for (const std::string& value :
       {std::string("\x1b[2JH200"), std::string("H200\r"), std::string("H\xc2\x9b"),
        std::string("H\x7f"), std::string(1, '\0'), std::string(400, 'H')}) {
    for (const std::string prefix : {"", "# "}) {
      const std::string magic = prefix + "tcq recording 2\n";
      for (const std::string& line : {"device: " + value, value + ": x", value}) {
        const std::string bytes = sealed(magic + prefix + line + "\n", "x\n", 1);
        try {
          unpack(magic, bytes);
          ADD_FAILURE() << line;
        } catch (const BadFile& error) {
          const std::string sentence = error.what();
          EXPECT_TRUE(std::all_of(sentence.begin(), sentence.end(), [](char c) {
            return c >= ' ' && c <= '~';
          })) << line;
          EXPECT_LT(sentence.size(), 400u);
        }
      }
    }
  }
}

TEST(Container, WhatATerminalCannotPrintIsEscapedWhenWritten) {
  const std::string bytes =
      pack(binary, {{"device", "\x1b[31mH\n200"}, {"driver", std::string(5000, '1')}}, 0, "");
  const Header header = unpack(binary, bytes).header;
  EXPECT_EQ(header.at("device"), "\\x1b[31mH\\x0a200");
  EXPECT_LE(header.at("driver").size(), 200u);
}

TEST(Container, LinesOfTextArePrintable) {
  for (const char c : {'\x1b', '\r', '\x7f', '\x9b', '\0'})
    EXPECT_THROW(unpack(text, sealed(std::string(text), std::string("a\n") + c + "\n", 1)), BadFile)
        << static_cast<int>(c);
  EXPECT_NO_THROW(unpack(text, sealed(std::string(text), "a\tb\n", 1)));
}

}  // namespace
}  // namespace tcq::oracle
