// Asking the oracle in one line of words, as tests of its answers do.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

inline std::vector<std::string> split(const std::string& text, char separator = ' ') {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

inline Answer ask(const std::string& text, const Options& options = {}) {
  const std::vector<std::string> words = split(text);
  Question question{words[0], {}, options};
  question.words.assign(words.begin() + 1, words.end());
  return answer(question);
}

inline Options styled(Style style) {
  Options options;
  options.style = style;
  return options;
}

inline std::string text_of(const std::string& question, const Options& options = {}) {
  const Answer reply = ask(question, options);
  EXPECT_EQ(reply.status, Status::Yes) << question << ": " << reply.complaint;
  return reply.text;
}

inline Answer ask_line(const std::string& text, const std::string& line) {
  const std::vector<std::string> words = split(text);
  Question question{words[0], {}, {}};
  question.words.assign(words.begin() + 1, words.end());
  return answer_line(question, line);
}

}  // namespace tcq::oracle
