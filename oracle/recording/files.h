// Whole files, read and written.
#pragma once

#include <string>
#include <string_view>

namespace tcq::oracle {

// Throws BadFile.
std::string read_file(const std::string& path);
// Through a temporary file beside it, renamed at the end: nobody ever sees half a file.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace tcq::oracle
