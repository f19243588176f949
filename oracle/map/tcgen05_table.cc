// The verb table for tcgen05: the whole map of one matrix, or of the registers of ld and st, as a
// grid, a list or a picture.
//
// Grids of matrices have their rows and columns, cells "lane:column" with ".bit" for narrow
// elements (first copy), or bytes. Colours: the lane of a warp as hue, its quarter of Tensor Memory
// as shade; shared memory by 16-byte unit.
#include <fmt/format.h>

#include <variant>

#include "oracle/answer/svg.h"
#include "oracle/answer/table.h"
#include "oracle/map/tcgen05_fragments.h"
#include "oracle/map/tcgen05_places.h"

namespace tcq::oracle {
namespace {

using tcgen05::lanes_per_warp;

constexpr std::uint32_t coloured_unit_bytes = 16;
constexpr std::uint32_t coloured_units = 8;

Table grid_of(const TmemView& view, bool) { return table_of(view, false); }
Table grid_of(const SmemView& view, bool) { return grid_of(view); }
Table grid_of(const TmemLoad& load, bool by_slot) {
  return by_slot ? slot_grid(load) : cell_grid(load);
}

Table list_of(const TmemView& view, const Options& options) {
  return table_of(view, true, options.transpose);
}
Table list_of(const SmemView& view, const Options& options) {
  return list_of(view, options.transpose);
}
Table list_of(const TmemLoad& load, const Options& options) {
  return list_of(load, options.transpose);
}

// ---- Pictures -----------------------------------------------------------------------------------

Cell lane_cell(int lane, std::string label) {
  return {std::move(label), lane % lanes_per_warp, lane / lanes_per_warp};
}

Cell coloured(const TmemView& view, int row, int col, std::string label, bool) {
  return lane_cell(places_of(view, {row, col})[0].cell.tmem_lane, std::move(label));
}

Cell coloured(const SmemView& view, int row, int col, std::string label, bool) {
  const std::uint32_t unit = place_of(view, {row, col}).byte / coloured_unit_bytes % coloured_units;
  return {std::move(label), static_cast<int>(unit), 0};
}

// By the thread that has the cell.
Cell coloured(const TmemLoad& load, int row, int col, std::string label, bool by_slot) {
  if (by_slot) return lane_cell(row, std::move(label));
  const auto slots = slots_of(load, {row, load.at.tmem_column + col});
  if (slots.empty()) return {"", 0, 0};
  return lane_cell(slots[0].thread, std::move(label));
}

void describe(Picture& picture, const TmemView&, bool) {
  picture.hue_word = "lane";
  picture.shade_word = "warp";
  picture.legend = "cell: tmem_lane:tmem_column.bit; colour: the warp that reads it";
}

void describe(Picture& picture, const SmemView&, bool) {
  picture.hue_word = "unit";
  picture.shade_word = "";
  picture.hues = static_cast<int>(coloured_units);
  picture.shades = 1;
  picture.legend = "cell: address of the element's first byte; colour: its 16-byte unit";
}

void describe(Picture& picture, const TmemLoad&, bool by_slot) {
  picture.hue_word = "lane";
  picture.shade_word = "warp";
  picture.legend = by_slot ? "cell: tmem_lane:tmem_column of thread and register"
                           : "cell: thread:register of tmem_lane and tmem_column";
}

// "D[64][8]"; of a load the registers.
template <class Place>
std::string title_of(const Place&, const Table& grid) {
  return grid.header[0];
}
std::string title_of(const TmemLoad&, const Table&) { return "D"; }

template <class Place>
Picture picture_of(const Tcgen05Places& places, const Place& place, const Options& options) {
  const Table grid = grid_of(place, options.by_slot);
  Picture picture;
  picture.title =
      fmt::format("{} of {}", title_of(place, grid), mnemonic_with_keys(places.instruction));
  picture.hues = lanes_per_warp;
  picture.shades = tcgen05::tmem_lanes / lanes_per_warp;
  describe(picture, place, options.by_slot);
  picture.column_names.assign(grid.header.begin() + 1, grid.header.end());
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    picture.row_names.push_back(grid.rows[row][0]);
    picture.cells.emplace_back();
    for (std::size_t col = 1; col < grid.header.size(); ++col)
      picture.cells.back().push_back(coloured(place, static_cast<int>(row),
                                              static_cast<int>(col - 1), grid.rows[row][col],
                                              options.by_slot));
  }
  return picture;
}

}  // namespace

Answer table_tcgen05(const Question& question) {
  const Tcgen05Places places = read_places(question, {});
  const Options& options = question.options;
  if (options.by_slot && !std::holds_alternative<TmemLoad>(places.place))
    throw UsageError("--by slot is for registers: expected it with tcgen05.ld or tcgen05.st");
  return std::visit(
      [&](const auto& place) -> Answer {
        if (!options.svg_path.empty()) {
          Answer drawn = draw(picture_of(places, place, options), options);
          drawn.complaint = notes_of(places);
          return drawn;
        }
        const bool list = options.style == Style::Csv || options.style == Style::Json;
        if (list)
          return with_notes(places, render(list_of(place, options), options.style), options.style);
        const Table grid = grid_of(place, options.by_slot);
        return with_notes(places,
                          render(options.transpose ? transposed(grid) : grid, options.style),
                          options.style);
      },
      places.place);
}

}  // namespace tcq::oracle
