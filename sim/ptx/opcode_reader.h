// Reads the words of an opcode into the members of a form, by the same rows that write it.
//
// OpcodeSlots is the io that collects the rows of a family's syntax(io, form) (sim/isa/wgmma/syntax.h,
// sim/isa/tcgen05/syntax.h); read_words() fills them. What is wrong is kept apart by kind, because a
// statement of PTX is told about its form first. Whether the form exists is check() of sim/isa.
// Example: the words sync, aligned, 32x32b, x16, b32 fill LdForm{S32x32b, 16}.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/isa/base/opcode_writer.h"
#include "sim/isa/fault/fault.h"
#include "sim/ptx/verdict.h"

namespace tcq::ptx {

// In a mnemonic sync, aligned and what a form implies may be left out, and case does not matter.
enum class Spelling { Statement, Mnemonic };

struct OpcodeShape {
  int m;
  int n;
  int k;
};

// "m64n24k16" -> {64, 24, 16}, legal or not; leading zeros are no PTX.
std::optional<OpcodeShape> parse_shape(std::string_view part);

struct OpcodeReading {
  Verdict problem = {};       // words unknown or missing: the form is not complete
  Verdict disagreement = {};  // a word is there or not against the rest of the form
  Verdict sync = {};          // .sync or .aligned is missing
  Verdict order = {};         // words are not in the manual's order, or given twice
  std::optional<OpcodeShape> shape = {};
};

// PTX knows upper case, mnemonics do not.
bool is_same(std::string_view a, std::string_view b, Spelling spelling);

// True, and `word` is what comes after it, if the word begins with a prefix.
bool is_behind(std::string_view prefix, std::string_view& word, Spelling spelling);

// One place of a syntax line. Slots of equal rank may stand in any order.
struct OpcodeSlot {
  static constexpr int absent = -1;
  // Index of a word among those that may stand here.
  using Find = std::function<int(std::string_view, Spelling)>;

  std::string what;  // ".kind"; of one word the word itself
  Find find;
  std::function<void(int)> set = {};  // the form's member, to that of the word
  std::optional<Need> need = {};      // none: optional
  int rank = 0;
  bool is_flag = false;     // set(absent) if no word is there
  bool is_shape = false;    // any "m64n24k16"; set(n)
  bool is_derived = false;  // OpcodeAgreement looks at it
  int chosen = absent;      // index of the word that was read
};

// An io of syntax(io, form) that looks at no row.
struct OpcodeIgnorer {
  void instruction(const auto&...) {}
  void fixed(const auto&...) {}
  void flag(const auto&...) {}
  void also_here(const auto&...) {}
  void derived(const auto&...) {}
  void choice(const auto&...) {}
  void optional_choice(const auto&...) {}
  void power(const auto&...) {}
  void optional_pair(const auto&...) {}
  void shape(const auto&...) {}
  void any_order() {}
};

// What an instruction is called: "ld.red".
struct OpcodeName : OpcodeIgnorer {
  std::string_view name;
  void instruction(const char*, const char* text) { name = text; }
};

template <class Form>
std::string_view name_in_syntax(Form form) {
  OpcodeName io;
  syntax(io, form);
  return io.name;
}

class OpcodeSlots {
 public:
  std::vector<OpcodeSlot> slots;

  void instruction(const char*, const char*) {}
  void fixed(const char* word, Need need) { add_word(word, {}).need = need; }
  void flag(const char* word, bool& set) {
    add_word(word, [&set](int i) { set = i == 0; }).is_flag = true;
  }
  void also_here(const char* word, bool& set) {
    add_word(word, [&set](int) { set = true; });
  }
  void derived(const char* word, bool, Need, Fault, const char*, const char*) {
    add_word(word, {}).is_derived = true;
  }
  template <class Value>
  void choice(const char* what, const char* prefix, Value& value, int count) {
    enumeration(what, prefix, value, 0, count).need = Need::Mandatory;
  }
  template <class Value>
  void optional_choice(const char* what, Value& value, int count) {
    enumeration(what, "", value, 1, count);
  }
  void power(const char* what, const char* prefix, int& value, int last);
  template <class First, class Second>
  void optional_pair(const char* what, const char* prefix, First& first, int first_count,
                     Second& second, int second_count) {
    const auto find = [=](std::string_view word, Spelling spelling) {
      if (!is_behind(prefix, word, spelling)) return OpcodeSlot::absent;
      for (int i = 0; i < (first_count - 1) * second_count; ++i) {
        std::string both = name(static_cast<First>(1 + i / second_count));
        both.append("::").append(name(static_cast<Second>(i % second_count)));
        if (is_same(word, both, spelling)) return i;
      }
      return OpcodeSlot::absent;
    };
    add(what, find, [&first, &second, second_count](int i) {
      first = static_cast<First>(1 + i / second_count);
      second = static_cast<Second>(i % second_count);
    });
  }
  void shape(const char* what, int, int& n, int);
  void any_order() { ranked_ = false; }

 private:
  OpcodeSlot& add(std::string what, OpcodeSlot::Find find, std::function<void(int)> set);
  OpcodeSlot& add_word(const char* word, std::function<void(int)> set);

  template <class Value>
  OpcodeSlot& enumeration(const char* what, const char* prefix, Value& value, int first,
                          int count) {
    const auto find = [=](std::string_view word, Spelling spelling) {
      if (!is_behind(prefix, word, spelling)) return OpcodeSlot::absent;
      for (int i = first; i < count; ++i)
        if (is_same(word, name(static_cast<Value>(i)), spelling)) return i - first;
      return OpcodeSlot::absent;
    };
    return add(what, find, [&value, first](int i) { value = static_cast<Value>(first + i); });
  }

  int rank_ = 0;
  bool ranked_ = true;
};

// The first word that is there, or not, against the rest of a form. In a mnemonic the Implied ones
// may be left out, all or none.
class OpcodeAgreement : public OpcodeIgnorer {
 public:
  OpcodeAgreement(const OpcodeSlots& read, Spelling spelling);
  void derived(const char* word, bool present, Need need, Fault fault, const char* because,
               const char* value);

  Verdict verdict = {};

 private:
  const OpcodeSlots& read_;
  Spelling spelling_;
  bool any_ = false;
};

// The words of an opcode: "wgmma", "mma_async", "sp", ...
std::vector<std::string_view> split_opcode(std::string_view text);

// How many words the name of an instruction is; 0 if they begin with another one.
std::size_t words_of_name(std::string_view name, std::span<const std::string_view> words,
                          Spelling spelling);

// Fills the members that the slots stand for. `missing` is the Fault of a mandatory word.
OpcodeReading fill_slots(OpcodeSlots& syntax, std::span<const std::string_view> words,
                         Spelling spelling, Fault missing);

// The words behind the instruction's name. Requires: `form` is as without any optional word.
template <class Form>
OpcodeReading read_words(Form& form, std::span<const std::string_view> words, Spelling spelling,
                         Fault missing) {
  OpcodeSlots slots;
  syntax(slots, form);
  OpcodeReading reading = fill_slots(slots, words, spelling, missing);
  if (!is_legal(reading.problem)) return reading;
  OpcodeAgreement agreement(slots, spelling);  // the form is another one now
  syntax(agreement, form);
  reading.disagreement = std::move(agreement.verdict);
  return reading;
}

// A full opcode without what may be left out in every mnemonic: sync, aligned, mma_async, and types
// that no form can choose.
std::string shortened(std::string_view opcode);

}  // namespace tcq::ptx
