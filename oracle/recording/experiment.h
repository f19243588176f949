// The experiments, and a case: one of them with its inputs and what a device answered.
//
// A new experiment is a struct in a header of its own, an alternative below, a suite in suites.cc and
// a probe in cuda/probe. The struct has no behaviour; free functions beside it do what recording,
// comparing and explaining ask of every experiment:
//
//   void fields(Fields&, E&)                           its members in a file, both directions
//   STATE state(const E&, const Inputs&)               everything it may read or change, before it runs
//   std::uint64_t hash_inputs(const STATE&)
//   Prediction predict(const E&, const Inputs&, STATE) what the device must return
//   std::string describe(const E&, const Inputs&)      one line: instruction and operands
//   std::string place(const E&, const Inputs&, at)     the output's byte `at`, in words
//   Properties properties(const E&, const Inputs&)     what differing cases may have in common
//
// and, where the defaults of experiment.cc do not do: output_bytes(), output_width(), details().
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "oracle/recording/bulk_copy.h"
#include "oracle/recording/case.h"
#include "oracle/recording/launch_case.h"
#include "oracle/recording/map_encoding.h"
#include "oracle/recording/matrix_move.h"
#include "oracle/recording/mbarrier_script.h"
#include "oracle/recording/scalar_case.h"
#include "oracle/recording/statement_case.h"
#include "oracle/recording/tcgen05_case.h"
#include "oracle/recording/tile_copy.h"
#include "oracle/recording/wgmma_case.h"
#include "oracle/recording/wgmma_groups.h"

namespace tcq::oracle {

using Experiment =
    std::variant<WgmmaCase, TileCopy, MatrixMove, MapEncoding, BulkCopy, MbarrierScript,
                 WgmmaGroups, Tcgen05Case, ScalarCase, StatementCase, LaunchCase>;

struct Case : Inputs, Returned {
  Experiment experiment;
  bool keep = false;  // the output in a file, too; wgmma's always is

  Case() = default;
  explicit Case(Experiment e) : experiment(std::move(e)) {}
};

// Calls visit(experiment, inputs) with the alternative.
template <class Visit>
decltype(auto) on(const Case& c, Visit&& visit) {
  return std::visit(
      [&](const auto& e) -> decltype(auto) { return visit(e, static_cast<const Inputs&>(c)); },
      c.experiment);
}

std::uint64_t hash_of_inputs(const Case& c);
Prediction predict(const Case& c);
std::string describe(const Case& c);
std::string place(const Case& c, std::size_t at);
// Bytes of one output, at most 8: an element of D, a register, a number, else a byte.
std::size_t output_width(const Case& c);
// Size of the output of a case that completed or timed out; empty if only running it tells.
std::optional<std::size_t> output_bytes(const Case& c);

// Takes what a device returned.
void set_answer(Case& c, Outcome outcome, std::vector<std::uint8_t> output,
                std::uint32_t error = 0);

}  // namespace tcq::oracle
