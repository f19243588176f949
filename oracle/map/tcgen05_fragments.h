// The verbs where, what, table, equation and bytes for tcgen05; fragments.cc, fragment_table.cc,
// equation.cc and descriptors.cc dispatch.
#pragma once

#include "oracle/answer/answer.h"

namespace tcq::oracle {

Answer where_tcgen05(const Question& question);
Answer what_tcgen05(const Question& question);
Answer equation_tcgen05(const Question& question);
Answer bytes_tcgen05(const Question& question);

// tcgen05_table.cc
Answer table_tcgen05(const Question& question);

}  // namespace tcq::oracle
