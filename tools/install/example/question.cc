// The same question in the words of the command line.
#include <cstdio>

#include "oracle/answer/answer.h"

int main() {
  const tcq::oracle::Answer answer = tcq::oracle::answer(
      {"where", {"wgmma.m64n24k16.f32.bf16.bf16", "D", "row=9", "col=13"}, {}});
  std::printf("%s\n", answer.text.c_str());
  return static_cast<int>(answer.status);
}
