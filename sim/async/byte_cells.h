// One cell per byte of memory, stored once per 16 bytes where those are equal.
//
// Accesses of whole vectors touch 16 bytes alike, so that almost every chunk holds one cell; only a
// chunk whose bytes differ takes 16. Example: fill(0, 64, x), then fill(4, 8, y): chunk 0 is split,
// chunks 1 to 3 hold x; fill(0, 16, z) makes chunk 0 whole again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tcq::machine {

template <class Cell>
class ByteCells {
 public:
  static constexpr std::uint32_t chunk_bytes = 16;

  explicit ByteCells(std::uint32_t bytes = 0)
      : whole_((bytes + chunk_bytes - 1) / chunk_bytes), part_of_(whole_.size()), bytes_(bytes) {}

  std::uint32_t size() const { return bytes_; }
  std::size_t memory() const {
    return whole_.size() * (sizeof(Cell) + sizeof(std::uint32_t)) + parts_.size() * sizeof(Part);
  }

  const Cell& at(std::uint32_t byte) const {
    const std::uint32_t part = part_of_[byte / chunk_bytes];
    return part == 0 ? whole_[byte / chunk_bytes] : parts_[part - 1][byte % chunk_bytes];
  }

  // The one cell of all bytes of a chunk; null: they differ, or it is not all there.
  const Cell* whole(std::uint32_t byte) const {
    const std::uint32_t chunk = byte / chunk_bytes;
    const bool is_one = byte % chunk_bytes == 0 && byte < bytes_ && bytes_ - byte >= chunk_bytes &&
                        part_of_[chunk] == 0;
    return is_one ? &whole_[chunk] : nullptr;
  }
  Cell* whole(std::uint32_t byte) { return const_cast<Cell*>(std::as_const(*this).whole(byte)); }

  // Behind the last of the cells from `begin` on that are equal.
  std::uint32_t end_of_run(std::uint32_t begin, std::uint32_t end) const {
    const Cell first = at(begin);
    for (std::uint32_t i = begin; i < end;) {
      const std::uint32_t chunk = i / chunk_bytes;
      const bool is_whole = part_of_[chunk] == 0;
      if (!((is_whole ? whole_[chunk] : at(i)) == first)) return i;
      i = is_whole ? (chunk + 1) * chunk_bytes : i + 1;
    }
    return end;
  }

  void fill(std::uint32_t begin, std::uint32_t end, const Cell& cell) {
    const std::uint32_t first_whole = (begin + chunk_bytes - 1) / chunk_bytes;
    const std::uint32_t end_whole = end / chunk_bytes;
    if (first_whole > end_whole)  // inside one chunk
      return set_part(end_whole, begin % chunk_bytes, end % chunk_bytes, cell);
    if (begin % chunk_bytes != 0) set_part(first_whole - 1, begin % chunk_bytes, chunk_bytes, cell);
    set_whole(first_whole, end_whole, cell);
    if (end % chunk_bytes != 0) set_part(end_whole, 0, end % chunk_bytes, cell);
  }

  // Every cell that is stored, once.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t chunk = 0; chunk < whole_.size(); ++chunk) {
      if (part_of_[chunk] == 0)
        visit(whole_[chunk]);
      else
        for (Cell& cell : parts_[part_of_[chunk] - 1]) visit(cell);
    }
  }

 private:
  using Part = std::array<Cell, chunk_bytes>;

  void set_whole(std::uint32_t first, std::uint32_t last, const Cell& cell) {
    std::fill(whole_.begin() + first, whole_.begin() + last, cell);
    for (std::uint32_t chunk = first; chunk < last; ++chunk) {
      if (part_of_[chunk] == 0) continue;
      free_.push_back(part_of_[chunk]);
      part_of_[chunk] = 0;
    }
  }

  void set_part(std::uint32_t chunk, std::uint32_t begin, std::uint32_t end, const Cell& cell) {
    if (part_of_[chunk] == 0) split(chunk);
    Part& part = parts_[part_of_[chunk] - 1];
    std::fill(part.begin() + begin, part.begin() + end, cell);
    if (std::all_of(part.begin(), part.end(), [&](const Cell& c) { return c == cell; }))
      set_whole(chunk, chunk + 1, cell);
  }

  void split(std::uint32_t chunk) {
    if (free_.empty()) {
      parts_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(parts_.size()));
    }
    part_of_[chunk] = free_.back();
    free_.pop_back();
    parts_[part_of_[chunk] - 1].fill(whole_[chunk]);
  }

  std::vector<Cell> whole_;             // per chunk
  std::vector<std::uint32_t> part_of_;  // number in parts_, from 1; 0: the chunk is whole
  std::vector<Part> parts_;
  std::vector<std::uint32_t> free_;
  std::uint32_t bytes_;
};

}  // namespace tcq::machine
