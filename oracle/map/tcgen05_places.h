// What a question about places means for tcgen05: its instruction, and the matrix or registers that
// it asks about.
//
// Decides which sort of place a matrix word names (Tensor Memory: D, A with a=tmem, E, SFA, SFB;
// shared memory: A and B with desc=; registers: ld and st) and reads the keys that say where it
// lies. Words and tables of each sort: tcgen05_view.h, tcgen05_smem_view.h, tcgen05_load_view.h.
// Example: `tcgen05.ld.16x256b.x2 D address=0x100000` are the registers of a load from lane 16 on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "oracle/answer/words.h"
#include "oracle/map/tcgen05_load_view.h"
#include "oracle/map/tcgen05_smem_view.h"
#include "oracle/map/tcgen05_view.h"
#include "oracle/ptx/tcgen05_mnemonic.h"

namespace tcq::oracle {

using Tcgen05Place = std::variant<TmemView, SmemView, TmemLoad>;

struct Tcgen05Places {
  Tcgen05Instruction instruction;
  Keys keys;
  Tcgen05Place place;
};

// Keys that say which element or cell of a place is meant, by the sort of place.
struct PlaceKeys {
  std::span<const std::string_view> of_tmem;      // D, A, SFA, SFB
  std::span<const std::string_view> of_metadata;  // E
  std::span<const std::string_view> of_smem;
  std::span<const std::string_view> of_load;
};

// Reads mnemonic, matrix and keys. Throws UsageError for a matrix that the instruction lacks or a
// key that does not apply, FaultError for places that do not exist.
Tcgen05Places read_places(const Question& question, const PlaceKeys& keys);

// The view of one matrix of an mma, with what the keys say about its address if `own` is true.
TmemView tmem_view(const Tcgen05Instruction& instruction, TmemMatrix matrix);
SmemView smem_view(const Tcgen05Instruction& instruction, bool is_b, std::string_view word,
                   std::string_view key);

// Throws what check() of a view deserves.
void require(const TmemView& view);
void require(const SmemView& view, std::string_view key);

// "note: SENTENCE" lines about what is doubtful or easily misread, without the last newline; "" if
// there is nothing to say.
std::string notes_of(const Tcgen05Places& places);

// The answer with the notes: as lines of the text in Style::Text, else as the complaint.
Answer with_notes(const Tcgen05Places& places, std::string text, Style style);

}  // namespace tcq::oracle
