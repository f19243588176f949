// Runs tcq with given words and stdin: the program, or under sanitizers, whose programs take longer to start than most
// answers do, its main() within the test. Leaks are then looked for once, when the test ends, and what one
// question leaves behind meets the next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests_where.h"

#ifdef TCQ_SANITIZE
#include <sanitizer/common_interface_defs.h>
#include <stdio_ext.h>

int tcq_main(int argc, char** argv);  // main() of tools/tcq.cc
#endif

namespace tcq::tests {

#ifdef TCQ_SANITIZE
// While it lives, a standard stream's descriptor is the file's.
class Redirected {
 public:
  Redirected(int stream, std::FILE* file) : stream_(stream), before_(dup(stream)) {
    dup2(fileno(file), stream);
  }
  ~Redirected() {
    dup2(before_, stream_);
    close(before_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int stream_;
  int before_;
};

inline int status_of_main(std::vector<std::string> words) {
  words.insert(words.begin(), "tcq");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int status = tcq_main(static_cast<int>(words.size()), argv.data());
  std::fflush(stdout);
  __fpurge(stdout);  // what a full disk did not take
  std::clearerr(stdout);
  return status;
}

inline Finished run_tcq(const std::vector<std::string>& words, const std::string& input = "",
                        const char* stdout_path = nullptr) {
  static const int reports = dup(STDERR_FILENO);  // what sanitizers find is for who runs the test
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(reports)));
  std::fflush(nullptr);
  std::FILE* in = temporary_file(input);
  std::FILE* out = stdout_path != nullptr ? std::fopen(stdout_path, "r+") : temporary_file();
  std::FILE* err = temporary_file();
  int status = 0;
  {
    const Redirected from(STDIN_FILENO, in), to(STDOUT_FILENO, out), beside(STDERR_FILENO, err);
    status = status_of_main(words);
  }
  std::fclose(in);
  if (stdout_path != nullptr) std::fclose(out);
  return {status, stdout_path != nullptr ? "" : contents(out), contents(err)};
}
#else
inline Finished run_tcq(const std::vector<std::string>& words, const std::string& input = "",
                        const char* stdout_path = nullptr) {
  return run(TCQ_BINARY, words, input, stdout_path);
}
#endif

}  // namespace tcq::tests
