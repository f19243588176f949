// Loads that race and whose values nobody uses.
//
// A pipeline fetches registers for the round behind the last one, a loop reads a clamped element and drops it: the load
// may meet a store of the same bytes, PTX calls that a race, and no result depends on it. Whether one does shows only
// later, when the value has long been loaded. So an execution that has shown such a race is repeated (explore.h): the
// lanes and bytes that race are noted, left out of all orders, and what they load is followed to whatever uses it
// (sim/run/undefined.h). A use is the race that it was. Silent is only an execution in which no race had to be put
// aside any more: whatever raced was left out, and followed.
//
// Only loads whose executor follows their values may be left out (Access::is_followed): ld and ldmatrix of compiled
// kernels, and A of wgmma, row by row. What wmma, cp.async, bulk copies, B of wgmma, atomics, volatile and ordered loads
// read stays a race.
//
// A tile of A may have fewer rows than the 64 that a wgmma reads (DeepGEMM with a BLOCK_M of 32): rows behind it are those of
// the next stage of a ring, and no row of D that they make is stored. Such rows are noted by their wgmma and left out, and the
// rows of D followed. B has no such part: each column of it is in every row of D.
//
// A load is known by its warp, the epoch it stood in, its lanes and bytes: whatever loads them there races as well, and
// so do its warp's earlier loads of them that the store does not know. Too much is only cautious, as what is left out
// may not be used.
//
// Source: PTX ISA 9.2, 8.9
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/operand_chunks.h"
#include "sim/async/provenance.h"

namespace tcq::machine {

struct ClusterState;
struct Step;

class RacingLoads {
 public:
  // By a warp; `cta` may be global_memory.
  struct Where {
    int warp = 0;
    int cta = 0;
    auto operator<=>(const Where&) const = default;
  };
  // In these epochs of the warp, both included.
  struct Loads {
    Tick first = 0, last = 0;
    std::uint32_t lanes = 0;
    int race = -1;  // of races()
    friend bool operator==(const Loads&, const Loads&) = default;
  };

  // False: there are too many.
  bool add(const Where& where, std::uint32_t byte, const Loads& loads);
  // In which race any of the bytes are for the lane; -1: in none.
  int race_of(const Where& where, Tick epoch, ByteRange bytes, int lane) const;
  // Of the how many-th wgmma of the warpgroup that begins with this warp.
  struct Rows {
    RowMask rows = 0;
    int race = -1;  // the first one
    friend bool operator==(const Rows&, const Rows&) = default;
  };
  void add_rows(int first_warp, std::uint32_t wgmma, const Rows& rows);
  Rows rows_of(int first_warp, std::uint32_t wgmma) const;
  // The number of a race, new or not.
  int number_of(const Finding& race);
  const std::vector<Finding>& races() const { return races_; }
  bool empty() const { return bytes_.empty() && rows_.empty(); }

  // How often a race was put aside, as its load was not left out yet.
  std::uint64_t put_aside() const { return put_aside_; }
  void note_put_aside() { ++put_aside_; }
  friend bool operator==(const RacingLoads&, const RacingLoads&) = default;

 private:
  static constexpr std::uint64_t most = 1 << 20;
  std::map<Where, std::map<std::uint32_t, std::vector<Loads>>> bytes_;
  std::map<std::pair<int, std::uint32_t>, Rows> rows_;
  std::vector<Finding> races_;
  std::uint64_t noted_ = 0, put_aside_ = 0;
};

// Of the same two statements.
bool is_same_race(const Finding& a, const Finding& b);

// A plain load and a store, or a copy in flight, that meet unordered; or what a wgmma may not read, or may not be overwritten yet.
bool is_race_of_load(const Finding& finding);
// Of a wgmma's read of these bytes: the rows of A that they are; none if they are B's.
RowMask racing_rows(ClusterState& c, const Access& read, ByteRange bytes);
// Is what these bytes brought followed?
bool may_be_unused(ClusterState& c, const Access& read, ByteRange bytes);

struct RacingPair {
  const Access& load;
  const Access& store;
  int race = -1;  // its number
};
// Notes the load: of its lanes those that meet another lane's store, and with it what its warp has loaded there since
// the epoch `known`. False: there are too many.
bool note_racing_load(ClusterState& c, const RacingPair& pair, Tick known, int cta,
                      ByteRange bytes);

// Rows of A, of the present warp's part of a wgmma: whoever uses what they make in D does what the finding says.
void follow_rows(Step& s, const Finding& finding, RowMask rows);
// The rows of A that a wgmma is not to read. Its warp's `own` ones are followed from now on, as such lanes are.
RowMask leave_out_rows(Step& s, std::uint32_t wgmma, RowMask own);

// Those of the lanes of a load whose bytes, `width` of each, are noted. They are followed from now on: a use is their
// race.
std::uint32_t leave_out(Step& s, int cta, const std::array<std::uint32_t, 32>& at,
                        std::uint32_t width, std::uint32_t lanes);

}  // namespace tcq::machine
