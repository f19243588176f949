// Which tcgen05.mma takes an instruction descriptor, and what the nearest legal one is.
//
// The word alone does not say it: cta_group, .ws, .sp and .scale_vec are the opcode's. Decides
// which opcodes are tried and which verdict is told if none takes it; what is legal is
// sim/isa/tcgen05/shape.h. Example: M = 256 with N = 8 fits the format of kind f16, and no
// instruction: cta_group::2 wants N in steps of 16; nearest legal are n=16 and m=128.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"

namespace tcq::oracle {

// What is known of the opcode; what is not may be anything.
struct OpcodeChoice {
  std::optional<int> cta_group = {};
  std::optional<bool> ws = {};
  std::optional<bool> sparse = {};
  std::optional<tcgen05::ScaleVec> scale_vec = {};
  tcgen05::Place a_place = tcgen05::Place::Smem;
};

// The Fault of the opcode that comes closest, None if one takes the descriptor.
struct IdescVerdict {
  Fault fault;
  tcgen05::MmaOpcode opcode;
};

IdescVerdict verdict_on(const tcgen05::InstructionDescriptor& d, tcgen05::Kind kind,
                        const OpcodeChoice& choice);

using IdescIsLegal = std::function<bool(const tcgen05::InstructionDescriptor&)>;

// "; nearest legal: n=16 or m=128": what becomes legal by one change, or by one of M and one of N;
// "" if nothing does.
std::string nearest_legal(const tcgen05::InstructionDescriptor& d, const IdescIsLegal& is_legal);

// "tcgen05.mma.ws.sp.cta_group::1.kind::f16 with M 64, N 72", and ", illegal: SENTENCE" behind it.
std::string subject_text(const IdescVerdict& verdict, const tcgen05::InstructionDescriptor& d);
std::string verdict_text(const IdescVerdict& verdict, const tcgen05::InstructionDescriptor& d);

}  // namespace tcq::oracle
