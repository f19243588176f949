// A word taken apart: a line per field, the bits of no field that are set, and remarks; as text and
// as JSON. One form for every format of `tcq decode`.
//
// Decides the form only; which fields a word has is its Format's business (sim/isa/base/field.h).
// Example of a line: bits [62,64)  swizzle  1  128B.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/value.h"
#include "sim/isa/base/field_gaps.h"

namespace tcq::oracle {

struct FieldLine {
  int low;
  int end;
  std::string name;
  std::uint64_t code;
  std::string value;
};

// Lints are suspicions; notes are facts about a word that may well be right.
struct DescriptorRemarks {
  std::vector<std::string> lints;
  std::vector<std::string> notes;
};

struct DecodedWord {
  std::string format;
  std::string word;  // hex
  std::vector<FieldLine> fields;
  std::vector<FieldLine> rest;  // set bits that belong to no field
  std::string_view rest_key;    // what JSON calls them
  DescriptorRemarks remarks;
};

// A word that was put together, and what decode would find suspicious about it.
struct EncodedWord {
  std::string word;  // hex
  std::vector<std::string> lints;
};

// The word; lints are an array in JSON, else lines of the complaint.
Value value_of(std::string_view format, const EncodedWord& encoded);
std::string lint_lines(const EncodedWord& encoded);

std::string decoded_text(const DecodedWord& decoded);
Value value_of(const DecodedWord& decoded);

// "0x" and as many digits as `bits` bits have.
std::string hex_word(std::uint64_t word, int bits);

// "bits [46,49)".
std::string bits_text(int low, int end);
template <class F>
std::string bits_text(F) {
  return bits_text(F::low, F::low + F::width);
}

// A line per field of a Format; value(field) is what stands behind the code.
template <class Format, class Value>
std::vector<FieldLine> field_lines(Format, std::uint64_t word, Value value) {
  std::vector<FieldLine> lines;
  Format::for_each([&](auto field) {
    using F = decltype(field);
    lines.push_back({F::low, F::low + F::width, F::name, F::code(word), value(field)});
  });
  return lines;
}

// A line per run of bits that no field of a Format has and that are not all 0.
template <int Bits = 64, class Format>
std::vector<FieldLine> rest_lines(Format format, std::uint64_t word, std::string_view name,
                                  std::string_view value) {
  std::vector<FieldLine> lines;
  for_each_gap<Bits>(format, [&](auto gap) {
    using Gap = decltype(gap);
    if (Gap::code(word) == 0) return;
    lines.push_back(
        {Gap::low, Gap::low + Gap::width, std::string(name), Gap::code(word), std::string(value)});
  });
  return lines;
}

}  // namespace tcq::oracle
