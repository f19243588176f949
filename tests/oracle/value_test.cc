// Values as JSON: a parser that knows nothing of them reads back what went in, whatever the bytes.
#include "oracle/answer/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace tcq::oracle {
namespace {

using Json = nlohmann::ordered_json;

TEST(Value, IsReadBackWithItsMembersInOrder) {
  const Value value =
      Value::Members{{"none", {}},
                     {"yes", true},
                     {"least", std::numeric_limits<std::int64_t>::min()},
                     {"most", std::numeric_limits<std::uint64_t>::max()},
                     {"list", Value::List{1, "two", Value::List{}, Value::Members{}}},
                     {"a", list_of(std::vector<std::string>{"x", "y"})}};
  EXPECT_EQ(json_text(value),
            "{\"none\":null,\"yes\":true,\"least\":-9223372036854775808,"
            "\"most\":18446744073709551615,\"list\":[1,\"two\",[],{}],\"a\":[\"x\",\"y\"]}");
  EXPECT_EQ(Json::parse(json_text(value)).dump(), json_text(value));
}

TEST(Value, TextsOfAnyBytesArePrintableAndReadBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto size = random() % 12; size > 0; --size)
      text += static_cast<char>(random() % (i % 2 == 0 ? 128 : 256));
    const std::string json = json_text(text);
    for (const char c : json) ASSERT_TRUE(c >= ' ' && c <= '~') << json;
    const std::string read = Json::parse(json).get<std::string>();
    ASSERT_TRUE(i % 2 != 0 || read == text) << json;
  }
  EXPECT_EQ(json_text("say \"a\\b\"\n"), "\"say \\\"a\\\\b\\\"\\n\"");
  EXPECT_EQ(json_text("\xc3\xa9\xff"), "\"\\u00e9\\ufffd\"");
}

TEST(Value, OnlyPlainDecimalsAreReadAsNumbers) {
  for (const char* number : {"0", "7", "-12", "123456789012345"})
    EXPECT_EQ(json_text(read_value(number)), number);
  for (const char* word : {"", "-", "007", "-01", "1.5", "0x10", "+3", "1234567890123456", "7 "})
    EXPECT_EQ(json_text(read_value(word)), '"' + std::string(word) + '"');
  for (const char* cell : {"0", "-12", "007", "say \"a\""}) {
    std::string text;
    append_read(text, cell);
    EXPECT_EQ(text, json_text(read_value(cell)));
  }
  EXPECT_EQ(key_of("evidence, registers"), "evidence_registers");
}

}  // namespace
}  // namespace tcq::oracle
