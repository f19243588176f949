#include "oracle/recording/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view seal_key = "header_fnv1a64";
constexpr std::size_t longest_header_line = 300;
constexpr std::size_t longest_value = 200;

bool is_text(std::string_view magic) { return magic.starts_with("# "); }

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

std::string checksum(std::string_view bytes) { return fmt::format("{:016x}", fnv1a64(bytes)); }

std::string header_line(std::string_view magic, std::string_view key, std::string_view value) {
  return fmt::format("{}{}: {}\n", is_text(magic) ? "# " : "", key, value);
}

// A header in its one spelling, up to the first byte of the payload.
std::string header_text(std::string_view magic, const Header& header) {
  std::string text(magic);
  for (const auto& [key, value] : header) text += header_line(magic, key, value);
  text += header_line(magic, seal_key, checksum(text));
  return is_text(magic) ? text : text + '\n';
}

// The lines behind the magic, with their ends.
std::string_view header_lines(std::string_view magic, std::string_view bytes) {
  std::size_t end = magic.size();
  if (!is_text(magic)) {
    end = bytes.find("\n\n");
    if (end == std::string_view::npos) throw BadFile("recording has no end of header");
    return bytes.substr(magic.size(), end + 1 - magic.size());
  }
  while (bytes.substr(end).starts_with("# "))
    end = std::min(bytes.find('\n', end), bytes.size() - 1) + 1;
  return bytes.substr(magic.size(), end - magic.size());
}

Header parse_header(std::string_view magic, std::string_view text) {
  const std::string_view prefix = is_text(magic) ? "# " : "";
  Header header;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(": ");
    if (line.size() > longest_header_line || colon == std::string_view::npos ||
        !line.starts_with(prefix) || !std::all_of(line.begin(), line.end(), is_printable))
      throw BadFile(
          fmt::format("header line {} is not `{}key: value` in at most {} printable "
                      "characters",
                      quoted(line), prefix, longest_header_line));
    header[std::string(line.substr(prefix.size(), colon - prefix.size()))] = line.substr(colon + 2);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return header;
}

void expect(const Header& header, const std::string& key, const std::string& found) {
  const auto it = header.find(key);
  if (it == header.end()) throw BadFile(fmt::format("header has no '{}' line", key));
  if (it->second != found)
    throw BadFile(fmt::format("{} is {}, the header says {}: truncated or corrupted", key, found,
                              quoted(it->second)));
}

// The first line names this kind in this format, or a sentence says what it is.
void expect_magic(std::string_view magic, std::string_view bytes) {
  if (bytes.starts_with(magic)) return;
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  if ((line.starts_with("tcq ") || line.starts_with("# tcq ")) && line.ends_with(" 1"))
    throw BadFile(
        fmt::format("{} is format 1, whose header has no checksum: expected format 2, as "
                    "record writes it",
                    quoted(line)));
  throw BadFile(fmt::format("not a tcq recording: the first line is not '{}'",
                            magic.substr(0, magic.size() - 1)));
}

void expect_printable_lines(std::string_view payload, int number) {
  for (const char c : payload) {
    if (c == '\n')
      ++number;
    else if (!is_printable(c) && c != '\t')
      throw BadFile(fmt::format("line {} holds the byte {:#04x}, which is not printable", number,
                                static_cast<unsigned char>(c)));
  }
}

}  // namespace

Header parse_header(std::string_view text) { return parse_header("", text); }

std::uint64_t fnv1a64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void PayloadWriter::put(std::uint64_t value, int byte_count) {
  for (int i = 0; i < byte_count; ++i) bytes_ += static_cast<char>(value >> (8 * i));
}

std::uint64_t PayloadReader::get(int byte_count) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const char c : get_bytes(static_cast<std::size_t>(byte_count))) {
    value |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
    shift += 8;
  }
  return value;
}

std::uint64_t PayloadReader::get_below(int byte_count, std::uint64_t limit, const char* what) {
  const std::uint64_t value = get(byte_count);
  if (value >= limit) throw BadFile(fmt::format("recording holds an impossible {}", what));
  return value;
}

std::string_view PayloadReader::get_bytes(std::size_t count) {
  if (bytes_.size() - at_ < count) throw BadFile("recording ends in the middle of a case");
  at_ += count;
  return bytes_.substr(at_ - count, count);
}

std::string pack(std::string_view magic, Header header, std::size_t cases,
                 std::string_view payload) {
  for (auto& [key, value] : header) value = printable(value.substr(0, longest_value));
  header["cases"] = std::to_string(cases);
  header["payload_bytes"] = std::to_string(payload.size());
  header["payload_fnv1a64"] = checksum(payload);
  return header_text(magic, header).append(payload);
}

Container unpack(std::string_view magic, std::string_view bytes) {
  expect_magic(magic, bytes);
  const std::string_view lines = header_lines(magic, bytes);
  Container container{parse_header(magic, lines), {}, 0};
  if (container.header.erase(std::string(seal_key)) == 0)
    throw BadFile(fmt::format("header has no '{}' line", seal_key));
  const std::string header = header_text(magic, container.header);
  if (!bytes.starts_with(header)) throw BadFile("the header does not have its checksum: corrupted");
  container.payload = bytes.substr(header.size());
  expect(container.header, "payload_bytes", std::to_string(container.payload.size()));
  expect(container.header, "payload_fnv1a64", checksum(container.payload));
  container.first_line = 1 + static_cast<int>(std::count(header.begin(), header.end(), '\n'));
  if (is_text(magic)) expect_printable_lines(container.payload, container.first_line);
  return container;
}

bool is_sealed(std::string_view bytes) {
  return bytes.find(fmt::format("\n# {}: ", seal_key)) != std::string_view::npos;
}

void check_cases(const Header& header, std::size_t cases) {
  expect(header, "cases", std::to_string(cases));
}

}  // namespace tcq::oracle
