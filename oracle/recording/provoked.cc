#include "oracle/recording/provoked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace tcq::oracle {
namespace {

constexpr std::string_view provoked_magic = "# tcq provoked 2\n";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

bool is_provoked(std::string_view bytes) { return bytes.starts_with("# tcq provoked "); }

ProvokedFile parse_provoked(std::string_view bytes) {
  const Container container = unpack(provoked_magic, bytes);
  ProvokedFile file{container.header, {}};
  std::istringstream lines{std::string(container.payload)};
  for (std::string line; std::getline(lines, line);) {
    file.lines.push_back(fields_of(line));
    if (file.lines.back().size() != provoked_fields)
      throw BadFile(fmt::format("line {} has {} fields: expected {}",
                                container.first_line + static_cast<int>(file.lines.size()) - 1,
                                file.lines.back().size(), provoked_fields));
  }
  check_cases(file.header, file.lines.size());
  return file;
}

std::string serialize(const ProvokedFile& file) {
  std::string lines;
  for (const std::vector<std::string>& line : file.lines)
    lines += fmt::format("{}\n", fmt::join(line, "\t"));
  return pack(provoked_magic, file.header, file.lines.size(), lines);
}

}  // namespace tcq::oracle
