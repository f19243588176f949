#include "cuda/gemm/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tcq::gemm {
namespace {

using Json = nlohmann::json;
using Kind = JsonValue::Kind;

// Objects and arrays that have begun and not ended, the outermost first.
class Reader final : public Json::json_sax_t {
 public:
  JsonValue& value() { return value_; }

  bool null() override { return add({}); }
  bool boolean(bool b) override { return add({.kind = Kind::Boolean, .boolean = b}); }
  bool number_integer(Json::number_integer_t) override { return add({.kind = Kind::OtherNumber}); }
  bool number_unsigned(Json::number_unsigned_t n) override {
    return add({.kind = Kind::Unsigned, .number = n});
  }
  bool number_float(Json::number_float_t, const std::string&) override {
    return add({.kind = Kind::OtherNumber});
  }
  bool string(std::string& s) override { return add({.kind = Kind::String, .text = s}); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(Kind::Object); }
  bool start_array(std::size_t) override { return begin(Kind::Array); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(std::string& k) override {
    if (too_deep_ == 0) open_.back().keys.push_back(k);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  bool add(JsonValue value) {
    if (too_deep_ > 0) return true;
    if (open_.empty())
      value_ = std::move(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }
  bool begin(Kind kind) {
    if (too_deep_ > 0 || open_.size() + 1 == json_depth)
      ++too_deep_;
    else
      open_.push_back({.kind = kind});
    return true;
  }
  // A container that is too deep stands there as null.
  bool end() {
    if (too_deep_ > 0) return --too_deep_ > 0 || add({});
    JsonValue done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }

  JsonValue value_;
  std::vector<JsonValue> open_;
  std::size_t too_deep_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(const std::string& key) const {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

bool parse_json(const std::string& text, JsonValue& value) {
  Reader reader;
  if (!Json::sax_parse(text, &reader)) return false;
  value = std::move(reader.value());
  return true;
}

std::string json_string(const std::string& text) { return Json(text).dump(); }

}  // namespace tcq::gemm
