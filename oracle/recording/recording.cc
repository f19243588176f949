// Cases in files (recording.h).
#include "oracle/recording/recording.h"

#include "oracle/recording/fields.h"

namespace tcq::oracle {
namespace {

constexpr std::string_view wgmma_magic = "tcq recording 2\n";
constexpr std::string_view async_magic = "tcq async recording 2\n";
constexpr std::uint32_t max_shared_bytes = 256 * 1024;
constexpr std::uint32_t max_global_bytes = 64 * 1024 * 1024;
constexpr std::uint64_t max_output_bytes = 64 * 1024 * 1024;

// ---- The number of a kind -----------------------------------------------------------------------

int kind_of(const Tcgen05Case& e) { return static_cast<int>(e.form.index()); }
template <class E>
int kind_of(const E& e) {
  if constexpr (requires { e.kind; })
    return static_cast<int>(e.kind);
  else
    return 0;
}

void set_kind(Tcgen05Case& e, int kind) { e.form = form_of_kind(kind); }
template <class E>
void set_kind(E& e, int kind) {
  if constexpr (requires { e.kind; }) e.kind = static_cast<decltype(e.kind)>(kind);
}

// Makes alternative I of the variant, or a later one, the experiment with this number.
template <std::size_t I = 1>
Experiment blank(int code) {
  if constexpr (I < std::variant_size_v<Experiment>) {
    using E = std::variant_alternative_t<I, Experiment>;
    if (code < E::first_code || code >= E::first_code + E::kind_count) return blank<I + 1>(code);
    E e;
    set_kind(e, code - E::first_code);
    return e;
  } else {
    throw BadFile("recording holds an impossible kind of case");
  }
}

// ---- A case -------------------------------------------------------------------------------------

void answer_fields(Fields& io, Case& c) {
  io.number(c.input_hash, 8);
  io.below(c.outcome, outcome_count, "outcome");
  if (std::holds_alternative<Tcgen05Case>(c.experiment)) io.number(c.error, 2);
  io.list(c.hashes, 4, max_output_bytes / block_bytes, "number of hashes", 8);
  if (!c.keep) c.output.clear();
  io.bytes(c.output, max_output_bytes, "size of an output");
  io.demand(c.output.empty() || hash_blocks(c.output) == c.hashes,
            "recording holds an output that does not have its hashes");
}

void any_fields(Fields& io, Case& c) {
  int code = 0;
  std::visit(
      [&code](const auto& e) {
        if constexpr (requires { e.first_code; }) code = e.first_code + kind_of(e);
      },
      c.experiment);
  io.number(code, 1);
  if (io.reads()) c.experiment = blank(code);
  std::visit(
      [&io](auto& e) {
        if constexpr (requires { e.first_code; }) fields(io, e);
      },
      c.experiment);
  io.below(c.content, content_count, "content");
  io.flag(c.keep);
  io.below(c.shared_bytes, 4, max_shared_bytes + 1, "size");
  io.below(c.global_bytes, 4, max_global_bytes + 1, "size");
  io.number(c.seed, 8);
  answer_fields(io, c);
}

void wgmma_fields(Fields& io, Case& c) {
  if (!io.reads() && !can_hold(c, c.outcome))
    throw BadFile("a recording of wgmmas cannot hold a case without an answer");
  c.keep = true;
  fields(io, std::get<WgmmaCase>(c.experiment), c, c);
}

bool holds_wgmmas(const Recording& recording) {
  return recording.cases.empty() ||
         std::holds_alternative<WgmmaCase>(recording.cases[0].experiment);
}

}  // namespace

bool can_hold(const Case& c, Outcome outcome) {
  return !std::holds_alternative<WgmmaCase>(c.experiment) || outcome == Outcome::Completed ||
         outcome == Outcome::Trap;
}

std::string serialize(const Recording& recording) {
  const bool wgmmas = holds_wgmmas(recording);
  Fields io;
  for (Case c : recording.cases) wgmmas ? wgmma_fields(io, c) : any_fields(io, c);
  return pack(wgmmas ? wgmma_magic : async_magic, recording.header, recording.cases.size(),
              io.take());
}

Recording parse_recording(std::string_view bytes) {
  const bool wgmmas = !bytes.starts_with(async_magic);
  const Container container = unpack(wgmmas ? wgmma_magic : async_magic, bytes);
  Recording recording{container.header, {}};
  for (Fields io(container.payload); !io.at_end();) {
    Case& c = recording.cases.emplace_back();
    wgmmas ? wgmma_fields(io, c) : any_fields(io, c);
  }
  check_cases(recording.header, recording.cases.size());
  return recording;
}

}  // namespace tcq::oracle
