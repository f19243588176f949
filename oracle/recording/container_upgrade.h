// Rewrites a recording of format 1 in format 2: the payload byte for byte, the header with its
// checksum and one line more, `rewritten from: format 1`, since nothing had protected it before.
//
// What format 1 could prove is checked first: size, checksum and count of the payload; the text of
// provoked bugs had none. Format 2: container.h. Example: tools/upgrade_recording.cc.
#pragma once

#include <string>
#include <string_view>

namespace tcq::oracle {

// Throws BadFile for every other file, damaged ones among them.
std::string upgraded_recording(std::string_view bytes);

}  // namespace tcq::oracle
