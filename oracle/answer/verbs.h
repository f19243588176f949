// The verbs: one function per question of the command line, and the file it lives in.
//
// A verb throws UsageError or UnmodelledError; answer() in oracle/oracle.cc turns these into Answers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

// verbs.cc, table.cc, equation.cc of oracle/map: elements <-> places.
Answer where(const Question& question);
Answer what(const Question& question);
Answer table(const Question& question);
Answer equation(const Question& question);
Answer bytes(const Question& question);

// diff.cc: two layouts of one matrix.
Answer diff(const Question& question);

// banks.cc: bank conflicts of an access to shared memory.
Answer banks(const Question& question);

// instructions.cc: what exists and what it is.
Answer list(const Question& question);
Answer describe(const Question& question);

// descriptors.cc: words.
Answer decode(const Question& question);
Answer encode(const Question& question);

// layout.cc, partition.cc: how to lay a tile out.
Answer layout(const Question& question);
Answer partition(const Question& question);

// tmem.cc: a plan for Tensor Memory.
Answer tmem(const Question& question);

// errata.cc: published claims that are wrong.
Answer errata(const Question& question);

// explain.cc: what a Fault or a message of ptxas means and what cures it.
Answer explain(const Question& question);

// Verbs that read lines from stdin answer one line at a time; question.words are the words after
// the verb, `line` is the input line. mma.cc, check_stream.cc.
Answer mma_line(const Question& question, std::string_view line);
// The words of `mma`: numbers among them are a line, which is answered; else the text is empty, and lines follow.
Answer mma_words(const Question& question);
Answer check_line(const Question& question, std::string_view line);

// Verbs that read all of stdin at once. emission.cc.
Answer emission_stream(const Question& question, std::span<const std::string> lines);

// Throws what the words after `mma` or `check` deserve, before any line is read; returns what is to
// be said about all answers: how sure those of tcgen05.mma are. mma.cc.
std::string check_line_words(const Question& question);

}  // namespace tcq::oracle
