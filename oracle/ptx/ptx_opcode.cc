// Opcodes and their effects; see ptx_opcode.h.
#include "oracle/ptx/ptx_opcode.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tcq::oracle {
namespace {

using Words = std::string_view;

constexpr std::array<Words, 91> writers = {
    "abs",      "activemask", "add",          "addc",      "alloca", "and",        "atom",
    "bfe",      "bfi",        "bfind",        "bmsk",      "brev",   "clz",        "cnot",
    "copysign", "cos",        "createpolicy", "cvt",       "cvta",   "div",        "dp2a",
    "dp4a",     "elect",      "ex2",          "fma",       "fns",    "getctarank", "isspacep",
    "istypep",  "ld",         "ldmatrix",     "ldu",       "lg2",    "lop3",       "mad",
    "mad24",    "madc",       "mapa",         "match",     "max",    "min",        "mma",
    "mov",      "movmatrix",  "mul",          "mul24",     "neg",    "not",        "or",
    "popc",     "prmt",       "rcp",          "redux",     "rem",    "rsqrt",      "sad",
    "selp",     "set",        "setp",         "shf",       "shfl",   "shl",        "shr",
    "sin",      "slct",       "sqrt",         "stacksave", "sub",    "subc",       "suld",
    "suq",      "szext",      "tanh",         "testp",     "tex",    "tld4",       "txq",
    "vabsdiff", "vadd",       "vadd2",        "vadd4",     "vmad",   "vmax",       "vmin",
    "vote",     "vset",       "vshl",         "vshr",      "vsub",   "wmma",       "xor"};

constexpr std::array<Words, 26> readers = {"applypriority",
                                           "bar",
                                           "barrier",
                                           "clusterlaunchcontrol",
                                           "cp",
                                           "discard",
                                           "fence",
                                           "griddepcontrol",
                                           "mbarrier",
                                           "membar",
                                           "multimem",
                                           "nanosleep",
                                           "pmevent",
                                           "prefetch",
                                           "prefetchu",
                                           "red",
                                           "setmaxnreg",
                                           "st",
                                           "stackrestore",
                                           "stmatrix",
                                           "sured",
                                           "sust",
                                           "tensormap",
                                           "brkpt",
                                           "wgmma",
                                           "tcgen05"};

template <std::size_t N>
bool contains(const std::array<Words, N>& words, Words word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has(const PtxStatement& statement, Words qualifier) {
  return std::find(statement.qualifiers.begin(), statement.qualifiers.end(), qualifier) !=
         statement.qualifiers.end();
}

// Forms of readers with a result: mbarrier.arrive, test_wait, barrier.cta.red, multimem.ld_reduce ...
bool has_result(const PtxStatement& statement) {
  if (statement.operands.empty() || statement.operands[0].text.starts_with('[')) return false;
  const Words opcode = statement.opcode;
  if (opcode == "mbarrier") return true;
  if (opcode == "bar" || opcode == "barrier") return has(statement, "red");
  if (opcode == "clusterlaunchcontrol") return has(statement, "query_cancel");
  return opcode == "multimem";
}

// The state space that is written, which comes first where there are two.
bool is_shared_or_unknown(const PtxStatement& statement) {
  for (const Words word : statement.qualifiers) {
    if (word.starts_with("shared")) return true;
    if (word == "global" || word == "local" || word == "param" || word == "L2") return false;
  }
  return true;
}

}  // namespace

std::optional<PtxEffect> effect_of(const PtxStatement& statement) {
  const Words opcode = statement.opcode;
  if (opcode == "bra") return PtxEffect::Jumps;
  if (opcode == "brx") return PtxEffect::JumpsAnywhere;
  if (opcode == "call") return PtxEffect::Calls;
  if (opcode == "ret" || opcode == "exit" || opcode == "trap") return PtxEffect::Ends;
  if (opcode == "wmma" && has(statement, "store")) return PtxEffect::Reads;
  if (contains(writers, opcode)) return PtxEffect::Writes;
  if (!contains(readers, opcode)) return std::nullopt;
  return has_result(statement) ? PtxEffect::Writes : PtxEffect::Reads;
}

bool releases_shared_memory(const PtxStatement& statement) {
  const Words opcode = statement.opcode;
  if (opcode == "bar") return !has(statement, "warp");
  if (opcode == "barrier") return !has(statement, "wait");
  if (opcode == "mbarrier")
    return has(statement, "arrive") || has(statement, "arrive_drop") ||
           has(statement, "complete_tx");
  if (opcode == "cp")
    return !has(statement, "commit_group") && !has(statement, "wait_group") &&
           !has(statement, "wait_all") && is_shared_or_unknown(statement);
  if (opcode == "stmatrix") return true;
  return (opcode == "st" || opcode == "red" || opcode == "atom") && is_shared_or_unknown(statement);
}

}  // namespace tcq::oracle
