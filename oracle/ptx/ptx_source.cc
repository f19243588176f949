// Pieces of a PTX text; see ptx_source.h. Linear in the length of the text.
#include "oracle/ptx/ptx_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/ptx/letters.h"

namespace tcq::oracle {
namespace {

using PieceKind = PtxPiece::Kind;

std::string_view first_word(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return !is_word(c); });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// Directives that end with their line, or where the body of the kernel begins.
bool ends_with_line(std::string_view directive) {
  static constexpr std::array<std::string_view, 18> words = {"version",
                                                             "target",
                                                             "address_size",
                                                             "file",
                                                             "loc",
                                                             "maxntid",
                                                             "reqntid",
                                                             "minnctapersm",
                                                             "maxnctapersm",
                                                             "maxnreg",
                                                             "reqnctapercluster",
                                                             "explicitcluster",
                                                             "maxclusterrank",
                                                             "blocksareclusters",
                                                             "noreturn",
                                                             "abi_preserve",
                                                             "abi_preserve_control",
                                                             "language"};
  const std::string_view word = first_word(directive.substr(1));
  return std::find(words.begin(), words.end(), word) != words.end();
}

// `.visible .entry name(` and the like: a body or a semicolon follows.
bool is_header(std::string_view directive) {
  std::string_view rest = directive;
  for (int words = 0; words < 3 && rest.starts_with('.'); ++words) {
    const std::string_view word = first_word(rest.substr(1));
    if (word == "entry" || word == "func") return true;
    if (word != "visible" && word != "extern" && word != "weak" && word != "common") return false;
    rest = trimmed(rest.substr(1 + word.size()));
  }
  return false;
}

// Whether a line begins a statement, behind one without a semicolon.
bool begins_statement(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('@')) return true;
  const std::string_view word = first_word(line);
  if (word.empty() || !(is_letter(word[0]) || word[0] == '_' || word[0] == '$')) return false;
  const std::string_view rest = line.substr(word.size());
  if (rest.starts_with('.')) return true;
  const std::string_view next = trimmed(rest);
  if (next.starts_with(':') && !next.starts_with("::")) return true;
  return next.empty() ? word == "ret" || word == "exit" || word == "trap"
                      : next == ";" && word == "ret";
}

// Nothing but a guard: its instruction follows.
bool is_guard(std::string_view text) {
  if (!text.starts_with('@')) return false;
  text = trimmed(text.substr(1));
  if (text.starts_with('!')) text = trimmed(text.substr(1));
  return first_word(text).size() == text.size();
}

constexpr std::size_t longest_piece = std::size_t{4} << 20;

}  // namespace

std::vector<PtxPiece> PtxSource::take() { return std::exchange(pieces_, {}); }

std::string PtxSource::without_comments(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) {
    if (in_comment_) {
      const std::size_t end = line.find("*/", i);
      if (end == std::string_view::npos) return text;
      in_comment_ = false;
      i = end + 2;
    } else if (!in_string_ && line.substr(i, 2) == "//") {
      return text;
    } else if (!in_string_ && line.substr(i, 2) == "/*") {
      in_comment_ = true;
      text += ' ';
      i += 2;
    } else {
      if (line[i] == '"') in_string_ = !in_string_;
      text += line[i++];
    }
  }
  in_string_ = false;  // a string ends with its line
  return text;
}

void PtxSource::begin(char first) {
  line_ = number_;
  depth_ = 0;
  is_directive_ = first == '.';
}

void PtxSource::finish() {
  pieces_.push_back({is_directive_ ? PieceKind::Directive : PieceKind::Statement,
                     std::string(trimmed(text_)), line_});
  text_.clear();
}

void PtxSource::end_open() {
  finish();
  skip_semicolon_ = true;
}

// Both return how many characters belong to the piece; they finish it where it ends.

std::size_t PtxSource::add_statement(std::string_view text) {
  const std::size_t stop = std::min(text.find_first_of(":;{}"), text.size());
  text_.append(text.substr(0, stop));
  if (stop == text.size()) return stop;
  const char c = text[stop];
  const bool is_label =
      c == ':' && text.substr(stop, 2) != "::" && first_word(text_).size() == trimmed(text_).size();
  if (is_label) {
    pieces_.push_back({PieceKind::Label, std::string(trimmed(text_)), line_});
    text_.clear();
    return stop + 1;
  }
  if (c == ';') {
    finish();
    return stop + 1;
  }
  if (c == '}' && depth_ == 0) {  // of the scope: the semicolon is missing
    finish();
    return stop;
  }
  depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
  const std::size_t colons = text.substr(stop, 2) == "::" ? 2 : 1;
  text_.append(text.substr(stop, colons));
  return stop + colons;
}

std::size_t PtxSource::add_directive(std::string_view text) {
  const std::size_t from = text_.empty() ? 1 : 0;  // its own dot
  const std::size_t stop = std::min(text.find_first_of(";{}\" \t", from), text.size());
  text_.append(text.substr(0, stop));
  if (stop == text.size()) return stop;
  const char c = text[stop];
  const bool whole_lines = ends_with_line(text_);
  if (c == '"') {
    const std::size_t end = std::min(text.find('"', stop + 1), text.size() - 1) + 1;
    text_.append(text.substr(stop, end - stop));
    return end;
  }
  if (c == ';' && depth_ == 0) {
    finish();
    return stop + 1;
  }
  const bool next_directive = is_blank(c) && whole_lines && stop + 2 < text.size() &&
                              text[stop + 1] == '.' && is_letter(text[stop + 2]);
  const bool body = c == '{' && depth_ == 0 && (whole_lines || is_header(text_));
  if (next_directive || body || (c == '}' && depth_ == 0)) {
    finish();
    return stop;
  }
  depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
  text_ += c;
  if (c == '}' && depth_ == 0 && text_.starts_with(".section")) finish();
  return stop + 1;
}

void PtxSource::add_text(std::string_view text) {
  while (!text.empty()) {
    if (text_.empty()) {
      while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
      if (text.empty()) return;
      const char c = text.front();
      if (c == '{' || c == '}' || c == ';') {
        text.remove_prefix(1);
        if (c != ';')
          pieces_.push_back({c == '{' ? PieceKind::Open : PieceKind::Close, {}, number_});
        else if (!skip_semicolon_)
          pieces_.push_back({PieceKind::Statement, {}, number_});
        skip_semicolon_ = false;
        continue;
      }
      skip_semicolon_ = false;
      begin(c);
    }
    text.remove_prefix(is_directive_ ? add_directive(text) : add_statement(text));
  }
}

void PtxSource::end_of_line() {
  if (text_.empty()) return;
  if ((is_directive_ && ends_with_line(text_)) || text_.size() > longest_piece) return finish();
  text_ += ' ';
}

void PtxSource::add_line(std::string_view line) {
  ++number_;
  const std::string text = without_comments(quoted_.line(line));
  const bool header = is_directive_ && is_header(text_);
  const bool next = begins_statement(text) || trimmed(text).starts_with(".reg");
  if (next && !text_.empty() && !header && depth_ == 0 && !is_guard(text_)) finish();
  add_text(text);
  end_of_line();
}

void PtxSource::end() {
  if (!text_.empty()) finish();
}

}  // namespace tcq::oracle
