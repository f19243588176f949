// What `tcq help` prints. Examples are answered when they are printed, so they cannot be wrong.
#pragma once

#include <string>
#include <string_view>

namespace tcq::oracle {

// All verbs with one line each, options, exit statuses.
std::string overview();

// One verb: its words, its forms, one worked example. Throws UsageError for an unknown verb.
std::string help(std::string_view verb);

}  // namespace tcq::oracle
