// What a name means where it stands: the declaration of the nearest block that has one.
//
// Decides nesting and ranges: behind ".reg .b32 %r<8>" the names %r0 to %r7 are registers, and a block may
// declare its own %r3. Registers get their numbers when they are first used, those of a vector's elements one after the other. All tables are indexed by
// Name; closing a block takes back what it declared.
//
// Source: PTX ISA 9.2, 4.4 "Identifiers", 5.4.6 "Parameterized Variable Names"
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/ptx/program.h"

namespace tcq::ptx {

class ScopeTable {
 public:
  enum class Kind : std::uint8_t { None, Register, Variable, Function };
  struct Meaning {
    Kind kind = Kind::None;
    Index index = none;
  };

  explicit ScopeTable(const Names& names);

  void open() { marks_.push_back(stack_.size()); }
  void close();

  // False if the block has the name already.
  bool declare(Name name, Kind kind, Index index);
  bool declare_registers(const RegisterItem& item);

  // Registers that were not used before go onto `registers`, whose numbers begin at `first`.
  Meaning find(Name name, std::vector<Register>& registers, Index first);

 private:
  struct Entry {
    Name name;
    std::uint32_t id;        // of this declaration
    std::uint32_t previous;  // in the stack, of the same name
    Kind kind;
    bool is_range;
    Index index;  // of a plain register none, until it is used
    RegisterItem item;
  };
  struct Split {  // "%r12": "%r", 12
    bool is_known = false;
    Name prefix = 0;
    std::uint32_t number = 0;
  };
  struct Cached {
    std::uint32_t id = none;
    Index index = none;
  };

  bool push(Entry entry);
  const Split& split(Name name);
  std::uint32_t range_of(Name prefix, std::uint32_t number) const;
  std::uint32_t find_range(Name name, std::uint32_t& number);
  Index number_of(Entry& entry, std::uint32_t number, Name name, std::vector<Register>& registers,
                  Index first);

  const Names& names_;
  std::vector<Entry> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> plain_, ranges_;  // by Name: the nearest entry
  std::vector<Split> splits_;                  // by Name
  std::vector<Cached> cached_;                 // by Name
  std::unordered_map<std::uint64_t, Index> numbers_;
  std::uint32_t next_id_ = 0;
  bool has_digit_prefix_ = false;  // %r1<4> declares %r10
};

}  // namespace tcq::ptx
