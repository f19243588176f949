// Which mma of one warp exist: parse_warp_mma() and ptxas agree on every shape with every type, operands
// with as many registers as the fragments have.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/ptx/warp_mma.h"
#include "sim/isa/base/mma_fragment.h"
#include "tests/silicon/ptxas.h"

namespace tcq::oracle {
namespace {

struct TypeBits {
  const char* name;
  int bits;
};

std::string vector_of(const TypeBits& type, int elements) {
  const int count = std::max(1, elements / (warp_mma::lanes * warp_mma::parts(type.bits)));
  const char* prefix = type.bits == 64 ? "%fd" : std::string(type.name) == "f32" ? "%f" : "%r";
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

bool is_read(const std::string& mnemonic) {
  try {
    parse_warp_mma(mnemonic);
    return true;
  } catch (const UsageError&) {
    return false;
  } catch (const FaultError&) {
    return false;
  }
}

TEST(WarpMmaPtxas, AgreesOnEveryShapeWithEveryType) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  const TypeBits operands[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f64", 64},
                               {"s8", 8},   {"u8", 8},    {"s4", 4},    {"u4", 4},
                               {"b1", 1},   {"e4m3", 8},  {"e5m2", 8}};
  const TypeBits sums[] = {{"f16", 16}, {"f32", 32}, {"s32", 32}, {"f64", 64}};
  std::vector<std::string> statements;
  std::vector<bool> read;
  for (const TypeBits& a : operands)
    for (const TypeBits& b : operands)
      for (const TypeBits& d : sums)
        for (const TypeBits& c : sums)
          for (const int m : {8, 16})
            for (const int k : {4, 8, 16, 32, 64, 128, 256}) {
              if (std::string(a.name) == "f16" && m == 8 && k == 4) continue;  // quad pairs
              const std::string opcode =
                  fmt::format("mma.sync.aligned.m{}n8k{}.row.col.{}.{}.{}.{}", m, k, d.name, a.name,
                              b.name, c.name);
              statements.push_back(fmt::format("{}{} {}, {}, {}, {};", opcode,
                                               a.bits == 1 ? ".and.popc" : "", vector_of(d, m * 8),
                                               vector_of(a, m * k), vector_of(b, k * 8),
                                               vector_of(c, m * 8)));
              read.push_back(is_read(opcode));
            }
  const std::set<std::size_t> bad = rejected(statements, Target::sm_90a);
  // The manual's tf32 ends at K = 8; what ptxas makes of 16 it does not say.
  const auto is_open = [](const std::string& statement) {
    return statement.find("m16n8k16.row.col.f32.tf32.tf32.f32") != statement.npos;
  };
  int legal = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (is_open(statements[i])) continue;
    EXPECT_EQ(read[i], !bad.contains(i)) << statements[i];
    legal += read[i] ? 1 : 0;
  }
  EXPECT_GE(legal, 40);
}

}  // namespace
}  // namespace tcq::oracle
