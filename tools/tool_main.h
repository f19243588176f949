// What the main() of every tool on a GPU does: parse, run, and turn errors into exit status and a
// sentence.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::tools {

inline constexpr int exit_mismatch = 1;
inline constexpr int exit_usage = 2;

// Words of the command line and of files are in sentences.
inline int complain(const char* name, const std::exception& error, int status) {
  fmt::print(stderr, "{}: {}\n", name, oracle::terminal_text(error.what()));
  return status;
}

// `run` returns the exit status. Usage errors are 2, everything else that goes wrong is 1.
template <class Run>
int tool_main(CLI::App& app, const char* name, int argc, char** argv, Run&& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(name, error, exit_usage);
  }
  try {
    return run();
  } catch (const oracle::UsageError& error) {
    return complain(name, error, exit_usage);
  } catch (const std::exception& error) {
    return complain(name, error, exit_mismatch);
  }
}

}  // namespace tcq::tools
