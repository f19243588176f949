// Random and mutated input for everything that reads input: descriptors through execute(), questions
// and data lines through the oracle. Nothing may crash, throw, or refuse without a sentence. Damaged
// files: fuzz_files.cc; time and seed: fuzz_kit.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/ptx/check_stream.h"
#include "oracle/recording/files.h"
#include "oracle/recording/recording.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/machine/wgmma.h"
#include "tests/fuzz/bodies.h"
#include "tests/fuzz/fuzz_kit.h"
#include "tests/support/source_tree.h"

namespace tcq {
namespace {

// --- execute() -----------------------------------------------------------------------------------

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
    "where tcgen05.mma.cta_group::1.kind::f16 D row=37 col=10 m=64 n=64",
    "where tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 SFB m=256 row=9 col=3",
    "where tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale B type_b=e2m3 row=1 col=2 "
    "desc=0x4000404000010040",
    "where tcgen05.mma.sp.cta_group::1.kind::f16 E row=77 chunk=5 address=0x20",
    "what tcgen05.mma.ws.cta_group::1.kind::tf32 D m=32 n=64 tmem_lane=69 tmem_column=8",
    "what tcgen05.ld.16x256b.x2 D thread=75 reg=5 address=0x100000",
    "where tcgen05.st.16x32bx2.x4 D tmem_lane=3 tmem_column=2 half_split=2",
    "table tcgen05.mma.cta_group::1.kind::f16 D m=64 n=8",
    "table tcgen05.ld.16x64b.x2 D",
    "equation tcgen05.mma.cta_group::2.kind::f8f6f4 A m=256 type_a=e2m1 desc=0x4000404000010040",
    "equation tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale SFB m=256 n=96",
    "bytes tcgen05.mma.cta_group::1.kind::tf32 A m=64 major_a=MN desc=0x2000408000200040",
    "layout tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale m=128 n=128 k=128 swizzle=128B",
    "layout tcgen05.mma.cta_group::2.kind::f16 B m=256 n=128 k=64 major=MN start=1024",
    "describe tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16 m=256 scale_type=ue4m3",
    "errata PTX",
    "check",
    "mma wgmma.m64n8k16.f32.bf16.bf16 negate_a=1",
    "errata",
    "errata 004.1",
    "explain",
    "explain ProxyFenceMissing",
    "explain C7519",
};

std::string random_bytes(Random& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random());
  return bytes;
}

TEST_F(Fuzz, QuestionsGetAnAnswerOrASentence) {
  while (another_round()) {
    const std::string options = random_() % 2 == 0 ? std::string("00") : random_bytes(random_, 2);
    std::string text = mutated(random_, std::string(pick(random_, questions)));
    const auto first = static_cast<std::ptrdiff_t>(std::min(text.find(' '), text.size()));
    const auto last = static_cast<std::ptrdiff_t>(std::min(text.rfind(' '), text.size()));
    if (random_() % 8 == 0)  // the last word comes first
      std::rotate(text.begin() + first, text.begin() + last, text.end());
    try_on(fuzz::question, options + text);
    if (HasFatalFailure()) return;
  }
}

TEST_F(Fuzz, WordsAreDecodedAndComeBackIfTheyCanBeEncoded) {
  while (another_round()) {
    std::string bytes = random_bytes(random_, 10);
    if (random_() % 2 == 0)  // few bits
      for (char& byte : bytes) byte = static_cast<char>(byte & static_cast<int>(random_()));
    bytes[0] = static_cast<char>(random_());
    try_on(fuzz::word, bytes);
    if (HasFatalFailure()) return;
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
    "mma wgmma.m64n8k32.s32.s8.s8",
    "mma wgmma.m64n8k8.f32.tf32.tf32 negate_a=1",
    "mma wgmma.m64n8k32.f16.e4m3.e5m2",
    "mma wgmma.m64n8k256.s32.b1.b1",
    "mma wgmma.sp.m64n8k32.f32.f16.f16",
    "mma wgmma.m64n8k16.f32.bf16.bf16 accumulate=0",
    "mma wgmma.sp.m64n8k16.f32.tf32.tf32",
    "mma tcgen05.mma.cta_group::1.kind::f16 type_d=f16 scale_input_d=3",
    "mma tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale type_a=e5m2",
    "mma tcgen05.mma.cta_group::2.kind::mxf4.block_scale m=256",
    "mma tcgen05.mma.cta_group::1.kind::i8 saturate=1"};

// Mostly a line of the right shape: how many elements, how many digits each, how many for C.
std::string random_mma_line(Random& random) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto hex = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += digits[random() % 16];
    return text;
  };
  constexpr std::array<std::array<int, 3>, 9> shapes = {{{32, 2, 8},
                                                         {8, 8, 8},
                                                         {32, 2, 4},
                                                         {1, 64, 8},
                                                         {16, 4, 8},
                                                         {16, 4, 8},
                                                         {8, 8, 8},
                                                         {16, 4, 4},
                                                         {64, 1, 8}}};
  const auto shape = pick(random, shapes);
  std::string line;
  for (int operand = 0; operand < 2; ++operand) {
    const int twice = operand == 1 && random() % 3 == 0 ? 2 : 1;
    for (int i = 0; i < twice * shape[0]; ++i) line += (i == 0 ? "" : ",") + hex(shape[1]);
    line += ' ';
  }
  line += hex(shape[2]);
  if (random() % 3 == 0) line += " " + hex(8);
  if (random() % 3 == 0) line += " " + hex(2) + " " + hex(2);
  if (random() % 6 == 0) line += " " + hex(2) + "," + hex(2) + " " + hex(2) + "," + hex(2);
  return line;
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
}

TEST_F(Fuzz, StatementsAreJudged) {
  while (another_round()) {
    try_on(fuzz::statement, mutated(random_, std::string(pick(random_, statements))));
    if (HasFatalFailure()) return;
  }
}

// Streams of statements, whole and damaged, in any order.
TEST_F(Fuzz, StreamsAreJudged) {
  while (another_round()) {
    std::string text;
    for (std::uint64_t left = random_() % 30; left != 0; --left) {
      std::string line(pick(random_, statements));
      if (random_() % 4 == 0) line = mutated(random_, line);
      if (random_() % 4 == 0) line = "add.f32 %f9, %f1, %f" + std::to_string(random_() % 300) + ";";
      text += line + "\n";
    }
    try_on(fuzz::stream, text);
    if (HasFatalFailure()) return;
  }
}

// A statement is the same however its lines are broken; a damaged one has an answer.
TEST_F(Fuzz, LinesMayBreakAtAnyBlank) {
  while (another_round()) {
    std::string text(pick(random_, statements));
    const bool damaged = random_() % 2 == 0;
    if (damaged) text = mutated(random_, text);
    if (!damaged && text.back() != ';') text += ';';
    for (char& c : text)
      if (c == ' ' && random_() % 3 == 0) c = '\n';
    try_on(fuzz::statement, text);
    if (HasFatalFailure()) return;
    if (damaged) continue;
    std::vector<std::string> found;
    oracle::CheckStream check({"check", {}, {}},
                              [&](const oracle::Answer& a) { found.push_back(a.text); });
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) check.add_line(line);
    check.end();
    ASSERT_EQ(found, std::vector<std::string>{"legal"}) << text;
  }
}

TEST_F(Fuzz, SumsAreComputedOrRefused) {
  while (another_round()) {
    std::string line = random_mma_line(random_);
    if (random_() % 2 == 0) line = mutated(random_, line);
    std::string question(pick(random_, mma_questions));
    if (random_() % 8 == 0) question = "mma " + mutated(random_, question.substr(4));
    try_on(fuzz::sum, question + "\n" + line);
    if (HasFatalFailure()) return;
  }
}

// What libFuzzer once found interesting.
TEST_F(Fuzz, TheCorpusHolds) {
  for (const fuzz::Body& body : fuzz::bodies) {
    const std::filesystem::path folder = source_file("tests/fuzz/corpus");
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / body.name)) {
      try_on(body.run, oracle::read_file(entry.path().string()));
      ++files;
    }
    EXPECT_GT(files, 0) << body.name;
  }
}

}  // namespace
}  // namespace tcq
