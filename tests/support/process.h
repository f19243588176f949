// Runs a program with given arguments and stdin; returns its exit status and both outputs.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace tcq::tests {

struct Finished {
  int status;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

// A nameless temporary file that holds `text`, positioned at its start.
inline std::FILE* temporary_file(const std::string& text = "") {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) std::abort();
  std::fwrite(text.data(), 1, text.size(), file);
  std::rewind(file);
  return file;
}

inline std::string contents(std::FILE* file) {
  std::string text;
  char buffer[65536];
  std::rewind(file);
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, n);
  std::fclose(file);
  return text;
}

inline Finished run(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& input = "", const char* stdout_path = nullptr) {
  std::FILE* in = temporary_file(input);
  std::FILE* out = stdout_path != nullptr ? std::fopen(stdout_path, "r+") : temporary_file();
  std::FILE* err = temporary_file();
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(in), STDIN_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::fclose(in);
  if (stdout_path != nullptr) std::fclose(out);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          stdout_path != nullptr ? "" : contents(out), contents(err)};
}

}  // namespace tcq::tests
