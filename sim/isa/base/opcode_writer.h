// How an opcode is written down from the rows of its syntax.
//
// A family says its syntax once, as a function syntax(io, form) that names the words of the opcode in
// the manual's order and the member that each one stands for (sim/isa/wgmma/syntax.h,
// sim/isa/tcgen05/syntax.h). This io writes the words, without allocation, so that kernels can do it
// at compile time; that of sim/ptx/opcode_reader.h reads them.
//
// Source: PTX ISA 9.2, 4.1 (source format is plain ASCII text).
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"

namespace tcq {

// What must be written of the words that no member chooses. Sync and Aligned have Faults of their
// own; Implied ones may be left out in mnemonics.
enum class Need : std::uint8_t { Mandatory, Sync, Aligned, Implied };

class OpcodeWriter {
 public:
  PtxText text;

  // "tcgen05", "ld.red".
  HOST_DEVICE constexpr void instruction(const char* family, const char* name) {
    text += family;
    word(name);
  }
  HOST_DEVICE constexpr void fixed(const char* name, Need) { word(name); }
  HOST_DEVICE constexpr void flag(const char* name, bool set) {
    if (set) word(name);
  }
  // A word that follows from the rest of the form; the Fault if it does not, and why.
  template <class Fault>
  HOST_DEVICE constexpr void derived(const char* name, bool present, Need, Fault, const char*,
                                     const char*) {
    flag(name, present);
  }
  // Another place where the word of a flag may stand.
  HOST_DEVICE constexpr void also_here(const char*, bool) {}
  // One of the names of an enumeration.
  template <class Value>
  HOST_DEVICE constexpr void choice(const char*, const char* prefix, Value value, int) {
    word(prefix);
    text += name(value);
  }
  // The same, but the first enumerator is that none is written.
  template <class Value>
  HOST_DEVICE constexpr void optional_choice(const char* what, Value value, int count) {
    if (value != Value{}) choice(what, "", value, count);
  }
  // A power of two up to the last.
  HOST_DEVICE constexpr void power(const char*, const char* prefix, int value, int) {
    word(prefix);
    text += value;
  }
  // Two enumerations in one word; the first enumerator of the first is that none is written.
  template <class First, class Second>
  HOST_DEVICE constexpr void optional_pair(const char*, const char* prefix, First first, int,
                                           Second second, int) {
    if (first == First{}) return;
    word(prefix);
    text += name(first);
    text += "::";
    text += name(second);
  }
  // "m64n24k16".
  HOST_DEVICE constexpr void shape(const char*, int m, int n, int k) {
    word("m");
    text += m;
    text += "n";
    text += n;
    text += "k";
    text += k;
  }
  // What follows may stand in any order.
  HOST_DEVICE constexpr void any_order() {}

 private:
  HOST_DEVICE constexpr void word(const char* chars) {
    text += ".";
    text += chars;
  }
};

}  // namespace tcq
