// The options of a command line, read: for every reader of one.
//
// CLI11 takes words apart, in command_line.cc alone, as its headers cost as much to compile as a folder of this tree.
// What it leaves over is refused in a sentence that names the nearest option. Example: with flag("--json", json) and
// word("--seed", seed) the words `--seed 3 x` leave json false, make seed "3", and "x" goes to rest().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

class OptionReader {
 public:
  OptionReader();
  ~OptionReader();

  // Names as "-h,--help"; what they stand for keeps its value where they are not given.
  void flag(const std::string& names, bool& given);
  void word(const std::string& names, std::string& value);
  void each(const std::string& name,
            std::vector<std::string>& values);  // one word each time it is given
  // Words that are no option's: the first of them, or all; `what` is how given() calls them.
  void first(const std::string& what, std::string& word);
  void rest(const std::string& what, std::vector<std::string>& words);

  // Throws UsageError: for what cannot be read, for an unknown option and for an empty value, which would look like an
  // option that was not given.
  void read(std::vector<std::string> words);

  bool has(const std::string& name) const;  // was it given?
  std::vector<std::string> given() const;

 private:
  struct App;
  std::unique_ptr<App> app_;
};

}  // namespace tcq::oracle
