#include "oracle/recording/container_upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/answer/words.h"
#include "oracle/recording/container.h"

namespace tcq::oracle {
namespace {

struct Old {
  std::string_view magic;
  std::string_view count_key;     // of the header; empty if it had none
  std::string_view checksum_key;  // of the payload
};

constexpr std::array<Old, 4> kinds = {{{"tcq recording 1\n", "cases", "payload_fnv1a64"},
                                       {"tcq async recording 1\n", "cases", "payload_fnv1a64"},
                                       {"# tcq directed 1\n", "probes", "probes_fnv1a64"},
                                       {"# tcq provoked 1\n", "", ""}}};

const Old& kind_of(std::string_view bytes) {
  for (const Old& kind : kinds)
    if (bytes.starts_with(kind.magic)) return kind;
  throw BadFile(fmt::format("no recording of format 1: the first line is {}",
                            quoted(bytes.substr(0, bytes.find('\n')))));
}

// The value of a key of the header, which goes.
std::string take(Header& header, std::string_view key) {
  const auto it = header.find(std::string(key));
  if (it == header.end()) throw BadFile(fmt::format("header has no '{}' line", key));
  const std::string value = it->second;
  header.erase(it);
  return value;
}

// Header lines as format 1 read them; leaves the payload in `text`.
Header take_header(std::string_view prefix, std::string_view& text) {
  Header header;
  while (!text.empty() && text[0] != '\n' && text.starts_with(prefix)) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || colon < prefix.size())
      throw BadFile(fmt::format("header line {} is not `key: value`", quoted(line)));
    const std::string key(line.substr(prefix.size(), colon - prefix.size()));
    if (!header.emplace(key, line.substr(colon + 2)).second)
      throw BadFile(fmt::format("header has two lines {}", quoted(key)));
    text.remove_prefix(end + 1);
  }
  return header;
}

}  // namespace

std::string upgraded_recording(std::string_view bytes) {
  const Old& kind = kind_of(bytes);
  const bool is_text = kind.magic.starts_with("# ");
  std::string_view payload = bytes.substr(kind.magic.size());
  Header header = take_header(is_text ? "# " : "", payload);
  if (!is_text && payload.empty()) throw BadFile("recording has no end of header");
  if (!is_text) payload.remove_prefix(1);
  auto cases = static_cast<std::size_t>(std::count(payload.begin(), payload.end(), '\n'));
  if (!kind.checksum_key.empty()) {
    if (take(header, kind.checksum_key) != fmt::format("{:016x}", fnv1a64(payload)) ||
        (!is_text && take(header, "payload_bytes") != std::to_string(payload.size())))
      throw BadFile("the payload does not have its size or checksum: corrupted");
    cases = parse_number(take(header, kind.count_key), kind.count_key);
  }
  header["rewritten from"] = "format 1";
  std::string magic(kind.magic);
  magic.replace(magic.size() - 2, 1, "2");
  return pack(magic, header, cases, payload);
}

}  // namespace tcq::oracle
