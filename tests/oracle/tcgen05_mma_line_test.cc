// The data lines of `tcq mma` for tcgen05: worked examples as text, the evidence that goes with an
// answer, and sentences for lines that cannot be read.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/sum/tcgen05_evidence.h"
#include "oracle/sum/tcgen05_mma.h"
#include "tests/support/tcgen05_kinds.h"

namespace tcq::oracle {
namespace {

using tcgen05::DotForm;
using tcgen05::Kind;
using tcgen05::packed_form;
using tcgen05::plain_form;
using tcgen05::ScaleType;
using tcgen05::ScaleVec;

// "38" and three "00" are "38,00,00,00".
std::string row(std::vector<std::string> first, const std::string& rest, std::size_t count) {
  first.resize(count, rest);
  std::string text;
  for (const std::string& element : first) text += (text.empty() ? "" : ",") + element;
  return text;
}

std::string answer_of(const DotForm& form, const std::string& line, Style style = Style::Text) {
  return tcgen05_mma_line(form, line, {style}).text;
}

const DotForm mxf8 = plain_form(Kind::mxf8f6f4, Type::f32, Type::e4m3, Type::e4m3);
const DotForm nvf4 = packed_form(Kind::mxf4nvf4, ScaleVec::X4, ScaleType::ue4m3);

TEST(Tcgen05MmaLine, AnswersTheWorkedExamplesOfEveryWidth) {
  const DotForm f16 = plain_form(Kind::f16, Type::f32, Type::f16, Type::f16);
  EXPECT_EQ(answer_of(f16, row({"f000", "b800", "b400", "b000"}, "0000", 16) + " " +
                               row({"6400", "3c00", "3c00", "3c00"}, "0000", 16) + " 4b000000"),
            "bf400000");
  const std::string one = row({"38"}, "00", 32);
  EXPECT_EQ(answer_of(mxf8, one + " " + one + " 00000000 7f 80"), "40000000");
  const std::string fp4 = row({"2"}, "0", 64);
  EXPECT_EQ(answer_of(nvf4, fp4 + " " + fp4 + " 00000000 38,38,38,38 3c,00,00,00"), "3fc00000");
  const DotForm fp6 = plain_form(Kind::f8f6f4, Type::f16, Type::e3m2, Type::e2m3);
  EXPECT_EQ(answer_of(fp6, row({"3f"}, "00", 32) + "\t" + row({"3f"}, "00", 32) + " 0000"),
            "5a90");  // -28 * -7.5 = 210
  const DotForm i8 = plain_form(Kind::i8, Type::s32, Type::s8, Type::u8);
  EXPECT_EQ(answer_of(i8, row({}, "ff", 32) + " " + row({}, "ff", 32) + " 00000000"), "ffffe020");
}

TEST(Tcgen05MmaLine, JsonCarriesTheEvidence) {
  const std::string one = row({"38"}, "00", 32);
  const std::string line = one + " " + one + " 00000000 7f 7f";
  EXPECT_EQ(answer_of(mxf8, line, Style::Json).substr(0, 40),
            R"({"d":"3f800000","evidence":"published",")");
  DotForm sparse = mxf8;
  sparse.opcode.sparse = true;
  const std::string text = answer_of(sparse, line, Style::Json);
  EXPECT_NE(text.find(R"("evidence":"inferred")"), std::string::npos) << text;
  EXPECT_NE(text.find("stored products"), std::string::npos) << text;
}

TEST(Tcgen05MmaLine, EvidenceIsOneLinePerReason) {
  EXPECT_EQ(tcgen05_mma_evidence(mxf8).find("evidence: published: the authors of MMA-Sim"), 0u);
  DotForm form = plain_form(Kind::f8f6f4, Type::f32, Type::e2m1, Type::e4m3);
  form.opcode.ws = true;
  EXPECT_EQ(tcgen05_mma_evidence(form),
            std::string("evidence: inferred: ") + sentence(tcgen05::Reason::NarrowOperands) +
                "\nevidence: inferred: " + sentence(tcgen05::Reason::WeightStationary));
}

void expect_usage(const DotForm& form, const std::string& line, const std::string& part) {
  try {
    tcgen05_mma_line(form, line, {});
    ADD_FAILURE() << "answered: " << line;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Tcgen05MmaLine, UnreadableLinesAreRefusedWithASentence) {
  const std::string one = row({"38"}, "00", 32);
  expect_usage(mxf8, one + " " + one + " 00000000", "3 words: expected 'a b c sfa sfb'");
  expect_usage(mxf8, one + " " + one + " 00000000 7f 7f 7f", "more than 5 words");
  expect_usage(mxf8, one + " " + one + " 00000000 7f,7f 7f", "sfa has 2 elements: expected 1");
  expect_usage(mxf8, one + " " + one + " 0000 7f 7f", "c");
  expect_usage(nvf4, one + " " + one + " 00000000 38 38", "element 0 of a");
  const DotForm fp6 = plain_form(Kind::f8f6f4, Type::f32, Type::e3m2, Type::e2m3);
  expect_usage(fp6, row({"40"}, "00", 32) + " " + one + " 00000000", "does not fit in the 6 bits");
}

TEST(Tcgen05MmaLine, K96IsUnmodelled) {
  DotForm form = nvf4;
  form.idesc.k96 = true;
  EXPECT_THROW(tcgen05_mma_line(form, "", {}), FaultError);
  EXPECT_EQ(tcgen05_mma_evidence(form).rfind("evidence: unmodelled: nobody") != std::string::npos,
            true);
}

}  // namespace
}  // namespace tcq::oracle
