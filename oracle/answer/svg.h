// A picture of a grid: one coloured, labelled cell per element, a title and a legend, as SVG.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

struct Cell {
  std::string label;
  int hue_index;    // of hues: same hue, same lane or same bank
  int shade_index;  // of shades: same shade, same warp
};

struct Picture {
  std::string title;
  std::string legend;      // one sentence: how to read a label
  std::string hue_word;    // what the hues tell apart, "lane"
  std::string shade_word;  // what the shades tell apart, "warp"; empty if nothing
  int hues;
  int shades;
  std::vector<std::string> column_names;
  std::vector<std::string> row_names;
  std::vector<std::vector<Cell>> cells;
};

std::string svg_text(const Picture& picture);

// Writes the whole file or nothing: through a temporary file beside it that is renamed. Throws
// UsageError with the reason if the path cannot be written.
void write_whole_file(const std::string& path, const std::string& text);

// What `tcq table --svg FILE` does: the picture, transposed if asked, into the file, and a sentence
// or JSON about it. Throws UsageError as write_whole_file() does and for styles of tables.
Answer draw(Picture picture, const Options& options);

}  // namespace tcq::oracle
