// A C++ name with template arguments, taken apart: `cute::SM100_MMA_S8_SS<int8_t, int8_t, int, 128, 64, ...>{}`.
//
// Decides where it ends, and what of it counts: the last name of a path, and of MMA_Atom<...>, Copy_Atom<...> and their
// traits the first argument. Who asks: cute_atoms.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

struct CuteName {
  std::vector<std::string> parts;      // between underscores, in capitals: SM100 MMA S8 SS
  std::vector<std::string> arguments;  // last names, in small letters: int8_t, 128, mn
  std::size_t size = 0;                // characters of the text
  std::string written;                 // the last name as it stands in the text
};

// The name that the text begins with; its parts are empty if there is none.
CuteName read_cute_name(std::string_view text);

}  // namespace tcq::oracle
