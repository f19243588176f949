// The pages of docs/ that answer a question, as far as their first example: what `explain` says where words are
// about a topic and no Fault.
//
// Title and first paragraphs are the page's own, embedded by embed.cmake; pictures and commands stay there. Example:
// `explain batch invariant` says the beginning of docs/batch_invariance.md.
#pragma once

#include <span>
#include <string>

#include "oracle/explain/prose.h"

namespace tcq::oracle {

struct GuidePage {
  std::string name;      // batch_invariance
  std::string question;  // the title
  std::string answer;    // the paragraphs before the first block or table, in one line
  std::string more;      // headings, paragraphs and tables of what follows, for searches
};

// Those whose title is a question.
std::span<const GuidePage> guide_pages();

// Of these pages, for tests.
std::vector<GuidePage> read_guide(std::span<const Page> pages);

}  // namespace tcq::oracle
