// Who wrote and read each byte of a memory, through which proxy, and what of it another thread may
// rely on. Of shared memory here, of global memory in pieces of this (global_provenance.h).
//
// Every byte has a cell (byte_cells.h): its last writer and those who have read it since, as numbers of accesses in
// a log. An access is checked against the cells it touches before it becomes their newest entry; the
// verdict says whether the earlier access is known to have happened before (clock.h) and, where the
// two use different proxies, whether a proxy fence stands between them. What the verdict means as a
// Fault: cluster.h. Example: warp 0 stores through the generic proxy in its epoch 3, having executed
// no proxy fence (fences 0). A wgmma of warp 4, whose clock knows epoch 3 of warp 0 but no fence of
// it, gets the verdict Unfenced.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 8.9 "Ordering of memory operations", 9.7.13.4
// "fence.proxy.async".
// Inferred: a fence publishes the writes of the thread that executes it, as published kernels rely
// on; the manual's causality order alone accepts the reader's fence as well (disputed). ldmatrix and
// stmatrix are the warp's (collective, 9.7.14.5.15 and 16): every lane is taken to have accessed every
// row. Of what cp.async wrote the reader's fence is enough, as the causality order alone has it, and
// none at all is disputed; so is none behind what a thread stored before copies that an mbarrier tracks, as CUTLASS does
// with the zeros behind K. Where several lanes of a store write one byte, each of them has to fence. A load whose value its thread has
// used is over; one that a barrier of the CTA follows is not (Measured: tests/vectors/provoked.txt, P3), but published
// kernels take it for that (disputed).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/async/byte_cells.h"
#include "sim/async/clock.h"

namespace tcq::machine {

struct TensorLoad;  // instructions/copy.h
struct WgmmaMma;    // instructions/wgmma.h
struct LaneOrder;   // lane_order.h

using AccessId = std::uint32_t;   // 0: none
using ReaderSet = std::uint32_t;  // 0: none; one access, or a set of several

enum class AccessKind : std::uint8_t {
  Load,
  Store,
  BarrierInit,
  CopyRead,
  CopyWrite,
  CopyReduce,
  WgmmaRead,
  Tcgen05Read,  // by mma or cp
};

constexpr bool is_async(AccessKind kind) { return kind >= AccessKind::CopyRead; }
constexpr bool is_write(AccessKind kind) {
  return kind == AccessKind::Store || kind == AccessKind::BarrierInit ||
         kind == AccessKind::CopyWrite || kind == AccessKind::CopyReduce;
}

// Half open, absolute addresses.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// What has become of the values that a load brought. Lost: overwritten before they were used.
enum class Loaded : std::uint8_t { Waiting, Used, Lost };

// Lane l of the warp accesses `width` bytes at base + l * stride, or at base + table[l]; width 0: each
// of `lanes` accesses all of the bytes.
struct Access {
  AccessKind kind = AccessKind::Load;
  std::uint8_t lane = 0;   // the first
  std::uint16_t warp = 0;  // in the cluster
  std::uint32_t statement = 0;
  Stream stream = 0;
  Tick tick = 0;             // happened before all that knows (stream, tick)
  std::uint32_t fences = 0;  // proxy fences that its thread had executed: generic proxy only
  std::uint32_t lanes = 0;
  std::uint32_t base = 0;
  std::int32_t stride_bytes = 0;
  std::uint16_t width = 0;
  Loaded loaded = Loaded::Lost;
  bool is_copied = false;     // by cp.async: whoever reads may execute the fence, too
  bool rewrites = false;      // a store of what the bytes hold already
  bool is_allocated = false;  // what tcgen05.alloc stores: PTX does not say through which proxy
  bool covers_lost = false;   // stands for a load of the same bytes whose value was lost, too
  bool is_strong = false;     // threads synchronise by it: strong ones do not race among themselves
  bool is_volatile : 1 = false;    // and by that word
  bool finds : 1 = false;          // a strong one that depends on what was there
  bool is_narrow : 1 = false;      // a strong one of scope .cta, where there are several CTAs
  bool is_vector : 1 = false;      // a load or store of 16 bytes by each lane
  bool is_global : 1 = false;      // of global memory, whose proxy fences count
  bool is_of_peer : 1 = false;     // of another CTA's shared memory
  bool is_plain_bulk : 1 = false;  // CopyRead by cp.async.bulk without a tensor map
  bool shares_bytes = false;       // lanes of a table have bytes in common
  bool is_red_async = false;       // `operation` as of CopyReduce
  bool is_followed =
      false;  // a load whose value its executor follows to every use (unused_loads.h)
  // Lanes are threads of their own: the epoch, and up to which one all of them were ordered. 0: the warp is one thread.
  Tick epoch = 0;
  Tick agreed = 0;
  // Loads: registers that are not used yet; the epoch in which the last was. Reductions: see commute(). Stores: see is_one_store().
  // Other copies: the caller's. wgmma: the how many-th of its warpgroup.
  std::uint32_t operation = 0;
  union {                                  // a log has many
    const std::uint32_t* table = nullptr;  // with a width only: the program's, or kept by the log
    const TensorLoad* load;                // CopyWrite only: that writes, if one does
    const WgmmaMma* mma;                   // WgmmaRead only
  };
};
static_assert(sizeof(Access) <= 64);
// What a proxy fence names: the shared memory of its CTA, global memory, that of other CTAs of the cluster.
enum class FencedMemory : std::uint8_t { Own, Global, Peers };
inline constexpr Stream fenced_memories = 3;
constexpr FencedMemory fenced_memory(const Access& access) {
  return access.is_global    ? FencedMemory::Global
         : access.is_of_peer ? FencedMemory::Peers
                             : FencedMemory::Own;
}
// Lanes that access the byte; the first of them, or the access's first.
std::uint32_t lanes_at(const Access& access, std::uint32_t address);
int lane_at(const Access& access, std::uint32_t address);
// Of one of its lanes; all of them have all of `run` where the access has no width.
ByteRange bytes_of_lane(const Access& access, int lane, ByteRange run);

// Do two reductions give the same bits in either order? `operation` says which they are; 0: never.
constexpr bool commute(const Access& a, const Access& b) {
  return a.operation == b.operation && a.operation != 0;
}

// One statement of the source: compilers unroll its loop. `operation` is the number of its place in the source, with the
// functions that were inlined there; 0: not known. Where a text has no lines it is the number of its form and this, which says
// enough of the lanes of one warp alone.
inline constexpr std::uint32_t without_lines = 1u << 31;
constexpr bool is_one_store(const Access& a, const Access& b) {
  if (a.kind != AccessKind::Store || b.kind != AccessKind::Store) return false;
  if (a.statement == b.statement) return true;
  const bool told = a.operation < without_lines || a.warp == b.warp;
  return a.operation == b.operation && a.operation != 0 && told;
}

// Numbers of the streams of a cluster's warps and warpgroups; others are made on demand.
class Streams {
 public:
  Streams(int warps, int warpgroups)
      : warps_(static_cast<Stream>(warps)),
        next_((1 + fenced_memories) * warps_ + static_cast<Stream>(warpgroups)),
        lane_fences_(fenced_memories * static_cast<std::size_t>(warps) * 32),
        lane_epochs_(static_cast<std::size_t>(warps) * 32),
        performed_(static_cast<std::size_t>(warps)),
        tracked_(static_cast<std::size_t>(warps)) {}

  Stream epochs(int warp) const { return static_cast<Stream>(warp); }
  // Proxy fences.
  Stream fences(int warp, FencedMemory memory) const {
    return warps_ + fenced_memories * static_cast<Stream>(warp) + static_cast<Stream>(memory);
  }
  Stream groups(int warpgroup) const {
    return (1 + fenced_memories) * warps_ + static_cast<Stream>(warpgroup);
  }
  Stream make() { return next_++; }
  // Fences executed by some lanes of a warp only; 0: none yet.
  Stream lane_fences(int warp, int lane, FencedMemory memory) const {
    return lane_fences_[fenced_memories * index(warp, lane) + static_cast<std::size_t>(memory)];
  }
  Stream make_lane_fences(int warp, int lane, FencedMemory memory) {
    Stream& stream =
        lane_fences_[fenced_memories * index(warp, lane) + static_cast<std::size_t>(memory)];
    if (stream == 0) stream = make();
    return stream;
  }
  // The epochs of a warp as far as one lane released them alone; 0: none yet.
  Stream lane_epochs(int warp, int lane) const { return lane_epochs_[index(warp, lane)]; }
  Stream make_lane_epochs(int warp, int lane) {
    Stream& stream = lane_epochs_[index(warp, lane)];
    if (stream == 0) stream = make();
    return stream;
  }
  // Ticks: the epoch of the warp up to which a barrier of the CTA has performed its accesses; 0: none yet.
  Stream performed(int warp) const { return performed_[static_cast<std::size_t>(warp)]; }
  Stream make_performed(int warp) {
    Stream& stream = performed_[static_cast<std::size_t>(warp)];
    if (stream == 0) stream = make();
    return stream;
  }
  // The same, up to which cp.async.mbarrier.arrive has tracked copies of all its lanes.
  Stream tracked(int warp) const { return tracked_[static_cast<std::size_t>(warp)]; }
  Stream make_tracked(int warp) {
    Stream& stream = tracked_[static_cast<std::size_t>(warp)];
    if (stream == 0) stream = make();
    return stream;
  }
  // Strong writes to a word, counted. Of many words some share a stream: whoever saw one counts as having seen all.
  Stream make_word(std::uint64_t object) {
    const auto found = words_.find(object);
    if (found != words_.end()) return found->second;
    const Stream stream = words_.size() < max_words ? make() : shared_words_[object % max_words];
    if (words_.size() < max_words) shared_words_[words_.size()] = stream;
    return words_.size() < max_words ? words_[object] = stream : stream;
  }
  // Those to several words at once have a stream of their own; of each word's the last one is known.
  struct Seen {
    Stream word = 0;
    Tick writes = 0, scattered = 0;
  };
  Stream scattered() { return scattered_ != 0 ? scattered_ : scattered_ = make(); }
  void note_scattered(Stream word, Tick tick) {
    if (word >= scattered_at_.size()) scattered_at_.resize(word + 1);
    scattered_at_[word] = tick;
  }
  // What a read of the word sees; nothing if nobody has written it so.
  Seen seen_at(std::uint64_t object) const {
    const auto found = words_.find(object);
    if (found == words_.end() && words_.size() < max_words) return {};
    const Stream word = found != words_.end() ? found->second : shared_words_[object % max_words];
    return {word, word < writes_.size() ? writes_[word] : 0,
            word < scattered_at_.size() ? scattered_at_[word] : 0};
  }
  Tick next_write(Stream word) {
    if (word >= writes_.size()) writes_.resize(word + 1);
    return ++writes_[word];
  }

 private:
  static constexpr std::size_t max_words = 32;
  static std::size_t index(int warp, int lane) {
    return static_cast<std::size_t>(warp) * 32 + static_cast<std::size_t>(lane);
  }
  Stream warps_;
  Stream next_;
  std::vector<Stream> lane_fences_;
  std::vector<Stream> lane_epochs_;
  std::vector<Stream> performed_;
  std::vector<Stream> tracked_;
  std::unordered_map<std::uint64_t, Stream> words_;
  std::array<Stream, max_words> shared_words_ = {};
  std::vector<Tick> writes_;        // by stream
  std::vector<Tick> scattered_at_;  // by stream of a word
  Stream scattered_ = 0;
};

class AccessLog {
 public:
  AccessLog() : entries_(1), sets_(1) {}

  AccessId add(const Access& access) {
    entries_.push_back(access);
    return static_cast<AccessId>(entries_.size() - 1);
  }
  const Access& operator[](AccessId id) const { return entries_[id]; }
  Access& operator[](AccessId id) { return entries_[id]; }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const;

  ReaderSet with_reader(ReaderSet readers, AccessId access);

  // Lanes at offsets of their own, `width` bytes each. Such a list is kept for as long as an entry has it.
  using LaneOffsets = std::array<std::uint32_t, 32>;
  void place(Access& access, const LaneOffsets& offsets, int width);

  template <class Visit>
  void for_each(ReaderSet readers, Visit visit) const {
    if (readers == 0) return;
    if (!is_set(readers)) return visit(readers);
    for (const AccessId id : sets_[readers & ~set_bit]) visit(id);
  }

 private:
  friend class Compaction;
  static constexpr ReaderSet set_bit = 0x80000000u;
  static bool is_set(ReaderSet readers) { return (readers & set_bit) != 0; }
  static bool is_covered_by(const Access& old, const Access& next);
  ReaderSet make_set(ReaderSet readers, AccessId access);
  void keep_few(std::vector<AccessId>& members, const Access& next) const;
  void drop_offsets();  // that no entry has

  static constexpr std::ptrdiff_t most_alike = 2;  // in a set: loads by other lanes of a warp
  struct Hash {
    std::size_t operator()(const LaneOffsets& offsets) const;
  };

  std::vector<Access> entries_;
  std::vector<std::vector<AccessId>> sets_;
  struct Sharing {
    std::uint8_t asked = 0, shared = 0;  // a bit for each width: do lanes have bytes in common?
  };
  std::unordered_map<LaneOffsets, Sharing, Hash> offsets_;
  ReaderSet memo_readers_ = 0;
  AccessId memo_access_ = 0;
  ReaderSet memo_result_ = 0;
};

// Unwritten: nothing has written the bytes so far; whether that is wrong shows when something does,
// or at the end. So it is where strong writes alone were first, and no write is known: the read may come before all of them. UnfencedAfterUse: no proxy fence behind a read whose values were used before the bytes
// were handed on; UnfencedPerformed: behind a read that a barrier of the CTA has performed; UnfencedCopy:
// behind a cp.async, or a store before one that an mbarrier tracks; UnfencedAcquired: behind what another CTA wrote to global memory. FencedByNext: behind a write the thread that accesses the bytes next has fenced, once it knew of the write, and the
// writer has not. OpenOrder: two reductions whose order shows and is open. These leave the access
// recorded; the others are worse. LanesMet, LanesApart: lane_order.h.
enum class Verdict : std::uint8_t {
  Ordered,
  Unwritten,
  UnfencedAfterUse,
  UnfencedPerformed,
  UnfencedCopy,
  UnfencedAcquired,
  FencedByNext,
  OpenOrder,
  LanesMet,
  LanesApart,
  Unordered,
  Unfenced,
  LiveBarrier
};
constexpr bool is_recorded(Verdict verdict) { return verdict <= Verdict::OpenOrder; }

struct Conflict {
  Verdict verdict = Verdict::Ordered;
  AccessId earlier = 0;
  ByteRange bytes;
  int lane = -1, earlier_lane = -1;  // of LanesMet and LanesApart
};

// What some lanes of a warp knew at their last proxy fence; no lane is in two.
struct FenceClock {
  std::uint32_t lanes = 0;
  Clock clock;
  // As of an access: the epochs of its warp that all lanes knew, where lanes are threads.
  Tick agreed = 0;
};

// Of shared, of global memory.
using FenceClocks = std::array<std::vector<FenceClock>, 2>;

// What the accessing lanes know: their clock, and the warp's clocks at proxy fences.
struct Knowledge {
  const Clock& clock;
  const FenceClocks& at_fence;
  std::uint32_t lanes = 0;
  const LaneOrder* order = nullptr;  // null: the warp is one thread
  bool trusts_meetings = false;      // lanes that met count as ordered
  int first_warp = 0, warps = 0;     // of their CTA

  bool is_of_cta(int warp) const { return first_warp <= warp && warp < first_warp + warps; }
};

// Does the clock say that it happened before, for all the lanes that access bytes of the range?
bool is_known(const Access& access, ByteRange range, const Clock& clock, const Streams& streams);
// By a barrier of its CTA that the clock knows to have completed.
bool is_performed(const Access& load, const Clock& clock, const Streams& streams);
// Has a fence.proxy.async behind it that is known, in every lane that accesses bytes of the range.
bool is_fenced(const Access& access, ByteRange range, const Clock& clock, const Streams& streams);

class Provenance {
 public:
  enum class AtLaunch : std::uint8_t { Arbitrary, Data };  // what the bytes hold

  Provenance() = default;
  Provenance(std::uint32_t base, std::uint32_t bytes, AtLaunch at_launch = AtLaunch::Arbitrary)
      : base_(base), at_launch_(at_launch), cells_(bytes) {}

  // Checks the access against the bytes; if it is ordered, or reads what is unwritten, it becomes
  // their newest entry. Requires: the range lies inside; `access` is in the log.
  Conflict record(ByteRange range, AccessId access, const Knowledge& knows, AccessLog& log,
                  const Streams& streams);
  // The same for a read of whole chunks of 16 bytes at these addresses, as long as all is ordered: how many those are.
  std::size_t record_ordered(std::span<const std::uint32_t> chunks, AccessId access,
                             const Knowledge& knows, AccessLog& log, const Streams& streams);
  // Checks only.
  Conflict check(ByteRange range, AccessId access, const Knowledge& knows, const AccessLog& log,
                 const Streams& streams) const;
  // The bytes now hold data that `access` wrote, whatever was there.
  void overwrite(ByteRange range, AccessId access);
  template <class Visit>
  void for_each_reader(ByteRange range, const AccessLog& log, Visit visit) const {
    const std::uint32_t end = range.end - base_;
    for (std::uint32_t i = range.begin - base_; i < end; i = cells_.end_of_run(i, end))
      log.for_each(cells_.at(i).readers, visit);
  }

  AccessId writer(std::uint32_t address) const { return cells_.at(address - base_).writer; }
  // The first of these bytes that something has written; the end where nothing has.
  std::uint32_t first_written(ByteRange range) const {
    const std::uint32_t end = range.end - base_;
    std::uint32_t at = range.begin - base_;
    while (at < end && cells_.at(at).writer == 0) at = cells_.end_of_run(at, end);
    return at + base_;
  }
  // Of all these chunks of 16 bytes; 0: they have several, or none, or not all of them are there.
  AccessId only_writer(std::span<const std::uint32_t> chunks) const;
  std::size_t bytes() const { return cells_.memory(); }

 private:
  friend class Compaction;
  struct Cell {
    AccessId writer = 0;
    ReaderSet readers = 0;  // and reductions and strong writes, which overwrite nothing
    friend bool operator==(const Cell&, const Cell&) = default;
  };

  // Of one access: cells that it may follow, wherever their bytes lie.
  class Passed {
   public:
    bool has(const Cell& cell) const {
      const auto end = cells_.begin() + std::min<std::ptrdiff_t>(added_, most);
      return std::find(cells_.begin(), end, cell) != end;
    }
    void add(const Cell& cell) { cells_[static_cast<std::size_t>(added_++ % most)] = cell; }

   private:
    static constexpr std::ptrdiff_t most = 4;  // wgmmas that read one row of 128 bytes
    std::array<Cell, most> cells_;
    std::ptrdiff_t added_ = 0;
  };

  bool may_be_first(const Cell& cell, ByteRange run, const Access& next, const Knowledge& knows,
                    const AccessLog& log, const Streams& streams) const;
  Conflict check_cell(const Cell& cell, ByteRange run, AccessId access, const Knowledge& knows,
                      const AccessLog& log, const Streams& streams) const;
  bool is_alike_for_all_bytes(const Cell& cell, AccessId access, const AccessLog& log) const;

  std::uint32_t base_ = 0;
  AtLaunch at_launch_ = AtLaunch::Arbitrary;
  bool has_reductions_ = false;  // or strong writes: writes among the readers
  ByteCells<Cell> cells_;
};

// Drops all accesses from a log that no cell and no root refers to any more.
class Compaction {
 public:
  explicit Compaction(AccessLog& log) : log_(log), kept_(log.size()) {}
  void keep(Provenance& memory);
  void keep(AccessId root) { kept_[root] = true; }
  bool keeps(AccessId id) const { return kept_[id]; }
  // Requires: everything that is to stay was kept. Renumbers what renumber() is then called with.
  void run();
  void renumber(Provenance& memory) const;
  AccessId renumber(AccessId id) const { return new_id_[id]; }

 private:
  AccessLog& log_;
  std::vector<bool> kept_;
  std::vector<bool> kept_sets_;
  std::vector<AccessId> new_id_;
  std::vector<ReaderSet> new_set_;
};

}  // namespace tcq::machine
