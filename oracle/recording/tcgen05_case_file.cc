// The bytes of a case of tcgen05_case.h, in the file of container.h.
#include <algorithm>

#include "oracle/recording/tcgen05_case.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view magic = "tcq tcgen05 recording 2\n";
constexpr std::uint64_t max_output_words = 1024 * 1024;
constexpr std::uint64_t max_steps = 64;

// Writes or reads the members of a form in one order: `io(member, limit)` for each.
void members(auto&& io, auto& f) requires requires { f.opcode; }
{
  io(f.opcode.kind, tcgen05::kind_count);
  io(f.opcode.cta_group, 3);
  io(f.opcode.ws, 2);
  io(f.opcode.sparse, 2);
  io(f.opcode.scale_vec, tcgen05::scale_vec_count);
  io(f.opcode.a_place, 2);
  io(f.opcode.ashift, 2);
  io(f.collector.buffer, tcgen05::collector_buffer_count);
  io(f.collector.use, tcgen05::collector_use_count);
  io(f.disable_output_lane, 2);
  io(f.scale_input_d, 2);
  io(f.zero_column_mask, 2);
}

void members(auto&& io, auto& f) requires requires { f.multicast; }
{
  io(f.size, tcgen05::cp_size_count);
  io(f.multicast, tcgen05::cp_multicast_count);
  io(f.source, tcgen05::cp_source_count);
  io(f.cta_group, 3);
}

// ld, st, ld.red.
void members(auto&& io, auto& f) requires requires { f.shape; }
{
  io(f.shape, tcgen05::ld_shape_count);
  io(f.num, tcgen05::max_ld_registers + 1);
  if constexpr (requires { f.pack; }) io(f.pack, 2);
  if constexpr (requires { f.unpack; }) io(f.unpack, 2);
  if constexpr (requires { f.op; }) {
    io(f.op, tcgen05::red_op_count);
    io(f.abs, 2);
    io(f.nan, 2);
    io(f.type, tcgen05::red_type_count);
  }
}

void put_form(PayloadWriter& w, const AllocSequence& sequence) {
  w.put(static_cast<std::uint64_t>(sequence.cta_group), 1);
  w.put(sequence.steps.size(), 1);
  for (const AllocStep& step : sequence.steps) {
    w.put(static_cast<std::uint64_t>(step.action), 1);
    w.put(step.columns, 2);
    w.put(step.allocation, 1);
  }
}

void get_form(PayloadReader& r, AllocSequence& sequence) {
  sequence.cta_group = static_cast<int>(r.get_below(1, 3, "cta_group"));
  sequence.steps.resize(r.get_below(1, max_steps + 1, "number of steps"));
  for (AllocStep& step : sequence.steps) {
    step.action =
        static_cast<AllocStep::Action>(r.get_below(1, alloc_action_count, "action of a step"));
    step.columns = static_cast<std::uint32_t>(r.get(2));
    step.allocation = static_cast<std::uint32_t>(r.get_below(1, max_steps, "step"));
  }
}

void put_form(PayloadWriter& w, const tcgen05::ShiftForm& f) {
  w.put(static_cast<std::uint64_t>(f.cta_group), 1);
}

void get_form(PayloadReader& r, tcgen05::ShiftForm& f) {
  f.cta_group = static_cast<int>(r.get_below(1, 3, "cta_group"));
}

template <class Form>
void put_form(PayloadWriter& w, const Form& f) {
  members([&w](const auto& member, int) { w.put(static_cast<std::uint64_t>(member), 1); }, f);
}

template <class Form>
void get_form(PayloadReader& r, Form& f) {
  members(
      [&r](auto& member, int limit) {
        member = static_cast<std::remove_reference_t<decltype(member)>>(
            r.get_below(1, static_cast<std::uint64_t>(limit), "member of a form"));
      },
      f);
  if (check(f) != Fault::None) throw BadFile("recording holds a form that does not exist");
}

// Reads alternative `index` of the variant.
template <std::size_t I = 0>
Tcgen05CaseForm get_alternative(PayloadReader& r, std::size_t index) {
  if constexpr (I < std::variant_size_v<Tcgen05CaseForm>) {
    if (index != I) return get_alternative<I + 1>(r, index);
    std::variant_alternative_t<I, Tcgen05CaseForm> form{};
    get_form(r, form);
    return form;
  } else {
    throw BadFile("recording holds an unknown kind of case");
  }
}

// Writes or reads every operand in one order: `io(word, bytes)` for each.
void words(auto&& io, auto& o) {
  for (auto* word : {&o.desc_a, &o.desc_b, &o.zero_column_mask, &o.desc}) io(*word, 8);
  for (auto* word : {&o.d, &o.a, &o.metadata, &o.idesc, &o.scale_a, &o.scale_b}) io(*word, 4);
  for (auto& word : o.disable_output_lane) io(word, 4);
  for (auto& word : o.taddr) io(word, 4);
}

void put_case(PayloadWriter& w, const Tcgen05Case& c) {
  w.put(c.form.index(), 1);
  std::visit([&w](const auto& form) { put_form(w, form); }, c.form);
  w.put(static_cast<std::uint64_t>(c.immediate), 2);
  words([&w](std::uint64_t word, int bytes) { w.put(word, bytes); }, c.operands);
  w.put(c.operands.accumulate ? 1 : 0, 1);
  w.put(c.seed, 8);
  w.put(c.keep_words ? 1 : 0, 1);
  w.put(c.input_hash, 8);
  w.put(static_cast<std::uint64_t>(c.outcome), 1);
  w.put(c.error, 2);
  w.put(c.hashes.size(), 4);
  for (const std::uint64_t hash : c.hashes) w.put(hash, 8);
  w.put(c.keep_words ? c.output.size() : 0, 4);
  if (c.keep_words)
    for (const std::uint32_t word : c.output) w.put(word, 4);
}

void get_output(PayloadReader& r, Tcgen05Case& c) {
  c.hashes.resize(r.get_below(4, max_output_words, "number of hashes"));
  for (std::uint64_t& hash : c.hashes) hash = r.get(8);
  c.output.resize(r.get_below(4, max_output_words, "size of an output"));
  for (std::uint32_t& word : c.output) word = static_cast<std::uint32_t>(r.get(4));
  if (!c.output.empty() && hash_lanes(c.output) != c.hashes)
    throw BadFile("recording holds an output that does not have its hashes");
}

Tcgen05Case get_case(PayloadReader& r) {
  Tcgen05Case c;
  c.form = get_alternative(r, r.get(1));
  c.immediate = static_cast<int>(r.get_below(2, 1024, "immediate"));
  words(
      [&r](auto& word, int bytes) {
        word = static_cast<std::remove_reference_t<decltype(word)>>(r.get(bytes));
      },
      c.operands);
  c.operands.accumulate = r.get_flag();
  c.seed = r.get(8);
  c.keep_words = r.get_flag();
  c.input_hash = r.get(8);
  c.outcome = static_cast<Tcgen05Outcome>(r.get_below(1, tcgen05_outcome_count, "outcome"));
  c.error = static_cast<std::uint32_t>(r.get(2));
  get_output(r, c);
  return c;
}

}  // namespace

bool is_tcgen05_recording(std::string_view bytes) { return bytes.starts_with(magic); }

std::string serialize(const Tcgen05Recording& recording) {
  PayloadWriter writer;
  for (const Tcgen05Case& c : recording.cases) put_case(writer, c);
  return pack(magic, recording.header, recording.cases.size(), writer.take());
}

Tcgen05Recording parse_tcgen05_recording(std::string_view bytes) {
  const Container container = unpack(magic, bytes);
  Tcgen05Recording recording{container.header, {}};
  PayloadReader reader(container.payload);
  while (!reader.at_end()) recording.cases.push_back(get_case(reader));
  check_cases(recording.header, recording.cases.size());
  return recording;
}

}  // namespace tcq::oracle
