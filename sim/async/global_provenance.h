// Who wrote and read each byte of global memory: a Provenance per page, made when the page is first
// touched, for the bytes that some statement of the program may write.
//
// Bytes that no statement can write are not followed: nobody can race for them, and a GEMM's inputs
// cost nothing. What a conflict means as a Fault, and which accesses there are: execute_global.cc.
// Example: a program stores to [0, 128) only; a load of [4096, 8192) leaves no trace.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 8.9 "Ordering of memory operations".
// Inferred: all bytes hold data at launch, written by something that ended before.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/async/program.h"
#include "sim/async/provenance.h"

namespace tcq::machine {

// Ranges that statements of the program may write, ascending and apart; may hold bytes that none does.
std::vector<ByteRange> global_writes(const Program& program);

class GlobalProvenance {
 public:
  static constexpr std::uint32_t page_bytes = 1024;

  explicit GlobalProvenance(std::vector<ByteRange> writes) : writes_(std::move(writes)) {}

  bool may_be_written(ByteRange range) const;

  // See Provenance::record. The first conflict that is not recorded ends it.
  Conflict record(ByteRange range, AccessId access, const Knowledge& knows, AccessLog& log,
                  const Streams& streams);

  template <class Visit>
  void for_each_page(Visit visit) {
    for (auto& [number, page] : pages_) visit(page);
  }
  std::size_t bytes() const;

 private:
  std::vector<ByteRange> writes_;
  std::unordered_map<std::uint32_t, Provenance> pages_;
};

}  // namespace tcq::machine
