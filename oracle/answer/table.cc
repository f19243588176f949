// Rendering of one Table in five styles; see table.h.
#include "oracle/answer/table.h"

#include <algorithm>
#include <cstddef>

#include "oracle/answer/value.h"

namespace tcq::oracle {
namespace {

using Row = std::vector<std::string>;

// Calls visit(row) for the header and every row.
template <class Visit>
void for_each_line(const Table& table, Visit&& visit) {
  visit(table.header);
  for (const Row& row : table.rows) visit(row);
}

std::string render_text(const Table& table) {
  std::vector<std::size_t> widths(table.header.size());
  for_each_line(table, [&](const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  });
  std::string text;
  for_each_line(table, [&](const Row& row) {
    if (!text.empty()) text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
  });
  return text;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of("\",\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::string render_csv(const Table& table) {
  std::string text;
  for_each_line(table, [&](const Row& row) {
    if (!text.empty()) text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += csv_cell(row[i]);
    }
  });
  return text;
}

std::string escaped(const std::string& cell, char special) {
  std::string text;
  for (const char c : cell) {
    if (c == special) text += '\\';
    text += c;
  }
  return text;
}

std::string render_markdown(const Table& table) {
  std::string text;
  const auto add_line = [&](const Row& row) {
    text += text.empty() ? "|" : "\n|";
    for (const std::string& cell : row) text += " " + escaped(cell, '|') + " |";
  };
  add_line(table.header);
  text += "\n|";
  for (std::size_t i = 0; i < table.header.size(); ++i) text += "---|";
  for (const Row& row : table.rows) add_line(row);
  return text;
}

std::string render_asciidoc(const Table& table) {
  std::string text = "[%header]\n|===";
  for_each_line(table, [&](const Row& row) {
    text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i > 0 ? " |" : "|") + escaped(row[i], '|');
  });
  return text + "\n|===";
}

std::string render_json(const Table& table) {
  std::vector<std::string> keys;
  for (const std::string& word : table.header) keys.push_back(json_text(key_of(word)) + ":");
  std::string text = "[";
  for (const Row& row : table.rows) {
    text += text.size() > 1 ? ",{" : "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += keys[i];
      append_read(text, row[i]);
    }
    text += '}';
  }
  return text + "]";
}

}  // namespace

Table transposed(const Table& table) {
  Table result;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    Row line = {table.header[column]};
    for (const Row& row : table.rows) line.push_back(row[column]);
    if (column == 0)
      result.header = std::move(line);
    else
      result.rows.push_back(std::move(line));
  }
  return result;
}

std::string render(const Table& table, Style style) {
  switch (style) {
    case Style::Text: return render_text(table);
    case Style::Csv: return render_csv(table);
    case Style::Markdown: return render_markdown(table);
    case Style::Asciidoc: return render_asciidoc(table);
    case Style::Json: return render_json(table);
  }
  return {};
}

}  // namespace tcq::oracle
