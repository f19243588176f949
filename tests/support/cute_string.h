// Evaluates CuTe layouts written as text, "((4,8),(2,4)):((32,1),(16,8))": coordinates -> offset.
//
// A second formulation for tests: it knows nothing of registers or addresses. The shape's top-level
// modes take one coordinate each, which is split colexicographically (first mode fastest) over the
// mode's extents. Example: coordinates {9, 3} of the string above are (9 % 4, 9 / 4) and
// (3 % 2, 3 / 2), so the offset is 1*32 + 2*1 + 1*16 + 1*8 = 58.
#pragma once

#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace tcq::cute {

struct Mode {
  std::vector<int> shape;
  std::vector<int> stride;
};

// Top-level modes of one side of the colon, each flattened to its integers.
inline std::vector<std::vector<int>> parse_side(const std::string& text) {
  std::vector<std::vector<int>> modes;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
      std::size_t used = 0;
      if (depth == 1) modes.emplace_back();
      modes.back().push_back(std::stoi(text.substr(i), &used));
      i += used;
      continue;
    }
    if (text[i] == '(' && ++depth == 2) modes.emplace_back();
    if (text[i] == ')') --depth;
    ++i;
  }
  return modes;
}

class Layout {
 public:
  explicit Layout(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto shapes = parse_side(text.substr(0, colon));
    const auto strides = parse_side(text.substr(colon + 1));
    if (shapes.size() != strides.size()) throw std::invalid_argument("modes differ: " + text);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() != strides[i].size())
        throw std::invalid_argument("extents differ: " + text);
      modes_.push_back({shapes[i], strides[i]});
    }
  }

  // Number of coordinates of one top-level mode.
  int size(std::size_t mode) const {
    int product = 1;
    for (const int extent : modes_.at(mode).shape) product *= extent;
    return product;
  }

  int operator()(std::initializer_list<int> coordinates) const {
    if (coordinates.size() != modes_.size()) throw std::invalid_argument("wrong rank");
    int offset = 0;
    std::size_t mode = 0;
    for (int coordinate : coordinates) {
      const Mode& m = modes_[mode];
      if (coordinate < 0 || coordinate >= size(mode)) throw std::out_of_range("coordinate");
      for (std::size_t i = 0; i < m.shape.size(); ++i) {
        offset += coordinate % m.shape[i] * m.stride[i];
        coordinate /= m.shape[i];
      }
      ++mode;
    }
    return offset;
  }

 private:
  std::vector<Mode> modes_;
};

}  // namespace tcq::cute
