// What the fuzzers share: a time limit, the input that was being tried when something crashed, and
// mutations of text.
//
// The seed is fixed; TCQ_FUZZ_SECONDS (default 5, for all tests together) says how
// long. A crash prints the input that caused it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/shape.h"
#include "tests/fuzz/bodies.h"

namespace tcq {
namespace {

constexpr int tests_sharing_the_time = 13;  // of fuzz.cc and fuzz_files.cc

using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

// --- what was being tried ------------------------------------------------------------------------

std::array<char, 4096> current_input = {};

inline void remember(std::string_view input) {
  const std::size_t size = std::min(input.size(), current_input.size() - 2);
  std::copy_n(input.begin(), size, current_input.begin());
  current_input[size] = '\n';
  current_input[size + 1] = 0;
}

inline void print_input() {
  const std::string_view text(current_input.data());
  const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
}

extern "C" inline void on_signal(int signal) {
  print_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" __attribute__((weak)) void __asan_on_error() { print_input(); }  // NOLINT: its name

class Fuzz : public testing::Test {
 protected:
  void SetUp() override {
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS}) std::signal(signal, on_signal);
    const char* seconds = std::getenv("TCQ_FUZZ_SECONDS");
    const double share = (seconds == nullptr ? 5 : std::atof(seconds)) / tests_sharing_the_time;
    end_ = Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(share * 1e6));
  }
  // True until the time is over, but for the first rounds in any case.
  bool another_round() { return ++rounds_ <= 20 || Clock::now() < end_; }
  void TearDown() override { RecordProperty("rounds", rounds_); }

  void try_on(void (*body)(std::string_view), const std::string& bytes) {
    remember(bytes);
    try {
      body(bytes);
    } catch (const fuzz::Broken& broken) {
      FAIL() << broken.what();
    }
  }

  Random random_{20};
  int rounds_ = 0;

 private:
  Clock::time_point end_;
};

inline int below(Random& random, std::size_t limit) { return static_cast<int>(random() % limit); }

template <class List>
auto pick(Random& random, const List& list) {
  return std::data(list)[random() % std::size(list)];
}

// --- mutations of text ---------------------------------------------------------------------------

constexpr std::string_view interesting[] = {"",
                                            "0",
                                            "-1",
                                            "00",
                                            "0x",
                                            "0xffffffffffffffff",
                                            "18446744073709551616",
                                            "255",
                                            "256",
                                            "2147483648",
                                            "4294967296",
                                            "=",
                                            "==",
                                            ",",
                                            ".",
                                            "..",
                                            "NaN",
                                            "{",
                                            "}",
                                            "{%f0..%f2147483647}",
                                            "%r",
                                            "\t",
                                            "\xff",
                                            "\xc3\x28",
                                            "--json",
                                            "-",
                                            "k",
                                            "m64",
                                            "n8",
                                            "row=",
                                            "smem",
                                            "regs",
                                            "MN",
                                            "K",
                                            "wgmma.",
                                            "1e9",
                                            "'",
                                            "\"",
                                            "%s%n",
                                            "{}",
                                            "{0}",
                                            "A",
                                            "B",
                                            "D",
                                            "E",
                                            "sp",
                                            ";",
                                            "(",
                                            ")"};

inline void mutate(Random& random, std::string& text) {
  const std::size_t size = text.size();
  const std::size_t at = size == 0 ? 0 : random() % (size + 1);
  const std::size_t count = size == 0 ? 0 : std::min<std::size_t>(size - at, 1 + random() % 4);
  switch (random() % 8) {
    case 0: text.erase(at, count); break;
    case 1: text.insert(at, pick(random, interesting)); break;
    case 2: text.replace(at, count, pick(random, interesting)); break;
    case 3:
      if (at < size) text[at] = static_cast<char>(random());
      break;
    case 4:
      if (at < size) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 5: text.insert(at, text.substr(at, count * 8)); break;
    case 6: text.insert(at, 1 + random() % 300, static_cast<char>("0f9{,. "[random() % 7])); break;
    default: text.resize(at);
  }
}

inline std::string mutated(Random& random, std::string text) {
  for (std::uint64_t left = random() % 4; left != 0; --left) mutate(random, text);
  return text;
}

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// --- instructions --------------------------------------------------------------------------------

inline wgmma::Form random_form(Random& random) {
  wgmma::Form f{};
  f.d = static_cast<Type>(below(random, type_count));
  f.a = static_cast<Type>(below(random, type_count));
  f.b = random() % 2 == 0 ? f.a : static_cast<Type>(below(random, type_count));
  f.n = random() % 8 == 0 ? below(random, 300) - 8 : 8 * (1 + below(random, 32));
  f.sparse = random() % 2 == 0;
  f.a_place = random() % 2 == 0 ? wgmma::Place::Smem : wgmma::Place::Registers;
  f.major_a = random() % 4 == 0 ? Major::MN : Major::K;
  f.major_b = random() % 4 == 0 ? Major::MN : Major::K;
  f.negate_a = random() % 4 == 0;
  f.negate_b = random() % 4 == 0;
  f.satfinite = random() % 4 == 0;
  return f;
}

// Half of the words point into the memory, so that execution gets far.
inline std::uint64_t random_descriptor(Random& random) {
  const std::uint64_t word = random();
  if (random() % 2 == 0) return word;
  wgmma::MatrixDescriptor d = wgmma::decode(word);
  d.start_bytes = 1024 + 16 * static_cast<std::uint32_t>(random() % 1024);
  d.lbo_bytes = 16 * static_cast<std::uint32_t>(random() % 64);
  d.sbo_bytes = 16 * static_cast<std::uint32_t>(random() % 64);
  return encode(d) | (word & wgmma::MatrixDescriptorFormat::unused);
}

}  // namespace
}  // namespace tcq
