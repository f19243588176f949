// What `tcq gemm` answers, as values, and its one rendering as text and as JSON.
//
// Nothing is computed here. The keys of the JSON are oracle/answer/schema.json's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/answer/value.h"
#include "oracle/gemm/difference.h"
#include "oracle/gemm/rivals.h"

namespace tcq::oracle::gemm {

// One order: what it is, and how its D compares.
struct OrderReport {
  std::string spec;
  std::string sentence;
  std::uint64_t fingerprint = 0;           // FNV-1a of D's bytes, rows one behind the other
  std::string out;                         // the file that was written; empty: none
  std::optional<Comparison> beside_first;  // with the first order's D
  std::optional<Comparison> device;
  std::optional<Explanation> explanation;
  std::optional<GemmErrors> errors;
};

struct Report {
  Product product;
  Type out = Type::f32;
  bool has_batch = false;  // D has three dimensions
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;  // of the product: a gated activation makes n / 2 columns of D
  Activation activation = Activation::None;
  std::string shape_a;  // "24 x 200"
  std::string shape_b;
  Rows rows;
  std::string compared_with;       // the device's file
  std::vector<std::string> saved;  // operands and pictures that were written
  std::vector<OrderReport> orders;
  std::vector<std::string> notes;

  // Is there a device's result that no order predicts?
  bool mismatch() const;
};

std::string text_of(const Report& report);
Value value_of(const Report& report);

}  // namespace tcq::oracle::gemm
