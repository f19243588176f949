// Global memory: ld.global and st.global, what copies read and write there, and which accesses race.
//
// Every access of bytes that the program writes is checked against those before it, as in shared
// memory (provenance.h). A bulk load reads until its mbarrier's phase completes; a bulk store or
// reduction writes until a wait_group without .read covers it, in the thread that issued it.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 8.9, 9.7.9.25.4 (reductions are relaxed and atomic each; bulk
// operations have no order among themselves), 9.7.9.27.2.2 "cp.async.bulk.wait_group" (.read).
// Inferred: min and max of f16 and bf16 commute, as sim/num/reduce_float.h has them.
#include <bit>
#include <cstdlib>
#include <cstring>

#include "sim/async/executor.h"
#include "sim/machine/tma.h"

namespace tcq::machine {
namespace {

constexpr std::int64_t word_bytes = 4;

// Number of a reduction that gives the same bits in any order among its like; 0 for the others.
std::uint32_t commuting(tma::Reduction op, tma::DataType type) {
  using enum tma::Reduction;
  const bool depends = op == Inc || op == Dec || (op == Add && tma::is_float(type));
  return depends ? 0
                 : 1u + static_cast<std::uint32_t>(op) * tma::data_type_count +
                       static_cast<std::uint32_t>(type);
}

ByteRange range_of(const tma::GlobalRun& run) {
  return {static_cast<std::uint32_t>(run.begin), static_cast<std::uint32_t>(run.end)};
}

}  // namespace

// --- findings --------------------------------------------------------------------------------------

Fault Executor::fault_of_global(const Conflict& conflict, Place& hint) const {
  const Access& earlier = c_.log_[conflict.earlier];
  Fault weak = Fault::None;
  if (is_known_too_weakly(earlier.stream, earlier.tick, weak, hint)) return weak;
  if (!is_async(earlier.kind)) return Fault::DataRace;
  return is_write(earlier.kind) ? Fault::CopyInFlight : Fault::SourceInFlight;
}

bool Executor::may_be_written(const tma::GlobalRun& run) const {
  return c_.global_provenance_.may_be_written(range_of(run));
}

bool Executor::record_global(AccessId access, ByteRange range) {
  if (!c_.global_provenance_.may_be_written(range)) return true;
  const Conflict conflict =
      c_.global_provenance_.record(range, access, knowledge(), c_.log_, c_.streams_);
  return settle(conflict, access, global_memory);
}

// --- through the generic proxy ---------------------------------------------------------------------

// The bytes of all lanes; false if a lane's lie outside, or are not ordered.
bool Executor::global_access(AccessKind kind, std::uint64_t offset, std::int64_t stride,
                             RegisterRange regs, AccessId& id) {
  const std::int64_t bytes = word_bytes * regs.count;
  const auto size = static_cast<std::int64_t>(c_.global_.size());
  const auto begin_of = [&](int lane) {
    return static_cast<std::int64_t>(offset) + stride * thread_of(lane);
  };
  bool fine = true;
  for_each_lane([&](int lane) {
    const std::int64_t begin = begin_of(lane);
    if (!fine || (begin >= 0 && begin <= size - bytes)) return;
    fail(Fault::GlobalOutOfRange, lane);
    fine = false;
  });
  if (!fine) return false;
  Access access = generic_access(kind);
  if (std::popcount(lanes_) > 1) {  // so that the stride fits, as all lanes lie inside
    access.base = static_cast<std::uint32_t>(begin_of(0));
    access.stride_bytes = static_cast<std::int32_t>(stride);
    access.width = static_cast<std::uint16_t>(bytes);
  }
  const auto range = [&](int first, int last) {
    return ByteRange{static_cast<std::uint32_t>(begin_of(first)),
                     static_cast<std::uint32_t>(begin_of(last) + bytes)};
  };
  id = c_.log_.add(access);
  if (lanes_ == all_lanes && stride == bytes) return record_global(id, range(0, warp_threads - 1));
  for_each_lane([&](int lane) { fine = fine && record_global(id, range(lane, lane)); });
  return fine;
}

template <class Visit>
void Executor::for_each_global_word(std::uint64_t offset, std::int64_t stride, RegisterRange regs,
                                    Visit visit) {
  for_each_lane([&](int lane) {
    const std::int64_t begin = static_cast<std::int64_t>(offset) + stride * thread_of(lane);
    for (int r = 0; r < regs.count; ++r)
      visit(reg(regs.first + r)[static_cast<std::size_t>(lane)],
            c_.global_[static_cast<std::size_t>(begin + word_bytes * r)]);
  });
}

void Executor::execute(const LoadGlobal& i) {
  AccessId id = 0;
  if (!writes(i.regs)) return;
  if (!global_access(AccessKind::Load, i.offset, i.stride_bytes, i.regs, id)) return;
  note_loaded(id, i.regs);
  for_each_global_word(
      i.offset, i.stride_bytes, i.regs,
      [](std::uint32_t& word, std::uint8_t& byte) { std::memcpy(&word, &byte, sizeof word); });
}

void Executor::execute(const StoreGlobal& i) {
  AccessId id = 0;
  if (!reads(i.regs)) return;
  if (!global_access(AccessKind::Store, i.offset, i.stride_bytes, i.regs, id)) return;
  for_each_global_word(
      i.offset, i.stride_bytes, i.regs,
      [](std::uint32_t& word, std::uint8_t& byte) { std::memcpy(&byte, &word, sizeof word); });
}

// --- through the async proxy -----------------------------------------------------------------------

// What the loads from `first` on read, each until its own mbarrier says that it has landed.
void Executor::note_global_reads(std::size_t first, const std::vector<tma::GlobalRun>& runs) {
  for (std::size_t n = first; n < c_.copies_.size() && !stopped(); ++n) {
    Copy& copy = c_.copies_[n];
    const Stream phases = c_.slots_[static_cast<std::size_t>(copy.slot)].phases;
    for (const tma::GlobalRun& run : runs) {
      if (!may_be_written(run)) continue;
      if (copy.global_read == 0) copy.global_read = add_copy_access(AccessKind::CopyRead, phases);
      if (!record_global(copy.global_read, range_of(run))) return;
    }
  }
}

// What a store or a reduction writes, until its group is waited for.
bool Executor::note_global_writes(Copy& copy, const GlobalWrite& write, Stream done) {
  const AccessKind kind = write.reduces ? AccessKind::CopyReduce : AccessKind::CopyWrite;
  copy.write = add_copy_access(kind, done);
  if (write.reduces) c_.log_[copy.write].operation = commuting(write.op, write.type);
  for (const tma::GlobalRun& run : write.runs)
    if (!record_global(copy.write, range_of(run))) return false;
  return true;
}

}  // namespace tcq::machine
