// What CLI11 leaves over, refused in a sentence that names the nearest option: for every reader of a command line.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {

// Requires: app allows extras. Throws UsageError.
inline void refuse_unknown_options(const CLI::App& app) {
  for (const std::string& extra : app.remaining()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw_unknown("option", extra.substr(0, extra.find('=')), views);
  }
}

// An empty value would look like an option that was not given.
inline void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && !option->get_lnames().empty())
        throw UsageError(
            fmt::format("--{} has an empty value: expected a word", option->get_lnames()[0]));
}

}  // namespace tcq::oracle
