// What the tests of `emission` share: statements of the protocol, and what is found in a text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/ptx/emission.h"
#include "tests/support/ask.h"

namespace tcq::oracle::emission_kit {

inline constexpr const char* fence = "wgmma.fence.sync.aligned;";
inline constexpr const char* commit = "wgmma.commit_group.sync.aligned;";

inline std::string wait(int n) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(n) + ";";
}

// m64n8k16 on four registers from `first` on.
inline std::string mma(int first, bool accumulate, const std::string& shape = "m64n8k16") {
  const std::string f = "%f" + std::to_string(first) + "..%f" + std::to_string(first + 3);
  const bool half = shape.ends_with("k16");
  return "wgmma.mma_async.sync.aligned." + shape + (half ? ".f32.f16.f16" : ".f32.e4m3.e4m3") +
         " {" + f + "}, %rd1, %rd2, " + (accumulate ? "1" : "0") + ", 1, 1" +
         (half ? ", 0, 0;" : ";");
}

using Lines = std::vector<std::string>;

inline std::vector<EmissionFinding> check(const Lines& lines) {
  return check_emission(lines, Target::sm_90a);
}

inline Status status_of(const Lines& lines) {
  return answer_stream(Question{"emission", {}, {}}, lines).status;
}

// Faults with their lines; what is not followed is left out.
inline std::vector<std::pair<std::size_t, Fault>> faults(const Lines& lines) {
  std::vector<std::pair<std::size_t, Fault>> found;
  for (const EmissionFinding& f : check(lines))
    if (f.fault != Fault::None) found.emplace_back(f.line, f.fault);
  return found;
}

using Found = std::vector<std::pair<std::size_t, Fault>>;

inline std::string first_text(const Lines& lines) {
  const auto found = check(lines);
  return found.empty() ? "" : found[0].text;
}

}  // namespace tcq::oracle::emission_kit
