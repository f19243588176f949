// A kernel round a few statements, and the memory that it finds: what statement_case.h and launch_case.h have in common.
//
// Decides the text, not what is tried. In shared memory lie x, y and an mbarrier that thread 0 makes; then all meet, the
// statements follow, and whoever must wait for the mbarrier does. Registers of every kernel: %r1 thread, %r2 x, %r3 y, %r4
// mbarrier, %rd1 memory, %p1 thread 0. A recording names a text by its hash: a letter of it changed is another suite.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/fields.h"

namespace tcq::oracle {

struct KernelFrame {
  std::string_view parameters;  // the first is memory
  std::string_view directives;
  std::uint32_t shared_bytes;  // of x, and of y
  std::string_view registers;
  std::string_view opening;  // sets %p1 and what else the statements need
  std::string_view meeting;  // a barrier
  std::string_view passed;   // the predicate of the waiting
  std::string_view end;
};

struct FramedStatements {
  std::string_view body;
  std::uint32_t expected = 0;  // bytes that the mbarrier waits for
  bool waits = false;          // all do, where bytes are expected or this says so
};

std::string kernel_text(const KernelFrame& frame, const FramedStatements& statements);

struct KernelMemory {
  std::vector<std::uint8_t> bytes;
  std::string text;  // of the kernel that finds them
};
std::uint64_t hash_inputs(const KernelMemory& memory);

// The name of a row in a file; `what` is its length.
void name_field(Fields& io, std::string& name, const char* what);

}  // namespace tcq::oracle
