#include "oracle/explain/prose.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tcq::oracle {
namespace {

// One pass over the lines of a page.
class Reader {
 public:
  explicit Reader(std::string_view path) : path_(path) {}

  void line(std::string_view text) {
    ++number_;
    if (block_ != nullptr) return in_block(text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with("# ")) {
      group_ = text.substr(2);
    } else if (text.starts_with("## ")) {
      found_.push_back({group_, std::string(text.substr(3)), place(), {}});
    } else if (found_.empty() || found_.back().group != group_) {
      return;  // the introduction
    } else if (text.starts_with("**") || text.starts_with("- **")) {
      field(text.substr(text.find("**") + 2));
    } else if (text.starts_with("```")) {
      block(text.substr(3));
    } else if (!text.empty()) {
      more(text);
    }
  }

  std::vector<Section> end() {
    if (block_ != nullptr) fail("the block does not end");
    for (const Section& section : found_)
      for (const Field& f : section.fields)
        if (f.text.empty())
          throw BadProse(fmt::format("{}: {}: {} is empty", section.place, section.title, f.label));
    return std::move(found_);
  }

 private:
  std::string place() const { return fmt::format("{}:{}", path_, number_); }
  [[noreturn]] void fail(std::string_view sentence) const {
    throw BadProse(fmt::format("{}: {}", place(), sentence));
  }
  std::vector<Field>& fields() { return found_.back().fields; }

  void field(std::string_view text) {
    const std::size_t end = text.find(":**");
    if (end == text.npos) fail("expected **Label:**");
    fields().push_back({std::string(text.substr(0, end)), "", ""});
    text.remove_prefix(end + 3);
    if (!text.empty()) more(text.substr(1));
  }

  // Lines of one field are one line of an answer.
  void more(std::string_view text) {
    if (fields().empty() || !fields().back().language.empty())
      fail("expected **Label:** in front of the text");
    std::string& whole = fields().back().text;
    if (!whole.empty()) whole += ' ';
    std::copy_if(text.begin(), text.end(), std::back_inserter(whole),
                 [](char c) { return c != '`'; });
  }

  void block(std::string_view language) {
    if (fields().empty() || !fields().back().text.empty() || language.empty())
      fail("expected a block with its language, behind **Label:**");
    block_ = &fields().back();
    block_->language = language;
  }

  void in_block(std::string_view text) {
    if (text == "```") {
      block_ = nullptr;
      return;
    }
    if (!block_->text.empty()) block_->text += '\n';
    block_->text += text;
  }

  std::string_view path_;
  int number_ = 0;
  std::string group_;
  Field* block_ = nullptr;
  std::vector<Section> found_;
};

}  // namespace

const Page& page(std::string_view path) {
  for (const Page& one : pages())
    if (one.path == path) return one;
  throw BadProse(fmt::format("there is no page {}", path));
}

std::vector<Section> sections_of(const Page& page) {
  Reader reader(page.path);
  std::string_view rest = page.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    reader.line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return reader.end();
}

const Field& Fields::take(std::string_view label) {
  if (const Field* field = take_if(label)) return *field;
  fail(fmt::format("expected {} behind {}, not {}", label,
                   next_ == 0 ? section_.title : section_.fields[next_ - 1].label,
                   next_ == section_.fields.size() ? "the end" : section_.fields[next_].label));
}

const Field* Fields::take_if(std::string_view label) {
  if (next_ == section_.fields.size() || section_.fields[next_].label != label) return nullptr;
  return &section_.fields[next_++];
}

void Fields::end() const {
  if (next_ < section_.fields.size())
    fail(fmt::format("there is no place for {}", section_.fields[next_].label));
}

void Fields::fail(const std::string& sentence) const {
  throw BadProse(fmt::format("{}: {}: {}", section_.place, section_.title, sentence));
}

}  // namespace tcq::oracle
