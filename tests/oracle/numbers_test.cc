// Numbers and names of words, as C++ writes them.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

TEST(Numbers, MayBeWrittenAsInCpp) {
  const std::string plain = text_of("decode wgmma.desc 0x4000004000010000");
  for (const char* word : {"0x4000004000010000ULL", "0X4000_0040_0001_0000", "4611686293305360384",
                           "0x4000'0040'0001'0000ull", "4611686293305360384ULL"}) {
    const Answer reply = ask(std::string("decode wgmma.desc ") + word);
    EXPECT_EQ(reply.text, plain) << word;
    EXPECT_EQ(reply.complaint.find("decimal"), std::string::npos) << reply.complaint;
  }
  EXPECT_EQ(text_of("decode cute::GmmaDescriptor 0x4000004000010000"), plain);
  for (const char* word : {"0x", "ULL", "0x4000_", "_1", "0xu", "1 2"})
    EXPECT_EQ(ask(std::string("decode wgmma.desc ") + word).status, Status::Usage) << word;
}

}  // namespace
}  // namespace tcq::oracle
