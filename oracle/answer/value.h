// What a program reads of an answer, as one value: numbers, sentences, lists, and members in their order.
//
// Verbs make Values; json_text() renders them, once. Example: json_text(Value::Members{{"thread", 6},
// {"text", "a\"b"}}) is {"thread":6,"text":"a\"b"}. Tables are values of their own (table.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tcq::oracle {

class Value {
 public:
  struct Member;
  using List = std::vector<Value>;
  using Members = std::vector<Member>;
  using Any = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                           List, Members>;

  // Where a Member is incomplete nothing may destroy one: bodies are below it.
  Value();  // null
  Value(std::same_as<bool> auto yes);
  Value(std::signed_integral auto number);
  Value(std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>);
  Value(std::same_as<double> auto number);  // 9 digits; null unless finite
  Value(std::string text);
  Value(std::string_view text);
  Value(const char* text);
  Value(List list);
  Value(Members members);

  const Any& any() const { return any_; }

 private:
  Any any_;
};

struct Value::Member {
  std::string key;  // of printable ASCII without quotes and backslashes
  Value value;
};

// Here a Member is complete, which what destroys a vector of them asks for.
inline Value::Value() = default;
Value::Value(std::same_as<bool> auto yes) : any_(yes) {}
Value::Value(std::signed_integral auto number) : any_(std::in_place_type<std::int64_t>, number) {}
Value::Value(std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>)
    : any_(std::in_place_type<std::uint64_t>, number) {}
Value::Value(std::same_as<double> auto number) : any_(number) {}
inline Value::Value(std::string text) : any_(std::move(text)) {}
inline Value::Value(std::string_view text) : any_(std::string(text)) {}
inline Value::Value(const char* text) : any_(std::string(text)) {}
inline Value::Value(List list) : any_(std::move(list)) {}
inline Value::Value(Members members) : any_(std::move(members)) {}

// A Value of each item.
template <class Items, class Make>
Value::List list_of(const Items& items, Make&& make) {
  Value::List list;
  list.reserve(items.size());
  for (const auto& item : items) list.push_back(make(item));
  return list;
}
template <class Items>
Value::List list_of(const Items& items) {
  return Value::List(items.begin(), items.end());
}

// A number if `text` is a plain decimal integer without leading zeros, else a sentence.
Value read_value(std::string_view text);

// The key for a heading in words: "evidence, registers" -> evidence_registers.
std::string key_of(std::string_view heading);

// In printable ASCII; bytes that are not UTF-8 are replaced.
std::string json_text(const Value& value);
void append_json(std::string& text, const Value& value);

// append_json() of read_value(cell), for tables of many cells.
void append_read(std::string& text, std::string_view cell);

}  // namespace tcq::oracle
