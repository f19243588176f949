// Published claims about wgmma and tcgen05 that are wrong, each with its correction and what refutes it.
//
// They are errata.md, read by prose.h; the verb is errata.cc. Keys are document.row. Evidence is a test
// of this repository ("Suite.Name"), a recording ("tests/vectors/..."), or, where nothing that runs can
// settle it, the manual's or a project's own text. tests/oracle/errata_test.cc checks that tests and
// recordings exist.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/answer/value.h"
#include "oracle/explain/prose.h"
#include "oracle/explain/search.h"

namespace tcq::oracle {

struct Evidence {
  enum class Kind : std::uint8_t { Test, Recording, Document };
  Kind kind;
  std::string name;
};

struct Erratum {
  std::string key;
  std::string document;  // its title
  std::string claim;
  std::string correction;
  std::vector<Evidence> evidence;
};

// Ordered by key.
std::span<const Erratum> all_errata();

// All of one, as text and for programs.
std::string full_text(const Erratum& erratum);
Value full_value(const Erratum& erratum);

// What they are searched by, in their order.
std::vector<SearchText> errata_texts();

// Of this page, for tests. Throws BadProse if it does not follow its form.
std::vector<Erratum> read_errata(const Page& page);

}  // namespace tcq::oracle
