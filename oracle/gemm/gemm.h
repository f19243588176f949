// The verb `tcq gemm`: D of whole GEMMs, bit by bit, from .npy files.
//
// Reading order: request.h (words), order.h (orders of accumulation), problem.h (operands), predict.h
// (bits), difference.h and rivals.h (a device's result), run.h, report.h. The sums are oracle/sum's.
#pragma once

#include <cstdio>
#include <span>
#include <string>

namespace tcq::oracle {

// `words` follow the verb. Answers go to `out`, complaints and progress to `err`. Returns the exit status:
// 0; 1 if a device's result is none of the predictions; 2 usage, damaged input, no room; 3 not modelled;
// 130 interrupted.
int answer_gemm(std::span<const std::string> words, std::FILE* out, std::FILE* err);

// The answer of a request that reads and writes no file, as text: for pages that show one.
std::string gemm_example(std::span<const std::string> words);

}  // namespace tcq::oracle
