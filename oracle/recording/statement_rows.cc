// The rows of statement_rows.h, family by family: spellings with choices, and the operands that all of a family have.
#include "oracle/recording/statement_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace tcq::oracle {
namespace {

using Rows = std::vector<StatementRow>;

// Every text that {a,b} in the pattern can make.
std::vector<std::string> expanded(std::string_view pattern) {
  const std::size_t open = pattern.find('{');
  if (open == pattern.npos) return {std::string(pattern)};
  const std::size_t close = pattern.find('}', open);
  std::vector<std::string> all;
  std::string_view words = pattern.substr(open + 1, close - open - 1);
  for (bool more = true; more;) {
    const std::size_t comma = words.find(',');
    more = comma != words.npos;
    for (const std::string& rest : expanded(pattern.substr(close + 1)))
      all.push_back(std::string(pattern.substr(0, open)).append(words.substr(0, comma)) + rest);
    if (more) words.remove_prefix(comma + 1);
  }
  return all;
}

struct Family {
  std::string_view pattern;
  std::string_view before;    // statements
  std::string_view operands;  // of the instruction
  std::string_view after;
  Elements elements = Elements::Bits32;
  std::uint32_t expected = 0;
  std::string_view variant = {};
};

void add(Rows& rows, const Family& f) {
  for (const std::string& spelling : expanded(f.pattern)) {
    StatementRow row{spelling, "", f.elements, false, f.expected, {}};
    if (!f.variant.empty()) row.name.append(" ").append(f.variant);
    row.body = fmt::format("{}  {} {};\n{}", f.before, spelling, f.operands, f.after);
    rows.push_back(std::move(row));
  }
}

// ---- pieces -------------------------------------------------------------------------------------

constexpr std::string_view low_result = "  mov.b64 %rd10, {%r20, %r21};\n";
constexpr std::string_view unpacked_halves =
    "  mov.b32 {%h1, %h2}, %r20;\n  mov.b32 {%h3, %h4}, %r21;\n"
    "  mov.b32 {%h5, %h6}, %r22;\n  mov.b32 {%h7, %h8}, %r23;\n";
constexpr std::string_view half_results =
    "  mov.b32 %r20, {%h1, %h2};\n  mov.b32 %r21, {%h3, %h4};\n  mov.b64 %rd10, {%r20, %r21};\n"
    "  mov.b32 %r20, {%h5, %h6};\n  mov.b32 %r21, {%h7, %h8};\n  mov.b64 %rd11, {%r20, %r21};\n";
constexpr std::string_view word_results =
    "  mov.b64 %rd10, {%r20, %r21};\n  mov.b64 %rd11, {%r22, %r23};\n";
// Four threads of a CTA reach one word of the other CTA each.
constexpr std::string_view shared_word =
    "  and.b32 %r13, %r1, 15;\n  shl.b32 %r13, %r13, 4;\n  add.u32 %r13, %r2, %r13;\n"
    "  mapa.shared::cluster.u32 %r13, %r13, %r6;\n";

// ---- stores and reductions that an mbarrier counts ------------------------------------------------

void add_counted(Rows& rows) {
  const std::string red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
  for (const char* op : {"{.add,.min,.max}{.u32,.s32}", "{.inc,.dec}.u32", "{.and,.or,.xor}.b32"})
    add(rows, {red + op, "", "[%r9], %r20, [%r10]", "", Elements::Bits32, 256});
  for (const char* op : {"{.add,.min,.max}{.u32,.s32}", "{.and,.or,.xor}.b32"})
    add(rows, {red + op, shared_word, "[%r13], %r20, [%r10]", "", Elements::Bits32, 256, "shared"});
  add(rows, {red + ".add.u64", "", "[%r9], %rd10, [%r10]", "", Elements::Bits64, 512});
  add(rows, {red + ".add.u64", shared_word, "[%r13], %rd10, [%r10]", "", Elements::Bits64, 512,
             "shared"});
  const std::string st = "st.async.shared::cluster.mbarrier::complete_tx::bytes";
  add(rows, {st + "{.b32,.u32,.s32,.f32}", "", "[%r9], %r20, [%r10]", "", Elements::Bits32, 256});
  add(rows, {st + "{.b64,.u64,.s64,.f64}", "", "[%r9], %rd10, [%r10]", "", Elements::Bits64, 512});
  add(rows, {st + ".v2{.b32,.f32}", "", "[%r9], {%r20, %r21}, [%r10]", "", Elements::Bits32, 512});
  add(rows, {st + ".v4{.b32,.f32}", "", "[%r9], {%r20, %r21, %r22, %r23}, [%r10]", "",
             Elements::Bits32, 1024});
  add(rows,
      {st + ".v2{.b64,.f64}", "", "[%r9], {%rd10, %rd11}, [%r10]", "", Elements::Bits64, 1024});
}

// ---- atomic operations ----------------------------------------------------------------------------

struct Memory {
  const char* space;
  const char* address;
};
constexpr Memory memories[] = {
    {".global", "[%rd2]"}, {".shared", "[%r7]"}, {".shared::cluster", "[%r9]"}};

void add_atoms_of(Rows& rows, const Memory& m) {
  const std::string atom = fmt::format("atom{}", m.space), red = fmt::format("red{}", m.space);
  const std::string at = m.address;
  const auto both = [&](const std::string& op, const std::string& sources, Elements elements,
                        const std::string& result, std::string_view before,
                        std::string_view after) {
    add(rows, {atom + op, before, result + ", " + at + ", " + sources, after, elements});
    if (op.find("exch") == op.npos && op.find("cas") == op.npos)
      add(rows, {red + op, before, at + ", " + sources, "", elements});
  };
  for (const char* op :
       {"{.add,.min,.max}{.u32,.s32}", "{.inc,.dec}.u32", "{.and,.or,.xor}.b32", ".exch.b32"})
    both(op, "%r20", Elements::Bits32, "%r20", "", low_result);
  both(".cas.b32", "%r22, %r20", Elements::Bits32, "%r20",
       fmt::format("  @%p2 ld.volatile{}.b32 %r22, {};\n", m.space, at), low_result);
  for (const char* op : {".add.u64", "{.min,.max}{.u64,.s64}", "{.and,.or,.xor}.b64", ".exch.b64"})
    both(op, "%rd10", Elements::Bits64, "%rd10", "", "");
  both(".cas.b64", "%rd11, %rd10", Elements::Bits64, "%rd10",
       fmt::format("  @%p2 ld.volatile{}.b64 %rd11, {};\n", m.space, at), "");
  both(".add.f32", "%r20", Elements::F32, "%r20", "", low_result);
  both(".add.f64", "%rd10", Elements::F64, "%rd10", "", "");
  // In shared memory ptxas 13.0 makes a loop of cas that takes the source's upper half from the register beside it, where both
  // were unpacked from one of 64 bits: what x becomes is not the instruction's.
  const std::size_t first_pair = rows.size();
  both(".add.noftz.f16x2", "%r20", Elements::F16, "%r20", "", low_result);
  both(".add.noftz.bf16x2", "%r20", Elements::BF16, "%r20", "", low_result);
  for (std::size_t i = first_pair; i < rows.size(); ++i)
    rows[i].is_x_open = m.space != std::string_view(".global");
  both(".add.noftz.f16", "%h1", Elements::F16, "%h1", unpacked_halves, half_results);
  both(".add.noftz.bf16", "%h1", Elements::BF16, "%h1", unpacked_halves, half_results);
  both(".cas.b16", "%h2, %h1", Elements::Bits32, "%h1", unpacked_halves, half_results);
}

// Of global memory alone.
void add_vectors(Rows& rows) {
  struct Row {
    const char* op;
    const char* registers;
    Elements elements;
  };
  const char* const two = "{%r20, %r21}";
  const char* const four = "{%r20, %r21, %r22, %r23}";
  const char* const two_halves = "{%h1, %h2}";
  const char* const four_halves = "{%h1, %h2, %h3, %h4}";
  const char* const eight_halves = "{%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}";
  for (const Row& row :
       {Row{".add.v2.f32", two, Elements::F32}, Row{".add.v4.f32", four, Elements::F32},
        Row{"{.add,.min,.max}.noftz.v2.f16x2", two, Elements::F16},
        Row{"{.add,.min,.max}.noftz.v4.f16x2", four, Elements::F16},
        Row{"{.add,.min,.max}.noftz.v2.bf16x2", two, Elements::BF16},
        Row{"{.add,.min,.max}.noftz.v4.bf16x2", four, Elements::BF16},
        Row{"{.add,.min,.max}.noftz.v2.f16", two_halves, Elements::F16},
        Row{"{.add,.min,.max}.noftz.v4.f16", four_halves, Elements::F16},
        Row{"{.add,.min,.max}.noftz.v8.f16", eight_halves, Elements::F16},
        Row{"{.add,.min,.max}.noftz.v2.bf16", two_halves, Elements::BF16},
        Row{"{.add,.min,.max}.noftz.v4.bf16", four_halves, Elements::BF16},
        Row{"{.add,.min,.max}.noftz.v8.bf16", eight_halves, Elements::BF16}}) {
    const bool of_halves = std::string_view(row.registers).find('h') != std::string_view::npos;
    const std::string registers = row.registers;
    add(rows, {std::string("atom.global") + row.op, of_halves ? unpacked_halves : "",
               registers + ", [%rd2], " + registers, of_halves ? half_results : word_results,
               row.elements});
    add(rows, {std::string("red.global") + row.op, of_halves ? unpacked_halves : "",
               "[%rd2], " + registers, "", row.elements});
  }
}

void add_wide_atoms(Rows& rows) {
  constexpr std::string_view gather =
      "  mov.b128 %rq1, {%rd10, %rd11};\n  mov.b128 %rq2, {%rd12, %rd13};\n"
      "  @%p2 ld.global.v2.b64 {%rd14, %rd15}, [%rd2];\n  @%p2 mov.b128 %rq2, {%rd14, %rd15};\n";
  constexpr std::string_view scatter = "  mov.b128 {%rd10, %rd11}, %rq3;\n";
  add(rows, {"atom.global.exch.b128", gather, "%rq3, [%rd2], %rq1", scatter, Elements::Bits64});
  add(rows,
      {"atom.global.cas.b128", gather, "%rq3, [%rd2], %rq2, %rq1", scatter, Elements::Bits64});
}

// ---- threads that tell each other -----------------------------------------------------------------

void add_barriers(Rows& rows) {
  constexpr std::string_view bit = "  and.b32 %r13, %r20, 1;\n  setp.ne.u32 %p3, %r13, 0;\n";
  constexpr std::string_view most = "  setp.ne.u32 %p3, %r1, 17;\n";
  constexpr std::string_view none = "  setp.gt.u32 %p3, %r1, 64;\n";
  constexpr std::string_view told = "  selp.b32 %r20, 1, 0, %p4;\n  mov.b64 %rd10, {%r20, %r21};\n";
  for (const char* bar :
       {"bar.red", "barrier.red", "barrier.cta.red", "barrier.cta.red{.and,.or}.aligned"}) {
    const std::string spelling = bar;
    const std::string joined =
        spelling.ends_with("aligned") ? spelling + ".pred" : spelling + "{.and,.or}.pred";
    for (const auto& [name, before] : {std::pair{"drawn", bit}, {"most", most}, {"none", none}}) {
      add(rows, {joined, before, "%p4, 0, %p3", told, Elements::Bits32, 0, name});
      add(rows, {joined, before, "%p4, 0, !%p3", told, Elements::Bits32, 0,
                 fmt::format("{}, negated", name)});
      if (spelling.ends_with("aligned")) continue;
      add(rows,
          {spelling + ".popc.u32", before, "%r20, 0, %p3", low_result, Elements::Bits32, 0, name});
      add(rows, {spelling + ".popc.u32", before, "%r20, 1, 64, !%p3", low_result, Elements::Bits32,
                 0, fmt::format("{}, negated", name)});
    }
  }
}

void add_clusters(Rows& rows) {
  for (const char* arrive : {"barrier.cluster.arrive", "barrier.cluster.arrive.release",
                             "barrier.cluster.arrive.relaxed", "barrier.cluster.arrive.aligned",
                             "barrier.cluster.arrive.release.aligned"})
    for (const char* wait : {"barrier.cluster.wait", "barrier.cluster.wait.acquire",
                             "barrier.cluster.wait.acquire.aligned"})
      add(rows, {arrive, "", "", fmt::format("  {};\n", wait), Elements::Bits32, 0, wait});
}

// Lanes with an odd number take part, the others do not: their results are the sources.
void add_lanes(Rows& rows) {
  constexpr std::string_view bits =
      "  and.b32 %r13, %r20, 1;\n  setp.ne.u32 %p3, %r13, 0;\n  mov.pred %p4, %p3;\n";
  constexpr std::string_view told = "  selp.b32 %r20, 1, 0, %p4;\n  mov.b64 %rd10, {%r20, %r21};\n";
  constexpr std::string_view few = "  and.b32 %r20, %r20, 3;\n";
  add(rows,
      {"@%p2 shfl.sync{.bfly,.up,.down}.b32", "", "%r20, %r21, 2, 0x1f, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 shfl.sync.idx.b32", "  or.b32 %r13, %r22, 1;\n",
             "%r20|%p3, %r21, %r13, 0x1f, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 vote.sync{.all,.any,.uni}.pred", bits, "%p4, %p3, 0xaaaaaaaa", told});
  add(rows, {"@%p2 vote.sync.ballot.b32", bits, "%r20, %p3, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 match.any.sync.b32", few, "%r20, %r20, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 match.all.sync.b32", "  setp.eq.u32 %p4, %r1, 99;\n  and.b32 %r20, %r1, 33;\n",
             "%r20|%p4, %r20, 0xaaaaaaaa", told});
  add(rows,
      {"@%p2 redux.sync{.add,.min,.max}{.u32,.s32}", "", "%r20, %r20, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 redux.sync{.and,.or,.xor}.b32", "", "%r20, %r20, 0xaaaaaaaa", low_result});
  add(rows, {"@%p2 elect.sync", "  mov.pred %p4, %p1;\n", "%r20|%p4, 0xaaaaaaaa", told});
}

// ---- addresses ------------------------------------------------------------------------------------

void add_addresses(Rows& rows) {
  constexpr std::string_view kept = "  mov.b64 %rd10, {%r20, %r21};\n";
  constexpr std::string_view zero = "  mov.b32 %r21, 0;\n";
  add(rows,
      {"mapa.shared::cluster.u32", zero, "%r20, %r7, 0", kept, Elements::Bits32, 0, "of rank 0"});
  add(rows,
      {"mapa.shared::cluster.u32", zero, "%r20, %r7, 1", kept, Elements::Bits32, 0, "of rank 1"});
  add(rows, {"mapa.shared::cluster.u32", zero, "%r20, %r9, %r5", kept, Elements::Bits32, 0,
             "of the other's"});
  add(rows, {"getctarank.shared::cluster.u32", zero, "%r20, %r9", kept, Elements::Bits32, 0,
             "of the other's"});
  add(rows, {"getctarank.shared::cluster.u32", zero, "%r20, %r7", kept, Elements::Bits32, 0,
             "of its own"});
  add(rows,
      {"mov.u32", "", "%r20, %r2", "  mov.b64 %rd10, {%r20, %r3};\n  mov.b64 %rd11, {%r4, %r9};\n",
       Elements::Bits32, 0, "of variables"});
  constexpr std::string_view told = "  selp.b64 %rd10, 1, 0, %p4;\n";
  const struct {
    const char* name;
    const char* address;
  } places[] = {
      {"global", "  cvta.global.u64 %rd14, %rd2;\n"},
      {"own", "  cvt.u64.u32 %rd14, %r7;\n  cvta.shared.u64 %rd14, %rd14;\n"},
      {"other's", "  cvt.u64.u32 %rd14, %r9;\n  cvta.shared::cluster.u64 %rd14, %rd14;\n"},
      {"null", "  mov.b64 %rd14, 0;\n"}};
  for (const auto& place : places)
    add(rows, {"isspacep{.global,.shared::cta,.shared::cluster,.local,.const}", place.address,
               "%p4, %rd14", told, Elements::Bits32, 0, place.name});
}

// ---- copies of threads ----------------------------------------------------------------------------

void add_thread_copies(Rows& rows) {
  constexpr std::string_view wait = "  cp.async.wait_all;\n";
  constexpr std::string_view part =
      "  rem.u32 %r13, %r1, 5;\n  min.u32 %r14, %r13, 4;\n  shl.b32 %r15, %r14, 1;\n  shl.b32 "
      "%r16, %r14, 2;\n";
  add(rows, {"cp.async.ca.shared.global", "", "[%r7], [%rd2], 4", wait, Elements::Bits32, 0, "4"});
  add(rows, {"cp.async.ca.shared.global", "", "[%r7], [%rd2], 8", wait, Elements::Bits32, 0, "8"});
  add(rows, {"cp.async{.ca,.cg}.shared.global", "", "[%r7], [%rd2], 16", wait, Elements::Bits32, 0,
             "16"});
  add(rows, {"cp.async.ca.shared.global", part, "[%r7], [%rd2], 4, %r14", wait, Elements::Bits32, 0,
             "4 of fewer"});
  add(rows, {"cp.async.ca.shared.global", part, "[%r7], [%rd2], 8, %r15", wait, Elements::Bits32, 0,
             "8 of fewer"});
  add(rows, {"cp.async{.ca,.cg}.shared.global", part, "[%r7], [%rd2], 16, %r16", wait,
             Elements::Bits32, 0, "16 of fewer"});
  add(rows, {"cp.async{.ca,.cg}.shared.global", "", "[%r7], [%rd2], 16, %p2", wait,
             Elements::Bits32, 0, "ignored"});
}

// ---- copies of blocks with a cache policy ---------------------------------------------------------

void add_hinted(Rows& rows) {
  constexpr std::string_view policy =
      "  createpolicy.fractional.L2::evict_first.b64 %rd14, 1.0;\n  mov.u32 %r13, 1024;\n  add.u64 "
      "%rd15, %rd1, 2048;\n";
  constexpr std::string_view all = "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n";
  add(rows,
      {"@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
       policy, "[%r2], [%rd15], %r13, [%r4], %rd14", "", Elements::Bits32, 1024});
  add(rows, {"@%p1 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint", policy,
             "[%rd15], [%r2], %r13, %rd14", all});
  add(rows, {"@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32",
             policy, "[%rd15], [%r2], %r13, %rd14", all});
  add(rows,
      {"@%p1 cp.async.bulk.prefetch.L2.global.L2::cache_hint", policy, "[%rd15], %r13, %rd14", ""});
  add(rows, {"@%p1 cp.async.bulk.prefetch.L2.global", policy, "[%rd15], %r13", ""});
  add(rows,
      {"atom.global.add.L2::cache_hint.u32", policy, "%r20, [%rd2], %r20, %rd14", low_result});
  add(rows, {"red.global.add.L2::cache_hint.u32", policy, "[%rd2], %r20, %rd14", ""});
}

// ---- mbarriers ------------------------------------------------------------------------------------

// One thread, on an mbarrier of its own in x that it made for `count` arrivals; four numbers come back.
void add_mbarriers(Rows& rows) {
  const struct {
    const char* name;
    const char* body;
  } scripts[] = {
      {"arrive.noComplete and pending_count",
       "mbarrier.init.shared.b64 [%r7], 9; mbarrier.arrive.noComplete.shared.b64 %rd14, [%r7], 3; "
       "mbarrier.arrive.noComplete.shared.b64 %rd15, [%r7], 1; mbarrier.pending_count.b64 %r20, "
       "%rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.shared.b64 %p3, [%r7], %rd15;"},
      {"arrive_drop.noComplete",
       "mbarrier.init.shared.b64 [%r7], 7; mbarrier.arrive_drop.noComplete.shared.b64 %rd14, "
       "[%r7], 2; "
       "mbarrier.arrive.shared.b64 %rd15, [%r7], 5; mbarrier.pending_count.b64 %r20, %rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.shared.b64 %p3, [%r7], %rd15;"},
      {"state of an earlier phase",
       "mbarrier.init.shared.b64 [%r7], 1; mbarrier.arrive.shared.b64 %rd14, [%r7]; "
       "mbarrier.arrive.shared.b64 %rd15, [%r7]; mbarrier.pending_count.b64 %r20, %rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.shared.b64 %p3, [%r7], %rd15;"},
      {"arrive.expect_tx and its state",
       "mbarrier.init.shared.b64 [%r7], 4; mbarrier.arrive.expect_tx.shared.b64 %rd14, [%r7], 64; "
       "mbarrier.arrive.shared.b64 %rd15, [%r7], 3; mbarrier.pending_count.b64 %r20, %rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.shared.b64 %p3, [%r7], %rd15;"},
      {"arrive_drop.expect_tx",
       "mbarrier.init.shared.b64 [%r7], 4; mbarrier.arrive_drop.expect_tx.shared.b64 %rd14, [%r7], "
       "0; "
       "mbarrier.arrive.shared.b64 %rd15, [%r7], 3; mbarrier.pending_count.b64 %r20, %rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.shared.b64 %p3, [%r7], %rd15;"},
      {"complete_tx before expect_tx",
       "mbarrier.init.shared.b64 [%r7], 2; mbarrier.arrive.shared.b64 %rd14, [%r7]; "
       "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%r7], 48; "
       "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r7], 48; "
       "mbarrier.arrive.shared.b64 %rd15, [%r7]; mbarrier.pending_count.b64 %r20, %rd14; "
       "mbarrier.pending_count.b64 %r21, %rd15; mbarrier.test_wait.parity.shared.b64 %p3, [%r7], "
       "0;"},
      {"cp.async.mbarrier.arrive",
       "mbarrier.init.shared.b64 [%r7], 2; cp.async.ca.shared.global [%r8], [%rd2], 8; "
       "cp.async.mbarrier.arrive.shared.b64 [%r7]; mbarrier.arrive.shared.b64 %rd14, [%r7], 2; "
       "mov.b32 %r20, 0;\n"
       "passes: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0;\n  @!%p3 bra passes;"},
      {"cp.async.mbarrier.arrive.noinc",
       "mbarrier.init.shared.b64 [%r7], 3; cp.async.ca.shared.global [%r8], [%rd2], 8; "
       "cp.async.mbarrier.arrive.noinc.shared.b64 [%r7]; mbarrier.arrive.shared.b64 %rd14, [%r7], "
       "2; mov.b32 %r20, 0;\n"
       "passes: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0;\n  @!%p3 bra passes;"},
  };
  for (const auto& script : scripts)
    rows.push_back({fmt::format("mbarrier {}", script.name),
                    fmt::format("  {}\n  mov.b64 %rd10, {{%r20, %r21}};\n  selp.b64 %rd11, 1, 0, "
                                "%p3;\n  mbarrier.inval.shared.b64 [%r7];\n"
                                "  mov.b64 %rd14, 0;\n  st.shared.b64 [%r7], %rd14;\n",
                                script.body)});
}

// ---- what an address must be a multiple of ----------------------------------------------------------

void add_offset(Rows& rows, std::string_view pattern, std::string_view operands, int offset,
                std::string_view after = "") {
  const std::string told = std::string(after).append(low_result);
  const std::string variant = fmt::format("at {}", offset);
  add(rows, {pattern, "", fmt::format(fmt::runtime(operands), offset), told, Elements::Bits32, 0,
             variant});
}

void add_offsets(Rows& rows) {
  constexpr std::string_view pair = "{{%r20, %r21}}";
  const auto from = [](std::string_view to, const char* address) {
    return fmt::format("{}, [{}+{{}}]", to, address);
  };
  const auto to = [](const char* address, std::string_view source) {
    return fmt::format("[{}+{{}}], {}", address, source);
  };
  struct Memory {
    const char *space, *address;
  };
  for (const Memory& m : {Memory{"global", "%rd2"}, Memory{"shared", "%r7"}}) {
    const auto named = [&m](const char* op, const char* type) {
      return fmt::format("{}.{}{}", op, m.space, type);
    };
    for (const int offset : {2, 4}) {
      add_offset(rows, named("ld", ".u32"), from("%r20", m.address), offset);
      add_offset(rows, named("st", ".u32"), to(m.address, "%r20"), offset);
      add_offset(rows, named("atom", ".add.u32"), "%r20, " + to(m.address, "%r21"), offset);
      add_offset(rows, named("red", ".add.u32"), to(m.address, "%r20"), offset);
    }
    for (const int offset : {4, 8}) {
      add_offset(rows, named("ld", ".v2.u32"), from(pair, m.address), offset);
      add_offset(rows, named("st", ".v2.u32"), to(m.address, pair), offset);
      add_offset(rows, named("st", ".b64"), to(m.address, "%rd11"), offset);
    }
  }
  constexpr std::string_view landed = "  cp.async.wait_all;\n";
  for (const int offset : {4, 8})
    add_offset(rows, "cp.async.ca.shared.global", "[%r8], [%rd2+{}], 8", offset, landed);
  add_offset(rows, "cp.async.ca.shared.global", "[%r8], [%rd2+{}], 8, 3", 16, landed);
}

// ---- shared memory that the system keeps ---------------------------------------------------------------

void add_reserved(Rows& rows) {
  rows.push_back({"%reserved_smem_offset",
                  fmt::format("  mov.u32 %r20, %reserved_smem_offset_begin;\n"
                              "  mov.u32 %r21, %reserved_smem_offset_end;\n"
                              "  mov.u32 %r22, %reserved_smem_offset_cap;\n"
                              "  mov.u32 %r23, %reserved_smem_offset_0;\n{}"
                              "  mov.u32 %r20, %reserved_smem_offset_1;\n"
                              "  mov.u32 %r21, %total_smem_size;\n"
                              "  mov.u32 %r22, %dynamic_smem_size;\n"
                              "  mov.b64 %rd12, {{%r20, %r21}};\n  cvt.u64.u32 %rd13, %r22;\n",
                              word_results)});
  rows.push_back({"%reserved_smem_offset_begin, its bytes",
                  fmt::format("  mov.u32 %r13, %reserved_smem_offset_begin;\n"
                              "  mad.lo.u32 %r13, %r5, 128, %r13;\n"
                              "  mad.lo.u32 %r13, %r1, 4, %r13;\n  setp.lt.u32 %p3, %r1, 32;\n"
                              "  @%p3 st.shared.u32 [%r13], %r20;\n"
                              "  @%p3 ld.shared.u32 %r21, [%r13];\n{}",
                              low_result)});
}

// ---- fragments ------------------------------------------------------------------------------------

std::string list(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}%r{}", i == 0 ? "" : ", ", 20 + i);
  return text + "}";
}

void add_fragments(Rows& rows) {
  struct Row {
    const char* pattern;
    int registers;
    const char* stride;
  };
  constexpr std::string_view told =
      "  mov.b64 %rd10, {%r20, %r21};\n  mov.b64 %rd11, {%r22, %r23};\n"
      "  mov.b64 %rd12, {%r24, %r25};\n  mov.b64 %rd13, {%r26, %r27};\n";
  for (const Row& row : {Row{"{a,b}.sync.aligned{.row,.col}{.m16n16k16}.shared.f16", 8, "16"},
                         Row{"a.sync.aligned.row{.m32n8k16,.m8n32k16}.shared.f16", 8, "16"},
                         Row{"b.sync.aligned.col{.m32n8k16,.m8n32k16}.shared.f16", 8, "16"},
                         Row{"{a,b}.sync.aligned{.row,.col}.m16n16k16.shared.bf16", 4, "16"},
                         Row{"{a,b}.sync.aligned{.row,.col}.m16n16k16.shared{.s8,.u8}", 2, "16"},
                         Row{"{a,b}.sync.aligned{.row,.col}.m16n16k8.shared.tf32", 4, "16"},
                         Row{"c.sync.aligned{.row,.col}.m16n16k16.shared{.f32,.s32}", 8, "16"},
                         Row{"c.sync.aligned{.row,.col}.m16n16k16.shared.f16", 4, "16"},
                         Row{"a.sync.aligned.row.m8n8k32.shared.s4", 1, "32"},
                         Row{"b.sync.aligned.col.m8n8k128.shared.b1", 1, "128"}}) {
    add(rows, {std::string("wmma.load.") + row.pattern, "",
               fmt::format("{}, [%r2], {}", list(row.registers), row.stride), told});
  }
}

}  // namespace

std::span<const StatementRow> statement_rows() {
  static const Rows all = [] {
    Rows rows;
    add_counted(rows);
    for (const Memory& m : memories) add_atoms_of(rows, m);
    add_vectors(rows);
    add_wide_atoms(rows);
    add_barriers(rows);
    add_clusters(rows);
    add_lanes(rows);
    add_addresses(rows);
    add_thread_copies(rows);
    add_hinted(rows);
    add_mbarriers(rows);
    add_offsets(rows);
    add_reserved(rows);
    add_fragments(rows);
    for (StatementRow& row : im2col_rows()) rows.push_back(std::move(row));
    for (StatementRow& row : sparse_rows()) rows.push_back(std::move(row));
    for (StatementRow& row : exchange_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

const StatementRow* find_statement(std::string_view name) {
  const auto rows = statement_rows();
  const auto found = std::ranges::find(rows, name, &StatementRow::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace tcq::oracle
