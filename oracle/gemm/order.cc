// The grammar's reader, from left to right; instructions are read by oracle/ptx. Legality of an
// instruction is sim/isa's: only what it multiplies and how wide its D is decides a sum.
#include "oracle/gemm/order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

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

[[noreturn]] void refuse_sparse(std::string_view mnemonic) {
  throw UnmodelledError(fmt::format("{} is sparse: whole GEMMs are dense", quoted(mnemonic)));
}

// The scalings whose factors an opcode reads.
std::vector<std::string_view> scalings_of(const tcgen05::MmaOpcode& opcode) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < scaling_words.size(); ++i) {
    const auto scaling = static_cast<Scaling>(i);
    if (is_block_scaled(scaling) && scale_block(scaling) == tcgen05::scale_block(opcode) &&
        tcgen05::scale_type_exists(opcode, scale_type(scaling)))
      names.push_back(scaling_words[i].option);
  }
  return names;
}

// The factors of the instruction are the product's.
void check_factors(std::string_view mnemonic, const tcgen05::MmaOpcode& opcode,
                   const Product& product) {
  const std::vector<std::string_view> names = scalings_of(opcode);
  const bool fits = std::ranges::find(names, name(product.scaling)) != names.end();
  if (fits || (names.empty() && !is_block_scaled(product.scaling))) return;
  if (names.empty())
    throw UsageError(
        fmt::format("{} has no scale factors, and --scaling {} has them: expected a "
                    "kind with .block_scale",
                    quoted(mnemonic), name(product.scaling)));
  throw UsageError(fmt::format("{} has scale factors: expected --scaling {}, the product has {}",
                               quoted(mnemonic), fmt::join(names, " or "), name(product.scaling)));
}

void read_wgmma(std::string_view mnemonic, const Product& product, Order& order) {
  const wgmma::Form form = parse_instruction(mnemonic, Keys({}, {})).form;
  if (form.sparse) refuse_sparse(mnemonic);
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
  if (mma->opcode.sparse) refuse_sparse(mnemonic);
  if (!tcgen05::multiplicand_exists(kind, product.a) ||
      !tcgen05::multiplicand_exists(kind, product.b))
    throw UsageError(fmt::format("{} does not multiply {} by {}", quoted(mnemonic), name(product.a),
                                 name(product.b)));
  check_factors(mnemonic, mma->opcode, product);
  order.engine = Engine::Tcgen05;
  order.accumulator = read.idesc.d;
  if (tcgen05::is_block_scaled(kind)) order.kind = kind;
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

// Kinds without scale factors need no word: the types decide them.
Kind block_scaled_kind(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Kind kind : {Kind::mxf8f6f4, Kind::mxf4, Kind::mxf4nvf4}) {
    names.emplace_back(tcgen05::name(kind));
    if (same_word(word, names.back())) return kind;
  }
  throw_unknown("kind", word, names);
}

void read_key(std::string_view word, Order& order) {
  constexpr std::array<std::string_view, 4> keys = {"d", "kind", "satfinite", "promoted"};
  constexpr std::array<std::string_view, 3> names = {"f32", "f16", "s32"};
  constexpr std::array<Type, 3> types = {Type::f32, Type::f16, Type::s32};
  std::string_view value = word;
  const std::string_view key = taken_until(value, '=');
  if (word == "satfinite") {
    order.saturate = true;
    return;
  }
  if (word == "promoted") {
    order.promotes = true;
    return;
  }
  if (key == "kind") {
    order.kind = block_scaled_kind(value);
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
  else if (word.find('.') != word.npos && is_ptx_opcode(word))
    throw UnmodelledError(
        fmt::format("{} is not modelled in whole GEMMs: only wgmma.mma_async and tcgen05.mma are",
                    quoted(word)));
  else
    throw_unknown("instruction of --order", word, instruction_names);
  while (!text.empty()) read_key(taken_until(text, ','), order);
  if (order.kind && order.engine != Engine::Tcgen05)
    throw UsageError(fmt::format("kind={} is tcgen05's: expected tcgen05,kind={}",
                                 tcgen05::name(*order.kind), tcgen05::name(*order.kind)));
}

void check_instruction_exists(std::string_view spec, const Order& order, const Product& product) {
  if (order.saturate && is_float(product.a))
    throw UsageError(fmt::format("--order {}: satfinite is for integers", quoted(spec)));
  if (exists(order, product)) return;
  std::string instruction = order.engine == Engine::Wgmma ? "wgmma" : "tcgen05.mma";
  if (order.kind) instruction += fmt::format(" of kind {}", tcgen05::name(*order.kind));
  std::string factors;
  if (order.kind || is_block_scaled(product.scaling))
    factors = fmt::format(", with factors {}", name(product.scaling));
  throw UsageError(fmt::format("--order {}: no {} multiplies {} by {} into {}{}", quoted(spec),
                               instruction, name(product.a), name(product.b),
                               name(order.accumulator), factors));
}

// Chains of 128 of K that are promoted need parts that begin where a chain does; factors of 128 of K need
// such chains.
void check_promotion(std::string_view spec, const Order& order, const Product& product) {
  if (!order.promotes && scales_blocks(product.scaling))
    throw UsageError(
        fmt::format("--order {}: the factors are of 128 of K each: expected a promoted order, for "
                    "example chain:wgmma,promoted",
                    quoted(spec)));
  if (!order.promotes) return;
  if (!is_float(product.a) || order.accumulator != Type::f32)
    throw UsageError(
        fmt::format("--order {}: expected sums in f32, which promoted is for", quoted(spec)));
  for (const GemmSegment& part : order.segments)
    if (part.first % promoted_k != 0)
      throw UsageError(
          fmt::format("--order {}: a part begins at k = {}: promoted parts begin at multiples of "
                      "{}",
                      quoted(spec), part.first, promoted_k));
}

// Factors of 16 or 32 of K are operands: what has none cannot meet them, and a chain begins where one of them does.
void check_blocks(std::string_view spec, const Order& order, const Product& product) {
  if (!is_block_scaled(product.scaling)) return;
  if (order.engine != Engine::Tcgen05)
    throw UnmodelledError(fmt::format("{}: factors of {} of K are operands of tcgen05.mma",
                                      quoted(spec), scale_block(product.scaling)));
  for (const GemmSegment& part : order.segments)
    if (part.first % scale_block(product.scaling) != 0)
      throw UsageError(
          fmt::format("--order {}: a part begins at k = {}: expected a multiple of {}, of which a "
                      "scale factor is",
                      quoted(spec), part.first, scale_block(product.scaling)));
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

}  // namespace

Order parse_order(std::string_view spec, const Product& product) {
  Order order;
  order.engine = wgmma::types_exist(wgmma::widest_d(product.a), product.a, product.b)
                     ? Engine::Wgmma
                     : Engine::Tcgen05;
  order.accumulator = wgmma::widest_d(product.a);
  const std::vector<Kind> kinds = block_scaled_kinds(product);
  if (is_block_scaled(product.scaling)) order.engine = Engine::Tcgen05;
  std::string_view rest = spec;
  if (spec == "float64" || spec == "fma") {
    if (scales_blocks(product.scaling))
      throw UnmodelledError(
          fmt::format("{}: factors of 128 of K meet chains of a tensor core", quoted(spec)));
    order.engine = spec == "fma" ? Engine::Fma : Engine::Float64;
    rest = {};
  }
  const bool plan = spec.starts_with("plan:");
  if (plan && is_block_scaled(product.scaling))
    throw UsageError(fmt::format("--order {}: plans are of wgmma, which has no factors {}",
                                 quoted(spec), name(product.scaling)));
  std::string_view parts = plan ? rest : taken_until(rest, ':');
  if (!plan && !rest.empty()) read_instruction(rest, product, order);
  if (order.engine == Engine::Tcgen05 && !order.kind && !kinds.empty()) order.kind = kinds[0];
  check_instruction_exists(spec, order, product);
  if (plan) {
    PlanOrder read = read_plan(spec.substr(std::string_view("plan:").size()), product);
    order.segments = std::move(read.segments);
    order.promotes = read.promotes;
  } else if (parts.starts_with("every="))
    order.segments = every(parts.substr(6), order, product);
  else if (parts.starts_with("split="))
    order.segments = split(parts.substr(6), product);
  else if (parts.starts_with("segments="))
    order.segments = segments(parts.substr(9), product.k);
  else if (!parts.empty() && parts != "chain")
    throw_unknown("--order", parts, parts_names);
  if (order.saturate && order.segments.size() > 1)
    throw UnmodelledError(fmt::format("{}: clamped sums of parts of K", quoted(spec)));
  check_promotion(spec, order, product);
  check_blocks(spec, order, product);
  order = simplified(std::move(order), product);
  order.spec = std::string(spec);
  return order;
}

}  // namespace tcq::oracle::gemm
