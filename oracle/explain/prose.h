// The Markdown pages of this folder, read into sections and fields: what explain, errata, diagnoses and
// emission say in prose is written there and nowhere else.
//
// A page is `# group`, `## section` and fields `**Label:** text`, each a paragraph, an item of a list or
// a fenced block. faults/README.md says which fields a Fault has. Reads text only; what the fields mean
// say faults.cc and errata.cc. Example: the section WgmmaFenceMissing of faults/wgmma_order.md has Cause,
// Fix, Wrong and Right.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

struct Page {
  std::string_view path;  // faults/mbarriers.md
  std::string_view text;
};

// All pages; written by embed.cmake.
std::span<const Page> pages();

const Page& page(std::string_view path);

struct Field {
  std::string label;
  std::string text;      // one line without backticks; of a block its lines as they are
  std::string language;  // of a block
};

struct Section {
  std::string group;
  std::string title;
  std::string place;  // faults/mbarriers.md:14
  std::vector<Field> fields;
};

// A page that does not follow its form, with the line.
class BadProse : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

std::vector<Section> sections_of(const Page& page);

// Takes the fields of a section in their order.
class Fields {
 public:
  explicit Fields(const Section& section) : section_(section) {}

  // The next field, which has to have this label.
  const Field& take(std::string_view label);

  // The next field if it has this label.
  const Field* take_if(std::string_view label);

  // Throws if a field is left.
  void end() const;

  [[noreturn]] void fail(const std::string& sentence) const;

 private:
  const Section& section_;
  std::size_t next_ = 0;
};

}  // namespace tcq::oracle
