// Reading opcodes of wgmma and tcgen05; see tensor_form.h.
#include "sim/ptx/tensor_form.h"

#include <utility>
#include <vector>

#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/ptx/words.h"

namespace tcq::ptx {
namespace {

using namespace tcgen05;

// One of each name; ld.red goes before ld, whose name it begins with.
std::vector<Tcgen05Form> one_of_each() {
  return {MmaForm{},       LdRedForm{},    LdForm{},         StForm{},         CpForm{},
          ShiftForm{},     AllocForm{},    DeallocForm{},    RelinquishForm{}, CommitForm{},
          WaitForm{false}, WaitForm{true}, FenceForm{false}, FenceForm{true}};
}

}  // namespace

std::string_view syntax_name(const Tcgen05Form& form) {
  return std::visit([](const auto& f) { return name_in_syntax(f); }, form);
}

Tcgen05Reading read_form(std::span<const std::string_view> words, Spelling spelling) {
  for (Tcgen05Form form : one_of_each()) {
    const std::size_t name = words_of_name(syntax_name(form), words, spelling);
    if (name == 0) continue;
    OpcodeReading reading = std::visit(
        [&](auto& f) {
          return read_words(f, words.subspan(name), spelling, Fault::Tcgen05QualifierMissing);
        },
        form);
    for (Verdict* verdict : {&reading.problem, &reading.disagreement})
      if (!is_legal(*verdict)) return {std::nullopt, std::move(*verdict)};
    return {form, {}, std::move(reading.sync), std::move(reading.order)};
  }
  return {std::nullopt,
          illegal(Fault::Tcgen05Unknown, "got " + quoted(words.empty() ? "" : words[0]))};
}

OpcodeReading read_wgmma(wgmma::Form& form, std::span<const std::string_view> words,
                         Spelling spelling) {
  const std::size_t name = words_of_name(name_in_syntax(form), words, spelling);
  return read_words(form, words.subspan(name), spelling, Fault::QualifierMissing);
}

}  // namespace tcq::ptx
