// One TMA or bulk copy, one ldmatrix or stmatrix, or one encoding of a tensor map: inputs, what a
// device answered, the file, and the comparison with the simulator.
//
// A case is a pure function of its members: memory and registers are drawn from its seed and only
// their hash is stored. Its output is all that the instruction may have changed: the shared images
// of all CTAs (loads, sends, stmatrix), global memory (stores, reductions), the registers
// (ldmatrix) or one byte, 1 if the driver accepts the map (encode). A file holds a hash of every
// KiB of it, and all bytes of the cases that ask for it. What the suites of cases are:
// async_suites.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/vectors.h"
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
};
inline constexpr int move_count = 13;

constexpr bool is_bulk(Move move) { return move >= Move::BulkLoad; }

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
};
inline constexpr int content_count = 4;

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
