// What `decode` remarks on a word, for the tests of every format.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/ask.h"

namespace tcq::oracle {

// All lints of "FORMAT WORD KEYS", joined.
inline std::string lints(const std::string& question) {
  std::string found;
  for (const std::string& line : split(text_of("decode " + question), '\n'))
    if (line.starts_with("lint: ")) found += line + "\n";
  return found;
}

inline void expect_lint(const std::string& part, const std::string& question) {
  EXPECT_NE(lints(question).find(part), std::string::npos)
      << question << "\nexpected: " << part << "\nfound:\n"
      << lints(question);
}

inline void expect_note(const std::string& part, const std::string& question) {
  EXPECT_NE(text_of("decode " + question).find("\nnote: " + part), std::string::npos)
      << text_of("decode " + question);
}

}  // namespace tcq::oracle
