// What a kernel that uses tcgen05 owes, as rules about the order of the statements of its PTX.
//
// A rule is a debt: some statements make it (so may the entry of the kernel), others pay it, and
// statements that must not be reached while it is open. Every path through the text is followed,
// for each kind of thread: branches on the thread's number go the way of that thread, all others
// both ways. Nothing is computed, so that the text of any compiler can be asked. Independent of
// sim/ and of what writes the texts.
// Source: PTX ISA 9.2, 9.7.16.5 (who issues, CTA pair), 9.7.16.6 (memory consistency), 9.7.16.7
// (allocation), 9.7.16.11 "tcgen05.fence", 9.7.16.12 "tcgen05.commit", 9.7.13.4 (proxies).
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tcq::tests {

// ---- Text ---------------------------------------------------------------------------------------

struct PtxStatement {
  std::string text;  // without guard and semicolon
  std::string guard;
  bool negated = false;
  std::string target;  // of a branch
  std::size_t line = 0;
};

struct PtxBody {
  std::vector<PtxStatement> statements;
  std::map<std::string, std::size_t> labels;  // index of the statement behind
};

// The statements of the first entry whose name holds `entry`.
inline PtxBody parse_ptx(const std::string& ptx, const std::string& entry) {
  static const std::regex label(R"(([$\w]+):)");
  static const std::regex statement(R"((?:@(!?)([%$\w]+)\s+)?([^;]*);)");
  static const std::regex branch(R"(bra(?:\.uni)?\s+([$\w]+))");
  PtxBody body;
  const std::size_t start = ptx.find('{', ptx.find(entry, ptx.find(".entry")));
  std::size_t line_number = 0;
  int depth = 0;
  for (std::size_t at = start; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    std::string line = ptx.substr(at, std::min(end, ptx.find("//", at)) - at);
    at = end + 1;
    line.erase(0, line.find_first_not_of(" \t"));
    line.erase(line.find_last_not_of(" \t") + 1);
    ++line_number;
    if (line == "{") ++depth;
    if (line == "}" && --depth == 0) break;
    std::smatch m;
    if (std::regex_match(line, m, label)) body.labels[m[1]] = body.statements.size();
    for (auto i = std::sregex_iterator(line.begin(), line.end(), statement);
         i != std::sregex_iterator(); ++i) {
      PtxStatement s{(*i)[3], (*i)[2], (*i)[1] == "!", "", line_number};
      if (s.text.starts_with(".")) continue;
      if (std::regex_match(s.text, m, branch)) s.target = m[1];
      body.statements.push_back(s);
    }
  }
  return body;
}

// ---- Threads ------------------------------------------------------------------------------------

// A thread of the probes, whose text calls its number `thread` and its CTA's rank `rank`.
struct ProbeThread {
  unsigned thread = 0;
  unsigned rank = 0;
};

// Is the branch at `index` taken? Nothing where that is no matter of the thread's number.
inline std::optional<bool> taken(const PtxBody& body, std::size_t index, const ProbeThread& t) {
  static const std::regex compare(R"(setp\.(ge|ne)\.u32 (\w+), (\w+), (\d+))");
  const PtxStatement& branch = body.statements[index];
  for (std::size_t i = index; i-- > 0;) {
    std::smatch m;
    if (!std::regex_match(body.statements[i].text, m, compare) || m[2] != branch.guard) continue;
    const bool both = i > 0 && body.statements[i - 1].text == "or.b32 flag, thread, rank";
    if (m[3] != "thread" && !(m[3] == "flag" && both)) return std::nullopt;
    const unsigned value = m[3] == "thread" ? t.thread : t.thread | t.rank;
    const auto limit = static_cast<unsigned>(std::stoul(m[4]));
    return (m[1] == "ge" ? value >= limit : value != limit) != branch.negated;
  }
  return std::nullopt;
}

inline std::vector<std::size_t> successors(const PtxBody& body, std::size_t index,
                                           const ProbeThread* thread) {
  const PtxStatement& s = body.statements[index];
  if (s.text == "ret" || s.text == "exit" || s.text == "trap")
    return s.guard.empty() ? std::vector<std::size_t>{} : std::vector{index + 1};
  if (s.target.empty()) return {index + 1};
  const std::size_t there = body.labels.at(s.target);
  if (s.guard.empty()) return {there};
  const std::optional<bool> goes = thread == nullptr ? std::nullopt : taken(body, index, *thread);
  if (!goes) return {index + 1, there};
  return {*goes ? there : index + 1};
}

// ---- Rules --------------------------------------------------------------------------------------

struct ProtocolRule {
  std::string name;
  std::string makes;  // patterns of statements, searched at their start; "" is none
  std::string pays;
  std::string forbids;  // while the debt is open
  bool open_at_entry = false;
};

// Empty, or the first statement that is reached with the debt open.
inline std::string broken(const PtxBody& body, const ProtocolRule& rule,
                          const ProbeThread* thread = nullptr) {
  const auto marks = [&body](const std::string& pattern) {
    std::vector<bool> found(body.statements.size());
    if (pattern.empty()) return found;
    const std::regex regex(pattern);
    for (std::size_t i = 0; i < found.size(); ++i)
      found[i] =
          std::regex_search(body.statements[i].text, regex, std::regex_constants::match_continuous);
    return found;
  };
  const auto makes = marks(rule.makes), pays = marks(rule.pays), forbids = marks(rule.forbids);
  std::set<std::pair<std::size_t, bool>> seen;
  std::vector<std::pair<std::size_t, bool>> todo{{0, rule.open_at_entry}};
  while (!todo.empty()) {
    const auto [index, open] = todo.back();
    todo.pop_back();
    if (index >= body.statements.size() || !seen.insert({index, open}).second) continue;
    const PtxStatement& s = body.statements[index];
    if (open && forbids[index])
      return rule.name + ": line " + std::to_string(s.line) + ": " + s.text;
    const bool after = makes[index] || (open && !pays[index]);
    for (const std::size_t next : successors(body, index, thread)) todo.push_back({next, after});
  }
  return "";
}

// Could the thread reach such a statement?
inline bool reaches(const PtxBody& body, const std::string& pattern, const ProbeThread& thread) {
  return !broken(body, {"reached", "", "", pattern, true}, &thread).empty();
}

// ---- What a pair owes, in the text of any kernel ------------------------------------------------

inline std::vector<ProtocolRule> pair_rules() {
  const std::string pair = R"(tcgen05\.\w+.*cta_group::2)";
  const std::string arrive = R"(barrier\.cluster\.arrive)";
  const std::string wait = R"(barrier\.cluster\.wait)";
  return {
      {"the peer is known to run", "", wait, pair, true},
      {"a wait has its arrive", wait, arrive, wait, true},
      {"an arrive has its wait", arrive, wait, arrive + "|ret|exit", false},
      {"both CTAs meet behind an allocation and before the next",
       R"(tcgen05\.(alloc|relinquish)\w*.*::2)", wait,
       R"(tcgen05\.(alloc|relinquish|dealloc|mma|cp|shift)\w*.*::2)", false},
      {"both CTAs meet behind a deallocation and before an allocation", R"(tcgen05\.dealloc.*::2)",
       wait, R"(tcgen05\.(alloc|relinquish)\w*.*::2)", false},
      {"the peer lives until both have freed", pair, wait, "ret|exit", false},
  };
}

}  // namespace tcq::tests
