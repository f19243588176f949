// The verb `tcq run`: a compiled kernel on the machine of sim/async, its bits and what is wrong with it.
//
// Reading order: request.h (words), memory.h (arguments), report.h (answers). How PTX is executed: sim/run.
#pragma once

#include <cstdio>
#include <span>
#include <string>

namespace tcq::oracle {

// `words` follow the verb. Returns the exit status: 0 nothing undefined was found and all executions gave the same
// bits; 1 findings; 2 usage or damaged input; 3 something is not modelled; 130 interrupted.
int answer_run(std::span<const std::string> words, std::FILE* out, std::FILE* err);

}  // namespace tcq::oracle
