// What the main() of every tool on a GPU does: parse, run, and turn errors into exit status and a
// sentence.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "oracle/answer.h"

namespace tcq::tools {

inline constexpr int exit_mismatch = 1;
inline constexpr int exit_usage = 2;

// `run` returns the exit status. Usage errors are 2, everything else that goes wrong is 1.
template <class Run>
int tool_main(CLI::App& app, const char* name, int argc, char** argv, Run&& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  try {
    return run();
  } catch (const oracle::UsageError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return exit_mismatch;
  }
}

}  // namespace tcq::tools
