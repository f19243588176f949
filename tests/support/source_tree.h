// Where recordings and sources lie, also when a test runs elsewhere than it was built.
//
// A root is a folder that holds `tests/vectors`. It is looked for, in this order: what the variable
// TCQ_SOURCE_DIR says, if it is set; above the executable; where the tests were compiled; above the
// current directory. Example: source_file("tests/vectors/matrix.tcqv").
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests_where.h"

namespace tcq {

struct Whereabouts {
  const char* chosen = nullptr;  // TCQ_SOURCE_DIR; nullptr if it is not set
  std::filesystem::path executable;
  std::filesystem::path compiled;
  std::filesystem::path current;
};

inline bool is_source_tree(const std::filesystem::path& folder) {
  std::error_code unknown;
  return !folder.empty() && std::filesystem::is_directory(folder / "tests" / "vectors", unknown);
}

inline std::optional<std::filesystem::path> source_tree_above(std::filesystem::path folder) {
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (is_source_tree(folder)) return folder;
    if (folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

// Throws std::runtime_error with where it looked and what helps.
inline std::filesystem::path find_source_tree(const Whereabouts& at) {
  if (at.chosen != nullptr) {
    if (is_source_tree(at.chosen)) return at.chosen;
    throw std::runtime_error(std::string("TCQ_SOURCE_DIR is '") + at.chosen +
                             "', where there is no folder tests/vectors");
  }
  if (const auto found = source_tree_above(at.executable.parent_path())) return *found;
  if (is_source_tree(at.compiled)) return at.compiled;
  if (const auto found = source_tree_above(at.current)) return *found;
  throw std::runtime_error("no folder tests/vectors above the executable " +
                           at.executable.string() + ", in " + at.compiled.string() + ", or above " +
                           at.current.string() +
                           ": set TCQ_SOURCE_DIR to the folder that holds it");
}

inline std::filesystem::path source_tree() {
  std::error_code unknown;
  return find_source_tree({std::getenv("TCQ_SOURCE_DIR"),
                           std::filesystem::read_symlink("/proc/self/exe", unknown), TCQ_SOURCE_DIR,
                           std::filesystem::current_path(unknown)});
}

// A file or folder of the tree; throws also if it is not there.
inline std::filesystem::path source_file(const std::string& name) {
  const std::filesystem::path path = source_tree() / name;
  if (!std::filesystem::exists(path))
    throw std::runtime_error(path.string() + " is missing: is the folder tests/vectors whole?");
  return path;
}

}  // namespace tcq
