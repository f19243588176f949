// Random and mutated input for everything that reads input: descriptors through execute(),
// questions and data lines through the oracle, damaged recordings through their readers. Nothing
// may crash, throw, or refuse without a sentence.
//
// The seed is fixed; TCQ_FUZZ_SECONDS (default 5, for all tests together) says how long. A crash
// prints the input that caused it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer.h"
#include "oracle/directed.h"
#include "oracle/vectors.h"
#include "sim/isa/shape.h"
#include "sim/isa/wgmma_desc.h"
#include "sim/machine/wgmma.h"

namespace tcq {
namespace {

constexpr int tests_sharing_the_time = 8;

using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

// --- what was being tried ------------------------------------------------------------------------

std::array<char, 4096> current_input = {};

void remember(std::string_view input) {
  const std::size_t size = std::min(input.size(), current_input.size() - 2);
  std::copy_n(input.begin(), size, current_input.begin());
  current_input[size] = '\n';
  current_input[size + 1] = 0;
}

void print_input() {
  const std::string_view text(current_input.data());
  const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
}

extern "C" void on_signal(int signal) {
  print_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void __asan_on_error() { print_input(); }  // NOLINT: the sanitizer's name

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

  Random random_{20};
  int rounds_ = 0;

 private:
  Clock::time_point end_;
};

int below(Random& random, std::size_t limit) { return static_cast<int>(random() % limit); }

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

void mutate(Random& random, std::string& text) {
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

std::string mutated(Random& random, std::string text) {
  for (std::uint64_t left = random() % 4; left != 0; --left) mutate(random, text);
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// --- execute() -----------------------------------------------------------------------------------

wgmma::Form random_form(Random& random) {
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
std::uint64_t random_descriptor(Random& random) {
  const std::uint64_t word = random();
  if (random() % 2 == 0) return word;
  wgmma::MatrixDescriptor d = wgmma::decode(word);
  d.start_bytes = 1024 + 16 * static_cast<std::uint32_t>(random() % 1024);
  d.lbo_bytes = 16 * static_cast<std::uint32_t>(random() % 64);
  d.sbo_bytes = 16 * static_cast<std::uint32_t>(random() % 64);
  return encode(d) | (word & wgmma::MatrixDescriptorFormat::unused);
}

std::string text_of(const wgmma::Instruction& in) {
  const wgmma::Form& f = in.form;
  return std::string(name(f.d)) + "." + name(f.a) + "." + name(f.b) + " n" + std::to_string(f.n) +
         " sparse " + std::to_string(f.sparse) + " selector " + std::to_string(in.selector) +
         " desc_a " + std::to_string(in.desc_a) + " desc_b " + std::to_string(in.desc_b);
}

TEST_F(Fuzz, ExecuteFaultsOrChangesOnlyD) {
  while (another_round()) {
    wgmma::Form form = random_form(random_);
    for (int tries = 0; tries < 200 && check(form) != Fault::None; ++tries)
      form = random_form(random_);
    const int selector = random_() % 8 == 0 ? below(random_, 9) - 4 : below(random_, 2);
    const wgmma::Instruction in{form, selector, random_descriptor(random_),
                                random_descriptor(random_), random_() % 2 == 0};
    remember(text_of(in));
    wgmma::State state{SharedMemory(1024, 32768), {}};
    for (std::uint32_t i = 0; i < state.shared.size(); i += 8)
      state.shared.store<std::uint64_t>(1024 + i, random_());
    for (auto& word : state.registers.a) word = static_cast<std::uint32_t>(random_());
    for (auto& word : state.registers.metadata) word = static_cast<std::uint32_t>(random_());
    if (check(form) == Fault::None)
      state.registers.d.resize(static_cast<std::size_t>(
          wgmma::threads_per_warpgroup * wgmma::accumulator_registers(form.d, form.n)));
    wgmma::State after = state;
    const Fault fault = execute(after, in);
    if (fault != Fault::None) {
      ASSERT_EQ(after, state) << text_of(in);
      continue;
    }
    ASSERT_EQ(check(form), Fault::None) << text_of(in);
    after.registers.d = state.registers.d;
    ASSERT_EQ(after, state) << text_of(in);
  }
}

// --- questions -----------------------------------------------------------------------------------

constexpr std::string_view questions[] = {
    "list",
    "describe wgmma.m64n24k16.f32.bf16.bf16",
    "describe wgmma.mma_async.sp.sync.aligned.m64n16k64.f16.e4m3.e5m2 a=regs",
    "where wgmma.m64n24k16.f32.bf16.bf16 D row=9 col=13",
    "where wgmma.m64n24k16.f32.bf16.bf16 A row=9 col=13 a=regs",
    "where wgmma.m64n24k16.f32.bf16.bf16 B row=1 col=13 desc=0x4000004000010240",
    "where wgmma.m64n8k256.s32.b1.b1 A row=0 col=11 desc=0x4000004000010040",
    "where wgmma.sp.m64n16k32.f32.f16.f16 E row=41 k=22 selector=1",
    "where wgmma.sp.m64n16k32.f32.f16.f16 A row=9 col=13 a=regs",
    "what wgmma.m64n24k16.f16.f16.f16 D thread=6 reg=3 part=1",
    "what wgmma.sp.m64n16k32.f32.f16.f16 E thread=71 nibble=5 selector=1",
    "table wgmma.m64n8k16.f32.f16.f16 D",
    "table wgmma.sp.m64n8k64.s32.s8.u8 E",
    "equation wgmma.m64n24k16.f32.bf16.bf16 D",
    "equation wgmma.sp.m64n8k16.f32.tf32.tf32 E",
    "decode wgmma.desc 0x4000004000010040",
    "decode wgmma.desc 0x0010000002001000",
    "encode wgmma.desc start=1024 lbo=16 sbo=1024 base_offset=3 swizzle=128B",
    "decode tcgen05.desc 0x2000408000200040 type=tf32 major=MN mn=128",
    "decode tcgen05.idesc.f8f6f4 0x08101190",
    "decode tcgen05.zero_mask 0x0003028000000000 m=64 n=64",
    "decode tmem.addr 0x00200010",
    "encode tcgen05.desc start=1024 lbo=16 sbo=1024 lbo_mode=relative swizzle=128B_ATOM_32B",
    "encode tcgen05.idesc.mxf4nvf4 m=256 n=128 scale_type=ue4m3 scale_a_id=2 k96=1",
    "encode tcgen05.idesc.i8 m=128 n=64 type_a=s8 type_b=u8 saturate=1 max_shift_b=8",
    "encode tcgen05.zero_mask non_zero=1 skip_columns=3 use_columns=4 start_count_1=2",
    "encode tmem.addr tmem_lane=32 tmem_column=16",
    "bytes wgmma.m64n8k16.f32.bf16.bf16 A desc=0x4000004000010040 major_a=MN",
    "layout wgmma.m64n128k16.f32.bf16.bf16 B rows=128 k=64 swizzle=128B",
    "layout wgmma.m64n64k16.f32.f16.f16 A major=MN rows=64 k=64 start=1024",
    "partition wgmma.m64n64k16.f16.f16.f16 bM=128 bN=128 bK=64 stages=3 major_a=MN swizzle=128B",
    "partition wgmma.m64n128k16.f32.bf16.bf16 bM=256 bN=128 bK=64 atoms=2x1x1 ldC=1024",
    "check",
    "mma wgmma.m64n8k16.f32.bf16.bf16 negate_a=1",
    "errata",
    "errata 004.1",
    "explain",
    "explain ProxyFenceMissing",
    "explain C7519",
};

constexpr std::string_view architectures[] = {"",     "",        "",      "sm_90a",
                                              "h100", "sm_100a", "sm_90", "x"};

void expect_sensible(const oracle::Answer& reply, std::string_view question) {
  const int status = static_cast<int>(reply.status);
  ASSERT_TRUE(status >= 0 && status <= 3) << question;
  ASSERT_EQ(reply.complaint.find("internal error"), std::string::npos) << question << "\n"
                                                                       << reply.complaint;
  ASSERT_EQ(reply.complaint.find('\n'), std::string::npos) << question << "\n" << reply.complaint;
  ASSERT_LT(reply.complaint.size(), 2000u) << question;
  if (reply.status == oracle::Status::Usage) {
    ASSERT_FALSE(reply.complaint.empty()) << question;
  }
  if (reply.status != oracle::Status::Yes) {
    ASSERT_FALSE(reply.text.empty() && reply.complaint.empty()) << question;
  }
}

oracle::Options random_options(Random& random) {
  oracle::Options o;
  if (random() % 3 == 0) o.style = static_cast<oracle::Style>(below(random, 5));
  o.transpose = random() % 8 == 0;
  o.by_slot = random() % 8 == 0;
  o.inputs = random() % 8 == 0;
  o.arch = pick(random, architectures);
  if (random() % 16 == 0) o.family = random() % 2 == 0 ? "wgmma" : "x";
  return o;
}

TEST_F(Fuzz, QuestionsGetAnAnswerOrASentence) {
  while (another_round()) {
    const std::string text = mutated(random_, std::string(pick(random_, questions)));
    remember(text);
    const std::vector<std::string_view> words = words_of(text);
    const oracle::Options options = random_options(random_);
    oracle::Question question{words[0], {words.begin() + 1, words.end()}, options};
    if (random_() % 8 == 0 && question.words.size() > 1)
      std::swap(question.words.front(), question.words.back());
    expect_sensible(oracle::answer(question), text);
    if (HasFatalFailure()) return;
  }
}

// --- words ---------------------------------------------------------------------------------------

constexpr std::string_view word_formats[] = {"wgmma.desc",
                                             "tcgen05.desc",
                                             "tcgen05.idesc.f16",
                                             "tcgen05.idesc.tf32",
                                             "tcgen05.idesc.i8",
                                             "tcgen05.idesc.f8f6f4",
                                             "tcgen05.idesc.mxf4",
                                             "tcgen05.zero_mask",
                                             "tcgen05.idesc.mxf8f6f4",
                                             "tcgen05.idesc.mxf4nvf4",
                                             "tmem.addr"};

constexpr std::string_view word_uses[] = {
    " type=bf16", " type=bf16 mn=256", " type=tf32 major=MN mn=256", " type=e2m1 kind=mxf4 mn=128"};

oracle::Answer answer_to(const std::string& text) {
  remember(text);
  const std::vector<std::string_view> words = words_of(text);
  return oracle::answer({words[0], {words.begin() + 1, words.end()}, {}});
}

// The fields that decode prints, as keys of encode.
std::string keys_of(const std::string& decoded) {
  std::string keys;
  std::istringstream in(decoded);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("bits") || line.find("  ignored  ") != std::string::npos) continue;
    const std::size_t name = line.find("  ") + 2;
    keys += " " + line.substr(name, line.find("  ", name) - name) + "=" +
            line.substr(line.rfind("  ") + 2);
  }
  return keys;
}

// Any word is decoded; whatever encode makes of the fields decodes to the same fields again.
TEST_F(Fuzz, WordsAreDecodedAndComeBackIfTheyCanBeEncoded) {
  while (another_round()) {
    const std::string format(pick(random_, word_formats));
    const bool narrow = format.find("idesc") != std::string::npos || format == "tmem.addr";
    const std::uint64_t sparse_bits =
        random_() % 2 == 0 ? ~std::uint64_t{0} : random_() & random_();
    const std::uint64_t word = random_() & sparse_bits & (narrow ? 0xffffffffu : ~std::uint64_t{0});
    const oracle::Answer decoded = answer_to("decode " + format + " " + std::to_string(word));
    ASSERT_EQ(decoded.status, oracle::Status::Yes) << decoded.complaint;
    if (format == "tcgen05.desc") {
      const std::string use(pick(random_, word_uses));
      expect_sensible(answer_to("decode tcgen05.desc " + std::to_string(word) + use), format);
    }
    const oracle::Answer encoded = answer_to("encode " + format + keys_of(decoded.text));
    expect_sensible(encoded, decoded.text);
    if (encoded.status != oracle::Status::Yes) continue;
    const oracle::Answer again = answer_to("decode " + format + " " + encoded.text);
    ASSERT_EQ(keys_of(again.text), keys_of(decoded.text)) << decoded.text;
  }
}

// --- data lines ----------------------------------------------------------------------------------

constexpr std::string_view statements[] = {
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0..%f3}, %rd0, %rd1, p, 1, 1, 0, 0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0, %r1}, {%r2..%r5}, %rd1, 1, 1, 1, 1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8.satfinite {%r0..%r3}, %rd0, %rd1, %r9, 0, "
    "p;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0..%r3}, %rd0, %rd1, p;",
    "wgmma.fence.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
};

constexpr std::string_view mma_questions[] = {
    "mma wgmma.m64n8k32.s32.s8.s8",       "mma wgmma.m64n8k8.f32.tf32.tf32 negate_a=1",
    "mma wgmma.m64n8k32.f16.e4m3.e5m2",   "mma wgmma.m64n8k256.s32.b1.b1",
    "mma wgmma.sp.m64n8k32.f32.f16.f16",  "mma wgmma.m64n8k16.f32.bf16.bf16 accumulate=0",
    "mma wgmma.sp.m64n8k16.f32.tf32.tf32"};

constexpr std::string_view probes[] = {
    "A1 wgmma.m64n64k16.f32.f16.f16 A=0:5800,1:d800 B=0-1:5800 C=00000000 D=00000000\n",
    "T2 wgmma.m64n8k8.f32.tf32.tf32 A=0-7:3f801fff B=0:3f800000 C=7f7fffff D=?\n",
    "M3 wgmma.sp.m64n8k32.f32.f16.f16 selector=1 A=0-15:3c00 B=0-31:3c00 C=00000000 codes=4c8e9d4e "
    "D=41800000\n",
    "I4 wgmma.m64n8k256.s32.b1.b1 A=0-255:1 B=0-255:1 C=7fffffff D=800000ff\n", "# probes: 2\n"};

// Mostly a line of the right shape: how many elements, how many digits each, how many for C.
std::string random_mma_line(Random& random) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto hex = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += digits[random() % 16];
    return text;
  };
  constexpr std::array<std::array<int, 3>, 7> shapes = {
      {{32, 2, 8}, {8, 8, 8}, {32, 2, 4}, {1, 64, 8}, {16, 4, 8}, {16, 4, 8}, {8, 8, 8}}};
  const auto shape = pick(random, shapes);
  std::string line;
  for (int operand = 0; operand < 2; ++operand) {
    const int twice = operand == 1 && random() % 3 == 0 ? 2 : 1;
    for (int i = 0; i < twice * shape[0]; ++i) line += (i == 0 ? "" : ",") + hex(shape[1]);
    line += ' ';
  }
  line += hex(shape[2]);
  if (random() % 3 == 0) line += " " + hex(8);
  return line;
}

void ask_line(std::string_view question_text, std::string_view line) {
  remember(std::string(question_text) + " < " + std::string(line));
  const std::vector<std::string_view> words = words_of(question_text);
  const oracle::Question question{words[0], {words.begin() + 1, words.end()}, {}};
  const oracle::Answer reply = oracle::answer_line(question, line);
  expect_sensible(reply, std::string(question_text) + " < " + std::string(line));
  ASSERT_EQ(reply.text.find('\n'), std::string::npos) << "one line in, one line out";
}

// What the mutations start from must be understood, or they would all die at the first word.
TEST_F(Fuzz, SeedsAreUnderstood) {
  const auto status = [](std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    return oracle::answer({words[0], {words.begin() + 1, words.end()}, {}}).status;
  };
  for (const std::string_view question : questions)
    EXPECT_EQ(status(question), oracle::Status::Yes) << question;
  for (const std::string_view question : mma_questions)
    EXPECT_EQ(status(question), oracle::Status::Yes) << question;
  for (const std::string_view line : statements)
    EXPECT_EQ(oracle::answer_line({"check", {}, {}}, line).status, oracle::Status::Yes) << line;
  std::string bytes = "# tcq directed 1\n";
  for (const std::string_view probe : probes)
    if (!probe.starts_with("#")) bytes += probe;
  EXPECT_EQ(oracle::parse_directed(bytes).probes.size(), std::size(probes) - 1);
}

TEST_F(Fuzz, StatementsAreJudged) {
  while (another_round()) {
    ask_line("check", mutated(random_, std::string(pick(random_, statements))));
    if (HasFatalFailure()) return;
  }
}

// Streams of statements, whole and damaged, in any order.
TEST_F(Fuzz, StreamsAreJudged) {
  while (another_round()) {
    std::vector<std::string> lines(random_() % 30);
    std::string text;
    for (std::string& line : lines) {
      line = pick(random_, statements);
      if (random_() % 4 == 0) line = mutated(random_, line);
      if (random_() % 4 == 0) line = "add.f32 %f9, %f1, %f" + std::to_string(random_() % 300) + ";";
      text += line + "\n";
    }
    remember(text);
    expect_sensible(oracle::answer_stream({"emission", {}, {}}, lines), text);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Fuzz, SumsAreComputedOrRefused) {
  while (another_round()) {
    std::string line = random_mma_line(random_);
    if (random_() % 2 == 0) line = mutated(random_, line);
    std::string question(pick(random_, mma_questions));
    if (random_() % 8 == 0) question = "mma " + mutated(random_, question.substr(4));
    ask_line(question, line);
    if (HasFatalFailure()) return;
  }
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
