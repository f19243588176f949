// From the words of a question to a Map: whose mnemonic it is, which matrix, and where its coordinates
// stand among the keys; and what every answer about a Map says beside.
//
// Each family of mnemonics reads its own words (maps_*.cc) and refuses keys that do not apply; the
// coordinates are then read here, by the names of the Map's axes. Example: `what ... D thread=6
// register=7` becomes the index {6, 7, 0} of D's places.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/map/map.h"
#include "oracle/map/sum.h"

namespace tcq::oracle {

// What a verb asks of a Map: the places of an element, the elements at a place, everything, or the
// bytes of an operand in shared memory.
enum class Ask { Element, Place, Whole, Bytes };

struct Asked {
  Keys keys;
  Map map;
  std::function<Sum(const Coords&)> sum = {};  // of an output, if --inputs asks for it
};

struct Family {
  bool (*has)(std::string_view mnemonic);
  Asked (*read)(const Question&, Ask);
};

extern const Family warpgroup_family;      // maps_wgmma.cc
extern const Family tensor_memory_family;  // mma, ld and st of Tensor Memory
extern const Family tmem_copy_family;      // maps_cp.cc
extern const Family matrix_move_family;    // maps_ldmatrix.cc
extern const Family warp_mma_family;       // maps_mma.cc

Asked read_map(const Question& question, Ask ask);

// The keys that describe the sum behind an output, refused without --inputs.
inline constexpr std::array<std::string_view, 4> input_keys = {"desc_a", "desc_b", "codes",
                                                               "terms"};
void refuse_input_keys(const Question& question, const Keys& keys);

// "note: SENTENCE" lines without the last newline; "" if there is nothing to say.
std::string notes_text(const Map& map);

// The answer with the notes: as lines of the text in Style::Text, else as the complaint.
Answer with_notes(const Map& map, std::string text, Style style);

// All coordinates that the keys leave possible, in order: one, unless axes are Missing::All.
std::vector<Coords> coords_from(const std::vector<Axis>& axes, const Keys& keys);

}  // namespace tcq::oracle
