// Bits of a word as shapes; see ruler.h.
#include "oracle/answer/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

using sheet::line_height;
using sheet::margin;

constexpr int bits_per_line = 32;
constexpr int bit_width = 18;
constexpr int letters = bits_per_line * bit_width / sheet::letter_width;

// Letters of the field beside its name, where that does not fit.
std::string tag_of(std::size_t field) {
  return std::string(1, static_cast<char>('a' + field % 26));
}

struct Ruler {
  const DecodedWord& decoded;
  std::string bits;  // the highest first
  int top = 0;       // of the first line of bits

  int size() const { return static_cast<int>(bits.size()); }
  char bit(int at) const { return bits[bits.size() - 1 - static_cast<std::size_t>(at)]; }
  int line_of(int bit) const { return (size() - 1 - bit) / bits_per_line; }
  int x(int bit) const { return margin + (size() - 1 - bit) % bits_per_line * bit_width; }
  // Numbers, bits, names, and a gap.
  int y(int bit) const { return top + line_of(bit) * (3 * line_height + 8); }
  std::string colour(std::size_t field) const {
    return pastel(static_cast<int>(field), static_cast<int>(decoded.fields.size()), 1, 3);
  }
};

// A field from bit to bit of one line, of which it may have two.
template <class Visit>
void for_each_run(const Ruler& ruler, const FieldLine& field, Visit&& visit) {
  for (int end = field.end; end > field.low;) {
    int low = end - 1;
    while (low > field.low && ruler.line_of(low - 1) == ruler.line_of(end - 1)) --low;
    visit(low, end);
    end = low;
  }
}

void add_paper(Drawing& drawing, const Ruler& ruler) {
  for (int bit = ruler.size() - 1; bit >= 0; --bit)
    drawing.box(Ink::Unread, {ruler.x(bit), ruler.y(bit) + line_height, bit_width, line_height});
}

void add_fields(Drawing& drawing, const Ruler& ruler) {
  const auto& fields = ruler.decoded.fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    for_each_run(ruler, fields[i], [&](int low, int end) {
      drawing.box(Ink::Box,
                  {ruler.x(end - 1), ruler.y(low) + line_height, (end - low) * bit_width - 1,
                   2 * line_height},
                  ruler.colour(i));
    });
  for (std::size_t i = 0; i < fields.size(); ++i)
    for_each_run(ruler, fields[i], [&](int low, int end) {
      const int width = (end - low) * bit_width;
      const std::string whole = tag_of(i) + " " + fields[i].name;
      drawing.words(Ink::Label, ruler.x(end - 1) + width / 2, ruler.y(low) + 2 * line_height,
                    width_of(whole) + 4 <= width ? whole : tag_of(i), Anchor::Middle);
    });
  for (const FieldLine& rest : ruler.decoded.rest)
    for_each_run(ruler, rest, [&](int low, int end) {
      drawing.box(Ink::Bad, {ruler.x(end - 1), ruler.y(low) + line_height, (end - low) * bit_width,
                             line_height});
    });
}

void add_bits(Drawing& drawing, const Ruler& ruler) {
  std::vector<bool> used(ruler.bits.size(), false);
  for (const FieldLine& field : ruler.decoded.fields)
    for (int bit = field.low; bit < field.end; ++bit) used[static_cast<std::size_t>(bit)] = true;
  for (int bit = ruler.size() - 1; bit >= 0; --bit)
    drawing.words(Ink::Dim, ruler.x(bit) + bit_width / 2, ruler.y(bit), std::to_string(bit),
                  Anchor::Middle);
  for (int bit = ruler.size() - 1; bit >= 0; --bit)
    drawing.words(used[static_cast<std::size_t>(bit)] ? Ink::Label : Ink::Text,
                  ruler.x(bit) + bit_width / 2, ruler.y(bit) + line_height,
                  std::string(1, ruler.bit(bit)), Anchor::Middle);
}

// A line per field, as the text has it.
int add_lines(Drawing& drawing, const Ruler& ruler, int y) {
  int longest = 0;
  for (const FieldLine& field : ruler.decoded.fields)
    longest = std::max(longest, width_of(field.name));
  const int names = margin + 24 + width_of("bits [30,32)  ");
  const int codes = names + longest + width_of("  16383");
  const auto line = [&](const FieldLine& field, const std::string& tag) {
    drawing.words(Ink::Label, margin + 8, y, tag, Anchor::Middle);
    drawing.words(Ink::Text, margin + 24, y, bits_text(field.low, field.end));
    drawing.words(Ink::Text, names, y, field.name);
    drawing.words(Ink::Text, codes, y, std::to_string(field.code), Anchor::End);
    y = drawing.paragraph(Ink::Text, codes + width_of("  "), y, printable(field.value), 40);
  };
  for (std::size_t i = 0; i < ruler.decoded.fields.size(); ++i) {
    drawing.box(Ink::Box, {margin, y, 16, line_height - 1}, ruler.colour(i));
    line(ruler.decoded.fields[i], tag_of(i));
  }
  for (const FieldLine& rest : ruler.decoded.rest) {
    drawing.box(Ink::Bad, {margin, y, 16, line_height - 1});
    line(rest, "");
  }
  return y;
}

void add_remarks(Drawing& drawing, const DescriptorRemarks& remarks, int y) {
  for (const std::string& lint : remarks.lints)
    y = drawing.paragraph(Ink::Text, margin, y, "lint: " + printable(lint), letters);
  for (const std::string& note : remarks.notes)
    y = drawing.paragraph(Ink::Dim, margin, y, "note: " + printable(note), letters);
}

}  // namespace

Drawing drawing_of(const DecodedWord& decoded) {
  const int bits = 4 * static_cast<int>(decoded.word.size() - 2);  // behind 0x
  Drawing drawing{fmt::format("{} {}", decoded.format, decoded.word), 0, 0, {}};
  drawing.words(Ink::Title, margin, margin, drawing.title);
  const Ruler ruler = {decoded, fmt::format("{:0{}b}", parse_number(decoded.word, "word"), bits),
                       margin + 2 * line_height};
  add_paper(drawing, ruler);
  add_fields(drawing, ruler);
  add_bits(drawing, ruler);
  const int y = add_lines(drawing, ruler, ruler.y(0) + 3 * line_height + margin);
  add_remarks(drawing, decoded.remarks, y + 4);
  return drawing;
}

}  // namespace tcq::oracle
