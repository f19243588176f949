// Reading the beginnings of docs/*.md; see guide.h.
#include "oracle/explain/guide.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tcq::oracle {
namespace {

constexpr std::string_view folder = "guide/";

// [words](address) is words, `code` is code.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '`') continue;
    if (line[i] == '[' && line.substr(0, line.find(']', i) + 2).ends_with("](")) continue;
    if (line.substr(i).starts_with("](")) {
      i = std::min(line.find(')', i), line.size());
      continue;
    }
    text += line[i];
  }
  return text;
}

void append(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

GuidePage read_page(const Page& page) {
  GuidePage guide;
  guide.name = page.path.substr(folder.size(), page.path.size() - folder.size() - 3);
  bool begun = true;  // still before the first block, table or heading
  bool in_block = false;
  for (std::string_view rest = page.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("```")) in_block = !in_block;
    if (line.starts_with("# ") && !in_block) {
      guide.question = plain(line.substr(2));
    } else if (line.starts_with("## ") && !in_block) {
      append(guide.more, plain(line.substr(3)));
      begun = false;
    } else if (line.starts_with("```") || line.starts_with("!")) {
      begun = false;
    } else if (line.starts_with("|") && !in_block) {
      append(guide.more, plain(line));
      begun = false;
    } else if (!in_block) {
      append(begun ? guide.answer : guide.more, plain(line));
    }
  }
  return guide;
}

}  // namespace

std::vector<GuidePage> read_guide(std::span<const Page> pages) {
  std::vector<GuidePage> guides;
  for (const Page& page : pages) {
    if (!page.path.starts_with(folder)) continue;
    GuidePage guide = read_page(page);
    if (guide.question.ends_with('?') && !guide.answer.empty()) guides.push_back(std::move(guide));
  }
  return guides;
}

std::span<const GuidePage> guide_pages() {
  static const std::vector<GuidePage> guides = read_guide(pages());
  return guides;
}

}  // namespace tcq::oracle
