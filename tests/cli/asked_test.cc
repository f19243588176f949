// Questions of public threads are answered at the first command: status 0, and the words that decide are in the answer;
// or 1, where no is the answer, which may be a complaint. The file: tests/cli/asked.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/golden.h"

namespace tcq::tests {
namespace {

struct Question {
  std::string text;
  std::string thread;
  Asked asked;
  std::vector<std::string> words;  // that the answer has
  int status = 0;
};

std::vector<Question> read_questions() {
  std::vector<Question> all;
  std::ifstream file(source_file("tests/cli/asked.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (line[0] == '?') all.push_back({rest, "", {}, {}, 0});
    if (all.empty()) continue;
    if (line[0] == '@') all.back().thread = rest;
    if (line[0] == '$') all.back().asked.question = rest;
    if (line[0] == '<') all.back().asked.input.push_back(rest);
    if (line[0] == '=') all.back().status = std::stoi(rest);
    if (line[0] == '>') all.back().words.push_back(rest);
  }
  return all;
}

TEST(Asked, EveryQuestionIsAnsweredAtTheFirstCommand) {
  std::set<std::string> commands, threads;
  for (const Question& question : read_questions()) {
    EXPECT_TRUE(question.thread.starts_with("https://")) << question.text;
    ASSERT_FALSE(question.asked.question.empty()) << question.text;
    ASSERT_FALSE(question.words.empty()) << question.text;
    EXPECT_TRUE(commands.insert(question.asked.question).second) << "twice: " << question.text;
    threads.insert(question.thread);
    const Finished done = asked_of_tcq(question.asked, false);
    EXPECT_EQ(done.status, question.status) << question.text << "\n"
                                            << question.asked.question << done.err;
    const std::string said = done.status == 1 ? done.out + done.err : done.out;
    for (const std::string& words : question.words)
      EXPECT_NE(said.find(words), std::string::npos)
          << question.text << "\ntcq " << question.asked.question << "\n"
          << words << " is not in\n"
          << said;
  }
  EXPECT_GE(commands.size(), 220u);
  EXPECT_GE(threads.size(), 190u);
}

}  // namespace
}  // namespace tcq::tests
