#include "sim/run/update.h"

#include <algorithm>
#include <cstring>

#include "sim/num/reduce_float.h"

namespace tcq::run {
namespace {

using ptx::Operation;

template <class T, Operation O>
T apply(T old, T b, T c) {
  if constexpr (O == Operation::Min) return std::min(old, b);
  if constexpr (O == Operation::Max) return std::max(old, b);
  if constexpr (O == Operation::Exch) return b;
  if constexpr (O == Operation::Cas) return old == b ? c : old;
  if constexpr (std::is_integral_v<T>) {
    using Word = std::make_unsigned_t<T>;  // sums are modulo
    if constexpr (O == Operation::Add)
      return static_cast<T>(static_cast<Word>(old) + static_cast<Word>(b));
    if constexpr (O == Operation::And) return static_cast<T>(old & b);
    if constexpr (O == Operation::Or) return static_cast<T>(old | b);
    if constexpr (O == Operation::Xor) return static_cast<T>(old ^ b);
    if constexpr (O == Operation::Inc) return old >= b ? T{0} : static_cast<T>(old + 1);
    if constexpr (O == Operation::Dec) return old == 0 || old > b ? b : static_cast<T>(old - 1);
  }
}

template <class T, Operation O>
void update(std::uint8_t* memory, const std::uint8_t* b, const std::uint8_t* c) {
  T old, x, y;
  std::memcpy(&old, memory, sizeof old);
  std::memcpy(&x, b, sizeof x);
  std::memcpy(&y, c, sizeof y);
  const T result = apply<T, O>(old, x, y);
  std::memcpy(memory, &result, sizeof result);
}

template <class T>
Update integer(Operation operation) {
  using enum Operation;
  switch (operation) {
    case Add: return update<T, Add>;
    case Min: return update<T, Min>;
    case Max: return update<T, Max>;
    case Exch: return update<T, Exch>;
    case Cas: return update<T, Cas>;
    case And: return update<T, And>;
    case Or: return update<T, Or>;
    case Xor: return update<T, Xor>;
    case Inc: return update<T, Inc>;
    case Dec: return update<T, Dec>;
    default: return nullptr;
  }
}

// f16 and bf16, alone or in pairs: the bits of a bulk reduction of these types.
template <tma::DataType D, tma::Reduction R, int Count>
void reduce_halves(std::uint8_t* memory, const std::uint8_t* b, const std::uint8_t*) {
  for (int i = 0; i < Count; ++i) {
    std::uint16_t old = 0;
    std::uint16_t x = 0;
    std::memcpy(&old, memory + 2 * i, sizeof old);
    std::memcpy(&x, b + 2 * i, sizeof x);
    const auto result = static_cast<std::uint16_t>(tma::reduced_bits(R, D, old, x));
    std::memcpy(memory + 2 * i, &result, sizeof result);
  }
}

template <tma::DataType D, int Count>
Update halves(Operation operation) {
  switch (operation) {
    case Operation::Add: return reduce_halves<D, tma::Reduction::Add, Count>;
    case Operation::Min: return reduce_halves<D, tma::Reduction::Min, Count>;
    case Operation::Max: return reduce_halves<D, tma::Reduction::Max, Count>;
    default: return nullptr;
  }
}

// A sum of floats with the rules that its memory has.
template <class Word, tma::DataType D, bool is_shared>
void add_floats(std::uint8_t* memory, const std::uint8_t* b, const std::uint8_t*) {
  constexpr FloatRules rules = [] {
    FloatRules r = float_rules(D);
    r.flush_operands = r.flush_result = D == tma::DataType::Float32 && !is_shared;
    if (D == tma::DataType::Float64 && is_shared) r.nan = NanRule::OldQuieted;
    return r;
  }();
  Word old, x;
  std::memcpy(&old, memory, sizeof old);
  std::memcpy(&x, b, sizeof x);
  const auto sum =
      static_cast<Word>(reduce_float(tma::Reduction::Add, float_layout(D), rules, old, x));
  std::memcpy(memory, &sum, sizeof sum);
}

template <class Word, tma::DataType D>
Update floats(Operation operation, bool is_shared) {
  if (operation != Operation::Add) return nullptr;
  return is_shared ? add_floats<Word, D, true> : add_floats<Word, D, false>;
}

struct Wide {
  std::uint64_t low, high;
  bool operator==(const Wide&) const = default;
};

Update wide(Operation operation) {
  switch (operation) {
    case Operation::Exch: return update<Wide, Operation::Exch>;
    case Operation::Cas: return update<Wide, Operation::Cas>;
    default: return nullptr;
  }
}

}  // namespace

Update update_of(Operation operation, ptx::Type type, bool is_shared) {
  using enum ptx::Type;
  switch (type) {
    case U16:
    case B16: return integer<std::uint16_t>(operation);
    case U32:
    case B32: return integer<std::uint32_t>(operation);
    case S32: return integer<std::int32_t>(operation);
    case U64:
    case B64: return integer<std::uint64_t>(operation);
    case S64: return integer<std::int64_t>(operation);
    case F32: return floats<std::uint32_t, tma::DataType::Float32>(operation, is_shared);
    case F64: return floats<std::uint64_t, tma::DataType::Float64>(operation, is_shared);
    case F16: return halves<tma::DataType::Float16, 1>(operation);
    case F16x2: return halves<tma::DataType::Float16, 2>(operation);
    case BF16: return halves<tma::DataType::BFloat16, 1>(operation);
    case BF16x2: return halves<tma::DataType::BFloat16, 2>(operation);
    case B128: return wide(operation);
    default: return nullptr;
  }
}

}  // namespace tcq::run
