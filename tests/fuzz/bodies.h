// What has to hold of any bytes, one body for each reader of them: nothing crashes, hangs or is refused without a
// sentence, and what was accepted is what was read.
//
// The rounds of fuzz_questions_test.cc and fuzz_files_test.cc run them on mutations with a fixed seed; fuzz_main.cc
// makes a libFuzzer program of each (build preset "fuzz"), and corpus/ keeps what those found.
#pragma once

#include <stdexcept>
#include <string_view>

#include "sim/async/program.h"

namespace tcq::fuzz {

// A law does not hold; what() says which and of what.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

void question(
    std::string_view bytes);  // two bytes of options, "00" if none, then a verb and its words
void word(std::string_view
              bytes);  // a byte that says of what format, one what it is for, up to 8 of the word
void statement(std::string_view bytes);  // lines for `check`
void kernel(std::string_view bytes);     // a file of PTX
void stream(std::string_view bytes);     // lines for `emission`
void sum(std::string_view bytes);  // a line with a question for `mma`, then one with its operands
void recording(
    std::string_view bytes);  // '0' and a file, '1' and one of directed probes; +2: sealed
// A file for --replay, and the steps of one, which are followed on schedule_program().
void schedule(std::string_view bytes);
const machine::Program& schedule_program();

struct Body {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
inline constexpr Body bodies[] = {
    {"question", question}, {"word", word},        {"statement", statement},
    {"stream", stream},     {"sum", sum},          {"recording", recording},
    {"kernel", kernel},     {"schedule", schedule}};

}  // namespace tcq::fuzz
