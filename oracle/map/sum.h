// The sum behind one output: which elements of A, B and C, and which scale factors, go into
// D[row][col], and where they lie.
//
// Makers of Maps make the Sum, this writes it. Example: "A[9][0]@0x890*B[0][13]@0x2ad0 + ... +
// C@thread 6, register 7".
#pragma once

#include <string>
#include <vector>

#include "oracle/map/map.h"

namespace tcq::oracle {

struct Product {
  Coords a;
  std::vector<Coords> b;  // more than one: the metadata code decides which
  Coords sfa = {};
  Coords sfb = {};
};

struct Sum {
  Map a;
  Map b;
  std::optional<Map> sfa;  // both or none
  std::optional<Map> sfb;
  bool negate_a;
  bool negate_b;
  bool accumulate;
  std::vector<Product> products;
  std::size_t written;  // how many products are spelt out
};

// `d` is the output and what is added to it.
std::string sum_text(const Sum& sum, const Map& d, const Coords& element);

// {"products":[{"a":{...},"b":[{...}],"sfa":{...},"sfb":{...},"negate_a":false,...}],"c":{...} or
// null}; elements as element_members() has them.
Value sum_value(const Sum& sum, const Map& d, const Coords& element);

}  // namespace tcq::oracle
