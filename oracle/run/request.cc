#include "oracle/run/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/command_line.h"

namespace tcq::oracle::run {
namespace {

using tcq::run::Dim3;

struct Texts {
  std::string grid, block, cluster, shared = "0", registers = "0", explore = "0", seed = "1",
                                    sample = "0", resident = "0", limit = "1000000000", spec;
  std::vector<std::string> outs;
};

std::uint32_t number_of(std::string_view word, std::string_view what) {
  const std::uint64_t n = parse_number(word, what);
  if (n > 0xffffffffu)
    throw UsageError(fmt::format("{} {}: expected at most 2^32 - 1", what, oracle::quoted(word)));
  return static_cast<std::uint32_t>(n);
}

// "64", "64,2" or "64,2,1".
Dim3 dim_of(std::string_view text, std::string_view what) {
  std::uint32_t at[3] = {1, 1, 1};
  std::size_t count = 0;
  for (std::string_view rest = text;; ++count) {
    const std::size_t comma = rest.find(',');
    if (count == 3)
      throw UsageError(fmt::format("{} {}: expected X[,Y[,Z]]", what, oracle::quoted(text)));
    at[count] = number_of(rest.substr(0, comma), what);
    if (at[count] == 0)
      throw UsageError(
          fmt::format("{} {}: expected sizes of at least 1", what, oracle::quoted(text)));
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  return {at[0], at[1], at[2]};
}

Output output_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw UsageError(fmt::format("--out {}: expected NAME=FILE.npy", oracle::quoted(text)));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// --- --spec ------------------------------------------------------------------------------------------

std::string text_of(const nlohmann::json& value, std::string_view key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (value.is_array()) {
    std::string text;
    for (const auto& item : value) text += (text.empty() ? "" : ",") + text_of(item, key);
    return text;
  }
  throw UsageError(fmt::format("key '{}' of the spec: expected a number or a string", key));
}

nlohmann::json read_spec(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw UsageError(fmt::format("{}: cannot be read", shown_path(path)));
  const nlohmann::json spec = nlohmann::json::parse(in, nullptr, false);
  if (!spec.is_object())
    throw UsageError(fmt::format("{}: expected one JSON object", shown_path(path)));
  return spec;
}

void apply_spec(const std::string& path, Request& request, Texts& texts) {
  const nlohmann::json spec = read_spec(path);
  for (const auto& [key, value] : spec.items()) {
    if (key == "file")
      request.file = text_of(value, key);
    else if (key == "kernel")
      request.kernel = text_of(value, key);
    else if (key == "grid")
      texts.grid = text_of(value, key);
    else if (key == "block")
      texts.block = text_of(value, key);
    else if (key == "cluster")
      texts.cluster = text_of(value, key);
    else if (key == "shared")
      texts.shared = text_of(value, key);
    else if (key == "args" && value.is_array())
      for (const auto& item : value) request.arguments.push_back(text_of(item, key));
    else if (key == "out" && value.is_object())
      for (const auto& [name, file] : value.items())
        request.outputs.push_back({name, text_of(file, key)});
    else
      throw_unknown("key of the spec", key,
                    std::vector<std::string_view>{"file", "kernel", "grid", "block", "cluster",
                                                  "shared", "args", "out"});
  }
}

void add_options(OptionReader& reader, Request& request, Texts& texts) {
  reader.first("file", request.file);
  reader.word("--spec", texts.spec);
  reader.word("--kernel", request.kernel);
  reader.word("--grid", texts.grid);
  reader.word("--block", texts.block);
  reader.word("--cluster", texts.cluster);
  reader.word("--shared", texts.shared);
  reader.word("--registers", texts.registers);
  reader.each("--arg", request.arguments);
  reader.each("--out", texts.outs);
  reader.word("--explore", texts.explore);
  reader.word("--seed", texts.seed);
  reader.word("--sample", texts.sample);
  reader.word("--resident", texts.resident);
  reader.word("--limit", texts.limit);
  reader.word("--replay", request.replay);
  reader.word("--svg", request.svg);
  reader.flag("--coverage", request.coverage);
  reader.flag("--list", request.list);
  reader.flag("--json", request.json);
}

// A schedule says itself what these choose.
void refuse_beside_replay(const OptionReader& reader) {
  if (!reader.has("--replay")) return;
  for (const char* option : {"--explore", "--seed", "--sample", "--limit", "--coverage", "--list"})
    if (reader.has(option))
      throw UsageError(fmt::format(
          "{} cannot stand beside --replay, which repeats one execution: leave it out", option));
}

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr Dim3 most_ctas = {2147483647, 65535, 65535};
constexpr Dim3 most_threads = {1024, 1024, 64};

void demand_at_most(const char* option, const Dim3& given, const Dim3& most) {
  if (given.x > most.x || given.y > most.y || given.z > most.z)
    throw UsageError(fmt::format("{} is {},{},{}: expected at most {},{},{}", option, given.x,
                                 given.y, given.z, most.x, most.y, most.z));
}

void check(const Request& request) {
  demand_at_most("--grid", request.grid, most_ctas);
  demand_whole_clusters(request.grid, request.cluster);
  if (request.block.count() > machine::max_threads)
    throw UsageError(fmt::format("--block has {} threads: expected at most {}",
                                 request.block.count(), machine::max_threads));
  demand_at_most("--block", request.block, most_threads);
}

}  // namespace

void demand_whole_clusters(const Dim3& grid, const Dim3& cluster) {
  if (cluster.count() == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0)
    throw UsageError("--grid is no multiple of --cluster in every dimension");
  if (cluster.count() > static_cast<std::uint64_t>(machine::max_cluster))
    throw UsageError(fmt::format("--cluster has {} CTAs: expected at most {}", cluster.count(),
                                 machine::max_cluster));
}

Request parse_request(std::span<const std::string> words) {
  Request request;
  Texts texts;
  OptionReader reader;
  add_options(reader, request, texts);
  reader.read({words.begin(), words.end()});
  refuse_beside_replay(reader);
  if (!texts.spec.empty()) apply_spec(texts.spec, request, texts);
  if (!request.svg.empty() && (request.list || request.coverage))
    throw UsageError("--svg draws an execution: expected it without --list and --coverage");
  if (request.file.empty()) throw UsageError("no file: expected FILE.ptx, or --spec FILE.json");
  if (!request.list && !request.coverage)
    for (const auto& [name, text] : {std::pair{"--grid", &texts.grid}, {"--block", &texts.block}})
      if (text->empty()) throw UsageError(fmt::format("{} is missing: expected X[,Y[,Z]]", name));
  if (!texts.grid.empty()) request.grid = dim_of(texts.grid, "--grid");
  if (!texts.block.empty()) request.block = dim_of(texts.block, "--block");
  request.has_cluster = !texts.cluster.empty();
  if (request.has_cluster) request.cluster = dim_of(texts.cluster, "--cluster");
  request.shared = number_of(texts.shared, "--shared");
  request.registers = number_of(texts.registers, "--registers");
  request.explore = parse_number(texts.explore, "--explore");
  request.seed = parse_number(texts.seed, "--seed");
  request.sample = parse_number(texts.sample, "--sample");
  request.resident = parse_number(texts.resident, "--resident");
  request.limit = parse_number(texts.limit, "--limit");
  for (const std::string& out : texts.outs) request.outputs.push_back(output_of(out));
  check(request);
  return request;
}

}  // namespace tcq::oracle::run
