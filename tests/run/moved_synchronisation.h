// Statements of a kernel's PTX that synchronise, each moved to where it is too late or too early: which moves does the machine not
// find?
//
// What waits is moved behind the first statement that it holds back; the last statement that others are told of is moved behind
// what tells them; a fence of the memory before it both ways. The other way each would wait for more, or tell of more, and be
// right. A statement moves with the inline assembly that it stands in, within its basic block, but a wait, which has a loop, to
// what follows in the text. Example: tensor_gemm_run.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/run/deleted_synchronisation.h"

namespace tcq::tests {

inline bool has_any(const std::string& line, std::initializer_list<const char*> words) {
  if (line.find("//") != line.npos) return false;
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return line.find(word) != line.npos; });
}

inline bool acts(const std::string& line) {
  return has_any(line, {"tcgen05.mma", "tcgen05.cp", "tcgen05.ld.", "tcgen05.st", "tcgen05.dealloc",
                        "cp.async.bulk.tensor", "st.shared", "ld.shared", "stmatrix"});
}
inline bool tells(const std::string& line) {
  return has_any(line, {"mbarrier.arrive", "tcgen05.commit", "bar.sync", "barrier.cluster.arrive",
                        "cp.async.bulk.commit_group"});
}
inline bool waits(const std::string& line) {
  return has_any(line, {"mbarrier.try_wait", "fence::after", "tcgen05.wait", "wait_group",
                        "bar.sync", "barrier.cluster.wait"});
}
inline bool is_fence_ahead(const std::string& line) {
  return has_any(line, {"fence::before", "fence.proxy.async", "fence.mbarrier_init"});
}

// Lines [first, end): the inline assembly around a line, or the line.
struct Statement {
  std::size_t first;
  std::size_t end;
};

inline Statement statement_at(const Lines& lines, std::size_t at) {
  const auto has = [&](std::size_t i, const char* word) {
    return lines[i].find(word) != std::string::npos;
  };
  Statement own = {at, at};
  while (own.first > 0 && !has(own.first, "inline asm")) --own.first;
  while (own.end + 1 < lines.size() && !has(own.end, "inline asm")) ++own.end;
  const bool inside = has(own.first, "begin inline asm") && has(own.end, "end inline asm");
  return inside ? Statement{own.first, own.end + 1} : Statement{at, at + 1};
}

// Labels that -lineinfo adds end nothing.
inline bool ends_block(const std::string& line) {
  return line.find("$L__BB") != line.npos || line.find("\tret;") != line.npos;
}

inline Lines moved_behind(const Lines& lines, Statement what, Statement other) {
  const auto at = [&](std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  Lines out(at(0), at(what.first));
  out.insert(out.end(), at(what.end), at(other.end));
  out.insert(out.end(), at(what.first), at(what.end));
  out.insert(out.end(), at(other.end), lines.end());
  return out;
}

// The wait of line `at` ends at once, and one with a loop of its own stands behind `other`.
inline Lines wait_behind(const Lines& lines, std::size_t at, Statement other) {
  Lines out = lines;
  out[at] = without(lines[at]);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(other.end),
             "{ .reg .pred p; $Lmoved: " + lines[at] + " @!p bra $Lmoved; }");
  return out;
}

// The first statement behind that of line `at` that `which` holds of, of its basic block unless `beyond`.
template <class Which>
std::optional<Statement> next(const Lines& lines, std::size_t at, bool beyond, Which which) {
  for (std::size_t i = statement_at(lines, at).end; i < lines.size(); ++i) {
    if (!beyond && ends_block(lines[i])) break;
    if (which(lines[i])) return statement_at(lines, i);
  }
  return std::nullopt;
}

inline std::optional<Statement> last_act(const Lines& lines, std::size_t at) {
  for (std::size_t i = statement_at(lines, at).first; i > 0 && !ends_block(lines[i - 1]); --i)
    if (acts(lines[i - 1])) return statement_at(lines, i - 1);
  return std::nullopt;
}

// Each way to move line `at`, and a word for it.
inline std::vector<std::pair<std::string, Lines>> moves_of(const Lines& lines, std::size_t at) {
  std::vector<std::pair<std::string, Lines>> out;
  const std::string& line = lines[at];
  const auto is_held_back = [](const std::string& other) { return acts(other) || tells(other); };
  const bool has_loop = line.find("try_wait") != line.npos;
  const Statement own = statement_at(lines, at);
  if (waits(line))
    if (const auto held = next(lines, at, has_loop, is_held_back))
      out.emplace_back("late",
                       has_loop ? wait_behind(lines, at, *held) : moved_behind(lines, own, *held));
  if (is_fence_ahead(line))
    if (const auto told = next(lines, at, false, tells))
      out.emplace_back("late", moved_behind(lines, own, *told));
  if (tells(line) || is_fence_ahead(line))
    if (const auto act = last_act(lines, at))
      out.emplace_back("early", moved_behind(lines, *act, own));
  return out;
}

// As delete_each().
template <class Launch, class Run, class Which = bool (*)(const std::string&)>
Deletions move_each(const std::string& ptx, std::span<const Launch> launches, Run run,
                    Which which = synchronises) {
  const Lines lines = lines_of(ptx);
  Finder<Launch, Run> finder(ptx, launches, run);
  Deletions out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!which(lines[i])) continue;
    for (const auto& [way, moved] : moves_of(lines, i)) {
      ++out.count;
      if (!finder.finds(moved))
        out.missed.push_back(std::to_string(i + 1) + " too " + way + ": " + lines[i]);
    }
  }
  return out;
}

}  // namespace tcq::tests
