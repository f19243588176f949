// Random statements of wgmma: a legal form with up to three things changed, on one line or several.
//
// For comparing `check` with ptxas on statements that nobody wrote. What ptxas tolerates and the
// manual does not is named, as in ptx_statements.h. Start at random_statement().
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/silicon/ptx_statements.h"

namespace tcq::oracle {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

template <class T>
const T& any_of(Random& random, const std::vector<T>& values) {
  return values[below(random, values.size())];
}

struct RandomStatement {
  std::string text;
  std::set<Fault> differences;  // Faults that ptxas may tolerate here
};

inline void change_order(Random& random, Parts& parts, std::set<Fault>& differences) {
  struct Order {
    std::string text;
    Fault difference;
  };
  static const std::vector<Order> orders = {{".aligned", Fault::None},
                                            {"", Fault::None},
                                            {".sync", Fault::AlignedMissing},
                                            {".aligned.sync", Fault::QualifierOrder},
                                            {".sync.sync.aligned", Fault::QualifierOrder},
                                            {".sync.aligned.aligned", Fault::QualifierOrder},
                                            {".sync.aligned.row.col", Fault::QualifierUnknown},
                                            {".sync.aligned.foo", Fault::None}};
  const Order& order = any_of(random, orders);
  parts.order = order.text;
  if (order.difference != Fault::None) differences.insert(order.difference);
}

inline const std::string mixed_vector = "{%r0,%f1,%r2,%r3}";

inline void change_operands(Random& random, const wgmma::Form& form, Parts& parts,
                            std::set<Fault>& differences) {
  static const std::vector<std::string> any = {"0",
                                               "1",
                                               "-1",
                                               "2",
                                               "%r0",
                                               "%f0",
                                               "%p0",
                                               "!%p1",
                                               "%rd3",
                                               "%rs0",
                                               "%fd0",
                                               "0x1",
                                               "{%r0,%r1,%r2,%r3}",
                                               "{%f0,%f1,%f2,%f3}",
                                               mixed_vector,
                                               "{%f0,%f0,%f0,%f0}",
                                               "18446744073709551615"};
  const std::vector<wgmma::Operand> operands = operands_of(form);
  const std::size_t at = below(random, parts.operands.size());
  switch (below(random, 6)) {
    case 0: parts.operands.erase(parts.operands.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 1:
      parts.operands.insert(parts.operands.begin() + static_cast<std::ptrdiff_t>(at),
                            any_of(random, any));
      break;
    case 2:
      std::swap(parts.operands[at], parts.operands[below(random, parts.operands.size())]);
      break;
    case 3: parts.operands[at] = any_of(random, any); break;
    default:
      if (at < operands.size()) {
        const auto others = alternatives(form, operands[at]);
        if (!others.empty()) parts.operands[at] = any_of(random, others);
      }
  }
  // As sp-meta a predicate or a vector, and a vector of several types; see kDifferences.
  const bool has_meta = form.sparse && parts.operands.size() > 3;
  const bool meta = has_meta && (parts.operands[3].ends_with("%p0") ||
                                 parts.operands[3][0] == '!' || parts.operands[3][0] == '{');
  const bool mixed =
      std::find(parts.operands.begin(), parts.operands.end(), mixed_vector) != parts.operands.end();
  if (meta || mixed) differences.insert(Fault::OperandKind);
}

inline void change_shape(Random& random, const wgmma::Form& form, Parts& parts) {
  static const std::vector<int> ms = {8, 16, 32, 63, 64, 64, 64, 64, 128};
  static const std::vector<int> ks = {1, 4, 8, 16, 32, 64, 128, 256, 512};
  const int n = below(random, 2) == 0 ? form.n : static_cast<int>(below(random, 70)) * 4;
  const int k = below(random, 2) == 0 ? wgmma::k(form) : any_of(random, ks);
  parts.shape = shape(any_of(random, ms), n == 0 ? 1 : n, k);
}

inline void change(Random& random, const wgmma::Form& form, Parts& parts,
                   std::set<Fault>& differences) {
  static const std::vector<std::string> types = {"f32",  "f16", "bf16", "tf32", "e4m3",
                                                 "e5m2", "s8",  "u8",   "b1",   "s32"};
  static const std::vector<std::string> operations = {"", ".and.popc", ".and", ".popc",
                                                      ".xor.popc"};
  switch (below(random, 8)) {
    case 0: change_order(random, parts, differences); break;
    case 1: change_shape(random, form, parts); break;
    case 2: parts.satfinite = parts.satfinite.empty() ? ".satfinite" : ""; break;
    case 3: parts.late_satfinite = ".satfinite"; break;
    case 4: parts.operation = any_of(random, operations); break;
    case 5:
      parts.types =
          "." + any_of(random, types) + "." + any_of(random, types) + "." + any_of(random, types);
      break;
    default: change_operands(random, form, parts, differences);
  }
  if (!parts.satfinite.empty() && !parts.late_satfinite.empty())
    differences.insert(Fault::QualifierOrder);
}

// Blanks become line ends and comments, some appear before qualifiers and around commas.
inline std::string broken_up(Random& random, const std::string& text) {
  static const std::vector<std::string> blanks = {" ",         "\n",      "\t",
                                                  " /* ; */ ", " // ,\n", "\r\n  "};
  const std::size_t name = text.find('.', text.find("wgmma") + 6);  // behind wgmma.mma_async
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool qualifier = c == '.' && i >= name && text.find(' ', name) > i;
    if ((qualifier || c == ',' || c == '}' || c == ';') && below(random, 4) == 0)
      result += any_of(random, blanks);
    if (c == ' ')
      result += any_of(random, blanks);
    else
      result += c;
    if ((c == '{' || c == '@' || c == '!') && below(random, 4) == 0)
      result += any_of(random, blanks);
  }
  return result;
}

inline RandomStatement random_statement(Random& random, const std::vector<wgmma::Form>& forms) {
  wgmma::Form form = any_of(random, forms);
  form.a_place = below(random, 2) == 0 ? wgmma::Place::Smem : wgmma::Place::Registers;
  static const std::vector<std::string> guards = {"", "", "", "", "@%p0 ", "@!%p1 ", "@%r0 "};
  Parts parts = parts_of(form);
  RandomStatement statement;
  for (std::size_t changes = below(random, 4); changes > 0; --changes)
    if (!parts.operands.empty()) change(random, form, parts, statement.differences);
  statement.text = any_of(random, guards) + parts.text();
  if (below(random, 2) == 0) statement.text = broken_up(random, statement.text);
  return statement;
}

}  // namespace tcq::oracle
