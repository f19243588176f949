// Evaluates C expressions of non-negative integers: + - * / % ^ & ( ), numbers and names.
//
// A second formulation for tests. Example: "8*(reg/4) + reg%2" with reg = 7 is 9.
#pragma once

#include <cctype>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tcq::tests {

class Evaluator {
 public:
  Evaluator(std::string_view text, const std::map<std::string, int>& names)
      : text_(text), names_(names) {}
  int value() { return exclusive_or(); }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  int exclusive_or() {
    int left = conjunction();
    while (peek() == '^') {
      ++at_;
      left ^= conjunction();
    }
    return left;
  }
  int conjunction() {
    int left = sum();
    while (peek() == '&') {
      ++at_;
      left &= sum();
    }
    return left;
  }
  int sum() {
    int left = product();
    while (peek() == '+' || peek() == '-') {
      const char op = text_[at_++];
      const int right = product();
      left = op == '+' ? left + right : left - right;
    }
    return left;
  }
  int product() {
    int left = atom();
    while (peek() == '*' || peek() == '/' || peek() == '%') {
      const char op = text_[at_++];
      const int right = atom();
      left = op == '*' ? left * right : op == '/' ? left / right : left % right;
    }
    return left;
  }
  int atom() {
    if (peek() == '(') {
      ++at_;
      const int inside = exclusive_or();
      if (peek() != ')') throw std::invalid_argument("unbalanced: " + std::string(text_));
      ++at_;
      return inside;
    }
    std::string word;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_')
      word += text_[at_++];
    return std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? std::stoi(word)
                                                                  : names_.at(word);
  }

  std::string_view text_;
  const std::map<std::string, int>& names_;
  std::size_t at_ = 0;
};

}  // namespace tcq::tests
