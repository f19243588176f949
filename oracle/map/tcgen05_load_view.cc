// Cells and registers of tcgen05.ld and st in words; see tcgen05_load_view.h.
#include "oracle/map/tcgen05_load_view.h"

#include <fmt/format.h>

#include "oracle/answer/json.h"
#include "oracle/map/linear_map.h"

namespace tcq::oracle {
namespace {

using tcgen05::Cell;
using tcgen05::FragmentSlot;
using tcgen05::lanes_per_warp;
using Axes = wgmma::Element;  // linear_map's pair: here (lane, column)

constexpr int warps = tcgen05::tmem_lanes / lanes_per_warp;
constexpr int threads = lanes_per_warp * warps;

std::string cell_name(Cell cell) {
  return fmt::format("tmem_lane {}, tmem_column {}", cell.tmem_lane, cell.tmem_column);
}

// Calls visit(slot) for every register and half of one thread.
template <class Visit>
void for_each_slot(const TmemLoad& load, int thread, Visit&& visit) {
  for (int reg = 0; reg < registers(load.fragment); ++reg)
    for (int half = 0; half < halves(load.fragment); ++half) visit(RegisterSlot{thread, reg, half});
}

std::string register_name(const TmemLoad& load, RegisterSlot slot) {
  return load.fragment.packed ? fmt::format("r{}.{}", slot.reg, slot.half)
                              : fmt::format("r{}", slot.reg);
}

std::string short_name(const TmemLoad& load, RegisterSlot slot) {
  return load.fragment.packed ? fmt::format("{}:{}.{}", slot.thread, slot.reg, slot.half)
                              : fmt::format("{}:{}", slot.thread, slot.reg);
}

std::string slot_json(RegisterSlot slot, Cell cell) {
  return json_object({{"thread", std::to_string(slot.thread)},
                      {"register", std::to_string(slot.reg)},
                      {"half", std::to_string(slot.half)},
                      {"warp", std::to_string(slot.thread / lanes_per_warp)},
                      {"lane", std::to_string(slot.thread % lanes_per_warp)},
                      {"tmem_lane", std::to_string(cell.tmem_lane)},
                      {"tmem_column", std::to_string(cell.tmem_column)}});
}

// Runs of .16x32bx2 that overlap: two threads load one cell.
std::vector<RegisterSlot> searched_slots(const TmemLoad& load, int warp, Cell cell) {
  std::vector<RegisterSlot> found;
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    for_each_slot(load, lanes_per_warp * warp + lane, [&](RegisterSlot slot) {
      if (cell_of(load, slot) == cell) found.push_back(slot);
    });
  return found;
}

}  // namespace

std::vector<RegisterSlot> slots_of(const TmemLoad& load, Cell cell) {
  const int warp = tcgen05::warp_of_tmem_lane(cell.tmem_lane);
  const Cell relative = {cell.tmem_lane - tcgen05::first_tmem_lane(warp) - load.at.tmem_lane,
                         cell.tmem_column - load.at.tmem_column};
  if (!holds_fragment(load.fragment, relative)) return {};
  if (!is_one_to_one(load.fragment)) return searched_slots(load, warp, cell);
  const FragmentSlot slot = fragment_slot(load.fragment, relative);
  return {{lanes_per_warp * warp + slot.lane, slot.reg, slot.half}};
}

Cell cell_of(const TmemLoad& load, RegisterSlot slot) {
  const int warp = slot.thread / lanes_per_warp;
  const Cell cell =
      fragment_cell(load.fragment, {slot.thread % lanes_per_warp, slot.reg, slot.half});
  return {tcgen05::first_tmem_lane(warp) + load.at.tmem_lane + cell.tmem_lane,
          load.at.tmem_column + cell.tmem_column};
}

std::string slot_name(const TmemLoad& load, RegisterSlot slot) {
  const std::string half = load.fragment.packed ? fmt::format(", half {}", slot.half) : "";
  return fmt::format("thread {}, register {}{}", slot.thread, slot.reg, half);
}

std::string register_text(const TmemLoad& load, Cell cell) {
  std::string text;
  for (const RegisterSlot slot : slots_of(load, cell))
    text += (text.empty() ? "" : " and ") + slot_name(load, slot);
  return text;
}

std::string register_json(const TmemLoad& load, Cell cell) {
  std::vector<std::string> slots;
  for (const RegisterSlot slot : slots_of(load, cell)) slots.push_back(slot_json(slot, cell));
  return json_array(slots);
}

std::string cell_text(const TmemLoad& load, int thread, int reg) {
  std::string text = fmt::format("thread {}, register {}", thread, reg);
  for (int half = 0; half < halves(load.fragment); ++half)
    text += (half == 0 ? " = " : "; ") + cell_name(cell_of(load, {thread, reg, half})) +
            (load.fragment.packed ? ", bits [0,16)" : "");
  return text;
}

std::string cell_json(const TmemLoad& load, int thread, int reg) {
  std::vector<std::string> slots;
  for (int half = 0; half < halves(load.fragment); ++half) {
    const RegisterSlot slot = {thread, reg, half};
    slots.push_back(slot_json(slot, cell_of(load, slot)));
  }
  return json_array(slots);
}

Table list_of(const TmemLoad& load, bool by_registers) {
  Table table{{"thread", "register", "half", "tmem_lane", "tmem_column"}, {}};
  const auto add = [&](RegisterSlot slot) {
    const Cell cell = cell_of(load, slot);
    table.rows.push_back({std::to_string(slot.thread), std::to_string(slot.reg),
                          std::to_string(slot.half), std::to_string(cell.tmem_lane),
                          std::to_string(cell.tmem_column)});
  };
  if (!by_registers) {
    for (int thread = 0; thread < threads; ++thread) for_each_slot(load, thread, add);
    return table;
  }
  for_each_slot(load, 0, [&](RegisterSlot slot) {
    for (slot.thread = 0; slot.thread < threads; ++slot.thread) add(slot);
  });
  return table;
}

Table slot_grid(const TmemLoad& load) {
  Table table;
  table.header.push_back("thread");
  for_each_slot(load, 0,
                [&](RegisterSlot slot) { table.header.push_back(register_name(load, slot)); });
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<std::string> line = {std::to_string(thread)};
    for_each_slot(load, thread, [&](RegisterSlot slot) {
      const Cell cell = cell_of(load, slot);
      line.push_back(fmt::format("{}:{}", cell.tmem_lane, cell.tmem_column));
    });
    table.rows.push_back(std::move(line));
  }
  return table;
}

Table cell_grid(const TmemLoad& load) {
  Table table;
  table.header.push_back("tmem_lane");
  const int columns = footprint_columns(load.fragment);
  for (int column = 0; column < columns; ++column)
    table.header.push_back(std::to_string(load.at.tmem_column + column));
  for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane) {
    std::vector<std::string> line = {std::to_string(lane)};
    for (int column = 0; column < columns; ++column) {
      const auto slots = slots_of(load, {lane, load.at.tmem_column + column});
      line.push_back(slots.empty() ? "-" : short_name(load, slots[0]));
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

EquationLines equation_of(const tcgen05::Fragment& f) {
  const int count = registers(f);
  const ClosedForm form = closed_form({{"lane", lanes_per_warp, lanes_per_warp},
                                       {"half", halves(f), halves(f)},
                                       {"reg", count, count}},
                                      [&](std::span<const int> v) {
                                        const Cell cell = fragment_cell(f, {v[0], v[2], v[1]});
                                        return Axes{cell.tmem_lane, cell.tmem_column};
                                      });
  return {{"tmem_lane", forward_expression(form, &Axes::row)},
          {"tmem_column", forward_expression(form, &Axes::col)},
          {"CuTe (lane, value) -> tmem_lane + 128*tmem_column",
           cute_string(form, tcgen05::tmem_lanes)}};
}

}  // namespace tcq::oracle
