// Places in the source that .loc names, with the chain of functions that were inlined there.
//
// Source: PTX ISA 9.2, 11.6 ".loc"
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "sim/ptx/program.h"

namespace tcq::ptx {

class Locations {
 public:
  explicit Locations(Program& program);

  // Names of one function may not reach into another one.
  void begin_function() { last_.clear(); }
  // The index of the place in Program::locations.
  Index add(const LocationDirective& directive);

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Name, Index>;

  Program& program_;
  std::unordered_map<Name, Name> strings_;  // by label
  std::map<Key, Index> known_;
  std::map<Place, Index> last_;  // of this file, line and column
};

}  // namespace tcq::ptx
