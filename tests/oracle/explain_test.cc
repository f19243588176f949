// Laws of `explain`: every Fault has an explanation with all its parts, examples are what they
// claim (the questions and checks of this project say so), and every word gets an answer or a
// sentence. That ptxas accepts the right examples is ptxas_test.cc.
#include "oracle/explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "oracle/explain/search.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/sparse.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

std::vector<Explanation> all_explanations() {
  std::vector<Explanation> all;
  for (const ExplanationGroup& group : explanation_groups())
    all.insert(all.end(), group.explanations.begin(), group.explanations.end());
  return all;
}

std::vector<Explanation> group_named(std::string_view title) {
  for (const ExplanationGroup& group : explanation_groups())
    if (group.title == title) return group.explanations;
  ADD_FAILURE() << "no group " << title;
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// ---- Completeness -------------------------------------------------------------------------------

TEST(Explanations, EveryFaultHasOneInTheOrderOfTheCodes) {
  const std::vector<Explanation> all = all_explanations();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(fault_count - 1));
  for (int i = 1; i < fault_count; ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_EQ(info(all[static_cast<std::size_t>(i - 1)].fault).name, info(fault).name);
    EXPECT_EQ(explanation(fault).fault, fault);
  }
}

int sentences(std::string_view text) {
  int count = text.ends_with('.') ? 1 : 100;
  for (std::size_t at = text.find(". "); at != text.npos; at = text.find(". ", at + 1)) ++count;
  return count;
}

void expect_tidy_lines(std::string_view lines, const char* fault) {
  EXPECT_FALSE(lines.empty()) << fault;
  const std::vector<std::string> parts = split(std::string(lines), '\n');
  EXPECT_LE(parts.size(), 4u) << fault;
  for (const std::string& part : parts) {
    EXPECT_FALSE(part.empty() || part.front() == ' ' || part.back() == ' ') << fault;
    EXPECT_EQ(part.find('\t'), std::string::npos) << fault;
  }
}

TEST(Explanations, HaveAllPartsAndAreShort) {
  for (const Explanation& e : all_explanations()) {
    const char* fault = info(e.fault).name;
    EXPECT_GT(e.cause.size(), 40u) << fault;
    EXPECT_LE(sentences(e.cause), 3) << fault;
    EXPECT_GT(e.fix.size(), 10u) << fault;
    EXPECT_LE(sentences(e.fix), 2) << fault;
    expect_tidy_lines(e.wrong, fault);
    expect_tidy_lines(e.right, fault);
    EXPECT_NE(e.wrong, e.right) << fault;
    for (const std::string& text : {e.cause, e.fix}) {
      EXPECT_EQ(text.find("  "), text.npos) << fault;
      EXPECT_EQ(text.find(": }"), text.npos) << fault;
    }
  }
}

TEST(Explanations, NoTwoFaultsShareACauseAFixOrAnExample) {
  std::set<std::string> causes;
  std::set<std::string> fixes;
  std::set<std::pair<std::string, std::string>> examples;
  for (const Explanation& e : all_explanations()) {
    EXPECT_TRUE(causes.insert(e.cause).second) << info(e.fault).name;
    EXPECT_TRUE(fixes.insert(e.fix).second) << info(e.fault).name;
    EXPECT_TRUE(examples.insert({e.wrong, e.right}).second) << info(e.fault).name;
  }
}

TEST(Explanations, SourcesNameASectionAndThreadsANumber) {
  static const std::regex section(R"(\nsource: PTX ISA 9\.2, \d+(\.\d+)+)");
  static const std::regex elsewhere(R"(\nsource: (none: a |CUDA C\+\+ Programming Guide))");
  static const std::regex thread(R"([\w/-]+ #\d+(, #\d+)*(; [\w/-]+ #\d+(, #\d+)*)*)");
  int elsewheres = 0;
  for (const Explanation& e : all_explanations()) {
    const std::string text = text_of("explain " + std::string(info(e.fault).name));
    const bool is_section = std::regex_search(text, section);
    EXPECT_TRUE(is_section || std::regex_search(text, elsewhere)) << text;
    elsewheres += is_section ? 0 : 1;
    EXPECT_TRUE(e.seen.empty() || std::regex_match(e.seen, thread)) << e.seen;
  }
  EXPECT_LE(elsewheres, 5);  // what bounds the simulator, and the Programming Guide's limits
}

// A Fix at a place is the Fix; its braces are all understood.
TEST(Explanations, TheFixIsTheSameWithAndWithoutPlaces) {
  EXPECT_EQ(fix_at(Fault::WgmmaUncommitted, {.at = "a.cc:3", .earlier = "a.cc:2"}),
            "put wgmma.commit_group behind a.cc:2 and wgmma.wait_group before a.cc:3");
  EXPECT_EQ(explanation(Fault::WgmmaUncommitted).fix,
            "Put wgmma.commit_group behind the last wgmma of the batch and wgmma.wait_group before "
            "the first use of its registers.");
  static const std::regex place(R"(\{\w+: [^}]*\})");
  int with_places = 0;
  for (const Explanation& e : all_explanations()) {
    EXPECT_FALSE(std::regex_search(e.fix, place)) << e.fix;
    const std::string general = fix_at(e.fault, {});
    EXPECT_EQ(general.substr(1) + ".", e.fix.substr(1));
    const std::string found = fix_at(e.fault, {"at", "earlier", "hint", "missing"});
    const bool has_places = std::regex_search(e.fix_template, place);
    EXPECT_EQ(found != general, has_places) << found;
    with_places += has_places ? 1 : 0;
  }
  EXPECT_GE(with_places, 30);
}

// ---- Examples -----------------------------------------------------------------------------------

// Statements whose surplus immediates are noticed before the reason that they are surplus.
const std::set<Fault> kCountedFirst = {Fault::RegisterAIsKMajor, Fault::MnMajorNeeds16Bit,
                                       Fault::NegateNeedsFloat};

TEST(ExplainExamples, CheckRefusesTheWrongStatementsAndAcceptsTheRightOnes) {
  int statements = 0;
  for (const std::string_view title :
       {"Instruction forms of wgmma", "PTX statements of wgmma", "Instruction forms of tcgen05",
        "PTX statements of tcgen05"}) {
    for (const Explanation& e : group_named(title)) {
      if (e.language != Language::Ptx) continue;
      ++statements;
      const Fault named = kCountedFirst.contains(e.fault) ? Fault::OperandCount : e.fault;
      const std::string verdict = ask_line("check", e.wrong).text;
      EXPECT_TRUE(verdict.starts_with("illegal\t" + std::string(info(named).name) + ": "))
          << info(e.fault).name << "\n"
          << e.wrong << "\n"
          << verdict;
      EXPECT_EQ(ask_line("check", e.right).text, "legal") << e.right;
    }
  }
  EXPECT_GE(statements, 40);
}

// "tcq describe MNEMONIC keys --arch A" as a question.
Answer describe_of(std::string_view line) {
  Options options;
  std::string words(line.substr(4));
  const std::size_t at = words.find(" --arch ");
  if (at != std::string::npos) {
    options.arch = words.substr(at + 8);
    words.erase(at);
  }
  return ask(words, options);
}

TEST(ExplainExamples, DescribeRefusesTheWrongInstructionsOfTcgen05AndAcceptsTheRightOnes) {
  int questions = 0;
  for (const std::string_view title :
       {"Instruction forms of tcgen05", "Instruction descriptors of tcgen05"}) {
    for (const Explanation& e : group_named(title)) {
      if (!e.wrong.starts_with("tcq describe ")) continue;
      ++questions;
      const Answer wrong = describe_of(e.wrong);
      EXPECT_EQ(wrong.status,
                info(e.fault).kind == FaultKind::Unmodelled ? Status::Unmodelled : Status::No)
          << e.wrong;
      EXPECT_TRUE(contains(wrong.complaint, info(e.fault).sentence)) << wrong.complaint;
      const Answer right = describe_of(e.right);
      EXPECT_EQ(right.status, Status::Yes) << e.right << "\n" << right.complaint;
    }
  }
  EXPECT_GE(questions, 20);
}

TEST(ExplainExamples, EncodeRefusesTheWrongDescriptorsAndAcceptsTheRightOnes) {
  for (const Explanation& e : group_named("Matrix descriptors")) {
    ASSERT_TRUE(e.wrong.starts_with("tcq ") && e.right.starts_with("tcq ")) << e.wrong;
    const Answer wrong = ask(e.wrong.substr(4));
    EXPECT_EQ(wrong.status, Status::No) << e.wrong;
    EXPECT_TRUE(contains(wrong.complaint, info(e.fault).sentence)) << wrong.complaint;
    text_of(e.right.substr(4));
  }
}

// A wrong word is refused by encode with the sentence, or gets a lint of decode.
TEST(ExplainExamples, WordsOfTcgen05AreRefusedOrLintedAndTheRightOnesAreNot) {
  for (const Explanation& e : group_named("Words of tcgen05")) {
    ASSERT_TRUE(e.wrong.starts_with("tcq ") && e.right.starts_with("tcq ")) << e.wrong;
    const Answer wrong = ask(e.wrong.substr(4));
    if (e.wrong.starts_with("tcq encode"))
      EXPECT_TRUE(contains(wrong.complaint, info(e.fault).sentence)) << e.wrong << wrong.complaint;
    else
      EXPECT_TRUE(contains(wrong.text, "\nlint: ")) << e.wrong << "\n" << wrong.text;
    EXPECT_FALSE(contains(text_of(e.right.substr(4)), "lint: ")) << e.right;
  }
}

std::string hex_in(std::string_view text) {
  std::smatch found;
  const std::string copy(text);
  return std::regex_search(copy, found, std::regex("0x[0-9a-f]+")) ? found.str() : "";
}

TEST(ExplainExamples, DescriptorWordsSayWhatTheirCommentsSay) {
  const auto sbo_of = [](std::string_view text) {
    std::smatch found;
    const std::string fields = text_of("decode wgmma.desc " + hex_in(text));
    EXPECT_TRUE(contains(fields, "128B")) << fields;
    std::regex_search(fields, found, std::regex(R"(sbo_bytes  \d+  (\d+)\n)"));
    return "SBO " + found[1].str();
  };
  for (const Fault fault : {Fault::SharedMemoryOutOfRange, Fault::OperandScrambled})
    for (const std::string_view text : {explanation(fault).wrong, explanation(fault).right})
      EXPECT_TRUE(text.ends_with(sbo_of(text))) << text;
}

bool defined(std::string_view hex) {
  const auto word = static_cast<std::uint32_t>(std::stoul(std::string(hex), nullptr, 16));
  return wgmma::check_metadata(Type::f16, word % 16) == Fault::None;
}

TEST(ExplainExamples, MetadataNibblesAreUndefinedAndDefined) {
  const Explanation& e = explanation(Fault::UndefinedMetadata);
  EXPECT_FALSE(defined(hex_in(e.wrong)));
  EXPECT_TRUE(defined(hex_in(e.right)));
  const std::string nibbles = "4, 8, c, 9, d, e";
  EXPECT_TRUE(contains(e.fix, nibbles + " (tf32: 4, e)"));
  for (const char* nibble :
       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"})
    EXPECT_EQ(defined(nibble), contains(nibbles, nibble)) << nibble;
}

// A map that is legal, of f16, and the changes that a line of CUDA makes to it.
class MapOfExample {
 public:
  explicit MapOfExample(std::string_view line) : line_(line) {
    map_.type = tma::DataType::Float16;
    map_.rank = 3;
    const std::uint64_t dims[] = {1024, 512, 16};
    const std::uint32_t box[] = {64, 256, 1};
    for (int d = 0; d < 3; ++d) {
      map_.dims[d] = dims[d];
      map_.box[d] = box[d];
    }
    map_.stride_bytes[0] = 2048;
    map_.stride_bytes[1] = 2048 * 512;
    change_numbers();
    change_codes();
  }
  const tma::TensorMap& map() const { return map_; }

 private:
  bool number(const std::string& before, std::uint64_t& value) const {
    std::smatch found;
    if (!std::regex_search(line_, found, std::regex(before + R"((\d+))"))) return false;
    value = std::stoull(found[1].str());
    return true;
  }

  void change_numbers() {
    std::uint64_t value = 0;
    if (number("rank = ", value)) map_.rank = static_cast<int>(value);
    if (number(R"(globalAddress = a \+ )", value)) map_.address = 2 * value;
    if (number(R"(globalStrides\[0\] = )", value)) map_.stride_bytes[0] = 2 * value;
    for (int d = 0; d < 3; ++d) {
      const std::string index = R"(\[)" + std::to_string(d) + R"(\] = )";
      if (number("globalDim" + index, value)) map_.dims[d] = value;
      if (number("boxDim" + index, value)) map_.box[d] = static_cast<std::uint32_t>(value);
    }
    for (const bool lower : {true, false}) {
      const std::regex corner(std::string("pixelBox") + (lower ? "Lower" : "Upper") +
                              R"(Corner\[0\] = (-?\d+))");
      std::smatch found;
      if (!std::regex_search(line_, found, corner)) continue;
      map_.im2col.is_on = true;
      (lower ? map_.im2col.lower : map_.im2col.upper)[0] = std::stoi(found[1].str());
    }
    if (contains(line_, "elementStrides[2] = {}"))
      map_.element_strides[0] = map_.element_strides[1] = 0;
  }

  // Names that begin other names come first in the enumerations.
  void change_codes() {
    for (int i = 0; i < tma::data_type_count; ++i) {
      const auto type = static_cast<tma::DataType>(i);
      if (contains(line_, std::string("DATA_TYPE_") + name(type))) map_.type = type;
    }
    for (int i = 0; i < swizzle_count; ++i) {
      const auto swizzle = static_cast<Swizzle>(i);
      if (contains(line_, std::string("MAP_SWIZZLE_") + name(swizzle))) map_.swizzle = swizzle;
    }
    if (contains(line_, "MAP_INTERLEAVE_16B")) map_.interleave = tma::Interleave::B16;
    if (contains(line_, "OOB_FILL_NAN")) map_.fill = tma::Fill::NaN;
  }

  std::string line_;
  tma::TensorMap map_;
};

TEST(ExplainExamples, TheDriverRefusesTheWrongTensorMapsAndAcceptsTheRightOnes) {
  for (const Explanation& e : group_named("Tensor maps")) {
    EXPECT_STREQ(info(check(MapOfExample(e.wrong).map())).name, info(e.fault).name) << e.wrong;
    EXPECT_STREQ(info(check(MapOfExample(e.right).map())).name, info(Fault::None).name) << e.right;
  }
}

TEST(ExplainExamples, ReductionsExistOrNotAsTheirTypesSay) {
  const Explanation& e = explanation(Fault::ReductionType);
  const auto verdict = [](std::string_view line) {
    return info(tma::check(tma::Reduction::Add, MapOfExample(line).map().type)).name;
  };
  EXPECT_STREQ(verdict(e.wrong), info(Fault::ReductionType).name);
  EXPECT_STREQ(verdict(e.right), info(Fault::None).name);
}

// ---- Messages of ptxas --------------------------------------------------------------------------

// C7602 refuses a kernel that is right, so that no Fault is named.
TEST(ExplainPtxas, EveryCodeFromC7504ToC7520NamesItsFaultAndIsNamedByIt) {
  int code = 7504;
  for (const PtxasMessage& message : ptxas_messages()) {
    EXPECT_TRUE(message.fix.ends_with('.')) << message.code;
    if (message.code == "C7602") continue;
    EXPECT_EQ(message.code, "C" + std::to_string(code++));
    ASSERT_FALSE(message.faults.empty()) << message.code;
    const std::string answer = text_of("explain " + message.code);
    for (const Fault fault : message.faults) {
      EXPECT_TRUE(contains(answer, std::string("\nfault: ") + info(fault).name + ": ")) << answer;
      const std::string back = text_of("explain " + std::string(info(fault).name));
      EXPECT_TRUE(contains(back, "\nptxas: " + message.code + " ")) << back;
    }
  }
  EXPECT_EQ(code, 7521);
  EXPECT_EQ(ptxas_messages().back().code, "C7602");
}

// A build log as it stands: prefix, line, function.
TEST(ExplainPtxas, AMessageMayBePastedWithItsCodeOrWithout) {
  for (const PtxasMessage& message : ptxas_messages()) {
    const std::string whole = text_of("explain " + message.code);
    const std::string tail = message.says + " '_Z4gemmPfi'";
    EXPECT_EQ(text_of("explain " + message.code.substr(1)), whole);
    EXPECT_EQ(text_of("explain ptxas info : (" + message.code + ") Potential Loss: " + tail),
              whole);
    const std::string bare = text_of("explain ptxas info : Potential Performance Loss: " + tail);
    EXPECT_EQ(bare, whole) << message.code;
  }
}

// What no text has counts as well: one word of three is no answer.
TEST(Explain, WordsThatNoTextHasMakeItLessSure) {
  EXPECT_TRUE(text_of("explain deadlock").starts_with("Deadlock "));
  EXPECT_TRUE(text_of("explain deadlock zeppelin").starts_with("these have some of the words; "));
}

// A long text has any word: the short one about them comes first. And a topic before one rule.
TEST(Explain, AShortTextAboutTheWordsComesBeforeALongOneThatHasThem) {
  EXPECT_TRUE(text_of("explain wgmma.fence every iteration or once").starts_with("ask.11 "));
  EXPECT_TRUE(text_of("explain LBO with 128B swizzle").starts_with("lbo_sbo "));
  EXPECT_TRUE(text_of("explain scale factor layout 128x4").starts_with("scale_factors "));
}

// Factors may stand apart, in what is asked as in a text; 0x10 has none.
TEST(Explain, ProductsAreSplitInQuestionsAndTexts) {
  const SearchText texts[] = {{"", "a tile of 128x4 bytes", "one"},
                              {"", "a tile of 64 x 8 bytes", "two"},
                              {"", "a tile at 0x10", "three"},
                              {"", "a tile of 10 rows", "four"}};
  const auto first = [&](const char* words) {
    const std::vector<Hit> found = found_by(words, texts, 1);
    return found.empty() ? std::string() : texts[found[0].index].title;
  };
  EXPECT_EQ(first("128x4"), "one");
  EXPECT_EQ(first("128 x 4"), "one");
  EXPECT_EQ(first("64x8"), "two");
  EXPECT_EQ(first("0x10"), "three");
  EXPECT_EQ(first("10"), "four");
}

TEST(Explain, WordsFindWhatIsAboutThem) {
  const auto first = [](const std::string& words) {
    const std::string text = text_of("explain " + words);
    EXPECT_TRUE(contains(text, "\n\nothers that may be meant; ")) << words;
    return text.substr(0, text.find('\n'));
  };
  EXPECT_TRUE(first("why does it hang").starts_with("Deadlock ")) << first("why does it hang");
  EXPECT_EQ(first("hang"), first("it hangs"));
  EXPECT_EQ(first("hang"), first("stuck"));
  EXPECT_TRUE(contains(first("fenced"), "FenceMissing "));  // 'fence' with another ending
  EXPECT_TRUE(contains(text_of("explain commits"), "errata 004.14 "));  // where it is one commit
  EXPECT_TRUE(first("missing proxy fence").starts_with("ProxyFenceMissing "));
  EXPECT_TRUE(text_of("explain 14 bits").starts_with("003.14 "));
  EXPECT_FALSE(contains(text_of("explain 14 bits"), "114"));
}

TEST(Explain, WhatHasOnlySomeOfTheWordsIsNamedAndNotPrinted) {
  const std::string text = text_of("explain register spilling");
  EXPECT_TRUE(text.starts_with("these have some of the words; ")) << text;
  EXPECT_FALSE(contains(text, "\nfix: "));
  EXPECT_TRUE(contains(text_of("explain wrong results only sometimes"), "DataRace"));
}

// Words of CUTLASS, what ptxas says about targets, questions in whole sentences.
TEST(Explain, QuestionsOfUsersFindTheirAnswer) {
  const std::pair<const char*, const char*> known[] = {
      {"when is wgmma.fence needed", "WgmmaFenceMissing"},
      {"warpgroup_arrive missing", "WgmmaFenceMissing"},
      {"Instruction 'wgmma.mma_async' not supported on .target 'sm_120'", "TargetLacksWgmma"},
      {"Instruction 'tcgen05.mma' not supported on .target 'sm_120'", "TargetLacksTcgen05"},
      {"ld.shared before TMA overwrites the stage", "ProxyFenceMissingAfterRead"},
      {"is fence_view_async_shared needed before the tma store after __syncthreads", "ask.2"},
      {"mbarrier phase 0 or 1 at the start", "ask.3"},
      {"expect_tx of both CTAs with multicast", "ask.4"},
      {"errata 003.14", "003.14"}};
  for (const auto& [words, name] : known)
    EXPECT_TRUE(text_of(std::string("explain ") + words).starts_with(std::string(name) + " "))
        << words << "\n"
        << text_of(std::string("explain ") + words);
}

TEST(Explain, WordsOfAllKindsFitTheirSchema) {
  const std::string json = text_of("explain 14 bits", styled(Style::Json));
  EXPECT_TRUE(json.starts_with("[{\"key\":")) << json;
  EXPECT_TRUE(contains(text_of("explain hang", styled(Style::Json)), "\"name\":\"Deadlock\""));
}

// Not of a longer number.
TEST(ExplainPtxas, ACodeIsFoundByItsNumber) {
  EXPECT_TRUE(text_of("explain hang and 7514").starts_with("C7514 "));
  EXPECT_FALSE(text_of("explain hang and 75140").starts_with("C7514 "));
  EXPECT_FALSE(text_of("explain hang and 17514").starts_with("C7514 "));
}

TEST(ExplainPtxas, TheInjectedFenceIsTheMissingFence) {
  EXPECT_TRUE(contains(text_of("explain c7519"),
                       "what: ptxas injects warpgroup.arrive\nsays: warpgroup.arrive is injected"));
  EXPECT_TRUE(contains(text_of("explain WgmmaFenceMissing"),
                       "\nptxas: C7519 injects warpgroup.arrive: a wgmma.fence is missing"));
  EXPECT_FALSE(contains(text_of("explain ProxyFenceMissing"), "ptxas:"));
}

// ---- Words --------------------------------------------------------------------------------------

TEST(Explain, AnswersInTheOrderOfQuestions) {
  const std::string text = text_of("explain ProxyFenceMissing");
  std::size_t at = 0;
  for (const char* part : {"ProxyFenceMissing  undefined\nwhat: ", "\ncause: ", "\nfix: ",
                           "\nexample:\n  wrong   ", "\n          bar.sync 0;", "\n  right   ",
                           "\nsource: PTX ISA 9.2, 8.6; 9.7.13.4", "\nseen: DeepEP #"}) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
}

TEST(Explain, NamesHaveNoCaseAndMayBeCutShort) {
  const std::string whole = text_of("explain ProxyFenceMissing");
  EXPECT_EQ(text_of("explain PROXYFENCEMISSING"), whole);
  EXPECT_EQ(text_of("explain proxyfencemissing"), whole);
  EXPECT_EQ(text_of("explain proxyfencemissingaf"), text_of("explain ProxyFenceMissingAfterRead"));
  EXPECT_EQ(text_of("explain deadl"), text_of("explain Deadlock"));
  EXPECT_EQ(text_of("explain c7508"), text_of("explain C7508"));
}

void expect_usage(const std::string& question, std::string_view part) {
  const Answer reply = ask(question);
  EXPECT_EQ(reply.status, Status::Usage) << question;
  EXPECT_TRUE(contains(reply.complaint, part)) << question << "\n" << reply.complaint;
  EXPECT_LT(reply.complaint.size(), 600u);
}

TEST(Explain, OtherWordsGetTheNearestSpellingOrTheNamesThatBeginSo) {
  expect_usage("explain ProxyFenceMising", "did you mean 'ProxyFenceMissing'?");
  expect_usage("explain C7503", "did you mean 'C75");
  expect_usage("explain None", "unknown fault 'None'");
  expect_usage("explain Mbarrier", "expected one of MbarrierUnaligned, MbarrierCount, ");
  expect_usage("explain C751", "expected one of C7510, C7511");
  expect_usage("explain qwertzuiop asdf", "unknown fault 'qwertzuiop asdf'");
  expect_usage("explain proxyfense", "did you mean 'ProxyFenceMissing'?");
  expect_usage("explain lane0", "unknown fault 'lane0'");  // a name: no ending of 'lane'
  expect_usage("explain swizzel qwertzuiop yxcvb", "did you mean 'swizzle");
  expect_usage("errata swizzel", "did you mean 'swizzle");
  EXPECT_EQ(answer({"explain", {""}, {}}).status, Status::Usage);
  EXPECT_EQ(ask("explain", styled(Style::Csv)).status, Status::Usage);
}

TEST(Explain, WithoutAWordListsEveryNameWithKindAndSentence) {
  const std::vector<std::string> lines = split(text_of("explain"), '\n');
  EXPECT_EQ(lines.size(), all_explanations().size() + explanation_groups().size() +
                              ptxas_messages().size() + ptxas_errors().size() +
                              cuda_errors().size() + 2);
  EXPECT_EQ(lines[0], "Instruction forms of wgmma");
  for (const Explanation& e : all_explanations()) {
    const FaultInfo about = info(e.fault);
    const std::string begin = "  " + std::string(about.name) + " ";
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [&](const std::string& l) { return l.starts_with(begin); });
    ASSERT_NE(line, lines.end()) << about.name;
    EXPECT_TRUE(contains(*line, "  " + std::string(tcq::name(about.kind)) + " ")) << *line;
    EXPECT_TRUE(line->ends_with("  " + std::string(about.sentence))) << *line;
  }
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Explain, JsonHasTheSameFieldsForOneAndForAll) {
  const std::string one = text_of("explain shapek", styled(Style::Json));
  EXPECT_TRUE(one.starts_with(R"({"name":"ShapeK","kind":"illegal","group":"Instruction forms)"))
      << one;
  EXPECT_TRUE(contains(one, R"("ptxas":["ShapeIllegal"],"seen":""})")) << one;
  EXPECT_TRUE(
      contains(text_of("explain ProxyFenceMissing", styled(Style::Json)), R"("ptxas":[],)"));
  const std::string all = text_of("explain", styled(Style::Json));
  EXPECT_TRUE(all.starts_with("[{") && all.ends_with("}]"));
  EXPECT_TRUE(contains(all, one));
  const int faults = fault_count - 1;
  const int messages =
      static_cast<int>(ptxas_messages().size() + ptxas_errors().size() + cuda_errors().size());
  for (const char* field : {"name", "kind", "group", "what", "cause", "fix", "source"})
    EXPECT_EQ(occurrences(all, std::string("\"") + field + "\":"), faults + messages) << field;
  for (const char* field : {"language", "wrong", "right", "ptxas", "seen"})
    EXPECT_EQ(occurrences(all, std::string("\"") + field + "\":"), faults) << field;
  const std::string message = text_of("explain C7513", styled(Style::Json));
  EXPECT_TRUE(contains(message, R"("faults":["FragmentInFlight","WgmmaSerialized"])")) << message;
}

}  // namespace
}  // namespace tcq::oracle
