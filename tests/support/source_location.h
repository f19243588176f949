// std::source_location for clang before 16, which lacks the builtin that libstdc++ makes it of. Only builds with clang, those
// of the sanitizers and of libFuzzer, include this.
#pragma once

#include <source_location>

#ifndef __cpp_lib_source_location
namespace std {
class source_location {
 public:
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           unsigned line = __builtin_LINE()) {
    source_location at;
    at.file_ = file;
    at.line_ = line;
    return at;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
}  // namespace std
#endif
