// Joining .loc directives to chains; see locations.h.
#include "sim/ptx/locations.h"

namespace tcq::ptx {

Locations::Locations(Program& program) : program_(program) {
  for (const DebugString& one : program.unit.debug_strings) strings_.emplace(one.label, one.text);
}

Index Locations::add(const LocationDirective& d) {
  SourceLocation location{d.file, d.line, d.column};
  if (d.function_name != 0) {
    const auto found = strings_.find(d.function_name);
    location.function = found == strings_.end() ? d.function_name : found->second;
  }
  if (d.is_inlined) {
    const auto caller = last_.find({d.at_file, d.at_line, d.at_column});
    // Some callers have no .loc of their own.
    location.caller =
        caller != last_.end() ? caller->second : add({d.at_file, d.at_line, d.at_column});
  }
  const Key key{location.file, location.line, location.column, location.function, location.caller};
  const auto [at, is_new] = known_.emplace(key, static_cast<Index>(program_.locations.size()));
  if (is_new) program_.locations.push_back(location);
  last_[{d.file, d.line, d.column}] = at->second;
  return at->second;
}

}  // namespace tcq::ptx
