// tcgen05's maps against a second formulation: files that list where CuTe's layout code puts every
// element. TCQ_REFERENCE_MAPS names their folder; without it every test is skipped. Written as
// strides, the same maps are tested everywhere: tcgen05_fragment_test, tmem_layout_test,
// scale_layout_test.
//
// Each test prints how many elements it compared, and fails with the first ones that differ. The
// files say what CUTLASS assumes, not what a chip does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/fragment.h"
#include "sim/isa/tmem/layout.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"
#include "tests/support/cute_string.h"
#include "tests/support/process.h"

namespace tcq::tcgen05 {
namespace {

std::string folder() {
  const char* path = std::getenv("TCQ_REFERENCE_MAPS");
  return path == nullptr ? "" : path;
}

// Words of every line; a map is named by the lines that start with none of the element letters.
std::vector<std::vector<std::string>> lines_of(const std::string& file) {
  const tests::Finished unpacked =
      tests::run("/usr/bin/env", {"gzip", "-dc", folder() + "/" + file}, "");
  EXPECT_EQ(unpacked.status, 0) << unpacked.err;
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(unpacked.out);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    lines.emplace_back();
    for (std::string word; words >> word;) lines.back().push_back(word);
  }
  return lines;
}

// "69:10:0" -> {69, 10, 0}.
std::vector<int> numbers(const std::string& word) {
  std::vector<int> values;
  std::istringstream in(word);
  for (std::string part; std::getline(in, part, ':');) values.push_back(std::stoi(part));
  return values;
}

int value_of(const std::string& line, const std::string& key) {
  std::smatch found;
  return std::regex_search(line, found, std::regex(key + "=(\\d+)")) ? std::stoi(found[1].str())
                                                                     : 0;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Counts comparisons and reports the first few differences.
class Tally {
 public:
  explicit Tally(std::string what) : what_(std::move(what)) {}
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally() {
    std::cout << what_ << ": " << compared_ << " elements compared, " << differing_ << " differ\n";
    EXPECT_GT(compared_, 0) << what_;
  }
  void compare(const std::vector<int>& got, const std::vector<int>& want,
               const std::string& where) {
    ++compared_;
    if (got == want) return;
    if (++differing_ <= 5) {
      ADD_FAILURE() << what_ << " " << where << ": got " << text(got) << ", the file says "
                    << text(want);
    }
  }

 private:
  static std::string text(const std::vector<int>& values) {
    std::string all;
    for (const int value : values) all += (all.empty() ? "" : ":") + std::to_string(value);
    return all;
  }
  std::string what_;
  int compared_ = 0;
  int differing_ = 0;
};

constexpr const char* kSkipped =
    "TCQ_REFERENCE_MAPS names no folder: CuTe's maps are not read element by element, only as the "
    "strides of "
    "tcgen05_fragment_test, tmem_layout_test and scale_layout_test";

// --- ld and st -------------------------------------------------------------------------------------

Fragment fragment_of(const std::string& operation) {
  static const std::map<std::string, LdShape> shapes = {{"32dp32b", LdShape::S32x32b},
                                                        {"16dp64b", LdShape::S16x64b},
                                                        {"16dp128b", LdShape::S16x128b},
                                                        {"16dp256b", LdShape::S16x256b},
                                                        {"16dp32b", LdShape::S16x32bx2}};
  const std::size_t dot = operation.find('.');
  Fragment f = {shapes.at(operation.substr(0, dot)), std::stoi(operation.substr(dot + 1)),
                operation.ends_with(".pack16b")};
  if (f.shape == LdShape::S16x32bx2) f.half_split = run_columns(f);
  return f;
}

TEST(ReferenceMaps, LoadsAndStores) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("ld and st, 16-bit halves of registers");
  Fragment f = {};
  std::string name;
  int operations = 0;
  for (const auto& words : lines_of("sm100_ldst.txt.gz")) {
    if (words[0] == "LD") {
      name = words[1];
      f = fragment_of(name);
      EXPECT_EQ(value_of(joined(words), "regs"), registers(f)) << name;
      ++operations;
      continue;
    }
    ASSERT_EQ(words[0], "T");
    const int lane = std::stoi(words[1]);
    ASSERT_EQ(words.size(), static_cast<std::size_t>(2 + 2 * registers(f))) << name;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const int value = static_cast<int>(i) - 2;
      const Cell c = fragment_cell(f, {lane, value / 2, f.packed ? value % 2 : 0});
      const int bit = 32 * c.tmem_column + (f.packed ? 0 : 16 * (value % 2));
      tally.compare({c.tmem_lane, bit}, numbers(words[i]), name + " thread " + words[1]);
    }
  }
  EXPECT_EQ(operations, 74);
}

// --- D, A, metadata, scale factors -----------------------------------------------------------------

// Places in the file: lane:column:part, a part being an eighth of a bit.
using PlaceOf = std::function<std::vector<int>(Element)>;

PlaceOf d_places(Datapath datapath, int n) {
  return [=](Element e) {
    const Cell c = d_cell({datapath, n}, e);
    return std::vector<int>{c.tmem_lane, c.tmem_column, 0};
  };
}

PlaceOf a_places(Datapath datapath, Kind kind) {
  return [=](Element e) {
    const CellBit at = a_place({datapath, kind}, e);
    return std::vector<int>{at.tmem_lane, at.tmem_column, 8 * at.low_bit};
  };
}

// One entry per logical k: its share of the chunk's four bits.
PlaceOf metadata_places(Kind kind) {
  return [=](Element e) {
    const int chunk = metadata_chunk_elements(kind);
    const CellBit at = metadata_place({Datapath::D, kind}, {e.row, e.col / chunk});
    const int eighths = 8 * metadata_code_bits / chunk;
    return std::vector<int>{at.tmem_lane, at.tmem_column,
                            8 * at.low_bit + eighths * (e.col % chunk)};
  };
}

// The map of a header line; empty for those that list no elements.
PlaceOf places_of(const std::string& header) {
  const int m = value_of(header, header.find("M_per_cta") == std::string::npos ? "M" : "M_per_cta");
  const int n = value_of(header, "N");
  const auto has = [&](const char* part) { return header.find(part) != std::string::npos; };
  if (has("C_1sm")) return d_places(m == 64 ? Datapath::F : Datapath::D, n);
  if (has("C_2sm"))
    return d_places(m == 128 ? Datapath::A : m == 64 ? Datapath::B : Datapath::G, n);
  if (has("C_ws")) return d_places(m == 128 ? Datapath::D : m == 64 ? Datapath::E : Datapath::G, n);
  if (has("A_2sm")) return a_places(Datapath::A, Kind::f16);
  const Datapath one = m == 64 ? Datapath::F : Datapath::D;
  if (has("A_1sm_f16")) return a_places(one, Kind::f16);
  if (has("A_1sm_tf32")) return a_places(one, Kind::tf32);
  if (has("A_1sm_i8")) return a_places(one, Kind::i8);
  if (has("E_tf32")) return metadata_places(Kind::tf32);
  if (has("E_f16")) return metadata_places(Kind::f16);
  if (has("E_8b")) return metadata_places(Kind::i8);
  if (has("E_f4")) return metadata_places(Kind::mxf4);
  return {};
}

TEST(ReferenceMaps, MatricesInTensorMemory) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("D, A and metadata in Tensor Memory");
  std::string header;
  PlaceOf place;
  for (const auto& words : lines_of("sm100_tmem.txt.gz")) {
    if (words[0] == "TMEM") {
      header = joined(words);
      place = places_of(header);
    }
    if (words[0] != "R") continue;
    ASSERT_TRUE(place) << header;
    const int row = std::stoi(words[1]);
    for (std::size_t i = 2; i < words.size(); ++i)
      tally.compare(place({row, static_cast<int>(i) - 2}), numbers(words[i]),
                    header + " row " + words[1]);
  }
}

TEST(ReferenceMaps, ScaleFactorsInTensorMemory) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("scale factors in Tensor Memory, copies");
  ScaleBuffer buffer = {};
  int per_mma = 0;
  for (const auto& words : lines_of("sm100_tmem.txt.gz")) {
    const std::string line = joined(words);
    if (line.starts_with("TMEM SF")) {
      buffer = scale_buffer(value_of(line, "MN"), line.find("2x2") != std::string::npos);
      per_mma = value_of(line, "nsf_per_mma");
    }
    if (words[0] != "SF") continue;
    const ScaleFactor factor = {value_of(line, "mn"),
                                value_of(line, "k") * per_mma + value_of(line, " sf")};
    ASSERT_EQ(words.size(), static_cast<std::size_t>(5 + scale_copies(buffer))) << line;
    for (int copy = 0; copy < scale_copies(buffer); ++copy) {
      const CellByte at = scale_place(buffer, factor, copy);
      tally.compare({at.tmem_lane, at.tmem_column, at.byte},
                    numbers(words[static_cast<std::size_t>(5 + copy)]), line);
    }
  }
}

// --- cp --------------------------------------------------------------------------------------------

struct CpMap {
  CpShape shape;
  const char* source;  // (row, bit) -> the index that the file has on the left
};

CpMap cp_map(const std::string& name) {
  static const std::map<std::string, CpMap> maps = {
      {"128x256b", {CpShape::S128x256b, "(128,256):(1,128)"}},
      {"128x128b", {CpShape::S128x128b, "(128,128):(1,128)"}},
      {"4x256b", {CpShape::S4x256b, "(4,256):(32,128)"}},
      {"32x128b.warpx4", {CpShape::S32x128b, "(32,128):(1,32)"}},
      {"64x128b.warpx2::02_13", {CpShape::S64x128b_02_13, "(64,128):(1,64)"}},
      {"64x128b.warpx2::01_23", {CpShape::S64x128b_01_23, "((32,2),128):((1,4096),32)"}}};
  return maps.at(name);
}

// The file lists lane and bit of every cell that a copy writes.
TEST(ReferenceMaps, Copies) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("cp, cells written");
  CpMap map = {};
  std::map<std::string, int> cells;
  for (const auto& words : lines_of("sm100_utccp.txt.gz")) {
    if (words[0] == "CP") {
      map = cp_map(words[1]);
      continue;
    }
    const std::vector<int> to = numbers(words[3]);
    const CpByte from = cp_source(map.shape, {to[0], to[1] / 32, to[1] % 32 / 8});
    const cute::Layout source(map.source);
    tally.compare({source({from.row, 8 * from.byte})}, {std::stoi(words[1])},
                  std::string(name(map.shape)) + " " + words[3]);
    ++cells[name(map.shape)];
  }
  for (int i = 0; i < cp_shape_count; ++i) {
    const auto shape = static_cast<CpShape>(i);
    EXPECT_EQ(cells[name(shape)], cp_rows(shape) * cp_copies(shape) * cp_columns(shape));
  }
}

// --- Scale factors in memory -----------------------------------------------------------------------

TEST(ReferenceMaps, ScaleFactorsInMemory) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("scale factors in memory");
  for (const auto& words : lines_of("sf_layout.txt.gz")) {
    if (words[0] != "R") continue;
    const int factors = static_cast<int>(words.size()) - 2;
    for (int s = 0; s < factors; ++s)
      tally.compare({scale_byte({std::stoi(words[1]), s}, factors)},
                    {std::stoi(words[static_cast<std::size_t>(2 + s)])}, "row " + words[1]);
  }
}

// Lines "SMEMSF ... SFA=SHAPE:STRIDE": (mn and k of one instruction, 1, K blocks) -> byte.
TEST(ReferenceMaps, ScaleFactorsOfTheKBlocksInMemory) {
  if (folder().empty()) GTEST_SKIP() << kSkipped;
  Tally tally("scale factors of K blocks in memory");
  for (const auto& words : lines_of("sf_layout.txt.gz")) {
    if (words[0] != "SMEMSF") continue;
    const int vector_size = words[1] == "nvf4" ? 16 : 32;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const cute::Layout layout(words[i].substr(4));
      const int per_mma = layout.size(0) / 128 / vector_size;
      const int factors = per_mma * layout.size(2);
      for (int at = 0; at < layout.size(0); ++at) {
        for (int block = 0; block < layout.size(2); ++block) {
          const int s = block * per_mma + at / 128 / vector_size;
          tally.compare({scale_byte({at % 128, s}, factors)}, {layout({at, 0, block})}, words[1]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tcq::tcgen05
