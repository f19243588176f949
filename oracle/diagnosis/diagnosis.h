// What is wrong with a program, in sentences: the instruction, the access it conflicts with, the
// bytes or registers, the missing instruction and where it belongs, the section of the manual.
//
// Findings come from sim/async/explore.h; what a Fault is in general says `tcq explain` (explain.h).
// Example:
//
//   undefined ProxyFenceMissing
//   wgmma.m64n8k16.f32.f16.f16 at p1.cc:31 (math, warp 0) reads A [0x400,0x410) through the async
//   proxy; st.shared.b32 [A], r0 at p1.cc:27 (math, thread 0) wrote it through the generic proxy and
//   its thread has executed no fence.proxy.async since.
//   fix: put fence.proxy.async behind p1.cc:27, in every writing thread, before the barrier.
//   source: PTX ISA 9.2, 8.6; 9.7.13.4
#pragma once

#include <string>

#include "sim/async/explore.h"

namespace tcq::oracle {

// One line each: what happened with all places, and what to do about it there.
std::string what_happened(const machine::Program& program, const machine::Finding& finding);
std::string what_to_do(const machine::Program& program, const machine::Finding& finding);

// Kind and name, what happened, who waits for what, fix, source.
std::string diagnosis(const machine::Program& program, const machine::Finding& finding);

// The verdict, how much was executed, the finding, and what is suspect or slow.
std::string report_text(const machine::Program& program, const machine::Report& report);

// The same as one JSON object.
std::string report_json(const machine::Program& program, const machine::Report& report);

}  // namespace tcq::oracle
