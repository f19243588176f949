// Reading and spelling opcodes of tcgen05; see tcgen05_form.h.
#include "oracle/ptx/tcgen05_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/words.h"
#include "sim/isa/tcgen05/text.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

// ---- Slots --------------------------------------------------------------------------------------

// Whether a slot must be filled. Sync and Aligned have Faults of their own; Implied ones may be
// left out in mnemonics.
enum class Need { Optional, Mandatory, Sync, Aligned, Implied };

// One place of a syntax line. Slots of equal rank may stand in any order.
struct Slot {
  std::string what;
  std::vector<std::string> words;
  Need need = Need::Mandatory;
  int rank = 0;
};
using Slots = std::vector<Slot>;

constexpr int absent = -1;
using Chosen = std::vector<int>;  // per slot the index of its word

Slots ranked(Slots slots) {
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i].rank = static_cast<int>(i);
  return slots;
}

template <class Value>
std::vector<std::string> names(int first, int count, const std::string& prefix = "") {
  std::vector<std::string> words;
  for (int i = first; i < count; ++i) words.push_back(prefix + name(static_cast<Value>(i)));
  return words;
}

Slot optional_word(const std::string& word) { return {"." + word, {word}, Need::Optional}; }
Slot implied_word(const std::string& word) { return {"." + word, {word}, Need::Implied}; }
Slot cta_group_slot() { return {".cta_group", {"cta_group::1", "cta_group::2"}}; }
Slot sync_slot() { return {".sync", {"sync"}, Need::Sync}; }
Slot aligned_slot() { return {".aligned", {"aligned"}, Need::Aligned}; }
Slot ld_shape_slot() { return {".shape", names<LdShape>(0, ld_shape_count)}; }

Slot num_slot() { return {".num", {"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"}}; }

Slot collector_slot() {
  Slot slot{".collector", {}, Need::Optional};
  for (int b = 1; b < collector_buffer_count; ++b)
    for (int u = 0; u < collector_use_count; ++u)
      slot.words.push_back(fmt::format("collector::{}::{}", name(static_cast<CollectorBuffer>(b)),
                                       name(static_cast<CollectorUse>(u))));
  return slot;
}

// The index of a slot in `chosen`, per instruction.
namespace mma {
enum { ws, sparse, cta_group, kind, block_scale, scale_vec, ashift, collector };
}
namespace ld {
enum { sync, aligned, shape, num, pack, type };
}
namespace ld_red {
enum { sync, aligned, shape, num, op, abs, nan, type };
}
namespace cp {
enum { cta_group, size, multicast, target, source };
}
namespace alloc {
enum { cta_group, sync, aligned, space, type };
}
namespace commit {
enum { cta_group, arrive, space, multicast, type };
}

const Slots& mma_slots() {
  static const Slots slots =
      ranked({optional_word("ws"),
              optional_word("sp"),
              cta_group_slot(),
              {".kind", names<Kind>(0, kind_count, "kind::")},
              optional_word("block_scale"),
              {".scale_vectorsize", names<ScaleVec>(1, scale_vec_count), Need::Optional},
              optional_word("ashift"),
              collector_slot()});
  return slots;
}

const Slots& ld_slots() {
  static const Slots slots = ranked({sync_slot(), aligned_slot(), ld_shape_slot(), num_slot(),
                                     optional_word("pack::16b"), implied_word("b32")});
  return slots;
}

const Slots& st_slots() {
  static const Slots slots = ranked({sync_slot(), aligned_slot(), ld_shape_slot(), num_slot(),
                                     optional_word("unpack::16b"), implied_word("b32")});
  return slots;
}

// Syntax and example of the manual differ in the order of what follows .num.
const Slots& ld_red_slots() {
  static const Slots slots = [] {
    Slots all = ranked({sync_slot(),
                        aligned_slot(),
                        ld_shape_slot(),
                        num_slot(),
                        {".redOp", names<RedOp>(0, red_op_count)},
                        optional_word("abs"),
                        optional_word("NaN"),
                        {".type", names<RedType>(0, red_type_count)}});
    for (const int i : {ld_red::op, ld_red::abs, ld_red::nan, ld_red::type})
      all[static_cast<std::size_t>(i)].rank = ld_red::op;
    return all;
  }();
  return slots;
}

const Slots& cp_slots() {
  static const Slots slots =
      ranked({cta_group_slot(),
              {".shape", names<CpSize>(0, cp_size_count)},
              {".multicast", names<CpMulticast>(1, cp_multicast_count), Need::Optional},
              optional_word("b8x16"),
              {".src_fmt", names<CpSource>(1, cp_source_count), Need::Optional}});
  return slots;
}

// Syntax and example of the manual differ in the order.
const Slots& shift_slots() {
  static const Slots slots = {cta_group_slot(), {".down", {"down"}}};
  return slots;
}

const Slots& alloc_slots() {
  static const Slots slots = ranked({cta_group_slot(), sync_slot(), aligned_slot(),
                                     optional_word("shared::cta"), implied_word("b32")});
  return slots;
}

const Slots& dealloc_slots() {
  static const Slots slots =
      ranked({cta_group_slot(), sync_slot(), aligned_slot(), implied_word("b32")});
  return slots;
}

const Slots& relinquish_slots() {
  static const Slots slots = ranked({cta_group_slot(), sync_slot(), aligned_slot()});
  return slots;
}

const Slots& commit_slots() {
  static const Slots slots = ranked({cta_group_slot(), implied_word("mbarrier::arrive::one"),
                                     optional_word("shared::cluster"),
                                     optional_word("multicast::cluster"), implied_word("b64")});
  return slots;
}

const Slots& wait_slots() {
  static const Slots slots = ranked({sync_slot(), aligned_slot()});
  return slots;
}

const Slots& fence_slots() {
  static const Slots slots;
  return slots;
}

// ---- Filling slots ------------------------------------------------------------------------------

struct Filled {
  Chosen chosen;
  Verdict problem = {};
  Verdict sync = {};
  Verdict order = {};

  bool has(int slot) const { return chosen[static_cast<std::size_t>(slot)] != absent; }
  int at(int slot) const { return chosen[static_cast<std::size_t>(slot)]; }
};

std::string syntax_of(const Slots& slots) {
  std::string text;
  for (const Slot& slot : slots)
    text += slot.need == Need::Optional ? fmt::format("[{}]", slot.what) : slot.what;
  return text;
}

// PTX knows upper case, mnemonics do not.
bool same(std::string_view a, std::string_view b, Spelling spelling) {
  return spelling == Spelling::Mnemonic ? same_word(a, b) : a == b;
}

// False if no slot has the word.
bool fill(const Slots& slots, std::string_view word, Spelling spelling, Filled& filled,
          int& last_rank) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto found =
        std::find_if(slots[i].words.begin(), slots[i].words.end(),
                     [&](const std::string& known) { return same(word, known, spelling); });
    if (found == slots[i].words.end()) continue;
    if (is_legal(filled.order) && filled.chosen[i] != absent)
      filled.order =
          illegal(Fault::QualifierOrder, fmt::format("{} is given twice", slots[i].what));
    else if (is_legal(filled.order) && slots[i].rank < last_rank)
      filled.order = illegal(Fault::QualifierOrder, fmt::format("expected {}", syntax_of(slots)));
    filled.chosen[i] = static_cast<int>(found - slots[i].words.begin());
    last_rank = std::max(last_rank, slots[i].rank);
    return true;
  }
  return false;
}

void check_needs(const Slots& slots, Spelling spelling, Filled& filled) {
  const bool statement = spelling == Spelling::Statement;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (filled.chosen[i] != absent || slots[i].need == Need::Optional) continue;
    if (slots[i].need == Need::Mandatory || (slots[i].need == Need::Implied && statement)) {
      filled.problem =
          illegal(Fault::Tcgen05QualifierMissing, fmt::format("expected {}", slots[i].what));
      return;
    }
    if (!statement || !is_legal(filled.sync)) continue;
    if (slots[i].need == Need::Sync) filled.sync = illegal(Fault::SyncMissing);
    if (slots[i].need == Need::Aligned) filled.sync = illegal(Fault::AlignedMissing);
  }
}

Filled fill_all(const Slots& slots, std::span<const std::string_view> words, Spelling spelling) {
  Filled filled{Chosen(slots.size(), absent)};
  int last_rank = 0;
  for (const std::string_view word : words) {
    if (fill(slots, word, spelling, filled, last_rank)) continue;
    filled.problem = illegal(Fault::QualifierUnknown, fmt::format("got {}", quoted(word)));
    return filled;
  }
  check_needs(slots, spelling, filled);
  return filled;
}

// ---- Forms --------------------------------------------------------------------------------------

// Absent: the first enumerator, Default or None.
template <class Value>
Value optional_value(int chosen) {
  return static_cast<Value>(chosen + 1);
}

Collector collector_of(int chosen) {
  if (chosen == absent) return {};
  return {static_cast<CollectorBuffer>(1 + chosen / collector_use_count),
          static_cast<CollectorUse>(chosen % collector_use_count)};
}

Tcgen05Reading reading_of(Filled filled, Tcgen05Form form) {
  return {form, {}, std::move(filled.sync), std::move(filled.order)};
}

Tcgen05Reading failed(Verdict problem) { return {std::nullopt, std::move(problem)}; }

Tcgen05Reading read_mma(const Filled& f) {
  MmaOpcode op;
  op.kind = static_cast<Kind>(f.at(mma::kind));
  op.cta_group = f.at(mma::cta_group) + 1;
  op.ws = f.has(mma::ws);
  op.sparse = f.has(mma::sparse);
  op.scale_vec = optional_value<ScaleVec>(f.at(mma::scale_vec));
  op.ashift = f.has(mma::ashift);
  if (f.has(mma::block_scale) != is_block_scaled(op.kind))
    return failed(illegal(Fault::BlockScaleOfKind, fmt::format("got kind {}", name(op.kind))));
  return reading_of(f, MmaForm{op, collector_of(f.at(mma::collector))});
}

int num_of(int chosen) { return 1 << chosen; }

Tcgen05Reading read_ld(const Filled& f) {
  return reading_of(
      f, LdForm{static_cast<LdShape>(f.at(ld::shape)), num_of(f.at(ld::num)), f.has(ld::pack)});
}

Tcgen05Reading read_st(const Filled& f) {
  return reading_of(
      f, StForm{static_cast<LdShape>(f.at(ld::shape)), num_of(f.at(ld::num)), f.has(ld::pack)});
}

Tcgen05Reading read_ld_red(const Filled& f) {
  return reading_of(
      f, LdRedForm{static_cast<LdShape>(f.at(ld_red::shape)), num_of(f.at(ld_red::num)),
                   static_cast<RedOp>(f.at(ld_red::op)), f.has(ld_red::abs), f.has(ld_red::nan),
                   static_cast<RedType>(f.at(ld_red::type))});
}

Tcgen05Reading read_cp(const Filled& f) {
  if (f.has(cp::target) != f.has(cp::source))
    return failed(illegal(Fault::Tcgen05QualifierMissing,
                          "expected .b8x16 and .b4x16_p64 or .b6x16_p32 together"));
  return reading_of(f, CpForm{static_cast<CpSize>(f.at(cp::size)),
                              optional_value<CpMulticast>(f.at(cp::multicast)),
                              optional_value<CpSource>(f.at(cp::source)), f.at(cp::cta_group) + 1});
}

Tcgen05Reading read_shift(const Filled& f) { return reading_of(f, ShiftForm{f.at(0) + 1}); }

Tcgen05Reading read_alloc(const Filled& f) {
  return reading_of(f, AllocForm{f.at(alloc::cta_group) + 1, f.has(alloc::space)});
}

Tcgen05Reading read_dealloc(const Filled& f) { return reading_of(f, DeallocForm{f.at(0) + 1}); }

Tcgen05Reading read_relinquish(const Filled& f) {
  return reading_of(f, RelinquishForm{f.at(0) + 1});
}

Tcgen05Reading read_commit(const Filled& f) {
  return reading_of(
      f, CommitForm{f.at(commit::cta_group) + 1, f.has(commit::multicast), f.has(commit::space)});
}

Tcgen05Reading read_wait_ld(const Filled& f) { return reading_of(f, WaitForm{false}); }
Tcgen05Reading read_wait_st(const Filled& f) { return reading_of(f, WaitForm{true}); }
Tcgen05Reading read_fence_before(const Filled& f) { return reading_of(f, FenceForm{false}); }
Tcgen05Reading read_fence_after(const Filled& f) { return reading_of(f, FenceForm{true}); }

struct Reader {
  std::vector<std::string_view> words;
  const Slots& (*slots)();
  Tcgen05Reading (*read)(const Filled&);
};

// ld.red goes before ld.
const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {{"mma"}, mma_slots, read_mma},
      {{"ld", "red"}, ld_red_slots, read_ld_red},
      {{"ld"}, ld_slots, read_ld},
      {{"st"}, st_slots, read_st},
      {{"cp"}, cp_slots, read_cp},
      {{"shift"}, shift_slots, read_shift},
      {{"alloc"}, alloc_slots, read_alloc},
      {{"dealloc"}, dealloc_slots, read_dealloc},
      {{"relinquish_alloc_permit"}, relinquish_slots, read_relinquish},
      {{"commit"}, commit_slots, read_commit},
      {{"wait::ld"}, wait_slots, read_wait_ld},
      {{"wait::st"}, wait_slots, read_wait_st},
      {{"fence::before_thread_sync"}, fence_slots, read_fence_before},
      {{"fence::after_thread_sync"}, fence_slots, read_fence_after}};
  return all;
}

bool begins_with(std::span<const std::string_view> words,
                 const std::vector<std::string_view>& beginning, Spelling spelling) {
  return words.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), words.begin(),
                    [&](std::string_view a, std::string_view b) { return same(a, b, spelling); });
}

void erase_part(std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at != std::string::npos) text.erase(at, part.size());
}

// ---- Every form ---------------------------------------------------------------------------------

template <class Form>
void add_if_legal(std::vector<Tcgen05Form>& forms, const Form& form) {
  if (check(form) == Fault::None) forms.push_back(form);
}

void add_mma(std::vector<Tcgen05Form>& forms) {
  for (const bool ws : {false, true})
    for (const bool sparse : {false, true})
      for (int kind = 0; kind < kind_count; ++kind)
        for (const int cta_group : {1, 2})
          for (int vec = 0; vec < scale_vec_count; ++vec)
            for (const bool ashift : {false, true})
              add_if_legal(forms, MmaForm{{static_cast<Kind>(kind), cta_group, ws, sparse,
                                           static_cast<ScaleVec>(vec),
                                           ashift ? Place::Tmem : Place::Smem, ashift}});
}

void add_ld_st(std::vector<Tcgen05Form>& forms) {
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const bool pack : {false, true})
        add_if_legal(forms, LdForm{static_cast<LdShape>(shape), num, pack});
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const bool unpack : {false, true})
        add_if_legal(forms, StForm{static_cast<LdShape>(shape), num, unpack});
}

void add_ld_red(std::vector<Tcgen05Form>& forms) {
  for (int shape = 0; shape < ld_shape_count; ++shape)
    for (int num = 1; num <= max_ld_registers; num *= 2)
      for (const RedOp op : {RedOp::Min, RedOp::Max})
        for (int type = 0; type < red_type_count; ++type)
          for (const bool abs : {false, true})
            for (const bool nan : {false, true})
              add_if_legal(forms, LdRedForm{static_cast<LdShape>(shape), num, op, abs, nan,
                                            static_cast<RedType>(type)});
}

void add_cp(std::vector<Tcgen05Form>& forms) {
  for (const int cta_group : {1, 2})
    for (int size = 0; size < cp_size_count; ++size)
      for (int multicast = 0; multicast < cp_multicast_count; ++multicast)
        for (int source = 0; source < cp_source_count; ++source)
          add_if_legal(forms, CpForm{static_cast<CpSize>(size), static_cast<CpMulticast>(multicast),
                                     static_cast<CpSource>(source), cta_group});
}

void add_others(std::vector<Tcgen05Form>& forms) {
  for (const int cta_group : {1, 2}) forms.push_back(ShiftForm{cta_group});
  for (const int cta_group : {1, 2})
    for (const bool shared : {true, false}) forms.push_back(AllocForm{cta_group, shared});
  for (const int cta_group : {1, 2}) forms.push_back(DeallocForm{cta_group});
  for (const int cta_group : {1, 2}) forms.push_back(RelinquishForm{cta_group});
  for (const int cta_group : {1, 2})
    for (const bool multicast : {false, true})
      for (const bool shared : {true, false})
        forms.push_back(CommitForm{cta_group, multicast, shared});
  for (const bool st : {false, true}) forms.push_back(WaitForm{st});
  for (const bool after : {false, true}) forms.push_back(FenceForm{after});
}

}  // namespace

Tcgen05Reading read_form(std::span<const std::string_view> words, Spelling spelling) {
  for (const Reader& reader : readers()) {
    if (!begins_with(words, reader.words, spelling)) continue;
    Filled filled = fill_all(reader.slots(), words.subspan(reader.words.size()), spelling);
    if (!is_legal(filled.problem)) return failed(std::move(filled.problem));
    return reader.read(filled);
  }
  return failed(
      illegal(Fault::Tcgen05Unknown, fmt::format("got {}", quoted(words.empty() ? "" : words[0]))));
}

Fault check_form(const Tcgen05Form& form) {
  return std::visit([](const auto& f) { return check(f); }, form);
}

Fault check_form(const Tcgen05Form& form, Target target) {
  return std::visit([&](const auto& f) { return check(f, target); }, form);
}

std::string full_opcode(const Tcgen05Form& form) {
  return std::visit([](const auto& f) { return std::string(opcode(f).chars); }, form);
}

std::string short_opcode(const Tcgen05Form& form) {
  std::string text = full_opcode(form);
  erase_part(text, ".sync.aligned");
  erase_part(text, ".b32");
  erase_part(text, ".b64");
  return text;
}

std::string_view instruction_name(const Tcgen05Form& form) {
  struct Namer {
    std::string_view operator()(const MmaForm&) const { return "mma"; }
    std::string_view operator()(const LdForm&) const { return "ld"; }
    std::string_view operator()(const LdRedForm&) const { return "ld.red"; }
    std::string_view operator()(const StForm&) const { return "st"; }
    std::string_view operator()(const CpForm&) const { return "cp"; }
    std::string_view operator()(const ShiftForm&) const { return "shift"; }
    std::string_view operator()(const AllocForm&) const { return "alloc"; }
    std::string_view operator()(const DeallocForm&) const { return "dealloc"; }
    std::string_view operator()(const RelinquishForm&) const { return "relinquish_alloc_permit"; }
    std::string_view operator()(const CommitForm&) const { return "commit"; }
    std::string_view operator()(const WaitForm&) const { return "wait"; }
    std::string_view operator()(const FenceForm&) const { return "fence"; }
  };
  return std::visit(Namer{}, form);
}

std::vector<Tcgen05Form> all_tcgen05_forms() {
  std::vector<Tcgen05Form> forms;
  add_mma(forms);
  add_ld_st(forms);
  add_ld_red(forms);
  add_cp(forms);
  add_others(forms);
  return forms;
}

}  // namespace tcq::oracle
