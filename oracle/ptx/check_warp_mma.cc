// Statements of the warp's mma; see check_warp_mma.h.
#include "oracle/ptx/check_warp_mma.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/warp_mma.h"
#include "sim/isa/base/mma_fragment.h"

namespace tcq::oracle {
namespace {

using OperandKind = PtxOperand::Kind;

struct Counts {
  int d, a, b;
};

// Of m8n8k4 of f16 a thread has four halves of A and B, and eight sums.
Counts counts_of(const WarpMma& mma) {
  if (mma.quad_pairs) return {mma.d_bits == 32 ? 8 : 4, 2, 2};
  return {warp_mma::d_registers(mma.m, mma.d_bits), warp_mma::a_registers(mma.m, mma.k, mma.a_bits),
          warp_mma::b_registers(mma.k, mma.b_bits)};
}

std::string opcode_of(const PtxStatement& statement) {
  std::string text(statement.opcode);
  for (const std::string_view word : statement.qualifiers) text += fmt::format(".{}", word);
  return text;
}

// A vector, or a register where there is one only.
Verdict check_fragment(std::string_view name, const PtxOperand& given, int expected) {
  const bool is_vector = given.kind == OperandKind::Vector && given.only_registers;
  const bool is_single = given.kind == OperandKind::Register && expected == 1;
  if (!is_vector && !is_single)
    return illegal(Fault::OperandKind,
                   fmt::format("{} is {}, expected {} register{}", name, quoted(given.text),
                               expected, expected == 1 ? "" : "s"));
  if (is_vector && given.count != static_cast<std::uint64_t>(expected))
    return illegal(Fault::OperandCount,
                   fmt::format("{} has {} registers, expected {}", name, given.count, expected));
  return legal();
}

Verdict check_target(const WarpMma& mma, std::optional<Target> asked) {
  const bool has_scales =
      !asked || *asked == Target::sm_120a || *asked == Target::sm_120f || *asked == Target::sm_121a;
  if (mma.kind.empty() || has_scales) return legal();
  return illegal(Fault::QualifierUnknown,
                 fmt::format("mma with .kind and .block_scale exists on sm_120a, sm_120f and "
                             "sm_121a only; got {}",
                             tcq::name(*asked)));
}

Verdict check_operands(const WarpMma& mma, const PtxStatement& statement) {
  const std::size_t expected = mma.kind.empty() ? 4 : 8;
  if (statement.operands.size() != expected)
    return illegal(
        Fault::OperandCount,
        fmt::format("got {}, expected {}: D, A, B, C{}", statement.operands.size(), expected,
                    mma.kind.empty() ? ""
                                     : ", scale-a-data, {byte-id-a, thread-id-a}, "
                                       "scale-b-data, {byte-id-b, thread-id-b}"));
  const Counts counts = counts_of(mma);
  const int of_c = mma.c_bits == mma.d_bits ? counts.d : 2 * counts.d * mma.c_bits / 64;
  const std::array<std::pair<std::string_view, int>, 4> fragments = {
      {{"D", counts.d}, {"A", counts.a}, {"B", counts.b}, {"C", of_c}}};
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    const auto& [name, count] = fragments[i];
    if (const Verdict verdict = check_fragment(name, statement.operands[i], count);
        !is_legal(verdict))
      return verdict;
  }
  return legal();
}

}  // namespace

Verdict check_warp_mma(const PtxStatement& statement, std::optional<Target> asked) {
  constexpr std::string_view begin = "illegal: ";
  if (const Verdict verdict = check_guard(statement); !is_legal(verdict)) return verdict;
  try {
    const WarpMma mma = parse_warp_mma(opcode_of(statement));
    if (const Verdict verdict = check_target(mma, asked); !is_legal(verdict)) return verdict;
    return check_operands(mma, statement);
  } catch (const UnmodelledError& error) {
    return unmodelled(error.what());
  } catch (const FaultError& error) {
    std::string_view why = error.what();
    if (why.starts_with(begin)) why.remove_prefix(begin.size());
    return illegal(Fault::QualifierUnknown, std::string(why));
  } catch (const UsageError& error) {
    return illegal(Fault::QualifierUnknown, error.what());
  }
}

}  // namespace tcq::oracle
