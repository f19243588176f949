// Published claims about wgmma and tcgen05 that are wrong, each with its correction and what refutes it.
//
// Keys are document.row. Claims are in our own words. Evidence is a test of this repository
// ("Suite.Name"), a recording ("tests/vectors/..."), or, where nothing that runs can settle it, the
// manual's or a project's own text. tests/oracle/errata_test.cc checks that tests and recordings exist.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tcq::oracle {

struct Erratum {
  std::string_view key;
  std::string_view claim;
  std::string_view correction;
  std::array<std::string_view, 3> evidence;  // empty where there is less
};

struct Document {
  std::string_view key;
  std::string_view title;
};

std::span<const Document> errata_documents();

// Ordered by key.
std::span<const Erratum> all_errata();

}  // namespace tcq::oracle
