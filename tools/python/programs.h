// Programs of the asynchronous machine (sim/async/program.h) as Python builds them.
//
// A Program owns the names of the source files that its statements come from: a Statement keeps pointers.
// Building needs the interpreter's lock; exploring works on a copy and lets go of it. What the oracle throws
// becomes an exception of tcq here, in place: chained calls return roles, not replies.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/async/program.h"
#include "tools/python/module.h"

namespace tcq::python {

struct Program {
  explicit Program(machine::Launch launch) : machine(launch) {}

  machine::Program machine;
  std::set<std::string> files;
};

// Statements for one range of warps. Requires: its program lives, which keep_alive sees to.
struct Role {
  Program* program;
  std::size_t segment;
  machine::Role role;
};

// The line of Python that calls; "" and 0 outside of any.
machine::Where calling_line(Program& program);

[[noreturn]] void raise(const Reply& reply);

// Calls `make()`; what the oracle throws is raised as the exception that tcq/_reply.py makes of it.
template <class Make>
auto raising(Make&& make) {
  using Result = decltype(make());
  std::optional<Result> result;
  const Reply reply = caught([&]() -> Reply {
    result.emplace(make());
    return {};
  });
  if (!result) raise(reply);
  return *std::move(result);
}

void add_operands(nanobind::module_& m);  // operands.cc: addresses, registers, cells
void add_statements(
    nanobind::class_<Role>& role);        // statements.cc: one method for each instruction
void add_programs(nanobind::module_& m);  // programs.cc: memory, roles, exploring

}  // namespace tcq::python
