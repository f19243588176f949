// What the generators of statements share, and how `check` is held against ptxas over what they made:
// the same verdict on each statement, unless ptxas is known to be lax there.
//
// Which statements: ptx_statements.h, tcgen05_statements.h. How ptxas is asked: ptxas.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "sim/isa/fault/fault.h"
#include "tests/silicon/ptxas.h"

namespace tcq::oracle {

struct Statement {
  std::string text;
  std::string difference;  // why ptxas may accept what `check` refuses; empty: both must agree
};

class Generator {
 public:
  void add(const std::string& text, const std::string& difference = "") {
    if (seen_.insert(text).second) statements.push_back({text, difference});
  }
  std::vector<Statement> statements;

 private:
  std::set<std::string> seen_;
};

// Registers of one kind; at least one, as ptxas stops at an empty vector.
inline std::string vector_of(const std::string& prefix, int count) {
  std::string text = "{" + prefix + "0";
  for (int i = 1; i < count; ++i) text += "," + prefix + std::to_string(i);
  return text + "}";
}

inline std::string joined(const std::string& opcode, const std::vector<std::string>& operands) {
  std::string text = opcode;
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i > 0 ? ", " : " ") + operands[i];
  return text + ";";
}

// ---- Verdicts -----------------------------------------------------------------------------------

// What ptxas accepts and the manual does not.
struct Difference {
  Fault fault;  // None: any, about the word that the verdict names
  std::string reason;
  Target seen_on;
  bool always = false;  // `check` refuses every statement that may differ so
};
using Differences = std::map<std::string, Difference>;

struct Tally {
  int legal = 0;
  int illegal = 0;
  std::map<std::string, int> differences;
  int sum() const {
    int all = legal + illegal;
    for (const auto& [name, count] : differences) all += count;
    return all;
  }
};

inline std::string verdict(const std::string& text, Target target) {
  Question question{"check", {}, {}};
  question.options.arch = name(target);
  return answer_line(question, text).text;
}

// Begins as an answer about a statement with this Fault does.
inline bool is_illegal_by(std::string_view verdict, Fault fault) {
  return verdict.starts_with(std::string("illegal\t") + info(fault).name + ": ");
}

inline bool is_about(const std::string& verdict, const Difference& difference) {
  if (difference.fault == Fault::None) return verdict.find("; idesc is 0x") != std::string::npos;
  return is_illegal_by(verdict, difference.fault);
}

inline void compare_one(const Statement& statement, bool accepted, Target target,
                        const Differences& differences, Tally& tally) {
  const std::string ours = verdict(statement.text, target);
  EXPECT_FALSE(ours.starts_with("unmodelled")) << statement.text << "\n" << ours;
  const auto difference = differences.find(statement.difference);
  const bool may_differ = difference != differences.end();
  EXPECT_EQ(may_differ, !statement.difference.empty()) << statement.difference;
  if (accepted && may_differ && is_about(ours, difference->second)) {
    ++tally.differences[statement.difference];
    return;
  }
  EXPECT_FALSE(accepted && may_differ && difference->second.always) << statement.text << "\n"
                                                                    << ours;
  EXPECT_EQ(ours == "legal", accepted)
      << name(target) << ": " << statement.text
      << "\nptxas: " << (accepted ? "accepted" : "rejected") << "\ncheck: " << ours
      << "\nmay differ by: " << statement.difference;
  ++(accepted ? tally.legal : tally.illegal);
}

inline Tally compare(const std::vector<Statement>& statements, Target target,
                     const Differences& differences) {
  std::vector<std::string> texts;
  for (const Statement& statement : statements) texts.push_back(statement.text);
  const std::set<std::size_t> wrong = rejected(texts, target);
  Tally tally;
  for (std::size_t i = 0; i < statements.size(); ++i)
    compare_one(statements[i], !wrong.contains(i), target, differences, tally);
  EXPECT_EQ(tally.sum(), static_cast<int>(statements.size()));
  return tally;
}

// Every difference that is known of the target happens; how often is printed.
inline void expect_agreement(const std::vector<Statement>& statements, Target target,
                             const Differences& differences) {
  const Tally tally = compare(statements, target, differences);
  for (const auto& [difference, about] : differences)
    EXPECT_TRUE(target != about.seen_on || tally.differences.contains(difference))
        << "never happens: " << difference << ": " << about.reason;
  std::printf("%s: statements %zu: both legal %d, both illegal %d", name(target), statements.size(),
              tally.legal, tally.illegal);
  for (const auto& [difference, count] : tally.differences)
    std::printf(", %s %d", difference.c_str(), count);
  std::printf("\n");
}

}  // namespace tcq::oracle
