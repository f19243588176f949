// `tcq explain`: every Fault has a cause, a fix and an example of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "oracle/explanations.h"
#include "tests/ask.h"

namespace tcq::oracle {
namespace {

TEST(Explain, EveryFaultHasItsOwnCauseFixAndExample) {
  std::set<std::string_view> causes;
  std::set<std::string_view> fixes;
  for (int i = 1; i < fault_count; ++i) {
    const auto fault = static_cast<Fault>(i);
    const Explanation& e = explanation(fault);
    ASSERT_EQ(e.fault, fault) << info(fault).name << " has no explanation";
    EXPECT_GT(std::string_view(e.cause).size(), 15u) << info(fault).name;
    EXPECT_GT(std::string_view(e.fix).size(), 5u) << info(fault).name;
    EXPECT_NE(std::string_view(e.wrong), e.right) << info(fault).name;
    EXPECT_TRUE(causes.insert(e.cause).second) << info(fault).name << " shares its cause";
    EXPECT_TRUE(fixes.insert(e.fix).second) << info(fault).name << " shares its fix";
  }
  EXPECT_EQ(form_explanations().size() + machine_explanations().size(),
            static_cast<std::size_t>(fault_count - 1));
}

TEST(Explain, OneFaultIsAPageOfLabelledLines) {
  const Answer answer = ask("explain proxyfencemissing");
  EXPECT_EQ(answer.status, Status::Yes);
  EXPECT_TRUE(answer.text.starts_with("ProxyFenceMissing  undefined\nwhat: ")) << answer.text;
  for (const char* label :
       {"\ncause: ", "\nfix: ", "\n  wrong  ", "\n  right  ", "\nsource: PTX ISA 9.2, 8.6"})
    EXPECT_NE(answer.text.find(label), std::string::npos) << label;
}

TEST(Explain, CodesOfPtxasLeadToTheirFaults) {
  EXPECT_TRUE(ask("explain C7519").text.starts_with("WgmmaFenceMissing"));
  EXPECT_TRUE(ask("explain c7514").text.starts_with("AccumulatorInFlight"));
  EXPECT_EQ(ask("explain C7599").status, Status::Usage);
}

TEST(Explain, WithoutAWordItListsAll) {
  const std::string text = ask("explain").text;
  EXPECT_EQ(static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1, fault_count - 1);
  EXPECT_TRUE(ask("explain", styled(Style::Csv)).text.starts_with("fault,kind,sentence\n"));
}

TEST(Explain, UnknownNamesGetTheNearest) {
  const Answer answer = ask("explain ProxyFenceMising");
  EXPECT_EQ(answer.status, Status::Usage);
  EXPECT_NE(answer.complaint.find("did you mean 'ProxyFenceMissing'"), std::string::npos);
}

}  // namespace
}  // namespace tcq::oracle
