// One wgmma: the instruction, how its operands are drawn, and which elements of D are kept.
//
// The output is the kept elements, each as wide as its type. Which instructions are drawn:
// wgmma_suites.cc. The simulator: sim/machine/wgmma.h; the device: cuda/probe/wgmma_sm90.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/case.h"
#include "oracle/recording/fields.h"
#include "sim/machine/wgmma.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::oracle {

// How shared memory and registers are filled.
enum class Content : std::uint8_t {
  Mixture,      // operands drawn by sim/num/inputs/mixture.h, stored where the descriptors say
  RandomImage,  // all memory and registers random, in a range where every element counts
};

// Which outputs are kept.
enum class Keep : std::uint8_t {
  All,
  Diagonal,  // one per row of A and per column of B: D[i % 64][i % n] for i in [0, max(64, n))
};

struct WgmmaCase {
  wgmma::Instruction instruction = {};
  Content content = Content::Mixture;
  MixtureClass mixture = MixtureClass::Cluster;
  Keep keep = Keep::All;

  friend constexpr bool operator==(const WgmmaCase&, const WgmmaCase&) = default;
};

// The whole case: its file has an order of its own.
void fields(Fields& io, WgmmaCase& e, Inputs& inputs, Returned& answer);
// Descriptors may point anywhere. Throws BadFile if drawn operands do not fit.
wgmma::State state(const WgmmaCase& e, const Inputs& inputs);
std::uint64_t hash_inputs(const wgmma::State& state);
Prediction predict(const WgmmaCase& e, const Inputs& inputs, wgmma::State before);
std::string describe(const WgmmaCase& e, const Inputs& inputs);
std::string place(const WgmmaCase& e, const Inputs& inputs, std::size_t at);
Properties properties(const WgmmaCase& e, const Inputs& inputs);
std::size_t output_width(const WgmmaCase& e);
std::size_t output_bytes(const WgmmaCase& e, const Inputs& inputs);

// The kept elements, in the order of the output, and their bytes out of the registers.
std::vector<wgmma::Element> kept_elements(const WgmmaCase& e);
std::vector<std::uint8_t> kept_outputs(const WgmmaCase& e, const wgmma::State& state);

}  // namespace tcq::oracle
