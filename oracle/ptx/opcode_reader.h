// Reads the words of an opcode into the members of a form, by the same rows that write it.
//
// OpcodeSlots is the io that collects the rows of a family's syntax(io, form) (sim/isa/wgmma/syntax.h,
// sim/isa/tcgen05/syntax.h); read_words() fills them. What is wrong is kept apart by kind, because a
// statement of PTX is told about its form first. Whether the form exists is check() of sim/isa.
// Example: the words sync, aligned, 32x32b, x16, b32 fill LdForm{S32x32b, 16}.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/ptx/verdict.h"
#include "sim/isa/base/opcode_writer.h"
#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

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

// One place of a syntax line. Slots of equal rank may stand in any order.
struct OpcodeSlot {
  static constexpr int absent = -1;

  std::string what;  // ".kind"
  std::vector<std::string> words;
  std::function<void(int)> set = {};  // the form's member, to that of words[i]
  std::optional<Need> need = {};      // none: optional
  int rank = 0;
  bool is_flag = false;              // set(absent) if no word is there
  bool is_shape = false;             // any "m64n24k16"; set(n)
  std::optional<bool> derived = {};  // whether the rest of the form says that the word is there
  Verdict otherwise = {};            // if that is not so
  int chosen = absent;               // index of the word that was read
};

class OpcodeSlots {
 public:
  std::string instruction_name;  // "ld.red"
  std::vector<OpcodeSlot> slots;

  void instruction(const char*, const char* text) { instruction_name = text; }
  void fixed(const char* word, Need need) { add(dotted(word), {word}, {}).need = need; }
  void flag(const char* word, bool& set) {
    add(dotted(word), {word}, [&set](int i) { set = i == 0; }).is_flag = true;
  }
  void also_here(const char* word, bool& set) {
    add(dotted(word), {word}, [&set](int) { set = true; });
  }
  void derived(const char* word, bool present, Need need, Fault fault, const char* because,
               const char* value);
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
    OpcodeSlot& slot = add(what, {}, [&first, &second, second_count](int i) {
      first = static_cast<First>(1 + i / second_count);
      second = static_cast<Second>(i % second_count);
    });
    for (int a = 1; a < first_count; ++a)
      for (int b = 0; b < second_count; ++b)
        slot.words.push_back(std::string(prefix) + name(static_cast<First>(a)) +
                             "::" + name(static_cast<Second>(b)));
  }
  void shape(const char* what, int, int& n, int) {
    OpcodeSlot& slot = add(what, {}, [&n](int i) { n = i; });
    slot.need = Need::Mandatory;
    slot.is_shape = true;
  }
  void any_order() { ranked_ = false; }

 private:
  static std::string dotted(const char* word) { return "." + std::string(word); }
  OpcodeSlot& add(std::string what, std::vector<std::string> words, std::function<void(int)> set);

  template <class Value>
  OpcodeSlot& enumeration(const char* what, const char* prefix, Value& value, int first,
                          int count) {
    OpcodeSlot& slot =
        add(what, {}, [&value, first](int i) { value = static_cast<Value>(first + i); });
    for (int i = first; i < count; ++i)
      slot.words.push_back(std::string(prefix) + name(static_cast<Value>(i)));
    return slot;
  }

  int rank_ = 0;
  bool ranked_ = true;
};

// The words of an opcode: "wgmma", "mma_async", "sp", ...
std::vector<std::string_view> split_opcode(std::string_view text);

// How many words the instruction's name is; 0 if they begin with another one.
std::size_t words_of_name(const OpcodeSlots& syntax, std::span<const std::string_view> words,
                          Spelling spelling);

// Fills the members that the slots stand for. `missing` is the Fault of a mandatory word.
OpcodeReading fill_slots(OpcodeSlots& syntax, std::span<const std::string_view> words,
                         Spelling spelling, Fault missing);

// What of the words that follow from the form does not; `now` is the syntax of the form as read.
Verdict disagreement_of(const OpcodeSlots& now, const OpcodeSlots& read, Spelling spelling);

// The words behind the instruction's name. Requires: `form` is as without any optional word.
template <class Form>
OpcodeReading read_words(Form& form, std::span<const std::string_view> words, Spelling spelling,
                         Fault missing) {
  OpcodeSlots slots;
  syntax(slots, form);
  OpcodeReading reading = fill_slots(slots, words, spelling, missing);
  OpcodeSlots now;
  syntax(now, form);
  if (is_legal(reading.problem)) reading.disagreement = disagreement_of(now, slots, spelling);
  return reading;
}

// A full opcode without what may be left out in every mnemonic: sync, aligned, mma_async, and types
// that no form can choose.
std::string shortened(std::string_view opcode);

}  // namespace tcq::oracle
