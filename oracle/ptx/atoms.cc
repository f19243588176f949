// MxNxK; see atoms.h.
#include "oracle/ptx/atoms.h"

#include <fmt/format.h>

#include <charconv>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {

Atoms parse_atoms(std::string_view word) {
  std::uint32_t parts[3] = {1, 1, 1};
  const char* at = word.data();
  const char* const end = at + word.size();
  bool fine = true;
  for (int i = 0; i < 3 && fine && (i == 0 || at != end); ++i) {
    if (i > 0) fine = *at++ == 'x';
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    fine = fine && error == std::errc() && parts[i] >= 1 && parts[i] <= 8;
    at = rest;
  }
  if (!fine || at != end)
    throw UsageError(
        fmt::format("atoms={} is malformed: expected warpgroups along M, N and K, each in "
                    "[1, 8], such as 2x1x1",
                    quoted(word)));
  return {parts[0], parts[1], parts[2]};
}

}  // namespace tcq::oracle
