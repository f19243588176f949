// A drawing as the text of an SVG file, and writing a file whole.
//
// Decides what the roles of shapes look like, on paper and on light and dark pages (prefers-color-scheme). The same
// drawing gives the same bytes, which ask for nothing from anywhere: no font, no script, no link.
#pragma once

#include <string>

#include "oracle/answer/drawing.h"

namespace tcq::oracle {

std::string svg_text(const Drawing& drawing);

// Writes the whole file or nothing: through a temporary file beside it that is renamed. Throws
// UsageError with the reason if the path cannot be written.
void write_whole_file(const std::string& path, const std::string& text);

}  // namespace tcq::oracle
