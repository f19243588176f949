// The recording of provoked bugs: per program and version how often it was run and was wrong.
//
// One line per version of a program, separated by tabs: row, program, version, runs, wrong,
// timeouts, end. Framing and checksums: container.h. tools/provoke writes it; no answer of the
// simulator can be compared with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/container.h"

namespace tcq::oracle {

struct ProvokedFile {
  Header header;
  std::vector<std::vector<std::string>> lines;  // provoked_fields each
};
inline constexpr std::size_t provoked_fields = 7;

bool is_provoked(std::string_view bytes);
ProvokedFile parse_provoked(std::string_view bytes);  // throws BadFile
std::string serialize(const ProvokedFile& file);

}  // namespace tcq::oracle
