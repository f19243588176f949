// The grammar's reader, from left to right; instructions are read by oracle/ptx. Legality of an
// instruction is sim/isa's: only what it multiplies and how wide its D is decides a sum.
#include "oracle/gemm/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/plan_text.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle::gemm {
namespace {

using tcgen05::Kind;

constexpr std::array<std::string_view, 7> parts_names = {
    "chain", "split=", "every=", "segments=", "plan:", "float64", "fma"};
constexpr std::array<std::string_view, 3> instruction_names = {"wgmma", "tcgen05", "a mnemonic"};
constexpr std::int64_t most_segments = 65536;

std::string_view taken_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

std::int64_t number(std::string_view word, std::string_view what) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  return static_cast<std::int64_t>(std::min(parse_number(word, what), most));
}

// --- instructions ----------------------------------------------------------------------------------

void refuse_types(std::string_view mnemonic, Type a, Type b, const Product& product) {
  if (a == product.a && b == product.b) return;
  throw UsageError(fmt::format("{} multiplies {} by {}, but A is {} and B is {}", quoted(mnemonic),
                               name(a), name(b), name(product.a), name(product.b)));
}

[[noreturn]] void refuse_unmodelled(std::string_view mnemonic, std::string_view what) {
  throw UnmodelledError(fmt::format("{} {}: whole GEMMs are dense and have no scale factors",
                                    quoted(mnemonic), what));
}

void read_wgmma(std::string_view mnemonic, const Product& product, Order& order) {
  const wgmma::Form form = parse_instruction(mnemonic, Keys({}, {})).form;
  if (form.sparse) refuse_unmodelled(mnemonic, "is sparse");
  refuse_types(mnemonic, form.a, form.b, product);
  order.engine = Engine::Wgmma;
  order.accumulator = form.d;
  order.saturate = form.satfinite;
}

void read_tcgen05(std::string_view mnemonic, const Product& product, Order& order) {
  const Tcgen05Instruction read = parse_tcgen05(mnemonic, Keys({}, {}));
  const auto* mma = std::get_if<tcgen05::MmaForm>(&read.form);
  if (mma == nullptr)
    throw UsageError(fmt::format("{} sums nothing: expected tcgen05.mma", quoted(mnemonic)));
  const Kind kind = mma->opcode.kind;
  if (tcgen05::is_block_scaled(kind)) refuse_unmodelled(mnemonic, "has scale factors");
  if (mma->opcode.sparse) refuse_unmodelled(mnemonic, "is sparse");
  if (!tcgen05::multiplicand_exists(kind, product.a) ||
      !tcgen05::multiplicand_exists(kind, product.b))
    throw UsageError(fmt::format("{} does not multiply {} by {}", quoted(mnemonic), name(product.a),
                                 name(product.b)));
  order.engine = Engine::Tcgen05;
  order.accumulator = read.idesc.d;
}

// An opcode that does not exist is a word that cannot be read: status 1 is for bits that differ.
void read_mnemonic(std::string_view mnemonic, const Product& product, Order& order) {
  try {
    if (is_tcgen05(mnemonic))
      read_tcgen05(mnemonic, product, order);
    else
      read_wgmma(mnemonic, product, order);
  } catch (const FaultError& error) {
    if (error.status() == Status::Unmodelled) throw;
    throw UsageError(error.what());
  }
}

void read_key(std::string_view word, Order& order) {
  constexpr std::array<std::string_view, 2> keys = {"d", "satfinite"};
  constexpr std::array<std::string_view, 3> names = {"f32", "f16", "s32"};
  constexpr std::array<Type, 3> types = {Type::f32, Type::f16, Type::s32};
  std::string_view value = word;
  const std::string_view key = taken_until(value, '=');
  if (word == "satfinite") {
    order.saturate = true;
    return;
  }
  if (key != "d") throw_unknown("key of --order", key, keys);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!same_word(value, names[i])) continue;
    order.accumulator = types[i];
    return;
  }
  throw_unknown("d", value, names);
}

void read_instruction(std::string_view text, const Product& product, Order& order) {
  const std::string_view word = taken_until(text, ',');
  if (word == "wgmma")
    order.engine = Engine::Wgmma;
  else if (word == "tcgen05")
    order.engine = Engine::Tcgen05;
  else if (word.starts_with("wgmma.") || word.starts_with("tcgen05."))
    read_mnemonic(word, product, order);
  else
    throw_unknown("instruction of --order", word, instruction_names);
  while (!text.empty()) read_key(taken_until(text, ','), order);
}

void check_instruction_exists(std::string_view spec, const Order& order, const Product& product) {
  if (order.saturate && is_float(product.a))
    throw UsageError(fmt::format("--order {}: satfinite is for integers", quoted(spec)));
  if (exists(order.engine, order.accumulator, product)) return;
  throw UsageError(fmt::format("--order {}: no {} multiplies {} by {} into {}", quoted(spec),
                               order.engine == Engine::Wgmma ? "wgmma" : "tcgen05.mma",
                               name(product.a), name(product.b), name(order.accumulator)));
}

// --- parts of K ------------------------------------------------------------------------------------

std::vector<GemmSegment> every(std::string_view word, const Order& order, const Product& product) {
  const std::int64_t length = number(word, "every=");
  const int unit = step(order, product);
  if (length == 0 || length % unit != 0)
    throw UsageError(
        fmt::format("every={}: expected a multiple of {}, the K of one instruction", word, unit));
  if (product.k / length > most_segments)
    throw UsageError(fmt::format("every={} cuts K = {} into more than {} parts", word, product.k,
                                 most_segments));
  return parts_of(product.k, length);
}

std::vector<GemmSegment> split(std::string_view word, const Product& product) {
  const std::int64_t parts = number(word, "split=");
  if (parts < 1 || parts > most_parts(product))
    throw UsageError(
        fmt::format("split={}: K = {} has {} blocks of 128 bytes: expected 1 to {} parts", word,
                    product.k, most_parts(product), most_parts(product)));
  return split_parts(product, parts);
}

// Every k once; in which order the parts are added is the user's to say.
void check_cover(std::string_view list, std::vector<GemmSegment> parts, std::int64_t k) {
  std::ranges::sort(parts, {}, &GemmSegment::first);
  std::int64_t end = 0;
  for (const GemmSegment& part : parts) {
    if (part.first != end)
      throw UsageError(fmt::format("segments={}: k = {} is {}: expected every k of 0-{} once",
                                   printable(list), std::min(part.first, end),
                                   part.first > end ? "in no part" : "in two parts", k));
    end = part.first + part.count;
  }
  if (end != k)
    throw UsageError(fmt::format("segments={}: the parts end at {}: expected {}, the K of A and B",
                                 printable(list), end, k));
}

std::vector<GemmSegment> segments(std::string_view list, std::int64_t k) {
  std::vector<GemmSegment> parts;
  for (std::string_view rest = list; !rest.empty();) {
    std::string_view part = taken_until(rest, ',');
    const std::int64_t first = number(taken_until(part, '-'), "segments=");
    const std::int64_t end = number(part, "segments=");
    if (end <= first)
      throw UsageError(fmt::format("segments={}: {}-{} is empty: expected FIRST-END, END not in it",
                                   printable(list), first, end));
    parts.push_back({first, end - first});
  }
  check_cover(list, parts, k);
  return parts;
}

std::string parts_text(const Order& order, const Product& product) {
  if (order.segments.empty()) return "chain";
  const std::int64_t first = order.segments[0].count;
  if (order.segments == parts_of(product.k, first) && first % step(order, product) == 0)
    return fmt::format("every={}", first);
  if (order.segments == split_parts(product, static_cast<std::int64_t>(order.segments.size())))
    return fmt::format("split={}", order.segments.size());
  std::string text = "segments=";
  for (const GemmSegment& part : order.segments)
    text +=
        fmt::format("{}{}-{}", text.back() == '=' ? "" : ",", part.first, part.first + part.count);
  return text;
}

}  // namespace

std::string canonical_spec(const Order& order, const Product& product) {
  if (order.engine == Engine::Float64) return "float64";
  if (order.engine == Engine::Fma) return "fma";
  std::string text = parts_text(order, product);
  text += order.engine == Engine::Wgmma ? ":wgmma" : ":tcgen05";
  if (order.accumulator == Type::f16) text += ",d=f16";
  if (order.saturate) text += ",satfinite";
  return text;
}

std::string sentence(const Order& order, const Product& product) {
  if (order.engine == Engine::Float64)
    return "sums of float64 over ascending k, rounded once to f32";
  if (order.engine == Engine::Fma) return "one f32 fused multiply-add for each k, ascending";
  const std::string chain =
      fmt::format("{} {}.{}.{} over ascending k, {} at a time",
                  order.engine == Engine::Wgmma ? "wgmma" : "tcgen05.mma", name(order.accumulator),
                  name(product.a), name(product.b), step(order, product));
  if (order.saturate) return "one chain of " + chain + ", each clamped to s32";
  if (!is_float(product.a)) return chain + ", modulo 2^32: no order changes it";
  if (order.segments.empty()) return "one chain of " + chain;
  return fmt::format("{} chains of {}, added in f32", order.segments.size(), chain);
}

Order parse_order(std::string_view spec, const Product& product) {
  Order order;
  order.engine = wgmma::types_exist(wgmma::widest_d(product.a), product.a, product.b)
                     ? Engine::Wgmma
                     : Engine::Tcgen05;
  order.accumulator = wgmma::widest_d(product.a);
  std::string_view rest = spec;
  if (spec == "float64" || spec == "fma") {
    order.engine = spec == "fma" ? Engine::Fma : Engine::Float64;
    rest = {};
  }
  const bool plan = spec.starts_with("plan:");
  std::string_view parts = plan ? rest : taken_until(rest, ':');
  if (!plan && !rest.empty()) read_instruction(rest, product, order);
  check_instruction_exists(spec, order, product);
  if (plan)
    order.segments = read_plan(spec.substr(std::string_view("plan:").size()), product);
  else if (parts.starts_with("every="))
    order.segments = every(parts.substr(6), order, product);
  else if (parts.starts_with("split="))
    order.segments = split(parts.substr(6), product);
  else if (parts.starts_with("segments="))
    order.segments = segments(parts.substr(9), product.k);
  else if (!parts.empty() && parts != "chain")
    throw_unknown("--order", parts, parts_names);
  if (order.saturate && order.segments.size() > 1)
    throw UnmodelledError(fmt::format("{}: clamped sums of parts of K", quoted(spec)));
  if (!is_float(product.a) || order.segments.size() == 1) order.segments.clear();
  order.spec = std::string(spec);
  return order;
}

}  // namespace tcq::oracle::gemm
