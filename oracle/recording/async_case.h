// One TMA or bulk copy, one ldmatrix or stmatrix, one encoding of a tensor map, or a sequence of
// mbarrier operations or of wgmmas in groups: inputs, what a device answered, the file, and the
// comparison with the simulator.
//
// A case is a pure function of its members: memory, registers and sequences are drawn from its seed
// and only their hash is stored. Its output is all that the instruction may have changed: the
// shared images of all CTAs (loads, sends, stmatrix), global memory (stores, reductions), the
// registers (ldmatrix) or one byte, 1 if the driver accepts the map (encode); for sequences see
// async_mbarrier.h and async_groups.h. A file holds a hash of every KiB of it, and all bytes of the
// cases that ask for it. What the suites of cases are: async_suites.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/vectors.h"
#include "sim/machine/bulk.h"
#include "sim/machine/matrix.h"
#include "sim/machine/tma.h"

namespace tcq::oracle {

enum class Move : std::uint8_t {
  Load,
  Store,
  Reduce,
  Multicast,
  LoadMatrix,
  StoreMatrix,
  Encode,
  BulkLoad,
  BulkStore,
  BulkReduce,
  BulkMulticast,
  BulkSend,
  BulkSendReduce,
  Mbarrier,
  WgmmaGroups,
};
inline constexpr int move_count = 15;

constexpr bool is_bulk(Move move) { return move >= Move::BulkLoad && move <= Move::BulkSendReduce; }

// Not one instruction but several.
constexpr bool is_sequence(Move move) {
  return move == Move::Mbarrier || move == Move::WgmmaGroups;
}

// The output is global memory.
constexpr bool writes_global(Move move) {
  return move == Move::Store || move == Move::Reduce || move == Move::BulkStore ||
         move == Move::BulkReduce;
}

// What fills memory.
enum class MemoryContent : std::uint8_t {
  Random,
  SpecialWords,  // NaN, subnormals, rounding ties
  FloatPairs,    // special_float() of the reduction's type, every value meets every other
  FloatDraws,    // DrawnPair of that type
  Operands,      // of wgmmas in groups
};
inline constexpr int content_count = 5;

// A copy without a tensor map, of whichever direction.
struct BulkOperands {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  std::uint32_t bytes = 0;
  std::uint32_t destination = 0;  // sends only
  std::uint32_t destination_rank = 0;
  tma::DataType type = tma::DataType::UInt32;  // reductions only

  friend constexpr bool operator==(const BulkOperands&, const BulkOperands&) = default;
};

// Operations on one mbarrier; which: async_mbarrier.h.
struct MbarrierOperands {
  int script = 0;  // of directed_mbarrier_scripts(), counted from 1; 0: drawn from the seed
  std::uint32_t misplaced_by = 0;  // bytes behind an aligned address

  friend constexpr bool operator==(const MbarrierOperands&, const MbarrierOperands&) = default;
};

// What stands between the groups of wgmmas.
enum class Between : std::uint8_t {
  Nothing,
  EmptyFirst,   // commit_group before the first wgmma
  EmptyMiddle,  // two commit_groups in a row behind the first group
  EmptyLast,    // two in a row at the end
  Uncommitted,  // wgmmas of another accumulator, with no commit_group, before the last group
};
inline constexpr int between_count = 5;

// wgmmas in groups, then wait_group `pending`; which: async_groups.h.
struct GroupsOperands {
  Type type = Type::f16;  // of A and B; or bf16
  int groups = 1;         // that are not empty
  int pending = 0;
  Between between = Between::Nothing;

  friend constexpr bool operator==(const GroupsOperands&, const GroupsOperands&) = default;
};

enum class Outcome : std::uint8_t {
  Completed,
  Timeout,  // the mbarrier's phase did not complete
  Trap,     // the device reported an error; no output
  Refused,  // the driver did not encode the tensor map; no output
};
inline constexpr int outcome_count = 4;

struct AsyncCase {
  Move move = Move::Load;
  tma::Tile tile;  // tensor maps only
  tma::Reduction reduction = tma::Reduction::Add;
  int cluster = 1;  // CTAs
  int issuer = 0;
  std::uint16_t mask = 1;
  matrix::Operand operand;  // matrices only
  BulkOperands bulk;        // bulk copies only
  MbarrierOperands mbarrier;
  GroupsOperands groups;
  MemoryContent content = MemoryContent::Random;
  bool keep_bytes = false;  // in a file, too
  std::uint32_t shared_bytes = 0;
  std::uint32_t global_bytes = 0;
  std::uint64_t seed = 0;

  std::uint64_t input_hash = 0;
  Outcome outcome = Outcome::Completed;
  std::vector<std::uint8_t> output;   // empty if the file holds hashes only, or after a trap
  std::vector<std::uint64_t> hashes;  // one per KiB of the output
};

// Everything an instruction may read or change, before it runs.
struct AsyncState {
  SharedMemory shared;
  std::vector<std::uint8_t> global;
  decltype(matrix::State::registers) registers{};
  std::vector<std::uint64_t> sequence;  // its steps as numbers; empty for one instruction
};

AsyncState build_state(const AsyncCase& c);
std::uint64_t hash_inputs(const AsyncState& state);
// Of a reduction's elements.
tma::DataType element_type(const AsyncCase& c);
std::vector<std::uint64_t> hash_blocks(const std::vector<std::uint8_t>& output);

// What the simulator makes of a case. Most faults stop the device: Trap, which stands for Refused
// as well, and no output. A few have an outcome that was learned from recordings.
struct Prediction {
  Fault fault = Fault::None;
  std::vector<std::uint8_t> output;
  Outcome outcome = Outcome::Completed;
  bool open = false;  // the output ends at the fault; whatever the device does then is right
};
Prediction predict(const AsyncCase& c);

struct AsyncRecording {
  Header header;
  std::vector<AsyncCase> cases;
};

bool is_async_recording(std::string_view bytes);
std::string serialize(const AsyncRecording& recording);
AsyncRecording parse_async_recording(std::string_view bytes);

// Outputs are bytes; where a file holds hashes only, a wrong KiB counts as 1024 differing bytes.
// Throws BadFile if a case's inputs do not have the recorded hash.
Comparison compare(const AsyncRecording& recording, std::int64_t only = -1);

// One line: instruction, tensor map, coordinates, addresses.
std::string describe(const AsyncCase& c);

// For the eyes of whoever looks for the true rule: which properties the differing cases share, and
// the first differing cases with every byte's origin. Empty if nothing differs. Requires: outputs
// with all bytes.
std::string explain_differences(const AsyncRecording& recording);

}  // namespace tcq::oracle
