#include "oracle/recording/experiment.h"

#include <algorithm>

#include "sim/num/inputs/draw.h"

namespace tcq::oracle {

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Completed: return "completed";
    case Outcome::Timeout: return "did not complete";
    case Outcome::Trap: return "trapped";
    case Outcome::Refused: return "did not see it: the driver refuses the tensor map";
    case Outcome::Leak: return "leaked Tensor Memory";
    case Outcome::Hang: return "hung";
    case Outcome::ProbeFailed: return "probe failed";
    case Outcome::NotRun: return "not run";
  }
  return "";
}

std::vector<std::uint64_t> hash_blocks(const std::vector<std::uint8_t>& output) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t first = 0; first < output.size(); first += block_bytes) {
    std::uint64_t hash = first;
    for (std::size_t i = first; i < std::min(first + block_bytes, output.size()); ++i)
      hash = mix(hash ^ output[i]);
    hashes.push_back(hash);
  }
  return hashes;
}

std::uint64_t hash_of_inputs(const Case& c) {
  return on(c, [](const auto& e, const Inputs& in) { return hash_inputs(state(e, in)); });
}

Prediction predict(const Case& c) {
  return on(c, [](const auto& e, const Inputs& in) { return predict(e, in, state(e, in)); });
}

std::string describe(const Case& c) {
  return on(c, [](const auto& e, const Inputs& in) { return describe(e, in); });
}

std::string place(const Case& c, std::size_t at) {
  return on(c, [at](const auto& e, const Inputs& in) { return place(e, in, at); });
}

std::size_t output_width(const Case& c) {
  return on(c, [](const auto& e, const Inputs&) -> std::size_t {
    if constexpr (requires { output_width(e); })
      return output_width(e);
    else
      return 1;
  });
}

std::optional<std::size_t> output_bytes(const Case& c) {
  return on(c, [](const auto& e, const Inputs& in) -> std::optional<std::size_t> {
    if constexpr (requires { output_bytes(e, in); })
      return output_bytes(e, in);
    else
      return std::nullopt;
  });
}

void set_answer(Case& c, Outcome outcome, std::vector<std::uint8_t> output, std::uint32_t error) {
  c.input_hash = hash_of_inputs(c);
  c.outcome = outcome;
  c.error = error;
  c.output = std::move(output);
  c.hashes = hash_blocks(c.output);
}

}  // namespace tcq::oracle
