// The suite of statements: each row once at least, on memory of its own, and the machine carries out each.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <stdexcept>

#include "oracle/recording/recording.h"
#include "oracle/recording/statement_rows.h"
#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

const StatementCase& statement_of(const Case& c) { return std::get<StatementCase>(c.experiment); }

TEST(Statements, NamesAreUnique) {
  std::set<std::string> names;
  for (const StatementRow& row : statement_rows())
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_GT(names.size(), 300u);
  EXPECT_EQ(find_statement("atom.global.add.f33"), nullptr);
}

TEST(Statements, TheMachineCarriesOutEach) {
  std::set<std::string> seen;
  for (const Case& c : draw_suite("statements", 1)) {
    if (!seen.insert(statement_of(c).name).second) continue;
    const Prediction p = predict(c);
    EXPECT_EQ(p.unmodelled, "") << statement_of(c).name;
    if (!p.unmodelled.empty() || p.outcome == Outcome::Trap) continue;
    EXPECT_EQ(p.output.size(), *output_bytes(c)) << statement_of(c).name;
  }
  EXPECT_EQ(seen.size(), statement_rows().size());
}

struct Ran {
  std::vector<std::uint8_t> before, after;
};

Ran run(std::string_view name) {
  for (const Case& c : draw_suite("statements", 1))
    if (statement_of(c).name == name) return {state(statement_of(c), c).bytes, predict(c).output};
  throw std::runtime_error("no " + std::string(name));
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t w = 0;
  std::memcpy(&w, bytes.data() + at, sizeof w);
  return w;
}

constexpr std::size_t cta = statement_cta_bytes, g = 2048, words = 3072;

TEST(Statements, MemoryComesBackWhereItLay) {
  const Ran atom = run("atom.global.add.u32"), red = run("red.shared::cluster.xor.b32");
  const Ran all = run("bar.red.popc.u32 most, negated"),
            map = run("mapa.shared::cluster.u32 of rank 1");
  for (std::size_t rank = 0; rank < statement_ctas; ++rank)
    for (std::size_t thread = 0; thread < statement_threads; ++thread) {
      const std::size_t own = rank * cta, x = own + 16 * thread, first = own + words + 32 * thread;
      EXPECT_EQ(word(atom.after, x + g), word(atom.before, x + g) + word(atom.before, first));
      EXPECT_EQ(word(atom.after, first), word(atom.before, x + g));
      EXPECT_EQ(word(atom.after, x + 1028), word(atom.before, x + 1028));
      const std::size_t other = (1 - rank) * cta + 16 * thread;
      EXPECT_EQ(word(red.after, other), word(red.before, other) ^ word(red.before, first));
      EXPECT_EQ(word(all.after, first), 1u);
      EXPECT_EQ(word(map.after, first) >> 24, 1u);
    }
}

}  // namespace
}  // namespace tcq::oracle
