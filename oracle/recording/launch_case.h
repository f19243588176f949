// One instruction that names shared memory of the cluster, on a single CTA, under each way to launch it: whether a device
// executes it at all depends on whether the launch names a cluster.
//
// The output is memory afterwards, of which the last word of each thread is %is_explicit_cluster. Which instructions, and the
// kernel round each: launch_case.cc. The device: cuda/probe/statement_sm90.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "oracle/recording/case.h"
#include "oracle/recording/fields.h"
#include "oracle/recording/kernel_frame.h"

namespace tcq::oracle {

// Who says that there is a cluster: of one CTA, wherever one is named.
enum class NamedBy : std::uint8_t { Nobody, Launch, Required, LaunchOfExplicit };
inline constexpr int named_by_count = 4;

struct LaunchCase {
  static constexpr int first_code = 27;
  static constexpr int kind_count = 1;

  std::string name;  // of a row
  NamedBy named_by = NamedBy::Nobody;

  friend bool operator==(const LaunchCase&, const LaunchCase&) = default;
};

inline constexpr std::uint32_t launch_threads = 32;

constexpr bool has_attribute(const LaunchCase& e) {
  return e.named_by == NamedBy::Launch || e.named_by == NamedBy::LaunchOfExplicit;
}

void fields(Fields& io, LaunchCase& e);
KernelMemory state(const LaunchCase& e, const Inputs& inputs);
Prediction predict(const LaunchCase& e, const Inputs& inputs, const KernelMemory& before);
std::string describe(const LaunchCase& e, const Inputs& inputs);
std::string place(const LaunchCase& e, const Inputs& inputs, std::size_t at);
Properties properties(const LaunchCase& e, const Inputs& inputs);
std::size_t output_bytes(const LaunchCase& e, const Inputs& inputs);

}  // namespace tcq::oracle
