// What is doubtful about a Map, beside an answer about it.
#pragma once

#include <string>

#include "oracle/answer/answer.h"
#include "oracle/map/map.h"

namespace tcq::oracle {

// "note: SENTENCE" lines without the last newline; "" if there is nothing to say.
std::string notes_text(const Map& map);

// The answer with the notes: as lines of the text in Style::Text, else as the complaint.
Answer with_notes(const Map& map, std::string text, Style style);

}  // namespace tcq::oracle
