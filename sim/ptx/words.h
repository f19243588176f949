// Words of a text as sentences show and compare them.
//
// Everything that is quoted comes from outside: what a terminal must not see is escaped here.
#pragma once

#include <string>
#include <string_view>

namespace tcq::ptx {

// Bytes that are neither printable ASCII nor among `kept` become \xNN.
std::string escaped(std::string_view text, std::string_view kept = {});

// 'word' for a complaint: escaped, long words cut.
std::string quoted(std::string_view word);

// Equal without regard to ASCII case.
bool same_word(std::string_view a, std::string_view b);
std::string lowered(std::string_view word);

}  // namespace tcq::ptx
