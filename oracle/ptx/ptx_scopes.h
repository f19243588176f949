// Which registers a PTX text declares, and in which block: names mean what the nearest block says.
//
// Scope 0 is the whole text; a block in braces is a scope inside another. Example: behind
// ".reg .f32 %f<8>, sum;" the names %f0 to %f7 and sum are F32 there and in the blocks inside.
//
// Source: PTX ISA 9.2, 4.4 "Identifiers", 5.4.6 "Parameterized Variable Names"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/ptx/ptx_statement.h"

namespace tcq::oracle {

class PtxScopes {
 public:
  PtxScopes() : scopes_(1) {}

  // A new block inside `parent`.
  int open(int parent);
  int parent(int scope) const { return scopes_[static_cast<std::size_t>(scope)].parent; }

  // Notes what a .reg directive declares; others are left alone.
  void declare(int scope, std::string_view directive);

  struct Declared {
    RegisterClass type = RegisterClass::Unknown;
    int scope = 0;
  };
  std::optional<Declared> find(int scope, std::string_view name) const;

 private:
  struct Range {
    RegisterClass type;
    std::uint64_t count;
  };
  struct Scope {
    int parent = -1;
    std::map<std::string, RegisterClass, std::less<>> names;
    std::map<std::string, Range, std::less<>> ranges;  // by prefix
  };
  std::vector<Scope> scopes_;
};

}  // namespace tcq::oracle
