// What --json prints has the shape that oracle/answer/schema.json writes down: one set of keys for each
// verb, on both architectures. Asked are the golden questions; the schema's language is JSON Schema
// 2020-12, of which misfit() knows the keywords that the file uses and refuses any other.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/isa/fault/fault.h"
#include "tests/cli/golden.h"

namespace tcq::tests {
namespace {

using nlohmann::json;

const json& schema() {
  static const json all = json::parse(std::ifstream(source_file("oracle/answer/schema.json")));
  return all;
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  throw std::runtime_error("schema.json: unknown type " + type);
}

std::string misfit(const json& rule, const json& value);

std::string misfit_of_members(const json& rule, const json& value) {
  for (const json& key : rule.value("required", json::array()))
    if (!value.contains(key.get<std::string>())) return "no " + key.get<std::string>();
  const json properties = rule.value("properties", json::object());
  for (const auto& [key, member] : value.items()) {
    const bool known = properties.contains(key);
    const json other = rule.value("additionalProperties", json(true));
    if (!known && other == json(false)) return "a key " + key;
    if (!known && other == json(true)) continue;
    if (const std::string why = misfit(known ? properties[key] : other, member); !why.empty())
      return key + ": " + why;
  }
  return "";
}

// Why the value does not fit, or nothing.
std::string misfit(const json& rule, const json& value) {
  static const std::set<std::string> known = {
      "$ref",  "type",        "properties", "additionalProperties", "items", "required",
      "anyOf", "description", "enum"};
  for (const auto& [keyword, unused] : rule.items())
    if (!known.contains(keyword)) throw std::runtime_error("schema.json: keyword " + keyword);
  if (rule.contains("$ref"))
    return misfit(schema().at(json::json_pointer(rule["$ref"].get<std::string>().substr(1))),
                  value);
  if (rule.contains("anyOf")) {
    std::string all;
    for (const json& one : rule["anyOf"]) {
      const std::string why = misfit(one, value);
      if (why.empty()) return "";
      all += (all.empty() ? "" : "; or ") + why;
    }
    return all;
  }
  if (rule.contains("enum")) {
    for (const json& one : rule["enum"])
      if (one == value) return "";
    return value.dump() + " is none of " + rule["enum"].dump();
  }
  if (rule.contains("type") && !has_type(value, rule["type"]))
    return value.dump().substr(0, 60) + " is no " + rule["type"].get<std::string>();
  if (value.is_object()) return misfit_of_members(rule, value);
  if (value.is_array() && rule.contains("items"))
    for (const json& item : value)
      if (const std::string why = misfit(rule["items"], item); !why.empty()) return why;
  return "";
}

// One answer, or one of each line of stdin.
std::vector<json> answers(const std::string& text) {
  if (json whole = json::parse(text, nullptr, false); !whole.is_discarded()) return {whole};
  std::vector<json> each;
  for (const std::string& line : split(text, '\n')) each.push_back(json::parse(line));
  return each;
}

bool has_style(const std::string& question) {
  return question.find("--csv") != std::string::npos ||
         question.find("--markdown") != std::string::npos ||
         question.find("--asciidoc") != std::string::npos;
}

TEST(Schema, EveryVerbAnswersBothArchitecturesWithTheKeysThatAreWrittenDown) {
  std::map<std::string, int> fitting;
  for (const Asked& asked : read_golden().questions) {
    const std::string verb = asked.question.substr(0, asked.question.find(' '));
    if (has_style(asked.question) || verb == "help") continue;
    const Finished done = asked_of_tcq(asked, true);
    if (done.out.empty()) continue;
    for (const json& answer : answers(done.out)) {
      EXPECT_EQ(misfit({{"$ref", "#/$defs/" + verb}}, answer), "") << "tcq " << asked.question;
      ++fitting[verb];
    }
  }
  for (const auto& [verb, rule] : schema()["$defs"].items()) {
    if (!rule.value("description", "").starts_with("tcq ")) continue;
    EXPECT_GE(fitting[verb], 4) << verb << ": too few golden questions";
  }
}

// Its words name files, which golden questions do not.
TEST(Schema, RunAnswersWithTheKeysThatAreWrittenDown) {
  const std::string kernel = source_file("docs/kernels/reverse.ptx");
  for (const char* threads : {"32", "64"}) {
    const json answer = json::parse(run_tcq({"run", kernel, "--grid", "1", "--block", threads,
                                             "--arg", "zeros:u32:64", "--json"})
                                        .out);
    EXPECT_EQ(misfit({{"$ref", "#/$defs/run"}}, answer), "") << threads;
    for (const json& finding : answer["findings"]) EXPECT_TRUE(finding.contains("schedule"));
  }
}

// Every kind of a Fault is a severity that a run may say.
TEST(Schema, FindingsHaveTheKindsOfFaultsAsSeverities) {
  std::set<std::string> kinds;
  for (int i = 1; i < fault_count; ++i) kinds.insert(name(info(static_cast<Fault>(i)).kind));
  std::set<std::string> severities;
  const json::json_pointer all("/$defs/run_findings/items/properties/severity/enum");
  for (const json& one : schema().at(all)) severities.insert(one);
  EXPECT_EQ(severities, kinds);
}

TEST(Schema, AnotherKeyALostOneOrAnotherTypeDoesNotFit) {
  const json answer =
      json::parse(run_tcq({"encode", "tmem.addr", "tmem_lane=32", "tmem_column=16", "--json"}).out);
  const json rule = {{"$ref", "#/$defs/encode"}};
  EXPECT_EQ(misfit(rule, answer), "");
  json more = answer, less = answer, other = answer;
  more["words"] = "";
  less.erase("word");
  other["word"] = 5;
  EXPECT_EQ(misfit(rule, more), "a key words");
  EXPECT_EQ(misfit(rule, less), "no word");
  EXPECT_EQ(misfit(rule, other), "word: 5 is no string");
}

}  // namespace
}  // namespace tcq::tests
