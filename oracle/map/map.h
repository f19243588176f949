// Where a matrix of one instruction lies, as one value: coordinates of an element <-> its places.
//
// What a layout is, it says as functions over named axes, hardware on the one side, the matrix on the
// other: D of wgmma goes between (row, col) and (thread, register, part), scale factors in Tensor Memory
// between (row, col) and (cta, tmem_lane, tmem_column, low_bit), a load from Tensor Memory between a cell
// and (thread, register, part). An element may have several places; a place that is nobody's is no
// error. Who makes Maps: maps_*.cc, from sim/isa, chosen by asked.h. What is written over them once:
// words (words.cc), `where`, `what` and `bytes` (verbs.cc), `table` (table.cc), `equation`
// (equation.cc, closed_form.h), the sum behind an output (sum.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/value.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/swizzle.h"

namespace tcq::oracle {

// One index per axis, in the order of the axes; the rest is 0.
using Coords = std::array<int, 4>;

// The index of cta for what lies alike in both CTAs of a pair.
inline constexpr int both_ctas = -1;

// What it means if the key of an axis is not given.
enum class Missing { Refused, Zero, All };

// Index i is what people write as first + i * step. Under its alias it is first + i: `k` of the metadata
// counts elements, `chunk` counts codes. Tables and closed forms use the alias where there is one.
struct Axis {
  std::string_view name;
  int extent;
  std::string_view alias = "";
  Missing missing = Missing::Refused;
  int first = 0;
  int step = 1;
  int asked = 0;    // keys may say less than this; 0: what exists
  int largest = 0;  // extent in the largest layout of the family, if that is more
  int ctas = 1;     // CTAs that share the axis
  int pieces = 1;   // runs of indices that lie apart
  std::string_view elements_key = "";  // a key that counts logical elements along K,
  int elements = 1;                    // so many to an index
};

int value(const Axis& axis, int index);    // under its name
int counted(const Axis& axis, int index);  // under its alias, if it has one
std::string_view symbol(const Axis& axis);

enum class Space { Registers, Metadata, TensorMemory, SharedMemory };

// How shared memory is addressed: one linear offset, then the swizzle.
struct Addressing {
  std::function<int(const Coords&)> linear_bit;  // of an element, from the start on
  std::uint32_t start_bytes;
  std::uint32_t base_offset;
  SwizzleFunction swizzle;
  bool is_linear = true;
  std::optional<Major> major = {};  // of an operand, which consists of core matrices
};

struct Map {
  std::string matrix;  // "D"
  std::string title;   // of a picture
  Space space = Space::Registers;
  int bits = 32;  // of an element
  // Of registers: which of those bits an element of 4 or 6 bits has; 0: all.
  int payload_low_bit = 0, payload_bits = 0;
  std::vector<Axis> element;
  std::vector<Axis> place;
  // Every place of an element, the same one in both CTAs once. Empty: no place is known.
  std::function<std::vector<Coords>(const Coords&)> places = {};
  // The element that would be at a place: holds() says if it is. Of operands in shared memory empty:
  // shared_bytes.h searches.
  std::function<Coords(const Coords&)> element_at = {};
  std::optional<Addressing> addressing = {};  // of shared memory
  std::vector<std::string> notes = {};        // what is doubtful or easily misread
  std::string nothing =
      {};          // what is said of a place that is not the matrix's: "holds nothing of D"
  int spread = 1;  // logical elements of K that an element stands for
  std::uint32_t window_end = 0;  // of shared memory: where a CTA's window ends; 0: it lies in none
  bool blocks = false;  // a tile of many warps: pictures show what 8 x 8 elements have in common
};

bool is_known(const Map& map);         // there are places
bool has_parts(const Map& map);        // registers hold several elements, or could
bool is_of_registers(const Map& map);  // so that there are threads
bool is_of_cells(const Map& map);      // the elements are cells of Tensor Memory
bool is_accumulator(const Map& map);   // D of mma in Tensor Memory: a cell for each element
bool contains(const std::vector<Axis>& axes, const Coords& at);
bool holds(const Map& map, const Coords& place);

// Calls visit(coords) for all indices, the last axis fastest, or the first one if `reversed`.
template <class Visit>
void for_each(const std::vector<Axis>& axes, bool reversed, Visit&& visit) {
  Coords at{};
  const int count = static_cast<int>(axes.size());
  const int fastest = reversed ? 0 : count - 1;
  const int direction = reversed ? 1 : -1;
  while (true) {
    visit(at);
    int i = fastest;
    while (i >= 0 && i < count &&
           ++at[static_cast<std::size_t>(i)] == axes[static_cast<std::size_t>(i)].extent) {
      at[static_cast<std::size_t>(i)] = 0;
      i += direction;
    }
    if (i < 0 || i >= count) return;
  }
}

// ---- Words: words.cc ----------------------------------------------------------------------------

// "D[9][13]", "E[41][20..23]", "tmem_lane 77, tmem_column 8".
std::string element_text(const Map& map, const Coords& element);

// "thread 6, register 3, part 1", "thread 71, bits [20,24)", "byte 0x890", "byte 0x890, bits [4,8)".
std::string place_text(const Map& map, const Coords& place);

// All places of an element, copies in short, and who has them: " (warp 0, lane 6)".
std::string places_text(const Map& map, const std::vector<Coords>& places);
std::string reader_text(const Map& map, const Coords& place);

// The place as `what` repeats the question: without what it did not ask about.
std::string asked_text(const Map& map, const Coords& place, bool whole);

// In a cell of a grid: "6:3.1", "0x890". In a sum: "0x890", "thread 6, register 3, part 1", "69:0.16".
std::string short_text(const Map& map, const Coords& place);
std::string sum_text(const Map& map, const Coords& place);

// {"matrix":"D","row":9,"col":13,"places":[{"thread":6,...}]}; without places if none are known.
Value::Members element_members(const Map& map, const Coords& element);

}  // namespace tcq::oracle
