// The golden questions as a file: tests/cli/golden_test.cc says what its lines mean.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_tcq.h"
#include "tests/support/source_tree.h"

namespace tcq::tests {

inline constexpr const char* golden_file = "tests/cli/golden.txt";

struct Asked {
  std::string question;  // words after tcq
  std::vector<std::string> input;
  std::string recorded;  // the lines below it
};

struct Golden {
  std::string head;  // comments before the first question
  std::vector<Asked> questions;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

inline Golden read_golden() {
  Golden golden;
  std::ifstream file(source_file(golden_file));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ "))
      golden.questions.push_back({line.substr(2), {}, ""});
    else if (golden.questions.empty())
      golden.head += line + "\n";
    else if (line.starts_with("< "))
      golden.questions.back().input.push_back(line.substr(2));
    else
      golden.questions.back().recorded += line + "\n";
  }
  return golden;
}

inline Finished asked_of_tcq(const Asked& asked, bool json) {
  std::vector<std::string> words = split(asked.question, ' ');
  if (json) words.push_back("--json");
  std::string input;
  for (const std::string& line : asked.input) input += line + "\n";
  return run_tcq(words, input);
}

}  // namespace tcq::tests
