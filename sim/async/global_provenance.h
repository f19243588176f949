// Who wrote and read each byte of global memory: a Provenance per page, made when the page is first
// touched, for the bytes that some statement of the program may write.
//
// Bytes that no statement can write are not followed: nobody can race for them, and a GEMM's inputs
// cost nothing. What a conflict means as a Fault, and which accesses there are: access.h.
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

// What the statements of a program may write: every instruction says it in writes_global().
class GlobalWrites {
 public:
  explicit GlobalWrites(const Program& program)
      : program_(program), size_(program.initial_global().size()) {}

  // The statements that follow are this segment's.
  void enter(const Segment& segment) { last_thread_ = segment.warps * warp_threads - 1; }

  void add_strided(std::uint64_t offset, std::int64_t stride_bytes,
                   std::int64_t bytes);  // per thread
  void add_bulk(std::uint64_t to, std::uint32_t bytes);
  void add_tensor(int map) { maps_.push_back(map); }
  void add_patch(int map, const tma::TensorMap& value) { patches_.push_back({map, &value}); }

  // Ascending and apart; may hold bytes that no statement writes.
  std::vector<ByteRange> take();

 private:
  struct Patch {
    int map = 0;
    const tma::TensorMap* value = nullptr;
  };
  void add(std::int64_t begin, std::int64_t end);
  void add_map(const tma::TensorMap& map);

  const Program& program_;
  std::uint64_t size_;
  std::int64_t last_thread_ = 0;
  std::vector<ByteRange> ranges_;
  std::vector<int> maps_;
  std::vector<Patch> patches_;
};
std::vector<ByteRange> global_writes(const Program& program);

class GlobalProvenance {
 public:
  static constexpr std::uint32_t page_bytes = 1024;

  explicit GlobalProvenance(std::vector<ByteRange> writes) : writes_(std::move(writes)) {}

  bool may_be_written(ByteRange range) const;

  // See Provenance::record. The first conflict that is not recorded ends it.
  Conflict record(ByteRange range, AccessId access, const Knowledge& knows, AccessLog& log,
                  const Streams& streams);

  // Checks only, and ends as above.
  Conflict check(ByteRange range, AccessId access, const Knowledge& knows, const AccessLog& log,
                 const Streams& streams) const;

  // As those of Provenance; the range lies inside one page, as that of a conflict does.
  void overwrite(ByteRange range, AccessId access) {
    pages_.at(range.begin / page_bytes).overwrite(range, access);
  }
  template <class Visit>
  void for_each_reader(ByteRange range, const AccessLog& log, Visit visit) const {
    pages_.at(range.begin / page_bytes).for_each_reader(range, log, visit);
  }

  AccessId writer(std::uint32_t offset) const;         // 0: none of this execution
  std::uint32_t first_written(ByteRange range) const;  // as that of Provenance

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
