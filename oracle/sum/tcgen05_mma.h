// `tcq mma` for tcgen05.mma: data lines -> the bits of D, through sim/num/tcgen05_dot.h.
//
// A line is `a b c`, for block-scaled kinds `a b c sfa sfb`: a and b are the K elements of one row
// of A and one column of B, comma separated, in fixed-width hex (data_line.h); sfa and sfb the scale
// factors of that row and column, two digits each; c and the answer are fixed-width hex. Sparse: a
// holds the stored elements and b those that they meet, in the same order. Rows may be shorter or longer
// than K, and hold decimals (data_row.h). Example, kind mxf8f6f4
// of e4m3: 38,00,...  38,00,...  00000000  7f  80 gives 40000000. Reading the mnemonic is not done
// here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/sum/sum_story.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {

// How a line is read and answered.
struct LineStyle {
  Style style = Style::Text;
  bool decimals = false;
  bool explain = false;
};

// What the numbers of the instruction of a question depend on; throws FaultError where nobody knows them.
tcgen05::DotForm dot_form_of(const Question& question, const Keys& keys);

// One data line. With Style::Json also the evidence. Requires: a form that exists. Throws UsageError
// and FaultError.
Answer tcgen05_mma_line(const tcgen05::DotForm& form, std::string_view line, LineStyle style);

// The answer to a line: the bits of D, or the stories of its instructions, as text or with `more` in JSON.
Answer mma_answer(Type type, std::uint32_t d, const std::vector<SumStory>& stories, LineStyle style,
                  Value::Members more);

// How sure the answers are, for stderr, once: "evidence: published: SENTENCE", one line per reason.
std::string tcgen05_mma_evidence(const tcgen05::DotForm& form);

}  // namespace tcq::oracle
