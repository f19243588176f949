// A picture as plain shapes: boxes, words and lines with a role each, on a sheet that is as large as they need.
//
// Unit: points, letters of 10 points and 6 wide, so that a picture printed at its own size is read like the text around
// it. What a role looks like on light and on dark pages, and the file: svg.h. What is drawn: grid_picture.h, ruler.h,
// and the pictures of the verbs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

namespace sheet {
inline constexpr int letter_width = 6;
inline constexpr int line_height = 15;
inline constexpr int baseline = 4;  // of a letter, above the lower edge of its line
inline constexpr int margin = 10;
inline constexpr int widest = 800;  // a page of A4 lying down
}  // namespace sheet

enum class Ink {
  Title,
  Text,
  Dim,     // what is said beside
  Label,   // on a coloured box
  Box,     // coloured
  Faded,   // coloured, and not what is asked about
  Unread,  // holds nothing, or nothing that is read
  Mark,    // an outline around what is asked about
  Line,
  Waiting,  // a box: somebody waits
  Arrow,    // its second end is the point
  Bad,      // an outline: what is wrong
};
inline constexpr std::size_t inks = 12;

enum class Anchor { Start, Middle, End };

struct Box {
  int x = 0, y = 0, width = 0, height = 0;
};

struct Shape {
  enum class Kind { Box, Words, Line };
  Kind kind = Kind::Box;
  Ink ink = Ink::Text;
  Box at;  // of a line: from (x, y) on, so far to the right and down; of words: x, y
  Anchor anchor = Anchor::Start;
  std::string text;  // of words; of a box its colour
};

struct Drawing {
  std::string title;
  int width = 0, height = 0;
  std::vector<Shape> shapes;

  void box(Ink ink, Box at, std::string colour = "");
  // In the line whose upper edge is y.
  void words(Ink ink, int x, int y, std::string text, Anchor anchor = Anchor::Start);
  void line(Ink ink, int x1, int y1, int x2, int y2);
  // Lines of at most `letters` letters; returns the y below them.
  int paragraph(Ink ink, int x, int y, const std::string& text, int letters);
};

// Pastel, dark letters can be read on it: hues go round the circle, shades get darker.
std::string pastel(int hue, int hues, int shade = 0, int shades = 1);

int width_of(std::string_view words);  // in points

}  // namespace tcq::oracle
