// Reading of metadata codes, and which logical k a stored element may stand for; see metadata.h.
#include "oracle/map/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {

std::vector<std::uint32_t> parse_codes(std::string_view word, Type a) {
  const auto chunks = static_cast<std::size_t>(wgmma::chunks_per_row(a));
  if (word.size() != chunks)
    throw UsageError(
        fmt::format("{} has {} digits: codes need {} hex digits, one per chunk of {} "
                    "elements of K, chunk 0 first",
                    quoted(word), word.size(), chunks, wgmma::chunk_elements(a)));
  std::vector<std::uint32_t> codes;
  codes.reserve(chunks);
  for (std::size_t i = 0; i < chunks; ++i)
    codes.push_back(parse_hex(word.substr(i, 1), 1, "each metadata code"));
  return codes;
}

void check_codes(const std::vector<std::uint32_t>& codes, Type a) {
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (wgmma::check_metadata(a, codes[i]) != Fault::None)
      throw FaultError(fmt::format("undefined: code {:#x} of chunk {}: {} ({})", codes[i], i,
                                   info(Fault::UndefinedMetadata).sentence,
                                   info(Fault::UndefinedMetadata).source));
}

std::vector<int> logical_ks(Type a, int col, const std::vector<std::uint32_t>& codes) {
  const int chunk = wgmma::stored_chunk(a, col);
  const int index = wgmma::stored_index(a, col);
  if (!codes.empty())
    return {wgmma::logical_k(a, chunk, codes[static_cast<std::size_t>(chunk)], index)};
  std::set<int> ks;
  for (std::uint32_t code = 0; code < static_cast<std::uint32_t>(wgmma::metadata_codes); ++code)
    if (wgmma::check_metadata(a, code) == Fault::None)
      ks.insert(wgmma::logical_k(a, chunk, code, index));
  return {ks.begin(), ks.end()};
}

}  // namespace tcq::oracle
