// A JSON text as plain values, for files that somebody else may have written.
//
// Values are kept to the depth that a file of choices has, {"choices": [{"m": 1}]}; what is deeper
// is read past, so that a text is told from JSON whatever it holds. Unlike those of a JSON library's
// tree, these destructors allocate nothing: where memory has run out, one that does ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tcq::gemm {

struct JsonValue {
  enum class Kind : std::uint8_t { Null, Boolean, Unsigned, OtherNumber, String, Array, Object };

  Kind kind = Kind::Null;
  bool boolean = false;
  std::uint64_t number = 0;
  std::string text = {};
  std::vector<std::string> keys = {};  // of an object's items, as often as they stand there
  std::vector<JsonValue> items = {};

  // The first item of this key; null if there is none, or this is no object.
  const JsonValue* find(const std::string& key) const;
};

inline constexpr std::size_t json_depth = 4;

// False: the text is not JSON. Throws std::bad_alloc.
bool parse_json(const std::string& text, JsonValue& value);

// With quotes. Throws std::bad_alloc; another std::exception if it is not UTF-8.
std::string json_string(const std::string& text);

}  // namespace tcq::gemm
