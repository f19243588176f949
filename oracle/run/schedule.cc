#include "oracle/run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/diagnosis/schedule_text.h"
#include "oracle/recording/files.h"
#include "sim/async/program.h"

namespace tcq::oracle::run {
namespace {

using machine::Execution;
using machine::Timing;
using nlohmann::json;
using tcq::run::Dim3;

constexpr std::uint64_t version = 2;  // another one if a key or a step comes to mean something else

std::string hex(std::uint64_t word) { return fmt::format("{:016x}", word); }

std::string digest(std::string_view bytes) { return hex(fnv1a64(bytes)); }

std::string dim_text(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

// Of a program that has nothing but them.
std::uint64_t memory_digest(const tcq::run::Launch& launch, const Memory& memory) {
  machine::Program bare{machine::Launch{}};
  bare.global(memory.global);
  for (const tma::TensorMap& map : launch.maps) bare.tensor(map);
  return fingerprint(bare);
}

// --- print -----------------------------------------------------------------------------------------

Value value_of(const Execution& execution) {
  return Value::Members{{"timing", name(execution.timing)}, {"steps", steps_text(execution.steps)}};
}

Value::Members members_of(const StoredSchedule& s) {
  Value::Members all = {{"version", version},
                        {"kernel", s.of.kernel},
                        {"text", s.of.text},
                        {"launch", s.of.launch},
                        {"arguments", s.of.arguments},
                        {"sample", s.sample},
                        {"cluster", s.cluster},
                        {"program", hex(s.schedule.program)},
                        {"limit", s.schedule.max_instructions},
                        {"execution", value_of(s.schedule.execution)}};
  if (s.schedule.against) all.push_back({"against", value_of(*s.schedule.against)});
  return all;
}

std::string checksum(const StoredSchedule& stored) { return digest(json_text(members_of(stored))); }

// --- parse -----------------------------------------------------------------------------------------

// The members of one object, each of which has to be taken.
class Members {
 public:
  Members(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) throw BadFile(fmt::format("{} is no object", what_));
  }
  bool has(const char* key) const { return object_.contains(key); }
  const json& any(const char* key) {
    if (!has(key)) throw BadFile(fmt::format("{} has no '{}'", what_, key));
    ++taken_;
    return object_[key];
  }
  std::string text(const char* key) {
    const json& value = any(key);
    if (!value.is_string()) refuse(key, "a string");
    return value.get<std::string>();
  }
  std::uint64_t number(const char* key) {
    const json& value = any(key);
    if (!value.is_number_unsigned()) refuse(key, "a whole number");
    return value.get<std::uint64_t>();
  }
  std::uint64_t digest(const char* key) {
    const std::string digits = text(key);
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits != hex(value)) refuse(key, "16 hex digits");
    return value;
  }
  void demand_no_other() const {
    if (taken_ != object_.size())
      throw BadFile(fmt::format("{} has keys that are not known here", what_));
  }

 private:
  [[noreturn]] void refuse(const char* key, std::string_view form) const {
    throw BadFile(fmt::format("'{}' of {} is not {}", key, what_, form));
  }

  const json& object_;
  std::string what_;
  std::size_t taken_ = 0;
};

Execution execution_of(const json& object, const char* key) {
  Members members(object, fmt::format("'{}' of the schedule", key));
  Execution execution;
  const std::string timing = members.text("timing");
  if (timing == name(Timing::Earliest))
    execution.timing = Timing::Earliest;
  else if (timing != name(Timing::Latest))
    throw BadFile(fmt::format("the timing {} of '{}' of the schedule is not earliest or latest",
                              oracle::quoted(timing), key));
  execution.steps = parse_steps(members.text("steps"));
  members.demand_no_other();
  return execution;
}

StoredSchedule stored_of(const json& object) {
  Members members(object, "the schedule");
  if (const std::uint64_t found = members.number("version"); found != version)
    throw BadFile(
        fmt::format("version {} of schedules is not known here: expected {}", found, version));
  StoredSchedule s;
  s.of = {members.text("kernel"), members.text("text"), members.text("launch"),
          members.text("arguments")};
  s.sample = members.number("sample");
  s.cluster = members.number("cluster");
  s.schedule.program = members.digest("program");
  s.schedule.max_instructions = members.number("limit");
  s.schedule.execution = execution_of(members.any("execution"), "execution");
  if (members.has("against")) s.schedule.against = execution_of(members.any("against"), "against");
  const std::string sum = members.text("checksum");
  members.demand_no_other();
  if (sum != checksum(s)) throw BadFile("the schedule was changed: its checksum is another one");
  return s;
}

// Of a whole answer the findings, and those suspicions that can be repeated.
std::vector<const json*> repeatable_in(const json& answer) {
  std::vector<const json*> all;
  if (answer["findings"].is_array())
    for (const json& finding : answer["findings"]) all.push_back(&finding);
  if (answer.contains("suspicions") && answer["suspicions"].is_array())
    for (const json& f : answer["suspicions"])
      if (f.is_object() && f.contains("schedule")) all.push_back(&f);
  return all;
}

const json& schedule_in(const json& document, std::size_t number) {
  if (!document.is_object()) throw BadFile("is no JSON object, or not a whole one");
  if (!document.contains("findings")) {
    if (number != 1) throw BadFile("is one schedule alone: there is no other number than 1");
    return document;
  }
  const std::vector<const json*> findings = repeatable_in(document);
  if (findings.empty()) throw BadFile("has no finding, and so no schedule of one");
  if (number > findings.size())
    throw BadFile(fmt::format("has {} finding{}: there is no number {}", findings.size(),
                              findings.size() == 1 ? "" : "s", number));
  const json& finding = *findings[number - 1];
  if (!finding.is_object() || !finding.contains("schedule"))
    throw BadFile(fmt::format("its finding {} has no schedule", number));
  return finding["schedule"];
}

}  // namespace

Identity identity_of(std::string_view ptx, std::string_view kernel, const tcq::run::Launch& launch,
                     const Memory& memory) {
  const std::string_view parameters(reinterpret_cast<const char*>(launch.parameters.data()),
                                    launch.parameters.size());
  return {
      std::string(kernel), digest(ptx),
      fmt::format("grid {} block {} cluster {} shared {} registers {}", dim_text(launch.grid),
                  dim_text(launch.block), launch.has_cluster ? dim_text(launch.cluster) : "none",
                  launch.dynamic_shared, launch.registers),
      digest(hex(memory_digest(launch, memory)).append(parameters))};
}

Value value_of(const StoredSchedule& stored) {
  Value::Members all = members_of(stored);
  all.push_back({"checksum", checksum(stored)});
  return all;
}

StoredSchedule parse_stored(std::string_view text, std::size_t number, const std::string& path) {
  try {
    return stored_of(schedule_in(json::parse(text, nullptr, false), number));
  } catch (const BadFile& bad) {
    throw UsageError(fmt::format("{}: {}", shown_path(path), bad.what()));
  }
}

StoredSchedule read_stored(const std::string& word) {
  const std::size_t colon = word.rfind(':');
  const std::string_view digits =
      colon == word.npos ? std::string_view() : std::string_view(word).substr(colon + 1);
  const bool has_number =
      !digits.empty() && colon > 0 && !std::filesystem::exists(word) &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::string path = has_number ? word.substr(0, colon) : word;
  const std::uint64_t number =
      has_number ? parse_number(digits, "the number behind --replay FILE:") : 1;
  if (number == 0)
    throw UsageError(fmt::format("--replay {}: findings are counted from 1", oracle::quoted(word)));
  try {
    return parse_stored(read_file(path), number, path);
  } catch (const BadFile& bad) {
    throw UsageError(bad.what());
  }
}

void demand_same(const Identity& asked, const StoredSchedule& stored) {
  const Identity& of = stored.of;
  const auto refuse = [](const std::string& why) {
    throw UsageError("--replay: the schedule is of another run: " + why);
  };
  if (asked.kernel != of.kernel)
    refuse(fmt::format("of kernel {}, not {}", oracle::quoted(of.kernel),
                       oracle::quoted(asked.kernel)));
  if (asked.text != of.text) refuse("the file of the kernel has another text");
  if (asked.launch != of.launch)
    refuse(fmt::format("its launch is {}, not {}", oracle::quoted(of.launch),
                       oracle::quoted(asked.launch)));
  if (asked.arguments != of.arguments) refuse("its arguments are others");
}

}  // namespace tcq::oracle::run
