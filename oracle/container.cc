#include "oracle/container.h"

#include <fmt/format.h>

namespace tcq::oracle {
namespace {

void expect(const Header& header, const std::string& key, const std::string& found) {
  const auto it = header.find(key);
  if (it == header.end()) throw BadFile(fmt::format("header has no '{}' line", key));
  if (it->second != found)
    throw BadFile(fmt::format("{} is {}, the header says {}: truncated or corrupted", key, found,
                              it->second));
}

}  // namespace

Header parse_header(std::string_view text) {
  Header header;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos)
      throw BadFile(fmt::format("header line '{}' is not `key: value`", line.substr(0, 60)));
    header[std::string(line.substr(0, colon))] = std::string(line.substr(colon + 2));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return header;
}

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
  header["cases"] = std::to_string(cases);
  header["payload_bytes"] = std::to_string(payload.size());
  header["payload_fnv1a64"] = fmt::format("{:016x}", fnv1a64(payload));
  std::string text(magic);
  for (const auto& [key, value] : header) text += fmt::format("{}: {}\n", key, value);
  text += '\n';
  return text.append(payload);
}

Container unpack(std::string_view magic, std::string_view bytes) {
  if (!bytes.starts_with(magic))
    throw BadFile(fmt::format("not a tcq recording: the first line is not '{}'",
                              magic.substr(0, magic.size() - 1)));
  const std::size_t end = bytes.find("\n\n");
  if (end == std::string_view::npos) throw BadFile("recording has no end of header");
  const std::string_view payload = bytes.substr(end + 2);
  Container container{parse_header(bytes.substr(magic.size(), end + 1 - magic.size())), payload};
  expect(container.header, "payload_bytes", std::to_string(payload.size()));
  expect(container.header, "payload_fnv1a64", fmt::format("{:016x}", fnv1a64(payload)));
  return container;
}

void check_cases(const Header& header, std::size_t cases) {
  expect(header, "cases", std::to_string(cases));
}

}  // namespace tcq::oracle
