// Pictures, read as the XML that they are: what is in them, where it stands, that they fit a page, ask for nothing from
// outside, and that the same question gives the same bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "tests/support/ask.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle {
namespace {

struct Drawn {
  std::string answer;
  std::string text;
  pugi::xml_document document;

  pugi::xml_node svg() const { return document.child("svg"); }
};

Drawn drawn(const std::string& question, bool by_slot = false) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("picture.svg");
  options.by_slot = by_slot;
  const Answer reply = ask(question, options);
  EXPECT_EQ(reply.status, Status::Yes) << question << ": " << reply.complaint;
  Drawn result;
  result.answer = reply.text;
  std::ifstream in(options.svg_path);
  result.text = {std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(result.document.load_string(result.text.c_str())) << question;
  return result;
}

std::vector<pugi::xml_node> all(const Drawn& picture, const std::string& role, const char* name) {
  std::vector<pugi::xml_node> nodes;
  for (const pugi::xml_node group : picture.svg().children("g"))
    if (group.attribute("class").value() == "tcq-" + role)
      for (const pugi::xml_node node : group.children(name)) nodes.push_back(node);
  return nodes;
}

int count_of(const Drawn& picture, const std::string& label) {
  int count = 0;
  for (const pugi::xml_node group : picture.svg().children("g"))
    for (const pugi::xml_node node : group.children("text")) count += label == node.text().get();
  return count;
}

pugi::xml_node word(const Drawn& picture, const std::string& label) {
  for (const pugi::xml_node group : picture.svg().children("g"))
    for (const pugi::xml_node node : group.children("text"))
      if (label == node.text().get()) return node;
  return {};
}

const std::string n16 = "table wgmma.m64n16k16.f32.bf16.bf16 D";
const std::string n256 = "table wgmma.m64n256k16.f32.bf16.bf16 D";
const std::string carried = "decode wgmma.desc 0x4000004000014000";

// ---- What every picture is ----------------------------------------------------------------------

TEST(Pictures, FitAPageAndAskForNothing) {
  for (const std::string& question :
       {n16, n256, carried, std::string("tmem a=128 b=64"),
        std::string("decode tcgen05.idesc.f16 0x08420490"),
        std::string("table wgmma.m64n256k16.f32.bf16.bf16 B desc=0x4000004000010040")}) {
    const Drawn picture = drawn(question);
    const std::string width = picture.svg().attribute("width").value();
    EXPECT_TRUE(width.ends_with("pt")) << question;
    EXPECT_LE(std::stoi(width), 842) << question;  // A4 lying down
    EXPECT_TRUE(std::string(picture.svg().attribute("viewBox").value())
                    .starts_with("0 0 " + width.substr(0, width.size() - 2) + " "))
        << question;
    EXPECT_STREQ(picture.svg().attribute("font-size").value(), "10") << question;
    EXPECT_NE(picture.text.find("prefers-color-scheme:dark"), std::string::npos) << question;
    for (const char* outside : {"href", "@import", "<image", "<script", "url(h", "src="})
      EXPECT_EQ(picture.text.find(outside), std::string::npos) << question << ": " << outside;
    EXPECT_EQ(picture.text, drawn(question).text) << question;
  }
}

// ---- Grids --------------------------------------------------------------------------------------

TEST(Pictures, OfALargeGridLeaveOutColumnsThatRepeatAndSayWhich) {
  const Drawn picture = drawn(n256);
  EXPECT_EQ(all(picture, "box", "rect").size(), 64 * 16 + 32 + 4u);
  EXPECT_EQ(count_of(picture, "left out: columns 8 to 247; every 8 columns the lanes are the same"),
            1);
  EXPECT_EQ(count_of(picture, "127:127"), 1);
  EXPECT_EQ(count_of(picture, "0:4"), 0);  // column 8
  EXPECT_NE(picture.answer.find("64 x 256 cells"), std::string::npos);
}

TEST(Pictures, OfASmallerGridStandInBandsWithAllColumns) {
  const Drawn picture = drawn("table wgmma.m64n32k16.f32.bf16.bf16 D");
  EXPECT_EQ(all(picture, "box", "rect").size(), 64 * 32 + 32 + 4u);
  // As a column, as a row of both bands, as a lane of the scale; 0 also as a warp.
  for (const auto& [number, times] : {std::pair("0", 5), {"15", 4}, {"20", 4}, {"31", 4}})
    EXPECT_EQ(count_of(picture, number), times) << number;
  EXPECT_EQ(picture.text.find("left out"), std::string::npos);
  // One of 64 columns would fill five pages.
  const Drawn larger = drawn("table wgmma.m64n64k16.f32.bf16.bf16 D");
  EXPECT_LT(larger.svg().attribute("height").as_int(), 1200);
  EXPECT_NE(larger.text.find("left out: columns 8 to 55"), std::string::npos);
}

TEST(Pictures, WhatNothingReadsHasNoLanesColour) {
  const Drawn picture = drawn("table tcgen05.ld.16x256b.x1 D");
  const std::size_t unread = all(picture, "unread", "rect").size();
  EXPECT_EQ(unread, 64u * 8);  // lanes 16 to 31 of each warp, 8 columns
  for (const pugi::xml_node rect : all(picture, "unread", "rect"))
    EXPECT_FALSE(rect.attribute("fill"));
}

// Lanes down, columns across; M = 64 leaves the upper half of each warp's lanes, two halves share a column.
TEST(Pictures, TensorMemoryIsDrawnAsLanesAndColumns) {
  const std::string d = "table tcgen05.mma.cta_group::1.kind::f16 D m=64 n=16";
  const Drawn picture = drawn(d, true);
  EXPECT_EQ(all(picture, "unread", "rect").size(), 64u * 16);
  EXPECT_EQ(count_of(picture, "16,3"), 1);
  EXPECT_EQ(word(picture, "16,3").attribute("y").as_int(),
            word(picture, "32").attribute("y").as_int());
  EXPECT_NE(picture.answer.find("128 x 16 cells"), std::string::npos);
  const Drawn halves = drawn(
      "table tcgen05.mma.cta_group::1.kind::f16 A a=tmem m=128 n=16 type_a=f16 tmem_lane=5 "
      "tmem_column=2",
      true);
  EXPECT_EQ(count_of(halves, "5,4..5"), 1);
  EXPECT_EQ(all(halves, "mark", "rect").size(), 1u);
  Options options;
  options.by_slot = true;
  const std::vector<std::string> lines = split(text_of(d, options), '\n');
  ASSERT_EQ(lines.size(), 129u);
  EXPECT_TRUE(lines[0].starts_with("tmem_lane  0 ")) << lines[0];
  EXPECT_EQ(lines[1 + 20].find(','), std::string::npos) << lines[1 + 20];
  EXPECT_NE(lines[1 + 111].find("63,15"), std::string::npos) << lines[1 + 111];
  options.arch = "";
  EXPECT_EQ(ask("table wgmma.m64n16k16.f32.bf16.bf16 B desc=0x4000004000010040", options).status,
            Status::Usage);
}

// The peer's lanes are in lists; what lies in them alone has no place in the picture.
TEST(Pictures, OfAPairTheLanesOfTheFirstCtaAreDrawn) {
  const std::string d = "table tcgen05.mma.cta_group::2.kind::f16 D m=256 n=16";
  const Drawn picture = drawn(d + " row=100", true);
  EXPECT_EQ(all(picture, "mark", "rect").size(), 16u);
  EXPECT_NE(picture.text.find("a lane of Tensor Memory of the first CTA"), std::string::npos);
  EXPECT_EQ(count_of(picture, "127,15"), 1);
  EXPECT_EQ(count_of(picture, "128,0"), 0);
  const TemporaryFolder folder;
  Options options;
  options.by_slot = true;
  EXPECT_NE(text_of(d, options).find("\nnote: the lanes of the first CTA"), std::string::npos);
  options.svg_path = folder.file("picture.svg");
  const Answer peer = ask(d + " row=200", options);
  EXPECT_EQ(peer.status, Status::Usage);
  EXPECT_NE(peer.complaint.find("row=200 lies in the second CTA"), std::string::npos)
      << peer.complaint;
  EXPECT_EQ(folder.files(), 0);
}

// Two rows that share a cell are no range.
TEST(Pictures, ACellOfTensorMemoryNamesWhatItHoldsAndNothingBetween) {
  Options options;
  options.by_slot = true;
  const std::string text =
      text_of("table tcgen05.mma.sp.cta_group::1.kind::f16 E m=128 n=64", options);
  EXPECT_NE(text.find("0+8,0..3"), std::string::npos) << text;
  EXPECT_EQ(text.find("0..8"), std::string::npos) << text;
}

// ---- Rulers -------------------------------------------------------------------------------------

TEST(Pictures, ARulerHasEveryBitAndEveryFieldInItsPlace) {
  const Drawn picture = drawn(carried);
  EXPECT_EQ(all(picture, "unread", "rect").size(), 64u);
  EXPECT_EQ(count_of(picture, "0") + count_of(picture, "1"),
            64 + 2 + 5 + 2);  // bits, numbers, codes, values
  EXPECT_EQ(count_of(picture, "a start_bytes"), 1);
  EXPECT_EQ(count_of(picture, "bits [62,64)"), 1);
  EXPECT_EQ(all(picture, "bad", "rect").size(), 2u);  // bits 14 and 15, and in the list
  const auto boxes = all(picture, "box", "rect");
  ASSERT_EQ(boxes.size(), 2 * 5u);
  EXPECT_EQ(boxes[0].attribute("width").as_int(), 14 * 18 - 1);
  const int bit_13 = word(picture, "13").attribute("x").as_int();
  EXPECT_LT(boxes[0].attribute("x").as_int(), bit_13);
  EXPECT_LT(word(picture, "14").attribute("x").as_int(), boxes[0].attribute("x").as_int());
  EXPECT_EQ(picture.answer, ask(carried).text);
}

TEST(Pictures, AWordOf32BitsHasOneLine) {
  const Drawn picture = drawn("decode tcgen05.idesc.f16 0x08420490");
  EXPECT_EQ(all(picture, "unread", "rect").size(), 32u);
  EXPECT_EQ(count_of(picture, "k n"), 1);
  EXPECT_EQ(count_of(picture, "264"), 1);
}

TEST(Pictures, OfAWrongWordNothingIsWritten) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("picture.svg");
  EXPECT_EQ(ask("decode wgmma.desc 0xzz", options).status, Status::Usage);
  EXPECT_EQ(folder.files(), 0);
}

// ---- Marks, shared memory, tiles ----------------------------------------------------------------

TEST(Pictures, MarksOutlineWhatFitsAllOfThem) {
  const std::string d = "table wgmma.m64n32k16.f32.bf16.bf16 D ";
  EXPECT_EQ(all(drawn(d + "thread=5"), "mark", "rect").size(), 16u);
  EXPECT_EQ(all(drawn(d + "warp=1 register=0"), "mark", "rect").size(), 32u);
  EXPECT_EQ(all(drawn(d + "lane=5 warp=1"), "mark", "rect").size(), 16u);
  const Drawn one = drawn(d + "row=9 col=13");
  ASSERT_EQ(all(one, "mark", "rect").size(), 1u);
  EXPECT_EQ(count_of(one, "outlined: row=9 col=13, 1 cell"), 1);
  EXPECT_EQ(all(drawn(d + "thread=5", true), "mark", "rect").size(), 16u);
  for (const char* cell : {"row=9 col=3", "row=9 col=130", "row=9 col=255"}) {  // wherever it is
    const Drawn wide = drawn(std::string("table wgmma.m64n256k16.f32.bf16.bf16 D ") + cell);
    EXPECT_EQ(all(wide, "mark", "rect").size(), 1u) << cell;
    EXPECT_EQ(count_of(wide, "255"), 1) << cell;
    const bool is_between = cell == std::string("row=9 col=130");
    EXPECT_EQ(wide.text.find("left out: columns 0 to 127, 136 to 247;") != wide.text.npos,
              is_between);
    EXPECT_LT(wide.svg().attribute("width").as_int(), 850) << cell;
  }
  EXPECT_EQ(
      all(drawn("table tcgen05.mma.cta_group::1.kind::f16 D m=64 n=16 warp=1"), "mark", "rect")
          .size(),
      256u);
  EXPECT_TRUE(all(drawn(d), "mark", "rect").empty());
}

TEST(Pictures, MarksThatFitNothingAreRefused) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("picture.svg");
  const std::string d = "wgmma.m64n64k16.f32.bf16.bf16 D ";
  for (const std::string& question :
       {"table " + d + "lane=32", "table " + d + "tmem_lane=3", "table " + d + "row=64",
        "table " + d + "row=x", "table " + d + "byte=3",
        std::string("bytes wgmma.m64n8k16.f32.f16.f16 B desc=0x4000004000010040 thread=3")})
    EXPECT_EQ(ask(question, options).status, Status::Usage) << question;
  EXPECT_EQ(ask("table " + d + "lane=3").status, Status::Usage) << "no picture";
}

// B[8..15][1] of a 128B swizzle: line 1, unit 0 (0 xor 1), the banks 0 to 3.
TEST(Pictures, SharedMemoryIsDrawnInLinesOf128BytesWithItsBanks) {
  const std::string b = "bytes wgmma.m64n64k16.f32.bf16.bf16 B desc=0x4000004000010040";
  const Drawn picture = drawn(b + " row=9 col=1");
  EXPECT_EQ(all(picture, "box", "rect").size() + all(picture, "faded", "rect").size(), 2u * 64 + 8)
      << "two units of a line are read, and the scale";
  EXPECT_EQ(all(picture, "unread", "rect").size(), 6u * 64);
  const auto x = [&](const char* label) { return word(picture, label).attribute("x").as_int(); };
  const auto y = [&](const char* label) { return word(picture, label).attribute("y").as_int(); };
  EXPECT_EQ(x("[8..15][1]"), x("banks 0-3"));
  EXPECT_EQ(x("[0..7][1]"), x("banks 4-7"));
  EXPECT_EQ(y("[8..15][1]"), y("0x480"));
  EXPECT_EQ(all(picture, "mark", "rect").size(), 1u);
  const Drawn large =
      drawn("bytes wgmma.m64n256k16.f32.bf16.bf16 B desc=0x4000004000010040 col=100");
  EXPECT_LT(large.svg().attribute("width").as_int(), 850);
  EXPECT_LT(large.svg().attribute("height").as_int(), 1200);
  EXPECT_EQ(count_of(large, "[0..7][100]"), 1) << "a line with a mark is drawn";
  EXPECT_EQ(count_of(large, "[0..7][101]"), 0);
}

TEST(Pictures, ATileOfSeveralWarpgroupsIsDrawnInBlocks) {
  const Drawn tile = drawn(
      "table wgmma.m64n128k16.f32.bf16.bf16 D bM=128 bN=256 atoms=2x1x1 thread=210 register=68");
  EXPECT_EQ(count_of(tile, "w6 r68,69"), 1);
  EXPECT_EQ(all(tile, "mark", "rect").size(), 1u);
  EXPECT_LT(tile.svg().attribute("width").as_int(), 850);
}

// ---- One element's way --------------------------------------------------------------------------

std::string line_with(const Drawn& picture, const std::string& begin) {
  for (const pugi::xml_node group : picture.svg().children("g"))
    for (const pugi::xml_node node : group.children("text"))
      if (std::string(node.text().get()).starts_with(begin)) return node.text().get();
  return "";
}

// The byte, and the element of the instruction, are those that `where` names for the descriptor of the picture.
TEST(Pictures, AStripLeadsFromTheTileToTheByteThatItsDescriptorReads) {
  struct Way {
    const char *mnemonic, *matrix, *keys, *element, *word, *inside, *byte;
  };
  for (const Way& way :
       {Way{"wgmma.m64n128k16.f32.bf16.bf16", "A", "rows=128 k=128", "row=73 col=20",
            "0x4000004000010202", "row=9 col=4", "byte 0x24b8,"},
        Way{"wgmma.m64n128k16.f32.bf16.bf16", "B", "major=MN rows=128 k=64", "row=17 col=70",
            "0x4000004002000080", "row=1 col=70 major_b=MN", "byte 0x289c,"},
        Way{"tcgen05.mma.cta_group::1.kind::f16", "A", "rows=128 k=128", "row=100 col=90",
            "0x4000404000010402", "row=100 col=10", "byte 0x7"}}) {
    const std::string opcode = way.mnemonic;
    const Drawn strip =
        drawn("layout " + opcode + " " + way.matrix + " " + way.keys + " " + way.element);
    EXPECT_EQ(count_of(strip, way.word), 1) << line_with(strip, "0x");
    const std::string where =
        text_of("where " + opcode + " " + way.matrix + " " + way.inside + " desc=" + way.word);
    const std::string byte = where.substr(where.find("byte ")) + ",";
    EXPECT_TRUE(byte.starts_with(way.byte)) << where;
    EXPECT_NE(line_with(strip, "mn ").find(byte), std::string::npos) << where << "\n"
                                                                     << line_with(strip, "mn ");
    EXPECT_EQ(all(strip, "mark", "rect").size(), 3u);
    EXPECT_EQ(all(strip, "arrow", "line").size(), 3u);
    EXPECT_LT(strip.svg().attribute("width").as_int(), 850);
  }
}

TEST(Pictures, AStripIsOfOneOperandAndOfAnElementInIt) {
  const TemporaryFolder folder;
  Options options;
  options.svg_path = folder.file("picture.svg");
  const std::string tile = "layout wgmma.m64n128k16.f32.bf16.bf16 A rows=128 k=128 ";
  EXPECT_EQ(ask(tile + "row=128", options).status, Status::Usage);
  EXPECT_EQ(ask(tile + "col=128", options).status, Status::Usage);
  EXPECT_EQ(ask(tile + "col=3").status, Status::Usage) << "no picture";
  EXPECT_EQ(ask("layout tcgen05.mma.cta_group::1.kind::f16", options).status, Status::Usage);
}

}  // namespace
}  // namespace tcq::oracle
