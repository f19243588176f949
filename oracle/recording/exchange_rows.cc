// The rows of statement_rows.h in which lanes of a warp come to one exchange at different statements: even threads at one, odd ones
// at another, with other registers.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/statement_rows.h"

namespace tcq::oracle {
namespace {

struct Exchange {
  std::string_view instruction;
  // {from}, {is}: the register and the predicate of a branch; {step}, {lane}: to a lane of the mask
  std::string_view operands;
  std::string_view before = {};
  std::string_view variant = {};
};

constexpr std::string_view predicates =
    "  setp.lt.s32 %p3, %r20, 0;\n  setp.lt.s32 %p5, %r21, 0;\n";
constexpr std::string_view few = "  and.b32 %r20, %r20, 3;\n  and.b32 %r21, %r21, 3;\n";
constexpr std::string_view alike = "  mov.b32 %r20, %r5;\n  mov.b32 %r21, %r5;\n";

constexpr Exchange exchanges[] = {
    {"shfl.sync.bfly.b32", "%r28|%p4, {from}, {step}, 0x1f, {mask}"},
    {"shfl.sync.up.b32", "%r28|%p4, {from}, {step}, 0, {mask}"},
    {"shfl.sync.down.b32", "%r28|%p4, {from}, {step}, 0x1f, {mask}"},
    {"shfl.sync.idx.b32", "%r28|%p4, {from}, {lane}, 0x1f, {mask}"},
    {"vote.sync.ballot.b32", "%r28, {is}, {mask}", predicates},
    {"vote.sync.all.pred", "%p4, {is}, {mask}", predicates},
    {"vote.sync.any.pred", "%p4, {is}, {mask}", predicates},
    {"vote.sync.uni.pred", "%p4, {is}, {mask}", predicates},
    {"match.any.sync.b32", "%r28, {from}, {mask}", few},
    {"match.all.sync.b32", "%r28|%p4, {from}, {mask}", few},
    {"match.all.sync.b32", "%r28|%p4, {from}, {mask}", alike, " of equal words"},
    {"redux.sync.add.u32", "%r28, {from}, {mask}"},
    {"redux.sync.min.s32", "%r28, {from}, {mask}"},
    {"redux.sync.max.u32", "%r28, {from}, {mask}"},
    {"redux.sync.and.b32", "%r28, {from}, {mask}"},
    {"redux.sync.or.b32", "%r28, {from}, {mask}"},
    {"redux.sync.xor.b32", "%r28, {from}, {mask}"},
    {"elect.sync", "%r28|%p4, {mask}"},
};

struct Branch {
  std::string_view from, is, mask, step, lane;
};

std::string statement(const Exchange& e, const Branch& b) {
  return fmt::format(
      "  {} {};\n", e.instruction,
      fmt::format(fmt::runtime(e.operands), fmt::arg("from", b.from), fmt::arg("is", b.is),
                  fmt::arg("mask", b.mask), fmt::arg("step", b.step), fmt::arg("lane", b.lane)));
}

// Even lanes add 1 and odd ones 2 to what they get, so that no compiler makes one statement of both.
StatementRow row_of(const Exchange& e, std::string_view masks, const Branch& even,
                    const Branch& odd) {
  constexpr std::string_view lanes =
      "  and.b32 %r30, %r22, 30;\n  or.b32 %r31, %r22, 1;\n  mov.b32 %r28, 0;\n"
      "  mov.pred %p4, %p1;\n";
  constexpr std::string_view told = "  selp.b32 %r29, 1, 0, %p4;\n  mov.b64 %rd10, {%r28, %r29};\n";
  StatementRow row;
  row.name = fmt::format("{}{} in two branches, {}", e.instruction, e.variant, masks);
  row.body = fmt::format(
      "{}{}  @%p2 bra odd;\n{}  add.u32 %r28, %r28, 1;\n  bra both;\nodd:\n{}"
      "  add.u32 %r28, %r28, 2;\nboth:\n{}",
      e.before, lanes, statement(e, even), statement(e, odd), told);
  return row;
}

}  // namespace

std::vector<StatementRow> exchange_rows() {
  std::vector<StatementRow> rows;
  for (const Exchange& e : exchanges) {
    rows.push_back(row_of(e, "one mask", {"%r20", "%p3", "0xffffffff", "3", "%r22"},
                          {"%r21", "%p5", "0xffffffff", "3", "%r22"}));
    rows.push_back(row_of(e, "a mask for each", {"%r20", "%p3", "0x55555555", "2", "%r30"},
                          {"%r21", "%p5", "0xaaaaaaaa", "2", "%r31"}));
  }
  return rows;
}

}  // namespace tcq::oracle
