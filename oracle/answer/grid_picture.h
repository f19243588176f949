// A picture of a grid: one coloured, labelled cell per element, a title and a legend.
//
// Decides how a wide grid fits a page: columns beyond its width stand in bands below each other; of a large grid whose
// columns repeat their colours, those in the middle are left out, and the picture says so.
#pragma once

#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/drawing.h"

namespace tcq::oracle {

inline constexpr int unread = -1;  // as a hue: nothing is here, or nothing reads it

struct Cell {
  std::string label;
  int hue_index = unread;  // of hues: same hue, same lane or same bank
  int shade_index = 0;     // of shades: same shade, same warp
  bool marked = false;     // it is what was asked about
};

struct Picture {
  std::string title;
  std::string legend;      // one sentence: how to read a label
  std::string hue_word;    // what the hues tell apart, "lane"
  std::string shade_word;  // what the shades tell apart, "warp"; empty if nothing
  int hues = 1;
  int shades = 1;
  std::vector<std::string> column_names;
  std::vector<std::string> row_names;
  std::vector<std::vector<Cell>> cells;
  std::string marked_word = {};  // what is marked, "thread=5"; empty if nothing is
};

Drawing drawing_of(const Picture& picture);

// What `tcq table --svg FILE` does: the picture, transposed if asked, into the file, and a sentence
// or JSON about it. Throws UsageError as write_whole_file() does and for styles of tables.
Answer draw(Picture picture, const Options& options);

}  // namespace tcq::oracle
