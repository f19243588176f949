// One scalar instruction on many rows of sources.
//
// The output is the results, row by row, each number as wide as the form's widest; of a survey, for each group of rows,
// the row whose result is worst and that result, 4 bytes each. The simulator: sim/alu; what is approximate there must
// lie within the bound that it states. The device: cuda/probe/scalar_sm90.h. Which rows: scalar_sources.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/recording/case.h"
#include "oracle/recording/fields.h"
#include "oracle/recording/scalar_sources.h"

namespace tcq::oracle {

struct ScalarCase {
  using Kind = ScalarRows;
  static constexpr int first_code = 22;
  static constexpr int kind_count = scalar_rows_count;

  Kind kind = Kind::Drawn;
  std::string spelling;  // one that alu::read_scalar_form() takes

  friend bool operator==(const ScalarCase&, const ScalarCase&) = default;
};

// Rows of source words.
struct ScalarSources {
  std::vector<std::uint64_t> words;
};

void fields(Fields& io, ScalarCase& e);
ScalarSources state(const ScalarCase& e, const Inputs& inputs);
std::uint64_t hash_inputs(const ScalarSources& sources);
Prediction predict(const ScalarCase& e, const Inputs& inputs, const ScalarSources& before);
std::string describe(const ScalarCase& e, const Inputs& inputs);
std::string place(const ScalarCase& e, const Inputs& inputs, std::size_t at);
Properties properties(const ScalarCase& e, const Inputs& inputs);
std::size_t output_width(const ScalarCase& e);
std::optional<std::size_t> output_bytes(const ScalarCase& e, const Inputs& inputs);

// Bytes of the results of all rows.
std::size_t scalar_result_bytes(const ScalarCase& e);

// What sim/alu makes of the rows, as a device returns it: whole, without a choice of the worst.
std::vector<std::uint8_t> scalar_results(const ScalarCase& e, const ScalarSources& sources);

// How far an approximate form's output lies from the function at most, as a multiple of its bound.
double largest_distance(const ScalarCase& e, const ScalarSources& sources,
                        const std::vector<std::uint8_t>& output);

// The output of a case whose rows gave these results.
std::vector<std::uint8_t> scalar_output(const ScalarCase& e, const ScalarSources& sources,
                                        std::vector<std::uint8_t> results);

}  // namespace tcq::oracle
