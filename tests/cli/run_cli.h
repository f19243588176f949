// Runs of `tcq run` on PTX that a test writes.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/run_tcq.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq::tests {

inline const std::string& head() {
  static const std::string text = ".version 8.5\n.target sm_90a\n.address_size 64\n";
  return text;
}

class RunCli : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  // 64 words turned around; with `barrier` rightly.
  std::string reverse(bool barrier) const {
    std::ifstream in(source_file("docs/kernels/reverse.ptx"));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (barrier) text.replace(text.find("// bar.sync"), 11, "bar.sync");
    return write("reverse.ptx", text);
  }
  static Finished ask(std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    return run_tcq(words);
  }
  static void expect_usage(std::vector<std::string> words, const std::string& part) {
    const Finished done = ask(std::move(words));
    EXPECT_EQ(done.status, 2) << done.out;
    EXPECT_NE(done.err.find(part), std::string::npos) << done.err;
    EXPECT_EQ(done.out, "");
  }
  TemporaryFolder folder_;
};

}  // namespace tcq::tests
