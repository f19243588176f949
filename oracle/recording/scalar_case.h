// One scalar instruction on many rows of sources.
//
// The output is the results, row by row, each number as wide as the form's widest. The simulator: sim/alu. The device:
// cuda/probe/scalar_sm90.h. Which rows: scalar_sources.h.
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

// What sim/alu makes of the rows, as a device returns it.
std::vector<std::uint8_t> scalar_results(const ScalarCase& e, const ScalarSources& sources);

}  // namespace tcq::oracle
