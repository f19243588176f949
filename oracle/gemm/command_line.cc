#include "oracle/gemm/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

void refuse_unknown_options(const CLI::App& app) {
  for (const std::string& extra : app.remaining()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw_unknown("option", extra.substr(0, extra.find('=')), views);
  }
}

void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && !option->get_lnames().empty())
        throw UsageError(
            fmt::format("--{} has an empty value: expected a word", option->get_lnames()[0]));
}

}  // namespace

struct OptionReader::App {
  CLI::App app;
};

OptionReader::OptionReader() : app_(std::make_unique<App>()) {
  app_->app.set_help_flag();
  app_->app.allow_extras();
}

OptionReader::~OptionReader() = default;

void OptionReader::flag(const std::string& names, bool& given) { app_->app.add_flag(names, given); }

void OptionReader::word(const std::string& names, std::string& value) {
  app_->app.add_option(names, value);
}

void OptionReader::each(const std::string& name, std::vector<std::string>& values) {
  app_->app.add_option(name, values)->expected(1)->allow_extra_args(false)->take_all();
}

void OptionReader::first(const std::string& what, std::string& word) {
  app_->app.add_option(what, word);
}

void OptionReader::rest(const std::string& what, std::vector<std::string>& words) {
  app_->app.add_option(what, words);
}

void OptionReader::read(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app_->app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw UsageError(printable(error.what()));
  }
  refuse_unknown_options(app_->app);
  refuse_empty_values(app_->app);
}

bool OptionReader::has(const std::string& name) const { return app_->app.count(name) > 0; }

std::vector<std::string> OptionReader::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->app.get_options())
    if (option->count() > 0) names.push_back(option->get_name());
  return names;
}

}  // namespace tcq::oracle
