// Shapes, and the sheet that grows with them; see drawing.h.
#include "oracle/answer/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tcq::oracle {
namespace {

void make_room(Drawing& drawing, int right, int lower) {
  drawing.width = std::max(drawing.width, right + sheet::margin);
  drawing.height = std::max(drawing.height, lower + sheet::margin);
}

// Channel of a hue in [0, 6): 1 at `centre`, falling to 0 two sixths away.
double channel(double hue, double centre) {
  double distance = std::abs(hue - centre);
  distance = std::min(distance, 6 - distance);
  return std::clamp(2 - distance, 0.0, 1.0);
}

}  // namespace

int width_of(std::string_view words) {
  return sheet::letter_width * static_cast<int>(words.size());
}

void Drawing::box(Ink ink, Box at, std::string colour) {
  make_room(*this, at.x + at.width, at.y + at.height);
  shapes.push_back({Shape::Kind::Box, ink, at, Anchor::Start, std::move(colour)});
}

void Drawing::words(Ink ink, int x, int y, std::string text, Anchor anchor) {
  if (text.empty()) return;
  const int letter = ink == Ink::Title ? 8 : sheet::letter_width;
  const int width = letter * static_cast<int>(text.size());
  make_room(*this,
            anchor == Anchor::Start    ? x + width
            : anchor == Anchor::Middle ? x + width / 2
                                       : x,
            y + sheet::line_height);
  shapes.push_back({Shape::Kind::Words,
                    ink,
                    {x, y + sheet::line_height - sheet::baseline, 0, 0},
                    anchor,
                    std::move(text)});
}

void Drawing::line(Ink ink, int x1, int y1, int x2, int y2) {
  make_room(*this, std::max(x1, x2), std::max(y1, y2));
  shapes.push_back({Shape::Kind::Line, ink, {x1, y1, x2 - x1, y2 - y1}, Anchor::Start, ""});
}

int Drawing::paragraph(Ink ink, int x, int y, const std::string& text, int letters) {
  const auto most = static_cast<std::size_t>(std::max(letters, 1));
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.size(), at + most);
    if (end < text.size()) {
      const std::size_t blank = text.rfind(' ', end);
      if (blank != std::string::npos && blank > at) end = blank;
    }
    words(ink, x, y, text.substr(at, end - at));
    y += sheet::line_height;
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return y;
}

std::string pastel(int hue, int hues, int shade, int shades) {
  const double angle = 6.0 * hue / std::max(1, hues);
  const double strength = 0.25 + 0.3 * shade / std::max(1, shades - 1);
  const auto byte = [&](double centre) {
    return static_cast<int>(255 * (1 - strength * (1 - channel(angle, centre))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(0), byte(2), byte(4));
}

}  // namespace tcq::oracle
