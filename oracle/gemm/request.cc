// command_line.h reads options; what they may say is decided here, as in every other verb.
#include "oracle/gemm/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/command_line.h"

namespace tcq::oracle::gemm {
namespace {

struct Texts {
  std::string generate;
  std::string seed = "1";
  std::string type;
  std::string type_b;
  std::string out_type;
  std::string scaling;
  std::vector<std::string> epilogue;
  std::string shard = "0/1";
  std::string threads = "0";
};

constexpr std::array<Type, 11> operand_types = {Type::f16,  Type::bf16, Type::tf32, Type::e4m3,
                                                Type::e5m2, Type::s8,   Type::u8,   Type::e2m3,
                                                Type::e3m2, Type::e2m1, Type::b1};
constexpr std::array<Type, 4> out_types = {Type::f16, Type::bf16, Type::f32, Type::s32};

Type type_of(std::string_view what, std::string_view word, std::span<const Type> types) {
  std::vector<std::string_view> names;
  for (const Type type : types) {
    if (same_word(word, name(type))) return type;
    names.emplace_back(name(type));
  }
  throw_unknown(what, word, names);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::int64_t size_of(std::string_view word, std::string_view what) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const std::uint64_t size = parse_number(word, what);
  if (size > most)
    throw UsageError(fmt::format("{} = {}: expected at most 2^40", what, quoted(word)));
  return static_cast<std::int64_t>(size);
}

Sizes sizes_of(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() != 3 && parts.size() != 4)
    throw UsageError(fmt::format(
        "--generate {}: expected M,N,K, for example 256,128,512, or BATCH,M,N,K", quoted(text)));
  const std::size_t m = parts.size() - 3;
  Sizes sizes{size_of(parts[m], "M"), size_of(parts[m + 1], "N"), size_of(parts[m + 2], "K")};
  if (m > 0) sizes.batch = size_of(parts[0], "BATCH");
  return sizes;
}

Shard shard_of(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() != 2)
    throw UsageError(fmt::format("--shard {}: expected i/n, for example 3/16", quoted(text)));
  const Shard shard{size_of(parts[0], "i of --shard"), size_of(parts[1], "n of --shard")};
  if (shard.count == 0 || shard.index >= shard.count)
    throw UsageError(fmt::format("--shard {}: i must be in [0, n)", quoted(text)));
  return shard;
}

float number_of(std::string_view key, std::string_view word) {
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    throw UsageError(fmt::format("{}={}: expected a finite f32", key, quoted(word)));
  return value;
}

Activation activation_of(std::string_view word) {
  std::vector<std::string_view> names;
  for (int i = 0; i < activation_count; ++i) {
    const auto activation = static_cast<Activation>(i);
    names.emplace_back(name(activation));
    if (same_word(word, names.back())) return activation;
  }
  throw_unknown("activation", word, names);
}

EpilogueWords epilogue_of(const std::vector<std::string>& texts, bool has_c) {
  std::vector<std::string_view> words;
  for (const std::string& text : texts)
    for (const std::string_view word : split(text, ',')) words.push_back(word);
  const Keys keys(words, {}, {"alpha", "beta", "activation"});
  EpilogueWords epilogue;
  epilogue.alpha = number_of("alpha", keys.text("alpha", "1"));
  epilogue.beta = number_of("beta", keys.text("beta", has_c ? "1" : "0"));
  epilogue.activation = activation_of(keys.text("activation", "none"));
  if (epilogue.beta != 0 && !has_c)
    throw UsageError("beta is not 0 and there is no C: expected --c C.npy");
  if (is_gated(epilogue.activation) && has_c)
    throw UsageError(fmt::format(
        "activation={} makes a column of D of two of the product, and takes no C: expected no --c",
        name(epilogue.activation)));
  return epilogue;
}

// --- options ---------------------------------------------------------------------------------------

void add_options(OptionReader& reader, Request& request, Texts& texts) {
  reader.word("--list", request.list);
  reader.word("--generate", texts.generate);
  reader.word("--seed", texts.seed);
  reader.word("--mixture", request.mixture);
  reader.word("--save-a", request.save_a);
  reader.word("--save-b", request.save_b);
  reader.word("--save-scale-a", request.save_scale_a);
  reader.word("--save-scale-b", request.save_scale_b);
  reader.flag("--transpose-a", request.transpose_a);
  reader.flag("--transpose-b", request.transpose_b);
  reader.flag("--packed", request.packed);
  reader.word("--type", texts.type);
  reader.word("--type-b", texts.type_b);
  reader.word("--out-type", texts.out_type);
  reader.word("--c", request.c);
  reader.word("--bias", request.bias);
  reader.word("--scaling", texts.scaling);
  reader.word("--scale-a", request.scale_a);
  reader.word("--scale-b", request.scale_b);
  reader.each("--epilogue", texts.epilogue);
  reader.each("--order", request.orders);
  reader.each("--out", request.outs);
  reader.word("--compare", request.compare);
  reader.flag("--errors", request.errors);
  reader.word("--svg", request.svg);
  reader.word("--shard", texts.shard);
  reader.word("--threads", texts.threads);
  reader.flag("--json", request.json);
  reader.rest("operands", request.operands);
}

void refuse_empty_operands(const Request& request) {
  for (const std::string& operand : request.operands)
    if (operand.empty()) throw UsageError("the name of an operand is empty: expected A.npy B.npy");
}

// --- what goes together ------------------------------------------------------------------------------

void check_operands(const Request& request) {
  if (request.generated) {
    if (!request.operands.empty())
      throw UsageError(fmt::format("--generate makes both operands: expected no {}",
                                   oracle::quoted(request.operands[0])));
    if (request.transpose_a || request.transpose_b)
      throw UsageError("--transpose-a and --transpose-b say how files lie: expected no --generate");
    if (request.packed) throw UsageError("--packed says how files lie: expected no --generate");
    return;
  }
  if (request.operands.size() != 2)
    throw UsageError(fmt::format("{} operand{}: expected A.npy B.npy, or --generate M,N,K",
                                 request.operands.size(), request.operands.size() == 1 ? "" : "s"));
  if (!request.save_a.empty() || !request.save_b.empty())
    throw UsageError("--save-a and --save-b write generated operands: expected --generate M,N,K");
  if (!request.svg.empty())
    throw UsageError("--svg draws distances from float64 by K: expected --generate M,N,K");
}

void check_outs(const Request& request) {
  if (!request.outs.empty() && request.outs.size() != request.orders.size())
    throw UsageError(fmt::format("{} --out for {} --order: expected one for each, in their order",
                                 request.outs.size(), request.orders.size()));
  std::vector<std::string> paths = request.outs;
  for (const std::string* path : {&request.save_a, &request.save_b, &request.save_scale_a,
                                  &request.save_scale_b, &request.svg})
    if (!path->empty()) paths.push_back(*path);
  std::ranges::sort(paths);
  if (const auto twice = std::ranges::adjacent_find(paths); twice != paths.end())
    throw UsageError(
        fmt::format("{} is to be written twice: expected another name", shown_path(*twice)));
}

void read_types(Request& request, const Texts& texts) {
  if (texts.type.empty())
    throw UsageError("--type is missing: expected the type of A and B, for example --type bf16");
  request.a = type_of("--type", texts.type, operand_types);
  request.b = texts.type_b.empty() ? request.a : type_of("--type-b", texts.type_b, operand_types);
  for (const Type type : {request.a, request.b})
    if (type == Type::b1)
      throw UnmodelledError(
          "GEMMs of b1: expected another type; tcq mma sums single outputs of it");
  if (is_float(request.a) != is_float(request.b))
    throw UsageError(
        fmt::format("no instruction multiplies {} by {}", name(request.a), name(request.b)));
  if (request.packed && request.a != Type::e2m1 && request.b != Type::e2m1)
    throw UsageError(fmt::format("--packed is for e2m1, and A is {} and B is {}", name(request.a),
                                 name(request.b)));
  request.has_out_type = !texts.out_type.empty();
  if (request.has_out_type) request.out_type = type_of("--out-type", texts.out_type, out_types);
}

Scaling scaling_of(std::string_view word) {
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < scaling_words.size(); ++i) {
    names.push_back(scaling_words[i].option);
    if (same_word(word, names.back())) return static_cast<Scaling>(i);
  }
  throw_unknown("--scaling", word, names);
}

// What a rounding error is relative to, nobody has said of a product of two outputs.
void check_errors(const Request& request) {
  if (is_gated(request.epilogue.activation) && (request.errors || !request.svg.empty()))
    throw UnmodelledError(
        fmt::format("distances from float64 of activation={}: expected another activation with "
                    "--errors and --svg",
                    name(request.epilogue.activation)));
}

// Factors of a drawn product may be drawn as well; what was read has no need to be written.
void check_factor_files(const Request& request, bool has_scaling) {
  const bool has_files = !request.scale_a.empty() && !request.scale_b.empty();
  const bool has_neither = request.scale_a.empty() && request.scale_b.empty();
  const bool drawn = request.draws_factors() && has_neither;
  if (!drawn && (!request.save_scale_a.empty() || !request.save_scale_b.empty()))
    throw UsageError(
        "--save-scale-a and --save-scale-b write drawn factors: expected --generate M,N,K and "
        "--scaling ue8m0_block32, ue8m0_block16 or ue4m3_block16");
  if (!has_scaling && has_neither) return;
  if (!has_scaling || (!has_files && !drawn))
    throw UsageError("--scaling NAME, --scale-a FILE and --scale-b FILE: expected all three");
}

void read_scaling(Request& request, const Texts& texts) {
  if (!texts.scaling.empty()) request.scaling = scaling_of(texts.scaling);
  check_factor_files(request, !texts.scaling.empty());
  if (scales_blocks(request.scaling) && !is_float(request.a))
    throw UsageError(
        fmt::format("--scaling {}: its factors meet chains that are promoted, and those of {} "
                    "are not: expected tensor or row_column",
                    name(request.scaling), name(request.a)));
}

void read_rest(Request& request, const Texts& texts) {
  request.generated = !texts.generate.empty();
  if (request.generated) request.sizes = sizes_of(texts.generate);
  request.seed = parse_number(texts.seed, "--seed");
  check_operands(request);
  read_types(request, texts);
  read_scaling(request, texts);
  request.epilogue = epilogue_of(texts.epilogue, !request.c.empty());
  check_errors(request);
  if (request.orders.empty())
    throw UsageError(
        "--order is missing: expected how K is summed, for example --order chain (tcq help gemm)");
  check_outs(request);
}

void read_list(const Request& request, const OptionReader& reader) {
  for (const std::string& name : reader.given())
    if (name != "--list" && name != "--shard" && name != "--threads" && name != "--json")
      throw UsageError(fmt::format("{} beside --list {}: expected it in the list's lines", name,
                                   shown_path(request.list)));
}

Request parsed(std::vector<std::string> words, bool in_list) {
  Request request;
  Texts texts;
  OptionReader reader;
  add_options(reader, request, texts);
  reader.read(std::move(words));
  refuse_empty_operands(request);
  if (in_list)
    for (const char* name : {"--list", "--shard", "--threads", "--json"})
      if (reader.has(name))
        throw UsageError(fmt::format("{} in a line of a list: expected it beside --list", name));
  request.shard = shard_of(texts.shard);
  constexpr std::int64_t most_threads = 4096;
  request.threads = static_cast<int>(std::min(size_of(texts.threads, "--threads"), most_threads));
  if (request.list.empty())
    read_rest(request, texts);
  else
    read_list(request, reader);
  return request;
}

}  // namespace

Request parse_request(std::span<const std::string> words) {
  return parsed({words.begin(), words.end()}, false);
}

Request parse_list_line(const std::string& line, const Request& whole) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  Request request = parsed(std::move(words), true);
  request.threads = whole.threads;
  request.json = whole.json;
  return request;
}

}  // namespace tcq::oracle::gemm
