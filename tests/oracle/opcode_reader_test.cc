// Laws of the grammar of opcodes: what is written is read back as the form it was written from, and
// every word that is missing, wrong, repeated or out of place is told.
#include "sim/ptx/opcode_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/wgmma/syntax.h"

namespace tcq::oracle {

using namespace ptx;
namespace {

using Words = std::vector<std::string_view>;

// The words behind the family's name.
Words words_of(std::string_view opcode) {
  Words words = split_opcode(opcode);
  words.erase(words.begin());
  return words;
}

bool is_right(const OpcodeReading& r) {
  return is_legal(r.problem) && is_legal(r.disagreement) && is_legal(r.sync) && is_legal(r.order);
}

std::vector<wgmma::Form> wgmma_forms() {
  std::vector<wgmma::Form> forms = all_forms();
  for (wgmma::Form form : all_forms()) {
    form.satfinite = true;
    if (check(form) == Fault::None) forms.push_back(form);
  }
  return forms;
}

// All that opcodes can say, collectors included.
std::vector<Tcgen05Form> tcgen05_forms() {
  std::vector<Tcgen05Form> forms = all_tcgen05_forms();
  for (Tcgen05Form form : all_tcgen05_forms()) {
    auto* mma = std::get_if<tcgen05::MmaForm>(&form);
    if (mma == nullptr) continue;
    for (int b = 1; b < tcgen05::collector_buffer_count; ++b)
      for (int u = 0; u < tcgen05::collector_use_count; ++u) {
        mma->collector = {static_cast<tcgen05::CollectorBuffer>(b),
                          static_cast<tcgen05::CollectorUse>(u)};
        if (check_form(form) == Fault::None) forms.push_back(form);
      }
  }
  return forms;
}

// A form as an opcode alone says it.
Tcgen05Form as_written(Tcgen05Form form) {
  if (auto* mma = std::get_if<tcgen05::MmaForm>(&form)) mma->opcode.a_place = tcgen05::Place::Smem;
  return form;
}

TEST(OpcodeReader, ReadsEveryOpcodeOfWgmmaThatIsWritten) {
  for (const wgmma::Form& form : wgmma_forms()) {
    const std::string full = wgmma::opcode(form).chars;
    for (const auto& [text, spelling] : {std::pair{full, Spelling::Statement},
                                         {full, Spelling::Mnemonic},
                                         {shortened(full), Spelling::Mnemonic}}) {
      wgmma::Form read{};
      const OpcodeReading reading = read_wgmma(read, words_of(text), spelling);
      ASSERT_TRUE(is_right(reading)) << text;
      ASSERT_EQ(read, form) << text;
      ASSERT_EQ(reading.shape->m, wgmma::m);
      ASSERT_EQ(reading.shape->k, k(form)) << text;
    }
  }
}

TEST(OpcodeReader, ReadsEveryOpcodeOfTcgen05ThatIsWritten) {
  for (const Tcgen05Form& form : tcgen05_forms()) {
    const std::string full = full_opcode(form);
    for (const auto& [text, spelling] : {std::pair{full, Spelling::Statement},
                                         {full, Spelling::Mnemonic},
                                         {shortened(full), Spelling::Mnemonic}}) {
      const Tcgen05Reading reading = read_form(words_of(text), spelling);
      ASSERT_TRUE(reading.form) << text << ": " << reason_of(reading.problem);
      ASSERT_TRUE(is_legal(reading.sync) && is_legal(reading.order)) << text;
      ASSERT_TRUE(*reading.form == as_written(form)) << text;
    }
  }
}

// ---- Wrong statements ---------------------------------------------------------------------------

bool is_right(const Words& words, bool is_wgmma) {
  if (is_wgmma) {
    wgmma::Form form{};
    return is_right(read_wgmma(form, words, Spelling::Statement));
  }
  const Tcgen05Reading reading = read_form(words, Spelling::Statement);
  return reading.form && is_legal(reading.sync) && is_legal(reading.order);
}

std::string text_of(const Words& words, bool is_wgmma) {
  if (is_wgmma) {
    wgmma::Form form{};
    read_wgmma(form, words, Spelling::Statement);
    return wgmma::opcode(form).chars;
  }
  return full_opcode(*read_form(words, Spelling::Statement).form);
}

std::vector<std::pair<std::string, bool>> some_opcodes() {
  std::vector<std::pair<std::string, bool>> all;
  int i = 0;
  for (const wgmma::Form& form : wgmma_forms())
    if (i++ % 37 == 0) all.push_back({wgmma::opcode(form).chars, true});
  for (const Tcgen05Form& form : tcgen05_forms())
    if (i++ % 11 == 0) all.push_back({full_opcode(form), false});
  return all;
}

// An opcode that lacks a word is another right opcode or none: never the same one.
TEST(OpcodeReader, EveryWordCounts) {
  for (const auto& [opcode, is_wgmma] : some_opcodes()) {
    const Words words = words_of(opcode);
    for (std::size_t i = 1; i < words.size(); ++i) {
      Words fewer = words;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!is_right(fewer, is_wgmma)) continue;
      EXPECT_NE(text_of(fewer, is_wgmma), opcode) << "without " << words[i];
    }
  }
}

TEST(OpcodeReader, EveryWordIsGivenOnce) {
  for (const auto& [opcode, is_wgmma] : some_opcodes()) {
    const Words words = words_of(opcode);
    for (std::size_t i = 1; i < words.size(); ++i) {
      Words twice = words;
      twice.push_back(words[i]);
      EXPECT_FALSE(is_right(twice, is_wgmma)) << opcode << " and " << words[i];
    }
  }
}

TEST(OpcodeReader, AnUnknownWordIsNamed) {
  for (const auto& [opcode, is_wgmma] : some_opcodes()) {
    Words words = words_of(opcode);
    words.push_back("x3");
    EXPECT_FALSE(is_right(words, is_wgmma)) << opcode;
  }
}

// Case matters in PTX and not in mnemonics.
TEST(OpcodeReader, MnemonicsHaveNoCase) {
  const Words upper = words_of("tcgen05.LD.32X32B.X4");
  EXPECT_TRUE(read_form(upper, Spelling::Mnemonic).form.has_value());
  EXPECT_FALSE(read_form(upper, Spelling::Statement).form.has_value());
  wgmma::Form form{};
  EXPECT_TRUE(
      is_right(read_wgmma(form, words_of("wgmma.M64N24K16.F32.BF16.BF16"), Spelling::Mnemonic)));
  EXPECT_EQ(form.n, 24);
}

// A word that the rest of an opcode implies: left out as a whole, or written as a whole.
TEST(OpcodeReader, ImpliedWordsAreLeftOutAllOrNone) {
  const auto read = [](const std::string& tail, Spelling spelling) {
    wgmma::Form form{};
    const std::string opcode = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1" + tail;
    return read_wgmma(form, words_of(opcode), spelling).disagreement.fault;
  };
  EXPECT_EQ(read(".and.popc", Spelling::Mnemonic), Fault::None);
  EXPECT_EQ(read("", Spelling::Mnemonic), Fault::None);
  EXPECT_EQ(read("", Spelling::Statement), Fault::B1OperationMissing);
  for (const Spelling spelling : {Spelling::Statement, Spelling::Mnemonic}) {
    EXPECT_EQ(read(".and", spelling), Fault::B1OperationMissing);
    EXPECT_EQ(read(".popc", spelling), Fault::B1OperationMissing);
  }
}

// ---- Groups -------------------------------------------------------------------------------------

TEST(OpcodeReader, ReadsTheInstructionsThatOrderGroups) {
  for (int i = 0; i < wgmma::group_step_count; ++i) {
    auto step = static_cast<wgmma::GroupStep>(i);
    const auto opcode = wgmma::opcode(step);  // whose characters the words are
    const Words words = words_of(opcode.chars);
    EXPECT_EQ(words[0], name(step));
    EXPECT_TRUE(is_right(read_words(step, std::span(words).subspan(1), Spelling::Statement,
                                    Fault::QualifierMissing)));
  }
}

}  // namespace
}  // namespace tcq::oracle
