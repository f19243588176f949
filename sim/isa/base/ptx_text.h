// Text of a PTX statement, built without allocation so that kernels can use it at compile time.
//
// Decides only how text grows; which words an opcode has is its family's syntax
// (sim/isa/base/opcode_writer.h).
// Source: PTX ISA 9.2, 4.1 (source format is plain ASCII text).
#pragma once

#include "sim/isa/base/host_device.h"

namespace tcq {

// A zero-terminated text of bounded length; `chars` can be handed to inline assembly.
struct PtxText {
  static constexpr int capacity = 96;
  char chars[capacity] = {};
  int size = 0;

  HOST_DEVICE constexpr PtxText& operator+=(const char* text) {
    for (; *text != 0 && size + 1 < capacity; ++text) chars[size++] = *text;
    return *this;
  }
  HOST_DEVICE constexpr PtxText& operator+=(int number) {
    if (number >= 10) *this += number / 10;
    const char digit[2] = {static_cast<char>('0' + number % 10), 0};
    return *this += digit;
  }
};

}  // namespace tcq
