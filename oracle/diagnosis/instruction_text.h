// The machine's instructions as PTX-like text, and where in a program they stand.
//
// For diagnoses (diagnosis.h): opcode and the operands that matter, shared addresses by the names of
// their allocations. Example: `mbarrier.try_wait.parity full[1], 0`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/program.h"

namespace tcq::oracle {

// `full[1]`, `A + 0x40`; an address outside every allocation as a number.
std::string address_text(const machine::Program& program, std::uint32_t address);

// `A[0x1000,0x1400)`: the allocation, then the bytes by absolute address.
std::string bytes_text(const machine::Program& program, machine::ByteRange bytes);

std::string instruction_text(const machine::Program& program, const machine::Instruction& what);

// `gemm.cc:40`.
std::string line_text(const machine::Statement& statement);
std::string line_text(const machine::Program& program, const machine::Place& place);

// From the statement's own line to that of the kernel, through the functions that were inlined between: `barrier.h:50`,
// `pipeline.h:30`, `gemm.cu:88`. Lines that follow on themselves count once.
std::vector<std::string> lines_of(const machine::Program& program, const machine::Place& place);

// `wgmma.mma_async... at gemm.cc:40 (consumer, CTA 0 thread 17)`; of inlined code `at barrier.h:50, inlined at pipeline.h:30, at
// gemm.cu:88`.
std::string place_text(const machine::Program& program, const machine::Place& place);

// `thread 17`, `warp 3`, with the CTA where there are several.
std::string who_text(const machine::Program& program, const machine::Place& place);

}  // namespace tcq::oracle
