// Small JSON texts: every helper takes and returns JSON that is already text, so that this header
// needs no library. Example: json_object({{"thread", "6"}, {"text", json_string("a\"b")}}) is
// {"thread":6,"text":"a\"b"}.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tcq::oracle {

// A quoted string of printable ASCII; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

// The key for a heading in words: "evidence, registers" -> evidence_registers.
std::string json_key(std::string_view heading);

// A number if `text` is a plain decimal integer without leading zeros, else a string.
std::string json_value(std::string_view text);

std::string json_object(const std::vector<std::pair<std::string_view, std::string>>& members);
std::string json_array(const std::vector<std::string>& values);

}  // namespace tcq::oracle
